"""Receipts of series B on paper, and the tries to replace each by an e-CF."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from psycopg.errors import UniqueViolation
from psycopg.rows import scalar_row

from fe.ecf.catalogue import Environment
from fe.ecf.ids import first_id
from fe.ecf.problems import Problem
from fe.identifiers import ClientRequestId, SubmissionId, TenantId
from fe.lifecycle import NumberFate, Status
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import StoreError
from fe.store.postgres.rows import record_row
from fe.store.postgres.tenant_scope import Asked, fetch

#: How the clientRequestId of a try begins.
TRY_PREFIX = "paper:"
#: Receipts that a list shows.
PAGE = 200
#: How long a submission may be on its way from its note to its row.
_ON_ITS_WAY = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class NewPaper:
    """A paper receipt to store."""

    environment: Environment
    ncf: str
    range_id: UUID
    period_id: UUID
    issued_on: date
    client_request_id: ClientRequestId | None
    payload: bytes
    buyer_rnc: str | None
    buyer_name: str | None
    total: Decimal
    itbis: Decimal


@dataclass(frozen=True, slots=True)
class PaperRecord:
    """A paper receipt, its contingency and range, its live try, and its e-CF."""

    environment: Environment
    ncf: str
    range_id: UUID
    expires_on: date
    issued_on: date
    client_request_id: ClientRequestId | None
    payload: bytes
    buyer_rnc: str | None
    buyer_name: str | None
    total: Decimal
    itbis: Decimal
    entered_at: datetime
    entered_by: str
    period_id: UUID
    period_number: str
    period_began_at: datetime
    period_ended_at: datetime | None
    attempt: int | None
    request_id: ClientRequestId | None
    replaced_at: datetime | None
    replaced_by: SubmissionId | None
    e_ncf: str | None


@dataclass(frozen=True, slots=True)
class TriedSubmission:
    """The submission of a try."""

    request_id: ClientRequestId
    submission_id: SubmissionId
    status: Status
    e_ncf: str | None
    number_fate: NumberFate

    @property
    def is_in_doubt(self) -> bool:
        """Whether it ended without an answer of the authority, which may have accepted it."""
        return self.status is Status.ERROR and self.number_fate is NumberFate.UNKNOWN


@dataclass(frozen=True, slots=True)
class AskedPaper:
    """A paper receipt as it is handed in. Without `ncf` the service draws the number: it is issued now."""

    payload: Mapping[str, Any]
    ncf: str | None = None
    issued_on: date | None = None
    client_request_id: ClientRequestId | None = None


@dataclass(frozen=True, slots=True)
class ExaminedPaper:
    """A paper receipt whose content was read: what is stored of it, and remarks."""

    prefix: str
    content: bytes
    buyer_rnc: str | None
    buyer_name: str | None
    total: Decimal
    itbis: Decimal
    remarks: tuple[Problem, ...]


class EnteredBefore(StoreError):
    """The number, or the clientRequestId, has a paper receipt."""


# -- receipts ----------------------------------------------------------------------------------------------------------

_ADD = """
    INSERT INTO paper_receipts (
        tenant_id, environment, ncf, range_id, period_id, issued_on, client_request_id, payload, buyer_rnc, buyer_name,
        total, itbis, entered_at, entered_by
    )
    VALUES (%(tenant)s, %(environment)s, %(ncf)s, %(range)s, %(period)s, %(issued_on)s, %(request)s, %(payload)s,
            %(buyer_rnc)s, %(buyer_name)s, %(total)s, %(itbis)s, %(at)s, %(by)s)
"""
_CORRECT = """
    UPDATE paper_receipts AS r
       SET range_id = %(range)s, period_id = %(period)s, issued_on = %(issued_on)s, payload = %(payload)s,
           buyer_rnc = %(buyer_rnc)s, buyer_name = %(buyer_name)s, total = %(total)s, itbis = %(itbis)s,
           entered_at = %(at)s, entered_by = %(by)s
     WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s AND r.ncf = %(ncf)s AND r.replaced_at IS NULL
