"""A stage with a scripted handler over the real database: what the engine does, without an authority."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import trio

from fe.actors.stages import lanes
from fe.actors.writers import WRITERS, submission_kind
from fe.clock import system_clock
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import NumberFate, Stage
from fe.monitoring.metrics import Metrics
from fe.queue.executor import Executor, run_stage
from fe.queue.fair_claims import InFlight, find_and_claim
from fe.queue.outcome import Advance, End, Outcome, Writer
from fe.queue.stage import StageConfig, StageContext, WorkKind
from fe.store.postgres.db import Conn, Database
from fe.store.queue import outbox
from fe.store.queue.outbox import Work
from fe.store.queue.wakeups import Wakeups
from tests.factories.tenants import take

Handle = Callable[[Work], Awaitable[Outcome]]

HOSTS = {Stage.SIGN: ("",), Stage.SEND: ("ecf", "fc"), Stage.TRACK: ("ecf",), Stage.RECONCILE: ("ecf", "fc")}


@dataclass(frozen=True, slots=True)
class Done(End):
    """The step is done; nothing else is to be done for this subject."""

    name: str = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripted(Advance):
    """Written as the test says."""

    write: Callable[[Conn], Awaitable[None]]
    to: str = Stage.SEND
    name: str = "scripted"


async def _done(conn: Conn, items: Sequence[tuple[Work, Done]], at: datetime) -> list[Outcome | None]:
    works, responses = [work for work, _ in items], [{"status": "error"}] * len(items)
    ours = await outbox.failure(conn, works, at=at, responses=responses, fates=[NumberFate.REUSABLE] * len(items))
    return [done if is_ours else None for (_, done), is_ours in zip(items, ours, strict=True)]


async def _scripted(conn: Conn, items: Sequence[tuple[Work, Scripted]], at: datetime) -> list[Outcome | None]:
    for _, outcome in items:
        await outcome.write(conn)
    return [outcome for _, outcome in items]


def kind_of(source: WorkKind[Work]) -> WorkKind[Work]:
    """Submissions, with the outcomes of tests beside their own."""
    writers: dict[type[Outcome], Writer[Work]] = {**WRITERS, Done: _done, Scripted: _scripted}
    return replace(source, writers=writers)


def make_stage(handle: Handle, stage: Stage = Stage.SIGN, slots: int = 4, **more: Any) -> StageConfig[Work]:
    kind = more.pop("kind", None) or submission_kind(Metrics())
    return StageConfig(stage, kind_of(kind), handle, slots, lanes(*HOSTS[stage]), **{"budget": 50.0, **more})


def make_tools(db: Database, **more: Any) -> StageContext:
    plain: dict[str, Any] = {
        "clock": system_clock,
        "metrics": Metrics(),
        "lease": timedelta(seconds=60),
        "poll_seconds": 600.0,  # a test that relies on the poll times out
        "holder": "this worker",
        "spread": random.Random(1),
    }
    return StageContext(db, more.pop("wakeups", None) or Wakeups(db), **{**plain, **more})


def finish(work: Work) -> Outcome:
    """The step is done; nothing else is to be done for this subject."""
    return Done()


async def done(work: Work) -> Outcome:
    return finish(work)


def raising(error: Exception) -> Handle:
    async def handle(work: Work) -> Outcome:
        raise error

    return handle


class Stepwise(Executor[Work]):
    """Tries one row at a time, and says what was booked."""

    async def step(self, work: Work) -> str:
        """Try a claimed row and wait until what came of it is written; its name."""
        self._said: list[str] = []
        self._answered = trio.Event()
        self._in_flight.begin(work)
        async with self.results.running(), trio.open_nursery() as nursery:
            self._workers.open(nursery)
            self._workers.put([work])
            await self._answered.wait()
            nursery.cancel_scope.cancel()
        return self._said.pop()

    async def book(self, work: Work, outcome: Outcome) -> str:
        """Have this outcome written; its name."""

        async def attempt(_: Work) -> Outcome:
            return outcome

        self.attempt = attempt  # type: ignore[method-assign, assignment]  # instead of trying
        return await self.step(work)

    def _count(self, booked: str) -> None:
        super()._count(booked)
        self._said.append(booked)
        self._answered.set()


async def step(db: Database, stage: StageConfig[Work], subject: SubmissionId, tools: StageContext | None = None) -> str:
    """One claim, try and booking of this very row, by the real engine; the name of the outcome that was booked."""
    return await Stepwise(stage, tools or make_tools(db)).step(await take(db, subject))


async def drain(db: Database, stage: StageConfig[Work], tools: StageContext | None = None) -> list[str]:
    """Claim, try and book until nothing is due; the outcomes in order."""
    tools = tools or make_tools(db)
    executor = Stepwise(stage, tools)
    cursors = dict.fromkeys(stage.lanes, TenantId(0))
    outcomes: list[str] = []
    while True:
        works = (await db.run(find_and_claim, stage, tools, cursors, InFlight(stage.slots))).works
        if not works:
            return outcomes
        for work in works:
            outcomes.append(await executor.step(work))


@asynccontextmanager
async def running(stage: StageConfig[Any], tools: StageContext) -> AsyncIterator[trio.Event]:
    """Run the real loop during the block. At the end of the block it gets the signal to stop, and must end."""
    stopping = trio.Event()
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run_stage, stage, tools, stopping)
            try:
                yield stopping
            finally:
                stopping.set()
