"""Sums of the receipts that a tenant received in a month, and the amounts of each document that they are made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from decimal import Decimal
from uuid import UUID

from psycopg.types.json import Jsonb

from fe.ecf.catalogue import Environment
from fe.ecf.dates import ZONE
from fe.ecf.ids import first_id
from fe.identifiers import TenantId
from fe.month.period import YearMonth
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row
from fe.store.records.month_sums import values_of


@dataclass(frozen=True, slots=True)
class ReceivedSum:
    """The received receipts of one type. ITBIS of those `without_amounts` is not in it.

    Receipts that the tenant `rejected` are in no other field.
    """

    ecf_type: str
    receipts: int
    total: Decimal
    itbis: Decimal
    without_amounts: int
    rejected: int = 0


#: Days after a month within which nearly all of its receipts arrive: their amounts are read together.
_LATE = timedelta(days=10)
#: How long ago a receipt came whose sum is `settled`: clocks differ, and keeping it takes a moment.
_SETTLED = timedelta(hours=1)
# Amounts of those days are one range of the key; those of other receipts are read by key.
_RECEIVED = """
    SELECT x.ecf_type, x.received_id < u.settled_until AS is_settled, count(*) AS receipts, sum(x.total) AS total,
           coalesce(sum((x.amounts ->> 'itbis')::numeric), 0) AS itbis,
           count(*) FILTER (WHERE x.amounts IS NULL) AS without_amounts, u.settled_until
      FROM (SELECT uuid_floor(least(now(), %(now)s::timestamptz) - %(settled)s::interval) AS settled_until
            OFFSET 0) AS u
     CROSS JOIN (
        SELECT r.received_id, r.ecf_type, r.total,
               CASE WHEN r.received_id >= %(oldest)s AND r.received_id < %(late)s THEN a.amounts
                    ELSE (SELECT z.amounts
                            FROM received_amounts AS z
                           WHERE z.tenant_id = %(tenant)s AND z.received_id = r.received_id) END AS amounts
          FROM received AS r
          LEFT JOIN (
            SELECT y.received_id, y.amounts
              FROM received_amounts AS y
             WHERE y.tenant_id = %(tenant)s AND y.received_id >= %(oldest)s AND y.received_id < %(late)s
            OFFSET 0) AS a ON a.received_id = r.received_id
         WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s
           AND r.issued_on BETWEEN %(first)s AND %(last)s) AS x
     GROUP BY x.ecf_type, is_settled, u.settled_until
"""
# Of each day, what came after: a look at the end of its part of the index.
_RECEIVED_LATER = """
    SELECT x.ecf_type, x.received_id < u.settled_until AS is_settled, count(*) AS receipts, sum(x.total) AS total,
           coalesce(sum((x.amounts ->> 'itbis')::numeric), 0) AS itbis,
           count(*) FILTER (WHERE x.amounts IS NULL) AS without_amounts, u.settled_until
      FROM (SELECT uuid_floor(least(now(), %(now)s::timestamptz) - %(settled)s::interval) AS settled_until
            OFFSET 0) AS u
     CROSS JOIN (
        SELECT r.received_id, r.ecf_type, r.total,
               (SELECT z.amounts
                  FROM received_amounts AS z
                 WHERE z.tenant_id = %(tenant)s AND z.received_id = r.received_id) AS amounts
          FROM unnest(%(days)s::date[]) AS d (day)
         CROSS JOIN LATERAL (
            SELECT y.received_id, y.environment, y.ecf_type, y.total
              FROM received AS y
             WHERE y.tenant_id = %(tenant)s AND y.issued_on = d.day AND y.received_id >= %(after)s
            OFFSET 0) AS r
         WHERE r.environment = %(environment)s) AS x
     GROUP BY x.ecf_type, is_settled, u.settled_until
