"""How fast webhooks are told, and what endpoints that never answer cost the others; beside the naive form of it.

    python -m bench.webhooks [--endpoints 1000] [--dead 50] [--rate 60] [--seconds 15]

One process that delivers, one that listens, one Postgres. Events are put in at an even pace, one endpoint after the
other; what counts is the time from the event to the arrival of its first call, at endpoints that answer. `ours` is the
deliverer as `fe run --role actors` runs it, `naive` a table, 64 tasks and one httpx client with a timeout of 20 s. Each
is run with all endpoints well, and again with some that take the connection and never answer.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import psycopg
import trio

from bench.report import ROOT, Report
from bench.runner import HIDDEN, read_options
from bench.stack import free_port, open_stack
from fe.actors.webhooks import run_webhooks
from fe.clock import system_clock
from fe.config import load_settings
from fe.ecf.ids import new_id
from fe.monitoring.metrics import Metrics
from fe.queue.service_context import ServiceContext
from fe.queue.stage import StageContext
from fe.queue.supervisor import Supervisor
from fe.secrets.vault import Vault
from fe.store.postgres.db import open_database
from fe.store.postgres.roles import WORKER
from fe.store.queue.wakeups import Wakeups
from fe.store.records.verdict_notices import VerdictNotices
from fe.webhooks.secrets import WebhookVault
from fe.webhooks.signature import new_secret

_VAULT = WebhookVault(Vault({"bench": bytes(range(32))}))
KINDS = ("ours", "naive")
_NAIVE_TASKS = 64
_BODY = json.dumps({"event": "received_ecf", "xml": "x" * 8000})

_NAIVE_TABLE = """
    CREATE TABLE IF NOT EXISTS naive_hooks (
        id uuid PRIMARY KEY, url text NOT NULL, body text NOT NULL, run_at timestamptz NOT NULL DEFAULT now(),
        done_at timestamptz
    )
"""
_NAIVE_TAKE = """
    UPDATE naive_hooks
       SET run_at = now() + interval '60 s'
     WHERE id = (SELECT id FROM naive_hooks WHERE done_at IS NULL AND run_at <= now() ORDER BY run_at LIMIT 1
                    FOR UPDATE SKIP LOCKED)
    RETURNING id, url, body
