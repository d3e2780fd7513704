"""How outcomes are written: each is handed in and waits for nobody, and those that come together are one statement.

There is one for all stages of a kind of work in a process, so that what they come to is gathered in one place. Outcomes
that have the same writer make a batch, which is one transaction; see docs/decisions/micro-performance.md.

When the link breaks under a batch nobody knows whether it was committed. Writing it once more is harmless, because each
row is fenced: what was committed answers as a claim that is ours no longer. So it is tried once more, and whoever is
refused that second time hears that nobody knows; if it was written it has gone its way, and else the lease decides.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any, Generic, Protocol

import trio

from fe.clock import Clock
from fe.identifiers import TenantId
from fe.process import failpoints
from fe.queue.batcher import Batcher
from fe.queue.outcome import InDoubt, Outcome, Writer
from fe.queue.stage import Job, W, WorkKind
from fe.store.postgres.db import Database
from fe.store.postgres.errors import Contended, DatabaseUnavailable, LeaseLost

#: So many batches of one writer are under way at once: different outcomes are side by side as it is.
SIDE_BY_SIDE = 1

#: For how long outcomes and claims gather: so long for each other row under way, and never longer than the second. Of
#: four waits on a document's way each is some tens of milliseconds at most, and of a row alone none.
_GATHER_FOR_EACH = 0.001
_LONGEST_GATHER = 0.04

#: Told of a row and the outcome that was handed in what was written, or LeaseLost, or what kept it from being written.
Answered = Callable[[tuple[W, Outcome], Outcome | Exception], None]


class NextStage(Protocol):
    """A stage that may take a row over from the one before it, without a claim in between, to try it after a while."""

    @property
    def changes_nothing(self) -> bool:
        """Whether its tries have no effect elsewhere: then one more than there should be does no harm."""

    def under_way(self) -> int:
        """How many rows of its are in flight, or held for later."""

    def free_slots(self) -> int:
        """How many rows it could begin with now."""

    def may_take(self, work: Job, after: timedelta) -> bool:
        """Whether it has a free slot for it, or room to hold it until then."""

    def reserve(self, work: Job, after: timedelta) -> None:
        """Keep that, until one of the next two."""

    def go_on(self, work: Job, after: timedelta) -> None:
        """The row is claimed for it: try it."""

    def release(self, work: Job, after: timedelta) -> None:
        """It has come to nothing."""


class ResultWriter(Generic[W]):
    """Writes what tries came to. Hand outcomes in while `running`."""

    def __init__(self, kind: WorkKind[W], db: Database, clock: Clock) -> None:
        self.kind = kind
        self._db = db
        self._clock = clock
        #: The stages that run in this process, by their names.
        self.next_stages: dict[str, NextStage] = {}
        by_writer: dict[Writer[W], Batcher[tuple[W, Outcome], Outcome]] = {
            writer: Batcher(partial(self._write, writer), writers=SIDE_BY_SIDE, gather=self.gather_seconds)
            for writer in kind.writers.values()
        }
        self._of = {outcome: by_writer[writer] for outcome, writer in kind.writers.items()}
        self._batchers = list(by_writer.values())
        self._doubtful: Batcher[tuple[W, InDoubt], Outcome] = Batcher(self._look)

    def gather_seconds(self) -> float:
        """For how long what is to be written, or claimed, may wait for more: the longer the more rows are under way.

        A batch costs Postgres nearly the same for one row as for several. What is under way tells how many come soon:
        nothing where one is alone.
        """
        under_way = sum(taker.under_way() for taker in self.next_stages.values())
        return min(_LONGEST_GATHER, _GATHER_FOR_EACH * (under_way - 1)) if under_way > 1 else 0.0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Write while the block runs, and at its end what was handed in before: see Batcher.running."""
        async with AsyncExitStack() as around:
            for batcher in self._batchers:
                await around.enter_async_context(batcher.running())
            await around.enter_async_context(self._doubtful.running())
            yield

    def add(self, work: W, outcome: Outcome, answered: Answered[W]) -> None:
        """Have an outcome written. `answered` is called once; it must neither wait nor raise."""
        if isinstance(outcome, InDoubt) and outcome.otherwise is not None:
            self._doubtful.add((work, outcome), partial(self._looked, answered))
        elif (batcher := self._of.get(type(outcome))) is not None:
            batcher.add((work, outcome), answered)
        else:
            answered((work, outcome), KeyError(type(outcome)))

    async def put(self, work: W, outcome: Outcome) -> Outcome:
        """Have an outcome written and return what was; cancelled, as Batcher.put.

        Raises LeaseLost, DatabaseUnavailable (then nobody knows whether it was written), or what its writer raises.
        """
        return await self._of[type(outcome)].put((work, outcome))

    async def _write(self, writer: Writer[W], items: Sequence[tuple[W, Outcome]]) -> Sequence[Outcome | Exception]:
        # Two batches that lock the same rows lock them in the same order.
        keys = [(work.tenant_id, work.subject.int) for work, _ in items]
        order = sorted(range(len(items)), key=keys.__getitem__)
        batch = [items[n] for n in order]
        failpoints.reached("batching")
        if failpoints.is_armed("writing"):
            trio.lowlevel.spawn_system_task(_reach_while_writing)
        written: Sequence[Outcome | Exception | None]

        async def write(batch: Sequence[tuple[W, Outcome]]) -> Sequence[Outcome | None]:
            return await self._db.run(writer, batch, self._clock())

        async def write_by_node() -> Sequence[Outcome | Exception | None]:
            return await self._db.run_by_node(batch, _tenant_of, write) if self.kind.on_nodes else await write(batch)

        try:
            written = await (write_by_node() if self._db.has_silent_nodes else write(batch))
        except Contended:
            raise
        except DatabaseUnavailable:
            unknown = DatabaseUnavailable("the link broke while it was written, and it may have been")
            try:
                # Where a node of a cluster is away, the rows of the others are written all the same.
                again = await write_by_node()
            except Contended as blocked:  # tried in parts again, what was committed would answer as lost
                raise unknown from blocked
            written = [unknown if outcome is None else outcome for outcome in again]
        failpoints.reached("batched")
        found = dict(zip(order, written, strict=True))
        return [found[n] or LeaseLost(work.subject, work.epoch) for n, (work, _) in enumerate(items)]

    async def _look(self, items: Sequence[tuple[W, InDoubt]]) -> Sequence[Outcome | Exception]:
        """Which of these doubts there is reason for, and what is to be written where there is none."""

        async def look(items: Sequence[tuple[W, InDoubt]]) -> Sequence[bool]:
            return await self._db.run(self.kind.are_open, [work for work, _ in items])

        found: list[Outcome | Exception] = []
        answers = await self._db.run_together(items, _tenant_of, look)
        for (_, doubt), is_open in zip(items, answers, strict=True):
            if isinstance(is_open, Exception):
                found.append(is_open)
            else:
                found.append(doubt if is_open or doubt.otherwise is None else doubt.otherwise)
        return found

    def _looked(self, answered: Answered[W], item: tuple[W, InDoubt], outcome: Outcome | Exception) -> None:
        if isinstance(outcome, Exception):
            answered(item, outcome)
        else:
            self._of[type(outcome)].add((item[0], outcome), answered)


def _tenant_of(item: tuple[Job, Any]) -> TenantId:
    return item[0].tenant_id


async def _reach_while_writing() -> None:
    await trio.sleep(0.001)
    failpoints.reached("writing")
