"""Submissions: taking them in, and what clients and operators read of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, LiteralString, Protocol
from uuid import UUID

from psycopg.errors import UniqueViolation
from psycopg.rows import class_row, dict_row

from fe.ecf.catalogue import EcfType, Environment, Root
from fe.ecf.dates import local
from fe.ecf.document import Document
from fe.ecf.mail_address import MailAddress
from fe.ecf.problems import Problem
from fe.ecf.receipt_facts import UNKNOWN, FactsToPrint
from fe.identifiers import ApiKeyId, ClientRequestId, SubmissionId, TenantId, TrackId, UserId
from fe.lifecycle import FINAL, NumberFate, Status
from fe.requested_outcome import Simulation
from fe.store.postgres.arrays import blobs, days, int8s, intervals, moments, texts, uuids
from fe.store.postgres.db import Conn
from fe.store.postgres.engine import Calling, engine_of
from fe.store.postgres.errors import DatabaseUnavailable, NoNumber
from fe.store.postgres.rows import record_row
from fe.store.postgres.traces import execute_traced
from fe.store.records import mail, metadata, simulations
from fe.store.records.mail import MailState
from fe.store.records.modes import IS_DEFERRED


@dataclass(frozen=True, slots=True)
class NewSubmission:
    """A submission at acceptance. `draw_prefix` asks for the next number of a prefix, or of a sequence by its key."""

    tenant_id: TenantId
    submission_id: SubmissionId
    environment: Environment
    api_key_id: ApiKeyId
    client_request_id: ClientRequestId | None
    body_digest: bytes
    format: str
    root: Root
    ecf_type: EcfType | None
    e_ncf: str | None
    issuer_rnc: str | None
    buyer_rnc: str | None
    as_user: str | None
    as_user_id: UserId | None
    original: bytes
    draw_prefix: str | None = None
    #: The context of its trace, if it is traced (sql/functions/submissions/take_trace.sql).
    trace: str | None = None
    #: The requested outcome of a simulated authority; None with the real one.
    simulation: Simulation | None = None
    #: The address that came with it for the mail to the buyer.
    notify: MailAddress | None = None
    #: The client's own labels.
    metadata: Mapping[str, str] | None = None
    #: `original` as parsed, for a signer in this process. Not stored.
    document: Document | None = None
    #: Facts for the client's answer. Not stored, except for the day of issue: those of the signed XML are.
    facts: FactsToPrint = UNKNOWN
    #: Warnings for the client. Not stored.
    remarks: tuple[Problem, ...] = ()
    #: SHA-256 of the certificate of a document that keeps its signature. Not stored.
    signed_with: str | None = None
    #: When a document with IndicadorEnvioDiferido 1 is signed: it needs an authorisation. Not stored.
    deferred_at: datetime | None = None
    #: The paper receipt that it replaces (CodigoModificacion 4). Not stored.
    replaces_ncf: str | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """The result. `outcome` is `accepted` or `deduped`; for `deduped` the rest is about the first submission."""

    outcome: str
    submission_id: SubmissionId
    status: Status
    e_ncf: str | None
    body_matched: bool
    #: How a number that came with the document moved its sequence, if it did: unused numbers skipped, and numbers left.
    numbers_skipped: int | None = None
    numbers_left: int | None = None
    #: It was leased to the requesting process, to be signed at once.
    leased: bool = False


class AlreadyStored(DatabaseUnavailable):
    """A call before, whose answer was lost, has stored this very one, and it has no clientRequestId to be found by."""


@dataclass(frozen=True, slots=True)
class Leases:
    """Which of a batch are leased as they are taken in, each for how long (None: it is not), and to whom."""

    holder: str
    seconds: Sequence[timedelta | None]


_ACCEPT = Calling.of(
    "accept_submission",
    """
    SELECT outcome, submission_id, status, e_ncf, body_matched, numbers_skipped, numbers_left
      FROM accept_submission(
        %(tenant)s, %(submission)s, %(at)s, %(environment)s, %(api_key)s, %(client_request)s, %(digest)s, %(format)s,
        %(root)s, %(type)s, %(e_ncf)s, %(issuer)s, %(buyer)s, %(as_user)s, %(as_user_id)s, %(original)b, %(draw)s,
        %(issued_on)s)
