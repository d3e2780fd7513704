"""API keys: who a program is, in which environment, and what it may do."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from fe.ecf.catalogue import Environment
from fe.identifiers import ApiKeyId, TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class ApiKey:
    """The record of a key. The secret itself is nowhere; `secret_hash` is a keyed SHA-256 of it."""

    api_key_id: ApiKeyId
    tenant_id: TenantId
    environment: Environment
    secret_hash: bytes
    scopes: list[str]
    name: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    #: Under which pepper the hash is; '' for the one without an id.
    pepper_id: str = ""
    #: Its tenant is disabled.
    suspended: bool = False

    def active(self, now: datetime) -> bool:
        """Tell whether the key may be used at `now`: neither revoked nor expired, and its tenant not disabled."""
        return not self.suspended and self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    def state(self, now: datetime) -> Literal["active", "expired", "revoked", "suspended"]:
        """Name what it is at `now`; suspended while its tenant is disabled."""
        if self.revoked_at is not None:
            return "revoked"
        if self.suspended:
            return "suspended"
        return "active" if self.active(now) else "expired"


_COLUMNS = """api_key_id, tenant_id, environment, secret_hash, scopes, name, created_at, expires_at, revoked_at,
           pepper_id,
           EXISTS (SELECT 1 FROM disabled_tenants AS d WHERE d.tenant_id = api_keys.tenant_id) AS suspended"""

_UNDER_OLDER = """
    SELECT t.name, k.api_key_id, k.environment, k.pepper_id
      FROM api_keys AS k JOIN tenants AS t USING (tenant_id)
     WHERE k.pepper_id <> %s AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())
     ORDER BY t.name, k.api_key_id
"""


async def under_other_peppers(conn: Conn, pepper_id: str) -> list[tuple[str, ApiKeyId, str, str]]:
    """List the keys of all tenants that may still log in and whose hash is under another pepper: tenant, id,
    environment and pepper."""
    return await (await conn.execute(_UNDER_OLDER, (pepper_id,))).fetchall()


_CREATE = f"""
    INSERT INTO api_keys (api_key_id, tenant_id, environment, secret_hash, scopes, name, expires_at, pepper_id)
    VALUES (
        %(key)s, %(tenant)s, %(environment)s, %(hash)s, %(scopes)s, %(name)s, %(expires_at)s, %(pepper)s
    )
    RETURNING {_COLUMNS}
"""


async def create(
    conn: Conn,
    api_key_id: ApiKeyId,
    tenant_id: TenantId,
    environment: Environment,
    secret_hash: bytes,
    scopes: Sequence[str],
    name: str = "",
    expires_at: datetime | None = None,
    *,
    pepper_id: str = "",
) -> ApiKey:
    """Store a new key."""
    cursor = conn.cursor(row_factory=record_row(ApiKey))
    await cursor.execute(
        _CREATE,
        {
            "key": api_key_id,
            "tenant": tenant_id,
            "environment": environment,
            "hash": secret_hash,
            "scopes": list(scopes),
            "name": name,
            "expires_at": expires_at,
            "pepper": pepper_id,
        },
    )
    key = await cursor.fetchone()
    assert key is not None
    return key


# Returns a dummy key when there is none: an answer without a row is faster, and a client could measure that.
_FIND = """
    SELECT coalesce(k.api_key_id, '') AS api_key_id,
           coalesce(k.tenant_id, 0) AS tenant_id,
           coalesce(k.environment, %(environment)s) AS environment,
           coalesce(k.secret_hash, decode(repeat('00', 32), 'hex')) AS secret_hash,
           coalesce(k.scopes, %(scopes)s) AS scopes,
           coalesce(k.name, '') AS name,
           coalesce(k.created_at, now()) AS created_at,
           k.expires_at,
           k.revoked_at,
           coalesce(k.pepper_id, '') AS pepper_id,
           EXISTS (SELECT 1 FROM disabled_tenants AS d WHERE d.tenant_id = coalesce(k.tenant_id, 0)) AS suspended
      FROM (VALUES (1)) AS always (one)
      LEFT JOIN api_keys AS k ON k.api_key_id = %(key)s
