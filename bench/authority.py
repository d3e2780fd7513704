"""An authority that costs next to nothing, so that what is measured is the service: it keeps a number for each document
it is handed, reads nothing else of it, and accepts everything after a delay.

    python -m bench.authority [--delay 0.2]     # says where it is, in the words of `fe authority simulate --json`

At SIGUSR1 it is away, and answers 503, until the next one.

It speaks the same protocol as the simulator (fe/simulator), which checks what it is told and costs several
milliseconds a document; tests use that one.
"""

import json
import re
import select
import signal
import socket
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from bench.runner import read_options

_SEED = (
    b'<?xml version="1.0" encoding="utf-8"?>\n<SemillaModel xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    b' xmlns:xsd="http://www.w3.org/2001/XMLSchema">\n  <valor>YmVuY2g=</valor>\n'
    b"  <fecha>2026-01-01T00:00:00.0000000-04:00</fecha>\n</SemillaModel>"
)
_FILE = re.compile(rb'filename="?[0-9]{9,11}(E[0-9]{12})\.xml')
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_TRACK = re.compile(r"trackid=([0-9A-Za-z-]+)")


class Ledger:
    """Received documents: numbers by trackId, and their time."""

    def __init__(self, delay: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._delay, self._clock = delay, clock
        self._filed: dict[str, tuple[str, float]] = {}
        self._is_away = False

    def go_or_come(self, *_: object) -> None:
        """Be away, or back."""
        self._is_away = not self._is_away

    def answer(self, method: str, target: str, body: bytes) -> tuple[int, bytes, bytes]:
        """Status, kind and bytes of the answer to a request."""
        if self._is_away:
            return 503, b"application/json", b'{"mensaje":"No disponible"}'
        path = target.partition("?")[0].lower()
        if path.endswith("/semilla"):
            return 200, b"application/xml", _SEED
        if path.endswith("/validarsemilla"):
            return 200, b"application/json", _token()
        if path.endswith("/facturaselectronicas"):
            found = _FILE.search(body)
            track_id = f"bench-{len(self._filed)}"
            self._filed[track_id] = (found[1].decode() if found else "", self._clock())
            return 200, b"application/json", b'{"trackId":"%s","error":null,"mensaje":null}' % track_id.encode()
        if "consultaresultado" in path and (asked := _TRACK.search(target)) and asked[1] in self._filed:
            return 200, b"application/json", self._verdict(asked[1])
        return 404, b"application/json", b'{"mensaje":"No encontrado"}'

    def _verdict(self, track_id: str) -> bytes:
        number, since = self._filed[track_id]
        done = self._clock() - since >= self._delay
        content = {
            "trackId": track_id,
            "codigo": "1" if done else "3",
            "estado": "Aceptado" if done else "En Proceso",
            "rnc": "131880738",
            "encf": number,
            "secuenciaUtilizada": done,
            "fechaRecepcion": "11/21/2026 9:00:00 AM",
            "mensajes": [{"valor": "", "codigo": 0}],
        }
        return json.dumps(content, ensure_ascii=False).encode()


def _token() -> bytes:
    now = datetime.now(UTC).replace(microsecond=0)
    times = {"expedido": now, "expira": now + timedelta(hours=1)}
    said = {name: moment.strftime("%Y-%m-%dT%H:%M:%SZ") for name, moment in times.items()}
    return json.dumps({"token": "bench.bench.bench", **said}).encode()


def take(seen: bytearray) -> tuple[str, str, bytes] | None:
    """Take one whole request off what has come: method, target, body."""
    end = seen.find(b"\r\n\r\n")
    if end < 0:
        return None
    head = bytes(seen[: end + 2])
    length = _LENGTH.search(head)
    whole = end + 4 + (int(length[1]) if length else 0)
    if len(seen) < whole:
        return None
    method, target, _ = head.split(b"\r\n", 1)[0].decode("ascii").split(" ", 2)
    body = bytes(seen[end + 4 : whole])
    del seen[:whole]
    return method, target, body


def serve(listener: socket.socket, ledger: Ledger) -> None:
    """Answer for ever."""
    poll = select.epoll()
    poll.register(listener.fileno(), select.EPOLLIN)
    open_now: dict[int, tuple[socket.socket, bytearray]] = {}
    while True:
        for number, _ in poll.poll():
            if number == listener.fileno():
                sock, _ = listener.accept()
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                open_now[sock.fileno()] = sock, bytearray()
                poll.register(sock.fileno(), select.EPOLLIN)
                continue
            sock, seen = open_now[number]
            try:
                chunk = sock.recv(1 << 16)
                seen += chunk
                while request := take(seen):
                    status, kind, content = ledger.answer(*request)
                    head = b"HTTP/1.1 %d -\r\nContent-Type: %s; charset=utf-8\r\nContent-Length: %d\r\n\r\n"
                    sock.sendall(head % (status, kind, len(content)) + content)
            except OSError:
                chunk = b""
            if not chunk:
                poll.unregister(number)
                del open_now[number]
                sock.close()


def main() -> None:
    """Serve until killed."""
    arguments = read_options(__doc__, {"delay": (0.2, "seconds a document is En Proceso")})
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listener:
        base = f"http://127.0.0.1:{listener.getsockname()[1]}"
        print(json.dumps({"ecf": base, "fc": base, "status": base}), flush=True)
        ledger = Ledger(arguments.delay)
        signal.signal(signal.SIGUSR1, ledger.go_or_come)
        serve(listener, ledger)


if __name__ == "__main__":
    main()
