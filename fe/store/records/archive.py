"""Archive packages: which evidence is due, what is planned into which package, and what is stored (docs/archive.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum, auto
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from fe.ecf.catalogue import Environment
from fe.ecf.ids import moment_of
from fe.identifiers import TenantId
from fe.store.postgres.arrays import int4s, texts, uuids
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row

#: Parts of archived evidence: whole receipts, and what belongs to an issued one and may arrive later.
ISSUED, RECEIVED, VOIDED, ACKNOWLEDGEMENT, APPROVAL = "issued", "received", "voided", "acknowledgement", "approval"
NO_ID = UUID(int=0)
#: Stages of voidings that ended, and were sent.
ENDS_OF_VOIDING = ("voided", "partly voided", "rejected")


@dataclass(frozen=True, slots=True)
class PackageChain:
    """The packages of a tenant in an environment, each of which names the one before."""

    tenant_id: TenantId
    environment: Environment


@dataclass(frozen=True, slots=True)
class Package:
    """A package. Digests, location and totals are None until it is made, `stored_at` until it was read back.

    `totals` are those of the manifest. `stamped_at`: the time that the token beside it states.
    """

    tenant_id: TenantId
    environment: Environment
    number: int
    previous: bytes | None
    day: date
    planned_at: datetime
    receipts: int
    additions: int
    manifest: bytes | None
    digest: bytes | None
    bytes: int | None
    location: str | None
    stored_at: datetime | None
    fault: str | None
    totals: Sequence[Mapping[str, Any]] | None
    stamped_at: datetime | None

    @property
    def chain(self) -> PackageChain:
        """The chain that it belongs to."""
        return PackageChain(self.tenant_id, self.environment)


_BEHIND = """
    SELECT t.tenant_id, e.environment
      FROM tenants AS t
     CROSS JOIN unnest(%(environments)s::text[]) AS e (environment)
      LEFT JOIN archive_chains AS c ON c.tenant_id = t.tenant_id AND c.environment::text = e.environment
     WHERE c.tenant_id IS NULL OR c.planned_until < %(until)s
     ORDER BY t.tenant_id, e.environment
     LIMIT 1000
"""
_OPEN = "SELECT p.tenant_id, p.environment::text FROM archive_packages AS p WHERE p.stored_at IS NULL"


async def due(conn: Conn, until: datetime) -> list[PackageChain]:
    """Name chains that are not planned until `until`, at most 1,000, and those with a package that is not stored."""
    given = {"environments": [one.value for one in Environment], "until": until}
    rows = await (await conn.execute(_OPEN)).fetchall()
    rows += await (await conn.execute(_BEHIND, given)).fetchall()
    found = dict.fromkeys(rows)
    return [PackageChain(tenant_id, Environment(environment)) for tenant_id, environment in found]


_BEGIN = """
    INSERT INTO archive_chains (tenant_id, environment, planned_until, issued_until)
    VALUES (%(tenant)s, %(environment)s, '2000-01-01Z', '2000-01-01Z')
    ON CONFLICT DO NOTHING
"""
_MARKS = """
    SELECT c.planned_until, c.issued_until
      FROM archive_chains AS c
     WHERE c.tenant_id = %(tenant)s AND c.environment = %(environment)s
       FOR UPDATE
"""
_LAST = """
    SELECT p.number, p.manifest, p.stored_at IS NULL
      FROM archive_packages AS p
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s
     ORDER BY p.number DESC
     LIMIT 1
"""
# The verdict after as many as one package has room for: by the index alone, however many are to come.
_WINDOW = """
    SELECT s.verdict_at
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s AND s.environment = %(environment)s
       AND s.verdict_at >= %(issued_until)s AND s.verdict_at < %(until)s
     ORDER BY s.verdict_at
    OFFSET %(room)s
     LIMIT 1
"""
_CANDIDATES = """
    SELECT s.submission_id, s.verdict_at
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s AND s.environment = %(environment)s
       AND s.verdict_at >= %(issued_until)s AND s.verdict_at < %(until)s
       AND s.verdict_at <= coalesce(%(window)s::timestamptz, 'infinity')
     ORDER BY s.verdict_at, s.submission_id
"""
# By their ids, not as a join: a join would be planned as a hash of all that was ever archived.
_ARCHIVED = """
    SELECT i.evidence_id
      FROM archive_items AS i
     WHERE i.tenant_id = %(tenant)s AND i.evidence_id = ANY (%(ids)s) AND i.part = %(part)s
