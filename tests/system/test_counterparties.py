"""From taxpayer to taxpayer over real sockets: issued, delivered, acknowledged, approved, and both sides agree."""

from pathlib import Path

import httpx
import pytest

from fe.ecf.signature import verify
from tests.system.pair import running_pair, until
from tests.system.test_road import invoice, journal_of

# As in test_road.py.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


async def test_an_approval_goes_to_the_authority_and_moves_the_status(dsn: str, tmp_path: Path) -> None:
    async with running_pair(dsn, tmp_path) as pair:
        taken = await pair.stack.submit(invoice(1))
        record = await pair.stack.until_final(taken["taxLogId"])
        shown = await pair.a.get(f"/invoices/{record['taxLogId']}/xml")
        async with httpx.AsyncClient(trust_env=False) as supplier:
            answer = await supplier.post(
                f"{pair.address_of(pair.b.rnc)}/fe/recepcion/api/ecf",
                files={"xml": ("e.xml", shown["xml"].encode(), "text/xml")},
            )
        assert verify(answer.content).root.findtext("DetalleAcusedeRecibo/Estado") == "0"
        (item,) = await pair.b.received()

        decided = await pair.b.client.post(f"/received/{item['id']}/approve")
        assert decided.status_code == 202

        async def approved() -> bool:
            shown = await pair.b.get(f"/received/{item['id']}")
            return bool(shown["approvalStatus"] == "approved")

        await until(approved)
        acecf = await pair.b.get(f"/invoices/{decided.json()['taxLogId']}/xml")
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
