"""The life of a submission as data: places, outcomes, and the one table of transitions.

Pure: no I/O, no clock. Tests check that the functions in sql/ make exactly these transitions. The proof of evidence,
the checker of the fault runs, the API's timeline and docs/api/states.md derive from it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import Any


class Status(StrEnum):
    """The status of a submission as clients see it."""

    QUEUED = "queued"
    PROCESSING = "En Proceso"
    ACCEPTED = "Aceptado"
    CONDITIONAL = "Aceptado Condicional"
    REJECTED = "Rechazado"
    ERROR = "error"


#: Final statuses: not even an operator changes them. A replay starts from a dead letter, which clients still see as
#: `queued`, so that they issue no second receipt while the first may yet be accepted.
FINAL = frozenset({Status.ACCEPTED, Status.CONDITIONAL, Status.REJECTED, Status.ERROR})


class Stage(StrEnum):
    """The stage that a submission's outbox row waits for."""

    SIGN = "sign"
    SEND = "send"
    TRACK = "track"
    RECONCILE = "reconcile"


class WebhookEvent(StrEnum):
    """Events of webhooks (interface.md#events)."""

    RECEIVED_ECF = "received_ecf"
    ACCEPTED = "submission.accepted"
    CONDITIONAL = "submission.conditional"
    REJECTED = "submission.rejected"
    ERROR = "submission.error"
    SEQUENCE_LOW = "sequence.low"
    SEQUENCE_EXPIRING = "sequence.expiring"
    CERTIFICATE_EXPIRING = "certificate.expiring"
    RECURRING_PREVIEW = "recurring.preview"
    RECURRING_HELD = "recurring.held"
    AUTHORITY_DOWN = "authority.down"
    AUTHORITY_UP = "authority.up"
    BUYER_APPROVED = "buyer.approved"
    BUYER_REJECTED = "buyer.rejected"
    #: Made on request, and sent regardless of the endpoint's selection.
    TEST = "test"


#: Events that an endpoint can select.
WANTED = frozenset(WebhookEvent) - {WebhookEvent.TEST}


class Place(StrEnum):
    """Where a submission is: new, in a stage of the outbox, a dead letter, or ended."""

    NEW = "new"
    SIGN = Stage.SIGN.value
    SEND = Stage.SEND.value
    TRACK = Stage.TRACK.value
    RECONCILE = Stage.RECONCILE.value
    DEAD_LETTER = "dead_letter"
    ENDED = "ended"


class NumberFate(StrEnum):
    """The fate of the fiscal number."""

    RESERVED = "reserved"
    USED = "used"
    REUSABLE = "reusable"
    UNKNOWN = "unknown"
    VOID = "void"


class EventKind(StrEnum):
    """The kind of an event."""

    ACCEPTED = "accepted"
    SIGNED = "signed"
    REMARKED = "remarked"
    SENDING = "sending"
    RECEIVED = "received"
    PROCESSING = "processing"
    OUTCOME_UNKNOWN = "outcome_unknown"
    NOT_KNOWN_THERE = "not_known_there"
    VERDICT = "verdict"
    ERROR = "error"
    RETRY = "retry"
    DEAD_LETTER = "dead_letter"
    REPLAYED = "replayed"
    DISCARDED = "discarded"
    VOIDED = "voided"

    @property
    def meaning(self) -> str:
        """A short explanation."""
        return _MEANINGS[self]


_MEANINGS: Mapping[EventKind, str] = {
    EventKind.ACCEPTED: "submission, number and first step stored, in one commit",
    EventKind.SIGNED: "made, checked, signed: these bytes are kept for good",
    EventKind.REMARKED: "what had to be assumed in making it",
    EventKind.SENDING: "intent to send committed; then it goes out",
    EventKind.RECEIVED: "the authority has it; its verdict is to come",
    EventKind.PROCESSING: "the authority is still at it",
    EventKind.OUTCOME_UNKNOWN: "nobody knows whether it arrived: ask before sending again",
    EventKind.NOT_KNOWN_THERE: "the same bytes go out again; `reason`: it is not known there, or cannot be asked",
    EventKind.VERDICT: "the authority's verdict",
    EventKind.ERROR: "permanent failure",
    EventKind.RETRY: "it did not work out, due again",
    EventKind.DEAD_LETTER: "out of attempts, an operator's matter",
    EventKind.REPLAYED: "an operator set it going again, attempts afresh",
    EventKind.DISCARDED: "an operator gave it up",
    EventKind.VOIDED: "its number, which no signed document had, was voided at the authority",
}


