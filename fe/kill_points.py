"""Named points at which a process can be told to die, for the fault suite. Unless FE_KILL_POINT says so, none is armed.

`FE_KILL_POINT=intended:3` kills the process with SIGKILL at the third arrival at `intended`: no handler runs, nothing
is flushed, as when the power goes.
"""

import os
import signal

#: Where a process can die, in the order of a document's life.
POINTS = (
    "accepting",  # the request was read, nothing is stored
    "accepted",  # committed, not yet answered
    "claimed",  # a batch is leased, nothing done
    "worked",  # the step's work is done, not booked
    "intended",  # the intent is committed, no byte sent
    "answered",  # the authority has answered, nothing booked
    "booked",  # the outcome is committed, nobody told
)

_armed: dict[str, int] = {}


def arm(order: str) -> None:
    """Arm a point: `name` or `name:n` for the n-th arrival; an empty order arms none. Raises ValueError."""
    _armed.clear()
    if not order:
        return
    name, _, count = order.partition(":")
    if name not in POINTS or (count and not count.isdigit()):
        raise ValueError(f"a kill point is one of {', '.join(POINTS)}, with `:n` for the n-th arrival")
    _armed[name] = int(count or 1)


def reached(name: str) -> None:
    """Say that the process is at a point; when it was armed for this arrival, this is its end."""
    if name in _armed:
        _armed[name] -= 1
        if _armed[name] <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
