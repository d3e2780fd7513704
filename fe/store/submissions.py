"""Submissions: taking them in, what signing needs to know, and what clients and operators read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import class_row, dict_row, scalar_row

from fe.ecf.catalogue import EcfType, Environment, Host, Root
from fe.identifiers import ApiKeyId, CertificateId, ClientRequestId, SubmissionId, TenantId, TrackId, UserId
from fe.lifecycle import NumberFate, Status
from fe.store import numbers
from fe.store.postgres.arrays import blobs, days, int8s, intervals, jsonbs, moments, texts, uuids
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import NoNumber
from fe.store.postgres.rows import record_row
from fe.store.queue.inputs import Candidate, OutgoingDocument, SigningInput, TrackFacts
from fe.store.queue.outbox import Work, claims_of


@dataclass(frozen=True, slots=True)
class NewSubmission:
    """What the door knows of a submission. `draw_prefix` asks for the next number of that sequence."""

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


@dataclass(frozen=True, slots=True)
class Accepted:
    """What became of it. `outcome` is `accepted`, or `deduped`: then the rest tells of the first submission."""

    outcome: str
    submission_id: SubmissionId
    status: Status
    e_ncf: str | None
    body_matched: bool
    #: What a number that came with the document did to its sequence, if it moved it: how many it passed over that
    #: nobody had used, and how many are left.
    numbers_skipped: int | None = None
    numbers_left: int | None = None


_ACCEPT = """
    SELECT outcome, submission_id, status, e_ncf, body_matched, numbers_skipped, numbers_left
      FROM accept_submission(
        %(tenant)s, %(submission)s, %(at)s, %(environment)s, %(api_key)s, %(client_request)s, %(digest)s, %(format)s,
        %(root)s, %(type)s, %(e_ncf)s, %(issuer)s, %(buyer)s, %(as_user)s, %(as_user_id)s, %(original)b, %(draw)s)
"""


async def accept(conn: Conn, new: NewSubmission, at: datetime) -> Accepted:
    """Store the submission, its number and its first due step in one transaction and one round trip.

    Raises NoNumber when a number was to be drawn and there is none; then nothing is kept.
    """
    cursor = conn.cursor(row_factory=record_row(Accepted))
    await cursor.execute(
        _ACCEPT,
        {
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
        },
    )
    accepted = await cursor.fetchone()
    assert accepted is not None
    return accepted


# In the order of the function's parameters.
_ACCEPT_MANY = """
    SELECT outcome, submission_id, status, e_ncf, body_matched, numbers_skipped, numbers_left, refusal
      FROM accept_submissions(
        %(tenants)b::bigint[], %(submissions)b::uuid[], %(ats)b::timestamptz[], %(environments)b::text[],
        %(api_keys)b::text[], %(client_requests)b::text[], %(digests)b::bytea[], %(formats)b::text[], %(roots)b::text[],
        %(types)b::text[], %(e_ncfs)b::text[], %(issuers)b::text[], %(buyers)b::text[], %(as_users)b::text[],
        %(as_user_ids)b::uuid[], %(originals)b::bytea[], %(draws)b::text[])
     ORDER BY place
"""


async def accept_many(conn: Conn, batch: Sequence[tuple[NewSubmission, datetime]]) -> list[Accepted | NoNumber]:
    """Do for each, with its moment, what `accept` does, all in one transaction; answers in the same order.

    Two may have the same clientRequestId: the second is answered with the first. Whoever draws a number where there is
    none gets NoNumber as its answer. Raises for all or none: then nothing was kept, except where the link was lost.
    """
    news = [new for new, _ in batch]
    cursor = conn.cursor(binary=True)
    await cursor.execute(
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
        },
    )
    answers: list[Accepted | NoNumber] = []
    for new, (outcome, submission_id, status, *told, refusal) in zip(news, await cursor.fetchall(), strict=True):
        if outcome == "refused":
            answers.append(NoNumber(str(new.draw_prefix), refusal))
        else:
            answers.append(Accepted(outcome, submission_id, Status(status), *told))
    return answers


_SIGNING_INPUT = """
    SELECT s.format, s.root, s.ecf_type, s.e_ncf, s.as_user, s.as_user_id, d.content AS original, t.issuer,
           t.consumer_summary, q.expire_at AS sequence_expires
      FROM submissions AS s
      JOIN submission_documents AS d
        ON d.tenant_id = s.tenant_id AND d.submission_id = s.submission_id AND d.kind = 'original'
      JOIN tenants AS t ON t.tenant_id = s.tenant_id
      LEFT JOIN sequences AS q
        ON q.tenant_id = s.tenant_id AND q.environment = s.environment AND q.prefix = left(s.e_ncf, 3) AND q.is_active
     WHERE s.tenant_id = %(tenant)s AND s.submission_id = %(submission)s
       AND d.tenant_id = %(tenant)s AND d.submission_id = %(submission)s