class StepOutcome(StrEnum):
    """Outcomes of a submission's acceptance, of its steps, and of an operator's decision."""

    ACCEPTED = "accepted"
    SIGNED = "signed"
    REMARKED = "remarked"
    NUMBER_TAKEN = "number taken"
    ANNOUNCED = "announced"
    ANNOUNCED_AGAIN = "announced again"
    RECEIVED = "received"
    PROCESSING = "in process"
    STILL_PROCESSING = "still in process"
    IN_DOUBT = "in doubt"
    NOT_KNOWN = "not known there"
    VERDICT = "verdict"
    FAILED = "failed"
    RETRY = "retry"
    GIVEN_BACK = "given back"
    OUT_OF_ATTEMPTS = "out of attempts"
    REPLAYED = "replayed"
    DISCARDED = "discarded"
    VOIDED = "voided"


@dataclass(frozen=True, slots=True)
class Transition:
    """One line of the table; with several values, each of `before` combines with each of the others.

    None means no change: the submission stays in its place (`to`), or no event is written (`event`) and clients and
    auditors see no change.
    """

    before: tuple[Place, ...]
    outcome: StepOutcome
    to: tuple[Place, ...] | None
    status: Status | None
    fate: tuple[NumberFate, ...] | None
    event: EventKind | None


_WAITING = tuple(Place(stage) for stage in Stage)
_AT_THE_AUTHORITY = (Place.SEND, Place.TRACK, Place.RECONCILE)
_NEW, _SIGN, _SEND, _TRACK, _RECONCILE = (Place.NEW,), (Place.SIGN,), (Place.SEND,), (Place.TRACK,), (Place.RECONCILE,)
_DEAD, _ENDED = (Place.DEAD_LETTER,), (Place.ENDED,)
_USED, _REUSABLE, _UNKNOWN = (NumberFate.USED,), (NumberFate.REUSABLE,), (NumberFate.UNKNOWN,)
_VOID = (NumberFate.VOID,)

#: All transitions. The front writes the first, operators the two before the last, a voiding the last, and the holder of
#: the claim all others.
TABLE: tuple[Transition, ...] = (
    Transition(_NEW, StepOutcome.ACCEPTED, _SIGN, Status.QUEUED, (NumberFate.RESERVED,), EventKind.ACCEPTED),
    Transition(_SIGN, StepOutcome.SIGNED, _SEND, None, None, EventKind.SIGNED),
    # In the same commit as `signed`, when something was assumed.
    Transition(_SEND, StepOutcome.REMARKED, None, None, None, EventKind.REMARKED),
    Transition(_SIGN, StepOutcome.FAILED, _ENDED, Status.ERROR, _REUSABLE, EventKind.ERROR),
    # Another submission has the number: this one is never sent.
    Transition(_SIGN, StepOutcome.NUMBER_TAKEN, _ENDED, Status.ERROR, _USED, EventKind.ERROR),
    Transition(_SEND, StepOutcome.ANNOUNCED, None, None, None, EventKind.SENDING),
    # The same claim, whose session with the authority had to be renewed: still one send.
    Transition(_SEND, StepOutcome.ANNOUNCED_AGAIN, None, None, None, None),
    # An outright refusal; the number is used if a foreign document has it.
    Transition(_SEND, StepOutcome.FAILED, _ENDED, Status.ERROR, _REUSABLE + _USED, EventKind.ERROR),
    # From reconcile: it had arrived, and the authority named its trackId.
    Transition((Place.SEND, Place.RECONCILE), StepOutcome.RECEIVED, _TRACK, None, None, EventKind.RECEIVED),
    Transition(_TRACK, StepOutcome.PROCESSING, None, Status.PROCESSING, None, EventKind.PROCESSING),
    Transition(_TRACK, StepOutcome.STILL_PROCESSING, None, None, None, None),
    Transition(_AT_THE_AUTHORITY, StepOutcome.IN_DOUBT, _RECONCILE, None, _UNKNOWN, EventKind.OUTCOME_UNKNOWN),
    Transition(_RECONCILE, StepOutcome.NOT_KNOWN, _SEND, None, None, EventKind.NOT_KNOWN_THERE),
    Transition(_AT_THE_AUTHORITY, StepOutcome.VERDICT, _ENDED, Status.ACCEPTED, _USED, EventKind.VERDICT),
    Transition(_AT_THE_AUTHORITY, StepOutcome.VERDICT, _ENDED, Status.CONDITIONAL, _USED, EventKind.VERDICT),
    # A rejection says whether the number is used, or does not say.
    Transition(
        _AT_THE_AUTHORITY, StepOutcome.VERDICT, _ENDED, Status.REJECTED, _REUSABLE + _USED + _UNKNOWN, EventKind.VERDICT
    ),
    Transition(_WAITING, StepOutcome.RETRY, None, None, None, EventKind.RETRY),
    # The worker stopped or the database was away: the attempt does not count.
    Transition(_WAITING, StepOutcome.GIVEN_BACK, None, None, None, None),
    Transition(_WAITING, StepOutcome.OUT_OF_ATTEMPTS, _DEAD, None, None, EventKind.DEAD_LETTER),
    # To the stage it died in; to reconcile instead of send where bytes may have gone out.
    Transition(_DEAD, StepOutcome.REPLAYED, _WAITING, None, None, EventKind.REPLAYED),
    # The number is free again only if certainly nothing was sent, and it was not voided meanwhile.
    Transition(_DEAD, StepOutcome.DISCARDED, _ENDED, Status.ERROR, _REUSABLE + _UNKNOWN + _USED, EventKind.DISCARDED),
    # Its number was free again (`reusable`) and never in a signed document: the authority voided it.
    Transition(_ENDED, StepOutcome.VOIDED, None, None, _VOID, EventKind.VOIDED),
)


