"""Members of a tenant and their roles."""

from dataclasses import dataclass
from datetime import datetime

from fe.identifiers import PersonId, TenantId
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a tenant."""

    person_id: PersonId
    email: str
    name: str
    role: PortalRole
    #: Whether an accountant approves and rejects received receipts.
    answers: bool
    since: datetime
    #: Whether a second factor is asked for.
    has_second_factor: bool
    disabled_at: datetime | None


_OF_TENANT = """
    SELECT m.person_id, p.email, p.name, m.role, m.answers, m.since,
           p.totp_since IS NOT NULL AS has_second_factor, p.disabled_at
      FROM memberships AS m
      JOIN people AS p ON p.person_id = m.person_id
     WHERE m.tenant_id = %(tenant)s AND (%(person)s::uuid IS NULL OR m.person_id = %(person)s)
     ORDER BY lower(p.email)
"""


async def of_tenant(conn: Conn, tenant_id: TenantId) -> list[Member]:
    """List who works for a tenant, by address."""
    cursor = conn.cursor(row_factory=record_row(Member))
    await cursor.execute(_OF_TENANT, {"tenant": tenant_id, "person": None})
    return await cursor.fetchall()


async def one(conn: Conn, tenant_id: TenantId, person_id: PersonId) -> Member | None:
    """Find one of them."""
    cursor = conn.cursor(row_factory=record_row(Member))
    await cursor.execute(_OF_TENANT, {"tenant": tenant_id, "person": person_id})
    return await cursor.fetchone()


# Concurrent removals of an owner wait for these rows, then see the result.
_OTHER_OWNERS = """
    SELECT m.person_id
      FROM memberships AS m
     WHERE m.tenant_id = %(tenant)s AND m.role = 'owner'
     ORDER BY m.person_id
       FOR UPDATE
"""

_ABLE = "SELECT person_id FROM people WHERE person_id = ANY (%(people)s) AND disabled_at IS NULL"


async def lock_owners(conn: Conn, tenant_id: TenantId) -> set[PersonId]:
    """Return the owners who can sign in, locked against removal until this transaction ends."""
    cursor = await conn.execute(_OTHER_OWNERS, {"tenant": tenant_id})
    owners = [row[0] for row in await cursor.fetchall()]
    cursor = await conn.execute(_ABLE, {"people": owners})
    return {PersonId(row[0]) for row in await cursor.fetchall()}


_SET_ROLE = """
    UPDATE memberships SET role = %(role)s, answers = %(answers)s
     WHERE tenant_id = %(tenant)s AND person_id = %(person)s
"""


async def set_role(
    conn: Conn, tenant_id: TenantId, person_id: PersonId, role: PortalRole, *, answers: bool = False
) -> bool:
    """Change a member's role; False if the person is no member."""
    done = await conn.execute(_SET_ROLE, {"tenant": tenant_id, "person": person_id, "role": role, "answers": answers})
    return done.rowcount == 1


_LEAVE = "DELETE FROM memberships WHERE tenant_id = %(tenant)s AND person_id = %(person)s"


async def leave(conn: Conn, tenant_id: TenantId, person_id: PersonId) -> bool:
    """Remove a member; False if the person is none."""
    done = await conn.execute(_LEAVE, {"tenant": tenant_id, "person": person_id})
    return done.rowcount == 1
