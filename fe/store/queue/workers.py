"""Workers: heartbeats apart from the hot rows, and the rescue of rows of silent workers."""

import os
import secrets
import socket
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import LiteralString

from psycopg.rows import scalar_row

from fe.store.postgres.db import Conn
from fe.store.postgres.engine import POSTGRES, engine_of
from fe.store.queue.tables import AnyTable


def new_holder() -> str:
    """Make the name under which this process holds what it holds: its host and number, and what no other ever had."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


_SEEN = """
    INSERT INTO workers (holder, started_at, seen_at)
    VALUES (%(holder)s, clock_timestamp(), clock_timestamp())
    ON CONFLICT (holder) DO UPDATE SET seen_at = EXCLUDED.seen_at
"""


async def seen(conn: Conn, holder: str) -> None:
    """Say that `holder` lives."""
    await conn.execute(_SEEN, {"holder": holder})


_SILENT = "DELETE FROM workers WHERE seen_at < clock_timestamp() - %(silence)s RETURNING holder"
_LEAVING = "DELETE FROM workers WHERE holder = %(holder)s RETURNING holder"

#: The same on Citus, where no statement changes rows here and on the nodes (free_held.sql).
_FREE_HELD = "SELECT free_held(%(tables)s::text[], %(silence)s, %(holder)s, %(apart)s)"


def _freeing(workers: LiteralString, tables: Iterable[AnyTable]) -> LiteralString:
    """One statement that takes workers away and frees what they held, in every table; it returns the stages."""
    freed = [(f"freed_{table.name}", table.freeing) for table in tables]
    parts = [f"{name} AS ({update})" for name, update in freed]
    stages = " UNION ALL ".join(f"(TABLE {name})" for name, _ in freed)
    return f"WITH silent AS ({workers}), {', '.join(parts)} {stages}"


async def rescue(
    conn: Conn, tables: Sequence[AnyTable], silence: timedelta, apart: timedelta = timedelta(minutes=1)
) -> list[str]:
    """Make due, in all tables, the rows of workers silent for longer than `silence`; return the stages, one per row.

    `tables` must be every table of this release: the worker is forgotten, and its rows in another table would wait for
    their leases. A row is due at once, or spread over `apart` if more than one worker died over it. A worker that was
    only asleep finds its claims fenced off and gives a heartbeat again.
    """
    cursor = conn.cursor(row_factory=scalar_row)
    values = {"silence": silence, "apart": apart, "holder": None, "tables": [table.name for table in tables]}
    statement = _freeing(_SILENT, tables) if engine_of(conn) is POSTGRES else _FREE_HELD
    await cursor.execute(statement, values)
    return await cursor.fetchall()


async def gone(conn: Conn, tables: Sequence[AnyTable], holder: str) -> None:
    """Take leave: whatever is still held, in any of the tables, is due at once."""
    none = timedelta(0)
    values = {"silence": none, "apart": none, "holder": holder, "tables": [table.name for table in tables]}
    statement = _freeing(_LEAVING, tables) if engine_of(conn) is POSTGRES else _FREE_HELD
    await conn.execute(statement, values)
