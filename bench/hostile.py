"""Effect of one hostile tenant and one hostile address on a hundred good tenants.

    python -m bench.hostile [--seconds 4] [--rounds 7] [--only long_polls ...] [--short] [--behind-nginx]

One front runs over an embedded Postgres. A hundred tenants, each on its own connection, post one receipt a second. The
attacks run in turn. Before each phase of an attack there is a quiet phase, which begins when the work of the attack
before is done. The result is the ratio of the good tenants' 95th percentiles in the two phases; the median of rounds.

All connections of an attack are open before its phase begins, and each reconnects after an answer or a cut: together
at most `RATE` a second and `BANDWIDTH` bytes, a link of 1 Gbit/s. One remote machine can keep that up for hours. A
flood at the speed of loopback is another attack, which the network before the service must stop.

The attackers run in a process of their own, at idle priority, because they stand for other machines. The kernel's work
for them is in the ratios nevertheless. So each attack also runs against a process that is not the service and refuses
everything: that ratio is the machine's share, and the rest is the service's. The front's own CPU is reported too.

With `--behind-nginx` all requests pass nginx with the limits in docs/deployment.md, without TLS.

Beside the times it reports the answers to good tenants (never a 5xx, never a 429) and to attackers, the front's memory,
and how late its loop was. tests/http/test_hostile.py makes the same attacks and judges by those counts alone.
"""

import json
import math
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path

import trio

from bench.http import SECRET, body, postmaster, request, serving
from bench.report import ROOT, Report
from bench.runner import empty_postgres, read_options
from bench.stack import cpu_seconds, free_port
from fe.accounts.keys import SCOPES, hash_secret, new_api_key
from fe.clock import system_clock
from fe.config import load_settings, read_networks
from fe.ecf.catalogue import Environment
from fe.http.app import PREFIX, HttpDeps, create_app
from fe.http.auth.tokens import Tokens
from fe.http.server.listener import serve_http
from fe.monitoring.metrics import Metrics
from fe.process.cpu import run_when_idle
from fe.process.parent_watch import obey
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import FRONT
from fe.store.queue.wakeups import Wakeups
from fe.store.records import keys, tenants

GOOD = 100
#: Between two receipts of one good tenant, in seconds.
PAUSE = 1.0
#: Where they come from: the whole of 127/8 is this machine.
HERE = "127.0.0.1"
HOSTILE = "127.0.0.66"
#: A tenant may have many addresses.
MANY = tuple(f"127.0.0.{number}" for number in range(70, 80))
#: A megabyte, as far as the service lets it in.
LARGE = 1_000_000
#: How many connections an attack begins in a second, the first ones and those that come again; and the bytes that it
#: sends in a second, all together: 1 Gbit/s.
RATE = 200.0
BANDWIDTH = 125_000_000.0
#: An attacker that was answered or cut comes again after this, in seconds, or when `RATE` lets it.
AGAIN = 2.0
#: Bytes that an attacker sends at once.
_AT_ONCE = 64 * 1024
#: How long the front is looked at to see that it has nothing to do.
_SETTLE_SECONDS = 0.5
#: Seconds to wait for an answer.
PATIENCE = 30.0

#: Seconds after which a tenant may have as much at once as ever, of a processor and of bytes that are stored.
REST = 12.0
#: A virtual machine shares its processors with other machines. A phase with more steal time than this percentage is
#: taken again, at most `TRIES` times; the least disturbed one counts.
STOLEN_AT_MOST = 2.5
TRIES = 4

#: Statuses that an attacker may get; 0: the connection was closed.
REFUSALS = frozenset({0, 400, 401, 408, 413, 429})


@dataclass(frozen=True, slots=True)
class Attack:
    """Connections that each send these bytes, wait for an answer or the end, and reconnect."""

    name: str
    sent: bytes
    connections: int
    sources: Sequence[str] = (HOSTILE,)
    #: Statuses that the attacker may get; 503 only where all clients together exceed the capacity.
    answers: frozenset[int] = REFUSALS
    #: Bytes that are sent one by one, slowly, after the others.
    drip: bytes = b""
    #: Seconds by which it begins before its phase, to use up the burst that an idle client has.
    before: float = 0.5
    #: And how long nothing is asked for before that, in seconds, so that it may have as much at once each time.
    rest: float = 0.0


