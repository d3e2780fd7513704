"""pgqueuer under the same load: asyncpg, batches of 100, as its documentation tunes it. Prints one JSON line."""

import asyncio
import json
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


async def main(dsn: str, mode: str, jobs: int) -> None:
    pool = await asyncpg.create_pool(min_size=4, max_size=8, **connect_arguments(dsn))
    queue = PgQueuer(AsyncpgPoolDriver(pool))
    queries = Queries(AsyncpgPoolDriver(pool))
    await queries.install()
    await queries.optimize_autovacuum()
    done, last, latencies = 0, 0.0, []
    finished = asyncio.Event()

    @queue.entrypoint("noop")
    async def noop(job: Job) -> None:
        nonlocal done, last
        done += 1
        last = time.perf_counter()
        if mode == "latency":
            latencies.append(last - float(job.payload))
        if done == jobs:
            finished.set()

    if mode == "throughput":
        await queries.enqueue(["noop"] * jobs, [None] * jobs, [0] * jobs)
    started = time.perf_counter()
    run = asyncio.create_task(
        queue.run(dequeue_timeout=timedelta(seconds=5), batch_size=100 if mode == "throughput" else 10)
    )
    if mode == "latency":
        await asyncio.sleep(1)
        for _ in range(jobs):
            await queries.enqueue(["noop"], [str(time.perf_counter()).encode()], [0])
            await asyncio.sleep(0.02)
    await asyncio.wait_for(finished.wait(), 60)
    print(json.dumps({"seconds": last - started, "latencies": latencies}), flush=True)
    queue.shutdown.set()
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