"""

_CANDIDATES = """
    SELECT c.certificate_id, c.user_id, u.email, u.issuer_override, c.not_before, c.not_after
      FROM certificates AS c
      LEFT JOIN users AS u ON u.tenant_id = c.tenant_id AND u.user_id = c.user_id
     WHERE c.tenant_id = %(tenant)s AND c.retired_at IS NULL
"""


async def signing_input(conn: Conn, work: Work) -> SigningInput:
    """Read what signing this submission needs."""
    values = {"tenant": work.tenant_id, "submission": work.subject}
    async with conn.pipeline():
        signing_input = conn.cursor(row_factory=dict_row)
        await signing_input.execute(_SIGNING_INPUT, values)
        candidates = conn.cursor(row_factory=class_row(Candidate))
        await candidates.execute(_CANDIDATES, values)
    row = await signing_input.fetchone()
    assert row is not None, "an outbox row without its submission"
    return SigningInput(
        **row, candidates=tuple(await candidates.fetchall()), holders=await numbers.holders_before(conn, work)
    )


@dataclass(frozen=True, slots=True)
class SignedDocument:
    """What signing made. `sent` is what goes to the authority when that is not `signed` itself (a summary)."""

    certificate_id: CertificateId
    signed: bytes
    sent: bytes | None
    #: Which of the authority's hosts takes it.
    host: Host
    ecf_type: EcfType | None
    issuer_rnc: str | None
    buyer_rnc: str | None
    security_code: str | None
    qr_code_url: str | None
    ncf_expiration: date | None
    signed_at: datetime
    #: What was assumed in making it, as clients read it.
    remarks: Sequence[Mapping[str, object]] = ()


_SIGNED = """
    SELECT book_signed_batch(
             %(tenants)s::bigint[], %(subjects)s::uuid[], %(epochs)s::bigint[], %(at)s, %(certificates)s::uuid[],
             %(signed)b::bytea[], %(sent)s::bytea[], %(hosts)s::text[], %(types)s::text[], %(issuers)s::text[],
             %(buyers)s::text[], %(security_codes)s::text[], %(qrs)s::text[], %(expirations)s::date[],
             %(signed_ats)s::timestamptz[], %(remarks)s::jsonb[], %(leases)s::interval[])
"""

#: What became of a signed document: its claim was no longer ours; its number is another's, and it has ended; it waits
#: to be sent; or it may be sent now, by us (see sql/0013_batches.sql).
SignedAnswer = Literal["lost", "taken", "signed", "going on"]


async def signed(
    conn: Conn,
    works: Sequence[Work],
    documents: Sequence[SignedDocument],
    *,
    at: datetime,
    leases: Sequence[timedelta | None],
) -> list[SignedAnswer]:
    """Keep signed bytes and make sending them due, in one statement, all or nothing; tell what became of each.

    From here on its number is its own. Where another submission took the number a moment ago, this one ends instead, as
    `error`: the database alone can tell. With a lease it is claimed for the stage `send` in the same commit, for the
    same holder, with the next epoch, and its intent is committed too: `going on` says that it may be sent at once.
    """
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(
        _SIGNED,
        {
            **claims_of(works),
            "at": at,
            "certificates": uuids([document.certificate_id for document in documents]),
            "signed": blobs([document.signed for document in documents]),
            "sent": blobs([document.sent for document in documents]),
            "hosts": texts([document.host for document in documents]),
            "types": texts([document.ecf_type for document in documents]),
            "issuers": texts([document.issuer_rnc for document in documents]),
            "buyers": texts([document.buyer_rnc for document in documents]),
            "security_codes": texts([document.security_code for document in documents]),
            "qrs": texts([document.qr_code_url for document in documents]),
            "expirations": days([document.ncf_expiration for document in documents]),
            "signed_ats": moments([document.signed_at for document in documents]),
            "remarks": jsonbs([list(document.remarks) or None for document in documents]),
            "leases": intervals(leases),
        },
    )
    (answers,) = await cursor.fetchall()
    return list(answers)


def outgoing(signing_input: SigningInput, document: SignedDocument) -> OutgoingDocument:
    """What sending a document needs, of one that was just signed: what `outgoing_document` reads after its booking."""
    return OutgoingDocument(
        root=signing_input.root,
        e_ncf=signing_input.e_ncf,
        issuer_rnc=document.issuer_rnc,
        buyer_rnc=document.buyer_rnc,
        certificate_id=document.certificate_id,
        is_summary=document.sent is not None,
        content=document.signed if document.sent is None else document.sent,
    )


# `sent` is there when the authority gets something other than `signed`; it comes first in the alphabet, as it should.
_OUTGOING_DOCUMENT = """
    SELECT s.root, s.e_ncf, s.issuer_rnc, s.buyer_rnc, s.certificate_id, d.kind = 'sent' AS is_summary, d.content
      FROM submissions AS s
      JOIN submission_documents AS d
        ON d.tenant_id = s.tenant_id AND d.submission_id = s.submission_id AND d.kind IN ('sent', 'signed')
     WHERE s.tenant_id = %(tenant)s AND s.submission_id = %(submission)s
       AND d.tenant_id = %(tenant)s AND d.submission_id = %(submission)s
     ORDER BY d.kind
     LIMIT 1
