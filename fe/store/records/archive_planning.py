"""Plan archive packages: evidence that is due goes into a package, at most once (docs/archive.md)."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from enum import Enum, auto
from typing import Any, TypeVar
from uuid import UUID

from fe.ecf.ids import moment_of
from fe.store.postgres.arrays import int4s, texts, uuids
from fe.store.postgres.db import Conn
from fe.store.records.archive import ACKNOWLEDGEMENT, APPROVAL, BEGIN, ISSUED, RECEIVED, VOIDED, PackageChain
from fe.store.records.archive_looks import NO_ID, archived, given_up, verdicts, voidings

T = TypeVar("T")

#: Rows that a statement of the planning reads: few, so that each step of the loop is short.
_LOOK = 1000

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
# OFFSET 0 has each read by its key, whatever the planner thinks of the tables.
_RECEIVED_SIZES = """
    SELECT r.*
      FROM unnest(%(ids)s::uuid[]) AS n (received_id)
     CROSS JOIN LATERAL (
        SELECT x.received_id, octet_length(a.document) + octet_length(a.acknowledgement)
          FROM received AS x
          JOIN acknowledgements AS a
            ON a.tenant_id = x.tenant_id AND a.environment = x.environment AND a.digest = x.digest AND a.reason = 0
         WHERE x.tenant_id = %(tenant)s AND a.tenant_id = %(tenant)s AND x.received_id = n.received_id
        OFFSET 0) AS r
     ORDER BY r.received_id
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
# With the chain among what is read, so that a cluster inserts them where the chain lies.
_ITEMS = """
    INSERT INTO archive_items (tenant_id, evidence_id, part, environment, number, events)
    SELECT c.tenant_id, n.evidence_id, n.part, c.environment, %(number)s::bigint, n.events
      FROM archive_chains AS c
     CROSS JOIN unnest(%(ids)s::uuid[], %(parts)s::text[], %(events)s::int[]) AS n (evidence_id, part, events)
     WHERE c.tenant_id = %(tenant)s AND c.environment = %(environment)s
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
    documents. A call looks at some times `most` rows, however many the chain has, and at few of them at once.
    """
    values: dict[str, Any] = {
        "tenant": chain.tenant_id,
        "environment": chain.environment,
        "until": until,
        "day": day,
        "at": at,
    }
    await conn.execute(BEGIN, values)
    marks = await (await conn.execute(_MARKS, values)).fetchone()
    assert marks is not None
    values["planned_until"], values["issued_until"] = marks
    number, previous, is_open = await (await conn.execute(_LAST, values)).fetchone() or (0, None, False)
    if is_open:
        return Planned.PACKAGE
    if values["planned_until"] >= until:
        return Planned.NOTHING

    draft = _Draft(most, most_bytes)
    looks = 1 + 2 * most // _LOOK
    for _ in range(looks):
        if draft.room and values["issued_until"] < until:
            values["issued_until"] = await _take_issued(conn, values, draft)
    for _ in range(looks):
        if draft.room and values["issued_until"] >= until > values["planned_until"]:
            values["planned_until"] = await _take_others(conn, values, draft)
    await conn.execute(_PLANNED, values)
    if not draft.items:
        return Planned.NOTHING if values["planned_until"] == until else Planned.PASSED
    additions = len({submission_id for submission_id, _, _ in draft.late})
    receipts = len(draft.items) - len(draft.late)
    values |= {"number": number + 1, "previous": previous, "receipts": receipts, "additions": additions}
    await conn.execute(_PACKAGE, values)
    for some in _cut([one for one, part, _ in draft.items if part == ISSUED]):
        parts = await (await conn.execute(_PARTS, {**values, "ids": uuids(some)})).fetchall()
        draft.items += [(submission_id, part, 0) for submission_id, part in parts]
    for each in _cut(draft.items):
        ids, kinds, events_of = zip(*each, strict=True)
        await conn.execute(_ITEMS, {**values, "ids": uuids(ids), "parts": texts(kinds), "events": int4s(events_of)})
    return Planned.PACKAGE


class _Draft:
    """Evidence for a package: id, part and last event of each. `late` are those that are additions."""

    def __init__(self, most: int, most_bytes: int) -> None:
        self.items: list[tuple[UUID, str, int]] = []
        self.late: list[tuple[UUID, str, int]] = []
        self.room = most
        self._bytes = most_bytes

    def take(self, one: UUID, part: str, events: int, documents: int) -> bool:
        """Add evidence; False when there is no room for it, and then there is none for any other."""
        if not self.room or (self.items and documents > self._bytes):
            self.room = 0
            return False
        self.items.append((one, part, events))
        self.room -= 1
        self._bytes -= documents
        return True


