"""Sessions of people: found by the hash of the token in the cookie, and ended by deleting their rows."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from fe.identifiers import PersonId
from fe.store.portal.people import PERSON_COLUMNS, Person
from fe.store.postgres.db import Conn


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session, without its token."""

    token_hash: bytes
    created_at: datetime
    seen_at: datetime
    authenticated_at: datetime
    address: str
    user_agent: str
    notice: Any


_SESSION_COLUMNS = "s.token_hash, s.created_at, s.seen_at, s.authenticated_at, s.address, s.user_agent, s.notice"

_BEGIN = """
    INSERT INTO portal_sessions (token_hash, person_id, created_at, seen_at, authenticated_at, address, user_agent)
    VALUES (%(hash)s, %(person)s, %(at)s, %(at)s, %(at)s, %(address)s, %(agent)s)
"""


async def begin(
    conn: Conn, token_hash: bytes, person_id: PersonId, *, address: str, user_agent: str, at: datetime
) -> None:
    """Begin a session of a person who has just shown who it is."""
    await conn.execute(
        _BEGIN, {"hash": token_hash, "person": person_id, "address": address, "agent": user_agent, "at": at}
    )


_FIND = f"""
    SELECT {_SESSION_COLUMNS}, {PERSON_COLUMNS}
      FROM portal_sessions AS s
      JOIN people AS p ON p.person_id = s.person_id
     WHERE s.token_hash = %(hash)s
       AND s.created_at > %(oldest)s AND s.seen_at > %(idle)s
       AND p.disabled_at IS NULL
"""


async def find(
    conn: Conn, token_hash: bytes, *, now: datetime, life: timedelta, idle: timedelta
) -> tuple[SessionRecord, Person] | None:
    """Find a session that is neither too old nor was idle for too long, and whose it is."""
    cursor = await conn.execute(_FIND, {"hash": token_hash, "oldest": now - life, "idle": now - idle})
    row = await cursor.fetchone()
    return None if row is None else (SessionRecord(*row[:7]), Person(*row[7:]))


_SEEN = "UPDATE portal_sessions SET seen_at = %(at)s, notice = NULL WHERE token_hash = %(hash)s"


async def seen(conn: Conn, token_hash: bytes, at: datetime) -> None:
    """Note that a session is in use, and that what it was to be told has been."""
    await conn.execute(_SEEN, {"hash": token_hash, "at": at})


_USED = "UPDATE portal_sessions SET seen_at = %(at)s WHERE token_hash = %(hash)s"


async def used(conn: Conn, token_hash: bytes, at: datetime) -> None:
    """Note that a session is in use; what it is to be told, a page will say."""
    await conn.execute(_USED, {"hash": token_hash, "at": at})


_LEAVE_NOTICE = "UPDATE portal_sessions SET notice = %(notice)s WHERE token_hash = %(hash)s"


async def leave_notice(conn: Conn, token_hash: bytes, notice: Any) -> None:
    """Keep what the next page says once."""
    await conn.execute(_LEAVE_NOTICE, {"hash": token_hash, "notice": Jsonb(notice)})


_RENEW = """
    UPDATE portal_sessions SET token_hash = %(new)s, authenticated_at = %(at)s, seen_at = %(at)s
     WHERE token_hash = %(hash)s
"""


async def renew(conn: Conn, token_hash: bytes, new_hash: bytes, at: datetime) -> bool:
    """Go on under a new token after the person has shown again who it is; False where the session ended meanwhile."""
    renewed = await conn.execute(_RENEW, {"hash": token_hash, "new": new_hash, "at": at})
    return renewed.rowcount == 1


_END = "DELETE FROM portal_sessions WHERE token_hash = %(hash)s"


async def end(conn: Conn, token_hash: bytes) -> None:
    """End a session."""
    await conn.execute(_END, {"hash": token_hash})


_END_OTHERS = "DELETE FROM portal_sessions WHERE person_id = %(person)s AND token_hash <> %(but)s"


async def end_others(conn: Conn, person_id: PersonId, but: bytes = b"") -> int:
    """End every session of a person but one; with nothing for `but`, all. Tells how many."""
    ended = await conn.execute(_END_OTHERS, {"person": person_id, "but": but})
    return ended.rowcount


_OF_PERSON = (
    f"SELECT {_SESSION_COLUMNS} FROM portal_sessions AS s WHERE s.person_id = %(person)s ORDER BY s.seen_at DESC"
)


async def of_person(conn: Conn, person_id: PersonId) -> list[SessionRecord]:
    """List the sessions of a person, the latest in use first."""
    cursor = conn.cursor(row_factory=class_row(SessionRecord))
    await cursor.execute(_OF_PERSON, {"person": person_id})
    return await cursor.fetchall()


_SEND_ONCE = "INSERT INTO portal_forms (form_id, sent_at) VALUES (%(form)s, %(at)s) ON CONFLICT DO NOTHING"


async def send_once(conn: Conn, form_id: object, at: datetime) -> bool:
    """Take a form in, in the transaction of its work; False where it was sent before."""
    sent = await conn.execute(_SEND_ONCE, {"form": form_id, "at": at})
    return sent.rowcount == 1


_FORGET = (
    "DELETE FROM portal_sessions WHERE created_at < %(oldest)s",
    "DELETE FROM portal_forms WHERE sent_at < %(oldest)s",
    "DELETE FROM portal_logins WHERE began_at < %(oldest)s",
    "DELETE FROM openid_requests WHERE began_at < %(oldest)s",
    "DELETE FROM password_resets WHERE expires_at < %(oldest)s",
)


async def forget(conn: Conn, before: datetime) -> None:
    """Forget sessions, forms and links for a forgotten password of before a moment."""
    for statement in _FORGET:
        await conn.execute(statement, {"oldest": before})
