"""Mend what a database's clock left behind that was ahead and has been set back: moments in a future that is far away.

A row of the table `duties` holds the latest time of the server's clock that a process with actors has read. A clock
that is behind that mark was set back by the difference; a failover to a server whose clock is behind looks the same.
"""

from collections.abc import Sequence
from datetime import timedelta

import structlog
from psycopg.rows import scalar_row

from fe.store.postgres.db import Conn
from fe.store.queue.tables import AnyTable

_log = structlog.get_logger(__name__)

#: The name of the mark. Between two updates the server's clock moves on by ten seconds: few writes, for a coarse mark.
_MARK = "clock"

# In one statement both read the row as it was before.
_SET_BACK_BY = f"""
    WITH marked AS (
        INSERT INTO duties AS d (duty, holder, held_until)
        VALUES ('{_MARK}', '', clock_timestamp())
        ON CONFLICT (duty) DO UPDATE
           SET held_until = EXCLUDED.held_until
         WHERE d.held_until < EXCLUDED.held_until - interval '10 s'
    )
    SELECT d.held_until - clock_timestamp() FROM duties AS d WHERE d.duty = '{_MARK}'
"""
_MARK_NOW = f"UPDATE duties SET held_until = clock_timestamp() WHERE duty = '{_MARK}'"

#: Less is within what a clock that is kept well may be corrected by.
_TOLERATED = timedelta(seconds=1)

# A worker whose last sign of life lies in the future is silent from now on, not dead: its next sign follows if it
# lives, and it may be about to send. Those silent for longer were silent before, and stay so.
_WORKERS = "UPDATE workers SET seen_at = clock_timestamp() WHERE seen_at > clock_timestamp()"
_CIRCUITS = """
    UPDATE circuits
       SET probe_at = greatest(least(probe_at, clock_timestamp()), probe_at - %(by)s),
           since = least(since, clock_timestamp())
     WHERE probe_at > clock_timestamp() OR since > clock_timestamp()
"""


async def pull_workers_back(conn: Conn) -> None:
    """Bring signs of life of the future back to now, so that silence is noticed in its time."""
    await conn.execute(_WORKERS)


async def set_back_by(conn: Conn) -> timedelta | None:
    """Return by how much the server's clock is behind the mark, or None; moves the mark on."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_SET_BACK_BY)
    found: timedelta | None = await cursor.fetchone()
    return found if found is not None and found > _TOLERATED else None


async def mend(conn: Conn, tables: Sequence[AnyTable], by: timedelta, lease: timedelta) -> None:
    """Move what waits for a later time by the time that the clock was set back, and shorten leases to `lease` at most.

    The mark goes last: after a crash in between it is all done again, and rows are due earlier than they would be.
    """
    for table in tables:
        await table.set_back(conn, by, lease)
    await conn.execute(_CIRCUITS, {"by": by})
    await conn.execute(_MARK_NOW)
    _log.error("the database's clock was set back: what waits for a later time was moved", seconds=by.total_seconds())
