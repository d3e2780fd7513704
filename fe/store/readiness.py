"""Whether the database is there and in a shape that this release runs on."""

from collections.abc import Sequence

from fe.store import book
from fe.store.db import Conn
from fe.store.migrate import OLDEST_SCHEMA, Migration, MigrationError, lacking


async def check(conn: Conn, files: Sequence[Migration], *, oldest: int = OLDEST_SCHEMA) -> None:
    """See that the release that ships `files` runs on what was applied: up to `oldest` at least, by it or a later one.

    Raises MigrationError saying what is wrong.
    """
    applied = await book.read(conn)
    if not applied:
        raise MigrationError("the database is empty: run `fe migrate`")
    lacking(applied, files, oldest=oldest)
