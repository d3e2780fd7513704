"""The close of a day: sums by type, payment and user, what is not accepted, and the lines of one receipt."""

import csv
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from lxml import etree
from psycopg.types.json import Jsonb

from fe.accounts.sequences import put
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.payments import payment_amounts
from fe.ecf.signature.profile import NAMESPACE
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import Status
from fe.store.portal import day_sums
from fe.store.postgres.db import Database
from fe.store.records import month_sums
from tests.factories.tenants import rows
from tests.http.front import make_tenant
from tests.portal.receipts import make_receipt
from tests.portal.running import Browser

DAY = date(2026, 11, 5)
AT = datetime(2026, 11, 5, 15, tzinfo=UTC)


def document(payment: str, total: str = "118.00") -> bytes:
    return (
        f"<ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>32</TipoeCF><eNCF>E320000000001</eNCF>{payment}</IdDoc>"
        "<Emisor><RNCEmisor>131880681</RNCEmisor><RazonSocialEmisor>Colmado</RazonSocialEmisor>"
        f"<FechaEmision>05-11-2026</FechaEmision></Emisor><Totales><MontoTotal>{total}</MontoTotal></Totales>"
        "</Encabezado><DetallesItems><Item><NumeroLinea>1</NumeroLinea><IndicadorFacturacion>4</IndicadorFacturacion>"
        "<NombreItem>Café &lt;b&gt;</NombreItem><CantidadItem>2.00</CantidadItem><UnidadMedida>43</UnidadMedida>"
        "<PrecioUnitarioItem>59.0000</PrecioUnitarioItem><MontoItem>118.00</MontoItem></Item></DetallesItems>"
        f'<FechaHoraFirma>05-11-2026 11:00:00</FechaHoraFirma><Signature xmlns="{NAMESPACE}"><SignatureValue>aB3xYz'
        "</SignatureValue></Signature></ECF>"
    ).encode()


def forms(*amounts: tuple[str, str]) -> str:
    made = (
        f"<FormaDePago><FormaPago>{form}</FormaPago><MontoPago>{amount}</MontoPago></FormaDePago>"
        for form, amount in amounts
    )
    return f"<TipoPago>1</TipoPago><TablaFormasPago>{''.join(made)}</TablaFormasPago>"


@pytest.mark.parametrize(
    ("payment", "amounts"),
    [
        (forms(("1", "100"), ("3", "8.00"), ("01", "10")), {"paid1": "110.00", "paid3": "8.00"}),
        (forms(("2", "100.00")), {"paid2": "100.00", "paid0": "18.00"}),
        ("<TipoPago>1</TipoPago>", {"paid0": "118.00"}),
        ("<TipoPago>2</TipoPago>", {"paid4": "118.00"}),
        ("", {"paid0": "118.00"}),
    ],
)
def test_amounts_by_form_of_payment_sum_to_the_total(payment: str, amounts: dict[str, str]) -> None:
    found = payment_amounts(etree.fromstring(document(payment)))

    assert found == amounts
    assert sum(map(Decimal, found.values())) == Decimal("118.00")


async def sell(db: Database, tenant: TenantId, number: int, **changes: Any) -> SubmissionId:
    of, amounts = changes.pop("ecf_type", EcfType.CONSUMER), changes.pop("amounts", None)
    made = await make_receipt(db, tenant, at=AT, e_ncf=f"E{of}{number:010d}", ecf_type=of, **changes)
    await rows(
        db,
        """UPDATE submissions SET total = 118.10, itbis = 18.01, amounts = %(amounts)s
            WHERE submission_id = %(id)s AND signed_at IS NOT NULL""",
        amounts=None if amounts is None else Jsonb(amounts),
        id=made,
    )
    return made


@pytest.fixture
async def sold(db: Database, tenant: TenantId) -> SubmissionId:
    """Eight receipts of a day; the one that was rejected."""
    await sell(db, tenant, 1, amounts={"paid1": "100.00", "paid3": "18.10"}, as_user="caja1@example.do")
    await sell(db, tenant, 2, amounts={"paid1": "118.10"}, as_user="caja2@example.do")
    await sell(db, tenant, 3, amounts={"paid0": "118.10"}, as_user="caja2@example.do", status=Status.CONDITIONAL)
    await sell(db, tenant, 4)
    refused = await sell(db, tenant, 5, amounts={"paid1": "118.10"}, status=Status.REJECTED)
    await sell(db, tenant, 1, ecf_type=EcfType.CREDIT_NOTE, amounts={"paid0": "118.10"})
    await sell(db, tenant, 1, ecf_type=EcfType.MINOR_EXPENSES, amounts={"paid1": "118.10"})
    await sell(db, tenant, 6, status=None)
    await db.transact(put, tenant, Environment.ECF, "E32", maximum=2, now=AT)
    await db.transact(put, tenant, Environment.ECF, "E32/Caja 2", minimum=3, maximum=9, now=AT)
    other = await make_tenant(db, "Otra")
    await sell(db, other, 9)
    return refused


async def lines(owner: Browser, at: str) -> list[list[str]]:
    answer = await owner.client.get(f"{at}/csv")
    assert answer.headers["content-disposition"].endswith('filename="ecf-2026-11-05.csv"')
    return list(csv.reader(answer.content.decode("utf-8-sig").splitlines()))[1:]


