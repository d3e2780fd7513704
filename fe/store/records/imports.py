"""Imports of receipts from workbooks: the file, its receipts, and what became of each (docs/decisions/imports.md)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any
from uuid import UUID

from psycopg.rows import scalar_row

from fe.ecf.catalogue import Environment
from fe.identifiers import ApiKeyId, ClientRequestId, PersonId, SubmissionId, TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row

#: How long an import is kept, and the most of a tenant: older ones that wait for nothing make room.
KEPT = timedelta(days=30)
MOST = 30
#: Receipts per statement that stores them.
_TOGETHER = 1000


class ImportState(StrEnum):
    """The steps of an import."""

    VALIDATING = "validating"
    VALIDATED = "validated"
    ISSUING = "issuing"
    ISSUED = "issued"


class ImportOutcome(StrEnum):
    """The outcome of a receipt."""

    VALID = "valid"
    FAULTY = "faulty"
    ISSUED = "issued"
    #: Its key was issued by an earlier import.
    BEFORE = "issued before"
    #: It was valid, and could not be issued.
    FAILED = "failed"


#: A fault as it is stored: row, column, English, Spanish.
StoredFault = tuple[int, str | None, str, str]


@dataclass(frozen=True, slots=True)
class NewReceipt:
    """A receipt as it is stored first."""

    key: str
    is_own_key: bool
    rows: Sequence[int]
    #: The key of the sequence that gives the number; None: of none.
    prefix: str | None
    payload: bytes
    misread: Sequence[StoredFault]


@dataclass(frozen=True, slots=True)
class NewImport:
    """A file that was read."""

    import_id: UUID
    environment: Environment
    api_key_id: ApiKeyId
    person_id: PersonId | None
    name: str
    digest: bytes
    content: bytes
    notes: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """An import, with the number of receipts by outcome ('' for those that are not validated).

    `types` are those that it issued or can issue: prefix, number of receipts, and sum of their totals.
    """

    import_id: UUID
    environment: Environment
    state: ImportState
    created_at: datetime
    name: str
    notes: Sequence[Sequence[str]]
    receipts: int
    keyless: int
    counts: Mapping[str, int]
    types: Sequence[tuple[str, int, Decimal]]

    def count(self, outcome: ImportOutcome | None) -> int:
        """The receipts with an outcome."""
        return self.counts.get("" if outcome is None else outcome, 0)


@dataclass(frozen=True, slots=True)
class ImportLine:
    """An import in a list."""

    import_id: UUID
    state: ImportState
    created_at: datetime
    name: str
    receipts: int


@dataclass(frozen=True, slots=True)
class ImportReceipt:
    """A receipt and what became of it."""

    place: int
    key: str
    file_rows: Sequence[int]
    outcome: ImportOutcome | None
    faults: Sequence[StoredFault]
    submission_id: SubmissionId | None
    e_ncf: str | None


@dataclass(frozen=True, slots=True)
class ImportWork:
    """An import that waits for a front."""

    tenant_id: TenantId
    import_id: UUID
    environment: Environment
    state: ImportState


@dataclass(frozen=True, slots=True)
class OpenReceipt:
    """A receipt that is to be validated or issued."""

    place: int
    key: str
    file_rows: Sequence[int]
    payload: bytes
    misread: Sequence[StoredFault]
    sequence: str | None


_FILE = """
    INSERT INTO import_files (
        tenant_id, import_id, environment, created_at, api_key_id, person_id, name, digest, content, notes
    )
    VALUES (%(tenant)s, %(id)s, %(environment)s, %(at)s, %(api_key)s, %(person)s, %(name)s, %(digest)s, %(content)s,
            %(notes)s)
    ON CONFLICT (tenant_id, environment, digest) DO NOTHING
"""
_SAME_FILE = """
    SELECT f.import_id
      FROM import_files AS f
     WHERE f.tenant_id = %(tenant)s AND f.environment = %(environment)s AND f.digest = %(digest)s
"""
_IMPORT = """
    INSERT INTO imports (tenant_id, import_id, environment, state, created_at)
    VALUES (%(tenant)s, %(id)s, %(environment)s, 'validating', %(at)s)