""",
)


async def accept(conn: Conn, new: NewSubmission, at: datetime) -> Accepted:
    """Store the submission, its number and its first due step in one transaction and one round trip.

    Raises NoNumber when no number can be drawn; then nothing is stored. A requested outcome of a simulated authority,
    an address to notify and metadata are written in the same transaction, with more round trips. Raises AlreadyStored.
    """
    if not _has_requests(new):
        return await _accept(conn, new, at)
    async with conn.transaction():
        accepted = await _accept(conn, new, at)
        if accepted.outcome == "accepted":
            await _keep_requests(conn, [new])
        return accepted


async def _accept(conn: Conn, new: NewSubmission, at: datetime) -> Accepted:
    cursor = conn.cursor(row_factory=record_row(Accepted))
    try:
        await execute_traced(cursor, _ACCEPT, values_of(new, at), _traces([new]))
    except UniqueViolation as twice:
        # A node's is told in words alone; it is the key of a month of submissions, by whatever name.
        if '"submissions_' not in (twice.diag.message_primary or ""):
            raise
        raise AlreadyStored("it is stored, by a call whose answer was lost") from twice
    accepted = await cursor.fetchone()
    assert accepted is not None
    return accepted


def values_of(new: NewSubmission, at: datetime) -> dict[str, Any]:
    """The parameters of whatever takes a submission in, by their names."""
    return {
        "tenant": new.tenant_id,
        "submission": new.submission_id,
        "at": at,
        "environment": new.environment,
        "api_key": new.api_key_id,
        "client_request": new.client_request_id,
        "digest": new.body_digest,
        "format": new.format,
        "root": new.root,
        "type": new.ecf_type,
        "e_ncf": new.e_ncf,
        "issuer": new.issuer_rnc,
        "buyer": new.buyer_rnc,
        "as_user": new.as_user,
        "as_user_id": new.as_user_id,
        "original": new.original,
        "draw": new.draw_prefix,
        "issued_on": _day_of_issue(new, at),
    }


def _day_of_issue(new: NewSubmission, at: datetime) -> date | None:
    """Return the stated day of issue, or today's: the one that the signer fills in, unless it signs after midnight.

    The column is in an index. Set by now, the update that signs writes to no index
    (docs/decisions/micro-performance.md).
    """
    if new.facts.issued_on is not None or new.root not in (Root.ECF, Root.RFCE):
        return new.facts.issued_on
    return local(at).date()


def _traces(news: Sequence[NewSubmission]) -> dict[UUID, str]:
    return {new.submission_id: new.trace for new in news if new.trace is not None}


# In the order of the function's parameters.
_ACCEPT_MANY = Calling.of(
    "accept_submissions",
    """
    SELECT outcome, submission_id, status, e_ncf, body_matched, numbers_skipped, numbers_left, leased, refusal
      FROM accept_submissions(
        %(tenants)b::bigint[], %(submissions)b::uuid[], %(ats)b::timestamptz[], %(environments)b::text[],
        %(api_keys)b::text[], %(client_requests)b::text[], %(digests)b::bytea[], %(formats)b::text[], %(roots)b::text[],
        %(types)b::text[], %(e_ncfs)b::text[], %(issuers)b::text[], %(buyers)b::text[], %(as_users)b::text[],
        %(as_user_ids)b::uuid[], %(originals)b::bytea[], %(draws)b::text[], %(holder)s, %(leases)b::interval[],
        %(issued_ons)b::date[])
     ORDER BY place
