"""A kind of work has a table of its own: claimed as fairly as the outbox, and freed when who held its rows is dead."""

import math
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
import trio

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.lifecycle import Stage
from fe.queue.fair_claims import InFlight, find_and_claim
from fe.queue.lease_guard import LeaseGuard
from fe.queue.outcome import Outcome
from fe.queue.rescuer import run_rescuer
from fe.queue.stage import StageConfig
from fe.store.postgres.db import Database
from fe.store.queue import workers
from fe.store.queue.outbox import OUTBOX, OutboxLane
from fe.store.queue.tables import ALWAYS, QueueTable
from tests.factories.tenants import claim_all, make_submission, make_tenant, row, rows
from tests.queue.kinds import DELIVERIES_TABLE, JOBS, JOBS_TABLE, Done, Item, Lane, delivery_kind, make_tables
from tests.queue.stage import make_tools, running
from tests.store.entries import read_of

ALL = (OUTBOX, JOBS_TABLE, DELIVERIES_TABLE)
SILENCE, LEASE = timedelta(seconds=30), timedelta(hours=1)
PLAIN, SHOP, OTHER = Lane(""), Lane("shop.example"), Lane("other.example")


@pytest.fixture
async def db(db: Database) -> Database:
    await make_tables(db)
    return db


async def put(db: Database, table: str, tenant: int, many: int, host: str = "", due_in: float = 0) -> None:
    await rows(
        db,
        f"INSERT INTO {table} (tenant_id, host, run_at) SELECT %(tenant)s, %(host)s, now() + %(due_in)s"
        " FROM generate_series(1, %(many)s)",
        tenant=tenant,
        host=host,
        many=many,
        due_in=timedelta(seconds=due_in),
    )


async def claimed_by(db: Database, holder: str, tenant: TenantId) -> None:
    """All that is due of a tenant, in all three tables, under leases of an hour."""
    await db.run(workers.seen, holder)
    await claim_all(db, Stage.SIGN, [tenant], lease=LEASE, holder=holder)
    await db.run(JOBS_TABLE.claim, "run", PLAIN, [tenant], [100], lease=LEASE, holder=holder)
    await db.run(DELIVERIES_TABLE.claim, "deliver", SHOP, [tenant], [100], lease=LEASE, holder=holder)


async def dies(db: Database, holder: str) -> None:
    await rows(db, "UPDATE workers SET seen_at = seen_at - interval '31 s' WHERE holder = %(holder)s", holder=holder)


async def due_of(db: Database) -> dict[str, int]:
    """How many rows are due, of each table."""
    due = "SELECT count(*)::int AS n FROM {} WHERE run_at <= clock_timestamp()"
    return {table.name: (await row(db, due.format(table.name)))["n"] for table in ALL}


@pytest.mark.parametrize("name", ["", "Jobs", "jobs; DROP TABLE outbox", 'jobs"', "1jobs", "jobs AS o", "public.jobs"])
def test_what_is_no_plain_name_gets_into_no_statement(name: Any) -> None:
    with pytest.raises(ValueError, match="no name for a table"):
        QueueTable(name, Item)


async def test_a_table_made_as_the_page_says_has_the_columns_of_the_outbox_and_its_index(db: Database) -> None:
    def shape(table: str) -> Any:
        return rows(
            db,
            "SELECT column_name, data_type, is_nullable, collation_name FROM information_schema.columns"
            " WHERE table_name = %(table)s AND column_name NOT IN ('poisoned', 'trace') ORDER BY ordinal_position",
            table=table,
        )

    def keys(table: str) -> Any:
        return rows(
            db,
            "SELECT replace(indexdef, %(table)s, '') AS index FROM pg_indexes WHERE tablename = %(table)s ORDER BY 1",
            table=table,
        )

    assert await shape("jobs") == await shape("outbox")
    of_the_outbox = [key for key in await keys("outbox") if "_due_by_time" not in key["index"]]  # its own claim's
    assert len(of_the_outbox) == 2
    assert await keys("jobs") == of_the_outbox


async def test_the_front_sees_no_other_tenants_rows_in_a_table_made_as_the_page_says(db: Database) -> None:
    shown = "SELECT relrowsecurity AND relforcerowsecurity AS walled FROM pg_class WHERE relname = %(table)s"
    policies = "SELECT policyname, roles::text, cmd, qual FROM pg_policies WHERE tablename = %(table)s ORDER BY 1"

    assert await row(db, shown, table="jobs") == {"walled": True}
    of_outbox = [each for each in await rows(db, policies, table="outbox") if each["policyname"] != "counted"]
    assert await rows(db, policies, table="jobs") == of_outbox


