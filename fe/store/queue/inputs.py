"""What a step needs to know of its submission. It comes with the claim; a handler that misses it asks for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from json import loads
from typing import Any
from uuid import UUID

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.document import Document
from fe.identifiers import CertificateId, SubmissionId, TrackId, UserId


@dataclass(frozen=True, slots=True)
class Candidate:
    """A certificate in use that could sign."""

    certificate_id: CertificateId
    user_id: UserId | None
    email: str | None
    issuer_override: dict[str, Any] | None
    not_before: datetime
    not_after: datetime


@dataclass(frozen=True, slots=True)
class Holder:
    """A submission that has a number. `issuer_rnc` is None while it is not signed and has not said whose it is."""

    submission_id: SubmissionId
    issuer_rnc: str | None


@dataclass(frozen=True, slots=True)
class SigningInput:
    """All that making and signing a document needs."""

    format: str
    root: Root
    ecf_type: EcfType | None
    e_ncf: str | None
    as_user: str | None
    as_user_id: UserId | None
    original: bytes
    #: Shared with other documents of the tenant: nobody changes it.
    issuer: dict[str, Any]
    consumer_summary: str
    #: When the range of its number expires, which the tenant's active sequence of this prefix has, or had before; None
    #: when there is none, or it has no expiry.
    sequence_expires: datetime | None
    candidates: tuple[Candidate, ...]
    #: The submissions that came before this one and have its number, whoever issued them.
    holders: tuple[Holder, ...] = ()
    #: What reading `original` gives, where somebody has read it already.
    document: Document | None = None
    #: The signed receipt that a note modifies, where it leaves something to be filled in from it.
    modified: bytes | None = None


@dataclass(frozen=True, slots=True)
class OutgoingDocument:
    """A signed document and where it goes: `content` is sent to the byte."""

    root: Root
    e_ncf: str | None
    issuer_rnc: str | None
    buyer_rnc: str | None
    certificate_id: CertificateId
    is_summary: bool
    content: bytes


@dataclass(frozen=True, slots=True)
class TrackFacts:
    """What asking for a verdict needs."""

    track_id: TrackId
    e_ncf: str | None
    certificate_id: CertificateId
    #: Its trackId may have been found by its number, and so be another program's: whoever has a verdict asks whether.
    maybe_adopted: bool


@dataclass(slots=True)
class AcceptedInput:
    """What is known of a submission that this process has just taken in; signing needs `Beside` with it."""

    format: str
    root: Root
    ecf_type: EcfType | None
    #: Filled in when it was drawn.
    e_ncf: str | None
    as_user: str | None
    as_user_id: UserId | None
    original: bytes
    #: What reading it gives, where it was read to be taken in.
    document: Document | None = None


StepInput = AcceptedInput | SigningInput | OutgoingDocument | TrackFacts


@dataclass(frozen=True, slots=True)
class Signatory:
    """What signing needs of a tenant: the same for all its documents until somebody changes it."""

    issuer: dict[str, Any]
    consumer_summary: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class ParallelInput:
    """What signing needs beside what was taken in."""

    signatory: Signatory
    sequence_expires: datetime | None
    holders: tuple[Holder, ...]

    def signing_input(self, taken_in: AcceptedInput) -> SigningInput:
        """All that signing needs."""
        return SigningInput(
            taken_in.format,
            taken_in.root,
            taken_in.ecf_type,
            taken_in.e_ncf,
            taken_in.as_user,
            taken_in.as_user_id,
            taken_in.original,
            self.signatory.issuer,
            self.signatory.consumer_summary,
            self.sequence_expires,
            self.signatory.candidates,
            self.holders,
            taken_in.document,
        )


@lru_cache(maxsize=512)
def read_signatory(text: str) -> Signatory:
    """Read what the claim says of a tenant.

    It is remembered by the text itself: what is changed of a tenant makes another text, which the next claim brings.
    """
    said = loads(text)
    return Signatory(
        said["issuer"], said["consumerSummary"], tuple(_candidate(each) for each in said["candidates"] or ())
    )


def _candidate(said: Sequence[Any]) -> Candidate:
    certificate_id, user_id, email, override, not_before, not_after = said
    return Candidate(
        CertificateId(UUID(certificate_id)),
        UserId(UUID(user_id)) if user_id is not None else None,
        email,
        override,
        datetime.fromisoformat(not_before),
        datetime.fromisoformat(not_after),
    )
