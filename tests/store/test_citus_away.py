"""A node that is away: its tenants are refused at once, and all others are served as if nothing were."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
import trio

from fe.actors.writers import submission_kind
from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.issuing.accept import Acceptance
from fe.lifecycle import Stage
from fe.monitoring.metrics import Metrics
from fe.queue.outcome import Outcome, Retry
from fe.queue.result_writer import ResultWriter
from fe.store.citus.engine import CITUS
from fe.store.citus.nodes import groups_of
from fe.store.postgres.db import Conn, Database, open_database
from fe.store.postgres.errors import DatabaseUnavailable, NodeUnavailable
from fe.store.postgres.roles import FRONT, OPERATOR, PORTAL, RECEPTION, WORKER
from fe.store.queue.capacity import LaneCapacity, Terms
from fe.store.queue.claim import claim_together
from fe.store.queue.outbox import OutboxLane, Work
from fe.store.queue.tables import ALWAYS
from fe.store.queue.wakeups import Wakeups
from tests import citus
from tests.factories.tenants import make_tenant, new_submission
from tests.store.test_citus_shards import node_of
from tests.waiting import until

pytestmark = pytest.mark.skipif(citus.programs() is None, reason="there is no cluster (make citus)")

_LANE = LaneCapacity(OutboxLane(Environment.ECF), TenantId(0), ALWAYS, 100, 0)
_TERMS = Terms(timedelta(minutes=5), "me", 100, 100, 64, 100, {})


@pytest.fixture
async def tenants(db: Database, dsn: str) -> tuple[TenantId, TenantId]:
    """One of each node."""
    near, far = await make_tenant(db), await make_tenant(db)
    with psycopg.connect(dsn, autocommit=True) as conn:
        while node_of(conn, far) == node_of(conn, near):
            far = await make_tenant(db)
    return near, far


@asynccontextmanager
async def away(dsn: str, tenant: TenantId) -> AsyncIterator[None]:
    """The node of a tenant cannot be reached by connections that are opened meanwhile."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        host, port = node_of(conn, tenant)
        where = "UPDATE pg_dist_node SET nodeport = %s WHERE (nodename, nodeport) = (%s, %s)"
        conn.execute(where, (1, host, port))
        try:
            yield
        finally:
            conn.execute(where, (port, host, 1))


async def accept(acceptance: Acceptance, tenant: TenantId, into: list[str]) -> None:
    try:
        accepted = await acceptance.accept(new_submission(tenant), datetime.now(UTC))
        into.append(accepted.outcome)
    except DatabaseUnavailable as error:
        into.append(type(error).__name__)


async def accept_together(acceptance: Acceptance, near: TenantId, far: TenantId) -> tuple[list[str], list[str]]:
    answers: tuple[list[str], list[str]] = [], []
    async with trio.open_nursery() as nursery:
        for _ in range(8):
            nursery.start_soon(accept, acceptance, near, answers[0])
            nursery.start_soon(accept, acceptance, far, answers[1])
    return answers


async def test_tenants_of_the_others_are_served_and_its_own_are_refused_until_it_is_back(
    dsn: str, tenants: tuple[TenantId, TenantId]
) -> None:
    """Rows of all tenants are written together: one must not fail the others."""
    near, far = tenants
    async with open_database(dsn, max_size=4, role=FRONT, engine=CITUS) as front:
        acceptance = Acceptance(front, Wakeups(front))
        async with acceptance.running():
            async with away(dsn, far):
                for _ in range(3):
                    answers = await accept_together(acceptance, near, far)
                    assert answers == (["accepted"] * 8, ["NodeUnavailable"] * 8)
                assert front.has_silent_nodes
                with pytest.raises(NodeUnavailable, match="does not answer"):
                    await front.run_for(far, count)
                assert await front.run_for(near, count) == 24
                several = await acceptance.accept_together(
                    [new_submission(near), new_submission(far), new_submission(near)], datetime.now(UTC)
                )
                assert [type(answer).__name__ for answer in several] == ["Accepted", "NodeUnavailable", "Accepted"]
            await until(lambda: not front.has_silent_nodes)
            assert await accept_together(acceptance, near, far) == (["accepted"] * 8, ["accepted"] * 8)


async def test_what_is_due_on_the_others_is_claimed_and_what_came_of_it_is_written(
    db: Database, dsn: str, tenants: tuple[TenantId, TenantId]
) -> None:
    near, far = tenants
    async with open_database(dsn, max_size=4, role=FRONT, engine=CITUS) as front:
        acceptance = Acceptance(front, Wakeups(front))
        async with acceptance.running():
            await accept_together(acceptance, near, far)
    works = await db.run(claim)
    assert {work.tenant_id for work in works} == {near, far}

    async with open_database(dsn, max_size=4, role=WORKER, engine=CITUS) as actors, away(dsn, far):
        bookings = ResultWriter(submission_kind(Metrics()), actors, lambda: datetime.now(UTC))
        for many in (8, 4):  # as it is found out, and when it is known
            said: dict[TenantId, list[str]] = {near: [], far: []}

            def answered(item: tuple[Work, Outcome], outcome: Outcome | Exception) -> None:
                said[item[0].tenant_id].append(type(outcome).__name__)  # noqa: B023  (called before the next turn)

            async with bookings.running():
                for work in [*_of(works, near)[:many], *_of(works, far)[:many]]:
                    bookings.add(work, Retry("again", timedelta(0)), answered)
            assert set(said[near]) == {"Retry"}
            assert said[far] == ["DatabaseUnavailable"] * many or said[far] == ["NodeUnavailable"] * many
            works = await actors.run(claim) + _of(works, far)
            assert len(_of(works, near)) == many
        assert actors.has_silent_nodes


async def claim(conn: Conn) -> list[Work]:
    return [work for claim in await claim_together(conn, Stage.SIGN, [_LANE], _TERMS) for work in claim.works]


async def count(conn: Conn, tenant_id: TenantId) -> int:
    cursor = await conn.execute("SELECT count(*) FROM submissions WHERE tenant_id = %s", (tenant_id,))
    (row,) = await cursor.fetchall()
    return int(row[0])


async def test_each_role_may_ask_which_nodes_are_away(dsn: str, tenants: tuple[TenantId, TenantId]) -> None:
    near, far = tenants
    for role in (FRONT, PORTAL, WORKER, OPERATOR, RECEPTION):
        async with open_database(dsn, max_size=1, role=role, engine=CITUS) as database:
            assert await database.ask_nodes() == []
            assert len(set(await database.run(groups_of, [near, far]))) == 2
            async with away(dsn, far):
                (silent,) = await database.ask_nodes()
            assert [silent] == await database.run(groups_of, [far])


def _of(works: list[Work], tenant: TenantId) -> list[Work]:
    return [work for work in works if work.tenant_id == tenant]
