"""Received: the documents that suppliers sent, and the acknowledgements they were given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.ids import LAST_ID, period_of_ids
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.patterns import containing
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class ReceivedFacts:
    """The signed content of a received document. `kept`: what lists and months show (fe/month/received_facts.py)."""

    ecf_type: str
    issuer_name: str
    buyer_rnc: str
    issued_on: date
    total: Decimal
    kept: dict[str, str] = field(default_factory=dict)


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


# A decision that was made here is read by the keys of its round. Of others, which came through POST /invoices, the
# last ACECF about the number counts that the authority accepted. It is read from the bytes that we signed: there an
# element is written in one way only.
_WORD_SENT = """(
            SELECT CASE WHEN convert_from(d.content, 'UTF8') ~ '<Estado>[+]?0*1</Estado>' THEN 'approved'
                        ELSE 'rejected' END
              FROM submissions AS s
              JOIN submission_documents AS d
                ON d.tenant_id = s.tenant_id AND d.submission_id = s.submission_id AND d.kind = 'signed'
             WHERE s.tenant_id = %(tenant)s AND d.tenant_id = %(tenant)s
               AND s.e_ncf = r.e_ncf COLLATE "default" AND s.root = 'ACECF'
               AND s.environment = r.environment AND s.issuer_rnc = r.issuer_rnc
               AND s.status IN ('Aceptado', 'Aceptado Condicional')
             ORDER BY s.submission_id DESC
             LIMIT 1)"""
_WORD = f"""coalesce((
            SELECT CASE WHEN a.approved THEN 'approved' ELSE 'rejected' END
              FROM approvals AS a
              JOIN submissions AS s ON s.tenant_id = %(tenant)s AND s.submission_id = a.submission_id
             WHERE a.tenant_id = %(tenant)s AND a.received_id = r.received_id
               AND s.status IN ('Aceptado', 'Aceptado Condicional')
             ORDER BY a.round DESC
             LIMIT 1), {_WORD_SENT})"""
# Each receipt that waits is in `received_waiting`; one that was answered through POST /invoices may be in it still.
_IS_PENDING = """EXISTS (
            SELECT 1
              FROM received_waiting AS w
             WHERE w.tenant_id = %(tenant)s AND w.environment = r.environment AND w.received_id = r.received_id)
           AND NOT EXISTS (
            SELECT 1
              FROM submissions AS s
             WHERE s.tenant_id = %(tenant)s AND s.e_ncf = r.e_ncf COLLATE "default" AND s.root = 'ACECF'
               AND s.ecf_type IS NULL AND s.environment = r.environment AND s.issuer_rnc = r.issuer_rnc
               AND s.status IN ('Aceptado', 'Aceptado Condicional'))"""
_RECORD = """
    SELECT r.received_id, r.environment, r.issuer_rnc, r.issuer_name, r.e_ncf, r.ecf_type, r.buyer_rnc, r.issued_on,
           r.total, r.received_at, {word} AS approval_status
      FROM"""
#: The columns of a record; what they are read from follows, as `r`.
RECORD = _RECORD.format(word=f"coalesce({_WORD}, 'pending')")
# Where a decision is asked for, it is what each row has: it is not looked up a second time, nor planned for.
_RECORDS_OF = {status: _RECORD.format(word=f"'{status}'") for status in ApprovalStatus}

# Only what is asked for is in the statement: a condition that may be none makes the planner expect a handful of rows,
# and sort what are thousands, where a page is to be read off the key.
_IN_INDEX = {
    "environment": "r.environment = %(environment)s",
    "since": "r.received_id >= %(first)s",
    "until": "r.received_id <= %(last)s",
    "e_ncf": "r.e_ncf = %(e_ncf)s",
    "issuer_rnc": "r.issuer_rnc = %(issuer_rnc)s",
    # As a comparison of rows: for a range of days the planner expects a handful of rows, and sorts what are thousands.
    "issued_from": "(r.issued_on, r.received_id) >= (%(issued_from)s, %(lowest)s)",
    "issued_to": "r.issued_on <= %(issued_to)s",
}
_LOOKED_THROUGH = {
    "ecf_type": "r.ecf_type = %(ecf_type)s",
    "total_from": "r.total >= %(total_from)s",
    "total_to": "r.total <= %(total_to)s",
    "text": "(r.issuer_name ILIKE %(text)s OR r.e_ncf ILIKE %(text)s)",
}


@dataclass(frozen=True, slots=True)
class ReceivedFilter:
    """Which documents: received in a period (both ends included, to the millisecond), of a number, of an issuer.

    And of an environment; None: of all. Days of issue and amounts have both ends included; `text` is a part of the
    issuer's name or of the number.
    """

    since: datetime | None = None
    until: datetime | None = None
    e_ncf: str | None = None
    issuer_rnc: str | None = None
    environment: Environment | None = None
    ecf_type: EcfType | None = None
    issued_from: date | None = None
    issued_to: date | None = None
    total_from: Decimal | None = None
    total_to: Decimal | None = None
    text: str | None = None
    status: ApprovalStatus | None = None

    @property
    def is_by_day_of_issue(self) -> bool:
        """Whether days of issue are asked for: then the list is in their order."""
        return self.issued_from is not None or self.issued_to is not None

    def where(self) -> str:
        """Return the filter as a condition on `received AS r`, besides the tenant."""
        return f"{self.in_index()} AND {self.looked_through() or 'true'}"

    def in_index(self) -> str:
        """Return the part of the condition that an index answers."""
        return self._asked(_IN_INDEX) or "true"

    def looked_through(self) -> str:
        """Return the part of the condition that each row is looked at for; '' for none."""
        asked = self.of_content()
        if self.status is None:
            return asked
        of_status = _IS_PENDING if self.status is ApprovalStatus.PENDING else f"{_WORD} = '{self.status}'"
        return " AND ".join(filter(None, [asked, of_status]))

    def of_content(self) -> str:
        """Return `looked_through` without the decision."""
        return self._asked(_LOOKED_THROUGH)

    def _asked(self, conditions: Mapping[str, str]) -> str:
        return " AND ".join(condition for name, condition in conditions.items() if getattr(self, name) is not None)

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
            "ecf_type": self.ecf_type,
            "issued_from": self.issued_from,
            "lowest": UUID(int=0),
            "issued_to": self.issued_to,
            "total_from": self.total_from,
            "total_to": self.total_to,
            "text": None if self.text is None else containing(self.text),
        }


# The page first, and then what was said of each on it: what that costs hides from the planner what the page does.
_PAGE = """(
            SELECT r.*
              FROM {source} AS r
             WHERE {where}
             ORDER BY {order}
             LIMIT %(limit)s OFFSET %(offset)s)"""
_LOOK = """(
            SELECT r.*
              FROM received AS r
             WHERE r.tenant_id = %(tenant)s AND {where}
             ORDER BY {order}
             LIMIT %(look)s)"""
# The condition of rows after a document in the order of days of issue.
_AFTER_BY_DAY = """(r.issued_on, r.received_id) < (
                (SELECT b.issued_on FROM received AS b WHERE b.tenant_id = %(tenant)s AND b.received_id = %(below)s),
                %(below)s)"""


async def listed(
    conn: Conn,
    tenant_id: TenantId,
    chosen: ReceivedFilter,
    *,
    limit: int,
    offset: int = 0,
    below: UUID | None = None,
    look: int | None = None,
) -> list[ReceivedRecord]:
    """List received documents, newest first, from below an id on; by day of issue where such days are chosen.

    `look`: the most rows to look through for conditions without an index.
    """
    found = conn.cursor(row_factory=record_row(ReceivedRecord))
    values = {**chosen.values(tenant_id), "below": below or LAST_ID, "limit": limit, "offset": offset, "look": look}
    after, order = _order(chosen, below)
    if look is None:
        source, where = "received", f"r.tenant_id = %(tenant)s AND {chosen.where()} AND {after}"
    else:
        source = _LOOK.format(where=f"{chosen.in_index()} AND {after}", order=order)
        where = chosen.looked_through() or "true"
    record = RECORD if chosen.status is None else _RECORDS_OF[chosen.status]
    page = f"{record} {_PAGE.format(source=source, where=where, order=order)} AS r ORDER BY {order}"
    await found.execute(page.encode(), values, prepare=True)
    return await found.fetchall()


async def end_of_look(
    conn: Conn, tenant_id: TenantId, chosen: ReceivedFilter, *, look: int, below: UUID | None = None
) -> UUID | None:
    """Return the last of `look` rows that `listed` looked through; None where there were fewer."""
    after, order = _order(chosen, below)
    source = _LOOK.format(where=f"{chosen.in_index()} AND {after}", order=order)
    values = {**chosen.values(tenant_id), "below": below or LAST_ID, "look": look, "skipped": look - 1}
    cursor = await conn.execute(
        f"SELECT r.received_id FROM {source} AS r ORDER BY {order} OFFSET %(skipped)s LIMIT 1".encode(), values
    )
    row = await cursor.fetchone()
    return None if row is None else UUID(str(row[0]))


def _order(chosen: ReceivedFilter, below: UUID | None) -> tuple[str, str]:
    if chosen.is_by_day_of_issue:
        return ("true" if below is None else _AFTER_BY_DAY), "r.issued_on DESC, r.received_id DESC"
    return "r.received_id < %(below)s", "r.received_id DESC"


# Gives the same decisions as `_WORD`, for thousands of documents at once: their ids and numbers are looked up together.
# A comparison with `IS TRUE` or in a CASE is made with a hash table; as a join it might become a nested loop, because
# plans are made without knowing the values. Accepted submissions are one range of `submissions_that_approve`, of which
# no row is read; the bounds leave out the other months.
_COUNT_DECIDED = f"""
    WITH asked AS MATERIALIZED (
            SELECT r.received_id
              FROM received AS r
             WHERE r.tenant_id = %(tenant)s AND {{where}}),
         said AS MATERIALIZED (
            SELECT a.received_id, a.round, a.approved, a.submission_id
              FROM approvals AS a
             WHERE a.tenant_id = %(tenant)s AND a.received_id = ANY (ARRAY(SELECT k.received_id FROM asked AS k))),
         accepted AS MATERIALIZED (
            SELECT s.submission_id
              FROM submissions AS s
             WHERE s.tenant_id = %(tenant)s AND s.root = 'ACECF' AND s.status IN ('Aceptado', 'Aceptado Condicional')
               AND s.submission_id >= (SELECT x.submission_id FROM said AS x ORDER BY x.submission_id LIMIT 1)
               AND s.submission_id <= (SELECT x.submission_id FROM said AS x ORDER BY x.submission_id DESC LIMIT 1)),
         decided AS MATERIALIZED (
            SELECT DISTINCT ON (a.received_id) a.received_id, a.approved
              FROM said AS a
             WHERE (a.submission_id IN (SELECT c.submission_id FROM accepted AS c)) IS TRUE
             ORDER BY a.received_id, a.round DESC),
         others AS MATERIALIZED (
            SELECT r.environment, r.issuer_rnc, r.e_ncf
              FROM received AS r
             WHERE r.tenant_id = %(tenant)s
               AND r.received_id = ANY (ARRAY(
                    SELECT k.received_id
                      FROM asked AS k
                     WHERE (k.received_id IN (SELECT d.received_id FROM decided AS d)) IS NOT TRUE))),
         sent AS MATERIALIZED (
            SELECT s.e_ncf
              FROM submissions AS s
             WHERE s.tenant_id = %(tenant)s AND s.root = 'ACECF' AND s.status IN ('Aceptado', 'Aceptado Condicional')
               AND s.e_ncf = ANY (ARRAY(SELECT o.e_ncf COLLATE "default" FROM others AS o)))
    SELECT (SELECT count(*) FROM decided AS d WHERE d.approved = %(approved)s)
           + (SELECT count(*)
                FROM others AS r
               WHERE CASE WHEN r.e_ncf COLLATE "default" IN (SELECT n.e_ncf FROM sent AS n)
                          THEN {_WORD_SENT} = %(status)s ELSE false END)
