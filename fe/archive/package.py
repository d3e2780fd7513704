"""Write a package: files of receipts in order, then the manifest and its signature."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from hashlib import sha256
from typing import Any
from uuid import UUID

from fe.archive.evidence import (
    Addition,
    ArchivedEvent,
    ArchiveKind,
    Evidence,
    IssuedReceipt,
    ReceivedReceipt,
    SignerEvidence,
    VoidingEvidence,
    documents,
    kind_of,
)
from fe.archive.keys import ArchiveKey, key_id
from fe.archive.zip_writer import PackedFile, Sink, TooLarge, ZipWriter, pack_file
from fe.ecf.catalogue import Environment, Root
from fe.ecf.json_text import write_canonical_json
from fe.ecf.money import CENT
from fe.identifiers import TenantId

FORMAT = "fe-archive-1"
TIMELINE_FORMAT = "fe-timeline-1"
VOIDING_FORMAT = "fe-voiding-1"
ALGORITHM = "rsa-pkcs1v15-sha256"
KEY_FILE, MANIFEST, SIGNATURE = "archive-key.der", "manifest.json", "manifest.sig"

#: Limits of the format, so that a reader knows how much it may meet.
MAX_RECEIPTS = 10_000
MAX_FILE = 16 * 1024 * 1024
MAX_BYTES = 1024 * 1024 * 1024
#: A package is full before it reaches them: one receipt more has 96 MiB and six files of its own at most.
FULL_AT = 256 * 1024 * 1024
_FULL_AT_FILES = 60_000

_NUMBER = re.compile(r"E[0-9]{12}\Z")
_DIGITS = re.compile(r"[0-9]{1,11}\Z")


class NotArchivable(ValueError):
    """Evidence that the format has no place for; the message names the receipt and says why."""


@dataclass(frozen=True, slots=True)
class PackageHeading:
    """Heading of a manifest. `previous`: SHA-256 of the manifest before; None for the first package."""

    tenant_id: TenantId
    environment: Environment
    sequence: int
    day: date
    made_at: datetime
    previous: bytes | None = None


@dataclass(frozen=True, slots=True)
class Sealed:
    """A signed manifest. `digest` is what the next manifest names, and what a time stamp is about."""

    manifest: bytes
    signature: bytes
    digest: bytes
    receipts: int
    files: int
    totals: Sequence[Mapping[str, Any]]


def package_name(tenant_id: TenantId, environment: Environment, sequence: int) -> str:
    """Name of a package's file."""
    return f"fe-archive-{environment}-{tenant_id}-{sequence:06d}.zip"


def moment(at: datetime) -> str:
    """Write a time as timelines do: UTC, with microseconds."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def folder(kind: ArchiveKind, e_ncf: str | None, of: object) -> str:
    """Name the folder of a receipt's files: its number, where it is one of an e-CF, and its id."""
    number = f"{e_ncf}-" if e_ncf is not None and _NUMBER.match(e_ncf) else ""
    return f"{kind}/{number}{of}"


@dataclass(frozen=True, slots=True)
class PackedEntry:
    """An entry with its files, ready to be written. `entry` is its JSON in the manifest.

    `total`: kind, type and status, and the amount; None where the entry has none.
    """

    id: UUID
    place: tuple[int, int]
    files: tuple[PackedFile, ...]
    entry: bytes
    is_addition: bool
    total: tuple[tuple[str, str, str], Decimal] | None
    shared: Mapping[str, bytes]


def pack_entry(tenant_id: TenantId, evidence: Evidence) -> PackedEntry:
    """Pack a receipt or an addition. Raises NotArchivable."""
    files = dict(documents(evidence))
    if isinstance(evidence, VoidingEvidence):
        files["answer.json"] = _answer(tenant_id, evidence)
    elif events := () if isinstance(evidence, ReceivedReceipt) else evidence.events:
        files["timeline.json"] = timeline(tenant_id, evidence.id, events)
    signer = SignerEvidence() if isinstance(evidence, Addition) else evidence.signer
    shared = _shared(signer)
    _refuse(evidence, {**files, **shared})
    entry = _entry(evidence, files, signer)
    where = folder(kind_of(evidence), evidence.e_ncf, evidence.id)
    group = entry["kind"], entry.get("type") or "", entry.get("status") or ""
    return PackedEntry(
        UUID(str(evidence.id)),
        order_of(evidence),
        tuple(pack_file(f"{where}/{name}", content) for name, content in files.items()),
        write_canonical_json(entry),
        entry["addition"],
        None if entry.get("total") is None else (group, Decimal(entry["total"])),
        shared,
    )


def pack_entries(tenant_id: TenantId, evidence: Sequence[Evidence]) -> list[PackedEntry | str]:
    """Pack receipts and additions; of what the format has no place for, return the reason."""
    packed: list[PackedEntry | str] = []
    for one in evidence:
        try:
            packed.append(pack_entry(tenant_id, one))
        except NotArchivable as reason:
            packed.append(str(reason))
    return packed


