"""Days of usage: who notes an end, processes that die or do the same at once, clocks that jump, days closed twice."""

import subprocess
import sys
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
import trio

from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.http.calls import Caller
from fe.http.counters import Counters
from fe.identifiers import ApiKeyId, TenantId
from fe.lifecycle import NumberFate, Stage, Status
from fe.metering import aggregator
from fe.metering.aggregator import Aggregator
from fe.metering.failures import failures_of_metering
from fe.monitoring.metrics import Metrics
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import DatabaseUnavailable, StoreError
from fe.store.queue import dead_letters
from fe.store.records import keys, metering, request_counts, usage
from fe.store.records.failures import PartlyDone
from fe.store.records.request_counts import RequestCount
from tests.factories import bookings
from tests.factories.tenants import make_submission, make_tenant, row, rows, take
from tests.metering.histories import BEGIN, action, midnight
from tests.store.race import race

KEY = ApiKeyId("fak_0000000000aa")
DAY = BEGIN.date()


async def started(db: Database) -> TenantId:
    tenant = await make_tenant(db)
    await aggregator.restart(db, tenant)
    return tenant


async def accept(db: Database, tenant: TenantId, at: datetime = BEGIN, seconds: float = 2.0) -> None:
    """One production submission from the POST to its verdict."""
    subject = await make_submission(db, tenant, stage=Stage.SEND, at=at)
    await db.run(bookings.verdict, await take(db, subject), at=at + timedelta(seconds=seconds))


async def days_of(db: Database, tenant: TenantId) -> list[usage.UsageDay]:
    return await db.run_for(tenant, usage.days, midnight(date(2026, 10, 1)), midnight(date(2026, 11, 15)))


# --- Who notes an end -------------------------------------------------------------------------------------------------


async def test_every_function_that_ends_a_submission_notes_it(db: Database) -> None:
    """A function that forgets the line would lose emissions."""
    tenant = await started(db)
    subjects = [await make_submission(db, tenant, stage=Stage.SEND, at=BEGIN) for _ in range(3)]
    works = [await take(db, subject) for subject in subjects]

    said: dict[str, Any] = {"track_id": None, "response": {}, "fate": NumberFate.USED}
    await db.run(bookings.verdict, works[0], at=BEGIN, status=Status.ACCEPTED, **said)
    await db.run(bookings.failure, works[1], at=BEGIN, response={"error": "x"}, fate=NumberFate.REUSABLE)
    await db.run(bookings.dead_letter, works[2], at=BEGIN, error="x")
    await db.transact(dead_letters.discard, action(BEGIN), tenant, subjects[2])

    noted = await rows(db, "SELECT submission_id FROM usage_ends WHERE tenant_id = %(tenant)s", tenant=tenant)
    assert {each["submission_id"] for each in noted} == set(subjects)


# --- Two at once, and twice -------------------------------------------------------------------------------------------


async def test_two_that_fold_and_close_at_once_count_once(db: Database, dsn: str) -> None:
    tenant = await started(db)
    for _ in range(20):
        await accept(db, tenant)

    async def act(conn: Conn, number: int) -> None:
        while await metering.fold(conn, tenant, 3):
            pass
        assert await metering.close(conn, tenant, date(2026, 11, 15))

    assert await race(dsn, 4, act) == [None] * 4
    (day,) = await days_of(db, tenant)
    assert (day.submitted, day.accepted, day.pending) == (20, 20, 0)


async def test_a_day_that_is_closed_twice_says_the_same_and_takes_in_what_came_late(db: Database) -> None:
    tenant = await started(db)
    await accept(db, tenant)
    await aggregator.fold_all(db, tenant)
    assert await db.run(metering.close, tenant, date(2026, 11, 15))
    first = await days_of(db, tenant)

    assert await db.run(metering.close, tenant, date(2026, 11, 15))
    again = await days_of(db, tenant)
    await accept(db, tenant)  # committed long after its day was closed
    await aggregator.fold_all(db, tenant)

    assert again == first
    (day,) = await days_of(db, tenant)
    assert (day.submitted, day.accepted) == (2, 2)


async def test_what_waits_over_midnight_is_carried_by_who_closes_the_day(db: Database, worker_db: Database) -> None:
    tenant = await started(db)
    waiting = await make_submission(db, tenant, stage=Stage.SEND, at=BEGIN)

    assert await worker_db.run(metering.close, tenant, date(2026, 11, 15))

    (carried,) = await rows(db, "SELECT submission_id FROM usage_carried WHERE tenant_id = %(tenant)s", tenant=tenant)
    assert carried["submission_id"] == waiting


