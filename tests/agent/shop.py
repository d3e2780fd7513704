"""A shop for tests of `fe agent`: a running service, a line to it that can be cut, and a till with its agent."""

import os
import resource
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import trio

from fe.ecf.selfmade import to_p12
from fe.http.app import PREFIX
from fe.integrator import profiles
from tests.agent import wrong_clock
from tests.plain_http import NO_TLS
from tests.system.stack import Stack
from tests.waiting import PATIENCE

PASSPHRASE = "correct horse"


class Line:
    """A TCP proxy to the service that can be cut, also in the middle of an answer."""

    def __init__(self, target: int) -> None:
        self._target = target
        self.is_cut = False
        self.port = 0
        self._open: set[trio.SocketStream] = set()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.port = listener.socket.getsockname()[1]
        task_status.started()
        await trio.serve_listeners(self._pass_on, [listener])

    def cut(self) -> None:
        self.is_cut = True
        for stream in list(self._open):
            stream.socket.close()

    def mend(self) -> None:
        self.is_cut = False

    async def _pass_on(self, near: trio.SocketStream) -> None:
        if self.is_cut:
            await trio.aclose_forcefully(near)
            return
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError, OSError):
            far = await trio.open_tcp_stream("127.0.0.1", self._target)
            self._open |= {near, far}
            try:
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(_copy, near, far)
                    nursery.start_soon(_copy, far, near)
            finally:
                self._open -= {near, far}
                with trio.CancelScope(shield=True):
                    await trio.aclose_forcefully(near)
                    await trio.aclose_forcefully(far)


async def _copy(source: trio.SocketStream, sink: trio.SocketStream) -> None:
    with suppress(trio.BrokenResourceError, trio.ClosedResourceError, OSError):
        async for chunk in source:
            await sink.send_all(chunk)
        await sink.send_eof()
        return
    with suppress(OSError, trio.ClosedResourceError, trio.BrokenResourceError):
        await trio.aclose_forcefully(sink)