"""


async def outgoing_document(conn: Conn, work: Work) -> OutgoingDocument:
    """Read what sending this submission needs."""
    cursor = conn.cursor(row_factory=record_row(OutgoingDocument))
    await cursor.execute(_OUTGOING_DOCUMENT, {"tenant": work.tenant_id, "submission": work.subject})
    row = await cursor.fetchone()
    assert row is not None, "a submission to be sent that was never signed"
    return row


_TRACK_FACTS = """
    SELECT s.track_id, s.e_ncf, s.certificate_id, s.number_fate = 'unknown' AS maybe_adopted
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s AND s.submission_id = %(submission)s
"""


async def track_facts(conn: Conn, work: Work) -> TrackFacts:
    """Read what following this submission needs. It has a trackId: it would be in another stage."""
    cursor = conn.cursor(row_factory=record_row(TrackFacts))
    await cursor.execute(_TRACK_FACTS, {"tenant": work.tenant_id, "submission": work.subject})
    row = await cursor.fetchone()
    assert row is not None, "an outbox row without its submission"
    return row


_INTEND = """
    SELECT intend_to_send_batch(%(tenants)s::bigint[], %(subjects)s::uuid[], %(epochs)s::bigint[], %(at)s,
                                %(leases)s::interval[], %(digests)b::bytea[])
