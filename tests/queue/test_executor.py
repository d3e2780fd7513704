"""How work moves: outcomes of a try, the schedule, the budget, and what cancellation and failing bookings leave."""

import random
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
import trio

from fe.actors.credentials import CannotOpen
from fe.actors.writers import submission_kind
from fe.clock import system_clock
from fe.ecf.texts import Text
from fe.identifiers import SubmissionId
from fe.lifecycle import Stage
from fe.monitoring.metrics import Metrics
from fe.queue.backoff import MAX_ATTEMPTS, poll_gap, retry_gap
from fe.queue.executor import Executor, run_stage
from fe.queue.outcome import Outcome, TryLater
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import Contended, DatabaseUnavailable, LeaseLost
from fe.store.queue.outbox import Work
from tests.factories import bookings
from tests.factories.tenants import (
    ACCEPTED_AT,
    LEASE,
    SIGNED,
    digest_of,
    make_submission,
    make_tenant,
    row,
    rows,
    sends_of,
    story,
    submission,
    take,
    waiting,
)
from tests.queue.stage import Handle, Scripted, done, drain, finish, make_stage, make_tools, raising, running, step
from tests.store.race import plain


async def make_due(db: Database, stage: Stage = Stage.SIGN) -> SubmissionId:
    return await make_submission(db, await make_tenant(db), stage=stage)


def announcing(db: Database, then: Handle) -> Handle:
    """A sender that commits its intent, as the real one does at the last moment, and then does as told."""

    async def handle(work: Work) -> Outcome:
        await db.run(bookings.intend_to_send, work, at=ACCEPTED_AT, lease=LEASE, digest=digest_of(SIGNED))
        return await then(work)

    return handle


async def clock_of(db: Database) -> datetime:
    """The database's current time."""
    now: datetime = (await row(db, "SELECT clock_timestamp() AS now"))["now"]
    return now


def due_after(since: datetime, left: dict[str, Any]) -> float:
    """Seconds from `since` until a row is due: however long ago that was, and however long the step took."""
    seconds: float = (left["run_at"] - since).total_seconds()
    return seconds


async def until(condition: trio.Event) -> None:
    with trio.fail_after(60):
        await condition.wait()


# --- What a try comes to -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "outcome", "attempt_after", "told"),
    [
        (TryLater("the host is away"), "retry", 1, "the host is away"),
        (
            CannotOpen(Text("tenant is missing the passphrase", "falta")),
            "retry",
            1,
            "tenant is missing",
        ),
        (DatabaseUnavailable("gone"), "given back", 0, "the database was away"),
        (trio.TooSlowError(), "retry", 1, "no result within 50 s"),
        (ValueError("secret text"), "retry", 1, "unexpected ValueError"),
        (ExceptionGroup("many", [ValueError("x")]), "retry", 1, "unexpected ExceptionGroup"),
        (KeyError("x"), "retry", 1, "unexpected KeyError"),
    ],
)
async def test_a_failing_handler_leaves_a_row_to_try_again(
    db: Database, error: Exception, outcome: str, attempt_after: int, told: str
) -> None:
    subject = await make_due(db)
    began = await clock_of(db)

    booked = await step(db, make_stage(raising(error)), subject)

    assert booked == outcome
    left = await waiting(db, subject)
    assert (left["stage"], left["attempt"], left["holder"]) == ("sign", attempt_after, None)
    assert told in left["last_error"]
    assert "secret text" not in left["last_error"]
    assert due_after(began, left) > 1


async def test_a_handler_that_lost_its_lease_books_nothing(db: Database) -> None:
    subject = await make_due(db)

    async def handle(work: Work) -> Outcome:
        await take(db, subject)  # a peer
        raise LeaseLost

    booked = await step(db, make_stage(handle), subject)

    assert booked == "lease lost"
    left = await waiting(db, subject)
    assert (left["attempt"], left["epoch"], left["holder"]) == (2, 2, "test")


