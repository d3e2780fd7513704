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

from collections.abc import Awaitable, Callable, Generator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from math import inf
from typing import Any, cast
from urllib.parse import unquote

import h11
import structlog
import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol.events import Body, EndBody
from hypercorn.protocol.events import Request as RequestEvent
from hypercorn.protocol.h11 import STREAM_ID, H11Protocol
from hypercorn.protocol.http_stream import HTTPStream
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import AppWrapper, ASGIReceiveEvent, ASGISendEvent, ConnectionState, Scope
from hypercorn.utils import parse_socket_addr

from fe.http.server.guard import Guard
from fe.http.server.plain_errors import RawHeaders, plain_error
from fe.http.server.whole_requests import WholeRequest, read_whole

MAX_RECV = 2**16
#: How long, and for how many bytes, we still listen after the last answer, so that the peer reads it before the kernel
#: tells it that nobody heard the rest of its request.
LINGER_SECONDS = 2.0
LINGER_BYTES = 8 * 1024 * 1024
#: An answer is collected up to this size before it is written.
COLLECT_BYTES = 64 * 1024

#: After so many parts of a request that arrived together somebody else gets a turn.
_EVENTS_AT_ONCE = 16

#: What h11 says of its buffer when no byte of a request has come before.
_NOTHING_BEFORE = (b"", False)

_log = structlog.get_logger(__name__)

for _owner, _name in (
    (H11Protocol, "handle"),
    (H11Protocol, "_handle_events"),
    (H11Protocol, "_maybe_recycle"),
    (H11Protocol, "_create_stream"),
    (H11Protocol, "_send_error_response"),
    (H11Protocol, "_send_h11_event"),
    (TCPServer, "_read_data"),
    (TCPServer, "_close"),
):
    if not callable(getattr(_owner, _name, None)):
        raise ImportError(f"this release of Hypercorn has no {_owner.__name__}.{_name}: see docs/dependencies.md")


