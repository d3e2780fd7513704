"""Several sequences of one type: each number is drawn once, from the sequence that was chosen."""

from datetime import date
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fe.accounts import months, sequences
from fe.ecf.catalogue import Environment
from fe.ecf.dates import end_of_day, last_day
from fe.identifiers import SubmissionId, TenantId, UserId
from fe.lifecycle import NumberFate
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import NoNumber
from fe.store.records import sequences as store
from fe.store.records import submissions, tenant_context, tenants
from fe.store.records.sequences import Change, Sequence
from fe.store.records.submissions import Accepted, NewSubmission
from tests.factories import bookings
from tests.factories.tenants import ACCEPTED_AT, make_submission, make_tenant, new_submission, take
from tests.store.race import race

#: Three ranges of E31: the one without a name, and those of two tills.
RANGES = {"E31": (1, 1000), "E31/Caja 1": (2001, 3000), "E31/Caja 2": (5001, 6000)}


async def put(db: Database, tenant: TenantId, key: str, first: int, last: int, **more: Any) -> Sequence:
    return await db.run(
        sequences.put, tenant, Environment.ECF, key, minimum=first, maximum=last, now=ACCEPTED_AT, **more
    )


async def three_ranges(db: Database) -> TenantId:
    tenant = await make_tenant(db)
    for key, (first, last) in RANGES.items():
        await put(db, tenant, key, first, last)
    return tenant


def drawing(tenant: TenantId, key: str = "E31", **more: Any) -> NewSubmission:
    return new_submission(tenant, e_ncf=None, draw_prefix=key, **more)


async def draw(db: Database, tenant: TenantId, key: str = "E31", **more: Any) -> int:
    accepted = await db.run(submissions.accept, drawing(tenant, key, **more), ACCEPTED_AT)
    return int(str(accepted.e_ncf)[3:])


async def draw_together(db: Database, tenant: TenantId, *keys: str, **more: Any) -> list[int | NoNumber]:
    news = [(drawing(tenant, key, **more), ACCEPTED_AT) for key in keys]
    answers = await db.run(submissions.accept_many, news, None)
    return [int(str(one.e_ncf)[3:]) if isinstance(one, Accepted) else one for one in answers]


async def nexts(db: Database, tenant: TenantId) -> dict[str, int]:
    return {one.key: one.current_number for one in await db.run(store.listed, tenant, Environment.ECF)}


async def with_users(db: Database, tenant: TenantId, **sequence_of: str) -> dict[str, UserId]:
    users = {name: UserId(uuid4()) for name in sequence_of}
    for name, user_id in users.items():
        await db.run(tenants.create_user, tenant, user_id, f"{name}@Example.com", None)
    for key in set(sequence_of.values()):
        emails = [f"{name}@example.com" for name, wanted in sequence_of.items() if wanted == key]
        await db.run(sequences.assign, tenant, Environment.ECF, key, emails, now=ACCEPTED_AT)
    return users


async def test_draws_of_many_threads_from_three_ranges_give_each_number_once(db: Database, dsn: str) -> None:
    tenant = await three_ranges(db)
    drawers, each, keys = 9, 8, list(RANGES)

    async def act(conn: Conn, number: int) -> list[tuple[str, str]]:
        drawn = []
        for nth in range(each):
            key = keys[(number + nth) % 3]
            if nth % 2:
                (accepted,) = await submissions.accept_many(conn, [(drawing(tenant, key), ACCEPTED_AT)])
            else:
                accepted = await submissions.accept(conn, drawing(tenant, key), ACCEPTED_AT)
            assert isinstance(accepted, Accepted)
            drawn.append((key, str(accepted.e_ncf)))
        return drawn

    results = await race(dsn, drawers, act)

    drawn = [one for result in results if isinstance(result, list) for one in result]
    assert len(drawn) == len({e_ncf for _, e_ncf in drawn}) == drawers * each
    for key, (first, _) in RANGES.items():
        mine = sorted(int(e_ncf[3:]) for wanted, e_ncf in drawn if wanted == key)
        assert mine == list(range(first, first + len(mine)))


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("draw"), st.sampled_from([*RANGES, "E31/Caja 9"])),
            st.tuples(st.just("bring"), st.sampled_from([3, 7, 1500, 2004, 2980, 5001, 5010, 7000])),
            st.tuples(st.just("fail"), st.integers(0, 9)),
        ),
        max_size=14,
    )
)
async def test_one_by_one_and_together_move_every_sequence_alike(db: Database, steps: list[tuple[str, Any]]) -> None:
    alone, together = await three_ranges(db), await three_ranges(db)
    drawn: dict[TenantId, list[SubmissionId]] = {alone: [], together: []}
    for what, of in steps:
        for tenant in (alone, together):
            if what == "fail":
                if of < len(drawn[tenant]):
                    subject = drawn[tenant].pop(of)
                    work = await take(db, subject)
                    await db.run(bookings.failure, work, at=ACCEPTED_AT, response={}, fate=NumberFate.REUSABLE)
                continue
            new = drawing(tenant, of) if what == "draw" else new_submission(tenant, e_ncf=f"E31{of:010}")
            try:
                if tenant == alone:
                    answer: Accepted | NoNumber = await db.run(submissions.accept, new, ACCEPTED_AT)
                else:
                    (answer,) = await db.run(submissions.accept_many, [(new, ACCEPTED_AT)], None)
            except NoNumber as none:
                answer = none
            if isinstance(answer, NoNumber):
                assert (answer.key, answer.reason) == ("E31/Caja 9", "none")
            elif what == "draw":
                drawn[tenant].append(answer.submission_id)
                first, last = RANGES[of]
                assert first <= int(str(answer.e_ncf)[3:]) <= last
    assert await nexts(db, alone) == await nexts(db, together)


