"""Whether the database is there and in the shape this release needs."""

from collections.abc import Sequence

from psycopg import errors

from fe.store.db import Conn
from fe.store.migrate import Migration, MigrationError, pending

_APPLIED = "SELECT number, digest FROM schema_migrations ORDER BY number"


async def check(conn: Conn, files: Sequence[Migration]) -> None:
    """See that exactly `files` have been applied. Raises MigrationError saying what is missing."""
    try:
        cursor = await conn.execute(_APPLIED)
    except errors.UndefinedTable:
        raise MigrationError("the database is empty: run `fe migrate`") from None
    todo = pending(await cursor.fetchall(), files)
    if todo:
        raise MigrationError(f"the database lacks {len(todo)} migration(s), first {todo[0].name}: run `fe migrate`")
