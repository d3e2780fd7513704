"""Voidings of number ranges: their queue, their ranges, and what became of each (docs/decisions/voidings.md).

`voided_ranges` takes numbers out of use from the moment of the request: no draw gives them, no submission holds them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, Final, LiteralString, cast
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.dates import local
from fe.ecf.voiding import NumberRange, without
from fe.identifiers import CertificateId, ClientRequestId, SubmissionId, TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import LeaseLost, StoreError
from fe.store.postgres.rows import record_row
from fe.store.queue.outbox import OutboxLane
from fe.store.queue.tables import QueueRow, QueueTable
from fe.store.records.voidable import Taken, first_taken

#: The stage of a voiding that waits.
VOID: Final = "void"


class VoidingState(StrEnum):
    """The state of a voiding; a waiting one is in stage `void`. Clients, people and operators read the name."""

    WAITING = "void"
    VOIDED = "voided"
    #: The authority left out numbers that it knows as used.
    PARTLY = "partly voided"
    #: The authority refused it: no number is void.
    REJECTED = "rejected"
    #: It was not sent: a number was taken meanwhile, or nothing can sign.
    REFUSED = "refused"
    #: Whether the numbers are void is not known: an operator looks.
    IN_DOUBT = "in doubt"


class RangeFate(StrEnum):
    """The state of a range. In every one its numbers are out of use."""

    ASKED = "asked"
    VOID = "void"
    #: The authority says that these numbers are used.
    USED_ELSEWHERE = "used elsewhere"


@dataclass(frozen=True, slots=True)
class NewVoiding:
    """A request. `ranges` are in order."""

    voiding_id: UUID
    environment: Environment
    issuer_rnc: str
    reason: int
    ranges: Sequence[NumberRange]
    client_request_id: ClientRequestId | None
    by_whom: str


@dataclass(frozen=True, slots=True)
class Voiding:
    """A voiding. `answer` is what the authority said, `last_error` why it waits, was refused, or is in doubt."""

    tenant_id: TenantId
    voiding_id: UUID
    environment: Environment
    state: VoidingState
    client_request_id: ClientRequestId | None
    requested_at: datetime
    requested_by: str
    issuer_rnc: str
    reason: int
    ranges: Sequence[NumberRange]
    numbers: int
    attempt: int
    unanswered: int
    signed_at: datetime | None
    finished_at: datetime | None
    last_error: str | None
    answer: Mapping[str, Any] | None


class NotVoidable(StoreError):
    """A range cannot be voided; `why`: `outside`, `voided`, or `taken` by `submission`."""

    def __init__(self, why: str, e_ncf: str, taken: Taken | None = None) -> None:
        super().__init__(why, e_ncf)
        self.why = why
        self.e_ncf = e_ncf
        self.taken = taken


# --- the request ------------------------------------------------------------------------------------------------------

_LOCK = """
    SELECT left(q.prefix, 3), q.min_number, q.max_number
      FROM sequences AS q
     WHERE q.tenant_id = %(tenant)s AND q.environment = %(environment)s AND left(q.prefix, 3) = ANY(%(prefixes)s)
     ORDER BY q.prefix
       FOR UPDATE
"""
_FORMER = """
    SELECT left(q.prefix, 3), f.min_number, f.max_number
      FROM sequences AS q
     CROSS JOIN LATERAL unnest(q.former_ranges) AS f (min_number, max_number, expire_at)
     WHERE q.tenant_id = %(tenant)s AND q.environment = %(environment)s AND left(q.prefix, 3) = ANY(%(prefixes)s)
"""
_INSERT = """
    INSERT INTO voidings (
        tenant_id, subject, stage, environment, run_at, entered_at, client_request_id, requested_at, requested_by,
        issuer_rnc, reason, ranges, numbers
    )
    VALUES (%(tenant)s, %(id)s, 'void', %(environment)s, clock_timestamp(), clock_timestamp(), %(request)s, %(at)s,
            %(by)s, %(issuer)s, %(reason)s, %(ranges)s, %(numbers)s)
    ON CONFLICT (tenant_id, environment, client_request_id) DO NOTHING
