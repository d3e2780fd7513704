"""A pool of tasks that try claimed rows; it grows to the largest number needed at the same time."""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Generic, TypeVar

import trio

T = TypeVar("T")

#: A worker yields after this many calls in a row: even if no call ever waits, rows are claimed and outcomes written
#: meanwhile.
_GIVE_WAY = 32


class WorkerPool(Generic[T]):
    """Calls `carry` on each item. The pool has no limit: callers hold a slot for each item.

    A call is cancelled after `seconds`, or with the nursery. Then `cut_short` is called in its task and context with
    whether its time was up; it must neither wait nor raise.
    """

    def __init__(
        self, carry: Callable[[T], Awaitable[None]], *, seconds: float, cut_short: Callable[[T, bool], None]
    ) -> None:
        self._carry = carry
        self._seconds = seconds
        self._cut_short = cut_short
        # Items that wait for a worker, idle workers, and workers that were woken and have not started yet.
        self._waiting: deque[T] = deque()
        self._idle = trio.lowlevel.ParkingLot()
        self._called = 0
        #: A worker that made many calls in a row yields.
        self._gives_way = False
        # Item and start of each call. All have the same time limit, so the first entry expires first and one timer is
        # enough: a deadline for each cost a third of the engine's CPU.
        self._carried: dict[trio.CancelScope, T] = {}
        self._began: dict[trio.CancelScope, float] = {}

    def open(self, nursery: trio.Nursery) -> None:
        """Start workers in `nursery` when needed; they end with it."""
        self._nursery = nursery
        nursery.start_soon(self._keep_time)

    def put(self, items: Iterable[T]) -> None:
        """Queue items for the workers."""
        self._waiting.extend(items)
        self._call()

    def not_begun(self) -> Iterator[T]:
        """Remove and yield items that no worker has started."""
        while self._waiting:
            yield self._waiting.popleft()

    def _call(self) -> None:
        """Wake two workers, each of which wakes two: as many as needed, and few if no call ever waits."""
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
            # The worker that yields continues afterwards: no call waits then, and one worker is enough.
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
                return  # it finished in the moment its time was up

    async def _keep_time(self) -> None:
        while True:
            # Calls that start meanwhile expire later than that.
            now = trio.current_time()
            await trio.sleep_until(next(iter(self._began.values()), now) + self._seconds)
            now = trio.current_time()
            for scope in [scope for scope, began in self._began.items() if began + self._seconds <= now]:
                del self._began[scope]
                scope.cancel()
