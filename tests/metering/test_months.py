"""A month: sums before and after the aggregator, credit notes, gaps of numbers, and what suppliers sent."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from lxml import etree

from fe.accounts import months
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.tax_amounts import tax_amounts
from fe.identifiers import TenantId
from fe.lifecycle import Status
from fe.metering import aggregator
from fe.month.period import YearMonth
from fe.store.postgres.db import Database
from fe.store.records import metering
from tests.factories.tenants import rows
from tests.http.front import make_tenant
from tests.portal.receipts import make_receipt, make_received

NOVEMBER = YearMonth(2026, 11)
AT = datetime(2026, 11, 5, 15, tzinfo=UTC)


async def fold(db: Database, tenant: TenantId) -> None:
    await db.run(metering.restart, tenant)
    await aggregator.fold_all(db, tenant)


async def test_a_month_is_the_same_before_and_after_the_aggregator(db: Database) -> None:
    tenant = await make_tenant(db)
    for number, status in (
        (1, Status.ACCEPTED),
        (2, Status.REJECTED),
        (5, Status.CONDITIONAL),
        (6, None),
    ):
        await make_receipt(db, tenant, status=status, at=AT, e_ncf=f"E31{number:010d}")
    before = await months.read_report(db, tenant, Environment.ECF, NOVEMBER)
    await fold(db, tenant)
    after = await months.read_report(db, tenant, Environment.ECF, NOVEMBER)

    assert after == before
    assert [(one.status, one.receipts) for one in after.issued] == [
        (Status.ACCEPTED, 1),
        (Status.CONDITIONAL, 1),
        (Status.REJECTED, 1),
    ]
    assert (after.totals.sales, after.totals.itbis_charged) == (Decimal("2126.36"), Decimal("324.36"))
    assert (after.totals.base18, after.totals.exempt) == (Decimal("1802.00"), Decimal("0.00"))
    (account,) = after.numbers
    assert (account.first, account.last, account.drawn) == ("E310000000001", "E310000000006", 4)
    counts = (account.accepted, account.rejected, account.failed, account.still_open, account.other_months)
    assert counts == (2, 1, 0, 1, 0)
    assert (account.without_receipt, [(gap.first, gap.last) for gap in account.gaps]) == (2, [(3, 4)])
    empty = await months.read_report(db, tenant, Environment.ECF, NOVEMBER.after)
    assert not empty.issued
    assert not empty.numbers
    assert empty.totals.sales == 0


async def test_numbers_far_apart_are_not_drawn_and_a_number_that_went_on_counts_once(db: Database) -> None:
    tenant = await make_tenant(db)
    for number, status in (
        (1, Status.REJECTED),
        (2, Status.REJECTED),
        (1, Status.ACCEPTED),
        (9_000_000, Status.ACCEPTED),
    ):
        made = await make_receipt(db, tenant, status=status, at=AT, e_ncf=f"E31{number:010d}")
        if status is Status.REJECTED:
            await rows(
                db,
                """UPDATE submissions SET status = 'error', verdict_at = NULL, number_fate = 'reusable'
                    WHERE submission_id = %(id)s""",
                id=made,
            )

    report = await months.read_report(db, tenant, Environment.ECF, NOVEMBER)

    (account,) = report.numbers
    counts = (account.accepted, account.rejected, account.failed, account.still_open, account.other_months)
    assert (account.drawn, counts) == (3, (2, 0, 1, 0, 0))
    assert [(gap.first, gap.last) for gap in account.gaps] == [(3, 8_999_999)]
    assert account.without_receipt == account.gaps[0].count == 8_999_997


async def test_received_receipts_are_computed_once_and_added_up(db: Database) -> None:
    tenant = await make_tenant(db)
    for number in (1, 2):
        await make_received(db, tenant, e_ncf=f"E31{number:010d}", at=AT)
    issued_on = YearMonth(2026, 11)

    first = await months.read_report(db, tenant, Environment.ECF, issued_on)
    again = await months.read_report(db, tenant, Environment.ECF, issued_on)

    assert first == again
    assert [(one.ecf_type, one.receipts) for one in first.received] == [("31", 2)]
    assert first.is_complete


def test_credit_notes_are_subtracted() -> None:
    assert (months.sign_of(EcfType.CREDIT_NOTE), months.sign_of(EcfType.DEBIT_NOTE)) == (-1, 1)


def test_amounts_by_tax_are_read_from_totals() -> None:
    xml = (
        "<ECF><Encabezado><Totales><MontoGravadoI1>100.00</MontoGravadoI1><MontoExento>0.00</MontoExento>"
        "<TotalITBIS>18.00</TotalITBIS><TotalITBIS1>18.00</TotalITBIS1><ImpuestosAdicionales>"
        "<ImpuestoAdicional><TipoImpuesto>001</TipoImpuesto><OtrosImpuestosAdicionales>10.00</OtrosImpuestosAdicionales>"
        "</ImpuestoAdicional><ImpuestoAdicional><TipoImpuesto>002</TipoImpuesto><OtrosImpuestosAdicionales>2"
        "</OtrosImpuestosAdicionales></ImpuestoAdicional><ImpuestoAdicional><TipoImpuesto>006</TipoImpuesto>"
        "<MontoImpuestoSelectivoConsumoEspecifico>3.5</MontoImpuestoSelectivoConsumoEspecifico></ImpuestoAdicional>"
        "</ImpuestosAdicionales><MontoTotal>133.50</MontoTotal></Totales></Encabezado></ECF>"
    )

    assert tax_amounts(etree.fromstring(xml)) == {
        "itbis": "18.00",
        "base18": "100.00",
        "itbis18": "18.00",
        "tip": "10.00",
        "otherTaxes": "2.00",
        "excise": "3.50",
    }
    assert tax_amounts(etree.fromstring("<ACECF/>")) == {}


@pytest.mark.parametrize("text", ["2026-13", "2026-00", "1999-12", "2026-1", "2026-11-01", ""])
def test_month_that_is_none_is_not_read(text: str) -> None:
    assert YearMonth.read(text) is None


def test_months_follow_each_other() -> None:
    december = YearMonth.read("2026-12")
    assert december is not None
    assert december.name.es == "diciembre 2026"
    assert (december.after, december.after.before, str(december.after)) == (YearMonth(2027, 1), december, "2027-01")
    assert (december.first.day, december.last.day, december.compact) == (1, 31, "202612")
