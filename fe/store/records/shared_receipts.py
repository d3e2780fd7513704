"""Receipts that are shared with their buyers by a link (docs/decisions/buyers-page.md)."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import Status
from fe.printing.settings import PrintSettings
from fe.store.postgres.db import Conn
from fe.store.records import print_settings


class ShareSecret(NamedTuple):
    """Key id and nonce of a token, and its hash."""

    key_id: str
    nonce: bytes
    token_hash: bytes


@dataclass(frozen=True, slots=True)
class SharedReceipt:
    """A shared receipt as its page shows it."""

    environment: Environment
    status: Status
    security_code: str | None
    qr_code_url: str | None
    document: bytes
    tenant_id: TenantId


# Only an accepted e-CF is shared: no later verdict could make the copy wrong.
_SHARE = """
    INSERT INTO shared_receipts (
        tenant_id, submission_id, key_id, nonce, token_hash, shared_at, environment, status, security_code, qr_code_url,
        document
    )
    SELECT s.tenant_id, s.submission_id, %(key_id)s, %(nonce)s, %(hash)s, %(at)s, s.environment, s.status,
           s.security_code, s.qr_code_url, d.content
      FROM submissions AS s
      JOIN submission_documents AS d
        ON d.tenant_id = s.tenant_id AND d.submission_id = s.submission_id AND d.kind = 'signed'
     WHERE s.tenant_id = %(tenant)s AND s.submission_id = %(submission)s AND s.root = 'ECF'
       AND s.status IN ('Aceptado', 'Aceptado Condicional')
    ON CONFLICT (tenant_id, submission_id, key_id) DO NOTHING
"""
_OF = """
    SELECT x.nonce, x.shared_at
      FROM shared_receipts AS x
     WHERE x.tenant_id = %(tenant)s AND x.submission_id = %(submission)s AND x.key_id = %(key_id)s
"""
_REVOKE = "DELETE FROM shared_receipts AS x WHERE x.tenant_id = %(tenant)s AND x.submission_id = %(submission)s"
_NAME = "SELECT set_config('fe.share', %(hash)s, true)"
_BY_HASH = """
    SELECT x.environment, x.status, x.security_code, x.qr_code_url, x.document, x.tenant_id
      FROM shared_receipts AS x
     WHERE x.token_hash = %(hash)s
"""


async def share(
    conn: Conn, tenant_id: TenantId, submission_id: SubmissionId, secret: ShareSecret, at: datetime
) -> None:
    """Share an accepted e-CF; nothing is written for another submission, or where it is shared already."""
    given = {
        "tenant": tenant_id,
        "submission": submission_id,
        "key_id": secret.key_id,
        "nonce": secret.nonce,
        "hash": secret.token_hash,
        "at": at,
    }
    await conn.execute(_SHARE, given)


async def of(
    conn: Conn, tenant_id: TenantId, submission_id: SubmissionId, key_id: str
) -> tuple[bytes, datetime] | None:
    """Return the nonce of a shared receipt's link, and since when it is shared."""
    given = {"tenant": tenant_id, "submission": submission_id, "key_id": key_id}
    found = await (await conn.execute(_OF, given)).fetchone()
    return None if found is None else (bytes(found[0]), found[1])


async def revoke(conn: Conn, tenant_id: TenantId, submission_id: SubmissionId) -> bool:
    """Stop sharing a receipt: every link to it ends. False where it was not shared."""
    given = {"tenant": tenant_id, "submission": submission_id}
    return (await conn.execute(_REVOKE, given)).rowcount > 0


async def by_token(conn: Conn, token_hash: bytes) -> SharedReceipt | None:
    """Find a shared receipt by the hash of its token, which the row's policy asks for, too."""
    async with conn.transaction():
        await _name(conn, token_hash)
        found = await (await conn.execute(_BY_HASH, {"hash": token_hash})).fetchone()
    if found is None:
        return None
    environment, status, security_code, qr_code_url, document, tenant_id = found
    return SharedReceipt(
        Environment(environment), Status(status), security_code, qr_code_url, bytes(document), TenantId(tenant_id)
    )


async def settings_of(conn: Conn, tenant_id: TenantId, token_hash: bytes) -> PrintSettings:
    """Return the print settings of a shared receipt's issuer; the policy asks for the receipt's token, too."""
    async with conn.transaction():
        await _name(conn, token_hash)
        return await print_settings.of(conn, tenant_id)


async def _name(conn: Conn, token_hash: bytes) -> None:
    await conn.execute(_NAME, {"hash": token_hash.hex()})
