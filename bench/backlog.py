"""A service that is started on a backlog: when it begins, how fast it goes, and how soon POSTs are answered meanwhile.

Part of bench.growth, which measures a large backlog in a grown database beside a small one in an empty database.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import psycopg

from bench.history import ID, in_chunks, quickly
from bench.road import Numbers
from bench.stack import Stack
from bench.submit import Order, finish, payload, start

#: POSTs a second that are sent while the backlog is worked on.
POSTS = 20.0
#: Rows of a small backlog per second of the measurement: more than any machine works off.
ENOUGH = 700
_PATIENCE = 120.0
_MARKER = "E310000000000"

#: Due submissions, as accepting leaves them; each a microsecond after the other. Tenants take turns.
_DUE = f"""
    CREATE TEMPORARY TABLE due AS
    SELECT (%(owners)s::bigint[])[1 + n %% cardinality(%(owners)s::bigint[])] AS tenant_id, {ID} AS submission_id, t.at,
           'E31' || lpad((%(number)s::bigint + n)::text, 10, '0') AS e_ncf
      FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
     CROSS JOIN LATERAL (SELECT now() + n * interval '1 microsecond' AS at) AS t
"""
_DUE_ROWS = (
    """INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, body_digest, format, root, ecf_type,
                                e_ncf, issuer_rnc, buyer_rnc, submitted_at, updated_at)
       SELECT tenant_id, submission_id, 'testecf', 'fak_000000000000', sha256('x'), 'structured', 'ECF', '31', e_ncf,
              '131880738', '131880681', at, at FROM due""",
    """INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
       SELECT tenant_id, submission_id, 'original', convert_to(replace(%(payload)s, %(marker)s, e_ncf), 'UTF8')
         FROM due""",
    """INSERT INTO submission_events (tenant_id, submission_id, seq, at, kind, detail, hash)
       SELECT tenant_id, submission_id, 1, at, 'accepted', '{}', sha256('x') FROM due""",
    """INSERT INTO outbox (tenant_id, subject, stage, environment, run_at)
       SELECT tenant_id, submission_id, 'sign', 'testecf', now() FROM due""",
)
#: A claim moves what it takes to where its lease ends; what waits lies before now.
_ANY_CLAIMED = """
    SELECT EXISTS (SELECT FROM outbox
                    WHERE stage = 'sign' AND environment = 'testecf' AND host = '' AND tenant_id = %s
                      AND run_at > now() + interval '5 s')
"""
_BOOKED = """
    SELECT count(*) FROM submissions
     WHERE tenant_id = %s AND environment = 'testecf' AND verdict_at >= %s AND verdict_at < %s
"""


@dataclass(frozen=True, slots=True)
class Restart:
    """Result of one start on a backlog."""

    until_claim: float
    verdicts_per_second: float
    cpu_ms: float
    posts: list[float]


def put_due(stack: Stack, rows: int, number: int, owners: list[int] | None = None) -> None:
    """Put submissions into the outbox, due now, of these tenants in turn; their numbers start at `number`."""
    values: dict[str, Any] = {"owners": owners or [stack.tenant_id], "number": number, "marker": _MARKER}
    values["payload"] = json.dumps(payload(_MARKER), ensure_ascii=False)
    with quickly(stack):
        in_chunks(stack, [_DUE, *_DUE_ROWS, "DROP TABLE due"], 1, rows, values)


def clear(stack: Stack) -> None:
    """Take out what was left undone."""
    with psycopg.connect(stack.dsn, autocommit=True) as conn:
        conn.execute("DELETE FROM outbox")
        conn.execute("VACUUM ANALYZE outbox")


def restart(stack: Stack, numbers: Numbers, seconds: float) -> Restart:
    """Start the service on the due rows, watch it for some seconds, and stop it."""
    with psycopg.connect(stack.dsn, autocommit=True) as conn:
        began = time.monotonic()
        stack.start_service(wait=False)
        until_claim = _wait(lambda: bool(_one(conn, _ANY_CLAIMED, [stack.tenant_id]))) - began
        port = urlsplit(stack.base_url).port
        assert port is not None
        stack.wait_until_ready()
        stack.log_in()
        documents = max(2, round(POSTS * seconds))
        first, cores = numbers.take(documents), tuple(stack.cores.beside)
        used, since, started = stack.cpu(), datetime.now(UTC), time.monotonic()
        answer = finish(start(Order(port, stack.token, first, documents, 16, POSTS, cores=cores)))
        time.sleep(max(0.0, started + seconds - time.monotonic()))
        until, after, elapsed = datetime.now(UTC), stack.cpu(), time.monotonic() - started
        stack.stop("service")
        done = int(_one(conn, _BOOKED, [stack.tenant_id, since, until]))
    spent = sum(after[part] - used[part] for part in ("service", "Postgres"))
    return Restart(until_claim, done / elapsed, spent / max(done, 1) * 1000, [post for _, post in answer.posts])


def _wait(there: Callable[[], bool]) -> float:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        if there():
            return time.monotonic()
        time.sleep(0.02)
    raise SystemExit(f"no work was begun within {_PATIENCE:.0f} s")


def _one(conn: "psycopg.Connection", statement: str, values: list[object]) -> Any:
    row = conn.execute(statement.encode(), values).fetchone()
    assert row is not None
    return row[0]
