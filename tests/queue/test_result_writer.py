"""Outcomes written together: contention, broken links, and rows handed over without a claim."""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast
from uuid import UUID

import psycopg
import pytest
import trio

from fe.actors.counterparty import handing_kind
from fe.actors.deliverer import delivery_kind, recovery_kind
from fe.actors.outcomes import Decided, Intent, LostNumber, Received, Signed, Unresolved
from fe.actors.writers import submission_kind
from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.identifiers import ActionId, TrackId
from fe.lifecycle import NumberFate, Stage, Status
from fe.metering.charging import charge_stage
from fe.metering.processor import Processor
from fe.monitoring.metrics import Metrics
from fe.queue import result_writer
from fe.queue.executor import run_stage
from fe.queue.outcome import Outcome, Park, Retry
from fe.queue.result_writer import ResultWriter
from fe.queue.stage import WorkKind
from fe.store.citus.tables import DISTRIBUTED
from fe.store.postgres.db import Database
from fe.store.postgres.errors import DatabaseUnavailable, LeaseLost, NodeUnavailable
from fe.store.queue import pauses
from fe.store.queue.audit import OperatorAction
from fe.store.queue.outbox import OutboxLane, Work
from fe.store.queue.webhooks import deliveries_table
from tests.factories.nodes import SpreadDatabase
from tests.factories.tenants import (
    DOCUMENT,
    LEASE,
    SIGNED,
    make_submission,
    make_tenant,
    row,
    rows,
    sends_of,
    story,
    take,
    waiting,
)
from tests.queue.stage import make_stage, make_tools
from tests.waiting import PATIENCE

AT = datetime(2026, 11, 6, 15, 0, 0, tzinfo=UTC)
REMARKED = replace(DOCUMENT, remarks=({"code": "assumed"},))
_BACK = Retry("stopped", timedelta(0), counts=False)
VERDICT = Decided(status=Status.ACCEPTED, track_id=TrackId("t"), response={}, fate=NumberFate.USED)


