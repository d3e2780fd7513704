"""Reads and writes of the steps: their inputs, signed documents, and the intent to send."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from psycopg.rows import dict_row, scalar_row

from fe.ecf.catalogue import EcfType, Host, Root
from fe.ecf.receipt_facts import UNKNOWN, FactsToPrint
from fe.identifiers import CertificateId, TrackId
from fe.store.postgres.arrays import blobs, booleans, days, int8s, intervals, jsonbs, moments, texts, uuids
from fe.store.postgres.db import Conn
from fe.store.postgres.engine import Calling
from fe.store.postgres.rows import record_row
from fe.store.queue.inputs import (
    AcceptedInput,
    Holder,
    OutgoingDocument,
    ParallelInput,
    SigningInput,
    TrackFacts,
    read_signatory,
)
from fe.store.queue.outbox import Work, claims_of
from fe.store.records import numbers, tenant_context

_SIGNING_INPUT = """
    WITH whose AS MATERIALIZED (
        SELECT t.issuer, t.consumer_summary FROM tenants AS t WHERE t.tenant_id = %(tenant)s
    )
    SELECT s.format, s.root, s.ecf_type, s.e_ncf, s.as_user, s.as_user_id, d.content AS original, w.issuer,
           w.consumer_summary,
           (SELECT (array_agg(
                        expiry_of_number(s.e_ncf, q.min_number, q.max_number, q.expire_at, q.former_ranges)
                        ORDER BY number_lies(s.e_ncf, q.prefix, q.min_number, q.max_number, q.former_ranges)))[1]
              FROM sequences AS q
             WHERE q.tenant_id = s.tenant_id AND q.environment = s.environment AND q.is_active
               AND left(q.prefix, 3) = left(s.e_ncf, 3)
               AND number_lies(s.e_ncf, q.prefix, q.min_number, q.max_number, q.former_ranges) IS NOT NULL
           ) AS sequence_expires
      FROM submissions AS s
      JOIN submission_documents AS d
        ON d.tenant_id = s.tenant_id AND d.submission_id = s.submission_id AND d.kind = 'original'
     CROSS JOIN whose AS w
     WHERE s.tenant_id = %(tenant)s AND s.submission_id = %(submission)s
       AND d.tenant_id = %(tenant)s AND d.submission_id = %(submission)s
"""


async def signing_input(conn: Conn, work: Work) -> SigningInput:
    """Read what signing this submission needs."""
    values = {"tenant": work.tenant_id, "submission": work.subject}
    signing_input = conn.cursor(row_factory=dict_row)
    await signing_input.execute(_SIGNING_INPUT, values)
    row = await signing_input.fetchone()
    assert row is not None, "an outbox row without its submission"
    candidates = await tenant_context.candidates(conn, work.tenant_id)
    # Interned, as the claim brings them (claim.py).
    row |= {"root": Root(row["root"]), "ecf_type": None if row["ecf_type"] is None else EcfType(row["ecf_type"])}
    return SigningInput(**row, candidates=tuple(candidates), holders=await numbers.holders_before(conn, work))


_BESIDE = """
    SELECT place, tenant_id, sequence_expires, holders, holders_issuers, signatory
      FROM input_to_sign(%(tenants)s::bigint[], %(subjects)s::uuid[], %(environments)s::text[], %(e_ncfs)s::text[],
                         %(owned)s::boolean[])
