"""Certificates at rest: sealed .p12 files and what was read off them."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from fe.store.db import Conn


@dataclass(frozen=True, slots=True)
class SealedCertificate:
    """A .p12 and its passphrase, both sealed by the vault. `passphrase` is None when none was configured."""

    tenant_id: int
    certificate_id: UUID
    p12: bytes
    passphrase: bytes | None


@dataclass(frozen=True, slots=True)
class CertificateRecord:
    """What is known of a certificate without opening it."""

    tenant_id: int
    certificate_id: UUID
    user_id: UUID | None
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


async def put(conn: Conn, record: CertificateRecord, sealed: SealedCertificate, at: datetime) -> None:
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
            "p12": sealed.p12,
            "passphrase": sealed.passphrase,
            "holder": record.holder,
            "holder_id": record.holder_id,
            "serial": record.serial_number,
            "not_before": record.not_before,
            "not_after": record.not_after,
        },
    )


_SEALED = """
    SELECT tenant_id, certificate_id, p12, passphrase
      FROM certificates
     WHERE tenant_id = %(tenant)s AND certificate_id = %(certificate)s
"""


async def sealed(conn: Conn, tenant_id: int, certificate_id: UUID) -> SealedCertificate | None:
    """Fetch the sealed bytes of one certificate."""
    cursor = conn.cursor(row_factory=class_row(SealedCertificate))
    await cursor.execute(_SEALED, {"tenant": tenant_id, "certificate": certificate_id})
    return await cursor.fetchone()


_IN_USE = """
    SELECT tenant_id, certificate_id, user_id, holder, holder_id, serial_number, not_before, not_after
      FROM certificates
     WHERE tenant_id = %(tenant)s AND retired_at IS NULL
     ORDER BY user_id NULLS FIRST
"""


async def in_use(conn: Conn, tenant_id: int) -> list[CertificateRecord]:
    """List a tenant's certificates in use, the company's first."""
    cursor = conn.cursor(row_factory=class_row(CertificateRecord))
    await cursor.execute(_IN_USE, {"tenant": tenant_id})
    return await cursor.fetchall()
