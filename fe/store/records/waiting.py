"""Received receipts that wait for the tenant's answer, those that wait longest first."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import args_row

from fe.ecf.catalogue import Environment
from fe.ecf.ids import moment_of
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row
from fe.store.postgres.tenant_scope import Asked
from fe.store.records.received import RECORD, ApprovalStatus, ReceivedRecord

#: Receipts on a page.
PAGE = 50
#: Counts stop at this number.
MAX_COUNTED = 1000

# Without those whose answer is on its way; one that the authority refused, or that ended as an error, is none.
_NOT_ANSWERED = """
       NOT EXISTS (
           SELECT 1
             FROM approvals AS a
             JOIN submissions AS s ON s.tenant_id = %(tenant)s AND s.submission_id = a.submission_id
            WHERE a.tenant_id = %(tenant)s AND a.received_id = w.received_id
              AND s.status NOT IN ('Rechazado', 'error'))"""

# The page first, and then what was said of each on it.
_PAGE = f"""
    {RECORD} (
            SELECT r.*
              FROM received_waiting AS w
              JOIN received AS r ON r.tenant_id = %(tenant)s AND r.received_id = w.received_id
             WHERE w.tenant_id = %(tenant)s AND w.environment = %(environment)s AND w.received_id > %(after)s
               AND {_NOT_ANSWERED}
             ORDER BY w.received_id
             LIMIT %(limit)s) AS r
     ORDER BY r.received_id
"""
_FORGET = """
    DELETE FROM received_waiting AS w
     WHERE w.tenant_id = %(tenant)s AND w.environment = %(environment)s AND w.received_id = ANY (%(ids)s)
"""


@dataclass(frozen=True, slots=True)
class WaitingPage:
    """Receipts that wait; `next` is where the next page begins, None at the end."""

    rows: list[ReceivedRecord]
    next: UUID | None = None


async def page(conn: Conn, tenant_id: TenantId, environment: Environment, *, after: UUID | None = None) -> WaitingPage:
    """List one page. Receipts that turn out to be answered through POST /invoices are left out from now on."""
    cursor = conn.cursor(row_factory=record_row(ReceivedRecord))
    values = {"tenant": tenant_id, "environment": environment, "after": after or UUID(int=0), "limit": PAGE + 1}
    await cursor.execute(_PAGE, values)
    found = await cursor.fetchall()
    answered = [row.received_id for row in found if row.approval_status is not ApprovalStatus.PENDING]
    if answered:
        await conn.execute(_FORGET, {"tenant": tenant_id, "environment": environment, "ids": answered})
    shown = found[:PAGE]
    rows = [row for row in shown if row.approval_status is ApprovalStatus.PENDING]
    return WaitingPage(rows, shown[-1].received_id if len(found) > PAGE else None)


_NEXT = f"""
    SELECT w.received_id
      FROM received_waiting AS w
     WHERE w.tenant_id = %(tenant)s AND w.environment = %(environment)s AND w.received_id <> %(but)s
       AND {_NOT_ANSWERED}
     ORDER BY w.received_id < %(but)s, w.received_id
     LIMIT 1
"""


async def next_after(conn: Conn, tenant_id: TenantId, environment: Environment, received_id: UUID) -> UUID | None:
    """Return the receipt that waits after another one, or the first of all; None where no other waits."""
    cursor = await conn.execute(_NEXT, {"tenant": tenant_id, "environment": environment, "but": received_id})
    row = await cursor.fetchone()
    return None if row is None else UUID(str(row[0]))


_COUNT = f"""
    SELECT count(*), min(x.received_id::text)
      FROM (SELECT w.received_id
              FROM received_waiting AS w
             WHERE w.tenant_id = %(tenant)s AND w.environment = %(environment)s AND {_NOT_ANSWERED}
             ORDER BY w.received_id
             LIMIT {MAX_COUNTED}) AS x
"""


@dataclass(frozen=True, slots=True)
class WaitingCount:
    """How many wait, MAX_COUNTED at most, and since when the first of them does."""

    many: int
    since: datetime | None


def count_asked(tenant_id: TenantId, environment: Environment) -> Asked[WaitingCount]:
    """Count those that wait."""

    def made(many: int, first: str | None) -> WaitingCount:
        return WaitingCount(many, None if first is None else moment_of(UUID(first)))

    return Asked(_COUNT.encode(), {"tenant": tenant_id, "environment": environment}, args_row(made))