"""


async def find(conn: Conn, api_key_id: ApiKeyId, scopes: Sequence[str] = ()) -> ApiKey | None:
    """Find a key by its public id; the only look-up that does not know the tenant yet.

    It takes as long when there is none. `scopes` are those of a usual key, to make that so.
    """
    cursor = conn.cursor(row_factory=record_row(ApiKey))
    await cursor.execute(_FIND, {"key": api_key_id, "environment": Environment.ECF.value, "scopes": list(scopes)})
    key = await cursor.fetchone()
    return key if key is not None and key.api_key_id else None


_OF_TENANT = f"SELECT {_COLUMNS} FROM api_keys WHERE tenant_id = %(tenant)s ORDER BY created_at"


async def of_tenant(conn: Conn, tenant_id: TenantId) -> list[ApiKey]:
    """List a tenant's keys, oldest first."""
    cursor = conn.cursor(row_factory=record_row(ApiKey))
    await cursor.execute(_OF_TENANT, {"tenant": tenant_id})
    return await cursor.fetchall()


_REHASH = """
    UPDATE api_keys SET secret_hash = %(after)s, pepper_id = %(pepper)s
     WHERE tenant_id = %(tenant)s AND api_key_id = %(key)s AND secret_hash = %(before)s AND revoked_at IS NULL
"""


async def rehash(
    conn: Conn, tenant_id: TenantId, api_key_id: ApiKeyId, *, before: bytes, after: bytes, pepper_id: str
) -> None:
    """Put the hash of the same secret under another pepper in place of `before`; nothing when it is that no more."""
    await conn.execute(
        _REHASH, {"tenant": tenant_id, "key": api_key_id, "before": before, "after": after, "pepper": pepper_id}
    )


_REVOKE = """
    UPDATE api_keys SET revoked_at = %(at)s
     WHERE api_key_id = %(key)s AND tenant_id = %(tenant)s AND revoked_at IS NULL
"""


async def revoke(conn: Conn, tenant_id: TenantId, api_key_id: ApiKeyId, at: datetime) -> bool:
    """Revoke a key for good; False when the tenant has no such active key."""
    cursor = await conn.execute(_REVOKE, {"tenant": tenant_id, "key": api_key_id, "at": at})
    return cursor.rowcount == 1


_LOCKED = f"SELECT {_COLUMNS} FROM api_keys WHERE api_key_id = %(key)s AND tenant_id = %(tenant)s FOR NO KEY UPDATE"


async def locked(conn: Conn, tenant_id: TenantId, api_key_id: ApiKeyId) -> ApiKey | None:
    """Return a tenant's key, locked until the transaction ends; None when the tenant has no such key."""
    cursor = conn.cursor(row_factory=record_row(ApiKey))
    await cursor.execute(_LOCKED, {"tenant": tenant_id, "key": api_key_id})
    return await cursor.fetchone()


_END = "UPDATE api_keys SET expires_at = %(at)s WHERE api_key_id = %(key)s AND tenant_id = %(tenant)s"


async def end(conn: Conn, tenant_id: TenantId, api_key_id: ApiKeyId, *, at: datetime) -> None:
    """Let a key end at `at`."""
    await conn.execute(_END, {"tenant": tenant_id, "key": api_key_id, "at": at})


_LAST_USES = "SELECT api_key_id, last_used_at FROM api_key_uses WHERE tenant_id = %(tenant)s"


async def last_uses(conn: Conn, tenant_id: TenantId) -> dict[ApiKeyId, datetime]:
    """Tell when each of a tenant's keys was last used; one that never was is missing."""
    cursor = await conn.execute(_LAST_USES, {"tenant": tenant_id})
    return {ApiKeyId(api_key_id): at for api_key_id, at in await cursor.fetchall()}
