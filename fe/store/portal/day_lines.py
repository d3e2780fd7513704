"""The signed receipts of one day of issue, with their amounts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import Status
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class DayLine:
    """A signed receipt. `issued_by`: the branch or person, as lists show it. `amounts`: by tax and payment."""

    submission_id: SubmissionId
    ecf_type: str
    e_ncf: str
    status: Status
    issued_by: str | None
    total: Decimal
    itbis: Decimal
    amounts: dict[str, str] | None


#: Receipts that are read one by one.
MOST = 2000
_LINES = """
    SELECT s.submission_id, s.ecf_type, s.e_ncf, s.status,
           coalesce(s.as_user, u.email, s.as_user_id::text) AS issued_by, s.total, s.itbis, s.amounts
      FROM submissions AS s
      LEFT JOIN users AS u ON u.tenant_id = %(tenant)s AND u.user_id = s.as_user_id
     WHERE s.tenant_id = %(tenant)s AND s.environment = %(environment)s AND s.issued_on = %(day)s
       AND s.root IN ('ECF', 'RFCE') AND s.total IS NOT NULL AND s.itbis IS NOT NULL AND s.ecf_type IS NOT NULL
       AND s.e_ncf IS NOT NULL
     ORDER BY s.submission_id
     LIMIT %(limit)s
"""


async def of_day(conn: Conn, tenant_id: TenantId, environment: Environment, day: date) -> Sequence[DayLine]:
    """List the receipts of a day, in the order in which they came; one more than MOST where there are more."""
    cursor = conn.cursor(row_factory=record_row(DayLine))
    values = {"tenant": tenant_id, "environment": environment, "day": day, "limit": MOST + 1}
    await cursor.execute(_LINES, values)
    return await cursor.fetchall()
