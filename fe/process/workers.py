"""Worker processes: shared listeners, becoming the parent, and stopping on a signal."""

import gc
import json
import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import structlog
import trio

from fe.config import ConfigError, Settings
from fe.process.supervise import Plan, ProcessFiles, supervise

_log = structlog.get_logger(__name__)

_LAST_PORT = 65535
#: Connections that the kernel holds until they are accepted.
BACKLOG = 1024

#: After the grace is over, cancelled work may take this long to book itself; then its process ends hard.
_LAST_SECONDS = 12.0

#: Ctrl-C reaches a process of several twice: from the terminal, and from its parent, which passes it on.
_ONE_CTRL_C = 1.0

#: First port of /metrics of each role, so that one machine can have a command of each.
_METRICS_PORTS = {"all": 9464, "http": 9464, "actors": 9474, "portal": 9484, "receive": 9494, "share": 9504}

#: The role that has each listener to itself.
_ROLE_OF = {"http": "http", "reception": "receive", "portal": "portal", "share": "share"}


#: Thresholds of the garbage collector's three generations.
_COLLECT_AFTER = (20_000, 20, 50)


def collect_rarely() -> None:
    """Run the garbage collector thirty times less often than the default, and never over objects that exist now.

    Call it when all is loaded. Requests and steps normally leave no reference cycles, and scanning modules, schemas and
    clients each time would find nothing.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)


class BindError(OSError):
    """The address to listen on is not available; the message says why."""


def open_sockets(bind: str) -> list[socket.socket]:
    """Open what `bind` names: `host:port`, `[ipv6]:port`, or `fd://N` for a listening socket that was inherited.

    Several processes may be given the same inherited socket: the kernel hands each connection to one of them. Raises
    BindError.
    """
    try:
        if bind.startswith("fd://"):
            return [socket.socket(fileno=int(bind.removeprefix("fd://")))]
        host, _, port = bind.rpartition(":")
        host = host.strip("[]")
        if not host or not 0 <= int(port) <= _LAST_PORT:
            raise ValueError("not host:port")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, int(port)), family=family, backlog=BACKLOG)
    except (OSError, ValueError, OverflowError) as error:
        raise BindError(f"cannot listen on {bind}: {error}") from error
    listener.set_inheritable(True)
    return [listener]


@dataclass(frozen=True, slots=True)
class Listeners:
    """Sockets opened before the work begins, so that a taken port is an error message and not a restart loop."""

    http: list[socket.socket]
    #: For /metrics: one for each process.
    metrics: list[socket.socket]
    #: For suppliers.
    reception: list[socket.socket] = field(default_factory=list)
    #: For the portal.
    portal: list[socket.socket] = field(default_factory=list)
    #: For buyers.
    share: list[socket.socket] = field(default_factory=list)

    @classmethod
    def open(cls, settings: Settings, role: str, processes: int = 1) -> "Listeners":
        """Open the sockets of a role and of /metrics. Raises ConfigError if an address is not available."""
        host, port = split_bind(settings.metrics_bind or f"127.0.0.1:{_METRICS_PORTS[role]}", "FE_METRICS_BIND")

        def opened(kind: str, bind: str) -> list[socket.socket]:
            try:
                return open_sockets(bind) if bind and role in (_ROLE_OF[kind], "all") else []
            except BindError as error:
                raise ConfigError(f"FE_{kind.upper()}_BIND: {error}") from error

        listeners = cls(
            opened("http", settings.http_bind),
            [],
            opened("reception", settings.reception_bind),
            opened("portal", settings.portal_bind),
            opened("share", settings.share_bind),
        )
        # After the public ones, which may use one of these ports.
        try:
            for index in range(processes):
                listeners.metrics.append(_open_metrics((host, port + index if port else 0)))
        except ConfigError:
            listeners.close()
            raise
        return listeners

    @classmethod
    def inherited(cls, given: ProcessFiles) -> "Listeners":
        """Take over the sockets that the parent opened."""
        public = {name: [socket.socket(fileno=one) for one in each] for name, each in given.listeners.items()}
        return cls(metrics=[socket.socket(fileno=given.metrics)], **public)

    def public(self) -> dict[str, list[socket.socket]]:
        """Return all but those of /metrics, by purpose."""
        return {"http": self.http, "reception": self.reception, "portal": self.portal, "share": self.share}

    def close(self) -> None:
        """Close all sockets: the kernel refuses connections once every process has closed its copy."""
        for listener in (*self.http, *self.reception, *self.portal, *self.share, *self.metrics):
            listener.close()

    def addresses(self) -> dict[str, list[str] | str]:
        """Return the addresses of this process, for the log."""
        found: dict[str, list[str] | str] = {"metrics": _address(self.metrics[0])}
        for name, listeners in self.public().items():
            if listeners:
                found[name] = [_address(each) for each in listeners]
        return found


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _open_metrics(address: tuple[str, int]) -> socket.socket:
    try:
        family = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server(address, family=family)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"FE_METRICS_BIND: cannot listen on {address[0]}:{address[1]}: {reason}") from error


def split_bind(bind: str, name: str) -> tuple[str, int]:
    """Split `host:port`. Raises ConfigError."""
    host, colon, port = bind.rpartition(":")
    if not colon or not (port.isascii() and port.isdigit()) or int(port) > 65535:
        raise ConfigError(f"{name} should be address:port, for example 127.0.0.1:8080")
    return host.strip("[]") or "0.0.0.0", int(port)  # noqa: S104  (an operator who leaves the host out means all)


def become_parent(
    listeners: Listeners, settings: Settings, environ: Mapping[str, str], embedded: str | None = None
) -> int:
    """Replace this program by the lean parent of its workers, fe/process/supervise.py.

    `environ` is what they are started with. Returns, with their exit code, only where this process has started the
    `embedded` Postgres, which ends with it.
    """
    program = os.path.abspath(sys.argv[0])
    is_script = os.path.basename(program) == "fe" and os.access(program, os.X_OK)
    plan = Plan(
        # By the path that it was started by: where that is a link, the next process is of the release it names then.
        command=[*([program] if is_script else [sys.executable, "-m", "fe"]), *sys.argv[1:]],
        listeners={name: [one.fileno() for one in each] for name, each in listeners.public().items()},
        metrics=[one.fileno() for one in listeners.metrics],
        grace=settings.grace_seconds,
        closed=not settings.dumpable,
    )
    if embedded is not None:
        os.environ.clear()
        os.environ.update(environ, FE_DATABASE_URL=embedded)
        return supervise(plan)
    for number in plan.metrics:
        os.set_inheritable(number, True)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(sys.executable, [sys.executable, "-m", "fe.process.supervise", json.dumps(asdict(plan))], environ)  # noqa: S606  (ourselves)
    raise AssertionError


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
