"""Which documents a process signed, by the event that says so: for the day when its clock was wrong."""

from dataclasses import dataclass
from datetime import datetime

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import NumberFate, Status
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class SignedBy:
    """A document, and the process that signed it: its host, pid and a random part, joined by colons."""

    subject: SubmissionId
    environment: Environment
    e_ncf: str | None
    status: Status
    number_fate: NumberFate
    signed_at: datetime
    process: str


# By the time of acceptance: `signed_at` is told by the very clock that may be wrong.
_SIGNED_BY = """
    SELECT s.submission_id AS subject, s.environment, s.e_ncf, s.status, s.number_fate, s.signed_at,
           e.detail ->> 'process' AS process
      FROM submissions AS s
      JOIN submission_events AS e
        ON e.tenant_id = s.tenant_id AND e.submission_id = s.submission_id AND e.kind = 'signed'
     WHERE s.tenant_id = %(tenant)s
       AND s.submission_id >= uuid_floor(%(since)s) AND s.submission_id < uuid_floor(%(until)s)
       AND e.submission_id >= uuid_floor(%(since)s) AND e.submission_id < uuid_floor(%(until)s)
       AND (e.detail ->> 'process' = %(process)s OR starts_with(e.detail ->> 'process', %(process)s || ':'))
       AND (NOT %(rejected)s OR s.status = 'Rechazado')
     ORDER BY s.submission_id
"""


async def signed_by(
    conn: Conn, tenant_id: TenantId, process: str, since: datetime, until: datetime, *, rejected: bool = False
) -> list[SignedBy]:
    """List what a process signed of a tenant, of the documents accepted within the time; oldest first.

    `process` is the whole name, or its beginning up to a colon: the host, or host and pid.
    """
    cursor = conn.cursor(row_factory=record_row(SignedBy))
    values = {"tenant": tenant_id, "process": process, "since": since, "until": until, "rejected": rejected}
    await cursor.execute(_SIGNED_BY, values)
    return await cursor.fetchall()


_SIGNER = """
    SELECT detail ->> 'process' FROM submission_events
     WHERE tenant_id = %(tenant)s AND submission_id = %(submission)s AND kind = 'signed'
"""


async def signer_of(conn: Conn, tenant_id: TenantId, submission_id: SubmissionId) -> str | None:
    """Name the process that signed a document; None where that is not on record."""
    cursor = await conn.execute(_SIGNER, {"tenant": tenant_id, "submission": submission_id})
    row = await cursor.fetchone()
    return None if row is None else row[0]
