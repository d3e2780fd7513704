"""What a transaction costs under Trio, and what the tenant scope adds to a query.

`python -m bench.database [--seconds 4]`: psycopg pumped by Trio itself beside psycopg carried on an asyncio loop; then
a query plain beside the same within the tenant scope, by either driver. In turn, in one process, on one embedded
server, eight tasks.
"""

import argparse
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import trio

from fe.identifiers import TenantId
from fe.store import tenants
from fe.store.postgres.db import Conn, DriverName, open_database
from fe.store.postgres.embedded import start_embedded
from fe.store.postgres.migrate import migrate
from fe.store.postgres.roles import FRONT

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


async def main(dsn: str, seconds: float) -> None:
    async with open_database(dsn) as db:
        await db.run(lambda conn: conn.execute("CREATE TABLE bench_rows (id bigserial PRIMARY KEY, body text)"))
    drivers: tuple[DriverName, ...] = ("trio-asyncio", "trio")
    for explicit, name in ((False, "one statement"), (True, "BEGIN, two statements, COMMIT")):
        best: dict[str, tuple[float, float]] = {}
        for _ in range(ROUNDS):  # in turn, so that whatever else the machine does hits both
            for driver in drivers:
                async with open_database(dsn, driver=driver) as db:
                    act = partial(db.transact, four_round_trips) if explicit else partial(db.run, one_statement)
                    figures = await measure(act, seconds / ROUNDS)
                best[driver] = max(best.get(driver, (0.0, 0.0)), figures)
        print(name)
        for driver in drivers:
            print(f"  {driver:14} {best[driver][0]:8.0f} tx/s   {best[driver][1]:7.0f} us of CPU each")
        carried, native = best["trio-asyncio"], best["trio"]
        print(f"  trio : trio-asyncio   {native[0] / carried[0]:.2f} in rate, {native[1] / carried[1]:.2f} in CPU")
    for driver in drivers:
        await tenant_scope(dsn, driver, seconds)


async def tenant_scope(dsn: str, driver: DriverName, seconds: float) -> None:
    """Show what naming the tenant to row-level security adds to a query that is found by its key."""
    async with open_database(dsn) as db:
        tenant = await db.run(tenants.create, f"bench {driver}", {})
    assert tenant is not None
    best: dict[str, tuple[float, float]] = {}
    async with open_database(dsn, driver=driver) as above, open_database(dsn, driver=driver, role=FRONT) as front:
        acts = {
            "plain": partial(above.run, one_query, tenant.tenant_id),
            "within the tenant scope": partial(front.run_for, tenant.tenant_id, one_query),
        }
        for _ in range(ROUNDS):
            for name, act in acts.items():
                best[name] = max(best.get(name, (0.0, 0.0)), await measure(act, seconds / ROUNDS))
    print(f"one query, {driver}")
    for name, (rate, cpu) in best.items():
        print(f"  {name:24} {rate:8.0f} tx/s   {cpu:7.0f} us of CPU each")
    plain, scoped = best["plain"], best["within the tenant scope"]
    print(f"  within the tenant scope : plain   {scoped[0] / plain[0]:.2f} in rate, {scoped[1] / plain[1]:.2f} in CPU")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="for each driver and kind")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        server = start_embedded(Path(folder) / "postgres", keep=False)
        migrate(server)
        trio.run(main, server, arguments.seconds)
