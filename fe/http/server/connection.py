"""One TCP connection, hardened: HTTP/1.1 only, one write per answer, and a fault that ends itself and nothing else.

Hypercorn's connection handling is kept where it is sound. What is replaced here, each for a defect that was measured on
this very version:

- two tasks could send on one socket at once, and the error left the connection, its nursery and the whole server: a
  stranger could end the process with malformed chunks. Here there is one lock for everything that is sent, a flag once
  it is over, and `run` contains whatever else goes wrong;
- a client that does not read its answer held its task, and the shutdown, for ever: here a send has a deadline;
- an answer given before the body was read could block on a queue that nobody empties any more: here the end of a
  request closes the queue;
- clear-text HTTP/2 and WebSockets could not be switched off: here there is no code path to them;
- an answer took three writes: here it takes one;
- a request that came in one piece was taken apart state by state: here it is recognised by its form, if it has one;
- every request started a task to time the idleness after it: here it is a deadline of the task that reads.
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

from fe.http.server.guard import Guard
from fe.http.server.http11 import Http11
from fe.http.server.private_names import require_private_names
from fe.http.server.unheard import MAX_RECV, FirstBytes

#: How long a head that began as the time for it was up has for its rest.
LATE_HEAD_SECONDS = 1.0
#: How long an idle connection may still begin a request once the server stops; its answer says that it is the last.
LAST_REQUEST_SECONDS = 1.0
#: How long, and for how many bytes, we still listen after the last answer, so that the peer reads it before the kernel
#: tells it that nobody heard the rest of its request.
LINGER_SECONDS = 2.0
LINGER_BYTES = 8 * 1024 * 1024
#: What comes meanwhile is taken off the kernel's hands so often, into nowhere: of TCP it need not even be copied.
DISCARD_SECONDS = 0.02
_NOWHERE = bytearray(256 * 1024)

_log = structlog.get_logger(__name__)

require_private_names(TCPServer, "_read_data", "_close")


class Apps(TaskGroup):
    """The requests of one connection in work."""

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
                into.close()  # never blocks, whoever is or is not reading; what is in the queue stays readable
                return
            # Broken or closed: the application has answered and left. It does not want the rest of the body.
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
    """One accepted connection, from its `first` bytes to its last. `config` has its patience for requests already."""

    def __init__(
        self,
        guard: Guard,
        config: Config,
        context: WorkerContext,
        stream: trio.SocketStream,
        on_fault: Callable[[str], None],
        first: FirstBytes,
        patience: PeerPatience = PEER_PATIENCE,
    ) -> None:
        super().__init__(guard, config, context, ConnectionState({}), stream)  # type: ignore[arg-type]  # it says SSL only
        self._guard = guard
        self._on_fault = on_fault
        self._first = first
        self._patience = patience
        self._over = False
        self._reading = trio.CancelScope()
        self._to_discard = LINGER_BYTES
        self._idle = False
        #: Set when nothing is in work any more; looked at once the peer has closed its side.
        self._answered = trio.Event()

    def __await__(self) -> Generator[Any, None, None]:
        return self.run().__await__()

    async def run(self) -> None:
        """Serve the connection to its end. Raises nothing but cancellation: its faults end with it."""
        try:
            await self._serve()
        except* OSError:
            pass  # the peer is gone
        except* Exception as faults:
            self._on_fault(type(faults.exceptions[0]).__name__)
            _log.error("a connection ended by a fault of its own", exc_info=faults)
        finally:
            # Not a graceful end: whoever is still there has had its time.
            await trio.aclose_forcefully(self.stream)

    async def _serve(self) -> None:
        socket = self.stream.socket
        client = parse_socket_addr(socket.family, socket.getpeername())
        server = parse_socket_addr(socket.family, socket.getsockname())
        async with Apps() as apps:
            self._task_group = apps
            self.protocol = Http11(  # type: ignore[assignment]  # Hypercorn wraps it to switch to HTTP/2
                self._guard,
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
            self._reading.deadline = self._first.until
            await self._read_data()

    async def protocol_send(self, event: Event) -> None:
        """Do what the protocol asks: send, close, or note that the connection is idle or in use."""
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
        """Send, once the bytes before are out; False when there is nobody to send to any more."""
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
        """Send what the kernel takes at once, which is all of nearly every answer; gives the rest.

        No lock, no deadline and no trip through the scheduler: nothing waits here, so nobody comes in between.
        """
        try:
            return data[os.write(self.stream.socket.fileno(), data) :]
        except OSError:  # it takes nothing now, or the peer is gone: who waits for the rest to go finds out
            return data

    async def _left(self) -> bool:
        """Return when the peer has closed its side; False: it has reset the connection, and reads no answer.

        Bytes that it sends meanwhile hide that from us.
        """
        socket = self.stream.socket
        with suppress(OSError):
            await trio.lowlevel.wait_readable(socket)
            if await socket.recv(1, MSG_PEEK):
                await trio.sleep_forever()
            return True
        return False

    async def _read_data(self) -> None:
        arrived = self._first.arrived
        self._first = FirstBytes(b"", 0)  # not kept as long as the connection
        while True:
            with self._reading:
                arrived = await self._read_on(arrived)
            if self._over:
                break
            if self._reading.cancelled_caught:
                arrived = self._look()
            if not arrived:
                break
            # The time is up, and yet something arrived before we said so. Whoever sent it would never learn whether it
            # was read; so it is answered, if the rest of the head comes at once.
            self._reading = trio.CancelScope(deadline=trio.current_time() + LATE_HEAD_SECONDS)
        await self.protocol.handle(Closed())
        await self._close()

    async def _read_on(self, data: bytes) -> bytes:
        """Handle this and what comes, until the peer or the connection ends; gives what arrived as the time was up."""
        while True:
            try:
                data = data or await self._receive()
            except (OSError, trio.ClosedResourceError):
                return b""
            if self._over:
                if data:
                    await self._discard()
                return b""
            if self._reading.cancel_called:  # it would be worked on in a scope that has ended, and never answered
                return data
            await self.protocol.handle(RawData(data))
            if not data:
                # The peer sends nothing more, and may still read: its request, if it is whole, is answered.
                if not (self._idle or self._over):
                    await self._answered.wait()
                return b""
            data = b""

    def _look(self) -> bytes:
        """What is there, without waiting; none where there is nothing."""
        with suppress(OSError):
            return os.read(self.stream.socket.fileno(), MAX_RECV)
        return b""

    async def _receive(self) -> bytes:
        """Wait for the next bytes; none when the peer has closed its side.

        It waits before it looks: a request is hardly ever there as the answer before it leaves.
        """
        socket = self.stream.socket
        while True:
            await trio.lowlevel.wait_readable(socket)
            with suppress(BlockingIOError):
                return os.read(socket.fileno(), MAX_RECV)

    async def _discard(self) -> None:
        """Take what still comes, unread: now and then, so that much of it goes at once."""
        socket = self.stream.socket
        with suppress(OSError):
            while self._to_discard > 0:
                await trio.lowlevel.wait_readable(socket)
                discarded = await socket.recv_into(_NOWHERE, 0, MSG_TRUNC)
                if not discarded:
                    break
                self._to_discard -= discarded
                await trio.sleep(DISCARD_SECONDS)

    async def _close(self) -> None:
        """Say that nothing more is coming, and give the peer a moment to hear it."""
        async with self.send_lock:
            if self._over:
                return
            self._over = True
            self._answered.set()
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await self.stream.send_eof()
            self._reading.deadline = trio.current_time() + LINGER_SECONDS

    def _note_idle(self) -> None:
        """Nothing is in work: from here on the peer has a while to begin its next request, head and all."""
        self._idle = True
        self._answered.set()
        if not self._over:
            self._reading.deadline = trio.current_time() + self.config.keep_alive_timeout

    def close_when_idle(self) -> None:
        """Take one more request at most, if it comes soon. The context must say that it is terminated.

        Closing at once would lose the request of a client that sends it in the same moment.
        """
        if self._idle:
            self._reading.deadline = min(self._reading.deadline, trio.current_time() + LAST_REQUEST_SECONDS)
