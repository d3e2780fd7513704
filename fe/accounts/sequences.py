"""Number sequences: validation, changes and display, shared by API and CLI."""

import re
from collections.abc import Sequence as Many
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from fe.clock import iso
from fe.ecf.autofill import says_when_its_range_ends
from fe.ecf.catalogue import PREFIXES, EcfType, Environment
from fe.ecf.dates import end_of_day, local
from fe.ecf.ids import new_id
from fe.ecf.problems import Problem, Severity
from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import SequenceId, TenantId
from fe.store.postgres.db import Conn
from fe.store.records import sequences, tenants, voidings
from fe.store.records.sequences import Change, NextRange, Sequence, Unchanged

LARGEST = 9_999_999_999
#: A larger jump of the next number needs confirmation.
FAR = 100

PREFIX_WORDS = Text(
    f"prefix must be a valid e-CF type: one of {', '.join(PREFIXES)}",
    f"prefix debe ser un tipo de e-CF válido: uno de {', '.join(PREFIXES)}",
)
_RANGE = Text(
    "maximum sequence must be greater or equal to the minimum",
    "el último número debe ser igual o mayor que el primero",
)
_NUMBERS = Text(f"numbers go from 1 to {LARGEST}", f"los números van de 1 a {LARGEST}")
_OUTSIDE = Text(
    "the next number must be in the range, or one past its end",
    "el próximo número debe estar en el rango, o uno después de su fin",
)
_SENT = Text(
    "a number from there on was sent, and the authority may have it: it cannot be drawn again",
    "ya se envió ese número o uno posterior: lo que la DGII puede tener no se vuelve a usar",
)


#: The name of a sequence: of a branch, a till, a user.
NAME_FORM = r"[^\W_][\w .,&'#()+-]{0,39}"
_NAME = re.compile(NAME_FORM)
NAME_WORDS = Text(
    "a name has 1 to 40 letters, digits, blanks or any of .,&'#()+-_, and begins with a letter or digit",
    "un nombre tiene de 1 a 40 letras, dígitos, espacios o signos .,&'#()+-_, y empieza con letra o dígito",
)
_OVERLAP = Text(
    "numbers of this range are in another sequence of the type, or in its next range: two sequences never share a "
    "number. Choose other numbers, or lower the last number of that sequence first",
    "hay números de este rango en otra secuencia del mismo tipo o en su rango siguiente: dos secuencias nunca "
    "comparten un número. Elija otros números, o baje antes el último número de esa secuencia",
)
_NEXT_OVERLAP = Text(
    "the sequence's own range and its next one share numbers: they must lie apart",
    "el rango de la secuencia y su rango siguiente comparten números: deben estar separados",
)
_SPELLING = Text(
    "a sequence of the type has this name already, with other capitals: write it as it is there",
    "una secuencia del mismo tipo ya tiene este nombre con otras mayúsculas: escríbalo igual",
)
_OF_AN_AGENT = Text(
    "the numbers of this sequence are those of agent {agent}, which may have signed with them: only a request with"
    " that agentId changes it, and agentId null releases it",
    "los números de esta secuencia son del agente {agent}, que puede haber firmado con ellos: solo la cambia una"
    " solicitud con ese agentId, y agentId null la libera",
)
_AGENT_IS_NAMED = Text(
    "agentId: only a sequence with a name is given to an agent",
    "agentId: solo una secuencia con nombre se asigna a un agente",
)
_RESTS = Text(
    "isActive: the service draws no number of an agent's sequence; leave it out, or send false",
    "isActive: el servicio no asigna números de la secuencia de un agente; omítalo o envíe false",
)
_HAS_VOID = Text(
    "numbers of this range are void, or their voiding is under way: {first} to {last}. A till would sign with them: "
    "give it a range without them",
    "hay números de este rango anulados o en anulación: {first} a {last}. Una caja firmaría con ellos: "
    "dele un rango sin ellos",
)
_NEXT_OVER = Text(
    "the last day of the next range has passed: {day}", "la fecha de vencimiento del rango siguiente ya pasó: {day}"
)
_NEXT_OF_AN_AGENT = Text(
    "an agent's sequence has no next range: give the agent the new range, as minSequence and maxSequence",
    "la secuencia de un agente no tiene rango siguiente: dele el rango nuevo, con minSequence y maxSequence",
)
_REFUSED = {"spelling": _SPELLING, "agent": _RESTS, "next overlap": _NEXT_OVERLAP}
_DEFAULT_TAKES_ALL = Text(
    "users are assigned to a sequence with a name only: everyone else draws from the one without",
    "solo se asignan usuarios a una secuencia con nombre: los demás usan la que no lo tiene",
)


