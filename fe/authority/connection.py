"""One request and its answer on one HTTP/1.1 connection: h11 on a Trio stream."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import h11
import trio

from fe.authority.hosts import Origin

MAX_BODY = 64 * 1024
#: Beyond the body: head, chunk sizes, 1xx answers. Ends an answer that never comes to its point.
MAX_ANSWER = 192 * 1024
_CHUNK: Final = 16 * 1024


#: Called when the next thing is the system call that sends: what it raises keeps the bytes here.
LastLook = Callable[[], None]


class Broken(Exception):
    """The request may have arrived, whole or in part, and there is no whole answer."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """What is asked. `headers` lack Host and Content-Length; the body is sent in one piece with its length."""

    method: str
    target: str
    headers: Sequence[tuple[str, str]]
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A whole answer: its end was seen, and its body is at most 64 KiB."""

    status: int
    content_type: str
    retry_after: str | None
    body: bytes


class WayOut(trio.abc.Stream):
    """A TCP stream, below TLS where there is TLS, that looks once more before each piece of a request leaves.

    No other task comes between the look and the system call.
    """

    def __init__(self, tcp: trio.SocketStream) -> None:
        self._tcp = tcp
        self.socket = tcp.socket
        self._look: LastLook | None = None
        self._begun = False

    def begin(self, look: LastLook | None) -> None:
        """Begin with a request."""
        self._look, self._begun = look, False

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        """Send all of it. Raises what the look raises while nothing has left, and Broken when a part of it has."""
        rest = memoryview(data)
        while rest:
            if self._begun:
                await trio.lowlevel.wait_writable(self.socket)
            self._look_once_more()
            try:
                sent = await self.socket.send(rest)
            except OSError as error:
                raise trio.BrokenResourceError(f"socket connection broken: {error}") from error
            self._begun = True
            rest = rest[sent:]

    def _look_once_more(self) -> None:
        if self._look is None:
            return
        try:
            self._look()
        except Exception as error:
            if self._begun:
                raise Broken("the sending was called off in the middle of the request") from error
            raise

    async def wait_send_all_might_not_block(self) -> None:
        """As the stream's own."""
        await self._tcp.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """As the stream's own."""
        return await self._tcp.receive_some(max_bytes)

    async def aclose(self) -> None:
        """As the stream's own."""
        await self._tcp.aclose()


class Connection:
    """A connected stream and its protocol state."""

    def __init__(self, stream: WayOut | trio.SSLStream[WayOut], way_out: WayOut) -> None:
        self._stream = stream
        self._way_out = way_out
        self._socket = way_out.socket
        self._http = h11.Connection(h11.CLIENT)
        self.idle_since = -math.inf

    def close(self) -> None:
        """Close at once: no goodbye that a peer could hold up, and nothing to await, so also while being cancelled."""
        self._socket.close()

    @property
    def idle(self) -> bool:
        """Whether the last exchange ended cleanly and the peer has sent nothing since."""
        return self._http.our_state is h11.IDLE and self._http.their_state is h11.IDLE

    @property
    def silent(self) -> bool:
        """Whether nothing waits to be read: on an idle connection that could only be its end, or a second answer."""
        return not self._socket.is_readable()

    async def exchange(self, origin: Origin, request: HttpRequest, last_look: LastLook | None = None) -> HttpReply:
        """Send and read to the end, or raise Broken. Whatever happens, `idle` tells afterwards if it serves again.

        What `last_look` raises before the first byte comes out as it is.
        """
        headers = [("Host", origin.authority), *request.headers]
        if request.body or request.method == "POST":
            headers.append(("Content-Length", str(len(request.body))))
        pieces = [self._http.send(h11.Request(method=request.method, target=request.target, headers=headers))]
        if request.body:
            pieces.append(self._http.send(h11.Data(data=request.body)))
        pieces.append(self._http.send(h11.EndOfMessage()))
        whole = b"".join(piece for piece in pieces if piece)
        cut = None
        self._way_out.begin(last_look)
        try:
            await self._stream.send_all(whole)
        except trio.BrokenResourceError as error:
            cut = error  # the peer may have answered before it stopped listening
        try:
            reply = await self._read()
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise Broken("the connection was reset before the answer was complete") from error
        except h11.RemoteProtocolError as error:
            raise Broken(f"the answer is not HTTP, or breaks off: {error}") from error
        # What came beyond this answer would be taken for the next one's.
        ended = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
        if ended and cut is None and not self._http.trailing_data[0]:
            self._http.start_next_cycle()
        return reply

    async def _read(self) -> HttpReply:
        head: h11.Response | None = None
        body = bytearray()
        read = 0
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                if read > MAX_ANSWER:
                    raise Broken("the answer does not end")
                data = await self._stream.receive_some(_CHUNK)
                if not data and head is None:
                    raise Broken("the connection was closed without an answer")
                read += len(data)
                self._http.receive_data(bytes(data))
            elif isinstance(event, h11.Response):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
                if len(body) > MAX_BODY:
                    raise Broken(f"the answer is larger than {MAX_BODY} bytes")
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                return HttpReply(
                    head.status_code,
                    _header(head, b"content-type") or "",
                    _header(head, b"retry-after"),
                    bytes(body),
                )
            elif not isinstance(event, h11.InformationalResponse):
                raise Broken("the answer changes the protocol")


def _header(head: h11.Response, name: bytes) -> str | None:
    return next((value.decode("latin-1") for key, value in head.headers if key == name), None)
