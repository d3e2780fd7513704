"""Where tenants want to be called: endpoints, and the secrets their calls are signed with."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from psycopg.rows import class_row

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.lifecycle import WebhookEvent
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row
from fe.store.postgres.tenant_scope import Asked, fetch

#: The name of the endpoint that an environment has had alone.
DEFAULT = "default"

#: For how long a secret that was replaced signs beside the new one.
OVERLAP = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a tenant wants to be called, and of what. `environment` None: of all of them."""

    tenant_id: TenantId
    endpoint_id: UUID
    environment: Environment | None
    #: Unique in its environment.
    name: str
    url: str
    #: The tenant's own switch: off, nothing is told.
    enabled: bool
    events: Sequence[str]
    #: The headers that the tenant wants sent, encrypted (fe/webhooks/secrets.py); None where there are none.
    headers: bytes | None
    created_at: datetime
    updated_at: datetime
    #: Since when every try has failed.
    failing_since: datetime | None
    #: Since when it is not called, by our decision ('gone': it answered 410; 'failing': for five days nothing worked;
    #: 'tenant': its tenant is disabled).
    disabled_at: datetime | None
    disabled_reason: str | None


@dataclass(frozen=True, slots=True)
class EncryptedSecret:
    """A signing secret, encrypted by the vault. Without an end it is the one in use."""

    tenant_id: TenantId
    secret_id: UUID
    endpoint_id: UUID
    secret: bytes
    created_at: datetime
    expires_at: datetime | None


_COLUMNS = (
    "tenant_id, endpoint_id, environment, name, url, enabled, events, headers, created_at, updated_at, failing_since,"
    " disabled_at, disabled_reason"
)

_LISTED = f"""
    SELECT {_COLUMNS}
      FROM webhook_endpoints
     WHERE tenant_id = %(tenant)s AND removed_at IS NULL
     ORDER BY endpoint_id
"""


def listed_asked(tenant_id: TenantId) -> Asked[Endpoint]:
    """Return the statement of `listed`."""
    return Asked(_LISTED.encode(), {"tenant": tenant_id}, record_row(Endpoint))


async def listed(conn: Conn, tenant_id: TenantId) -> list[Endpoint]:
    """List the endpoints of a tenant, oldest first."""
    return await fetch(conn, listed_asked(tenant_id))


_ONE = f"""
    SELECT {_COLUMNS}
      FROM webhook_endpoints
     WHERE tenant_id = %(tenant)s AND endpoint_id = %(endpoint)s AND removed_at IS NULL
"""


async def one(conn: Conn, tenant_id: TenantId, endpoint_id: UUID) -> Endpoint | None:
    """Find an endpoint that was not removed."""
    cursor = conn.cursor(row_factory=record_row(Endpoint))
    await cursor.execute(_ONE, {"tenant": tenant_id, "endpoint": endpoint_id})
    return await cursor.fetchone()


_OF_ENVIRONMENT = f"""
    SELECT {_COLUMNS}
      FROM webhook_endpoints
     WHERE tenant_id = %(tenant)s AND environment IS NOT DISTINCT FROM %(environment)s::environment
       AND name = %(name)s AND removed_at IS NULL
"""


async def of_environment(
    conn: Conn, tenant_id: TenantId, environment: Environment | None, name: str = DEFAULT
) -> Endpoint | None:
    """Find the endpoint of this name in an environment; None asks for that of all of them."""
    cursor = conn.cursor(row_factory=record_row(Endpoint))
    await cursor.execute(_OF_ENVIRONMENT, {"tenant": tenant_id, "environment": environment, "name": name})
    return await cursor.fetchone()


_LOCK_CHANGES = "SELECT pg_advisory_xact_lock(hashtextextended('webhooks', %(tenant)s))"


async def lock_changes(conn: Conn, tenant_id: TenantId) -> None:
    """Let who changes the endpoints of a tenant do so one after the other, until the transaction ends."""
    await conn.execute(_LOCK_CHANGES, {"tenant": tenant_id})


_ADD = """
    INSERT INTO webhook_endpoints (tenant_id, endpoint_id, environment, name, url, enabled, events, headers, created_at,
                                   updated_at)
    VALUES (%(tenant)s, %(endpoint)s, %(environment)s, %(name)s, %(url)s, %(enabled)s, %(events)s, %(headers)s, %(at)s,
            %(at)s)
"""

_ADD_KEY = """
    INSERT INTO webhook_secrets (tenant_id, secret_id, endpoint_id, secret, created_at)
    VALUES (%(tenant)s, %(secret_id)s, %(endpoint)s, %(secret)s, %(at)s)
"""


async def add(
    conn: Conn,
    tenant_id: TenantId,
    *,
    endpoint_id: UUID,
    environment: Environment | None,
    name: str = DEFAULT,
    url: str,
    enabled: bool,
    events: Sequence[WebhookEvent],
    headers: bytes | None,
    secret_id: UUID,
    secret: bytes,
    at: datetime,
) -> None:
    """Make an endpoint, with its first secret; both ids are new. `headers` and `secret` are encrypted."""
    values = {
        "tenant": tenant_id,
        "endpoint": endpoint_id,
        "environment": environment,
        "name": name,
        "url": url,
        "enabled": enabled,
        "events": list(events),
        "headers": headers,
        "secret_id": secret_id,
        "secret": secret,
        "at": at,
    }
    async with conn.transaction():
        await conn.execute(_ADD, values)
        await conn.execute(_ADD_KEY, values)


