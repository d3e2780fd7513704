"""Work on a few documents reads as many pages with 20,000 due rows as with 1,000: counts, never times.

Pages count where rows do not: dead index entries, and rows read and skipped, show in neither rows nor plans. Postgres
counts them for each table once a transaction has ended.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId, TrackId
from fe.lifecycle import NumberFate, Stage
from fe.store.postgres.db import Conn, Database
from fe.store.queue import in_doubt, outbox, tables, workers
from fe.store.queue.capacity import LaneCapacity, Terms
from fe.store.queue.claim import claim_together
from fe.store.queue.dead_letters import DeadLetterFilter
from fe.store.queue.outbox import OutboxLane, Work
from fe.store.records import statistics, submissions
from tests.factories.tenants import ACCEPTED_AT, make_tenant, new_submission, row, rows

FEW, MANY = 1_000, 20_000
LANES = [OutboxLane(environment, host) for environment in Environment for host in ("", "ecf", "fc")]
AT_ONCE = 30
LEASE = timedelta(seconds=60)
TERMS = Terms(LEASE, "plans", AT_ONCE, AT_ONCE, 64, AT_ONCE, {})
#: Indexes over twenty times the rows are a level deeper: a page more for each time a row is found or entered.
DEEPER = 5
#: Most tenants that one walk sees (earliest_due_rows.sql).
STEPS = 256

_DUE = """
    INSERT INTO outbox (tenant_id, subject, stage, environment, run_at)
    SELECT %(tenant)s, gen_random_uuid(), 'sign', 'ecf', now() - interval '1 s' FROM generate_series(1, %(many)s)
"""
_TENANTS = """
    INSERT INTO tenants (tenant_id, name, issuer) OVERRIDING SYSTEM VALUE
    SELECT 1000000 + n, 'one of many ' || n, '{}' FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
"""
_OTHERS_WAIT = """
    INSERT INTO outbox (tenant_id, subject, stage, environment, run_at, attempt)
    SELECT 1000000 + n, gen_random_uuid(), 'sign', 'ecf', now() + interval '1 hour', 1
      FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
"""
_PAGES = """
    SELECT coalesce(sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read), 0)::bigint AS pages
      FROM pg_statio_user_tables
