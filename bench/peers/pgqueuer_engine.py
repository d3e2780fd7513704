"""pgqueuer under bench/engines.py: `install`, `put` and `work`. Jobs of silent workers are tried again after 30 s."""

import asyncio
import json
import signal
import sys
import time
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgPoolDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries


def connect_arguments(dsn: str) -> dict[str, object]:
    parts = urlsplit(dsn)
    return {"user": parts.username, "database": parts.path.lstrip("/"), "host": parse_qs(parts.query)["host"][0]}


async def install(dsn: str) -> None:
    async with asyncpg.create_pool(min_size=1, max_size=2, **connect_arguments(dsn)) as pool:
        await Queries(AsyncpgPoolDriver(pool)).install()


async def put(dsn: str, first: int, count: int, rate: float) -> list[int]:
    acknowledged: list[int] = []
    began = time.perf_counter()
    async with asyncpg.create_pool(min_size=1, max_size=1, **connect_arguments(dsn)) as pool:
        queries = Queries(AsyncpgPoolDriver(pool))
        if rate == 0:
            jobs = range(first, first + count)
            await queries.enqueue(["record"] * count, [str(job).encode() for job in jobs], [0] * count)
            return list(jobs)
        for nth in range(count):
            await asyncio.sleep(max(0.0, began + nth / rate - time.perf_counter()))
            try:
                await queries.enqueue(["record"], [str(first + nth).encode()], [0])
            except (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError, OSError):
                await asyncio.sleep(0.05)
            else:
                acknowledged.append(first + nth)
    return acknowledged


async def work(dsn: str, recorder: str) -> None:
    pool = await asyncpg.create_pool(min_size=2, max_size=8, **connect_arguments(dsn))
    outside = await asyncpg.create_pool(min_size=1, max_size=8, **connect_arguments(recorder))
    queue = PgQueuer(AsyncpgPoolDriver(pool))

    @queue.entrypoint("record", concurrency_limit=24)
    async def record(job: Job) -> None:
        assert job.payload is not None
        await asyncio.sleep(0.02)
        await outside.execute("INSERT INTO done (job) VALUES ($1)", int(job.payload))
        await asyncio.sleep(0.02)

    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, queue.shutdown.set)
    await queue.run(dequeue_timeout=timedelta(seconds=1), batch_size=24)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["install", dsn]:
            uvloop.run(install(dsn))
        case ["put", dsn, first, count, rate]:
            print(json.dumps(uvloop.run(put(dsn, int(first), int(count), float(rate)))))
        case ["work", dsn, recorder]:
            uvloop.run(work(dsn, recorder))
