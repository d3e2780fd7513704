"""A month: sums before and after the aggregator, credit notes, gaps of numbers, and what suppliers sent."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from random import Random

import pytest
from lxml import etree

from fe.accounts import months, voidings
from fe.clock import system_clock
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.ids import new_id
from fe.ecf.tax_amounts import tax_amounts
from fe.identifiers import SequenceId, TenantId
from fe.lifecycle import Status
from fe.metering import aggregator
from fe.month.period import OneDay, YearMonth
from fe.store.postgres.db import Database
from fe.store.records import metering, month_sums, number_gaps, sequences
from fe.store.records.month_memory import MonthMemory
from fe.store.records.number_gaps import NumberStretch
from tests.factories.tenants import rows
from tests.http.front import make_tenant
from tests.portal.receipts import make_receipt, make_received

NOVEMBER = YearMonth(2026, 11)
AT = datetime(2026, 11, 5, 15, tzinfo=UTC)


async def fold(db: Database, tenant: TenantId) -> None:
    await db.run(metering.restart, tenant)
    await aggregator.fold_all(db, tenant)


async def read_month(
    db: Database, tenant: TenantId, month: YearMonth, memory: MonthMemory | None = None
) -> months.MonthReport:
    memory = memory or MonthMemory(system_clock)
    return await db.run_for(tenant, months.report, Environment.ECF, month, memory)


async def hold(db: Database, tenant: TenantId, *numbers: int) -> None:
    await rows(
        db,
        """INSERT INTO held_numbers (tenant_id, environment, e_ncf, issuer_rnc, submission_id)
           SELECT %(tenant)s, 'ecf', 'E31' || lpad(n::text, 10, '0'), '131880681', gen_random_uuid()
             FROM unnest(%(numbers)s::bigint[]) AS n RETURNING 1""",
        tenant=tenant,
        numbers=list(numbers),
    )


async def walk(
    db: Database, tenant: TenantId, memory: MonthMemory, stretches: Sequence[NumberStretch]
) -> tuple[int, list[tuple[int, int]]]:
    found = await db.run(memory.numbers, tenant, Environment.ECF, {"E31": stretches})
    held, gaps = found["E31"]
    return held, [(gap.first, gap.last) for gap in gaps]


async def test_gaps_at_both_ends_of_a_stretch_are_named(db: Database) -> None:
    tenant = await make_tenant(db)
    await hold(db, tenant, 3, 4, 5, 8, 30, 51, 60, 71, 72)
    stretches = [
        (f"E31{first:010d}", f"E31{last:010d}") for first, last in ((1, 10), (51, 60), (71, 72), (80, 81), (90, 90))
    ]

    held, gaps = await walk(db, tenant, MonthMemory(system_clock), stretches)

    assert held == 8
    assert gaps == [(1, 2), (6, 7), (9, 10), (52, 59), (80, 81), (90, 90)]


async def test_gaps_found_by_block_are_those_found_one_by_one(db: Database) -> None:
    """Blocks of 128 numbers: gaps within, between and at the ends of blocks, up to the most that are named."""
    tenant, chance = await make_tenant(db), Random(3)
    for begin, chances in ((1, 0.0), (10_001, 0.01), (20_001, 0.2), (30_001, 1.0)):
        held = [number for number in range(begin, begin + 700) if chance.random() >= chances]
        await hold(db, tenant, *held)
        for first, last in ((begin, begin + 699), (begin + 128, begin + 255), (begin + 127, begin + 640)):
            among = {first - 1, *(number for number in held if first <= number <= last), last + 1}
            pairs = list(pairwise(sorted(among)))
            plain = [(one + 1, other - 1) for one, other in pairs if other > one + 1]

            stretch = (f"E31{first:010d}", f"E31{last:010d}")
            count, gaps = await walk(db, tenant, MonthMemory(system_clock), [stretch])

            assert count == sum(first <= number <= last for number in held)
            assert gaps == plain[: number_gaps.MOST_GAPS]


async def test_what_is_remembered_of_numbers_is_what_is_there(db: Database) -> None:
    """While gaps are filled, numbers are added, and other stretches are asked for."""
    tenant, chance, memory = await make_tenant(db), Random(5), MonthMemory(system_clock)
    held: set[int] = set()
    for begin in (1, 700):
        held |= set(range(begin, begin + 600))
    await hold(db, tenant, *held)
    for turn in range(12):
        new = [n for n in range(1501 + turn * 180, 1681 + turn * 180) if chance.random() > (0.02, 0.3)[turn % 2]]
        new += [n for n in sorted(set(range(1, 1501 + turn * 180)) - held) if chance.random() > 0.7]
        await hold(db, tenant, *set(new) - held)
        held |= set(new)
        for first, last in ((1, max(held)), (chance.randrange(1, 900), chance.randrange(900, 4000)), (1200, 1200)):
            among = [first - 1, *(number for number in sorted(held) if first <= number <= last), last + 1]
            plain = [(one + 1, other - 1) for one, other in pairwise(among) if other > one + 1]

            count, gaps = await walk(db, tenant, memory, [(f"E31{first:010d}", f"E31{last:010d}")])

            assert count == sum(first <= number <= last for number in held)
            assert gaps == plain[: number_gaps.MOST_GAPS]


async def test_what_was_received_since_is_added_to_what_is_remembered(db: Database) -> None:
    """Receipts from more than an hour ago are read once, later ones each time."""
    tenant, now, memory = await make_tenant(db), system_clock(), MonthMemory(system_clock)
    made = []
    for number, minutes in enumerate((600, 500, 10, 0)):
        made.append(await make_received(db, tenant, e_ncf=f"E31{number:010d}", at=now - timedelta(minutes=minutes)))
        found = [(await read_month(db, tenant, NOVEMBER, kept)).received for kept in (memory, None)]
        if number != 1:  # it came 100 minutes late, and what was there before it was remembered
            assert [(one.receipts, one.total) for (one,) in found] == [(number + 1, 118 * Decimal(number + 1))] * 2
        else:
            memory = MonthMemory(system_clock)

    await rows(db, "UPDATE received SET total = 1000 WHERE received_id = ANY (%(ids)s) RETURNING 1", ids=made)
    (of_month,) = (await read_month(db, tenant, NOVEMBER, memory)).received
    assert (of_month.receipts, of_month.total) == (4, Decimal(2 * 118 + 2 * 1000))


async def test_receipts_of_a_month_that_came_after_it_are_in_its_sums(db: Database) -> None:
    """Submitted or received after the month's end, with a day of issue within it."""
    tenant = await make_tenant(db)
    numbers = []
    for days in (0, 26, 90):
        at, e_ncf = AT + timedelta(days=days), f"E31{days + 1:010d}"
        made = await make_receipt(db, tenant, status=None, at=at, e_ncf=e_ncf, ecf_type=EcfType.CREDIT_FISCAL)
        await rows(
            db,
            """UPDATE submissions SET issued_on = '2026-11-05', signed_at = submitted_at, e_ncf = %(e_ncf)s
                WHERE submission_id = %(id)s""",
            id=made,
            e_ncf=e_ncf,
        )
        numbers.append(e_ncf)
        await make_received(db, tenant, e_ncf=e_ncf, at=at)

    report = await read_month(db, tenant, NOVEMBER)
    day = await db.run(month_sums.still_open, tenant, Environment.ECF, OneDay(AT.date()))

    for (waiting,) in (report.still_open, day):
        assert (waiting.receipts, waiting.first_number, waiting.last_number) == (3, numbers[0], numbers[-1])
    (received,) = report.received
    assert (received.receipts, received.without_amounts, received.total) == (3, 0, Decimal("354.00"))
    later = await read_month(db, tenant, NOVEMBER.after)
    assert (later.still_open, later.received) == ([], [])