"""


def _given(tenant_id: TenantId, new: NewPaper, at: datetime, by: str) -> dict[str, Any]:
    return {
        "tenant": tenant_id,
        "environment": new.environment,
        "ncf": new.ncf,
        "range": new.range_id,
        "period": new.period_id,
        "issued_on": new.issued_on,
        "request": new.client_request_id,
        "payload": new.payload,
        "buyer_rnc": new.buyer_rnc,
        "buyer_name": new.buyer_name,
        "total": new.total,
        "itbis": new.itbis,
        "at": at,
        "by": by,
    }


async def add(conn: Conn, tenant_id: TenantId, new: NewPaper, *, at: datetime, by: str) -> None:
    """Store a receipt. Raises EnteredBefore, after which the transaction is over."""
    try:
        await conn.execute(_ADD, _given(tenant_id, new, at, by))
    except UniqueViolation:
        raise EnteredBefore from None


async def correct(conn: Conn, tenant_id: TenantId, new: NewPaper, *, at: datetime, by: str) -> None:
    """Write another content of a receipt that is locked and has no e-CF."""
    await conn.execute(_CORRECT, _given(tenant_id, new, at, by))


_COLUMNS = """r.environment, r.ncf, r.range_id, g.expires_on, r.issued_on, r.client_request_id, r.payload, r.buyer_rnc,
           r.buyer_name, r.total, r.itbis, r.entered_at, r.entered_by, r.period_id,
           p.number AS period_number, p.began_at AS period_began_at, p.ended_at AS period_ended_at, x.attempt,
           x.client_request_id AS request_id, r.replaced_at, r.replaced_by, r.e_ncf"""
_FROM = """paper_receipts AS r
      JOIN paper_ranges AS g ON g.tenant_id = r.tenant_id AND g.range_id = r.range_id
      JOIN mode_periods AS p ON p.tenant_id = r.tenant_id AND p.period_id = r.period_id
      LEFT JOIN paper_replacements AS x
        ON x.tenant_id = r.tenant_id AND x.environment = r.environment AND x.ncf = r.ncf AND x.freed_at IS NULL"""
_LISTED = f"""
    SELECT {_COLUMNS}
      FROM {_FROM}
     WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s AND r.ncf > %(after)s
       AND (r.replaced_at IS NULL OR NOT %(open)s)
     ORDER BY r.ncf
     LIMIT {PAGE}
"""


async def listed(
    conn: Conn, tenant_id: TenantId, environment: Environment, *, after: str = "", only_open: bool = False
) -> list[PaperRecord]:
    """List receipts behind a number, at most PAGE; `only_open`: those without an accepted e-CF."""
    cursor = conn.cursor(row_factory=record_row(PaperRecord))
    given = {"tenant": tenant_id, "environment": environment, "after": after, "open": only_open}
    await cursor.execute(_LISTED, given)
    return await cursor.fetchall()


_ONE = f"""
    SELECT {_COLUMNS}
      FROM {_FROM}
     WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s
       AND (r.ncf = %(ncf)s OR r.client_request_id = %(request)s)
     LIMIT 1
"""


async def find(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    ncf: str | None,
    client_request_id: ClientRequestId | None = None,
) -> PaperRecord | None:
    """Find a receipt by its number, or by its clientRequestId."""
    cursor = conn.cursor(row_factory=record_row(PaperRecord))
    given = {"tenant": tenant_id, "environment": environment, "ncf": ncf, "request": client_request_id}
    await cursor.execute(_ONE, given)
    return await cursor.fetchone()


_LOCK = """
    SELECT 1
      FROM paper_receipts AS r
     WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s AND r.ncf = %(ncf)s
       FOR UPDATE
