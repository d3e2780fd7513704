"""The outbox beside three job queues that others run: how many no-op jobs a second, and how soon a job starts.

`python -m bench.outbox [--jobs 100000] [--rounds 3] [--peers FOLDER]`

All on one embedded Postgres, one after the other, each in a database of its own, in rounds; of each the median round is
told, and the lowest and highest:

* ours: 100,000 preloaded rows through the executor that the service runs (fe/queue), claimed as it claims submissions:
  for each job a deadline, a log context and an outcome of its own; outcomes are written together, as many as come up
  while one write is under way. Python's garbage is collected as rarely as in the service.
* pgqueuer, procrastinate, graphile-worker: their own workers with a no-op job, tuned as their documentation says.
* latency: a job every 20 ms; from before the call that puts it in to the start of its handler, woken by NOTIFY.

The peers are installed into FOLDER (a venv and node_modules), from PyPI and npm; without --peers they are left out.
"""

import argparse
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import trio
from psycopg.rows import scalar_row

from bench.report import Report, in_turn
from bench.road import quantile
from bench.runner import read_options
from fe.actors.writers import WRITERS
from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import Stage
from fe.monitoring.metrics import Metrics
from fe.process.workers import collect_rarely
from fe.queue.executor import run_stage
from fe.queue.outcome import End, Outcome
from fe.queue.stage import StageConfig, StageContext, WorkKind
from fe.store.postgres.arrays import int8s, uuids
from fe.store.postgres.db import Conn, Database, open_database
from fe.store.postgres.embedded import start_embedded
from fe.store.postgres.migrate import migrate
from fe.store.queue import outbox
from fe.store.queue.claim import claim_together
from fe.store.queue.outbox import OutboxLane, Work
from fe.store.queue.wakeups import Wakeups

#: As many as graphile-worker's local queue holds.
SLOTS = 500
#: procrastinate takes its jobs one by one: a fiftieth of the jobs shows its rate.
_FEWER = {"procrastinate": 50}
#: Jobs a second, and seconds from enqueue to start.
Found = tuple[float, list[float]]
LANE = OutboxLane(Environment.ECF)
LEASE = timedelta(seconds=60)
TENANT = TenantId(1)

_PRELOAD = """
    INSERT INTO outbox (tenant_id, subject, stage, environment, run_at)
    SELECT %(tenant)s, gen_random_uuid(), 'reconcile', 'ecf', now() FROM generate_series(1, %(jobs)s)
"""
_ONE = """
    INSERT INTO outbox (tenant_id, subject, stage, environment, run_at)
    VALUES (%s, %s, 'reconcile', 'ecf', clock_timestamp())
"""
# The arrays are taken apart and put together again for the reason given at _CLAIM of fe/store/queue/tables.py.
_COMPLETE = """
    DELETE FROM outbox AS o
     USING unnest(ARRAY(SELECT unnest(%(subjects)b::uuid[])), ARRAY(SELECT unnest(%(epochs)b::bigint[])))
                  AS done (subject, epoch)
     WHERE o.tenant_id = %(tenant)s AND o.subject = done.subject AND o.epoch = done.epoch AND o.holder IS NOT NULL
    RETURNING o.subject
"""


@dataclass(frozen=True, slots=True)
class Done(End):
    """There was nothing to do, and it is done."""

    name: str = "done"


async def _done(conn: Conn, items: Sequence[tuple[Work, Done]], at: datetime) -> list[Outcome | None]:
    cursor = conn.cursor(row_factory=scalar_row)
    subjects, epochs = uuids([work.subject for work, _ in items]), int8s([work.epoch for work, _ in items])
    await cursor.execute(_COMPLETE, {"tenant": TENANT, "subjects": subjects, "epochs": epochs}, binary=True)
    completed = set(await cursor.fetchall())
    return [done if work.subject in completed else None for work, done in items]


#: No-op jobs as a kind of work: rows of the one stage for which nothing of a submission comes with the claim.
NO_OP = WorkKind(outbox, {**WRITERS, Done: _done}, together=claim_together)
STAGE = Stage.RECONCILE