class PackageWriter:
    """Writes one package to `sink`. Receipts come in the order of `order_of`, each once."""

    def __init__(self, sink: Sink, heading: PackageHeading, key: ArchiveKey) -> None:
        if (heading.previous is None) != (heading.sequence == 1) or heading.sequence < 1:
            raise ValueError("the first package has the sequence number 1 and none before it")
        self._zip = ZipWriter(sink)
        self._heading = heading
        self._key = key
        self._last: tuple[int, int] | None = None
        self._entries: list[bytes] = []
        self._additions = 0
        self._totals: dict[tuple[str, str, str], tuple[int, Decimal]] = {}
        self._shared: dict[str, bytes] = {}
        self._bytes = 0
        self._sealed: Sealed | None = None

    @property
    def is_full(self) -> bool:
        """Whether the next receipt belongs into a new package."""
        files = self._zip.files + len(self._shared)
        return len(self._entries) >= MAX_RECEIPTS or self._bytes >= FULL_AT or files >= _FULL_AT_FILES

    def add(self, evidence: Evidence) -> None:
        """Pack and append a receipt or an addition. Raises NotArchivable; then nothing was written."""
        self._require_place(order_of(evidence), evidence.id)
        self.append(pack_entry(self._heading.tenant_id, evidence))

    def append(self, packed: PackedEntry) -> None:
        """Append an entry that is packed."""
        self._require_place(packed.place, packed.id)
        if self._bytes + sum(one.size for one in packed.files) > MAX_BYTES:
            raise TooLarge(f"a package has room for {MAX_BYTES} bytes of files")
        self._last = packed.place
        for file in packed.files:
            self._zip.append(file)
            self._bytes += file.size
        self._entries.append(packed.entry)
        self._additions += packed.is_addition
        if packed.total is not None:
            group, total = packed.total
            count, before = self._totals.get(group, (0, Decimal()))
            self._totals[group] = count + 1, before + total
        self._shared.update(packed.shared)

    def _require_place(self, place: tuple[int, int], of: object) -> None:
        if self._sealed is not None:
            raise ValueError("the package is sealed")
        if self._last is not None and place <= self._last:
            raise ValueError(f"{of} is out of order, or there already")
        if len(self._entries) >= MAX_RECEIPTS:
            raise TooLarge(f"a package has room for {MAX_RECEIPTS} receipts")

    def seal(self) -> Sealed:
        """Write the shared files and the key; make and sign the manifest."""
        if self._sealed is not None:
            raise ValueError("the package is sealed")
        for name, content in sorted(self._shared.items()):
            self._add(name, content)
        self._add(KEY_FILE, self._key.public_der)
        heading = self._heading
        totals = [
            {"kind": kind, "type": ecf_type, "status": status or None, "receipts": count, "total": f"{total:.2f}"}
            for (kind, ecf_type, status), (count, total) in sorted(self._totals.items())
        ]
        manifest = write_canonical_json(
            {
                "format": FORMAT,
                "tenantId": heading.tenant_id,
                "environment": str(heading.environment),
                "sequence": heading.sequence,
                "previous": None if heading.previous is None else heading.previous.hex(),
                "day": heading.day.isoformat(),
                "madeAt": moment(heading.made_at),
                "key": {"id": key_id(self._key.public_der), "algorithm": ALGORITHM},
                "counts": {
                    "receipts": len(self._entries),
                    "additions": self._additions,
                    "files": self._zip.files,
                    "bytes": self._bytes,
                },
                "totals": totals,
                "receipts": [],
                "shared": {
                    name: _described(content)
                    for name, content in {**self._shared, KEY_FILE: self._key.public_der}.items()
                },
            }
        )
        # Entries were written one by one: to write thousands at once would hold the interpreter for 50 ms.
        manifest = manifest.replace(b'"receipts":[]', b'"receipts":[%b]' % b",".join(self._entries), 1)
        signature = self._key.sign(manifest)
        self._sealed = Sealed(
            manifest,
            signature,
            sha256(manifest).digest(),
            len(self._entries),
            self._zip.files,
            totals,
        )
        return self._sealed

    def close(self) -> None:
        """Write the manifest and its signature. The sink stays open."""
        if self._sealed is None:
            raise ValueError("the package is not sealed")
        self._zip.add(MANIFEST, self._sealed.manifest)
        self._zip.add(SIGNATURE, self._sealed.signature)
        self._zip.close()

    def _add(self, name: str, content: bytes) -> None:
        if self._bytes + len(content) > MAX_BYTES:
            raise TooLarge(f"a package has room for {MAX_BYTES} bytes of files")
        self._zip.add(name, content)
        self._bytes += len(content)


