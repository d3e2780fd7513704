"""State between the steps of a sign-in: after the first factor, and on the way to the provider."""

from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from fe.identifiers import PersonId
from fe.store.portal.people import PERSON_COLUMNS, Person
from fe.store.postgres.db import Conn

_BEGIN = """
    INSERT INTO portal_logins (token_hash, person_id, way, began_at)
    VALUES (%(hash)s, %(person)s, %(way)s, %(at)s)
"""


async def begin(conn: Conn, token_hash: bytes, person_id: PersonId, way: str, at: datetime) -> None:
    """Note that the first factor was shown, under the token that the browser has now."""
    await conn.execute(_BEGIN, {"hash": token_hash, "person": person_id, "way": way, "at": at})


_FIND = f"""
    SELECT {PERSON_COLUMNS}
      FROM portal_logins AS l
      JOIN people AS p ON p.person_id = l.person_id
     WHERE l.token_hash = %(hash)s AND l.began_at > %(oldest)s AND p.disabled_at IS NULL
"""


async def find(conn: Conn, token_hash: bytes, oldest: datetime) -> Person | None:
    """Find who has shown the first factor in this browser, since a moment."""
    cursor = conn.cursor(row_factory=class_row(Person))
    await cursor.execute(_FIND, {"hash": token_hash, "oldest": oldest})
    return await cursor.fetchone()


_END = "DELETE FROM portal_logins WHERE token_hash = %(hash)s"


async def end(conn: Conn, token_hash: bytes) -> bool:
    """Delete it; False if it was deleted before."""
    ended = await conn.execute(_END, {"hash": token_hash})
    return ended.rowcount == 1


_END_ALL = "DELETE FROM portal_logins WHERE person_id = %(person)s"


async def end_all(conn: Conn, person_id: PersonId) -> None:
    """End whatever a person has begun in any browser."""
    await conn.execute(_END_ALL, {"person": person_id})


@dataclass(frozen=True, slots=True)
class OpenIdRequest:
    """A browser that was sent to the provider: what for, and where to go afterwards."""

    purpose: str
    next: str
    invitation_hash: bytes | None


_ASK = """
    INSERT INTO openid_requests (state_hash, browser_hash, purpose, next, invitation_hash, began_at)
    VALUES (%(state)s, %(browser)s, %(purpose)s, %(next)s, %(invitation)s, %(at)s)
"""


async def ask(conn: Conn, state_hash: bytes, browser_hash: bytes, request: OpenIdRequest, at: datetime) -> None:
    """Note that a browser is sent to the provider."""
    await conn.execute(
        _ASK,
        {
            "state": state_hash,
            "browser": browser_hash,
            "purpose": request.purpose,
            "next": request.next,
            "invitation": request.invitation_hash,
            "at": at,
        },
    )


_ANSWER = """
    DELETE FROM openid_requests
     WHERE state_hash = %(state)s AND browser_hash = %(browser)s AND began_at > %(oldest)s
    RETURNING purpose, next, invitation_hash
"""


async def answer(conn: Conn, state_hash: bytes, browser_hash: bytes, oldest: datetime) -> OpenIdRequest | None:
    """Take what the browser was sent for, once; None where this browser was not, or too long ago."""
    cursor = conn.cursor(row_factory=class_row(OpenIdRequest))
    await cursor.execute(_ANSWER, {"state": state_hash, "browser": browser_hash, "oldest": oldest})
    return await cursor.fetchone()
