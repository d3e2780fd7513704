"""The receipts of a tenant's month, issued and received: one by one, a page at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from uuid import UUID

from psycopg.rows import class_row

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.lifecycle import Status
from fe.month.period import YearMonth
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row
from fe.store.records.month_sums import values_of


@dataclass(frozen=True, slots=True)
class ReceivedLine:
    """One received receipt of a month. `approved`: the tenant's answer, if it gave one that was not rejected."""

    received_id: UUID
    issued_on: date
    ecf_type: str
    e_ncf: str
    issuer_rnc: str
    issuer_name: str
    total: Decimal
    amounts: dict[str, str] | None
    approved: bool | None


@dataclass(frozen=True, slots=True)
class IssuedLine:
    """One signed receipt of a month."""

    submission_id: UUID
    issued_on: date
    ecf_type: str
    e_ncf: str
    status: Status
    buyer_rnc: str | None
    buyer_name: str | None
    total: Decimal
    itbis: Decimal
    amounts: dict[str, str] | None


#: Lines of one read.
A_PAGE = 1000
_LINES = f"""
    SELECT s.submission_id, s.issued_on, s.ecf_type, s.e_ncf, s.status, s.buyer_rnc, s.buyer_name, s.total, s.itbis,
           s.amounts
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s AND s.environment = %(environment)s AND s.root IN ('ECF', 'RFCE')
       AND s.issued_on <= %(last)s AND (s.issued_on, s.submission_id) > (%(after_day)s, %(after_id)s)
       AND s.total IS NOT NULL AND s.ecf_type IS NOT NULL AND s.e_ncf IS NOT NULL
     ORDER BY s.issued_on, s.submission_id
     LIMIT {A_PAGE}
"""


async def issued_lines(
    conn: Conn, tenant_id: TenantId, environment: Environment, month: YearMonth, after: IssuedLine | None = None
) -> Sequence[IssuedLine]:
    """List the signed receipts of a month by day of issue, A_PAGE at most, after one of them."""
    cursor = conn.cursor(row_factory=record_row(IssuedLine))
    values = {
        **values_of(tenant_id, environment, month),
        "after_day": month.first if after is None else after.issued_on,
        "after_id": UUID(int=0) if after is None else after.submission_id,
    }
    await cursor.execute(_LINES.encode(), values)
    return await cursor.fetchall()


_RECEIVED_LINES = f"""
    SELECT r.received_id, r.issued_on, r.ecf_type, r.e_ncf, r.issuer_rnc, r.issuer_name, r.total, m.amounts, w.approved
      FROM received AS r
      LEFT JOIN received_amounts AS m ON m.tenant_id = %(tenant)s AND m.received_id = r.received_id
      LEFT JOIN LATERAL (
        SELECT a.approved
          FROM approvals AS a
          JOIN submissions AS s ON s.tenant_id = a.tenant_id AND s.submission_id = a.submission_id
         WHERE a.tenant_id = %(tenant)s AND s.tenant_id = %(tenant)s AND a.received_id = r.received_id
           AND s.status NOT IN ('Rechazado', 'error')
         ORDER BY a.round DESC
         LIMIT 1) AS w ON true
     WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s AND r.issued_on <= %(last)s
       AND (r.issued_on, r.received_id) > (%(after_day)s, %(after_id)s)
     ORDER BY r.issued_on, r.received_id
     LIMIT {A_PAGE}
"""


async def received_lines(
    conn: Conn, tenant_id: TenantId, environment: Environment, month: YearMonth, after: ReceivedLine | None = None
) -> Sequence[ReceivedLine]:
    """List the received receipts of a month by day of issue, A_PAGE at most, after one of them."""
    cursor = conn.cursor(row_factory=class_row(ReceivedLine))
    values = {
        **values_of(tenant_id, environment, month),
        "after_day": month.first if after is None else after.issued_on,
        "after_id": UUID(int=0) if after is None else after.received_id,
    }
    await cursor.execute(_RECEIVED_LINES.encode(), values)
    return await cursor.fetchall()
