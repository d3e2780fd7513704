"""NCF sequences: the numbers the authority gave a tenant, per environment and prefix."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from fe.ecf.catalogue import Environment
from fe.store.db import Conn


@dataclass(frozen=True, slots=True)
class Sequence:
    """A range of numbers. `current_number` is the next to consume; `max_number` + 1 says used up."""

    tenant_id: int
    environment: str
    prefix: str
    sequence_id: UUID
    min_number: int
    max_number: int
    current_number: int
    is_active: bool
    expire_at: datetime | None


_COLUMNS = "tenant_id, environment, prefix, sequence_id, min_number, max_number, current_number, is_active, expire_at"

# A range that moves takes the next number with it to the nearest bound (interface.md, "Sequence state"); one past the
# old end means used up, and stays used up only when the new range ends there too.
_PUT = f"""
    INSERT INTO sequences AS q ({_COLUMNS}, created_at, updated_at)
    VALUES (%(tenant)s, %(environment)s, %(prefix)s, %(id)s, %(min)s, %(max)s, %(min)s, %(active)s, %(expire_at)s,
            %(at)s, %(at)s)
    ON CONFLICT (tenant_id, environment, prefix) DO UPDATE
       SET min_number = EXCLUDED.min_number, max_number = EXCLUDED.max_number,
           current_number = CASE
               WHEN q.current_number = q.max_number + 1 AND EXCLUDED.max_number = q.max_number
                   THEN q.current_number
               ELSE least(greatest(q.current_number, EXCLUDED.min_number), EXCLUDED.max_number)
           END,
           is_active = EXCLUDED.is_active, expire_at = EXCLUDED.expire_at, updated_at = EXCLUDED.updated_at
    RETURNING {_COLUMNS}
"""


async def put(
    conn: Conn,
    tenant_id: int,
    environment: Environment,
    prefix: str,
    *,
    new_id: UUID,
    minimum: int,
    maximum: int,
    expire_at: datetime | None,
    is_active: bool,
    at: datetime,
) -> Sequence:
    """Create the sequence of a prefix (then it gets `new_id`), or change it in place (interface.md, POST /ncf)."""
    cursor = conn.cursor(row_factory=class_row(Sequence))
    await cursor.execute(
        _PUT,
        {
            "tenant": tenant_id,
            "environment": environment,
            "prefix": prefix,
            "id": new_id,
            "min": minimum,
            "max": maximum,
            "expire_at": expire_at,
            "active": is_active,
            "at": at,
        },
    )
    sequence = await cursor.fetchone()
    assert sequence is not None
    return sequence


_LIST = f"""
    SELECT {_COLUMNS} FROM sequences
     WHERE tenant_id = %(tenant)s AND environment = %(environment)s
     ORDER BY prefix
"""


async def listed(conn: Conn, tenant_id: int, environment: Environment) -> list[Sequence]:
    """List a tenant's sequences of one environment by prefix."""
    cursor = conn.cursor(row_factory=class_row(Sequence))
    await cursor.execute(_LIST, {"tenant": tenant_id, "environment": environment})
    return await cursor.fetchall()


_DELETE = """
    DELETE FROM sequences
     WHERE tenant_id = %(tenant)s AND environment = %(environment)s AND prefix = %(prefix)s
"""


async def delete(conn: Conn, tenant_id: int, environment: Environment, prefix: str) -> bool:
    """Delete the sequence of a prefix; False when there is none."""
    cursor = await conn.execute(_DELETE, {"tenant": tenant_id, "environment": environment, "prefix": prefix})
    return cursor.rowcount == 1
