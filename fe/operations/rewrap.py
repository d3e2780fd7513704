"""Rewrap encrypted values under the newest key, so that older keys can be removed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from fe.identifiers import TenantId
from fe.secrets.vault import (
    P12_PURPOSE,
    PASSPHRASE_PURPOSE,
    TOTP_PURPOSE,
    WEBHOOK_HEADERS_PURPOSE,
    WEBHOOK_SECRET_PURPOSE,
    Belongs,
    Tampered,
    UnknownKek,
    Vault,
)
from fe.store.postgres.db import Database
from fe.store.postgres.errors import RoleRefused
from fe.store.records import rewrapping
from fe.store.records.rewrapping import (
    CERTIFICATES,
    SEEDS,
    WEBHOOK_HEADERS,
    WEBHOOK_SECRETS,
    EncryptedColumns,
    EncryptedRow,
)


@dataclass(frozen=True, slots=True)
class Encrypted:
    """A kind of encrypted value. `purposes` are those of its columns, in order."""

    name: str
    columns: EncryptedColumns
    purposes: tuple[str, ...]


#: Under FE_KEK, and under FE_WEBHOOK_KEYS.
OF_CERTIFICATES = (
    Encrypted("certificates", CERTIFICATES, (P12_PURPOSE, PASSPHRASE_PURPOSE)),
    Encrypted("second factors", SEEDS, (TOTP_PURPOSE,)),
)
OF_WEBHOOKS = (
    Encrypted("webhook secrets", WEBHOOK_SECRETS, (WEBHOOK_SECRET_PURPOSE,)),
    Encrypted("webhook headers", WEBHOOK_HEADERS, (WEBHOOK_HEADERS_PURPOSE,)),
)


@dataclass
class Rewrapping:
    """Counts of one kind, in rows: a certificate is one, with its .p12 file and usually a passphrase."""

    kind: Encrypted
    found: int = 0
    #: Nothing to do: the newest key opens them.
    current: int = 0
    #: An older key opens them; and how many of these were moved. Another run of this may have been quicker.
    older: int = 0
    rewrapped: int = 0
    #: Rows by key that is not configured here; left unchanged.
    lacking: Counter[str] = field(default_factory=Counter)
    #: Those that their key does not open. Left as they are.
    broken: list[UUID] = field(default_factory=list)


async def require_rights(db: Database, kinds: Sequence[Encrypted], *, dry_run: bool) -> None:
    """Raise RoleRefused when the login may not rewrap these: no role that opens them may replace them."""
    for kind in kinds:
        if not await db.run(rewrapping.is_allowed, kind.columns, write=not dry_run):
            raise RoleRefused(
                f"the login may not replace what is encrypted ({kind.name}): let the owner grant it for as long as "
                "this takes"
            )


async def rewrap(db: Database, kind: Encrypted, vault: Vault, *, batch: int, dry_run: bool = False) -> Rewrapping:
    """Rewrap the data keys of all rows of a kind under the vault's first key, without decrypting secrets.

    Each row is its own transaction and is opened before and after. The run may be stopped; the next one continues. With
    `dry_run` nothing is written.
    """
    result = Rewrapping(kind)
    last = (TenantId(0), UUID(int=0))
    while rows := await db.run(rewrapping.rows_after, kind.columns, *last, batch):
        for before in rows:
            result.found += 1
            try:
                after = _under_current(vault, before, kind.purposes)
            except UnknownKek as unknown:
                result.lacking[unknown.kek_id] += 1
            except Tampered:
                result.broken.append(before.row_id)
            else:
                if after is None:
                    result.current += 1
                    continue
                result.older += 1
                if not dry_run:
                    result.rewrapped += await db.run(rewrapping.replace, kind.columns, before, after)
        last = (rows[-1].tenant_id, rows[-1].row_id)
    return result


def _under_current(vault: Vault, row: EncryptedRow, purposes: Sequence[str]) -> list[bytes | None] | None:
    """The same under the vault's first key; None when it is already. Raises UnknownKek or Tampered."""

    def moved(value: bytes, purpose: str) -> bytes:
        if vault.kek_of(value) == vault.current:
            return value
        return vault.rewrap(value, Belongs(row.tenant_id, str(row.row_id), purpose))

    pairs = zip(row.values, purposes, strict=True)
    after = [None if value is None else moved(value, purpose) for value, purpose in pairs]
    return after if after != row.values else None
