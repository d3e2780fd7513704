"""Identities of people: their subjects at an OpenID provider."""

from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from fe.identifiers import PersonId
from fe.store.portal.people import PERSON_COLUMNS, Person
from fe.store.postgres.db import Conn

_FIND = f"""
    SELECT {PERSON_COLUMNS}
      FROM identities AS i
      JOIN people AS p ON p.person_id = i.person_id
     WHERE i.issuer = %(issuer)s AND i.subject = %(subject)s
"""


async def find(conn: Conn, issuer: str, subject: str) -> Person | None:
    """Find who a subject is here."""
    cursor = conn.cursor(row_factory=class_row(Person))
    await cursor.execute(_FIND, {"issuer": issuer, "subject": subject})
    return await cursor.fetchone()


_LINK = """
    INSERT INTO identities (issuer, subject, person_id, since)
    VALUES (%(issuer)s, %(subject)s, %(person)s, %(at)s)
    ON CONFLICT DO NOTHING
"""


async def link(conn: Conn, issuer: str, subject: str, person_id: PersonId, at: datetime) -> bool:
    """Link a subject to a person; False if it is linked already."""
    made = await conn.execute(_LINK, {"issuer": issuer, "subject": subject, "person": person_id, "at": at})
    return made.rowcount == 1


@dataclass(frozen=True, slots=True)
class Identity:
    """A subject of a person at a provider."""

    issuer: str
    subject: str
    since: datetime


_OF = "SELECT issuer, subject, since FROM identities WHERE person_id = %(person)s ORDER BY since"


async def of_person(conn: Conn, person_id: PersonId) -> list[Identity]:
    """List who a person is elsewhere."""
    cursor = conn.cursor(row_factory=class_row(Identity))
    await cursor.execute(_OF, {"person": person_id})
    return await cursor.fetchall()


_UNLINK = "DELETE FROM identities WHERE person_id = %(person)s"


async def unlink(conn: Conn, person_id: PersonId) -> int:
    """Unlink all subjects of a person; return how many."""
    gone = await conn.execute(_UNLINK, {"person": person_id})
    return gone.rowcount
