"""One client's connection: reads whole requests, answers them in order, and makes faults on demand.

It speaks HTTP/1.1 on the socket itself, because faults are made there (reset, truncated, sent twice). And a simulator
must not distort measurements: an answer costs two system calls and no task.
"""

import contextlib
import logging
import socket
import struct
import time
from collections import deque
from collections.abc import Awaitable, Callable
from email.utils import formatdate
from enum import Enum, auto
from functools import lru_cache

import httptools
import trio

from fe.simulator.exchange import MAX_BODY, RawAnswer, RawRequest, read_target

log = logging.getLogger(__name__)

#: Seconds that a connection may lie idle, or take for the next piece of a request.
_PATIENCE = 30
_CHUNK = 64 * 1024
_MAX_HEAD = 64 * 1024

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_NOT_HTTP = b"HTTP/1.1 400 \r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)

#: Header on every answer of every port, so that the simulator is not taken for the authority.
_SIMULATOR = "x-authority-simulator: not the tax authority"


class CorruptedReply(Enum):
    """Treatment of the bytes of the current answer."""

    TWICE = auto()
    HALF = auto()


class _Requests:
    """The requests in the bytes of a connection, in their order; httptools calls its `on_` methods."""

    def __init__(self) -> None:
        self.whole: deque[tuple[RawRequest, bool]] = deque()
        #: Whether a client waits for a word before it sends its body.
        self.hesitates = False
        #: Whether what came cannot be read as HTTP; nothing after it is.
        self.broken = False
        self._parser = httptools.HttpRequestParser(self)

    def feed(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self.broken = True

    def on_message_begin(self) -> None:
        self._target = b""
        self._headers: dict[str, str] = {}
        self._head_size = 0
        self._body: list[bytes] = []
        self._size = 0

    def on_url(self, url: bytes) -> None:
        self._target += url
        self._head_size += len(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head_size += len(name) + len(value)
        if self._head_size <= _MAX_HEAD:
            self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")
        else:
            self.broken = True

    def on_headers_complete(self) -> None:
        self.hesitates = self._headers.get("expect", "").lower() == "100-continue"

    def on_body(self, data: bytes) -> None:
        self.hesitates = False
        self._size += len(data)
        if self._size <= MAX_BODY:
            self._body.append(data)

    def on_message_complete(self) -> None:
        self.hesitates = False
        path, query = read_target(self._target)
        request = RawRequest(
            self._parser.get_method().decode("latin-1"),
            path,
            query,
            self._headers,
            b"".join(self._body),
            too_large=self._size > MAX_BODY,
        )
        self.whole.append((request, self._parser.should_keep_alive()))


class FaultyConnection:
    """One client's connection, as far as faults reach for it."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream
        self._corrupted: CorruptedReply | None = None

    def bend(self, how: CorruptedReply) -> None:
        """Bend the next answer."""
        self._corrupted = how

    async def reset(self) -> None:
        """End the connection with a TCP reset: what the client has not read yet is lost to it."""
        with contextlib.suppress(OSError):
            self._stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        await self._stream.aclose()

    async def serve(self, answer: "Answering") -> None:
        """Answer requests until one side is done with the other."""
        requests = _Requests()
        while not requests.broken:
            data = b""
            with trio.move_on_after(_PATIENCE):
                data = bytes(await self._stream.receive_some(_CHUNK))
            if not data:
                return
            requests.feed(data)
            while requests.whole:
                request, goes_on = requests.whole.popleft()
                answered = await answer(request, self)
                if answered is None:  # it was reset
                    return
                if not await self._write(answered, request, goes_on) or not goes_on:
                    return
            if requests.hesitates:
                await self._stream.send_all(_CONTINUE)
                requests.hesitates = False
        await self._stream.send_all(_NOT_HTTP)

    async def _write(self, answer: RawAnswer, request: RawRequest, goes_on: bool) -> bool:
        """Write an answer in one piece; whether the connection is of use after it."""
        lines = [
            f"HTTP/1.1 {answer.status} ",
            f"content-type: {answer.content_type}",
            f"content-length: {len(answer.body)}",
            _SIMULATOR,
            *(f"{name}: {value}" for name, value in answer.headers),
            f"date: {_date(int(time.time()))}",
            *([] if goes_on else ["connection: close"]),
            "\r\n",
        ]
        body = b"" if request.method == "HEAD" else answer.body
        whole = "\r\n".join(lines).encode("latin-1") + body
        how, self._corrupted = self._corrupted, None
        match how:
            case None:
                await self._stream.send_all(whole)
            case CorruptedReply.TWICE:
                await self._stream.send_all(whole + whole)
            case CorruptedReply.HALF:
                await self._stream.send_all(whole[: len(whole) - len(body) + len(body) // 2])
                return False
        return True


#: Gives the answer to a request, or None where it has ended the connection instead.
Answering = Callable[[RawRequest, FaultyConnection], Awaitable[RawAnswer | None]]
Handler = Callable[[trio.SocketStream], Awaitable[None]]


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)


def serving(answer: Answering) -> Handler:
    """Serve one connection, for `trio.serve_listeners`."""

    async def handle(stream: trio.SocketStream) -> None:
        try:
            await FaultyConnection(stream).serve(answer)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # the client left, or was made to
        except Exception:
            # Whatever goes wrong about one client must not reach the listener and end the others' connections too.
            log.warning("a connection ended in an error", exc_info=True)
        finally:
            stream.socket.close()  # at once: a client that does not read must not hold up the end

    return handle
