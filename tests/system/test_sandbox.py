"""A sandbox plays the other side: a supplier, a buyer and an outage, up to the webhook of the integrator."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from fe.actors.webhook_watch import emit_outages
from fe.clock import system_clock
from fe.config import ConfigError, load_settings
from fe.ecf.catalogue import Environment
from fe.integrator.webhook.listener import ReceivedCall, listen
from fe.integrator.webhook.verify import check
from tests.factories.tenants import rows
from tests.ports import free_port
from tests.system.pair import BUYER, until
from tests.system.stack import Stack, provision, running_stack
from tests.system.test_road import consumer_invoice, invoice, journal_of
from tests.waiting import PATIENCE, PAUSING

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


class Listening:
    """The integrator's own system; records webhook calls."""

    def __init__(self) -> None:
        self.calls: list[ReceivedCall] = []

    async def hear(self, received: ReceivedCall) -> int:
        self.calls.append(received)
        return 200

    async def told_of(self, number: str) -> tuple[ReceivedCall, dict[str, Any]]:
        """Wait until the call about a received number has come."""

        async def look() -> tuple[ReceivedCall, dict[str, Any]] | None:
            for call in self.calls:
                body: dict[str, Any] = json.loads(call.body)
                if body.get("receivedEcf", {}).get("encf") == number:
                    return call, body
            return None

        return await until(look)

    async def told(self, event: str) -> dict[str, Any]:
        """Wait until an event has come; return its body."""

        async def look() -> dict[str, Any] | None:
            bodies = [json.loads(call.body) for call in self.calls]
            return next((body for body in bodies if body["event"] == event), None)

        return await until(look)


@asynccontextmanager
async def another_company(stack: Stack) -> AsyncIterator[httpx.AsyncClient]:
    """Client of a second company of the same service."""
    assert stack.settings.api_key_pepper is not None
    pepper = bytes.fromhex(stack.settings.api_key_pepper.get_secret_value())
    _, _, key = await provision(stack.db, stack.vault, pepper, environment=Environment.TESTECF, issuer=BUYER)
    async with httpx.AsyncClient(base_url=stack.base_url, timeout=PATIENCE, trust_env=False, limits=PAUSING) as client:
        login = await client.post("/login", json={"apiKeyId": key.record.api_key_id, "apiSecret": key.secret})
        client.headers["Authorization"] = f"Bearer {login.json()['accessToken']}"
        yield client


async def said(stack: Stack, path: str, body: dict[str, Any] | None = None) -> tuple[int, dict[str, Any]]:
    answer = await stack.client.post(f"/sandbox/{path}", json=body)
    return answer.status_code, answer.json()


async def test_supplier_sends_on_demand_and_webhook_and_decision_follow(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path, sandbox=True) as stack, trio.open_nursery() as nursery:
        system = Listening()
        port = await nursery.start(listen, system.hear, "127.0.0.1", 0)
        secret = (await stack.client.put("/webhooks", json={"url": f"http://127.0.0.1:{port}/"})).json()["secret"]

        status, sent = await said(stack, "receipts")
        assert status == 200, sent
        call, told = await system.told_of(sent["eNCF"])
        shown = (await stack.client.get(f"/received/{sent['receivedId']}")).json()
        decided = await stack.client.post(f"/received/{sent['receivedId']}/approve")

        async def approved() -> bool:
            now = (await stack.client.get(f"/received/{sent['receivedId']}")).json()
            return bool(now["approvalStatus"] == "approved")

        await until(approved)
        status, chosen = await said(stack, "receipts", {"eNCF": "E310000000007"})
        await trio.sleep(1.1)  # a receipt that is signed in another second is another receipt
        again = await said(stack, "receipts", {"eNCF": "E310000000007"})
        listed = (await stack.client.get("/received")).json()["items"]
        nursery.cancel_scope.cancel()

    checked = check(secret, call.headers, call.body, system_clock())
    assert (checked.plain, checked.standard) == (None, None)
    assert told["receivedEcf"]["id"] == sent["receivedId"] == shown["id"]
    assert set(sent) == {"receivedId", "rncEmisor", "eNCF"}
    assert (shown["rncEmisor"], shown["encf"], shown["approvalStatus"]) == (
        sent["rncEmisor"],
        sent["eNCF"],
        "pending",
    )
    assert decided.status_code == 202
    assert (status, chosen["eNCF"]) == (200, "E310000000007")
    assert again == (
        409,
        {
            "message": "the supplier has used this number: your company acknowledged the receipt as a duplicate",
            "statusCode": 409,
        },
    )
    assert len(listed) == 2