def head(method: str, path: str, token: str = "", *more: str) -> bytes:
    """The head of a request."""
    authorized = [f"Authorization: Bearer {token}"] if token else []
    lines = [f"{method} {PREFIX}{path} HTTP/1.1", "Host: bench", "Content-Type: application/json", *authorized, *more]
    return "\r\n".join([*lines, "", ""]).encode()


def sending(path: str, content: bytes, token: str = "") -> bytes:
    """A whole POST."""
    return head("POST", path, token, f"Content-Length: {len(content)}") + content


def worst_document(lines: int = 10_000) -> bytes:
    """The document that is dearest to judge: as many lines as there may be, and something wrong with each."""
    line = {"IndicadorFacturacion": 1, "MontoItem": 1, "CantidadItem": 3, "PrecioUnitarioItem": 7}
    made = json.loads(body())
    made["payload"]["Encabezado"]["IdDoc"]["eNCF"] = "E340000000001"
    made["payload"]["DetallesItems"]["Item"] = [line] * lines
    return json.dumps(made, separators=(",", ":")).encode()


def attacks(token: str, tax_log_id: str) -> list[Attack]:
    """Make the attacks, with the token of a tenant and the id of its unfinished submission."""
    deep = b'{"a":[' + b"[]," * (LARGE // 3) + b"[]]}"
    items = json.loads(body())
    items["payload"]["DetallesItems"]["Item"] = [{}] * 50_000
    crowd = json.dumps(items, separators=(",", ":")).encode()
    worst = worst_document()
    large = json.dumps({"format": "xml", "xml": "x" * LARGE}).encode()
    decimals = b'{"format":"structured","payload":{"a":[' + b",".join([b"1.1"] * 16_000) + b"]}}"
    chunked = head("POST", "/invoices", token, "Transfer-Encoding: chunked")
    done = REFUSALS | {200, 202}
    return [
        Attack("login_shapes", sending("/login", deep), 4),
        Attack("held_validations", sending("/invoices/validate", large, token)[:-1], 190, MANY, done | {503}),
        Attack("decimals", sending("/invoices/validate", decimals, token), 190, MANY, done | {503}),
        Attack("long_polls", head("GET", f"/invoices/{tax_log_id}?wait=30", token), 1000, MANY, done),
        Attack("validations", sending("/invoices/validate", worst, token), 8, answers=done, before=4.0, rest=REST),
        Attack("worst_documents", sending("/invoices", worst, token), 20, answers=done, before=4.0, rest=REST),
        Attack("crowds", sending("/invoices", crowd, token), 25, answers=done),
        Attack("half_heads", head("POST", "/login")[:-4], 1100, drip=b"X-A: b\r\n" * 100),
        Attack("held_bodies", sending("/login", b"x" * LARGE)[:-1], 900),
        Attack("one_byte_chunks", chunked + b"1\r\n \r\n" * 100_000 + b"0\r\n\r\n", 4, answers=done),
        Attack("slow_readers", head("GET", "/openapi.json") * 200, 200, answers=done),
    ]


@dataclass(slots=True)
class Heard:
    """Answers to good tenants or to attackers: statuses, and seconds of whole answers."""

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    #: How many connections of an attack have begun what they are there for.
    begun: int = 0

    def p95(self) -> float:
        """Milliseconds that nineteen of twenty did not take."""
        taken = sorted(self.seconds)
        return 1e3 * taken[int(len(taken) * 0.95)]


class Pace:
    """Shared rate limit, in bursts of a twentieth of a second."""

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._next = -math.inf

    async def take(self, amount: float = 1.0) -> None:
        """Wait until the limit allows this amount."""
        now = trio.current_time()
        self._next = max(self._next, now - 0.05) + amount / self._per_second
        await trio.sleep_until(max(self._next, now))


@dataclass(frozen=True, slots=True)
class Link:
    """Link between an attacker and the service."""

    beginnings: Pace = field(default_factory=lambda: Pace(RATE))
    bytes: Pace = field(default_factory=lambda: Pace(BANDWIDTH))


async def attack(port: int, what: Attack, heard: Heard) -> None:
    """Attack until cancelled; `heard` is filled as it goes."""
    link = Link()
    async with trio.open_nursery() as nursery:
        for number in range(what.connections):
            nursery.start_soon(_attack, port, what, what.sources[number % len(what.sources)], link, heard)


async def _attack(port: int, what: Attack, source: str, link: Link, heard: Heard) -> None:
    for number in count():
        await link.beginnings.take()
        try:
            stream = await trio.open_tcp_stream(HERE, port, local_address=source)
            heard.begun += number == 0
            async with stream, trio.open_nursery() as nursery:
                nursery.start_soon(_send, stream, what, link)
                status = await status_of(stream)
                nursery.cancel_scope.cancel()
        except OSError:
            heard.begun += number == 0
            status = 0
        heard.statuses[status] += 1
        await trio.sleep(AGAIN)


async def _send(stream: trio.SocketStream, what: Attack, link: Link) -> None:
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
        for start in range(0, len(what.sent), _AT_ONCE):
            part = what.sent[start : start + _AT_ONCE]
            await link.bytes.take(len(part))
            await stream.send_all(part)
        for number in range(len(what.drip)):
            await trio.sleep(0.5)
            await stream.send_all(what.drip[number : number + 1])


async def status_of(stream: trio.SocketStream) -> int:
    """The status of what is answered; 0 when the connection ends without."""
    with suppress(trio.BrokenResourceError):
        got = await stream.receive_some(4096)
        return int(got.split()[1]) if got else 0
    return 0


async def behave(
    port: int, sent: bytes, seconds: float, heard: Heard, *, pause: float = PAUSE, source: str = HERE
) -> None:
    """Be a good client: post a receipt now and then on one connection, for some seconds and at least once.

    It reconnects when it is cut.
    """
    stream: trio.SocketStream | None = None
    until = trio.current_time() + seconds
    while True:
        began = trio.current_time()
        status = 0
        with suppress(OSError, trio.BrokenResourceError), trio.move_on_after(PATIENCE):
            if stream is None:
                stream = await trio.open_tcp_stream(HERE, port, local_address=source)
            await stream.send_all(sent)
            status = await status_of(stream)
        heard.statuses[status] += 1
        if status // 100 == 2:
            heard.seconds.append(trio.current_time() - began)
        elif stream is not None:
            await trio.aclose_forcefully(stream)
            stream = None
        await trio.sleep(pause)
        if trio.current_time() >= until:
            break
    if stream is not None:
        await trio.aclose_forcefully(stream)


async def all_behave(port: int, tokens: Sequence[str], seconds: float) -> Heard:
    """All good tenants, one after the other and not all in one moment."""
    heard = Heard()
    async with trio.open_nursery() as nursery:
        for number, token in enumerate(tokens, 1):  # each from an address of its own
            source = f"127.0.1.{number}"
            nursery.start_soon(partial(behave, port, request(token), seconds, heard, source=source))
            await trio.sleep(PAUSE / len(tokens))
    return heard


# --- what is served ---------------------------------------------------------------------------------------------------


def serve(port: str, dsn: str) -> None:
    """Serve."""
    trio.run(_serve, int(port), dsn)


def serve_command(port: int, dsn: str) -> list[str]:
    """The command that serves. Its main module is nothing that processes for large documents would have to read anew,
    as that of `fe` is not."""
    program = "import sys; from bench.hostile import serve; serve(*sys.argv[1:])"
    return [sys.executable, "-c", program, str(port), dsn]


async def _serve(port: int, dsn: str) -> None:
    async with open_database(dsn, max_size=8, role=FRONT) as db, trio.open_nursery() as nursery:
        wakeups = Wakeups(db)
        nursery.start_soon(wakeups.run)
        nursery.start_soon(_tell_lags)
        settings = load_settings(trusted_proxies=os.environ.get("PROXY", ""))
        proxies = read_networks(settings.trusted_proxies)
        keys_of = {"bench": SECRET}, {"": SECRET}
        deps = HttpDeps(db, wakeups, system_clock, Metrics(), *keys_of, trusted_proxies=proxies)
        await serve_http(create_app(deps), f"{HERE}:{port}", settings=settings, shutdown=trio.Event())


async def _refuse_all(port: int) -> None:
    """Stand-in for the front: reads each request for a moment and refuses it."""

    async def refuse(stream: trio.SocketStream) -> None:
        with suppress(OSError, trio.BrokenResourceError):
            await stream.receive_some(_AT_ONCE)
            await stream.send_all(b"HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await trio.aclose_forcefully(stream)

    await trio.serve_tcp(refuse, port, host=HERE, backlog=1024)


async def _tell_lags() -> None:
    """On SIGUSR1 print how late the loop ran a task that was due, since the last time, in seconds."""
    lags: list[float] = []

    async def watch() -> None:
        while True:
            due = time.perf_counter() + 0.01
            await trio.sleep(0.01)
            lags.append(time.perf_counter() - due)

    with trio.open_signal_receiver(signal.SIGUSR1) as signals:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch)
            async for _ in signals:
                with open(os.environ["LAGS"], "w", encoding="ascii") as file:  # noqa: ASYNC230  (a few kilobytes)
                    json.dump(sorted(lags), file)
                lags.clear()


@dataclass(frozen=True, slots=True)
class Front:
    """The front that is attacked."""

    pid: int
    postgres: int
    port: int
    lags: Path

    def lag(self) -> float:
        """The 99th percentile of the loop's lag since the last call, in milliseconds."""
        self.lags.unlink(missing_ok=True)
        os.kill(self.pid, signal.SIGUSR1)
        for _ in range(500):
            with suppress(FileNotFoundError, ValueError):
                lags: list[float] = json.loads(self.lags.read_text(encoding="ascii"))
                return 1e3 * lags[int(len(lags) * 0.99)]
            time.sleep(0.02)
        raise SystemExit("the front does not answer a signal")

    def cpu(self) -> float:
        """Seconds of CPU that it, and not its processes for large documents, has taken so far."""
        return sum(self.cpu_times())

    def cpu_times(self) -> tuple[float, float]:
        """The same, of its own code and of the kernel in its name."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        tick = os.sysconf("SC_CLK_TCK")
        return int(fields[11]) / tick, int(fields[12]) / tick

    def settle(self) -> None:
        """Wait until it, its processes and its database have little left to do, for a minute at most."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            before = cpu_seconds(self.pid, self.postgres)
            time.sleep(_SETTLE_SECONDS)
            if cpu_seconds(self.pid, self.postgres) - before < _SETTLE_SECONDS / 10:
                return

    def memory(self) -> float:
        """Return its memory in MiB."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="ascii")
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024


async def make_tenants(db: Database, number: int) -> list[str]:
    """Create tenants; return a token of each."""
    tokens = Tokens({"bench": SECRET})
    made = []
    for index in range(number):
        tenant = await db.run(tenants.create, f"Empresa {index} SRL", {"RNCEmisor": f"{101000000 + index}"})
        assert tenant is not None
        key_id, secret = new_api_key()
        await db.run(
            keys.create, key_id, tenant.tenant_id, Environment.TESTECF, hash_secret(SECRET, secret), list(SCOPES)
        )
        made.append(tokens.issue(key_id, SCOPES, system_clock()))
    return made


async def hand_in(port: int, token: str) -> str:
    """Post one receipt; return its id. No signer runs, so it is never finished."""
    async with await trio.open_tcp_stream(HERE, port) as stream:
        await stream.send_all(request(token))
        got = (await stream.receive_some(65536)).partition(b"\r\n\r\n")[2]
    made: str = json.loads(got)["taxLogId"]
    return made


# --- measuring --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Phase:
    """Result of a phase, for the good tenants and for the front."""

    heard: Heard
    #: Percent of a core.
    cpu: float
    lag: float
    #: Steal time in percent of all processors.
    stolen: float
    #: Answers to the attackers since the attack began.
    hostile: Mapping[str, int] = field(default_factory=dict)

    def p95(self) -> float:
        """Return the 95th percentile in milliseconds; a call without an answer counts as `PATIENCE`."""
        return self.heard.p95() if self.heard.seconds else 1e3 * PATIENCE


def phase(front: Front, good: Sequence[str], seconds: float) -> Phase:
    """Run the good tenants for some seconds."""
    front.lag()
    before, stolen_before, began = front.cpu(), stolen_seconds(), time.monotonic()
    heard = trio.run(all_behave, front.port, good, seconds)
    elapsed = time.monotonic() - began
    cpu = (front.cpu() - before) / elapsed * 100
    stolen = (stolen_seconds() - stolen_before) / elapsed / (os.cpu_count() or 1) * 100
    return Phase(heard, cpu, front.lag(), stolen)


def stolen_seconds() -> float:
    """Return the processors' steal time in seconds since the machine started."""
    fields = Path("/proc/stat").read_text(encoding="ascii").split(maxsplit=10)
    return int(fields[8]) / os.sysconf("SC_CLK_TCK")


def undisturbed(front: Front, take: Callable[[], Phase], tries: list[Phase]) -> Phase:
    """Return the first phase with little steal time, else the one with the least. All are added to `tries`."""
    found = []
    for _ in range(TRIES):
        front.settle()
        found.append(take())
        if found[-1].stolen <= STOLEN_AT_MOST:
            break
    tries += found
    return min(found, key=lambda each: each.stolen)


def attacked(
    front: Front, what: Attack, token: str, tax_log_id: str, good: Sequence[str], seconds: float, *, port: int
) -> Phase:
    """The good ones while an attack is made upon a port by a process of its own; it has begun before they do."""
    time.sleep(what.rest)
    command = [sys.executable, "-m", "bench.hostile", "--attack", what.name, str(port), token, tax_log_id]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        process.stdout.readline()  # it has begun with every connection
        time.sleep(what.before)
        found = phase(front, good, seconds)
    finally:
        heard = json.loads(process.communicate(timeout=30)[0] or b"{}")  # the end of its input stops it
        print(f"  {what.name}: the hostile ones were answered {heard}", file=sys.stderr)
    return replace(found, hostile=heard)


def _attack_until_stopped(name: str, port: int, token: str, tax_log_id: str) -> None:
    obey(0)
    run_when_idle()
    heard = Heard()
    what = next(each for each in attacks(token, tax_log_id) if each.name == name)

    async def until_stopped() -> None:
        async with trio.open_nursery() as nursery:
            with trio.open_signal_receiver(signal.SIGTERM) as signals:
                nursery.start_soon(attack, port, what, heard)
                while heard.begun < what.connections:  # noqa: ASYNC110  (a count rings no bell)
                    await trio.sleep(0.05)
                print("begun", flush=True)
                async for _ in signals:
                    nursery.cancel_scope.cancel()

    trio.run(until_stopped)
    print(json.dumps(heard.statuses))


@contextmanager
def nginx_before(port: int, folder: Path) -> Iterator[int]:
    """Run nginx as docs/deployment.md sets it up, without TLS, in front of `port`; gives its own port."""
    page = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    written = page.partition("For nginx:")[2].split("```")[1]
    own = free_port()
    written = re.sub(r"server 127\.0\.0\.1:\d+", f"server {HERE}:{port}", written)
    written = re.sub(r"listen [^;]+;", f"listen {HERE}:{own} backlog=1024;", written)
    written = re.sub(r"^.*(?:ssl_|http2 on).*$", "", written, flags=re.MULTILINE)
    user = "user root;" if os.geteuid() == 0 else ""
    file = folder / "nginx.conf"
    file.write_text(
        f"{user} daemon off; worker_processes 2; worker_rlimit_nofile 8192; events {{ worker_connections 4096; }}\n"
        f"pid {folder}/nginx.pid; error_log {folder}/nginx.log; http {{ access_log off;\n"
        f"client_body_temp_path {folder}/bodies; proxy_temp_path {folder}/answers;\n{written}}}\n",
        encoding="utf-8",
    )
    process = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(file)])
    try:
        for _ in range(500):
            with suppress(OSError), socket.create_connection((HERE, own)):
                break
            time.sleep(0.02)
        yield own
    finally:
        process.terminate()
        process.wait()


