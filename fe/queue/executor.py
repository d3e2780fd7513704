"""The executor of a stage: claim a batch, try each row with no transaction open, write its outcome.

It does not know what the rows are about nor how an outcome is written: the stage's configuration (stage.py) names its
kind of work.
"""

import math
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Generic

import structlog
import trio

from fe.identifiers import TenantId
from fe.monitoring.log import task_context
from fe.monitoring.outages import Outage
from fe.process import failpoints
from fe.queue.backoff import MAX_ATTEMPTS
from fe.queue.fair_claims import NO_FLOORS, Found, InFlight, find_and_claim
from fe.queue.handover import Handover
from fe.queue.outcome import AT_ONCE, Advance, InDoubt, Outcome, Park, Retry, TryLater
from fe.queue.result_writer import NextStage, ResultWriter
from fe.queue.stage import Lane, StageConfig, StageContext, W
from fe.queue.stage_breaker import StageBreaker
from fe.queue.worker_pool import WorkerPool
from fe.store.postgres.errors import DatabaseUnavailable, LeaseLost

_log = structlog.get_logger(__name__)

#: While there is work, a lane's floor is renewed from the one before, so that a claim reads little of what died under
#: an old snapshot. Now and then it is renewed from the beginning: a row below it (there should be none) is found then.
FLOORS_SECONDS = 5.0
WHOLE_FLOORS_SECONDS = 60.0

#: Shortest time between the starts of two claims; ResultWriter.gather_seconds makes it longer under load, so that one
#: claim serves more due rows and freed slots. Single rows are still claimed at once.
_APART_SECONDS = 0.002

#: At least one row per this many slots is claimed, however little room the next stage has.
_SLOTS_TO_ONE = 8

#: A row that is given back through no fault of its own is due again after this.
_GIVEN_BACK_FOR = timedelta(seconds=2)


async def run_stage(
    stage: StageConfig[W], tools: StageContext, stopping: trio.Event, results: ResultWriter[W] | None = None
) -> None:
    """Work on one stage until `stopping`, then finish the rows in flight.

    Stages share `results`, which must run for longer than they; without it the stage has its own. Cancelled instead of
    stopped, every try in flight ends at its next await and its row is given back, due at once for a peer.
    """
    await Executor(stage, tools, results).run(stopping)