async def test_a_number_of_a_document_moves_the_sequence_that_it_lies_in(db: Database) -> None:
    tenant = await three_ranges(db)

    brought = [new_submission(tenant, e_ncf=f"E31{number:010}") for number in (4, 2010, 1500)]
    alone = [await db.run(submissions.accept, one, ACCEPTED_AT) for one in brought[:1]]
    batch = await db.run(submissions.accept_many, [(one, ACCEPTED_AT) for one in brought[1:]], None)

    assert await nexts(db, tenant) == {"E31": 5, "E31/Caja 1": 2011, "E31/Caja 2": 5001}
    passed = [(one.numbers_skipped, one.numbers_left) for one in (*alone, *batch) if isinstance(one, Accepted)]
    assert passed == [(3, 996), (9, 990), (None, None)]


async def test_two_sequences_never_share_a_number(db: Database) -> None:
    tenant, other = await three_ranges(db), await make_tenant(db)
    await put(db, other, "E31", 1, 9_999_999_999)  # another tenant's, and another type's, are its own
    await put(db, tenant, "E32", 1, 9_999_999_999)
    before = await db.run(store.listed, tenant, Environment.ECF)

    with pytest.raises(sequences.BadSequence, match="another sequence"):
        await put(db, tenant, "E31/Caja 1", 900, 3000)
    with pytest.raises(sequences.BadSequence, match="another sequence"):
        await put(db, tenant, "E31/Caja 3", 3000, 3500)
    with pytest.raises(sequences.BadSequence, match="another sequence"):
        await db.run(sequences.change, tenant, Environment.ECF, "E31", Change(maximum=2001), now=ACCEPTED_AT)
    assert await db.run(store.listed, tenant, Environment.ECF) == before


@pytest.mark.parametrize("by", ["address", "id"])
async def test_a_user_draws_from_the_assigned_sequence_unless_another_is_named(db: Database, by: str) -> None:
    tenant = await three_ranges(db)
    users = await with_users(db, tenant, ana="E31/Caja 1", luis="E31/Caja 2")
    ana = {"as_user": "Ana@example.com"} if by == "address" else {"as_user_id": users["ana"]}

    assert await draw(db, tenant, **ana) == 2001
    assert await draw_together(db, tenant, "E31", "E31/Caja 2", "E31", **ana) == [2002, 5001, 2003]
    assert await draw(db, tenant, "E31/Caja 2", **ana) == 5002
    assert await draw(db, tenant, as_user="nobody@example.com") == 1
    user_id, email = (None, "ana@example.com") if by == "address" else (users["ana"], None)
    known = await db.run(tenant_context.tenant_context, tenant, Environment.ECF, user_id, email, None, ACCEPTED_AT)
    assert known.next_numbers[known.sequence_of("E31", None)] == 2004
    assert known.next_numbers[known.sequence_of("E31", "Caja 2")] == 5003
    assert known.names_of("E31") == ["Caja 1", "Caja 2"]


