"""procrastinate under the same load: psycopg, eight jobs at once, finished jobs deleted. Prints one JSON line."""

import asyncio
import json
import sys
import time

from procrastinate import App, PsycopgConnector


async def main(dsn: str, mode: str, jobs: int) -> None:
    app = App(connector=PsycopgConnector(conninfo=dsn, min_size=4, max_size=12))
    done, last, latencies = 0, 0.0, []
    finished = asyncio.Event()

    @app.task(name="noop")
    async def noop(sent_at: float) -> None:
        nonlocal done, last
        done += 1
        last = time.perf_counter()
        if mode == "latency":
            latencies.append(last - sent_at)
        if done == jobs:
            finished.set()

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        if mode == "throughput":
            for start in range(0, jobs, 1000):
                await noop.batch_defer_async(*({"sent_at": 0.0} for _ in range(start, min(start + 1000, jobs))))
        started = time.perf_counter()
        run = asyncio.create_task(
            app.run_worker_async(concurrency=8, delete_jobs="always", install_signal_handlers=False)
        )
        if mode == "latency":
            await asyncio.sleep(1)
            for _ in range(jobs):
                await noop.defer_async(sent_at=time.perf_counter())
                await asyncio.sleep(0.02)
        await asyncio.wait_for(finished.wait(), 90)
        print(json.dumps({"seconds": last - started, "latencies": latencies}), flush=True)
        run.cancel()
        await asyncio.gather(run, return_exceptions=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