async def test_retries_follow_the_schedule_and_the_eighth_failure_is_a_dead_letter(db: Database) -> None:
    subject = await make_due(db)
    stage, tools = make_stage(raising(TryLater("503"))), make_tools(db)
    at_most, at_least = [], []  # of each gap, which begins within the step

    for number in range(1, MAX_ATTEMPTS):
        began = await clock_of(db)
        assert await step(db, stage, subject, tools) == "retry"
        left = await waiting(db, subject)
        base = 3.8 * 2 ** (number - 1)
        at_most.append(due_after(began, left))
        at_least.append(left["due_in"])
        assert base * 0.9 <= at_most[-1]
        assert at_least[-1] <= base * 1.1
    last = await step(db, stage, subject, tools)

    assert last == "dead letter"
    assert sum(at_most) >= 480 * 0.9
    assert sum(at_least) <= 490 * 1.1
    assert await rows(db, "SELECT * FROM outbox") == []
    assert (await row(db, "SELECT attempt, error FROM dead_letters")) == {"attempt": 8, "error": "503"}
    kept = await submission(db, subject)
    assert (kept["status"], kept["response"]) == ("queued", {"status": "dead_letter", "error": "503"})
    assert (await story(db, subject)).count("retry") == 7


def test_the_gaps_double_from_3_8_seconds_to_480_in_all_and_vary_by_a_tenth_at_most() -> None:
    middle = [3.8, 7.6, 15.2, 30.4, 60.8, 121.6, 243.2]
    spread = random.Random(7)
    for number, base in enumerate(middle, start=1):
        drawn = [retry_gap(number, spread).total_seconds() for _ in range(500)]
        assert base * 0.9 <= min(drawn) < base * 0.92
        assert base * 1.08 < max(drawn) <= base * 1.1
    assert abs(sum(middle) - 480) < 3


def test_polls_grow_from_two_seconds_to_a_minute() -> None:
    spread = random.Random(7)
    for number, base in ((1, 2.0), (2, 3.0), (3, 4.5), (9, 51.26), (10, 60.0), (5000, 60.0)):
        assert base * 0.9 <= poll_gap(number, spread).total_seconds() <= base * 1.1


async def test_a_wait_that_was_asked_for_is_kept_when_it_is_longer_than_the_schedules(db: Database) -> None:
    subject = await make_due(db)
    stage = make_stage(raising(TryLater("busy", timedelta(minutes=10))))
    began = await clock_of(db)

    await step(db, stage, subject)

    left = await waiting(db, subject)
    assert due_after(began, left) >= 600
    assert left["due_in"] <= 600


async def test_a_shorter_wait_than_the_schedules_is_not_believed(db: Database) -> None:
    subject = await make_due(db)
    began = await clock_of(db)

    await step(db, make_stage(raising(TryLater("busy", timedelta(0)))), subject)

    assert due_after(began, await waiting(db, subject)) > 3


async def test_a_stage_with_patience_gives_up_after_its_time_and_not_before(db: Database) -> None:
    subject = await make_due(db, Stage.RECONCILE)
    stage = make_stage(
        raising(TryLater("503")), Stage.RECONCILE, gap=poll_gap, max_attempts=None, patience=timedelta(minutes=15)
    )
    for _ in range(20):
        assert await step(db, stage, subject) == "retry"
    await rows(db, "UPDATE outbox SET entered_at = now() - interval '16 min'")

    assert await step(db, stage, subject) == "dead letter"


async def test_how_long_a_row_has_waited_is_a_matter_of_the_databases_clock(db: Database) -> None:
    subject = await make_due(db, Stage.RECONCILE)
    stage = make_stage(
        raising(TryLater("503")), Stage.RECONCILE, gap=poll_gap, max_attempts=None, patience=timedelta(minutes=15)
    )
    fast = make_tools(db, clock=lambda: system_clock() + timedelta(days=2))

    for _ in range(12):
        assert await step(db, stage, subject, fast) == "retry"


async def test_a_try_is_ended_when_its_budget_is_over(db: Database) -> None:
    subject = await make_due(db)

    async def handle(work: Work) -> Outcome:
        await trio.sleep_forever()
        raise AssertionError

    with trio.fail_after(60):
        booked = await step(db, make_stage(handle, budget=0.1), subject)

    assert booked == "retry"
    assert (await waiting(db, subject))["last_error"] == "no result within 0.1 s"