class Http11(H11Protocol):
    """HTTP/1.1 and nothing else."""

    def __init__(self, guard: Guard, *args: Any) -> None:
        super().__init__(cast(AppWrapper, guard), *args)  # called with http scopes only
        self._guard = guard
        self._collected = bytearray()

    async def handle(self, event: Event) -> None:
        """Take what has arrived: a whole plain request past h11, everything else through it."""
        if (
            isinstance(event, RawData)
            and self.connection.our_state is h11.IDLE
            and self.connection.trailing_data == _NOTHING_BEFORE
            and (whole := read_whole(event.data)) is not None
            and await self._answer_plain(whole)
        ):
            return
        await super().handle(event)

    async def _answer_plain(self, request: WholeRequest) -> bool:
        """Answer a request that is known, as `_try_fast_path` does, in one write. False: it has not been touched."""
        scope = self._scope(request.method, request.target, b"1.1", request.headers)
        matched = self._guard.match(scope)
        if matched is None or len(request.body) > self._guard.max_body_bytes:
            return False
        await self.send(Updated(idle=False))
        whole = await self._guard.answer_whole(matched, scope, request.body)
        lines = [
            b"HTTP/1.1 %d \r\n" % whole.status,
            *(b"%b: %b\r\n" % header for header in (*whole.headers, *self.config.response_headers("h11"))),
            b"\r\n",
            whole.body,
        ]
        await self.send(RawData(data=b"".join(lines)))
        self.keep_alive_requests += 1
        if (
            self.context.terminated.is_set()
            or self.keep_alive_requests >= self.config.keep_alive_max_requests
            or any(name == b"connection" for name, _ in whole.headers)  # which only ever says close
        ):
            await self.send(Closed())
        else:
            await self.send(Updated(idle=True))
        return True

    def _scope(self, method: bytes, target: bytes, version: bytes, headers: RawHeaders) -> Any:
        """What the guard is given of a request."""
        path, _, query = target.partition(b"?")
        return {
            "type": "http",
            "http_version": version.decode(),
            "method": method.decode("ascii").upper(),
            "path": unquote(path.decode("ascii")),
            "raw_path": path,
            "query_string": query,
            "headers": headers,
            "client": self.client,
            "state": {},
        }

    async def _handle_events(self) -> None:
        """Go on as far as the bytes that have arrived allow."""
        for taken in count(1):
            if taken % _EVENTS_AT_ONCE == 0:
                await trio.lowlevel.checkpoint()  # a body in chunks of one byte has tens of thousands of them
            if self.connection.they_are_waiting_for_100_continue:
                await self._send_h11_event(h11.InformationalResponse(status_code=100, headers=[]))
            event = await self._next_event()
            if isinstance(event, h11.Request):
                await self.send(Updated(idle=False))
                if not await self._try_fast_path(event):
                    await self._create_stream(event)
            elif event is h11.PAUSED:
                await self.can_read.clear()
                await self.can_read.wait()
            elif isinstance(event, h11.ConnectionClosed) or event is h11.NEED_DATA or self.stream is None:
                break
            elif isinstance(event, h11.Data):
                await self.stream.handle(Body(stream_id=STREAM_ID, data=bytes(event.data)))
            elif isinstance(event, h11.EndOfMessage):
                await self.stream.handle(EndBody(stream_id=STREAM_ID))

    async def _next_event(self) -> Any:
        """The next event; NEED_DATA when what was sent is not HTTP, and then the connection ends."""
        try:
            return self.connection.next_event()
        except h11.RemoteProtocolError as error:
            if self.connection.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
                await self._send_error_response(error.error_status_hint)
            await self.send(Closed())
            return h11.NEED_DATA

    async def _try_fast_path(self, request: h11.Request) -> bool:
        """Answer a request that is known, and here already to its end. False: it has not been touched.

        What turns out not to be here yet goes through Quart, with what has arrived of it.
        """
        scope = self._scope(request.method, request.target, request.http_version, list(request.headers))
        matched = self._guard.match(scope)
        if matched is None:
            return False
        parts: list[bytes] = []
        size = 0
        while (event := await self._next_event()).__class__ is h11.Data:
            parts.append(bytes(event.data))
            size += len(event.data)
            if len(parts) % _EVENTS_AT_ONCE == 0:
                await trio.lowlevel.checkpoint()
            if size > self._guard.max_body_bytes:
                break
        if not isinstance(event, h11.EndOfMessage):
            if self.connection.their_state is not h11.ERROR:
                await self._create_stream(request)
                for part in parts:
                    if self.stream is None:  # answered without the body, a refusal: nobody wants the rest of it
                        break
                    await self.stream.handle(Body(stream_id=STREAM_ID, data=part))
            return True
        whole = await self._guard.answer_whole(matched, scope, b"".join(parts))
        headers = [*whole.headers, *self.config.response_headers("h11")]
        await self._send_h11_event(h11.Response(status_code=whole.status, headers=headers))
        await self._send_h11_event(h11.Data(data=whole.body))
        await self._send_h11_event(h11.EndOfMessage())
        self.keep_alive_requests += 1
        await self._maybe_recycle()
        return True

    async def _create_stream(self, request: h11.Request) -> None:
        self.stream = HTTPStream(
            self.app,
            self.config,
            self.context,
            self.task_group,
            self.ssl,
            self.client,
            self.server,
            self.stream_send,
            STREAM_ID,
        )
        await self.stream.handle(
            RequestEvent(
                stream_id=STREAM_ID,
                headers=list(request.headers),
                http_version=request.http_version.decode(),
                method=request.method.decode("ascii").upper(),
                raw_path=request.target,
                state=self.connection_state,
            )
        )
        self.keep_alive_requests += 1

    async def _send_error_response(self, status_code: int) -> None:
        headers, body = plain_error(status_code)
        await self._send_h11_event(
            h11.Response(status_code=status_code, headers=[*headers, *self.config.response_headers("h11")])
        )
        await self._send_h11_event(h11.Data(data=body))
        await self._send_h11_event(h11.EndOfMessage())

    async def _send_h11_event(self, event: Any) -> None:
        try:
            data = self.connection.send(event)
        except h11.LocalProtocolError:
            if self.connection.their_state != h11.ERROR:
                raise
            return
        self._collected += data or b""
        whole = isinstance(event, h11.EndOfMessage | h11.InformationalResponse)
        if whole or len(self._collected) > COLLECT_BYTES:
            collected, self._collected = bytes(self._collected), bytearray()
            await self.send(RawData(data=collected))


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
    """One accepted connection, from its first byte to its last. `config` has its patience for requests already."""

    def __init__(
        self,
        guard: Guard,
        config: Config,
        context: WorkerContext,
        stream: trio.SocketStream,
        on_fault: Callable[[str], None],
        patience: PeerPatience = PEER_PATIENCE,
    ) -> None:
        super().__init__(guard, config, context, ConnectionState({}), stream)  # type: ignore[arg-type]  # it says SSL only
        self._guard = guard
        self._on_fault = on_fault
        self._patience = patience
        self._over = False
        self._reading = trio.CancelScope()
        self._to_discard = LINGER_BYTES
        self._idle = False

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
                self._reading.deadline = inf

    async def _send_all(self, data: bytes) -> bool:
        """Send, once the bytes before are out; False when there is nobody to send to any more."""
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

    async def _read_data(self) -> None:
        with self._reading:
            while True:
                try:
                    data = bytes(await self.stream.receive_some(MAX_RECV))
                except (trio.ClosedResourceError, trio.BrokenResourceError):
                    break
                if self._over:
                    self._to_discard -= len(data)
                    if not data or self._to_discard < 0:
                        break
                    continue
                # Bytes that arrive as the time is up begin nothing: a request would be worked on and never answered.
                if self._reading.cancel_called:
                    break
                await self.protocol.handle(RawData(data))
                if not data:
                    break
        await self.protocol.handle(Closed())
        await self._close()

    async def _close(self) -> None:
        """Say that nothing more is coming, and give the peer a moment to hear it."""
        async with self.send_lock:
            if self._over:
                return
            self._over = True
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await self.stream.send_eof()
            self._reading.deadline = trio.current_time() + LINGER_SECONDS

    def _note_idle(self) -> None:
        """Nothing is in work: from here on the peer has a while to begin its next request, head and all."""
        self._idle = True
        if not self._over:
            self._reading.deadline = trio.current_time() + self.config.keep_alive_timeout

    def close_when_idle(self) -> None:
        """Take no further request; end now unless one is in work. The context must say that it is terminated."""
        if self._idle:
            self._reading.cancel()