@pytest.fixture
def gives_up_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results that cannot be written are kept for a second instead of thirty."""
    monkeypatch.setattr(result_writer, "_KEPT_SECONDS", 1.0)


def claim_to_send(work: Work) -> Work:
    return replace(
        work,
        stage=Stage.SEND,
        lane=OutboxLane(work.environment, "ecf"),
        attempt=1,
        epoch=work.epoch + 1,
        crash_count=0,
        waited=timedelta(0),
    )


def signed(work: Work) -> Signed:
    return Signed(document=REMARKED, then=claim_to_send(work), lease=LEASE)


async def received(work: Work) -> Outcome:
    return Received(track_id=TrackId("t"), reply={"trackId": "t"})


class Two:
    """A stage that signs and one that sends, over the same bookings."""

    def __init__(self, db: Database, send: Callable[[Work], Awaitable[Outcome]], **more: Any) -> None:
        self.signed: list[Work] = []
        self.sent: list[Work] = []
        self.tools = make_tools(db, **more)
        self._send = send
        self.bookings = ResultWriter(submission_kind(Metrics()), db, system_clock)
        self.stages = [
            make_stage(self._sign, Stage.SIGN, kind=self.bookings.kind),
            make_stage(self._sent, Stage.SEND, kind=self.bookings.kind, doubts_go_to=Stage.RECONCILE),
        ]

    async def _sign(self, work: Work) -> Outcome:
        self.signed.append(work)
        return signed(work)

    async def _sent(self, work: Work) -> Outcome:
        self.sent.append(work)
        return await self._send(work)

    async def run(self, until: Callable[[], Awaitable[bool]], *stages: int) -> None:
        """Run (these of) the stages until something is so."""
        stopping = trio.Event()
        with trio.fail_after(60):
            async with self.bookings.running(), trio.open_nursery() as nursery:
                for stage in stages or (0, 1):
                    nursery.start_soon(run_stage, self.stages[stage], self.tools, stopping, self.bookings)
                while not await until():  # noqa: ASYNC110  (a table rings no bell)
                    await trio.sleep(0.01)
                stopping.set()


def all_in(db: Database, stage: str, many: int) -> Callable[[], Awaitable[bool]]:
    async def look() -> bool:
        found = await row(db, "SELECT count(*) FROM outbox WHERE stage = %(s)s AND holder IS NULL", s=stage)
        return bool(found["count"] == many)

    return look


# --- Straight through --------------------------------------------------------------------------------------------


async def test_what_is_signed_is_sent_by_the_same_worker_without_a_claim(db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant)
    before: list[dict[str, Any]] = []

    async def send(work: Work) -> Outcome:
        before.append(await waiting(db, subject))
        return await received(work)

    two = Two(db, send)
    await two.run(all_in(db, "track", 1))

    (sent,) = two.sent
    assert (sent.epoch, sent.attempt) == (two.signed[0].epoch + 1, 1)
    # While it is sent its row says so, as a claim would have.
    assert [(b["stage"], b["attempt"], b["epoch"], b["holder"]) for b in before] == [
        ("send", 1, sent.epoch, "this worker")
    ]
    assert await story(db, subject) == [
        "accepted",
        "signed",
        "remarked",
        "sending",
        "received",
    ]
    assert await sends_of(db, subject) == [(sent.epoch, "received")]


async def test_where_nothing_is_sent_in_this_process_it_waits_for_a_claim(db: Database) -> None:
    subject = await make_submission(db, await make_tenant(db))
    two = Two(db, received)

    await two.run(all_in(db, "send", 1), 0)

    assert (await waiting(db, subject))["attempt"] == 0
    assert await sends_of(db, subject) == []


async def test_a_lane_whose_circuit_is_open_gets_nothing_straight(db: Database) -> None:
    subject = await make_submission(db, await make_tenant(db))
    two = Two(db, received, gate=lambda lane, slots: 0 if lane.host else slots)

    await two.run(all_in(db, "send", 1))

    assert two.sent == []
    assert await sends_of(db, subject) == []


async def test_what_was_paused_meanwhile_goes_no_further(db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant)
    two = Two(db, received)
    act = OperatorAction(ActionId(UUID(int=1)), AT, "eva", "a wrong certificate")

    async def pause_and_sign(work: Work) -> Outcome:
        await db.transact(pauses.pause, act, tenant, Environment.ECF)
        return signed(work)

    two.stages[0] = replace(two.stages[0], handle=pause_and_sign)
    await two.run(all_in(db, "send", 1))

    assert two.sent == []
    assert await sends_of(db, subject) == []


@pytest.mark.usefixtures("never_stalls")
async def test_never_more_of_a_tenant_straight_than_its_part_of_the_slots(db: Database) -> None:
    """The last quarter stays free, however fast one tenant's documents are signed."""
    tenant = await make_tenant(db)
    for _ in range(12):
        await make_submission(db, tenant)
    at_once, go_on = 0, trio.Event()

    async def slow(work: Work) -> Outcome:
        nonlocal at_once
        at_once += 1
        await go_on.wait()
        return await received(work)

    two = Two(db, slow)

    async def all_signed() -> bool:
        return len(two.signed) == 12 and (await all_in(db, "send", 9)())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(two.run, all_in(db, "track", 12))
        with trio.fail_after(60):
            while not await all_signed():  # noqa: ASYNC110  (a table rings no bell)
                await trio.sleep(0.01)
        assert at_once == 3  # of 4 slots
        go_on.set()


