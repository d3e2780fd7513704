"""Accepting connections, a few at a time, and refusing those that are too many."""

import errno
import socket
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from http import HTTPStatus
from typing import Any

import structlog
import trio

from fe.http.server.answers import ErrorPage, new_request_id, plain_error
from fe.limits import RETRY_SECONDS
from fe.process.workers import BACKLOG

#: Connections that are accepted before other tasks have a turn.
ACCEPTED_AT_ONCE = 8
#: How long a refused connection stays open, in seconds, and how many do at once: closing a socket whose bytes were not
#: read resets it, and its peer may not have read the answer yet.
LINGER_SECONDS = 1.0
LINGERING = 64
_DISCARD_SECONDS = 0.1
_DISCARDED = bytearray(256 * 1024)

#: Placeholder of a request's id.
_ID = b"{id}"
#: No more files or memory: a connection has to close first.
_EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})
_NO_LISTENER = frozenset({errno.EBADF, errno.EINVAL, errno.ENOTSOCK})
_EXHAUSTED_SECONDS = 0.1

#: The address of a peer as `socket.accept` returns it.
Peer = Any

_log = structlog.get_logger(__name__)


async def accept_connections(listener: socket.socket, took: Callable[[socket.socket, Peer], None]) -> None:
    """Pass each connection to `took`, which must not wait, until cancelled; then close the listener.

    Connections that the kernel has accepted by then are passed on too, since their requests may have arrived. Raises
    OSError when the listener is gone.
    """
    with listener:
        try:
            while True:
                await trio.lowlevel.wait_readable(listener)
                try:
                    for _ in range(ACCEPTED_AT_ONCE):
                        took(*listener.accept())
                except BlockingIOError:
                    continue  # no more, or another process was quicker
                except OSError as error:
                    if error.errno in _NO_LISTENER:
                        raise
                    if error.errno in _EXHAUSTED:
                        _log.error("no connection can be accepted", error=error)
                        await trio.sleep(_EXHAUSTED_SECONDS)
                    # Any other error is of the connection, which was gone before it was accepted.
        except trio.Cancelled:
            with suppress(OSError):  # no more
                for _ in range(BACKLOG):
                    took(*listener.accept())
            raise


class Refuser:
    """Refuses connections in one write, without a parser."""

    def __init__(self, page: ErrorPage | None = None) -> None:
        """Take what writes refusals for people, where people call."""
        self._page = page
        self._lingering = 0

    def refuse(self, nursery: trio.Nursery, sock: socket.socket, status: int) -> None:
        """Answer a connection with 503, or 429 where its address has too many, and close it after a moment."""
        try:
            # The connection is new, so the kernel has room for an answer.
            sock.send(_answer(status, self._page).replace(_ID, new_request_id().encode()), socket.MSG_DONTWAIT)
            sock.shutdown(socket.SHUT_WR)
        except OSError:
            sock.close()
            return
        if self._lingering >= LINGERING:
            sock.close()
            return
        self._lingering += 1
        nursery.start_soon(self._linger, sock)

    async def _linger(self, sock: socket.socket) -> None:
        """Discard what the peer sends until it closes its side or its time is over."""
        try:
            with sock, trio.move_on_after(LINGER_SECONDS), suppress(OSError):
                while True:
                    await trio.lowlevel.wait_readable(sock)
                    # Of TCP, MSG_TRUNC discards without copying.
                    if not sock.recv_into(_DISCARDED, 0, socket.MSG_DONTWAIT | socket.MSG_TRUNC):
                        break
                    await trio.sleep(_DISCARD_SECONDS)
        finally:
            self._lingering -= 1


@cache
def _answer(status: int, page: ErrorPage | None) -> bytes:
    """The whole answer, with a placeholder for the request's id."""
    headers, body = plain_error(status, request_id=_ID.decode(), page=page)
    headers.append((b"retry-after", str(RETRY_SECONDS).encode()))
    head = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
    return b"HTTP/1.1 %d %b\r\n" % (status, HTTPStatus(status).phrase.encode()) + head + b"\r\n" + body
