"""API keys: making them, hashing their secrets, what their holders may do, and taking them back."""

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping
from datetime import datetime

from fe.identifiers import ApiKeyId, TenantId
from fe.store.postgres.db import Conn
from fe.store.records import keys

#: Every scope there is, in the order of interface.md#scopes.
SCOPES = (
    "invoices:write",
    "invoices:read",
    "ncf:read",
    "ncf:write",
    "usage:read",
    "billing:read",
    # Beyond the interface, and brought by no other: who may say where documents are sent is for the tenant to choose.
    "webhooks:read",
    "webhooks:write",
)

#: What a scope brings with it at login (interface.md#scopes).
_INHERITED = {"invoices:write": ("ncf:read", "ncf:write"), "invoices:read": ("ncf:read",)}

#: The channel on which revoked keys are notified: the front drops them from its cache at once, not when they grow old.
REVOKED_CHANNEL = "fe_key_revoked"


def new_api_key() -> tuple[ApiKeyId, str]:
    """Make the public id and the secret of a new key; the secret is shown once and kept nowhere."""
    return ApiKeyId(f"fak_{secrets.token_hex(6)}"), secrets.token_hex(32)


def hash_secret(pepper: bytes, secret: str) -> bytes:
    """Hash a secret for storing and comparing: HMAC-SHA-256 under the pepper, 32 bytes.

    A secret has 256 random bits, so a slow password hash would protect nothing and let a stranger burn our CPU.
    """
    return hmac.digest(pepper, secret.encode("utf-8", "surrogatepass"), hashlib.sha256)


class Peppers:
    """The peppers that hashes of secrets may be under. The first is in use; those after it are on their way out."""

    def __init__(self, by_id: Mapping[str, bytes]) -> None:
        """Take the peppers by id, the one in use first."""
        self._by_id = dict(by_id)
        self.current = next(iter(self._by_id))

    def hash(self, secret: str) -> bytes:
        """Hash a secret under the pepper in use."""
        return hash_secret(self._by_id[self.current], secret)

    def find(self, secret: str, known: bytes) -> str | None:
        """Tell under which pepper `known` is the hash of `secret`; None when under none. Takes as long in any case."""
        found = None
        for pepper_id, pepper in self._by_id.items():
            if hmac.compare_digest(hash_secret(pepper, secret), known):
                found = pepper_id
        return found


def scopes_at_login(scopes: Iterable[str]) -> list[str]:
    """Tell which scopes a token gets: the key's own and the ncf scopes they bring, in the order of `SCOPES`."""
    own = set(scopes)
    granted = own.union(*(_INHERITED.get(scope, ()) for scope in own))
    return [scope for scope in SCOPES if scope in granted]


async def revoke_key(conn: Conn, tenant_id: TenantId, api_key_id: ApiKeyId, at: datetime) -> bool:
    """Revoke a key for good and tell every process as it is done; False when the tenant has no such active key.

    One transaction's work. The notification only makes it immediate: a process that misses it stops the key by itself
    within 30 s.
    """
    revoked = await keys.revoke(conn, tenant_id, api_key_id, at)
    if revoked:
        await conn.execute("SELECT pg_notify(%s, %s)", (REVOKED_CHANNEL, api_key_id))
    return revoked
