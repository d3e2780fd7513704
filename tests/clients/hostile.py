"""A service that behaves badly, on real sockets: it says what a test wrote down, or falls silent, or hangs up."""

import json
import socket
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self

from tests.waiting import PATIENCE

PREFIX = "/api/v1/fe"


@dataclass(frozen=True)
class Request:
    """A request as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


#: Answer to a request: bytes to send, and whether the connection is kept.
Act = Callable[[], tuple[bytes, bool]]


def say(status: int, body: object = None, **headers: str) -> Act:
    """Answer, with JSON or with bytes that are none."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = {name.replace("_", "-"): value for name, value in headers.items()}
    head = f"HTTP/1.1 {status} Said\r\nContent-Length: {len(content)}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return lambda: (f"{head}\r\n".encode() + content, True)


def lost() -> tuple[bytes, bool]:
    """Hang up without a word: the request has arrived."""
    return b"", False


def cut(body: object) -> Act:
    """Hang up in the middle of the body."""
    content = json.dumps(body).encode()
    head = f"HTTP/1.1 202 Accepted\r\nContent-Length: {len(content)}\r\n\r\n".encode()
    return lambda: (head + content[: len(content) // 2], False)


def stalled(body: object) -> Act:
    """Stop in the middle of the body and stay."""
    data, _ = cut(body)()
    return lambda: (data, True)


def silent() -> tuple[bytes, bool]:
    """Say nothing and stay."""
    return b"", True


@dataclass
class Hostile:
    """The server. It has its port from the start, and refuses connections until it is opened."""

    answers: deque[Act]
    logins: deque[Act] = field(default_factory=deque)
    requests: list[Request] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._listener = socket.socket()
        self._listener.bind(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}{PREFIX}"
        self._connections: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._given = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        for each in (self._listener, *self._connections):
            with suppress(OSError):  # never connected, or gone
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        for thread in self._threads:
            thread.join(PATIENCE)
            assert not thread.is_alive()

    def open(self) -> None:
        self._listener.listen()
        self._start(self._accept)

    @property
    def calls(self) -> list[Request]:
        """Return the requests received, without logins."""
        return [request for request in self.requests if request.target != f"{PREFIX}/login"]

    @property
    def times_logged_in(self) -> int:
        return len(self.requests) - len(self.calls)

    def _start(self, what: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=what, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return  # closed
            self._connections.append(connection)
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection.makefile("rb") as stream:
                while request := self._read(stream):
                    self.requests.append(request)
                    data, stays = self._act(request)()
                    connection.sendall(data)
                    if not stays:
                        connection.shutdown(socket.SHUT_RDWR)
                        return
        except OSError:
            pass  # the client went away, or the test is over

    @staticmethod
    def _read(stream: Any) -> Request | None:
        line = stream.readline().decode()
        if not line:
            return None
        method, target, _ = line.split()
        headers = {}
        while (line := stream.readline().decode().strip()) != "":
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        return Request(method, target, headers, stream.read(int(headers.get("content-length", 0))))

    def _act(self, request: Request) -> Act:
        if request.target != f"{PREFIX}/login":
            return self.answers.popleft() if self.answers else say(500, {"message": "not foreseen", "statusCode": 500})
        if self.logins:
            return self.logins.popleft()
        self._given += 1
        token = {"accessToken": f"token-{self._given}", "tokenType": "Bearer", "expiresIn": 3600}
        return say(200, {**token, "environment": "testecf", "scopes": []})
