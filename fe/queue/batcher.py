"""Group commit: what is handed in while one write is under way is written together by the next.

There is no timer: the first item is written at once, alone, and under load the batches grow by themselves.
"""

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

import trio

from fe.store.errors import DatabaseUnavailable

T = TypeVar("T")
R = TypeVar("R")

#: So many items make a batch at most.
MOST = 500

#: A write may take this long; then its items have not been written, as far as anybody can tell.
WRITE_SECONDS = 10.0


class _Entry(Generic[T, R]):
    __slots__ = ("answered", "error", "item", "result", "withdrawn")

    def __init__(self, item: T) -> None:
        self.item = item
        self.answered = trio.Event()
        self.result: R | None = None
        self.error: Exception | None = None
        self.withdrawn = False


class Batcher(Generic[T, R]):
    """Gathers items and has them written together by one task, in the order in which they came.

    `write` takes some items and returns one result for each, all of them written or, when it raises, none. When it
    raises, the halves are tried by themselves, and so on: a bad item ends up alone, and the others are written.
    Only when the database is away is nothing tried again, and every item of the batch hears of it.
    """

    def __init__(
        self,
        write: Callable[[Sequence[T]], Awaitable[Sequence[R]]],
        *,
        most: int = MOST,
        seconds: float = WRITE_SECONDS,
    ) -> None:
        self._write = write
        self._most = most
        self._seconds = seconds
        self._waiting: deque[_Entry[T, R]] = deque()
        self._handed_in = trio.Event()

    async def put(self, item: T) -> R:
        """Have the item written and return its result, or raise what writing it alone raised, or DatabaseUnavailable.

        Cancelled while it waits for its batch to begin, it is withdrawn; after that it is written with the batch, which
        goes on as if nothing had happened.
        """
        entry: _Entry[T, R] = _Entry(item)
        self._waiting.append(entry)
        self._handed_in.set()
        try:
            await entry.answered.wait()
        except trio.Cancelled:
            entry.withdrawn = True
            raise
        if entry.error is not None:
            raise entry.error
        return entry.result  # type: ignore[return-value]  # no error, so `write` gave it; R may be optional

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Write, while the block runs, what is handed in.

        A cancellation from outside does not reach the writing: whoever hands something in, shielded, while everything
        comes to an end, gets it written. A write under way when the block ends is given up.
        """
        scope = trio.CancelScope(shield=True)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._run, scope)
            try:
                yield
            finally:
                scope.cancel()

    async def _run(self, scope: trio.CancelScope) -> None:
        with scope:
            while True:
                await self._handed_in.wait()
                self._handed_in = trio.Event()
                while batch := self._next():
                    await self._write_some(batch)

    def _next(self) -> list[_Entry[T, R]]:
        batch: list[_Entry[T, R]] = []
        while self._waiting and len(batch) < self._most:
            entry = self._waiting.popleft()
            if not entry.withdrawn:
                batch.append(entry)
        return batch

    async def _write_some(self, batch: Sequence[_Entry[T, R]]) -> None:
        try:
            with trio.fail_after(self._seconds):
                results = await self._write([entry.item for entry in batch])
        except (DatabaseUnavailable, trio.TooSlowError) as error:
            for entry in batch:
                # Each its own: a traceback grows with everyone who raises it.
                entry.error = DatabaseUnavailable(str(error) or "the write took too long")
                entry.answered.set()
        except Exception as error:
            if len(batch) == 1:
                batch[0].error = error
                batch[0].answered.set()
                return
            middle = len(batch) // 2
            await self._write_some(batch[:middle])
            await self._write_some(batch[middle:])
        else:
            for entry, result in zip(batch, results, strict=True):
                entry.result = result
                entry.answered.set()