"""
_RECEIPTS = """
    INSERT INTO import_receipts (
        tenant_id, import_id, place, key, is_own_key, file_rows, prefix, payload, misread, faults
    )
    SELECT %(tenant)s, %(id)s, x.place, x.key, x.is_own, x.file_rows::int[], x.prefix, x.payload, x.misread::jsonb,
           x.misread::jsonb
      FROM unnest(%(places)s::int[], %(keys)s::text[], %(own)s::bool[], %(rows)s::text[], %(prefixes)s::text[],
                  %(payloads)s::bytea[], %(misread)s::text[])
           AS x (place, key, is_own, file_rows, prefix, payload, misread)
"""
# Those that a front works on stay; so does what was sent in the last hour.
_OLD = f"""
    SELECT i.import_id
      FROM imports AS i
     WHERE i.tenant_id = %(tenant)s AND i.state IN ('validated', 'issued')
     ORDER BY i.created_at DESC
    OFFSET {MOST - 1}
"""
_DELETE_RECEIPTS = "DELETE FROM import_receipts AS r WHERE r.tenant_id = %(tenant)s AND r.import_id = ANY(%(ids)s)"
_DELETE_FILES = "DELETE FROM import_files AS f WHERE f.tenant_id = %(tenant)s AND f.import_id = ANY(%(ids)s)"
_DELETE_IMPORTS = "DELETE FROM imports AS i WHERE i.tenant_id = %(tenant)s AND i.import_id = ANY(%(ids)s)"


async def create(
    conn: Conn, tenant_id: TenantId, new: NewImport, receipts: Sequence[NewReceipt], at: datetime
) -> tuple[UUID, bool]:
    """Store a file and its receipts, in one transaction; return its id and whether it is new.

    The same bytes of a tenant and environment are one import.
    """
    given = {
        "tenant": tenant_id,
        "id": new.import_id,
        "environment": new.environment,
        "at": at,
        "api_key": new.api_key_id,
        "person": new.person_id,
        "name": new.name,
        "digest": new.digest,
        "content": new.content,
        "notes": json.dumps(new.notes),
    }
    if not (await conn.execute(_FILE, given)).rowcount:
        (known,) = await _ids(conn, _SAME_FILE, given)
        return known, False
    await _delete(conn, tenant_id, await _ids(conn, _OLD, given))
    await conn.execute(_IMPORT, given)
    for start in range(0, len(receipts), _TOGETHER):
        part = receipts[start : start + _TOGETHER]
        values = {
            "tenant": tenant_id,
            "id": new.import_id,
            "places": list(range(start, start + len(part))),
            "keys": [one.key for one in part],
            "own": [one.is_own_key for one in part],
            "rows": ["{" + ",".join(map(str, one.rows)) + "}" for one in part],
            "prefixes": [one.prefix for one in part],
            "payloads": [one.payload for one in part],
            "misread": [json.dumps(one.misread) for one in part],
        }
        await conn.execute(_RECEIPTS, values)
    return new.import_id, True


async def _ids(conn: Conn, statement: str, given: Mapping[str, Any]) -> list[UUID]:
    return await (await conn.cursor(row_factory=scalar_row).execute(statement, given)).fetchall()


async def _delete(conn: Conn, tenant_id: TenantId, ids: Sequence[UUID]) -> None:
    if ids:
        given = {"tenant": tenant_id, "ids": list(ids)}
        for statement in (_DELETE_RECEIPTS, _DELETE_FILES, _DELETE_IMPORTS):
            await conn.execute(statement, given)


_COLUMNS = """
    SELECT i.import_id, i.environment, i.state, i.created_at, f.name, f.notes,
           coalesce(n.receipts, 0)::int AS receipts, coalesce(n.keyless, 0)::int AS keyless,
           coalesce(n.counts, '{}') AS counts, coalesce(y.types, '[]') AS types
      FROM imports AS i
      JOIN import_files AS f ON f.tenant_id = i.tenant_id AND f.import_id = i.import_id
      LEFT JOIN LATERAL (
            SELECT sum(c.number) AS receipts, sum(c.keyless) AS keyless, jsonb_object_agg(c.outcome, c.number) AS counts
              FROM (SELECT coalesce(r.outcome, '') AS outcome, count(*) AS number,
                           count(*) FILTER (WHERE NOT r.is_own_key) AS keyless
                      FROM import_receipts AS r
                     WHERE r.tenant_id = i.tenant_id AND r.import_id = i.import_id
                     GROUP BY coalesce(r.outcome, '')) AS c) AS n ON true
      LEFT JOIN LATERAL (
            SELECT jsonb_agg(jsonb_build_array(c.prefix, c.number, c.total::text) ORDER BY c.prefix) AS types
              FROM (SELECT left(r.prefix, 3) AS prefix, count(*) AS number, coalesce(sum(r.total), 0) AS total
                      FROM import_receipts AS r
                     WHERE r.tenant_id = i.tenant_id AND r.import_id = i.import_id AND r.prefix IS NOT NULL
                       AND r.outcome IN ('valid', 'failed', 'issued')
                     GROUP BY left(r.prefix, 3)) AS c) AS y ON true
