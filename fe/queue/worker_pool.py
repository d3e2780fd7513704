"""Who tries the rows that were claimed: tasks that stay, as many as were ever needed at once."""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Generic, TypeVar

import trio

T = TypeVar("T")

#: After so many calls in a row a worker lets others run: where no call ever waits, the next rows are claimed, and what
#: these came to is written, while the last of them are tried.
_GIVE_WAY = 32


class WorkerPool(Generic[T]):
    """Calls `carry` on what is put in. It has no limit: whoever puts something in has a slot for it.

    A call that takes longer than `seconds` is cancelled, and all are when the nursery is. `cut_short` is told of such a
    one, in its task and its context, and whether its time was up; it must neither wait nor raise.
    """

    def __init__(
        self, carry: Callable[[T], Awaitable[None]], *, seconds: float, cut_short: Callable[[T, bool], None]
    ) -> None:
        self._carry = carry
        self._seconds = seconds
        self._cut_short = cut_short
        # What waits for a worker, workers that wait for something, and how many were called and have not come yet.
        self._waiting: deque[T] = deque()
        self._idle = trio.lowlevel.ParkingLot()
        self._called = 0
        #: One that has made many calls in a row lets others run.
        self._gives_way = False
        # What each worker is at, and since when. All have the same time for it: the first here is the first out of
        # time, so that one timer does for all. A deadline for each cost a third of the engine's CPU.
        self._carried: dict[trio.CancelScope, T] = {}
        self._began: dict[trio.CancelScope, float] = {}

    def open(self, nursery: trio.Nursery) -> None:
        """Start workers in `nursery`, as they are needed; they end with it."""
        self._nursery = nursery
        nursery.start_soon(self._keep_time)

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
        while True:  # once, and once more after each call whose time was up
            scope = trio.CancelScope()
            try:
                with scope:
                    await self._work_within(scope)
            finally:
                if scope in self._carried:
                    self._began.pop(scope, None)
                    self._cut_short(self._carried.pop(scope), scope.cancelled_caught)

    async def _work_within(self, scope: trio.CancelScope) -> None:
        in_a_row = 0
        while True:
            # Whoever gives way comes back and goes on: calls wait for nothing then, and one worker is enough.
            while not self._waiting or self._gives_way:
                await self._idle.park()
                self._called -= 1
                in_a_row = 0
            if in_a_row == _GIVE_WAY:
                in_a_row = 0
                self._gives_way = True
                await trio.lowlevel.checkpoint()
                self._gives_way = False
                continue
            in_a_row += 1
            item = self._carried[scope] = self._waiting.popleft()
            self._began[scope] = trio.current_time()
            if self._waiting and not self._called:
                self._call()
            await self._carry(item)
            del self._carried[scope]
            if self._began.pop(scope, None) is None:
                return  # it was done at the moment at which its time was up

    async def _keep_time(self) -> None:
        while True:
            # What begins meanwhile is out of time later than that.
            now = trio.current_time()
            await trio.sleep_until(next(iter(self._began.values()), now) + self._seconds)
            now = trio.current_time()
            for scope in [scope for scope, began in self._began.items() if began + self._seconds <= now]:
                del self._began[scope]
                scope.cancel()
