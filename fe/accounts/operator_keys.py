"""Operators' keys: create, revoke, and recognize them. A key lets a program set up companies (docs/providers.md).

A key acts for the operator whose it is, and stops working when that person is shut out or is an operator no more.
"""

import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from fe.accounts.keys import Peppers
from fe.accounts.people import PersonRefused
from fe.ecf.texts import Text
from fe.store.portal import operator_keys as store
from fe.store.portal.operator_keys import OperatorKey
from fe.store.portal.people import Person
from fe.store.postgres.db import Conn, Database
from fe.store.queue import audit
from fe.store.queue.audit import OperatorAction

#: Days that a key may work; the table takes no more than a year.
MOST_DAYS = 365
LONGEST_NAME = 100
#: A use within this time of the last one is not noted again.
_COARSE = timedelta(hours=1)
#: The hash that the secret of an unknown key is compared with.
_NOBODY = bytes(32)

_NAME = Text(
    f"a key's name has 1 to {LONGEST_NAME} characters, on one line",
    f"el nombre de una clave tiene de 1 a {LONGEST_NAME} caracteres, en una línea",
)
_DAYS = Text(f"a key works for 1 to {MOST_DAYS} days", f"una clave vale de 1 a {MOST_DAYS} días")


@dataclass(frozen=True, slots=True)
class NewOperatorKey:
    """A new key; its token, id and secret in one, can be shown only now."""

    operator_key_id: str
    expires_at: datetime
    token: str = field(repr=False)


async def create(
    conn: Conn, action: OperatorAction, person: Person, name: str, *, days: int, peppers: Peppers
) -> NewOperatorKey:
    """Create a key of an operator, on record. Raises PersonRefused: no operator, or a bad name or end."""
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable() or name != name.strip():
        raise PersonRefused(_NAME)
    if not 1 <= days <= MOST_DAYS:
        raise PersonRefused(_DAYS)
    if not person.is_operator or person.disabled_at is not None:
        raise PersonRefused(Text(f"{person.email} is no operator", f"{person.email} no es operador"))
    key_id, secret = f"fok_{secrets.token_hex(6)}", secrets.token_hex(32)
    made = NewOperatorKey(key_id, action.at + timedelta(days=days), f"{key_id}.{secret}")
    await store.add(
        conn,
        key_id,
        person.person_id,
        name,
        secret_hash=peppers.hash(secret),
        pepper_id=peppers.current,
        at=action.at,
        expires_at=made.expires_at,
    )
    detail = {"key": key_id, "name": name, "person": person.email}
    await audit.record(conn, action, "operator key create", None, None, detail)
    return made


async def revoke(conn: Conn, action: OperatorAction, operator_key_id: str) -> bool:
    """Revoke a key for good, on record; its next call is refused. False when there is none, or it was revoked."""
    if not await store.revoke(conn, operator_key_id, action.at):
        return False
    await audit.record(conn, action, "operator key revoke", None, None, {"key": operator_key_id})
    return True


async def recognize(db: Database, token: str, peppers: Peppers, now: datetime) -> OperatorKey | None:
    """Return the active key of a token, and note its use; None for every other token."""
    key_id, _, secret = token.partition(".")
    found = await db.run(store.find, key_id) if key_id.isascii() and key_id.isprintable() else None
    pepper_id = peppers.find(secret, _NOBODY if found is None else found.secret_hash)
    if found is None or pepper_id is None or found.state(now) != "active":
        return None
    is_stale = found.last_used_at is None or now - found.last_used_at > _COARSE
    if is_stale or pepper_id != peppers.current:
        hashed = peppers.hash(secret)
        await db.run(store.note_use, key_id, now, secret_hash=hashed, pepper_id=peppers.current)
    return found