async def test_a_clock_that_is_ahead_closes_no_day_that_is_not_over(db: Database) -> None:
    tenant = await started(db)
    today = (await row(db, "SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date AS day"))["day"]

    assert await db.run(metering.close, tenant, today + timedelta(days=40))

    closed = await row(db, "SELECT closed_until FROM usage_marks WHERE tenant_id = %(tenant)s", tenant=tenant)
    assert closed["closed_until"] - today <= timedelta(days=1)  # midnight may have passed since


# --- The actor --------------------------------------------------------------------------------------------------------


async def test_whoever_leads_brings_everybody_up_to_date(db: Database, worker_db: Database) -> None:
    one, other = await make_tenant(db), await make_tenant(db)  # no process has claimed them
    await accept(db, one)
    await accept(db, other)
    leader = Aggregator(worker_db, system_clock, Metrics(), "leader")
    follower = Aggregator(worker_db, system_clock, Metrics(), "follower")

    await leader.round()
    await accept(db, one)
    await follower.round()
    left = await rows(db, "SELECT tenant_id FROM usage_ends")
    await leader.round()

    assert [each["tenant_id"] for each in left] == [one]  # the other one leads
    assert [day.accepted for day in await days_of(db, one)] == [2]
    assert [day.accepted for day in await days_of(db, other)] == [1]
    await rows(db, "UPDATE duties SET held_until = now() - interval '1 s'")  # the leader died
    await accept(db, one)
    await follower.round()
    assert [day.accepted for day in await days_of(db, one)] == [3]


async def test_without_the_database_the_actor_goes_on(worker_db: Database) -> None:
    rounds: list[str] = []

    class Away(Aggregator):
        async def round(self) -> bool:
            rounds.append("round")
            raise DatabaseUnavailable("away")

    with trio.move_on_after(0.1):
        await Away(worker_db, system_clock, Metrics(), "x").run()
    assert rounds == ["round"]


class Turning(Metrics):
    """Tells from when on the silence of a loop began anew."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: list[str] = []

    def turned(self, actor: str) -> None:
        self.begun.append(actor)
        super().turned(actor)


async def test_what_fails_of_one_tenant_or_duty_keeps_nobody_elses_from_being_done(
    db: Database, worker_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = await make_tenant(db), await make_tenant(db)
    assert one < other  # whom it comes to first
    await rows(db, f"ALTER TABLE usage_marks ADD CONSTRAINT none_of_one CHECK (tenant_id <> {one}) NOT VALID")
    await accept(db, other)
    monkeypatch.setattr(aggregator, "_ROUND_SECONDS", 0.01)
    metrics, done = Turning(), trio.Event()
    turns = 0

    async def fails() -> None:
        raise StoreError("not today")

    async def is_done() -> None:
        nonlocal turns
        turns += 1
        if turns == 3:
            done.set()

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(Aggregator(worker_db, system_clock, metrics, "x").run, fails, is_done)
            await done.wait()
            nursery.cancel_scope.cancel()

    assert [day.accepted for day in await days_of(db, other)] == [1]
    assert metrics.begun == ["metering"], "its silence is measured from the first turn on, and goes on"


def test_a_database_that_is_away_is_away_for_all_and_who_takes_too_long_is_not() -> None:
    failures = failures_of_metering()

    def fail(why: str) -> None:
        raise DatabaseUnavailable(why)

    with failures.apart():
        fail("it took too long")
    with failures.apart():
        pass
    with failures.apart():
        fail("it took too long")
    with pytest.raises(DatabaseUnavailable, match="away"), failures.apart():
        fail("away")
    with pytest.raises(PartlyDone, match="2 failed"):
        failures.raise_any()


# --- Requests ---------------------------------------------------------------------------------------------------------


async def counted(db: Database, tenant: TenantId) -> tuple[int, int]:
    found = await row(
        db,
        "SELECT coalesce(sum(succeeded), 0)::int AS ok, coalesce(sum(bytes_in), 0)::int AS bytes"
        " FROM request_counts WHERE tenant_id = %(tenant)s",
        tenant=tenant,
    )
    return found["ok"], found["bytes"]


class Forgetful:
    """A database whose answers get lost: transactions commit, and the caller sees an error."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.lost = 0

    async def run(self, *args: Any, **kwargs: Any) -> Any:
        answer = await self._db.run(*args, **kwargs)
        if self.lost:
            self.lost -= 1
            raise DatabaseUnavailable("the link broke")
        return answer


