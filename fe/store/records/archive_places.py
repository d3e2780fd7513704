"""Documents that left the database: what keeps a month from leaving, where the archive has them, and their way back."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from fe.ecf.catalogue import Environment
from fe.ecf.ids import first_id, id_after
from fe.identifiers import SubmissionId, TenantId
from fe.month.period import YearMonth
from fe.store.postgres.arrays import blobs, int8s, texts, uuids
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row
from fe.store.records.archive import ISSUED, Package
from fe.store.records.archive_looks import archived

#: Types whose documents stay: statements search the text of notes, and the 606 is read off purchases.
STAY = ("33", "34", "41", "43", "47")
#: The time for emptying a month. It has to be one statement, and reads the month's documents of all tenants.
_RELEASE_LIMIT = "30min"


@dataclass(frozen=True, slots=True)
class IdSpan:
    """Ids of a partition's month, which is one of UTC: from `first`, below `end`."""

    first: UUID
    end: UUID

    @classmethod
    def of(cls, month: YearMonth) -> "IdSpan":
        """Return the ids of a month."""
        after = YearMonth(month.year + month.month // 12, month.month % 12 + 1)
        return cls(*(first_id(datetime.fromisoformat(f"{one.first}T00:00:00Z")) for one in (month, after)))


@dataclass(frozen=True, slots=True)
class MonthState:
    """Receipts of a tenant's month by what keeps their documents in the database."""

    receipts: int = 0
    #: Not at their end.
    open: int = 0
    #: With a verdict that is younger than the limit.
    young: int = 0
    #: With a verdict, and in no stored package, nor refused by the format.
    unarchived: int = 0
    #: With a mail or a delivery to the buyer that is not over.
    handing: int = 0

    def __add__(self, other: "MonthState") -> "MonthState":
        return MonthState(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))


_RECEIPTS = """
    SELECT s.submission_id, s.verdict_at,
           s.status NOT IN ('Aceptado', 'Aceptado Condicional', 'Rechazado', 'error')
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s AND s.submission_id >= %(first)s AND s.submission_id < %(end)s
     ORDER BY s.submission_id
     LIMIT %(limit)s
"""
_HANDING = """
    SELECT m.subject FROM mails AS m
     WHERE m.tenant_id = %(tenant)s AND m.subject = ANY (%(ids)s) AND m.run_at < 'infinity'
     UNION
    SELECT o.subject FROM counterparty_outbox AS o
     WHERE o.tenant_id = %(tenant)s AND o.subject = ANY (%(ids)s)
"""


async def month_state(
    conn: Conn, tenant_id: TenantId, span: IdSpan, limit: datetime, *, page: int
) -> tuple[MonthState, UUID | None]:
    """Count a page of a tenant's receipts of a month by what keeps them in the database.

    Returns also the first id of the next page; None at the end.
    """
    values: dict[str, Any] = {"tenant": tenant_id, "first": span.first, "end": span.end, "limit": page}
    rows = await (await conn.execute(_RECEIPTS, values)).fetchall()
    values["ids"] = uuids([one for one, _, _ in rows])
    known = await archived(conn, values, ISSUED, [one for one, _, _ in rows])
    settled = {one for one, item in known.items() if item.is_stored or item.is_refused}
    handing = await (await conn.execute(_HANDING, values)).fetchall()
    verdicts = {one: at for one, at, _ in rows if at is not None}
    state = MonthState(
        len(rows),
        open=sum(is_open for _, _, is_open in rows),
        young=sum(at >= limit for at in verdicts.values()),
        unarchived=len(verdicts.keys() - settled),
        handing=len(handing),
    )
    return state, id_after(rows[-1][0]) if len(rows) == page else None


_NUMBERS = """
    SELECT i.evidence_id, i.environment::text, i.number
      FROM archive_items AS i
     WHERE i.tenant_id = %(tenant)s AND i.part = 'issued'
       AND i.evidence_id >= %(first)s AND i.evidence_id < %(end)s
     ORDER BY i.evidence_id
     LIMIT %(limit)s
"""


