"""The listening side: sockets, how many connections, and an orderly end."""

import socket
import time
from collections.abc import Callable, Hashable, Sequence
from email.utils import formatdate
from functools import partial
from http import HTTPStatus

import structlog
import trio
from hypercorn.config import Config
from hypercorn.trio.worker_context import WorkerContext
from quart_trio import QuartTrio

from fe.apart import share_interpreter
from fe.config import Network, Settings, read_networks
from fe.http.server.addresses import client_address, holder_of, is_trusted
from fe.http.server.connection import PEER_PATIENCE, HardenedConnection, PeerPatience
from fe.http.server.guard import Guard
from fe.http.server.plain_errors import plain_error
from fe.http.server.strangers import Strangers
from fe.http.shares import RETRY_WHEN_FULL, Shares
from fe.monitoring.metrics import Metrics

BACKLOG = 1024
KEEP_ALIVE_REQUESTS = 100_000
#: Milliseconds that sent bytes may stay unacknowledged before the kernel gives the connection up.
_TCP_USER_TIMEOUT_MS = 30_000
_TURNED_AWAY_SECONDS = 1.0
#: So many at once are told why they are turned away; the others find the connection closed.
_TURNING_AWAY = 64
#: Parts of a body that are read ahead of whoever wants it, each at most one read of the socket.
_PARTS_READ_AHEAD = 2
_LAST_PORT = 65535

_log = structlog.get_logger(__name__)


class BindError(OSError):
    """The address to listen on cannot be had; the message says why."""


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


