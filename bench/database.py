"""What a transaction costs under Trio: psycopg pumped by Trio itself beside psycopg carried on an asyncio loop.

`python -m bench.database [--seconds 4]`: both drivers in turn, in one process, on one embedded server, eight tasks.
"""

import argparse
import tempfile
import time
from pathlib import Path

import trio

from fe.store.db import Conn, Database, DriverName, open_database
from fe.store.embedded import start_embedded

TASKS = 8
ROUNDS = 3
BODY = "x" * 3200


async def one_statement(conn: Conn) -> None:
    await conn.execute("INSERT INTO bench_rows (body) VALUES (%s)", (BODY,))


async def four_round_trips(conn: Conn) -> None:
    await conn.execute("INSERT INTO bench_rows (body) VALUES (%s)", (BODY,))
    await conn.execute("INSERT INTO bench_rows (body) VALUES ('due')")


async def measure(db: Database, *, explicit: bool, seconds: float) -> tuple[float, float]:
    """Transactions a second, and microseconds of this process's CPU for each."""
    done = 0
    until = time.perf_counter() + seconds
    cpu, started = time.process_time(), time.perf_counter()

    async def worker() -> None:
        nonlocal done
        while time.perf_counter() < until:
            await (db.transact(four_round_trips) if explicit else db.run(one_statement))
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
                    rate, cpu = await measure(db, explicit=explicit, seconds=seconds / ROUNDS)
                best[driver] = max(best.get(driver, (0.0, 0.0)), (rate, cpu))
        print(name)
        for driver in drivers:
            print(f"  {driver:14} {best[driver][0]:8.0f} tx/s   {best[driver][1]:7.0f} us of CPU each")
        carried, native = best["trio-asyncio"], best["trio"]
        print(f"  trio : trio-asyncio   {native[0] / carried[0]:.2f} in rate, {native[1] / carried[1]:.2f} in CPU")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0, help="for each driver and kind")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        trio.run(main, start_embedded(Path(folder) / "postgres", keep=False), arguments.seconds)