"""


@dataclass(frozen=True, slots=True)
class ReceivedPart:
    """As a ReceivedSum: of receipts that came before `settled_until`, or of those that came since."""

    ecf_type: str
    is_settled: bool
    receipts: int
    total: Decimal
    itbis: Decimal
    without_amounts: int
    settled_until: UUID
    rejected: int = 0


async def received(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    month: YearMonth,
    now: datetime,
    after: UUID | None = None,
) -> Sequence[ReceivedPart]:
    """Sum the received receipts of a month, by type: all of them, or those from an id on."""
    late = first_id(datetime.combine(month.after.first, time.min, ZONE) + _LATE)
    days = [month.first + timedelta(days=n) for n in range((month.last - month.first).days + 1)]
    values = {**values_of(tenant_id, environment, month), "late": late, "now": now, "settled": _SETTLED}
    cursor = conn.cursor(row_factory=record_row(ReceivedPart))
    statement = _RECEIVED if after is None else _RECEIVED_LATER
    await cursor.execute(statement, values | {"days": days, "after": after})
    return await cursor.fetchall()


# The last answer counts that the authority did not refuse, as in the 606.
_REJECTED = """
    SELECT r.ecf_type, -count(*) AS receipts, -sum(r.total) AS total,
           -coalesce(sum((m.amounts ->> 'itbis')::numeric), 0) AS itbis,
           -count(*) FILTER (WHERE m.amounts IS NULL) AS without_amounts, count(*) AS rejected
      FROM approvals AS a
      JOIN submissions AS s ON s.tenant_id = %(tenant)s AND s.submission_id = a.submission_id
      JOIN received AS r ON r.tenant_id = %(tenant)s AND r.received_id = a.received_id
      LEFT JOIN received_amounts AS m ON m.tenant_id = %(tenant)s AND m.received_id = a.received_id
     WHERE a.tenant_id = %(tenant)s AND NOT a.approved AND s.status NOT IN ('Rechazado', 'error')
       AND r.environment = %(environment)s AND r.issued_on BETWEEN %(first)s AND %(last)s
       AND NOT EXISTS (
        SELECT 1
          FROM approvals AS b
          JOIN submissions AS t ON t.tenant_id = %(tenant)s AND t.submission_id = b.submission_id
         WHERE b.tenant_id = %(tenant)s AND b.received_id = a.received_id AND b.round > a.round
           AND t.status NOT IN ('Rechazado', 'error'))
     GROUP BY r.ecf_type
"""


async def rejected(
    conn: Conn, tenant_id: TenantId, environment: Environment, month: YearMonth
) -> Sequence[ReceivedSum]:
    """Count the receipts of a month that the tenant rejected, by type, and what to subtract from `received`."""
    cursor = conn.cursor(row_factory=record_row(ReceivedSum))
    await cursor.execute(_REJECTED, values_of(tenant_id, environment, month))
    return await cursor.fetchall()


#: Documents whose amounts are computed in one go.
A_BATCH = 200
_WITHOUT_AMOUNTS = f"""
    SELECT r.received_id, d.document
      FROM received AS r
      LEFT JOIN received_amounts AS a ON a.tenant_id = %(tenant)s AND a.received_id = r.received_id
      JOIN acknowledgements AS d
        ON d.tenant_id = %(tenant)s AND d.environment = r.environment AND d.digest = r.digest AND d.reason = 0
     WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s AND r.issued_on BETWEEN %(first)s AND %(last)s
       AND a.received_id IS NULL
     LIMIT {A_BATCH}
"""
_KEEP_AMOUNTS = """
    INSERT INTO received_amounts (tenant_id, received_id, amounts)
    SELECT %(tenant)s, x.id, x.amounts
      FROM unnest(%(ids)s::uuid[], %(amounts)s::jsonb[]) AS x (id, amounts)
      JOIN received AS r ON r.tenant_id = %(tenant)s AND r.received_id = x.id
    ON CONFLICT DO NOTHING
"""


async def without_amounts(
    conn: Conn, tenant_id: TenantId, environment: Environment, month: YearMonth
) -> Sequence[tuple[UUID, bytes]]:
    """List received documents of a month whose amounts are not computed yet, A_BATCH at most."""
    cursor = await conn.execute(_WITHOUT_AMOUNTS.encode(), values_of(tenant_id, environment, month))
    return [(row[0], bytes(row[1])) for row in await cursor.fetchall()]


async def keep_amounts(conn: Conn, tenant_id: TenantId, found: Sequence[tuple[UUID, dict[str, str]]]) -> None:
    """Keep the amounts of received documents."""
    values = {"tenant": tenant_id, "ids": [one for one, _ in found], "amounts": [Jsonb(each) for _, each in found]}
    await conn.execute(_KEEP_AMOUNTS, values)
