"""People of the portal: creation, passwords, and links to set a password."""

import hashlib
import secrets
from datetime import datetime, timedelta

import trio
from argon2 import PasswordHasher, profiles
from argon2.exceptions import InvalidHashError, VerificationError

from fe.ecf.ids import new_id
from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import PersonId
from fe.store.portal import credentials, logins, people, resets, sessions
from fe.store.portal.people import Person
from fe.store.postgres.db import Conn

#: RFC 9106's second choice: 64 MiB, three passes, four lanes.
_HASHER = PasswordHasher.from_parameters(profiles.RFC_9106_LOW_MEMORY)
#: Concurrent hashes per process: each takes 64 MiB and a core.
_AT_ONCE = trio.CapacityLimiter(2)
#: Hash to compare with when there is no account, so that the answer takes the same time. Written out, because computing
#: it takes a quarter of a second at each start. No known password yields 32 zero bytes.
_NOBODY = f"$argon2id$v=19$m={_HASHER.memory_cost},t={_HASHER.time_cost},p={_HASHER.parallelism}${'A' * 22}${'A' * 43}"

#: Lifetime of a link to set a password.
RESET_LIFE = timedelta(days=1)
#: The same, of a link that a person asked for without signing in.
FORGOTTEN_LIFE = timedelta(hours=1)
_LONGEST_ADDRESS = 254
_LONGEST_NAME = 200

LINK_OVER = Text(
    "This link is no longer valid: it was used, withdrawn, or is too old. Ask for another.",
    "Este enlace ya no sirve: se usó, se retiró o venció. Pida otro.",
)


async def hash_password(password: str) -> str:
    """Hash a password with argon2id, in a thread."""
    return await trio.to_thread.run_sync(_HASHER.hash, password, limiter=_AT_ONCE)


async def is_password(stored: str | None, given: str) -> bool:
    """Check a password; takes as long when none is stored."""

    def verify() -> bool:
        try:
            _HASHER.verify(stored or _NOBODY, given)
        except (VerificationError, InvalidHashError):
            return False
        return stored is not None

    return await trio.to_thread.run_sync(verify, limiter=_AT_ONCE)


class PersonRefused(LocalizedError):
    """The operation is not possible for this person; nothing was changed. The message says why."""


def require_address(email: str) -> str:
    """Normalize an e-mail address. Raises PersonRefused if invalid."""
    name, at, domain = email.strip().partition("@")
    whole = f"{name}@{domain}"
    if not (name and at and domain) or len(whole) > _LONGEST_ADDRESS or not whole.isprintable() or " " in whole:
        raise PersonRefused(Text("This is not an e-mail address.", "Esto no es un correo electrónico."))
    return whole


def require_name(name: str) -> str:
    """Normalize a name. Raises PersonRefused if invalid."""
    plain = " ".join(name.split())
    if not 1 <= len(plain) <= _LONGEST_NAME or not plain.isprintable():
        raise PersonRefused(
            Text(
                f"The name should have 1 to {_LONGEST_NAME} letters.",
                f"El nombre debe tener entre 1 y {_LONGEST_NAME} letras.",
            )
        )
    return plain


async def create_person(
    conn: Conn,
    email: str,
    name: str,
    *,
    password_hash: str | None,
    language: str = "es",
    is_operator: bool = False,
    now: datetime,
) -> Person:
    """Create a person who may sign in. Raises PersonRefused. Creating an operator needs an operator's rights."""
    person_id = PersonId(new_id(now))
    made = await people.create(
        conn,
        person_id,
        require_address(email),
        require_name(name),
        language=language,
        password_hash=password_hash,
        at=now,
    )
    if not made:
        raise PersonRefused(
            Text(
                f"There already is a person with the address {email} already.",
                f"Ya hay una persona con el correo {email}.",
            )
        )
    if is_operator:
        await people.set_operator(conn, person_id, is_operator)
    found = await people.by_id(conn, person_id)
    assert found is not None
    return found


async def find_person(conn: Conn, email: str) -> Person:
    """Find a person by email address, ignoring case. Raises PersonRefused."""
    found = await people.by_email(conn, email)
    if found is None:
        raise PersonRefused(
            Text(f"There is no person with the address {email}.", f"No hay ninguna persona con el correo {email}.")
        )
    return found


async def end_everything(conn: Conn, person_id: PersonId, but: bytes = b"") -> int:
    """End a person's other sessions and unfinished sign-ins. Returns the number of sessions."""
    await logins.end_all(conn, person_id)
    return await sessions.end_others(conn, person_id, but)


async def set_password(conn: Conn, person_id: PersonId, password_hash: str) -> None:
    """Set a password and end all sessions."""
    await credentials.set_password(conn, person_id, password_hash)
    await end_everything(conn, person_id)


async def replace_password(
    conn: Conn, person_id: PersonId, password_hash: str, *, former: str | None, session: bytes
) -> bool:
    """Replace the password `former` and end all sessions but the current one.

    Returns False and changes nothing when the password is a different one by now.
    """
    if not await credentials.replace_password(conn, person_id, password_hash, former):
        return False
    await end_everything(conn, person_id, session)
    return True


def hash_token(token: str) -> bytes:
    """Hash a token of a link or cookie for storage: 256 random bits need no salt."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def new_token() -> str:
    """Create a token for a link or cookie."""
    return secrets.token_urlsafe(32)


async def issue_reset(conn: Conn, person: Person, by_whom: str, now: datetime) -> str:
    """Create a link to set a password, valid once within a day; earlier links become invalid."""
    token = new_token()
    await resets.issue(conn, hash_token(token), person.person_id, by_whom=by_whom, at=now, until=now + RESET_LIFE)
    return token


async def issue_forgotten(conn: Conn, person: Person, now: datetime) -> str:
    """Create a link that was asked for without signing in, valid once within an hour; earlier ones become invalid.

    Not the operator's: strangers ask, too.
    """
    token, until = new_token(), now + FORGOTTEN_LIFE
    await resets.issue(
        conn, hash_token(token), person.person_id, by_whom=person.email, at=now, until=until, ends_only_own=True
    )
    return token


async def reset_password(conn: Conn, token: str, password_hash: str, now: datetime) -> Person:
    """Set the password by a link, use all links up, and end all sessions. Raises PersonRefused."""
    person = await resets.find(conn, hash_token(token), now)
    if person is None:
        raise PersonRefused(LINK_OVER)
    await resets.lock(conn, person.person_id)
    if not await resets.spend(conn, hash_token(token), now):
        raise PersonRefused(LINK_OVER)
    await resets.spend_all(conn, person.person_id, now)
    await set_password(conn, person.person_id, password_hash)
    return person
