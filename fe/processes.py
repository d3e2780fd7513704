"""Processes: several on one set of listeners, started, watched and stopped together; and how one of them stops."""

import gc
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import NoReturn

import structlog
import trio

from fe.config import ConfigError, Settings
from fe.http.server.listener import BindError, open_sockets
from fe.parent_watch import obey
from fe.store.postgres.roles import FRONT, OPERATOR, PORTAL, RECEPTION, WORKER

_log = structlog.get_logger(__name__)

#: How long after the grace a process may still be closing before it is killed; safe, because every step is kill-safe.
KILL_AFTER = 15.0

#: After the grace is over, cancelled work may take this long to book itself; then its process ends hard.
_LAST_SECONDS = 12.0

#: Ctrl-C reaches a process of several twice: from the terminal, and from its parent, which passes it on.
_ONE_CTRL_C = 1.0

#: So many crashes within so many seconds, and the whole ends non-zero.
_MAX_CRASHES = 5
_WITHIN_SECONDS = 60.0

#: What a process may do, and the roles it takes in the database for it.
_ROLES = {
    "http": (FRONT,),
    "actors": (WORKER,),
    "receive": (RECEPTION,),
    "portal": (PORTAL,),
    "all": (FRONT, WORKER),
}

#: The role that has each listener to itself.
_ROLE_OF = {"http": "http", "reception": "receive", "portal": "portal"}

_STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


#: After so many new objects that may be part of a ring the youngest are looked through; the rest more rarely still.
_COLLECT_AFTER = (20_000, 20, 50)


def collect_rarely() -> None:
    """Look for rings of garbage thirty times less often than Python does, and never again in what is there now.

    Call it when all is loaded. Nothing of a request or a step is left to the collector in the ordinary way, and looking
    through modules, schemas and clients each time would find nothing.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


def database_roles(settings: Settings, role: str) -> tuple[str, ...]:
    """Tell which roles a process takes in the database: those of reception and of the portal only where there are."""
    roles = list(_ROLES[role])
    if role == "all" and settings.reception_bind:
        roles.append(RECEPTION)
    if role == "all" and settings.portal_bind:
        roles.append(PORTAL)
    if PORTAL in roles and settings.portal_operators:
        roles.append(OPERATOR)
    return tuple(roles)


@dataclass(frozen=True, slots=True)
class Listeners:
    """Sockets that are open before the work begins, so that a taken port is an error message and not a restart loop."""

    http: list[socket.socket]
    #: Address and port of /metrics.
    metrics: tuple[str, int]
    #: What suppliers are received on.
    reception: list[socket.socket] = field(default_factory=list)
    #: What people reach.
    portal: list[socket.socket] = field(default_factory=list)

    @classmethod
    def open(cls, settings: Settings, role: str, processes: int = 1) -> "Listeners":
        """Open what the role needs. Raises ConfigError when an address cannot be had, those of /metrics included."""
        metrics = split_bind(settings.metrics_bind, "FE_METRICS_BIND")

        def opened(kind: str, bind: str) -> list[socket.socket]:
            try:
                return open_sockets(bind) if bind and role in (_ROLE_OF[kind], "all") else []
            except BindError as error:
                raise ConfigError(f"FE_{kind.upper()}_BIND: {error}") from error

        listeners = cls(
            opened("http", settings.http_bind),
            metrics,
            opened("reception", settings.reception_bind),
            opened("portal", settings.portal_bind),
        )
        # When these are open, one of which may be at such a port.
        try:
            for index in range(processes if metrics[1] else 0):
                _see_that_it_is_free((metrics[0], metrics[1] + index))
        except ConfigError:
            listeners.close()
            raise
        return listeners

    def of_process(self, index: int) -> "Listeners":
        """Share the public socket; /metrics gets a port of its own for each process."""
        host, port = self.metrics
        return Listeners(self.http, (host, port + index if port else 0), self.reception, self.portal)

    def close(self) -> None:
        """Listen no more: the kernel refuses who comes once every process that shares a listener has closed it."""
        for listener in (*self.http, *self.reception, *self.portal):
            listener.close()

    def addresses(self, metrics_port: int) -> dict[str, list[str] | str]:
        """Say for the log where this process can be reached; `metrics_port` is the one that was found for /metrics."""
        found: dict[str, list[str] | str] = {"metrics": f"{self.metrics[0]}:{metrics_port}"}
        for name, listeners in (("http", self.http), ("reception", self.reception), ("portal", self.portal)):
            if listeners:
                found[name] = [_address(each) for each in listeners]
        return found


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _see_that_it_is_free(address: tuple[str, int]) -> None:
    """Say now, and once, what each process would otherwise say at every start."""
    try:
        family = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0][0]
        with socket.create_server(address, family=family):
            pass
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"FE_METRICS_BIND: cannot listen on {address[0]}:{address[1]}: {reason}") from error


def split_bind(bind: str, name: str) -> tuple[str, int]:
    """Split `host:port`. Raises ConfigError."""
    host, colon, port = bind.rpartition(":")
    if not colon or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise ConfigError(f"{name} should be address:port, for example 127.0.0.1:8080")
    return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104  (an operator who leaves the host out means all)


def run_processes(
    processes: int, start: Callable[[int], None], *, grace: float, let_go: Callable[[], None] = lambda: None
) -> int:
    """Fork `processes` children, each calling `start(index)`; return the exit code when all have ended.

    Call it from a single-threaded process. A child that dies is started again; five crashes within a minute end the
    whole. SIGTERM and SIGINT are passed on as SIGTERM; a second one, or the end of the grace, kills. If we are killed
    ourselves, the children stop too. The exit code is 0 if all have ended well. `let_go` is called as the end begins:
    what we hold for children that are yet to be started is needed no more.
    """
    stop = _StopState(let_go)
    for number in _STOP_SIGNALS:
        signal.signal(number, stop.hear)
    # Nobody writes to it. When we end, however we end, the children read its end, and end too.
    parent_pipe, held = os.pipe()

    def watched(index: int) -> None:
        os.close(held)
        obey(parent_pipe)
        start(index)

    children = {_fork(watched, index): index for index in range(processes)}
    crashes: list[float] = []
    failed = False
    while children:
        stop.act(children, grace)
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            time.sleep(0.05)
            continue
        index, code = children.pop(pid, None), os.waitstatus_to_exitcode(status)
        if index is None or stop.asked_at is not None:
            failed = failed or code > 0
            continue
        now = time.monotonic()
        crashes = [at for at in crashes if now - at < _WITHIN_SECONDS] + [now]
        _log.error("a process died", index=index, status=code)
        if len(crashes) >= _MAX_CRASHES:
            failed = True
            stop.ask()
        else:
            time.sleep(0.2 * len(crashes))
            if stop.asked_at is None:  # it may have come in the meantime
                children[_fork(watched, index)] = index
    os.close(parent_pipe)
    os.close(held)
    return 1 if failed or stop.killed else 0


async def stop_on_signal(
    stopping: trio.Event, grace: float, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Set `stopping` at the first SIGTERM or SIGINT; end hard at the second, or soon after the grace.

    Ending hard is safe at every moment: what was in flight falls due again when its lease ends. The timer is a thread,
    because a client that does not read its answer can hold the event loop's own shutdown for ever.
    """
    stopped_at = -_ONE_CTRL_C
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            if trio.current_time() - stopped_at < _ONE_CTRL_C:
                continue
            if stopping.is_set():
                _log.warning("second signal: ending hard")
                os._exit(1)
            stopping.set()
            stopped_at = trio.current_time()
            last_resort = threading.Timer(grace + _LAST_SECONDS, os._exit, (1,))
            last_resort.daemon = True
            last_resort.start()


