"""Direct intake: rows that this process accepts go to its first stage without a claim.

The front reserves a place, inserts the row with its first lease in the same commit, then commits or cancels the
reservation. While the stage does not run in this process there is no place, and the row is due for any worker. See
docs/decisions/micro-performance.md.
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

#: How long closing waits for open reservations. Later rows are freed with the process's others (fe/queue/rescuer.py).
_LAST_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Reservation(Generic[W]):
    """A place for a row. `commit` or `cancel` ends it; the first call counts."""

    work: W
    _taker: NextStage
    _ended: Callable[["Reservation[W]"], bool]

    def commit(self) -> None:
        """The row is stored and leased to this process: try it."""
        if self._ended(self):
            self._taker.go_on(self.work, AT_ONCE)

    def cancel(self) -> None:
        """The row is not stored, not leased, or that is unknown: any worker may claim it."""
        if self._ended(self):
            self._taker.release(self.work, AT_ONCE)


@dataclass(slots=True)
class DirectIntake(Generic[W]):
    """One for each kind of work in a process that accepts rows and works on them."""

    #: Holder and duration of the leases.
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
        """Pass rows to `stage` while the block and that stage run. `bookings` must run for longer."""
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
        """Reserve a place for a row, by the rules of a claim; None when there is no room."""
        taker = self._taker()
        if taker is None or not taker.reserve(work, AT_ONCE):
            return None
        place = self._places[id(work)] = Reservation(work, taker, self._ended)
        return place

    def _ended(self, place: Reservation[W]) -> bool:
        was_open = self._places.pop(id(place.work), None) is not None
        if not self._places:
            self._empty.set()
        return was_open