def order_of(evidence: Evidence) -> tuple[int, int]:
    """Sort key of the receipts of a package: issued ones first, then by id."""
    return list(ArchiveKind).index(kind_of(evidence)), evidence.id.int


def timeline(tenant_id: TenantId, submission: object, events: Sequence[ArchivedEvent]) -> bytes:
    """Write a timeline. Each hash covers the tenant's id, the submission's id and the hash before it."""
    return write_canonical_json(
        {
            "format": TIMELINE_FORMAT,
            "tenantId": tenant_id,
            "taxLogId": str(submission),
            "events": [
                {
                    "seq": event.seq,
                    "at": moment(event.at),
                    "kind": event.kind,
                    "detail": event.detail,
                    "hash": event.hash.hex(),
                }
                for event in events
            ],
        }
    )


def _answer(tenant_id: TenantId, voiding: VoidingEvidence) -> bytes:
    """Write what is known of a voiding beside its ANECF."""
    return write_canonical_json(
        {
            "format": VOIDING_FORMAT,
            "tenantId": tenant_id,
            "id": str(voiding.id),
            "status": voiding.status,
            "reason": voiding.reason,
            "requestedAt": moment(voiding.requested_at),
            "finishedAt": moment(voiding.finished_at),
            "answer": voiding.answer,
        }
    )


def _shared(signer: SignerEvidence) -> dict[str, bytes]:
    found = {_certificate(der): der for der in signer.chain}
    if signer.revocation is not None:
        found[_revocation(signer.revocation.content)] = signer.revocation.content
    return found


def _certificate(der: bytes) -> str:
    return f"certificates/{sha256(der).hexdigest()}.der"


def _revocation(der: bytes) -> str:
    return f"revocations/{sha256(der).hexdigest()}.der"


def _refuse(evidence: Evidence, files: Mapping[str, bytes]) -> None:
    def refusal(why: str) -> NotArchivable:
        return NotArchivable(f"{kind_of(evidence)} {evidence.id}: {why}")

    if not files:
        raise refusal("an addition adds nothing")
    if not _DIGITS.match(evidence.issuer_rnc):
        raise refusal("the issuer's RNC is not 1 to 11 digits")
    for name, content in files.items():
        if not 1 <= len(content) <= MAX_FILE:
            raise refusal(f"{name} has {len(content)} bytes; 1 to {MAX_FILE} are allowed")
    if isinstance(evidence, Addition | VoidingEvidence):
        return
    is_receipt = isinstance(evidence, ReceivedReceipt) or evidence.root in (Root.ECF, Root.RFCE)
    if is_receipt and (evidence.e_ncf is None or not _NUMBER.match(evidence.e_ncf) or evidence.total is None):
        raise refusal("an e-CF has a number and a total")
    if evidence.total is not None and not 0 <= evidence.total == evidence.total.quantize(CENT):
        raise refusal("the total is not an amount of money")
    if isinstance(evidence, IssuedReceipt) and not evidence.events:
        raise refusal("a submission has events")


def _entry(evidence: Evidence, files: Mapping[str, bytes], signer: SignerEvidence) -> dict[str, Any]:
    """Describe a receipt; every value is ASCII that fe made or checked."""
    number = evidence.e_ncf if evidence.e_ncf is not None and _NUMBER.match(evidence.e_ncf) else None
    entry: dict[str, Any] = {
        "kind": str(kind_of(evidence)),
        "id": str(evidence.id),
        "addition": isinstance(evidence, Addition),
        "eNCF": number,
        "issuerRNC": evidence.issuer_rnc,
        "files": {name: _described(content) for name, content in files.items()},
    }
    if isinstance(evidence, Addition):
        return entry
    absent = ["original"] if isinstance(evidence, IssuedReceipt) and evidence.original is None else []
    absent += [] if signer.chain else ["certificate-chain"]
    absent += [] if signer.revocation is not None else ["revocation-answer"]
    revocation = signer.revocation and {
        "source": str(signer.revocation.source),
        "file": _revocation(signer.revocation.content),
        "askedAt": moment(signer.revocation.asked_at),
    }
    root: str = evidence.root if isinstance(evidence, IssuedReceipt) else Root.ECF
    total = None if isinstance(evidence, VoidingEvidence) else evidence.total
    return {
        **entry,
        "root": "ANECF" if isinstance(evidence, VoidingEvidence) else str(root),
        "type": None if number is None else number[1:3],
        "status": None if isinstance(evidence, ReceivedReceipt) else str(evidence.status),
        "total": None if total is None else f"{total:.2f}",
        "chain": [_certificate(der) for der in signer.chain],
        "revocation": revocation,
        "absent": absent,
    }


def _described(content: bytes) -> dict[str, Any]:
    return {"bytes": len(content), "sha256": sha256(content).hexdigest()}