async def test_a_user_has_one_sequence_of_a_type_and_none_after_removal(db: Database) -> None:
    tenant = await three_ranges(db)
    users = await with_users(db, tenant, ana="E31/Caja 1", luis="E31/Caja 1")

    await db.run(sequences.assign, tenant, Environment.ECF, "E31/Caja 2", ["ANA@example.com"], now=ACCEPTED_AT)
    assigned = {one.name: list(one.user_emails) for one in await db.run(store.listed, tenant, Environment.ECF)}
    assert assigned == {"": [], "Caja 1": ["luis@example.com"], "Caja 2": ["ana@example.com"]}
    await db.run(store.unassign, tenant, users["luis"])
    assert await draw(db, tenant, as_user="luis@example.com") == 1
    for key, emails in (("E31", ["ana@example.com"]), ("E31/Caja 1", ["eva@example.com"])):
        with pytest.raises(sequences.BadSequence):
            await db.run(sequences.assign, tenant, Environment.ECF, key, emails, now=ACCEPTED_AT)


async def test_a_used_up_or_ended_sequence_is_named_and_the_others_give_on(db: Database) -> None:
    tenant = await make_tenant(db)
    await put(db, tenant, "E31", 1, 1)
    await put(db, tenant, "E31/Caja 1", 2, 2)
    await put(db, tenant, "E31/Caja 2", 3, 9, last_day=date(2020, 1, 1))
    assert await draw_together(db, tenant, "E31/Caja 1") == [2]

    answers = await draw_together(db, tenant, "E31/Caja 1", "E31/Caja 2", "E31", "E31/Caja 3")

    assert [(one.label, one.reason) if isinstance(one, NoNumber) else one for one in answers] == [
        ("E31 Caja 1", "used up"),
        ("E31 Caja 2", "expired"),
        1,
        ("E31 Caja 3", "none"),
    ]
    for key, reason in (("E31/Caja 1", "used up"), ("E31/Caja 2", "expired"), ("E31/Caja 3", "none")):
        with pytest.raises(NoNumber) as refused:
            await draw(db, tenant, key)
        assert (refused.value.key, refused.value.reason) == (key, reason)


async def test_a_returned_number_goes_back_to_its_own_sequence(db: Database) -> None:
    tenant = await make_tenant(db)
    await put(db, tenant, "E31", 11, 11)
    await put(db, tenant, "E31/Caja 1", 1, 3)
    accepted = [await db.run(submissions.accept, drawing(tenant, "E31/Caja 1"), ACCEPTED_AT) for _ in range(3)]
    work = await take(db, accepted[1].submission_id)
    await db.run(bookings.failure, work, at=ACCEPTED_AT, response={}, fate=NumberFate.REUSABLE)

    assert await draw(db, tenant) == 11
    (none,) = await draw_together(db, tenant, "E31")
    assert isinstance(none, NoNumber)
    assert none.reason == "used up"
    assert await draw_together(db, tenant, "E31/Caja 1") == [2]


async def test_a_number_is_dated_and_paused_by_the_sequence_that_it_lies_in(db: Database) -> None:
    tenant = await make_tenant(db)
    await put(db, tenant, "E31", 1, 100, last_day=date(2027, 12, 31))
    await put(db, tenant, "E31/Caja 1", 101, 200, last_day=date(2028, 12, 31))
    subject = await make_submission(db, tenant, e_ncf=None, draw_prefix="E31/Caja 1")
    assert await db.run(store.pause_for, tenant, subject) == "paused"
    paused = {one.key: one.paused_for for one in await db.run(store.listed, tenant, Environment.ECF)}
    await put(db, tenant, "E31/Caja 1", 301, 400, last_day=date(2029, 12, 31))

    years = {}
    for number in (50, 150, 350, 999):
        known = await db.run(
            tenant_context.tenant_context, tenant, Environment.ECF, None, None, f"E31{number:010}", ACCEPTED_AT
        )
        years[number] = last_day(known.expiries["E31"]).year
    assert years == {50: 2027, 150: 2028, 350: 2029, 999: 2027}
    assert last_day(known.expiries["E31/Caja 1"]) == date(2029, 12, 31)
    assert paused == {"E31": None, "E31/Caja 1": "E310000000101"}


def test_numbers_between_two_ranges_are_no_gap_of_a_month() -> None:
    def of(name: str, first: int, last: int, following: int) -> Sequence:
        expires = end_of_day(date(2028, 12, 31))
        args = (TenantId(1), Environment.ECF, "E31", uuid4(), first, last, following, True, expires)
        return Sequence(*args, name=name)  # type: ignore[arg-type]  # an id is an id

    main, till, unused = of("", 1, 1000, 40), of("Caja 1", 5001, 6000, 5003), of("Caja 2", 7001, 8000, 7001)
    first, last = "E310000000012", "E310000005002"

    assert months.drawn_between(first, last, [main]) == [(first, last)]
    assert months.drawn_between(first, last, [main, till, unused]) == [
        (first, "E310000000039"),
        ("E310000005001", last),
    ]
