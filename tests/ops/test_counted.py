"""The gauges, compared with a database whose content is known."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import isnan
from typing import Any

import psycopg
import pytest
import trio
import trio.testing
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from fe.actors.outcomes import Decided
from fe.actors.writers import submission_kind
from fe.clock import ClockCheck, clock_ahead, system_clock
from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.identifiers import TenantId
from fe.lifecycle import NumberFate, Stage, Status
from fe.monitoring import collectors
from fe.monitoring.collectors import Collectors
from fe.monitoring.metrics import Metrics, forget_others, show
from fe.monitoring.observers import watch_database, watch_outbox, watch_writing
from fe.queue.circuit_breaker import Circuits
from fe.queue.lease_guard import LeaseGuard
from fe.queue.outcome import Outcome
from fe.queue.rescuer import run_rescuer
from fe.queue.stage import StageContext
from fe.store.postgres.db import Conn, Database, DriverName, open_database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.postgres.roles import FRONT
from fe.store.queue.outbox import Work
from fe.store.queue.wakeups import Wakeups
from tests.factories import bookings
from tests.factories.operators import disable
from tests.factories.tenants import make_submission, make_tenant, rows, take
from tests.http.front import start_front
from tests.queue.stage import finish, make_stage, make_tools, running
from tests.waiting import PATIENCE, until

NOW = datetime.now(UTC)


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


@asynccontextmanager
async def taking_stock(
    db: Database, metrics: Metrics, turns: bool = True, patience: float = PATIENCE
) -> AsyncIterator[Collectors]:
    """The stock-taker, running; by default it has taken stock once."""
    taker = Collectors(db, metrics, patience)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(taker.run)
        if turns:
            await until(lambda: not isnan(value(metrics, "fe_webhook_oldest_late_seconds") or 0))  # the last of all
        yield taker
        nursery.cancel_scope.cancel()


async def give_up(db: Database, tenant: TenantId, stage: Stage, ago: timedelta) -> None:
    subject = await make_submission(db, tenant, stage=stage, at=NOW)
    # Not NOW, which is when the tests were collected: that may be long ago.
    await db.run(bookings.dead_letter, await take(db, subject), at=datetime.now(UTC) - ago, error="no")


async def test_dead_letters_and_doubts_are_counted_with_their_age(db: Database) -> None:
    metrics = Metrics()
    tenant = await make_tenant(db)
    await give_up(db, tenant, Stage.SIGN, timedelta(hours=1))
    await give_up(db, tenant, Stage.SIGN, timedelta(hours=2))
    await give_up(db, tenant, Stage.RECONCILE, timedelta(minutes=1))
    doubted = await make_submission(db, tenant, stage=Stage.RECONCILE, at=NOW)
    await rows(db, "UPDATE outbox SET entered_at = now() - interval '20 min' WHERE subject = %(id)s", id=doubted)

    async with taking_stock(db, metrics):
        assert value(metrics, "fe_dead_letters", stage="sign", environment="ecf") == 2
        oldest = value(metrics, "fe_dead_letters_oldest_seconds", stage="sign", environment="ecf")
        assert oldest == pytest.approx(7200, abs=60)
        assert value(metrics, "fe_dead_letters", stage="send", environment="testecf") == 0
        # A doubt that was given up is a doubt still.
        assert value(metrics, "fe_outcomes_unknown", environment="ecf") == 2
        assert value(metrics, "fe_outcomes_unknown_oldest_seconds", environment="ecf") == pytest.approx(1200, abs=60)
        assert value(metrics, "fe_outcomes_unknown", environment="certecf") == 0


async def test_the_longest_wait_for_a_verdict_is_counted_from_when_it_was_received(db: Database) -> None:
    metrics = Metrics()
    tenant = await make_tenant(db)
    for minutes in (90, 10):
        waiting = await make_submission(db, tenant, stage=Stage.TRACK, at=NOW)
        await rows(
            db,
            "UPDATE outbox SET entered_at = now() - make_interval(mins => %(mins)s) WHERE subject = %(id)s",
            mins=minutes,
            id=waiting,
        )
    sending = await make_submission(db, tenant, stage=Stage.SEND, at=NOW)
    await rows(db, "UPDATE outbox SET entered_at = now() - interval '3 h' WHERE subject = %(id)s", id=sending)

    async with taking_stock(db, metrics):
        oldest = value(metrics, "fe_verdicts_awaited_oldest_seconds", environment="ecf")
        assert oldest == pytest.approx(5400, abs=60)
        assert value(metrics, "fe_verdicts_awaited_oldest_seconds", environment="testecf") == 0


async def used_key(db: Database, tenant: TenantId, days_ago: int = 1) -> None:
    await rows(
        db,
        """WITH k AS (INSERT INTO api_keys (api_key_id, tenant_id, environment, secret_hash, scopes)
                      VALUES ('fak_' || lpad(%(tenant)s::text, 12, '0'), %(tenant)s, 'ecf', sha256(''), '{}')
                      RETURNING api_key_id)
           INSERT INTO api_key_uses (tenant_id, api_key_id, last_used_at)
           SELECT %(tenant)s, k.api_key_id, now() - make_interval(days => %(days)s) FROM k""",
        tenant=tenant,
        days=days_ago,
    )


async def test_what_runs_out_is_counted_for_tenants_that_call(db: Database) -> None:
    metrics = Metrics()
    active, gone = await make_tenant(db), await make_tenant(db)
    for tenant, days_ago in ((active, 1), (gone, 31)):
        await used_key(db, tenant, days_ago)
        for days_left, retired in ((-1, None), (3, None), (20, None), (45, None), (400, None), (-5, NOW)):
            await rows(
                db,
                """WITH u AS (INSERT INTO users (tenant_id, user_id, email)
                              VALUES (%(tenant)s, gen_random_uuid(), gen_random_uuid()::text) RETURNING user_id)
                   INSERT INTO certificates (tenant_id, certificate_id, user_id, p12, holder, serial_number,
                                             not_before, not_after, retired_at)
                   SELECT %(tenant)s, gen_random_uuid(), u.user_id, '', 'x', '1', now(),
                          now() + make_interval(days => %(left)s), %(retired)s
                     FROM u""",
                tenant=tenant,
                left=days_left,
                retired=retired,
            )
        sequences: tuple[tuple[str, int, int, int | None, int], ...] = (
            ("E31", 100, 101, 400, 100),  # none left
            ("E32", 1000, 951, None, 1000),  # 50 of 1,000 left, used slowly
            ("E33", 1000, 501, 10, 1),  # half is left, for one day at this pace
            ("E34", 1000, 1, 30, 0),  # never used
            ("E41", 1000, 200, -1, 1000),
        )
        for prefix, maximum, current, left, age in sequences:
            await rows(
                db,
                """INSERT INTO sequences (tenant_id, environment, prefix, sequence_id, min_number, max_number,
                                          current_number, expire_at, created_at)
                   VALUES (%(tenant)s, 'ecf', %(prefix)s, gen_random_uuid(), 1, %(maximum)s, %(current)s,
                           now() + make_interval(days => %(left)s), now() - make_interval(days => %(age)s))""",
                tenant=tenant,
                prefix=prefix,
                maximum=maximum,
                current=current,
                left=left,
                age=age,
            )

    async with taking_stock(db, metrics):
        certificates = certificates_of(metrics, "tests")  # what they issued is not in their days, in production or not
        numbers = {
            each: value(metrics, "fe_sequences", environment="ecf", left=each) for each in collectors.NUMBERS_LEFT
        }
        expiring = {
            each: value(metrics, "fe_sequences_expiring", environment="ecf", expires=each)
            for each in collectors.SEQUENCE_TIMES
        }

    assert certificates == dict.fromkeys(collectors.CERTIFICATE_TIMES, 1)
    assert numbers == {"none": 1, "under_3_days": 1, "under_10_percent": 1, "enough": 2}
    assert expiring == dict.fromkeys(collectors.SEQUENCE_TIMES, 1)


@pytest.mark.parametrize(
    ("following", "own_left", "ahead_left", "number", "time_left"),
    [
        (101, 30, 400, "enough", "later"),
        (50, -1, 400, "enough", "later"),
        (50, None, 30, "enough", "never"),
        (101, None, 30, "enough", "within_60_days"),
        (101, 30, -1, "none", "within_60_days"),
        (101, -1, -1, "none", "expired"),
    ],
)
async def test_next_range_counts_unless_it_has_expired_itself(
    db: Database, following: int, own_left: int | None, ahead_left: int, number: str, time_left: str
) -> None:
    metrics = Metrics()
    tenant = await make_tenant(db)
    await used_key(db, tenant)
    await rows(
        db,
        """INSERT INTO sequences (tenant_id, environment, prefix, sequence_id, min_number, max_number, current_number,
                                  expire_at, created_at, next_min, next_max, next_expire_at)
           VALUES (%(tenant)s, 'ecf', 'E31', gen_random_uuid(), 1, 100, %(next)s, now() + %(own)s * interval '1 day',
                   now() - interval '100 days', 501, 1500, now() + %(ahead)s * interval '1 day')""",
        tenant=tenant,
        next=following,
        own=own_left,
        ahead=ahead_left,
    )

    async with taking_stock(db, metrics):
        left = [one for one in collectors.NUMBERS_LEFT if value(metrics, "fe_sequences", environment="ecf", left=one)]
        ends = [
            one
            for one in collectors.SEQUENCE_TIMES
            if value(metrics, "fe_sequences_expiring", environment="ecf", expires=one)
        ]

    assert (left, ends) == ([number], [time_left])


def certificates_of(metrics: Metrics, at_work_in: str) -> dict[str, float | None]:
    return {
        expires: value(metrics, "fe_certificates", expires=expires, at_work_in=at_work_in)
        for expires in collectors.CERTIFICATE_TIMES
    }


async def make_certificate(db: Database, tenant: TenantId, days_left: int) -> None:
    await rows(
        db,
        """INSERT INTO certificates (tenant_id, certificate_id, p12, holder, serial_number, not_before, not_after)
           VALUES (%(tenant)s, gen_random_uuid(), '', 'x', '1', now(), now() + make_interval(days => %(left)s))""",
        tenant=tenant,
        left=days_left,
    )


async def test_what_runs_out_is_counted_for_who_issues_in_the_portal_and_for_who_only_receives(
    db: Database, worker_db: Database
) -> None:
    """Neither uses a key of the API."""
    metrics = Metrics()
    people, receiving, gone, disabled, trying, tried = [await make_tenant(db) for _ in range(6)]
    for tenant, days_ago, where in (
        (people, 3, "ecf"),
        (gone, 31, "ecf"),
        (disabled, 3, "ecf"),
        (trying, 3, "certecf"),
        (trying, 31, "ecf"),
    ):
        await rows(
            db,
            """WITH m AS (INSERT INTO usage_marks (tenant_id) VALUES (%(tenant)s) ON CONFLICT DO NOTHING)
               INSERT INTO usage_days (tenant_id, utc_day, environment, submitted, settled, accepted, conditional,
                                       rejected, answered, latency_us)
               VALUES (%(tenant)s, now()::date - %(days)s::int, %(where)s, 1, 1, 1, 0, 0, 1, 1)""",
            where=where,
            tenant=tenant,
            days=days_ago,
        )
    for tenant, days_ago, where in ((receiving, 3, "ecf"), (gone, 31, "ecf"), (tried, 3, "testecf")):
        at = NOW - timedelta(days=days_ago)
        await rows(
            db,
            """WITH m AS (INSERT INTO usage_marks (tenant_id) VALUES (%(tenant)s) ON CONFLICT DO NOTHING)
               INSERT INTO received (tenant_id, received_id, environment, issuer_rnc, e_ncf, ecf_type, issuer_name,
                                     buyer_rnc, issued_on, total, digest, received_at)
               VALUES (%(tenant)s, %(id)s, %(where)s, '101010101', 'E310000000001', '31', 'x', '131880738',
                       %(at)s::date, 1, sha256(''), %(at)s)""",
            tenant=tenant,
            where=where,
            id=new_id(at),
            at=at,
        )
    await disable(db, disabled)
    for tenant, days_left in ((people, -1), (receiving, 3), (gone, 20), (disabled, 45), (trying, 20), (tried, 20)):
        await make_certificate(db, tenant, days_left)

    async with taking_stock(worker_db, metrics):
        found = {each: certificates_of(metrics, each) for each in collectors.AT_WORK_IN}

    none = dict.fromkeys(collectors.CERTIFICATE_TIMES, 0)
    assert found["production"] == none | {"expired": 1, "within_7_days": 1}
    # Certificates of tenants that only use test environments: these page no operator.
    assert found["tests"] == none | {"within_30_days": 2}


async def test_how_long_what_is_for_a_counterparty_waits_is_told_by_its_stage(
    db: Database, worker_db: Database
) -> None:
    """Held back for want of certifiers, it is tried no more than looked at: it never gives up."""
    metrics, (one, paused) = Metrics(), [await make_tenant(db) for _ in range(2)]
    await rows(
        db,
        f"""INSERT INTO counterparty_outbox (tenant_id, subject, stage, environment, run_at, entered_at)
            VALUES ({one}, gen_random_uuid(), 'address', 'ecf', now(), now() - interval '5 days'),
                   ({one}, gen_random_uuid(), 'address', 'ecf', now(), now() - interval '1 day'),
                   ({paused}, gen_random_uuid(), 'pass_on', 'ecf', now(), now() - interval '9 days')""",
    )
    await rows(
        db,
        """INSERT INTO pauses (tenant_id, environment, paused_at, paused_by, reason)
           VALUES (%(tenant)s, 'ecf', now(), 'she', 'a test')""",
        tenant=paused,
    )

    async with taking_stock(worker_db, metrics):
        found = {
            stage: value(metrics, "fe_counterparty_oldest_seconds", stage=stage)
            for stage in collectors.STAGES_HANDED_ON
        }

    assert found == {"address": pytest.approx(5 * 86400, abs=60), "pass_on": 0}


async def test_what_is_paused_is_not_late_and_hides_nothing_that_is(
    db: Database, worker_db: Database, front_db: Database
) -> None:
    metrics, of_front = Metrics(), Metrics()
    paused, other = await make_tenant(db), await make_tenant(db)
    for tenant, minutes in ((paused, 90), (other, 30)):
        for environment in (Environment.ECF, Environment.TESTECF):
            for stage in (Stage.SEND, Stage.TRACK):
                waiting = await make_submission(db, tenant, environment=environment, stage=stage, at=NOW)
                await rows(
                    db,
                    """UPDATE outbox SET run_at = now() - make_interval(mins => %(mins)s),
                                         entered_at = now() - make_interval(mins => %(mins)s) WHERE subject = %(id)s""",
                    mins=minutes,
                    id=waiting,
                )
    await rows(
        db,
        """INSERT INTO pauses (tenant_id, environment, paused_at, paused_by, reason)
           VALUES (%(tenant)s, '', now(), 'she', 'a test'), (0, 'testecf', now(), 'he', 'a test')""",
        tenant=paused,
    )

    async with taking_stock(worker_db, metrics), trio.open_nursery() as nursery:
        nursery.start_soon(watch_outbox, worker_db, metrics, True)
        nursery.start_soon(watch_outbox, front_db, of_front, False)
        await until(lambda: value(metrics, "fe_outbox_rows", stage="send", environment="ecf") == 2)
        await until(lambda: value(of_front, "fe_outbox_rows", stage="send", environment="ecf") == 2)
        nursery.cancel_scope.cancel()

    assert value(metrics, "fe_outbox_rows", stage="send", environment="testecf") == 2
    # A front does not see whose the rows are: where anything is paused, it reports nothing late.
    assert value(of_front, "fe_outbox_oldest_late_seconds", stage="send", environment="ecf") == 0
    for where, late in (("ecf", 1800), ("testecf", 0)):
        for told in (
            value(metrics, "fe_outbox_oldest_late_seconds", stage="send", environment=where),
            value(metrics, "fe_outbox_oldest_late_seconds", stage="track", environment=where),
            value(metrics, "fe_verdicts_awaited_oldest_seconds", environment=where),
        ):
            assert told == pytest.approx(late, abs=60)


async def test_a_front_without_actors_exports_how_late_work_is(db: Database, front_db: Database) -> None:
    metrics = Metrics()
    waiting = await make_submission(db, await make_tenant(db), environment=Environment.ECF, stage=Stage.SEND, at=NOW)
    await rows(
        db, "UPDATE outbox SET run_at = now() - interval '20 minutes' WHERE subject = %(subject)s", subject=waiting
    )

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch_outbox, front_db, metrics, False)
        await until(lambda: value(metrics, "fe_outbox_rows", stage="send", environment="ecf") == 1)
        nursery.cancel_scope.cancel()

    late = value(metrics, "fe_outbox_oldest_late_seconds", stage="send", environment="ecf")
    assert late == pytest.approx(1200, abs=60)


async def test_a_database_that_takes_no_writes_is_reachable_and_not_writable(dsn: str) -> None:
    metrics = Metrics()
    name = sql.Identifier(str(conninfo_to_dict(dsn)["dbname"]))

    async with open_database(dsn, max_size=2, role=FRONT) as front, trio.open_nursery() as nursery:
        nursery.start_soon(watch_database, front, ClockCheck(system_clock), metrics)
        nursery.start_soon(watch_writing, front, metrics)
        await until(lambda: value(metrics, "fe_database_writable") == 1)
        with psycopg.connect(make_conninfo(dsn, dbname="postgres"), autocommit=True) as conn:
            conn.execute(sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(name))
            conn.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fe'")
        await until(lambda: value(metrics, "fe_database_writable") == 0)
        assert not metrics.takes_writes
        await until(lambda: value(metrics, "fe_database_reachable") == 1)
        nursery.cancel_scope.cancel()


async def test_pauses_tables_and_the_server_are_seen(db: Database) -> None:
    metrics = Metrics()
    await rows(
        db,
        """INSERT INTO pauses (tenant_id, environment, paused_at, paused_by, reason)
           VALUES (0, 'testecf', now() - interval '5 hours', 'she', 'a test'), (0, 'ecf', now(), 'he', 'a test')""",
    )

    async with taking_stock(db, metrics):
        assert value(metrics, "fe_pauses") == 2
        assert value(metrics, "fe_pauses_oldest_seconds") == pytest.approx(5 * 3600, abs=60)
        assert (value(metrics, "fe_table_bytes", table="outbox") or 0) > 8000
        assert value(metrics, "fe_table_rows", table="outbox", kind="dead") is not None
        connections, maximum = value(metrics, "fe_database_connections"), value(metrics, "fe_database_connections_most")
        assert connections is not None
        assert maximum is not None
        assert 1 <= connections <= maximum


async def test_what_cannot_be_read_keeps_its_value_and_shows_as_silence(
    db: Database,
) -> None:
    metrics = Metrics()
    show(metrics.dead_letters, {("send", "ecf"): 3})

    async def lock(conn: Conn, task_status: trio.TaskStatus[None]) -> None:
        # Else the server would end this transaction before long, and with it the lock.
        await conn.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        await conn.execute("LOCK TABLE dead_letters IN ACCESS EXCLUSIVE MODE")
        task_status.started()
        await trio.sleep_forever()

    async with trio.open_nursery() as nursery:

        async def hold(task_status: trio.TaskStatus[None]) -> None:
            await db.transact(lock, task_status)

        await nursery.start(hold)
        # Less than the server's own patience with a lock; more than the others take, however busy the machine is.
        async with taking_stock(db, metrics, turns=False, patience=3):
            # Read after the one that is locked: the others are not held up by it.
            await until(lambda: certificates_of(metrics, "tests")["later"] is not None)
        nursery.cancel_scope.cancel()

    assert value(metrics, "fe_dead_letters", stage="send", environment="ecf") == 3
    assert (value(metrics, "fe_actor_silent_seconds", actor="gauges") or 0) > 0


def silence_of(metrics: Metrics, actor: str) -> float | None:
    return value(metrics, "fe_actor_silent_seconds", actor=actor)


async def test_the_silence_of_what_never_came_to_turn_is_measured_too() -> None:
    """Otherwise a fault that exists from the start, or still after a restart, would raise no alert."""
    metrics = Metrics()

    async def answers(*_: str) -> str | None:
        return None

    pulse = LeaseGuard(lease=timedelta(seconds=60))
    async with away() as nobody, trio.open_nursery() as nursery:
        nursery.start_soon(watch_outbox, nobody, metrics, True)
        nursery.start_soon(Collectors(nobody, metrics).run)
        nursery.start_soon(Circuits(nobody, metrics, hosts=()).run, answers)
        nursery.start_soon(
            run_rescuer,
            StageContext(nobody, Wakeups(nobody), system_clock, metrics, timedelta(minutes=1), 1.0, "me"),
            (),
            pulse,
        )
        expected = {"outbox watch", "gauges", "circuits", "rescuer"}
        await until(lambda: {one for one in expected if silence_of(metrics, one) is not None} == expected)
        nursery.cancel_scope.cancel()


async def test_what_takes_too_long_to_count_is_not_counted_more_often(autojump_clock: trio.testing.MockClock) -> None:
    """Else a table that has grown too large to be counted in time would be read four times as often as before."""
    asked: Counter[str] = Counter()

    class Slow(Database):
        def __init__(self) -> None:
            pass

        async def run(self, work: Any, *_: Any, **__: Any) -> Any:
            asked[work.__name__] += 1
            if work.__name__ == "_webhooks":
                await trio.sleep_forever()
            await trio.lowlevel.checkpoint()

    with trio.move_on_after(3600):
        await Collectors(Slow(), Metrics()).run()

    assert asked["_webhooks"] == asked["_sequences"] <= 60
    assert asked["_dead_letters"] > 200


async def test_what_is_looked_for_seldom_and_not_read_shows_as_silence_until_it_is(
    autojump_clock: trio.testing.MockClock,
) -> None:
    """Beside it the rest is read, more often: that must not pass for all of it."""
    turns, mended = list[float](), 1800.0

    class Turning(Metrics):
        def turned(self, actor: str) -> None:
            turns.append(trio.current_time())

    class Partly(Database):
        def __init__(self) -> None:
            pass

        async def run(self, work: Any, *_: Any, **__: Any) -> Any:
            await trio.lowlevel.checkpoint()
            if work.__name__ == "_certificates" and 600 < trio.current_time() - began < mended:
                raise DatabaseUnavailable("it took too long")

    began = trio.current_time()
    with trio.move_on_after(3600):
        await Collectors(Partly(), Turning()).run()

    told = [turn - began for turn in turns]
    silences = [(last, following) for last, following in pairwise(told) if following - last > 60]
    ((last, following),) = silences
    assert last < 660
    assert mended <= following < mended + 60


async def test_the_outbox_is_shown_and_stays_where_it_cannot_be_read(db: Database) -> None:
    metrics = Metrics()
    await make_submission(db, await make_tenant(db), stage=Stage.SEND, at=NOW)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch_outbox, db, metrics, True)
        await until(lambda: value(metrics, "fe_outbox_rows", stage="send", environment="ecf") == 1)
        nursery.cancel_scope.cancel()
    assert value(metrics, "fe_outbox_rows", stage="sign", environment="testecf") == 0

    async with away() as nobody, trio.open_nursery() as nursery:
        nursery.start_soon(watch_outbox, nobody, metrics, True)
        await trio.sleep(1)  # each refresh fails within 0.2 s and changes no gauge
        nursery.cancel_scope.cancel()
    assert value(metrics, "fe_outbox_rows", stage="send", environment="ecf") == 1


def away() -> AbstractAsyncContextManager[Database]:
    return open_database("host=127.0.0.1 port=1 dbname=none", patience=0.2)


async def test_whether_the_database_answers_and_how_far_its_clock_is_away_is_shown(db: Database) -> None:
    metrics = Metrics()
    assert str(value(metrics, "fe_database_reachable")) == str(value(metrics, "fe_clock_ahead_seconds")) == "nan"

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch_database, db, ClockCheck(clock_ahead(75)), metrics)
        await until(lambda: value(metrics, "fe_database_reachable") == 1)
        await until(lambda: value(metrics, "fe_clock_ahead_seconds") == pytest.approx(75, abs=1))
        nursery.cancel_scope.cancel()

    async with away() as nobody, trio.open_nursery() as nursery:
        nursery.start_soon(watch_database, nobody, ClockCheck(system_clock), metrics)
        await until(lambda: value(metrics, "fe_database_reachable") == 0)
        nursery.cancel_scope.cancel()
    assert value(metrics, "fe_clock_ahead_seconds") == pytest.approx(75, abs=1)


async def test_a_clock_is_not_read_off_an_answer_that_took_seconds(db: Database) -> None:
    """Half the time of a slow answer may exceed the allowed clock difference, and would raise a false alert."""
    seconds = iter(range(0, 1000, 5))
    metrics, slow = Metrics(), ClockCheck(system_clock, steady=lambda: next(seconds))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch_database, db, slow, metrics)
        await until(lambda: value(metrics, "fe_database_reachable") == 1)
        nursery.cancel_scope.cancel()

    assert str(value(metrics, "fe_clock_ahead_seconds")) == "nan"


async def test_what_is_in_hand_is_shown_with_its_age_and_its_end(db: Database) -> None:
    metrics = Metrics()
    entered, leave = trio.Event(), trio.Event()
    await make_submission(db, await make_tenant(db), at=system_clock() - timedelta(seconds=90))

    async def accepted(work: Work) -> Outcome:
        entered.set()
        await leave.wait()
        return Decided(status=Status.ACCEPTED, track_id=None, response={}, fate=NumberFate.USED, ecf_type="31")

    stage = make_stage(accepted, kind=submission_kind(metrics))
    async with running(stage, make_tools(db, metrics=metrics)):
        await entered.wait()
        assert value(metrics, "fe_in_hand", stage="sign") == 1
        assert value(metrics, "fe_slots", stage="sign") == 4
        assert value(metrics, "fe_in_hand_oldest_seconds", stage="sign") is not None
        await until(lambda: (value(metrics, "fe_in_hand_oldest_seconds", stage="sign") or 0) > 0.05)
        assert value(metrics, "fe_actor_silent_seconds", actor="sign") is not None
        leave.set()
        await until(lambda: value(metrics, "fe_in_hand", stage="sign") == 0)

    assert value(metrics, "fe_in_hand_oldest_seconds", stage="sign") == 0
    assert value(metrics, "fe_verdicts_total", environment="ecf", status="Aceptado", type="31") == 1
    seconds = value(metrics, "fe_submission_verdict_seconds_sum", environment="ecf")
    assert seconds is not None
    assert 90 <= seconds < 90 + PATIENCE


async def test_a_step_that_ends_nothing_counts_no_end(db: Database) -> None:
    metrics = Metrics()
    finished = trio.Event()
    await make_submission(db, await make_tenant(db), at=NOW)

    async def handle(work: Work) -> Outcome:
        finished.set()
        return finish(work)

    async with running(make_stage(handle), make_tools(db, metrics=metrics)):
        await finished.wait()

    assert value(metrics, "fe_steps_total", stage="sign", outcome="done") == 1
    assert sum(sample.value for family in metrics.verdicts.collect() for sample in family.samples) == 0


@pytest.mark.parametrize("driver", ["trio", "trio-asyncio"])
async def test_waiting_for_a_connection_is_measured(dsn: str, driver: DriverName) -> None:
    waits: list[float] = []
    holders, both = 0, trio.Event()

    async def hold(conn: Conn) -> None:
        nonlocal holders
        holders += 1
        if holders == 2:
            both.set()
        while holders < 2:  # no waiting for Trio's events here: this may run under asyncio
            await conn.execute("SELECT pg_sleep(0.01)")
        await conn.execute("SELECT pg_sleep(0.4)")

    async def ask(conn: Conn) -> None:
        await conn.execute("SELECT 1")

    async with (
        open_database(dsn, max_size=2, driver=driver, observe_wait=waits.append) as db,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(db.run, hold)
        nursery.start_soon(db.run, hold)
        await both.wait()
        nursery.start_soon(db.run, ask)

    assert len(waits) == 3
    assert max(waits) > 0.2


async def test_refused_input_is_counted_by_what_is_wrong_with_it(front_db: Database, nursery: trio.Nursery) -> None:
    front = await start_front(nursery, front_db)
    async with front.client() as client:
        await client.post("/login", content=b"{", headers={"Content-Type": "application/json"})
        await client.post("/login", json={"apiKeyId": 1})
        await client.post("/login", content=b"x", headers={"Content-Type": "text/plain"})
        await client.get("/invoices")

    def refused(reason: str) -> float | None:
        return value(front.metrics, "fe_input_refused_total", reason=reason)

    assert [refused(reason) for reason in ("json", "request", "media type", "document")] == [1, 1, 1, 0]


def test_a_series_that_was_shown_is_never_taken_away() -> None:
    metrics = Metrics()

    show(metrics.dead_letters, {("send", "ecf"): 3, ("sign", "ecf"): 1})
    show(metrics.dead_letters, {("sign", "ecf"): 2})

    assert value(metrics, "fe_dead_letters", stage="send", environment="ecf") == 0
    assert value(metrics, "fe_dead_letters", stage="sign", environment="ecf") == 2


def test_gauges_of_a_node_that_left_the_cluster_are_removed() -> None:
    metrics = Metrics()
    for name in ("one:5432", "two:5432"):
        metrics.node_bytes.labels(name).set(7)

    forget_others(metrics.node_bytes, {("two:5432",)})

    assert value(metrics, "fe_node_bytes", node="one:5432") is None
    assert value(metrics, "fe_node_bytes", node="two:5432") == 7
