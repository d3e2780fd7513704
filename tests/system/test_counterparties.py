"""From taxpayer to taxpayer over real sockets: issued, delivered, acknowledged, approved, and both sides agree."""

from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from fe.ecf.signature import verify
from fe.store.records import counterparty
from tests.cli.running import Fe
from tests.factories.tenants import rows
from tests.system.pair import Pair, Party, running_pair, until
from tests.system.test_road import invoice, journal_of
from tests.waiting import PATIENCE

# As in test_road.py.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


async def test_an_approval_goes_to_the_authority_and_moves_the_status(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_pair(dsn, tmp_path) as pair:
        taken = await pair.stack.submit(invoice(1))
        record = await pair.stack.until_final(taken["taxLogId"])
        shown = await pair.a.get(f"/invoices/{record['taxLogId']}/xml")
        async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as supplier:
            answer = await supplier.post(
                f"{pair.address_of(pair.b.rnc)}/fe/recepcion/api/ecf",
                files={"xml": ("e.xml", shown["xml"].encode(), "text/xml")},
            )
        assert verify(answer.content).root.findtext("DetalleAcusedeRecibo/Estado") == "0"
        (item,) = await pair.b.received()

        fe = Fe(tmp_path, dsn)
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
        key = {"api_key_id": pair.b.key_id, "api_secret": pair.b.secret}
        assert (await trio.to_thread.run_sync(partial(fe, "login", pair.stack.base_url, **key))).code == 0

        async def by_command(*args: str) -> Any:
            ended = await trio.to_thread.run_sync(partial(fe, "received", *args, "--json"))
            return ended.json

        (listed,) = await by_command("list")
        decided = await by_command("approve", item["id"])
        again = (await pair.b.client.post(f"/received/{item['id']}/approve")).json()
        contrary = await pair.b.client.post(f"/received/{item['id']}/reject", json={"reason": "no"})

        async def approved() -> bool:
            shown = await pair.b.get(f"/received/{item['id']}")
            return bool(shown["approvalStatus"] == "approved")

        await until(approved)
        shown = await by_command("show", item["id"])
        acecf = await pair.b.get(f"/invoices/{decided['taxLogId']}/xml")
        sent = [one for one in await journal_of(pair.stack) if one["operation"] == "commercial_approval"]

    detail = verify(acecf["xml"].encode()).root[0]
    assert [detail.findtext(name) for name in ("RNCEmisor", "RNCComprador", "eNCF", "MontoTotal", "Estado")] == [
        pair.a.rnc,
        pair.b.rnc,
        "E310000000001",
        "1063.18",
        "1",
    ]
    assert len(sent) == 1
    assert listed == {**item, "montoTotal": "1063.18"}
    assert (decided["deduped"], again["deduped"], again["taxLogId"]) == (False, True, decided["taxLogId"])
    assert (contrary.status_code, "approved before" in contrary.json()["message"]) == (409, True)
    assert shown["approvalStatus"] == "approved"


async def told_of(party: Party, path: str, field: str, state: str) -> dict[str, Any]:
    """Ask until a field says that it has come so far; return what is shown then."""

    async def ask() -> dict[str, Any] | None:
        shown = await party.get(path)
        return shown if shown.get(field, {}).get("state") == state else None

    return await until(ask)


async def introduce(pair: Pair) -> None:
    """Both are in the directory, and A sends to its receivers."""
    for party in (pair.a, pair.b):
        await pair.list_in_directory(party.rnc, pair.address_of(party.rnc))
    assert await pair.stack.db.run(counterparty.send_to_receivers, pair.a.tenant.tenant_id, on=True)


async def test_the_round_trip_and_both_sides_agree(dsn: str, tmp_path: Path) -> None:
    async with running_pair(dsn, tmp_path) as pair:
        await introduce(pair)
        taken = await pair.stack.submit(invoice(1))
        delivered = await told_of(pair.a, f"/invoices/{taken['taxLogId']}", "receiver", "delivered")
        (item,) = await pair.b.received()
        decided = await pair.b.client.post(f"/received/{item['id']}/reject", json={"reason": "No es lo pedido"})
        assert decided.status_code == 202, decided.text

        async def agreed() -> dict[str, Any] | None:
            shown = await pair.b.get(f"/received/{item['id']}")
            return shown if shown["approval"].get("issuer", {}).get("state") == "delivered" else None

        theirs = await until(agreed)
        ours = await pair.a.get(f"/invoices/{taken['taxLogId']}")
        issued = await pair.a.get(f"/invoices/{taken['taxLogId']}/xml")
        received = await pair.b.get(f"/received/{item['id']}/xml")
        acecf = await pair.b.get(f"/invoices/{decided.json()['taxLogId']}/xml")
        kept = await rows(pair.stack.db, "SELECT kind, state, answer FROM counterparty_deliveries ORDER BY kind")
        heard = await rows(pair.stack.db, "SELECT document FROM received_approvals")
        sends = await rows(pair.stack.db, "SELECT outcome, status FROM counterparty_sends")

    assert delivered["status"] == "Aceptado"
    assert received["xml"] == issued["xml"]
    assert (theirs["approvalStatus"], theirs["approval"]["authority"]["status"]) == ("rejected", "Aceptado")
    assert (ours["approvalStatus"], ours["approvalReason"]) == ("rejected", "No es lo pedido")
    assert [(row["kind"], row["state"]) for row in kept] == [("approval", "delivered"), ("receipt", "delivered")]
    assert bytes(kept[1]["answer"]).decode() == received["acknowledgement"]
    assert [bytes(row["document"]).decode() for row in heard] == [acecf["xml"]]
    assert [(row["outcome"], row["status"]) for row in sends] == [("answered", 200)] * 2
