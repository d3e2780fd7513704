"""Credit notes on a receipt: shown on its page, and reckoned with when more of it comes back."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fe.ecf.catalogue import Environment
from fe.ecf.json_text import write_canonical_json
from fe.identifiers import SubmissionId, TenantId
from fe.store.postgres.db import Database
from tests.factories.tenants import rows
from tests.portal.receipt_form import ReceiptForm
from tests.portal.receipts import make_receipt
from tests.portal.running import Browser

_AT = datetime.now(UTC) - timedelta(hours=1)
_LINES = (("Mesa", "3", "1000"), ("Silla", "2", "500"))
NOTE = "E340000000001"


def document(of: str, e_ncf: str, lines: tuple[tuple[str, str, str], ...], total: str, modified: str = "") -> bytes:
    about = f"<InformacionReferencia><NCFModificado>{modified}</NCFModificado></InformacionReferencia>"
    items = "".join(
        f"<Item><NumeroLinea>{place}</NumeroLinea><NombreItem>{name}</NombreItem><CantidadItem>{many}</CantidadItem>"
        f"<PrecioUnitarioItem>{price}</PrecioUnitarioItem></Item>"
        for place, (name, many, price) in enumerate(lines, 1)
    )
    return (
        f"<ECF><Encabezado><IdDoc><TipoeCF>{of}</TipoeCF><eNCF>{e_ncf}</eNCF></IdDoc><Totales><MontoTotal>{total}"
        f"</MontoTotal></Totales></Encabezado><DetallesItems>{items}</DetallesItems>{about if modified else ''}</ECF>"
    ).encode()


async def make_signed(db: Database, tenant: TenantId, signed: bytes, **more: Any) -> SubmissionId:
    made = await make_receipt(db, tenant, environment=Environment.TESTECF, **more)
    await rows(
        db,
        "UPDATE submission_documents SET content = %(content)b WHERE submission_id = %(id)s AND kind = 'signed'",
        content=signed,
        id=made,
    )
    return made


@pytest.fixture
async def receipt(db: Database, tenant: TenantId) -> SubmissionId:
    """A receipt of 4,720 with three tables and two chairs."""
    payload = {
        "Encabezado": {"IdDoc": {"TipoeCF": "31", "TipoPago": "1"}},
        "DetallesItems": {
            "Item": [{"NombreItem": n, "CantidadItem": q, "PrecioUnitarioItem": p} for n, q, p in _LINES]
        },
    }
    signed = document("31", "E310000000001", _LINES, "4720.00")
    return await make_signed(db, tenant, signed, at=_AT, e_ncf="E310000000001", original=write_canonical_json(payload))


async def make_note(
    db: Database, tenant: TenantId, lines: tuple[tuple[str, str, str], ...], total: str
) -> SubmissionId:
    signed = document("34", NOTE, lines, total, "E310000000001")
    made = await make_signed(db, tenant, signed, at=_AT + timedelta(minutes=1), e_ncf=NOTE)
    await rows(db, "UPDATE submissions SET ecf_type = '34' WHERE submission_id = %(id)s", id=made)
    return made


def shown_left(page: str) -> list[str]:
    return re.findall(r'name="quantity-\d" value="([^"]*)"', page)


async def test_receipt_page_shows_the_credit_notes_on_it_and_what_is_left(
    owner: Browser, tenant: TenantId, db: Database, receipt: SubmissionId
) -> None:
    here = f"/companies/{tenant}/testecf/submissions"
    before = (await owner.get(f"{here}/{receipt}")).text
    note = await make_note(db, tenant, (("Mesa", "1", "1000"),), "1180.00")
    page = (await owner.get(f"{here}/{receipt}")).text
    of_note = (await owner.get(f"{here}/{note}")).text

    assert "Left to credit" not in before + of_note
    assert re.search(rf'href="{here}/{note}">{NOTE}</a> · RD\$ 1,180.00 <span class="badge ok">', page)
    assert "Left to credit: RD$ 3,540.00" in page


async def test_return_page_offers_what_earlier_notes_left(
    owner: Browser, tenant: TenantId, db: Database, receipt: SubmissionId
) -> None:
    at = f"/companies/{tenant}/testecf/new/return"
    whole = (await owner.get(f"{at}?from={receipt}")).text
    await make_note(db, tenant, (("Mesa", "1", "1000"), ("Silla", "2", "500")), "2360.00")
    part = (await owner.get(f"{at}?from={receipt}")).text
    too_many = await owner.send(at, {"do": "chosen", "line": ["1"], "quantity-1": "3"})
    form = ReceiptForm(owner, at)
    await owner.get(f"{at}?from={receipt}")
    form._show(await owner.send(at, {"do": "all"}))

    assert (shown_left(whole), "Cancel the whole receipt" in whole) == (["3", "2"], True)
    assert (shown_left(part), "Cancel the whole receipt" in part) == (["2", "0"], False)
    assert ["2 <small>of 3</small>" in part, "0 <small>of 2</small>" in part] == [True, True]
    assert re.search(r"Credited already RD\$ 2,360.00 \(<a [^>]*>E340000000001</a>\); left RD\$ 2,360.00", part)
    assert (too_many.status_code, "at most what is left: Mesa" in too_many.text) == (400, True)
    assert (form.rows("item.NombreItem"), form.value("item.NombreItem"), form.value("item.CantidadItem")) == (
        1,
        "Mesa",
        "2",
    )
    assert form.value("InformacionReferencia.CodigoModificacion") == "3"


async def test_return_of_a_receipt_that_is_credited_whole_is_refused_at_once(
    owner: Browser, tenant: TenantId, db: Database, receipt: SubmissionId
) -> None:
    at = f"/companies/{tenant}/testecf/new/return"
    await make_note(db, tenant, _LINES, "4720.00")
    await owner.get(f"{at}?from={receipt}")
    page = await owner.send(at, {"do": "all"})

    assert (page.status_code, "Everything was credited already" in page.text) == (400, True)
