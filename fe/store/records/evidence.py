"""Evidence: a submission's events with their chain of hashes, and its documents, as they lie in the database."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import Status
from fe.store.postgres.db import Conn


@dataclass(frozen=True, slots=True)
class ChainLink:
    """One event. `detail_text` is the very text that was hashed."""

    seq: int
    at: datetime
    kind: str
    detail_text: str
    hash: bytes


@dataclass(frozen=True, slots=True)
class Bytes:
    """A document that belongs to a submission."""

    kind: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Evidence:
    """All there is to prove: what the submission is said to be, what happened to it, and its documents."""

    tenant_id: TenantId
    submission_id: SubmissionId
    status: Status
    e_ncf: str | None
    links: tuple[ChainLink, ...]
    documents: tuple[Bytes, ...]


_SUBMISSION = """
    SELECT tenant_id, status, e_ncf
      FROM submissions
     WHERE submission_id = %(submission)s
"""

_LINKS = """
    SELECT seq, at, kind, detail::text AS detail_text, hash
      FROM submission_events
     WHERE tenant_id = %(tenant)s AND submission_id = %(submission)s
     ORDER BY seq
"""

_DOCUMENTS = """
    SELECT kind, content
      FROM submission_documents
     WHERE tenant_id = %(tenant)s AND submission_id = %(submission)s
     ORDER BY kind
"""


async def read(conn: Conn, submission_id: SubmissionId) -> Evidence | None:
    """Read the evidence of a submission of any tenant; None if there is no such submission.

    Run it in a transaction of its own: all reads are of one moment, while work may go on.
    """
    await conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    found = await (await conn.execute(_SUBMISSION, {"submission": submission_id})).fetchone()
    if found is None:
        return None
    tenant_id, status, e_ncf = found
    values = {"tenant": tenant_id, "submission": submission_id}
    links = conn.cursor(row_factory=class_row(ChainLink))
    await links.execute(_LINKS, values)
    documents = conn.cursor(row_factory=class_row(Bytes))
    await documents.execute(_DOCUMENTS, values)
    return Evidence(
        tenant_id,
        submission_id,
        Status(status),
        e_ncf,
        tuple(await links.fetchall()),
        tuple(await documents.fetchall()),
    )


_OF_TENANT = """
    SELECT submission_id
      FROM submissions
     WHERE tenant_id = %(tenant)s AND submission_id > %(after)s
       AND submission_id >= uuid_floor(%(since)s) AND submission_id < uuid_floor(%(until)s)
     ORDER BY submission_id
     LIMIT %(limit)s
"""


async def submissions_of(
    conn: Conn, tenant_id: TenantId, since: datetime, until: datetime, after: SubmissionId, limit: int = 500
) -> list[SubmissionId]:
    """Name a tenant's submissions of a period (`until` excluded), oldest first, a page at a time."""
    cursor = await conn.execute(
        _OF_TENANT, {"tenant": tenant_id, "since": since, "until": until, "after": after, "limit": limit}
    )
    return [row[0] for row in await cursor.fetchall()]


_THERE = "SELECT submission_id FROM submissions WHERE submission_id = ANY (%(submissions)s)"


async def which_are_there(conn: Conn, submissions: Sequence[UUID]) -> list[UUID]:
    """Return those of the submissions that exist, of any tenant."""
    cursor = await conn.execute(_THERE, {"submissions": list(submissions)})
    return [row[0] for row in await cursor.fetchall()]


_NUMBERS_THERE = """
    SELECT DISTINCT e_ncf FROM submissions WHERE tenant_id = %(tenant)s AND e_ncf = ANY (%(numbers)s)
"""


async def which_numbers_are_there(conn: Conn, tenant_id: TenantId, e_ncfs: Sequence[str]) -> list[str]:
    """Return those of the e-NCF that a tenant's submissions have."""
    cursor = await conn.execute(_NUMBERS_THERE, {"tenant": tenant_id, "numbers": list(e_ncfs)})
    return [row[0] for row in await cursor.fetchall()]
