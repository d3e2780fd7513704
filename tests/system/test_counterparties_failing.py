"""Receivers that fail, and processes that die while they hand on: nothing lost, and never other bytes."""

import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
import trio

from fe.clock import system_clock
from fe.ecf.ids import new_id
from fe.http.app import PREFIX
from fe.identifiers import ActionId, SubmissionId
from fe.store.queue.audit import OperatorAction
from fe.store.records import counterparty
from fe.store.records.counterparty import HandingState
from tests.cli.running import environment
from tests.factories.tenants import rows
from tests.ports import free_port
from tests.system.pair import until
from tests.system.stack import Stack, running_stack
from tests.system.test_road import invoice
from tests.waiting import PATIENCE

# As in test_road.py.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


async def manage(stack: Stack, path: str, body: dict[str, Any] | None = None) -> Any:
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as operator:
        url = f"{stack.simulator.management}/{path}"
        answer = await (operator.get(url) if body is None else operator.post(url, json=body))
        assert answer.is_success, answer.text
        return answer.json()


async def break_receiver(stack: Stack, number: int, kind: str, *, times: int = 1, **more: Any) -> None:
    """Have the simulated counterparty go wrong about one receipt."""
    order = {"kind": kind, "operation": "counterparty_reception", "eNCF": f"E31{number:010}", "times": times, **more}
    await manage(stack, "faults", order)


async def states(stack: Stack) -> dict[str, str]:
    """By number."""
    found = await rows(
        stack.db,
        "SELECT s.e_ncf, d.state FROM counterparty_deliveries AS d"
        " JOIN submissions AS s USING (tenant_id, submission_id)",
    )
    return {row["e_ncf"]: row["state"] for row in found}


async def until_all(stack: Stack, count: int, state: str) -> None:
    async def ask() -> bool:
        found = await states(stack)
        return len(found) == count and set(found.values()) == {state}

    await until(ask, seconds=120)


async def check_nothing_was_lost_or_changed(stack: Stack, count: int) -> None:
    """The counterparty got the bytes that the authority accepted, each send recorded before it."""
    heard = (await manage(stack, "counterparty"))["heard"]
    sends = await rows(
        stack.db,
        "SELECT s.e_ncf, encode(x.digest, 'hex') AS digest, x.outcome, encode(sha256(d.content), 'hex') AS signed"
        " FROM counterparty_sends AS x JOIN submissions AS s USING (tenant_id, submission_id)"
        " JOIN submission_documents AS d USING (tenant_id, submission_id) WHERE d.kind = 'signed'",
    )
    assert {one["eNCF"] for one in heard} == {f"E31{number:010}" for number in range(1, count + 1)}
    assert {one["estado"] for one in heard} == {"0"}
    assert {(one["eNCF"], one["sha256"]) for one in heard} == {(row["e_ncf"], row["digest"]) for row in sends}
    assert all(row["digest"] == row["signed"] for row in sends)
    assert len(heard) <= len(sends)
    answers = await rows(stack.db, "SELECT answer FROM counterparty_deliveries")
    assert all(b"<Estado>0</Estado>" in bytes(row["answer"]) for row in answers)


async def turn_on(stack: Stack) -> None:
    assert await stack.db.run(counterparty.send_to_receivers, stack.tenant.tenant_id, on=True)


FAULTS: list[tuple[str, dict[str, Any]]] = [
    ("html", {}),
    ("unavailable", {}),
    ("reset-before", {}),
    ("reset-after", {}),
    ("half-reply", {}),
    ("empty", {}),
    ("garbage", {}),
    ("redirect", {}),
    ("unauthorized", {}),
    ("wrong-acknowledgement", {}),
    ("slow", {"seconds": 0.2}),
]


async def test_whatever_goes_wrong_once_is_made_good_with_the_same_bytes(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path, time_scale=0.02) as stack:
        await turn_on(stack)
        for number, (kind, more) in enumerate(FAULTS, 1):
            await break_receiver(stack, number, kind, **more)
        for number in range(1, len(FAULTS) + 1):
            await stack.submit(invoice(number))

        await until_all(stack, len(FAULTS), "delivered")

        await check_nothing_was_lost_or_changed(stack, len(FAULTS))
        suffered = (await manage(stack, "stats"))["faults"]
        assert set(suffered) == {kind for kind, _ in FAULTS}


