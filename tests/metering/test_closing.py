"""A month is closed once, and an end folded once: wherever the leader is killed, the next one charges the rest."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime
from decimal import Decimal

import psycopg
import pytest
import trio

from fe.identifiers import TenantId
from fe.metering import aggregator
from fe.metering.closing import Biller
from fe.store.postgres.db import Database
from fe.store.records import billing, charges, usage
from tests import citus
from tests.factories.tenants import make_tenant, rows
from tests.metering.histories import BEGIN, midnight
from tests.metering.test_usage_days import accept
from tests.waiting import PATIENCE

OCTOBER = date(2026, 10, 1)
AFTER = datetime(2026, 11, 1, 2, tzinfo=UTC)
EMISSIONS, PRICE = 3, Decimal("0.035")

#: The leader, for one cycle.
LEADS = """
import sys, trio
from datetime import datetime
from fe.process import failpoints
from fe.metering import aggregator
from fe.metering.closing import Biller
from fe.store.records import metering
from fe.store.postgres.db import open_database
from fe.store.engines import engine_named
async def main():
    async with open_database(sys.argv[1], role="fe_worker", max_size=2, engine=engine_named(sys.argv[4])) as db:
        for tenant_id in await db.run(metering.tenants_with_ends):
            await aggregator.fold_all(db, tenant_id)
        await Biller(db, lambda: datetime.fromisoformat(sys.argv[2])).round()
failpoints.arm(sys.argv[3])
trio.run(main)
"""


async def billed(db: Database) -> TenantId:
    """A tenant whose October is over, with emissions that are noted and not counted yet."""
    tenant = await make_tenant(db)
    await aggregator.restart(db, tenant)
    await db.run(billing.enable, tenant, subscription_id="sub_7", unit_price=PRICE, currency="DOP", at=BEGIN)
    for _ in range(EMISSIONS):
        await accept(db, tenant)
    return tenant


def leader(dsn: str, failpoint: str = "") -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", LEADS, dsn, AFTER.isoformat(), failpoint, citus.engine().name]
    return subprocess.Popen(command, env=os.environ | {"PYTHONPATH": "."})


async def until_dead(process: subprocess.Popen[bytes]) -> int:
    """Wait for its end; it is killed when that takes too long."""
    try:
        with trio.fail_after(PATIENCE):
            return await trio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
    finally:
        process.kill()


async def all_is_counted_once(db: Database, worker_db: Database, tenants: list[TenantId]) -> None:
    for tenant in tenants:
        await aggregator.fold_all(worker_db, tenant)
    for _ in range(2):
        await Biller(worker_db, lambda: AFTER).round()
    for tenant in tenants:
        (charge,) = await db.run(charges.of_tenant, tenant)
        (month,) = await db.run(billing.months, tenant)
        assert (charge.emissions, charge.amount) == (EMISSIONS, Decimal("0.11"))  # 0.105, rounded to cents
        assert (month.emissions, month.charged, month.drift) == (EMISSIONS, EMISSIONS, 0)
        (day,) = await db.run_for(tenant, usage.days, midnight(OCTOBER), midnight(date(2026, 11, 1)))
        assert (day.submitted, day.accepted, day.pending) == (EMISSIONS, EMISSIONS, 0)


@pytest.mark.parametrize(
    ("failpoint", "closed"),
    [("folding:1", 0), ("folded:1", 0), ("folded:3", 0), ("closing:1", 0), ("closed:1", 1), ("closing:2", 1)],
)
async def test_killed_between_two_steps_the_next_one_goes_on(
    db: Database, worker_db: Database, dsn: str, failpoint: str, closed: int
) -> None:
    tenants = [await billed(db) for _ in range(2)]

    assert await until_dead(leader(dsn, failpoint)) == -9

    assert len(await rows(db, "SELECT subject FROM billing_charges")) == closed
    await all_is_counted_once(db, worker_db, tenants)


#: Obstacles to closing a month: during the count, and after it, with the charge written.
IN_THE_WAY = {
    "while it is counted": "SELECT 1 FROM billing_months WHERE tenant_id = %(tenant)s FOR UPDATE",
    "while it is charged": """
        INSERT INTO billing_charges (tenant_id, subject, stage, environment, run_at, month, part, emissions, unit_price,
                                     amount, currency, subscription_id)
        VALUES (%(tenant)s, gen_random_uuid(), 'charge', 'ecf', now(), '2026-10-01', 0, 1, 1, 1, 'DOP', 'sub_7')
    """,
}


@asynccontextmanager
async def in_the_way(dsn: str, statement: str, tenant: TenantId) -> AsyncIterator[None]:
    """A transaction that holds what closing needs, and comes to nothing."""
    with psycopg.connect(dsn) as conn:
        conn.execute(statement.encode(), {"tenant": tenant})
        yield
        conn.rollback()


_CLOSING = (
    "SELECT pid, wait_event_type FROM pg_stat_activity WHERE query LIKE 'SELECT close_month%%' AND state = 'active'"
)


@pytest.mark.parametrize("when", IN_THE_WAY)
async def test_killed_in_the_middle_of_closing_nothing_is_charged_twice(
    db: Database, worker_db: Database, dsn: str, when: str
) -> None:
    tenant = await billed(db)
    await aggregator.fold_all(db, tenant)
    await db.run(billing.round_ended)  # the hourly count would be in the way as well

    async with in_the_way(dsn, IN_THE_WAY[when], tenant):
        process = leader(dsn)
        try:
            with trio.fail_after(PATIENCE):
                while not any(one["wait_event_type"] == "Lock" for one in await rows(db, _CLOSING)):
                    assert process.poll() is None
                    await trio.sleep(0.02)
        finally:
            process.kill()
        assert await until_dead(process) == -9
    with trio.fail_after(PATIENCE):
        while await rows(db, _CLOSING):  # noqa: ASYNC110  (the server finds out by itself)
            await trio.sleep(0.02)

    await all_is_counted_once(db, worker_db, [tenant])


async def test_nobody_is_killed_and_all_is_closed(db: Database, worker_db: Database, dsn: str) -> None:
    """Distinguish a crash in the code above from a failed start."""
    tenants = [await billed(db) for _ in range(2)]

    assert await until_dead(leader(dsn)) == 0

    assert len(await rows(db, "SELECT subject FROM billing_charges")) == 2
    await all_is_counted_once(db, worker_db, tenants)
