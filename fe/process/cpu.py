"""How far processes of ours stand behind others, and how much of the processors they take over time."""

import math
import os
from contextlib import suppress
from pathlib import Path

#: Others come first; it still gets a tenth of a processor that they would use up.
_NICE = 10
#: The least there is, of a session's processes among those of other sessions.
_LAST = 19
_AUTOGROUP = Path("/proc/self/autogroup")


def run_behind_others() -> None:
    """From now on this process gets what others leave of a processor, and a tenth of it at least."""
    _leave_session(_NICE)
    os.nice(_NICE)


def run_when_idle() -> None:
    """From now on this process runs while a processor has nothing else to do, and next to never otherwise.

    Whoever wakes takes the processor from it in that moment. Where there is no such class it is as behind others as can
    be. Without a privilege there is no way back.
    """
    _leave_session(_LAST)
    os.nice(_LAST)
    if hasattr(os, "SCHED_IDLE"):
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _leave_session(nice: int) -> None:
    """Become a session of its own, as far behind others as `nice` says.

    Where Linux groups processes by session (sched_autogroup), it shares processors out among the groups first: what
    this process is among those of its session would mean nothing to the database, and what it took of a processor
    would be counted as the front's.
    """
    with suppress(OSError):  # it leads a group of processes already
        os.setsid()
    with suppress(OSError):  # not there, or of no account
        _AUTOGROUP.write_text(str(nice), encoding="ascii")


class Pace:
    """Seconds of a processor that are taken piece by piece, over time not more than `rate` in a second."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        #: When the next piece may begin, in seconds of a clock that only moves forward.
        self.free_from = -math.inf

    def take(self, seconds: float, began: float) -> None:
        """Count a piece that began then and took so much: what took its time at this rate is free again at once."""
        self.free_from = max(self.free_from, began) + seconds / self._rate
