"""API keys: create, hash secrets, scopes, and revoke."""

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
    # Not in the interface and implied by no other scope: the tenant decides who may set where documents are sent.
    "webhooks:read",
    "webhooks:write",
    "mail:read",
    "mail:write",
    "catalogue:read",
    "catalogue:write",
    "recurring:read",
    "recurring:write",
)

#: Scopes that a scope adds at login (interface.md#scopes).
_INHERITED = {"invoices:write": ("ncf:read", "ncf:write"), "invoices:read": ("ncf:read",)}

#: Notification channel of keys that were revoked or given an end: the front drops them from its cache at once.
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
        """Find the pepper under which `known` is the hash of `secret`, or None. Takes constant time."""
        found = None
        for pepper_id, pepper in self._by_id.items():
            if hmac.compare_digest(hash_secret(pepper, secret), known):
                found = pepper_id
        return found


def scopes_at_login(scopes: Iterable[str]) -> list[str]:
    """Return the scopes of a token: the key's own and the ncf scopes they imply, in the order of `SCOPES`."""
    own = set(scopes)
    granted = own.union(*(_INHERITED.get(scope, ()) for scope in own))
    return [scope for scope in SCOPES if scope in granted]


async def revoke_key(conn: Conn, tenant_id: TenantId, api_key_id: ApiKeyId, at: datetime) -> bool:
    """Revoke a key for good and notify every process on commit; False if the tenant has no such active key.

    Runs in the caller's transaction. A process that misses the notification stops accepting the key within 30 s.
    """
    revoked = await keys.revoke(conn, tenant_id, api_key_id, at)
    if revoked:
        await conn.execute("SELECT pg_notify(%s, %s)", (REVOKED_CHANNEL, api_key_id))
    return revoked