"""
_SIZES = """
    SELECT n.submission_id,
           (SELECT max(v.seq)
              FROM submission_events AS v
             WHERE v.tenant_id = %(tenant)s AND v.submission_id = n.submission_id),
           (SELECT coalesce(sum(octet_length(d.content)), 0)
              FROM submission_documents AS d
             WHERE d.tenant_id = %(tenant)s AND d.submission_id = n.submission_id)
      FROM unnest(%(ids)s::uuid[]) AS n (submission_id)
"""
_PARTS = """
    SELECT d.submission_id, 'acknowledgement'
      FROM counterparty_deliveries AS d
     WHERE d.tenant_id = %(tenant)s AND d.submission_id = ANY (%(ids)s) AND d.kind = 'receipt' AND d.answer IS NOT NULL
     UNION ALL
    SELECT a.submission_id, 'approval'
      FROM received_approvals AS a
     WHERE a.tenant_id = %(tenant)s AND a.submission_id = ANY (%(ids)s)
"""
# Time of the row after as many as one look takes in, of what has its own times: by an index alone.
_NEXT_RECEIVED = """
    SELECT r.received_id
      FROM received AS r
     WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s
       AND r.received_id >= uuid_floor(%(planned_until)s) AND r.received_id < uuid_floor(%(until)s)
     ORDER BY r.received_id
    OFFSET %(room)s
     LIMIT 1
"""
_NEXT_ANSWER = """
    SELECT d.changed_at
      FROM counterparty_deliveries AS d
     WHERE d.tenant_id = %(tenant)s AND d.environment = %(environment)s AND d.kind = 'receipt' AND d.answer IS NOT NULL
       AND d.changed_at >= %(planned_until)s AND d.changed_at < %(until)s
     ORDER BY d.changed_at
    OFFSET %(room)s
     LIMIT 1
"""
_NEXT_APPROVAL = """
    SELECT a.received_at
      FROM received_approvals AS a
     WHERE a.tenant_id = %(tenant)s AND a.received_at >= %(planned_until)s AND a.received_at < %(until)s
     ORDER BY a.received_at
    OFFSET %(room)s
     LIMIT 1
"""
_RECEIVED = """
    SELECT r.received_id
      FROM received AS r
     WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s
       AND r.received_id >= uuid_floor(%(planned_until)s) AND r.received_id < uuid_floor(%(until)s)
     ORDER BY r.received_id
"""
_RECEIVED_SIZES = """
    SELECT r.received_id, octet_length(a.document) + octet_length(a.acknowledgement)
      FROM received AS r
      JOIN acknowledgements AS a
        ON a.tenant_id = r.tenant_id AND a.environment = r.environment AND a.digest = r.digest AND a.reason = 0
     WHERE r.tenant_id = %(tenant)s AND a.tenant_id = %(tenant)s AND r.received_id = ANY (%(ids)s)
     ORDER BY r.received_id
"""
# Signed, and refused outright or given up by an operator. Status and time do not change any more. By id, as their end
# may be long after their month: a page of what ended as `error`.
_GIVEN_UP = """
    SELECT s.submission_id, s.updated_at, s.signed_at IS NOT NULL
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s AND s.environment = %(environment)s AND s.status = 'error'
       AND s.submission_id > %(after)s AND s.submission_id < uuid_floor(%(until)s)
     ORDER BY s.submission_id
     LIMIT %(page)s
"""
# A tenant has few. They are not joined with what is archived, which may be on another node.
VOIDINGS = """
    SELECT v.subject, octet_length(v.document), v.finished_at
      FROM voidings AS v
     WHERE v.tenant_id = %(tenant)s AND v.environment = %(environment)s
       AND v.stage = ANY (%(ends)s) AND v.document IS NOT NULL
       AND v.finished_at >= %(since)s AND v.finished_at < %(until)s
     ORDER BY v.subject
"""
_ARRIVED = """
    SELECT d.submission_id, 'acknowledgement'
      FROM counterparty_deliveries AS d
     WHERE d.tenant_id = %(tenant)s AND d.environment = %(environment)s
       AND d.kind = 'receipt' AND d.answer IS NOT NULL
       AND d.changed_at >= %(planned_until)s AND d.changed_at < %(until)s
     UNION ALL
    SELECT a.submission_id, 'approval'
      FROM received_approvals AS a
     WHERE a.tenant_id = %(tenant)s
       AND a.received_at >= %(planned_until)s AND a.received_at < %(until)s
