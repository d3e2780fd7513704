"""One TCP connection: HTTP/1.1 only, one write per answer, and errors that end nothing but itself.

Hypercorn's connection is used where it is sound. It is replaced for defects that were measured on this version:

- two tasks could send on one socket at once, and the error ended the whole server: a client could do that with
  malformed chunks. One lock and a flag guard everything that is sent, and `run` contains all other errors;
- a client that did not read its answer held its task, and the shutdown, without end. A send has a deadline;
- an answer sent before the body was read could block on a full queue. The end of a request closes the queue;
- clear-text HTTP/2 and WebSockets could not be switched off. There is no code path to them;
- an answer took three writes, and takes one;
- a request in one piece went through every state of a parser. Requests of a simple form are read by their form;
- every request started a task for its idle timer. The timer is a deadline of the task that reads.
"""

import os
from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from socket import MSG_PEEK, MSG_TRUNC
from typing import Any

import structlog
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ASGIReceiveEvent, ASGISendEvent, ConnectionState, Scope
from hypercorn.utils import parse_socket_addr

from fe.http.server.http11 import Http11
from fe.http.server.pipeline import Pipeline
from fe.http.server.private_names import require_private_names

MAX_RECV = 2**16
#: How long the rest of a head may take that began as the idle time ended.
LATE_HEAD_SECONDS = 1.0
#: How long an idle connection may still begin a request once the server stops; the answer to it is the last.
LAST_REQUEST_SECONDS = 1.0
#: How long, and for how many bytes, the connection is read after its last answer. Closing it with unread bytes resets
#: it, and the peer may not have read the answer yet.
LINGER_SECONDS = 2.0
LINGER_BYTES = 8 * 1024 * 1024
#: Seconds between two reads that discard bytes; of TCP they need not even be copied.
DISCARD_SECONDS = 0.02
_DISCARDED = bytearray(256 * 1024)

_log = structlog.get_logger(__name__)

require_private_names(TCPServer, "_read_data", "_close")


class Apps(TaskGroup):
    """Starts the application for the requests of one connection."""

    async def spawn_app(
        self,
        app: Any,
        config: Config,
        scope: Scope,
        send: Callable[[ASGISendEvent | None], Awaitable[None]],
    ) -> Callable[[ASGIReceiveEvent], Awaitable[None]]:
        """Start the application on a request; returns how to feed it."""
        into, out_of = trio.open_memory_channel[ASGIReceiveEvent](config.max_app_queue_size)

        async def put(event: ASGIReceiveEvent) -> None:
            if event["type"] == "http.disconnect":
                into.close()  # never blocks; what is in the queue stays readable
                return
            # Broken or closed: the application has answered and does not read the rest of the body.
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await into.send(event)

        async def receive() -> ASGIReceiveEvent:
            try:
                return await out_of.receive()
            except trio.EndOfChannel:
                return {"type": "http.disconnect"}

        async def run() -> None:
            async with out_of:
                await app(scope, receive, send)
            await send(None)

        assert self._nursery is not None
        self._nursery.start_soon(run)
        return put


@dataclass(frozen=True, slots=True)
class PeerPatience:
    """How long a connection waits for its peer, in seconds."""

    #: For a request: an idle connection, or one whose request's head is still dripping in, is closed after this.
    request: float = 5.0
    #: For one answer to be read; a shutdown waits no longer for it either.
    answer: float = 10.0


PEER_PATIENCE = PeerPatience()


