"""Which range a number belongs to, whatever its sequence has become since: what waits is dated by that range's end."""

from datetime import date
from typing import Any

import pytest

from fe.ecf.catalogue import Environment
from fe.ecf.dates import end_of_day, last_day
from fe.ecf.ids import new_id
from fe.identifiers import SequenceId, SubmissionId, TenantId
from fe.lifecycle import Stage
from fe.store.postgres.db import Database
from fe.store.queue import dead_letters, steps
from fe.store.queue.dead_letters import DeadLetterFilter
from fe.store.queue.inputs import SigningInput
from fe.store.queue.outbox import OutboxLane
from fe.store.records import sequences
from fe.store.records.sequences import Change
from fe.store.records.tenant_context import tenant_context
from tests.factories import bookings
from tests.factories.tenants import ACCEPTED_AT, make_submission, make_tenant, rows, take
from tests.store.test_claim_together import claimed, taken_in

Range = tuple[int, int, int | None]

THIS, NEXT = (1, 100, 2027), (101, 200, 2028)


async def put(db: Database, tenant: TenantId, one: Range, prefix: str = "E31") -> None:
    minimum, maximum, year = one
    await db.run(
        sequences.put,
        tenant,
        Environment.ECF,
        prefix,
        new_id=SequenceId(new_id(ACCEPTED_AT)),
        minimum=minimum,
        maximum=maximum,
        expire_at=None if year is None else end_of_day(date(year, 12, 31)),
        is_active=True,
        at=ACCEPTED_AT,
    )


async def change(db: Database, tenant: TenantId, **named: Any) -> None:
    await db.run(sequences.change, tenant, Environment.ECF, "E31", Change(**named), at=ACCEPTED_AT)


async def year_of(db: Database, subject: SubmissionId) -> int | None:
    """Of what year the end is that it is dated by."""
    expires = (await db.run(steps.signing_input, await take(db, subject))).sequence_expires
    return None if expires is None else last_day(expires).year


@pytest.mark.parametrize(
    ("ranges", "number", "year"),
    [
        pytest.param([THIS, NEXT], 7, 2027, id="of the range before"),
        pytest.param([THIS, NEXT], 107, 2028, id="of the range there is"),
        pytest.param([THIS, NEXT, (201, 300, 2029)], 7, 2027, id="of the one before that"),
        pytest.param([THIS, NEXT], 5007, 2028, id="from elsewhere: of none that is known"),
        pytest.param([THIS, (1, 100, 2028)], 7, 2028, id="the same range, its end corrected"),
        pytest.param([THIS, (1, 100, 2029), NEXT], 7, 2029, id="corrected before the next one came"),
        pytest.param([THIS, (1, 200, 2028)], 7, 2028, id="extended: it lies in the range there is"),
        pytest.param([THIS, (51, 150, 2028), (151, 200, 2029)], 70, 2028, id="in two of them: of the later"),
        pytest.param([THIS, (1, 9_999_999_999, None), NEXT], 7, 2027, id="a slip of the hand in between"),
        pytest.param([(1, 100, None), NEXT], 7, 2028, id="the range before had no end"),
        pytest.param([THIS, (101, 200, None)], 7, 2027, id="the range there is has none"),
        pytest.param([(n * 10 + 1, n * 10 + 10, 2020 + n) for n in range(9)], 7, 2020, id="eight ranges ago"),
        pytest.param([(n * 10 + 1, n * 10 + 10, 2020 + n) for n in range(10)], 7, 2029, id="forgotten"),
    ],
)
async def test_a_number_is_dated_by_its_range(db: Database, ranges: list[Range], number: int, year: int) -> None:
    tenant = await make_tenant(db)
    await put(db, tenant, ranges[0])
    subject = await make_submission(db, tenant, e_ncf=f"E31{number:010}")

    for one in ranges[1:]:
        await put(db, tenant, one)

    assert await year_of(db, subject) == year


async def test_a_range_that_is_changed_in_part_is_remembered_too(db: Database) -> None:
    tenant = await make_tenant(db)
    await put(db, tenant, THIS)
    subject = await make_submission(db, tenant, e_ncf="E310000000007")

    await change(db, tenant, is_active=False)
    await change(db, tenant, minimum=101, maximum=200, sets_expiry=True, expire_at=end_of_day(date(2028, 12, 31)))
    await change(db, tenant, is_active=True, next_number=150)

    assert await year_of(db, subject) == 2027
    (kept,) = await rows(db, "SELECT cardinality(former_ranges) AS many FROM sequences")
    assert kept["many"] == 1


async def test_every_reader_says_the_same(db: Database, worker_db: Database) -> None:
    """The expiry seen by a claim, a handed-over row, a query, a validation, and the dead letters."""
    tenant, other = await make_tenant(db), await make_tenant(db)
    await put(db, tenant, THIS)
    await put(db, tenant, (1, 9, 2026), prefix="E33")
    await put(db, other, (1, 100, 2026))
    old, new = "E310000000007", "E310000000107"
    subjects = {number: await make_submission(db, tenant, e_ncf=number) for number in (old, new)}
    await put(db, tenant, NEXT)
    years = {old: 2027, new: 2028}

    works = await claimed(worker_db, Stage.SIGN, OutboxLane(Environment.ECF))

    for number, subject in subjects.items():
        work = works[subject]
        assert isinstance(work.input, SigningInput)
        assert work.input.sequence_expires is not None
        assert last_day(work.input.sequence_expires) == date(years[number], 12, 31)
        assert await db.run(steps.signing_input, work) == work.input
        (beside,) = await worker_db.run(steps.beside, [(work, taken_in(work.input))])
        assert beside.sequence_expires == work.input.sequence_expires
        known = await db.run(tenant_context, tenant, Environment.ECF, None, None, number, ACCEPTED_AT)
        assert known.expiries["E31"] == work.input.sequence_expires
        assert last_day(known.expiries["E33"]) == date(2026, 12, 31)
        await db.run(bookings.dead_letter, work, at=ACCEPTED_AT, error="status 503")
    listed = await db.run(dead_letters.listed, DeadLetterFilter(tenant_id=tenant), 10)
    assert {one.e_ncf: last_day(one.sequence_until).year for one in listed if one.sequence_until} == years