"""
_OVERLAP = """
    SELECT greatest(v.first_number, %(first)s)
      FROM voided_ranges AS v
     WHERE v.tenant_id = %(tenant)s AND v.environment = %(environment)s AND v.prefix = %(prefix)s
       AND v.first_number <= %(last)s AND v.last_number >= %(first)s
     ORDER BY v.first_number
     LIMIT 1
"""
_RESERVE = """
    INSERT INTO voided_ranges (tenant_id, environment, prefix, first_number, last_number, voiding_id, fate, reason)
    VALUES (%(tenant)s, %(environment)s, %(prefix)s, %(first)s, %(last)s, %(id)s, 'asked', %(reason)s)
"""
_NOT_RETURNED = """
    DELETE FROM returned_numbers AS r
     WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s AND r.prefix = %(prefix)s
       AND r.number BETWEEN %(first)s AND %(last)s
"""
# Draws would skip the range one by one; a range whose rest is void is used up.
_MOVE_ON = """
    UPDATE sequences AS q
       SET current_number = least(%(last)s, q.max_number) + 1, updated_at = %(at)s
     WHERE q.tenant_id = %(tenant)s AND q.environment = %(environment)s AND left(q.prefix, 3) = %(prefix)s
       AND q.current_number BETWEEN %(first)s AND %(last)s AND q.current_number <= q.max_number
"""


async def wait_for_requests(conn: Conn, tenant_id: TenantId, environment: Environment, prefix: str) -> None:
    """Wait for requests of a type that are being stored, and keep others out until the transaction ends."""
    await conn.execute(_LOCK, {"tenant": tenant_id, "environment": environment, "prefixes": [prefix]})


async def request(conn: Conn, tenant_id: TenantId, new: NewVoiding, at: datetime) -> UUID:
    """Store a request and take its numbers out of use; return its id, or that of the same clientRequestId.

    Run it in a transaction. Raises NotVoidable. Draws and other requests of the types wait for it.
    """
    prefixes = sorted({one.prefix for one in new.ranges})
    given: dict[str, Any] = {
        "tenant": tenant_id,
        "environment": new.environment,
        "id": new.voiding_id,
        "request": new.client_request_id,
        "at": at,
        "by": new.by_whom,
        "issuer": new.issuer_rnc,
        "reason": new.reason,
        "ranges": Jsonb([{"prefix": one.prefix, "first": one.first, "last": one.last} for one in new.ranges]),
        "numbers": sum(one.count for one in new.ranges),
        "prefixes": prefixes,
    }
    known = await (await conn.execute(_LOCK, given)).fetchall()
    known += await (await conn.execute(_FORMER, given)).fetchall()
    if not (await conn.execute(_INSERT, given)).rowcount:
        assert new.client_request_id is not None
        found = await by_client_request(conn, tenant_id, new.environment, new.client_request_id)
        assert found is not None
        return found.voiding_id
    for one in new.ranges:
        if not any(prefix == one.prefix and low <= one.first and one.last <= high for prefix, low, high in known):
            raise NotVoidable("outside", one.first_e_ncf)
        of_range = given | {"prefix": one.prefix, "first": one.first, "last": one.last}
        overlap = await (await conn.execute(_OVERLAP, of_range)).fetchone()
        if overlap is not None:
            raise NotVoidable("voided", f"{one.prefix}{overlap[0]:010d}")
        taken = await first_taken(conn, tenant_id, new.environment, one)
        if taken is not None:
            raise NotVoidable("taken", taken.e_ncf, taken)
        for statement in (_RESERVE, _NOT_RETURNED, _MOVE_ON):
            await conn.execute(statement, of_range)
    return new.voiding_id


# --- the queue --------------------------------------------------------------------------------------------------------


VoidingWork = QueueRow[OutboxLane, UUID]
VOIDINGS: QueueTable[OutboxLane, VoidingWork] = QueueTable("voidings", QueueRow)


@dataclass(frozen=True, slots=True)
class SignedVoiding:
    """A signed ANECF and the certificate that signed it."""

    document: bytes
    certificate_id: CertificateId


_BARRIER = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text"
_PASSED = "SELECT pg_snapshot_xmin(pg_current_snapshot()) >= %(barrier)s::xid8"


async def barrier(conn: Conn) -> str:
    """Return a mark after every transaction that has begun to write by now."""
    return cast(str, await (await conn.cursor(row_factory=scalar_row).execute(_BARRIER)).fetchone())


async def has_passed(conn: Conn, mark: str) -> bool:
    """Whether all transactions before a mark have ended."""
    found = await (await conn.cursor(row_factory=scalar_row).execute(_PASSED, {"barrier": mark})).fetchone()
    return bool(found)


_SIGNED = """
    SELECT v.document, v.certificate_id
      FROM voidings AS v
     WHERE v.tenant_id = %(tenant)s AND v.subject = %(subject)s AND v.document IS NOT NULL
