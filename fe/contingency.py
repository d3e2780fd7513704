"""Contingency as data: the modes of a tenant, their transitions, and the terms within which a document is sent.

Pure: no I/O, no clock. Modes are of a tenant in one environment (docs/contingency.md).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Mode(StrEnum):
    """How a tenant issues now."""

    NORMAL = "normal"
    #: Its own line is down: it signs, and sends when the line is back.
    OFFLINE = "offline"
    #: The authority does not answer: the circuits say so, for every tenant.
    AUTHORITY_DOWN = "authority_down"
    #: It cannot issue at all, and has declared so to the authority.
    CONTINGENCY = "contingency"
    #: It is authorised to send later than it issues.
    DEFERRED = "deferred"


class ChangedBy(StrEnum):
    """The author of a change of mode."""

    PERSON = "person"
    CIRCUIT = "circuit"


@dataclass(frozen=True, slots=True)
class ModeChange:
    """One line of the table: from each of `before` to `to`. None: to the mode that it covered."""

    before: tuple[Mode, ...]
    to: Mode | None
    by: ChangedBy


_UNDECLARED = (Mode.NORMAL, Mode.OFFLINE, Mode.DEFERRED)

#: All changes. A person's are stored. A circuit covers the stored mode while it is open, except a declared contingency:
#: then nothing is issued electronically.
MODE_CHANGES: tuple[ModeChange, ...] = (
    ModeChange((Mode.NORMAL,), Mode.OFFLINE, ChangedBy.PERSON),
    ModeChange((Mode.NORMAL,), Mode.DEFERRED, ChangedBy.PERSON),
    ModeChange(_UNDECLARED, Mode.CONTINGENCY, ChangedBy.PERSON),
    ModeChange((Mode.OFFLINE, Mode.CONTINGENCY, Mode.DEFERRED), Mode.NORMAL, ChangedBy.PERSON),
    ModeChange(_UNDECLARED, Mode.AUTHORITY_DOWN, ChangedBy.CIRCUIT),
    ModeChange((Mode.AUTHORITY_DOWN,), None, ChangedBy.CIRCUIT),
)

#: Modes that a person sets, each with a period on record.
STORED = frozenset({change.to for change in MODE_CHANGES if change.by is ChangedBy.PERSON and change.to}) - {
    Mode.NORMAL
}
#: Modes that need the number of a declaration or of an authorisation.
NUMBERED = frozenset({Mode.CONTINGENCY, Mode.DEFERRED})


def may_follow(before: Mode) -> frozenset[Mode]:
    """Return the modes that a person may set after a stored mode."""
    return frozenset(
        change.to for change in MODE_CHANGES if change.by is ChangedBy.PERSON and before in change.before and change.to
    )


def mode_of(stored: Mode, *, authority_is_down: bool) -> Mode:
    """Return the mode in force: the stored one, or what covers it."""
    covers = any(
        stored in change.before and change.to is Mode.AUTHORITY_DOWN
        for change in MODE_CHANGES
        if change.by is ChangedBy.CIRCUIT
    )
    return Mode.AUTHORITY_DOWN if authority_is_down and covers else stored


class Clock(StrEnum):
    """A term of the law."""

    SENDING = "sending"
    DEFERRED = "deferred"
    PERIOD = "period"
    REPLACING = "replacing"


#: From FechaHoraFirma, also of what an agent hands over later; the stricter reading, as the start of the 72 h is vague.
#: A declared contingency lasts 15 calendar days at most; its paper receipts are replaced within 30 days of its end.
TERMS: dict[Clock, timedelta] = {
    Clock.SENDING: timedelta(hours=72),
    Clock.DEFERRED: timedelta(hours=24),
    Clock.PERIOD: timedelta(days=15),
    Clock.REPLACING: timedelta(days=30),
}

#: How much of its term has run when an alarm says so first, and when it is urgent.
ALARMS: dict[Clock, tuple[timedelta, timedelta]] = {
    Clock.SENDING: (timedelta(hours=24), timedelta(hours=60)),
    Clock.DEFERRED: (timedelta(hours=8), timedelta(hours=18)),
    Clock.PERIOD: (timedelta(days=10), timedelta(days=13)),
    Clock.REPLACING: (timedelta(days=15), timedelta(days=25)),
}


def replace_by(began_at: datetime, ended_at: datetime | None) -> datetime:
    """Return the end of the term for replacing the paper receipts of a contingency.

    One without an end yet counts as ended when its own term is over.
    """
    return (ended_at or began_at + TERMS[Clock.PERIOD]) + TERMS[Clock.REPLACING]


class TermState(StrEnum):
    """How far a term has run."""

    SOON = "soon"
    URGENT = "urgent"
    OVER = "over"


@dataclass(frozen=True, slots=True)
class Milestones:
    """Independent facts of a document; None: not yet, as far as the service knows."""

    signed_at: datetime | None
    received_at: datetime | None
    verdict_at: datetime | None
    delivered_at: datetime | None
    #: Whether it was signed while deferred sending was authorised.
    is_deferred: bool = False

    @property
    def send_by(self) -> datetime | None:
        """The end of the term for sending, of a signed document that the authority is not known to have."""
        if self.signed_at is None or self.received_at is not None:
            return None
        return self.signed_at + TERMS[Clock.DEFERRED if self.is_deferred else Clock.SENDING]


def latest(moments: Iterable[datetime | None]) -> datetime | None:
    """Return the latest of the moments that are known."""
    return max((moment for moment in moments if moment is not None), default=None)
