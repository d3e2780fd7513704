"""Operators' keys: for which operator a program acts. They are read and written with operators' rights."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from psycopg.rows import class_row

from fe.identifiers import PersonId
from fe.store.postgres.db import Conn


@dataclass(frozen=True, slots=True)
class OperatorKey:
    """The record of a key. The secret itself is nowhere; `secret_hash` is a keyed SHA-256 of it."""

    operator_key_id: str
    person_id: PersonId
    email: str
    name: str
    secret_hash: bytes = field(repr=False)
    pepper_id: str
    created_at: datetime
    expires_at: datetime
    revoked_at: datetime | None
    last_used_at: datetime | None
    #: Its person is an operator, and not shut out.
    is_backed: bool

    @property
    def by_whom(self) -> str:
        """Return the key's name in records."""
        return f"key {self.name} of {self.email}"

    def state(self, now: datetime) -> Literal["active", "expired", "revoked", "suspended"]:
        """Name what it is at `now`; suspended while its person is no operator."""
        if self.revoked_at is not None:
            return "revoked"
        if now >= self.expires_at:
            return "expired"
        return "active" if self.is_backed else "suspended"


_SHOWN = """
    SELECT k.operator_key_id, k.person_id, p.email, k.name, k.secret_hash, k.pepper_id, k.created_at, k.expires_at,
           k.revoked_at, k.last_used_at, p.is_operator AND p.disabled_at IS NULL AS is_backed
      FROM operator_keys AS k
      JOIN people AS p ON p.person_id = k.person_id"""

_ADD = """
    INSERT INTO operator_keys (operator_key_id, person_id, name, secret_hash, pepper_id, created_at, expires_at)
    VALUES (%(key)s, %(person)s, %(name)s, %(hash)s, %(pepper)s, %(at)s, %(expires_at)s)
"""


async def add(
    conn: Conn,
    operator_key_id: str,
    person_id: PersonId,
    name: str,
    *,
    secret_hash: bytes,
    pepper_id: str,
    at: datetime,
    expires_at: datetime,
) -> None:
    """Store a new key."""
    values = {"key": operator_key_id, "person": person_id, "name": name, "hash": secret_hash, "pepper": pepper_id}
    await conn.execute(_ADD, {**values, "at": at, "expires_at": expires_at})


_FIND = f"{_SHOWN} WHERE k.operator_key_id = %(key)s"


async def find(conn: Conn, operator_key_id: str) -> OperatorKey | None:
    """Find a key by its public id."""
    cursor = conn.cursor(row_factory=class_row(OperatorKey))
    await cursor.execute(_FIND, {"key": operator_key_id})
    return await cursor.fetchone()


_LISTED = f"{_SHOWN} ORDER BY k.created_at DESC, k.operator_key_id LIMIT %(limit)s"


async def listed(conn: Conn, limit: int) -> list[OperatorKey]:
    """List keys, the newest first."""
    cursor = conn.cursor(row_factory=class_row(OperatorKey))
    await cursor.execute(_LISTED, {"limit": limit})
    return await cursor.fetchall()


_REVOKE = "UPDATE operator_keys SET revoked_at = %(at)s WHERE operator_key_id = %(key)s AND revoked_at IS NULL"


async def revoke(conn: Conn, operator_key_id: str, at: datetime) -> bool:
    """Revoke a key for good; False when there is none that is not revoked."""
    return (await conn.execute(_REVOKE, {"key": operator_key_id, "at": at})).rowcount == 1


_NOTE_USE = """
    UPDATE operator_keys SET last_used_at = %(at)s, secret_hash = %(hash)s, pepper_id = %(pepper)s
     WHERE operator_key_id = %(key)s AND revoked_at IS NULL
"""


async def note_use(conn: Conn, operator_key_id: str, at: datetime, *, secret_hash: bytes, pepper_id: str) -> None:
    """Note a use, and the hash of the same secret under the pepper in use."""
    await conn.execute(_NOTE_USE, {"key": operator_key_id, "at": at, "hash": secret_hash, "pepper": pepper_id})
