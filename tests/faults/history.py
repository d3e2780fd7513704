"""History of a run: the calls of clients, the arrivals at the authority, and the rows of the database."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import class_row, scalar_row

from fe.identifiers import SubmissionId, TenantId
from tests.faults.hooks import Handed, HookCall, ReceivedRow, Told
from tests.faults.modes import TermSample


class Outcome(StrEnum):
    """Outcome of a call, as its client knows it."""

    OK = "ok"  # it was answered, and the answer says that it was done
    FAIL = "fail"  # it was answered, and certainly nothing was done
    UNKNOWN = "unknown"  # a lost or delayed answer, or an error of the server


@dataclass(frozen=True)
class Call:
    """One call of a client, as it saw it. Moments are seconds since the run began."""

    started: float
    ended: float
    op: str  # submit, ask, use (a key that is revoked during the run), or blip (calls that never pause)
    tenant_id: TenantId
    environment: str
    outcome: Outcome
    http: int | None = None
    request_id: str | None = None
    kind: str | None = None
    tax_log_id: str | None = None
    status: str | None = None
    #: `response.status` of an asked submission: `dead_letter` ends the asking too.
    inner: str | None = None
    e_ncf: str | None = None
    key: str | None = None


class ClientJournal:
    """The clients' journal: JSON lines, each written before the client goes on."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8", buffering=1)
        self.calls: list[Call] = []

    def add(self, call: Call) -> None:
        """Write one call down."""
        self.calls.append(call)
        told = {name: value for name, value in asdict(call).items() if value is not None}
        self._file.write(json.dumps(told, ensure_ascii=False) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def read_calls(path: Path) -> list[Call]:
    """The calls of a journal."""
    with path.open(encoding="utf-8") as lines:
        told = [json.loads(line) for line in lines]
    return [Call(**{**one, "outcome": Outcome(one["outcome"])}) for one in told]


@dataclass(frozen=True)
class Arrival:
    """A document that reached the authority, from its journal."""

    seq: int
    operation: str
    environment: str
    e_ncf: str | None
    file_name: str | None
    sha256: str | None
    #: Whether the authority dealt with it; False where a fault came first.
    effect: bool
    #: The verdict: `Aceptado`, `Aceptado Condicional`, `Rechazado`; None when it decided nothing.
    estado: str | None = None
    #: The messages that came with the decision: codes and words.
    codes: tuple[int, ...] = ()
    words: str = ""
    #: `secuenciaUtilizada`.
    used: bool = False
    #: Refused on the spot, before it was taken in.
    refused: bool = False
    fault: str | None = None
    #: When it came, and when the authority had last answered "not known" about its number, by the authority's clock.
    #: The authority forgets its answers when it dies, so `life` counts its processes.
    at: datetime | None = None
    not_known_at: datetime | None = None
    life: int = 0


def read_arrivals(path: Path) -> list[Arrival]:
    """The documents of a simulator's journal file. A torn last line is none."""
    arrivals, life = [], 0
    with path.open("rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                break
            record = json.loads(line)
            life += record["kind"] == "opened"
            if record["kind"] == "document":
                arrivals.append(_arrival(record, life))
    return arrivals


def _arrival(record: Mapping[str, Any], life: int) -> Arrival:
    verdict = record["verdict"] or {}
    return Arrival(
        seq=record["seq"],
        operation=record["operation"],
        environment=record["environment"],
        e_ncf=record["eNCF"],
        file_name=record["fileName"],
        sha256=record["sha256"],
        effect=record["effect"],
        estado=verdict.get("estado"),
        codes=tuple(message["codigo"] for message in verdict.get("mensajes", ())),
        words=" ".join(message["valor"] for message in verdict.get("mensajes", ())),
        used=verdict.get("secuenciaUtilizada", False),
        refused=record["refused"] is not None,
        fault=record["fault"]["kind"] if record["fault"] else None,
        at=datetime.fromisoformat(record["at"]),
        not_known_at=datetime.fromisoformat(record["notKnownAt"]) if record["notKnownAt"] else None,
        life=life,
    )


@dataclass(frozen=True)
class Submission:
    tenant_id: TenantId
    submission_id: SubmissionId
    environment: str
    client_request_id: str | None
    root: str
    e_ncf: str | None
    status: str
    number_fate: str
    #: SHA-256 of the signed bytes, and of what is sent where that is something else.
    signed: str | None = None
    sent: str | None = None
    #: FechaHoraFirma of the signed bytes, and whether they are to be sent later.
    signature_time: str | None = None
    is_deferred: bool = False
    #: The paper receipt of series B that the signed bytes name.
    replaces: str | None = None

    @property
    def goes_out(self) -> str | None:
        """The digest of the bytes that the authority gets."""
        return self.sent or self.signed


@dataclass(frozen=True)
class Event:
    tenant_id: TenantId
    submission_id: SubmissionId
    seq: int
    at: datetime
    kind: str
    #: The very text that was hashed.
    detail_text: str
    hash: bytes

    @property
    def detail(self) -> dict[str, Any]:
        """The detail as a dictionary."""
        told: dict[str, Any] = json.loads(self.detail_text)
        return told


@dataclass(frozen=True)
class Send:
    tenant_id: TenantId
    submission_id: SubmissionId
    epoch: int
    digest: str
    outcome: str
    intended_at: datetime


@dataclass(frozen=True)
class Due:
    """A row of the outbox."""

    tenant_id: TenantId
    subject: SubmissionId
    stage: str
    holder: str | None
    attempt: int
    last_error: str | None


@dataclass(frozen=True)
class DeadLetter:
    tenant_id: TenantId
    subject: SubmissionId
    stage: str
    error: str


@dataclass(frozen=True)
class Sequence_:
    tenant_id: TenantId
    environment: str
    prefix: str
    min_number: int
    max_number: int
    current_number: int


@dataclass(frozen=True)
class CountedDay:
    """A day of a tenant as usage has it. Latencies are microseconds, added up."""

    tenant_id: TenantId
    environment: str
    utc_day: date
    submitted: int = 0
    settled: int = 0
    accepted: int = 0
    conditional: int = 0
    rejected: int = 0
    answered: int = 0
    latency_us: int = 0

    @property
    def figures(self) -> dict[str, int]:
        """The counts by name."""
        return {name: value for name, value in asdict(self).items() if name not in _KEY_OF_DAY}


_KEY_OF_DAY = ("tenant_id", "environment", "utc_day")


@dataclass(frozen=True)
class Noted:
    """An end that is not in the days yet, and the month in which it is billed."""

    tenant_id: TenantId
    submission_id: SubmissionId
    billed_in: date | None


@dataclass(frozen=True)
class Carried:
    """A submission without an end when its day was closed, and whether its latency is counted already."""

    tenant_id: TenantId
    submission_id: SubmissionId
    answered: bool


@dataclass(frozen=True)
class BilledMonth:
    tenant_id: TenantId
    month: date
    counted: int
    drift: int


@dataclass(frozen=True)
class Deferral:
    """A time in which a tenant was authorised to send later."""

    tenant_id: TenantId
    environment: str
    began_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True)
class Snapshot:
    """The database, as far as the checker reads it."""

    submissions: Sequence[Submission] = ()
    events: Sequence[Event] = ()
    sends: Sequence[Send] = ()
    outbox: Sequence[Due] = ()
    dead_letters: Sequence[DeadLetter] = ()
    sequences: Sequence[Sequence_] = ()
    told: Sequence[Told] = ()
    received: Sequence[ReceivedRow] = ()
    days: Sequence[CountedDay] = ()
    notes: Sequence[Noted] = ()
    carried: Sequence[Carried] = ()
    months: Sequence[BilledMonth] = ()
    #: The tenants that are billed, all the time.
    billed: Sequence[TenantId] = ()
    #: Submissions that came with an address for the mail.
    mail_recipients: Sequence[SubmissionId] = ()
    #: Transactions of several nodes that were prepared and never ended: which server, and its name for them.
    in_doubt: Sequence[str] = ()
    deferrals: Sequence[Deferral] = ()


_SUBMISSIONS = """
    SELECT s.tenant_id, s.submission_id, s.environment, s.client_request_id, s.root, s.e_ncf, s.status, s.number_fate,
           (SELECT encode(sha256(d.content), 'hex') FROM submission_documents AS d
             WHERE d.tenant_id = s.tenant_id AND d.submission_id = s.submission_id AND d.kind = 'signed') AS signed,
           (SELECT encode(sha256(d.content), 'hex') FROM submission_documents AS d
             WHERE d.tenant_id = s.tenant_id AND d.submission_id = s.submission_id AND d.kind = 'sent') AS sent,
           (SELECT substring(convert_from(d.content, 'UTF8') from '<FechaHoraFirma>([^<]+)<')
              FROM submission_documents AS d
             WHERE d.tenant_id = s.tenant_id AND d.submission_id = s.submission_id AND d.kind = 'signed'
               AND s.root = 'ECF') AS signature_time,
           EXISTS (SELECT FROM submission_documents AS d
                    WHERE d.tenant_id = s.tenant_id AND d.submission_id = s.submission_id AND d.kind = 'original'
                      AND s.root = 'ECF' AND convert_from(d.content, 'UTF8') LIKE '%%IndicadorEnvioDiferido%%'
                  ) AS is_deferred,
           (SELECT substring(convert_from(d.content, 'UTF8') from '<NCFModificado>(B[0-9]{10})<')
              FROM submission_documents AS d
             WHERE d.tenant_id = s.tenant_id AND d.submission_id = s.submission_id AND d.kind = 'signed'
               AND s.root = 'ECF') AS replaces
      FROM submissions AS s
"""
_EVENTS = """
    SELECT tenant_id, submission_id, seq, at, kind, detail::text AS detail_text, hash
      FROM submission_events ORDER BY tenant_id, submission_id, seq
"""
_SENDS = """
    SELECT tenant_id, submission_id, epoch, encode(digest, 'hex') AS digest, outcome, intended_at
      FROM sends ORDER BY tenant_id, submission_id, epoch
"""
_OUTBOX = "SELECT tenant_id, subject, stage, holder, attempt, last_error FROM outbox"
_DEAD = "SELECT tenant_id, subject, stage, error FROM dead_letters"
_TOLD = """
    SELECT v.tenant_id, v.event_id, v.kind, v.about, v.body, d.subject AS delivery_id, d.stage AS state
      FROM webhook_events AS v
      LEFT JOIN webhook_deliveries AS d ON d.tenant_id = v.tenant_id AND d.event_id = v.event_id
"""
_RECEIVED = "SELECT tenant_id, received_id, e_ncf FROM received"
_DAYS = """
    SELECT tenant_id, environment, utc_day, submitted, settled, accepted, conditional, rejected, answered, latency_us
      FROM usage_days
"""
_NOTES = "SELECT tenant_id, submission_id, billed_in FROM usage_ends"
_CARRIED = "SELECT tenant_id, submission_id, answered FROM usage_carried"
_MONTHS = "SELECT tenant_id, month, counted, drift FROM billing_months"
_BILLED = "SELECT tenant_id FROM billing_accounts WHERE enabled"
_DEFERRALS = "SELECT tenant_id, environment, began_at, ended_at FROM mode_periods WHERE mode = 'deferred'"
_MAIL_RECIPIENTS = "SELECT submission_id FROM mail_recipients"
_SEQUENCES = "SELECT tenant_id, environment, prefix, min_number, max_number, current_number FROM sequences"


def read_snapshot(dsn: str) -> Snapshot:
    """Read the database, at one moment."""
    with psycopg.connect(dsn) as conn:
        conn.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ

        def rows(kind: type[Any], statement: str) -> list[Any]:
            return conn.cursor(row_factory=class_row(kind)).execute(statement.encode()).fetchall()

        return Snapshot(
            submissions=rows(Submission, _SUBMISSIONS),
            events=rows(Event, _EVENTS),
            sends=rows(Send, _SENDS),
            outbox=rows(Due, _OUTBOX),
            dead_letters=rows(DeadLetter, _DEAD),
            sequences=rows(Sequence_, _SEQUENCES),
            told=rows(Told, _TOLD),
            received=rows(ReceivedRow, _RECEIVED),
            days=rows(CountedDay, _DAYS),
            notes=rows(Noted, _NOTES),
            carried=rows(Carried, _CARRIED),
            months=rows(BilledMonth, _MONTHS),
            billed=conn.cursor(row_factory=scalar_row).execute(_BILLED).fetchall(),
            deferrals=rows(Deferral, _DEFERRALS),
            mail_recipients=conn.cursor(row_factory=scalar_row).execute(_MAIL_RECIPIENTS).fetchall(),
        )


@dataclass(frozen=True)
class Revocation:
    """A key that was revoked during the run; committed at the latest at `at`, in the run's seconds."""

    key: str
    at: float


@dataclass(frozen=True)
class Blip:
    """How one front got over a blip of the database, under calls that never paused. Moments in the run's seconds."""

    front: str
    #: When the database was back; when the first call after that was served, if calls went on being served.
    back: float
    served: float | None
    #: How many calls were refused with the database back.
    refused: int


@dataclass(frozen=True)
class History:
    """All there is to judge a run by."""

    calls: Sequence[Call]
    arrivals: Sequence[Arrival]
    database: Snapshot
    revocations: Sequence[Revocation] = ()
    blips: Sequence[Blip] = ()
    #: Webhook calls at the tenants' systems, the secret of each tenant, and documents from suppliers.
    hook_calls: Sequence[HookCall] = ()
    hook_secrets: Mapping[TenantId, str] = field(default_factory=dict)
    handed: Sequence[Handed] = ()
    #: The Message-ID of each mail that the relay took; None: there was no relay.
    mails: Sequence[str] | None = None
    #: The terms, every second of the run.
    samples: Sequence[TermSample] = ()


def by_submission(rows: Iterable[Any]) -> dict[SubmissionId, list[Any]]:
    """Group rows that have a `submission_id`, in their order."""
    grouped: dict[SubmissionId, list[Any]] = {}
    for row in rows:
        grouped.setdefault(row.submission_id, []).append(row)
    return grouped
