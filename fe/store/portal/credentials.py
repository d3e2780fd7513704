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


_NEW = "UPDATE people SET password_hash = %(hash)s WHERE person_id = %(id)s"


async def set_password(conn: Conn, person_id: PersonId, password_hash: str) -> None:
    """Keep the hash of a new password."""
    await conn.execute(_NEW, {"id": person_id, "hash": password_hash})
