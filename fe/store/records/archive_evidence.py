"""The evidence of a package, read in the order in which a package has it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from uuid import UUID

from fe.archive.evidence import (
    Addition,
    ArchivedEvent,
    ArchiveKind,
    Evidence,
    IssuedReceipt,
    ReceivedReceipt,
    VoidingEvidence,
)
from fe.ecf.catalogue import Root
from fe.identifiers import SubmissionId
from fe.lifecycle import Status
from fe.store.postgres.arrays import int4s, texts, uuids
from fe.store.postgres.db import Conn
from fe.store.records.archive import ACKNOWLEDGEMENT, APPROVAL, ISSUED, RECEIVED, VOIDED, Package

#: The first amount of that name: of receipts from before amounts were kept beside them.
_TOTAL = re.compile(rb"<MontoTotal>\s*([0-9]+(?:\.[0-9]+)?)\s*</MontoTotal>")
_NO_ID = UUID(int=0)


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the order of a package: issued receipts by id, then received ones, then voidings."""

    kind: ArchiveKind = ArchiveKind.ISSUED
    after: UUID = _NO_ID


_ITEMS = """
    SELECT i.evidence_id, array_agg(i.part), max(i.events)
      FROM archive_items AS i
     WHERE i.tenant_id = %(tenant)s AND i.environment = %(environment)s AND i.number = %(number)s
       AND i.part = ANY (%(kinds)s) AND i.evidence_id > %(after)s
     GROUP BY i.evidence_id
     ORDER BY i.evidence_id
     LIMIT %(limit)s
"""
# Of tables that are cut by month, each receipt is read by its key, so in its own month alone: a list of ids would be
# looked up in every month. OFFSET 0 has it so, whatever the planner thinks of the tables.
_SUBMISSIONS = """
    SELECT s.*
      FROM unnest(%(ids)s::uuid[]) AS n (submission_id)
     CROSS JOIN LATERAL (
        SELECT x.submission_id, x.root::text, x.issuer_rnc, x.status::text, x.e_ncf, x.total
          FROM submissions AS x
         WHERE x.tenant_id = %(tenant)s AND x.submission_id = n.submission_id
        OFFSET 0) AS s
"""
_DOCUMENTS = """
    SELECT d.*
      FROM unnest(%(ids)s::uuid[]) AS n (submission_id)
     CROSS JOIN LATERAL (
        SELECT x.submission_id, x.kind::text, x.content
          FROM submission_documents AS x
         WHERE x.tenant_id = %(tenant)s AND x.submission_id = n.submission_id
        OFFSET 0) AS d
"""
_EVENTS = """
    SELECT v.*
      FROM unnest(%(ids)s::uuid[], %(events)s::int[]) AS n (submission_id, events)
     CROSS JOIN LATERAL (
        SELECT x.submission_id, x.seq, x.at, x.kind, x.detail::text, x.hash
          FROM submission_events AS x
         WHERE x.tenant_id = %(tenant)s AND x.submission_id = n.submission_id AND x.seq <= n.events
        OFFSET 0) AS v
     ORDER BY v.submission_id, v.seq
"""
_ACKNOWLEDGEMENTS = """
    SELECT d.submission_id, d.answer
      FROM counterparty_deliveries AS d
     WHERE d.tenant_id = %(tenant)s AND d.submission_id = ANY (%(ids)s)
"""
_APPROVALS = """
    SELECT a.submission_id, a.document
      FROM received_approvals AS a
     WHERE a.tenant_id = %(tenant)s AND a.submission_id = ANY (%(ids)s)
"""
_RECEIVED = """
    SELECT r.*
      FROM unnest(%(ids)s::uuid[]) AS n (received_id)
     CROSS JOIN LATERAL (
        SELECT x.received_id, x.issuer_rnc, x.e_ncf, x.total, a.document, a.acknowledgement
          FROM received AS x
          JOIN acknowledgements AS a
            ON a.tenant_id = x.tenant_id AND a.environment = x.environment AND a.digest = x.digest AND a.reason = 0
         WHERE x.tenant_id = %(tenant)s AND a.tenant_id = %(tenant)s AND x.received_id = n.received_id
        OFFSET 0) AS r
     ORDER BY r.received_id
"""
_VOIDINGS = """
    SELECT v.subject, v.issuer_rnc, v.stage, v.document, v.requested_at, v.finished_at, v.reason, v.answer::text
      FROM voidings AS v
     WHERE v.tenant_id = %(tenant)s AND v.subject = ANY (%(ids)s)
     ORDER BY v.subject
"""
#: Parts of each kind.
_PARTS = {
    ArchiveKind.ISSUED: (ISSUED, ACKNOWLEDGEMENT, APPROVAL),
    ArchiveKind.RECEIVED: (RECEIVED,),
    ArchiveKind.VOIDED: (VOIDED,),
}
_NEXT = {ArchiveKind.ISSUED: ArchiveKind.RECEIVED, ArchiveKind.RECEIVED: ArchiveKind.VOIDED}