"""


async def locked(conn: Conn, tenant_id: TenantId, environment: Environment, ncf: str) -> PaperRecord | None:
    """Find a receipt by its number, locked until the transaction ends."""
    await conn.execute(_LOCK, {"tenant": tenant_id, "environment": environment, "ncf": ncf})
    return await find(conn, tenant_id, environment, ncf)


_OF_SUBMISSION = """
    SELECT x.ncf
      FROM paper_replacements AS x
     WHERE x.tenant_id = %(tenant)s AND x.environment = %(environment)s AND x.client_request_id = %(request)s
"""


async def replaced_with(
    conn: Conn, tenant_id: TenantId, environment: Environment, client_request_id: ClientRequestId | None
) -> str | None:
    """Return the number of the paper receipt that the submission of a clientRequestId replaces, or was to."""
    if client_request_id is None:
        return None
    cursor = conn.cursor(row_factory=scalar_row)
    given = {"tenant": tenant_id, "environment": environment, "request": client_request_id}
    await cursor.execute(_OF_SUBMISSION, given)
    return await cursor.fetchone()


_ENTERED = """
    SELECT EXISTS (SELECT 1
                     FROM paper_receipts AS r
                    WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s AND r.ncf = %(ncf)s)
       AND NOT EXISTS (SELECT 1
                         FROM paper_replacements AS x
                        WHERE x.tenant_id = %(tenant)s AND x.environment = %(environment)s AND x.ncf = %(ncf)s
                          AND x.client_request_id = %(request)s)
"""


async def is_entered(
    conn: Conn, tenant_id: TenantId, environment: Environment, ncf: str, request_id: ClientRequestId | None
) -> bool:
    """Return whether a number has a paper receipt, and the clientRequestId is not that of a try to replace it."""
    cursor = conn.cursor(row_factory=scalar_row)
    given = {"tenant": tenant_id, "environment": environment, "ncf": ncf, "request": request_id}
    await cursor.execute(_ENTERED, given)
    return bool(await cursor.fetchone())


_REFER = """
    INSERT INTO paper_references (tenant_id, environment, ncf, submission_id)
    VALUES (%(tenant)s, %(environment)s, %(ncf)s, %(submission)s)
    ON CONFLICT DO NOTHING
"""
_FORGET_REFERENCE = """
    DELETE FROM paper_references AS n
     WHERE n.tenant_id = %(tenant)s AND n.environment = %(environment)s AND n.ncf = %(ncf)s
       AND n.submission_id = %(submission)s
"""


async def refer(
    conn: Conn, tenant_id: TenantId, environment: Environment, ncf: str, submission_id: SubmissionId
) -> None:
    """Note that a submission of the client's own is to replace a number. Commit it before `is_entered` is asked."""
    given = {"tenant": tenant_id, "environment": environment, "ncf": ncf, "submission": submission_id}
    await conn.execute(_REFER, given)


async def forget_reference(
    conn: Conn, tenant_id: TenantId, environment: Environment, ncf: str, submission_id: SubmissionId
) -> None:
    """Forget the note of a submission that was refused."""
    given = {"tenant": tenant_id, "environment": environment, "ncf": ncf, "submission": submission_id}
    await conn.execute(_FORGET_REFERENCE, given)


# One without a submission may be on its way to the database.
_REPLACED_ELSEWHERE = """
    SELECT n.submission_id, s.e_ncf
      FROM paper_references AS n
      LEFT JOIN submissions AS s ON s.tenant_id = n.tenant_id AND s.submission_id = n.submission_id
     WHERE n.tenant_id = %(tenant)s AND n.environment = %(environment)s AND n.ncf = %(ncf)s
       AND CASE WHEN s.submission_id IS NULL THEN n.submission_id >= %(since)s
                ELSE s.status NOT IN ('Rechazado', 'error') OR (s.status = 'error' AND s.number_fate = 'unknown') END
     ORDER BY n.submission_id
     LIMIT 1
"""


