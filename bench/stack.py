"""A stack for benchmarks, part by part: Postgres, an authority, and the service of any tree of ours.

Unlike the demonstration's (fe/integrator/stack.py) its service may come from another commit, be stopped and started
again on the same data, and be put on cores of its own. Server, authority and load are this tree's for all.
"""

import ctypes
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from bench.report import ROOT

#: Commands that serve an authority: one that costs next to nothing, and the simulator, which reads what it is told.
QUICK = ("-m", "bench.authority")
SIMULATOR = ("-m", "fe", "authority", "simulate", "--port", "0", "--management-port", "0", "--json")
#: Command that serves Postgres, followed by a folder; bench.debian is the other.
EMBEDDED = ("-m", "fe", "postgres")

PATIENCE = 120.0
#: How long a part may take to stop before it is killed; the service is given 5 s of grace.
LAST_SECONDS = 20.0
#: Makes the tenant of the demonstration in any tree, and says how to log in.
_PROVISION = """
import json, os, sys, trio
try:
    from fe.cli.demo.tenant import make_credential, make_tenant
except ImportError:  # where it is since integrators' commands have a package
    from fe.integrator.demo.tenant import make_credential, make_tenant
from fe.clock import system_clock
try:
    from fe.store.postgres.db import open_database
except ImportError:  # where it was until the packages were made
    from fe.store.db import open_database
engine = {}
if os.environ.get("FE_DATABASE_ENGINE"):
    from fe.store.engines import engine_named
    engine = {"engine": engine_named(os.environ["FE_DATABASE_ENGINE"])}

async def main():
    now = system_clock()
    async with open_database(sys.argv[1], max_size=2, **engine) as db:
        # Trees from before names were of one tenant each take none, and are asked for one tenant.
        named = {"name": sys.argv[2]} if sys.argv[2:] else {}
        made = await make_tenant(db, dict(os.environ), await make_credential(now), now, **named)
    print(json.dumps([made.tenant.tenant_id, made.key.record.api_key_id, made.key.secret]))

trio.run(main)
"""
_OPENER = build_opener(ProxyHandler({}))


class NotStarted(Exception):
    """A part did not come up; the message has its last words."""


