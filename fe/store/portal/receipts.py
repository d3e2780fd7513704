"""Receipts of a company for its people: one environment, newest first, a page at a time.

Every page is read from an index, from the end of the one before. If no index fits the search, a limited number of rows
is scanned per page: then the page says how far it came, and the next continues there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from fe.ecf.catalogue import EcfType, Environment, Root
from fe.ecf.ids import LAST_ID, id_after, period_of_ids
from fe.identifiers import ClientRequestId, SubmissionId, TenantId, TrackId, UserId
from fe.lifecycle import NumberFate, Place, Status
from fe.store.postgres.db import Conn
from fe.store.postgres.patterns import containing
from fe.store.postgres.rows import record_row
from fe.store.records.submissions import ISSUED_ON

#: Rows on a page.
PAGE = 50
#: Rows that are looked through for one page at most; of each type where no type was asked for.
LOOK = 2000
_LOOK_OF_EACH = 500

#: Those that have an index of their own (sql/migrations/0003).
_IN_INDEX = frozenset({Status.REJECTED, Status.ERROR, Status.CONDITIONAL})
_ON_THEIR_WAY = frozenset({Status.QUEUED, Status.PROCESSING})


@dataclass(frozen=True, slots=True)
class ReceiptRow:
    """A submission as a line of the list. `is_given_up`: a dead letter, which to the client waits still."""

    submission_id: SubmissionId
    environment: Environment
    status: Status
    root: Root
    ecf_type: EcfType | None
    e_ncf: str | None
    buyer_rnc: str | None
    as_user: str | None
    track_id: TrackId | None
    client_request_id: ClientRequestId | None
    qr_code_url: str | None
    submitted_at: datetime
    is_given_up: bool
    issued_on: date | None
    itbis: Decimal | None
    #: By rate and by form of payment (fe/ecf/payments.py), as strings.
    amounts: dict[str, str] | None


@dataclass(frozen=True, slots=True)
class ReceiptFilter:
    """Which receipts of an environment. The period has both ends included; `user` is an address or a user's id.

    So have days of issue and totals; `text` is a part of the buyer's name or of the number.
    """

    environment: Environment
    since: datetime | None = None
    until: datetime | None = None
    state: Status | Literal[Place.DEAD_LETTER] | None = None
    ecf_type: EcfType | None = None
    buyer_rnc: str | None = None
    user: str | UserId | None = None
    issued_from: date | None = None
    issued_to: date | None = None
    total_from: Decimal | None = None
    total_to: Decimal | None = None
    text: str | None = None
    number_fate: NumberFate | None = None

    @property
    def is_by_day_of_issue(self) -> bool:
        """Whether the list is in the order of days of issue: they are asked for, and nothing that leaves fewer rows."""
        return self.is_of_days_of_issue and self.buyer_rnc is None and self.user is None

    @property
    def is_of_days_of_issue(self) -> bool:
        """Whether days of issue are asked for."""
        return self.issued_from is not None or self.issued_to is not None

    def ends(self, below: SubmissionId | None) -> tuple[UUID, UUID]:
        """The first id that is meant, and the one before which all that is meant was made."""
        first, last = period_of_ids(self.since, self.until)
        return first, min(below or LAST_ID, id_after(last))

    def values(self, tenant_id: TenantId) -> dict[str, Any]:
        """Return the parameters of the statements."""
        first, last = period_of_ids(self.since, self.until)
        return {
            "tenant": tenant_id,
            "first": first,
            "last": last,
            "lowest": UUID(int=0),
            "environment": self.environment,
            "types": list(EcfType),
            "state": self.state,
            "type": self.ecf_type,
            "buyer": self.buyer_rnc,
            "user": self.user,
            "issued_from": self.issued_from or date.min,
            "issued_to": self.issued_to or date.max,
            "total_from": self.total_from,
            "total_to": self.total_to,
            "text": None if self.text is None else containing(self.text),
            "number_fate": self.number_fate,
        }


@dataclass(frozen=True, slots=True)
class ReceiptPage:
    """Receipts, newest first. `older` is where the next page begins, None at the end.

    `looked_until`: what was asked for may be further back, too; so far it was looked for.
    """

    rows: Sequence[ReceiptRow]
    older: SubmissionId | None = None
    looked_until: SubmissionId | None = None


_COLUMNS = f"""s.submission_id, s.environment, s.status, s.root, s.ecf_type, s.e_ncf, s.buyer_rnc,
           coalesce(s.as_user, s.as_user_id::text) AS as_user, s.track_id, s.client_request_id, s.qr_code_url,
           s.submitted_at, coalesce(s.response ->> 'status' = 'dead_letter', false) AS is_given_up,
           {ISSUED_ON}, s.itbis, s.amounts"""

# Only one end: for a range with two unknown ends the planner expects a handful of rows and sorts thousands. Rows before
# the first day are cut off the page.
_STEP = """
                SELECT x.* FROM submissions AS x
                 WHERE x.tenant_id = %(tenant)s AND x.submission_id < %(below)s AND {chosen}
                 ORDER BY x.submission_id DESC
                 LIMIT {look}"""
# Ordered by the type, too: else the planner reads the key and filters, which in an environment with few of them reads
# the receipts of all others.
_OF_NO_TYPE = """
                SELECT x.* FROM submissions AS x
                 WHERE x.tenant_id = %(tenant)s AND x.submission_id < %(below)s AND x.environment = %(environment)s
                   AND x.ecf_type IS NULL
                 ORDER BY x.ecf_type DESC, x.submission_id DESC
                 LIMIT {look}"""
# The first day as a comparison of rows: for a range of days, too, the planner expects a handful of rows.
_BY_DAY = """
                SELECT x.* FROM submissions AS x
                 WHERE x.tenant_id = %(tenant)s AND x.issued_on <= %(issued_to)s
                   AND (x.issued_on, x.submission_id) >= (%(issued_from)s, %(lowest)s)
                   AND {after}{within}
                 ORDER BY x.issued_on DESC, x.submission_id DESC
                 LIMIT {look}"""
_AFTER = """(x.issued_on, x.submission_id) < (
                       (SELECT b.issued_on
                          FROM submissions AS b
                         WHERE b.tenant_id = %(tenant)s AND b.submission_id = %(below)s),
                       %(below)s)"""
# One look in the index for each type, for there a page of all types is not in the order of time.
_EVERY_TYPE = """
                SELECT e.* FROM (
                    SELECT y.* FROM unnest(%(types)s::text[]) AS t (code)
                     CROSS JOIN LATERAL ({of_type}) AS y
                     UNION ALL
                    ({of_none})) AS e
                 ORDER BY e.submission_id DESC
                 LIMIT {look}"""
# OFFSET 0 has each read by its key, whatever the planner thinks of the table.
_ON_WAY = """
                SELECT r.* FROM (
                    SELECT u.subject FROM (
                    {waiting}) AS u
                     ORDER BY u.subject DESC
                     LIMIT {look}) AS w
                 CROSS JOIN LATERAL (
                    SELECT x.* FROM submissions AS x
                     WHERE x.tenant_id = %(tenant)s AND x.submission_id = w.subject
                    OFFSET 0) AS r
                 ORDER BY r.submission_id DESC"""
_WAITING = """(SELECT o.subject FROM {table} AS o
                     WHERE o.tenant_id = %(tenant)s AND o.subject < %(below)s
                     ORDER BY o.subject DESC
                     LIMIT {look})"""

_IN_ENVIRONMENT = "x.environment = %(environment)s"
_RESIDUAL = {
    "environment": "s.environment = %(environment)s",
    "ecf_type": "s.ecf_type = %(type)s",
    "state": "s.status = %(state)s",
    "given_up": "s.response ->> 'status' = 'dead_letter'",
    "user": "s.as_user = %(user)s",
    "user_id": "s.as_user_id = %(user)s",
    "buyer_rnc": "s.buyer_rnc = %(buyer)s",
    "issued": "s.issued_on BETWEEN %(issued_from)s AND %(issued_to)s",
    "total_from": "s.total >= %(total_from)s",
    "total_to": "s.total <= %(total_to)s",
    "number_fate": "s.e_ncf IS NOT NULL AND s.number_fate = %(number_fate)s",
    "text": "(s.buyer_name ILIKE %(text)s OR s.e_ncf ILIKE %(text)s)",
}


_NEWEST_FIRST = "s.submission_id DESC"


@dataclass(frozen=True, slots=True)
class _Way:
    """Where rows are read off, at most `look` of them, and what is left to look at in each."""

    source: str
    look: int
    left: tuple[str, ...]
    order: str

    @property
    def where(self) -> str:
        return " AND ".join(_RESIDUAL[name] for name in self.left) or "true"


def _step(chosen: str, look: int) -> str:
    return _STEP.format(chosen=chosen, look=look)


def _way(chosen: ReceiptFilter, *, is_continued: bool) -> _Way:
    """Choose the index that leaves least to look through."""
    left = {
        "ecf_type": chosen.ecf_type is not None,
        "state": chosen.state is not None and chosen.state is not Place.DEAD_LETTER,
        "given_up": chosen.state is Place.DEAD_LETTER,
        "user": isinstance(chosen.user, str),
        "user_id": isinstance(chosen.user, UUID),
        "environment": True,
        "buyer_rnc": chosen.buyer_rnc is not None,
        "issued": chosen.is_of_days_of_issue,
        "total_from": chosen.total_from is not None,
        "total_to": chosen.total_to is not None,
        "text": chosen.text is not None,
        "number_fate": chosen.number_fate is not None,
    }

    def way(source: str, *covered: str, many: int = LOOK, order: str = _NEWEST_FIRST) -> _Way:
        rest = tuple(name for name, is_asked in left.items() if is_asked and name not in covered)
        look = many if rest else PAGE + 1
        return _Way(source.replace("{look}", str(look)), look, rest, order)

    if chosen.is_by_day_of_issue:
        within = "" if chosen.since is chosen.until is None else " AND x.submission_id BETWEEN %(first)s AND %(last)s"
        source = _BY_DAY.format(after=_AFTER if is_continued else "true", within=within, look="{look}")
        return way(source, "issued", order=f"s.issued_on DESC, {_NEWEST_FIRST}")
    if chosen.buyer_rnc is not None:
        return way(_step("x.buyer_rnc = %(buyer)s", LOOK), "buyer_rnc")
    if chosen.user is not None:
        name = "user_id" if isinstance(chosen.user, UUID) else "user"
        return way(_step(f"x.{'as_user_id' if name == 'user_id' else 'as_user'} = %(user)s", LOOK), name)
    if chosen.state in _IN_INDEX:
        # As a constant: the index is of these alone, and the planner is to know how many there are.
        rare = f"{_IN_ENVIRONMENT} AND x.status = '{chosen.state}'"
        return way(_step(rare, LOOK), "environment", "state")
    if chosen.state is Place.DEAD_LETTER:
        return way(_on_way("dead_letters"), "given_up")
    if chosen.state in _ON_THEIR_WAY:
        return way(_on_way("outbox", "dead_letters"))
    if chosen.ecf_type is not None:
        return way(_step(f"{_IN_ENVIRONMENT} AND x.ecf_type = %(type)s", LOOK), "environment", "ecf_type")
    of_each = _LOOK_OF_EACH if any(asked for name, asked in left.items() if name != "environment") else PAGE + 1
    every = _EVERY_TYPE.format(
        of_type=_step(f"{_IN_ENVIRONMENT} AND x.ecf_type = t.code", of_each),
        of_none=_OF_NO_TYPE.replace("{look}", str(of_each)),
        look=of_each,
    )
    return way(every, "environment", many=_LOOK_OF_EACH)


def _on_way(*tables: str) -> str:
    waiting = "\n                     UNION ALL\n                    ".join(
        _WAITING.format(table=table, look=LOOK) for table in tables
    )
    return _ON_WAY.format(waiting=waiting, look=LOOK)


async def page(
    conn: Conn, tenant_id: TenantId, chosen: ReceiptFilter, *, below: SubmissionId | None = None
) -> ReceiptPage:
    """List one page: what was asked for and came before the submission `below`."""
    way = _way(chosen, is_continued=below is not None)
    first, top = chosen.ends(below)
    if chosen.is_by_day_of_issue:
        first, top = UUID(int=0), below or LAST_ID
    values = {**chosen.values(tenant_id), "below": top}
    cursor = conn.cursor(row_factory=record_row(ReceiptRow))
    await cursor.execute(
        f"""SELECT {_COLUMNS}
              FROM ({way.source}) AS s
             WHERE {way.where}
             ORDER BY {way.order}
             LIMIT {PAGE + 1}""".encode(),
        values,
        prepare=True,  # planned once for all months: that costs as much as to run it
    )
    seen = await cursor.fetchall()
    rows = [row for row in seen if row.submission_id >= first]
    if len(rows) > PAGE:
        return ReceiptPage(rows[:PAGE], rows[PAGE - 1].submission_id)
    end = await _end_of_look(conn, way, values) if way.left and len(rows) == len(seen) else None
    if end is not None and end < first:
        end = None
    return ReceiptPage(rows, end, end)


async def _end_of_look(conn: Conn, way: _Way, values: dict[str, Any]) -> SubmissionId | None:
    """The last row that was looked at, where there may be more behind it."""
    cursor = await conn.execute(
        f"""SELECT s.submission_id
              FROM ({way.source}) AS s
             ORDER BY {way.order}
            OFFSET {way.look - 1}
             LIMIT 1""".encode(),
        values,
    )
    row = await cursor.fetchone()
    return None if row is None else SubmissionId(row[0])


_SEARCH = f"""
    WITH found AS (
        SELECT a.submission_id
          FROM submissions AS a
         WHERE a.tenant_id = %(tenant)s AND a.submission_id = %(id)s
         UNION
        SELECT b.submission_id
          FROM submissions AS b
         WHERE b.tenant_id = %(tenant)s AND b.track_id = ANY (%(spellings)s)
         UNION
        (SELECT c.submission_id
           FROM submissions AS c
          WHERE c.tenant_id = %(tenant)s AND c.e_ncf = %(number)s
          ORDER BY c.submission_id DESC
          LIMIT {PAGE})
         UNION
        SELECT d.submission_id
          FROM client_requests AS d
         WHERE d.tenant_id = %(tenant)s AND d.environment = ANY (%(environments)s) AND d.client_request_id = %(name)s
    )
    SELECT {_COLUMNS}
      FROM found AS f
     CROSS JOIN LATERAL (
        SELECT x.* FROM submissions AS x
         WHERE x.tenant_id = %(tenant)s AND x.submission_id = f.submission_id
        OFFSET 0) AS s
     ORDER BY s.submission_id DESC
     LIMIT {PAGE}
