"""A TCP proxy in front of Postgres that breaks connections on purpose: at any moment, or around a chosen statement."""

import re
import socket
import struct
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum

import trio

from tests.faults.wire import Replies, Requests

_CHUNK = 65536


class When(StrEnum):
    """Where a chosen statement's connection breaks."""

    BEFORE = "before"  # the server never hears of it
    AFTER = "after"  # the server has done and committed it, and the client never hears so


@dataclass(frozen=True)
class Cut:
    """Break the connection of the next statement whose text matches."""

    when: When
    statement: re.Pattern[str]


@dataclass(eq=False)
class _Link:
    client: trio.SocketStream
    server: trio.SocketStream
    requests: Requests = field(default_factory=Requests)
    replies: Replies = field(default_factory=Replies)
    #: The statement whose reply must not arrive.
    doomed: str | None = None

    def reset(self) -> None:
        """End both sides as a network does it: no farewell."""
        for stream in (self.client, self.server):
            with suppress(OSError):  # it has just been closed by its other end
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            stream.socket.close()


class FaultProxy:
    """Stands between one process and Postgres. Transparent until it is told otherwise."""

    def __init__(self, server_port: int) -> None:
        self._server_port = server_port
        self.port = 0
        #: Number of faults, by kind.
        self.done: Counter[str] = Counter()
        self._links: set[_Link] = set()
        self._armed: list[Cut] = []
        self._passable = trio.Event()
        self._passable.set()
        self._delay = 0.0
        self._piece = _CHUNK

    async def serve(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Listen on a port of our own until cancelled."""
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        self.port = listeners[0].socket.getsockname()[1]
        async with trio.open_nursery() as nursery:
            task_status.started()
            await trio.serve_listeners(self._handle, listeners, handler_nursery=nursery)

    # --- What can be ordered ---

    def cut(self) -> None:
        """Break every connection now."""
        self.done["cut now"] += len(self._links)
        for link in list(self._links):
            link.reset()

    def cut_at(self, cut: Cut) -> None:
        """Break the connection of the next statement that matches, once."""
        self._armed.append(cut)

    def disarm(self) -> None:
        """Forget the cuts that were ordered and never came."""
        self._armed.clear()

    async def black_hole(self, seconds: float, *, then_cut: bool) -> None:
        """Let nothing through, without saying so; then everything, or nothing ever again of these connections."""
        self.done["black hole"] += 1
        self._passable = trio.Event()
        try:
            await trio.sleep(seconds)
        finally:
            if then_cut:
                self.cut()
            self._passable.set()

    async def slow(self, seconds: float, *, delay: float, piece: int = _CHUNK) -> None:
        """For `seconds`, delay every piece of at most `piece` bytes by `delay`."""
        self.done["slow" if piece == _CHUNK else "trickle"] += 1
        self._delay, self._piece = delay, piece
        try:
            await trio.sleep(seconds)
        finally:
            self._delay, self._piece = 0.0, _CHUNK

    # --- What passes ---

    async def _handle(self, client: trio.SocketStream) -> None:
        await self._passable.wait()
        try:
            server = await trio.open_tcp_stream("127.0.0.1", self._server_port)
        except OSError:
            await client.aclose()
            return
        link = _Link(client, server)
        self._links.add(link)
        try:
            async with client, server, trio.open_nursery() as both:
                both.start_soon(self._to_server, link, both.cancel_scope)
                both.start_soon(self._to_client, link, both.cancel_scope)
        finally:
            self._links.discard(link)

    async def _to_server(self, link: _Link, scope: trio.CancelScope) -> None:
        try:
            while data := await link.client.receive_some(_CHUNK):
                cut = self._meets(link.requests.feed(data))
                if cut is not None and cut[0] is When.BEFORE:
                    self.done[f"cut before {cut[1]}"] += 1
                    link.reset()
                    break
                if cut is not None:
                    link.doomed = cut[1]
                await self._pass(link.server, data)
        except (OSError, trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        scope.cancel()

    async def _to_client(self, link: _Link, scope: trio.CancelScope) -> None:
        try:
            while data := await link.server.receive_some(_CHUNK):
                ready = link.replies.feed(data)
                if link.doomed is None:
                    await self._pass(link.client, data)
                elif ready:
                    self.done[f"cut after {link.doomed}"] += 1
                    link.reset()
                    break
        except (OSError, trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        scope.cancel()

    def _meets(self, statements: list[str]) -> tuple[When, str] | None:
        """The ordered cut that one of these statements meets, and what of the statement matched."""
        for cut in self._armed:
            for statement in statements:
                if match := cut.statement.search(statement):
                    self._armed.remove(cut)
                    return cut.when, " ".join(match[0].split())
        return None

    async def _pass(self, stream: trio.SocketStream, data: bytes) -> None:
        while data:
            await self._passable.wait()
            if self._delay:
                await trio.sleep(self._delay)
            piece, data = data[: self._piece], data[self._piece :]
            await stream.send_all(piece)
