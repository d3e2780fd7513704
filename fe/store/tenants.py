"""Tenants and their users."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from fe.identifiers import TenantId, UserId
from fe.store.postgres.db import Conn


@dataclass(frozen=True, slots=True)
class Tenant:
    """A customer account. `issuer` is its fiscal data in the authority's element names."""

    tenant_id: TenantId
    name: str
    issuer: dict[str, Any]
    consumer_summary: str


_CREATE = """
    INSERT INTO tenants (name, issuer, consumer_summary)
    VALUES (%(name)s, %(issuer)s, %(consumer_summary)s)
    ON CONFLICT DO NOTHING
    RETURNING tenant_id, name, issuer, consumer_summary
"""


async def create(
    conn: Conn, name: str, issuer: Mapping[str, Any], consumer_summary: str = "automatic"
) -> Tenant | None:
    """Create a tenant; None when the name is taken."""
    cursor = conn.cursor(row_factory=class_row(Tenant))
    await cursor.execute(_CREATE, {"name": name, "issuer": Jsonb(dict(issuer)), "consumer_summary": consumer_summary})
    return await cursor.fetchone()


_BY_NAME = "SELECT tenant_id, name, issuer, consumer_summary FROM tenants WHERE name = %(name)s"


async def by_name(conn: Conn, name: str) -> Tenant | None:
    """Find a tenant by its exact name."""
    cursor = conn.cursor(row_factory=class_row(Tenant))
    await cursor.execute(_BY_NAME, {"name": name})
    return await cursor.fetchone()


_ALL = "SELECT tenant_id, name, issuer, consumer_summary FROM tenants ORDER BY tenant_id"


async def everyone(conn: Conn) -> list[Tenant]:
    """List all tenants, oldest first, for operators."""
    cursor = conn.cursor(row_factory=class_row(Tenant))
    await cursor.execute(_ALL)
    return await cursor.fetchall()


@dataclass(frozen=True, slots=True)
class User:
    """An actor of a tenant, with what its receipts change in Emisor."""

    tenant_id: TenantId
    user_id: UserId
    email: str
    issuer_override: dict[str, Any] | None


_CREATE_USER = """
    INSERT INTO users (tenant_id, user_id, email, issuer_override)
    VALUES (%(tenant)s, %(user)s, %(email)s, %(override)s)
    ON CONFLICT DO NOTHING
    RETURNING tenant_id, user_id, email, issuer_override
"""


async def create_user(
    conn: Conn, tenant_id: TenantId, user_id: UserId, email: str, issuer_override: Mapping[str, Any] | None
) -> User | None:
    """Create a user; None when the tenant has one with this address (letter case apart)."""
    cursor = conn.cursor(row_factory=class_row(User))
    override = Jsonb(dict(issuer_override)) if issuer_override is not None else None
    await cursor.execute(_CREATE_USER, {"tenant": tenant_id, "user": user_id, "email": email, "override": override})
    return await cursor.fetchone()


_USER_BY_EMAIL = """
    SELECT tenant_id, user_id, email, issuer_override
      FROM users
     WHERE tenant_id = %(tenant)s AND lower(email) = lower(%(email)s)
"""


async def user_by_email(conn: Conn, tenant_id: TenantId, email: str) -> User | None:
    """Find a tenant's user by address, letter case apart."""
    cursor = conn.cursor(row_factory=class_row(User))
    await cursor.execute(_USER_BY_EMAIL, {"tenant": tenant_id, "email": email})
    return await cursor.fetchone()


_USERS_OF = """
    SELECT tenant_id, user_id, email, issuer_override
      FROM users
     WHERE tenant_id = %(tenant)s
     ORDER BY lower(email)
"""


async def users_of(conn: Conn, tenant_id: TenantId) -> list[User]:
    """List a tenant's users by address."""
    cursor = conn.cursor(row_factory=class_row(User))
    await cursor.execute(_USERS_OF, {"tenant": tenant_id})
    return await cursor.fetchall()