@dataclass(frozen=True, slots=True)
class Cores:
    """Which cores what is measured has, and which the rest; where there are fewer than four, all share all."""

    measured: frozenset[int]
    beside: frozenset[int]

    @classmethod
    def of_this_machine(cls) -> Self:
        """Half for each, from four cores on."""
        usable = sorted(os.sched_getaffinity(0))
        if len(usable) < 4:
            return cls(frozenset(usable), frozenset(usable))
        return cls(frozenset(usable[: len(usable) // 2]), frozenset(usable[len(usable) // 2 :]))

    @property
    def apart(self) -> bool:
        """Whether the load has cores of its own."""
        return not self.measured & self.beside


@dataclass
class Stack:
    """A running stack. Use `open_stack`."""

    folder: Path
    tree: Path
    cores: Cores
    environment: dict[str, str]
    dsn: str = ""
    base_url: str = ""
    tenant_id: int = 0
    token: str = ""
    #: The server's process, or of several each one's by its name.
    servers: dict[str, int] = field(default_factory=dict)
    parts: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    _login: tuple[str, str] = ("", "")
    _provisioned: int = 0

    # --- parts ---------------------------------------------------------------------------------------------------

    def start(
        self,
        name: str,
        command: Sequence[str],
        *,
        tree: Path = ROOT,
        measured: bool = True,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start a part, `python COMMAND` of that tree; `environment`: what it alone has beside the stack's."""
        cores = self.cores.measured if measured else self.cores.beside
        with (self.folder / f"{name}.log").open("ab") as log:
            self.parts[name] = subprocess.Popen(
                [sys.executable, *command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self.folder,
                env={**self.environment, "PYTHONPATH": str(tree), **(environment or {})},
                start_new_session=True,  # Ctrl-C is ours to hear
                preexec_fn=partial(_in_the_child, cores),
            )

    def stop(self, name: str, *, hard: bool = False) -> None:
        """End a part in order, or as kill -9 does."""
        process = self.parts.pop(name)
        if hard:
            process.kill()
        else:
            process.terminate()
        try:
            process.wait(LAST_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()

    def heard(self, name: str) -> dict[str, Any]:
        """The one line of JSON in which a part says where it is. Raises NotStarted."""
        stream = self.parts[name].stdout
        assert stream is not None
        said: dict[str, Any] = json.loads(stream.readline() or b"{}")
        if not said:
            raise NotStarted(f"{name} does not start: {self.last_words(name)}")
        return said

    def last_words(self, name: str) -> str:
        """The end of what it wrote to its log."""
        return (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")[-2000:]

    # --- the service ---------------------------------------------------------------------------------------------

    def start_service(
        self,
        *,
        processes: int = 1,
        role: str = "all",
        dsn: str | None = None,
        settings: Mapping[str, str] | None = None,
        profile: Path | None = None,
        wait: bool = True,
    ) -> float:
        """Start it, on another DSN if asked to; return the seconds until it was ready. Raises NotStarted."""
        port = free_port()
        self.base_url = f"http://127.0.0.1:{port}/api/v1/fe"
        self.environment |= {
            "FE_DATABASE_URL": dsn or self.dsn,
            "FE_HTTP_BIND": f"127.0.0.1:{port}",
            "FE_METRICS_BIND": "127.0.0.1:0",
            **(settings or {}),
        }
        program = ["-m", "fe"]
        if profile is not None:
            script = profile / "fe"
            script.write_text(f"#!{sys.executable}\n{(ROOT / 'bench' / 'profiled.py').read_text()}")
            script.chmod(0o700)
            program = [str(script)]
        began = time.perf_counter()
        command = [*program, "run", "--role", role, "--processes", str(processes)]
        self.start("service", command, tree=self.tree)
        if wait and role != "actors":  # those do not listen
            self.wait_until_ready()
        return time.perf_counter() - began

    def wait_until_ready(self) -> None:
        """Return when the service that was started answers. Raises NotStarted."""
        port = urlsplit(self.base_url).port
        until = time.monotonic() + PATIENCE
        while self.parts["service"].poll() is None and time.monotonic() < until:
            try:
                if _OPENER.open(f"http://127.0.0.1:{port}/readyz", timeout=2).status == 200:
                    return
            except OSError:
                time.sleep(0.02)
        raise NotStarted(f"the service of {self.tree} is not ready: {self.last_words('service')}")

    def log_in(self) -> str:
        """A token for the tenant, from the service that runs."""
        key, secret = self._login
        body = json.dumps({"apiKeyId": key, "apiSecret": secret}).encode()
        request = Request(f"{self.base_url}/login", body, {"Content-Type": "application/json"})
        with _OPENER.open(request, timeout=30) as answer:
            self.token = json.load(answer)["accessToken"]
        return self.token

    def provision(self) -> None:
        """Make the tenant, with the tree's own code: another one each time, whom `log_in` then logs in."""
        environment = {**self.environment, "PYTHONPATH": str(self.tree)}
        another = [f"Empresa {self._provisioned}"] if self._provisioned else []
        command = [sys.executable, "-c", _PROVISION, self.dsn, *another]
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, check=False)
        if done.returncode:
            raise NotStarted(f"no tenant could be made: {done.stderr.decode()[-2000:]}")
        self._provisioned += 1
        self.tenant_id, *login = json.loads(done.stdout)
        self._login = (login[0], login[1])

    # --- what it costs -------------------------------------------------------------------------------------------

    def pid(self, name: str) -> int:
        """Of a part; of `Postgres`, the server that the process named `postgres` keeps."""
        if name in self.servers:
            return self.servers[name]
        if name == "Postgres":
            return int((self.folder / "postgres" / "postmaster.pid").read_text().splitlines()[0])
        return self.parts[name].pid

    def cpu(self) -> dict[str, float]:
        """Seconds of CPU that each part has used so far."""
        names = [part for part in ("service", "authority") if part in self.parts]
        return {name: cpu_seconds(self.pid(name)) for name in [*names, *(self.servers or ["Postgres"])]}


_LIBC = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


def _in_the_child(cores: frozenset[int]) -> None:
    """Stay on these cores, and end in order when the benchmark is killed."""
    os.sched_setaffinity(0, cores)
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


@contextmanager
def open_stack(
    *,
    tree: Path = ROOT,
    authority: Sequence[str] = QUICK,
    postgres: Sequence[str] = EMBEDDED,
    settings: Mapping[str, str] | None = None,
    postgres_settings: Mapping[str, str] | None = None,
    postgres_environment: Mapping[str, str] | None = None,
    migrated: Callable[[str], None] = lambda dsn: None,
) -> Iterator[Stack]:
    """Start Postgres and an authority, migrate, make the tenant; the service is the caller's to start.

    `migrated` is called with the DSN between the last two.
    """
    folder = Path(tempfile.mkdtemp(prefix="fe-bench-"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FE_")}
    stack = Stack(folder, tree, Cores.of_this_machine(), environment)
    try:
        stack.start("postgres", [*postgres, str(folder)], environment=postgres_environment)
        where_it_is = stack.heard("postgres")
        stack.dsn, stack.servers = where_it_is["dsn"], where_it_is.get("servers", {})
        if postgres_settings:
            _set_up_server(stack.dsn, postgres_settings)
        stack.start("authority", authority, measured=False)
        where = stack.heard("authority")
        stack.environment |= {
            "FE_DATABASE_URL": stack.dsn,
            "FE_DATA_DIR": str(folder),
            "FE_JWT_KEYS": f"bench:{secrets.token_hex(32)}",
            "FE_API_KEY_PEPPER": secrets.token_hex(32),
            "FE_KEK": f"bench:{secrets.token_hex(32)}",
            # An authority on this machine, and one login for all: only in development.
            "FE_DEVELOPMENT": "1",
            "FE_DATABASE_SHARED_LOGIN": "1",
            "FE_AUTHORITY_ECF_URL": where["ecf"],
            "FE_AUTHORITY_FC_URL": where["fc"],
            "FE_AUTHORITY_STATUS_URL": where["status"],
            "FE_GRACE_SECONDS": "5",
            # One tenant brings all there is, from one address; connections of the load before may still be open.
            "FE_ADDRESS_CONNECTIONS": "1000",
            "FE_TENANT_REQUESTS": "1000",
            "FE_TENANT_DOCUMENTS_A_MINUTE": "0",
            **(settings or {}),
        }
        subprocess.run(
            [sys.executable, "-m", "fe", "migrate"],
            cwd=folder,
            env={**stack.environment, "PYTHONPATH": str(tree)},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        migrated(stack.dsn)
        stack.provision()
        yield stack
    finally:
        for name in reversed(list(stack.parts)):
            stack.stop(name)
        shutil.rmtree(folder, ignore_errors=True)


def _set_up_server(dsn: str, settings: Mapping[str, str]) -> None:
    import psycopg  # here: what is measured may patch what a driver finds at import (fe/store/postgres)

    with psycopg.connect(dsn, autocommit=True) as conn:
        for name, value in settings.items():
            conn.execute(f"ALTER SYSTEM SET {name} = '{value}'".encode())
        conn.execute("SELECT pg_reload_conf()")


@contextmanager
def tree_of(commit: str) -> Iterator[Path]:
    """The files of another commit in a folder of their own, for as long as the block lasts.

    Its libraries are those installed here: fit as long as that commit ran on them, or on older ones they did not break.
    """
    folder = Path(tempfile.mkdtemp(prefix="fe-tree-"))
    tree = folder / "tree"
    git = ["git", "-C", str(ROOT), "worktree"]
    try:
        subprocess.run([*git, "add", "--detach", "--quiet", str(tree), commit], check=True)
        yield tree
    finally:
        subprocess.run([*git, "remove", "--force", str(tree)], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    """Return a free port below the ephemeral ports of the kernel."""
    while True:
        port = secrets.choice(range(29_000, 32_700))
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


# --- processes ----------------------------------------------------------------------------------------------------


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name, which may hold anything; empty when the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def family(pid: int) -> list[int]:
    """A process and all below it."""
    parents = {int(entry.name): _stat(int(entry.name)) for entry in Path("/proc").glob("[0-9]*")}
    members = [pid]
    for member in members:
        members += [child for child, stat in parents.items() if stat and int(stat[1]) == member]
    return members


def cpu_seconds(*pids: int) -> float:
    """CPU of processes and of their children, those that have ended included."""
    ticks = sum(int(ticks) for pid in pids for member in family(pid) for ticks in _stat(member)[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def memory_mib(pid: int) -> float:
    """Return the memory of a process and its children in MiB: proportional set size."""
    total = 0
    for member in family(pid):
        try:
            rollup = Path(f"/proc/{member}/smaps_rollup").read_text()
        except OSError:
            continue
        match = re.search(r"^Pss: +(\d+) kB", rollup, re.MULTILINE)
        total += int(match[1]) if match else 0
    return total / 1024


def context_switches(pid: int) -> int:
    """How often the threads of a process and its children have gone to sleep: each wake-up costs one."""
    total = 0
    for member in family(pid):
        for status in Path(f"/proc/{member}/task").glob("*/status"):
            try:
                match = re.search(r"^voluntary_ctxt_switches:\s+(\d+)", status.read_text(), re.MULTILINE)
            except OSError:
                continue
            total += int(match[1]) if match else 0
    return total
