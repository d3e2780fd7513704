"""Check that the database answers, has a schema that this release can run on, and accepts writes."""

from collections.abc import Sequence
from uuid import uuid4

from fe.store.postgres import applied_migrations
from fe.store.postgres.db import Conn
from fe.store.postgres.functions import FunctionSet, are_applied
from fe.store.postgres.migrate import FUNCTIONS_MISSING, Migration, MigrationError, require_none_pending


async def check(conn: Conn, files: Sequence[Migration], functions: FunctionSet) -> None:
    """Check that the release that ships `files` and `functions` can run on the applied migrations.

    Raises MigrationError, whose message says what is wrong.
    """
    applied = await applied_migrations.read(conn)
    if not applied:
        raise MigrationError("the database is empty: run `fe migrate`")
    require_none_pending(applied, files)
    if not await are_applied(conn, functions):
        raise MigrationError(FUNCTIONS_MISSING)


async def probe_writing(conn: Conn) -> None:
    """Write a row on a new page and leave nothing behind. Fails where taking a document in would: a full disk."""
    await conn.execute("SELECT probe_writing(%s)", (uuid4(),))
