"""A range given ahead: draws go on with it at the end of the one before, and no number is given twice or left out."""

from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any

import psycopg
import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fe.accounts import months, sequences
from fe.accounts.sequences import BadSequence
from fe.ecf.catalogue import Environment
from fe.ecf.dates import end_of_day
from fe.identifiers import SubmissionId, TenantId
from fe.portal import attention
from fe.store.postgres.db import Conn, Database, open_database
from fe.store.postgres.errors import Contended, NoNumber
from fe.store.queue import steps
from fe.store.records import sequences as store
from fe.store.records import submissions, tenant_context
from fe.store.records.sequences import Change, NextRange, Sequence
from fe.store.records.submissions import Accepted, NewSubmission
from fe.store.webhooks.ending import EndingSequence
from fe.webhooks import notices
from tests.factories.tenants import ACCEPTED_AT, make_submission, make_tenant, new_submission, rows, take
from tests.store.race import race
from tests.waiting import until_waited_for

TODAY = ACCEPTED_AT.date()
THIS_YEAR, NEXT_YEAR = date(TODAY.year, 12, 31), date(TODAY.year + 1, 12, 31)


async def put(db: Database, tenant: TenantId, first: int, last: int, key: str = "E31", **more: Any) -> Sequence:
    more.setdefault("last_day", THIS_YEAR)
    return await db.transact(
        sequences.put, tenant, Environment.ECF, key, minimum=first, maximum=last, now=ACCEPTED_AT, **more
    )


async def store_next(
    db: Database, tenant: TenantId, first: int, last: int, *, key: str = "E31", last_day: date | None = NEXT_YEAR
) -> Sequence:
    wanted = NextRange(first, last, None if last_day is None else end_of_day(last_day))
    ahead = Change(sets_next=True, next_range=wanted)
    return await db.run(sequences.change, tenant, Environment.ECF, key, ahead, now=ACCEPTED_AT)


async def tenant_with(db: Database, first: tuple[int, int], ahead: tuple[int, int]) -> TenantId:
    tenant = await make_tenant(db)
    await put(db, tenant, *first)
    await store_next(db, tenant, *ahead)
    return tenant


def drawing(tenant: TenantId) -> NewSubmission:
    return new_submission(tenant, e_ncf=None, draw_prefix="E31")


def number(accepted: Accepted) -> int:
    return int(str(accepted.e_ncf)[3:])


async def draw(db: Database, tenant: TenantId, at: datetime = ACCEPTED_AT) -> int:
    return number(await db.run(submissions.accept, drawing(tenant), at))


async def draw_many(db: Database, tenant: TenantId, count: int, at: datetime = ACCEPTED_AT) -> list[int]:
    """Draw together as the front does: one by one where the batch falls apart at the end of a range."""
    try:
        answers = await db.run(submissions.accept_many, [(drawing(tenant), at) for _ in range(count)], None)
    except psycopg.Error as error:
        if error.sqlstate not in ("FE010", "55P03"):
            raise
        return [await draw(db, tenant, at) for _ in range(count)]
    return [number(one) for one in answers if isinstance(one, Accepted)]


async def only(db: Database, tenant: TenantId) -> Sequence:
    (found,) = await db.run(store.listed, tenant, Environment.ECF)
    return found


