"""A process that is connected to a node claims what lies there: all of it, nothing else, nothing twice."""

import random
import threading
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.lifecycle import Stage
from fe.store.citus.distribution import NoCitus
from fe.store.citus.engine import CITUS
from fe.store.citus.node_local_claims import NodeLocalClaims
from fe.store.citus.nodes import require_node
from fe.store.postgres.connection_limit import TooFewConnections
from fe.store.postgres.db import Conn, Database, open_database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.postgres.migrate import verify_node
from fe.store.postgres.roles import WORKER
from fe.store.queue.capacity import LaneCapacity, LaneClaim, Terms
from fe.store.queue.claim import claim_together
from fe.store.queue.inputs import SigningInput
from fe.store.queue.outbox import OutboxLane, Work
from fe.store.queue.tables import ALWAYS
from ops.citus.cluster import Cluster
from tests import citus
from tests.factories.tenants import make_submission, make_tenant, rows
from tests.store.claims_at_random import STAGES, asked, fill, plain, rolled_back
from tests.store.test_citus_shards import move, node_of
from tests.waiting import until

pytestmark = pytest.mark.skipif(citus.programs() is None, reason="there is no cluster (make citus)")

_LANE = OutboxLane(Environment.ECF)
_LEASE = timedelta(minutes=5)
_WAITED = "UPDATE outbox SET entered_at = now() - %(waited)s::interval WHERE tenant_id = %(tenant)s"
_PAUSE = """
    INSERT INTO pauses (tenant_id, environment, paused_at, reason, paused_by)
    VALUES (%(tenant)s, 'ecf', now(), 'r', 'me')
"""
_RENAMED = """
    UPDATE tenants SET issuer = jsonb_set(issuer, '{name}', to_jsonb(%(name)s::text)) WHERE tenant_id = %(tenant)s
"""
_TERMS = Terms(_LEASE, "near", 100, 100, 64, 100, {})


class _Failing:
    """A connection with a coordinator that goes away."""

    async def execute(self, *_: object) -> None:
        raise psycopg.OperationalError("the coordinator is away")


def addresses(dsn: str, cluster: Cluster) -> dict[tuple[object, ...], str]:
    """Where each node that keeps rows is reached, by its name and port in the cluster."""
    name = str(conninfo_to_dict(dsn)["dbname"])
    return {(node.host, node.port): node.database(name) for node in cluster.nodes[1:]}


@pytest.fixture
async def nodes(dsn: str, cluster: Cluster, db: Database) -> AsyncIterator[dict[tuple[object, ...], Database]]:
    async with AsyncExitStack() as opened:
        yield {
            place: await opened.enter_async_context(open_database(address, max_size=2, role=WORKER, engine=CITUS))
            for place, address in addresses(dsn, cluster).items()
        }


async def tenant_on_each(db: Database, dsn: str, places: set[tuple[object, ...]]) -> dict[tuple[object, ...], TenantId]:
    found: dict[tuple[object, ...], TenantId] = {}
    with psycopg.connect(dsn, autocommit=True) as conn:
        while set(found) != places:
            tenant = await make_tenant(db)
            found.setdefault(node_of(conn, tenant), tenant)
    return found


async def claim_near(db: Database, node: Database, most: int = 100, after: int = 0) -> list[LaneClaim[Work]]:
    """Claim of the first lane what there is, of each tenant at most `most`."""
    lane = LaneCapacity(_LANE, TenantId(after), ALWAYS, most, 0)
    return list(
        await db.run(
            NodeLocalClaims(node, system_clock).claim, Stage.SIGN, [lane], replace(_TERMS, slots=most, max_rows=most)
        )
    )


async def works_near(db: Database, node: Database, most: int = 100) -> list[Work]:
    return [work for claim in await claim_near(db, node, most) for work in claim.works]


async def tenants_on(db: Database, dsn: str, place: tuple[object, ...], many: int) -> list[TenantId]:
    tenants: list[TenantId] = []
    with psycopg.connect(dsn, autocommit=True) as conn:
        while len(tenants) < many:
            tenant = await make_tenant(db)
            tenants += [tenant] * (node_of(conn, tenant) == place)
    return tenants


