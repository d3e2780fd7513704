"""Group commit: writes outcomes that finish together in one transaction.

All stages of a kind of work in a process share one writer. Outcomes with the same writer function make a batch; see
docs/decisions/micro-performance.md.

When the link breaks during a batch it is unknown whether it was committed. Writing it once more is harmless, because
each row is fenced: a committed one answers as a lost claim. So it is retried until the database is back, for a part of
the lease: a restart of Postgres then delays a document by itself, and not by the rest of the lease. Rows refused then
report DatabaseUnavailable; if they were written they have moved on, else the lease decides.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

import trio

from fe.clock import Clock
from fe.identifiers import TenantId
from fe.process import failpoints
from fe.queue.batcher import Batcher
from fe.queue.outcome import InDoubt, Outcome, Writer
from fe.queue.stage import Job, W, WorkKind
from fe.store.postgres.db import Database
from fe.store.postgres.errors import Contended, DatabaseUnavailable, LeaseLost, NodeUnavailable

#: Concurrent batches per writer; different outcomes have different writers as it is.
SIDE_BY_SIDE = 1

T = TypeVar("T")

#: How long outcomes that could not be written are kept and retried, in seconds: half of a lease.
_KEPT_SECONDS = 30.0
#: Pause between two tries.
_AGAIN_SECONDS = 0.25

#: How long outcomes and claims wait for more: the first for each other row under way, at most the second. A row alone
#: does not wait.
_GATHER_FOR_EACH = 0.001
_LONGEST_GATHER = 0.04

#: Receives a row with its outcome, and the outcome written or the error; LeaseLost when the claim was lost.
Answered = Callable[[tuple[W, Outcome], Outcome | Exception], None]


class NextStage(Protocol):
    """A stage that can take a row over from the one before it without a separate claim."""

    @property
    def changes_nothing(self) -> bool:
        """Whether its tries have no effect elsewhere, so that an extra try does no harm."""

    def under_way(self) -> int:
        """Return how many of its rows are in flight or held."""

    def free_slots(self) -> int:
        """Return how many rows it could start now."""

    def reserve(self, work: Job, after: timedelta) -> bool:
        """Reserve a slot for the row, or room to hold it, until `go_on` or `release`; False where there is none."""

    def go_on(self, work: Job, after: timedelta) -> None:
        """The row is claimed for this stage: try it."""

    def release(self, work: Job, after: timedelta) -> None:
        """The row does not come."""


class ResultWriter(Generic[W]):
    """Writes outcomes. Add them while `running`."""

    def __init__(self, kind: WorkKind[W], db: Database, clock: Clock) -> None:
        self.kind = kind
        self._db = db
        self._clock = clock
        #: The stages that run in this process, by their names.
        self.next_stages: dict[str, NextStage] = {}
        by_writer: dict[Writer[W], Batcher[tuple[W, Outcome], Outcome]] = {
            writer: Batcher(
                partial(self._write, writer), seconds=_KEPT_SECONDS, writers=SIDE_BY_SIDE, gather=self.gather_seconds
            )
            for writer in kind.writers.values()
        }
        self._of = {outcome: by_writer[writer] for outcome, writer in kind.writers.items()}
        self._batchers = list(by_writer.values())
        self._doubtful: Batcher[tuple[W, InDoubt], Outcome] = Batcher(self._look, seconds=_KEPT_SECONDS)
        self._is_ending = False

    def gather_seconds(self) -> float:
        """Return how long a write or a claim may wait for more rows: longer the more are under way, 0 for one.

        A batch costs Postgres nearly the same for one row as for several.
        """
        under_way = sum(taker.under_way() for taker in self.next_stages.values())
        return min(_LONGEST_GATHER, _GATHER_FOR_EACH * (under_way - 1)) if under_way > 1 else 0.0

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Write while the block runs, and the rest at its end: see Batcher.running."""
        async with AsyncExitStack() as around:
            for batcher in self._batchers:
                await around.enter_async_context(batcher.running())
            await around.enter_async_context(self._doubtful.running())
            try:
                yield
            finally:
                self._is_ending = True

    def add(self, work: W, outcome: Outcome, answered: Answered[W]) -> None:
        """Queue an outcome. `answered` is called once; it must neither wait nor raise."""
        if isinstance(outcome, InDoubt) and outcome.otherwise is not None:
            self._doubtful.add((work, outcome), partial(self._looked, answered))
        elif (batcher := self._of.get(type(outcome))) is not None:
            batcher.add((work, outcome), answered)
        else:
            answered((work, outcome), KeyError(type(outcome)))

    async def put(self, work: W, outcome: Outcome) -> Outcome:
        """Write an outcome and return what was written; cancelled, as Batcher.put.

        Raises LeaseLost, DatabaseUnavailable (then it may have been written), or the writer's error.
        """
        return await self._of[type(outcome)].put((work, outcome))

    async def _write(self, writer: Writer[W], items: Sequence[tuple[W, Outcome]]) -> Sequence[Outcome | Exception]:
        # Batches lock rows in one order, so that two of them cannot deadlock.
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
                # Rows of other nodes are written even if one node of a cluster is away.
                again = await self._until_back(write_by_node)
            except Contended as blocked:  # retried in parts, committed rows would answer as lost
                raise unknown from blocked
            written = [unknown if outcome is None else outcome for outcome in again]
        failpoints.reached("batched")
        found = dict(zip(order, written, strict=True))
        return [found[n] or LeaseLost(work.subject, work.epoch) for n, (work, _) in enumerate(items)]

    async def _look(self, items: Sequence[tuple[W, InDoubt]]) -> Sequence[Outcome | Exception]:
        """Return for each doubt either itself, if a send is open, or the outcome to write instead."""

        async def look(items: Sequence[tuple[W, InDoubt]]) -> Sequence[bool]:
            return await self._db.run(self.kind.are_open, [work for work, _ in items])

        found: list[Outcome | Exception] = []
        answers = await self._until_back(partial(self._db.run_together, items, _tenant_of, look))
        for (_, doubt), is_open in zip(items, answers, strict=True):
            if isinstance(is_open, Exception):
                found.append(is_open)
            else:
                found.append(doubt if is_open or doubt.otherwise is None else doubt.otherwise)
        return found

    async def _until_back(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do something as soon as the database answers; the time limit of a batch ends it."""
        while True:
            try:
                return await work()
            except (Contended, NodeUnavailable):
                raise
            except DatabaseUnavailable:
                if self._is_ending:
                    raise
                await trio.sleep(_AGAIN_SECONDS)

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