""",
)


async def accept_many(
    conn: Conn, batch: Sequence[tuple[NewSubmission, datetime]], leases: Leases | None = None
) -> list[Accepted | NoNumber]:
    """Accept many submissions, each with its moment, in one transaction; results in the same order.

    Of two with the same clientRequestId the second gets the result of the first. One that cannot draw a number gets
    NoNumber as its result. Raises for all or none: then nothing was stored, unless the link was lost.

    One with a lease, unless paused, is claimed at once, as `Accepted.leased` says: epoch 1, attempt 1.
    """
    if not any(_has_requests(new) for new, _ in batch):
        return await _accept_many(conn, batch, leases)
    async with conn.transaction():
        answers = await _accept_many(conn, batch, leases)
        taken = [
            new
            for (new, _), answer in zip(batch, answers, strict=True)
            if isinstance(answer, Accepted) and answer.outcome == "accepted"
        ]
        await _keep_requests(conn, taken)
        return answers


def _has_requests(new: NewSubmission) -> bool:
    """Whether there is something to keep beside it."""
    return new.simulation is not None or new.notify is not None or new.metadata is not None


async def _keep_requests(conn: Conn, accepted: Sequence[NewSubmission]) -> None:
    """Keep the requested outcomes, addresses and metadata of accepted submissions."""
    asked = [
        (new.tenant_id, new.submission_id, new.environment.value, new.simulation)
        for new in accepted
        if new.simulation is not None
    ]
    if asked:
        await simulations.keep(conn, asked)
    notified = [(new.tenant_id, new.submission_id, new.notify) for new in accepted if new.notify is not None]
    if notified:
        await mail.keep_recipients(conn, notified)
    labelled = [(new.tenant_id, new.submission_id, new.metadata) for new in accepted if new.metadata is not None]
    if labelled:
        await metadata.keep(conn, labelled)


async def _accept_many(
    conn: Conn, batch: Sequence[tuple[NewSubmission, datetime]], leases: Leases | None
) -> list[Accepted | NoNumber]:
    news = [new for new, _ in batch]
    cursor = conn.cursor(binary=True)
    await execute_traced(
        cursor,
        _ACCEPT_MANY,
        {
            "tenants": int8s([new.tenant_id for new in news]),
            "submissions": uuids([new.submission_id for new in news]),
            "ats": moments([at for _, at in batch]),
            "environments": texts([new.environment for new in news]),
            "api_keys": texts([new.api_key_id for new in news]),
            "client_requests": texts([new.client_request_id for new in news]),
            "digests": blobs([new.body_digest for new in news]),
            "formats": texts([new.format for new in news]),
            "roots": texts([new.root for new in news]),
            "types": texts([new.ecf_type for new in news]),
            "e_ncfs": texts([new.e_ncf for new in news]),
            "issuers": texts([new.issuer_rnc for new in news]),
            "buyers": texts([new.buyer_rnc for new in news]),
            "as_users": texts([new.as_user for new in news]),
            "as_user_ids": uuids([new.as_user_id for new in news]),
            "originals": blobs([new.original for new in news]),
            "draws": texts([new.draw_prefix for new in news]),
            "holder": None if leases is None else leases.holder,
            "leases": None if leases is None else intervals(leases.seconds),
            "issued_ons": days([_day_of_issue(new, at) for new, at in batch]),
        },
        _traces(news),
    )
    answers: list[Accepted | NoNumber] = []
    for new, (outcome, submission_id, status, *rest, refusal) in zip(news, await cursor.fetchall(), strict=True):
        if outcome == "refused":
            answers.append(NoNumber(rest[0] or str(new.draw_prefix), refusal))
        else:
            answers.append(Accepted(outcome, submission_id, Status(status), *rest))
    return answers


@dataclass(frozen=True, slots=True)
class Record:
    """A submission as clients see it."""

    submission_id: SubmissionId
    track_id: TrackId | None
    environment: Environment
    status: Status
    e_ncf: str | None
    qr_code_url: str | None
    security_code: str | None
    ncf_expiration: date | None
    signed_at: datetime | None
    number_fate: NumberFate
    response: dict[str, Any] | None
    submitted_at: datetime
    updated_at: datetime
    client_request_id: ClientRequestId | None
    format: str
    ecf_type: EcfType | None = None
    buyer_rnc: str | None = None
    #: Of one that was signed by this release or a later one.
    total: Decimal | None = None
    itbis: Decimal | None = None
    buyer_name: str | None = None
    issued_on: date | None = None
    warnings: list[dict[str, Any]] | None = None
    #: The mail to its buyer, where one was to be sent: its state, since when, the address and the relay's last words.
    mail_state: MailState | None = None
    mail_at: datetime | None = None
    mail_address: str | None = None
    mail_reason: str | None = None
    first_answer_at: datetime | None = None
    verdict_at: datetime | None = None
    #: When its receiver had it; of lists.
    delivered_at: datetime | None = None
    #: It was signed while deferred sending was in force, and has no answer yet.
    is_deferred: bool = False
    #: Its documents left the database; found by id alone.
    is_archived: bool = False
    #: The client's own labels.
    metadata: dict[str, str] | None = None

    @property
    def facts(self) -> FactsToPrint:
        """Values that a point of sale prints."""
        return FactsToPrint(self.total, self.itbis, self.buyer_name, self.issued_on)


#: The day of issue as people see it: until the receipt is signed the stored one may be a guess (`_day_of_issue`).
ISSUED_ON = "CASE WHEN s.signed_at IS NOT NULL THEN s.issued_on END AS issued_on"

_RECORD_COLUMNS = f"""s.submission_id, s.track_id, s.environment, s.status, s.e_ncf, s.qr_code_url, s.security_code,
           s.ncf_expiration, s.signed_at, s.number_fate, s.response, s.submitted_at, s.updated_at, s.client_request_id,
           s.format, s.ecf_type, s.buyer_rnc, s.total, s.itbis, s.buyer_name, {ISSUED_ON},
           s.first_answer_at, s.verdict_at,
           {IS_DEFERRED},
           {metadata.OF_SUBMISSION}"""

# Looked up in the history, which is a handful of rows; before it is signed there is nothing to look for.
_WARNINGS = """
    CASE WHEN s.signed_at IS NOT NULL
         THEN (SELECT e.detail -> 'problems'
                 FROM submission_events AS e
                WHERE e.tenant_id = %(tenant)s AND e.submission_id = s.submission_id AND e.kind = 'remarked'
                ORDER BY e.seq DESC
                LIMIT 1)
    END AS warnings"""

# Documents leave a month after the verdict at the earliest, so that no other receipt costs a look.
_ARCHIVED = """
    CASE WHEN s.verdict_at < now() - interval '1 month'
         THEN NOT EXISTS (SELECT 1
                            FROM submission_documents AS d
                           WHERE d.tenant_id = %(tenant)s AND d.submission_id = s.submission_id)
         ELSE false
    END AS is_archived"""

_OF_MAIL = """m.stage AS mail_state, coalesce(m.finished_at, m.entered_at) AS mail_at,
           coalesce(m.address, r.address) AS mail_address, m.last_error AS mail_reason"""
_RECIPIENT = "LEFT JOIN mail_recipients AS r ON r.tenant_id = m.tenant_id AND r.submission_id = m.subject"
_WITH_MAIL = f""",
           {_OF_MAIL}
      FROM submissions AS s
      LEFT JOIN mails AS m ON m.tenant_id = s.tenant_id AND m.subject = s.submission_id
      {_RECIPIENT}"""
_WITHOUT_MAIL = """
      FROM submissions AS s"""


def _by_id(tables: LiteralString) -> LiteralString:
    return f"""
        SELECT {_RECORD_COLUMNS},{_WARNINGS},{_ARCHIVED}{tables}
         WHERE s.tenant_id = %(tenant)s AND s.submission_id = %(submission)s
    """


def _by_track_id(tables: LiteralString) -> LiteralString:
    # Found first, and only then put in order: asked for the newest of them in one go, Postgres expects to meet one soon
    # on the way back through the tenant's receipts, and in a long history it does not.
    return f"""
        WITH found AS MATERIALIZED (
            SELECT x.submission_id
              FROM submissions AS x
             WHERE x.tenant_id = %(tenant)s AND x.track_id = ANY (%(spellings)s)
        )
        SELECT {_RECORD_COLUMNS},{_WARNINGS},{_ARCHIVED}{tables}
         WHERE s.tenant_id = %(tenant)s
           AND s.submission_id = (SELECT found.submission_id FROM found ORDER BY found.submission_id DESC LIMIT 1)
    """


_FIND = _by_id(_WITH_MAIL), _by_track_id(_WITH_MAIL)
# A cluster has submissions on its nodes and mails on the coordinator, where they take a statement of their own.
_FIND_ON_NODES = _by_id(_WITHOUT_MAIL), _by_track_id(_WITHOUT_MAIL)
_MAIL = f"""
    SELECT {_OF_MAIL}
      FROM mails AS m
      {_RECIPIENT}
     WHERE m.tenant_id = %(tenant)s AND m.subject = %(submission)s