"""


async def beside(conn: Conn, works: Sequence[tuple[Work, AcceptedInput]]) -> list[ParallelInput]:
    """Read the further inputs for signing these, in their order, in one round trip."""
    cursor = await conn.execute(
        _BESIDE,
        {
            "tenants": int8s([work.tenant_id for work, _ in works]),
            "subjects": uuids([work.subject for work, _ in works]),
            "environments": texts([work.environment for work, _ in works]),
            "e_ncfs": texts([taken_in.e_ncf for _, taken_in in works]),
            "owned": booleans([taken_in.root in (Root.ECF, Root.RFCE) for _, taken_in in works]),
        },
        binary=True,
    )
    rows = await cursor.fetchall()
    signatories = {row[1]: read_signatory(row[5]) for row in rows if row[0] == 0}
    found = {
        place: ParallelInput(
            signatories[tenant_id], expires, tuple(map(Holder, holders, issuers)) if holders is not None else ()
        )
        for place, tenant_id, expires, holders, issuers, _ in rows
        if place > 0
    }
    return [found[place] for place in range(1, len(works) + 1)]


@dataclass(frozen=True, slots=True)
class SignedDocument:
    """A signed document. `sent` is set when the bytes sent differ from `signed` (a summary)."""

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
    #: Assumptions made for it, as clients read them.
    remarks: Sequence[Mapping[str, object]] = ()
    facts: FactsToPrint = UNKNOWN
    #: Amounts by tax and by form of payment (fe/ecf/tax_amounts.py, payments.py).
    amounts: Mapping[str, str] | None = None


_SIGNED = Calling.of(
    "book_signed_batch",
    """
    SELECT book_signed_batch(
             %(tenants)s::bigint[], %(subjects)s::uuid[], %(epochs)s::bigint[], %(at)s, %(certificates)s::uuid[],
             %(signed)b::bytea[], %(sent)s::bytea[], %(hosts)s::text[], %(types)s::text[], %(issuers)s::text[],
             %(buyers)s::text[], %(security_codes)s::text[], %(qrs)s::text[], %(expirations)s::date[],
             %(signed_ats)s::timestamptz[], %(remarks)s::jsonb[], %(leases)s::interval[])
    """,
)

#: Result for a signed document: claim lost; number taken, so it has ended; waiting to be sent; or sent now by us.
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
    await _SIGNED.run(
        cursor,
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
            "remarks": jsonbs([_beside(document) for document in documents]),
            "leases": intervals(leases),
        },
    )
    (answers,) = await cursor.fetchall()
    return list(answers)


def _beside(document: SignedDocument) -> dict[str, object] | None:
    """Write facts and remarks into one parameter, because the release before calls the same function."""
    facts = {name: str(value) for name, value in document.facts._asdict().items() if value is not None}
    beside: dict[str, object] = {"facts": facts} if facts else {}
    if document.amounts is not None:
        beside["amounts"] = document.amounts
    if document.remarks:
        beside["problems"] = list(document.remarks)
    return beside or None


def outgoing(signing_input: SigningInput, document: SignedDocument) -> OutgoingDocument:
    """Return the input of sending a document just signed, as `outgoing_document` would read it."""
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


_INTEND = Calling.of(
    "intend_to_send_batch",
    """
    SELECT intend_to_send_batch(%(tenants)s::bigint[], %(subjects)s::uuid[], %(epochs)s::bigint[], %(at)s,
                                %(leases)s::interval[], %(digests)b::bytea[])
    """,
)

#: Answers to an intent: send; ask first, because an earlier send was never resolved; or the claim is lost.
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
    await _INTEND.run(cursor, values)
    (answers,) = await cursor.fetchall()
    return list(answers)


@dataclass(frozen=True, slots=True)
class ReconcileFacts:
    """The input of reconciling."""

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
    #: How many times its bytes may have reached the authority, since an operator last set it going; and ever.
    sends: int
    all_sends: int
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
           went_out.since_replay::int AS sends, went_out.ever::int AS all_sends,
           ARRAY(SELECT other.track_id FROM submissions AS other
                  WHERE other.tenant_id = %(tenant)s AND other.e_ncf = s.e_ncf
                    AND other.submission_id <> s.submission_id AND other.track_id IS NOT NULL) AS foreign_track_ids
      FROM submissions AS s
     CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE x.epoch > s.replayed_epoch) AS since_replay, count(*) AS ever
                           FROM sends AS x
                          WHERE x.tenant_id = %(tenant)s AND x.submission_id = %(submission)s
                            AND x.outcome <> 'not_sent') AS went_out
     WHERE s.tenant_id = %(tenant)s AND s.submission_id = %(submission)s
"""


async def reconcile_facts(conn: Conn, work: Work) -> ReconcileFacts:
    """Read what asking about this submission needs."""
    cursor = conn.cursor(row_factory=record_row(ReconcileFacts))
    await cursor.execute(_RECONCILE_FACTS, {"tenant": work.tenant_id, "submission": work.subject})
    row = await cursor.fetchone()
    assert row is not None, "an outbox row without its submission"
    return row