async def test_who_is_killed_between_the_commit_and_the_send_leaves_a_doubt_and_no_second_send(db: Database) -> None:
    subject = await make_submission(db, await make_tenant(db))
    bookings = ResultWriter(submission_kind(Metrics()), db, system_clock)
    work = await take(db, subject)
    async with bookings.running():
        written = await bookings.put(work, signed(work))
    assert isinstance(written, Signed)
    assert written.then is not None

    # Its process is gone. The next claim finds the open intent of an earlier one.
    again = await take(db, subject)
    async with bookings.running():
        intent = await bookings.put(again, Intent(digest=hashlib.sha256(SIGNED).digest(), lease=LEASE))
    assert isinstance(intent, Unresolved)
    assert again.epoch == work.epoch + 2
    assert await sends_of(db, subject) == [(work.epoch + 1, "intended")]


@pytest.mark.usefixtures("gives_up_soon")
@pytest.mark.parametrize("committed", [True, False])
async def test_nothing_is_sent_when_nobody_knows_whether_its_signature_was_written(
    db: Database, committed: bool
) -> None:
    """Its intent is in the same commit: sent without it, the next claim would send it again."""
    subject = await make_submission(db, await make_tenant(db))
    two, tried = Two(db, received), list[int]()
    write = two.bookings.kind.writers[Signed]

    async def breaks(conn: Any, items: Any, at: Any) -> Any:
        if committed and not tried:
            await write(conn, items, at)
        tried.append(len(items))
        raise psycopg.OperationalError("the link broke")

    writers = {**two.bookings.kind.writers, Signed: breaks}
    two.bookings = ResultWriter(replace(two.bookings.kind, writers=writers), db, system_clock)

    async def is_over() -> bool:
        steps = {"stage": "sign", "outcome": "not booked"}
        return bool(two.tools.metrics.registry.get_sample_value("fe_steps_total", steps))

    await two.run(is_over)

    assert len(tried) > 1
    assert two.sent == []
    left = await waiting(db, subject)
    assert (left["stage"], left["holder"]) == ("send" if committed else "sign", "this worker")
    assert len(await sends_of(db, subject)) == int(committed)


async def test_a_number_that_was_taken_meanwhile_ends_it_and_gives_the_slot_back(db: Database) -> None:
    tenant = await make_tenant(db)
    first = await make_submission(db, tenant, stage=Stage.SEND, e_ncf="E310000000077")
    await rows(db, "UPDATE outbox SET run_at = now() + interval '1 hour' WHERE subject = %(s)s", s=first)
    second = await make_submission(db, tenant, e_ncf="E310000000077")
    two = Two(db, received)

    async def ended() -> bool:
        return not await rows(db, "SELECT 1 FROM outbox WHERE subject = %(s)s", s=second)

    await two.run(ended)

    assert two.sent == []
    assert (
        two.tools.metrics.registry.get_sample_value("fe_steps_total", {"stage": "sign", "outcome": LostNumber().name})
        == 1
    )


# --- Straight on to the verdict, in a while ----------------------------------------------------------------------


def received_straight(work: Work, after: timedelta = timedelta(milliseconds=200)) -> Received:
    then = replace(work, stage=Stage.TRACK, attempt=1, epoch=work.epoch + 1)
    return Received(track_id=TrackId("t"), reply={"trackId": "t"}, then=then, lease=LEASE, after=after)


class Asking(Two):
    """A stage that sends, and one that asks for verdicts and may hold rows for later."""

    def __init__(self, db: Database, held: int = 8, after: timedelta = timedelta(seconds=0.2), **more: Any) -> None:
        async def send(work: Work) -> Outcome:
            return received_straight(work, after)

        super().__init__(db, send, **more)
        self.asked: list[Work] = []
        self.stages[0] = make_stage(self._ask, Stage.TRACK, kind=self.bookings.kind, held=held)

    async def _ask(self, work: Work) -> Outcome:
        self.asked.append(work)
        return VERDICT


def nothing_left(db: Database) -> Callable[[], Awaitable[bool]]:
    async def look() -> bool:
        return not await rows(db, "SELECT 1 FROM outbox")

    return look


