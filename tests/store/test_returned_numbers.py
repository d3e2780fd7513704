"""Numbers that a sequence gave to receipts that ended before they were signed: the next draw gives them, once."""

from datetime import UTC, datetime
from typing import Any

import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.identifiers import SequenceId, SubmissionId, TenantId
from fe.lifecycle import NumberFate
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.errors import NoNumber
from fe.store.records import sequences, submissions, tenant_context
from fe.store.records.submissions import Accepted, NewSubmission
from tests.factories import bookings
from tests.factories.tenants import ACCEPTED_AT, make_tenant, new_submission, rows, take
from tests.store.test_numbers import sign


async def tenant_with_sequence(db: Database, maximum: int = 1000) -> TenantId:
    tenant = await make_tenant(db)
    await db.run_for(
        tenant,
        sequences.put,
        Environment.ECF,
        "E31",
        new_id=SequenceId(new_id(ACCEPTED_AT)),
        minimum=1,
        maximum=maximum,
        expire_at=datetime(2028, 12, 31, tzinfo=UTC),
        is_active=True,
        at=ACCEPTED_AT,
    )
    return tenant


def drawing(tenant: TenantId) -> NewSubmission:
    return new_submission(tenant, e_ncf=None, draw_prefix="E31")


async def draw(db: Database, tenant: TenantId) -> Accepted:
    return await db.run(submissions.accept, drawing(tenant), ACCEPTED_AT)


async def draw_many(db: Database, tenant: TenantId, count: int) -> list[Accepted]:
    answers = await db.run(submissions.accept_many, [(drawing(tenant), ACCEPTED_AT) for _ in range(count)], None)
    return [answer for answer in answers if isinstance(answer, Accepted)]


async def fail(db: Database, subject: SubmissionId, fate: NumberFate = NumberFate.REUSABLE) -> None:
    work = await take(db, subject)
    await db.run(bookings.failure, work, at=ACCEPTED_AT, response={"status": "error", "error": "bad"}, fate=fate)


def number(accepted: Accepted) -> int:
    assert accepted.e_ncf is not None
    return int(accepted.e_ncf[3:])


async def test_numbers_of_unsigned_receipts_are_drawn_again_lowest_first(db: Database) -> None:
    tenant = await tenant_with_sequence(db)
    first = [await draw(db, tenant) for _ in range(4)]
    for ended in (first[2], first[0]):
        await fail(db, ended.submission_id)

    known = await db.run_for(tenant, tenant_context.tenant_context, Environment.ECF, None, None, None, ACCEPTED_AT)
    again = [await draw(db, tenant), *await draw_many(db, tenant, 2), await draw(db, tenant)]

    assert known.next_numbers == {"E31": 1}
    assert [number(one) for one in again] == [1, 3, 5, 6]
    assert await rows(db, "SELECT number FROM returned_numbers") == []


async def test_number_returned_is_drawn_from_a_sequence_that_is_used_up(db: Database) -> None:
    tenant = await tenant_with_sequence(db, maximum=3)
    first = await draw_many(db, tenant, 3)
    await fail(db, first[1].submission_id)
    await fail(db, first[2].submission_id)

    again = [*await draw_many(db, tenant, 1), await draw(db, tenant)]
    more = await db.run(submissions.accept_many, [(drawing(tenant), ACCEPTED_AT)], None)

    assert [number(one) for one in again] == [2, 3]
    assert isinstance(more[0], NoNumber)


async def test_number_of_a_signed_or_numbered_receipt_is_not_returned(db: Database) -> None:
    tenant = await tenant_with_sequence(db)
    signed, used = await draw(db, tenant), await draw(db, tenant)
    own = await db.run(submissions.accept, new_submission(tenant, e_ncf="E310000000003"), ACCEPTED_AT)
    await sign(db, signed.submission_id)

    await fail(db, signed.submission_id)
    await fail(db, used.submission_id, NumberFate.USED)
    await fail(db, own.submission_id)

    assert await rows(db, "SELECT number FROM returned_numbers") == []
    assert number(await draw(db, tenant)) == 4


async def test_number_returned_and_then_used_by_the_client_is_not_drawn(db: Database) -> None:
    tenant = await tenant_with_sequence(db)
    first = await draw_many(db, tenant, 2)
    for ended in first:
        await fail(db, ended.submission_id)
    await db.run(submissions.accept, new_submission(tenant, e_ncf="E310000000001"), ACCEPTED_AT)

    assert [number(await draw(db, tenant)) for _ in range(2)] == [2, 3]


async def test_number_of_a_range_that_was_left_is_not_drawn(db: Database) -> None:
    tenant = await tenant_with_sequence(db)
    await fail(db, (await draw(db, tenant)).submission_id)
    change: Any = sequences.Change(minimum=500, maximum=900)
    await db.run_for(tenant, sequences.change, Environment.ECF, "E31", change, at=ACCEPTED_AT)

    assert number(await draw(db, tenant)) == 500


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.tuples(st.integers(1, 4), st.booleans()), min_size=1, max_size=6), min_size=3, max_size=6))
async def test_numbers_drawn_and_returned_at_once_are_given_once_without_a_gap(
    db: Database, dsn: str, actors: list[list[tuple[int, bool]]]
) -> None:
    """Each actor draws some numbers at a time, alone or together, and fails them or keeps them."""
    tenant = await tenant_with_sequence(db)
    kept: list[int] = []

    async def act(own: Database, steps: list[tuple[int, bool]]) -> None:
        for count, fails in steps:
            drawn = [await draw(own, tenant)] if count == 1 else await draw_many(own, tenant, count)
            for one in drawn:
                if fails:
                    await fail(own, one.submission_id)
                else:
                    kept.append(number(one))

    async with open_database(dsn, max_size=len(actors)) as own, trio.open_nursery() as nursery:
        for steps in actors:
            nursery.start_soon(act, own, steps)

    returned = [
        row["number"]
        for row in await rows(db, "SELECT number FROM returned_numbers WHERE tenant_id = %(id)s", id=tenant)
    ]
    for _ in returned:
        kept.append(number(await draw(db, tenant)))
    (sequence,) = await db.run_for(tenant, sequences.listed, Environment.ECF)
    assert sorted(kept) == list(range(1, sequence.current_number))