async def test_draws_go_on_with_the_next_range_and_the_first_is_remembered(db: Database) -> None:
    tenant = await tenant_with(db, (1, 3), (501, 503))

    drawn = [await draw(db, tenant) for _ in range(6)]

    assert drawn == [1, 2, 3, 501, 502, 503]
    found = await only(db, tenant)
    assert (found.min_number, found.max_number, found.current_number, found.last_day) == (501, 503, 504, NEXT_YEAR)
    assert (found.next_min, found.next_max, found.next_expire_at, found.former) == (None, None, None, [(1, 3)])
    with pytest.raises(NoNumber) as refused:
        await draw(db, tenant)
    assert refused.value.reason == "used up"


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(1, 12),
    st.booleans(),
    st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=5), min_size=2, max_size=5),
)
async def test_concurrent_draws_across_the_end_give_each_number_once_in_order(
    db: Database, dsn: str, size: int, is_lower: bool, actors: list[list[int]]
) -> None:
    """Each actor draws some numbers at a time, alone or together, while both ranges are used up in order."""
    wanted = sum(sum(counts) for counts in actors)
    first = (1001, 1000 + size)
    ahead = (1, wanted) if is_lower else (5001, 5000 + wanted)
    tenant = await tenant_with(db, first, ahead)
    drawn: list[list[int]] = []

    async def act(own: Database, counts: list[int]) -> None:
        mine: list[int] = []
        drawn.append(mine)
        for count in counts:
            mine += [await draw(own, tenant)] if count == 1 else await draw_many(own, tenant, count)

    async with open_database(dsn, max_size=len(actors)) as own, trio.open_nursery() as nursery:
        for counts in actors:
            nursery.start_soon(act, own, counts)

    order = [*range(first[0], first[1] + 1), *range(ahead[0], ahead[1] + 1)]
    place = {one: nth for nth, one in enumerate(order)}
    assert sorted(place[one] for mine in drawn for one in mine) == list(range(wanted))
    for mine in drawn:
        assert mine == sorted(mine, key=place.__getitem__)


async def test_draw_at_the_end_that_is_killed_loses_no_number(db: Database, dsn: str) -> None:
    tenant = await tenant_with(db, (1, 1), (501, 510))
    assert await draw(db, tenant) == 1

    async def killed(conn: Conn) -> None:
        await submissions.accept(conn, drawing(tenant), ACCEPTED_AT)
        await conn.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    async with open_database(dsn, max_size=1) as own:
        with pytest.raises(Exception, match=r"."):
            await own.transact(killed)

    found = await only(db, tenant)
    assert (found.min_number, found.current_number, found.next_min) == (1, 2, 501)
    assert [await draw(db, tenant) for _ in range(2)] == [501, 502]


async def test_next_range_begins_when_the_last_day_of_the_first_is_over(db: Database) -> None:
    tenant = await tenant_with(db, (1, 100), (501, 600))
    later = end_of_day(THIS_YEAR) + timedelta(hours=1)
    assert await draw(db, tenant) == 1

    context = await db.run(tenant_context.tenant_context, tenant, Environment.ECF, None, None, None, later)
    together = await draw_many(db, tenant, 2, later)

    assert (context.next_numbers["E31"], context.expiries["E31"]) == (501, end_of_day(NEXT_YEAR))
    assert [*together, await draw(db, tenant, later)] == [501, 502, 503]


async def test_next_range_that_is_over_itself_does_not_begin(db: Database) -> None:
    tenant = await make_tenant(db)
    await put(db, tenant, 1, 1, last_day=None)
    await store_next(db, tenant, 501, 600, last_day=THIS_YEAR)
    assert await draw(db, tenant) == 1

    for draws in (
        draw(db, tenant, end_of_day(NEXT_YEAR)),
        db.run(submissions.accept, drawing(tenant), end_of_day(NEXT_YEAR)),
    ):
        with pytest.raises(NoNumber) as refused:
            await draws
        assert refused.value.reason == "used up"
    (answer,) = await db.run(submissions.accept_many, [(drawing(tenant), end_of_day(NEXT_YEAR))], None)
    assert isinstance(answer, NoNumber)
    assert (await only(db, tenant)).at(end_of_day(NEXT_YEAR)).next_min is None


async def test_paused_or_inactive_sequence_does_not_begin_its_next_range(db: Database) -> None:
    tenant = await tenant_with(db, (1, 1), (501, 600))
    assert await draw(db, tenant) == 1
    await db.run(sequences.change, tenant, Environment.ECF, "E31", Change(is_active=False), now=ACCEPTED_AT)

    for answer in await db.run(submissions.accept_many, [(drawing(tenant), ACCEPTED_AT)], None):
        assert isinstance(answer, NoNumber)
    with pytest.raises(NoNumber):
        await draw(db, tenant)

    assert (await only(db, tenant)).next_min == 501