async def test_buyer_approves_and_rejects_on_demand(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path, sandbox=True) as stack, trio.open_nursery() as nursery:
        system = Listening()
        port = await nursery.start(listen, system.hear, "127.0.0.1", 0)
        events = ["buyer.approved", "buyer.rejected"]
        wanted = {"url": f"http://127.0.0.1:{port}/", "events": events}
        assert (await stack.client.put("/webhooks", json=wanted)).is_success
        taken = [(await stack.submit(make))["taxLogId"] for make in (invoice(1), invoice(2), consumer_invoice(1))]
        ends = [await stack.until_final(one) for one in taken]
        first, second, consumer = taken
        approval = {"taxLogId": first, "decision": "approved"}
        rejection = {"taxLogId": second, "decision": "rejected", "reason": "No es lo pedido"}
        answers = [await said(stack, "approvals", one) for one in (approval, approval, rejection)]
        contrary = await said(stack, "approvals", {**rejection, "taxLogId": first})
        of_none = await said(stack, "approvals", {**approval, "taxLogId": consumer})
        shown = [(await stack.client.get(f"/invoices/{one}")).json() for one in taken]
        told = [(await system.told(event))["approval"] for event in events]
        nursery.cancel_scope.cancel()

    assert [(one["taxLogId"], one["eNCF"], one["reason"]) for one in told] == [
        (first, "E310000000001", None),
        (second, "E310000000002", "No es lo pedido"),
    ]
    assert len(system.calls) == 2, "what was said twice is told once"
    assert [one["status"] for one in ends] == ["Aceptado"] * 3
    assert answers == [
        (200, {"taxLogId": first, "eNCF": "E310000000001", "decision": "approved"}),
        (200, {"taxLogId": first, "eNCF": "E310000000001", "decision": "approved"}),
        (200, {"taxLogId": second, "eNCF": "E310000000002", "decision": "rejected"}),
    ]
    assert (contrary[0], "decided otherwise" in contrary[1]["message"]) == (409, True)
    assert (of_none[0], "31, 33, 34, 44 or 45" in of_none[1]["message"]) == (409, True)
    assert [(one.get("approvalStatus"), one.get("approvalReason")) for one in shown] == [
        ("approved", None),
        ("rejected", "No es lo pedido"),
        (None, None),
    ]


async def test_outage_delays_its_company_alone_and_ends(dsn: str, tmp_path: Path) -> None:
    async with (
        running_stack(dsn, tmp_path, authority_simulated=True) as stack,
        another_company(stack) as other,
        trio.open_nursery() as nursery,
    ):
        system = Listening()
        port = await nursery.start(listen, system.hear, "127.0.0.1", 0)
        wanted = {"url": f"http://127.0.0.1:{port}/", "events": ["authority.down", "authority.up"]}
        for client in (stack.client, other):
            assert (await client.put("/webhooks", json=wanted)).is_success

        status, begun = await said(stack, "outages", {"seconds": 600})
        assert status == 200, begun
        mode, theirs = [await client.get("/contingency") for client in (stack.client, other)]
        taken = await stack.submit(invoice(1))
        there = {"format": "structured", "payload": invoice(1)}
        answered = (await other.post("/invoices", json=there)).json()["taxLogId"]
        accepted = (await other.get(f"/invoices/{answered}?wait=30")).json()

        async def signed() -> dict[str, Any] | None:
            shown: dict[str, Any] = (await stack.client.get(f"/invoices/{taken['taxLogId']}")).json()
            return shown if shown["securityCode"] else None

        waiting = await until(signed)
        journal = [one for one in await journal_of(stack) if one["operation"] == "reception"]
        assert await emit_outages(stack.db, system_clock) == 1
        down = await system.told("authority.down")

        moved, ended = [await said(stack, "outages", {"seconds": seconds}) for seconds in (300, 0)]
        final = await stack.until_final(taken["taxLogId"])
        after = await stack.client.get("/contingency")
        assert await emit_outages(stack.db, system_clock) == 1
        up = await system.told("authority.up")
        nursery.cancel_scope.cancel()

    assert mode.headers["Authority-Outage"] == f"ecf; since={begun['since']}"
    assert (mode.json()["mode"], mode.json()["outages"]) == (
        "authority_down",
        [{"host": "ecf", "since": begun["since"]}],
    )
    assert ("Authority-Outage" in theirs.headers, theirs.json()["mode"]) == (False, "normal")
    assert accepted["status"] == "Aceptado"
    assert (waiting["status"], "Contingencia" in waiting["legend"]) == ("queued", True)
    assert len(journal) == 1, "only the other company's receipt was sent"
    assert (moved[1]["since"], moved[1]["until"] < begun["until"]) == (begun["since"], True)
    assert ended[1]["until"] < moved[1]["until"]
    assert final["status"] == "Aceptado"
    assert ("Authority-Outage" in after.headers, after.json()["mode"]) == (False, "normal")
    assert [one["authority"]["host"] for one in (down, up)] == ["ecf", "ecf"]
    assert len(system.calls) == 2, "the other company was told of it"


