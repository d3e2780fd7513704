"""The pulse: for how long this process may be sure that nobody takes it for dead, and with that, that it may send.

A claim is fenced in the database by its epoch, but bytes on the wire are not. A process that stands still between its
committed intent and the first byte (stopped, swapped out, its machine asleep) may wake when its row is another's, who
has asked the authority, was told "not known" and has sent. So the last thing before the first byte is a look at the
time. These bounds hold together, in seconds:

    5   a sign of life is given so often (BEAT_SECONDS)
    20  after the last one that was there before the intent, nothing is sent any more (two thirds of what follows)
    30  after the last one others take us for dead and free our rows (SILENCE)
    45  a try may take so long (fe/actors/stages.py), by Trio's clock, which stands still while the machine sleeps
    60  a claim lapses by itself (FE_LEASE_SECONDS; the intent renews it)

Beat and silence shrink with FE_TIME_SCALE; where the lease is shorter than the silence, it is the lease that counts.
What is left between 20 and 30 is for what may still come between the look and the system call that follows it, and for
clocks that run at different speeds. A process that is stopped for longer at exactly that instruction would still send.
"""

from collections.abc import Callable
from datetime import timedelta

from fe.clock import boot_seconds

BEAT_SECONDS = 5.0

#: A worker that missed this much is taken for dead. Being wrong costs a question to the authority, never a document.
SILENCE = timedelta(seconds=30)

_SURE_FOR = 2 / 3


class LeaseUncertain(Exception):
    """Others may have taken over what we hold, or are about to: nothing may be sent."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"nothing was sent: this worker gave its last sign of life {seconds:.0f} s before")


class LeaseGuard:
    """When this process last gave a sign of life that is committed.

    `clock` must go on while the machine sleeps. It counts from the moment *before* the writing began: what others
    compare with is that moment or a later one. Until there is a sign, from when this was made: nobody can have seen an
    older one.
    """

    def __init__(self, *, lease: timedelta, scale: float = 1.0, clock: Callable[[], float] = boot_seconds) -> None:
        self.now = clock
        self._last = clock()
        self._sure_for = min(SILENCE * scale, lease).total_seconds() * _SURE_FOR

    def renewed(self, begun: float) -> None:
        """A sign of life is committed whose writing began at `begun` (by `now`)."""
        self._last = begun

    def look(self) -> Callable[[], None]:
        """Look, and give what looks again later: at the same sign of life, whatever has been given since.

        Take it before the intent is written. After that, a new sign says nothing about the time before it: whoever was
        thought dead gives one as soon as it wakes. Both raise LeaseUncertain.
        """
        sign = self._last

        def again() -> None:
            silent = self.now() - sign
            if silent > self._sure_for:
                raise LeaseUncertain(silent)

        again()
        return again