# --- Where the authority may have acted --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error", [DatabaseUnavailable("gone"), trio.TooSlowError(), ValueError("x"), OSError("x")], ids=repr
)
async def test_a_send_that_ended_without_an_answer_leaves_a_doubt(db: Database, error: Exception) -> None:
    subject = await make_due(db, Stage.SEND)
    stage = make_stage(announcing(db, raising(error)), Stage.SEND, doubts_go_to=Stage.RECONCILE)

    booked = await step(db, stage, subject)

    assert booked == "outcome unknown"
    assert (await waiting(db, subject))["stage"] == "reconcile"
    assert [outcome for _, outcome in await sends_of(db, subject)] == ["unknown"]


@pytest.mark.parametrize(("error", "counted"), [(DatabaseUnavailable("gone"), 0), (ValueError("x"), 1)], ids=repr)
async def test_a_send_that_ended_before_its_intent_leaves_no_doubt(
    db: Database, error: Exception, counted: int
) -> None:
    """Nothing can have gone out, so there is nothing to ask about, and the number is not in question."""
    subject = await make_due(db, Stage.SEND)

    await step(db, make_stage(raising(error), Stage.SEND, doubts_go_to=Stage.RECONCILE), subject)

    left = await waiting(db, subject)
    assert (left["stage"], left["attempt"]) == ("send", counted)
    assert (await submission(db, subject))["number_fate"] == "reserved"
    assert "outcome_unknown" not in await story(db, subject)


async def test_a_sender_that_always_fails_before_its_intent_ends_as_a_dead_letter(db: Database) -> None:
    """And does not go round between sending and asking for ever."""
    subject = await make_due(db, Stage.SEND)
    stage = make_stage(raising(ValueError("a bug")), Stage.SEND, doubts_go_to=Stage.RECONCILE)

    outcomes = [await step(db, stage, subject) for _ in range(MAX_ATTEMPTS)]

    assert outcomes[-1] == "dead letter"
    assert (await row(db, "SELECT stage, attempt, error FROM dead_letters")) == {
        "stage": "send",
        "attempt": 8,
        "error": "unexpected ValueError",
    }


async def test_a_send_whose_eighth_worker_died_after_the_intent_is_asked_about_before_it_is_given_up(
    db: Database,
) -> None:
    subject = await make_due(db, Stage.SEND)
    for _ in range(MAX_ATTEMPTS - 1):
        await step(db, make_stage(raising(TryLater("503")), Stage.SEND, doubts_go_to=Stage.RECONCILE), subject)
    work = await take(db, subject)
    await db.run(bookings.intend_to_send, work, at=ACCEPTED_AT, lease=LEASE, digest=digest_of(SIGNED))

    booked = await step(db, make_stage(done, Stage.SEND, doubts_go_to=Stage.RECONCILE), subject)

    assert booked == "outcome unknown"
    assert (await waiting(db, subject))["stage"] == "reconcile"


@pytest.mark.parametrize("crash_count", [MAX_ATTEMPTS, MAX_ATTEMPTS + 1])
async def test_a_row_that_kills_its_workers_is_put_aside_without_another_try(db: Database, crash_count: int) -> None:
    subject = await make_due(db)
    for _ in range(crash_count):
        await take(db, subject)

    async def handle(work: Work) -> Outcome:
        raise AssertionError("it was tried")

    booked = await step(db, make_stage(handle, max_attempts=None), subject)

    assert booked == "dead letter"
    assert (await row(db, "SELECT deaths FROM dead_letters"))["deaths"] == crash_count


async def test_seven_deaths_are_survived(db: Database) -> None:
    subject = await make_due(db)
    for _ in range(MAX_ATTEMPTS - 1):
        await take(db, subject)

    assert (await step(db, make_stage(done, max_attempts=None), subject)) == "done"


# --- The loop ----------------------------------------------------------------------------------------------------


async def test_all_that_is_due_is_worked_on_and_nothing_else(db: Database) -> None:
    tenant = await make_tenant(db)
    for _ in range(25):
        await make_submission(db, tenant)
    waiting_one = await make_submission(db, tenant, stage=Stage.SEND)

    assert await drain(db, make_stage(done)) == ["done"] * 25
    assert [left["subject"] for left in await rows(db, "SELECT subject FROM outbox")] == [waiting_one]