async def test_newest_numbers_are_proposed_for_voiding_and_earlier_ones_on_request(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(voidings, "_LOOK", 3)
    monkeypatch.setattr(voidings, "_FEWEST_LOOKED_AT", 1)
    tenant = await make_tenant(db)
    await db.run_for(
        tenant,
        sequences.put,
        Environment.ECF,
        "E31",
        new_id=SequenceId(new_id(AT)),
        minimum=1,
        maximum=20,
        expire_at=None,
        is_active=True,
        at=AT,
    )
    await hold(db, tenant, 2, 3, 5, 8, 9, 12)

    newest = await db.run(voidings.propose_newest, tenant, Environment.ECF)
    earlier = await db.run(voidings.propose_newest, tenant, Environment.ECF, ("E31", newest.earlier[0].last + 1))

    assert [(one.range.first, one.range.last) for one in newest.found] == [(6, 7), (10, 11), (13, 20)]
    assert [(one.first, one.last) for one in newest.earlier] == [(1, 5)]
    assert [(one.range.first, one.range.last) for one in earlier.found] == [(1, 1), (4, 4)]
    assert earlier.earlier == []


async def test_a_month_is_the_same_before_and_after_the_aggregator(db: Database) -> None:
    tenant = await make_tenant(db)
    for number, status in (
        (1, Status.ACCEPTED),
        (2, Status.REJECTED),
        (5, Status.CONDITIONAL),
        (6, None),
    ):
        await make_receipt(db, tenant, status=status, at=AT, e_ncf=f"E31{number:010d}")
    before = await read_month(db, tenant, NOVEMBER)
    await fold(db, tenant)
    after = await read_month(db, tenant, NOVEMBER)

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
    empty = await read_month(db, tenant, NOVEMBER.after)
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

    report = await read_month(db, tenant, NOVEMBER)

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

    first = await read_month(db, tenant, issued_on)
    again = await read_month(db, tenant, issued_on)

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


def test_rates_itbis_and_other_taxes_add_up_to_the_sales() -> None:
    zero, ends = Decimal(0), ("E310000000001", "E310000000001")
    base, itbis, total = Decimal("8500.00"), Decimal("1912.88"), Decimal("12539.98")
    sold = month_sums.IssuedSum(
        "31", Status.ACCEPTED, 1, total, itbis, base, zero, zero, zero, zero, zero, zero, zero, 0, *ends
    )
    returned = replace(sold, ecf_type="34", total=Decimal("118.00"), base18=Decimal("100.00"), itbis=Decimal("18.00"))
    left_out = month_sums.LeftOut(ended=False, waiting=False, lately=False)

    report = months.MonthReport(NOVEMBER, Environment.ECF, [sold, returned], (), (), (), (), True, left_out)

    assert report.totals.other_taxes == Decimal("2127.10")