async def replaced_elsewhere(
    conn: Conn, tenant_id: TenantId, environment: Environment, ncf: str, now: datetime
) -> tuple[SubmissionId, str | None] | None:
    """Return a submission of the client's own for a number that was not certainly refused, and its e-NCF."""
    since = first_id(now - _ON_ITS_WAY)
    given = {"tenant": tenant_id, "environment": environment, "ncf": ncf, "since": since}
    return await (await conn.execute(_REPLACED_ELSEWHERE, given)).fetchone()


@dataclass(frozen=True, slots=True)
class OpenPapers:
    """Receipts of an environment without an accepted e-CF, and the first contingency among theirs."""

    environment: Environment
    receipts: int
    period_began_at: datetime
    period_ended_at: datetime | None


_OPEN = """
    SELECT r.environment, count(*)::int AS receipts, min(p.began_at) AS period_began_at,
           (array_agg(p.ended_at ORDER BY p.began_at))[1] AS period_ended_at
      FROM paper_receipts AS r
      JOIN mode_periods AS p ON p.tenant_id = r.tenant_id AND p.period_id = r.period_id
     WHERE r.tenant_id = %(tenant)s AND p.tenant_id = %(tenant)s AND r.replaced_at IS NULL
     GROUP BY r.environment
"""


def still_open_asked(tenant_id: TenantId) -> Asked[OpenPapers]:
    """Return the statement of `still_open`."""
    return Asked(_OPEN.encode(), {"tenant": tenant_id}, record_row(OpenPapers))


async def still_open(conn: Conn, tenant_id: TenantId) -> Mapping[Environment, OpenPapers]:
    """Count the receipts without an accepted e-CF, by environment; none where there is none."""
    return {one.environment: one for one in await fetch(conn, still_open_asked(tenant_id))}


@dataclass(frozen=True, slots=True)
class PaperSum:
    """Paper receipts of one type in a month, credit notes as positive amounts."""

    prefix: str
    receipts: int
    total: Decimal
    itbis: Decimal
    replaced: int


_SUMS = """
    SELECT left(r.ncf, 3) AS prefix, count(*)::int AS receipts, sum(r.total) AS total, sum(r.itbis) AS itbis,
           count(r.replaced_at)::int AS replaced
      FROM paper_receipts AS r
     WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s
       AND r.issued_on BETWEEN %(first)s AND %(last)s
     GROUP BY left(r.ncf, 3)
     ORDER BY left(r.ncf, 3)
"""


async def of_days(conn: Conn, tenant_id: TenantId, environment: Environment, first: date, last: date) -> list[PaperSum]:
    """Sum the paper receipts issued from `first` to `last` by type."""
    cursor = conn.cursor(row_factory=record_row(PaperSum))
    given = {"tenant": tenant_id, "environment": environment, "first": first, "last": last}
    await cursor.execute(_SUMS, given)
    return await cursor.fetchall()


# -- tries to replace --------------------------------------------------------------------------------------------------

_TRIED = """
    SELECT c.client_request_id AS request_id, s.submission_id, s.status, s.e_ncf, s.number_fate
      FROM client_requests AS c
      JOIN submissions AS s ON s.tenant_id = c.tenant_id AND s.submission_id = c.submission_id
     WHERE c.tenant_id = %(tenant)s AND c.environment = %(environment)s AND c.client_request_id = ANY(%(requests)s)
"""


async def tried(
    conn: Conn, tenant_id: TenantId, environment: Environment, records: Sequence[PaperRecord]
) -> Mapping[ClientRequestId, TriedSubmission]:
    """Find the submissions of the live tries of receipts."""
    requests = [one.request_id for one in records if one.request_id is not None]
    if not requests:
        return {}
    cursor = conn.cursor(row_factory=record_row(TriedSubmission))
    await cursor.execute(_TRIED, {"tenant": tenant_id, "environment": environment, "requests": requests})
    return {one.request_id: one for one in await cursor.fetchall()}


