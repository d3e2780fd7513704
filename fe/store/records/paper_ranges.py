"""Ranges of numbers that the authority authorised for receipts of series B on paper."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from psycopg.errors import ExclusionViolation, ForeignKeyViolation
from psycopg.rows import scalar_row

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import StoreError
from fe.store.postgres.rows import record_row

#: Ranges of a tenant in an environment.
MOST_RANGES = 200
#: Numbers among which a free one is looked for at once; a range may have a hundred million.
_LOOK = 1000


@dataclass(frozen=True, slots=True)
class PaperRange:
    """Numbers of one type that the authority authorised for paper, both ends included."""

    range_id: UUID
    environment: Environment
    prefix: str
    first_number: int
    last_number: int
    next_number: int
    expires_on: date
    recorded_at: datetime
    recorded_by: str


class RangesOverlap(StoreError):
    """A number of the range lies in another one."""


class RangeInUse(StoreError):
    """Paper receipts have numbers of the range."""


_COLUMNS = """g.range_id, g.environment, g.prefix, g.first_number, g.last_number, g.next_number, g.expires_on,
           g.recorded_at, g.recorded_by"""
_LISTED = f"""
    SELECT {_COLUMNS}
      FROM paper_ranges AS g
     WHERE g.tenant_id = %(tenant)s AND g.environment = %(environment)s
     ORDER BY g.prefix, g.first_number
     LIMIT {MOST_RANGES}
"""


async def listed(conn: Conn, tenant_id: TenantId, environment: Environment) -> list[PaperRange]:
    """List the ranges of an environment by type and number."""
    cursor = conn.cursor(row_factory=record_row(PaperRange))
    await cursor.execute(_LISTED, {"tenant": tenant_id, "environment": environment})
    return await cursor.fetchall()


_ADD = """
    INSERT INTO paper_ranges (tenant_id, environment, range_id, prefix, first_number, last_number, next_number,
                              expires_on, recorded_at, recorded_by)
    VALUES (%(tenant)s, %(environment)s, %(id)s, %(prefix)s, %(first)s, %(last)s, %(next)s, %(expires_on)s, %(at)s,
            %(by)s)
"""


async def add(conn: Conn, tenant_id: TenantId, new: PaperRange) -> None:
    """Store a range. Raises RangesOverlap."""
    given = {
        "tenant": tenant_id,
        "environment": new.environment,
        "id": new.range_id,
        "prefix": new.prefix,
        "first": new.first_number,
        "last": new.last_number,
        "next": new.next_number,
        "expires_on": new.expires_on,
        "at": new.recorded_at,
        "by": new.recorded_by,
    }
    try:
        await conn.execute(_ADD, given)
    except ExclusionViolation:
        raise RangesOverlap from None


_DELETE = """
    DELETE FROM paper_ranges AS g
     WHERE g.tenant_id = %(tenant)s AND g.environment = %(environment)s AND g.range_id = %(id)s
"""


async def delete(conn: Conn, tenant_id: TenantId, environment: Environment, range_id: UUID) -> bool:
    """Delete a range without receipts; False when there is none. Raises RangeInUse."""
    try:
        cursor = await conn.execute(_DELETE, {"tenant": tenant_id, "environment": environment, "id": range_id})
    except ForeignKeyViolation:
        raise RangeInUse from None
    return cursor.rowcount > 0


_OF_NUMBER = f"""
    SELECT {_COLUMNS}
      FROM paper_ranges AS g
     WHERE g.tenant_id = %(tenant)s AND g.environment = %(environment)s AND g.prefix = %(prefix)s
       AND %(number)s BETWEEN g.first_number AND g.last_number
"""


async def of_number(
    conn: Conn, tenant_id: TenantId, environment: Environment, prefix: str, number: int
) -> PaperRange | None:
    """Find the range that a number lies in."""
    cursor = conn.cursor(row_factory=record_row(PaperRange))
    given = {"tenant": tenant_id, "environment": environment, "prefix": prefix, "number": number}
    await cursor.execute(_OF_NUMBER, given)
    return await cursor.fetchone()


_TO_DRAW = f"""
    SELECT {_COLUMNS}
      FROM paper_ranges AS g
     WHERE g.tenant_id = %(tenant)s AND g.environment = %(environment)s AND g.prefix = %(prefix)s
       AND g.next_number <= g.last_number AND g.expires_on >= %(today)s
     ORDER BY g.expires_on, g.first_number
     LIMIT 1
       FOR UPDATE
"""
_FREE = """
    SELECT n.number
      FROM generate_series(%(first)s::int, %(last)s::int) AS n (number)
     WHERE NOT EXISTS (
        SELECT 1
          FROM paper_receipts AS r
         WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s
           AND r.ncf = %(prefix)s || lpad(n.number::text, 8, '0'))
     ORDER BY n.number
     LIMIT 1
"""
_MOVE = """
    UPDATE paper_ranges AS g
       SET next_number = greatest(g.next_number, %(next)s)
     WHERE g.tenant_id = %(tenant)s AND g.range_id = %(id)s
"""


async def draw(
    conn: Conn, tenant_id: TenantId, environment: Environment, prefix: str, today: date
) -> tuple[PaperRange, int] | None:
    """Draw the next free number of the range that expires first; None where there is none. In a transaction."""
    given: dict[str, Any] = {"tenant": tenant_id, "environment": environment, "prefix": prefix, "today": today}
    while True:
        cursor = conn.cursor(row_factory=record_row(PaperRange))
        await cursor.execute(_TO_DRAW, given)
        found = await cursor.fetchone()
        if found is None:
            return None
        last = min(found.last_number, found.next_number + _LOOK - 1)
        numbers = conn.cursor(row_factory=scalar_row)
        await numbers.execute(_FREE, given | {"first": found.next_number, "last": last})
        number: int | None = await numbers.fetchone()
        after = (last if number is None else number) + 1
        await conn.execute(_MOVE, given | {"id": found.range_id, "next": after})
        if number is not None:
            return found, number
