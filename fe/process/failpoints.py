"""Failpoints: named points where the fault suite kills or stops a process. Off unless FE_FAILPOINT is set.

`FE_FAILPOINT=intended:3` kills the process with SIGKILL at the third arrival at `intended`: no handler runs, nothing
is flushed, as in a power failure. `intended:3:stop` stops it there with SIGSTOP, until SIGCONT.
"""

import os
import signal

#: All failpoints, in the order of a document's life.
POINTS = (
    "accepting",  # the request was read, nothing is stored
    "accepted",  # committed, not yet answered
    "claimed",  # a batch is leased, nothing done
    "worked",  # the step's work is done, not booked
    "intended",  # the intent is committed, no byte sent
    "answered",  # the authority has answered, nothing booked
    "batching",  # outcomes or intents are gathered, their statement is not sent
    "writing",  # the statement of a batch is on its way: it may be committed or not
    "batched",  # a batch is committed, its callers not yet answered
    "booked",  # the outcome is committed, not yet handled
    "deciding",  # a decision on a received document was read, nothing is stored
    "decided",  # its ACECF is committed, not yet answered
    "handing",  # the intent to hand a document on is committed, no byte sent
    "handed",  # the counterparty has answered, nothing booked
    "counting",  # request counts are handed to the database
    "counted",  # they are committed
    "folding",  # what has ended is about to be added to its tenant's days and months
    "folded",  # it is added, and no note of it is left
    "closing",  # a month is over and about to be closed
    "closed",  # it is closed, and its charge waits
    "charging",  # the intent to charge is committed, no byte sent to the payment processor
    "charged",  # the payment processor has answered, nothing booked
    "called",  # a webhook has answered, nothing booked
    "voiding",  # the intent to void numbers is committed, no byte sent
    "voided",  # the authority has answered a voiding, nothing booked
    "mailed",  # the relay has taken a mail, nothing booked
    "packing",  # an archive package is planned, nothing of it is made
    "packed",  # its digests are committed, nothing is uploaded
    "uploaded",  # the store has its manifest (first arrival) or all of it, and it was not read back
    "archived",  # it is marked as stored
    "acknowledged",  # what a supplier sent and its acknowledgement are committed, not yet answered
)

_SIGNALS = {"": signal.SIGKILL, "stop": signal.SIGSTOP}

#: Remaining arrivals and the signal, by failpoint.
_armed: dict[str, tuple[int, signal.Signals]] = {}


def arm(order: str) -> None:
    """Arm a point: `name`, or `name:n` for the n-th arrival, or `name:n:stop`; an empty order arms none.

    Raises ValueError.
    """
    _armed.clear()
    if not order:
        return
    name, _, rest = order.partition(":")
    count, _, what = rest.partition(":")
    if name not in POINTS or (count and not count.isdigit()) or what not in _SIGNALS:
        raise ValueError(f"a failpoint is one of {', '.join(POINTS)}, with `:n` for the n-th arrival, and `:stop`")
    _armed[name] = (int(count or 1), _SIGNALS[what])


def is_armed(name: str) -> bool:
    """Whether a failpoint is armed."""
    return name in _armed


def reached(name: str) -> None:
    """Pass a failpoint; if it is armed for this arrival, the process is killed or stopped."""
    if name in _armed:
        left, what = _armed.pop(name)
        if left > 1:
            _armed[name] = (left - 1, what)
        else:
            os.kill(os.getpid(), what)
