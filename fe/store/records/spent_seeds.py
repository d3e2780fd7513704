"""Spent seeds: a seed of ours opens one session of a supplier's, and never a second."""

from datetime import datetime, timedelta

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


_OLDEST = "SELECT min(expires_at) FROM spent_seeds"
_FORGET = "DELETE FROM spent_seeds WHERE expires_at < least(%(until)s, now() - interval '1 hour')"

#: Span of time deleted per statement, so that none takes too long.
_PART = timedelta(hours=1)


async def forget(conn: Conn) -> bool:
    """Forget a part of the seeds that are refused by their age alone, the oldest; False when there were none."""
    (oldest,) = await (await conn.execute(_OLDEST)).fetchone() or (None,)
    if oldest is None:
        return False
    return (await conn.execute(_FORGET, {"until": oldest + _PART})).rowcount > 0