"""
_KEEP = """
    UPDATE voidings AS v
       SET document = %(document)s, certificate_id = %(certificate)s, signed_at = %(at)s
     WHERE v.tenant_id = %(tenant)s AND v.subject = %(subject)s AND v.epoch = %(epoch)s AND v.holder IS NOT NULL
       AND v.document IS NULL
"""
_INTEND = """
    UPDATE voidings AS v
       SET unanswered = v.unanswered + 1
     WHERE v.tenant_id = %(tenant)s AND v.subject = %(subject)s AND v.epoch = %(epoch)s AND v.holder IS NOT NULL
    RETURNING v.unanswered
"""
_NOT_SENT = """
    UPDATE voidings AS v
       SET unanswered = v.unanswered - 1
     WHERE v.tenant_id = %(tenant)s AND v.subject = %(subject)s AND v.epoch = %(epoch)s AND v.holder IS NOT NULL
"""
_RETRY = """
    UPDATE voidings AS v
       SET run_at = clock_timestamp() + %(after)s, attempt = v.attempt - %(back)s, holder = NULL, deaths = 0,
           last_error = %(reason)s
     WHERE v.tenant_id = %(tenant)s AND v.subject = %(subject)s AND v.epoch = %(epoch)s AND v.holder IS NOT NULL
"""
_REST = """
    UPDATE voidings AS v
       SET stage = %(state)s, run_at = 'infinity', finished_at = %(at)s, holder = NULL, deaths = 0,
           last_error = %(reason)s, answer = %(answer)s
     WHERE v.tenant_id = %(tenant)s AND v.subject = %(subject)s AND v.epoch = %(epoch)s AND v.holder IS NOT NULL