class BadSequence(LocalizedError):
    """Invalid prefix, range or last day; nothing was written. The message may be shown to any user."""


class NoSequence(LocalizedError):
    """There is no sequence of that key."""

    def __init__(self, key: str) -> None:
        prefix, name = key[:3], key[4:]
        super().__init__(
            Text(
                f"no NCF sequence exists for the prefix {prefix}" + (f" with the name {name}" if name else ""),
                f"no existe una secuencia de NCF para el prefijo {prefix}" + (f" con el nombre {name}" if name else ""),
            )
        )


class SequenceExists(LocalizedError):
    """There is a sequence of that key already: it can be changed."""

    def __init__(self, label: str) -> None:
        super().__init__(
            Text(
                f"there is a sequence for {label} already: change that one, or give this one another name",
                f"ya existe una secuencia para {label}: cambie esa, o ponga otro nombre a esta",
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


def label_of(key: str) -> str:
    """Return the prefix and the name of a key, for a person."""
    return f"{key[:3]} {key[4:]}".rstrip()


def check_key(key: str) -> None:
    """Raise BadSequence unless `key` is a prefix of the catalogue, alone or with a slash and a name behind it."""
    check_prefix(key[:3])
    if key[3:]:
        check_name(key[4:] if key[3] == "/" else "")


def check_name(name: str) -> None:
    """Raise BadSequence unless a sequence may have this name."""
    if not _NAME.fullmatch(name) or name != name.strip():
        raise BadSequence(NAME_WORDS)


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
            Text(f"a sequence cannot end on {last_day}", f"una secuencia no puede vencer el {last_day:%d-%m-%Y}")
        ) from None


async def put(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    key: str,
    *,
    minimum: int = 1,
    maximum: int = LARGEST,
    last_day: date | None = None,
    is_active: bool = True,
    now: datetime,
    sequence_id: SequenceId | None = None,
    agent_id: UUID | None = None,
) -> Sequence:
    """Create or replace the sequence of a key, which is a prefix by default (interface.md#sequences).

    It is valid until the end of `last_day` in Santo Domingo. `sequence_id` applies only to a new one; default: random.
    A range that it left by itself for its next one is not set again (`remarks` says so). Run it in a transaction.
    Raises BadSequence.
    """
    check_key(key)
    check_range(minimum, maximum)
    found = await require_agent(conn, tenant_id, environment, key, agent_id)
    if found is not None and (minimum, maximum) in found.left:
        minimum, maximum, last_day = found.min_number, found.max_number, found.last_day
    try:
        return await sequences.put(
            conn,
            tenant_id,
            environment,
            key,
            new_id=sequence_id or SequenceId(new_id(now)),
            minimum=minimum,
            maximum=maximum,
            expire_at=end_of(last_day),
            is_active=is_active,
            at=now,
        )
    except Unchanged as refused:
        raise BadSequence(_REFUSED.get(refused.reason, _OVERLAP)) from None


async def require_agent(
    conn: Conn, tenant_id: TenantId, environment: Environment, key: str, agent_id: UUID | None
) -> Sequence | None:
    """Lock and find a sequence; raise BadSequence where its numbers are those of another agent than `agent_id`."""
    found = await sequences.locked(conn, tenant_id, environment, key)
    if found is not None and found.agent_id not in (None, agent_id):
        raise BadSequence(_OF_AN_AGENT.fill(agent=found.agent_id))
    return found


async def wait_for_voidings(conn: Conn, tenant_id: TenantId, environment: Environment, key: str) -> None:
    """Wait for voidings of a type that are being requested. Call it before an agent's sequence is touched."""
    check_key(key)
    await voidings.wait_for_requests(conn, tenant_id, environment, key[:3])


async def require_none_void(conn: Conn, made: Sequence) -> None:
    """Raise BadSequence if an agent would sign with void numbers: it does not ask the service for each."""
    if made.agent_id is None:
        return
    found = await voidings.within(
        conn, made.tenant_id, made.environment, made.prefix, made.current_number, made.max_number
    )
    if found:
        first, last = (f"{made.prefix}{number:010d}" for number in (found[0].first_number, found[0].last_number))
        raise BadSequence(_HAS_VOID.fill(first=first, last=last))


async def reserve(
    conn: Conn, tenant_id: TenantId, environment: Environment, key: str, agent_id: UUID | None, *, now: datetime
) -> Sequence:
    """Give the numbers of a named sequence to an agent alone; None releases them. Raises BadSequence, NoSequence."""
    check_key(key)
    if len(key) == len("E31") and agent_id is not None:
        raise BadSequence(_AGENT_IS_NAMED)
    if agent_id is not None:
        await require_agent(conn, tenant_id, environment, key, agent_id)
    try:
        return await sequences.reserve(conn, tenant_id, environment, key, agent_id, at=now)
    except Unchanged as refused:
        if refused.reason == "next of agent":
            raise BadSequence(_NEXT_OF_AN_AGENT) from None
        raise NoSequence(key) from None


async def delete(conn: Conn, tenant_id: TenantId, environment: Environment, key: str) -> bool:
    """Delete a sequence in a transaction; False when there is none. Raises BadSequence, also where it is an agent's.

    Receipts already issued stay as they are.
    """
    check_key(key)
    await require_agent(conn, tenant_id, environment, key, None)
    return await sequences.delete(conn, tenant_id, environment, key)


async def change(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    key: str,
    changes: Change,
    *,
    now: datetime,
    agent_id: UUID | None = None,
) -> Sequence:
    """Change only the parts of a sequence that `changes` names. Raises BadSequence, NoSequence or NumberSent.

    The next number may be lowered if no number from there on was sent, or the authority returned it.
    """
    check_key(key)
    check_range(changes.minimum, changes.maximum)
    following = changes.next_range
    if following is not None:
        check_range(following.minimum, following.maximum)
        if following.expire_at is not None and following.expire_at <= now:
            raise BadSequence(_NEXT_OVER.fill(day=local(following.expire_at).date()))
    await require_agent(conn, tenant_id, environment, key, agent_id)
    try:
        return await sequences.change(conn, tenant_id, environment, key, changes, at=now)
    except Unchanged as refused:
        match refused.reason:
            case "none":
                raise NoSequence(key) from None
            case "sent":
                raise NumberSent from None
            case "outside":
                raise BadSequence(_OUTSIDE) from None
            case "overlap":
                raise BadSequence(_OVERLAP) from None
            case "next overlap":
                raise BadSequence(_NEXT_OVERLAP) from None
            case "agent":
                raise BadSequence(_RESTS) from None
            case "next of agent":
                raise BadSequence(_NEXT_OF_AN_AGENT) from None
            case _:
                raise BadSequence(_RANGE) from None


async def assign(
    conn: Conn, tenant_id: TenantId, environment: Environment, key: str, emails: Many[str], *, now: datetime
) -> Sequence:
    """Let the users of these addresses, and no others, draw from a named sequence. Raises BadSequence, NoSequence."""
    check_key(key)
    if len(key) == len("E31") and emails:
        raise BadSequence(_DEFAULT_TAKES_ALL)
    known = {user.email.lower(): user for user in await tenants.users_of(conn, tenant_id)} if emails else {}
    wanted = dict.fromkeys(email.lower() for email in emails)
    for email in wanted:
        if email not in known:
            raise BadSequence(Text(f"users: no user has the address {email}", f"users: ningún usuario tiene {email}"))
    try:
        return await sequences.assign(conn, tenant_id, environment, key, [known[email] for email in wanted], at=now)
    except Unchanged:
        raise NoSequence(key) from None


async def create(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    key: str,
    *,
    minimum: int,
    maximum: int,
    last_day: date | None,
    is_active: bool,
    now: datetime,
) -> Sequence:
    """Create the sequence of a key, in a transaction that is given up when this raises.

    Raises BadSequence, and SequenceExists where there is one already.
    """
    sequence_id = SequenceId(new_id(now))
    made = await put(
        conn,
        tenant_id,
        environment,
        key,
        minimum=minimum,
        maximum=maximum,
        last_day=last_day,
        is_active=is_active,
        now=now,
        sequence_id=sequence_id,
    )
    if made.sequence_id != sequence_id:
        raise SequenceExists(made.label)
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
        **({"name": sequence.name, "users": list(sequence.user_emails)} if sequence.name else {}),
        **({"agentId": str(sequence.agent_id)} if sequence.agent_id else {}),
        "description": PREFIXES[sequence.prefix].name,
        "minSequence": str(sequence.min_number),
        "maxSequence": str(sequence.max_number),
        "currentSequence": str(sequence.current_number),
        "isActive": sequence.is_active,
        "expireAt": iso(ends_at) if ends_at else None,
        "expireOn": last_day.isoformat() if last_day else None,
        "pausedAt": iso(sequence.paused_at) if sequence.paused_at else None,
        "pausedFor": sequence.paused_for,
        **({} if sequence.next_min is None else {"nextRange": _show_next(sequence)}),
    }


