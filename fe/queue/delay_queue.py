"""Delay queue: claimed rows that wait in memory until they are due, without a slot."""

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from typing import Generic, TypeVar

import trio

#: Due times are rounded up to this grid, so that rows written together are tried together.
_GRID = 0.1

#: How long a due row waits for a slot before it goes back to the outbox. This and the time of a try must be shorter
#: than the lease: see fe/actors/stages.py.
_PATIENCE = 4.0

T = TypeVar("T")


class DelayQueue(Generic[T]):
    """At most `limit` rows of one stage.

    A due row is started with `begin` as soon as `fits` finds a slot for it; without a slot for too long it is given to
    `return_row`. None of the three may wait.
    """

    def __init__(
        self, limit: int, *, fits: Callable[[T], bool], begin: Callable[[T], None], return_row: Callable[[T], None]
    ) -> None:
        self._capacity = limit
        self._fits = fits
        self._begin = begin
        self._return_row = return_row
        self._waiting: list[tuple[float, int, T]] = []
        self._due: deque[tuple[float, T]] = deque()
        self._order = count()
        self._changed = trio.lowlevel.ParkingLot()

    def count(self) -> int:
        """Return how many rows are held."""
        return len(self._waiting) + len(self._due)

    def is_waited_for(self) -> bool:
        """Whether a due row waits for a slot."""
        return bool(self._due)

    def has_capacity(self) -> bool:
        """Whether another row may be held."""
        return self._capacity > 0

    def reserve(self) -> None:
        """Reserve room for a row, until `put` or `release`."""
        self._capacity -= 1

    def release(self) -> None:
        """Give reserved room back."""
        self._capacity += 1

    def put(self, row: T, after: timedelta) -> None:
        """Hold a row with reserved room until `after` has passed; with zero, until there is a slot for it."""
        if not after:
            self._due.append((trio.current_time(), row))
            self._changed.unpark_all()
            return
        at = math.ceil((trio.current_time() + after.total_seconds()) / _GRID) * _GRID
        heapq.heappush(self._waiting, (at, next(self._order), row))
        if self._waiting[0][0] == at:
            self._changed.unpark_all()

    def slot_is_free(self) -> None:
        """Try due rows again."""
        if self._due:
            self._changed.unpark_all()

    def take_all(self) -> Iterator[T]:
        """Remove and yield all rows."""
        while self._due:
            self._capacity += 1
            yield self._due.popleft()[1]
        while self._waiting:
            self._capacity += 1
            yield self._waiting.pop()[2]

    async def run(self) -> None:
        """Start rows as they come due, until cancelled; the rest stays for `take_all`."""
        while True:
            soonest = self._waiting[0][0] if self._waiting else math.inf
            patience = self._due[0][0] + _PATIENCE if self._due else math.inf
            with trio.move_on_at(min(soonest, patience)):
                await self._changed.park()
            self._begin_due()

    def _begin_due(self) -> None:
        now = trio.current_time()
        while self._waiting and self._waiting[0][0] <= now:
            at, _, row = heapq.heappop(self._waiting)
            self._due.append((at, row))
        still: deque[tuple[float, T]] = deque()
        for at, row in self._due:
            if self._fits(row):
                self._capacity += 1
                self._begin(row)
            elif at + _PATIENCE <= now:
                self._capacity += 1
                self._return_row(row)
            else:
                still.append((at, row))
        self._due = still
