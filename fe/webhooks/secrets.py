"""What calls are signed with, and the headers a tenant wants sent: made, and kept encrypted.

They have keys of their own (FE_WEBHOOK_KEYS): the HTTP front, which sets them, has no key that opens certificates.
"""

import base64
import json
import secrets
from typing import Final
from uuid import UUID

from fe.identifiers import TenantId
from fe.vault import Belongs, Vault
from fe.webhooks.headers import Headers

PREFIX: Final = "whsec_"
_KEY_BYTES: Final = 32
_SECRET, _HEADERS = "webhook-secret", "webhook-headers"


def key_of(secret: str) -> bytes:
    """Give the bytes that a secret stands for: the key of Standard Webhooks."""
    return base64.b64decode(secret.removeprefix(PREFIX), validate=True)


class WebhookVault:
    """Seals and opens. What is sealed for one row does not open in another."""

    def __init__(self, vault: Vault) -> None:
        """Take the vault over FE_WEBHOOK_KEYS."""
        self._vault = vault

    @staticmethod
    def new_secret() -> str:
        """Make a secret, as its tenant is shown it: `whsec_` and 32 random bytes in base64."""
        return PREFIX + base64.b64encode(secrets.token_bytes(_KEY_BYTES)).decode()

    def seal_secret(self, tenant_id: TenantId, secret_id: UUID, secret: str) -> bytes:
        """Encrypt a secret for its row."""
        return self._vault.encrypt(secret.encode(), Belongs(tenant_id, str(secret_id), _SECRET))

    def open_secret(self, tenant_id: TenantId, secret_id: UUID, sealed: bytes) -> str:
        """Decrypt a secret. Raises VaultError."""
        return self._vault.decrypt(sealed, Belongs(tenant_id, str(secret_id), _SECRET)).decode()

    def seal_headers(self, tenant_id: TenantId, endpoint_id: UUID, headers: Headers) -> bytes:
        """Encrypt headers for their endpoint."""
        raw = json.dumps(headers, ensure_ascii=False).encode()
        return self._vault.encrypt(raw, Belongs(tenant_id, str(endpoint_id), _HEADERS))

    def open_headers(self, tenant_id: TenantId, endpoint_id: UUID, sealed: bytes) -> Headers:
        """Decrypt headers. Raises VaultError."""
        raw = self._vault.decrypt(sealed, Belongs(tenant_id, str(endpoint_id), _HEADERS))
        return tuple((str(name), str(value)) for name, value in json.loads(raw))