"""
_TIMELINES = """
    SELECT i.evidence_id, i.events,
           (SELECT max(v.seq)
              FROM submission_events AS v
             WHERE v.tenant_id = %(tenant)s AND v.submission_id = i.evidence_id)
      FROM archive_items AS i
     WHERE i.tenant_id = %(tenant)s AND i.evidence_id = ANY (%(ids)s) AND i.part = 'issued'
       AND i.environment = %(environment)s AND i.number IS NOT NULL
"""
_PACKAGE = """
    INSERT INTO archive_packages (tenant_id, environment, number, previous, day, planned_at, receipts, additions)
    VALUES (%(tenant)s, %(environment)s, %(number)s, %(previous)b, %(day)s, %(at)s, %(receipts)s, %(additions)s)
"""
_ITEMS = """
    INSERT INTO archive_items (tenant_id, evidence_id, part, environment, number, events)
    SELECT %(tenant)s::bigint, n.evidence_id, n.part, %(environment)s::environment, %(number)s::bigint, n.events
      FROM unnest(%(ids)s::uuid[], %(parts)s::text[], %(events)s::int[]) AS n (evidence_id, part, events)
"""
_PLANNED = """
    UPDATE archive_chains AS c
       SET planned_until = %(planned_until)s, issued_until = %(issued_until)s
     WHERE c.tenant_id = %(tenant)s AND c.environment = %(environment)s