async def packages_of(
    conn: Conn, tenant_id: TenantId, span: IdSpan, *, page: int
) -> tuple[set[tuple[Environment, int]], UUID | None]:
    """Return environments and numbers of the packages that have a page of a month's receipts.

    Returns also the first id of the next page; None at the end.
    """
    values = {"tenant": tenant_id, "first": span.first, "end": span.end, "limit": page}
    rows = await (await conn.execute(_NUMBERS, values)).fetchall()
    found = {(Environment(environment), number) for _, environment, number in rows if number is not None}
    return found, id_after(rows[-1][0]) if len(rows) == page else None


@dataclass(frozen=True, slots=True)
class ArchivePlace:
    """Bytes of a package with the documents of one receipt, and their SHA-256."""

    submission_id: SubmissionId
    start: int
    length: int
    digest: bytes


# OFFSET 0 has each receipt read by its key, so in its own month alone: a list of ids would be looked up in every month.
_DIGESTS = """
    SELECT s.*
      FROM unnest(%(ids)s::uuid[]) AS n (submission_id)
     CROSS JOIN LATERAL (
        SELECT x.submission_id, d.kind::text, sha256(d.content)
          FROM submissions AS x
          JOIN submission_documents AS d ON d.tenant_id = %(tenant)s AND d.submission_id = n.submission_id
         WHERE x.tenant_id = %(tenant)s AND x.submission_id = n.submission_id AND x.root IN ('ECF', 'RFCE')
           AND x.verdict_at IS NOT NULL AND NOT coalesce(x.ecf_type = ANY (%(stay)s), false)
        OFFSET 0) AS s
"""


async def digests(conn: Conn, tenant_id: TenantId, ids: Sequence[SubmissionId]) -> dict[SubmissionId, dict[str, bytes]]:
    """Return the digests of the documents that the database has, by kind, of receipts whose documents may leave."""
    found: dict[SubmissionId, dict[str, bytes]] = {}
    values = {"tenant": tenant_id, "ids": uuids(ids), "stay": texts(list(STAY))}
    for submission_id, kind, digest in await (await conn.execute(_DIGESTS, values)).fetchall():
        found.setdefault(SubmissionId(submission_id), {})[kind] = bytes(digest)
    return found


_KEEP = """
    INSERT INTO archive_places (tenant_id, submission_id, environment, number, start, length, digest)
    SELECT %(tenant)s, n.submission_id, %(environment)s, %(number)s, n.start, n.length, n.digest
      FROM unnest(%(ids)s::uuid[], %(starts)s::bigint[], %(lengths)s::bigint[], %(digests)s::bytea[])
        AS n (submission_id, start, length, digest)
    ON CONFLICT DO NOTHING
"""


async def keep(conn: Conn, package: Package, places: Sequence[ArchivePlace]) -> None:
    """Record where a package has documents; what is recorded stays as it is."""
    values = {
        "tenant": package.tenant_id,
        "environment": package.environment,
        "number": package.number,
        "ids": uuids([one.submission_id for one in places]),
        "starts": int8s([one.start for one in places]),
        "lengths": int8s([one.length for one in places]),
        "digests": blobs([one.digest for one in places]),
    }
    await conn.execute(_KEEP, values)


async def release(conn: Conn, month: YearMonth) -> tuple[int, int]:
    """Take the documents of a month out of the database that have a place; return how many left and how many stay.

    Run it in a transaction.
    """
    # The documents of one month, of all tenants, are counted in one statement.
    await conn.execute("SELECT set_config('statement_timeout', %s, true)", (_RELEASE_LIMIT,))
    row = await (await conn.execute("SELECT released, kept FROM release_documents(%s)", (month.first,))).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