"""


async def signed(conn: Conn, work: VoidingWork) -> SignedVoiding | None:
    """Return the signed ANECF; None before it is signed."""
    cursor = conn.cursor(row_factory=class_row(SignedVoiding))
    return await (await cursor.execute(_SIGNED, _claim(work), binary=True)).fetchone()


async def keep(conn: Conn, work: VoidingWork, of: SignedVoiding, at: datetime) -> None:
    """Keep the signed ANECF before it is sent. Raises LeaseLost."""
    given = _claim(work) | {"document": of.document, "certificate": of.certificate_id, "at": at}
    if (await conn.execute(_KEEP, given)).rowcount != 1:
        raise LeaseLost(work.subject, work.epoch)


async def intend(conn: Conn, work: VoidingWork) -> int:
    """Note that it is about to be sent; return how many sends have no answer, with this one. Raises LeaseLost."""
    found = await (await conn.execute(_INTEND, _claim(work))).fetchone()
    if found is None:
        raise LeaseLost(work.subject, work.epoch)
    return int(found[0])


async def not_sent(conn: Conn, work: VoidingWork) -> None:
    """Take an intent back: nothing of it was processed. No effect where the claim was lost."""
    await conn.execute(_NOT_SENT, _claim(work))


async def retry(conn: Conn, work: VoidingWork, *, after: timedelta, reason: str, counts: bool) -> bool:
    """Make it due again; without `counts` the attempt is given back. False where the claim was lost."""
    given = _claim(work) | {"after": after, "reason": reason, "back": int(not counts)}
    return (await conn.execute(_RETRY, given)).rowcount == 1


async def doubt(conn: Conn, work: VoidingWork, reason: str, answer: Mapping[str, Any] | None, at: datetime) -> bool:
    """Leave it in doubt for an operator; its numbers stay out of use. False where the claim was lost."""
    return await _rest(conn, work, VoidingState.IN_DOUBT, at, reason, answer)


async def give_up(conn: Conn, work: VoidingWork, reason: str, at: datetime) -> bool:
    """End it after its last try: in doubt where a send has no answer, else refused. False where the claim was lost."""
    found = await find(conn, work.tenant_id, work.subject)
    if found is not None and found.unanswered:
        return await doubt(conn, work, reason, None, at)
    return await release(conn, work, VoidingState.REFUSED, reason, None, at)


async def void(
    conn: Conn,
    work: VoidingWork,
    left_out: Sequence[str],
    answer: Mapping[str, Any] | None,
    at: datetime,
) -> bool:
    """Record that the numbers are void, but for those left out. Run it in a transaction; False: the claim was lost."""
    state = VoidingState.PARTLY if left_out else VoidingState.VOIDED
    if not await _rest(conn, work, state, at, None, answer):
        return False
    await _void(conn, work.tenant_id, work.subject, left_out, at)
    return True


async def release(
    conn: Conn, work: VoidingWork, state: VoidingState, reason: str, answer: Mapping[str, Any] | None, at: datetime
) -> bool:
    """End a voiding of which no number is void: they can be drawn again. False where the claim was lost."""
    if not await _rest(conn, work, state, at, reason, answer):
        return False
    await _release(conn, work.tenant_id, work.subject, at)
    return True


async def _rest(
    conn: Conn,
    work: VoidingWork,
    state: VoidingState,
    at: datetime,
    reason: str | None,
    answer: Mapping[str, Any] | None,
) -> bool:
    given = _claim(work) | {
        "state": state.value,
        "at": at,
        "reason": reason,
        "answer": None if answer is None else Jsonb(dict(answer)),
    }
    return (await conn.execute(_REST, given)).rowcount == 1


def _claim(work: VoidingWork) -> dict[str, Any]:
    return {"tenant": work.tenant_id, "subject": work.subject, "epoch": work.epoch}


_SETTLE = """
    UPDATE voidings AS v
       SET stage = %(state)s, finished_at = %(at)s, unanswered = 0
     WHERE v.tenant_id = %(tenant)s AND v.subject = %(subject)s AND v.stage = 'in doubt'
"""


async def settle(
    conn: Conn, tenant_id: TenantId, voiding_id: UUID, *, is_void: bool, left_out: Sequence[str], at: datetime
) -> bool:
    """Settle a doubt by what an operator found out; False where it is not in doubt. Run it in a transaction."""
    state = VoidingState.REJECTED
    if is_void:
        state = VoidingState.PARTLY if left_out else VoidingState.VOIDED
    given = {"tenant": tenant_id, "subject": voiding_id, "state": state.value, "at": at}
    if not (await conn.execute(_SETTLE, given)).rowcount:
        return False
    if is_void:
        await _void(conn, tenant_id, voiding_id, left_out, at)
    else:
        await _release(conn, tenant_id, voiding_id, at)
    return True


_ASKED = """
    SELECT v.prefix, v.first_number, v.last_number, v.environment, v.reason
      FROM voided_ranges AS v
     WHERE v.tenant_id = %(tenant)s AND v.voiding_id = %(voiding)s AND v.fate = 'asked'
     ORDER BY v.prefix, v.first_number
