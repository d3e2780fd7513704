"""Claims of submissions on the node of a cluster that the rows lie on, for a process that is connected to it.

The coordinator says who is paused, the weights, and who may sign. Then what is due on the node is looked for and leased
there, in one call. Only what lies on that node is claimed: each node needs a process of its own, or one that claims by
way of the coordinator, which reaches all of them. What came of the work is booked as ever.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, LiteralString
from uuid import UUID

import psycopg
import trio

from fe.identifiers import TenantId
from fe.lifecycle import Stage
from fe.store.postgres.arrays import int4s, int8s, texts, uuids
from fe.store.postgres.db import Conn, Database
from fe.store.queue.capacity import LaneCapacity, LaneClaim, Terms
from fe.store.queue.claim import COLUMNS, PARAMETERS, parameters_of, read_claims
from fe.store.queue.inputs import Signatory, read_signatory
from fe.store.queue.outbox import Work

_TOLD = """
    SELECT paused, paused_in, weighted, weights, tenants, signatories FROM told_to_node(%(tenants)s::bigint[])
"""
_CLAIM: Mapping[Stage, LiteralString] = {
    stage: f"""
        SELECT lane, due, tenants, shares, {columns}
          FROM claim_on_node({PARAMETERS}, %(paused)s::bigint[], %(paused_in)s::text[], %(weighted)s::bigint[],
                             %(weights)s::int[])
    """
    for stage, columns in COLUMNS.items()
}
#: Who may sign is asked before the rows are known. A row that came since, or nearly, is signed by who may do so now:
#: clocks of the node and the coordinator may be so far apart.
_SLACK = timedelta(seconds=2)
_TRACES = """
    SELECT t.subject, trace_of(t.tenant_id, t.subject) AS trace
      FROM unnest(%(tenants)s::bigint[], %(subjects)s::uuid[]) AS t (tenant_id, subject)
"""


class NearNode:
    """Where submissions are claimed that lie on one node."""

    def __init__(self, node: Database, *, traced: bool = False) -> None:
        self._node = node
        self._traced = traced
        #: Whose rows were claimed to be signed last, where nobody else had any: they are likely to be the next, too.
        self._lately: Sequence[TenantId] = ()

    async def claim(
        self, conn: Conn, stage: str, lanes: Sequence[LaneCapacity], terms: Terms
    ) -> Sequence[LaneClaim[Work]]:
        """Lease due rows of all lanes that lie on the node, as `claim_together` does of all nodes.

        `conn`: one with the coordinator. Raises DatabaseUnavailable when it or the node is away. A claim that is
        cancelled once rows were leased leaves them to their lease, as an answer that is lost does.
        """
        of = Stage(stage)
        asked_at = trio.current_time()
        told = await _told(conn, self._lately if of is Stage.SIGN else ())
        rows = await self._node.run(_lease, _CLAIM[of], {**parameters_of(of, lanes, terms), **told.to_node})
        claimed = [row for row in rows if row[4] is not None]
        signatories, traces = told.signatories, dict[UUID, str]()
        whose = sorted({row[4] for row in claimed})
        if of is Stage.SIGN:
            self._lately = whose if all(row[1] <= len(row[2]) for row in rows if row[4] is None) else ()
            age = timedelta(seconds=trio.current_time() - asked_at) + _SLACK
            if not signatories.keys() >= set(whose) or any(row[9] < age for row in claimed):
                signatories = {}
        # A coordinator that is away now is met again by the step itself, which then asks for what it needs.
        with suppress(psycopg.OperationalError):
            if of is Stage.SIGN and whose and not signatories:
                signatories = (await _told(conn, whose)).signatories
            if self._traced and claimed:
                traces = await _traces(conn, claimed)
        return read_claims(of, lanes, rows, signatories, traces)


@dataclass(frozen=True, slots=True)
class _Told:
    """What the coordinator alone knows: what the node is told, and who may sign."""

    to_node: Mapping[str, Any]
    signatories: Mapping[TenantId, Signatory]


async def _told(conn: Conn, tenants: Sequence[TenantId]) -> _Told:
    row = await (await conn.execute(_TOLD, {"tenants": int8s(tenants)})).fetchone()
    assert row is not None  # it always has one
    paused, paused_in, weighted, weights, known, signatories = row
    return _Told(
        {
            "paused": int8s(paused),
            "paused_in": texts(paused_in),
            "weighted": int8s(weighted),
            "weights": int4s(weights),
        },
        dict(zip(known or (), map(read_signatory, signatories or ()), strict=True)),
    )


async def _lease(node: Conn, statement: LiteralString, asked: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    return await (await node.execute(statement, asked, binary=True)).fetchall()


async def _traces(conn: Conn, claimed: Sequence[tuple[Any, ...]]) -> dict[UUID, str]:
    asked = {"tenants": int8s([row[4] for row in claimed]), "subjects": uuids([row[5] for row in claimed])}
    cursor = await conn.execute(_TRACES, asked)
    return {subject: trace for subject, trace in await cursor.fetchall() if trace is not None}