def _cut(many: Sequence[T]) -> Iterator[Sequence[T]]:
    for first in range(0, len(many), _LOOK):
        yield many[first : first + _LOOK]


async def _take_issued(conn: Conn, values: Mapping[str, Any], draft: _Draft) -> datetime:
    """Take the next receipts that are in no package; return the time to go on from, `until` when there are no more."""
    since: datetime = values["issued_until"]
    taken = {one for one, _, _ in draft.items}
    found, end = await verdicts(conn, values, since, _LOOK)
    missing = set(await _fresh(conn, values, ISSUED, [one for one, _ in found if one not in taken]))
    fresh = [(one, at) for one, at in found if one in missing][: draft.room]
    sizes = await conn.execute(_SIZES, {**values, "ids": uuids([one for one, _ in fresh])})
    known_sizes = {one: (events, size) for one, events, size in await sizes.fetchall()}
    reached: datetime = since
    for one, at in fresh:
        if not draft.take(one, ISSUED, *known_sizes[one]):
            return reached
        reached = at
    return reached if len(fresh) < len(missing) else end or values["until"]


async def _end_of_look(conn: Conn, values: Mapping[str, Any]) -> datetime:
    """Return the time, at most `until`, before which a look's rows arrived of each kind with a time of its own."""
    end: datetime = values["until"]
    for query in (_NEXT_RECEIVED, _NEXT_ANSWER, _NEXT_APPROVAL):
        room, found = _LOOK, values["planned_until"]
        while found <= values["planned_until"]:  # more rows of one moment than a look takes in
            row = await (await conn.execute(query, {**values, "until": end, "room": room})).fetchone()
            if row is None:
                break
            found, room = moment_of(row[0]) if query is _NEXT_RECEIVED else row[0], room * 2
        else:
            end = found
    return end


async def _take_others(conn: Conn, values: Mapping[str, Any], draft: _Draft) -> datetime:
    """Take what came to an end without a verdict, then what arrived late, of the next look; return its end.

    Returns its begin when the draft has not room for all. Receipts that were given up have no index by their end: the
    last look at a chain goes through all of them.
    """
    begin: datetime = values["planned_until"]
    end = await _end_of_look(conn, values)
    is_last = end == values["until"]
    values = {**values, "until": end, "since": begin}
    arrived = [one for (one,) in await (await conn.execute(_RECEIVED, values)).fetchall()]
    fresh = await _fresh(conn, values, RECEIVED, arrived)
    received = await (await conn.execute(_RECEIVED_SIZES, {**values, "ids": uuids(fresh)})).fetchall()
    ended = await voidings(conn, values)
    voided = set(await _fresh(conn, values, VOIDED, [one for one, _, _ in ended]))
    failed: list[UUID] = []
    after: UUID | None = NO_ID if is_last else None
    while after is not None and len(failed) <= draft.room:
        page, after = await given_up(conn, values, after, _LOOK)
        failed += await _fresh(conn, values, ISSUED, [one for one, at in page if at < values["until"]])
    sizes = await (await conn.execute(_SIZES, {**values, "ids": uuids(failed)})).fetchall()
    others = [
        *((one, RECEIVED, 0, size) for one, size in received),
        *((one, VOIDED, 0, size) for one, size, _ in ended if one in voided),
        *((one, ISSUED, events, size) for one, events, size in sizes),
    ]
    if not all(draft.take(*one) for one in others):
        return begin
    late = await _late(conn, values)
    draft.late += late[: draft.room]
    draft.items += late[: draft.room]
    if len(late) > draft.room:
        draft.room = 0
        return begin
    draft.room -= len(late)
    return end


async def _late(conn: Conn, values: Mapping[str, Any]) -> list[tuple[UUID, str, int]]:
    """Read acknowledgements and approvals that arrived after their receipt was packed."""
    arrived = await (await conn.execute(_ARRIVED, values)).fetchall()
    ids = uuids([one for one, _ in arrived])
    packed = await (await conn.execute(_TIMELINES, {**values, "ids": ids})).fetchall()
    grown = {one: newest if (newest or 0) > events else 0 for one, events, newest in packed}
    fresh = {
        part: set(await _fresh(conn, values, part, [one for one, of in arrived if of == part and one in grown]))
        for part in (ACKNOWLEDGEMENT, APPROVAL)
    }
    return sorted((one, part, grown[one]) for one, part in arrived if one in fresh[part])


async def _fresh(conn: Conn, values: Mapping[str, Any], part: str, ids: Sequence[UUID]) -> list[UUID]:
    """Leave out evidence that is in a package."""
    known = await archived(conn, values, part, ids)
    return [one for one in ids if one not in known]
