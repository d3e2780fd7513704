"""Cost of a transaction under Trio, and of the tenant scope in a query.

`python -m bench.database [--seconds 4]`: psycopg pumped by Trio itself beside psycopg carried on an asyncio loop; then
a query plain beside the same within the tenant scope, by either driver. In turn, in one process, on one embedded
server, eight tasks.
"""

import time
from collections.abc import Awaitable, Callable
from functools import partial

import trio

from bench.report import Report
from bench.runner import empty_postgres, read_options
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn, DriverName, open_database
from fe.store.postgres.roles import FRONT
from fe.store.records import tenants

DRIVERS: tuple[DriverName, ...] = ("trio-asyncio", "trio")
TASKS = 8
ROUNDS = 3
BODY = "x" * 3200


async def one_statement(conn: Conn) -> None:
    await conn.execute("INSERT INTO bench_rows (body) VALUES (%s)", (BODY,))


async def four_round_trips(conn: Conn) -> None:
    await conn.execute("INSERT INTO bench_rows (body) VALUES (%s)", (BODY,))
    await conn.execute("INSERT INTO bench_rows (body) VALUES ('due')")


async def one_query(conn: Conn, tenant_id: TenantId) -> None:
    cursor = await conn.execute("SELECT name, issuer FROM tenants WHERE tenant_id = %s", (tenant_id,))
    assert await cursor.fetchone() is not None


async def measure(act: Callable[[], Awaitable[None]], seconds: float) -> tuple[float, float]:
    """Transactions a second, and microseconds of this process's CPU for each."""
    done = 0
    until = time.perf_counter() + seconds
    cpu, started = time.process_time(), time.perf_counter()

    async def worker() -> None:
        nonlocal done
        while time.perf_counter() < until:
            await act()
            done += 1

    async with trio.open_nursery() as nursery:
        for _ in range(TASKS):
            nursery.start_soon(worker)
    return done / (time.perf_counter() - started), (time.process_time() - cpu) / done * 1e6


async def main(report: Report, dsn: str, seconds: float) -> None:
    async with open_database(dsn) as db:
        await db.run(lambda conn: conn.execute("CREATE TABLE bench_rows (id bigserial PRIMARY KEY, body text)"))
    for explicit, name in ((False, "one statement"), (True, "BEGIN, two statements, COMMIT")):
        found: dict[str, list[tuple[float, float]]] = {driver: [] for driver in DRIVERS}
        for _ in range(ROUNDS):  # in turn, so that whatever else the machine does hits both
            for driver in DRIVERS:
                async with open_database(dsn, driver=driver) as db:
                    act = partial(db.transact, four_round_trips) if explicit else partial(db.run, one_statement)
                    found[driver].append(await measure(act, seconds / ROUNDS))
        tell(report, name, found, "trio", "trio-asyncio")
    for driver in DRIVERS:
        await tenant_scope(report, dsn, driver, seconds)


async def tenant_scope(report: Report, dsn: str, driver: DriverName, seconds: float) -> None:
    """Show what naming the tenant to row-level security adds to a query that is found by its key."""
    async with open_database(dsn) as db:
        tenant = await db.run(tenants.create, f"bench {driver}", {})
    assert tenant is not None
    found: dict[str, list[tuple[float, float]]] = {"tenant scope": [], "plain": []}
    async with open_database(dsn, driver=driver) as above, open_database(dsn, driver=driver, role=FRONT) as front:
        acts = {
            "plain": partial(above.run, one_query, tenant.tenant_id),
            "tenant scope": partial(front.run_for, tenant.tenant_id, one_query),
        }
        for _ in range(ROUNDS):
            for name, act in acts.items():
                found[name].append(await measure(act, seconds / ROUNDS))
    tell(report, f"one query, {driver}", found, "tenant scope", "plain")


def tell(report: Report, what: str, found: dict[str, list[tuple[float, float]]], over: str, under: str) -> None:
    """Put rates and CPU into the report, and how the first does beside the second."""
    for nth, (name, unit) in enumerate((("rate", "tx/s"), ("CPU", "us of CPU each"))):
        values = {kind: [figures[nth] for figures in rounds] for kind, rounds in found.items()}
        report.ratio(f"{name}, {over} : {under}, {what}", values[over], values[under])
        for kind, each in values.items():
            report.figure(f"{what}, {kind}", unit, each)


if __name__ == "__main__":
    arguments = read_options(__doc__, {"seconds": (4.0, "for each driver and kind")})
    with empty_postgres() as (server, _), Report("database", server) as opened:
        trio.run(main, opened, server, arguments.seconds)
