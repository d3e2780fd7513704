"""A whole stack of our own: embedded Postgres, simulated authority and service, each a process that dies with us."""

import json
import os
import secrets
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import trio

from fe.cli.failures import Failure
from fe.store.postgres.migrate import migrate

#: How long a part may take to be ready, on a machine that has much else to do.
PATIENCE = 120.0
#: How long one may take to stop before it is killed: above the service's grace, which is set to 5 s here.
LAST_SECONDS = 15.0


@dataclass(frozen=True)
class Stack:
    """Addresses of the running stack. `environment` is what `fe` needs to use it; `environment_file` is for a shell."""

    folder: Path
    dsn: str
    #: Of the API, prefix and all.
    base_url: str
    metrics_url: str
    #: Where suppliers reach it, without a slash at the end; None where reception was not asked for.
    reception_url: str | None
    #: Where people reach the portal, without a slash at the end; None where it was not asked for.
    portal_url: str | None
    #: `ecf`, `fc`, `status` and `management`: base URLs of the simulated authority.
    authority: Mapping[str, str]
    environment: Mapping[str, str]
    environment_file: Path
    processes: Mapping[str, trio.Process]


#: Ports are chosen below the range of outgoing connections.
_PORTS = range(29_000, 32_700)

#: Attempts to start the service on other ports when one was taken.
_TRIES = 5

#: Called with the text of each step, as a context manager around it.
Step = Callable[[str], Any]


@contextmanager
def silently(_: str) -> Iterator[None]:
    """Say nothing of a step."""
    yield


@asynccontextmanager
async def open_stack(
    *,
    port: int = 0,
    world: Mapping[str, Any] | None = None,
    simulator: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    processes: int = 1,
    reception_roots: bytes | None = None,
    portal: bool = False,
    step: Step = silently,
) -> AsyncIterator[Stack]:
    """Start everything in a temporary folder, and stop and delete it at the end of the block.

    `world` holds the simulated authority's facts; `simulator` are further options of `fe authority simulate`, and
    `settings` further FE_* variables of the service. With `reception_roots`, certificates in PEM, suppliers certified
    by them are received, the simulated supplier among them. With `portal` the portal runs too, with operators' pages,
    and the buyers' page.
    FE_* variables of this process are not passed on. Raises Failure with the last output of a part that does not start.
    If this process is killed, the parts end with it: each watches a pipe that only this process holds open.
    """
    read_end, write_end = os.pipe()
    folder = Path(tempfile.mkdtemp(prefix="fe-stack-"))
    parts = _Parts(folder, read_end)
    async with AsyncExitStack() as cleanup:
        cleanup.callback(shutil.rmtree, folder, ignore_errors=True)
        cleanup.callback(os.close, write_end)
        cleanup.callback(os.close, read_end)
        cleanup.push_async_callback(parts.stop)

        with step("Starting an embedded Postgres"):
            dsn = str((await parts.start_and_hear("postgres", ["postgres", str(folder)]))["dsn"])
        with step("Applying the migrations"):
            await trio.to_thread.run_sync(migrate, dsn)
        with step("Starting the simulated tax authority"):
            authority = await parts.start_and_hear("authority", _simulator_command(folder, world, simulator))
        with step("Starting the service"):
            if reception_roots is not None:
                roots = folder / "roots.pem"
                await trio.Path(roots).write_bytes(reception_roots + await _supplier_of(authority["management"]))
                parts.environment["FE_RECEPTION_ROOTS"] = str(roots)
            parts.environment |= {
                "FE_DEVELOPMENT": "1",
                "FE_DUMPABLE": "1",  # a trial may be debugged
                "FE_DATABASE_URL": dsn,
                "FE_DATA_DIR": str(folder),
                "FE_JWT_KEYS": f"stack:{secrets.token_hex(32)}",
                "FE_API_KEY_PEPPER": secrets.token_hex(32),
                "FE_KEK": f"stack:{secrets.token_hex(32)}",
                "FE_WEBHOOK_KEYS": f"stack:{secrets.token_hex(32)}",
                "FE_AUTHORITY_ECF_URL": authority["ecf"],
                "FE_AUTHORITY_FC_URL": authority["fc"],
                "FE_AUTHORITY_STATUS_URL": authority["status"],
                "FE_GRACE_SECONDS": "5",
            }
            if portal:
                parts.environment["FE_PORTAL_OPERATORS"] = "1"
            if reception_roots is not None and (settings or {}).get("FE_AUTHORITY_SIMULATED") == "1":
                parts.environment["FE_SIMULATOR_URL"] = authority["management"]
            ports = await _start_service(parts, port, processes, reception_roots is not None, portal, settings or {})
        ours = {name: value for name, value in parts.environment.items() if name.startswith("FE_")}
        yield Stack(
            folder=folder,
            dsn=dsn,
            base_url=f"http://127.0.0.1:{ports.http}/api/v1/fe",
            metrics_url=f"http://127.0.0.1:{ports.metrics}/metrics",
            reception_url=None if reception_roots is None else f"http://127.0.0.1:{ports.reception}",
            portal_url=f"http://127.0.0.1:{ports.people}" if portal else None,
            authority=authority,
            environment=ours,
            environment_file=_write_environment(folder / "env", ours),
            processes=parts.processes,
        )


def _simulator_command(folder: Path, world: Mapping[str, Any] | None, options: Sequence[str]) -> list[str]:
    command = ["authority", "simulate", "--port", "0", "--management-port", "0", "--json", *options]
    if world is None:
        return command
    file = folder / "world.json"
    file.write_text(json.dumps(world), encoding="utf-8")
    return [*command, "--world", str(file)]


