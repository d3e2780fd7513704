"""People who log in: their passwords, and making them."""

from datetime import datetime

import trio
from argon2 import PasswordHasher, profiles
from argon2.exceptions import InvalidHashError, VerificationError

from fe.accounts.provision import NameTaken
from fe.ecf.ids import new_id
from fe.identifiers import PersonId
from fe.store.portal import people
from fe.store.portal.people import Person
from fe.store.postgres.db import Conn

#: RFC 9106's second choice: 64 MiB, three passes, four lanes.
_HASHER = PasswordHasher.from_parameters(profiles.RFC_9106_LOW_MEMORY)
#: Hashes computed at once in a process: each takes 64 MiB and a core.
_AT_ONCE = trio.CapacityLimiter(2)
#: What a password is compared with where there is none, so that it takes as long to say so.
_NOBODY = _HASHER.hash("nobody has this password")


async def hash_password(password: str) -> str:
    """Hash a password with argon2id, in a thread."""
    return await trio.to_thread.run_sync(_HASHER.hash, password, limiter=_AT_ONCE)


async def is_password(stored: str | None, given: str) -> bool:
    """Tell whether a password is the one that was stored; takes as long where none was."""

    def verify() -> bool:
        try:
            _HASHER.verify(stored or _NOBODY, given)
        except (VerificationError, InvalidHashError):
            return False
        return stored is not None

    return await trio.to_thread.run_sync(verify, limiter=_AT_ONCE)


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
    """Create somebody who may log in. Raises NameTaken."""
    person_id = PersonId(new_id(now))
    made = await people.create(
        conn, person_id, email, name, language=language, password_hash=password_hash, is_operator=is_operator, at=now
    )
    if not made:
        raise NameTaken(f"there is somebody with the address {email!r} already")
    found = await people.by_email(conn, email)
    assert found is not None
    return found
