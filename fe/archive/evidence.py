"""Evidence of a receipt, as it goes into a package."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

from fe.ecf.catalogue import Root
from fe.identifiers import SubmissionId
from fe.lifecycle import Status


class ArchiveKind(StrEnum):
    """Whether the tenant issued a document, received it, or voided numbers by it; entries stand in this order."""

    ISSUED = "issued"
    RECEIVED = "received"
    VOIDED = "voided"


class RevocationSource(StrEnum):
    """ArchiveKind of a certifier's answer about revocation."""

    OCSP = "ocsp"
    CRL = "crl"


@dataclass(frozen=True, slots=True)
class ArchivedEvent:
    """An event of a submission. `detail` is the very text that was hashed."""

    seq: int
    at: datetime
    kind: str
    detail: str
    hash: bytes


@dataclass(frozen=True, slots=True)
class RevocationAnswer:
    """A certifier's answer in DER, and the time of the question."""

    source: RevocationSource
    content: bytes
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class SignerEvidence:
    """Evidence about the signer's certificate, beyond the certificate that the document carries.

    `chain`: certificates in DER, the issuer's first. Empty, or None for `revocation`: fe has none, and the manifest
    says so.
    """

    chain: tuple[bytes, ...] = ()
    revocation: RevocationAnswer | None = None


@dataclass(frozen=True, slots=True)
class IssuedReceipt:
    """Evidence of a signed submission: an e-CF, a summary (RFCE), an approval (ACECF) or a client's ANECF.

    `summary` is the RFCE that was sent instead of `signed`. `original` is the client's input. `acknowledgement` is the
    ARECF of the receiver, `approval` the ACECF of the buyer: exact bytes, signed by the other party. The authority's
    verdict is the detail of the event `verdict`. `issuer_rnc` is RNCEmisor of `signed`; `total` is its MontoTotal, None
    in an ACECF or ANECF.
    """

    id: SubmissionId
    root: Root
    issuer_rnc: str
    status: Status
    signed: bytes
    events: tuple[ArchivedEvent, ...]
    e_ncf: str | None = None
    total: Decimal | None = None
    summary: bytes | None = None
    original: bytes | None = None
    acknowledgement: bytes | None = None
    approval: bytes | None = None
    signer: SignerEvidence = SignerEvidence()


@dataclass(frozen=True, slots=True)
class ReceivedReceipt:
    """Evidence of a supplier's e-CF, and the acknowledgement (ARECF) that the tenant signed.

    The tenant's approval of it is a submission, so an IssuedReceipt of root ACECF.
    """

    id: UUID
    issuer_rnc: str
    e_ncf: str
    total: Decimal
    signed: bytes
    acknowledgement: bytes
    signer: SignerEvidence = SignerEvidence()


@dataclass(frozen=True, slots=True)
class VoidingEvidence:
    """Evidence of a voiding of number ranges that was sent: the ANECF, and what the authority answered.

    `status`: `voided`, `partly voided` or `rejected`. `answer`: JSON of the authority, as the database has it.
    """

    id: UUID
    issuer_rnc: str
    status: str
    signed: bytes
    requested_at: datetime
    finished_at: datetime
    reason: int
    answer: str | None
    signer: SignerEvidence = SignerEvidence()
    e_ncf: None = None


@dataclass(frozen=True, slots=True)
class Addition:
    """Evidence that arrived after the package with the receipt was sealed.

    `events`: the whole timeline, when it has grown; else empty. At least one part has to be there.
    """

    kind: ArchiveKind
    id: UUID
    issuer_rnc: str
    e_ncf: str | None = None
    acknowledgement: bytes | None = None
    approval: bytes | None = None
    events: tuple[ArchivedEvent, ...] = ()


#: The evidence of one entry of a manifest.
Evidence = IssuedReceipt | ReceivedReceipt | VoidingEvidence | Addition


def kind_of(evidence: Evidence) -> ArchiveKind:
    """Return the kind of a receipt or an addition."""
    if isinstance(evidence, Addition):
        return evidence.kind
    if isinstance(evidence, VoidingEvidence):
        return ArchiveKind.VOIDED
    return ArchiveKind.ISSUED if isinstance(evidence, IssuedReceipt) else ArchiveKind.RECEIVED


def documents(evidence: Evidence) -> Mapping[str, bytes]:
    """Name the exact documents of an entry in the order of a package, without `timeline.json` and `answer.json`."""
    return {name: content for name, content in _documents(evidence) if content is not None}


def _documents(evidence: Evidence) -> Iterator[tuple[str, bytes | None]]:
    if isinstance(evidence, IssuedReceipt):
        yield "original.bin", evidence.original
        yield "signed.xml", evidence.signed
        yield "summary.xml", evidence.summary
        yield "acknowledgement.xml", evidence.acknowledgement
        yield "approval.xml", evidence.approval
    elif isinstance(evidence, ReceivedReceipt):
        yield "signed.xml", evidence.signed
        yield "acknowledgement.xml", evidence.acknowledgement
    elif isinstance(evidence, VoidingEvidence):
        yield "signed.xml", evidence.signed
    else:
        yield "acknowledgement.xml", evidence.acknowledgement
        yield "approval.xml", evidence.approval