"""
# The places of an import are 0, 1, 2 and so on: the last one counts its receipts.
_NEWEST = f"""
    SELECT i.import_id, i.state, i.created_at, f.name,
           coalesce((SELECT r.place + 1
                       FROM import_receipts AS r
                      WHERE r.tenant_id = i.tenant_id AND r.import_id = i.import_id
                      ORDER BY r.place DESC
                      LIMIT 1), 0) AS receipts
      FROM imports AS i
      JOIN import_files AS f ON f.tenant_id = i.tenant_id AND f.import_id = i.import_id
     WHERE i.tenant_id = %(tenant)s AND i.environment = %(environment)s
     ORDER BY i.created_at DESC
     LIMIT {MOST}
"""
_ONE = f"{_COLUMNS} WHERE i.tenant_id = %(tenant)s AND i.import_id = %(id)s"


async def find(conn: Conn, tenant_id: TenantId, import_id: UUID) -> ImportRecord | None:
    """Find an import."""
    cursor = conn.cursor(row_factory=record_row(ImportRecord))
    return await (await cursor.execute(_ONE, {"tenant": tenant_id, "id": import_id})).fetchone()


async def newest(conn: Conn, tenant_id: TenantId, environment: Environment) -> list[ImportLine]:
    """List a tenant's imports, the newest first."""
    cursor = conn.cursor(row_factory=record_row(ImportLine))
    return await (await cursor.execute(_NEWEST, {"tenant": tenant_id, "environment": environment})).fetchall()


_CONTENT = """
    SELECT f.content FROM import_files AS f WHERE f.tenant_id = %(tenant)s AND f.import_id = %(id)s
"""
_SENDER = """
    SELECT f.api_key_id FROM import_files AS f WHERE f.tenant_id = %(tenant)s AND f.import_id = %(id)s
"""


async def content(conn: Conn, tenant_id: TenantId, import_id: UUID) -> bytes:
    """Return the file of an import."""
    cursor = conn.cursor(row_factory=scalar_row)
    found = await (await cursor.execute(_CONTENT, {"tenant": tenant_id, "id": import_id}, binary=True)).fetchone()
    return b"" if found is None else bytes(found)


async def sender(conn: Conn, tenant_id: TenantId, import_id: UUID) -> ApiKeyId:
    """Return the key that sent it."""
    cursor = conn.cursor(row_factory=scalar_row)
    found = await (await cursor.execute(_SENDER, {"tenant": tenant_id, "id": import_id})).fetchone()
    return ApiKeyId(str(found))


_RECEIPTS_OF = """
    SELECT r.place, r.key, r.file_rows, r.outcome, r.faults, r.submission_id, r.e_ncf
      FROM import_receipts AS r
     WHERE r.tenant_id = %(tenant)s AND r.import_id = %(id)s
       AND (%(outcomes)s::text[] IS NULL OR r.outcome = ANY(%(outcomes)s::text[]))
     ORDER BY r.place
     LIMIT %(limit)s
"""


