"""While claims are full, tenants come from the last look at the nodes, and no tenant waits longer for it."""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count

import psycopg
import pytest

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.lifecycle import Stage
from fe.queue.fair_claims import InFlight, find_and_claim
from fe.store.postgres.db import Conn, Database
from fe.store.queue.capacity import LaneCapacity, LaneClaim, Terms
from fe.store.queue.claim import claim_together
from fe.store.queue.outbox import OutboxLane, Work
from fe.store.queue.tables import ALWAYS
from tests import citus
from tests.factories.tenants import make_tenant, rows
from tests.queue.stage import done, make_stage, make_tools
from tests.store.test_citus_shards import node_of

pytestmark = pytest.mark.skipif(citus.programs() is None, reason="there is no cluster (make citus)")

_ECF, _TEST = OutboxLane(Environment.ECF), OutboxLane(Environment.TESTECF)
_TERMS = Terms(timedelta(minutes=5), "me", 100, 100, 64, 100, {})
_DUE = """
    INSERT INTO outbox (tenant_id, subject, stage, environment, run_at)
    SELECT %(tenant)s, gen_random_uuid(), 'sign', %(environment)s, now() FROM generate_series(1, %(many)s)
"""
_PAUSE = "INSERT INTO pauses VALUES (%(tenant)s, 'ecf', now(), 'eva', 'audit')"
#: Sets for how long the session's cached search is valid.
_GOOD_FOR = """
    SELECT set_config('fe.due_to_sign', (current_setting('fe.due_to_sign')::jsonb
                                         || jsonb_build_object('until', clock_timestamp() + %s::interval))::text, false)
     WHERE current_setting('fe.due_to_sign') <> ''
"""
#: More than a minute would be taken for a clock that was set back (known_due.sql).
_LONG, _NO_MORE = "55 s", "-1 s"


async def due(db: Database, tenant: TenantId, many: int, environment: Environment = Environment.ECF) -> None:
    await rows(db, _DUE, tenant=tenant, many=many, environment=environment)


async def tenants_of_both(db: Database, dsn: str, many: int) -> list[TenantId]:
    """Enough tenants that the first two are on different nodes."""
    known = [await make_tenant(db)]
    with psycopg.connect(dsn, autocommit=True) as conn:
        while len(known) < 2:
            other = await make_tenant(db)
            known += [other] * (node_of(conn, other) != node_of(conn, known[0]))
    return [*known, *[await make_tenant(db) for _ in range(many - 2)]]


async def claim(
    conn: Conn, slots: int, good_for: str | None, lane: OutboxLane = _ECF, *, each: int = 100
) -> LaneClaim[Work]:
    """Claim from the first tenant on, by the cached look if there is one; then set how long the look is valid."""
    lanes = [LaneCapacity(lane, TenantId(0), ALWAYS, slots, 0)]
    terms = replace(_TERMS, slots=slots, max_rows=slots, max_per_tenant=each)
    claims = await claim_together(conn, Stage.SIGN, lanes, terms)
    if good_for is not None:
        await conn.execute(_GOOD_FOR, (good_for,))
    return claims[0] if claims else LaneClaim(lane, 0, {}, [])


def of(claimed: LaneClaim[Work]) -> Counter[TenantId]:
    return Counter(work.tenant_id for work in claimed.works)


async def test_while_claims_are_full_nobody_else_is_looked_for_until_the_look_is_old(db: Database, dsn: str) -> None:
    one, other, late = await tenants_of_both(db, dsn, 3)
    for tenant in (one, other):
        await due(db, tenant, 6)

    async def in_turn(conn: Conn) -> None:
        first = await claim(conn, 4, _LONG)
        assert (first.due, of(first)) == (2, {one: 2, other: 2})
        await due(db, late, 1)
        by_what_is_known = await claim(conn, 4, _NO_MORE)
        assert (by_what_is_known.due, of(by_what_is_known)) == (2, {one: 2, other: 2})
        looked = await claim(conn, 4, _LONG)
        assert (looked.due, of(looked)) == (3, {one: 2, other: 1, late: 1})

    await db.run(in_turn)


async def test_a_look_is_good_for_a_moment_only(db: Database) -> None:
    async def kept(conn: Conn) -> None:
        await claim(conn, 1, None)
        query = """
            SELECT (current_setting('fe.due_to_sign')::jsonb ->> 'until')::timestamptz - statement_timestamp()
                   < interval '100 ms'
        """
        assert await (await conn.execute(query)).fetchone() == (True,)

    await due(db, await make_tenant(db), 2)
    await db.run(kept)