async def serve_http(
    app: QuartTrio,
    bind: str | Sequence[socket.socket],
    *,
    settings: Settings,
    shutdown: trio.Event,
    patience: PeerPatience = PEER_PATIENCE,
    task_status: trio.TaskStatus[list[socket.socket]] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Serve `app` until `shutdown` is set; then finish the requests in flight, for at most `settings.grace_seconds`.

    `started` gives the listening sockets. Also runs what the API does beside requests (`Api.run`). Raises BindError
    before it has started, and whatever ends those tasks.
    """
    sockets = open_sockets(bind) if isinstance(bind, str) else list(bind)
    api = app.extensions["fe"]
    share_interpreter()
    async with trio.open_nursery() as beside:
        await beside.start(api.run)
        beside.start_soon(_when, shutdown, api.release_waiters)
        proxies = read_networks(settings.trusted_proxies)
        guard = Guard(app, api.fast_path, api.admission, api.metrics, Strangers(proxies))
        server = HttpServer(
            guard,
            maximum=settings.max_connections,
            of_address=settings.address_connections,
            proxies=proxies,
            metrics=api.metrics,
            on_fault=api.on_connection_fault,
            patience=patience,
        )
        try:
            await server.serve(sockets, shutdown, settings.grace_seconds, task_status)
        finally:
            with trio.move_on_after(5, shield=True):
                await api.finish()
            beside.cancel_scope.cancel()


async def _when(event: trio.Event, callback: Callable[[], None]) -> None:
    await event.wait()
    callback()


class HttpServer:
    """Accepts connections, not more than `maximum` at once, and `of_address` of one address that is none of `proxies`.

    Of the clients behind a trusted proxy nothing is known before their requests: to share out connections among them is
    the proxy's task.
    """

    def __init__(
        self,
        guard: Guard,
        *,
        maximum: int,
        of_address: int,
        proxies: Sequence[Network],
        metrics: Metrics,
        on_fault: Callable[[str], None],
        patience: PeerPatience = PEER_PATIENCE,
    ) -> None:
        self._guard = guard
        self._max = maximum
        self._by_address: Shares[Hashable] = Shares("address_connections", metrics, each=of_address)
        self._proxies = proxies
        self._turning_away = 0
        metrics.http_connections.set_function(lambda: len(self._open))
        self._on_fault = on_fault
        self._open: set[HardenedConnection] = set()
        self._patience = patience
        self._config = _configure(patience)
        self._context = WorkerContext(None)

    async def serve(
        self,
        sockets: Sequence[socket.socket],
        shutdown: trio.Event,
        grace: float,
        task_status: trio.TaskStatus[list[socket.socket]],
    ) -> None:
        """Serve until `shutdown`, then close idle connections at once and the others when they have answered."""
        listeners = [trio.SocketListener(_listening(sock)) for sock in sockets]
        async with trio.open_nursery() as connections:
            async with trio.open_nursery() as accepting:
                await accepting.start(
                    partial(trio.serve_listeners, self._handle, listeners, handler_nursery=connections)
                )
                task_status.started(list(sockets))
                await shutdown.wait()
                accepting.cancel_scope.cancel()
            for listener in listeners:
                await listener.aclose()
            await self._context.terminated.set()
            for connection in self._open:
                connection.close_when_idle()
            connections.cancel_scope.deadline = trio.current_time() + grace

    async def _handle(self, stream: trio.SocketStream) -> None:
        holder = self._holder(stream)
        status = 0
        if holder is not None and not self._by_address.has_capacity(holder):
            status = 429
        elif len(self._open) >= self._max:
            status = 503
        if status:
            await self._turn_away(stream, status)
            return
        if holder is not None:
            self._by_address.acquire(holder)
        connection = HardenedConnection(
            self._guard, self._config, self._context, stream, self._on_fault, self._patience
        )
        self._open.add(connection)
        try:
            _prepare(stream)
            await connection.run()
        finally:
            self._open.discard(connection)
            if holder is not None:
                self._by_address.release(holder)

    def _holder(self, stream: trio.SocketStream) -> Hashable | None:
        """Whose connection it is; None for those of a trusted proxy, of a local socket, or of somebody who left."""
        try:
            peer = stream.socket.getpeername()
        except OSError:
            return None
        address = client_address(peer[0], None, ()) if isinstance(peer, tuple) else None
        return None if address is None or is_trusted(address, self._proxies) else holder_of(address)

    async def _turn_away(self, stream: trio.SocketStream, status: int) -> None:
        if self._turning_away >= _TURNING_AWAY:
            await trio.aclose_forcefully(stream)
            return
        self._turning_away += 1
        try:
            await _turn_away(stream, status)
        finally:
            self._turning_away -= 1


class _Config(Config):
    """Hypercorn's settings; the Date header is written once a second instead of for every answer."""

    _date: tuple[int, list[tuple[bytes, bytes]]] = (0, [])

    def response_headers(self, protocol: str) -> list[tuple[bytes, bytes]]:
        """Headers of every answer."""
        now = int(time.time())
        if self._date[0] != now:
            self._date = (now, [(b"date", formatdate(now, usegmt=True).encode())])
        return self._date[1]


def _configure(patience: PeerPatience) -> Config:
    config = _Config()
    config.keep_alive_timeout = patience.request
    config.keep_alive_max_requests = KEEP_ALIVE_REQUESTS
    config.max_app_queue_size = _PARTS_READ_AHEAD
    config.errorlog = None
    config.accesslog = None
    return config


def _listening(sock: socket.socket) -> trio.socket.SocketType:
    sock.setblocking(False)
    return trio.socket.from_stdlib_socket(sock)


def _prepare(stream: trio.SocketStream) -> None:
    try:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _TCP_USER_TIMEOUT_MS)
    except OSError as error:  # the peer may be gone already: the first read will tell
        _log.debug("a connection took no TCP_USER_TIMEOUT", error=error)


async def _turn_away(stream: trio.SocketStream, status: int) -> None:
    """Say 503 to a connection too many, or 429 to one too many of its address, without reading what it wants."""
    headers, body = plain_error(status)
    headers.append((b"retry-after", str(RETRY_WHEN_FULL).encode()))
    head = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
    line = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n".encode()
    with trio.move_on_after(_TURNED_AWAY_SECONDS):
        async with stream:
            try:
                await stream.send_all(line + head + b"\r\n" + body)
                await stream.send_eof()
                while await stream.receive_some(65536):
                    pass
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                pass