"""


async def find(conn: Conn, tenant_id: TenantId, track_or_id: SubmissionId | TrackId) -> Record | None:
    """Find a submission by its id, or else by the authority's trackId, which may look like a UUID, in capitals too."""
    is_on_nodes = "submissions" in engine_of(conn).distributed
    by_id, by_track_id = _FIND_ON_NODES if is_on_nodes else _FIND
    cursor = conn.cursor(row_factory=record_row(Record))
    record = None
    if isinstance(track_or_id, UUID):
        await cursor.execute(by_id, {"tenant": tenant_id, "submission": track_or_id})
        record = await cursor.fetchone()
    if record is None:
        text = str(track_or_id)
        spellings = [text, text.upper()] if isinstance(track_or_id, UUID) else [text]
        await cursor.execute(by_track_id, {"tenant": tenant_id, "spellings": spellings})
        record = await cursor.fetchone()
    if is_on_nodes and record is not None and record.status in (Status.ACCEPTED, Status.CONDITIONAL):
        mails = conn.cursor(row_factory=dict_row)
        await mails.execute(_MAIL, {"tenant": tenant_id, "submission": record.submission_id})
        if found := await mails.fetchone():
            record = replace(record, **found | {"mail_state": MailState(found["mail_state"])})
    return record


_ARE_THERE = """
    SELECT count(*) = cardinality(%(ids)s::uuid[])
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s AND s.submission_id = ANY (%(ids)s::uuid[])
       AND s.submission_id BETWEEN %(first)s AND %(last)s
       AND (s.status = 'error' OR NOT s.submission_id = ANY (%(ended)s::uuid[]))
"""