@pytest.mark.parametrize("together", [False, True])
async def test_number_of_a_document_begins_the_next_range_once_the_first_is_used_up(
    db: Database, together: bool
) -> None:
    tenant = await tenant_with(db, (1, 2), (501, 600))

    async def bring(brought: int) -> None:
        new = new_submission(tenant, e_ncf=f"E31{brought:010}")
        if together:
            await db.run(submissions.accept_many, [(new, ACCEPTED_AT)], None)
        else:
            await db.run(submissions.accept, new, ACCEPTED_AT)

    await bring(501)
    before = await only(db, tenant)
    assert [await draw(db, tenant) for _ in range(2)] == [1, 2]
    await bring(503)

    assert (before.min_number, before.current_number) == (1, 1)
    found = await only(db, tenant)
    assert (found.min_number, found.current_number) == (501, 504)


async def test_numbers_of_both_ranges_have_the_expiry_of_their_own(db: Database) -> None:
    tenant = await tenant_with(db, (1, 1), (501, 600))
    subjects: dict[SubmissionId, date] = {}
    for e_ncf, day in (("E310000000001", THIS_YEAR), ("E310000000555", NEXT_YEAR)):
        subjects[await make_submission(db, tenant, e_ncf=e_ncf)] = day

    async def days() -> dict[SubmissionId, date | None]:
        found = {one: await db.run(steps.signing_input, await take(db, one)) for one in subjects}
        return {one: given.sequence_expires and given.sequence_expires.date() for one, given in found.items()}

    ends = {one: end_of_day(day).date() for one, day in subjects.items()}
    assert await days() == ends
    await draw(db, tenant)
    await draw(db, tenant)
    await rows(db, "UPDATE outbox SET run_at = now(), holder = NULL WHERE tenant_id = %(id)s RETURNING 1", id=tenant)
    assert await days() == ends


@pytest.mark.parametrize(("first_ends", "second_ends"), [(None, NEXT_YEAR), (THIS_YEAR, None)])
async def test_number_of_a_range_without_an_end_never_has_the_end_of_the_other(
    db: Database, first_ends: date | None, second_ends: date | None
) -> None:
    tenant = await make_tenant(db)
    await put(db, tenant, 1, 2, last_day=first_ends)
    await store_next(db, tenant, 501, 600, last_day=second_ends)
    ends = {"E310000000001": first_ends, "E310000000555": second_ends}
    subjects = {number: await make_submission(db, tenant, e_ncf=number) for number in ends}

    async def days() -> dict[str, date | None]:
        found = {number: await db.run(steps.signing_input, await take(db, one)) for number, one in subjects.items()}
        return {number: given.sequence_expires and given.sequence_expires.date() for number, given in found.items()}

    wanted = {number: None if day is None else end_of_day(day).date() for number, day in ends.items()}
    before = await days()
    assert [await draw(db, tenant) for _ in range(2)] == [2, 501]
    await rows(db, "UPDATE outbox SET run_at = now(), holder = NULL WHERE tenant_id = %(id)s RETURNING 1", id=tenant)
    assert (before, await days()) == (wanted, wanted)


@pytest.mark.parametrize("ahead", [(50, 150), (100, 100), (1, 5), (1, 100)])
async def test_next_range_that_overlaps_its_own_is_refused(db: Database, ahead: tuple[int, int]) -> None:
    tenant = await make_tenant(db)
    await put(db, tenant, 1, 100)

    with pytest.raises(BadSequence) as refused:
        await store_next(db, tenant, *ahead)

    assert "must lie apart" in refused.value.text.en
    assert "deben estar separados" in refused.value.text.es
    assert (await only(db, tenant)).next_min is None


