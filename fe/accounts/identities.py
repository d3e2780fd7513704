"""Map OpenID subjects to people. An equal email address alone proves nothing."""

from datetime import datetime

from fe.accounts.id_token import Subject
from fe.accounts.people import PersonRefused
from fe.ecf.texts import Text
from fe.identifiers import PersonId
from fe.store.portal import identities, people
from fe.store.portal.people import Person
from fe.store.postgres.db import Conn


async def who_is(conn: Conn, subject: Subject, now: datetime) -> Person | None:
    """Find the person of a subject, or None.

    A person who was created for the provider, without password and identity, is found by verified address and linked.
    All others link while signed in, or by invitation. Operators are always linked by hand.
    """
    found = await identities.find(conn, subject.issuer, subject.subject)
    if found is not None or subject.verified_email is None:
        return found
    person = await people.by_email(conn, subject.verified_email)
    if person is None or person.has_password or person.is_operator or person.disabled_at is not None:
        return None
    if await identities.of_person(conn, person.person_id):
        return None
    await link(conn, subject, person.person_id, now)
    return person


async def link(conn: Conn, subject: Subject, person_id: PersonId, now: datetime) -> None:
    """Link a subject to a person. Raises PersonRefused when another person has it."""
    if await identities.link(conn, subject.issuer, subject.subject, person_id, now):
        return
    found = await identities.find(conn, subject.issuer, subject.subject)
    if found is None or found.person_id != person_id:
        raise PersonRefused(
            Text("That account is linked to another person here.", "Esa cuenta ya está vinculada a otra persona aquí.")
        )