"""


class Planned(Enum):
    """Result of a call of `plan`."""

    #: The chain has a package that is not stored.
    PACKAGE = auto()
    #: Nothing new among as many rows as a call looks at: call it again.
    PASSED = auto()
    #: Nothing is left.
    NOTHING = auto()


async def plan(
    conn: Conn, chain: PackageChain, *, until: datetime, day: date, at: datetime, most: int, most_bytes: int
) -> Planned:
    """Plan the next package of a chain in a transaction.

    Takes verdicts and arrivals before `until` that are in no package, at most `most` of them and about `most_bytes` of
    documents. A call looks at about `most` rows of each kind, however many the chain has.
    """
    values: dict[str, Any] = {
        "tenant": chain.tenant_id,
        "environment": chain.environment,
        "until": until,
        "day": day,
        "at": at,
    }
    await conn.execute(_BEGIN, values)
    marks = await (await conn.execute(_MARKS, values)).fetchone()
    assert marks is not None
    values["planned_until"], values["issued_until"] = marks
    number, previous, is_open = await (await conn.execute(_LAST, values)).fetchone() or (0, None, False)
    if is_open:
        return Planned.PACKAGE
    if values["planned_until"] >= until:
        return Planned.NOTHING

    items: list[tuple[UUID, str, int]] = []
    size = 0
    rows, window = await _issued(conn, values, most)
    is_cut = len(rows) == most or window is not None
    for submission_id, verdict_at, events, documents in rows:
        if items and size + documents > most_bytes:
            is_cut = True
            break
        items.append((submission_id, ISSUED, events))
        size += documents
        values["issued_until"] = verdict_at
    if not is_cut:
        values["issued_until"] = until
    elif not items:
        await conn.execute(_PLANNED, {**values, "issued_until": window})
        return Planned.PASSED
    room = 0 if is_cut else most - len(items)
    end = await _end_of_look(conn, values, most) if room else values["planned_until"]
    looked = {**values, "until": end, "is_last": end == until}
    for one, part, events, documents in await _others(conn, looked, room, most) if room else ():
        if not room or (items and size + documents > most_bytes):
            room = 0
            break
        items.append((one, part, events))
        size, room = size + documents, room - 1
    receipts = len(items)
    if chosen := [one for one, part, _ in items if part == ISSUED]:
        parts = await (await conn.execute(_PARTS, {**values, "ids": uuids(chosen)})).fetchall()
        items += [(submission_id, part, 0) for submission_id, part in parts]
    late = await _late(conn, looked, room) if room else []
    items += late
    additions = len({submission_id for submission_id, _, _ in late})

    if not items:
        await conn.execute(_PLANNED, {**values, "planned_until": end, "issued_until": until})
        return Planned.NOTHING if end == until else Planned.PASSED
    values |= {"number": number + 1, "previous": previous, "receipts": receipts, "additions": additions}
    await conn.execute(_PACKAGE, values)
    ids, kinds, events_of = zip(*items, strict=True)
    await conn.execute(_ITEMS, {**values, "ids": uuids(ids), "parts": texts(kinds), "events": int4s(events_of)})
    await conn.execute(_PLANNED, values)
    return Planned.PACKAGE


async def _end_of_look(conn: Conn, values: Mapping[str, Any], most: int) -> datetime:
    """Return the time, at most `until`, before which about `most` rows arrived of each kind with a time of its own."""
    end: datetime = values["until"]
    for query in (_NEXT_RECEIVED, _NEXT_ANSWER, _NEXT_APPROVAL):
        room, found = most, values["planned_until"]
        while found <= values["planned_until"]:  # more rows of one moment than a look takes in
            row = await (await conn.execute(query, {**values, "until": end, "room": room})).fetchone()
            if row is None:
                break
            found, room = moment_of(row[0]) if query is _NEXT_RECEIVED else row[0], room * 2
        else:
            end = found
    return end


async def _others(conn: Conn, values: Mapping[str, Any], room: int, most: int) -> list[tuple[UUID, str, int, int]]:
    """Read what came to an end between the marks without a verdict and is in no package.

    Each with its part, events and bytes of documents. Receipts that were given up have no index by their end: the last
    look at a chain goes through all of them.
    """
    arrived = [one for (one,) in await (await conn.execute(_RECEIVED, values)).fetchall()]
    fresh = (await _fresh(conn, values, RECEIVED, arrived))[:room]
    received = await (await conn.execute(_RECEIVED_SIZES, {**values, "ids": uuids(fresh)})).fetchall()
    looked = {**values, "since": values["planned_until"], "ends": texts(ENDS_OF_VOIDING)}
    ended = await (await conn.execute(VOIDINGS, looked)).fetchall()
    voided = set(await _fresh(conn, values, VOIDED, [one for one, _, _ in ended]))
    failed: list[UUID] = []
    after: UUID | None = NO_ID if values["is_last"] else None
    while after is not None and len(failed) < room:
        page, after = await given_up(conn, values, after, most)
        failed += await _fresh(conn, values, ISSUED, [one for one, at in page if at < values["until"]])
    sizes = await (await conn.execute(_SIZES, {**values, "ids": uuids(failed[:room])})).fetchall()
    return [
        *((one, RECEIVED, 0, size) for one, size in received),
        *((one, VOIDED, 0, size) for one, size, _ in ended if one in voided),
        *((one, ISSUED, events, size) for one, events, size in sizes),
    ]


async def given_up(
    conn: Conn, values: Mapping[str, Any], after: UUID, page: int
) -> tuple[list[tuple[UUID, datetime]], UUID | None]:
    """Read signed receipts of a chain that ended as `error`, with the time of their end, and the id to go on after.

    Looks at `page` receipts that ended so, by id.
    """
    found = await (await conn.execute(_GIVEN_UP, {**values, "after": after, "page": page})).fetchall()
    return [(one, at) for one, at, is_signed in found if is_signed], found[-1][0] if len(found) == page else None


async def _late(conn: Conn, values: Mapping[str, Any], room: int) -> list[tuple[UUID, str, int]]:
    """Read acknowledgements and approvals that arrived after their receipt was packed."""
    arrived = await (await conn.execute(_ARRIVED, values)).fetchall()
    ids = uuids([one for one, _ in arrived])
    packed = await (await conn.execute(_TIMELINES, {**values, "ids": ids})).fetchall()
    grown = {one: newest if (newest or 0) > events else 0 for one, events, newest in packed}
    fresh = {
        part: set(await _fresh(conn, values, part, [one for one, of in arrived if of == part and one in grown]))
        for part in (ACKNOWLEDGEMENT, APPROVAL)
    }
    return sorted((one, part, grown[one]) for one, part in arrived if one in fresh[part])[:room]


async def _fresh(conn: Conn, values: Mapping[str, Any], part: str, ids: Sequence[UUID]) -> list[UUID]:
    """Leave out evidence that is in a package."""
    known = await conn.execute(_ARCHIVED, {**values, "ids": uuids(ids), "part": part})
    archived = {one for (one,) in await known.fetchall()}
    return [one for one in ids if one not in archived]


async def _issued(conn: Conn, values: dict[str, Any], room: int) -> tuple[list[tuple[Any, ...]], datetime | None]:
    """Read the next receipts that are in no package, and the end of the window they were looked for in; None: `until`.

    A window may have archived receipts alone, which `plan_again` leaves: then it returns none.
    """
    since, wide = values["issued_until"], room
    while True:
        found = await (await conn.execute(_WINDOW, {**values, "room": wide})).fetchone()
        window: datetime | None = None if found is None else found[0]
        near = await (await conn.execute(_CANDIDATES, {**values, "window": window})).fetchall()
        missing = set(await _fresh(conn, values, ISSUED, [one for one, _ in near]))
        fresh = [(one, at) for one, at in near if one in missing][:room]
        if fresh or window != since:
            break
        wide = wide * 2  # more verdicts of one moment than a window holds
    sizes = await conn.execute(_SIZES, {**values, "ids": uuids([one for one, _ in fresh])})
    known_sizes = {one: (events, size) for one, events, size in await sizes.fetchall()}
    return [(one, at, *known_sizes[one]) for one, at in fresh], window


PACKAGE_COLUMNS = """
    p.tenant_id, p.environment, p.number, p.previous, p.day, p.planned_at, p.receipts, p.additions, p.manifest,
    p.digest, p.bytes, p.location, p.stored_at, p.fault, p.totals, p.stamped_at
