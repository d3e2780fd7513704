"""`fe webhook`: what an operator sets and sees, and what a developer tries on one machine."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from fe.webhooks.signature import signed_headers
from tests.cli.running import Fe, environment
from tests.cli.warm import warm_fe
from tests.waiting import PATIENCE
from tests.webhooks.vectors import SECRET, VECTORS

KEYS = f"test:4a{'44' * 31}"
AT = ("--tenant", "Ozama", "--environment", "testecf")


@contextmanager
def listening(*args: str, secret: str = SECRET) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """A listener on a free port: its address and its process, which says the rest."""
    process = subprocess.Popen(
        [warm_fe(), "webhook", "listen", "--port", "0", "--json", *args],
        stdout=subprocess.PIPE,
        text=True,
        env=environment(webhook_secret=secret),
    )
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())["listening"], process
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def heard(process: "subprocess.Popen[str]") -> list[dict[str, Any]]:
    """Run a listener that ends by itself; return its output."""
    printed, _ = process.communicate(timeout=PATIENCE)
    return [json.loads(line) for line in printed.splitlines()]


def test_a_webhook_is_set_shown_rotated_disabled_and_set_again(fe: Fe, tenant: str) -> None:
    (fe.folder / "headers.json").write_text('{"Authorization": "Bearer theirs"}')

    made = fe(
        "webhook",
        "set",
        *AT,
        "--url",
        "https://erp.example.com/x",
        "--headers",
        "headers.json",
        "--json",
        webhook_keys=KEYS,
    )
    shown = fe("webhook", "show", *AT, "--json", webhook_keys=KEYS).json
    rotated = fe("webhook", "rotate", *AT, "--json", webhook_keys=KEYS).json
    off = fe("webhook", "disable", *AT, "--json", webhook_keys=KEYS).json
    on = fe(
        *("webhook", "set", *AT, "--url", "https://erp.example.com/y"), "--no-headers", "--json", webhook_keys=KEYS
    ).json

    assert made.json["secret"].startswith("whsec_")
    assert "keep the secret now" in made.err
    assert shown == [{name: value for name, value in made.json.items() if name != "secret"}]
    assert shown[0]["headers"] == ["Authorization"]
    assert rotated["secret"] != made.json["secret"]
    assert rotated["oldSecretUntil"] is not None
    assert (off["enabled"], on["enabled"], on["url"], on["headers"]) == (False, True, "https://erp.example.com/y", [])
    assert "Bearer" not in made.out + json.dumps([shown, rotated, off, on])


def test_a_test_is_sent_listed_and_made_again(fe: Fe, tenant: str) -> None:
    fe("webhook", "set", *AT, "--url", "https://erp.example.com/", webhook_keys=KEYS)

    sent = fe("webhook", "test", *AT, "--json", webhook_keys=KEYS).json
    sample = fe("webhook", "trigger", "submission.rejected", *AT, "--json", webhook_keys=KEYS).json
    listed = fe("webhook", "deliveries", *AT, "--state", "pending", "--json").json
    shown = fe("webhook", "deliveries", *AT, "--id", sent["delivery"])
    again = fe("webhook", "retry", sent["delivery"], "--tenant", tenant, "--json").json
    recovery = fe("webhook", "recover", *AT, "--since", "2026-01-01", "--json", webhook_keys=KEYS).json

    assert [(each["id"], each["event"]) for each in listed] == [
        (sample["delivery"], "submission.rejected"),
        (sent["delivery"], "test"),
    ]
    assert shown.code == 0
    assert "it was not tried yet" in shown.err
    assert (again["id"], again["state"]) == (sent["delivery"], "pending")
    assert (recovery["state"], recovery["since"]) == ("pending", "2026-01-01T00:00:00.000Z")
    assert "under way" in fe.refused("webhook", "recover", *AT, "--since", "2026-01-01", webhook_keys=KEYS)


def test_another_webhook_is_set_by_its_name_and_deleted(fe: Fe, tenant: str) -> None:
    crm = (*AT, "--name", "crm", "--json")
    made = fe("webhook", "set", *crm, "--url", "https://crm.example.com/", webhook_keys=KEYS).json
    assert fe("webhook", "rotate", *crm, webhook_keys=KEYS).json["secret"] != made["secret"]
    shown = fe("webhook", "show", *AT, "--json", webhook_keys=KEYS).json
    gone = fe("webhook", "delete", *crm, webhook_keys=KEYS).json

    assert [one["name"] for one in shown] == ["crm"]
    assert gone == {"deleted": "crm", "environment": "testecf"}
    assert "no webhook endpoint crm" in fe.refused("webhook", "delete", *crm, webhook_keys=KEYS)
    assert "lower-case" in fe.refused("webhook", "test", *AT, "--name", "C", code=2, webhook_keys=KEYS)


def test_what_cannot_be_done_is_said_in_one_line(fe: Fe, tenant: str) -> None:
    nobody = "00000000-0000-7000-8000-000000000000"

    assert "FE_WEBHOOK_KEYS" in fe.refused("webhook", "show", *AT, code=3)
    assert "https://" in fe.refused("webhook", "set", *AT, "--url", "http://erp.example.com/", webhook_keys=KEYS)
    assert "no webhook is set" in fe.refused("webhook", "rotate", *AT, webhook_keys=KEYS)
    assert "no webhook is set" in fe.refused("webhook", "disable", *AT, webhook_keys=KEYS)
    assert "has no delivery" in fe.refused("webhook", "retry", nobody, "--tenant", tenant)
    assert "--url, or --tenant" in fe.refused("webhook", "trigger", "test", code=2)
    assert "no secret" in fe.refused("webhook", "trigger", "test", "--url", "http://127.0.0.1:1/", code=2)
    address = fe.refused("webhook", "trigger", "test", "--url", "https://10.0.0.1/", code=2, webhook_secret=SECRET)
    assert "not an address" in address
    assert "whsec_" in fe.refused("webhook", "listen", code=2, webhook_secret="hunter2")


def test_events_are_tried_on_one_machine(fe: Fe) -> None:
    kinds = ["received_ecf", "submission.rejected"]
    with listening("--count", str(len(kinds))) as (url, process):
        sent = [fe("webhook", "trigger", kind, "--url", url, "--json", webhook_secret=SECRET).json for kind in kinds]
        calls = heard(process)

    assert process.returncode == 0
    assert [each["confirmed"] for each in sent] == [True, True]
    assert [(each["event"], each["body"]["event"], each["signature"]) for each in calls] == [
        (kind, kind, "valid") for kind in kinds
    ]
    assert [each["delivery"] for each in calls] == [each["delivery"] for each in sent]


def test_the_listener_refuses_what_is_not_valid_and_notices_what_came_before() -> None:
    body = b'{"event":"test"}'
    good = dict(
        signed_headers([SECRET], event="test", delivery_id="d1", timestamp=int(time.time()), body=body),
    )
    with listening("--count", "4") as (url, process):
        with httpx.Client(trust_env=False, timeout=PATIENCE) as client:
            answers = [
                client.get(url),
                client.post(url, content=body, headers=good),
                client.post(url, content=body, headers=good),
                client.post(url, content=VECTORS[0].body, headers=VECTORS[0].headers),
                client.post(url, content=b"hello"),
            ]
        calls = heard(process)

    assert process.returncode == 1, "one was not valid"
    assert [each.status_code for each in answers] == [405, 200, 200, 401, 401]
    assert [each["again"] for each in calls] == [False, True, False, False]
    assert "minutes away" in calls[2]["signature"]
    assert calls[3]["body"] == "hello"


def test_the_listener_answers_as_told_and_tells_a_person(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [warm_fe(), "webhook", "listen", "--port", "0", "--status", "500", "--count", "1"],
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stdout is not None
    url = process.stdout.readline().split()[4]
    answer = httpx.post(url, content=VECTORS[0].body, headers=VECTORS[0].headers, trust_env=False, timeout=PATIENCE)
    printed, _ = process.communicate(timeout=PATIENCE)

    assert answer.status_code == 500
    assert "received_ecf, delivery 01996f3a-6c00-7000-8000-0000000000d1" in printed
    assert "encf=E310000000007 rncEmisor=131880738" in printed
    assert "not checked" in printed


@pytest.mark.skipif(os.name != "posix", reason="NOT PROVED HERE: needs signals")
def test_a_port_that_is_taken_is_said_in_one_line(fe: Fe) -> None:
    with listening() as (url, _):
        port = url.rsplit(":", 1)[1].strip("/")

        assert "in use" in fe.refused("webhook", "listen", "--port", port)


def test_a_secret_is_shown_again_and_recoveries_are_listed(fe: Fe, tenant: str) -> None:
    (fe.folder / "two.json").write_text('{"X-A": "a", "X-B": "b"}')
    (fe.folder / "one.json").write_text('{"X-B": "other"}')
    there = ("--url", "https://erp.example.com/x", "--json")
    made = fe("webhook", "set", *AT, *there, "--headers", "two.json", webhook_keys=KEYS).json
    kept = fe("webhook", "set", *AT, *there, "--headers", "one.json", "--keep-header", "X-A", webhook_keys=KEYS).json
    shown = fe("webhook", "reveal", *AT, "--json", webhook_keys=KEYS).json

    assert (kept["headers"], "secret" in kept) == (["X-A", "X-B"], False)
    assert shown["secret"] == made["secret"]
    refused = fe.refused(
        "webhook", "set", *AT, *there, "--headers", "one.json", "--keep-header", "X-C", webhook_keys=KEYS
    )
    assert "no header 'X-C'" in refused

    sent = fe("webhook", "test", *AT, "--json", webhook_keys=KEYS).json["delivery"]
    listed = ("webhook", "deliveries", *AT, "--json")
    assert [one["id"] for one in fe(*listed, "--event", "test", "--about", "test", "--since", "2026-01-01").json] == [
        sent
    ]
    assert fe(*listed, "--until", "2026-01-01").json == []
    assert fe(*listed, "--before", sent).json == []

    asked = fe("webhook", "recover", *AT, "--since", "2026-01-01", "--json", webhook_keys=KEYS).json
    (one,) = fe("webhook", "recoveries", "--tenant", "Ozama", "--json", webhook_keys=KEYS).json
    assert (one["recovery"], one["since"], one["recovered"]) == (asked["recovery"], "2026-01-01T00:00:00.000Z", 0)

    changes = fe("tenant", "changes", "Ozama", "--json").json
    assert [change["action"] for change in changes][:3] == ["webhook secret shown", "webhook set", "webhook set"]
    assert made["secret"] not in str(changes)
