"""What a try came to, as data. A kind of work adds its own by deriving from these, and says how each is written."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from fe.store.postgres.db import Conn

#: No time at all.
AT_ONCE = timedelta(0)


class Outcome:
    """One of the five below."""

    __slots__ = ()

    #: What metrics and logs call it.
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance(Outcome):
    """The work is due in stage `to` after `after`; that may be the stage it is in."""

    to: str
    after: timedelta = AT_ONCE
    #: The claim of stage `to` that this is, were it claimed in the same commit. The engine goes on with it after
    #: `after`, if that stage has room for it (see handover.py); else the outcome is written without.
    then: Any = None
    name: str = "advance"


@dataclass(frozen=True, slots=True)
class Retry(Outcome):
    """The same stage again, after `after`. With `counts` false nothing failed: the attempt is given back."""

    reason: str
    after: timedelta
    counts: bool = True
    name: str = "retry"


@dataclass(frozen=True, slots=True)
class Park(Outcome):
    """No more tries: a dead letter, which is an operator's matter."""

    reason: str
    name: str = "dead letter"


@dataclass(frozen=True, slots=True, kw_only=True)
class InDoubt(Outcome):
    """Nobody knows whether it took effect elsewhere: stage `to` finds out, after `after`, before it is tried again."""

    to: str
    reason: str
    after: timedelta = AT_ONCE
    #: Written instead when it shows that nothing can have left us: then nothing is in doubt.
    otherwise: Outcome | None = None
    name: str = "outcome unknown"


class End(Outcome):
    """Nothing is left to do. What it ended with is a matter of the kind of work."""

    __slots__ = ()


class TryLater(Exception):
    """Raised by a handler: it cannot succeed now. Try again by the schedule, or after `after` when that is longer."""

    def __init__(self, reason: str, after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.after = after


W = TypeVar("W")

#: Writes outcomes of claimed rows together, in one statement, all or none. They come sorted by tenant and subject; the
#: last argument is the moment to put on record. Each is fenced by the epoch of its claim. Says of each, in order, what
#: was written: mostly the outcome itself, or another one that took its place; None where the claim was no longer ours,
#: and nothing was written.
Writer = Callable[[Conn, Sequence[tuple[W, Any]], datetime], Awaitable[Sequence[Outcome | None]]]


def one_by_one(write: Callable[[Conn, W, Any, datetime], Awaitable[bool]]) -> Writer[W]:
    """Make a writer of what writes one outcome, and tells whether the claim was ours: for kinds of work that are few.

    They are written one after the other, in one transaction.
    """

    async def write_all(conn: Conn, items: Sequence[tuple[W, Any]], at: datetime) -> Sequence[Outcome | None]:
        async with conn.transaction():
            return [outcome if await write(conn, work, outcome, at) else None for work, outcome in items]

    return write_all
