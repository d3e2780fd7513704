"""Spent seeds: a seed of ours opens one session of a supplier's, and never a second."""

from datetime import datetime

from fe.identifiers import TenantId
from fe.store.postgres.db import Conn

_SPEND = """
    INSERT INTO spent_seeds (tenant_id, seed, expires_at)
    VALUES (%(tenant)s, %(seed)s, %(expires_at)s)
    ON CONFLICT DO NOTHING
"""


async def spend(conn: Conn, tenant_id: TenantId, seed: bytes, expires_at: datetime) -> bool:
    """Spend a seed; False when it was spent before."""
    cursor = await conn.execute(_SPEND, {"tenant": tenant_id, "seed": seed, "expires_at": expires_at})
    return cursor.rowcount == 1


_FORGET = "DELETE FROM spent_seeds WHERE expires_at < now() - interval '1 hour'"


async def forget(conn: Conn) -> None:
    """Forget the seeds that are refused by their age alone."""
    await conn.execute(_FORGET)
