"""Logs: one JSON line per event, with no secret in it, wherever the event came from."""

import json
import logging
import subprocess
import sys
from typing import Any

import pytest

from fe.monitoring.nonblocking_sink import lost_lines_notice
from tests import log_events

#: Runs in a process of its own: what it sets up is for the whole process.
PRELUDE = """
import logging, sys
import fe.store
import psycopg
import structlog
from fe.monitoring.log import configure_logging
configure_logging("info")
log = structlog.get_logger("fe.test")

class Violation(psycopg.errors.UniqueViolation):
    pass

def violate():
    raise Violation("duplicate key value violates a unique constraint\\nDETAIL:  Key (name)=(CANARY) already exists.")
"""


def run(body: str) -> tuple[list[dict[str, Any]], str]:
    """The events that `body` logged, and all that was written."""
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + body], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    return [json.loads(line) for line in done.stderr.splitlines()], done.stderr


def test_an_event_is_one_json_line_with_level_time_and_what_is_bound() -> None:
    (event,), _ = run(
        "structlog.contextvars.bind_contextvars(submission='s-1', stage='send')\n"
        "log.info('sent', año=2026, text='a\\nb «c»')"
    )

    assert event.pop("timestamp").endswith("Z")
    assert event == {
        "event": "sent",
        "level": "info",
        "submission": "s-1",
        "stage": "send",
        "año": 2026,
        "text": "a\nb «c»",
    }


def test_every_line_begins_with_event_level_and_timestamp() -> None:
    events, _ = run(
        "from uuid import UUID\nfrom fe.monitoring.submission_log import SubmissionLog\n"
        "log.warning('one', a=1)\nSubmissionLog().info('two', UUID(int=0), a=1)\nlogging.getLogger('x').error('three')"
    )
    lost = json.loads(lost_lines_notice(3))

    assert [list(event)[:3] for event in (*events, lost)] == [["event", "level", "timestamp"]] * 4


def test_other_peoples_loggers_write_the_same_lines() -> None:
    events, _ = run(
        "logging.getLogger('hypercorn.error').warning('bad %s', 'request', extra={'peer': '127.0.0.1'})\n"
        "logging.getLogger('httpx').info('every request')\n"
        "logging.getLogger('anything').debug('details')"
    )

    assert [(event["event"], event["level"], event["peer"]) for event in events] == [
        ("bad request", "warning", "127.0.0.1")
    ]


@pytest.mark.parametrize(
    "key",
    [
        "apiSecret",
        "secret",
        "passphrase",
        "p12_passphrase",
        "password",
        "accessToken",
        "token",
        "Authorization",
        "p12",
        "pepper",
        "kek",
        "FE_KEK",
        "cookie",
        "jwt_keys",
    ],
)
def test_what_is_named_like_a_secret_is_blanked(key: str) -> None:
    events, text = run(
        f"log.info('x', **{{{key!r}: 'CANARY'}})\nlogging.getLogger('y').error('y', extra={{{key!r}: 'CANARY'}})"
    )

    assert "CANARY" not in text
    assert [event[key] for event in events] == ["[blanked]"] * 2


def test_secrets_are_blanked_however_deep_they_lie() -> None:
    _, text = run(
        "log.info('x', settings={'http': {'jwt_keys': 'CANARY'}}, rows=[{'name': 'a', 'passphrase': b'CANARY'}])"
    )

    assert "CANARY" not in text
    assert '"name": "a"' in text


def test_a_database_error_is_told_by_its_type_and_state() -> None:
    (event,), text = run("try:\n    violate()\nexcept Exception as error:\n    log.warning('failed', error=error)")

    assert event["error"] == "Violation 23505"
    assert "CANARY" not in text


LOG = "\nexcept Exception:\n    log.exception('failed')"
VIOLATE = "try:\n    try:\n        violate()\n    except Exception as e:\n        "


@pytest.mark.parametrize(
    "body",
    [
        "try:\n    violate()\nexcept Exception as error:\n    log.exception('failed', error=error)",
        "try:\n    violate()\nexcept Exception:\n    logging.getLogger('other').exception('failed')",
        VIOLATE + "raise ValueError('outer') from e" + LOG,
        VIOLATE + "raise ValueError('outer')" + LOG,
        VIOLATE + "raise ExceptionGroup('g', [KeyError(1), e])" + LOG,
    ],
    ids=["ours", "stdlib", "cause", "context", "group"],
)
def test_a_traceback_shows_where_it_happened_and_not_the_rows_it_was_about(body: str) -> None:
    (event,), text = run(body)

    assert "CANARY" not in text
    assert "in violate" in event["exception"]
    assert "Violation 23505" in event["exception"]


def test_a_traceback_tells_the_message_of_other_errors_and_what_led_to_them() -> None:
    (event,), _ = run(
        "try:\n    try:\n        int('x')\n    except ValueError as e:\n        raise LookupError('no such') from e\n"
        "except Exception:\n    log.exception('failed')"
    )

    told = event["exception"]
    assert told.index("ValueError: invalid literal") < told.index("direct cause") < told.index("LookupError: no such")


def test_a_long_chain_and_a_circle_of_errors_come_to_an_end() -> None:
    (event,), _ = run(
        "a, b = ValueError('a'), ValueError('b')\na.__context__, b.__context__ = b, a\nlog.error('circle', exc_info=a)"
    )

    assert "ValueError: a" in event["exception"]


def test_another_level_can_be_asked_for() -> None:
    events, _ = run("configure_logging('warning')\nlog = structlog.get_logger('z')\nlog.info('no')\nlog.warning('yes')")

    assert [event["event"] for event in events] == ["yes"]


def test_for_a_terminal_it_is_text() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import structlog\nfrom fe.monitoring.log import configure_logging\n"
            "configure_logging(human=True)\nstructlog.get_logger('a').info('hola', n=1)",
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )

    assert "hola" in done.stderr
    assert not done.stderr.startswith("{")
    assert logging.getLevelName(logging.INFO) == "INFO"


def test_every_event_is_listed_for_operators() -> None:
    shown = (log_events.ROOT / "docs" / "security" / "log-events.md").read_text(encoding="utf-8")

    assert shown == log_events.page(), "run: python -m tests.log_events > docs/security/log-events.md"


def test_an_event_is_one_text_and_never_put_together_from_what_came_in() -> None:
    """Varying values are fields, so that no input can look like another event."""
    assert len({one.text for one in log_events.events()}) > 40