"""


async def search(conn: Conn, tenant_id: TenantId, name: str) -> Sequence[ReceiptRow]:
    """Find what goes by an e-NCF, a taxLogId, a trackId or a clientRequestId, in any environment, newest first."""
    values = {
        "tenant": tenant_id,
        "id": _uuid(name),
        "spellings": [name, name.upper()],
        "number": name.upper(),
        "name": name,
        "environments": list(Environment),
    }
    cursor = conn.cursor(row_factory=record_row(ReceiptRow))
    await cursor.execute(_SEARCH, values)
    return await cursor.fetchall()


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


_NEWEST = f"""
    SELECT {_COLUMNS}
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s
     ORDER BY s.submission_id DESC
     LIMIT %(limit)s
"""


async def newest(conn: Conn, tenant_id: TenantId, limit: int) -> Sequence[ReceiptRow]:
    """List what was handed in last, in all environments."""
    cursor = conn.cursor(row_factory=record_row(ReceiptRow))
    await cursor.execute(_NEWEST, {"tenant": tenant_id, "limit": limit})
    return await cursor.fetchall()


#: Of a document, what its head is in: issuer and buyer come before the lines.
_HEAD = 4096
_HEADS = f"""
    SELECT a.id, d.head
      FROM unnest(%(ids)s::uuid[]) AS a (id)
     CROSS JOIN LATERAL (
        SELECT substring(x.content FROM 1 FOR {_HEAD}) AS head
          FROM submission_documents AS x
         WHERE x.tenant_id = %(tenant)s AND x.submission_id = a.id AND x.kind = 'signed'
        OFFSET 0) AS d
