"""Keeping usage by day up to date: what one process at a time does for all tenants (sql/functions/metering)."""

from datetime import date, timedelta

from psycopg.rows import scalar_row

from fe.identifiers import TenantId
from fe.store.postgres.db import Conn

_TAKE = "SELECT take_duty(%(duty)s, %(holder)s, %(length)s)"


async def take_duty(conn: Conn, duty: str, holder: str, length: timedelta) -> bool:
    """Take or keep a duty for a while; False if another process has it. It saves work and guards nothing."""
    cursor = await conn.execute(_TAKE, {"duty": duty, "holder": holder, "length": length})
    (is_ours,) = await cursor.fetchone() or (False,)
    return bool(is_ours)


_WITHOUT_DAYS = """
    SELECT t.tenant_id
      FROM tenants AS t
      LEFT JOIN usage_marks AS m ON m.tenant_id = t.tenant_id
     WHERE m.tenant_id IS NULL
     ORDER BY t.tenant_id
     LIMIT 1000
"""
_WITH_ENDS = "SELECT DISTINCT e.tenant_id FROM usage_ends AS e ORDER BY e.tenant_id"
_OPEN = """
    SELECT m.tenant_id
      FROM usage_marks AS m
     WHERE m.closed_until IS NULL OR m.closed_until < %(today)s
     ORDER BY m.tenant_id
"""


async def tenants_without_days(conn: Conn) -> list[TenantId]:
    """Name tenants whose days are not kept yet: new ones, and after an upgrade all. At most 1,000 at a time."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_WITHOUT_DAYS)
    return await cursor.fetchall()


async def tenants_with_ends(conn: Conn) -> list[TenantId]:
    """Name the tenants of whom something ended that is not in their days yet."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_WITH_ENDS)
    return await cursor.fetchall()


async def tenants_to_close(conn: Conn, today: date) -> list[TenantId]:
    """Name the tenants whose days before `today` are not all closed."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_OPEN, {"today": today})
    return await cursor.fetchall()


async def restart(conn: Conn, tenant_id: TenantId) -> None:
    """Rebuild a tenant's days from its submissions, with the same result as the first time.

    Fold and close the days afterwards. Reads a tenant's whole history: `patiently` gives it the time.
    """
    await conn.execute("SELECT restart_usage(%(tenant)s)", {"tenant": tenant_id})


async def fold(conn: Conn, tenant_id: TenantId, maximum: int = 20_000) -> int:
    """Add up to `maximum` of a tenant's noted ends to its days; how many they were. Once, also when two do it."""
    cursor = await conn.execute("SELECT fold_usage(%(tenant)s, %(maximum)s)", {"tenant": tenant_id, "maximum": maximum})
    (many,) = await cursor.fetchone() or (0,)
    return int(many)


async def close(conn: Conn, tenant_id: TenantId, today: date) -> bool:
    """Close a tenant's days before `today`; false when ends of those days are still to be folded. Twice is harmless.

    A clock of ours that is ahead closes nothing early: no later than the server's today.
    """
    cursor = await conn.execute("SELECT close_usage(%(tenant)s, %(today)s)", {"tenant": tenant_id, "today": today})
    (is_closed,) = await cursor.fetchone() or (False,)
    return bool(is_closed)


async def patiently(conn: Conn, limit: timedelta = timedelta(minutes=10)) -> None:
    """Raise the statement timeout of this transaction, which no client waits for."""
    await conn.execute("SELECT set_config('statement_timeout', %s, true)", (f"{limit // timedelta(seconds=1)}s",))
