"""Certificates at rest: encrypted .p12 files and what was read off them."""

from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from fe.identifiers import CertificateId, TenantId, UserId
from fe.store.postgres.db import Conn


@dataclass(frozen=True, slots=True)
class EncryptedCertificate:
    """A .p12 and its passphrase, both encrypted by the vault. `passphrase` is None when none was configured."""

    tenant_id: TenantId
    certificate_id: CertificateId
    p12: bytes
    passphrase: bytes | None


@dataclass(frozen=True, slots=True)
class CertificateRecord:
    """What is known of a certificate without opening it."""

    tenant_id: TenantId
    certificate_id: CertificateId
    user_id: UserId | None
    holder: str
    holder_id: str | None
    serial_number: str
    not_before: datetime
    not_after: datetime


_RETIRE = """
    UPDATE certificates SET retired_at = %(at)s
     WHERE tenant_id = %(tenant)s AND user_id IS NOT DISTINCT FROM %(user)s AND retired_at IS NULL
"""

_ADD = """
    INSERT INTO certificates (tenant_id, certificate_id, user_id, p12, passphrase, holder, holder_id, serial_number,
                              not_before, not_after)
    VALUES (%(tenant)s, %(certificate)s, %(user)s, %(p12)s, %(passphrase)s, %(holder)s, %(holder_id)s, %(serial)s,
            %(not_before)s, %(not_after)s)
"""


async def put(conn: Conn, record: CertificateRecord, encrypted: EncryptedCertificate, at: datetime) -> None:
    """Make this the certificate in use of its holder (the company, or a user); run it in a transaction.

    The one in use before is retired, not deleted: submissions name the certificate that signed them.
    """
    await conn.execute(_RETIRE, {"tenant": record.tenant_id, "user": record.user_id, "at": at})
    await conn.execute(
        _ADD,
        {
            "tenant": record.tenant_id,
            "certificate": record.certificate_id,
            "user": record.user_id,
            "p12": encrypted.p12,
            "passphrase": encrypted.passphrase,
            "holder": record.holder,
            "holder_id": record.holder_id,
            "serial": record.serial_number,
            "not_before": record.not_before,
            "not_after": record.not_after,
        },
    )


_ENCRYPTED = """
    SELECT tenant_id, certificate_id, p12, passphrase
      FROM certificates
     WHERE tenant_id = %(tenant)s AND certificate_id = %(certificate)s
"""


async def encrypted(conn: Conn, tenant_id: TenantId, certificate_id: CertificateId) -> EncryptedCertificate | None:
    """Fetch the encrypted bytes of one certificate."""
    cursor = conn.cursor(row_factory=class_row(EncryptedCertificate))
    await cursor.execute(_ENCRYPTED, {"tenant": tenant_id, "certificate": certificate_id})
    return await cursor.fetchone()


# A login that policies let see nobody's rows would find nothing to do, and an older key would be thrown away for that.
_MAY_REPLACE_ENCRYPTED = """
    SELECT has_table_privilege('certificates', 'SELECT')
           AND (has_column_privilege('certificates', 'p12', 'UPDATE')
                AND has_column_privilege('certificates', 'passphrase', 'UPDATE')
                OR NOT %(write)s)
           AND (pg_has_role('fe_worker', 'USAGE') OR NOT row_security_active('certificates'))
"""


async def may_replace_encrypted(conn: Conn, *, write: bool) -> bool:
    """Tell whether the login sees the encrypted bytes of all tenants, and, with `write`, may replace them."""
    cursor = await conn.execute(_MAY_REPLACE_ENCRYPTED, {"write": write})
    return await cursor.fetchone() == (True,)


_ENCRYPTED_AFTER = """
    SELECT tenant_id, certificate_id, p12, passphrase
      FROM certificates
     WHERE (tenant_id, certificate_id) > (%(tenant)s, %(certificate)s)
     ORDER BY tenant_id, certificate_id
     LIMIT %(limit)s
"""


async def encrypted_after(
    conn: Conn, tenant_id: TenantId, certificate_id: CertificateId, limit: int
) -> list[EncryptedCertificate]:
    """Fetch the encrypted bytes of the next certificates of all tenants, retired ones too, in order of their ids."""
    cursor = conn.cursor(row_factory=class_row(EncryptedCertificate))
    await cursor.execute(_ENCRYPTED_AFTER, {"tenant": tenant_id, "certificate": certificate_id, "limit": limit})
    return await cursor.fetchall()


_REPLACE_ENCRYPTED = """
    UPDATE certificates SET p12 = %(p12)s, passphrase = %(passphrase)s
     WHERE tenant_id = %(tenant)s AND certificate_id = %(certificate)s
       AND p12 = %(p12_before)s AND passphrase IS NOT DISTINCT FROM %(passphrase_before)s
"""


async def replace_encrypted(conn: Conn, before: EncryptedCertificate, after: EncryptedCertificate) -> bool:
    """Put the same secrets, encrypted otherwise, in place of `before`; False when it is not `before` any more."""
    cursor = await conn.execute(
        _REPLACE_ENCRYPTED,
        {
            "tenant": before.tenant_id,
            "certificate": before.certificate_id,
            "p12": after.p12,
            "passphrase": after.passphrase,
            "p12_before": before.p12,
            "passphrase_before": before.passphrase,
        },
    )
    return cursor.rowcount == 1


_IN_USE = """
    SELECT tenant_id, certificate_id, user_id, holder, holder_id, serial_number, not_before, not_after
      FROM certificates
     WHERE tenant_id = %(tenant)s AND retired_at IS NULL
     ORDER BY user_id NULLS FIRST
"""


async def in_use(conn: Conn, tenant_id: TenantId) -> list[CertificateRecord]:
    """List a tenant's certificates in use, the company's first."""
    cursor = conn.cursor(row_factory=class_row(CertificateRecord))
    await cursor.execute(_IN_USE, {"tenant": tenant_id})
    return await cursor.fetchall()