async def read_page(
    conn: Conn, package: Package, position: Position, limit: int
) -> tuple[list[Evidence], Position | None]:
    """Read the next evidence of a package, and the position after it; None at the end.

    Reads only what the plan named, so that each repeat gets the same. Run it in a transaction of its own.
    """
    await conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    values: dict[str, Any] = {
        "tenant": package.tenant_id,
        "environment": package.environment,
        "number": package.number,
        "kinds": texts(_PARTS[position.kind]),
        "after": position.after,
        "limit": limit,
    }
    items = await (await conn.execute(_ITEMS, values)).fetchall()
    if not items:
        following = _NEXT.get(position.kind)
        return [], None if following is None else Position(following)
    ids = [one for one, _, _ in items]
    values |= {"ids": uuids(ids), "events": int4s([events for _, _, events in items])}
    if position.kind is ArchiveKind.RECEIVED:
        found: list[Evidence] = [
            ReceivedReceipt(received_id, issuer, e_ncf, total, bytes(document), bytes(acknowledgement))
            for received_id, issuer, e_ncf, total, document, acknowledgement in await _all(conn, _RECEIVED, values)
        ]
    elif position.kind is ArchiveKind.VOIDED:
        found = [
            VoidingEvidence(one, issuer, stage, bytes(document), requested_at, finished_at, reason, answer)
            for one, issuer, stage, document, requested_at, finished_at, reason, answer in await _all(
                conn, _VOIDINGS, values
            )
        ]
    else:
        found = await _issued(conn, values, items)
    return found, Position(position.kind, ids[-1])


async def _all(conn: Conn, query: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    return await (await conn.execute(query.encode(), values)).fetchall()


async def _issued(
    conn: Conn, values: Mapping[str, Any], items: Sequence[tuple[UUID, Sequence[str], int]]
) -> list[Evidence]:
    submissions = {row[0]: row[1:] for row in await _all(conn, _SUBMISSIONS, values)}
    documents: dict[UUID, dict[str, bytes]] = {}
    for submission_id, kind, content in await _all(conn, _DOCUMENTS, values):
        documents.setdefault(submission_id, {})[kind] = bytes(content)
    events: dict[UUID, list[ArchivedEvent]] = {}
    for submission_id, seq, at, kind, detail, digest in await _all(conn, _EVENTS, values):
        events.setdefault(submission_id, []).append(ArchivedEvent(seq, at, kind, detail, bytes(digest)))
    parts = {part for _, parts, _ in items for part in parts}
    later: dict[tuple[UUID, str], bytes] = {}
    for part, query in ((ACKNOWLEDGEMENT, _ACKNOWLEDGEMENTS), (APPROVAL, _APPROVALS)):
        if part in parts:
            later |= {(one, part): bytes(content) for one, content in await _all(conn, query, values) if content}
    found: list[Evidence] = []
    for submission_id, chosen, _ in items:
        root, issuer, status, e_ncf, total = submissions[submission_id]
        timeline = tuple(events.get(submission_id, ()))
        acknowledgement = later.get((submission_id, ACKNOWLEDGEMENT)) if ACKNOWLEDGEMENT in chosen else None
        approval = later.get((submission_id, APPROVAL)) if APPROVAL in chosen else None
        if ISSUED not in chosen:
            found.append(
                Addition(
                    ArchiveKind.ISSUED,
                    submission_id,
                    issuer,
                    e_ncf,
                    acknowledgement=acknowledgement,
                    approval=approval,
                    events=timeline,
                )
            )
            continue
        own = documents.get(submission_id, {})
        signed = own.get("signed", b"")
        found.append(
            IssuedReceipt(
                id=SubmissionId(submission_id),
                root=Root(root),
                issuer_rnc=issuer or "",
                status=Status(status),
                signed=signed,
                events=timeline,
                e_ncf=e_ncf,
                total=_total_of(root, total, signed),
                summary=own.get("sent"),
                original=own.get("original"),
                acknowledgement=acknowledgement,
                approval=approval,
            )
        )
    return found


def _total_of(root: str, total: Decimal | None, signed: bytes) -> Decimal | None:
    if total is not None or root not in (Root.ECF, Root.RFCE):
        return total
    found = _TOTAL.search(signed)
    return None if found is None else Decimal(found[1].decode())
