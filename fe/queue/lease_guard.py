"""Lease guard: a process checks just before the first byte that its claim cannot have passed to a peer.

The epoch fences a claim in the database, but not bytes on the wire. A process that is frozen between its committed
intent and the first byte (stopped, swapped out, machine asleep) may wake when a peer holds its row, has asked the
authority, got "not known" and sent. So the time is checked last. These bounds belong together, in seconds:

    5   interval of the heartbeat (BEAT_SECONDS)
    20  after the last heartbeat before the intent nothing is sent any more (two thirds of SILENCE)
    30  after the last heartbeat peers free the rows of this process (SILENCE)
    45  longest try (fe/actors/stages.py), by Trio's clock, which stops while the machine sleeps
    60  a claim lapses by itself (FE_LEASE_SECONDS; the intent renews it)

Heartbeat and silence shrink with FE_TIME_SCALE; a lease shorter than the silence replaces it. The time between 20 and
30 covers delays between the check and the system call, and clocks of different speed. A process that is frozen for
longer at exactly that instruction would still send.
"""

from collections.abc import Callable
from datetime import timedelta

from fe.clock import boot_seconds

BEAT_SECONDS = 5.0

#: A worker silent for this long counts as dead. A mistake costs a question to the authority, never a document.
SILENCE = timedelta(seconds=30)

_SURE_FOR = 2 / 3


class LeaseUncertain(Exception):
    """Peers may have taken over the rows of this process: nothing may be sent."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"nothing was sent: this worker gave its last sign of life {seconds:.0f} s before")


class LeaseGuard:
    """The time of the last committed heartbeat of this process.

    `clock` must go on while the machine sleeps. Time counts from *before* the heartbeat was written: peers compare with
    that moment or a later one. Before the first heartbeat it counts from construction.
    """

    def __init__(self, *, lease: timedelta, scale: float = 1.0, clock: Callable[[], float] = boot_seconds) -> None:
        self.now = clock
        self._last = clock()
        self._sure_for = min(SILENCE * scale, lease).total_seconds() * _SURE_FOR

    def renewed(self, begun: float) -> None:
        """A heartbeat is committed whose writing began at `begun` (by `now`)."""
        self._last = begun

    def look(self) -> Callable[[], None]:
        """Check now, and return a check for later against the same heartbeat. Both raise LeaseUncertain.

        Call it before the intent is written: a later heartbeat says nothing about the time before it, because a frozen
        process gives one as soon as it wakes.
        """
        sign = self._last

        def again() -> None:
            silent = self.now() - sign
            if silent > self._sure_for:
                raise LeaseUncertain(silent)

        again()
        return again
