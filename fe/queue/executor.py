"""How work moves: claim a batch, try each row with no transaction open, write down what came of it.

An executor runs one stage of one kind of work. It knows neither what the rows are about nor how an outcome is written:
that is told by the stage's configuration (stage.py), which names its kind of work.
"""

import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Generic

import structlog
import trio
from prometheus_client import Counter

from fe import failpoints
from fe.identifiers import TenantId
from fe.queue.batcher import Batcher
from fe.queue.claims import NO_FLOORS, Found, InFlight, find_and_claim
from fe.queue.outcome import AT_ONCE, Advance, InDoubt, Outcome, Park, Retry, TryLater
from fe.queue.retry import MAX_ATTEMPTS
from fe.queue.stage import Lane, StageConfig, Tools, W
from fe.queue.trouble import Trouble
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import DatabaseUnavailable, LeaseLost

_log = structlog.get_logger(__name__)

#: How long a lane's floor is believed. A row below it (there should be none) is found when it is renewed.
_FLOORS_SECONDS = 20.0

#: How long freed slots are gathered before they are filled by one claim.
_GATHER_SECONDS = 0.005

#: Writing an outcome may take this long, cancelled or not; then the lease decides.
_WRITE_SECONDS = 10.0

#: A row that is given back because something around it is out of order is due again after this.
_GIVEN_BACK_FOR = timedelta(seconds=2)


async def run_stage(stage: StageConfig[W], tools: Tools, stopping: trio.Event) -> None:
    """Work on one stage until `stopping`, then finish what is in flight.

    Cancelled instead, every try in flight is given up at its next await and written down as such (shielded, with a
    deadline of its own), so that a peer can go on at once.
    """
    await Executor(stage, tools).run(stopping)