async def test_what_was_received_is_asked_about_by_the_same_worker_after_a_while(db: Database) -> None:
    subject = await make_submission(db, await make_tenant(db), stage=Stage.SEND)
    two = Asking(db)
    before: list[dict[str, Any]] = []
    seen = trio.Event()

    async def look() -> bool:
        before.extend(await rows(db, "SELECT stage, attempt, epoch, holder FROM outbox WHERE stage = 'track'"))
        if before:
            seen.set()
        return await nothing_left(db)()

    async def ask(work: Work) -> Outcome:
        await seen.wait()  # else it might be over before the check
        return await two._ask(work)

    two.stages[0] = replace(two.stages[0], handle=ask)
    await two.run(look)

    (asked,) = two.asked
    assert (asked.epoch, asked.attempt) == (two.sent[0].epoch + 1, 1)
    # Until then its row says who has it, as a claim would have.
    assert before
    assert all(b == {"stage": "track", "attempt": 1, "epoch": asked.epoch, "holder": "this worker"} for b in before)
    assert await story(db, subject) == ["accepted", "signed", "received", "verdict"]


def holders(db: Database, *held_by: str | None) -> Callable[[], Awaitable[bool]]:
    async def look() -> bool:
        found = await rows(db, "SELECT holder FROM outbox WHERE stage = 'track'")
        return sorted(str(each["holder"]) for each in found) == sorted(map(str, held_by))

    return look


async def test_what_there_is_no_room_for_waits_in_the_queue(db: Database) -> None:
    tenant = await make_tenant(db)
    for _ in range(5):
        await make_submission(db, tenant, stage=Stage.SEND)
    two = Asking(db, held=2, after=timedelta(hours=1))

    await two.run(holders(db, "this worker", "this worker", None, None, None))

    assert two.asked == []


async def test_what_is_held_is_given_back_at_once_when_its_worker_is_stopped(db: Database) -> None:
    subject = await make_submission(db, await make_tenant(db), stage=Stage.SEND)
    two = Asking(db, after=timedelta(hours=1))

    await two.run(holders(db, "this worker"))

    left = await waiting(db, subject)
    assert (left["stage"], left["attempt"], left["holder"]) == ("track", 0, None)
    assert left["due_in"] <= 0


async def test_what_is_held_for_a_lane_whose_circuit_has_opened_goes_back_to_the_queue(db: Database) -> None:
    subject = await make_submission(db, await make_tenant(db), stage=Stage.SEND)
    is_open = False
    two = Asking(db, gate=lambda lane, slots: 0 if is_open else slots)

    async def send(work: Work) -> Outcome:
        nonlocal is_open
        is_open = True
        return received_straight(work)

    two.stages[1] = replace(two.stages[1], handle=send)
    await two.run(all_in(db, "track", 1))

    assert two.asked == []
    assert (await waiting(db, subject))["attempt"] == 0


@pytest.mark.usefixtures("gives_up_soon")
@pytest.mark.parametrize("committed", [True, False])
async def test_it_is_asked_about_when_nobody_knows_whether_that_was_written(db: Database, committed: bool) -> None:
    """Its row may be leased to us for a minute. If it is not, what the asking came to is refused."""
    await make_submission(db, await make_tenant(db), stage=Stage.SEND)
    two = Asking(db)
    write = two.bookings.kind.writers[Received]

    async def breaks(conn: Any, items: Any, at: Any) -> Any:
        if committed:
            await write(conn, items, at)
        raise psycopg.OperationalError("the link broke")

    writers = {**two.bookings.kind.writers, Received: breaks}
    two.bookings = ResultWriter(replace(two.bookings.kind, writers=writers), db, system_clock)

    async def is_over() -> bool:
        found = await rows(db, "SELECT stage FROM outbox")
        booked = two.tools.metrics.registry.get_sample_value(
            "fe_steps_total", {"stage": "track", "outcome": "lease lost"}
        )
        return not found if committed else bool(booked)

    await two.run(is_over)

    assert len(two.asked) == 1
    left = await rows(db, "SELECT stage FROM outbox")
    assert left == ([] if committed else [{"stage": "send"}])