"""
_OPEN_OF = f"""
    SELECT {PACKAGE_COLUMNS}
      FROM archive_packages AS p
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.stored_at IS NULL
"""


async def open_package(conn: Conn, chain: PackageChain) -> Package | None:
    """Return the package of a chain that is planned or made, and not stored."""
    cursor = conn.cursor(row_factory=record_row(Package))
    await cursor.execute(_OPEN_OF, {"tenant": chain.tenant_id, "environment": chain.environment})
    return await cursor.fetchone()


_MADE = """
    UPDATE archive_packages AS p
       SET manifest = %(manifest)b, digest = %(digest)b, bytes = %(bytes)s, location = %(location)s, made_at = %(at)s,
           totals = %(totals)s
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.number = %(number)s
       AND p.stored_at IS NULL
"""
_STORED = """
    UPDATE archive_packages AS p
       SET stored_at = %(at)s, fault = NULL
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.number = %(number)s
       AND p.digest = %(digest)b AND p.stored_at IS NULL
"""
_FAULT = """
    UPDATE archive_packages AS p
       SET fault = %(fault)s
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.stored_at IS NULL
"""
_REFUSE = """
    UPDATE archive_items AS i
       SET number = NULL, refused = %(reason)s
     WHERE i.tenant_id = %(tenant)s AND i.environment = %(environment)s AND i.number = %(number)s
       AND i.evidence_id = %(evidence)s
"""
_ONE_LESS = """
    UPDATE archive_packages AS p
       SET receipts = p.receipts - %(receipts)s, additions = p.additions - %(additions)s
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.number = %(number)s
"""


def _key(package: Package) -> dict[str, Any]:
    return {"tenant": package.tenant_id, "environment": package.environment, "number": package.number}


async def mark_made(
    conn: Conn,
    package: Package,
    *,
    manifest: bytes,
    digest: bytes,
    size: int,
    location: str,
    totals: Sequence[Mapping[str, Any]],
    at: datetime,
) -> None:
    """Record the digests of a package that was made, before it is uploaded."""
    values = {"manifest": manifest, "digest": digest, "bytes": size, "location": location, "at": at}
    values["totals"] = Jsonb(list(totals))
    await conn.execute(_MADE, _key(package) | values)


async def mark_stored(conn: Conn, package: Package, digest: bytes, at: datetime) -> None:
    """Record that the archive has the package: it was read back, and size and digest agree."""
    await conn.execute(_STORED, {**_key(package), "digest": digest, "at": at})


_UNSTAMPED = f"""
    SELECT {PACKAGE_COLUMNS}
      FROM archive_packages AS p
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s
       AND p.stored_at IS NOT NULL AND p.stamped_at IS NULL
     ORDER BY p.number
     LIMIT 100
"""
_STAMPED = """
    UPDATE archive_packages AS p
       SET stamped_at = %(at)s
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.number = %(number)s
       AND p.stored_at IS NOT NULL AND p.stamped_at IS NULL
"""
_CHAINS_UNSTAMPED = """
    SELECT DISTINCT p.tenant_id, p.environment
      FROM archive_packages AS p
     WHERE p.stored_at IS NOT NULL AND p.stamped_at IS NULL
     ORDER BY p.tenant_id, p.environment
     LIMIT 1000
