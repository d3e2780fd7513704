"""Run queues on Postgres through faults and pressure, and count what each lost and did twice.

`python -m bench.engines [--seconds 20] [--rate 200] [--burst 20000] [--peers FOLDER] [--only NAME ...]`

The scenarios are those of the public comparison of such queues (docs/performance.md names it). Each engine has two
processes with 24 jobs at once and 200 new jobs a second, one transaction each. A job of 40 ms writes a row into another
database, which no fault reaches: so what is done twice is counted, and a job that was acknowledged and is not done 90
seconds after the last is lost. The peers run as their documentation says; what is a default there stays a default.

* postgres_restart: the server crashes and recovers, in the middle.
* backend_kill: every connection of the engine is ended, each second for five seconds.
* pool_exhaustion: all connections of the server that are left are taken for eight seconds.
* repeated_kills: a worker is killed and replaced, four times.
* idle_in_tx: a transaction with an old snapshot stays open.
* active_readers: four readers, each always within a transaction, so that there always is an old snapshot.
* event_burst: many jobs at once, besides.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from bench.outbox import install_peers
from bench.report import Report
from bench.runner import read_options
from fe.store.postgres.embedded import start_embedded

DONE = "CREATE TABLE done (job int NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp())"
RECORD = "INSERT INTO done (job) VALUES (%s)"
#: Seconds of a job before and after its row, in every program.
HALF_JOB = 0.02
_PROCESSES = 2
#: Seconds after the last job until what is not done counts as lost: more than any engine's own limit but one of hours.
_PATIENCE = 90.0
_PEERS = {
    "graphile-worker": "graphile_engine.mjs",
    "pgqueuer": "pgqueuer_engine.py",
    "procrastinate": "procrastinate_engine.py",
}


@dataclass(frozen=True, slots=True)
class Seen:
    """Counts of jobs. `gap`: the longest time between two, `late`: from the last put to the end; seconds."""

    acknowledged: int
    lost: int
    twice: int
    gap: float
    late: float
    #: Jobs done in each second since the first.
    by_second: list[tuple[float, float]]


class Engine:
    """Programs of one engine, on a server of its own."""

    def __init__(self, name: str, command: Sequence[str], dsn: str, recorder: str) -> None:
        self.name, self.dsn = name, dsn
        self._command, self._recorder = list(command), recorder
        self._workers: list[subprocess.Popen[bytes]] = []

    def call(self, *arguments: str) -> str:
        """Run the program to its end."""
        ended = subprocess.run([*self._command, *arguments], capture_output=True, text=True, timeout=300, check=False)
        if ended.returncode:
            raise SystemExit(f"{self.name} {arguments[0]} failed: {ended.stderr[-800:]}")
        return ended.stdout

    def start_worker(self) -> None:
        """Start one more worker."""
        worker = [*self._command, "work", self.dsn, self._recorder]
        self._workers.append(subprocess.Popen(worker, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def replace_worker(self) -> None:
        """Kill the oldest worker and start another."""
        killed = self._workers.pop(0)
        killed.kill()
        killed.wait()
        self.start_worker()

    def keep_alive(self) -> None:
        """Start workers again that ended by themselves, as a service manager does."""
        self._workers = [one for one in self._workers if one.poll() is None]
        while len(self._workers) < _PROCESSES:
            self.start_worker()

    def stop(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.send_signal(signal.SIGTERM)
        for worker in self._workers:
            try:
                worker.wait(10)
            except subprocess.TimeoutExpired:
                worker.kill()
                worker.wait()
        self._workers = []


# --- What happens to an engine, from a quarter of the time on -------------------------------------------------------

_END_OTHERS = """
    SELECT pg_terminate_backend(a.pid)
      FROM pg_stat_activity AS a
     WHERE a.backend_type = 'client backend' AND a.datname = current_database() AND a.pid <> pg_backend_pid()