@dataclass(frozen=True, slots=True)
class Move:
    """One transition of the table with one value in each of its fields. None says that nothing changes."""

    before: Place
    outcome: StepOutcome
    to: Place
    status: Status | None
    fate: NumberFate | None
    event: EventKind | None


def _moves(table: Iterable[Transition]) -> Iterable[Move]:
    for line in table:
        for before, fate in product(line.before, line.fate or (None,)):
            for to in line.to or (before,):
                yield Move(before, line.outcome, to, line.status, fate, line.event)


#: The table, written out.
MOVES: tuple[Move, ...] = tuple(_moves(TABLE))


class Unlawful(ValueError):
    """An event that the table does not allow in this place; the message says why."""


@dataclass(frozen=True, slots=True)
class Life:
    """Place, status and number fate of a submission after its events so far."""

    place: Place = Place.NEW
    status: Status = Status.QUEUED
    fate: NumberFate = NumberFate.RESERVED

    def after(self, kind: str, detail: Mapping[str, Any]) -> "Life":
        """Return the state after one more event with this `detail`. Raises Unlawful."""
        if self.place is Place.ENDED and (kind, self.fate) != (EventKind.VOIDED, NumberFate.REUSABLE):
            raise Unlawful(f"{kind} after its end")
        found = {
            Life(move.to, move.status or self.status, move.fate or self.fate)
            for move in MOVES
            if move.before is self.place and move.event == kind and _matches(move, detail)
        }
        if not found:
            raise Unlawful(f"{kind} cannot follow where it stands ({self.place})")
        if len(found) > 1:
            raise Unlawful(f"{kind} does not say which way it went from there ({self.place})")
        return found.pop()


def _matches(move: Move, detail: Mapping[str, Any]) -> bool:
    """Whether an event's detail matches a move: where the table leaves a choice, the detail decides."""
    stage = move.to if move.event is EventKind.REPLAYED else move.before
    said = {"status": move.status, "numberFate": move.fate, "stage": stage}
    return all(detail[name] == value for name, value in said.items() if name in detail)


def _later() -> dict[Status, frozenset[Status]]:
    """Return which statuses can follow each status, after any number of moves."""
    reached = {(Place.NEW, Status.QUEUED)}
    steps: dict[tuple[Place, Status], set[tuple[Place, Status]]] = {}
    waiting = list(reached)
    while waiting:
        place, status = waiting.pop()
        then = {(move.to, move.status or status) for move in MOVES if move.before is place}
        steps[place, status] = then
        waiting += then - reached
        reached |= then
    seen: dict[Status, set[Status]] = {status: set() for status in Status}
    for start in reached:
        met, ahead = {start}, [start]
        while ahead:
            new = steps[ahead.pop()] - met
            met |= new
            ahead += new
        seen[start[1]] |= {status for _, status in met}
    return {status: frozenset(later) for status, later in seen.items()}


#: Statuses that a polling client may see after a status, itself included.
LATER: Mapping[Status, frozenset[Status]] = _later()
