"""Accepting connections, a few at a time, and turning those away that are too many.

Whoever is turned away costs an accept and one write: it gets no task and no parser. Whoever was told a moment ago to
come again later (`HttpServer`) costs a task and one read besides. What these send is taken off the kernel's hands by
one task for all, now and then, unread. A thousand that come in one moment are let in, or turned away, between the turns
of those who are served.
"""

import errno
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from http import HTTPStatus
from typing import Any

import structlog
import trio

from fe.http.limits.shares import RETRY_WHEN_FULL
from fe.http.server.plain_errors import new_request_id, plain_error
from fe.process.workers import BACKLOG

#: So many connections are accepted before everybody else has a turn.
ACCEPTED_AT_ONCE = 8
#: So many of those that were turned away are kept open until they have had time to read why; of more, the first goes.
KEPT = 64
KEPT_SECONDS = 1.0
#: What is not read of a connection makes the kernel reset it, and its peer may not have read its answer yet. So what
#: comes is taken so often, at most so much of it, into nowhere: of TCP it need not even be copied.
TAKEN_SECONDS = 0.1
#: And so much of all of them in that time. Taking makes room for more, and whoever sends megabytes after a refusal
#: would have us, and the kernel in our name, take them: what is not taken is reset when its time is up.
TAKEN_AT_ONCE = 1024 * 1024
_NOWHERE = bytearray(256 * 1024)

#: No more files or memory: somebody has to leave first.
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})
_NO_LISTENER = frozenset({errno.EBADF, errno.EINVAL, errno.ENOTSOCK})
_EXHAUSTED_SECONDS = 0.1

#: Whose socket it is: as `socket.accept` gives it.
Peer = Any

_log = structlog.get_logger(__name__)


async def accept_connections(listener: socket.socket, took: Callable[[socket.socket, Peer], None]) -> None:
    """Give each connection to `took`, which must not wait, until cancelled; then the listener is closed.

    Those that the kernel has by then are given, too: they were made, and their requests may be here. Raises OSError
    when it is gone before.
    """
    with listener:
        try:
            while True:
                await trio.lowlevel.wait_readable(listener)
                try:
                    for _ in range(ACCEPTED_AT_ONCE):
                        took(*listener.accept())
                except BlockingIOError:
                    continue  # that were all, or another process was quicker
                except OSError as error:
                    if error.errno in _NO_LISTENER:
                        raise
                    if error.errno in _EXHAUSTED:
                        _log.error("no connection can be accepted", error=error)
                        await trio.sleep(_EXHAUSTED_SECONDS)
                    # Any other is an error of the connection, which was gone before we had it.
        except trio.Cancelled:
            with suppress(OSError):  # that were all
                for _ in range(BACKLOG):
                    took(*listener.accept())
            raise


class TurnedAway:
    """Connections that were told to come again later, for the moment they may need to read it."""

    def __init__(self) -> None:
        self._kept: deque[tuple[float, socket.socket]] = deque()
        self._somebody = trio.Event()
        #: Bytes that may be taken until it is time again.
        self._to_take = TAKEN_AT_ONCE

    def tell(self, sock: socket.socket, status: int) -> None:
        """Say 503 to a connection too many, or 429 to one too many of its address, and close it in a moment."""
        self.answer(sock, _answer(status) % new_request_id().encode())

    def answer(self, sock: socket.socket, answer: bytes, *, said_all: bool = False) -> None:
        """Give a new connection its first answer and its last, and close it in a moment: at once where it `said_all` it
        has to say, and all of that was read."""
        try:
            # New, so there is room for it; and were there none, its peer does not read.
            sock.send(answer, socket.MSG_DONTWAIT)
            if said_all:
                sock.close()
                return
            sock.shutdown(socket.SHUT_WR)
        except OSError:
            sock.close()
            return
        while len(self._kept) >= KEPT:
            self._close(self._kept.popleft()[1])
        self._kept.append((trio.current_time() + KEPT_SECONDS, sock))
        self._somebody.set()

    async def run(self) -> None:
        """Take what they send, and close each as its peer leaves or its time is up, until cancelled; then all."""
        try:
            while True:
                await self._somebody.wait()
                while self._kept:
                    await trio.sleep(TAKEN_SECONDS)
                    self._to_take = TAKEN_AT_ONCE
                    self._look_at_all()
                self._somebody = trio.Event()
        finally:
            while self._kept:
                self._close(self._kept.popleft()[1])

    def _look_at_all(self) -> None:
        """At all of them, as far as may be taken; then the others come first."""
        for _ in range(len(self._kept)):
            if self._to_take <= 0:
                break
            until, sock = self._kept.popleft()
            if self._has_left(sock) or until <= trio.current_time():
                sock.close()
            else:
                self._kept.append((until, sock))

    def _close(self, sock: socket.socket) -> None:
        """Close one whose time is not up: what has come until now is taken before."""
        self._has_left(sock)
        sock.close()

    def _has_left(self, sock: socket.socket) -> bool:
        """Take what has come, if anything may be taken; tell whether the peer is gone."""
        if self._to_take <= 0:
            return False
        try:
            taken = sock.recv_into(_NOWHERE, 0, socket.MSG_DONTWAIT | socket.MSG_TRUNC)
        except BlockingIOError:
            return False
        except OSError:
            return True
        self._to_take -= taken
        return taken == 0


@cache
def _answer(status: int) -> bytes:
    """The whole answer, with a place for the request's id."""
    headers, body = plain_error(status, request_id="%b")
    headers.append((b"retry-after", str(RETRY_WHEN_FULL).encode()))
    head = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
    return b"HTTP/1.1 %d %b\r\n" % (status, HTTPStatus(status).phrase.encode()) + head + b"\r\n" + body
