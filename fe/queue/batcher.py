"""Group commit: what is handed in while one write is under way is written together by the next.

Unless somebody says that there is much under way, and for how long to gather, nothing waits for a timer: the first item
is written at once, alone, and under load the batches grow by themselves.
"""

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

import trio

from fe.store.postgres.errors import Contended, DatabaseUnavailable

T = TypeVar("T")
R = TypeVar("R")

#: So many items make a batch at most.
MAX_BATCH = 500

#: With so many waiting a batch is large enough: it waits for no more.
ENOUGH = 32

#: A write may take this long; then its items have not been written, as far as anybody can tell.
WRITE_SECONDS = 10.0


def _no_time() -> float:
    return 0.0


#: Told what became of an item: its result; or what writing it alone raised; or DatabaseUnavailable.
Answer = Callable[[T, R | Exception], None]

#: Writes some items and returns what there is to say of each, which may be an error of its own. All of them are written
#: or, when it raises, none.
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
    """Gathers items and has them written together, in the order in which they came.

    When a write raises, its halves are tried by themselves, and so on: a bad item ends up alone, and the others are
    written. So do items that others stood in the way of (Contended), each of which is tried once more when it is alone.
    Only when the database is away is nothing tried again, and every item of the batch hears of it.

    `gather` is asked, before a write, for how many seconds the first of its items may wait for more; for ENOUGH items
    nobody waits. A batch of one costs as much as several.

    With `writers` above 1 so many batches are under way at once, on connections of their own: while the disk makes one
    durable the next is on its way. Two items of one batch are written together; of two batches either may be first.
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
        """Have the item written. `answer` is called once, from a writing task; it must neither wait nor raise."""
        self._put(_Entry(item, answer))

    async def put(self, item: T) -> R:
        """Have the item written and return its result, or raise what writing it alone raised, or DatabaseUnavailable.

        Cancelled while it waits for its batch to begin, it is withdrawn; after that it is written with the batch, which
        goes on as if nothing had happened.
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
        """Write, while the block runs, what is handed in; at its end, what was handed in before.

        A cancellation from outside does not reach the writing: what is handed in while everything comes to an end gets
        written. What has not been written so many seconds after the block is given up, and hears DatabaseUnavailable.
        """
        scope = trio.CancelScope(shield=True)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._write_all, scope)
            try:
                yield
            finally:
                with trio.move_on_after(self._seconds, shield=True):
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
        if self._parked:  # to wake nobody takes ten times as long as to look
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
        """Wait for more to come, if the first has not waited for long enough."""
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
            # Each its own: a traceback grows with everyone who raises it.
            away = str(error) or "the write took too long"
            results = [DatabaseUnavailable(away) for _ in batch] if is_away else [error]
        for entry, result in zip(batch, results, strict=True):
            entry.say(result)
