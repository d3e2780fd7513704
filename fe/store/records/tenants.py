"""Tenants and their users."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from fe.identifiers import TenantId, UserId
from fe.store.postgres.db import Conn
from fe.store.postgres.tenant_scope import Asked, fetch


@dataclass(frozen=True, slots=True)
class Tenant:
    """A customer account. `issuer` is its fiscal data in the authority's element names."""

    tenant_id: TenantId
    name: str
    issuer: dict[str, Any]
    consumer_summary: str
    #: Since when it is shut out (docs/decisions/disabled-tenants.md); None while it is not.
    disabled_since: datetime | None = None


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


_SHOWN = """
    SELECT t.tenant_id, t.name, t.issuer, t.consumer_summary, d.since AS disabled_since
      FROM tenants AS t
      LEFT JOIN disabled_tenants AS d ON d.tenant_id = t.tenant_id"""

_BY_NAME = f"{_SHOWN} WHERE t.name = %(name)s"


async def by_name(conn: Conn, name: str) -> Tenant | None:
    """Find a tenant by its exact name."""
    cursor = conn.cursor(row_factory=class_row(Tenant))
    await cursor.execute(_BY_NAME, {"name": name})
    return await cursor.fetchone()


_BY_ID = f"{_SHOWN} WHERE t.tenant_id = %(tenant)s"


def by_id_asked(tenant_id: TenantId) -> Asked[Tenant]:
    """Return the statement of `by_id`."""
    return Asked(_BY_ID.encode(), {"tenant": tenant_id}, class_row(Tenant))


async def by_id(conn: Conn, tenant_id: TenantId) -> Tenant | None:
    """Find a tenant by its id."""
    return next(iter(await fetch(conn, by_id_asked(tenant_id))), None)


# Not FOR UPDATE, which blocks every row that references the tenant by a foreign key, such as its changes; their writer
# may hold the audit trail, which this transaction needs.
_LOCK = "SELECT 1 FROM tenants WHERE tenant_id = %(tenant)s FOR NO KEY UPDATE"


async def locked(conn: Conn, tenant_id: TenantId) -> Tenant | None:
    """Find a tenant and lock its setup until this transaction ends."""
    await conn.execute(_LOCK, {"tenant": tenant_id})
    return await by_id(conn, tenant_id)


_ALL = f"{_SHOWN} ORDER BY t.tenant_id"


async def everyone(conn: Conn) -> list[Tenant]:
    """List all tenants, oldest first, for operators."""
    cursor = conn.cursor(row_factory=class_row(Tenant))
    await cursor.execute(_ALL)
    return await cursor.fetchall()


_AFTER = f"{_SHOWN} WHERE t.tenant_id > %(after)s ORDER BY t.tenant_id LIMIT %(limit)s"


async def after(conn: Conn, tenant_id: TenantId, limit: int) -> list[Tenant]:
    """List tenants, oldest first, from the one after `tenant_id` on."""
    cursor = conn.cursor(row_factory=class_row(Tenant))
    await cursor.execute(_AFTER, {"after": tenant_id, "limit": limit})
    return await cursor.fetchall()


_CHANGE = "SELECT change_tenant(%(tenant)s, %(name)s, %(issuer)s, %(consumer_summary)s)"


async def change(
    conn: Conn,
    tenant_id: TenantId,
    *,
    name: str | None = None,
    issuer: Mapping[str, Any] | None = None,
    consumer_summary: str | None = None,
) -> str:
    """Change what is given; gives the outcome of `change_tenant`, `changed` where it is done."""
    values = {
        "tenant": tenant_id,
        "name": name,
        "issuer": None if issuer is None else Jsonb(dict(issuer)),
        "consumer_summary": consumer_summary,
    }
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_CHANGE, values)
    outcome: str | None = await cursor.fetchone()
    assert outcome is not None
    return outcome


_DISABLE = """
    INSERT INTO disabled_tenants (tenant_id, since) VALUES (%(tenant)s, %(at)s) ON CONFLICT DO NOTHING
"""
# A trigger decides which of them are not called: all, while the tenant is disabled.
_HOLD = """
    UPDATE webhook_endpoints SET disabled_at = disabled_at
     WHERE tenant_id = %(tenant)s AND disabled_at IS NULL AND removed_at IS NULL
"""
# Processes that hear of it ask again at a key's next use, others within 30 s.
_TELL = """
    SELECT pg_notify(%(channel)s, api_key_id) FROM api_keys WHERE tenant_id = %(tenant)s AND revoked_at IS NULL
"""