"""
#: Of a document, what the reference of a note is in: before it come the lines, after it the signature.
_TAIL = 8192
_TAILS = f"""
    SELECT a.id, d.tail
      FROM unnest(%(ids)s::uuid[]) AS a (id)
     CROSS JOIN LATERAL (
        SELECT substring(x.content FROM greatest(1, octet_length(x.content) - {_TAIL})) AS tail
          FROM submission_documents AS x
         WHERE x.tenant_id = %(tenant)s AND x.submission_id = a.id AND x.kind = 'signed'
        OFFSET 0) AS d
"""


async def heads(conn: Conn, tenant_id: TenantId, ids: Sequence[SubmissionId]) -> dict[SubmissionId, bytes]:
    """Fetch the first bytes of the signed documents of submissions, as far as they are signed."""
    cursor = await conn.execute(_HEADS, {"tenant": tenant_id, "ids": list(ids)}, binary=True)
    return {SubmissionId(row[0]): bytes(row[1]) for row in await cursor.fetchall()}


async def tails(conn: Conn, tenant_id: TenantId, ids: Sequence[SubmissionId]) -> dict[SubmissionId, bytes]:
    """Fetch the last bytes of the signed documents of submissions, as far as they are signed."""
    cursor = await conn.execute(_TAILS, {"tenant": tenant_id, "ids": list(ids)}, binary=True)
    return {SubmissionId(row[0]): bytes(row[1]) for row in await cursor.fetchall()}
