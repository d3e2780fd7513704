"""Outcomes of tries, as data. A kind of work derives its own from these and supplies their writers."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from fe.store.postgres.db import Conn

#: No time at all.
AT_ONCE = timedelta(0)


class Outcome:
    """Base of the five outcomes below."""

    __slots__ = ()

    #: Name in metrics and logs.
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Advance(Outcome):
    """The work is due in stage `to` after `after`; that may be the stage it is in."""

    to: str
    after: timedelta = AT_ONCE
    #: The claim of stage `to`, if it may be made in the same commit. The engine goes on with it after `after` when that
    #: stage has room (handover.py); else the outcome is written without it.
    then: Any = None
    name: str = "advance"


@dataclass(frozen=True, slots=True)
class Retry(Outcome):
    """The same stage again, after `after`. Without `counts` nothing failed: the attempt is given back."""

    reason: str
    after: timedelta
    counts: bool = True
    name: str = "retry"


@dataclass(frozen=True, slots=True)
class Park(Outcome):
    """No more tries: a dead letter for an operator."""

    reason: str
    name: str = "dead letter"


@dataclass(frozen=True, slots=True, kw_only=True)
class InDoubt(Outcome):
    """Unknown whether the try took effect elsewhere: stage `to` finds out, after `after`, before the next try."""

    to: str
    reason: str
    after: timedelta = AT_ONCE
    #: Written instead when it turns out that nothing can have been sent.
    otherwise: Outcome | None = None
    name: str = "outcome unknown"


class End(Outcome):
    """Nothing is left to do; the kind of work defines the result."""

    __slots__ = ()


class TryLater(Exception):
    """Raised by a handler that cannot succeed now. Retried by the schedule, or after `after` if that is longer."""

    def __init__(self, reason: str, after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.after = after


W = TypeVar("W")

#: Writes outcomes of claimed rows in one statement, all or none, each fenced by the epoch of its claim. They come
#: sorted by tenant and subject; the last argument is the moment to record. Returns for each, in order, the outcome
#: written (perhaps another one in its place), or None where the claim was lost and nothing was written.
Writer = Callable[[Conn, Sequence[tuple[W, Any]], datetime], Awaitable[Sequence[Outcome | None]]]


def one_by_one(write: Callable[[Conn, W, Any, datetime], Awaitable[bool]]) -> Writer[W]:
    """Make a writer from a function that writes one outcome and returns whether the claim held.

    For kinds of work with few rows: they are written one after the other, in one transaction.
    """

    async def write_all(conn: Conn, items: Sequence[tuple[W, Any]], at: datetime) -> Sequence[Outcome | None]:
        async with conn.transaction():
            return [outcome if await write(conn, work, outcome, at) else None for work, outcome in items]

    return write_all