@contextmanager
def elsewhere() -> Iterator[int]:
    """A port of a process that is not the service, and refuses all."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", "bench.hostile", "--refuse", str(port)], stdin=subprocess.PIPE)
    try:
        for _ in range(500):
            with suppress(OSError), socket.create_connection((HERE, port)):
                break
            time.sleep(0.02)
        yield port
    finally:
        process.terminate()
        process.communicate()


def measure(
    report: Report, front: Front, tokens: Sequence[str], seconds: float, rounds: int, only: Sequence[str], sink: int
) -> None:
    """Every attack in turn, each phase after a quiet one, and after one in which `sink` is attacked instead."""
    hostile, *good = tokens
    tax_log_id = trio.run(hand_in, front.port, hostile)
    trio.run(all_behave, front.port, good, 1.0)  # warm
    bad: Counter[int] = Counter()
    before = front.memory()
    for what in attacks(hostile, tax_log_id):
        if only and what.name not in only:
            continue
        quiet, other, loud, memory = [], [], [], []
        tries: list[Phase] = []
        for _ in range(rounds):
            quiet.append(undisturbed(front, partial(phase, front, good, seconds), tries))
            upon = partial(attacked, front, what, hostile, tax_log_id, good, seconds)
            other.append(undisturbed(front, partial(upon, port=sink), tries))
            loud.append(undisturbed(front, partial(upon, port=front.port), tries))
            memory.append(front.memory())
        for each in tries:
            bad.update({status: count for status, count in each.heard.statuses.items() if status // 100 != 2})
        for name, phases in (("quiet", quiet), ("elsewhere", other), ("attacked", loud)):
            report.figure(f"{what.name}: {name}", "p95 ms", [each.p95() for each in phases])
            report.figure(f"{what.name}: {name}", "loop lag p99 ms", [each.lag for each in phases])
            report.figure(f"{what.name}: {name}", "% of a core, front", [each.cpu for each in phases])
            report.figure(f"{what.name}: {name}", "% of the machine, stolen", [each.stolen for each in phases])
        report.figure(what.name, f"phases taken for {3 * rounds} that count", len(tries))
        report.figure(what.name, "hostile answers", [sum(each.hostile.values()) for each in loud])
        report.figure(what.name, "MiB held by the front", memory)
        ratio = f"p95 of the good, attacked : quiet, {what.name}"
        report.ratio(ratio, [each.p95() for each in loud], [each.p95() for each in quiet], at_most=1.2)
        added = f"p95 of the good, attacked : somebody else attacked, {what.name}"
        report.ratio(added, [each.p95() for each in loud], [each.p95() for each in other], at_most=1.2)
    time.sleep(6)
    report.figure("the front before", "MiB", before)
    report.figure("the front 6 s after", "MiB", front.memory())
    report.note(f"what the good ones were answered beside 2xx, in all attacks: {_said(bad)}")


def _said(statuses: Mapping[int, int]) -> str:
    return ", ".join(f"{status or 'closed'} {count} times" for status, count in sorted(statuses.items())) or "nothing"


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["--attack"]:
        _attack_until_stopped(sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5])
        return
    if sys.argv[1:2] == ["--refuse"]:
        obey(0)
        trio.run(_refuse_all, int(sys.argv[2]))
        return
    wanted = {
        "seconds": (4.0, "for each phase"),
        "rounds": 7,
        "only": {"nargs": "+", "default": (), "metavar": "ATTACK"},
        "behind-nginx": (False, "reach the front through nginx"),
    }
    arguments = read_options(__doc__, wanted, short={"seconds": 2.0, "rounds": 1})
    seconds, rounds = arguments.seconds, arguments.rounds
    with empty_postgres() as (dsn, folder):
        tokens = trio.run(partial(prepare, dsn))
        port, lags = free_port(), folder / "lags.json"
        os.environ["LAGS"] = str(lags)
        if arguments.behind_nginx:
            os.environ["PROXY"] = f"{HERE}/32"
        with ExitStack() as stack:
            pid = stack.enter_context(serving(serve_command(port, dsn), port))
            sink = stack.enter_context(elsewhere())
            if arguments.behind_nginx:
                port = stack.enter_context(nginx_before(port, folder))
            report = stack.enter_context(Report("hostile_nginx" if arguments.behind_nginx else "hostile", dsn))
            report.note(f"{GOOD} good tenants, a receipt a second each, one front; phases of {seconds:g} s")
            measure(report, Front(pid, postmaster(dsn), port, lags), tokens, seconds, rounds, arguments.only, sink)


async def prepare(dsn: str) -> list[str]:
    """Make the hostile tenant and the good ones; give their tokens."""
    async with open_database(dsn) as db:
        return await make_tenants(db, 1 + GOOD)


if __name__ == "__main__":
    main()