# Switching it on again also takes back our own decision not to call it. Headers that stay are not written again as they
# were read: they may be under another key by now (fe/store/records/rewrapping.py).
_CHANGE = f"""
    UPDATE webhook_endpoints
       SET url = %(url)s, enabled = %(enabled)s, events = %(events)s, updated_at = %(at)s,
           headers = CASE WHEN %(keeps_headers)s THEN headers ELSE %(headers)s END,
           failing_since = CASE WHEN disabled_at IS NOT NULL AND %(enabled)s THEN NULL ELSE failing_since END,
           disabled_at = CASE WHEN %(enabled)s THEN NULL ELSE disabled_at END,
           disabled_reason = CASE WHEN %(enabled)s THEN NULL ELSE disabled_reason END
     WHERE tenant_id = %(tenant)s AND endpoint_id = %(endpoint)s AND removed_at IS NULL
    RETURNING {_COLUMNS}
"""


async def change(
    conn: Conn,
    tenant_id: TenantId,
    endpoint_id: UUID,
    *,
    url: str,
    enabled: bool,
    events: Sequence[WebhookEvent],
    headers: bytes | None = None,
    keeps_headers: bool = False,
    at: datetime,
) -> Endpoint | None:
    """Change an endpoint; None if there is none. `enabled` switches it on, for whatever reason it was off.

    With `keeps_headers` its headers stay and `headers` is ignored. After enabling one that was off, ask for its held
    deliveries (recoveries.ask with `only_held`).
    """
    cursor = conn.cursor(row_factory=record_row(Endpoint))
    await cursor.execute(
        _CHANGE,
        {
            "tenant": tenant_id,
            "endpoint": endpoint_id,
            "url": url,
            "enabled": enabled,
            "events": list(events),
            "headers": headers,
            "keeps_headers": keeps_headers,
            "at": at,
        },
    )
    return await cursor.fetchone()


_REMOVE = """
    UPDATE webhook_endpoints
       SET removed_at = %(at)s, enabled = false, headers = NULL
     WHERE tenant_id = %(tenant)s AND endpoint_id = %(endpoint)s AND removed_at IS NULL
"""
_END_KEYS = "DELETE FROM webhook_secrets WHERE tenant_id = %(tenant)s AND endpoint_id = %(endpoint)s"
_END_DELIVERIES = "SELECT end_webhook(%(tenant)s, %(endpoint)s, %(at)s, %(limit)s)"


async def remove(conn: Conn, tenant_id: TenantId, endpoint_id: UUID, *, at: datetime, limit: int = 10_000) -> None:
    """Delete an endpoint with its secrets and headers; end undelivered deliveries, at most `limit` of them now.

    The upkeep of webhooks ends the others (fe/actors/webhook_watch.py).
    """
    values = {"tenant": tenant_id, "endpoint": endpoint_id, "at": at, "limit": limit}
    async with conn.transaction():
        await conn.execute(_REMOVE, values)
        await conn.execute(_END_KEYS, values)
        await conn.execute(_END_DELIVERIES, values)


# --- secrets ----------------------------------------------------------------------------------------------------------

_SECRETS = """
    SELECT tenant_id, secret_id, endpoint_id, secret, created_at, expires_at
      FROM webhook_secrets
     WHERE tenant_id = %(tenant)s AND endpoint_id = %(endpoint)s AND (expires_at IS NULL OR expires_at > %(at)s)
     ORDER BY expires_at DESC NULLS FIRST, secret_id
"""


async def secrets(conn: Conn, tenant_id: TenantId, endpoint_id: UUID, at: datetime) -> list[EncryptedSecret]:
    """List what calls to an endpoint are signed with: the one in use first, then those that end soon."""
    cursor = conn.cursor(row_factory=class_row(EncryptedSecret))
    await cursor.execute(_SECRETS, {"tenant": tenant_id, "endpoint": endpoint_id, "at": at})
    return await cursor.fetchall()


# The endpoint is locked, so that of two rotations at once the second finds the first one's secret in use.
_LOCK = """
    SELECT 1
      FROM webhook_endpoints
     WHERE tenant_id = %(tenant)s AND endpoint_id = %(endpoint)s AND removed_at IS NULL
       FOR UPDATE
"""
_END_KEY = """
    UPDATE webhook_secrets
       SET expires_at = %(ends)s
     WHERE tenant_id = %(tenant)s AND endpoint_id = %(endpoint)s AND expires_at IS NULL
"""
#: Of those that end, one goes on signing: a rotation after a rotation is made because a secret is known to others.
_END_OLDER = """
    DELETE FROM webhook_secrets
     WHERE tenant_id = %(tenant)s AND endpoint_id = %(endpoint)s AND expires_at IS NOT NULL
"""


async def rotate(
    conn: Conn,
    tenant_id: TenantId,
    endpoint_id: UUID,
    *,
    secret_id: UUID,
    secret: bytes,
    at: datetime,
    overlap: timedelta = OVERLAP,
) -> bool:
    """Put a new secret in use; the one before signs beside it for `overlap`, those before that no more.

    False when there is no such endpoint.
    """
    values = {
        "tenant": tenant_id,
        "endpoint": endpoint_id,
        "secret_id": secret_id,
        "secret": secret,
        "at": at,
        "ends": at + overlap,
    }
    async with conn.transaction():
        found = await conn.execute(_LOCK, values)
        if await found.fetchone() is None:
            return False
        await conn.execute(_END_OLDER, values)
        await conn.execute(_END_KEY, values)
        await conn.execute(_ADD_KEY, values)
    return True
