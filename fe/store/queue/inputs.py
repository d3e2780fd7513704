"""The input of each step. It comes with the claim; a handler without it reads it."""

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
    #: Shared with other documents of the tenant: must not be changed.
    issuer: dict[str, Any]
    consumer_summary: str
    #: When the range of its number expires, which the tenant's active sequence of this prefix has, or had before; None
    #: when there is none, or it has no expiry.
    sequence_expires: datetime | None
    candidates: tuple[Candidate, ...]
    #: Earlier submissions with its number, of any issuer.
    holders: tuple[Holder, ...] = ()
    #: `original` as parsed, if it was parsed before.
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
    """The input of tracking."""

    track_id: TrackId
    e_ncf: str | None
    certificate_id: CertificateId
    #: Whether its trackId may have been found by number, and so be another program's.
    maybe_adopted: bool


@dataclass(slots=True)
class AcceptedInput:
    """The input of a submission just accepted by this process; signing also needs a ParallelInput."""

    format: str
    root: Root
    ecf_type: EcfType | None
    #: Filled in when it was drawn.
    e_ncf: str | None
    as_user: str | None
    as_user_id: UserId | None
    original: bytes
    #: `original` as parsed at acceptance.
    document: Document | None = None


StepInput = AcceptedInput | SigningInput | OutgoingDocument | TrackFacts


@dataclass(frozen=True, slots=True)
class Signatory:
    """The part of a signing input that all documents of a tenant share."""

    issuer: dict[str, Any]
    consumer_summary: str
    candidates: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class ParallelInput:
    """The rest of the signing input of a submission just accepted."""

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
