"""The listening side: sockets, how many connections, and an orderly end."""

import socket
import time
from collections.abc import Callable, Hashable, Sequence
from email.utils import formatdate
from functools import partial

import structlog
import trio
from hypercorn.config import Config
from hypercorn.trio.worker_context import WorkerContext
from quart_trio import QuartTrio

from fe.config import Network, Settings, read_networks, read_origins
from fe.http.server.acceptor import Peer, Refuser, accept_connections
from fe.http.server.addresses import client_address, holder_of, is_trusted
from fe.http.server.connection import PEER_PATIENCE, HardenedConnection, PeerPatience
from fe.http.server.cors import Cors
from fe.http.server.pipeline import Pipeline
from fe.limits import ConcurrencyLimit, LimitReached, Overloaded
from fe.monitoring.metrics import Metrics
from fe.offload.pool import share_interpreter
from fe.process.memory import keep_little, trim
from fe.process.workers import open_sockets

KEEP_ALIVE_REQUESTS = 100_000
#: Milliseconds that sent bytes may stay unacknowledged before the kernel gives the connection up.
_TCP_USER_TIMEOUT_MS = 30_000
#: Parts of a body that are read ahead of the application, each at most one read of the socket.
_PARTS_READ_AHEAD = 2
#: Once half of all connections are taken, an address may have this fraction of its share.
_CROWDED = 10

_log = structlog.get_logger(__name__)


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

    `started` gives the listening sockets. Also runs the API's background tasks (`Api.run`). Raises BindError before it
    has started, and the errors of those tasks.
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
        server = HttpServer(
            Pipeline(
                app,
                api.fast_path,
                api.admission,
                api.metrics,
                proxies,
                knows_tokens=api.knows_tokens,
                page=getattr(api, "refusal_page", None),
                cors=Cors(read_origins(settings.cors_origins) if api.knows_tokens else ()),
            ),
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
    """Serves at most `maximum` connections at once, and `of_address` of one address that is none of `proxies`.

    A trusted proxy has to limit its clients' connections itself: who they are is known only from their requests.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        maximum: int,
        of_address: int,
        proxies: Sequence[Network],
        metrics: Metrics,
        on_fault: Callable[[str], None],
        patience: PeerPatience = PEER_PATIENCE,
    ) -> None:
        self._pipeline = pipeline
        self._limit: ConcurrencyLimit[Hashable | None] = ConcurrencyLimit(
            "address_connections",
            metrics,
            each=of_address,
            together=maximum,
            crowded=max(of_address // _CROWDED, 1),
        )
        metrics.http_connections.set_function(lambda: self._limit.all_held)
        self._proxies = proxies
        self._refuser = Refuser(pipeline.page)
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
        """Serve until `shutdown`, then close each connection after its answer, and idle ones within a second."""
        self._config.is_ending = shutdown.is_set
        for sock in sockets:
            sock.setblocking(False)
        async with trio.open_nursery() as connections:
            async with trio.open_nursery() as accepting:
                for sock in sockets:
                    accepting.start_soon(accept_connections, sock, partial(self._take, connections))
                task_status.started(list(sockets))
                await shutdown.wait()
                accepting.cancel_scope.cancel()
            await self._context.terminated.set()
            for connection in self._open:
                connection.close_when_idle()
            connections.cancel_scope.deadline = trio.current_time() + grace

    def _take(self, connections: trio.Nursery, sock: socket.socket, peer: Peer) -> None:
        """Serve a new connection in a task of its own, or refuse it."""
        holder = self._holder(peer)
        try:
            self._limit.take(holder)
        except LimitReached:
            self._refuser.refuse(connections, sock, 429)
        except Overloaded:
            self._refuser.refuse(connections, sock, 503)
        else:
            connections.start_soon(self._serve, sock, holder)

    async def _serve(self, sock: socket.socket, holder: Hashable | None) -> None:
        """Serve a connection to its end. Its errors end nothing else."""
        try:
            stream = trio.SocketStream(trio.socket.from_stdlib_socket(sock))
            _prepare(stream)
            connection = HardenedConnection(
                self._pipeline, self._config, self._context, stream, self._on_fault, self._patience
            )
            self._open.add(connection)
            try:
                await connection.run()
            finally:
                self._open.discard(connection)
        except OSError:  # the peer is gone
            pass
        except Exception as fault:
            self._on_fault(type(fault).__name__)
            _log.error("a connection ended before it began", exc_info=fault)
        finally:
            sock.close()
            self._limit.release(holder)

    def _holder(self, peer: Peer) -> Hashable | None:
        """The key of a peer for the limit; None for a trusted proxy and for a local socket."""
        address = client_address(peer[0], None, ()) if isinstance(peer, tuple) else None
        return None if address is None or is_trusted(address, self._proxies) else holder_of(address)


class _Config(Config):
    """Hypercorn's settings; the Date header is written once a second instead of for every answer."""

    #: Once true, every answer ends its connection: a client must not send another request while we close it.
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
