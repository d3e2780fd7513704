"""A person and the hash of the password, in one question: it takes as long whether there is such a person or not."""

from fe.identifiers import PersonId
from fe.store.portal.people import PERSON_COLUMNS, Person
from fe.store.postgres.db import Conn

_BY_EMAIL = f"SELECT {PERSON_COLUMNS}, p.password_hash FROM people AS p WHERE lower(p.email) = lower(%(email)s)"


async def by_email(conn: Conn, email: str) -> tuple[Person | None, str | None]:
    """Find a person by address, and the hash of the password; None where there is none."""
    cursor = await conn.execute(_BY_EMAIL, {"email": email})
    row = await cursor.fetchone()
    return (None, None) if row is None else (Person(*row[:-1]), row[-1])


_HASH_OF = "SELECT p.password_hash FROM people AS p WHERE p.person_id = %(id)s"


async def of_person(conn: Conn, person_id: PersonId) -> str | None:
    """Give the hash of a person's password; None where there is none."""
    cursor = await conn.execute(_HASH_OF, {"id": person_id})
    row = await cursor.fetchone()
    return None if row is None else row[0]


_HOLD = """
    SELECT 1 FROM people AS p
     WHERE p.person_id = %(id)s AND p.disabled_at IS NULL
       AND (%(hash)s::text IS NULL OR p.password_hash = %(hash)s)
       FOR SHARE
"""


async def hold(conn: Conn, person_id: PersonId, password_hash: str | None) -> bool:
    """Lock a person's password until the transaction ends; return whether `password_hash`, if given, is still current.

    False also for a disabled person: then the credentials just checked are worthless.
    """
    cursor = await conn.execute(_HOLD, {"id": person_id, "hash": password_hash})
    return await cursor.fetchone() is not None


_NEW = "UPDATE people SET password_hash = %(hash)s WHERE person_id = %(id)s"
_IN_THE_PLACE_OF = f"{_NEW} AND password_hash IS NOT DISTINCT FROM %(former)s"


async def set_password(conn: Conn, person_id: PersonId, password_hash: str) -> None:
    """Keep the hash of a new password."""
    await conn.execute(_NEW, {"id": person_id, "hash": password_hash})


async def replace_password(conn: Conn, person_id: PersonId, password_hash: str, former: str | None) -> bool:
    """Keep the hash of a new password in the place of this one; False where that is not the one any more."""
    kept = await conn.execute(_IN_THE_PLACE_OF, {"id": person_id, "hash": password_hash, "former": former})
    return kept.rowcount == 1