async def test_who_is_killed_while_it_holds_a_row_loses_no_verdict(db: Database) -> None:
    subject = await make_submission(db, await make_tenant(db), stage=Stage.SEND)
    bookings = ResultWriter(submission_kind(Metrics()), db, system_clock)
    work = await take(db, subject)
    async with bookings.running():
        written = await bookings.put(work, received_straight(work))
    assert isinstance(written, Received)
    assert written.then is not None

    # Its process is gone. The next claim asks, and the old one can write nothing.
    again = await take(db, subject)
    async with bookings.running():
        with pytest.raises(LeaseLost):
            await bookings.put(written.then, VERDICT)
        await bookings.put(again, VERDICT)
    assert (again.stage, again.epoch) == (Stage.TRACK, written.then.epoch + 1)
    assert (await story(db, subject))[-2:] == ["received", "verdict"]


async def test_what_was_paused_meanwhile_is_not_asked_about(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_submission(db, tenant, stage=Stage.SEND)
    two = Asking(db)
    act = OperatorAction(ActionId(UUID(int=1)), AT, "eva", "a wrong certificate")

    async def pause_and_send(work: Work) -> Outcome:
        await db.transact(pauses.pause, act, tenant, Environment.ECF)
        return received_straight(work)

    two.stages[1] = replace(two.stages[1], handle=pause_and_send)
    await two.run(all_in(db, "track", 1))

    assert two.asked == []


# --- Batches -----------------------------------------------------------------------------------------------------


async def some_work(db: Database, many: int) -> list[Work]:
    tenant = await make_tenant(db)
    return [await take(db, await make_submission(db, tenant, stage=Stage.TRACK)) for _ in range(many)]


async def put_all(bookings: ResultWriter[Work], works: Sequence[Work], outcome: Outcome) -> list[Outcome | Exception]:
    said: dict[UUID, Outcome | Exception] = {}

    async def put(work: Work) -> None:
        try:
            said[work.subject] = await bookings.put(work, outcome)
        except Exception as error:
            said[work.subject] = error

    async with bookings.running(), trio.open_nursery() as nursery:
        for work in works:
            nursery.start_soon(put, work)
    return [said[work.subject] for work in works]


async def test_one_poisoned_row_among_many_is_left_alone_and_the_others_are_booked(db: Database) -> None:
    works = await some_work(db, 20)
    poisoned = works[7]
    await rows(
        db,
        """CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
           BEGIN RAISE EXCEPTION 'poison' USING ERRCODE = 'check_violation'; END $$""",
    )
    await rows(
        db,
        f"""CREATE TRIGGER poison BEFORE UPDATE ON submissions FOR EACH ROW
             WHEN (old.submission_id = '{poisoned.subject}') EXECUTE FUNCTION refuse()""",
    )
    bookings = ResultWriter(submission_kind(Metrics()), db, system_clock)

    said = await put_all(bookings, works, VERDICT)

    assert [n for n, one in enumerate(said) if isinstance(one, psycopg.Error)] == [7]
    assert [one["subject"] for one in await rows(db, "SELECT subject FROM outbox")] == [poisoned.subject]


@pytest.mark.parametrize("on_nodes", [True, False])
async def test_while_its_node_is_away_only_what_lies_there_is_not_written(db: Database, on_nodes: bool) -> None:
    """Calls to webhooks and what is handed on lie on the coordinator of a cluster, whosever they are."""
    works = await some_work(db, 3)
    away = SpreadDatabase(db, {work.tenant_id: 1 for work in works}, away=[1])
    bookings = ResultWriter(replace(submission_kind(Metrics()), on_nodes=on_nodes), away, system_clock)

    said = await put_all(bookings, works, VERDICT)

    assert [isinstance(one, NodeUnavailable) for one in said] == [on_nodes] * 3
    assert len(await rows(db, "SELECT subject FROM outbox")) == (3 if on_nodes else 0)


def test_each_kind_of_work_says_where_a_cluster_keeps_its_rows() -> None:
    kinds: list[WorkKind[Any]] = [
        submission_kind(Metrics()),
        handing_kind(Metrics(), {}),
        delivery_kind(deliveries_table(2), Metrics()),
        recovery_kind(),
        charge_stage(cast(Database, None), cast(Processor, None)).kind,
    ]
    # The module of the outbox is a source, and has its name.
    said = {getattr(kind.source, "name", "outbox"): kind.on_nodes for kind in kinds}
    assert said == {name: name in DISTRIBUTED for name in said}
    assert len(said) == len(kinds)


async def test_of_a_batch_each_claim_is_fenced_for_itself(db: Database) -> None:
    works = await some_work(db, 6)
    await take(db, works[2].subject)
    bookings = ResultWriter(submission_kind(Metrics()), db, system_clock)

    said = await put_all(bookings, works, VERDICT)

    assert [n for n, one in enumerate(said) if isinstance(one, LeaseLost)] == [2]
    assert len(await rows(db, "SELECT 1 FROM outbox")) == 1


@pytest.mark.parametrize("breaks", [1, 4], ids=["once", "for a second"])
@pytest.mark.parametrize("committed", [True, False], ids=["committed", "not committed"])
async def test_a_batch_whose_link_broke_is_written_when_it_is_back_and_takes_effect_once(
    db: Database, committed: bool, breaks: int
) -> None:
    works = await some_work(db, 3)
    kind = submission_kind(Metrics())
    tries = 0

    async def breaks_at_first(conn: Any, items: Any, at: Any) -> Any:
        nonlocal tries
        tries += 1
        if tries > breaks:
            return await kind.writers[Decided](conn, items, at)
        if committed and tries == 1:
            await kind.writers[Decided](conn, items, at)
            await conn.commit()
        raise psycopg.OperationalError("the link broke")

    breaking = replace(kind, writers={**kind.writers, Decided: breaks_at_first})
    bookings = ResultWriter(breaking, db, system_clock)

    said = await put_all(bookings, works, VERDICT)

    assert tries == breaks + 1
    for work, answer in zip(works, said, strict=True):
        assert (await story(db, work.subject)).count("verdict") == 1
        assert isinstance(answer, DatabaseUnavailable if committed else Decided)


async def test_what_cannot_be_written_when_all_ends_is_given_up_and_left_to_the_lease(db: Database) -> None:
    works = await some_work(db, 3)
    kind = submission_kind(Metrics())

    async def never(conn: Any, items: Any, at: Any) -> Any:
        raise psycopg.OperationalError("the database is away")

    bookings = ResultWriter(replace(kind, writers={**kind.writers, Decided: never}), db, system_clock)
    said: list[Outcome | Exception] = []
    with trio.fail_after(PATIENCE):
        async with bookings.running():
            for work in works:
                bookings.add(work, VERDICT, lambda _, answer: said.append(answer))
            await trio.sleep(0.5)
            assert said == []

    assert [type(answer) for answer in said] == [DatabaseUnavailable] * 3
    assert len(await rows(db, "SELECT 1 FROM outbox WHERE holder IS NOT NULL")) == 3


async def test_a_batch_whose_link_broke_and_that_others_are_in_the_way_of_then_may_have_been_written(
    db: Database,
) -> None:
    works = await some_work(db, 3)
    kind = submission_kind(Metrics())
    tries: list[int] = []

    async def breaks_and_is_blocked(conn: Any, items: Any, at: Any) -> Any:
        tries.append(len(items))
        if len(tries) == 2:
            raise psycopg.errors.DeadlockDetected("others were in the way")
        outcomes = await kind.writers[Decided](conn, items, at)
        if len(tries) == 1:
            await conn.commit()
            raise psycopg.OperationalError("the link broke")
        return outcomes

    bookings = ResultWriter(replace(kind, writers={**kind.writers, Decided: breaks_and_is_blocked}), db, system_clock)

    said = await put_all(bookings, works, VERDICT)

    assert tries == [3, 3]
    assert [type(answer) for answer in said] == [DatabaseUnavailable] * 3
    assert await rows(db, "SELECT 1 FROM outbox") == []


async def test_two_batches_over_the_same_rows_lock_them_in_one_order(db: Database) -> None:
    """Both at once, each handed in the other way round: none of them waits for the other in a ring.

    Each rests after each row that it has locked, so that the other has its first by then, wherever it begins.
    """
    works = await some_work(db, 4)
    await rows(
        db,
        """CREATE FUNCTION rest() RETURNS trigger LANGUAGE plpgsql AS $$
           BEGIN PERFORM pg_sleep(0.1); RETURN new; END $$""",
    )
    await rows(db, "CREATE TRIGGER rest BEFORE UPDATE ON outbox FOR EACH ROW EXECUTE FUNCTION rest()")
    kind = submission_kind(Metrics())
    sizes: list[int] = []
    both_are_here = trio.Event()
    raised: list[Exception] = []
    said: list[Outcome | Exception] = []

    async def write(conn: Any, items: Any, at: Any) -> Any:
        sizes.append(len(items))
        if len(sizes) == 2:
            both_are_here.set()
        await both_are_here.wait()
        try:
            return await kind.writers[Retry](conn, items, at)
        except Exception as error:  # not reported: the batch is tried again in halves
            raised.append(error)
            raise

    watched = replace(kind, writers={**kind.writers, Retry: write})
    one, other = ResultWriter(watched, db, system_clock), ResultWriter(watched, db, system_clock)
    async with one.running(), other.running():
        for bookings, them in ((one, works), (other, works[::-1])):
            for work in them:
                bookings.add(work, _BACK, lambda _, answer: said.append(answer))

    assert raised == []
    assert sizes == [len(works), len(works)]
    assert sorted(type(answer).__name__ for answer in said) == ["LeaseLost"] * 4 + ["Retry"] * 4


async def test_an_outcome_without_a_writer_is_said_to_whoever_handed_it_in(db: Database) -> None:
    (work,) = await some_work(db, 1)
    kind = submission_kind(Metrics())
    lacking = replace(kind, writers={name: kind.writers[name] for name in (Retry, Park)})
    bookings = ResultWriter(lacking, db, system_clock)
    heard: list[Any] = []

    async with bookings.running():
        bookings.add(work, VERDICT, lambda _, answer: heard.append(answer))

    assert isinstance(heard[0], KeyError)


# --- How long to gather ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("never_stalls")
async def test_outcomes_gather_for_longer_the_more_is_under_way_and_not_at_all_for_one_alone(db: Database) -> None:
    tenant = await make_tenant(db)
    all_in_hand, go_on, in_hand, said = trio.Event(), trio.Event(), 0, list[float]()

    async def hold(_: Work) -> Outcome:
        nonlocal in_hand
        in_hand += 1
        said.append(two.bookings.gather_seconds())
        if in_hand == 1:
            for _nth in range(20):
                await make_submission(db, tenant, stage=Stage.SEND)
            two.tools.wakeups.notify(Stage.SEND)
        if in_hand == 21:
            all_in_hand.set()
        await go_on.wait()
        return _BACK

    async def held() -> bool:
        if not all_in_hand.is_set():
            return False
        said.append(two.bookings.gather_seconds())
        go_on.set()
        return True

    two = Two(db, hold)
    two.stages[1] = make_stage(hold, Stage.SEND, slots=40, kind=two.bookings.kind, doubts_go_to=Stage.RECONCILE)
    await make_submission(db, tenant, stage=Stage.SEND)
    await two.run(held, 1)

    assert said[0] == 0.0
    assert said[-1] == pytest.approx(0.020)
    assert max(said) <= 0.04
    assert two.bookings.gather_seconds() == 0.0