"""


async def count(conn: Conn, tenant_id: TenantId, chosen: ReceivedFilter) -> int:
    """Count what was received."""
    counting = f"SELECT count(*) FROM received AS r WHERE r.tenant_id = %(tenant)s AND {chosen.where()}"
    values = chosen.values(tenant_id)
    if chosen.status in (ApprovalStatus.APPROVED, ApprovalStatus.REJECTED):
        counting = _COUNT_DECIDED.format(where=f"{chosen.in_index()} AND {chosen.of_content() or 'true'}")
        values |= {"status": chosen.status, "approved": chosen.status is ApprovalStatus.APPROVED}
    # Prepared at once: to plan it for every month costs as much as to run it.
    cursor = await conn.execute(counting.encode(), values, prepare=True)
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


_ONE = f"{RECORD} received AS r WHERE r.tenant_id = %(tenant)s AND r.received_id = %(received)s"


async def one(conn: Conn, tenant_id: TenantId, received_id: UUID) -> ReceivedRecord | None:
    """Find one received document."""
    found = conn.cursor(row_factory=record_row(ReceivedRecord))
    await found.execute(_ONE, {"tenant": tenant_id, "received": received_id})
    return await found.fetchone()


_OF_IDS = f"{RECORD} received AS r WHERE r.tenant_id = %(tenant)s AND r.received_id = ANY (%(ids)s)"


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


_FACTS = """
    SELECT a.received_id, a.amounts
      FROM received_amounts AS a
     WHERE a.tenant_id = %(tenant)s AND a.received_id = ANY (%(ids)s)