class _StopState:
    def __init__(self, let_go: Callable[[], None]) -> None:
        self._let_go = let_go
        self.asked_at: float | None = None
        self.killed = False
        self._hard = False
        self._passed_on = False

    def hear(self, _: int, __: FrameType | None) -> None:
        self._hard = self.asked_at is not None
        self.ask()

    def ask(self) -> None:
        if self.asked_at is None:
            self.asked_at = time.monotonic()

    def act(self, children: dict[int, int], grace: float) -> None:
        if self.asked_at is None:
            return
        if not self._passed_on:
            self._passed_on = True
            _signal_all(children, signal.SIGTERM)
            self._let_go()
        if self._hard or time.monotonic() - self.asked_at > grace + KILL_AFTER:
            self.killed = True
            _signal_all(children, signal.SIGKILL)


def _signal_all(children: dict[int, int], number: int) -> None:
    for pid in children:
        os.kill(pid, number)


def _fork(start: Callable[[int], None], index: int) -> int:
    """Start a child. Signals wait meanwhile: one that came before the child let go of our handlers would be lost."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
    pid = os.fork()
    if pid == 0:
        _live(start, index, before)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return pid


def _live(start: Callable[[int], None], index: int, signals: set[int]) -> NoReturn:
    """The whole life of a child."""
    code = 1
    try:
        for number in _STOP_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, signals)
        start(index)
        code = 0
    except SystemExit as leave:
        code = leave.code if isinstance(leave.code, int) else int(leave.code is not None)
    except BaseException:  # the last frame of a process: whatever it is, say it and end
        sys.excepthook(*sys.exc_info())
    finally:
        # Not sys.exit, and not by any error's way up: the parent's atexit handlers (the embedded Postgres) and all that
        # it has yet to do are the parent's.
        with suppress(Exception):  # its disk is full, or nobody reads it, or there is none
            sys.stderr.flush()
        os._exit(code)