async def test_two_that_store_overlapping_ranges_at_once_never_both_succeed(db: Database, dsn: str) -> None:
    """Ranges of a sequence with a name, one without, and the next ones of both: the database compares all."""
    tenant = await make_tenant(db)
    await put(db, tenant, 1, 100)
    await put(db, tenant, 201, 300, "E31/Caja 1")

    async def act(conn: Conn, nth: int) -> Sequence:
        key = ("E31", "E31/Caja 1")[nth % 2]
        ahead = Change(sets_next=True, next_range=NextRange(1001 + nth, 1100 + nth, None))
        return await sequences.change(conn, tenant, Environment.ECF, key, ahead, now=ACCEPTED_AT)

    results = await race(dsn, 4, act)
    refused = [one for one in results if not isinstance(one, Sequence)]
    assert refused
    # Two whose checks wait for each other are a deadlock, which ends one of them: it may try again.
    assert all(isinstance(one, BadSequence | Contended) for one in refused)
    stored = [one.next_min for one in await db.run(store.listed, tenant, Environment.ECF)]
    assert stored.count(None) == 1
    taken = next(one for one in stored if one is not None)
    with pytest.raises(BadSequence):
        await put(db, tenant, taken, taken + 5, "E31/Caja 2")


async def test_next_range_entered_by_hand_is_begun_and_forgotten(db: Database) -> None:
    tenant = await tenant_with(db, (1, 5), (501, 600))

    await put(db, tenant, 501, 600, last_day=NEXT_YEAR)
    found = await only(db, tenant)

    assert (found.min_number, found.current_number, found.next_min, found.former) == (501, 501, None, [(1, 5)])
    await store_next(db, tenant, 601, 700)
    await db.run(sequences.change, tenant, Environment.ECF, "E31", Change(sets_next=True), now=ACCEPTED_AT)
    assert (await only(db, tenant)).former == [(1, 5)]


async def test_month_accounts_for_the_numbers_of_both_ranges_alone(db: Database) -> None:
    tenant = await tenant_with(db, (1, 4), (501, 600))
    for _ in range(6):
        await draw(db, tenant)

    stretches = months.drawn_between("E310000000001", "E310000000502", [await only(db, tenant)])

    assert list(stretches) == [("E310000000001", "E310000000004"), ("E310000000501", "E310000000502")]


async def test_low_and_expiry_notices_count_the_next_range(db: Database) -> None:
    tenant = await make_tenant(db)
    await put(db, tenant, 1, 100)
    await db.run(sequences.change, tenant, Environment.ECF, "E31", Change(next_number=96), now=ACCEPTED_AT)
    near = end_of_day(THIS_YEAR) - timedelta(days=5)

    def told(one: Sequence, now: datetime) -> tuple[int, int]:
        ending = EndingSequence(
            one.tenant_id,
            one.environment,
            one.prefix,
            one.min_number,
            one.max_number,
            one.current_number,
            one.expire_at,
            "",
            one.next_min,
            one.next_max,
            one.next_expire_at,
        )
        return len(attention.notices([], [one], [], [], now)) - 1, len(list(notices.of_sequence(ending, now)))

    alone = await only(db, tenant)
    await store_next(db, tenant, 501, 600)
    ahead = await only(db, tenant)
    assert told(alone, near) == (2, 2)
    assert told(ahead, near) == (0, 0)
    assert told(ahead, end_of_day(THIS_YEAR) + timedelta(days=1)) == (0, 0)
    assert told(ahead, datetime(NEXT_YEAR.year, 12, 30, 12, tzinfo=UTC)) == (1, 1)
    await store_next(db, tenant, 501, 502)
    assert told(await only(db, tenant), near) == (1, 1)


async def test_range_that_was_left_by_itself_is_not_set_again_by_the_same_put(db: Database) -> None:
    tenant = await tenant_with(db, (1, 2), (501, 502))
    assert [await draw(db, tenant) for _ in range(3)] == [1, 2, 501]

    async def start() -> Sequence:
        """As a program does at each start."""
        return await put(db, tenant, 1, 2, is_active=True)

    after_one = await start()
    await store_next(db, tenant, 901, 990)
    assert [await draw(db, tenant) for _ in range(2)] == [502, 901]
    after_two = await start()

    assert (after_one.min_number, after_one.current_number, after_one.last_day) == (501, 502, NEXT_YEAR)
    assert (after_two.min_number, after_two.current_number, after_two.left) == (901, 902, [(501, 502), (1, 2)])
    assert [one.code for one in sequences.remarks(after_two, ACCEPTED_AT, NextRange(1, 2, None))] == [
        "sequence-went-on"
    ]
    assert await draw(db, tenant) == 902


