"""Number sequences: validation, changes and display, shared by API and CLI."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from fe.clock import iso
from fe.ecf.autofill import says_when_its_range_ends
from fe.ecf.catalogue import PREFIXES, EcfType, Environment
from fe.ecf.dates import end_of_day, local
from fe.ecf.ids import new_id
from fe.ecf.problems import Problem, Severity
from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import SequenceId, TenantId
from fe.store.postgres.db import Conn
from fe.store.records import sequences
from fe.store.records.sequences import Change, Sequence, Unchanged

LARGEST = 9_999_999_999
#: A larger jump of the next number needs confirmation.
FAR = 100

PREFIX_WORDS = Text(
    f"prefix must be a valid e-CF type: one of {', '.join(PREFIXES)}",
    f"prefix debe ser un tipo de e-CF válido: uno de {', '.join(PREFIXES)}",
)
_RANGE = Text(
    "maximum sequence must be greater or equal to the minimum",
    "la secuencia máxima debe ser mayor o igual que la mínima",
)
_NUMBERS = Text(f"numbers go from 1 to {LARGEST}", f"los números van de 1 a {LARGEST}")
_OUTSIDE = Text(
    "the next number must be in the range, or one past its end",
    "el próximo número debe estar en el rango, o uno después de su fin",
)
_SENT = Text(
    "a number from there on was sent, and the authority may have it: it cannot be drawn again",
    "se envió un número desde ahí en adelante: lo que la DGII puede tener no se toma de nuevo",
)


class BadSequence(LocalizedError):
    """Invalid prefix, range or last day; nothing was written. The message may be shown to any user."""


class NoSequence(LocalizedError):
    """There is no sequence of that prefix."""

    def __init__(self, prefix: str) -> None:
        super().__init__(
            Text(
                f"no NCF sequence exists for the prefix {prefix}",
                f"no existe una secuencia de NCF para el prefijo {prefix}",
            )
        )


class SequenceExists(LocalizedError):
    """There is a sequence of that prefix already: it can be changed."""

    def __init__(self, prefix: str) -> None:
        super().__init__(
            Text(
                f"there is a sequence for {prefix} already: change that one",
                f"ya existe una secuencia para {prefix}: cambie esa",
            )
        )


class NumberSent(LocalizedError):
    """A sequence cannot go back to where it is asked to: a number from there on was sent, and is not free again."""

    def __init__(self) -> None:
        super().__init__(_SENT)


def check_prefix(prefix: str) -> None:
    """Raise BadSequence unless `prefix` is in the catalogue."""
    if prefix not in PREFIXES:
        raise BadSequence(PREFIX_WORDS)


def check_range(minimum: int | None, maximum: int | None) -> None:
    """Raise BadSequence unless numbers may go from `minimum` to `maximum`; None is passed over."""
    if any(number is not None and not 1 <= number <= LARGEST for number in (minimum, maximum)):
        raise BadSequence(_NUMBERS)
    if minimum is not None and maximum is not None and minimum > maximum:
        raise BadSequence(_RANGE)


def end_of(last_day: date | None) -> datetime | None:
    """The moment that is kept for a last day. Raises BadSequence where the calendar ends."""
    try:
        return end_of_day(last_day) if last_day is not None else None
    except OverflowError:
        raise BadSequence(
            Text(f"a sequence cannot end on {last_day}", f"una secuencia no puede terminar el {last_day}")
        ) from None


async def put(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    prefix: str,
    *,
    minimum: int = 1,
    maximum: int = LARGEST,
    last_day: date | None = None,
    is_active: bool = True,
    now: datetime,
    sequence_id: SequenceId | None = None,
) -> Sequence:
    """Create or replace the sequence of a prefix (interface.md#sequences).

    It is valid until the end of `last_day` in Santo Domingo. `sequence_id` applies only to a new one; default: random.
    Raises BadSequence.
    """
    check_prefix(prefix)
    check_range(minimum, maximum)
    return await sequences.put(
        conn,
        tenant_id,
        environment,
        prefix,
        new_id=sequence_id or SequenceId(new_id(now)),
        minimum=minimum,
        maximum=maximum,
        expire_at=end_of(last_day),
        is_active=is_active,
        at=now,
    )


async def change(
    conn: Conn, tenant_id: TenantId, environment: Environment, prefix: str, changes: Change, *, now: datetime
) -> Sequence:
    """Change only the parts of a sequence that `changes` names. Raises BadSequence, NoSequence or NumberSent.

    The next number may be lowered if no number from there on was sent, or the authority returned it.
    """
    check_prefix(prefix)
    check_range(changes.minimum, changes.maximum)
    try:
        return await sequences.change(conn, tenant_id, environment, prefix, changes, at=now)
    except Unchanged as refused:
        match refused.reason:
            case "none":
                raise NoSequence(prefix) from None
            case "sent":
                raise NumberSent from None
            case "outside":
                raise BadSequence(_OUTSIDE) from None
            case _:
                raise BadSequence(_RANGE) from None


async def create(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    prefix: str,
    *,
    minimum: int,
    maximum: int,
    last_day: date | None,
    is_active: bool,
    now: datetime,
) -> Sequence:
    """Create the sequence of a prefix, in a transaction that is given up when this raises.

    Raises BadSequence, and SequenceExists where there is one already.
    """
    sequence_id = SequenceId(new_id(now))
    made = await put(
        conn,
        tenant_id,
        environment,
        prefix,
        minimum=minimum,
        maximum=maximum,
        last_day=last_day,
        is_active=is_active,
        now=now,
        sequence_id=sequence_id,
    )
    if made.sequence_id != sequence_id:
        raise SequenceExists(prefix)
    return made


@dataclass(frozen=True, slots=True)
class PassedOver:
    """Numbers that would be skipped for good once a later one is sent."""

    first: int
    last: int
    count: int

    @property
    def is_far(self) -> bool:
        """Return whether the jump is large enough to be a typing error."""
        return self.count > FAR


def passed_over(before: Sequence, after: Sequence) -> PassedOver | None:
    """Return the numbers that a change leaves unused, of the old range and of the new one."""
    was, is_now = before.current_number, after.current_number
    of_the_old = max(0, min(is_now - 1, before.max_number) - was + 1)
    of_the_new = max(0, is_now - max(after.min_number, before.max_number + 1, was))
    count = of_the_old + of_the_new
    return PassedOver(was, is_now - 1, count) if count else None


def show(sequence: Sequence) -> dict[str, Any]:
    """Show a sequence: numbers as strings, because a range reaches 9999999999; its end as a moment and as a day."""
    ends_at, last_day = sequence.ends_at, sequence.last_day
    return {
        "id": str(sequence.sequence_id),
        "type": sequence.prefix,
        "prefix": sequence.prefix,
        "description": PREFIXES[sequence.prefix].name,
        "minSequence": str(sequence.min_number),
        "maxSequence": str(sequence.max_number),
        "currentSequence": str(sequence.current_number),
        "isActive": sequence.is_active,
        "expireAt": iso(ends_at) if ends_at else None,
        "expireOn": last_day.isoformat() if last_day else None,
        "pausedAt": iso(sequence.paused_at) if sequence.paused_at else None,
        "pausedFor": sequence.paused_for,
    }


def remarks(sequence: Sequence, now: datetime) -> list[Problem]:
    """Warn after setting a sequence: it has expired already, or its receipts need its last day."""
    last_day = sequence.last_day
    if last_day is None:
        needs_one = sequence.is_active and says_when_its_range_ends(EcfType(sequence.prefix[1:]))
        return [_without_last_day(sequence.prefix)] if needs_one else []
    if last_day >= local(now).date():
        return []
    return [
        Problem(
            code="sequence-expired",
            path="expireAt",
            message=f"the sequence ended on {last_day}: it gives no number, and receipts that name it are refused",
            message_es=f"la secuencia venció el {last_day}: no da números, y sus comprobantes se rechazan",
            found=last_day.isoformat(),
            severity=Severity.CONDITIONAL,
        )
    ]


def _without_last_day(prefix: str) -> Problem:
    """A number is drawn all the same (interface.md#drawn-numbers), and the receipt ends as an error."""
    return Problem(
        code="sequence-without-end",
        path="expireAt",
        message="the sequence says no last day: a receipt that does not say FechaVencimientoSecuencia itself ends as "
        "an error, though it was given a number",
        message_es="la secuencia no dice su último día: un comprobante que no trae su FechaVencimientoSecuencia "
        "termina en error, aunque se le haya dado un número",
        fix=f"set the day that the authority gave, as expireAt, with PATCH /ncf/{prefix}",
        fix_es=f"ponga el día que dio la DGII, como expireAt, con PATCH /ncf/{prefix}",
        severity=Severity.CONDITIONAL,
    )
