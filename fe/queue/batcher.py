"""Group commit: items added during one write are written together by the next.

Without `gather` no item waits for a timer: the first is written at once, alone; under load the batches grow.
"""

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

import trio

from fe.store.postgres.errors import Contended, DatabaseUnavailable

T = TypeVar("T")
R = TypeVar("R")

#: Largest batch.
MAX_BATCH = 500

#: A batch of this size is written without waiting for more.
ENOUGH = 32

#: Timeout of a write; afterwards it is unknown whether its items were written.
WRITE_SECONDS = 10.0


def _no_time() -> float:
    return 0.0


#: Receives an item and its result, or the error of writing it alone, or DatabaseUnavailable.
Answer = Callable[[T, R | Exception], None]

#: Writes items, all or (when it raises) none; returns a result or an error for each.
Write = Callable[[Sequence[T]], Awaitable[Sequence[R | Exception]]]


class _Entry(Generic[T, R]):
    __slots__ = ("answer", "item", "withdrawn")

    def __init__(self, item: T, answer: Answer[T, R]) -> None:
        self.item = item
        self.answer: Answer[T, R] | None = answer
        self.withdrawn = False

    def say(self, result: R | Exception) -> None:
        """Answer, once."""
        answer, self.answer = self.answer, None
        if answer is not None:
            answer(self.item, result)


class Batcher(Generic[T, R]):
    """Writes items together, in the order in which they were added.

    When a write raises, the batch is split in halves, until a bad item is alone and the others are written. A single
    item that met contention (Contended) is tried once more. When the database is away nothing is retried, and every
    item of the batch gets DatabaseUnavailable.

    `gather` returns for how many seconds the first item may wait for more, up to ENOUGH items: a batch costs as much
    as one item. `writers` batches may be written at the same time, each on its own connection, in any order.
    """

    def __init__(
        self,
        write: Write[T, R],
        *,
        limit: int = MAX_BATCH,
        seconds: float = WRITE_SECONDS,
        writers: int = 1,
        gather: Callable[[], float] = _no_time,
    ) -> None:
        self._write = write
        self._limit = limit
        self._seconds = seconds
        self._writers = writers
        self._gather = gather
        self._waiting: deque[_Entry[T, R]] = deque()
        self._under_way: list[list[_Entry[T, R]]] = []
        self._idle_writers = trio.lowlevel.ParkingLot()
        self._parked = 0
        self._gathering = trio.lowlevel.ParkingLot()
        self._first_at = 0.0
        self._idle = trio.Event()
        self._idle.set()
        self._is_idle = True

    def add(self, item: T, answer: Answer[T, R]) -> None:
        """Queue an item. A writing task calls `answer` once; it must neither wait nor raise."""
        self._put(_Entry(item, answer))

    async def put(self, item: T) -> R:
        """Write an item and return its result; raise the error of writing it alone, or DatabaseUnavailable.

        Cancelled before its batch begins, it is withdrawn; after that it is written with the batch.
        """
        answered = trio.Event()
        said: list[R | Exception] = []

        def answer(_: T, result: R | Exception) -> None:
            said.append(result)
            answered.set()

        entry: _Entry[T, R] = _Entry(item, answer)
        self._put(entry)
        try:
            await answered.wait()
        except trio.Cancelled:
            entry.withdrawn = True
            raise
        (result,) = said
        if isinstance(result, Exception):
            raise result
        return result

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Write items while the block runs, and the remaining ones at its end.

        An outer cancellation does not stop the writing. Items not written within the timeout after the block get
        DatabaseUnavailable.
        """
        scope = trio.CancelScope(shield=True)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._write_all, scope)
            try:
                yield
            finally:
                with trio.move_on_after(min(self._seconds, WRITE_SECONDS), shield=True):
                    await self._idle.wait()
                scope.cancel()
        for entry in [*(entry for batch in self._under_way for entry in batch), *self._waiting]:
            entry.say(DatabaseUnavailable("everything came to an end before it was written"))

    def _put(self, entry: _Entry[T, R]) -> None:
        if not self._waiting:
            self._first_at = trio.current_time()
        self._waiting.append(entry)
        if len(self._waiting) == ENOUGH and self._gathering:
            self._gathering.unpark_all()
        if self._parked:  # unparking an empty lot costs ten times this check
            self._parked -= 1
            self._idle_writers.unpark()
        if self._is_idle:
            self._is_idle, self._idle = False, trio.Event()

    async def _write_all(self, scope: trio.CancelScope) -> None:
        with scope:
            async with trio.open_nursery() as nursery:
                for _ in range(self._writers):
                    nursery.start_soon(self._run)

    async def _run(self) -> None:
        while True:
            while not self._waiting:
                if not self._under_way:
                    self._idle.set()
                    self._is_idle = True
                self._parked += 1
                await self._idle_writers.park()
            await self._let_gather()
            batch = self._next()
            self._under_way.append(batch)
            await self._write_some(batch)
            self._under_way.remove(batch)

    async def _let_gather(self) -> None:
        """Wait for more items, until the first has waited as long as it may."""
        if len(self._waiting) >= ENOUGH or (seconds := self._gather()) <= 0.0:
            return
        until = self._first_at + seconds
        if trio.current_time() < until:
            with trio.move_on_at(until):
                await self._gathering.park()

    def _next(self) -> list[_Entry[T, R]]:
        batch: list[_Entry[T, R]] = []
        while self._waiting and len(batch) < self._limit:
            entry = self._waiting.popleft()
            if not entry.withdrawn:
                batch.append(entry)
        return batch

    async def _write_some(self, batch: Sequence[_Entry[T, R]], *, again: bool = False) -> None:
        if not batch:
            return
        results: Sequence[R | Exception]
        try:
            with trio.fail_after(self._seconds):
                results = await self._write([entry.item for entry in batch])
        except Exception as error:
            is_away = isinstance(error, DatabaseUnavailable | trio.TooSlowError) and not isinstance(error, Contended)
            if len(batch) > 1 and not is_away:
                middle = len(batch) // 2
                await self._write_some(batch[:middle])
                await self._write_some(batch[middle:])
                return
            if isinstance(error, Contended) and not again:
                await self._write_some(batch, again=True)
                return
            # One exception each: a traceback grows with every raise.
            away = str(error) or "the write took too long"
            results = [DatabaseUnavailable(away) for _ in batch] if is_away else [error]
        for entry, result in zip(batch, results, strict=True):
            entry.say(result)
