"""Certificates of a company, sealed in a vault as they lie in the database."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from fe.ecf.certificate import Credential
from fe.ecf.selfmade import self_made, to_p12
from fe.identifiers import CertificateId, TenantId, UserId
from fe.secrets.vault import P12_PURPOSE, PASSPHRASE_PURPOSE, Belongs, Vault
from fe.store.postgres.db import Database
from fe.store.records import certificates
from fe.store.records.certificates import CertificateRecord, EncryptedCertificate
from tests.factories.certificates import HOLDER, HOLDER_ID, rsa_key

PASSPHRASE = "una clave ñ"
VAULT = Vault({"k1": bytes(range(32))})
NOT_BEFORE = datetime(2026, 1, 1, tzinfo=UTC)
NOT_AFTER = datetime(2030, 1, 1, tzinfo=UTC)

_CREDENTIAL = self_made(
    rsa_key("company"), holder=HOLDER, holder_id=HOLDER_ID, not_before=NOT_BEFORE, not_after=NOT_AFTER
)
_P12 = to_p12(_CREDENTIAL, PASSPHRASE)


def company_credential() -> Credential:
    return _CREDENTIAL


def credential_of_today() -> Credential:
    """Credential for tests on the real clock: valid since forty days, and for a year."""
    now = datetime.now(UTC)
    return self_made(
        rsa_key("today"),
        holder=HOLDER,
        holder_id=HOLDER_ID,
        not_before=now - timedelta(days=40),
        not_after=now + timedelta(days=365),
    )


async def make_certificate(
    db: Database,
    tenant_id: TenantId,
    *,
    user_id: UserId | None = None,
    vault: Vault = VAULT,
    p12: bytes = _P12,
    passphrase: str | None = PASSPHRASE,
    not_before: datetime = NOT_BEFORE,
    not_after: datetime = NOT_AFTER,
) -> CertificateId:
    """A certificate in use, of the company or a user; its id."""
    certificate_id = CertificateId(uuid4())
    name = str(certificate_id)
    sealed_passphrase = (
        vault.encrypt(passphrase.encode(), Belongs(tenant_id, name, PASSPHRASE_PURPOSE))
        if passphrase is not None
        else None
    )
    record = CertificateRecord(tenant_id, certificate_id, user_id, HOLDER, HOLDER_ID, "serial", not_before, not_after)
    encrypted = EncryptedCertificate(
        tenant_id, certificate_id, vault.encrypt(p12, Belongs(tenant_id, name, P12_PURPOSE)), sealed_passphrase
    )
    await db.transact(certificates.put, record, encrypted, NOT_BEFORE)
    return certificate_id