async def make_tenant(conn: Conn) -> None:
    await conn.execute("INSERT INTO tenants (tenant_id, name, issuer) VALUES (%s, 'bench', '{}')", (TENANT,))


async def preload(conn: Conn, jobs: int) -> None:
    await conn.execute(_PRELOAD, {"tenant": TENANT, "jobs": jobs})
    await conn.execute("ANALYZE outbox")


def tools_for(db: Database, wakeups: Wakeups) -> StageContext:
    return StageContext(
        db,
        wakeups,
        system_clock,
        Metrics(),
        lease=LEASE,
        poll_seconds=2.0,
        holder="bench",
        spread=random.Random(1),
    )


def noop_stage(done: trio.Event, jobs: int, at: dict[SubmissionId, float], slots: int = SLOTS) -> StageConfig[Work]:
    count = 0

    async def handle(work: Work) -> Outcome:
        nonlocal count
        at[work.subject] = time.perf_counter()
        count += 1
        if count == jobs:
            done.set()
        return Done()

    return StageConfig(STAGE, NO_OP, handle, slots, [LANE], 30.0)


async def throughput(dsn: str, jobs: int, slots: int) -> float:
    """No-op jobs a second through the executor of the service, until the last outcome is committed."""
    async with open_database(dsn) as db:
        await db.run(make_tenant)
        await db.run(preload, jobs)
        done, stopping, at = trio.Event(), trio.Event(), dict[SubmissionId, float]()
        stage, tools = noop_stage(done, jobs, at, slots), tools_for(db, Wakeups(db))
        started = time.perf_counter()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run_stage, stage, tools, stopping)
            await done.wait()
            stopping.set()
        rate = jobs / (time.perf_counter() - started)
        assert len(at) == jobs, f"a job was lost or done twice: {len(at)} of {jobs}"
        assert await db.run(_left) == 0
        return rate


async def _left(conn: Conn) -> int:
    cursor = await conn.execute("SELECT count(*) FROM outbox WHERE tenant_id = %s", (TENANT,))
    (left,) = await cursor.fetchall()
    return int(left[0])


async def latency(dsn: str, jobs: int) -> list[float]:
    """Seconds from before the insert to the handler's start; two sets of connections, as between two processes."""
    async with (
        open_database(dsn) as db,
        open_database(dsn, max_size=2) as other,
        trio.open_nursery() as nursery,
    ):
        await db.run(make_tenant)
        done, stopping, at, put = trio.Event(), trio.Event(), dict[SubmissionId, float](), dict[SubmissionId, float]()
        near, far = Wakeups(db), Wakeups(other)
        nursery.start_soon(near.run)
        nursery.start_soon(far.run)
        nursery.start_soon(run_stage, noop_stage(done, jobs, at), tools_for(db, near), stopping)
        await trio.sleep(1)
        for _ in range(jobs):
            subject = SubmissionId(new_id(datetime.now(UTC)))
            put[subject] = time.perf_counter()
            await other.run(_put_one, subject)
            far.notify(STAGE)
            await trio.sleep(0.02)
        await done.wait()
        stopping.set()
        nursery.cancel_scope.cancel()
    return [at[subject] - put[subject] for subject in put]


async def _put_one(conn: Conn, subject: SubmissionId) -> None:
    await conn.execute(_ONE, (TENANT, subject))


# --- The peers ----------------------------------------------------------------------------------------------------

HERE = Path(__file__).parent / "peers"


def install_peers(folder: Path) -> dict[str, list[str]]:
    """Install the three into `folder` when they are not there; return the command of each."""
    folder.mkdir(parents=True, exist_ok=True)
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
        wanted = ["pgqueuer[asyncpg]==1.6.0", "procrastinate==3.10.0", "psycopg[binary]", "uvloop"]
        subprocess.run([python, "-m", "pip", "install", "-q", *wanted], check=True)
    if not (folder / "node_modules").exists():
        (folder / "package.json").write_text('{"private": true}')
        subprocess.run(["npm", "install", "--silent", "graphile-worker@0.17.3"], cwd=folder, check=True)
    shutil.copy(HERE / "graphile_worker.mjs", folder)
    return {
        "pgqueuer": [str(python), str(HERE / "pgqueuer_worker.py")],
        "procrastinate": [str(python), str(HERE / "procrastinate_worker.py")],
        "graphile-worker": ["node", str(folder / "graphile_worker.mjs")],
    }