async def test_day_is_closed_by_type_payment_and_user(owner: Browser, tenant: TenantId, sold: SubmissionId) -> None:
    at = f"/companies/{tenant}/ecf/days/{DAY}"

    page = await owner.get(at)
    found = await lines(owner, at)

    assert '<b id="sold">RD$ 354.30</b>' in page.text
    assert f'/ecf/submissions/{sold}">E320000000005</a>' in page.text
    assert "Not signed yet, without an amount here: 1" in page.text
    assert f'href="/companies/{tenant}/ecf/days/2026-11-04"' in page.text
    assert found == [
        ["Total of the day", "Sold", "5", "54.03", "354.30", "", ""],
        ["Type", "E32 Consumer invoice", "4", "72.04", "472.40", "", ""],
        ["Type", "E34 Credit note", "1", "-18.01", "-118.10", "", ""],
        ["Type", "E43 Minor expenses", "1", "18.01", "118.10", "", ""],
        ["User", "Without a user", "2", "0.00", "0.00", "", ""],
        ["User", "caja1@example.do", "1", "18.01", "118.10", "", ""],
        ["User", "caja2@example.do", "2", "36.02", "236.20", "", ""],
        ["Form of payment", "cash", "2", "", "218.10", "", ""],
        ["Form of payment", "debit or credit card", "1", "", "18.10", "", ""],
        ["Form of payment", "Paid at once, form not stated", "1", "", "118.10", "", ""],
        ["Form of payment", "Credit notes (they state no form)", "1", "", "-118.10", "", ""],
        ["Form of payment", "Form not kept (signed by an earlier version)", "1", "", "118.10", "", ""],
        ["Sequence", "E32", "2", "", "", "E320000000001", "E320000000002"],
        ["Sequence", "E32 Caja 2", "3", "", "", "E320000000003", "E320000000005"],
        ["Sequence", "E34", "1", "", "", "E340000000001", "E340000000001"],
        ["Sequence", "E43", "1", "", "", "E430000000001", "E430000000001"],
        ["Not accepted", "Rejected", "1", "18.01", "118.10", "E320000000005", "E320000000005"],
        ["Not accepted", "not signed yet, no amount", "1", "", "0.00", "", ""],
    ]


async def test_day_of_more_receipts_than_are_read_has_sums_of_verdicts_and_says_so(
    owner: Browser, tenant: TenantId, sold: SubmissionId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(day_sums, "MOST", 3)

    page = await owner.get(f"/companies/{tenant}/ecf/days/{DAY}")

    assert '<b id="sold">RD$ 354.30</b>' in page.text
    assert "The day has more than 20,000 receipts" in page.text
    assert "By form of payment" not in page.text


async def test_month_and_day_with_more_receipts_than_are_read_beside_the_sums_say_so(
    owner: Browser, tenant: TenantId, sold: SubmissionId, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = f"/companies/{tenant}/ecf"
    month, day = f"{at}/months/{DAY:%Y-%m}", f"{at}/days/{DAY}"
    whole = (await owner.get(month)).text + (await owner.get(day)).text
    assert "More receipts than" not in whole
    assert "at least" not in whole
    monkeypatch.setattr(month_sums, "MOST_BESIDE", 0)
    monkeypatch.setattr(day_sums, "MOST", 3)

    page = (await owner.get(month)).text

    assert "got their answer in the last seconds: not all of them are in the sums yet" in page
    assert "have no answer of the DGII yet, and not all of them are counted as open" in page
    assert "<dd>at least 1</dd>" in page
    assert "got their answer in the last seconds" in (await owner.get(day)).text
    assert "Not signed yet, without an amount here: at least 1" in (await owner.get(day)).text
    assert ["Not accepted", "not signed yet: more than those counted here", "1", "", "0.00", "", ""] in await lines(
        owner, day
    )
    assert (await lines(owner, day))[0][0] == "Note"
    assert "the last receipts are not in these sums yet" in (await owner.get(f"/months?month={DAY:%Y-%m}")).text
    assert (await owner.client.get(f"{month}/xlsx")).status_code == 200


async def test_day_is_today_or_the_one_asked_for(owner: Browser, tenant: TenantId) -> None:
    at = f"/companies/{tenant}/ecf/days"
    today = (datetime.now(UTC) - timedelta(hours=4)).date()

    for query, shown in (("", today), ("?day=x", today), ("?day=2026-11-05", DAY)):
        page = await owner.get(f"{at}{query}")
        assert page.url.path == f"{at}/{shown}"
        assert "Nothing was sold on this day." in page.text
    assert (await owner.get(f"{at}/2026-13-01")).status_code == 404


async def test_receipt_shows_its_lines_and_how_it_was_paid(owner: Browser, tenant: TenantId, db: Database) -> None:
    one = await make_receipt(db, tenant)
    paid = document(forms(("1", "100.00"), ("3", "18.00")))
    await rows(db, "UPDATE submission_documents SET content = %(it)b WHERE kind = 'signed'", it=paid)

    page = await owner.get(f"/companies/{tenant}/ecf/submissions/{one}")

    assert (
        '<td><bdi>Café &lt;b&gt;</bdi></td><td class="num">2 Unit</td><td class="num">59.00</td>'
        '<td class="num">118.00</td>' in page.text
    )
    assert '<td>Cash</td><td class="num">100.00</td>' in page.text
    assert '<td>Debit or credit card</td><td class="num">18.00</td>' in page.text
