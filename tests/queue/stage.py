"""A stage with a scripted handler over the real database: what the loop does, without an authority."""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import trio

from fe.clock import system_clock
from fe.ecf.states import NumberFate, Stage
from fe.metrics import Metrics
from fe.queue import executor as loop
from fe.queue.executor import Plan, Tools
from fe.queue.outcome import Booking
from fe.store import outbox
from fe.store.db import Database
from fe.store.outbox import Work
from fe.store.wakeups import Wakeups
from tests.factories.tenants import take

Handle = Callable[[Work], Awaitable[Booking]]

HOSTS = {Stage.SIGN: ("",), Stage.SEND: ("ecf", "fc"), Stage.TRACK: ("ecf",), Stage.RECONCILE: ("ecf", "fc")}


def make_plan(handle: Handle, stage: Stage = Stage.SIGN, slots: int = 4, **more: Any) -> Plan:
    return Plan(stage, handle, slots, HOSTS[stage], **{"budget": 5.0, **more})


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


def finish(work: Work) -> Booking:
    """The step is done; nothing else is to be done for this subject."""
    write = partial(
        outbox.failure, work=work, at=system_clock(), response={"status": "error"}, fate=NumberFate.REUSABLE
    )
    return Booking("done", write)


async def done(work: Work) -> Booking:
    return finish(work)


def raising(error: Exception) -> Handle:
    async def handle(work: Work) -> Booking:
        raise error

    return handle


async def step(db: Database, plan: Plan, subject: UUID, tools: Tools | None = None) -> str:
    """One claim, try and booking of this very row, by the real `attempt` and `book`; the outcome that was booked."""
    tools = tools or make_tools(db)
    work = await take(db, subject)
    return await loop.book(plan, tools, work, await loop.attempt(plan, tools, work))


async def drain(db: Database, plan: Plan, tools: Tools | None = None) -> list[str]:
    """Claim, try and book until nothing is due; the outcomes in order."""
    tools = tools or make_tools(db)
    cursors = dict.fromkeys(plan.lanes(), 0)
    outcomes: list[str] = []
    while True:
        works = (await db.run(loop.find_and_claim, plan, tools, cursors, loop.Hand(plan.slots))).works
        if not works:
            return outcomes
        for work in works:
            outcomes.append(await loop.book(plan, tools, work, await loop.attempt(plan, tools, work)))


@asynccontextmanager
async def running(plan: Plan, tools: Tools) -> AsyncIterator[trio.Event]:
    """The real loop, running beside the block; it is told to stop when the block ends, and must then come to an end."""
    stopping = trio.Event()
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(loop.run_stage, plan, tools, stopping)
            try:
                yield stopping
            finally:
                stopping.set()
