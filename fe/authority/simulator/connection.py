"""A Hypercorn connection that can answer wrongly at the socket: reset, cut short, said twice.

Hypercorn's `TCPServer` is what one connection is to it; the name is not public, which is why the version is pinned.
"""

import contextlib
import logging
import socket
import struct
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from typing import Any

import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import LifespanState

log = logging.getLogger(__name__)

#: Under this name an ASGI app finds the connection in its scope's state.
CONNECTION = "connection"

#: The client waits for this one before it sends its body.
_CONTINUE = b"HTTP/1.1 100"
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class CorruptedReply(Enum):
    """What to do with the bytes of the answer under way."""

    TWICE = auto()
    HALF = auto()


class FaultyConnection(TCPServer):
    """One client's connection.

    An answer comes out in one piece when it is complete: so it can be corrupted, and it costs one system call.
    """

    def __init__(self, app: ASGIWrapper, config: Config, context: WorkerContext, stream: trio.SocketStream) -> None:
        state = LifespanState({CONNECTION: self})
        super().__init__(app, config, context, state, stream)  # type: ignore[arg-type]  # it takes plain TCP as well
        self._corrupted: CorruptedReply | None = None
        self._withheld = bytearray()

    def bend(self, how: CorruptedReply) -> None:
        """Bend the next answer."""
        self._corrupted = how

    async def reset(self) -> None:
        """End the connection with a TCP reset: what the client has not read yet is lost to it."""
        with contextlib.suppress(OSError):
            self.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        await self.stream.aclose()

    async def protocol_send(self, event: Event) -> None:
        """Hypercorn's way out: bytes for the client, and the signs that an answer or the connection has ended."""
        if not isinstance(event, RawData):
            if self._withheld:
                await self._let_out()
            await super().protocol_send(event)
        elif event.data.startswith(_CONTINUE):
            await self._write(event.data)
        else:
            self._withheld += event.data

    async def _let_out(self) -> None:
        how, answer = self._corrupted, bytes(self._withheld)
        self._corrupted = None
        self._withheld.clear()
        match how:
            case None:
                await self._write(answer)
            case CorruptedReply.TWICE:
                await self._write(answer + answer)
            case CorruptedReply.HALF:
                head, blank, body = answer.partition(b"\r\n\r\n")
                await self._write(head + blank + body[: len(body) // 2])
                await self.stream.aclose()

    async def _write(self, data: bytes) -> None:
        # Unlike Hypercorn's own this can be cancelled: a client that does not read must not hold up the end.
        async with self.send_lock:
            try:
                await self.stream.send_all(data)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                await self.protocol.handle(Closed())


Handler = Callable[[trio.SocketStream], Awaitable[None]]


def serving(app: Callable[..., Awaitable[Any]]) -> Handler:
    """What `trio.serve_listeners` runs for each connection to `app`."""
    config = Config()
    config.accesslog = config.errorlog = None
    config.include_server_header = False
    config.keep_alive_timeout = 30
    config.keep_alive_max_requests = 1_000_000
    context = WorkerContext(None)
    wrapped = ASGIWrapper(app)

    async def handle(stream: trio.SocketStream) -> None:
        try:
            await FaultyConnection(wrapped, config, context, stream)
        except* Exception as failures:
            # Whatever a client does to its connection must not reach the listener and end the others' too: a malformed
            # chunk, for one, makes two tasks of Hypercorn write at once (trio.BusyResourceError).
            log.warning("a connection ended in an error", exc_info=failures)

    return handle
