"""Whether the database is there, in the shape this release needs, and takes what is written."""

from collections.abc import Sequence
from contextlib import suppress
from uuid import uuid4

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


async def probe_writing(conn: Conn) -> None:
    """Write a row on a new page and leave nothing behind. Fails where taking a document in would: a full disk."""
    # The shape of the release before has no place for it, and this release runs on that shape as well.
    with suppress(errors.UndefinedFunction):
        await conn.execute("SELECT probe_writing(%s)", (uuid4(),))