class ReadSubmission(Protocol):
    """A submission as it was read."""

    @property
    def submission_id(self) -> SubmissionId:
        """Its id."""

    @property
    def status(self) -> Status:
        """Its status then."""


async def are_there(conn: Conn, tenant_id: TenantId, read: Sequence[ReadSubmission]) -> bool:
    """Tell whether all of these are there, `error` still `error`: a server that took over since may not know them."""
    ids = sorted(one.submission_id for one in read)
    ended = [one.submission_id for one in read if one.status is Status.ERROR]
    values = {"tenant": tenant_id, "ids": uuids(ids), "ended": uuids(ended), "first": ids[0], "last": ids[-1]}
    row = await (await conn.execute(_ARE_THERE, values)).fetchone()
    assert row is not None
    return bool(row[0])


# Between which of them, too: for a list in a parameter every month there is would be looked into.
_ENDED = """
    SELECT submission_id
      FROM submissions
     WHERE tenant_id = %(tenant)s AND submission_id = ANY (%(submissions)s) AND status = ANY (%(final)s)
       AND submission_id BETWEEN %(first)s AND %(last)s
"""


async def ended(conn: Conn, tenant_id: TenantId, submission_ids: Sequence[SubmissionId]) -> list[SubmissionId]:
    """Tell which of these have come to their end."""
    if not submission_ids:
        return []
    between = {"first": min(submission_ids), "last": max(submission_ids)}
    given = {"tenant": tenant_id, "submissions": uuids(submission_ids), "final": texts(sorted(FINAL)), **between}
    cursor = await conn.execute(_ENDED, given)
    return [SubmissionId(row[0]) for row in await cursor.fetchall()]


_XML = """
    SELECT kind, content
      FROM submission_documents
     WHERE tenant_id = %(tenant)s AND submission_id = %(submission)s AND kind IN ('signed', 'original')
     ORDER BY kind DESC
     LIMIT 1
"""


async def xml(
    conn: Conn, tenant_id: TenantId, submission_id: SubmissionId
) -> tuple[Literal["signed", "original"] | None, bytes]:
    """Fetch the best document there is: (`signed`, bytes) or, before signing, (`original`, the client's bytes).

    (None, b""): its documents left the database (fe/archiving/documents.py).
    """
    cursor = await conn.execute(_XML, {"tenant": tenant_id, "submission": submission_id})
    row = await cursor.fetchone()
    return (None, b"") if row is None else (row[0], bytes(row[1]))


_DOCUMENTS = """
    SELECT kind, content
      FROM submission_documents
     WHERE tenant_id = %(tenant)s AND submission_id = %(submission)s
"""


async def documents(conn: Conn, tenant_id: TenantId, submission_id: SubmissionId) -> dict[str, bytes]:
    """Fetch its documents by kind: `original`, once it is signed `signed`, and `sent` where that is another one.

    None are there when they left the database (fe/archiving/documents.py).
    """
    cursor = await conn.execute(_DOCUMENTS, {"tenant": tenant_id, "submission": submission_id}, binary=True)
    return {kind: bytes(content) for kind, content in await cursor.fetchall()}


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a submission. `kind` is an EventKind, unless a newer release wrote it."""

    seq: int
    at: datetime
    kind: str
    detail: dict[str, Any]


_TIMELINE = """
    SELECT seq, at, kind, detail
      FROM submission_events
     WHERE tenant_id = %(tenant)s AND submission_id = %(submission)s
     ORDER BY seq
"""


async def timeline(conn: Conn, tenant_id: TenantId, submission_id: SubmissionId) -> list[Event]:
    """List a submission's events, oldest first."""
    cursor = conn.cursor(row_factory=class_row(Event))
    await cursor.execute(_TIMELINE, {"tenant": tenant_id, "submission": submission_id})
    return await cursor.fetchall()