"""
_FORGET = """
    DELETE FROM voided_ranges AS v
     WHERE v.tenant_id = %(tenant)s AND v.voiding_id = %(voiding)s AND v.fate = 'asked'
"""
_WRITE = """
    INSERT INTO voided_ranges (
        tenant_id, environment, prefix, first_number, last_number, voiding_id, fate, reason, voided_on
    )
    VALUES (%(tenant)s, %(environment)s, %(prefix)s, %(first)s, %(last)s, %(voiding)s, %(fate)s, %(reason)s, %(day)s)
"""
_UNSIGNED = """
    SELECT s.submission_id
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s AND s.environment = %(environment)s AND s.e_ncf BETWEEN %(from)s AND %(to)s
       AND s.root IN ('ECF', 'RFCE') AND s.status = 'error' AND s.number_fate = 'reusable' AND s.signed_at IS NULL
     ORDER BY s.submission_id
"""
_VOID_NUMBERS = "SELECT void_numbers(%(tenant)s, %(submissions)s, %(at)s, %(voiding)s)"
_LOCK_ONE = """
    SELECT q.current_number
      FROM sequences AS q
     WHERE q.tenant_id = %(tenant)s AND q.environment = %(environment)s AND left(q.prefix, 3) = %(prefix)s
     ORDER BY q.prefix
       FOR NO KEY UPDATE
"""
# Where the request moved it on, and nothing was drawn since.
_GO_BACK = """
    UPDATE sequences AS q
       SET current_number = greatest(%(first)s, q.min_number), updated_at = %(at)s
     WHERE q.tenant_id = %(tenant)s AND q.environment = %(environment)s AND left(q.prefix, 3) = %(prefix)s
       AND q.current_number = least(%(last)s, q.max_number) + 1
       AND q.max_number >= %(first)s AND q.min_number <= %(last)s
"""
_RETURN = "SELECT return_numbers(%(tenants)s::bigint[], %(submissions)s::uuid[])"


async def _void(conn: Conn, tenant_id: TenantId, voiding_id: UUID, left_out: Sequence[str], at: datetime) -> None:
    environment, reason, ranges = await _asked(conn, tenant_id, voiding_id)
    given: dict[str, Any] = {"tenant": tenant_id, "voiding": voiding_id, "environment": environment, "reason": reason}
    await conn.execute(_FORGET, given)
    elsewhere = [NumberRange(EcfType(e_ncf[1:3]), int(e_ncf[3:]), int(e_ncf[3:])) for e_ncf in left_out]
    void_ranges = without(ranges, left_out)
    written = [(one, RangeFate.VOID, local(at).date()) for one in void_ranges]
    for one, fate, day in [*written, *((one, RangeFate.USED_ELSEWHERE, None) for one in elsewhere)]:
        of_range = given | {"prefix": one.prefix, "first": one.first, "last": one.last, "fate": fate, "day": day}
        await conn.execute(_WRITE, of_range)
    for one in void_ranges:
        submissions = await _unsigned(conn, given, one)
        if submissions:
            await conn.execute(_VOID_NUMBERS, given | {"submissions": submissions, "at": at})


async def _release(conn: Conn, tenant_id: TenantId, voiding_id: UUID, at: datetime) -> None:
    environment, _, ranges = await _asked(conn, tenant_id, voiding_id)
    given: dict[str, Any] = {"tenant": tenant_id, "voiding": voiding_id, "environment": environment, "at": at}
    for prefix in sorted({one.prefix for one in ranges}):
        await conn.execute(_LOCK_ONE, given | {"prefix": prefix})
    await conn.execute(_FORGET, given)
    for one in reversed(ranges):
        await conn.execute(_GO_BACK, given | {"prefix": one.prefix, "first": one.first, "last": one.last})
        submissions = await _unsigned(conn, given, one)
        if submissions:
            tenants = [tenant_id] * len(submissions)
            await conn.execute(_RETURN, {"tenants": tenants, "submissions": submissions})


async def _asked(
    conn: Conn, tenant_id: TenantId, voiding_id: UUID
) -> tuple[Environment | None, int | None, Sequence[NumberRange]]:
    rows = await (await conn.execute(_ASKED, {"tenant": tenant_id, "voiding": voiding_id})).fetchall()
    ranges = [NumberRange(EcfType(prefix[1:]), first, last) for prefix, first, last, *_ in rows]
    return (Environment(rows[0][3]), rows[0][4], ranges) if rows else (None, None, ())


async def _unsigned(conn: Conn, given: Mapping[str, Any], of: NumberRange) -> list[SubmissionId]:
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_UNSIGNED, {**given, "from": of.first_e_ncf, "to": of.last_e_ncf})
    return await cursor.fetchall()


# --- for clients, people and operators --------------------------------------------------------------------------------

_COLUMNS: LiteralString = """
    SELECT v.tenant_id, v.subject, v.environment, v.stage, v.client_request_id, v.requested_at, v.requested_by,
           v.issuer_rnc, v.reason, v.ranges, v.numbers, v.attempt, v.unanswered, v.signed_at, v.finished_at,
           v.last_error, v.answer
      FROM voidings AS v
