"""Links to set a new password. Only the hash of a link is stored."""

from datetime import datetime

from psycopg.rows import class_row

from fe.identifiers import PersonId
from fe.store.portal.people import PERSON_COLUMNS, Person
from fe.store.postgres.db import Conn

# Locked first by everything that makes or uses a link of the person: of two links made at once the second sees and ends
# the first.
_LOCK = "SELECT 1 FROM people WHERE person_id = %(person)s FOR NO KEY UPDATE"

_ISSUE = """
    INSERT INTO password_resets (token_hash, person_id, created_by, created_at, expires_at)
    VALUES (%(hash)s, %(person)s, %(by)s, %(at)s, %(until)s)
"""

_SPEND_ALL = """
    UPDATE password_resets
       SET used_at = %(at)s
     WHERE person_id = %(person)s AND used_at IS NULL AND (%(by)s::text IS NULL OR created_by = %(by)s)
"""


async def lock(conn: Conn, person_id: PersonId) -> None:
    """Keep the links of a person from others until the transaction ends."""
    await conn.execute(_LOCK, {"person": person_id})


async def issue(
    conn: Conn,
    token_hash: bytes,
    person_id: PersonId,
    *,
    by_whom: str,
    at: datetime,
    until: datetime,
    ends_only_own: bool = False,
) -> None:
    """Keep a link; those before it are good for nothing any more. In one transaction.

    With `ends_only_own`, those of other makers stay good.
    """
    await lock(conn, person_id)
    await spend_all(conn, person_id, at, by_whom if ends_only_own else None)
    await conn.execute(_ISSUE, {"hash": token_hash, "person": person_id, "by": by_whom, "at": at, "until": until})


async def spend_all(conn: Conn, person_id: PersonId, at: datetime, by_whom: str | None = None) -> None:
    """Let no link of a person, or none that `by_whom` made, be good for anything any more."""
    await conn.execute(_SPEND_ALL, {"person": person_id, "at": at, "by": by_whom})


_FIND = f"""
    SELECT {PERSON_COLUMNS}
      FROM password_resets AS r
      JOIN people AS p ON p.person_id = r.person_id
     WHERE r.token_hash = %(hash)s AND r.used_at IS NULL AND r.expires_at > %(now)s AND p.disabled_at IS NULL
"""


async def find(conn: Conn, token_hash: bytes, now: datetime) -> Person | None:
    """Find whose password a link sets; None where it is good for nothing."""
    cursor = conn.cursor(row_factory=class_row(Person))
    await cursor.execute(_FIND, {"hash": token_hash, "now": now})
    return await cursor.fetchone()


_SPEND = "UPDATE password_resets SET used_at = %(at)s WHERE token_hash = %(hash)s AND used_at IS NULL"


async def spend(conn: Conn, token_hash: bytes, at: datetime) -> bool:
    """Use a link up; False if it was used before."""
    done = await conn.execute(_SPEND, {"hash": token_hash, "at": at})
    return done.rowcount == 1
