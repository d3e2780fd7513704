"""The listening side: sockets, how many connections, and an orderly end."""

import socket
import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from email.utils import formatdate
from functools import partial
from typing import NamedTuple

import structlog
import trio
from hypercorn.config import Config
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.utils import parse_socket_addr
from quart_trio import QuartTrio
from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, RequestRedirect

from fe.config import Network, Settings, read_networks
from fe.http.limits.shares import Shares
from fe.http.server.addresses import client_address, holder_of, is_trusted
from fe.http.server.connection import LATE_HEAD_SECONDS, PEER_PATIENCE, HardenedConnection, PeerPatience
from fe.http.server.doorway import Peer, TurnedAway, accept_connections
from fe.http.server.guard import Guard
from fe.http.server.strangers import Strangers
from fe.http.server.unheard import FirstBytes, Unheard
from fe.http.server.whole_answers import write_whole
from fe.monitoring.metrics import Metrics
from fe.offload.pool import share_interpreter
from fe.process.memory import keep_little, trim
from fe.process.workers import open_sockets

KEEP_ALIVE_REQUESTS = 100_000
#: Milliseconds that sent bytes may stay unacknowledged before the kernel gives the connection up.
_TCP_USER_TIMEOUT_MS = 30_000
#: Parts of a body that are read ahead of whoever wants it, each at most one read of the socket.
_PARTS_READ_AHEAD = 2
#: Once half of all connections are taken, an address may have one in so many of its share.
_CROWDED = 10

_log = structlog.get_logger(__name__)


def route_of(routes: Map, method: str, path: str) -> str:
    """Name the route that the framework would take for a path: with the names of its parameters, not their values."""
    with suppress(HTTPException, RequestRedirect):
        endpoint, _ = routes.bind("").match(path, method=method)
        return str(endpoint)
    return f"{method} {path}"


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
    keep_little()
    async with trio.open_nursery() as beside:
        beside.start_soon(trim)
        await beside.start(api.run)
        beside.start_soon(_when, shutdown, api.release_waiters)
        proxies = read_networks(settings.trusted_proxies)
        guard = Guard(
            app,
            api.fast_path,
            api.admission,
            api.metrics,
            Strangers(proxies),
            api.come_again,
            knows_tokens=api.knows_tokens,
            route_of=partial(route_of, app.url_map),
        )
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