"""

#: What is said to an intent: send; an earlier send was never resolved, ask first; or the claim is no longer ours.
IntentAnswer = Literal["go", "in doubt", "lost"]


async def intend_to_send(
    conn: Conn,
    works: Sequence[Work],
    *,
    at: datetime,
    leases: Sequence[timedelta],
    digests: Sequence[bytes],
) -> list[IntentAnswer]:
    """Commit intents to send and renew the leases, fenced by the epochs, in one statement, all or nothing.

    Only after this returned, and said `go`, may a byte of a document go out. Saying it again changes nothing.
    """
    cursor = conn.cursor(row_factory=scalar_row)
    values = {**claims_of(works), "at": at, "leases": intervals(leases), "digests": blobs(digests)}
    await cursor.execute(_INTEND, values)
    (answers,) = await cursor.fetchall()
    return list(answers)


@dataclass(frozen=True, slots=True)
class ReconcileFacts:
    """What asking the authority about a submission needs."""

    root: Root
    ecf_type: EcfType | None
    e_ncf: str | None
    issuer_rnc: str | None
    buyer_rnc: str | None
    certificate_id: CertificateId
    security_code: str | None
    track_id: TrackId | None
    #: Its trackId was found by its number and is not from a receipt: it may be another program's.
    is_adopted: bool
    is_summary: bool
    #: How many times its bytes may have reached the authority, since an operator last set it going.
    sends: int
    #: TrackIds of this number that belong to other submissions: a number may be used again after a rejection.
    foreign_track_ids: list[TrackId]


_RECONCILE_FACTS = """
    SELECT s.root, s.ecf_type, s.e_ncf, s.issuer_rnc, s.buyer_rnc, s.certificate_id, s.security_code, s.track_id,
           CASE WHEN s.number_fate <> 'unknown' THEN false
                ELSE EXISTS (SELECT 1
                               FROM submission_events AS e
                              WHERE e.tenant_id = %(tenant)s AND e.submission_id = %(submission)s
                                AND e.kind = 'received' AND e.detail ->> 'trackId' = s.track_id
                                AND e.detail -> 'reply' ->> 'adopted' = 'true') END AS is_adopted,
           s.root = 'RFCE' OR EXISTS (
               SELECT 1 FROM submission_documents AS d
                WHERE d.tenant_id = %(tenant)s AND d.submission_id = %(submission)s AND d.kind = 'sent') AS is_summary,
           (SELECT count(*) FROM sends AS x
             WHERE x.tenant_id = %(tenant)s AND x.submission_id = %(submission)s AND x.outcome <> 'not_sent'
               AND x.epoch > s.replayed_epoch
           )::int AS sends,
           ARRAY(SELECT other.track_id FROM submissions AS other
                  WHERE other.tenant_id = %(tenant)s AND other.e_ncf = s.e_ncf
                    AND other.submission_id <> s.submission_id AND other.track_id IS NOT NULL) AS foreign_track_ids
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s AND s.submission_id = %(submission)s
"""


async def reconcile_facts(conn: Conn, work: Work) -> ReconcileFacts:
    """Read what asking about this submission needs."""
    cursor = conn.cursor(row_factory=record_row(ReconcileFacts))
    await cursor.execute(_RECONCILE_FACTS, {"tenant": work.tenant_id, "submission": work.subject})
    row = await cursor.fetchone()
    assert row is not None, "an outbox row without its submission"
    return row


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
    warnings: list[dict[str, Any]] | None = None


_RECORD_COLUMNS = """submission_id, track_id, environment, status, e_ncf, qr_code_url, security_code, ncf_expiration,
           signed_at, number_fate, response, submitted_at, updated_at, client_request_id, format"""

# Looked up in the history, which is a handful of rows; before it is signed there is nothing to look for.
_WARNINGS = """
    CASE WHEN s.signed_at IS NOT NULL
         THEN (SELECT e.detail -> 'problems'
                 FROM submission_events AS e
                WHERE e.tenant_id = %(tenant)s AND e.submission_id = s.submission_id AND e.kind = 'remarked'
                ORDER BY e.seq DESC
                LIMIT 1)
    END AS warnings"""

_BY_ID = f"""
    SELECT {_RECORD_COLUMNS},{_WARNINGS}
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s AND s.submission_id = %(submission)s
"""

_BY_TRACK_ID = f"""
    SELECT {_RECORD_COLUMNS},{_WARNINGS}
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s AND s.track_id = ANY (%(spellings)s)
     ORDER BY s.submission_id DESC
     LIMIT 1
"""


async def find(conn: Conn, tenant_id: TenantId, track_or_id: SubmissionId | TrackId) -> Record | None:
    """Find a submission by its id, or else by the authority's trackId, which may look like a UUID, in capitals too."""
    cursor = conn.cursor(row_factory=record_row(Record))
    if isinstance(track_or_id, UUID):
        await cursor.execute(_BY_ID, {"tenant": tenant_id, "submission": track_or_id})
        if record := await cursor.fetchone():
            return record
    text = str(track_or_id)
    spellings = [text, text.upper()] if isinstance(track_or_id, UUID) else [text]
    await cursor.execute(_BY_TRACK_ID, {"tenant": tenant_id, "spellings": spellings})
    return await cursor.fetchone()


_XML = """
    SELECT kind, content
      FROM submission_documents
     WHERE tenant_id = %(tenant)s AND submission_id = %(submission)s AND kind IN ('signed', 'original')
     ORDER BY kind DESC
     LIMIT 1
"""


async def xml(
    conn: Conn, tenant_id: TenantId, submission_id: SubmissionId
) -> tuple[Literal["signed", "original"], bytes]:
    """Fetch the best document there is: (`signed`, bytes) or, before signing, (`original`, the client's bytes)."""
    cursor = await conn.execute(_XML, {"tenant": tenant_id, "submission": submission_id})
    row = await cursor.fetchone()
    assert row is not None, "a submission without its original"
    kind, content = row
    return kind, bytes(content)


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