# Only one whose e-CF was certainly not accepted: else the next one breaks paper_replacements_one_live.
_FREE_TRY = """
    UPDATE paper_replacements AS x
       SET freed_at = %(at)s
      FROM client_requests AS c
      JOIN submissions AS s ON s.tenant_id = c.tenant_id AND s.submission_id = c.submission_id
     WHERE x.tenant_id = %(tenant)s AND x.environment = %(environment)s AND x.ncf = %(ncf)s AND x.attempt = %(attempt)s
       AND c.tenant_id = %(tenant)s AND c.environment = %(environment)s AND c.client_request_id = x.client_request_id
       AND s.tenant_id = %(tenant)s AND s.status IN ('Rechazado', 'error')
       AND NOT (s.status = 'error' AND s.number_fate = 'unknown')
"""
_FREE_LOST_TRY = """
    UPDATE paper_replacements AS x
       SET freed_at = %(at)s
     WHERE x.tenant_id = %(tenant)s AND x.environment = %(environment)s AND x.ncf = %(ncf)s AND x.freed_at IS NULL
       AND x.begun_at < %(since)s
       AND NOT EXISTS (SELECT 1
                         FROM client_requests AS c
                        WHERE c.tenant_id = %(tenant)s AND c.environment = %(environment)s
                          AND c.client_request_id = x.client_request_id)
"""
_RESUME_TRY = """
    UPDATE paper_replacements AS x
       SET begun_at = %(at)s
     WHERE x.tenant_id = %(tenant)s AND x.environment = %(environment)s AND x.ncf = %(ncf)s AND x.freed_at IS NULL
"""
_LAST_TRY = """
    SELECT coalesce(max(x.attempt), 0)
      FROM paper_replacements AS x
     WHERE x.tenant_id = %(tenant)s AND x.environment = %(environment)s AND x.ncf = %(ncf)s
"""
_BEGIN_TRY = """
    INSERT INTO paper_replacements (tenant_id, environment, ncf, attempt, client_request_id, begun_at, begun_by)
    VALUES (%(tenant)s, %(environment)s, %(ncf)s, %(attempt)s, %(request)s, %(at)s, %(by)s)
"""


async def free_lost_try(conn: Conn, tenant_id: TenantId, of: PaperRecord, *, at: datetime) -> bool:
    """Free the receipt, which is locked, of a live try that has no submission after an hour. Return whether it did."""
    given = {"tenant": tenant_id, "environment": of.environment, "ncf": of.ncf, "at": at, "since": at - _ON_ITS_WAY}
    return (await conn.execute(_FREE_LOST_TRY, given)).rowcount == 1


async def resume_try(conn: Conn, tenant_id: TenantId, of: PaperRecord, *, at: datetime) -> None:
    """Note that the live try of a receipt, which is locked, is on its way again: `free_lost_try` waits from now on."""
    given = {"tenant": tenant_id, "environment": of.environment, "ncf": of.ncf, "at": at}
    await conn.execute(_RESUME_TRY, given)


async def begin_try(conn: Conn, tenant_id: TenantId, of: PaperRecord, *, at: datetime, by: str) -> ClientRequestId:
    """Free the receipt of its live try, if there is one, and begin the next. The receipt is locked.

    Part of its clientRequestId is random: a submission of the client's own never passes for the try.
    """
    given: dict[str, Any] = {"tenant": tenant_id, "environment": of.environment, "ncf": of.ncf, "at": at, "by": by}
    if of.attempt is not None:
        await conn.execute(_FREE_TRY, given | {"attempt": of.attempt})
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_LAST_TRY, given)
    attempt = (await cursor.fetchone() or 0) + 1
    request_id = ClientRequestId(f"{TRY_PREFIX}{of.ncf}:{attempt}:{secrets.token_hex(8)}")
    await conn.execute(_BEGIN_TRY, given | {"attempt": attempt, "request": request_id})
    return request_id