async def receipts_of(
    conn: Conn,
    tenant_id: TenantId,
    import_id: UUID,
    outcomes: Sequence[ImportOutcome] | None = None,
    limit: int | None = None,
) -> list[ImportReceipt]:
    """List receipts of an import in the order of the file: all, or those with some outcomes."""
    given = {
        "tenant": tenant_id,
        "id": import_id,
        "outcomes": None if outcomes is None else list(outcomes),
        "limit": limit,
    }
    cursor = conn.cursor(row_factory=record_row(ImportReceipt))
    return await (await cursor.execute(_RECEIPTS_OF, given)).fetchall()


# -- work --------------------------------------------------------------------------------------------------------------

_AT_WORK = """
    SELECT i.tenant_id, i.import_id, i.environment, i.state
      FROM imports AS i
     WHERE i.state IN ('validating', 'issuing') AND i.held_until < clock_timestamp()
     ORDER BY i.created_at
     LIMIT 20
"""
_HOLD = """
    UPDATE imports AS i
       SET held_until = clock_timestamp() + %(seconds)s * interval '1 second'
     WHERE i.tenant_id = %(tenant)s AND i.import_id = %(id)s AND (%(again)s OR i.held_until < clock_timestamp())
"""
_OPEN = """
    SELECT r.place, r.key, r.file_rows, r.payload, r.misread, nullif(substr(r.prefix, 5), '') AS sequence
      FROM import_receipts AS r
     WHERE r.tenant_id = %(tenant)s AND r.import_id = %(id)s AND r.outcome IS NOT DISTINCT FROM %(outcome)s
       AND (r.outcome IS NULL OR r.outcome = 'valid')
     ORDER BY r.place
     LIMIT %(limit)s
"""
_BOOK = """
    UPDATE import_receipts AS r
       SET outcome = x.outcome, faults = x.faults::jsonb, submission_id = x.submission, e_ncf = x.e_ncf,
           total = coalesce(x.total, r.total)
      FROM unnest(%(places)s::int[], %(outcomes)s::text[], %(faults)s::text[], %(submissions)s::uuid[],
                  %(numbers)s::text[], %(totals)s::numeric[]) AS x (place, outcome, faults, submission, e_ncf, total)
     WHERE r.tenant_id = %(tenant)s AND r.import_id = %(id)s AND r.place = x.place
       AND r.outcome IS NOT DISTINCT FROM %(was)s
"""
_CLOSE = """
    UPDATE imports AS i
       SET state = CASE i.state WHEN 'validating' THEN 'validated' ELSE 'issued' END
     WHERE i.tenant_id = %(tenant)s AND i.import_id = %(id)s AND i.state = %(state)s
"""
_START = """
    UPDATE imports AS i
       SET state = %(state)s, held_until = '-infinity'
     WHERE i.tenant_id = %(tenant)s AND i.import_id = %(id)s AND i.state IN ('validated', 'issued')
"""
_AGAIN = """
    UPDATE import_receipts AS r
       SET outcome = %(outcome)s
     WHERE r.tenant_id = %(tenant)s AND r.import_id = %(id)s AND r.outcome = ANY(%(was)s)
"""
_NEEDED = """
    SELECT r.prefix, count(*)
      FROM import_receipts AS r
     WHERE r.tenant_id = %(tenant)s AND r.import_id = %(id)s AND r.outcome IN ('valid', 'failed')
     GROUP BY r.prefix
"""
_KNOWN = """
    SELECT c.client_request_id, s.submission_id, s.e_ncf, s.body_digest
      FROM client_requests AS c
      JOIN submissions AS s ON s.tenant_id = c.tenant_id AND s.submission_id = c.submission_id
     WHERE c.tenant_id = %(tenant)s AND c.environment = %(environment)s AND c.client_request_id = ANY(%(requests)s)
"""
_OVER = """
    SELECT f.tenant_id, f.import_id FROM import_files AS f WHERE f.created_at < %(before)s LIMIT 100
"""


async def at_work(conn: Conn) -> list[ImportWork]:
    """List imports of all tenants that no front works on, the oldest first."""
    rows = await (await conn.execute(_AT_WORK)).fetchall()
    return [ImportWork(TenantId(a), b, Environment(c), ImportState(d)) for a, b, c, d in rows]


