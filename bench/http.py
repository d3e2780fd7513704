"""POST /invoices, durable, beside a bare Quart-Trio handler and beside FastAPI with the same transaction.

    python -m bench.http [--seconds 6] [--rounds 3] [--connections 1 8 32 128] [--peers FOLDER]

One process each, on one embedded Postgres, a structured receipt of 3 KB, in turn for every number of connections:

* front: this service's own front. Token, document, one transaction, 202.
* quart: Quart-Trio on stock Hypercorn, a handler that answers a constant and reads nothing. Nothing is stored.
* fastapi: FastAPI on uvicorn (h11) and psycopg's pool, with the same function in the database. Installed into FOLDER
  from PyPI; without --peers it is left out.

Rows are counted in the database afterwards: an answer that stored nothing would be noticed. The load generator takes
the other core; on two cores Postgres shares with it, so only the ratios mean anything.

`--old N` first fills the history with N old submissions of the tenant, to see that latency does not depend on them.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import trio

from fe.accounts.keys import SCOPES, hash_secret, new_api_key
from fe.clock import system_clock
from fe.config import load_settings
from fe.ecf.catalogue import Environment
from fe.http.app import PREFIX, HttpDeps, create_app
from fe.http.server.listener import serve_http
from fe.http.tokens import Tokens
from fe.identifiers import TenantId
from fe.monitoring.metrics import Metrics
from fe.store import history, keys, tenants
from fe.store.postgres.db import Conn, open_database
from fe.store.postgres.embedded import start_embedded
from fe.store.postgres.migrate import migrate
from fe.store.postgres.roles import FRONT
from fe.store.queue.wakeups import Wakeups

SECRET = bytes(range(32))
#: Of the peers' handler and libraries; uvicorn without its extras, because h11 is what is compared with.
PEER_PACKAGES = ("fastapi", "uvicorn", "psycopg[binary]", "psycopg-pool", "pyjwt")
LINES = 14
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


async def serve_front(port: int, dsn: str) -> None:
    """Serve our own front, and nothing else in the process."""
    async with open_database(dsn, max_size=8, role=FRONT) as db, trio.open_nursery() as nursery:
        wakeups = Wakeups(db)
        nursery.start_soon(wakeups.run)
        deps = HttpDeps(db, wakeups, system_clock, Metrics(), {"bench": SECRET}, SECRET)
        settings = load_settings(max_connections=2000)
        await serve_http(create_app(deps), f"127.0.0.1:{port}", settings=settings, shutdown=trio.Event())


async def serve_quart(port: int) -> None:
    """Serve a constant from Quart-Trio on Hypercorn as they come."""
    from hypercorn.config import Config
    from hypercorn.trio import serve
    from quart_trio import QuartTrio

    app = QuartTrio("bench")

    @app.post(f"{PREFIX}/invoices")
    async def create() -> tuple[dict[str, Any], int]:
        return {"taxLogId": "0" * 36, "status": "queued", "environment": "testecf", "billable": False}, 202

    config = Config()
    config.bind = [f"127.0.0.1:{port}"]
    config.accesslog = config.errorlog = None
    config.keep_alive_max_requests = 10**9
    await serve(app, config)


@dataclass
class Bench:
    """One run: where the database is, and whom to ask as."""

    dsn: str
    tenant_id: TenantId
    token: str
    peers: Path | None

    def commands(self) -> dict[str, list[str]]:
        """How to start each server."""
        own = [sys.executable, "-m", "bench.http", "--serve"]
        commands = {name: [*own, name, PORT, self.dsn] for name in ("front", "quart")}
        if self.peers is not None:
            python = self.peers / "venv" / "bin" / "python"
            script = Path(__file__).parent / "peers" / "fastapi_accept.py"
            commands["fastapi"] = [str(python), str(script), PORT, self.dsn, SECRET.hex(), str(self.tenant_id)]
        return commands

    def rows(self) -> int:
        """How many submissions are stored."""

        async def count() -> int:
            async with open_database(self.dsn, max_size=2) as db:
                return await db.run(history.count, self.tenant_id, history.HistoryFilter())

        return trio.run(count)


@contextmanager
def serving(command: Sequence[str], port: int) -> Iterator[int]:
    """Run a server for as long as the block; gives its process id."""
    process = subprocess.Popen([str(port) if word == PORT else word for word in command])
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 0.2).close()
                break
            except OSError:
                time.sleep(0.05)
        yield process.pid
    finally:
        process.kill()
        process.wait()


def cpu_seconds(pid: int) -> float:
    """CPU that a process has used, user and system."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