class Executor(Generic[W]):
    """Runs one stage: what is in flight, from when on each lane is searched, and how the stage is doing."""

    def __init__(self, stage: StageConfig[W], tools: Tools) -> None:
        self._stage = stage
        self._tools = tools
        self._in_flight = InFlight(stage.slots)
        self._cursors: dict[Lane, TenantId] = dict.fromkeys(stage.lanes, TenantId(0))
        self._floors: Mapping[Lane, datetime] = NO_FLOORS
        self._floors_until = -math.inf
        self._trouble = Trouble(
            stage.name,
            stage.rows_to_trouble,
            stage.probe_seconds,
            lambda is_so: tools.metrics.in_trouble(stage.name, is_so),
        )
        self._batchers: dict[type[Outcome], Batcher[tuple[W, Outcome], bool]] = {}
        # Finding a series by its labels takes longer than counting.
        self._step_seconds = tools.metrics.step_seconds.labels(stage.name)
        self._steps: dict[str, Counter] = {}

    async def run(self, stopping: trio.Event) -> None:
        """As `run_stage` says."""
        stage, tools, in_flight = self._stage, self._tools, self._in_flight
        tools.metrics.watch_in_flight(stage.name, stage.slots, in_flight.count, in_flight.oldest_seconds)
        tools.metrics.in_trouble(stage.name, False)
        async with self._batching(), trio.open_nursery() as tries:
            while not stopping.is_set():
                tools.metrics.turned(stage.name)
                due, freed = tools.wakeups.event(stage.name), in_flight.freed
                if not self._may_try():
                    probe_in = math.inf if in_flight.count() else self._trouble.seconds_to_probe()
                    await self._first_of(self._trouble.over, freed, stopping, at_most=probe_in)
                    continue
                found = await self._claim()
                if found.works:
                    failpoints.reached("claimed")
                for work in found.works:
                    in_flight.begin(work)
                    tries.start_soon(self._carry, work)
                if found.capacity_left:
                    continue
                if found.full:
                    # There was no slot for all that is due; what becomes due now may yet find one that was kept for it.
                    # A moment's patience makes one claim of several freed slots.
                    await self._first_of(freed, stopping, *([due] if in_flight.free else []))
                    if in_flight.free < stage.slots // 2:
                        await trio.sleep(_GATHER_SECONDS)
                else:
                    await self._first_of(due, stopping)

    # --- What is tried when -------------------------------------------------------------------------------------------

    def _may_try(self) -> bool:
        """In trouble, one row at a time and now and then."""
        trouble = self._trouble
        return not trouble.has_begun or (not self._in_flight.count() and trouble.seconds_to_probe() == 0.0)

    async def _first_of(self, *events: trio.Event, at_most: float = math.inf) -> None:
        """Wait for one of the events, or for the poll (jittered), or for `at_most` seconds."""
        poll = self._tools.poll_seconds * self._tools.spread.uniform(0.8, 1.2)
        with trio.move_on_after(min(poll, at_most)):
            async with trio.open_nursery() as waiting:

                async def watch(event: trio.Event) -> None:
                    await event.wait()
                    waiting.cancel_scope.cancel()

                for event in events:
                    waiting.start_soon(watch, event)

    async def _claim(self) -> Found[W]:
        stage, tools = self._stage, self._tools
        at_most = 1 if self._trouble.has_begun else None
        try:
            if trio.current_time() >= self._floors_until:
                self._floors = await tools.db.run(stage.kind.source.floors_of, stage.name, stage.lanes)
                self._floors_until = trio.current_time() + _FLOORS_SECONDS
            found = await tools.db.run(
                find_and_claim, stage, tools, self._cursors, self._in_flight, self._floors, at_most=at_most
            )
        except DatabaseUnavailable as error:
            _log.warning("claiming failed, the database is away", stage=stage.name, error=error)
            await trio.sleep(tools.spread.uniform(0.5, 1.5))
            return Found()
        if found.works:
            self._trouble.probing()
        return found

    # --- One row ------------------------------------------------------------------------------------------------------

    async def _carry(self, work: W) -> None:
        """Try one claimed row and have written down what came of it, whatever happens to the try."""
        started = trio.current_time()
        # This task's own, so there is nobody to give them back to.
        structlog.contextvars.bind_contextvars(**self._log_context(work))
        outcome: Outcome | None = None
        try:
            outcome = await self.attempt(work)
        finally:
            # Also reached when the scope was cancelled: then the row goes back without counting.
            outcome = self._given_up(work) if outcome is None else outcome
            batcher = self._batchers.get(type(outcome))
            if batcher is not None:
                batcher.add((work, outcome), partial(self._answered, started))
            else:
                try:
                    await self.book(work, outcome)
                finally:
                    self._ended(work, started)

    def _ended(self, work: W, started: float) -> None:
        self._in_flight.end(work)
        self._step_seconds.observe(trio.current_time() - started)

    def _log_context(self, work: W) -> dict[str, object]:
        """What every line of the log says about a try."""
        return {"submission": str(work.subject), "stage": self._stage.name, "attempt": work.attempt}

    async def attempt(self, work: W) -> Outcome:
        """Make one try. A failing handler becomes a row to try again, never a crash of the actor."""
        stage, trouble = self._stage, self._trouble
        if stage.max_attempts is not None and work.attempt > stage.max_attempts:
            # Counted at the claim, so these are tries that died with their process and could not write anything.
            return self._put_aside(work.last_error or "every attempt died before it could report")
        if work.crash_count >= MAX_ATTEMPTS:
            return self._put_aside(f"{work.crash_count} workers in a row died over it")
        try:
            with trio.CancelScope(deadline=trio.current_time() + stage.budget) as budget:
                outcome = await stage.handle(work)
            if budget.cancelled_caught:
                raise trio.TooSlowError
        except LeaseLost:
            return _NoLonger()
        except TryLater as later:
            trouble.refused()
            return self._again(work, later.reason, later.after)
        except DatabaseUnavailable as error:
            _log.warning("the step stopped, the database is away", error=error)
            return self._no_answer(work, "the database was away", counts=False)
        except trio.TooSlowError:
            _log.warning("the step took too long", budget=stage.budget)
            return self._no_answer(work, f"no result within {stage.budget:g} s", counts=True)
        except Exception as error:
            _log.exception("the step failed", error=error)
            reason = f"unexpected {type(error).__name__}"
            trouble.failed(work.subject, reason)
            return self._no_answer(work, reason, counts=not trouble.has_begun)
        trouble.worked_out()
        failpoints.reached("worked")
        return outcome

    # --- Outcomes of tries that ended without one ---------------------------------------------------------------------

    def _again(self, work: W, reason: str, after: timedelta | None = None) -> Outcome:
        """A failed attempt: try again by the schedule, or hand over to an operator when they are used up."""
        if self._stage.exhausted(work):
            return Park(reason)
        return Retry(reason, max(self._stage.gap(work.attempt, self._tools.spread), after or AT_ONCE))

    def _no_answer(self, work: W, reason: str, *, counts: bool) -> Outcome:
        given_back = Retry(reason, _GIVEN_BACK_FOR, counts=False, name="given back")
        plain = self._again(work, reason) if counts else given_back
        return self._doubt(reason, self._stage.gap(work.attempt, self._tools.spread), plain)

    def _put_aside(self, reason: str) -> Outcome:
        """Its workers died over it; if something may have gone out before one did, that is looked into first."""
        return self._doubt(reason, AT_ONCE, Park(reason))

    def _given_up(self, work: W) -> Outcome:
        """We are being stopped: due at once for a peer, which asks first where something may have gone out."""
        plain = Retry("the worker was stopped", AT_ONCE, counts=False, name="handed over")
        return self._doubt(plain.reason, AT_ONCE, plain)

    def _doubt(self, reason: str, after: timedelta, if_nothing_went_out: Outcome) -> Outcome:
        """The one place where a try that ended without a word becomes a doubt: where it may have had an effect."""
        if self._stage.doubts_go_to is None:
            return if_nothing_went_out
        return InDoubt(to=self._stage.doubts_go_to, reason=reason, after=after, otherwise=if_nothing_went_out)

    # --- Writing it down ----------------------------------------------------------------------------------------------

    async def book(self, work: W, outcome: Outcome) -> str:
        """Write the outcome, also when we are being cancelled, and tell by its name which was written.

        What cannot be written leaves the row to its lease.
        """
        if isinstance(outcome, _NoLonger):
            return self._note(work, outcome, LeaseLost())
        failure: Exception | None = None
        with trio.move_on_after(_WRITE_SECONDS, shield=True) as deadline:
            try:
                outcome = await self._tools.db.run(self._write, work, outcome)
            except Exception as error:
                failure = error
        if deadline.cancelled_caught:
            failure = trio.TooSlowError()
        return self._note(work, outcome, failure)

    def _note(self, work: W, outcome: Outcome, failure: Exception | None) -> str:
        """Take note of what was written, or why it was not, and tell whoever it concerns."""
        stage, booked = self._stage, "not booked"
        match failure:
            case None:
                booked = outcome.name
                failpoints.reached("booked")
            case LeaseLost():
                booked = "lease lost"
                self._tools.metrics.leases_lost.labels(stage.name).inc()
                _log.warning("the lease was lost, nothing was booked", outcome=outcome.name)
            case DatabaseUnavailable():
                _log.warning("the outcome could not be booked; the lease decides", outcome=outcome.name, error=failure)
            case trio.TooSlowError():
                _log.warning("booking took too long; the lease decides", outcome=outcome.name)
            case _:
                _log.error("booking failed; the lease decides", outcome=outcome.name, error=failure, exc_info=failure)
        self._count(booked)
        if failure is None:
            self._wake(outcome)
            stage.kind.written(work, outcome)
        return booked

    def _count(self, booked: str) -> None:
        counter = self._steps.get(booked)
        if counter is None:
            counter = self._steps[booked] = self._tools.metrics.steps.labels(self._stage.name, booked)
        counter.inc()

    def _wake(self, outcome: Outcome) -> None:
        match outcome:
            case Advance(to=to, after=after) | InDoubt(to=to, after=after):
                self._tools.wakeups.notify_in(after, to)
            case Retry(after=after):
                self._tools.wakeups.notify_in(after, self._stage.name)

    async def _write(self, conn: Conn, work: W, outcome: Outcome) -> Outcome:
        """Write the outcome and return it, or what is written instead. Raises what its writer raises."""
        kind = self._stage.kind
        if isinstance(outcome, InDoubt) and outcome.otherwise is not None and not await kind.is_open(conn, work):
            outcome = outcome.otherwise
        await kind.writers[type(outcome)](conn, work, outcome, self._tools.clock())
        return outcome

    def _answered(self, started: float, item: tuple[W, Outcome], result: bool | Exception) -> None:
        """An outcome that was handed in has been written with others, or not."""
        work, outcome = item
        if result is True:
            self._note(work, outcome, None)
        else:
            with structlog.contextvars.bound_contextvars(**self._log_context(work)):
                self._note(work, outcome, result if isinstance(result, Exception) else LeaseLost())
        self._ended(work, started)

    @asynccontextmanager
    async def _batching(self) -> AsyncIterator[None]:
        """Have the outcomes that can be written many at once written so while the block runs."""
        async with AsyncExitStack() as running:
            for outcome in self._stage.kind.batches:
                batcher = Batcher(self._writer_of_many(outcome))
                await running.enter_async_context(batcher.running())
                self._batchers[outcome] = batcher
            try:
                yield
            finally:
                self._batchers.clear()

    def _writer_of_many(
        self, outcome: type[Outcome]
    ) -> Callable[[Sequence[tuple[W, Outcome]]], Awaitable[Sequence[bool]]]:
        write, tools = self._stage.kind.batches[outcome], self._tools

        async def write_many(items: Sequence[tuple[W, Outcome]]) -> Sequence[bool]:
            return await tools.db.transact(write, items, tools.clock())

        return write_many


class _NoLonger(Outcome):
    """The claim is not ours any more: there is nothing to write."""

    name = "lease lost"
