"""The audit trail of the installation: read here, written by triggers alone (note_in_audit_trail.sql)."""

from dataclasses import dataclass

from psycopg.rows import class_row

from fe.store.postgres.db import Conn


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the chain: `entry` is the JSON text that was hashed after `previous`, which only the first lacks."""

    number: int
    entry: str
    previous: bytes | None
    hash: bytes


_AFTER = """
    SELECT number, entry, previous, hash FROM audit_trail WHERE number > %(after)s ORDER BY number LIMIT %(limit)s
"""


async def after(conn: Conn, number: int, limit: int) -> list[Link]:
    """Read the links after `number`, in order; -1 for all of them."""
    cursor = conn.cursor(row_factory=class_row(Link))
    await cursor.execute(_AFTER, {"after": number, "limit": limit})
    return await cursor.fetchall()


_LAST = """
    SELECT number, entry, previous, hash FROM audit_trail ORDER BY number DESC LIMIT %(limit)s
"""


async def last(conn: Conn, limit: int) -> list[Link]:
    """Read the last links, in order."""
    cursor = conn.cursor(row_factory=class_row(Link))
    await cursor.execute(_LAST, {"limit": limit})
    return (await cursor.fetchall())[::-1]