def run_peer(command: list[str], dsn: str, mode: str, jobs: int) -> Any:
    ended = subprocess.run([*command, dsn, mode, str(jobs)], capture_output=True, text=True, timeout=300, check=False)
    if ended.returncode != 0:
        raise SystemExit(f"{command[-1]} failed: {ended.stderr[-800:]}")
    return json.loads(ended.stdout)


# --- The run ------------------------------------------------------------------------------------------------------


class Databases:
    """A fresh database for each measurement, on one server."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._made = 0

    def fresh(self, *, ours: bool) -> str:
        import psycopg  # after fe.store, see there

        self._made += 1
        name = f"bench_{self._made}"
        with psycopg.connect(self._server, autocommit=True) as conn:
            conn.execute(f"CREATE DATABASE {name}".encode())
        parts = urlsplit(self._server)
        dsn = parts._replace(path=f"/{name}").geturl()
        if ours:
            migrate(dsn)
        return dsn


def main() -> None:
    peers_folder = (Path, "where the peers are, or are to be installed")
    wanted = {"jobs": 100_000, "latency-jobs": 200, "rounds": 3, "peers": peers_folder}
    arguments = read_options(__doc__, wanted, short={"jobs": 20_000, "rounds": 2, "latency_jobs": 100})
    collect_rarely()
    peers = install_peers(arguments.peers) if arguments.peers else {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, Report("outbox") as report:
        server = start_embedded(Path(folder) / "postgres", keep=False)
        report.server(server)
        databases = Databases(server)
        kinds = {"ours": partial(measure_ours, arguments, databases)}
        kinds |= {name: partial(measure_peer, arguments, databases, name, peers[name]) for name in peers}
        found = in_turn(kinds, arguments.rounds)
        if not peers:
            report.skip("pgqueuer, procrastinate, graphile-worker", "no --peers FOLDER")
        tell(report, found)


def tell(report: Report, found: dict[str, list[Found]]) -> None:
    """Put it into the report; each job its own outcome is what the service does, and what the target is set on."""
    rates = {name: [rate for rate, _ in rounds] for name, rounds in found.items()}
    delays = {name: [waited for _, waited in rounds] for name, rounds in found.items()}
    late = {name: [quantile(waited, 95) for waited in rounds] for name, rounds in delays.items()}
    peers = [name for name in rates if name != "ours"]
    if "graphile-worker" in peers:
        theirs = rates["graphile-worker"]
        report.ratio("jobs/s, ours : graphile-worker", rates["ours"], theirs, at_least=2)
    if peers:
        best = min(peers, key=lambda name: statistics.median(late[name]))
        report.ratio(f"p95 from enqueue to start, ours : {best}, the best peer", late["ours"], late[best], at_most=1)
    for name, each in rates.items():
        report.figure(name, "jobs/s", each)
    for name, rounds in delays.items():
        for percent in (50, 95, 99):
            waited = [quantile(seconds, percent) for seconds in rounds]
            report.figure(name, f"enqueue to start p{percent}, ms", waited)


def measure_ours(arguments: argparse.Namespace, databases: Databases) -> Found:
    rate = trio.run(throughput, databases.fresh(ours=True), arguments.jobs, SLOTS)
    return rate, trio.run(latency, databases.fresh(ours=True), arguments.latency_jobs)


def measure_peer(arguments: argparse.Namespace, databases: Databases, name: str, command: list[str]) -> Found:
    jobs = arguments.jobs // _FEWER.get(name, 1)
    rate = jobs / run_peer(command, databases.fresh(ours=False), "throughput", jobs)["seconds"]
    return rate, run_peer(command, databases.fresh(ours=False), "latency", arguments.latency_jobs)["latencies"]


if __name__ == "__main__":
    main()
