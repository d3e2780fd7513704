"""procrastinate under bench/engines.py: `install`, `put` and `work`.

Jobs of silent workers are tried again, as its page on stalled jobs says.
"""

import asyncio
import json
import signal
import sys
import time

import psycopg
from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import ConnectorException
from psycopg_pool import AsyncConnectionPool


def app_of(dsn: str, recorder: AsyncConnectionPool | None = None) -> App:
    app = App(connector=PsycopgConnector(conninfo=dsn, min_size=2, max_size=12))

    @app.task(name="record", retry=True)
    async def record(job: int) -> None:
        assert recorder is not None
        await asyncio.sleep(0.02)
        async with recorder.connection() as conn:
            await conn.execute("INSERT INTO done (job) VALUES (%s)", (job,))
        await asyncio.sleep(0.02)

    return app


async def install(dsn: str) -> None:
    app = app_of(dsn)
    async with app.open_async():
        await app.schema_manager.apply_schema_async()


async def put(dsn: str, first: int, count: int, rate: float) -> list[int]:
    acknowledged: list[int] = []
    app = app_of(dsn)
    record = app.tasks["record"]
    began = time.perf_counter()
    async with app.open_async():
        if rate == 0:
            for start in range(first, first + count, 1000):
                jobs = range(start, min(start + 1000, first + count))
                await record.batch_defer_async(*({"job": job} for job in jobs))
                acknowledged += jobs
            return acknowledged
        for nth in range(count):
            await asyncio.sleep(max(0.0, began + nth / rate - time.perf_counter()))
            try:
                await record.defer_async(job=first + nth)
            except (ConnectorException, psycopg.Error):
                await asyncio.sleep(0.05)
            else:
                acknowledged.append(first + nth)
    return acknowledged


async def work(dsn: str, recorder: str) -> None:
    async with AsyncConnectionPool(recorder, min_size=1, max_size=8, kwargs={"autocommit": True}) as outside:
        app = app_of(dsn, outside)
        async with app.open_async():
            workers = asyncio.create_task(
                app.run_worker_async(
                    concurrency=24, fetch_job_polling_interval=1, delete_jobs="always", install_signal_handlers=False
                )
            )
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, workers.cancel)
            while not workers.done():
                await asyncio.wait([workers], timeout=5)
                try:
                    for stalled in await app.job_manager.get_stalled_jobs():
                        await app.job_manager.retry_job(stalled)
                except (ConnectorException, psycopg.Error):
                    continue


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["install", dsn]:
            asyncio.run(install(dsn))
        case ["put", dsn, first, count, rate]:
            print(json.dumps(asyncio.run(put(dsn, int(first), int(count), float(rate)))))
        case ["work", dsn, recorder]:
            asyncio.run(work(dsn, recorder))