def _write_environment(file: Path, environment: Mapping[str, str]) -> Path:
    lines = [f"export {name}={shlex.quote(value)}\n" for name, value in environment.items()]
    file.touch(mode=0o600)
    file.write_text("".join(lines), encoding="utf-8")
    return file


@dataclass(frozen=True, slots=True)
class _Ports:
    http: int
    #: The first process's; those of the others come after it.
    metrics: int
    reception: int
    people: int
    share: int


async def _supplier_of(management: str) -> bytes:
    """The certificate with which the simulated authority answers as a receiver and sends as a supplier, in PEM."""
    async with httpx.AsyncClient(trust_env=False, timeout=10.0) as client:
        answer = await client.get(f"{management}/supplier")
        return str(answer.raise_for_status().json()["pem"]).encode()


async def _start_service(
    parts: "_Parts", port: int, processes: int, reception: bool, portal: bool, settings: Mapping[str, str]
) -> _Ports:
    """Start the service on free ports; on others when one was taken meanwhile."""
    for tries_left in reversed(range(_TRIES)):
        first = _free_ports(processes + 4)
        after = first + 1 + processes
        ports = _Ports(port or first, first + 1, after, after + 1, after + 2)
        parts.environment |= {
            "FE_HTTP_BIND": f"127.0.0.1:{ports.http}",
            "FE_METRICS_BIND": f"127.0.0.1:{ports.metrics}",
            **({"FE_RECEPTION_BIND": f"127.0.0.1:{ports.reception}"} if reception else {}),
            **({"FE_PORTAL_BIND": f"127.0.0.1:{ports.people}"} if portal else {}),
            **({"FE_SHARE_BIND": f"127.0.0.1:{ports.share}"} if portal else {}),
            **settings,
        }
        await parts.start("service", ["run", *(("--processes", str(processes)) if processes > 1 else ())])
        try:
            await parts.until_ready("service", f"http://127.0.0.1:{ports.http}/readyz")
            if portal:
                await parts.until_ready("service", f"http://127.0.0.1:{ports.people}/readyz")
        except Failure as failure:
            is_ours = port and "FE_HTTP_BIND" in str(failure)
            if is_ours or not tries_left or "Address already in use" not in str(failure):
                raise
        else:
            break
    return ports


def _free_ports(count: int) -> int:
    """Return the first of `count` free ports in a row. If one is taken meanwhile, the service fails to start."""
    for _ in range(100):
        with ExitStack() as probes:
            first = secrets.choice(_PORTS)
            try:
                for port in range(first, first + count):
                    probes.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
            return first
    raise Failure(f"no {count} free ports in a row were found")


class _Parts:
    """The processes of a stack, in the order in which they were started."""

    def __init__(self, folder: Path, parent_pipe: int) -> None:
        self.folder = folder
        self.processes: dict[str, trio.Process] = {}
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("FE_")}
        self._parent_pipe = parent_pipe

    async def start(self, name: str, args: Sequence[str]) -> trio.Process:
        """Start `fe ARGS`, with its log in a file and its standard output in a pipe."""
        with open(self.folder / f"{name}.log", "wb") as log:  # noqa: ASYNC230  (a local file, opened in no time)
            process = await trio.lowlevel.open_process(
                [sys.executable, "-m", "fe", "--parent-pipe", str(self._parent_pipe), *args],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                env=self.environment,
                pass_fds=(self._parent_pipe,),
                # A Ctrl-C at the terminal is ours to hear: we stop the parts, in order.
                start_new_session=True,
            )
        self.processes[name] = process
        return process

    async def start_and_hear(self, name: str, args: Sequence[str]) -> dict[str, Any]:
        """Start a part that prints its addresses in one line of JSON on standard output."""
        process = await self.start(name, args)
        assert process.stdout is not None
        said = b""
        with trio.move_on_after(PATIENCE):
            while not said.endswith(b"\n"):
                some = await process.stdout.receive_some()
                if not some:
                    break
                said += some
        if not said.endswith(b"\n"):
            raise self._did_not_start(name)
        addresses: dict[str, Any] = json.loads(said)
        return addresses

    async def until_ready(self, name: str, url: str) -> None:
        """Wait until a GET of `url` is answered with 200."""
        process = self.processes[name]
        async with httpx.AsyncClient(trust_env=False, timeout=2.0) as client:
            with trio.move_on_after(PATIENCE):
                while process.poll() is None:
                    try:
                        if (await client.get(url)).status_code == 200:
                            return
                    except httpx.TransportError:
                        pass  # it does not listen yet
                    await trio.sleep(0.05)
        raise self._did_not_start(name)

    def _did_not_start(self, name: str) -> Failure:
        code = self.processes[name].poll()
        log = (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")
        last = log.strip().splitlines()[-1:] or ["it said nothing"]
        how = f"is not ready after {PATIENCE:g} s" if code is None else f"ended with code {code}"
        return Failure(f"the {name} {how}: {last[0].removeprefix('fe: ')}")

    async def stop(self) -> None:
        """Stop the parts, the last one first; whatever happens to us meanwhile."""
        with trio.CancelScope(shield=True):
            for process in reversed(list(self.processes.values())):
                with trio.move_on_after(LAST_SECONDS):
                    process.terminate()
                    await process.wait()
                if process.poll() is None:
                    process.kill()
                    await process.wait()
                if process.stdout is not None:
                    await process.stdout.aclose()