def _show_next(sequence: Sequence) -> dict[str, Any]:
    day = sequence.next_last_day
    return {
        "minSequence": str(sequence.next_min),
        "maxSequence": str(sequence.next_max),
        "expireAt": iso(end_of_day(day)) if day else None,
        "expireOn": day.isoformat() if day else None,
    }


def remarks(sequence: Sequence, now: datetime, asked: NextRange | None = None) -> list[Problem]:
    """Warn after setting a sequence: it has expired already, or its receipts need its last day.

    `asked`: the range that was to be its own; it may have left that by itself.
    """
    if asked is not None and (asked.minimum, asked.maximum) in sequence.left:
        return [_has_left(sequence.prefix, asked), *remarks(sequence, now)]
    last_day = sequence.last_day
    needs_one = sequence.is_active and says_when_its_range_ends(EcfType(sequence.prefix[1:]))
    if needs_one and last_day is None:
        return [_without_last_day(sequence.prefix)]
    if needs_one and sequence.next_min is not None and sequence.next_last_day is None:
        return [_without_last_day(sequence.prefix, "nextRange.expireAt")]
    if last_day is None or last_day >= local(now).date():
        return []
    return [
        Problem(
            code="sequence-expired",
            path="expireAt",
            message=f"the sequence ended on {last_day}: it gives no number, and receipts that name it are refused",
            message_es=f"la secuencia venció el {last_day:%d-%m-%Y}: no asigna números, y sus comprobantes se rechazan",
            found=last_day.isoformat(),
            severity=Severity.CONDITIONAL,
        )
    ]