"""


# --- who listens ------------------------------------------------------------------------------------------------------


async def listen(well: int, dead: int, journal: Path) -> None:
    """Answer at one port, take connections at the other and never answer; write down what arrives, and when."""
    with journal.open("a", buffering=1, encoding="ascii") as file:

        async def serve(stream: trio.SocketStream, answers: bool) -> None:
            received = b""
            try:
                while b"\r\n\r\n" not in received and (data := await stream.receive_some(65536)):
                    received += data
                for line in received.split(b"\r\n"):
                    if line.lower().startswith(b"x-service-delivery:"):
                        file.write(f"{time.time()} {line.partition(b':')[2].strip().decode()}\n")
                length = next(
                    int(line.partition(b":")[2])
                    for line in received.split(b"\r\n")
                    if line.lower().startswith(b"content-length:")
                )
                body = len(received.partition(b"\r\n\r\n")[2])
                while body < length and (data := await stream.receive_some(65536)):
                    body += len(data)
                if not answers:
                    await trio.sleep_forever()
                await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            except (trio.BrokenResourceError, StopIteration):
                pass  # the caller has closed the connection
            finally:
                await trio.aclose_forcefully(stream)

        async with trio.open_nursery() as nursery:
            for port, answers in ((well, True), (dead, False)):

                async def handler(stream: trio.SocketStream, answers: bool = answers) -> None:
                    await serve(stream, answers)

                listeners = await trio.open_tcp_listeners(port, host="127.0.0.1", backlog=1024)
                nursery.start_soon(trio.serve_listeners, handler, listeners)


# --- who delivers -----------------------------------------------------------------------------------------------------


async def deliver(dsn: str) -> None:
    """The deliverer of `fe run`, until it is killed."""
    settings = load_settings(development=True, data_dir=Path(tempfile.mkdtemp(prefix="fe-bench-")))
    metrics, stopping = Metrics(), trio.Event()
    async with open_database(dsn, role=WORKER) as db, trio.open_nursery() as nursery:
        wakeups = Wakeups(db)
        nursery.start_soon(wakeups.run)
        tools = StageContext(
            db, wakeups, system_clock, metrics, settings.lease, settings.poll_seconds, f"bench:{os.getpid()}"
        )
        context = ServiceContext(
            settings=settings,
            clock=system_clock,
            supervisor=Supervisor(metrics, stopping),
            wakeups=wakeups,
            verdicts=VerdictNotices(db),
        )
        await run_webhooks(context, tools, 45.0, _VAULT)


async def deliver_naively(dsn: str) -> None:
    """One table, one client, some tasks: take a row, post it, mark it done; else it is due again in a minute."""
    limits = httpx.Limits(max_connections=_NAIVE_TASKS)
    async with (
        httpx.AsyncClient(timeout=20, limits=limits, trust_env=False) as client,
        open_database(dsn, max_size=8) as db,
        trio.open_nursery() as nursery,
    ):

        async def take(conn: Any) -> tuple[Any, str, str] | None:
            found: tuple[Any, str, str] | None = await (await conn.execute(_NAIVE_TAKE)).fetchone()
            return found

        async def done(conn: Any, which: Any) -> None:
            await conn.execute("UPDATE naive_hooks SET done_at = now() WHERE id = %s", (which,))

        async def work() -> None:
            while True:
                row = await db.run(take)
                if row is None:
                    await trio.sleep(0.05)
                    continue
                which, url, body = row
                try:
                    await client.post(url, content=body, headers={"X-Service-Delivery": str(which)})
                except httpx.HTTPError:
                    continue
                await db.run(done, which)

        for _ in range(_NAIVE_TASKS):
            nursery.start_soon(work)


# --- the measuring ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Load:
    """Load of a measurement: endpoints, dead ones beside them, and events per second."""

    endpoints: int
    dead: int
    rate: float
    seconds: float


@dataclass(frozen=True)
class Found:
    """Of endpoints that answer: from the event to the arrival of its first call, and how many a second arrived."""

    p50: float
    p95: float
    per_second: float
    lost: int


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """This module as another process, killed at the end."""
    command = [sys.executable, "-m", "bench.webhooks", *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FE_")}
    environment["PYTHONPATH"] = str(ROOT)
    started = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        yield started
    finally:
        started.kill()
        started.wait()


class Scene:
    """A database with endpoints, of which some are dead, and who listens."""

    def __init__(self, dsn: str, load: Load, folder: Path) -> None:
        self.load, self._dsn, self._folder = load, dsn, folder
        self._conn = psycopg.connect(dsn, autocommit=True)
        self._conn.execute(_NAIVE_TABLE)

    def measure(self, kind: str, *, dead: int) -> Found:
        """Deliver for some seconds, wait for those in flight, and record when each arrived."""
        conn, load = self._conn, self.load
        conn.execute("TRUNCATE naive_hooks, webhook_deliveries, webhook_events, webhook_attempts")
        conn.execute("DELETE FROM webhook_secrets")
        conn.execute("DELETE FROM webhook_endpoints")
        well, never = free_port(), free_port()
        journal = self._folder / f"{kind}-{dead}-{time.time_ns()}"
        urls = [f"http://127.0.0.1:{never if n < dead else well}/{n}" for n in range(load.endpoints)]
        random.Random(1).shuffle(urls)
        endpoints = [self._endpoint(n, url) for n, url in enumerate(urls)]
        told: dict[str, float] = {}
        with process("--listen", str(well), str(never), str(journal)), process(f"--{kind}", self._dsn):
            self._warm_up(kind, endpoints, urls, well, journal)
            began = time.time()
            for number in range(int(load.rate * load.seconds)):
                which = number % load.endpoints
                time.sleep(max(0.0, began + number / load.rate - time.time()))
                name = self._tell(kind, endpoints[which], urls[which])
                if urls[which].startswith(f"http://127.0.0.1:{well}/"):
                    told[name] = time.time()
            until = time.time() + 60
            while time.time() < until and len(arrived := _arrivals(journal, told)) < len(told):
                time.sleep(0.2)
        waits = sorted(max(arrived[name] - at, 0.0) for name, at in told.items() if name in arrived)
        lasted = max(arrived.values()) - began
        return Found(
            statistics.median(waits), waits[int(len(waits) * 0.95)], len(waits) / lasted, len(told) - len(waits)
        )

    def _warm_up(self, kind: str, endpoints: list[tuple[int, str]], urls: list[str], well: int, journal: Path) -> None:
        """Wait until who delivers is at work: then its start is not measured."""
        which = next(n for n, url in enumerate(urls) if url.startswith(f"http://127.0.0.1:{well}/"))
        name, until = self._tell(kind, endpoints[which], urls[which]), time.time() + 60
        while time.time() < until and not _arrivals(journal, {name: 0.0}):
            time.sleep(0.1)

    def _endpoint(self, number: int, url: str) -> tuple[int, str]:
        now = datetime.now(UTC) + timedelta(milliseconds=number)
        tenant, endpoint, secret = number + 1000, new_id(now), new_id(now)
        with self._conn.transaction():
            self._conn.execute(
                "INSERT INTO tenants (tenant_id, name, issuer) OVERRIDING SYSTEM VALUE VALUES (%s, %s, '{}')"
                " ON CONFLICT DO NOTHING",
                (tenant, f"bench {tenant}"),
            )
            self._conn.execute(
                "INSERT INTO webhook_endpoints (tenant_id, endpoint_id, url, created_at, updated_at)"
                " VALUES (%s, %s, %s, now(), now())",
                (tenant, endpoint, url),
            )
            self._conn.execute(
                "INSERT INTO webhook_secrets (tenant_id, secret_id, endpoint_id, secret, created_at)"
                " VALUES (%s, %s, %s, %s, now())",
                (tenant, secret, endpoint, _VAULT.encrypt_secret(tenant, secret, new_secret())),  # type: ignore[arg-type]
            )
        return tenant, str(endpoint)

    def _tell(self, kind: str, endpoint: tuple[int, str], url: str) -> str:
        tenant, which = endpoint
        event = new_id(datetime.now(UTC))
        if kind == "naive":
            self._conn.execute("INSERT INTO naive_hooks (id, url, body) VALUES (%s, %s, %s)", (event, url, _BODY))
            return str(event)
        row = self._conn.execute(
            "WITH at AS (SELECT now() AS moment)"
            " SELECT tell_webhooks(%(t)s, %(e)s, 'ecf', 'received_ecf', 'x', at.moment, %(b)s, %(w)s),"
            " webhook_id(at.moment, %(e)s::uuid::text || %(w)s::uuid::text) FROM at",
            {"t": tenant, "e": event, "b": _BODY, "w": which},
        ).fetchone()
        assert row is not None
        return str(row[1])


def _arrivals(journal: Path, wanted: dict[str, float]) -> dict[str, float]:
    """When each of these came first."""
    arrived: dict[str, float] = {}
    if journal.exists():
        for line in journal.read_text(encoding="ascii").splitlines():
            moment, _, name = line.partition(" ")
            if name in wanted:
                arrived.setdefault(name, float(moment))
    return arrived


def main() -> int:
    """Measure, or be one of the processes that are measured."""
    wanted = {
        **{"endpoints": 1000, "dead": 50, "rate": 60.0, "seconds": 15.0, "rounds": 1},
        "kinds": {"nargs": "+", "choices": KINDS, "default": KINDS},
        "listen": {"nargs": 3, "help": HIDDEN},
        **{"ours": (str, HIDDEN), "naive": (str, HIDDEN)},
    }
    asked = read_options(__doc__, wanted)
    if asked.listen:
        trio.run(listen, int(asked.listen[0]), int(asked.listen[1]), Path(asked.listen[2]))
    elif asked.ours:
        trio.run(deliver, asked.ours)
    elif asked.naive:
        trio.run(deliver_naively, asked.naive)
    else:
        measure(Load(asked.endpoints, asked.dead, asked.rate, asked.seconds), asked.kinds, asked.rounds)
    return 0


def measure(load: Load, kinds: Sequence[str], rounds: int) -> None:
    """Each kind without and with the dead, in turn, as often as is wanted."""
    found: dict[tuple[str, int], list[Found]] = {}
    with open_stack() as stack, tempfile.TemporaryDirectory() as folder, Report("webhooks", stack.dsn) as report:
        scene = Scene(stack.dsn, load, Path(folder))
        for _ in range(rounds):
            for kind in kinds:
                for dead in (0, load.dead):
                    one = scene.measure(kind, dead=dead)
                    found.setdefault((kind, dead), []).append(one)
                    sys.stdout.write(f"{kind} {dead} dead: {one}\n")
                    sys.stdout.flush()
        for (kind, dead), each in found.items():
            name = f"{kind}, {dead} of {load.endpoints} dead"
            report.figure(name, "s to the first call, p95", [one.p95 for one in each])
            report.figure(name, "calls/s", [one.per_second for one in each])
        p95 = {key: [one.p95 for one in each] for key, each in found.items()}
        for kind in kinds:
            name = f"{kind}: p95 of those that answer, with : without the dead"
            report.ratio(name, p95[kind, load.dead], p95[kind, 0])


if __name__ == "__main__":
    sys.exit(main())