class Executor(Generic[W]):
    """Runs one stage: its rows in flight, the floors of its lanes, and its breaker."""

    def __init__(self, stage: StageConfig[W], tools: StageContext, results: ResultWriter[W] | None = None) -> None:
        self._stage = stage
        self._tools = tools
        self._is_alone = results is None
        self.results = results or ResultWriter(stage.kind, tools.db, tools.clock)
        self._in_flight = InFlight(stage.slots)
        self._away = Outage(f"claim {stage.name}")
        self._cursors: dict[Lane, TenantId] = dict.fromkeys(stage.lanes, TenantId(0))
        self._floors: Mapping[Lane, datetime] = NO_FLOORS
        self._floors_until = self._whole_floors_until = -math.inf
        self._has_claimed = False
        self._breaker = StageBreaker(
            stage.name,
            stage.rows_to_trouble,
            stage.probe_seconds,
            lambda is_so: tools.metrics.in_trouble(stage.name, is_so),
        )
        self._steps = tools.metrics.steps.of(stage.name)
        #: By the row's identity: the stage that takes it over once its outcome is written.
        self._next_stages: dict[int, NextStage] = {}
        self._workers = WorkerPool(self._carry, seconds=stage.budget, cut_short=self._cut_short)
        # The claiming loop parks here; the flags say what happened since it last looked.
        self._sleeping = trio.lowlevel.ParkingLot()
        self._is_asleep = False
        self._is_due = self._has_free_slot = self._is_stopping = False
        #: The loop wakes from this many free slots on.
        self._wake_from = 0
        #: At the last claim more was due than there were free slots: handed-over rows must not overtake it.
        self._is_behind = False
        #: Lanes whose gate was shut at the last claim: rows wait there that handed-over ones must not overtake.
        self._shut: set[Lane] = set()
        self._is_open = False
        self._handover = Handover(
            stage,
            tools,
            self._in_flight,
            self._breaker,
            takes=self._takes,
            has_ended=lambda: self._is_stopping or not self._is_open,
            begin=self._begin,
            give_up=self._give_up,
            slot_is_free=self._slot_freed,
        )

    async def run(self, stopping: trio.Event) -> None:
        """Work until `stopping`; see `run_stage`."""
        stage, tools = self._stage, self._tools
        tools.metrics.watch_in_flight(stage.name, stage.slots, self._in_flight.count, self._in_flight.oldest_seconds)
        tools.metrics.in_trouble(stage.name, False)
        async with AsyncExitStack() as around:
            if self._is_alone:
                await around.enter_async_context(self.results.running())
            try:
                async with trio.open_nursery() as nursery:
                    self._workers.open(nursery)
                    nursery.start_soon(self._listen_for_work, tools.wakeups.event(stage.name))
                    nursery.start_soon(self._listen_for_the_end, stopping)
                    nursery.start_soon(self._handover.run)
                    self._is_open, self.results.next_stages[stage.name] = True, self._handover
                    try:
                        await self._keep_claiming()
                        for work in self._handover.take_all():
                            self._give_up(work)
                        while self._in_flight.count():
                            await self._sleep()
                        nursery.cancel_scope.cancel()
                    finally:
                        self._is_open = False  # here: a row may still be handed over when the nursery takes no task
            finally:
                if self.results.next_stages.get(stage.name) is self._handover:
                    del self.results.next_stages[stage.name]
                for work in self._handover.take_all():
                    self._give_up(work)
                for work in self._workers.not_begun():
                    self._book(work, self._given_up())

    async def _keep_claiming(self) -> None:
        stage, in_flight = self._stage, self._in_flight
        while not self._is_stopping:
            self._tools.metrics.turned(stage.name)
            self._is_due = self._has_free_slot = False
            if not self._may_try():
                probe_in = math.inf if in_flight.count() else self._breaker.seconds_to_probe()
                await self._pause(due=False, slot=True, max_seconds=probe_in)
                continue
            if in_flight.count() - (stage.slots - in_flight.free) >= stage.slots:
                await self._pause(due=False, slot=True)  # too many outcomes are still to be written
                continue
            was_in_trouble = self._breaker.is_open
            began = trio.current_time()
            found = await self._claim()
            if found.works:
                failpoints.reached("claimed")
                in_flight.begin_all(found.works)
                if self._breaker.is_open and not was_in_trouble:
                    # The breaker opened during the claim: do not try all of these at once.
                    for work in found.works:
                        self._book(work, self._no_answer(work, "the stage is in trouble", counts=False))
                else:
                    self._workers.put(found.works)
            self._is_behind = found.full
            if found.capacity_left:
                continue
            if found.full:
                await self._let_gather(began, is_full=self._room_ahead() is None)
                # Not all due rows found a slot, but a row due from now on may use one that was reserved for it.
                await self._pause(due=in_flight.free > 0, slot=True)
            else:
                await self._pause(due=True, slot=False)
                await self._let_gather(began, is_full=False)

    # --- When rows are tried ------------------------------------------------------------------------------------------

    def _may_try(self) -> bool:
        """While the breaker is open: one row at a time, at intervals."""
        breaker = self._breaker
        return not breaker.is_open or (not self._in_flight.count() and breaker.seconds_to_probe() == 0.0)

    async def _pause(self, *, due: bool, slot: bool, max_seconds: float = math.inf) -> None:
        """Wait until a row is `due` or a `slot` is free; at most the jittered poll interval or `max_seconds`."""
        poll = self._tools.poll_seconds * self._tools.spread.uniform(0.8, 1.2)
        with trio.move_on_after(min(poll, max_seconds)):
            while True:
                if (due and self._is_due) or (slot and self._has_free_slot) or self._is_stopping:
                    await trio.lowlevel.checkpoint()
                    break
                await self._sleep()

    async def _let_gather(self, began: float, *, is_full: bool) -> None:
        """Let rows fall due before the next claim; where more is due than was claimed, let slots be freed.

        Not all slots, or workers would wait for the claim: half of one tenant's part stays in use.
        """
        slots = self._stage.slots
        until = began + max(_APART_SECONDS, self.results.gather_seconds())
        if until <= trio.current_time():
            return
        self._wake_from = slots - self._stage.slots_of_a_tenant() // 2 if is_full else slots + 1
        with trio.move_on_at(until):
            while not self._is_stopping and self._in_flight.free < self._wake_from:
                await self._sleep()
        self._wake_from = 0

    async def _sleep(self) -> None:
        self._is_asleep = True
        await self._sleeping.park()

    def _rouse(self) -> None:
        if self._is_asleep:  # unparking an empty lot costs ten times this check
            self._is_asleep = False
            self._sleeping.unpark_all()

    async def _listen_for_work(self, due: trio.Event) -> None:
        while True:
            await due.wait()
            due = self._tools.wakeups.event(self._stage.name)
            self._is_due = True
            self._rouse()

    async def _listen_for_the_end(self, stopping: trio.Event) -> None:
        await stopping.wait()
        self._is_stopping = True
        self._rouse()

    def _slot_freed(self) -> None:
        self._has_free_slot = True
        if self._is_asleep and self._in_flight.free >= self._wake_from:
            self._rouse()
        if self._stage.held:
            self._handover.look_again()

    async def _claim(self) -> Found[W]:
        stage, tools = self._stage, self._tools
        max_rows = 1 if self._breaker.is_open else self._room_ahead()
        shut = {lane for lane in stage.lanes if tools.gate(lane, stage.slots) <= 0}
        try:
            # Rows of a lane that opened again may be due since a moment before its floor (circuits.close_circuit).
            await self._renew_floors(whole=bool(self._shut - shut))
            found = await tools.db.run(
                find_and_claim, stage, tools, self._cursors, self._in_flight, self._floors, max_rows=max_rows
            )
        except DatabaseUnavailable as error:
            self._away.failed(error)
            self._whole_floors_until = -math.inf  # the next server may be another one
            await self._pause(due=False, slot=False, max_seconds=tools.spread.uniform(0.5, 1.5))
            return Found(capacity_left=True)  # unknown what is due: claim again without the poll
        self._away.succeeded()
        self._shut = shut
        if found.works:
            self._has_claimed = True
            self._breaker.probing()
        return found

    async def _renew_floors(self, *, whole: bool) -> None:
        """Renew the floors of the lanes if it is time, from the beginning or from the floors before."""
        now = trio.current_time()
        if whole or now >= self._whole_floors_until:
            before, self._whole_floors_until = NO_FLOORS, now + WHOLE_FLOORS_SECONDS
        elif self._has_claimed and now >= self._floors_until:
            before = self._floors
        else:
            return
        stage = self._stage
        self._floors = await self._tools.db.run(stage.kind.source.floors_of, stage.name, stage.lanes, before)
        self._floors_until, self._has_claimed = now + FLOORS_SECONDS, False

    def _room_ahead(self) -> int | None:
        """Return how many rows to claim at most so that the next stage can take them over; None: no limit.

        More would wait there and be claimed a second time. Some are always claimed: while the next stage waits for the
        authority, this stage's work is still useful.
        """
        taker = self.results.next_stages.get(self._stage.into or "")
        if taker is None:
            return None
        slots, in_flight = self._stage.slots, self._in_flight
        room = taker.free_slots() - (slots - in_flight.free)
        return None if room >= in_flight.free else max(room, slots // _SLOTS_TO_ONE)

    # --- Rows handed over by the stage before -------------------------------------------------------------------------

    def _takes(self, lane: Lane) -> bool:
        if self._is_stopping or self._is_behind or self._breaker.is_open or lane in self._shut:
            return False
        return self._is_open

    def _begin(self, work: W) -> None:
        """Try a row that has a slot; give it back if this stage has ended."""
        if self._is_open:
            self._workers.put([work])
        else:
            self._book(work, self._given_up())

    def _give_up(self, work: W) -> None:
        """Give back a held row that was not tried."""
        self._in_flight.begin(work)
        self._book(work, self._given_up())

    # --- One row ------------------------------------------------------------------------------------------------------

    async def _carry(self, work: W) -> None:
        """Try one claimed row and queue its outcome."""
        task_context.set((self._log_context, work))  # this task's own context: no reset needed
        self._book(work, await self.attempt(work))

    def _cut_short(self, work: W, out_of_time: bool) -> None:
        """Its try was cancelled: out of time, or this stage is cancelled; then it goes back without counting."""
        self._book(work, self._too_slow(work) if out_of_time else self._given_up())

    def _log_context(self, work: W) -> dict[str, object]:
        """Return the fields of every log line of a try."""
        return {self._stage.kind.subject: str(work.subject), "stage": self._stage.name, "attempt": work.attempt}

    async def attempt(self, work: W) -> Outcome:
        """Make one try. A failing handler becomes a row to try again, never a crash of the actor."""
        stage, breaker = self._stage, self._breaker
        if stage.max_attempts is not None and work.attempt > stage.max_attempts:
            # Attempts count at the claim, so these tries died with their process before they could write.
            return self._put_aside(work.last_error or "every attempt died before it could report")
        if work.crash_count >= MAX_ATTEMPTS:
            return self._put_aside(f"{work.crash_count} workers in a row died over it")
        try:
            outcome = await stage.handle(work)
        except LeaseLost:
            return _NoLonger()
        except TryLater as later:
            breaker.refused()
            return self._again(work, later.reason, later.after)
        except DatabaseUnavailable as error:
            _log.warning("step stopped: the database is away", error=error)
            return self._no_answer(work, "the database was away", counts=False)
        except trio.TooSlowError:
            return self._too_slow(work)
        except Exception as error:
            _log.exception("the step failed", error=error)
            reason = f"unexpected {type(error).__name__}"
            breaker.failed(work.subject, reason)
            return self._no_answer(work, reason, counts=not breaker.is_open)
        breaker.succeeded()
        failpoints.reached("worked")
        return outcome

    # --- Outcomes of tries without a result ---------------------------------------------------------------------

    def _again(self, work: W, reason: str, after: timedelta | None = None) -> Outcome:
        """A failed attempt: retry by the schedule, or park the row when the attempts are used up."""
        if self._stage.exhausted(work):
            return Park(reason)
        return Retry(reason, max(self._stage.gap(work.attempt, self._tools.spread), after or AT_ONCE))

    def _no_answer(self, work: W, reason: str, *, counts: bool) -> Outcome:
        given_back = Retry(reason, _GIVEN_BACK_FOR, counts=False, name="given back")
        plain = self._again(work, reason) if counts else given_back
        return self._doubt(reason, self._stage.gap(work.attempt, self._tools.spread), plain)

    def _too_slow(self, work: W) -> Outcome:
        _log.warning("the step took too long", budget=self._stage.budget)
        return self._no_answer(work, f"no result within {self._stage.budget:g} s", counts=True)

    def _put_aside(self, reason: str) -> Outcome:
        """Its workers died over it: park it, after a doubt about a possible send is resolved."""
        return self._doubt(reason, AT_ONCE, Park(reason))

    def _given_up(self) -> Outcome:
        """This worker stops: due at once for a peer, which first resolves a possible send."""
        plain = Retry("the worker was stopped", AT_ONCE, counts=False, name="handed over")
        return self._doubt(plain.reason, AT_ONCE, plain)

    def _doubt(self, reason: str, after: timedelta, if_nothing_went_out: Outcome) -> Outcome:
        """Turn a try without a result into a doubt, in stages whose tries have effects elsewhere."""
        if self._stage.doubts_go_to is None:
            return if_nothing_went_out
        return InDoubt(to=self._stage.doubts_go_to, reason=reason, after=after, otherwise=if_nothing_went_out)

    # --- Writing outcomes ---------------------------------------------------------------------------------------------

    def _book(self, work: W, outcome: Outcome) -> None:
        """Queue the outcome, also while cancelled. If it cannot be written, the lease decides."""
        self._in_flight.tried(work)
        self._slot_freed()
        if isinstance(outcome, _NoLonger):
            self._written((work, outcome), LeaseLost())
            return
        if isinstance(outcome, Advance) and outcome.then is not None:
            taker = self.results.next_stages.get(outcome.to)
            if taker is not None and taker.reserve(outcome.then, outcome.after):
                self._next_stages[id(work)] = taker
            else:
                outcome = replace(outcome, then=None)
        self.results.add(work, outcome, self._written)

    def _written(self, item: tuple[W, Outcome], result: Outcome | Exception) -> None:
        """Handle the result of writing: count and log it, hand the row over, wake its next stage."""
        work, outcome = item
        taker = self._next_stages.pop(id(work), None)
        self._steps.took(self._in_flight.end(work))
        self._slot_freed()
        if isinstance(result, Exception):
            before = task_context.set((self._log_context, work))
            self._note_failure(outcome, result)
            task_context.reset(before)
        else:
            failpoints.reached("booked")
            self._count(result.name)
            self._stage.kind.written(work, result)
        goes_on = isinstance(result, Advance) and result.then is not None
        if taker is not None and isinstance(outcome, Advance):
            # The outcome may be written, and then no other process claims the row before the lease ends. A stage
            # without external effects goes on anyway: if the outcome was not written, the fence refuses the next one.
            may_go_on = goes_on or (taker.changes_nothing and isinstance(result, DatabaseUnavailable))
            (taker.go_on if may_go_on else taker.release)(outcome.then, outcome.after)
        if not goes_on and not isinstance(result, Exception):
            self._wake(result)

    def _note_failure(self, outcome: Outcome, failure: Exception) -> None:
        stage, booked = self._stage, "not booked"
        match failure:
            case LeaseLost():
                booked = "lease lost"
                self._tools.metrics.leases_lost.labels(stage.name).inc()
                _log.warning("the lease was lost, nothing was booked", outcome=outcome.name)
            case DatabaseUnavailable():
                _log.warning(
                    "the outcome was not recorded: it is retried when the lease ends",
                    outcome=outcome.name,
                    error=failure,
                )
            case _:
                _log.error("booking failed; the lease decides", outcome=outcome.name, error=failure, exc_info=failure)
        self._count(booked)

    def _count(self, booked: str) -> None:
        self._steps.count(booked)

    def _wake(self, outcome: Outcome) -> None:
        match outcome:
            case Advance(to=to, after=after) | InDoubt(to=to, after=after):
                self._tools.wakeups.notify_in(after, to)
            case Retry(after=after):
                self._tools.wakeups.notify_in(after, self._stage.name)


class _NoLonger(Outcome):
    """The claim is lost: there is nothing to write."""

    name = "lease lost"