class _Whose(NamedTuple):
    """Whose a connection is."""

    peer: Peer
    #: As whose it is counted.
    holder: Hashable | None

    def address(self, sock: socket.socket) -> tuple[str, int] | None:
        return parse_socket_addr(sock.family, self.peer)


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
        self._of_crowded = max(of_address // _CROWDED, 1)
        self._proxies = proxies
        self._turned_away = TurnedAway()
        metrics.http_connections.set_function(lambda: self._taken)
        self._on_fault = on_fault
        #: How many there are, and those of them that are served.
        self._taken = 0
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
        """Serve until `shutdown`, then close each connection after its answer, and idle ones within a second."""
        self._config.is_ending = shutdown.is_set
        for sock in sockets:
            sock.setblocking(False)
        async with trio.open_nursery() as connections:
            async with trio.open_nursery() as hearing:
                unheard = Unheard(self._patience.request, partial(self._heard, connections))
                hearing.start_soon(self._turned_away.run)
                hearing.start_soon(unheard.run)
                async with trio.open_nursery() as accepting:
                    for sock in sockets:
                        accepting.start_soon(accept_connections, sock, partial(self._take, unheard))
                    task_status.started(list(sockets))
                    await shutdown.wait()
                    accepting.cancel_scope.cancel()
                hearing.cancel_scope.cancel()
            await self._context.terminated.set()
            for connection in self._open:
                connection.close_when_idle()
            connections.cancel_scope.deadline = trio.current_time() + grace

    def _take(self, unheard: Unheard[_Whose], sock: socket.socket, peer: Peer) -> None:
        """Hear what a connection has to say, or turn it away here."""
        holder = self._holder(peer)
        if holder is not None and not (self._by_address.has_capacity(holder) and self._is_modest(holder)):
            self._turned_away.tell(sock, 429)
            return
        if self._taken >= self._max:
            self._turned_away.tell(sock, 503)
            return
        if holder is not None:
            self._by_address.acquire(holder)
        self._taken += 1
        unheard.add(sock, _Whose(peer, holder))

    def _is_modest(self, holder: Hashable) -> bool:
        """Tell whether one more of an address leaves room for others: it need not, while half of all room is free."""
        return self._taken < self._max // 2 or self._by_address.of(holder) < self._of_crowded

    def _heard(self, connections: trio.Nursery, sock: socket.socket, whose: _Whose, first: FirstBytes) -> None:
        """Serve a connection in a task of its own, from its first bytes on: unless there are none, or they are those of
        somebody who was refused a moment ago."""
        try:
            if not first.arrived:
                sock.close()
            elif (refused := self._guard.refuse_at_once(first.arrived, whose.address(sock))) is not None:
                answer = write_whole(refused.answer, self._config.response_headers("h11"))
                self._turned_away.answer(sock, answer, said_all=refused.said_all)
            else:
                if self._config.is_ending():  # nobody waits long for the rest of a head that came last
                    late = trio.current_time() + LATE_HEAD_SECONDS
                    first = first._replace(until=min(first.until, late))
                connections.start_soon(self._serve, sock, whose, first)
                return
        except Exception as fault:
            self._end_by_fault(sock, fault)
        self._release(whose)

    async def _serve(self, sock: socket.socket, whose: _Whose, first: FirstBytes) -> None:
        """Serve a connection to its end. What one of them does to us ends with it."""
        try:
            await self._serve_http(sock, first)
        except (OSError, trio.Cancelled) as ended:  # the peer is gone, or our time is up
            sock.close()
            if isinstance(ended, trio.Cancelled):
                raise
        except Exception as fault:
            self._end_by_fault(sock, fault)
        finally:
            self._release(whose)

    def _end_by_fault(self, sock: socket.socket, fault: Exception) -> None:
        sock.close()
        self._on_fault(type(fault).__name__)
        _log.error("a connection ended before it began", exc_info=fault)

    def _release(self, whose: _Whose) -> None:
        """One connection less."""
        self._taken -= 1
        if whose.holder is not None:
            self._by_address.release(whose.holder)

    async def _serve_http(self, sock: socket.socket, first: FirstBytes) -> None:
        stream = trio.SocketStream(trio.socket.from_stdlib_socket(sock))
        _prepare(stream)
        connection = HardenedConnection(
            self._guard, self._config, self._context, stream, self._on_fault, first, self._patience
        )
        self._open.add(connection)
        try:
            await connection.run()
        finally:
            self._open.discard(connection)

    def _holder(self, peer: Peer) -> Hashable | None:
        """Whose connection it is; None for those of a trusted proxy, or of a local socket."""
        address = client_address(peer[0], None, ()) if isinstance(peer, tuple) else None
        return None if address is None or is_trusted(address, self._proxies) else holder_of(address)


class _Config(Config):
    """Hypercorn's settings; the Date header is written once a second instead of for every answer."""

    #: From when on every answer says that it is its connection's last: who kept it would ask into its end.
    is_ending: Callable[[], bool] = staticmethod(lambda: False)
    _date: tuple[int, list[tuple[bytes, bytes]]] = (0, [])

    def response_headers(self, protocol: str) -> list[tuple[bytes, bytes]]:
        """Headers of every answer."""
        now = int(time.time())
        if self._date[0] != now:
            self._date = (now, [(b"date", formatdate(now, usegmt=True).encode())])
        return [*self._date[1], (b"connection", b"close")] if self.is_ending() else self._date[1]


def _configure(patience: PeerPatience) -> _Config:
    config = _Config()
    config.keep_alive_timeout = patience.request
    config.keep_alive_max_requests = KEEP_ALIVE_REQUESTS
    config.max_app_queue_size = _PARTS_READ_AHEAD
    config.errorlog = None
    config.accesslog = None
    return config


def _prepare(stream: trio.SocketStream) -> None:
    try:
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _TCP_USER_TIMEOUT_MS)
    except OSError as error:  # the peer may be gone already: the first read will tell
        _log.debug("a connection took no TCP_USER_TIMEOUT", error=error)
