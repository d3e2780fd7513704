"""Secrets and headers of webhooks at rest: encrypted with a key of their own (FE_WEBHOOK_KEYS).

Of their own, because the HTTP front makes and shows them, and must never be able to open a tenant's certificate.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from fe.config import Settings
from fe.identifiers import TenantId
from fe.secrets.vault import WEBHOOK_HEADERS_PURPOSE, WEBHOOK_SECRET_PURPOSE, Belongs, Vault


@dataclass(frozen=True, slots=True)
class WebhookVault:
    """Encrypts and decrypts webhook secrets. Raises VaultError (fe/secrets/vault.py)."""

    vault: Vault

    def encrypt_secret(self, tenant_id: TenantId, secret_id: UUID, secret: str) -> bytes:
        """Encrypt a secret."""
        return self.vault.encrypt(secret.encode(), Belongs(tenant_id, str(secret_id), WEBHOOK_SECRET_PURPOSE))

    def decrypt_secret(self, tenant_id: TenantId, secret_id: UUID, encrypted: bytes) -> str:
        """Decrypt a secret."""
        return self.vault.decrypt(encrypted, Belongs(tenant_id, str(secret_id), WEBHOOK_SECRET_PURPOSE)).decode()

    def encrypt_headers(
        self, tenant_id: TenantId, endpoint_id: UUID, headers: Sequence[tuple[str, str]]
    ) -> bytes | None:
        """Encrypt headers; None where there are none."""
        if not headers:
            return None
        return self.vault.encrypt(
            json.dumps(headers).encode(), Belongs(tenant_id, str(endpoint_id), WEBHOOK_HEADERS_PURPOSE)
        )

    def decrypt_headers(self, tenant_id: TenantId, endpoint_id: UUID, encrypted: bytes | None) -> list[tuple[str, str]]:
        """Decrypt headers."""
        if encrypted is None:
            return []
        pairs = json.loads(self.vault.decrypt(encrypted, Belongs(tenant_id, str(endpoint_id), WEBHOOK_HEADERS_PURPOSE)))
        return [(name, value) for name, value in pairs]


def webhook_vault(settings: Settings) -> WebhookVault | None:
    """The vault of this installation; None where webhooks are not configured (FE_WEBHOOK_KEYS)."""
    keks = settings.webhook_keks()
    return None if keks is None else WebhookVault(Vault(keks))