"""


async def facts(conn: Conn, tenant_id: TenantId, ids: Sequence[UUID]) -> dict[UUID, dict[str, str]]:
    """Return the amounts by tax, security code and signing time of received documents, where they were read."""
    cursor = await conn.execute(_FACTS, {"tenant": tenant_id, "ids": list(ids)})
    return {row[0]: row[1] for row in await cursor.fetchall()}


_SMALL_DOCUMENTS = """
    SELECT r.received_id, a.document
      FROM received AS r
      JOIN acknowledgements AS a
        ON a.tenant_id = r.tenant_id AND a.environment = r.environment AND a.digest = r.digest
     WHERE r.tenant_id = %(tenant)s AND a.tenant_id = %(tenant)s AND r.received_id = ANY (%(ids)s) AND a.reason = 0
       AND octet_length(a.document) <= %(largest)s
"""


async def small_documents(
    conn: Conn, tenant_id: TenantId, ids: Sequence[UUID], largest: int
) -> list[tuple[UUID, bytes]]:
    """Fetch the documents among these that have at most `largest` bytes."""
    cursor = await conn.execute(_SMALL_DOCUMENTS, {"tenant": tenant_id, "ids": list(ids), "largest": largest})
    return [(row[0], bytes(row[1])) for row in await cursor.fetchall()]
