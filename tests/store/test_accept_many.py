"""Taking many submissions in at once: what one statement does is what each alone would have come to."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Any
from uuid import UUID

import psycopg
import pytest
import trio
from psycopg import sql

from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.identifiers import SequenceId, SubmissionId, TenantId
from fe.lifecycle import Stage, Status
from fe.store.postgres.db import Conn, Database, open_database
from fe.store.postgres.errors import Contended, DatabaseUnavailable, LockNotHad, NoNumber, TenantDisabled
from fe.store.postgres.roles import FRONT
from fe.store.records import sequences, submissions
from fe.store.records.submissions import Accepted, NewSubmission
from tests.factories.operators import disable
from tests.factories.tenants import ACCEPTED_AT, make_submission, make_tenant, new_submission, row, rows, story
from tests.store.race import plain, race
from tests.waiting import PATIENCE

Answer = Accepted | NoNumber

ENVIRONMENTS = (Environment.ECF, Environment.TESTECF)


async def make_sequence(
    db: Database,
    tenant_id: TenantId,
    prefix: str = "E31",
    *,
    environment: Environment = Environment.ECF,
    minimum: int = 1,
    maximum: int = 1000,
    **more: Any,
) -> None:
    await db.run(
        sequences.put,
        tenant_id,
        environment,
        prefix,
        new_id=SequenceId(new_id(ACCEPTED_AT)),
        minimum=minimum,
        maximum=maximum,
        at=ACCEPTED_AT,
        **{"expire_at": None, "is_active": True, **more},
    )


async def hold(
    db: Database, tenant_id: TenantId, numbers: Sequence[int], environment: Environment = Environment.ECF
) -> None:
    """Have these numbers held by submissions that were signed, and let the sequence begin before them again."""
    for number in numbers:
        await make_submission(
            db, tenant_id, stage=Stage.SEND, environment=environment, e_ncf=f"E31{number:010}", original=b"held"
        )
    await rows(
        db,
        """UPDATE sequences SET current_number = 1
            WHERE tenant_id = %(tenant)s AND environment = %(environment)s AND prefix = 'E31'""",
        tenant=tenant_id,
        environment=environment,
    )


def draws(tenant_id: TenantId, **more: Any) -> NewSubmission:
    return new_submission(tenant_id, **{"e_ncf": None, "draw_prefix": "E31", **more})


def at_once(news: Sequence[NewSubmission]) -> list[tuple[NewSubmission, Any]]:
    return [(new, ACCEPTED_AT) for new in news]


async def one_by_one(db: Database, news: Sequence[NewSubmission]) -> list[Answer]:
    answers: list[Answer] = []
    for new in news:
        try:
            answers.append(await db.run(submissions.accept, new, ACCEPTED_AT))
        except NoNumber as refused:
            answers.append(refused)
    return answers


def told(answers: Sequence[Answer], news: Sequence[NewSubmission]) -> list[tuple[object, ...]]:
    """Answers, with the submissions named by their place: the ids of two runs differ."""
    places: dict[UUID, int] = {}
    for place, new in enumerate(news):
        places.setdefault(new.submission_id, place)
    return [
        (answer.prefix, answer.reason)
        if isinstance(answer, NoNumber)
        else (
            answer.outcome,
            places[answer.submission_id],
            answer.status,
            answer.e_ncf,
            answer.body_matched,
            answer.numbers_skipped,
            answer.numbers_left,
        )
        for answer in answers
    ]


def any_submissions(chance: random.Random, tenants: Sequence[TenantId], count: int) -> list[NewSubmission]:
    """Rows as clients send them, the unusual ones often."""
    made = []
    # Some are repeated from one batch to the next, and some within this one alone.
    repeated = ["x", "y", "z", *(f"{name}-{chance.random()}" for name in ("new", "newer"))]
    for _ in range(count):
        changes: dict[str, Any] = {
            "body_digest": chance.choice([b"a", b"b"]) * 32,
            "environment": chance.choice(ENVIRONMENTS),
        }
        if chance.random() < 0.6:
            changes["client_request_id"] = chance.choice([*repeated, f"once-{chance.random()}"])
        prefix = chance.choice(["E31", "E31", "E32", "E33", "E34"])
        if chance.random() < 0.5:
            changes |= {"e_ncf": None, "draw_prefix": prefix}
        else:
            changes["e_ncf"] = chance.choice([None, f"{prefix}{chance.randint(1, 60):010}"])
        changes["root"] = chance.choice(["ECF", "ECF", "RFCE", "ACECF"]) if not changes.get("draw_prefix") else "ECF"
        made.append(new_submission(chance.choice(tenants), **changes))
    return made


@pytest.mark.parametrize("seed", range(8))
async def test_a_batch_comes_to_what_its_rows_come_to_one_by_one(db: Database, seed: int) -> None:
    chance = random.Random(seed)
    worlds = [[await make_tenant(db) for _ in range(3)] for _ in range(2)]
    over = ACCEPTED_AT - timedelta(days=2)
    for (one, other), environment in product(zip(*worlds, strict=True), ENVIRONMENTS):
        held = chance.sample(range(1, 9), 2)
        for tenant in (one, other):
            await make_sequence(db, tenant, environment=environment, maximum=500)
            await make_sequence(db, tenant, "E32", environment=environment, expire_at=over)
            await make_sequence(db, tenant, "E33", environment=environment, is_active=False)
            await hold(db, tenant, held, environment)
    all_news: list[NewSubmission] = []
    all_twins: list[NewSubmission] = []
    for _ in range(6):
        news = any_submissions(chance, worlds[0], 25)
        into = dict(zip(worlds[0], worlds[1], strict=True))
        twins = [
            replace(new, tenant_id=into[new.tenant_id], submission_id=SubmissionId(new_id(ACCEPTED_AT))) for new in news
        ]
        alone = await one_by_one(db, news)
        together = await db.run(submissions.accept_many, at_once(twins))
        all_news += news  # a repeat may name a submission of any batch before
        all_twins += twins
        assert told(together, all_twins) == told(alone, all_news)

    what = """SELECT s.environment, s.root, s.e_ncf, s.client_request_id, s.status, s.submitted_at, d.content, o.stage,
                     e.kind, e.detail
                FROM submissions AS s
                JOIN submission_documents AS d USING (tenant_id, submission_id)
                JOIN submission_events AS e USING (tenant_id, submission_id)
                JOIN outbox AS o ON o.tenant_id = s.tenant_id AND o.subject = s.submission_id
               WHERE s.tenant_id = %(tenant)s AND d.kind = 'original' AND d.content <> 'held'
               ORDER BY s.environment, s.e_ncf, s.client_request_id, s.root, e.detail::text"""
    state = """SELECT environment, prefix, current_number, updated_at
                 FROM sequences WHERE tenant_id = %(tenant)s ORDER BY environment, prefix"""
    for one, other in zip(*worlds, strict=True):
        kept = await rows(db, what, tenant=one)
        assert kept
        assert await rows(db, what, tenant=other) == kept
        assert await rows(db, state, tenant=other) == await rows(db, state, tenant=one)


async def test_the_first_event_of_each_is_chained_as_one_that_was_written_alone(db: Database) -> None:
    tenant = await make_tenant(db)
    new = new_submission(tenant)
    await db.run(submissions.accept_many, at_once([new, new_submission(tenant)]))

    kept = await row(
        db,
        """SELECT e.hash = event_hash(NULL, e.tenant_id, e.submission_id, e.seq, e.at, e.kind, e.detail) AS is_right
             FROM submission_events AS e WHERE e.submission_id = %(id)s""",
        id=new.submission_id,
    )
    assert kept["is_right"]
    assert await story(db, new.submission_id) == ["accepted"]


async def test_drawn_numbers_follow_one_another_in_the_order_of_arrival(db: Database) -> None:
    one, other = await make_tenant(db), await make_tenant(db)
    await make_sequence(db, one)
    await make_sequence(db, other)
    news = [draws(tenant) for tenant in (one, other, one, one, other)]

    answers = await db.run(submissions.accept_many, at_once(news))

    assert [answer.e_ncf for answer in answers if isinstance(answer, Accepted)] == [
        f"E31{n:010}" for n in (1, 1, 2, 3, 2)
    ]


async def test_a_batch_draws_no_number_that_somebody_holds(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_sequence(db, tenant)
    await hold(db, tenant, [1, 3])

    answers = await db.run(submissions.accept_many, at_once([draws(tenant), draws(tenant)]))

    assert [answer.e_ncf for answer in answers if isinstance(answer, Accepted)] == ["E310000000002", "E310000000004"]


@pytest.mark.new_database
async def test_a_sequence_is_written_once_for_a_whole_batch(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_sequence(db, tenant)
    before = await row(db, "SELECT xmin::text::bigint AS x, ctid::text FROM sequences")

    await db.run(submissions.accept_many, at_once([draws(tenant) for _ in range(20)]))

    after = await row(db, "SELECT current_number, ctid::text FROM sequences")
    assert after["current_number"] == 21
    page, line = (int(n) for n in after["ctid"].strip("()").split(","))
    was_page, was_line = (int(n) for n in before["ctid"].strip("()").split(","))
    assert (page, line) == (was_page, was_line + 1)  # the next version of the row, and no other between


async def test_of_two_with_one_client_request_id_the_second_is_answered_with_the_first(db: Database) -> None:
    tenant, stranger = await make_tenant(db), await make_tenant(db)
    first = new_submission(tenant, client_request_id="a")
    second = new_submission(tenant, client_request_id="a", body_digest=b"x" * 32)
    foreign = new_submission(stranger, client_request_id="a")

    answers = await db.run(submissions.accept_many, at_once([first, second, foreign]))

    assert answers == [
        Accepted("accepted", first.submission_id, Status.QUEUED, first.e_ncf, True),
        Accepted("deduped", first.submission_id, Status.QUEUED, first.e_ncf, False),
        Accepted("accepted", foreign.submission_id, Status.QUEUED, foreign.e_ncf, True),
    ]


async def test_a_client_request_id_is_one_of_its_environment(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_sequence(db, tenant)  # in production alone
    firsts = [new_submission(tenant, client_request_id="a", environment=each) for each in ENVIRONMENTS]
    repeats = [new_submission(tenant, client_request_id="a", environment=each) for each in ENVIRONMENTS]
    at_home = draws(tenant, client_request_id="b")
    elsewhere = draws(tenant, client_request_id="b", environment=Environment.TESTECF)

    await db.run(submissions.accept_many, at_once(firsts))
    *deduped, drawn, refused = await db.run(submissions.accept_many, at_once([*repeats, at_home, elsewhere]))

    assert deduped == [Accepted("deduped", first.submission_id, Status.QUEUED, first.e_ncf, True) for first in firsts]
    assert isinstance(drawn, Accepted)
    assert (drawn.outcome, drawn.submission_id) == ("accepted", at_home.submission_id)
    assert isinstance(refused, NoNumber)  # it repeats nothing, so it draws


async def test_a_draw_that_is_refused_keeps_nothing_and_harms_nobody(db: Database) -> None:
    poor, rich = await make_tenant(db), await make_tenant(db)
    await make_sequence(db, rich)
    news = [draws(poor, client_request_id="a"), draws(rich), new_submission(poor)]

    refused, drawn, given = await db.run(submissions.accept_many, at_once(news))

    assert isinstance(refused, NoNumber)
    assert (refused.prefix, refused.reason) == ("E31", "none")
    assert isinstance(drawn, Accepted)
    assert isinstance(given, Accepted)
    assert await rows(db, "SELECT 1 FROM client_requests") == []
    assert await rows(db, "SELECT 1 FROM submissions WHERE submission_id = %(id)s", id=news[0].submission_id) == []


async def test_a_repeat_is_answered_even_where_its_sequence_gives_nothing_any_more(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_sequence(db, tenant, maximum=1)
    first = draws(tenant, client_request_id="a")
    await db.run(submissions.accept_many, at_once([first]))

    (repeat, other) = await db.run(
        submissions.accept_many, at_once([draws(tenant, client_request_id="a"), draws(tenant)])
    )

    assert repeat == Accepted("deduped", first.submission_id, Status.QUEUED, "E310000000001", True)
    assert isinstance(other, NoNumber)
    assert other.reason == "used up"


async def test_of_a_disabled_tenant_a_repeat_is_answered_and_nothing_new_is_taken_in(db: Database) -> None:
    tenant = await make_tenant(db)
    first = new_submission(tenant, client_request_id="a")
    await db.run(submissions.accept_many, at_once([first]))
    await disable(db, tenant)

    repeat = new_submission(tenant, client_request_id="a")
    deduped = Accepted("deduped", first.submission_id, Status.QUEUED, first.e_ncf, True)
    assert await db.run(submissions.accept, repeat, ACCEPTED_AT) == deduped
    assert await db.run(submissions.accept_many, at_once([repeat])) == [deduped]
    with pytest.raises(TenantDisabled):
        await db.run(submissions.accept_many, at_once([repeat, new_submission(tenant)]))
    with pytest.raises(TenantDisabled):
        await db.run(submissions.accept, new_submission(tenant), ACCEPTED_AT)
    assert [each["submission_id"] for each in await rows(db, "SELECT submission_id FROM submissions")] == [
        first.submission_id
    ]


async def test_a_sequence_that_ends_within_a_batch_keeps_nothing_of_it(db: Database) -> None:
    """The caller takes the rows in one by one then, and exactly those are refused that came too late."""
    tenant = await make_tenant(db)
    await make_sequence(db, tenant, maximum=2)

    with pytest.raises(psycopg.Error) as raised:
        await db.run(submissions.accept_many, at_once([draws(tenant) for _ in range(3)]))

    assert raised.value.sqlstate == "FE010"
    assert await rows(db, "SELECT 1 FROM submissions") == []
    assert (await row(db, "SELECT current_number AS n FROM sequences"))["n"] == 1


_HAVE_ID = """
    INSERT INTO client_requests (tenant_id, environment, client_request_id, submission_id)
    VALUES (%(tenant)s, 'ecf', %(id)s, gen_random_uuid())