"""


def postgres_restart(engine: Engine, _: float) -> None:
    """Kill one backend by force: the server ends all others, recovers and starts again."""
    with psycopg.connect(engine.dsn, autocommit=True) as conn, contextlib.suppress(psycopg.OperationalError):
        os.kill(conn.info.backend_pid, signal.SIGKILL)
        conn.execute("SELECT 1")


def backend_kill(engine: Engine, _: float) -> None:
    """End all connections, each second for five seconds."""
    for _nth in range(5):
        with psycopg.connect(engine.dsn, autocommit=True) as conn:
            conn.execute(_END_OTHERS)
        time.sleep(1)


def pool_exhaustion(engine: Engine, _: float) -> None:
    """Take all connections that are left."""
    taken = []
    until = time.monotonic() + 8
    try:
        while time.monotonic() < until:
            try:
                taken.append(psycopg.connect(engine.dsn, autocommit=True))
            except psycopg.OperationalError:
                time.sleep(0.2)
    finally:
        for conn in taken:
            conn.close()


def repeated_kills(engine: Engine, _: float) -> None:
    """Kill a worker and start another, four times."""
    for _nth in range(4):
        engine.replace_worker()
        time.sleep(2)


def idle_in_tx(engine: Engine, seconds: float) -> None:
    """Keep an old snapshot."""
    with psycopg.connect(engine.dsn) as conn:
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        conn.execute("SELECT count(*) FROM pg_class")
        time.sleep(seconds)


def active_readers(engine: Engine, seconds: float) -> None:
    """Read, in transactions that overlap."""
    until = time.monotonic() + seconds

    def read(nth: int) -> None:
        time.sleep(nth)
        while time.monotonic() < until:
            with psycopg.connect(engine.dsn) as conn:
                conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                conn.execute("SELECT sum(n_live_tup) FROM pg_stat_user_tables")
                time.sleep(4)

    readers = [threading.Thread(target=read, args=(nth,)) for nth in range(4)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()


def no_fault(_: Engine, __: float) -> None:
    """Leave it alone."""


SCENARIOS: dict[str, Callable[[Engine, float], None]] = {
    "baseline": no_fault,
    "postgres_restart": postgres_restart,
    "backend_kill": backend_kill,
    "pool_exhaustion": pool_exhaustion,
    "repeated_kills": repeated_kills,
    "idle_in_tx": idle_in_tx,
    "active_readers": active_readers,
    "event_burst": no_fault,
}
#: Those in which a pause and the way out of it can be seen.
_DRAWN = ("postgres_restart", "pool_exhaustion", "repeated_kills", "event_burst")


def run(engine: Engine, scenario: str, recorder: str, first: int, *, rate: int, seconds: float, burst: int) -> Seen:
    """Run one engine through one scenario; its jobs have the numbers from `first` on."""
    count = int(rate * seconds)
    for _ in range(_PROCESSES):
        engine.start_worker()
    time.sleep(3)
    numbers = ["put", engine.dsn, str(first), str(count), str(rate)]
    with subprocess.Popen([*engine._command, *numbers], stdout=subprocess.PIPE, text=True) as putting:
        time.sleep(seconds / 4)
        more: list[int] = []
        if scenario == "event_burst":
            more = json.loads(engine.call("put", engine.dsn, str(first + count), str(burst), "0"))
        SCENARIOS[scenario](engine, seconds * 3 / 4)
        assert putting.stdout is not None
        acknowledged = set(json.loads(putting.stdout.read())) | set(more)
    ended = time.monotonic()
    found = Counter[int]()
    while time.monotonic() < ended + _PATIENCE:
        engine.keep_alive()
        found = Counter(_done(recorder, first))
        if acknowledged <= found.keys():
            break
        time.sleep(0.5)
    late = time.monotonic() - ended
    engine.stop()
    found = Counter(_done(recorder, first))
    return Seen(
        len(acknowledged),
        len(acknowledged - found.keys()),
        sum(times > 1 for job, times in found.items()),
        _gap(recorder, first),
        late,
        _by_second(recorder, first),
    )


def _done(recorder: str, first: int) -> Iterator[int]:
    with psycopg.connect(recorder, autocommit=True) as conn:
        yield from (job for (job,) in conn.execute("SELECT job FROM done WHERE job >= %s", (first,)).fetchall())


_GAP = """
    SELECT coalesce(extract(epoch FROM max(d.gap)), 0)
      FROM (SELECT at - lag(at) OVER (ORDER BY at) AS gap FROM done WHERE job >= %s) AS d