async def test_a_crash_in_one_row_does_not_disturb_its_siblings(db: Database) -> None:
    tenant = await make_tenant(db)
    subjects = [await make_submission(db, tenant) for _ in range(8)]
    bad = set(subjects[::2])
    all_in_flight, in_flight, ended = trio.Event(), 0, trio.Event()

    async def handle(work: Work) -> Outcome:
        nonlocal in_flight
        in_flight += 1
        if in_flight == len(subjects):
            all_in_flight.set()
        await all_in_flight.wait()
        if work.subject in bad:
            raise ZeroDivisionError
        await trio.sleep(0.1)  # still at it when the others crash
        in_flight -= 1
        if in_flight == len(bad):
            ended.set()
        return finish(work)

    async with running(make_stage(handle, slots=12), make_tools(db)):
        await until(ended)

    assert {left["subject"] for left in await rows(db, "SELECT subject FROM outbox")} == bad


async def test_a_booking_that_fails_leaves_its_row_to_the_lease_and_the_others_alone(db: Database) -> None:
    tenant = await make_tenant(db)
    bad, good = await make_submission(db, tenant), await make_submission(db, tenant)

    async def fail(conn: Conn) -> None:
        await conn.execute("SELECT 1 / 0")

    async def handle(work: Work) -> Outcome:
        return Scripted(write=fail) if work.subject == bad else finish(work)

    tools = make_tools(db)
    began = await clock_of(db)
    assert sorted(await drain(db, make_stage(handle), tools)) == ["done", "not booked"]

    left = await waiting(db, bad)
    assert (left["holder"], left["attempt"], left["stage"]) == ("this worker", 1, "sign")
    assert due_after(began, left) > 50
    assert await rows(db, "SELECT 1 FROM outbox WHERE subject = %(good)s", good=good) == []
    steps = tools.metrics.registry.get_sample_value
    assert steps("fe_steps_total", {"stage": "sign", "outcome": "not booked"}) == 1
    assert steps("fe_steps_total", {"stage": "sign", "outcome": "done"}) == 1


async def test_a_stopped_loop_finishes_what_is_in_hand_and_claims_no_more(db: Database) -> None:
    tenant = await make_tenant(db)
    for _ in range(6):
        await make_submission(db, tenant)
    started, go_on, tried = trio.Event(), trio.Event(), 0

    async def handle(work: Work) -> Outcome:
        nonlocal tried
        tried += 1
        if tried == 3:
            started.set()
        await go_on.wait()
        return finish(work)

    async with running(make_stage(handle, slots=3), make_tools(db)) as stopping:
        await until(started)
        stopping.set()
        await trio.sleep(0.1)
        go_on.set()

    assert tried == 3
    left = await rows(db, "SELECT attempt, holder FROM outbox")
    assert left == [{"attempt": 0, "holder": None}] * 3


async def cancel_in_hand(db: Database, handle: Handle, stage: Stage, *, may_have_acted: bool) -> None:
    """Run the loop, and cancel it as soon as a try is in hand."""
    in_flight = trio.Event()

    async def hang(work: Work) -> Outcome:
        in_flight.set()
        await trio.sleep_forever()
        raise AssertionError

    async def first(work: Work) -> Outcome:
        await handle(work)
        return await hang(work)

    config = make_stage(first, stage, doubts_go_to=Stage.RECONCILE if may_have_acted else None)
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run_stage, config, make_tools(db), trio.Event())
            await in_flight.wait()
            nursery.cancel_scope.cancel()


async def test_a_cancelled_try_gives_its_row_back_without_counting(db: Database) -> None:
    subject = await make_due(db)

    await cancel_in_hand(db, done, Stage.SIGN, may_have_acted=False)

    left = await waiting(db, subject)
    assert (left["attempt"], left["deaths"], left["holder"], left["stage"]) == (0, 0, None, "sign")
    assert left["due_in"] <= 0


async def test_a_cancelled_send_hands_its_doubt_over_at_once(db: Database) -> None:
    subject = await make_due(db, Stage.SEND)

    await cancel_in_hand(db, announcing(db, done), Stage.SEND, may_have_acted=True)

    left = await waiting(db, subject)
    assert (left["stage"], left["holder"], left["attempt"]) == ("reconcile", None, 0)
    assert left["due_in"] <= 0
    assert [outcome for _, outcome in await sends_of(db, subject)] == ["unknown"]