async def test_range_that_was_left_by_itself_is_set_again_by_a_change_of_it_alone(db: Database) -> None:
    tenant = await tenant_with(db, (1, 2), (501, 600))
    assert [await draw(db, tenant) for _ in range(3)] == [1, 2, 501]

    back = Change(minimum=1, maximum=2)
    found = await db.run(sequences.change, tenant, Environment.ECF, "E31", back, now=ACCEPTED_AT)
    await put(db, tenant, 501, 600, last_day=NEXT_YEAR)
    again = await put(db, tenant, 1, 2)

    assert (found.min_number, found.current_number, found.left) == (1, 2, [])
    assert (again.min_number, again.max_number) == (1, 2), "a person set both ranges, and they are set as ever"


async def test_put_that_waits_while_a_draw_begins_the_next_range_does_not_undo_it(db: Database, dsn: str) -> None:
    tenant = await tenant_with(db, (1, 1), (501, 600))
    assert await draw(db, tenant) == 1

    async def begin(conn: Conn, nursery: trio.Nursery, other: Database) -> None:
        await submissions.accept(conn, drawing(tenant), ACCEPTED_AT)
        nursery.start_soon(partial(put, other, tenant, 1, 1))
        await until_waited_for(db)

    async with open_database(dsn, max_size=2) as own, trio.open_nursery() as nursery:
        await own.transact(begin, nursery, own)

    found = await only(db, tenant)
    assert (found.min_number, found.current_number) == (501, 502)


async def test_two_that_bring_numbers_of_the_next_range_at_once_both_move_it(db: Database, dsn: str) -> None:
    tenant = await tenant_with(db, (1, 1), (501, 600))
    assert await draw(db, tenant) == 1
    first, second = (new_submission(tenant, e_ncf=f"E31{brought:010}") for brought in (501, 503))

    async def begin(conn: Conn, nursery: trio.Nursery, other: Database) -> None:
        await submissions.accept(conn, first, ACCEPTED_AT)
        nursery.start_soon(other.run, submissions.accept, second, ACCEPTED_AT)
        await until_waited_for(db)

    async with open_database(dsn, max_size=2) as own, trio.open_nursery() as nursery:
        await own.transact(begin, nursery, own)

    found = await only(db, tenant)
    assert (found.min_number, found.current_number) == (501, 504)


async def test_numbers_of_documents_together_begin_a_next_range_that_lies_lower(db: Database) -> None:
    tenant = await tenant_with(db, (501, 501), (1, 100))
    assert await draw(db, tenant) == 501

    new = new_submission(tenant, e_ncf="E310000000007")
    await db.run(submissions.accept_many, [(new, ACCEPTED_AT)], None)

    found = await only(db, tenant)
    assert (found.min_number, found.current_number) == (1, 8)


async def test_number_of_the_range_before_does_not_pause_the_next_one(db: Database) -> None:
    tenant = await tenant_with(db, (1, 1), (501, 600))
    given = [await make_submission(db, tenant, e_ncf=None, draw_prefix="E31") for _ in range(2)]

    assert await db.run(store.pause_for, tenant, given[0]) == "known"
    assert (await only(db, tenant)).paused_at is None
    later = await make_submission(db, tenant, e_ncf=None, draw_prefix="E31", at=ACCEPTED_AT + timedelta(seconds=1))
    assert await db.run(store.pause_for, tenant, later) == "paused"


async def test_sequence_without_an_end_does_not_end_with_its_next_range(db: Database) -> None:
    tenant = await make_tenant(db)
    await put(db, tenant, 1, 100, last_day=None)
    await store_next(db, tenant, 501, 600)

    assert (await only(db, tenant)).gives_until is None
