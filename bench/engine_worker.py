"""Our queue under bench/engines.py: `install`, `put` and `work`, as the programs of its peers in bench/peers.

`work` is what `fe run` has for a kind of work: an executor, and a rescuer with its heartbeat. The handler's effect is a
row in another database, which no fault reaches.
"""

import json
import random
import signal
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

import psycopg
import trio

from bench.engines import HALF_JOB, RECORD
from bench.outbox import LANE, NO_OP, STAGE, TENANT, Done, make_tenant
from fe.clock import system_clock
from fe.monitoring.metrics import Metrics
from fe.queue.executor import run_stage
from fe.queue.lease_guard import LeaseGuard
from fe.queue.outcome import Outcome
from fe.queue.rescuer import run_rescuer
from fe.queue.stage import StageConfig, StageContext
from fe.store.postgres.db import open_database
from fe.store.postgres.migrate import migrate
from fe.store.queue.outbox import OUTBOX, Work
from fe.store.queue.wakeups import CHANNEL, Wakeups
from fe.store.queue.workers import new_holder

_PUT = """
    INSERT INTO outbox (tenant_id, subject, stage, environment, run_at)
    SELECT %s, n.id, 'reconcile', 'ecf', clock_timestamp() FROM unnest(%s::uuid[]) AS n (id)
"""
_NOTIFY = "SELECT set_config('synchronous_commit', 'off', true), pg_notify(%s, %s)"
_SLOTS = 24
_LEASE = timedelta(seconds=60)


def install(dsn: str) -> None:
    migrate(dsn)

    async def tenant() -> None:
        async with open_database(dsn) as db:
            await db.run(make_tenant)

    trio.run(tenant)


def put(dsn: str, first: int, count: int, rate: float) -> list[int]:
    """Put jobs in, one transaction each at `rate` a second, or all in one; return the acknowledged ones."""
    acknowledged: list[int] = []
    conn: psycopg.Connection | None = None
    began = time.perf_counter()
    steps: Sequence[range] = (
        [range(first, first + count)] if rate == 0 else [range(n, n + 1) for n in range(first, first + count)]
    )
    for nth, jobs in enumerate(steps):
        time.sleep(max(0.0, began + (nth / rate if rate else 0) - time.perf_counter()))
        try:
            if conn is None or conn.closed:
                conn = psycopg.connect(dsn, autocommit=True)
            conn.execute(_PUT, (TENANT, [UUID(int=job) for job in jobs]))
            conn.execute(_NOTIFY, (CHANNEL, STAGE))  # after the commit, as an accept does
        except psycopg.OperationalError:
            conn = None
            time.sleep(0.05)
        else:
            acknowledged += jobs
    return acknowledged


async def work(dsn: str, recorder: str) -> None:
    async with open_database(dsn) as db, open_database(recorder, max_size=8) as outside:
        stopping = trio.Event()

        async def handle(job: Work) -> Outcome:
            await trio.sleep(HALF_JOB)
            await outside.run(_record, job.subject.int)
            await trio.sleep(HALF_JOB)
            return Done()

        wakeups = Wakeups(db)
        context = StageContext(
            db,
            wakeups,
            system_clock,
            Metrics(),
            lease=_LEASE,
            poll_seconds=1.0,
            holder=new_holder(),
            spread=random.Random(1),
        )
        with trio.open_signal_receiver(signal.SIGTERM) as signals:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(wakeups.run)
                nursery.start_soon(run_rescuer, context, (OUTBOX,), LeaseGuard(lease=_LEASE))
                nursery.start_soon(
                    run_stage, StageConfig(STAGE, NO_OP, handle, _SLOTS, [LANE], 30.0), context, stopping
                )
                async for _ in signals:
                    break
                stopping.set()
                nursery.cancel_scope.cancel()


async def _record(conn: psycopg.AsyncConnection, job: int) -> None:
    await conn.execute(RECORD.encode(), (job,))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["install", dsn]:
            install(dsn)
        case ["put", dsn, first, count, rate]:
            print(json.dumps(put(dsn, int(first), int(count), float(rate))))
        case ["work", dsn, recorder]:
            trio.run(work, dsn, recorder)
        case other:
            sys.exit(f"unknown: {other}")
