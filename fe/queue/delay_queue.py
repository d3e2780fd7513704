"""Rows that are claimed already and are to be tried in a while: here they wait, and take no slot until it is time."""

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import count
from typing import Generic, TypeVar

import trio

#: They come due at moments this far apart, so that those which were booked together are tried together.
_GRID = 0.1

#: How long a row that is due waits for a slot before it goes back to the queue. What a try may take and this together
#: must end before the lease does: see fe/actors/stages.py.
_PATIENCE = 4.0

T = TypeVar("T")


class DelayQueue(Generic[T]):
    """Rows of one stage that this process holds for later, at most `limit`.

    When its time has come, and `fits` says that there is a slot for it, a row is begun with; when there is none for too
    long, it is given back. None of these three may wait.
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
        """How many are held."""
        return len(self._waiting) + len(self._due)

    def is_waited_for(self) -> bool:
        """Whether one is due, and there was no slot for it yet."""
        return bool(self._due)

    def has_capacity(self) -> bool:
        """Whether another one may be held."""
        return self._capacity > 0

    def reserve(self) -> None:
        """Keep room for one, until it is put in or does not come."""
        self._capacity -= 1

    def release(self) -> None:
        """It does not come."""
        self._capacity += 1

    def put(self, row: T, after: timedelta) -> None:
        """Hold a row, for which there is room, until `after` has passed: or, without, until there is a slot for it."""
        if not after:
            self._due.append((trio.current_time(), row))
            self._changed.unpark_all()
            return
        at = math.ceil((trio.current_time() + after.total_seconds()) / _GRID) * _GRID
        heapq.heappush(self._waiting, (at, next(self._order), row))
        if self._waiting[0][0] == at:
            self._changed.unpark_all()

    def slot_is_free(self) -> None:
        """Look again at what is due and found no slot."""
        if self._due:
            self._changed.unpark_all()

    def take_all(self) -> Iterator[T]:
        """Take out whatever is held."""
        while self._due:
            self._capacity += 1
            yield self._due.popleft()[1]
        while self._waiting:
            self._capacity += 1
            yield self._waiting.pop()[2]

    async def run(self) -> None:
        """Begin with rows as they come due, until cancelled; what is held then is still there for `take_all`."""
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