async def test_each_node_gives_what_lies_there_with_what_the_coordinator_would_give(
    db: Database, dsn: str, nodes: dict[tuple[object, ...], Database]
) -> None:
    tenants = await tenant_on_each(db, dsn, set(nodes))
    subjects = {place: {await make_submission(db, tenant) for _ in range(3)} for place, tenant in tenants.items()}

    near: dict[tuple[object, ...], Work] = {}
    for place, node in nodes.items():
        (near[place],) = await works_near(db, node, most=1)
        rest = await works_near(db, node)
        assert {near[place].subject, *(work.subject for work in rest)} == subjects[place]
        assert await works_near(db, node) == []
        assert {(work.attempt, work.epoch, work.last_error) for work in [near[place], *rest]} == {(1, 1, None)}

    async def by_way_of_the_coordinator(conn: Conn) -> list[Work]:
        lane = LaneCapacity(_LANE, TenantId(0), ALWAYS, 2, 0)  # one more than there is: the next claim looks anew
        (claimed,) = await claim_together(conn, Stage.SIGN, [lane], replace(_TERMS, slots=2, max_rows=2))
        return list(claimed.works)

    for place, tenant in tenants.items():
        again = await make_submission(db, tenant)
        (other,) = await db.run(by_way_of_the_coordinator)
        assert other.subject == again
        (here, there) = (near[place].input, other.input)
        assert isinstance(here, SigningInput)
        assert isinstance(there, SigningInput)
        assert replace(here, e_ncf=there.e_ncf) == there


async def test_who_is_paused_is_not_claimed_nor_in_the_way_of_others(
    db: Database, dsn: str, nodes: dict[tuple[object, ...], Database]
) -> None:
    place, node = next(iter(nodes.items()))
    paused, other = await tenants_on(db, dsn, place, 2)
    for tenant in (paused, other):
        await make_submission(db, tenant)
    await rows(db, _PAUSE, tenant=paused)
    assert [work.tenant_id for work in await works_near(db, node, most=1)] == [other]
    assert await works_near(db, node) == []
    await rows(db, "DELETE FROM pauses WHERE tenant_id = %(tenant)s", tenant=paused)
    assert [work.tenant_id for work in await works_near(db, node)] == [paused]  # at once


@pytest.mark.parametrize("of_both", [True, False], ids=["due are both", "due is the other"])
async def test_who_was_paused_or_resumed_since_the_claim_before_is_treated_so(
    db: Database, dsn: str, nodes: dict[tuple[object, ...], Database], of_both: bool
) -> None:
    """The node gets the pauses of the claim before; the coordinator afterwards returns the current ones."""
    place, node = next(iter(nodes.items()))
    one, other = await tenants_on(db, dsn, place, 2)
    near = NodeLocalClaims(node, system_clock)

    async def claim() -> list[TenantId]:
        lane = LaneCapacity(_LANE, TenantId(0), ALWAYS, 100, 0)
        claims = await db.run(near.claim, Stage.SIGN, [lane], _TERMS)
        return sorted(work.tenant_id for claim in claims for work in claim.works)

    assert await claim() == []
    kept = await make_submission(db, one)
    if of_both:
        await make_submission(db, other)
    await rows(db, _PAUSE, tenant=one)

    assert await claim() == [other] * of_both
    (row,) = await rows(
        db, "SELECT holder, attempt, run_at <= now() AS due FROM outbox WHERE subject = %(id)s", id=kept
    )
    assert row == {"holder": None, "attempt": 0, "due": True}
    await rows(db, "DELETE FROM pauses WHERE tenant_id = %(tenant)s", tenant=one)
    assert await claim() == [one]


