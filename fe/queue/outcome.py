"""What a step came to, as data: what to write in one transaction, and who should be woken for it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from fe.ecf.states import Stage, Status
from fe.store.db import Conn

#: No time at all.
AT_ONCE = timedelta(0)


@dataclass(frozen=True, slots=True)
class End:
    """The end of a submission: its status, and the two digits of the type of its e-NCF where they are known."""

    status: Status
    ecf_type: str = "unknown"


@dataclass(frozen=True, slots=True)
class Booking:
    """The outcome of one step. `write` is fenced by the epoch of the claim: it raises LeaseLost if that has passed."""

    outcome: str
    write: Callable[[Conn], Awaitable[None]]
    #: The stage whose work this makes due, and in how long.
    rings: Stage | None = None
    after: timedelta = AT_ONCE
    #: Booked instead when no send of this subject is open: then nothing can have gone out, and nothing is in doubt.
    if_nothing_is_open: "Booking | None" = None
    #: Set when this ends the submission.
    end: End | None = None