"""


def _gap(recorder: str, first: int) -> float:
    with psycopg.connect(recorder, autocommit=True) as conn:
        row = conn.execute(_GAP, (first,)).fetchone()
    assert row is not None
    return float(row[0])


_BY_SECOND = """
    SELECT s.second, count(d.at)
      FROM (SELECT at, floor(extract(epoch FROM at - min(at) OVER ())) AS second FROM done WHERE job >= %(first)s) AS d
     RIGHT JOIN (SELECT generate_series(0, ceil(extract(epoch FROM max(at) - min(at)))) AS second
                   FROM done
                  WHERE job >= %(first)s) AS s ON s.second = d.second
     GROUP BY s.second
     ORDER BY s.second
"""


def _by_second(recorder: str, first: int) -> list[tuple[float, float]]:
    with psycopg.connect(recorder, autocommit=True) as conn:
        return [(float(second), float(jobs)) for second, jobs in conn.execute(_BY_SECOND, {"first": first}).fetchall()]


def commands(peers: Path | None) -> dict[str, list[str]]:
    """The program of each engine."""
    found = {"ours": [sys.executable, "-m", "bench.engine_worker"]}
    if peers is not None:
        for name, command in install_peers(peers).items():
            program = Path(command[-1]).with_name(_PEERS[name])
            if program.suffix == ".mjs":  # beside the packages that it imports
                program.write_bytes((Path(__file__).parent / "peers" / program.name).read_bytes())
            found[name] = [*command[:-1], str(program)]
    return found


def main() -> None:
    peers_folder = (Path, "where the peers are, or are to be installed")
    only = {"nargs": "*", "default": list(SCENARIOS), "choices": list(SCENARIOS), "help": "scenarios"}
    wanted = {"seconds": 20.0, "rate": 200, "burst": 20_000, "peers": peers_folder, "only": only}
    arguments = read_options(__doc__, wanted)
    rows = []
    lines: dict[str, dict[str, list[tuple[float, float]]]] = {name: {} for name in _DRAWN if name in arguments.only}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, Report("engines") as report:
        outside = start_embedded(Path(folder) / "outside", keep=False)
        report.server(outside)
        with psycopg.connect(outside, autocommit=True) as conn:
            conn.execute(DONE.encode())
        first = 0
        for name, command in commands(arguments.peers).items():
            server = start_embedded(Path(folder) / name, keep=False)
            for scenario in arguments.only:
                dsn = _database(server, scenario)
                engine = Engine(name, command, dsn, outside)
                engine.call("install", dsn)
                options = {"rate": arguments.rate, "seconds": arguments.seconds, "burst": arguments.burst}
                seen = run(engine, scenario, outside, first, **options)
                first += 1_000_000
                rows.append(
                    {
                        "scenario": scenario,
                        "engine": name,
                        "acknowledged": seen.acknowledged,
                        "lost": seen.lost,
                        "twice": seen.twice,
                        "longest gap, s": round(seen.gap, 1),
                        "done after the last, s": round(seen.late, 1),
                    }
                )
                print(rows[-1], flush=True)
                if scenario in lines:
                    lines[scenario][name] = seen.by_second
        report.table("scenarios", rows)
        for scenario, of_engines in lines.items():
            report.plot(f"jobs done, {scenario}", "seconds", "jobs/s", of_engines)
        if arguments.peers is None:
            report.skip("pgqueuer, procrastinate, graphile-worker", "no --peers FOLDER")


def _database(server: str, name: str) -> str:
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE {name}".encode())
    return urlsplit(server)._replace(path=f"/{name}").geturl()


if __name__ == "__main__":
    main()