async def disable(conn: Conn, tenant_id: TenantId, at: datetime, *, channel: str) -> bool:
    """Shut a tenant out, and tell of each of its keys on `channel`; False when it was. Run it in a transaction."""
    values = {"tenant": tenant_id, "at": at, "channel": channel}
    disabled = await conn.execute(_DISABLE, values)
    if disabled.rowcount != 1:
        return False
    await conn.execute(_HOLD, values)
    await conn.execute(_TELL, values)
    return True


_ENABLE = "DELETE FROM disabled_tenants WHERE tenant_id = %(tenant)s"
_CALL_AGAIN = """
    UPDATE webhook_endpoints
       SET disabled_at = NULL, disabled_reason = NULL, failing_since = NULL
     WHERE tenant_id = %(tenant)s AND disabled_reason = 'tenant' AND removed_at IS NULL
    RETURNING endpoint_id
"""


async def enable(conn: Conn, tenant_id: TenantId, *, channel: str) -> list[UUID] | None:
    """Let a tenant in again, as `disable`; None when it was not shut out.

    Gives the endpoints that are called again: what was held for them is to be recovered, in the same transaction.
    """
    values = {"tenant": tenant_id, "channel": channel}
    enabled = await conn.execute(_ENABLE, values)
    if enabled.rowcount != 1:
        return None
    endpoints = conn.cursor(row_factory=scalar_row)
    await endpoints.execute(_CALL_AGAIN, values)
    called = await endpoints.fetchall()
    await conn.execute(_TELL, values)
    return called


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
     WHERE tenant_id = %(tenant)s AND lower(email) = lower(%(email)s) AND removed_at IS NULL
"""


async def user_by_email(conn: Conn, tenant_id: TenantId, email: str) -> User | None:
    """Find a tenant's user by address, letter case apart; not one that was removed."""
    cursor = conn.cursor(row_factory=class_row(User))
    await cursor.execute(_USER_BY_EMAIL, {"tenant": tenant_id, "email": email})
    return await cursor.fetchone()


_USERS_OF = """
    SELECT tenant_id, user_id, email, issuer_override
      FROM users
     WHERE tenant_id = %(tenant)s AND removed_at IS NULL
     ORDER BY lower(email)
"""


async def users_of(conn: Conn, tenant_id: TenantId) -> list[User]:
    """List a tenant's users by address, without those that were removed."""
    cursor = conn.cursor(row_factory=class_row(User))
    await cursor.execute(_USERS_OF, {"tenant": tenant_id})
    return await cursor.fetchall()


_CHANGE_USER = """
    UPDATE users SET issuer_override = %(override)s
     WHERE tenant_id = %(tenant)s AND user_id = %(user)s AND removed_at IS NULL
    RETURNING tenant_id, user_id, email, issuer_override
"""


async def change_user(
    conn: Conn, tenant_id: TenantId, user_id: UserId, issuer_override: Mapping[str, Any] | None
) -> User | None:
    """Change what a user's receipts change in Emisor; None where the tenant has no such user."""
    cursor = conn.cursor(row_factory=class_row(User))
    override = Jsonb(dict(issuer_override)) if issuer_override is not None else None
    await cursor.execute(_CHANGE_USER, {"tenant": tenant_id, "user": user_id, "override": override})
    return await cursor.fetchone()


_REMOVE_USER = "SELECT outcome, waiting FROM remove_user(%(tenant)s, %(user)s, %(at)s)"


async def remove_user(conn: Conn, tenant_id: TenantId, user_id: UserId, at: datetime) -> tuple[str, int]:
    """Remove a user; gives the outcome of the function of that name, and how many documents stand against it."""
    cursor = await conn.execute(_REMOVE_USER, {"tenant": tenant_id, "user": user_id, "at": at})
    row: tuple[str, int] | None = await cursor.fetchone()
    assert row is not None
    return row