"""
_ONE: LiteralString = _COLUMNS + " WHERE v.tenant_id = %(tenant)s AND v.subject = %(voiding)s"
_BY_REQUEST: LiteralString = (
    _COLUMNS
    + " WHERE v.tenant_id = %(tenant)s AND v.environment = %(environment)s AND v.client_request_id = %(request)s"
)
_LIST: LiteralString = (
    _COLUMNS
    + """ WHERE v.tenant_id = %(tenant)s AND v.environment = %(environment)s
     ORDER BY v.requested_at DESC, v.subject DESC
     LIMIT %(limit)s"""
)
_DOUBTS: LiteralString = _COLUMNS + " WHERE v.stage = 'in doubt' ORDER BY v.finished_at LIMIT 200"
_DOCUMENT = "SELECT v.document FROM voidings AS v WHERE v.tenant_id = %(tenant)s AND v.subject = %(voiding)s"


async def find(conn: Conn, tenant_id: TenantId, voiding_id: UUID) -> Voiding | None:
    """Find a voiding."""
    return await _first(conn, _ONE, {"tenant": tenant_id, "voiding": voiding_id})


async def by_client_request(
    conn: Conn, tenant_id: TenantId, environment: Environment, request_id: ClientRequestId
) -> Voiding | None:
    """Find a voiding by the client's id of its request."""
    return await _first(conn, _BY_REQUEST, {"tenant": tenant_id, "environment": environment, "request": request_id})


async def newest(conn: Conn, tenant_id: TenantId, environment: Environment, limit: int = 100) -> list[Voiding]:
    """List a tenant's voidings, the newest first."""
    given = {"tenant": tenant_id, "environment": environment, "limit": limit}
    return [_voiding(row) for row in await (await conn.execute(_LIST, given)).fetchall()]


async def in_doubt(conn: Conn) -> list[Voiding]:
    """List the voidings of all tenants that an operator has to settle, the oldest first."""
    return [_voiding(row) for row in await (await conn.execute(_DOUBTS)).fetchall()]


async def document(conn: Conn, tenant_id: TenantId, voiding_id: UUID) -> bytes | None:
    """Return the signed ANECF."""
    found = await (await conn.execute(_DOCUMENT, {"tenant": tenant_id, "voiding": voiding_id}, binary=True)).fetchone()
    return None if found is None or found[0] is None else bytes(found[0])


