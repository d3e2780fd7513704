"""People who log in with a browser, and for whom they work. A person is of no tenant; a membership is."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from psycopg.rows import class_row

from fe.identifiers import PersonId, TenantId
from fe.store.postgres.db import Conn


class PortalRole(StrEnum):
    """Roles of a person for a tenant; each includes the rights of the next."""

    OWNER = "owner"
    MEMBER = "member"
    #: Reads, and changes nothing.
    ACCOUNTANT = "accountant"


class Rights(NamedTuple):
    """Rights of a person for a tenant."""

    role: PortalRole
    #: Whether an accountant approves and rejects received receipts.
    answers: bool = False


@dataclass(frozen=True, slots=True)
class Person:
    """A person who may sign in. Holds no secret."""

    person_id: PersonId
    email: str
    name: str
    language: str
    is_operator: bool
    has_password: bool
    #: Since when a one-time password is asked for; None: never.
    totp_since: datetime | None
    created_at: datetime
    disabled_at: datetime | None


PERSON_COLUMNS = (
    "p.person_id, p.email, p.name, p.language, p.is_operator, p.password_hash IS NOT NULL AS has_password, "
    "p.totp_since, p.created_at, p.disabled_at"
)


_CREATE = """
    INSERT INTO people (person_id, email, name, language, password_hash, created_at)
    VALUES (%(id)s, %(email)s, %(name)s, %(language)s, %(password)s, %(at)s)
    ON CONFLICT DO NOTHING
"""


async def create(
    conn: Conn,
    person_id: PersonId,
    email: str,
    name: str,
    *,
    language: str,
    password_hash: str | None,
    at: datetime,
) -> bool:
    """Create a person; False where there is one with this address (letter case apart)."""
    made = await conn.execute(
        _CREATE,
        {
            "id": person_id,
            "email": email,
            "name": name,
            "language": language,
            "password": password_hash,
            "at": at,
        },
    )
    return made.rowcount == 1


_BY_EMAIL = f"SELECT {PERSON_COLUMNS} FROM people AS p WHERE lower(p.email) = lower(%(email)s)"


async def by_email(conn: Conn, email: str) -> Person | None:
    """Find a person by address, letter case apart."""
    cursor = conn.cursor(row_factory=class_row(Person))
    await cursor.execute(_BY_EMAIL, {"email": email})
    return await cursor.fetchone()


_BY_ID = f"SELECT {PERSON_COLUMNS} FROM people AS p WHERE p.person_id = %(id)s"


async def by_id(conn: Conn, person_id: PersonId) -> Person | None:
    """Find a person."""
    cursor = conn.cursor(row_factory=class_row(Person))
    await cursor.execute(_BY_ID, {"id": person_id})
    return await cursor.fetchone()


_ALL = f"SELECT {PERSON_COLUMNS} FROM people AS p ORDER BY lower(p.email)"


async def everybody(conn: Conn) -> list[Person]:
    """List all people by address."""
    cursor = conn.cursor(row_factory=class_row(Person))
    await cursor.execute(_ALL)
    return await cursor.fetchall()


_SET_OPERATOR = "UPDATE people SET is_operator = %(operator)s WHERE person_id = %(id)s"


async def set_operator(conn: Conn, person_id: PersonId, is_operator: bool) -> None:
    """Make a person an operator of the installation, or one no more; takes an operator's rights."""
    await conn.execute(_SET_OPERATOR, {"id": person_id, "operator": is_operator})


_SET_DISABLED = "UPDATE people SET disabled_at = %(at)s WHERE person_id = %(id)s"


async def set_disabled(conn: Conn, person_id: PersonId, at: datetime | None) -> None:
    """Shut a person out from a moment on, or with None let the person in again; takes an operator's rights."""
    await conn.execute(_SET_DISABLED, {"id": person_id, "at": at})


_SET_LANGUAGE = "UPDATE people SET language = %(language)s WHERE person_id = %(id)s"


async def set_language(conn: Conn, person_id: PersonId, language: str) -> None:
    """Keep which language a person reads."""
    await conn.execute(_SET_LANGUAGE, {"id": person_id, "language": language})


_JOIN = """
    INSERT INTO memberships (tenant_id, person_id, role, since)
    VALUES (%(tenant)s, %(person)s, %(role)s, %(at)s)
    ON CONFLICT (tenant_id, person_id) DO UPDATE SET role = excluded.role
"""


async def join(conn: Conn, tenant_id: TenantId, person_id: PersonId, role: PortalRole, at: datetime) -> None:
    """Let a person work for a tenant, or in another role."""
    await conn.execute(_JOIN, {"tenant": tenant_id, "person": person_id, "role": role, "at": at})


_TENANTS_OF = """
    SELECT m.tenant_id, m.role, m.answers
      FROM memberships AS m
     WHERE m.person_id = %(person)s
     ORDER BY m.tenant_id
"""

_ROLE = "SELECT m.role, m.answers FROM memberships AS m WHERE m.tenant_id = %(tenant)s AND m.person_id = %(person)s"


async def tenants_of(conn: Conn, person_id: PersonId) -> list[tuple[TenantId, Rights]]:
    """List for whom a person works, before a tenant is chosen."""
    cursor = await conn.execute(_TENANTS_OF, {"person": person_id})
    return [(TenantId(tenant_id), _rights(*rights)) for tenant_id, *rights in await cursor.fetchall()]


async def role_in(conn: Conn, tenant_id: TenantId, person_id: PersonId) -> Rights | None:
    """Tell what a person may do for a tenant; None: nothing."""
    cursor = await conn.execute(_ROLE, {"tenant": tenant_id, "person": person_id})
    row = await cursor.fetchone()
    return None if row is None else _rights(*row)


def _rights(role: str, answers: bool) -> Rights:
    return Rights(PortalRole(role), answers)
