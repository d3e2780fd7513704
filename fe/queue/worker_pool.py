"""Who tries the rows that were claimed: tasks that stay, as many as were ever needed at once."""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Generic, TypeVar

import trio

T = TypeVar("T")


class WorkerPool(Generic[T]):
    """Calls `carry` on what is put in. It has no limit: whoever puts something in has a slot for it."""

    def __init__(self, carry: Callable[[T], Awaitable[None]]) -> None:
        self._carry = carry
        # What waits for a worker, workers that wait for something, and how many were called and have not come yet.
        self._waiting: deque[T] = deque()
        self._idle = trio.lowlevel.ParkingLot()
        self._called = 0

    def open(self, nursery: trio.Nursery) -> None:
        """Start workers in `nursery`, as they are needed; they end with it."""
        self._nursery = nursery

    def put(self, items: Iterable[T]) -> None:
        """Leave something to the workers."""
        self._waiting.extend(items)
        self._call()

    def not_begun(self) -> Iterator[T]:
        """Take out what no worker has begun with."""
        while self._waiting:
            yield self._waiting.popleft()

    def _call(self) -> None:
        """Call two, each of which calls two: soon all are awake that are needed, and few if none ever waits."""
        if self._called or not self._waiting:
            return
        self._called = min(2, len(self._waiting))
        woken = len(self._idle.unpark(count=self._called))
        for _ in range(self._called - woken):
            self._nursery.start_soon(self._work)

    async def _work(self) -> None:
        self._called -= 1
        while True:
            while not self._waiting:
                await self._idle.park()
                self._called -= 1
            item = self._waiting.popleft()
            self._call()
            await self._carry(item)
