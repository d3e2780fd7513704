"""Certificates at rest: encrypted .p12 files and what was read off them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, LiteralString, Protocol, TypeVar

from psycopg.rows import class_row, scalar_row

from fe.identifiers import CertificateId, TenantId, UserId
from fe.store.postgres.db import Conn
from fe.store.postgres.tenant_scope import Asked, fetch


@dataclass(frozen=True, slots=True)
class EncryptedCertificate:
    """A .p12 and its passphrase, both encrypted by the vault. `passphrase` is None when none was configured."""

    tenant_id: TenantId
    certificate_id: CertificateId
    p12: bytes
    passphrase: bytes | None
    is_retired: bool = False


@dataclass(frozen=True, slots=True)
class CertificateRecord:
    """The properties of a certificate known without opening it."""

    tenant_id: TenantId
    certificate_id: CertificateId
    user_id: UserId | None
    holder: str
    holder_id: str | None
    serial_number: str
    not_before: datetime
    not_after: datetime
    #: Since when nothing new is signed with it, and since when its key is nowhere any more.
    retired_at: datetime | None = None
    destroyed_at: datetime | None = None


class InUse(Protocol):
    """A certificate that is not retired."""

    @property
    def user_id(self) -> UserId | None:
        """Its holder: a user, or the company (None)."""

    @property
    def not_before(self) -> datetime:
        """Start of its validity."""

    @property
    def not_after(self) -> datetime:
        """End of its validity."""


C = TypeVar("C", bound=InUse)


def one_per_holder(found: Sequence[C], now: datetime) -> list[C]:
    """Reduce certificates to one per holder: the newest that is valid, else the next to be valid, else the last.

    A renewed certificate may be stored before it is valid; the one before it signs until then.
    """
    chosen: dict[UserId | None, C] = {}
    for each in sorted(found, key=lambda one: _precedence(one, now), reverse=True):
        chosen[each.user_id] = each
    return [each for each in found if chosen[each.user_id] is each]


def _precedence(found: InUse, now: datetime) -> tuple[int, float]:
    if found.not_before <= now < found.not_after:
        return 0, -found.not_before.timestamp()
    if now < found.not_before:
        return 1, found.not_before.timestamp()
    return 2, -found.not_after.timestamp()


_RETIRE = """
    UPDATE certificates SET retired_at = %(at)s
     WHERE tenant_id = %(tenant)s AND user_id IS NOT DISTINCT FROM %(user)s AND retired_at IS NULL
       AND (%(not_before)s <= %(at)s OR not_before > %(at)s OR not_after <= %(at)s)
"""

_ADD = """
    INSERT INTO certificates (tenant_id, certificate_id, user_id, p12, passphrase, holder, holder_id, serial_number,
                              not_before, not_after, x509)
    VALUES (%(tenant)s, %(certificate)s, %(user)s, %(p12)s, %(passphrase)s, %(holder)s, %(holder_id)s, %(serial)s,
            %(not_before)s, %(not_after)s, %(x509)s)
"""


async def put(
    conn: Conn,
    record: CertificateRecord,
    encrypted: EncryptedCertificate,
    at: datetime,
    *,
    x509: bytes | None = None,
) -> None:
    """Store the certificate of a holder (the company, or a user); run it in a transaction.

    `x509` is the certificate itself (DER), which is public.

    The ones before it are retired, not deleted: submissions name the certificate that signed them. If it is not valid
    at `at`, the one that is stays in use: `issuing.certificate_choice` takes the new one when its time comes.
    """
    values = {"tenant": record.tenant_id, "user": record.user_id, "at": at, "not_before": record.not_before}
    await conn.execute(_RETIRE, values)
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
            "x509": x509,
        },
    )


_ENCRYPTED = """
    SELECT tenant_id, certificate_id, p12, passphrase, retired_at IS NOT NULL AS is_retired
      FROM certificates
     WHERE tenant_id = %(tenant)s AND certificate_id = %(certificate)s AND destroyed_at IS NULL
"""


async def encrypted(conn: Conn, tenant_id: TenantId, certificate_id: CertificateId) -> EncryptedCertificate | None:
    """Fetch the encrypted bytes of one certificate; None when there is none, or its key was destroyed."""
    cursor = conn.cursor(row_factory=class_row(EncryptedCertificate))
    await cursor.execute(_ENCRYPTED, {"tenant": tenant_id, "certificate": certificate_id})
    return await cursor.fetchone()


_INSTEAD = """
    SELECT c.certificate_id
      FROM certificates AS of_it
      JOIN certificates AS c ON c.tenant_id = of_it.tenant_id
     WHERE of_it.tenant_id = %(tenant)s AND of_it.certificate_id = %(certificate)s
       AND c.certificate_id <> of_it.certificate_id
       AND c.retired_at IS NULL AND c.not_before <= %(at)s AND c.not_after > %(at)s
       AND (%(of_others)s OR c.user_id IS NOT DISTINCT FROM of_it.user_id)
     ORDER BY c.user_id IS DISTINCT FROM of_it.user_id, c.user_id NULLS FIRST