async def test_a_send_cancelled_before_its_intent_is_given_back_without_counting(db: Database) -> None:
    subject = await make_due(db, Stage.SEND)

    await cancel_in_hand(db, done, Stage.SEND, may_have_acted=True)

    left = await waiting(db, subject)
    assert (left["stage"], left["holder"], left["attempt"]) == ("send", None, 0)
    assert left["due_in"] <= 0


async def test_a_booking_is_written_though_the_loop_is_cancelled_meanwhile(db: Database) -> None:
    await make_due(db)
    booking_now = trio.Event()

    async def write_slowly(conn: Conn) -> None:
        booking_now.set()
        await conn.execute("SELECT pg_sleep(0.3)")
        await conn.execute("DELETE FROM outbox")

    async def handle(work: Work) -> Outcome:
        return Scripted(write=write_slowly)

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run_stage, make_stage(handle), make_tools(db), trio.Event())
            await booking_now.wait()
            nursery.cancel_scope.cancel()

    assert await rows(db, "SELECT * FROM outbox") == []


async def test_a_booking_rings_the_stage_it_makes_due(db: Database) -> None:
    subject = await make_due(db)
    tools = make_tools(db)
    event = tools.wakeups.event(Stage.SEND)

    async def nothing(conn: Conn) -> None:
        pass

    async def handle(work: Work) -> Outcome:
        return Scripted(write=nothing)

    await step(db, make_stage(handle), subject, tools)

    assert event.is_set()


async def test_an_outage_of_the_database_does_not_end_the_loop(db: Database, dsn: str) -> None:
    tenant = await make_tenant(db)
    handled = trio.Event()

    async def handle(work: Work) -> Outcome:
        handled.set()
        return finish(work)

    tools = make_tools(db, poll_seconds=0.05)
    async with running(make_stage(handle), tools):
        await trio.sleep(0.2)
        with plain(dsn) as conn:
            conn.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        for _ in range(8):  # a killed session may still look alive for a moment
            with suppress(DatabaseUnavailable):
                await make_submission(db, tenant)
                break
        await until(handled)

    assert await rows(db, "SELECT 1 FROM outbox") == []


async def test_whoever_could_not_look_for_work_looks_again_without_the_poll(db: Database) -> None:
    await make_due(db)
    handled, kind, looks = trio.Event(), submission_kind(Metrics()), 0
    claim = kind.together
    assert claim is not None

    async def in_the_way_at_first(*args: Any) -> Any:
        nonlocal looks
        looks += 1
        if looks == 1:
            raise Contended("a deadlock")
        return await claim(*args)

    async def handle(work: Work) -> Outcome:
        handled.set()
        return finish(work)

    async with running(make_stage(handle, kind=replace(kind, together=in_the_way_at_first)), make_tools(db)):
        await until(handled)

    assert looks >= 2


# --- The floors of its lanes -------------------------------------------------------------------------------------


async def test_floors_are_renewed_from_those_before_while_there_is_work_and_whole_now_and_then(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Mapping[Any, datetime]] = []
    kind = submission_kind(Metrics())
    floors_of = kind.source.floors_of

    async def recorded(conn: Conn, stage: str, lanes: Sequence[Any], since: Mapping[Any, datetime]) -> Any:
        asked.append(since)
        return await floors_of(conn, stage, lanes, since)

    source: Any = SimpleNamespace(floors_of=recorded)  # claims go by `together`
    stage = make_stage(done, kind=replace(kind, source=source))
    executor = Executor(stage, make_tools(db))
    monkeypatch.setattr("fe.queue.executor.FLOORS_SECONDS", 0.0)

    assert not (await executor._claim()).works
    assert not (await executor._claim()).works
    assert asked == [{}]  # nothing dies while nothing is claimed
    await make_due(db)
    assert len((await executor._claim()).works) == 1
    assert not (await executor._claim()).works
    assert len(asked) == 2
    assert set(asked[1]) == set(stage.lanes)
    monkeypatch.setattr("fe.queue.executor.WHOLE_FLOORS_SECONDS", 0.0)
    executor._whole_floors_until = trio.current_time()
    assert not (await executor._claim()).works
    assert asked[2:] == [{}]
