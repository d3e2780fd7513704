"""State of each number of a sequence in a taxpayer's words, and how long the rest will last."""

from collections.abc import Iterator
from collections.abc import Sequence as Many
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum

from fe.ecf.catalogue import Environment
from fe.ecf.dates import local
from fe.ecf.texts import Text
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import NumberFate, Status
from fe.store.postgres.db import Conn
from fe.store.records import number_history as fates
from fe.store.records import voidings
from fe.store.records.number_history import TakenNumber
from fe.store.records.sequences import Sequence
from fe.store.records.voidings import RangeFate, VoidRange

#: From how many days the current rate is made.
RATE_DAYS = 30
#: The most numbers that are looked at in one go.
STRETCH = 200


class Fate(StrEnum):
    """State of one number."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    ON_ITS_WAY = "on its way"
    UNKNOWN = "unknown"
    #: Its document was refused before the authority took it: the number was given back.
    FREE = "free"
    #: The authority knows it from another document.
    TAKEN_ELSEWHERE = "taken elsewhere"
    VOID = "void"
    #: Skipped: a document came with a higher number.
    PASSED_OVER = "passed over"
    #: Skipped: the next number was set to a higher one.
    SKIPPED = "skipped"

    @property
    def is_gap(self) -> bool:
        """Whether no document ever had the number."""
        return self in (Fate.PASSED_OVER, Fate.SKIPPED)

    @property
    def words(self) -> Text:
        """For a person."""
        return _WORDS[self]


_WORDS = {
    Fate.ACCEPTED: Text("Used: accepted by DGII", "Usado: aceptado por la DGII"),
    Fate.REJECTED: Text("Used up by a rejection", "Consumido por un rechazo"),
    Fate.ON_ITS_WAY: Text("Reserved: its receipt is on its way", "Reservado: su comprobante está en camino"),
    Fate.UNKNOWN: Text("Not known yet whether DGII counts it as used", "Aún no se sabe si la DGII lo da por usado"),
    Fate.FREE: Text("Given back: it can be used again", "Devuelto: puede usarse de nuevo"),
    Fate.TAKEN_ELSEWHERE: Text(
        "Belongs to another document: this one was not sent, or refused",
        "Pertenece a otro documento: este no se envió, o fue rechazado",
    ),
    Fate.VOID: Text("Voided", "Anulado"),
    Fate.PASSED_OVER: Text(
        "Gap: a receipt came with a higher number", "Hueco: llegó un comprobante con un número mayor"
    ),
    Fate.SKIPPED: Text("Gap: the next number was moved on", "Hueco: se adelantó el próximo número"),
}


@dataclass(frozen=True, slots=True)
class NumberRun:
    """Numbers in a row that fared alike. Of one number alone the submission is named; of a gap the one behind it."""

    first: int
    last: int
    fate: Fate
    submission_id: SubmissionId | None = None

    @property
    def count(self) -> int:
        """How many numbers."""
        return self.last - self.first + 1


async def runs(
    conn: Conn, tenant_id: TenantId, environment: Environment, sequence: Sequence, *, first: int, last: int
) -> list[NumberRun]:
    """Return the state of the numbers from `first` to `last`, without those still to be given."""
    last = min(last, first + STRETCH - 1)
    found = await fates.taken(conn, tenant_id, environment, sequence.prefix, first=first, last=last)
    end = min(last, sequence.current_number - 1)
    behind = found[-1].number if found else first - 1
    follower = None
    if behind < end:
        follower = await fates.next_taken(
            conn, tenant_id, environment, sequence.prefix, after=last, last=sequence.max_number
        )
    gaps = list(_gaps(found, follower, first=first, end=end))
    brought = await fates.came_with_their_number(
        conn, tenant_id, [gap.submission_id for gap in gaps if gap.submission_id]
    )
    named = [replace(gap, fate=Fate.PASSED_OVER) if gap.submission_id in brought else gap for gap in gaps]
    taken = [NumberRun(one.number, one.number, _fate(one), one.submission_id) for one in found]
    void = await voidings.within(conn, tenant_id, environment, sequence.prefix, first, end)
    named = [part for run in named for part in _with_void(run, void)]
    return joined(sorted([*taken, *named], key=lambda run: run.first))


def _with_void(gap: NumberRun, void: Many[VoidRange]) -> Iterator[NumberRun]:
    """Split a gap into its void numbers and the others."""
    first = gap.first
    for one in void:
        begin, end = max(one.first_number, first), min(one.last_number, gap.last)
        if one.fate is RangeFate.VOID and begin <= end:
            if first < begin:
                yield replace(gap, first=first, last=begin - 1)
            yield NumberRun(begin, end, Fate.VOID)
            first = end + 1
    if first <= gap.last:
        yield replace(gap, first=first)


def _gaps(found: Many[TakenNumber], follower: TakenNumber | None, *, first: int, end: int) -> Iterator[NumberRun]:
    """Find runs of unused numbers before `end`, each with the submission that follows it."""
    expected = first
    for one in found:
        if expected < one.number and expected <= end:
            yield NumberRun(expected, one.number - 1, Fate.SKIPPED, one.submission_id)
        expected = one.number + 1
    if expected <= end:
        yield NumberRun(expected, end, Fate.SKIPPED, None if follower is None else follower.submission_id)


def joined(ordered: Many[NumberRun]) -> list[NumberRun]:
    """Put runs together that follow each other and fared alike; of gaps those before the same submission."""
    together: list[NumberRun] = []
    for one in ordered:
        before = together[-1] if together else None
        if before is None or one.fate is not before.fate or one.first != before.last + 1:
            together.append(one)
        elif not one.fate.is_gap:
            together[-1] = NumberRun(before.first, one.last, one.fate)
        elif one.submission_id == before.submission_id:
            together[-1] = replace(before, last=one.last)
        else:
            together.append(one)
    return together


def _fate(one: TakenNumber) -> Fate:
    match one.number_fate:
        case NumberFate.REUSABLE:
            return Fate.FREE
        case NumberFate.UNKNOWN:
            return Fate.UNKNOWN
        case NumberFate.VOID:
            return Fate.VOID
        case NumberFate.RESERVED:
            return Fate.ON_ITS_WAY
    if one.status is Status.REJECTED:
        return Fate.REJECTED
    return Fate.TAKEN_ELSEWHERE if one.status is Status.ERROR else Fate.ACCEPTED


@dataclass(frozen=True, slots=True)
class Outlook:
    """How far a sequence is, and how long it will last."""

    sequence: Sequence
    #: Numbers that went in the last days (`RATE_DAYS`, or as long as there is a sequence), and how many a day that is.
    went: int
    a_day: float
    #: Days until the last number is gone at this rate; None where none go.
    lasts_days: int | None
    #: Days until its last day is over: 0 on that day, less behind it; None where it has no end. Of the next range where
    #: it ends later.
    days_left: int | None
    #: Numbers that are left, with those of the next range.
    left: int
    #: The day that `days_left` counts to.
    ends: date | None
    #: The number that a draw gives next.
    following: int
    #: Whether the last day of its next range has passed.
    next_is_over: bool

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return self.sequence.max_number - self.sequence.min_number + 1

    @property
    def drawn(self) -> int:
        """How many are gone."""
        return self.sequence.current_number - self.sequence.min_number

    @property
    def is_over(self) -> bool:
        """Whether its last day is behind us."""
        return self.days_left is not None and self.days_left < 0

    @property
    def ends_first(self) -> bool:
        """Whether at this rate the numbers end before its last day does."""
        return self.lasts_days is not None and (self.days_left is None or self.lasts_days < self.days_left)


async def outlooks(
    conn: Conn, tenant_id: TenantId, environment: Environment, found: Many[Sequence], now: datetime
) -> list[Outlook]:
    """Return the progress of each of a tenant's sequences in an environment."""
    used = {one.key: one for one in await fates.use(conn, tenant_id, environment, now - timedelta(days=RATE_DAYS))}
    return [_outlook(one, used.get(one.key), now) for one in found]


def _outlook(sequence: Sequence, use: fates.Use | None, now: datetime) -> Outlook:
    went = 0 if use is None else use.numbers
    # A sequence that was made an hour ago says nothing of a day yet.
    span = 1.0 if use is None else max((now - use.since) / timedelta(days=1), 1.0)
    ready = sequence.at(now)
    left, last_day = ready.numbers_left, ready.gives_until
    return Outlook(
        sequence=sequence,
        went=went,
        a_day=went / span,
        lasts_days=None if went == 0 else int(left * span / went),
        days_left=None if last_day is None else (last_day - local(now).date()).days,
        left=left,
        ends=last_day,
        following=ready.next_number,
        next_is_over=sequence.next_is_over(now),
    )