async def test_who_never_answers_is_given_up_shown_and_replayed(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path, time_scale=0.02) as stack:
        await turn_on(stack)
        await break_receiver(stack, 1, "html", times=0)
        taken = await stack.submit(invoice(1))
        subject = SubmissionId(taken["taxLogId"])
        # The three days are not waited for.
        aged = "UPDATE counterparty_outbox SET entered_at = now() - interval '4 days', attempt = 9, run_at = now()"

        async def gave_up() -> bool:
            await rows(stack.db, f"{aged} WHERE holder IS NULL AND last_error IS NOT NULL")
            return (await states(stack)).get("E310000000001") == "gave_up"

        await until(gave_up)
        shown = (await stack.client.get(f"/invoices/{subject}")).json()
        (dead,) = await stack.db.run(counterparty.listed, [HandingState.GAVE_UP], limit=10)
        await manage(stack, "reset", {})
        now = system_clock()
        action = OperatorAction(ActionId(new_id(now)), now, "ana", "they are back")
        replay = stack.db.transact
        assert await replay(counterparty.replay, action, dead.tenant_id, dead.submission_id)
        await until_all(stack, 1, "delivered")

        assert not await replay(counterparty.replay, action, dead.tenant_id, dead.submission_id)
        await check_nothing_was_lost_or_changed(stack, 1)
    assert (shown["status"], shown["receiver"]["state"]) == ("Aceptado", "gave_up")
    assert shown["receiver"]["reason"] == dead.reason == "they answered with status 500"


async def test_only_who_is_listed_is_sent_to_and_only_of_tenants_that_want_it(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path) as stack:
        quiet = await stack.submit(invoice(1))
        await stack.until_final(quiet["taxLogId"])
        await turn_on(stack)
        for rnc in ("131880738", "131880681"):  # both are taxpayers, and have no address
            await manage(stack, "taxpayers", {"rnc": rnc, "name": "x"})
        taken = await stack.submit(invoice(2))

        async def unlisted() -> bool:
            return (await states(stack)).get("E310000000002") == "unlisted"

        await until(unlisted)
        shown = (await stack.client.get(f"/invoices/{taken['taxLogId']}")).json()
        before = (await stack.client.get(f"/invoices/{quiet['taxLogId']}")).json()

        assert await rows(stack.db, "SELECT 1 AS n FROM counterparty_sends") == []
    assert shown["receiver"]["reason"] == "the authority's directory has no address for them"
    assert "receiver" not in before


@asynccontextmanager
async def process_of(stack: Stack, role: str, failpoint: str = "", **more: str) -> AsyncIterator[trio.Process]:
    """A process of the service, beside the stack's own."""
    settings = stack.settings
    told = {
        "database_url": settings.database_url or "",
        "data_dir": str(settings.data_dir),
        "development": "1",
        "database_shared_login": "1",
        "authority_ecf_url": settings.authority_ecf_url,
        "metrics_bind": "127.0.0.1:0",
        "poll_seconds": "0.3",
        "time_scale": "0.05",
        "failpoint": failpoint,
        "api_key_pepper": "",
        "kek": "",
        "jwt_keys": "",
        **more,
    }
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "fe", "run", "--role", role],
        env=environment(**told) | {"PYTHONUNBUFFERED": "1"},
        stdout=None,
        stderr=None,
    )
    try:
        yield process
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()


@pytest.mark.parametrize("point", ["handing:2", "handed:2"])
async def test_a_process_that_is_killed_while_it_hands_on_loses_nothing(dsn: str, tmp_path: Path, point: str) -> None:
    async with running_stack(dsn, tmp_path, role="http") as stack:
        await turn_on(stack)
        for number in (1, 2, 3):
            await stack.submit(invoice(number))
        async with process_of(stack, "actors", point) as first:
            with trio.fail_after(120):
                assert await first.wait() == -signal.SIGKILL
        async with process_of(stack, "actors"):
            await until_all(stack, 3, "delivered")

        await check_nothing_was_lost_or_changed(stack, 3)


async def test_a_front_that_is_killed_before_it_answers_has_decided_once(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path, role="http") as stack:
        received_id = uuid4()
        await rows(
            stack.db,
            "INSERT INTO received (tenant_id, received_id, environment, issuer_rnc, e_ncf, ecf_type, issuer_name,"
            " buyer_rnc, issued_on, total, digest, received_at) VALUES (%(tenant)s, %(id)s, 'testecf', '131880681',"
            " 'E310000000001', '31', 'x', '131880738', '2026-11-06', 118, sha256('x'), now())",
            tenant=stack.tenant.tenant_id,
            id=received_id,
        )
        bind = f"127.0.0.1:{free_port()}"
        path = f"/received/{received_id}/approve"
        async with (
            process_of(stack, "http", "decided", http_bind=bind) as killed,
            httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client,
        ):

            async def serves() -> bool:
                try:
                    return (await client.get(f"http://{bind}/healthz")).is_success
                except httpx.TransportError:
                    return False

            await until(serves, seconds=120)
            with pytest.raises(httpx.TransportError):
                await client.post(
                    f"http://{bind}{PREFIX}{path}", headers={"Authorization": stack.client.headers["Authorization"]}
                )
            with trio.fail_after(60):
                assert await killed.wait() == -signal.SIGKILL

        again = await stack.client.post(path)

        assert (again.status_code, again.json()["deduped"], again.json()["status"]) == (200, True, "queued")
        assert len(await rows(stack.db, "SELECT 1 AS n FROM submissions WHERE root = 'ACECF'")) == 1
        assert len(await rows(stack.db, "SELECT 1 AS n FROM outbox WHERE stage = 'sign'")) == 1