def load(port: int, connections: int, seconds: float, sent: bytes) -> dict[str, Any]:
    """Run the load generator in a process of its own."""
    command = [sys.executable, "-m", "bench.load", str(port), str(connections), str(seconds)]
    done = subprocess.run(command, input=sent, capture_output=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def measure(bench: Bench, name: str, command: list[str], connections: int, seconds: float) -> dict[str, Any]:
    """One server under one load."""
    port = free_port()
    before = bench.rows()
    with serving(command, port) as pid:
        began = cpu_seconds(pid)
        result = load(port, connections, seconds, request(bench.token))
        used = cpu_seconds(pid) - began
    stored = bench.rows() - before
    result["rate"] = result["requests"] / result["seconds"]
    answered = result["rate"] * (result["seconds"] + 0.5)
    result["cpu"] = 1e6 * used / max(answered, 1)
    if set(result["statuses"]) != {"202"} or (name != "quart" and stored < result["requests"]):
        raise SystemExit(f"{name}: {result['statuses']}, {stored} rows stored for {result['requests']} answers")
    return result


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=6.0, help="for each server and number of connections")
    parser.add_argument("--rounds", type=int, default=3, help="into which those seconds are cut")
    parser.add_argument("--connections", type=int, nargs="+", default=[1, 8, 32, 128])
    parser.add_argument("--peers", type=Path, help="a folder to install FastAPI into")
    parser.add_argument("--old", type=int, default=0, help="old submissions to put into the history first")
    parser.add_argument("--serve", nargs=3, metavar=("WHAT", "PORT", "DSN"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        what, port, dsn = arguments.serve
        trio.run(serve_front, int(port), dsn) if what == "front" else trio.run(serve_quart, int(port))
        return
    if arguments.peers:
        install_peers(arguments.peers)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        dsn = start_embedded(Path(folder) / "postgres", keep=False)
        migrate(dsn)
        tenant_id, token = trio.run(prepare, dsn, arguments.old)
        bench = Bench(dsn, tenant_id, token, arguments.peers)
        report(bench, arguments.connections, arguments.seconds, arguments.rounds)


def report(bench: Bench, connections: list[int], seconds: float, rounds: int) -> None:
    """Measure everything in turn and print a table of medians."""
    print(f"POST /invoices, {len(body())} bytes; {bench.rows()} submissions in the history; medians of {rounds} rounds")
    print(f"{'':10} {'conn':>5} {'req/s':>8} {'us CPU':>8} {'p50 ms':>8} {'p95 ms':>8} {'p99 ms':>8}")
    for count in connections:
        runs: dict[str, list[dict[str, Any]]] = {name: [] for name in bench.commands()}
        for _ in range(rounds):  # in turn, so that whatever else the machine does hits all of them
            for name, command in bench.commands().items():
                runs[name].append(measure(bench, name, command, count, seconds / rounds))
        found = {
            name: {column: median(run[column] for run in those) for column in ("rate", "cpu", "p50", "p95", "p99")}
            for name, those in runs.items()
        }
        for name, row in found.items():
            shown = " ".join(f"{row[column]:8.1f}" for column in ("p50", "p95", "p99"))
            print(f"{name:10} {count:5} {row['rate']:8.0f} {row['cpu']:8.0f} {shown}", flush=True)
        front = found.pop("front")
        ratios = (
            f"front : {name} = {front['rate'] / row['rate']:.2f} in rate, {row['cpu'] / front['cpu']:.2f} in CPU"
            for name, row in found.items()
        )
        print("  " + "; ".join(ratios))


if __name__ == "__main__":
    main()
