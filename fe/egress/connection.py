"""One request and its answer on one HTTP/1.1 connection, on a Trio stream."""

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import trio

from fe.egress.answer import AnswerReader, HttpReply
from fe.egress.errors import CallBroken
from fe.egress.target import Origin

_CHUNK: Final = 16 * 1024

#: The form of every head that is sent. With the number of its lines it says that nothing in it ends a line.
_HEAD: Final = re.compile(rb"[A-Z]+ /[!-~]* HTTP/1\.1\r\n(?:[!#-'*+.^-z|~0-9A-Z-]+: [ -~\t]*\r\n)+\r\n")


#: Called when the next thing is the system call that sends: what it raises keeps the bytes here.
LastLook = Callable[[], None]


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request. `headers` lack Host and Content-Length; the body is sent in one piece with its length."""

    method: str
    target: str
    headers: Sequence[tuple[str, str]]
    body: bytes = b""

    def head(self, host: str) -> bytes:
        """Write the request line and the headers. ValueError for anything that would not be one of those."""
        lines = [f"{self.method} {self.target} HTTP/1.1\r\nHost: {host}\r\n"]
        lines += [f"{name}: {value}\r\n" for name, value in self.headers]
        if self.body or self.method == "POST":
            lines.append(f"Content-Length: {len(self.body)}\r\n")
        lines.append("\r\n")
        head = "".join(lines).encode("latin-1")
        if head.count(b"\r\n") != len(lines) + 1 or not _HEAD.fullmatch(head):
            raise ValueError("a request with something in its head that HTTP has no room for")
        return head


class WayOut(trio.abc.Stream):
    """A TCP stream, below TLS where there is TLS, that looks once more before each piece of a request leaves.

    No other task comes between the look and the system call: both are made here, without asking Trio in between.
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
        """Send all of it. Raises what the look raises while nothing has left, and CallBroken when a part of it has."""
        rest = memoryview(data)
        while rest:
            if self._begun:
                await trio.lowlevel.wait_writable(self.socket)
            await trio.lowlevel.checkpoint_if_cancelled()
            self._look_once_more()
            try:
                sent = os.write(self.socket.fileno(), rest)
            except BlockingIOError:
                await trio.lowlevel.wait_writable(self.socket)
                continue  # and look again: that may have taken long
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
                raise CallBroken("closed", "the sending was called off in the middle of the request") from error
            raise

    async def wait_send_all_might_not_block(self) -> None:
        """As the stream's own."""
        await self._tcp.wait_send_all_might_not_block()

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        """As the stream's own, but waits before it looks: an answer is never there yet."""
        await trio.lowlevel.wait_readable(self.socket)
        try:
            return os.read(self.socket.fileno(), max_bytes or _CHUNK)
        except BlockingIOError:
            return await self._tcp.receive_some(max_bytes)
        except OSError as error:
            raise trio.BrokenResourceError(f"socket connection broken: {error}") from error

    async def aclose(self) -> None:
        """As the stream's own."""
        await self._tcp.aclose()


class Connection:
    """A connected stream and its protocol state."""

    def __init__(self, stream: WayOut | trio.SSLStream[WayOut], way_out: WayOut) -> None:
        self._stream = stream
        self._way_out = way_out
        self._socket = way_out.socket
        self.idle_since = -math.inf
        #: Whether the last exchange ended cleanly and nothing came beyond its answer.
        self.idle = False

    def close(self) -> None:
        """Close at once: no goodbye that a peer could hold up, and nothing to await, so also while being cancelled."""
        self._socket.close()

    @property
    def certificate(self) -> bytes | None:
        """The peer's certificate (DER); None without TLS."""
        if isinstance(self._stream, WayOut):
            return None
        found: bytes | None = self._stream.getpeercert(binary_form=True)
        return found

    @property
    def silent(self) -> bool:
        """Whether nothing waits to be read: on an idle connection that could only be its end, or a second answer."""
        return not self._socket.is_readable()

    async def exchange(
        self, origin: Origin, request: HttpRequest, last_look: LastLook | None = None, keep: int | None = None
    ) -> HttpReply:
        """Send and read to the end, or raise CallBroken. `idle` tells afterwards whether it serves again.

        What `last_look` raises before the first byte comes out as it is. With `keep`, a longer body is cut there.
        """
        self.idle = False
        whole = request.head(origin.authority) + request.body
        cut = False
        self._way_out.begin(last_look)
        try:
            await self._stream.send_all(whole)
        except trio.BrokenResourceError:
            cut = True  # the peer may have answered before it stopped listening
        answer = AnswerReader(keep)
        try:
            while not answer.whole:
                data = await self._stream.receive_some(_CHUNK)
                if data:
                    answer.feed(bytes(data))
                else:
                    answer.end()
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise CallBroken("closed", "the connection was reset before the answer was complete") from error
        self.idle = answer.serves_again and not cut
        return answer.reply
