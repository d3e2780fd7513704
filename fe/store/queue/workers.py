"""Who works: signs of life apart from the hot rows, and the rescue of what silent workers held."""

from datetime import timedelta

from psycopg.rows import scalar_row

from fe.store.postgres.db import Conn

_SEEN = """
    INSERT INTO workers (holder, started_at, seen_at)
    VALUES (%(holder)s, clock_timestamp(), clock_timestamp())
    ON CONFLICT (holder) DO UPDATE SET seen_at = EXCLUDED.seen_at
"""


async def seen(conn: Conn, holder: str) -> None:
    """Say that `holder` lives."""
    await conn.execute(_SEEN, {"holder": holder})


# A row over which workers have died before is due at a moment of its own, one of sixty that its id and its epoch give
# it. One of them may be what ends the processes that touch it: claimed together with it again and again, the others
# would die with it until they were given up.
_RESCUE = """
    WITH silent AS (
        DELETE FROM workers WHERE seen_at < clock_timestamp() - %(silence)s RETURNING holder
    )
    UPDATE outbox AS o
       SET run_at = now() + CASE WHEN o.deaths = 0 THEN interval '0'
                                 ELSE %(apart)s::interval
                                      * (('x' || left(md5(o.subject::text || o.epoch), 6))::bit(24)::int %% 60) / 60 END
      FROM silent
     WHERE o.holder = silent.holder AND o.run_at > now()
    RETURNING o.stage
"""


async def rescue(conn: Conn, silence: timedelta, apart: timedelta = timedelta(minutes=1)) -> list[str]:
    """Make due what workers held that were silent for longer; return the stages, one per row.

    It is due at once, or spread over `apart` when it is not the first worker that died over it. A worker that was only
    asleep finds its claims fenced off when it wakes, and says again that it lives.
    """
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_RESCUE, {"silence": silence, "apart": apart})
    return await cursor.fetchall()


_GONE = """
    WITH gone AS (DELETE FROM workers WHERE holder = %(holder)s RETURNING holder)
    UPDATE outbox AS o SET run_at = now() FROM gone WHERE o.holder = gone.holder AND o.run_at > now()
"""


async def gone(conn: Conn, holder: str) -> None:
    """Take leave: whatever is still held is due at once."""
    await conn.execute(_GONE, {"holder": holder})