@dataclass
class Shop:
    """The till's folder, and what leads to the service."""

    stack: Stack
    line: Line
    folder: Path
    home: Path
    process: subprocess.Popen[bytes] | None = None
    #: Seconds by which the till's clock is ahead.
    ahead: float = 0.0
    client: httpx.AsyncClient = field(
        default_factory=lambda: httpx.AsyncClient(trust_env=False, timeout=PATIENCE, verify=NO_TLS)
    )
    #: By clientRequestId: the number, security code and XML that the customer has on paper.
    papers: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        plain = {name: value for name, value in os.environ.items() if not name.startswith(("FE_", "LC_", "LANG"))}
        return {**plain, "XDG_CONFIG_HOME": str(self.home), "SOFTHSM2_CONF": str(self.home / "softhsm2.conf")}

    async def fe(self, *args: str, code: int = 0) -> str:
        """Run `fe agent ARGS`; return what it prints."""
        ended = await trio.run_process(
            [sys.executable, "-m", "fe", "agent", *args],
            env=self.environment,
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
        assert ended.returncode == code, ended
        return (ended.stdout if code == 0 else ended.stderr).decode()

    async def init(self, *more: str, certificate: bool = True) -> str:
        """Make the agent with E31 and E32, signing at the till; the service keeps the numbers below them."""
        for prefix in ("E31", "E32"):
            await self.stack.client.patch(f"/ncf/{prefix}", json={"maxSequence": 5000})
        ranges = ["--range=E31=5001-20000", "--range=E32=5001-20000", "--expires=2028-12-31"]
        till = [f"--certificate={self.home}/till.p12", f"--passphrase-file={self.home}/passphrase"]
        return await self.fe("init", str(self.folder), "--name=Caja 1", *ranges, *(till if certificate else []), *more)

    def start(self, *, largest_file: int | None = None) -> None:
        """Start the agent as a process; `largest_file` is a disk that fills up."""

        def limit() -> None:
            if largest_file is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

        self.set_clock(self.ahead)
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                wrong_clock.__name__,
                *(str(self.home / "ahead"), "run", str(self.folder), "--port=0"),
            ],
            env=self.environment,
            stderr=subprocess.DEVNULL,
            preexec_fn=limit,
        )
        (self.folder / "port").unlink(missing_ok=True)

    def set_clock(self, ahead: float) -> None:
        """Set the till's clock, also while the agent runs."""
        self.ahead = ahead
        other = self.home / "ahead.new"
        other.write_text(str(ahead))
        other.replace(self.home / "ahead")

    def kill(self) -> None:
        """Kill it as a power cut does."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    @property
    def token(self) -> str:
        return (self.folder / "token").read_text().strip()

    async def call(self, method: str, path: str, **how: Any) -> httpx.Response:
        """Call the agent; wait while it is not there."""
        with trio.fail_after(PATIENCE):
            while True:
                with suppress(httpx.HTTPError, FileNotFoundError, ValueError):
                    port = int((self.folder / "port").read_text())
                    return await self.client.request(
                        method,
                        f"http://127.0.0.1:{port}{path}",
                        headers={"Authorization": f"Bearer {self.token}", "Accept-Language": "en"},
                        **how,
                    )
                await trio.sleep(0.05)

    async def sell(self, name: str, payload: dict[str, Any]) -> httpx.Response:
        """Sell; keep what is on paper."""
        body = {"format": "structured", "payload": payload, "clientRequestId": name}
        answer = await self.call("POST", "/invoices", json=body)
        if answer.is_success:
            self.papers[name] = answer.json()
        return answer

    async def until_done(self, count: int, *, seconds: float = PATIENCE) -> dict[str, Any]:
        """Wait until that many receipts have their verdict."""
        status: dict[str, Any] = {}
        with trio.move_on_after(seconds):
            while status.get("done", 0) < count:
                await trio.sleep(0.2)
                status = (await self.call("GET", "/status")).json()
        assert status.get("done", 0) >= count, status
        return status


@asynccontextmanager
async def open_shop(stack: Stack, folder: Path) -> AsyncIterator[Shop]:
    """A line and a folder; the process of the agent ends with the block."""
    home = folder / "home"
    home.mkdir()
    (home / "till.p12").write_bytes(to_p12(stack.credential, PASSPHRASE))
    (home / "passphrase").write_text(PASSPHRASE + "\n")
    (home / "passphrase").chmod(0o600)
    line = Line(int(urlsplit(stack.base_url).port or 0))
    async with trio.open_nursery() as nursery:
        await nursery.start(line.run)
        shop = Shop(stack, line, folder / "till", home)
        before = os.environ.get("XDG_CONFIG_HOME")
        os.environ["XDG_CONFIG_HOME"] = str(home)
        try:
            key_id, secret = stack.key
            url = f"http://127.0.0.1:{line.port}{PREFIX}"
            profiles.save(profiles.Profile("default", url, key_id, secret, "testecf"))
        finally:
            if before is None:
                del os.environ["XDG_CONFIG_HOME"]
            else:
                os.environ["XDG_CONFIG_HOME"] = before
        try:
            yield shop
        finally:
            shop.kill()
            with trio.CancelScope(shield=True):
                await shop.client.aclose()
            nursery.cancel_scope.cancel()


def sale(prefix: str, price: str = "901") -> dict[str, Any]:
    """A sale without a number: of E31 to a company, of E32 without a buyer."""
    head: dict[str, Any] = {"IdDoc": {"TipoeCF": prefix[1:], "TipoIngresos": "01", "TipoPago": "1"}}
    if prefix == "E31":
        head["Comprador"] = {"RNCComprador": "131880681", "RazonSocialComprador": "Colmado Dos Hermanos SRL"}
    item = {
        "NumeroLinea": 1,
        "IndicadorFacturacion": "1",
        "NombreItem": "Martillo",
        "IndicadorBienoServicio": "1",
        "CantidadItem": 1,
        "PrecioUnitarioItem": price,
        "MontoItem": price,
    }
    return {"Encabezado": head, "DetallesItems": {"Item": [item]}}