"""


@pytest.fixture(autouse=True)
async def _nobody_else_reads(db: Database) -> None:
    for table in ("outbox", "tenants"):
        await rows(db, f"ALTER TABLE {table} SET (autovacuum_enabled = off)")


class Undone(Exception):
    """Undo the work, so that it can be repeated."""


async def pages_of(db: Database, work: Callable[[Conn], Awaitable[Any]]) -> int:
    """How many pages a piece of work looks at, once plans are made; what it does is undone."""

    async def undone(conn: Conn) -> None:
        await conn.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        await work(conn)
        raise Undone

    async def counted(conn: Conn) -> int:
        for _ in range(2):
            await conn.execute("SELECT pg_stat_force_next_flush()")
            cursor = await conn.execute(_PAGES)
            (before,) = (await cursor.fetchall())[0]
            try:
                async with conn.transaction():
                    await undone(conn)
            except Undone:
                pass
            await conn.execute("SELECT pg_stat_force_next_flush()")
            cursor = await conn.execute(_PAGES)
            (after,) = (await cursor.fetchall())[0]
        return int(after - before)

    return await db.run(counted)


async def settle(db: Database) -> None:
    """As autovacuum would have left it."""
    await db.run(lambda conn: conn.execute("VACUUM ANALYZE outbox, tenants"))


async def claim(conn: Conn) -> None:
    capacities = [LaneCapacity(lane, TenantId(0), tables.ALWAYS, AT_ONCE, 0) for lane in LANES]
    claims = await claim_together(conn, Stage.SIGN, capacities, TERMS)
    assert sum(len(of.works) for of in claims) == AT_ONCE


async def floors(conn: Conn) -> None:
    found = await outbox.floors_of(conn, Stage.SIGN, LANES)
    assert set(found) == set(LANES)


async def accept(conn: Conn, tenant_id: TenantId) -> None:
    new = new_submission(tenant_id, ACCEPTED_AT)
    await submissions.accept_many(conn, [(new, ACCEPTED_AT)])


async def look_for_doubts(conn: Conn) -> None:
    """As the gauges do four times a minute in each process, and operators."""
    assert await statistics.unknown_outcomes(conn) == []
    assert await in_doubt.counted(conn) == []
    assert await in_doubt.listed(conn, DeadLetterFilter(), 100) == []


@pytest.mark.parametrize("what", ["claim", "floors", "accept", "doubts"])
async def test_a_backlog_of_one_tenant_makes_nothing_dearer(what: str, db: Database) -> None:
    tenant = await make_tenant(db)
    works: dict[str, Callable[[Conn], Awaitable[None]]] = {
        "claim": claim,
        "floors": floors,
        "accept": partial(accept, tenant_id=tenant),
        "doubts": look_for_doubts,
    }
    work = works[what]
    await rows(db, _DUE, tenant=tenant, many=FEW)
    await settle(db)
    few = await pages_of(db, work)

    await rows(db, _DUE, tenant=tenant, many=MANY - FEW)
    await settle(db)
    many = await pages_of(db, work)

    assert many <= few + DEEPER * AT_ONCE, f"{few} pages with {FEW} due rows, {many} with {MANY}"


async def test_a_rescue_reads_no_queue_while_no_worker_is_silent(db: Database) -> None:
    await rows(db, _DUE, tenant=await make_tenant(db), many=MANY)
    await settle(db)

    async def rescue(conn: Conn) -> None:
        assert await workers.rescue(conn, [outbox.OUTBOX], timedelta(seconds=30)) == []

    assert await pages_of(db, rescue) < 5


async def pages_with_those_that_wait(db: Database, work: Callable[[Conn], Awaitable[None]]) -> list[int]:
    """How many pages a piece of work looks at while few tenants wait for a later try, and while many do."""
    pages = []
    for first, last in ((1, FEW), (FEW + 1, MANY)):
        for one in range(first, last + 1, FEW):  # each has a note in the audit trail: all at once take many seconds
            await rows(db, _TENANTS, first=one, last=one + FEW - 1)
        await rows(db, _OTHERS_WAIT, first=first, last=last)
        await settle(db)
        pages.append(await pages_of(db, work))
    return pages


@pytest.mark.parametrize(("work", "due"), [(claim, AT_ONCE), (claim, FEW), (floors, AT_ONCE)])
async def test_tenants_that_wait_for_a_later_try_make_nothing_dearer(
    work: Callable[[Conn], Awaitable[None]], due: int, db: Database
) -> None:
    """A claim sees all due rows at once, or walks through tenants in limited steps; a floor is of the earliest."""
    tenant = await make_tenant(db)
    await rows(db, _DUE, tenant=tenant, many=due)
    few, many = await pages_with_those_that_wait(db, work)
    steps = STEPS if due == FEW else 0
    assert many <= few + DEEPER * AT_ONCE + steps, f"{few} pages with {FEW} tenants that wait, {many} with {MANY}"


def at_most(tenant: TenantId) -> Terms:
    """Those of a claim while a tenant has all that one may have, and slots are free for others."""
    return Terms(LEASE, "plans", AT_ONCE, AT_ONCE, 64, AT_ONCE, {(tenant, OutboxLane(Environment.ECF)): AT_ONCE})


async def test_tenants_that_wait_make_a_claim_no_dearer_while_whoever_is_due_has_all_its_slots(db: Database) -> None:
    tenant = await make_tenant(db)

    async def look(conn: Conn) -> None:
        lanes = [LaneCapacity(OutboxLane(Environment.ECF), TenantId(0), tables.ALWAYS, AT_ONCE, 0)]
        (found,) = await claim_together(conn, Stage.SIGN, lanes, at_most(tenant))
        assert not found.works

    await rows(db, _DUE, tenant=tenant, many=FEW)
    few, many = await pages_with_those_that_wait(db, look)
    assert many <= few + STEPS, f"{few} pages with {FEW} tenants that wait, {many} with {MANY}"


async def test_who_is_due_behind_many_that_wait_is_found_by_the_next_claims_while_another_has_all_its_slots(
    db: Database,
) -> None:
    busy = await make_tenant(db)
    await rows(db, _TENANTS, first=1, last=FEW)
    await rows(db, _OTHERS_WAIT, first=1, last=FEW)
    last = TenantId(1_000_000 + FEW)
    await rows(db, _DUE, tenant=busy, many=FEW)
    await rows(db, _DUE, tenant=last, many=1)
    await settle(db)
    lane, after, looks = OutboxLane(Environment.ECF), TenantId(0), 0

    while True:
        looks += 1
        capacity = LaneCapacity(lane, after, tables.ALWAYS, AT_ONCE, 0)
        (found,) = await db.run(claim_together, Stage.SIGN, [capacity], at_most(busy))
        if found.works:
            break
        assert looks < FEW
        after = next(reversed(found.shares))  # as who claims moves its cursor (fe/queue/fair_claims.py)

    assert [work.tenant_id for work in found.works] == [last]
    assert looks <= FEW // STEPS + 1


def booking(name: str) -> Callable[[Conn, list[Work]], Awaitable[list[Any]]]:
    """One of the ways to write down what came of claims, with values that do for any."""

    async def book(conn: Conn, works: list[Work]) -> list[Any]:
        many, at = len(works), ACCEPTED_AT
        afters, errors = [timedelta(0)] * many, ["why"] * many
        empty: list[dict[str, Any]] = [{}] * many
        if name == "retry":
            return await outbox.retry(conn, works, at=at, afters=afters, counts=[True] * many, errors=errors)
        if name == "doubt":
            return await outbox.doubt(conn, works, at=at, afters=afters, errors=errors)
        if name == "resend":
            return await outbox.resend(conn, works, at=at, afters=afters, reasons=errors)
        if name == "processing":
            return await outbox.processing(conn, works, at=at, afters=afters, responses=empty)
        if name == "dead letter":
            return await outbox.dead_letter(conn, works, at=at, errors=errors)
        if name == "received":
            ids, leases = [TrackId(str(work.subject)) for work in works], [LEASE] * many
            return await outbox.received(conn, works, at=at, track_ids=ids, afters=afters, replies=empty, leases=leases)
        fates = [NumberFate.USED] * many
        return await outbox.failure(conn, works, at=at, responses=empty, fates=fates)

    return book


@pytest.mark.parametrize("name", ["retry", "doubt", "resend", "processing", "dead letter", "received", "failure"])
async def test_a_booking_reads_its_own_rows_though_the_outbox_was_taken_for_empty(name: str, db: Database) -> None:
    """Analysed while nothing waited, it is taken for empty until the next time, however much comes."""
    tenant = await make_tenant(db)
    await rows(db, "ALTER TABLE outbox SET (autovacuum_enabled = off)")  # which is the next time
    await rows(db, _DUE, tenant=tenant, many=FEW)
    await rows(db, "DELETE FROM outbox")
    await rows(db, "ANALYZE outbox")
    book = booking(name)

    async def work(conn: Conn) -> None:
        lane, floor = OutboxLane(Environment.ECF), tables.ALWAYS
        claims = await claim_together(conn, Stage.SIGN, [LaneCapacity(lane, TenantId(0), floor, AT_ONCE, 0)], TERMS)
        works = [work for claim in claims for work in claim.works]
        booked = await book(conn, works)
        assert len(booked) == AT_ONCE
        assert all(booked)

    await rows(db, _DUE, tenant=tenant, many=FEW)
    few = await pages_of(db, work)
    await rows(db, _DUE, tenant=tenant, many=MANY - FEW)
    many = await pages_of(db, work)

    assert (await row(db, "SELECT reltuples FROM pg_class WHERE relname = 'outbox'"))["reltuples"] == 0
    assert many <= few + 2 * DEEPER * AT_ONCE, f"{few} pages with {FEW} rows, {many} with {MANY}"


async def test_a_floor_is_before_the_earliest_row_of_its_lane_and_before_now_where_there_is_none(db: Database) -> None:
    first, second = await make_tenant(db), await make_tenant(db)
    await rows(db, _DUE, tenant=second, many=3)
    await rows(db, "UPDATE outbox SET run_at = run_at - interval '1 hour'")
    await rows(db, _DUE, tenant=first, many=3)
    now = (await row(db, "SELECT now() AS now"))["now"]

    found = await db.run(outbox.floors_of, Stage.SIGN, LANES)

    assert set(found) == set(LANES)
    busy, empty = (now - found[OutboxLane(environment)] for environment in (Environment.ECF, Environment.TESTECF))
    assert timedelta(hours=1, seconds=14) < busy < timedelta(hours=1, minutes=10)
    assert timedelta(seconds=14) < empty < timedelta(minutes=10)