async def test_a_coordinator_that_fails_is_asked_first_afterwards(
    db: Database, dsn: str, nodes: dict[tuple[object, ...], Database]
) -> None:
    place, node = next(iter(nodes.items()))
    (tenant,) = await tenants_on(db, dsn, place, 1)
    near, lane = NodeLocalClaims(node, system_clock), LaneCapacity(_LANE, TenantId(0), ALWAYS, 1, 0)
    terms = replace(_TERMS, slots=1, max_rows=1)

    async def left() -> int:
        (row,) = await rows(db, "SELECT count(*) AS left FROM outbox WHERE holder IS NULL")
        return int(row["left"])

    for _ in range(3):
        await make_submission(db, tenant)
    assert [len(claim.works) for claim in await db.run(near.claim, Stage.SIGN, [lane], terms)] == [1]
    for _ in range(3):
        with pytest.raises(psycopg.OperationalError):
            await near.claim(_Failing(), Stage.SIGN, [lane], terms)  # type: ignore[arg-type]  # all that is used of it
    assert await left() == 1  # that of the first time, which its lease gives back
    assert [len(claim.works) for claim in await db.run(near.claim, Stage.SIGN, [lane], terms)] == [1]


async def test_tenants_of_a_node_are_served_in_turn_by_their_weights(
    db: Database, dsn: str, nodes: dict[tuple[object, ...], Database]
) -> None:
    place, node = next(iter(nodes.items()))
    light, heavy = await tenants_on(db, dsn, place, 2)
    await rows(db, "UPDATE tenants SET weight = 3 WHERE tenant_id = %(tenant)s", tenant=heavy)
    for tenant in (light, heavy):
        for _ in range(8):
            await make_submission(db, tenant)

    (first,) = await claim_near(db, node, most=8)
    assert (first.due, first.shares) == (2, {light: 3, heavy: 5})
    assert Counter(work.tenant_id for work in first.works) == {light: 3, heavy: 5}
    (second,) = await claim_near(db, node, most=1, after=light)
    assert (second.due, second.shares) == (2, {heavy: 1})


async def test_a_claim_of_several_lanes_never_gives_a_tenant_more_than_it_may_have(
    db: Database, dsn: str, nodes: dict[tuple[object, ...], Database]
) -> None:
    """In each environment for itself; and a lane that leaves slots to others leaves them."""
    place, node = next(iter(nodes.items()))
    (tenant,) = await tenants_on(db, dsn, place, 1)
    for environment in (Environment.ECF, Environment.CERTECF):
        for _ in range(4):
            await make_submission(db, tenant, environment=environment)
    busy = {(tenant, _LANE): 1}
    lanes = [
        LaneCapacity(_LANE, TenantId(0), ALWAYS, 10, 0),
        LaneCapacity(OutboxLane(Environment.CERTECF), TenantId(0), ALWAYS, 10, 5),
    ]

    terms = replace(_TERMS, slots=8, max_rows=8, max_per_tenant=3, busy=busy)
    claims = await db.run(NodeLocalClaims(node, system_clock).claim, Stage.SIGN, lanes, terms)

    assert [(claim.lane.environment, claim.due, len(claim.works)) for claim in claims] == [
        (Environment.ECF, 1, 2),
        (Environment.CERTECF, 1, 1),
    ]


@pytest.mark.parametrize("seed", range(20))
async def test_it_claims_what_the_coordinator_would_where_all_of_it_lies_on_one_node(
    seed: int, worker_db: Database, db: Database, dsn: str, nodes: dict[tuple[object, ...], Database]
) -> None:
    spread = random.Random(seed)
    place, node = next(iter(nodes.items()))
    known = await tenants_on(db, dsn, place, spread.randint(1, 12))
    for tenant in known:
        weight = spread.choice([1, 1, 2, 7])
        await rows(db, "UPDATE tenants SET weight = %(weight)s WHERE tenant_id = %(id)s", weight=weight, id=tenant)
    await fill(db, spread, known)
    capacities, terms = asked(spread, known)

    for stage in STAGES:
        far = await rolled_back(worker_db, claim_together, stage, capacities, terms)
        near = await worker_db.run(NodeLocalClaims(node, system_clock).claim, stage, capacities, terms)
        assert plain(list(near)) == plain(far)