@dataclass(frozen=True, slots=True)
class StoredPlace:
    """Where the archive has the documents of a receipt: bytes of an object, and their SHA-256."""

    submission_id: SubmissionId
    location: str
    start: int
    length: int
    digest: bytes


_PLACE = """
    SELECT a.submission_id, p.location, a.start, a.length, a.digest
      FROM archive_places AS a
      JOIN archive_packages AS p
        ON p.tenant_id = a.tenant_id AND p.environment = a.environment AND p.number = a.number
     WHERE a.tenant_id = %(tenant)s AND p.tenant_id = %(tenant)s AND a.submission_id = %(submission)s
"""


async def place_of(conn: Conn, tenant_id: TenantId, submission_id: SubmissionId) -> StoredPlace | None:
    """Find the documents of a receipt in the archive."""
    cursor = conn.cursor(row_factory=record_row(StoredPlace))
    await cursor.execute(_PLACE, {"tenant": tenant_id, "submission": submission_id})
    return await cursor.fetchone()


_PLACES = """
    SELECT a.submission_id, p.location, a.start, a.length, a.digest
      FROM archive_places AS a
      JOIN archive_packages AS p
        ON p.tenant_id = a.tenant_id AND p.environment = a.environment AND p.number = a.number
     WHERE a.tenant_id = %(tenant)s AND p.tenant_id = %(tenant)s
       AND a.submission_id > %(after)s AND a.submission_id >= %(first)s AND a.submission_id < %(end)s
     ORDER BY a.submission_id
     LIMIT %(limit)s
"""
_THERE = """
    SELECT n.submission_id
      FROM unnest(%(ids)s::uuid[]) AS n (submission_id)
     CROSS JOIN LATERAL (
        SELECT FROM submission_documents AS d
         WHERE d.tenant_id = %(tenant)s AND d.submission_id = n.submission_id
         LIMIT 1) AS d
"""


async def away(
    conn: Conn, tenant_id: TenantId, span: IdSpan, *, after: UUID | None = None, limit: int
) -> tuple[list[StoredPlace], UUID | None]:
    """List receipts of a month whose documents only the archive has, by id, of a page of those after one.

    Returns also the last id of the page; None when there are no more.
    """
    values: dict[str, Any] = {"tenant": tenant_id, "first": span.first, "end": span.end, "limit": limit}
    cursor = conn.cursor(row_factory=record_row(StoredPlace))
    await cursor.execute(_PLACES, values | {"after": after or UUID(int=0)})
    places = await cursor.fetchall()
    found = await conn.execute(_THERE, values | {"ids": uuids([one.submission_id for one in places])})
    there = {one for (one,) in await found.fetchall()}
    return [one for one in places if one.submission_id not in there], places[-1].submission_id if places else None


_RESTORE = """
    INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
    SELECT %(tenant)s, n.submission_id, n.kind::document_kind, n.content
      FROM unnest(%(ids)s::uuid[], %(kinds)s::text[], %(contents)s::bytea[]) AS n (submission_id, kind, content)
    ON CONFLICT DO NOTHING
"""


async def restore(conn: Conn, tenant_id: TenantId, documents: Sequence[tuple[SubmissionId, str, bytes]]) -> None:
    """Put documents back that are not there."""
    values = {
        "tenant": tenant_id,
        "ids": uuids([one for one, _, _ in documents]),
        "kinds": texts([kind for _, kind, _ in documents]),
        "contents": blobs([content for _, _, content in documents]),
    }
    await conn.execute(_RESTORE, values)


_TENANTS = "SELECT t.tenant_id FROM tenants AS t WHERE t.tenant_id > %(after)s ORDER BY t.tenant_id LIMIT 1000"


async def tenants_after(conn: Conn, after: int) -> list[TenantId]:
    """List tenants by id, at most 1,000."""
    return [TenantId(row[0]) for row in await (await conn.execute(_TENANTS, {"after": after})).fetchall()]