async def _first(conn: Conn, statement: LiteralString, given: Mapping[str, Any]) -> Voiding | None:
    row = await (await conn.execute(statement, given)).fetchone()
    return None if row is None else _voiding(row)


def _voiding(row: Sequence[Any]) -> Voiding:
    tenant_id, voiding_id, environment, state, request_id, at, by, issuer, reason, ranges, *rest = row
    return Voiding(
        tenant_id,
        voiding_id,
        Environment(environment),
        VoidingState(state),
        request_id,
        at,
        by,
        issuer,
        reason,
        [NumberRange(EcfType(one["prefix"][1:]), one["first"], one["last"]) for one in ranges],
        *rest,
    )


@dataclass(frozen=True, slots=True)
class VoidRange:
    """A range of void numbers, for the 608 and for pages."""

    prefix: str
    first_number: int
    last_number: int
    fate: RangeFate
    reason: int
    voided_on: date | None
    voiding_id: UUID

    @property
    def count(self) -> int:
        """How many numbers."""
        return self.last_number - self.first_number + 1


_OF_DAYS = """
    SELECT v.prefix, v.first_number, v.last_number, v.fate, v.reason, v.voided_on, v.voiding_id
      FROM voided_ranges AS v
     WHERE v.tenant_id = %(tenant)s AND v.environment = %(environment)s AND v.voided_on BETWEEN %(first)s AND %(last)s
     ORDER BY v.prefix, v.first_number
"""
_WITHIN = """
    SELECT v.prefix, v.first_number, v.last_number, v.fate, v.reason, v.voided_on, v.voiding_id
      FROM voided_ranges AS v
     WHERE v.tenant_id = %(tenant)s AND v.environment = %(environment)s AND v.prefix = %(prefix)s
       AND v.first_number <= %(last)s AND v.last_number >= %(first)s
     ORDER BY v.first_number
"""
_VOID_WITHIN = """
    SELECT x.prefix, sum(least(v.last_number, x.last) - greatest(v.first_number, x.first) + 1)::bigint
      FROM unnest(%(prefixes)s::text[], %(firsts)s::bigint[], %(lasts)s::bigint[]) AS x (prefix, first, last)
      JOIN voided_ranges AS v
        ON v.tenant_id = %(tenant)s AND v.environment = %(environment)s AND v.prefix = x.prefix
       AND v.first_number <= x.last AND v.last_number >= x.first
     WHERE v.fate = 'void'
     GROUP BY x.prefix
"""


async def voided_on(
    conn: Conn, tenant_id: TenantId, environment: Environment, first: date, last: date
) -> list[VoidRange]:
    """List the ranges that became void from one day to another."""
    cursor = conn.cursor(row_factory=record_row(VoidRange))
    given = {"tenant": tenant_id, "environment": environment, "first": first, "last": last}
    return await (await cursor.execute(_OF_DAYS, given)).fetchall()


async def within(
    conn: Conn, tenant_id: TenantId, environment: Environment, prefix: str, first: int, last: int
) -> list[VoidRange]:
    """List the ranges out of use that have numbers from `first` to `last`."""
    cursor = conn.cursor(row_factory=record_row(VoidRange))
    given = {"tenant": tenant_id, "environment": environment, "prefix": prefix, "first": first, "last": last}
    return await (await cursor.execute(_WITHIN, given)).fetchall()


async def void_within(
    conn: Conn, tenant_id: TenantId, environment: Environment, stretches: Mapping[str, tuple[int, int]]
) -> dict[str, int]:
    """Count the void numbers of stretches, by prefix; those without one are left out."""
    given = {
        "tenant": tenant_id,
        "environment": environment,
        "prefixes": list(stretches),
        "firsts": [first for first, _ in stretches.values()],
        "lasts": [last for _, last in stretches.values()],
    }
    return dict(await (await conn.execute(_VOID_WITHIN, given)).fetchall())
