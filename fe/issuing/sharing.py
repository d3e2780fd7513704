"""Links to the page of a shared receipt (docs/decisions/buyers-page.md).

A token is derived from the receipt and a nonce in its row, so that the same link can be shown again. The database has
its hash, and the page needs no key.
"""

import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from fe.config import Settings, origin_of
from fe.identifiers import SubmissionId, TenantId
from fe.store.postgres.db import Conn
from fe.store.records import shared_receipts
from fe.store.records.shared_receipts import ShareSecret

_PURPOSE = b"fe shared receipts"
#: 192 bits.
_TOKEN_BYTES = 24
#: Characters of a token in its address.
TOKEN_LENGTH = 32
_NONCE_BYTES = 16


def token_hash(token: str) -> bytes:
    """Return the hash that a token is found by."""
    return sha256(token.encode()).digest()


@dataclass(frozen=True, slots=True)
class ShareLink:
    """The address of a receipt's page, and since when it is shared."""

    url: str
    since: datetime


@dataclass(frozen=True, slots=True)
class Sharing:
    """Shares receipts under `url`, which has no slash at its end. The first of the keys makes links."""

    url: str
    keys: Mapping[str, bytes]

    @classmethod
    def from_settings(cls, settings: Settings) -> "Sharing | None":
        """Return None where the settings name no address; `require_share` has checked them."""
        keks = settings.webhook_keks()
        url = share_url(settings)
        if not url or not keks:
            return None
        return cls(url, {name: HKDF(SHA256(), 32, None, _PURPOSE).derive(kek) for name, kek in keks.items()})

    async def share(
        self, conn: Conn, tenant_id: TenantId, submission_id: SubmissionId, at: datetime
    ) -> ShareLink | None:
        """Share a receipt, unless it is shared, and return its link; None for what is no accepted e-CF."""
        if (link := await self.link_of(conn, tenant_id, submission_id)) is not None:
            return link
        nonce = secrets.token_bytes(_NONCE_BYTES)
        hashed = token_hash(self._token(tenant_id, submission_id, nonce))
        await shared_receipts.share(conn, tenant_id, submission_id, ShareSecret(self._key_id, nonce, hashed), at)
        # Also where another call shared it in between.
        return await self.link_of(conn, tenant_id, submission_id)

    async def link_of(self, conn: Conn, tenant_id: TenantId, submission_id: SubmissionId) -> ShareLink | None:
        """Return the link of a receipt that is shared with the current key."""
        found = await shared_receipts.of(conn, tenant_id, submission_id, self._key_id)
        if found is None:
            return None
        nonce, since = found
        return ShareLink(f"{self.url}/{self._token(tenant_id, submission_id, nonce)}", since)

    @property
    def _key_id(self) -> str:
        return next(iter(self.keys))

    def _token(self, tenant_id: TenantId, submission_id: SubmissionId, nonce: bytes) -> str:
        said = b"%d:%b:%b" % (tenant_id, submission_id.bytes, nonce)
        made = hmac.digest(self.keys[self._key_id], said, "sha256")
        return urlsafe_b64encode(made[:_TOKEN_BYTES]).decode()


def share_url(settings: Settings) -> str:
    """Return the public address of the buyers' page; in development that of its listener. Empty: there is none."""
    if settings.share_url:
        return origin_of(settings.share_url)
    return f"http://{settings.share_bind}" if settings.development and settings.share_bind else ""
