"""Node-local claims: leases submissions on the cluster node that stores them, for a process connected to it.

One call on the node finds and leases due rows, with the pauses and weights that the coordinator gave at the previous
claim. Then the coordinator is asked for the current ones and for the signatories: if pauses changed, all rows are given
back and claimed again. Only rows on that node are claimed: each node needs a process of its own, or one that claims
through the coordinator. Outcomes are written as usual.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, LiteralString
from uuid import UUID

from fe.clock import Clock
from fe.identifiers import TenantId
from fe.lifecycle import Stage
from fe.store.postgres.arrays import int4s, int8s, texts, uuids
from fe.store.postgres.db import Conn, Database
from fe.store.queue import outbox
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
_AT_ONCE = timedelta(0)
_TRACES = """
    SELECT t.subject, trace_of(t.tenant_id, t.subject) AS trace
      FROM unnest(%(tenants)s::bigint[], %(subjects)s::uuid[]) AS t (tenant_id, subject)
"""


class NodeLocalClaims:
    """Claims submissions stored on one node."""

    def __init__(self, node: Database, clock: Clock, *, traced: bool = False) -> None:
        self._node = node
        self._clock = clock
        self._traced = traced
        #: The coordinator's answer at the last claim.
        self._ask_coordinator: _ClaimAnswer | None = None

    async def claim(
        self, conn: Conn, stage: str, lanes: Sequence[LaneCapacity], terms: Terms
    ) -> Sequence[LaneClaim[Work]]:
        """Lease due rows of all lanes that lie on the node, as `claim_together` does of all nodes.

        `conn`: one with the coordinator. Raises DatabaseUnavailable when it or the node is away. A claim that fails or
        is cancelled once rows were leased leaves them to their lease, as an answer that is lost does.
        """
        of = Stage(stage)
        asked = parameters_of(of, lanes, terms)

        async def lease(answer: _ClaimAnswer) -> list[tuple[Any, ...]]:
            return await self._node.run(_lease, _CLAIM[of], {**asked, **answer.to_node})

        answer = self._ask_coordinator or await _ask_coordinator(conn, ())
        self._ask_coordinator = None  # nothing is leased before the coordinator has answered once more
        while True:
            before, rows = answer, await lease(answer)
            answer = await _ask_coordinator(conn, _tenants_of(rows) if of is Stage.SIGN else ())
            if answer.paused == before.paused:
                break
            await self._give_back(conn, [work for each in read_claims(of, lanes, rows, {}, {}) for work in each.works])
        self._ask_coordinator = answer
        traces = await _traces(conn, rows) if self._traced else {}
        return read_claims(of, lanes, rows, answer.signatories, traces)

    async def _give_back(self, conn: Conn, works: Sequence[Work]) -> None:
        if not works:
            return
        await outbox.retry(
            conn,
            works,
            at=self._clock(),
            afters=[_AT_ONCE] * len(works),
            counts=[False] * len(works),
            errors=["work was paused or resumed while it was claimed"] * len(works),
        )


@dataclass(frozen=True, slots=True)
class _ClaimAnswer:
    """The coordinator's answer: pauses and weights for the node, and the signatories."""

    #: Tenants and environments, one by one.
    paused: frozenset[tuple[TenantId, str]]
    to_node: Mapping[str, Any]
    signatories: Mapping[TenantId, Signatory]


async def _ask_coordinator(conn: Conn, tenants: Sequence[TenantId]) -> _ClaimAnswer:
    row = await (await conn.execute(_TOLD, {"tenants": int8s(tenants)})).fetchone()
    assert row is not None  # it always has one
    paused, paused_in, weighted, weights, known, signatories = row
    return _ClaimAnswer(
        frozenset(zip(paused, paused_in, strict=True)),
        {
            "paused": int8s(paused),
            "paused_in": texts(paused_in),
            "weighted": int8s(weighted),
            "weights": int4s(weights),
        },
        dict(zip(known or (), map(read_signatory, signatories or ()), strict=True)),
    )


def _tenants_of(rows: Sequence[tuple[Any, ...]]) -> list[TenantId]:
    return sorted({row[4] for row in rows if row[4] is not None})


async def _lease(node: Conn, statement: LiteralString, asked: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    return await (await node.execute(statement, asked, binary=True)).fetchall()


async def _traces(conn: Conn, rows: Sequence[tuple[Any, ...]]) -> dict[UUID, str]:
    claimed = [row for row in rows if row[4] is not None]
    if not claimed:
        return {}
    asked = {"tenants": int8s([row[4] for row in claimed]), "subjects": uuids([row[5] for row in claimed])}
    cursor = await conn.execute(_TRACES, asked)
    return {subject: trace for subject, trace in await cursor.fetchall() if trace is not None}
