"""A stage with a scripted handler over the real database: what the engine does, without an authority."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import trio

from fe.actors.stages import lanes
from fe.actors.writers import WRITERS, submission_kind
from fe.clock import system_clock
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import NumberFate, Stage
from fe.monitoring.metrics import Metrics
from fe.queue.claims import InFlight, find_and_claim
from fe.queue.executor import Executor, run_stage
from fe.queue.outcome import Advance, End, Outcome, Writer
from fe.queue.stage import StageConfig, Tools, WorkKind
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


async def _done(conn: Conn, work: Work, _: Done, at: datetime) -> None:
    await outbox.failure(conn, work, at=at, response={"status": "error"}, fate=NumberFate.REUSABLE)


async def _scripted(conn: Conn, work: Work, outcome: Scripted, at: datetime) -> None:
    await outcome.write(conn)


def kind_of(source: WorkKind[Work]) -> WorkKind[Work]:
    """Submissions, with the outcomes of tests beside their own."""
    writers: dict[type[Outcome], Writer[Work]] = {**WRITERS, Done: _done, Scripted: _scripted}
    return WorkKind(source.source, writers, is_open=source.is_open, written=source.written)


def make_stage(handle: Handle, stage: Stage = Stage.SIGN, slots: int = 4, **more: Any) -> StageConfig[Work]:
    kind = more.pop("kind", None) or submission_kind(Metrics(), system_clock)
    return StageConfig(stage, kind_of(kind), handle, slots, lanes(*HOSTS[stage]), **{"budget": 5.0, **more})


def make_tools(db: Database, **more: Any) -> Tools:
    plain: dict[str, Any] = {
        "clock": system_clock,
        "metrics": Metrics(),
        "lease": timedelta(seconds=60),
        "poll_seconds": 30.0,  # whoever counts on the poll waits too long
        "holder": "this worker",
        "spread": random.Random(1),
    }
    return Tools(db, more.pop("wakeups", None) or Wakeups(db), **{**plain, **more})


def finish(work: Work) -> Outcome:
    """The step is done; nothing else is to be done for this subject."""
    return Done()


async def done(work: Work) -> Outcome:
    return finish(work)


def raising(error: Exception) -> Handle:
    async def handle(work: Work) -> Outcome:
        raise error

    return handle


async def step(db: Database, stage: StageConfig[Work], subject: SubmissionId, tools: Tools | None = None) -> str:
    """One claim, try and booking of this very row, by the real engine; the name of the outcome that was booked."""
    executor = Executor(stage, tools or make_tools(db))
    work = await take(db, subject)
    return await executor.book(work, await executor.attempt(work))


async def drain(db: Database, stage: StageConfig[Work], tools: Tools | None = None) -> list[str]:
    """Claim, try and book until nothing is due; the outcomes in order."""
    tools = tools or make_tools(db)
    executor = Executor(stage, tools)
    cursors = dict.fromkeys(stage.lanes, TenantId(0))
    outcomes: list[str] = []
    while True:
        works = (await db.run(find_and_claim, stage, tools, cursors, InFlight(stage.slots))).works
        if not works:
            return outcomes
        for work in works:
            outcomes.append(await executor.book(work, await executor.attempt(work)))


@asynccontextmanager
async def running(stage: StageConfig[Any], tools: Tools) -> AsyncIterator[trio.Event]:
    """The real loop, running beside the block; it is told to stop when the block ends, and must then come to an end."""
    stopping = trio.Event()
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run_stage, stage, tools, stopping)
            try:
                yield stopping
            finally:
                stopping.set()