async def hold(conn: Conn, tenant_id: TenantId, import_id: UUID, seconds: float, *, again: bool = False) -> bool:
    """Take an import for some seconds, unless another front has it; `again`: change how long it is held."""
    given = {"tenant": tenant_id, "id": import_id, "seconds": seconds, "again": again}
    return (await conn.execute(_HOLD, given)).rowcount > 0


async def open_receipts(
    conn: Conn, tenant_id: TenantId, import_id: UUID, outcome: ImportOutcome | None, limit: int
) -> list[OpenReceipt]:
    """List the next receipts to validate (outcome None) or to issue (VALID)."""
    given = {"tenant": tenant_id, "id": import_id, "outcome": outcome, "limit": limit}
    cursor = conn.cursor(row_factory=record_row(OpenReceipt))
    return await (await cursor.execute(_OPEN, given)).fetchall()


@dataclass(frozen=True, slots=True)
class ReceiptOutcome:
    """The outcome of a receipt, to be stored."""

    place: int
    outcome: ImportOutcome
    faults: Sequence[StoredFault] = ()
    submission_id: SubmissionId | None = None
    e_ncf: str | None = None
    #: None: as it was stored before.
    total: Decimal | None = None


async def book(
    conn: Conn, tenant_id: TenantId, import_id: UUID, booked: Sequence[ReceiptOutcome], *, was: ImportOutcome | None
) -> None:
    """Store outcomes of receipts that still have the outcome `was`."""
    given = {
        "tenant": tenant_id,
        "id": import_id,
        "was": was,
        "places": [one.place for one in booked],
        "outcomes": [one.outcome for one in booked],
        "faults": [json.dumps(one.faults) for one in booked],
        "submissions": [one.submission_id for one in booked],
        "numbers": [one.e_ncf for one in booked],
        "totals": [one.total for one in booked],
    }
    await conn.execute(_BOOK, given)


async def close(conn: Conn, tenant_id: TenantId, import_id: UUID, state: ImportState) -> None:
    """End a step: `validating` becomes `validated`, `issuing` `issued`."""
    await conn.execute(_CLOSE, {"tenant": tenant_id, "id": import_id, "state": state})


async def start(conn: Conn, tenant_id: TenantId, import_id: UUID, state: ImportState) -> bool:
    """Start to validate all again, or to issue what is valid or failed; False where a step is under way.

    Run it in a transaction.
    """
    given = {"tenant": tenant_id, "id": import_id, "state": state}
    if not (await conn.execute(_START, given)).rowcount:
        return False
    again = (
        {"outcome": None, "was": [ImportOutcome.VALID, ImportOutcome.FAULTY, ImportOutcome.FAILED]}
        if state is ImportState.VALIDATING
        else {"outcome": ImportOutcome.VALID, "was": [ImportOutcome.FAILED]}
    )
    await conn.execute(_AGAIN, {**given, **again})
    return True


async def needed(conn: Conn, tenant_id: TenantId, import_id: UUID) -> dict[str, int]:
    """Count the numbers that issuing will draw, by the key of their sequence."""
    rows = await (await conn.execute(_NEEDED, {"tenant": tenant_id, "id": import_id})).fetchall()
    return dict(rows)


@dataclass(frozen=True, slots=True)
class KnownRequest:
    """A submission that has a clientRequestId."""

    client_request_id: ClientRequestId
    submission_id: SubmissionId
    e_ncf: str | None
    body_digest: bytes


async def known_requests(
    conn: Conn, tenant_id: TenantId, environment: Environment, requests: Sequence[ClientRequestId]
) -> dict[ClientRequestId, KnownRequest]:
    """Find which clientRequestIds were used before."""
    given = {"tenant": tenant_id, "environment": environment, "requests": list(requests)}
    cursor = conn.cursor(row_factory=record_row(KnownRequest))
    found = await (await cursor.execute(_KNOWN, given, binary=True)).fetchall()
    return {one.client_request_id: one for one in found}


async def forget(conn: Conn, now: datetime) -> None:
    """Delete imports that are too old, of all tenants; some of them each time."""
    rows = await (await conn.execute(_OVER, {"before": now - KEPT})).fetchall()
    for tenant_id, import_id in rows:
        await _delete(conn, TenantId(tenant_id), [import_id])
