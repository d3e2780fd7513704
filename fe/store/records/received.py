"""Received: the documents that suppliers sent, and the acknowledgements they were given."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

from fe.ecf.catalogue import Environment
from fe.ecf.ids import LAST_ID, period_of_ids
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class ReceivedFacts:
    """The signed content of a received document."""

    ecf_type: str
    issuer_name: str
    buyer_rnc: str
    issued_on: date
    total: Decimal


@dataclass(frozen=True, slots=True)
class Said:
    """An acknowledgement that is about to be given, and what about. `document` None: no signature vouches for it.

    `facts` are there exactly when `reason` is 0: received.
    """

    environment: Environment
    digest: bytes
    reason: int
    issuer_rnc: str
    e_ncf: str
    signer: str | None
    presenter: str | None
    document: bytes | None
    acknowledgement: bytes
    at: datetime
    received_id: UUID
    facts: ReceivedFacts | None


_KEEP = """
    SELECT keep_received(
        %(tenant)s, %(environment)s, %(digest)b, %(reason)s, %(issuer_rnc)s, %(e_ncf)s, %(signer)s, %(presenter)s,
        %(document)b, %(acknowledgement)b, %(at)s, %(received)s, %(type)s, %(issuer_name)s, %(buyer_rnc)s,
        %(issued_on)s, %(total)s)
"""


async def keep(conn: Conn, tenant_id: TenantId, said: Said) -> bytes | None:
    """Keep it, and give the acknowledgement that counts: this one, or the first about the same bytes.

    None when the number is another document's already; then nothing was kept.
    """
    facts = said.facts
    cursor = await conn.execute(
        _KEEP,
        {
            "tenant": tenant_id,
            "environment": said.environment,
            "digest": said.digest,
            "reason": said.reason,
            "issuer_rnc": said.issuer_rnc,
            "e_ncf": said.e_ncf,
            "signer": said.signer,
            "presenter": said.presenter,
            "document": said.document,
            "acknowledgement": said.acknowledgement,
            "at": said.at,
            "received": said.received_id,
            "type": facts and facts.ecf_type,
            "issuer_name": facts and facts.issuer_name,
            "buyer_rnc": facts and facts.buyer_rnc,
            "issued_on": facts and facts.issued_on,
            "total": facts and facts.total,
        },
    )
    row = await cursor.fetchone()
    assert row is not None
    return None if row[0] is None else bytes(row[0])


_SAID_ABOUT = """
    SELECT a.acknowledgement
      FROM acknowledgements AS a
     WHERE a.tenant_id = %(tenant)s AND a.environment = %(environment)s AND a.digest = %(digest)b
       AND a.reason = %(reason)s
"""


async def said_about(
    conn: Conn, tenant_id: TenantId, environment: Environment, digest: bytes, reason: int
) -> bytes | None:
    """Find what was said before about these very bytes, with this reason (0: received)."""
    values = {"tenant": tenant_id, "environment": environment, "digest": digest, "reason": reason}
    cursor = await conn.execute(_SAID_ABOUT, values)
    row = await cursor.fetchone()
    return None if row is None else bytes(row[0])


_IS_RECEIVED = """
    SELECT EXISTS (
        SELECT 1
          FROM received AS r
         WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s AND r.issuer_rnc = %(issuer_rnc)s
           AND r.e_ncf = %(e_ncf)s)
"""


async def is_received(conn: Conn, tenant_id: TenantId, environment: Environment, issuer_rnc: str, e_ncf: str) -> bool:
    """Tell whether a document of this number was received. Only `keep` decides between two that come at once."""
    values = {"tenant": tenant_id, "environment": environment, "issuer_rnc": issuer_rnc, "e_ncf": e_ncf}
    cursor = await conn.execute(_IS_RECEIVED, values)
    return await cursor.fetchone() == (True,)


class ApprovalStatus(StrEnum):
    """The tenant's decision about a received document."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class ReceivedRecord:
    """A received document as the tenant sees it."""

    received_id: UUID
    environment: Environment
    issuer_rnc: str
    issuer_name: str
    e_ncf: str
    ecf_type: str
    buyer_rnc: str
    issued_on: date
    total: Decimal
    received_at: datetime
    approval_status: ApprovalStatus


# The tenant's decision is the last ACECF about the number that the authority accepted, read from the bytes that we
# signed: there an element is written in one way only.
_RECORD = """
    SELECT r.received_id, r.environment, r.issuer_rnc, r.issuer_name, r.e_ncf, r.ecf_type, r.buyer_rnc, r.issued_on,
           r.total, r.received_at, coalesce(word.said, 'pending') AS approval_status
      FROM {source} AS r
      LEFT JOIN LATERAL (
            SELECT CASE WHEN convert_from(d.content, 'UTF8') ~ '<Estado>[+]?0*1</Estado>' THEN 'approved'
                        ELSE 'rejected' END AS said
              FROM submissions AS s
              JOIN submission_documents AS d
                ON d.tenant_id = s.tenant_id AND d.submission_id = s.submission_id AND d.kind = 'signed'
             WHERE s.tenant_id = %(tenant)s AND d.tenant_id = %(tenant)s
               AND s.e_ncf = r.e_ncf COLLATE "default" AND s.root = 'ACECF'
               AND s.environment = r.environment AND s.issuer_rnc = r.issuer_rnc
               AND s.status IN ('Aceptado', 'Aceptado Condicional')
             ORDER BY s.submission_id DESC
             LIMIT 1) AS word ON true
"""

