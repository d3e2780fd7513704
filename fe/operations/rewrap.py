"""Moving what is encrypted to the newest key-encryption key, so that an older one can be thrown away."""

from collections import Counter
from dataclasses import dataclass, field, replace
from uuid import UUID

from fe.identifiers import CertificateId, TenantId
from fe.store import certificates
from fe.store.certificates import EncryptedCertificate
from fe.store.postgres.db import Database
from fe.store.postgres.errors import RoleRefused
from fe.vault import P12_PURPOSE, PASSPHRASE_PURPOSE, Belongs, Tampered, UnknownKek, Vault


@dataclass
class Rewrapping:
    """What was found, in certificates: each has a .p12 file and, as a rule, a passphrase."""

    certificates: int = 0
    #: Nothing to do: the newest key opens them.
    current: int = 0
    #: An older key opens them; and how many of these were moved. Another run of this may have been quicker.
    older: int = 0
    rewrapped: int = 0
    #: By key-encryption key, those whose key is not configured here. Left as they are.
    lacking: Counter[str] = field(default_factory=Counter)
    #: Those that their key does not open. Left as they are.
    broken: list[CertificateId] = field(default_factory=list)


async def rewrap(db: Database, vault: Vault, *, batch: int, dry_run: bool = False) -> Rewrapping:
    """Wrap the data keys of all certificates under the vault's first key; no secret is decrypted.

    Each certificate is a transaction of its own, and opens before it and after. Stopped anywhere, it has done what it
    has done, and the next run does the rest. With `dry_run` all is tried, and nothing is written. Raises RoleRefused
    when the login has not the right to do so: neither role of the database that opens certificates may replace them.
    """
    if not await db.run(certificates.may_replace_encrypted, write=not dry_run):
        raise RoleRefused(
            "the login may not replace what is encrypted: let the owner grant it for as long as this takes"
        )
    found = Rewrapping()
    last = (TenantId(0), CertificateId(UUID(int=0)))
    while rows := await db.run(certificates.encrypted_after, *last, batch):
        for before in rows:
            found.certificates += 1
            try:
                after = _under_current(vault, before)
            except UnknownKek as unknown:
                found.lacking[unknown.kek_id] += 1
            except Tampered:
                found.broken.append(before.certificate_id)
            else:
                if after is None:
                    found.current += 1
                    continue
                found.older += 1
                if not dry_run:
                    found.rewrapped += await db.run(certificates.replace_encrypted, before, after)
        last = (rows[-1].tenant_id, rows[-1].certificate_id)
    return found


def _under_current(vault: Vault, encrypted: EncryptedCertificate) -> EncryptedCertificate | None:
    """The same under the vault's first key; None when it is already. Raises UnknownKek or Tampered."""

    def moved(value: bytes, purpose: str) -> bytes:
        if vault.kek_of(value) == vault.current:
            return value
        return vault.rewrap(value, Belongs(encrypted.tenant_id, str(encrypted.certificate_id), purpose))

    passphrase = moved(encrypted.passphrase, PASSPHRASE_PURPOSE) if encrypted.passphrase is not None else None
    after = replace(encrypted, p12=moved(encrypted.p12, P12_PURPOSE), passphrase=passphrase)
    return after if after != encrypted else None