class HardenedConnection(TCPServer):
    """One accepted connection. `config` has its patience for requests already."""

    def __init__(
        self,
        pipeline: Pipeline,
        config: Config,
        context: WorkerContext,
        stream: trio.SocketStream,
        on_fault: Callable[[str], None],
        patience: PeerPatience = PEER_PATIENCE,
    ) -> None:
        super().__init__(pipeline, config, context, ConnectionState({}), stream)  # type: ignore[arg-type]  # it says SSL only
        self._pipeline = pipeline
        self._on_fault = on_fault
        self._patience = patience
        self._over = False
        self._reading = trio.CancelScope()
        self._to_discard = LINGER_BYTES
        self._idle = False
        #: Set when no request is in work; awaited once the peer has closed its side.
        self._answered = trio.Event()

    def __await__(self) -> Generator[Any, None, None]:
        return self.run().__await__()

    async def run(self) -> None:
        """Serve the connection to its end. Raises nothing but cancellation."""
        try:
            await self._serve()
        except* OSError:
            pass  # the peer is gone
        except* Exception as faults:
            self._on_fault(type(faults.exceptions[0]).__name__)
            _log.error("a connection ended by a fault of its own", exc_info=faults)
        finally:
            await trio.aclose_forcefully(self.stream)

    async def _serve(self) -> None:
        socket = self.stream.socket
        client = parse_socket_addr(socket.family, socket.getpeername())
        server = parse_socket_addr(socket.family, socket.getsockname())
        async with Apps() as apps:
            self._task_group = apps
            self.protocol = Http11(  # type: ignore[assignment]  # Hypercorn wraps it to switch to HTTP/2
                self._pipeline,
                self._left,
                self.config,
                self.context,
                apps,
                ConnectionState({}),
                False,
                client,
                server,
                self.protocol_send,
            )
            self._note_idle()
            await self._read_data()

    async def protocol_send(self, event: Event) -> None:
        """Do what the protocol asks: send, close, or note that the connection is idle or busy."""
        if isinstance(event, RawData):
            if not await self._send_all(event.data):
                await self.protocol.handle(Closed())
        elif isinstance(event, Closed):
            await self._close()
            await self.protocol.handle(Closed())
        elif isinstance(event, Updated):
            if event.idle:
                self._note_idle()
            else:
                self._idle = False
                self._answered = trio.Event()
                self._reading.deadline = inf

    async def _send_all(self, data: bytes) -> bool:
        """Send, once the bytes before are out; False when the peer is gone."""
        if not (self.send_lock.locked() or self._over):
            data = self._send_what_fits(data)
            if not data:
                return True
        async with self.send_lock:
            if self._over:
                return False
            with trio.move_on_after(self._patience.answer, shield=True):
                try:
                    await self.stream.send_all(data)
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    pass
                else:
                    return True
            self._over = True
            self._reading.cancel()
            return False

    def _send_what_fits(self, data: bytes) -> bytes:
        """Send what the kernel takes at once, which is all of nearly every answer; return the rest.

        Nothing waits here, so it needs no lock and no deadline.
        """
        try:
            return data[os.write(self.stream.socket.fileno(), data) :]
        except OSError:  # it takes nothing now, or the peer is gone: `send_all` finds out
            return data

    async def _left(self) -> bool:
        """Return True when the peer has closed its side, False when it has reset the connection.

        Neither is noticed behind bytes that it sends meanwhile.
        """
        socket = self.stream.socket
        with suppress(OSError):
            await trio.lowlevel.wait_readable(socket)
            if await socket.recv(1, MSG_PEEK):
                await trio.sleep_forever()
            return True
        return False

    async def _read_data(self) -> None:
        arrived = b""
        while True:
            with self._reading:
                arrived = await self._read_on(arrived)
            if self._over:
                break
            if self._reading.cancelled_caught:
                arrived = self._look()
            if not arrived:
                break
            # Bytes arrived before we closed an idle connection. Their sender could not tell whether we read them, so
            # the request is answered if the rest of its head follows at once.
            self._reading = trio.CancelScope(deadline=trio.current_time() + LATE_HEAD_SECONDS)
        await self.protocol.handle(Closed())
        await self._close()

    async def _read_on(self, data: bytes) -> bytes:
        """Handle bytes and all that follow, until the connection ends; return those that came as the time ended."""
        while True:
            try:
                data = data or await self._receive()
            except (OSError, trio.ClosedResourceError):
                return b""
            if self._over:
                if data:
                    await self._discard()
                return b""
            if self._reading.cancel_called:  # a request must not be handled in a cancelled scope
                return data
            await self.protocol.handle(RawData(data))
            if not data:
                # The peer has closed its side but may still read: its request, if it is whole, is answered.
                if not (self._idle or self._over):
                    await self._answered.wait()
                return b""
            data = b""

    def _look(self) -> bytes:
        """Read without waiting."""
        with suppress(OSError):
            return os.read(self.stream.socket.fileno(), MAX_RECV)
        return b""

    async def _receive(self) -> bytes:
        """Wait for the next bytes; none when the peer has closed its side.

        It waits before it reads: the next request has hardly ever arrived by then.
        """
        socket = self.stream.socket
        while True:
            await trio.lowlevel.wait_readable(socket)
            with suppress(BlockingIOError):
                return os.read(socket.fileno(), MAX_RECV)

    async def _discard(self) -> None:
        """Discard what still arrives, at intervals, so that each read discards much."""
        socket = self.stream.socket
        with suppress(OSError):
            while self._to_discard > 0:
                await trio.lowlevel.wait_readable(socket)
                discarded = await socket.recv_into(_DISCARDED, 0, MSG_TRUNC)
                if not discarded:
                    break
                self._to_discard -= discarded
                await trio.sleep(DISCARD_SECONDS)

    async def _close(self) -> None:
        """Close our side, and give the peer a moment to read the answer."""
        async with self.send_lock:
            if self._over:
                return
            self._over = True
            self._answered.set()
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await self.stream.send_eof()
            self._reading.deadline = trio.current_time() + LINGER_SECONDS

    def _note_idle(self) -> None:
        """Start the idle timer: the head of the next request has to arrive within it."""
        self._idle = True
        self._answered.set()
        if not self._over:
            patience = LAST_REQUEST_SECONDS if self.context.terminated.is_set() else self.config.keep_alive_timeout
            self._reading.deadline = trio.current_time() + patience

    def close_when_idle(self) -> None:
        """Take one more request at most, if it comes soon. Set `terminated` of the context first.

        Closing at once would lose the request of a client that sends it in the same moment.
        """
        if self._idle:
            self._reading.deadline = min(self._reading.deadline, trio.current_time() + LAST_REQUEST_SECONDS)