async def test_what_may_have_been_written_is_not_counted_twice(db: Database, front_db: Database) -> None:
    tenant = await make_tenant(db)
    await db.run(keys.create, KEY, tenant, Environment.ECF, bytes(32), ["usage:read"])
    caller = Caller(KEY, tenant, Environment.ECF, frozenset())
    forgetful = Forgetful(front_db)
    counters = Counters(forgetful, system_clock)  # type: ignore[arg-type]  # it is asked for `run` alone

    forgetful.lost = 2
    counters.count(caller, 200, 10, 1)
    await counters.flush()
    counters.count(caller, 202, 100, 1)
    await counters.flush()  # the first again, and it is not told again
    await counters.flush()
    await counters.flush()

    assert await counted(db, tenant) == (2, 110)


async def test_a_batch_counts_once_and_each_process_has_its_own(db: Database, front_db: Database) -> None:
    tenant, process = await make_tenant(db), uuid4()
    counts = {(tenant, Environment.ECF, DAY): RequestCount(succeeded=1, bytes_in=5)}

    told = [await front_db.run(request_counts.flush, process, batch, counts, []) for batch in (1, 1, 2, 1)]
    other = await front_db.run(request_counts.flush, uuid4(), 1, counts, [])

    assert (told, other) == ([True, False, True, False], True)
    assert await counted(db, tenant) == (3, 15)


DIES = """
import sys, trio
from fe.process import failpoints
from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.http.calls import Caller
from fe.http.counters import Counters
from fe.store.postgres.db import open_database
async def main():
    async with open_database(sys.argv[1], role="fe_front", max_size=1) as db:
        counters = Counters(db, system_clock)
        for _ in range(2):
            counters.count(Caller("fak_0000000000aa", int(sys.argv[2]), Environment.ECF, frozenset()), 200, 1, 1)
            await counters.flush()
failpoints.arm(sys.argv[3])
trio.run(main)
"""


@pytest.mark.parametrize(
    ("failpoint", "counts"), [("counting:1", 0), ("counted:1", 1), ("counting:2", 1), ("counted:2", 2)]
)
async def test_of_a_process_that_died_what_was_written_counts_once(
    db: Database, dsn: str, failpoint: str, counts: int
) -> None:
    tenant = await make_tenant(db)
    await db.run(keys.create, KEY, tenant, Environment.ECF, bytes(32), ["usage:read"])

    ended = await trio.run_process([sys.executable, "-c", DIES, dsn, str(tenant), failpoint], check=False)

    assert ended.returncode == -9
    assert await counted(db, tenant) == (counts, counts)


# --- The sketch -------------------------------------------------------------------------------------------------------


async def test_a_bucket_stands_within_one_percent_of_all_that_is_in_it(db: Database) -> None:
    worst = await row(
        db,
        "SELECT max((abs(latency_of_bucket(latency_bucket(us)) - us) - 0.5)::float8 / us) AS error,"
        "       bool_and(latency_bucket(us) <= latency_bucket(us + 1)) AS rises"
        "  FROM (SELECT (1000 * power(1.0007, n))::bigint AS us FROM generate_series(0, 31000) AS n) AS latencies",
    )
    assert worst["error"] <= 0.01 + 1e-9  # and half a microsecond, as it is a whole number of them
    assert worst["rises"]


async def test_of_two_sketches_together_the_percentile_is_that_of_all(db: Database) -> None:
    found = await row(
        db,
        "WITH seen AS (SELECT (1000 * power(10, 4 * random()))::bigint AS us FROM generate_series(1, 5000)),"
        "     half AS (SELECT array_agg(us) FILTER (WHERE us %% 2 = 0) AS one, array_agg(us) FILTER (WHERE us %% 2 = 1)"
        "                     AS other, percentile_disc(0.95) WITHIN GROUP (ORDER BY us) AS exact FROM seen)"
        " SELECT sketch_p95(sketch_sum(sketch_of(one), sketch_of(other)))::float8 AS told, exact::float8 FROM half",
    )
    assert found["told"] == pytest.approx(found["exact"], rel=0.0101)


def test_the_process_above_is_this_release() -> None:
    """Distinguish a crash in the code above from a failed start."""
    ended = subprocess.run([sys.executable, "-c", DIES.split("async def")[0]], check=False)
    assert ended.returncode == 0


def test_the_histories_begin_before_a_month_ends() -> None:
    assert (BEGIN + timedelta(hours=4)).astimezone(UTC).day == 1