async def test_a_claim_that_leaves_slots_free_tells_that_more_may_be_due_and_the_next_one_looks(
    db: Database, dsn: str
) -> None:
    one, other, late = await tenants_of_both(db, dsn, 3)
    for tenant in (one, other):
        await due(db, tenant, 3)

    async def in_turn(conn: Conn) -> None:
        assert of(await claim(conn, 4, _LONG)) == {one: 2, other: 2}
        await due(db, late, 1)
        short = await claim(conn, 4, _LONG)
        assert (short.due, of(short)) == (None, {one: 1, other: 1})
        assert of(await claim(conn, 4, _LONG)) == {late: 1}
        assert of(await claim(conn, 4, _LONG)) == {}

    await db.run(in_turn)


async def test_who_has_all_the_slots_it_may_have_hides_nobody(db: Database, dsn: str) -> None:
    one, late = await tenants_of_both(db, dsn, 2)
    await due(db, one, 9)

    async def in_turn(conn: Conn) -> None:
        assert of(await claim(conn, 3, _LONG)) == {one: 3}
        await due(db, late, 1)
        short = await claim(conn, 3, _LONG, each=2)
        assert (short.due, of(short)) == (None, {one: 2})
        assert of(await claim(conn, 3, _LONG, each=2)) == {one: 2, late: 1}

    await db.run(in_turn)


async def test_who_is_paused_by_now_is_not_served_by_what_was_known(db: Database, dsn: str) -> None:
    one, other = await tenants_of_both(db, dsn, 2)
    for tenant in (one, other):
        await due(db, tenant, 5)

    async def in_turn(conn: Conn) -> None:
        assert of(await claim(conn, 2, _LONG)) == {one: 1, other: 1}
        await rows(db, _PAUSE, tenant=one)
        assert of(await claim(conn, 2, _LONG)) == {other: 2}
        await rows(db, _PAUSE, tenant=other)
        assert of(await claim(conn, 2, _LONG)) == {}

    await db.run(in_turn)


async def test_what_was_known_of_some_lanes_says_nothing_of_others(db: Database, dsn: str) -> None:
    one, other = await tenants_of_both(db, dsn, 2)
    await due(db, one, 5)
    await due(db, other, 5, Environment.TESTECF)

    async def in_turn(conn: Conn) -> None:
        assert of(await claim(conn, 2, _LONG)) == {one: 2}
        assert of(await claim(conn, 2, _LONG, _TEST)) == {other: 2}

    await db.run(in_turn)


async def test_a_claim_that_is_undone_leaves_what_was_known_as_it_was(db: Database) -> None:
    tenant = await make_tenant(db)
    await due(db, tenant, 3)

    async def in_turn(conn: Conn) -> None:
        async with conn.transaction(force_rollback=True):
            assert of(await claim(conn, 3, _LONG)) == {tenant: 3}
        looked = await claim(conn, 3, _LONG)
        assert (looked.due, of(looked)) == (1, {tenant: 3})

    await db.run(in_turn)


@pytest.mark.parametrize("seed", range(12))
async def test_nothing_is_claimed_twice_and_nobody_sleeps_while_something_is_due_and_a_slot_is_free(
    seed: int, db: Database
) -> None:
    """A stage that is neither told of more due rows nor to look again sleeps until a new row falls due."""
    spread = random.Random(seed)
    tenants = [await make_tenant(db, weight=spread.choice([1, 1, 3])) for _ in range(spread.choice([1, 2, 6]))]
    stage = make_stage(done, slots=spread.choice([4, 8]))
    tools, cursors, in_flight = make_tools(db), dict.fromkeys(stage.lanes, TenantId(0)), InFlight(stage.slots)
    held: list[Work] = []
    seen: Counter[object] = Counter()
    made = 0

    async def waits() -> dict[TenantId, int]:
        left = await rows(db, "SELECT tenant_id FROM outbox WHERE run_at <= now()")
        return Counter(each["tenant_id"] for each in left)

    async def end_some(some: Sequence[Work]) -> None:
        for work in some:
            in_flight.tried(work)
            in_flight.end(work)
            held.remove(work)
            await rows(
                db,
                "DELETE FROM outbox WHERE tenant_id = %(tenant)s AND subject = %(subject)s",
                tenant=work.tenant_id,
                subject=work.subject,
            )

    for turn in count():
        if turn < 12:
            for _ in range(spread.choice([0, 1, 4])):
                many = spread.choice([1, 1, 5])
                await due(db, spread.choice(tenants), many)
                made += many
        found = await db.run(find_and_claim, stage, tools, cursors, in_flight)
        in_flight.begin_all(found.works)
        held += found.works
        seen.update(work.subject for work in found.works)
        if not found.capacity_left:
            left = await waits()
            if found.full:
                most = stage.slots_of_a_tenant()
                assert in_flight.free == 0 or all(in_flight.of_tenant(each, _ECF) == most for each in left), turn
            else:
                assert not left, turn
        if turn >= 12 and not held and not await waits():
            break
        await end_some(spread.sample(held, spread.randint(min(len(held), 1), len(held))))

    assert sum(seen.values()) == made
    assert max(seen.values(), default=1) == 1