# Only what is asked for is in the statement: a condition that may be none makes the planner expect a handful of rows,
# and sort what are thousands, where a page is to be read off the key.
_CONDITIONS = {
    "environment": "r.environment = %(environment)s",
    "since": "r.received_id >= %(first)s",
    "until": "r.received_id <= %(last)s",
    "e_ncf": "r.e_ncf = %(e_ncf)s",
    "issuer_rnc": "r.issuer_rnc = %(issuer_rnc)s",
}


@dataclass(frozen=True, slots=True)
class ReceivedFilter:
    """Which documents: received in a period (both ends included, to the millisecond), of a number, of an issuer.

    And of an environment; None: of all.
    """

    since: datetime | None = None
    until: datetime | None = None
    e_ncf: str | None = None
    issuer_rnc: str | None = None
    environment: Environment | None = None

    def where(self) -> str:
        """Return the filter as a condition on `received AS r`, besides the tenant."""
        asked = [condition for name, condition in _CONDITIONS.items() if getattr(self, name) is not None]
        return " AND ".join(asked) or "true"

    def values(self, tenant_id: TenantId) -> dict[str, Any]:
        """Return the parameters of the condition."""
        first, last = period_of_ids(self.since, self.until)
        return {
            "tenant": tenant_id,
            "first": first,
            "last": last,
            "e_ncf": self.e_ncf,
            "issuer_rnc": self.issuer_rnc,
            "environment": self.environment,
        }


# The page first, and then what was said of each on it: what that costs hides from the planner what the page does.
_PAGE = """(
            SELECT r.*
              FROM received AS r
             WHERE r.tenant_id = %(tenant)s AND {where} AND r.received_id < %(below)s
             ORDER BY r.received_id DESC
             LIMIT %(limit)s OFFSET %(offset)s)"""


async def listed(
    conn: Conn, tenant_id: TenantId, chosen: ReceivedFilter, *, limit: int, offset: int = 0, below: UUID | None = None
) -> list[ReceivedRecord]:
    """List what was received, newest first, from below an id on."""
    found = conn.cursor(row_factory=record_row(ReceivedRecord))
    values = {**chosen.values(tenant_id), "below": below or LAST_ID, "limit": limit, "offset": offset}
    page = _RECORD.format(source=_PAGE.format(where=chosen.where())) + " ORDER BY r.received_id DESC"
    await found.execute(page.encode(), values)
    return await found.fetchall()


async def count(conn: Conn, tenant_id: TenantId, chosen: ReceivedFilter) -> int:
    """Count what was received."""
    cursor = await conn.execute(
        f"SELECT count(*) FROM received AS r WHERE r.tenant_id = %(tenant)s AND {chosen.where()}".encode(),
        chosen.values(tenant_id),
    )
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


_ONE = f"{_RECORD.format(source='received')} WHERE r.tenant_id = %(tenant)s AND r.received_id = %(received)s"


async def one(conn: Conn, tenant_id: TenantId, received_id: UUID) -> ReceivedRecord | None:
    """Find one received document."""
    found = conn.cursor(row_factory=record_row(ReceivedRecord))
    await found.execute(_ONE, {"tenant": tenant_id, "received": received_id})
    return await found.fetchone()


_OF_IDS = f"{_RECORD.format(source='received')} WHERE r.tenant_id = %(tenant)s AND r.received_id = ANY (%(ids)s)"


async def of_ids(conn: Conn, tenant_id: TenantId, ids: Sequence[UUID]) -> list[ReceivedRecord]:
    """Find the received documents of these ids, in any order."""
    found = conn.cursor(row_factory=record_row(ReceivedRecord))
    await found.execute(_OF_IDS, {"tenant": tenant_id, "ids": list(ids)})
    return await found.fetchall()


_BYTES = """
    SELECT a.document, a.acknowledgement
      FROM received AS r
      JOIN acknowledgements AS a
        ON a.tenant_id = r.tenant_id AND a.environment = r.environment AND a.digest = r.digest
     WHERE r.tenant_id = %(tenant)s AND a.tenant_id = %(tenant)s AND r.received_id = %(received)s AND a.reason = 0
"""


async def documents(conn: Conn, tenant_id: TenantId, received_id: UUID) -> tuple[bytes, bytes]:
    """Fetch the bytes of a document that was received, and of its acknowledgement."""
    cursor = await conn.execute(_BYTES, {"tenant": tenant_id, "received": received_id})
    row = await cursor.fetchone()
    assert row is not None
    return bytes(row[0]), bytes(row[1])
