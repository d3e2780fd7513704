"""Connections that have said nothing yet: one task, one timer and one place in the kernel for all of them.

A task, a timer and a wait of its own for each were most of what it cost to refuse a connection by its first bytes, and
who refuses much must not pay for it. What a connection begins with is often here as it is accepted, or a moment later.
"""

import select
import socket
from collections import OrderedDict
from collections.abc import Callable
from math import inf
from typing import Generic, NamedTuple, TypeVar

import trio

MAX_RECV = 2**16
#: So many are heard before everybody else has a turn.
_HEARD_AT_ONCE = 8

Whose = TypeVar("Whose")


class FirstBytes(NamedTuple):
    """What a connection began with, none where it ended before; and until when the head of its first request has to be
    here."""

    arrived: bytes
    until: float


class Unheard(Generic[Whose]):
    """Waits for the first bytes of connections, each for `patience` seconds, and gives them to `heard`.

    `heard` must not wait, and has the socket from then on.
    """

    def __init__(self, patience: float, heard: Callable[[socket.socket, Whose, FirstBytes], None]) -> None:
        self._patience = patience
        self._heard = heard
        self._ready = select.epoll()
        #: By file number, who came first goes first.
        self._silent: OrderedDict[int, tuple[socket.socket, Whose, float]] = OrderedDict()
        self._waiting = trio.CancelScope()

    def add(self, sock: socket.socket, whose: Whose) -> None:
        """Take a new connection, which does not block."""
        until = trio.current_time() + self._patience
        if self._ready.closed:
            self._heard(sock, whose, FirstBytes(b"", until))
            return
        if (arrived := _receive(sock)) is not None:
            self._heard(sock, whose, FirstBytes(arrived, until))
            return
        try:
            self._ready.register(sock, select.EPOLLIN)
        except OSError:  # the kernel has no room for one more
            self._heard(sock, whose, FirstBytes(b"", until))
            return
        self._silent[sock.fileno()] = (sock, whose, until)
        self._waiting.deadline = min(self._waiting.deadline, until)

    async def run(self) -> None:
        """Listen, until cancelled; then who has spoken in this very moment is heard, and all who are silent as if they
        had left, and so is who comes after."""
        try:
            while True:
                first = next(iter(self._silent.values()), None)
                with trio.CancelScope(deadline=inf if first is None else first[2]) as self._waiting:
                    await trio.lowlevel.wait_readable(self._ready)
                for number, _ in self._ready.poll(0, _HEARD_AT_ONCE):
                    self._hear(number)
                self._end_the_late()
        finally:
            while self._silent:
                number, (sock, _, _) = next(iter(self._silent.items()))
                self._give(number, _receive(sock) or b"")
            self._ready.close()

    def _hear(self, number: int) -> None:
        if (arrived := _receive(self._silent[number][0])) is not None:
            self._give(number, arrived)

    def _end_the_late(self) -> None:
        now = trio.current_time()
        while self._silent and next(iter(self._silent.values()))[2] <= now:
            number, (sock, _, _) = next(iter(self._silent.items()))
            self._give(number, _receive(sock) or b"")  # who has spoken in this very moment was in time

    def _give(self, number: int, arrived: bytes) -> None:
        sock, whose, until = self._silent.pop(number)
        self._ready.unregister(sock)
        self._heard(sock, whose, FirstBytes(arrived, until))


def _receive(sock: socket.socket) -> bytes | None:
    """What is here; nothing of who has left, None of who says nothing yet."""
    try:
        return sock.recv(MAX_RECV, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return None
    except OSError:  # reset
        return b""