@pytest.mark.parametrize("seconds", [-1, 601, True, "5"])
async def test_outage_of_another_length_is_refused(dsn: str, tmp_path: Path, seconds: Any) -> None:
    async with running_stack(dsn, tmp_path, role="http", authority_simulated=True) as stack:
        answer = await said(stack, "outages", {"seconds": seconds})
    assert answer == (400, {"message": "seconds must be a whole number from 0 to 600", "statusCode": 400})


REFUSED = {
    "message": "this is for sandboxes: here no simulator plays the other side, or the key is for production",
    "statusCode": 409,
}


async def test_key_for_production_is_refused(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path, role="http", environment=Environment.ECF, sandbox=True) as stack:
        approval = {"taxLogId": "x", "decision": "approved"}
        answers = [
            await said(stack, "receipts"),
            await said(stack, "approvals", approval),
            await said(stack, "outages", {"seconds": 5}),
        ]
        received = await rows(stack.db, "SELECT 1 FROM received")

    assert answers == [(409, REFUSED)] * 3
    assert received == []


async def test_service_without_simulator_refuses(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path, role="http", authority_simulated=True) as stack:
        answer = await said(stack, "receipts")
    assert answer == (409, REFUSED)


async def test_company_whose_reception_is_closed_is_told(dsn: str, tmp_path: Path) -> None:
    async with running_stack(dsn, tmp_path, sandbox=True) as stack:
        await rows(stack.db, "DELETE FROM receivers RETURNING 1")
        status, answer = await said(stack, "receipts")
    assert (status, "the operator has to open its reception" in answer["message"]) == (409, True)


async def test_reception_that_does_not_answer_is_told_in_spanish(dsn: str, tmp_path: Path) -> None:
    nobody = f"http://127.0.0.1:{free_port()}"
    async with running_stack(dsn, tmp_path, sandbox=True, simulator_reception_url=nobody) as stack:
        answer = await stack.client.post("/sandbox/receipts", headers={"Accept-Language": "es"})
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.json()["message"].startswith("el simulador no hizo del otro contribuyente")


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({"simulator_url": "http://127.0.0.1:1"}, "FE_SIMULATOR_URL is set without FE_AUTHORITY_SIMULATED"),
        ({"simulator_reception_url": "http://127.0.0.1:1"}, "FE_SIMULATOR_RECEPTION_URL needs FE_SIMULATOR_URL"),
        (
            {"simulator_url": "simulator", "authority_simulated": True, "reception_bind": "127.0.0.1:1"},
            "FE_SIMULATOR_URL should be a URL",
        ),
        (
            {"simulator_url": "http://127.0.0.1:1", "authority_simulated": True},
            "FE_SIMULATOR_RECEPTION_URL should be a URL",
        ),
    ],
)
def test_settings_of_a_simulator_without_sense_are_refused(settings: dict[str, Any], wrong: str) -> None:
    addresses = dict.fromkeys(("authority_ecf_url", "authority_fc_url", "authority_status_url"), "http://127.0.0.1:2")
    with pytest.raises(ConfigError, match=wrong):
        load_settings(development=True, **addresses, **settings)
