"""CPU priority of processes, and a limit of the CPU time that they use."""

import math
import os
from contextlib import suppress
from pathlib import Path

#: Lower priority; it still gets a tenth of a busy processor.
_NICE = 10
#: Lowest priority.
_LAST = 19
_AUTOGROUP = Path("/proc/self/autogroup")


def run_behind_others() -> None:
    """Lower this process's priority: it gets the idle time of a processor, and at least a tenth of it."""
    _leave_session(_NICE)
    os.nice(_NICE)


def run_when_idle() -> None:
    """Run this process only while a processor is idle (SCHED_IDLE, or the lowest priority where that is missing).

    Any other process preempts it. Without privileges this cannot be undone.
    """
    _leave_session(_LAST)
    os.nice(_LAST)
    if hasattr(os, "SCHED_IDLE"):
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def _leave_session(nice: int) -> None:
    """Start a session of its own with priority `nice`.

    Where Linux groups processes by session (sched_autogroup), it divides processors among the groups first: priority
    within the session would not matter to the database, and CPU time would count as the front's.
    """
    with suppress(OSError):  # already a group leader
        os.setsid()
    with suppress(OSError):  # not available
        _AUTOGROUP.write_text(str(nice), encoding="ascii")


class Pace:
    """Limits CPU time over time to `rate` seconds per second."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        #: When the next piece may begin, on a monotonic clock.
        self.free_from = -math.inf

    def take(self, seconds: float, began: float) -> None:
        """Count a piece that began at `began` and took `seconds` of CPU."""
        self.free_from = max(self.free_from, began) + seconds / self._rate
