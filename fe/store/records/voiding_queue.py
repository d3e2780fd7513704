"""The queue of voidings: signing, sending, and what became of each at the authority (docs/decisions/voidings.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, cast
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.dates import local
from fe.ecf.voiding import NumberRange, without
from fe.identifiers import CertificateId, SubmissionId, TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import LeaseLost
from fe.store.queue.outbox import OutboxLane
from fe.store.queue.tables import QueueRow, QueueTable
from fe.store.records import voidings
from fe.store.records.voidings import RangeFate, VoidingState

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
    found = await voidings.find(conn, work.tenant_id, work.subject)
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
