"""Claims of submissions on the node of a cluster that the rows lie on, for a process that is connected to it.

What is due there is looked for there, and leased there, in one call each; the coordinator says who is paused, how much
each may have, and who may sign. Only what lies on that node is claimed: each node needs a process of its own, or one
that claims by way of the coordinator, which reaches all of them. What came of the work is booked as ever.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, LiteralString
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from fe.identifiers import TenantId
from fe.lifecycle import Stage
from fe.store.postgres.arrays import int4s, int8s, moments, texts, uuids
from fe.store.postgres.db import Conn, Database
from fe.store.queue.claim import COLUMNS, read_work
from fe.store.queue.inputs import Signatory, read_signatory
from fe.store.queue.outbox import OUTBOX, OutboxLane, Work
from fe.store.queue.tables import ALWAYS, DueTenant

#: Of no anchor: we are there already.
_DUE = """
    SELECT due_on_node(0, %(stage)s, %(environments)s::text[], %(hosts)s::text[], %(afters)s::bigint[],
                       %(floors)s::timestamptz[], %(paused)s::bigint[], %(paused_in)s::text[], %(limit)s)
"""
_WEIGHTS = "SELECT lane, tenant_id, weight FROM weights_of(%(due)s, %(environments)s::text[], %(limit)s)"
_PAUSED = "SELECT tenant_id, environment FROM pauses"
_FROM = """
      FROM rows_of(claim_here(%(stage)s, %(environment)s, %(host)s, %(scope)s::bigint[],
                                         %(shares)s::int[], %(floor)s, %(holder)s, %(lease)s))
"""
_CLAIM: Mapping[Stage, LiteralString] = {stage: f"SELECT {columns}{_FROM}" for stage, columns in COLUMNS.items()}
_SIGNATORIES = "SELECT tenant_id, signatory FROM signatories_of(%(tenants)s::bigint[])"
_TRACES = """
    SELECT t.subject, trace_of(t.tenant_id, t.subject) AS trace
      FROM unnest(%(tenants)s::bigint[], %(subjects)s::uuid[]) AS t (tenant_id, subject)
"""


class NearNode:
    """Where submissions are claimed that lie on one node: a `Source` (fe/queue/stage.py).

    Raises DatabaseUnavailable, from each call, when the node or the coordinator is away.
    """

    def __init__(self, node: Database, *, traced: bool = False) -> None:
        self._node = node
        self._traced = traced
        #: Who was paused when it was last asked. They are not looked for, since they would take the others' places.
        self._paused: Sequence[tuple[int, str]] = ()

    async def floors_of(self, conn: Conn, stage: str, lanes: Sequence[OutboxLane]) -> Mapping[OutboxLane, datetime]:
        """Tell, for each lane, a moment before which no row of it is due, on any node."""
        return await OUTBOX.floors_of(conn, stage, lanes)

    async def due_tenants(
        self,
        conn: Conn,
        stage: str,
        lanes: Sequence[tuple[OutboxLane, TenantId]],
        limit: int,
        *,
        floors: Mapping[OutboxLane, datetime],
    ) -> Mapping[OutboxLane, Sequence[DueTenant]]:
        """Name, for each lane, up to `limit` tenants that have work due on the node and are not paused."""
        found: dict[OutboxLane, list[DueTenant]] = {lane: [] for lane, _ in lanes}
        environments = texts([lane.environment for lane, _ in lanes])
        if self._paused:
            await self._look_who_is_paused(conn)
        asked = {
            "stage": stage,
            "environments": environments,
            "hosts": texts([lane.host for lane, _ in lanes]),
            "afters": int8s([after for _, after in lanes]),
            "floors": moments([floors.get(lane, ALWAYS) for lane, _ in lanes]),
            "paused": int8s([tenant_id for tenant_id, _ in self._paused]),
            "paused_in": texts([environment for _, environment in self._paused]),
            "limit": limit,
        }
        due = await self._node.run(_look, asked)
        if not due:
            return found
        cursor = await conn.execute(_WEIGHTS, {"due": Jsonb(due), "environments": environments, "limit": limit})
        for nth, tenant_id, weight in await cursor.fetchall():
            found[lanes[nth - 1][0]].append(DueTenant(tenant_id, weight))
        looked_for = Counter(nth for nth, _ in {(nth, tenant_id) for nth, tenant_id, *_ in due})
        if any(len(found[lanes[nth - 1][0]]) < min(many, limit) for nth, many in looked_for.items()):
            await self._look_who_is_paused(conn)
        return found

    async def _look_who_is_paused(self, conn: Conn) -> None:
        self._paused = await (await conn.execute(_PAUSED)).fetchall()

    async def claim(
        self,
        conn: Conn,
        stage: str,
        lane: OutboxLane,
        scope: Sequence[TenantId],
        shares: Sequence[int],
        *,
        lease: timedelta,
        holder: str,
        floor: datetime,
    ) -> Sequence[Work]:
        """Lease due rows of the tenants in `scope`, of each at most its share, with what their next step needs."""
        asked = {
            "stage": stage,
            "environment": lane.environment,
            "host": lane.host,
            "scope": int8s(scope),
            "shares": int4s(shares),
            "floor": floor,
            "holder": holder,
            "lease": lease,
        }
        of = Stage(stage)
        rows = await self._node.run(_lease, _CLAIM[of], asked)
        if not rows:
            return []
        # The rows are leased: cancelled from here on, they are left to their lease, as by an answer that is lost.
        # A coordinator that is away now is met again by the step itself, which then asks for what it needs.
        signatories: Mapping[TenantId, Signatory] = {}
        traces: Mapping[UUID, str] = {}
        with suppress(psycopg.OperationalError):
            if of is Stage.SIGN:
                signatories = await _signatories(conn, rows)
            if self._traced:
                traces = await _traces(conn, rows)
        return [read_work(of, lane, row, signatories.get(row[0]), traces.get(row[1])) for row in rows]


async def _look(node: Conn, asked: Mapping[str, Any]) -> list[tuple[int, int, int, str]]:
    row = await (await node.execute(_DUE, asked)).fetchone()
    assert row is not None  # a function always answers
    due: list[tuple[int, int, int, str]] = row[0]
    return due


async def _lease(node: Conn, statement: LiteralString, asked: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    return await (await node.execute(statement, asked, binary=True)).fetchall()


async def _signatories(conn: Conn, rows: Sequence[tuple[Any, ...]]) -> dict[TenantId, Signatory]:
    cursor = await conn.execute(_SIGNATORIES, {"tenants": int8s(sorted({row[0] for row in rows}))})
    return {tenant_id: read_signatory(said) for tenant_id, said in await cursor.fetchall()}


async def _traces(conn: Conn, rows: Sequence[tuple[Any, ...]]) -> dict[UUID, str]:
    asked = {"tenants": int8s([row[0] for row in rows]), "subjects": uuids([row[1] for row in rows])}
    cursor = await conn.execute(_TRACES, asked)
    return {subject: trace for subject, trace in await cursor.fetchall() if trace is not None}
