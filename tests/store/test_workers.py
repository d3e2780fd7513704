"""Workers: what a silent one held is due at once, and what a living one holds is left alone."""

from datetime import timedelta

from fe.lifecycle import Stage
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import LeaseLost
from fe.store.queue import workers
from fe.store.queue.outbox import OUTBOX
from tests.factories import bookings
from tests.factories.tenants import ACCEPTED_AT, claim_all, make_submission, make_tenant, rows, waiting
from tests.store.race import race

SILENCE = timedelta(seconds=30)
DUE_IN = "SELECT extract(EPOCH FROM run_at - clock_timestamp())::float8 AS due_in FROM outbox"


async def fall_silent(db: Database, holder: str, seconds: float = 31) -> None:
    await rows(
        db,
        "UPDATE workers SET seen_at = seen_at - %(s)s WHERE holder = %(holder)s",
        s=timedelta(seconds=seconds),
        holder=holder,
    )


async def test_rows_of_a_silent_worker_are_due_at_once_and_count_a_death_when_claimed(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_submission(db, tenant)
    await db.run(workers.seen, "gone")
    (work,) = await claim_all(db, Stage.SIGN, [tenant], holder="gone")
    await fall_silent(db, "gone")

    assert await db.run(workers.rescue, [OUTBOX], SILENCE) == ["sign"]

    (again,) = await claim_all(db, Stage.SIGN, [tenant], holder="peer")
    assert (again.subject, again.epoch, again.crash_count) == (work.subject, work.epoch + 1, 1)


async def test_rows_whose_workers_died_before_are_set_apart_so_that_none_dies_of_anothers_poison(db: Database) -> None:
    """One of them ends every process that touches it. Claimed together again and again, all would be given up."""
    tenant = await make_tenant(db)
    for number in range(8):
        await make_submission(db, tenant, e_ncf=f"E31{number:010}")
    for holder in ("first", "second"):
        await db.run(workers.seen, holder)
        assert len(await claim_all(db, Stage.SIGN, [tenant], holder=holder)) == 8
        await fall_silent(db, holder)
        await db.run(workers.rescue, [OUTBOX], SILENCE)

    due_in = [one["due_in"] for one in await rows(db, DUE_IN)]

    assert [one["deaths"] for one in await rows(db, "SELECT deaths FROM outbox")] == [1] * 8
    assert len({round(seconds) for seconds in due_in}) > 4
    assert -1 < min(due_in) <= max(due_in) < 60


async def test_a_worker_that_was_only_asleep_books_nothing_when_it_wakes(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_submission(db, tenant)
    await db.run(workers.seen, "asleep")
    (work,) = await claim_all(db, Stage.SIGN, [tenant], holder="asleep")
    await fall_silent(db, "asleep")
    await db.run(workers.rescue, [OUTBOX], SILENCE)
    await claim_all(db, Stage.SIGN, [tenant], holder="peer")

    lost = False
    try:
        await db.run(bookings.retry, work, at=ACCEPTED_AT, after=timedelta(0), error="late")
    except LeaseLost:
        lost = True

    assert lost
    assert (await waiting(db, work.subject))["holder"] == "peer"


async def test_rows_of_a_worker_that_lives_are_left_alone(db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant)
    await db.run(workers.seen, "alive")
    await claim_all(db, Stage.SIGN, [tenant], holder="alive")
    await fall_silent(db, "alive", seconds=29)

    assert await db.run(workers.rescue, [OUTBOX], SILENCE) == []
    assert (await waiting(db, subject))["due_in"] > 50


async def test_a_sign_of_life_ends_the_silence(db: Database) -> None:
    await db.run(workers.seen, "alive")
    await fall_silent(db, "alive")
    await db.run(workers.seen, "alive")

    await db.run(workers.rescue, [OUTBOX], SILENCE)

    assert await rows(db, "SELECT holder FROM workers") == [{"holder": "alive"}]


async def test_rescuers_at_once_rescue_each_row_once(db: Database, dsn: str) -> None:
    tenant = await make_tenant(db)
    for _ in range(20):
        await make_submission(db, tenant)
    await db.run(workers.seen, "gone")
    await claim_all(db, Stage.SIGN, [tenant], holder="gone")
    await fall_silent(db, "gone")

    async def act(conn: Conn, number: int) -> int:
        return len(await workers.rescue(conn, [OUTBOX], SILENCE))

    results = await race(dsn, 6, act)

    assert sum(result for result in results if isinstance(result, int)) == 20


async def test_who_takes_leave_gives_up_what_is_held(db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant)
    await db.run(workers.seen, "leaving")
    await claim_all(db, Stage.SIGN, [tenant], holder="leaving")

    await db.run(workers.gone, [OUTBOX], "leaving")

    assert (await waiting(db, subject))["due_in"] <= 0
    assert await rows(db, "SELECT holder FROM workers") == []