async def test_who_may_sign_is_asked_once_the_rows_are_leased(
    db: Database, dsn: str, nodes: dict[tuple[object, ...], Database]
) -> None:
    place, node = next(iter(nodes.items()))
    first, second = await tenants_on(db, dsn, place, 2)
    near = NodeLocalClaims(node, system_clock)

    async def claim(name: str, tenant: TenantId, waited: str) -> list[str]:
        """Name the tenant otherwise, and claim a row of it that has waited for some time."""
        await make_submission(db, tenant)
        await rows(db, _WAITED, tenant=tenant, waited=waited)
        await rows(db, _RENAMED, tenant=tenant, name=name)
        claims = await db.run(near.claim, Stage.SIGN, [LaneCapacity(_LANE, TenantId(0), ALWAYS, 100, 0)], _TERMS)
        inputs = [work.input for claim in claims for work in claim.works]
        return [given.issuer["name"] for given in inputs if isinstance(given, SigningInput)]

    for name, tenant, waited in (
        ("a", first, "1 hour"),
        ("b", first, "1 hour"),
        ("c", first, "0"),
        ("d", second, "1 hour"),
        ("e", second, "1 hour"),
    ):
        assert await claim(name, tenant, waited) == [name]


async def test_a_node_that_is_away_is_told_as_that(db: Database) -> None:
    async with open_database("host=127.0.0.1 port=1 user=postgres", patience=0.1, role=WORKER, engine=CITUS) as node:
        with pytest.raises(DatabaseUnavailable):
            await claim_near(db, node)


def waits_for_a_lock(address: str) -> bool:
    """A move of a shard blocks writes to it on each node."""
    with psycopg.connect(address, autocommit=True) as conn:
        waiting = conn.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'").fetchone()
    return waiting is not None and waiting[0] > 0


async def test_a_shard_stays_while_it_is_claimed_from_and_is_claimed_from_where_it_is_then(
    db: Database, dsn: str, cluster: Cluster, nodes: dict[tuple[object, ...], Database]
) -> None:
    tenant = await make_tenant(db)
    first, second = await make_submission(db, tenant), await make_submission(db, tenant)
    with psycopg.connect(dsn, autocommit=True) as conn:
        place = node_of(conn, tenant)
    (elsewhere,) = set(nodes) - {place}
    given = {"lease": _LEASE}
    lease = """
        SELECT subject
          FROM claim_on_node('sign', '{ecf}', '{""}', '{0}', '{-infinity}', '{1}', '{0}', 1, 1, 64, 1, '{}', '{}',
                             'near', %(lease)s, '{}', '{}', '{}', '{}')
         WHERE subject IS NOT NULL
    """

    with psycopg.connect(addresses(dsn, cluster)[place]) as claiming, psycopg.connect(dsn, autocommit=True) as moving:
        claiming.execute("SET ROLE fe_worker")
        claimed = claiming.execute(lease.encode(), given).fetchall()
        mover = threading.Thread(target=move, args=(dsn, tenant, moving))
        mover.start()
        await until(lambda: waits_for_a_lock(addresses(dsn, cluster)[place]))
        claiming.commit()
        mover.join()
        assert claiming.execute(lease.encode(), given).fetchall() == []

    assert await works_near(db, nodes[place]) == []
    (work,) = await works_near(db, nodes[elsewhere])
    assert {claimed[0][0], work.subject} == {first, second}


def test_a_server_that_is_no_node_of_the_cluster_is_refused(dsn: str, cluster: Cluster) -> None:
    for address in addresses(dsn, cluster).values():
        assert require_node(dsn, address) > 0
    assert require_node(dsn, dsn) == 0  # the coordinator is one that keeps no rows
    with pytest.raises(NoCitus, match="no Citus"):
        require_node(dsn, dsn.replace(str(conninfo_to_dict(dsn)["dbname"]), "postgres"))
    with pytest.raises(DatabaseUnavailable):
        require_node(dsn, "host=127.0.0.1 port=1 user=postgres dbname=fe")


def test_a_node_has_to_have_room_for_those_who_are_near_it(dsn: str, cluster: Cluster) -> None:
    for address in addresses(dsn, cluster).values():
        verify_node(address, WORKER, connections=4, no_others=False, engine=CITUS)
        with pytest.raises(TooFewConnections, match=r"the node of FE_DATABASE_NEAR has \d+ in all.*: fewer processes"):
            verify_node(address, WORKER, connections=100_000, no_others=False, engine=CITUS)