"""


async def instead_of(
    conn: Conn, tenant_id: TenantId, certificate_id: CertificateId, at: datetime, *, of_others: bool
) -> list[CertificateId]:
    """Name others in use that are valid at `at`: its holder's, then, where `of_others`, the company's and users'."""
    cursor = conn.cursor(row_factory=scalar_row)
    values = {"tenant": tenant_id, "certificate": certificate_id, "at": at, "of_others": of_others}
    await cursor.execute(_INSTEAD, values)
    return await cursor.fetchall()


_RECORD = """
    SELECT tenant_id, certificate_id, user_id, holder, holder_id, serial_number, not_before, not_after, retired_at,
           destroyed_at
      FROM certificates
     WHERE tenant_id = %(tenant)s"""

_IN_USE = f"{_RECORD} AND retired_at IS NULL ORDER BY user_id NULLS FIRST, not_before"


def in_use_asked(tenant_id: TenantId) -> Asked[CertificateRecord]:
    """Return the statement of `in_use`."""
    return Asked(_IN_USE.encode(), {"tenant": tenant_id}, class_row(CertificateRecord))


async def in_use(conn: Conn, tenant_id: TenantId) -> list[CertificateRecord]:
    """List a tenant's certificates that are not retired, the company's first; a holder may have a renewed one, too."""
    return await fetch(conn, in_use_asked(tenant_id))


_EVERY = f"{_RECORD} ORDER BY retired_at DESC NULLS FIRST, user_id NULLS FIRST, certificate_id"


async def every(conn: Conn, tenant_id: TenantId) -> list[CertificateRecord]:
    """List all certificates a tenant ever had, those in use first."""
    cursor = conn.cursor(row_factory=class_row(CertificateRecord))
    await cursor.execute(_EVERY, {"tenant": tenant_id})
    return await cursor.fetchall()


#: Of a certificate `c` in use: no renewed one of its holder is there to sign when it ends.
HAS_NO_RENEWAL: LiteralString = """
    NOT EXISTS (SELECT 1 FROM certificates AS r
                 WHERE r.tenant_id = c.tenant_id AND r.user_id IS NOT DISTINCT FROM c.user_id AND r.retired_at IS NULL
                   AND r.not_before <= c.not_after AND r.not_after > c.not_after)
"""

_RETIRE_ONE = "SELECT outcome, waiting FROM retire_certificate(%(tenant)s, %(certificate)s, %(at)s)"


async def retire(conn: Conn, tenant_id: TenantId, certificate_id: CertificateId, at: datetime) -> tuple[str, int]:
    """Sign with it no more; gives the outcome of `retire_certificate`, and how many documents stand against it."""
    return await _outcome(conn, _RETIRE_ONE, {"tenant": tenant_id, "certificate": certificate_id, "at": at})


_DESTROY = "SELECT outcome, waiting FROM destroy_certificate(%(tenant)s, %(certificate)s, %(at)s, %(x509)s)"


async def destroy_key(
    conn: Conn, tenant_id: TenantId, certificate_id: CertificateId, at: datetime, *, x509: bytes | None
) -> tuple[str, int]:
    """Destroy the key of a retired one, and keep what it is (`x509`, DER, where it could be read).

    Gives the outcome of `destroy_certificate`, and how many documents stand against it.
    """
    values = {"tenant": tenant_id, "certificate": certificate_id, "at": at, "x509": x509}
    return await _outcome(conn, _DESTROY, values)


async def _outcome(conn: Conn, statement: LiteralString, values: dict[str, Any]) -> tuple[str, int]:
    cursor = await conn.execute(statement, values)
    row: tuple[str, int] | None = await cursor.fetchone()
    assert row is not None
    return row


_X509 = "SELECT x509 FROM certificates WHERE tenant_id = %(tenant)s AND certificate_id = %(certificate)s"


async def x509(conn: Conn, tenant_id: TenantId, certificate_id: CertificateId) -> bytes | None:
    """Fetch the certificate itself (DER), which stays when its key is destroyed; None where it was never read out."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_X509, {"tenant": tenant_id, "certificate": certificate_id})
    return await cursor.fetchone()