def _has_left(prefix: str, asked: NextRange) -> Problem:
    return Problem(
        code="sequence-went-on",
        path="minSequence",
        message="the sequence went on from this range to its next one by itself: its range, its next number and its "
        "last day stay as they are",
        message_es="la secuencia ya pasó sola de este rango al siguiente: su rango, su próximo número y su fecha de "
        "vencimiento quedan como están",
        found=f"{asked.minimum}-{asked.maximum}",
        fix=f"to set this range again, name minSequence and maxSequence with PATCH /ncf/{prefix}",
        fix_es=f"para poner este rango otra vez, indique minSequence y maxSequence con PATCH /ncf/{prefix}",
        severity=Severity.CONDITIONAL,
    )


def _without_last_day(prefix: str, path: str = "expireAt") -> Problem:
    """A number is drawn all the same (interface.md#drawn-numbers), and the receipt ends as an error."""
    return Problem(
        code="sequence-without-end",
        path=path,
        message="the sequence says no last day: a receipt that does not say FechaVencimientoSecuencia itself ends as "
        "an error, though it was given a number",
        message_es="la secuencia no tiene fecha de vencimiento: un comprobante que no trae FechaVencimientoSecuencia "
        "termina en error, aunque se le haya asignado un número",
        fix=f"set the day that the authority gave, as {path}, with PATCH /ncf/{prefix}",
        fix_es=f"ponga la fecha que dio la DGII, como {path}, con PATCH /ncf/{prefix}",
        severity=Severity.CONDITIONAL,
    )
