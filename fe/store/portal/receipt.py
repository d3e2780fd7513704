"""One receipt with all that is known of it: its row, its documents, and what it belongs to."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from fe.ecf.catalogue import EcfType, Environment, Root
from fe.ecf.ids import new_id
from fe.identifiers import CertificateId, ClientRequestId, PersonId, SubmissionId, TenantId, TrackId, UserId
from fe.lifecycle import NumberFate, Status
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row
from fe.store.records.metadata import OF_SUBMISSION
from fe.store.records.modes import IS_DEFERRED


@dataclass(frozen=True, slots=True)
class ReceiptRecord:
    """A submission as its page shows it. `warnings` are problems that did not keep it from being signed."""

    submission_id: SubmissionId
    environment: Environment
    status: Status
    root: Root
    ecf_type: EcfType | None
    e_ncf: str | None
    issuer_rnc: str | None
    buyer_rnc: str | None
    as_user: str | None
    as_user_id: UserId | None
    certificate_id: CertificateId | None
    format: str
    track_id: TrackId | None
    client_request_id: ClientRequestId | None
    security_code: str | None
    qr_code_url: str | None
    ncf_expiration: date | None
    signed_at: datetime | None
    number_fate: NumberFate
    response: dict[str, Any] | None
    submitted_at: datetime
    updated_at: datetime
    warnings: list[dict[str, Any]] | None
    first_answer_at: datetime | None = None
    verdict_at: datetime | None = None
    #: As in store/records/submissions.py.
    is_deferred: bool = False
    metadata: dict[str, str] | None = None


#: How far the clocks of two processes are apart at most.
_CLOCKS_DIFFER = timedelta(minutes=5)

_ONE = f"""
    SELECT s.submission_id, s.environment, s.status, s.root, s.ecf_type, s.e_ncf, s.issuer_rnc, s.buyer_rnc, s.as_user,
           s.as_user_id, s.certificate_id, s.format, s.track_id, s.client_request_id, s.security_code, s.qr_code_url,
           s.ncf_expiration, s.signed_at, s.number_fate, s.response, s.submitted_at, s.updated_at, s.first_answer_at,
           s.verdict_at,
           {IS_DEFERRED},
           {OF_SUBMISSION},
           (SELECT e.detail -> 'problems'
              FROM submission_events AS e
             WHERE e.tenant_id = %(tenant)s AND e.submission_id = %(submission)s AND e.kind = 'remarked'
             ORDER BY e.seq DESC
             LIMIT 1) AS warnings
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s AND s.submission_id = %(submission)s
"""


async def one(conn: Conn, tenant_id: TenantId, submission_id: SubmissionId) -> ReceiptRecord | None:
    """Find a submission."""
    cursor = conn.cursor(row_factory=record_row(ReceiptRecord))
    await cursor.execute(_ONE, {"tenant": tenant_id, "submission": submission_id})
    return await cursor.fetchone()


@dataclass(frozen=True, slots=True)
class Relative:
    """Another submission of the same number."""

    submission_id: SubmissionId
    environment: Environment
    status: Status
    root: Root
    e_ncf: str
    issuer_rnc: str | None
    number_fate: NumberFate
    submitted_at: datetime


_OF_NUMBER = """
    SELECT s.submission_id, s.environment, s.status, s.root, s.e_ncf, s.issuer_rnc, s.number_fate, s.submitted_at
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s AND s.e_ncf = %(e_ncf)s AND s.environment = %(environment)s
     ORDER BY s.submission_id DESC
     LIMIT 20
"""


async def of_number(conn: Conn, tenant_id: TenantId, environment: Environment, e_ncf: str) -> Sequence[Relative]:
    """List the submissions that have a number in an environment, newest first, at most 20."""
    cursor = conn.cursor(row_factory=record_row(Relative))
    await cursor.execute(_OF_NUMBER, {"tenant": tenant_id, "environment": environment, "e_ncf": e_ncf})
    return await cursor.fetchall()


# Ids of forms are made in the order of time: the last one of a person is the end of a range of the primary key.
_LAST_OF_PERSON = """
    SELECT s.ecf_type, s.as_user_id, d.content,
           (SELECT min(substr(q.prefix, 5))
              FROM sequences AS q
             WHERE q.tenant_id = %(tenant)s AND q.environment = %(environment)s AND left(q.prefix, 3) = left(s.e_ncf, 3)
               AND substr(s.e_ncf, 4)::bigint BETWEEN q.min_number AND q.max_number) AS sequence
      FROM (SELECT x.*
              FROM (SELECT c.client_request_id, c.submission_id
                      FROM client_requests AS c
                     WHERE c.tenant_id = %(tenant)s AND c.environment = %(environment)s
                       AND c.client_request_id > %(first)s AND c.client_request_id < %(last)s
                     ORDER BY c.client_request_id DESC
                     LIMIT 20) AS l
             CROSS JOIN LATERAL (
                SELECT y.* FROM submissions AS y
                 WHERE y.tenant_id = %(tenant)s AND y.submission_id = l.submission_id
                OFFSET 0) AS x
             WHERE x.ecf_type NOT IN ('33', '34')
             ORDER BY x.ecf_type = ANY(%(types)s) DESC, l.client_request_id DESC
             LIMIT 1) AS s
     CROSS JOIN LATERAL (
        SELECT y.* FROM submission_documents AS y
         WHERE y.tenant_id = %(tenant)s AND y.submission_id = s.submission_id AND y.kind = 'original'
        OFFSET 0) AS d
     WHERE s.format = 'structured' AND octet_length(d.content) < 65536
"""


async def last_of_person(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    person_id: PersonId,
    now: datetime,
    types: Collection[EcfType],
) -> tuple[EcfType, UserId | None, bytes, str | None] | None:
    """Find the last receipt that a person issued with the portal: type, user, document, and name of its sequence.

    Among the last 20 one of `types` comes first, and a note is none: after a return the next sale begins as the last
    one did. A long receipt is left out.
    """
    ends = {"first": f"portal:{person_id}:", "last": f"portal:{person_id}:{new_id(now + _CLOCKS_DIFFER)}"}
    values = {"tenant": tenant_id, "environment": environment, "types": [*types], **ends}
    row = await (await conn.execute(_LAST_OF_PERSON, values, binary=True)).fetchone()
    return None if row is None or row[0] is None else (EcfType(row[0]), row[1], bytes(row[2]), row[3])
