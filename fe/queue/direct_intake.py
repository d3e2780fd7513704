"""Straight from where rows come in: what this process takes in goes to the stage that begins with it, without a claim.

Whoever takes a row in asks here first, for a place; then has the row leased, as the first claim of it, in the very
commit in which it comes to be; and then says whether it was. Until a stage runs in this process, and after it has
ended, there is no place: then rows are due for whoever claims them. See docs/decisions/micro-performance.md.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Generic

import trio

from fe.queue.outcome import AT_ONCE
from fe.queue.result_writer import NextStage, ResultWriter
from fe.queue.stage import W

#: At the end those are waited for who have a place and have not said yet whether their row came to be. What is later
#: than that is freed with whatever else a process held (fe/queue/rescuer.py).
_LAST_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Reservation(Generic[W]):
    """A place for a row that may come. `come` or `stay_away` ends it; the first call counts."""

    work: W
    _taker: NextStage
    _ended: Callable[["Reservation[W]"], bool]

    def commit(self) -> None:
        """The row is there, and leased to us: it is tried."""
        if self._ended(self):
            self._taker.go_on(self.work, AT_ONCE)

    def cancel(self) -> None:
        """It is not there, or not leased, or nobody knows: then it is tried by whoever claims it."""
        if self._ended(self):
            self._taker.release(self.work, AT_ONCE)


@dataclass(slots=True)
class DirectIntake(Generic[W]):
    """One for each kind of work in a process that takes rows in and works on them."""

    #: To whom a row is leased, and for how long.
    holder: str = ""
    lease: timedelta = AT_ONCE
    _taker: Callable[[], NextStage | None] = lambda: None
    #: By the row's identity.
    _places: dict[int, Reservation[W]] = field(default_factory=dict)
    _empty: trio.Event = field(default_factory=trio.Event)

    @asynccontextmanager
    async def open(
        self, bookings: ResultWriter[W], stage: str, *, holder: str, lease: timedelta
    ) -> AsyncIterator[None]:
        """Let rows in to `stage` while the block runs and that stage does. `bookings` must run for longer."""
        self.holder, self.lease, self._taker = holder, lease, lambda: bookings.next_stages.get(stage)
        try:
            yield
        finally:
            self._taker = lambda: None
            if self._places:
                self._empty = trio.Event()
                with trio.move_on_after(_LAST_SECONDS, shield=True):
                    await self._empty.wait()

    @property
    def is_open(self) -> bool:
        """Whether the stage behind it runs."""
        return self._taker() is not None

    def reservation_for(self, work: W) -> Reservation[W] | None:
        """Keep a place for a row, if it may be tried now, or nearly: as a claim would have it."""
        taker = self._taker()
        if taker is None or not taker.may_take(work, AT_ONCE):
            return None
        taker.reserve(work, AT_ONCE)
        place = self._places[id(work)] = Reservation(work, taker, self._ended)
        return place

    def _ended(self, place: Reservation[W]) -> bool:
        was_open = self._places.pop(id(place.work), None) is not None
        if not self._places:
            self._empty.set()
        return was_open
