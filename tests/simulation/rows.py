"""The rows of the tables that work moves through, as a simulation holds them. The columns are those of sql/."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from fe.ecf.catalogue import EcfType
from fe.identifiers import CertificateId, SubmissionId, TenantId, TrackId

Key = tuple[TenantId, SubmissionId]


@dataclass(slots=True)
class Due:
    """A row of `outbox`."""

    tenant_id: TenantId
    subject: SubmissionId
    stage: str
    environment: str
    host: str
    run_at: datetime
    attempt: int
    epoch: int
    holder: str | None
    crash_count: int
    entered_at: datetime
    last_error: str | None


@dataclass(slots=True)
class Dead:
    """A row of `dead_letters`."""

    tenant_id: TenantId
    subject: SubmissionId
    stage: str
    environment: str
    host: str
    attempt: int
    epoch: int
    crash_count: int
    entered_at: datetime
    died_at: datetime
    error: str


@dataclass(slots=True)
class Submission:
    """A row of `submissions`, as far as moving it on reads and writes it."""

    tenant_id: TenantId
    submission_id: SubmissionId
    environment: str
    root: str
    ecf_type: EcfType | None
    e_ncf: str | None
    issuer_rnc: str | None
    buyer_rnc: str | None
    submitted_at: datetime
    updated_at: datetime
    certificate_id: CertificateId | None = None
    status: str = "queued"
    track_id: TrackId | None = None
    security_code: str | None = None
    signed_at: datetime | None = None
    number_fate: str = "reserved"
    response: dict[str, Any] | None = None
    first_answer_at: datetime | None = None
    verdict_at: datetime | None = None
    replayed_epoch: int = 0


@dataclass(slots=True)
class Send:
    """A row of `sends`."""

    tenant_id: TenantId
    submission_id: SubmissionId
    epoch: int
    digest: bytes
    intended_at: datetime
    outcome: str = "intended"
    answered_at: datetime | None = None
    track_id: TrackId | None = None


@dataclass(slots=True)
class Event:
    """A row of `submission_events`, without its hash."""

    tenant_id: TenantId
    submission_id: SubmissionId
    seq: int
    at: datetime
    kind: str
    detail: dict[str, Any]


@dataclass(slots=True)
class Circuit:
    """A row of `circuits`."""

    environment: str
    host: str
    is_open: bool
    since: datetime
    reason: str
    probe_at: datetime
    failed_probes: int


@dataclass(slots=True)
class Tables:
    """All of them."""

    weights: dict[TenantId, int] = field(default_factory=dict)
    outbox: dict[Key, Due] = field(default_factory=dict)
    dead_letters: dict[Key, Dead] = field(default_factory=dict)
    submissions: dict[Key, Submission] = field(default_factory=dict)
    documents: dict[tuple[int, UUID, str], bytes] = field(default_factory=dict)
    sends: dict[tuple[int, UUID, int], Send] = field(default_factory=dict)
    #: By tenant, environment, e-NCF and issuer: whose the number is.
    held: dict[tuple[TenantId, str, str, str], SubmissionId] = field(default_factory=dict)
    events: dict[Key, list[Event]] = field(default_factory=dict)
    workers: dict[str, datetime] = field(default_factory=dict)
    circuits: dict[tuple[str, str], Circuit] = field(default_factory=dict)
    pauses: dict[tuple[int, str], str] = field(default_factory=dict)
    deeds: list[tuple[str, str, int | None, UUID | None]] = field(default_factory=list)