"""
_SOMEBODY_WAITS = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"

#: A lock may not be had in time on a slow machine; of each deadlock one of the racers hears by another error.
_NO_DEADLOCK = (int, LockNotHad)


def look_for_deadlocks(dsn: str) -> None:
    """Soon: accepting waits for a lock for 250 ms, and by itself Postgres looks for a deadlock only after a second."""
    with plain(dsn) as conn:
        name = sql.Identifier(conn.info.dbname)
        conn.execute(sql.SQL("ALTER DATABASE {} SET deadlock_timeout = '20ms'").format(name))


async def test_a_batch_takes_the_clients_own_ids_in_their_order(db: Database, dsn: str) -> None:
    """Where nothing is drawn, no sequence keeps the order for them."""
    tenant = await make_tenant(db)
    look_for_deadlocks(dsn)
    results: list[object] = []

    async def accept() -> None:
        news = [new_submission(tenant, client_request_id=each) for each in ("c", "b", "a")]
        try:
            results.append(len(await db.run(submissions.accept_many, at_once(news))))
        except DatabaseUnavailable as error:
            results.append(error)

    # A client that waits for the second has the first, and not the third yet.
    async with trio.open_nursery() as nursery:
        with plain(dsn) as other, other.transaction(force_rollback=True):
            other.execute(_HAVE_ID, {"tenant": tenant, "id": "b"})
            nursery.start_soon(accept)
            with trio.fail_after(PATIENCE):
                while not (results or other.execute(_SOMEBODY_WAITS).fetchall()):  # noqa: ASYNC110  (no bell)
                    await trio.sleep(0.002)
            other.execute(_HAVE_ID, {"tenant": tenant, "id": "c"})

    assert all(isinstance(result, _NO_DEADLOCK) for result in results), results


async def test_batches_in_opposite_orders_never_deadlock(db: Database, dsn: str) -> None:
    tenants = [await make_tenant(db) for _ in range(6)]
    for tenant in tenants:
        await make_sequence(db, tenant, maximum=10_000)
    look_for_deadlocks(dsn)

    async def act(conn: Conn, number: int) -> int:
        written = 0
        for turn in range(12):
            order = tenants if (number + turn) % 2 else tenants[::-1]
            news = [draws(tenant, client_request_id=f"{turn % 3}-{tenant}-{turn * number}") for tenant in order]
            news += [draws(tenant, client_request_id=f"shared-{turn}") for tenant in order]
            written += len(await submissions.accept_many(conn, at_once(news)))
        return written

    results = await race(dsn, 6, act)

    assert all(isinstance(result, _NO_DEADLOCK) for result in results), results
    drawn = await rows(db, "SELECT tenant_id, e_ncf FROM submissions")
    assert len({tuple(each.values()) for each in drawn}) == len(drawn)


async def test_many_tenants_in_one_batch_stay_behind_the_wall(db: Database, dsn: str) -> None:
    tenants = [await make_tenant(db) for _ in range(5)]
    for tenant in tenants:
        await make_sequence(db, tenant)
    news = [draws(tenant, client_request_id="same") for tenant in tenants]
    async with open_database(dsn, role=FRONT, max_size=1) as front:
        answers = await front.run(submissions.accept_many, at_once(news))
        repeats = await front.run(
            submissions.accept_many, at_once([draws(t, client_request_id="same") for t in tenants])
        )

        async def seen(conn: Conn) -> list[tuple[int, str]]:
            counted = await conn.execute(
                "SELECT count(*), coalesce(current_setting('fe.tenant', true), '') FROM submissions"
            )
            return await counted.fetchall()

        assert await front.run(seen) == [(0, "")]
    assert [a.submission_id for a in answers if isinstance(a, Accepted)] == [new.submission_id for new in news]
    assert [(a.outcome, a.submission_id) for a in repeats if isinstance(a, Accepted)] == [
        ("deduped", new.submission_id) for new in news
    ]
    kept = await rows(db, "SELECT tenant_id, submission_id FROM submissions")
    assert {each["submission_id"]: each["tenant_id"] for each in kept} == {n.submission_id: n.tenant_id for n in news}


async def test_a_row_that_the_database_refuses_takes_the_whole_batch_with_it(db: Database) -> None:
    """So that nothing is half written; `Acceptance` then takes the rows in one by one."""
    tenant = await make_tenant(db)
    news = [new_submission(tenant, environment="nowhere" if n == 50 else "ecf") for n in range(100)]

    with pytest.raises(psycopg.errors.CheckViolation):
        await db.run(submissions.accept_many, at_once(news))

    assert await rows(db, "SELECT 1 FROM submissions UNION ALL SELECT 1 FROM outbox") == []


async def test_a_lock_that_somebody_holds_is_not_waited_for(db: Database, dsn: str) -> None:
    tenant = await make_tenant(db)
    await make_sequence(db, tenant)

    async def accept(conn: Conn) -> None:
        await conn.execute("SET lock_timeout = 0")  # the session's own patience
        await submissions.accept_many(conn, at_once([draws(tenant), draws(tenant)]))

    with plain(dsn) as other, other.transaction():
        other.execute("SELECT 1 FROM sequences WHERE tenant_id = %s FOR UPDATE", (tenant,))
        with trio.fail_after(PATIENCE), pytest.raises(DatabaseUnavailable) as raised:
            await db.run(accept)

    assert isinstance(raised.value, Contended)


async def test_repeat_is_a_commit_that_waits_for_the_standby(db: Database) -> None:
    """The wait of the commit that it finds may have been cancelled; a later commit of that server waits for both."""
    tenant = await make_tenant(db)
    await db.run(submissions.accept, new_submission(tenant, client_request_id="a"), ACCEPTED_AT)
    repeat = new_submission(tenant, client_request_id="a")

    async def alone(conn: Conn) -> bool:
        async with conn.transaction():
            await submissions.accept(conn, repeat, ACCEPTED_AT)
            return await writes(conn)

    async def in_a_batch(conn: Conn) -> bool:
        async with conn.transaction():
            await submissions.accept_many(conn, at_once([repeat]))
            return await writes(conn)

    assert [await db.run(alone), await db.run(in_a_batch)] == [True, True]


async def writes(conn: Conn) -> bool:
    """Whether the transaction has an id, as one that writes has."""
    cursor = await conn.execute("SELECT pg_current_xact_id_if_assigned() IS NOT NULL")
    return await cursor.fetchone() == (True,)