async def test_what_a_dead_worker_held_is_due_in_every_table_at_once(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_submission(db, tenant)
    await put(db, "jobs", tenant, 3)
    await put(db, "deliveries", tenant, 2, "shop.example")
    await claimed_by(db, "dead", tenant)
    assert await due_of(db) == {"outbox": 0, "jobs": 0, "deliveries": 0}
    await dies(db, "dead")

    freed = await db.run(workers.rescue, ALL, SILENCE)

    assert Counter(freed) == {"sign": 1, "run": 3, "deliver": 2}
    assert await due_of(db) == {"outbox": 1, "jobs": 3, "deliveries": 2}
    assert await db.run(workers.rescue, ALL, SILENCE) == []


async def test_who_takes_leave_gives_up_what_is_held_in_every_table(db: Database) -> None:
    tenant, other = await make_tenant(db), await make_tenant(db)
    for each in (tenant, other):
        await put(db, "jobs", each, 3)
        await put(db, "deliveries", each, 2, "shop.example")
    await claimed_by(db, "leaving", tenant)
    await claimed_by(db, "staying", other)

    await db.run(workers.gone, ALL, "leaving")

    assert await due_of(db) == {"outbox": 0, "jobs": 3, "deliveries": 2}


async def test_rows_over_which_workers_died_are_set_apart_in_any_table(db: Database) -> None:
    tenant = await make_tenant(db)
    await put(db, "deliveries", tenant, 8, "shop.example")
    for holder in ("first", "second"):
        await claimed_by(db, holder, tenant)
        await dies(db, holder)
        await db.run(workers.rescue, ALL, SILENCE)

    found = await rows(db, "SELECT deaths, extract(EPOCH FROM run_at - now())::float8 AS due_in FROM deliveries")

    assert [each["deaths"] for each in found] == [1] * 8
    assert len({round(each["due_in"]) for each in found}) > 3
    assert max(each["due_in"] for each in found) < 60


async def test_the_rows_of_a_dead_worker_are_worked_on_by_another_long_before_their_leases_end(db: Database) -> None:
    """With the real rescuer beside the real loop, which polls in a minute only: it is woken by the rescue."""
    tenant = await make_tenant(db)
    await put(db, "jobs", tenant, 5)
    await claimed_by(db, "dead", tenant)
    await dies(db, "dead")
    tools = make_tools(db, poll_seconds=60)
    deaths, all_done = list[int](), trio.Event()

    async def handle(item: Item) -> Outcome:
        deaths.append(item.crash_count)
        if len(deaths) == 5:
            all_done.set()
        return Done()

    async with running(StageConfig("run", JOBS, handle, 64, [PLAIN], 5.0), tools), trio.open_nursery() as nursery:
        pulse = LeaseGuard(lease=LEASE)
        nursery.start_soon(run_rescuer, replace(tools, db=db, holder="peer"), ALL, pulse)
        await all_done.wait()
        nursery.cancel_scope.cancel()

    assert deaths == [1] * 5
    assert await rows(db, "SELECT subject FROM jobs") == []
    assert len(await rows(db, "SELECT DISTINCT subject FROM log WHERE what = 'done'")) == 5
    assert tools.metrics.registry.get_sample_value("fe_rows_rescued_total", {"stage": "run"}) == 5


@pytest.mark.parametrize("slots", [4, 30, 100])
async def test_a_tenant_with_one_row_waits_no_longer_than_one_round_of_those_that_have_work(
    db: Database, slots: int
) -> None:
    big = await make_tenant(db)
    small = [await make_tenant(db) for _ in range(100)]
    await put(db, "deliveries", big, 2_000, "shop.example")
    for tenant in small:
        await put(db, "deliveries", tenant, 1, "shop.example")
    await put(db, "deliveries", big, 2_000, "other.example")

    async def handle(item: Item) -> Outcome:
        raise AssertionError("nothing is tried here")

    stage, tools = StageConfig("deliver", delivery_kind(), handle, slots, [SHOP], 5.0), make_tools(db)
    cursors = dict.fromkeys(stage.lanes, TenantId(0))
    served: Counter[TenantId] = Counter()
    for _ in range(math.ceil(101 / min(slots, 64))):
        works = (await db.run(find_and_claim, stage, tools, cursors, InFlight(slots))).works
        assert 0 < len(works) <= slots
        assert {work.lane for work in works} == {SHOP}
        served.update(work.tenant_id for work in works)

    assert all(served[tenant] == 1 for tenant in small)
    assert served[big] >= 1


async def test_what_a_tenant_gets_of_a_table_goes_by_its_weight(db: Database) -> None:
    light, heavy = await make_tenant(db), await make_tenant(db)
    await rows(db, "UPDATE tenants SET weight = 3 WHERE tenant_id = %(heavy)s", heavy=heavy)
    for tenant in (light, heavy):
        await put(db, "jobs", tenant, 100)

    async def handle(item: Item) -> Outcome:
        raise AssertionError("nothing is tried here")

    stage, tools = StageConfig("run", JOBS, handle, 42, [PLAIN], 5.0), make_tools(db)
    works = (await db.run(find_and_claim, stage, tools, dict.fromkeys(stage.lanes, TenantId(0)), InFlight(42))).works

    assert Counter(work.tenant_id for work in works) == {light: 11, heavy: 31}


async def test_a_pause_holds_up_every_kind_of_work_of_a_tenant(db: Database) -> None:
    paused, other = await make_tenant(db), await make_tenant(db)
    for tenant in (paused, other):
        await put(db, "jobs", tenant, 1)
    await rows(db, "INSERT INTO pauses VALUES (%(tenant)s, '', now(), 'me', 'why')", tenant=paused)

    due = await db.run(JOBS_TABLE.due_tenants, "run", [(PLAIN, TenantId(0))], 10)

    assert [tenant.tenant_id for tenant in due[PLAIN]] == [other]


async def test_rows_that_wait_cost_the_claim_of_a_table_made_as_the_page_says_nothing(db: Database) -> None:
    waiting, ready = await make_tenant(db), await make_tenant(db)
    await put(db, "deliveries", waiting, 20_000, "shop.example", due_in=300)
    await put(db, "deliveries", ready, 3, "shop.example")
    asked = {"stage": "deliver", "environments": ["ecf"], "hosts": ["shop.example"], "floors": [ALWAYS], "afters": [0]}
    claiming = {
        "stage": "deliver",
        "environment": "ecf",
        "host": "shop.example",
        "floor": ALWAYS,
        "scope": [waiting, ready],
        "shares": [8, 8],
        "lease": LEASE,
        "holder": "me",
    }

    assert await read_of(db, DELIVERIES_TABLE._due_tenants, {**asked, "limit": 16}, "deliveries") < 20
    assert await read_of(db, DELIVERIES_TABLE._claim, claiming, "deliveries") < 20


async def test_floors_are_told_for_lanes_with_rows_and_for_empty_ones(db: Database) -> None:
    await put(db, "deliveries", await make_tenant(db), 1, "shop.example", due_in=-3600)

    floors = await db.run(DELIVERIES_TABLE.floors_of, "deliver", [SHOP, OTHER])

    assert floors[OTHER] - floors[SHOP] > timedelta(minutes=59)


@pytest.mark.parametrize("search", ["by tenant", "by time"])
async def test_floors_are_looked_for_from_those_before(db: Database, search: str) -> None:
    now: datetime = (await row(db, "SELECT now() AS now"))["now"]
    tenant = await make_tenant(db)
    await put(db, "deliveries", tenant, 1, "shop.example", due_in=-3600)
    await make_submission(db, tenant)
    await rows(db, "UPDATE outbox SET run_at = now() - interval '1 hour'")

    async def floor_by_tenant(since: datetime) -> timedelta:
        return now - (await db.run(DELIVERIES_TABLE.floors_of, "deliver", [SHOP], {SHOP: since}))[SHOP]

    async def floor_by_time(since: datetime) -> timedelta:
        lane = OutboxLane(Environment.ECF)
        return now - (await db.run(OUTBOX.floors_of, Stage.SIGN, [lane], {lane: since}))[lane]

    floor = floor_by_tenant if search == "by tenant" else floor_by_time
    assert timedelta(minutes=59) < await floor(ALWAYS) < timedelta(minutes=62)
    # Rows below the floor before are not looked for.
    assert await floor(now - timedelta(minutes=30)) < timedelta(minutes=1)
    # The server's clock was set back by an hour: rows that are due from now on must be found.
    assert timedelta(seconds=-60) < await floor(now + timedelta(hours=1)) < timedelta(seconds=16)
