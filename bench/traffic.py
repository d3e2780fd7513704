"""Proxy before Postgres that counts the traffic of a measured process: statements, round trips.

It costs CPU and time, so it runs only in counts, never in timings.
"""

import re
import selectors
import shutil
import socket
import struct
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

_SOCKET = ".s.PGSQL.5432"
#: In place of a protocol version: a request to cancel, or to encrypt.
_SPECIAL = (80877102, 80877103, 80877104)


@dataclass
class Counts:
    """Traffic so far."""

    round_trips: int = 0
    bytes_up: int = 0
    bytes_down: int = 0
    #: How many times each text was executed.
    statements: Counter[str] = field(default_factory=Counter)
    connections: int = 0

    def since(self, before: "Counts") -> "Counts":
        """Return the traffic since then; connections are those that are open now."""
        return Counts(
            self.round_trips - before.round_trips,
            self.bytes_up - before.bytes_up,
            self.bytes_down - before.bytes_down,
            self.statements - before.statements,
            self.connections,
        )


def label(statement: str) -> str:
    """A statement in one line, short, without its values (they are parameters)."""
    words = " ".join(statement.split())
    called = re.match(r"SELECT .{0,200}?\bFROM (\w+)\(|SELECT (\w+)\(", words)
    if called and (name := called[1] or called[2]) not in ("unnest", "count", "coalesce", "max", "min"):
        return f"{name}()"
    return words[:100]


class _Messages:
    """Cuts a stream into messages."""

    def __init__(self, *, greeted: bool) -> None:
        self._rest = bytearray()
        self._greeted = greeted  # a client's first message has no kind

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        self._rest += data
        while True:
            if not self._greeted:
                if len(self._rest) < 8:
                    return
                length, code = struct.unpack("!ii", self._rest[:8])
                if len(self._rest) < length:
                    return
                del self._rest[:length]
                self._greeted = code not in _SPECIAL
                continue
            if len(self._rest) < 5:
                return
            length = 1 + struct.unpack("!i", self._rest[1:5])[0]
            if len(self._rest) < length:
                return
            kind, body = bytes(self._rest[:1]), bytes(self._rest[5:length])
            del self._rest[:length]
            yield kind, body


class _Link:
    def __init__(self, client: socket.socket, server: socket.socket) -> None:
        self.client, self.server = client, server
        self.up, self.down = _Messages(greeted=False), _Messages(greeted=True)
        self.prepared: dict[bytes, str] = {}
        self.bound = ""


class _Proxy(threading.Thread):
    def __init__(self, listener: socket.socket, server: str) -> None:
        super().__init__(daemon=True)
        self.listener, self.server = listener, server
        self.counts = Counts()
        self.lock = threading.Lock()
        self._poll = selectors.DefaultSelector()
        self._poll.register(listener, selectors.EVENT_READ)
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.is_set():
            for key, _ in self._poll.select(0.2):
                if key.fileobj is self.listener:
                    self._accept()
                else:
                    self._pass(key.data, key.fileobj)  # type: ignore[arg-type]  # we registered sockets
        for key in list(self._poll.get_map().values()):
            with suppress(OSError):
                key.fileobj.close()  # type: ignore[union-attr]  # sockets, see above
        self._poll.close()

    def end(self) -> None:
        self._ended.set()
        self.join()

    def _accept(self) -> None:
        client, _ = self.listener.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(self.server)
        link = _Link(client, server)
        for sock in (client, server):
            self._poll.register(sock, selectors.EVENT_READ, link)
        with self.lock:
            self.counts.connections += 1

    def _pass(self, link: _Link, source: socket.socket) -> None:
        if source.fileno() < 0:
            return  # its other end was closed a moment ago
        try:
            data = source.recv(1 << 16)
            if data:
                with self.lock:
                    self._count(link, source, data)
                (link.server if source is link.client else link.client).sendall(data)
        except OSError:
            data = b""
        if not data:
            for sock in (link.client, link.server):
                self._poll.unregister(sock)
                sock.close()
            with self.lock:
                self.counts.connections -= 1

    def _count(self, link: _Link, source: socket.socket, data: bytes) -> None:
        if source is link.server:
            self.counts.bytes_down += len(data)
            self.counts.round_trips += sum(kind == b"Z" for kind, _ in link.down.feed(data))
            return
        self.counts.bytes_up += len(data)
        for kind, body in link.up.feed(data):
            if kind == b"Q":
                self.counts.statements[label(_text(body))] += 1
            elif kind == b"P":
                name, _, statement = body.partition(b"\0")
                link.prepared[name] = label(_text(statement))
            elif kind == b"B":
                link.bound = link.prepared.get(body.split(b"\0", 2)[1], "?")
            elif kind == b"E":
                self.counts.statements[link.bound] += 1


class Traffic:
    """View of the traffic for the caller of `counted`."""

    def __init__(self, dsn: str, proxy: _Proxy) -> None:
        #: The same database by way of the proxy.
        self.dsn = dsn
        self._proxy = proxy

    def counts(self) -> Counts:
        """Return the traffic until now."""
        with self._proxy.lock:
            now = self._proxy.counts
            return Counts(now.round_trips, now.bytes_up, now.bytes_down, now.statements.copy(), now.connections)


@contextmanager
def counted(dsn: str) -> Iterator[Traffic]:
    """Put a proxy in front of a server that listens on a socket of the file system."""
    where = conninfo_to_dict(dsn)
    folder = Path(tempfile.mkdtemp(prefix="fe-traffic-"))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / _SOCKET))
        listener.listen(64)
        proxy = _Proxy(listener, f"{where['host']}/{_SOCKET}")
        proxy.start()
        try:
            yield Traffic(make_conninfo(dsn, host=str(folder), port=5432), proxy)
        finally:
            proxy.end()
            shutil.rmtree(folder, ignore_errors=True)


def _text(raw: bytes) -> str:
    return raw.partition(b"\0")[0].decode("utf-8", "replace")