"""


async def chains_to_stamp(conn: Conn) -> list[PackageChain]:
    """Name chains with stored packages that have no time stamp, at most 1,000."""
    rows = await (await conn.execute(_CHAINS_UNSTAMPED)).fetchall()
    return [PackageChain(tenant_id, Environment(environment)) for tenant_id, environment in rows]


async def unstamped(conn: Conn, chain: PackageChain) -> list[Package]:
    """Return stored packages of a chain without a time stamp, the first 100."""
    cursor = conn.cursor(row_factory=record_row(Package))
    await cursor.execute(_UNSTAMPED, {"tenant": chain.tenant_id, "environment": chain.environment})
    return await cursor.fetchall()


async def mark_stamped(conn: Conn, package: Package, at: datetime) -> None:
    """Record the time that the token beside a package states."""
    await conn.execute(_STAMPED, {**_key(package), "at": at})


async def note_fault(conn: Conn, chain: PackageChain, fault: str) -> None:
    """Record why the open package of a chain could not be stored; begin a chain that is not begun, so it is checked."""
    values = {"tenant": chain.tenant_id, "environment": chain.environment, "fault": fault}
    await conn.execute(_BEGIN, values)
    await conn.execute(_FAULT, values)


async def refuse(conn: Conn, package: Package, evidence_id: UUID, reason: str, *, is_addition: bool) -> None:
    """Take evidence out of a package because the format has no place for it. Run it in a transaction."""
    values = {**_key(package), "evidence": evidence_id, "reason": reason}
    await conn.execute(_REFUSE, values)
    await conn.execute(_ONE_LESS, {**values, "receipts": int(not is_addition), "additions": int(is_addition)})


_LISTED = f"""
    SELECT {PACKAGE_COLUMNS}
      FROM archive_packages AS p
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.stored_at IS NOT NULL
       AND p.number < %(below)s
     ORDER BY p.number DESC
     LIMIT %(limit)s
"""
_ONE = f"""
    SELECT {PACKAGE_COLUMNS}
      FROM archive_packages AS p
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.number = %(number)s
       AND p.stored_at IS NOT NULL
"""
#: Above every number.
_TOP = 2**62


async def listed(
    conn: Conn, tenant_id: TenantId, environment: Environment, *, limit: int, below: int | None = None
) -> list[Package]:
    """List the stored packages of a chain, newest first, those below a number."""
    cursor = conn.cursor(row_factory=record_row(Package))
    await cursor.execute(
        _LISTED,
        {"tenant": tenant_id, "environment": environment, "limit": limit, "below": _TOP if below is None else below},
    )
    return await cursor.fetchall()


_LISTED_FROM = f"""
    SELECT {PACKAGE_COLUMNS}
      FROM archive_packages AS p
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.stored_at IS NOT NULL
       AND p.number > %(above)s
     ORDER BY p.number
     LIMIT %(limit)s
"""


async def listed_from(
    conn: Conn, tenant_id: TenantId, environment: Environment, above: int, *, limit: int
) -> list[Package]:
    """List the stored packages of a chain, oldest first, those above a number."""
    cursor = conn.cursor(row_factory=record_row(Package))
    await cursor.execute(
        _LISTED_FROM, {"tenant": tenant_id, "environment": environment, "limit": limit, "above": above}
    )
    return await cursor.fetchall()


async def stored(conn: Conn, tenant_id: TenantId, environment: Environment, number: int) -> Package | None:
    """Return a stored package by its number."""
    cursor = conn.cursor(row_factory=record_row(Package))
    await cursor.execute(_ONE, {"tenant": tenant_id, "environment": environment, "number": number})
    return await cursor.fetchone()


@dataclass(frozen=True, slots=True)
class ArchiveState:
    """The archive in figures, over all tenants. Times are seconds."""

    unstored_seconds: float
    unchecked_seconds: float
    missing: int
    faults: int
    refused: int


# A chain that was never checked counts from its first package.
_STATE = """
    SELECT (SELECT coalesce(extract(EPOCH FROM now() - min(p.planned_at)), 0)::float8
              FROM archive_packages AS p WHERE p.stored_at IS NULL),
           coalesce(extract(EPOCH FROM now() - min(coalesce(c.checked_at, p.planned_at))), 0)::float8,
           coalesce(sum(c.missing), 0)::bigint,
           coalesce(sum(cardinality(c.faults)), 0)::bigint,
           (SELECT count(*) FROM archive_items AS i WHERE i.refused IS NOT NULL)
      FROM archive_chains AS c
      LEFT JOIN archive_packages AS p ON p.tenant_id = c.tenant_id AND p.environment = c.environment AND p.number = 1
"""


async def state(conn: Conn) -> ArchiveState:
    """Sum up what waits, what is missing and what is at fault."""
    row = await (await conn.execute(_STATE)).fetchone()
    assert row is not None
    return ArchiveState(*row)
