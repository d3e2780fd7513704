"""Hands documents in over HTTP, each its own, from one process of little cost: raw sockets and epoll.

`python -m bench.submit < order` reads an `Order` as JSON, sends, and prints an `Answer` as JSON. With a rate, documents
are sent when their moment has come, whether or not the ones before are answered, and a POST's time counts from that
moment: a server that stalls is not spared what would have arrived meanwhile.
"""

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from bench.load import whole_answer

#: Times that a request may cross the close of an idle connection; more often means another fault.
_CROSSED = 2


@dataclass(frozen=True, slots=True)
class Order:
    """Requests to send. Numbers run from `first`; with `rate` 0 each connection sends as soon as it was answered."""

    port: int
    token: str
    first: int
    documents: int
    connections: int = 16
    rate: float = 0.0
    lines: int = 2
    #: Cores to stay on; empty: any.
    cores: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """Result; `posts` is, for each POST, when it was due (seconds from the start) and its seconds."""

    seconds: float
    cpu_seconds: float
    statuses: dict[str, int]
    posts: list[tuple[float, float]]


def submit(order: Order) -> Answer:
    """Send, in a process of its own, and wait for it."""
    process = start(order)
    return finish(process)


def start(order: Order) -> "subprocess.Popen[bytes]":
    """Begin to send in a process of its own."""
    process = subprocess.Popen([sys.executable, "-m", "bench.submit"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.write(json.dumps(asdict(order)).encode())
    process.stdin.close()
    return process


def finish(process: "subprocess.Popen[bytes]") -> Answer:
    """Wait for such a process. Raises SystemExit when something other than 202 was answered."""
    with process:
        assert process.stdout is not None
        said = process.stdout.read()
    if process.returncode:
        raise SystemExit("the load came to a bad end")
    answer = Answer(**json.loads(said))
    if set(answer.statuses) != {"202"}:
        raise SystemExit(f"not every document was taken: {answer.statuses}")
    return answer


def payload(e_ncf: str, lines: int = 2) -> dict[str, Any]:
    """A credit fiscal invoice, in the shortest form a client may send."""
    line = {"IndicadorFacturacion": "1", "IndicadorBienoServicio": "1", "CantidadItem": 2, "PrecioUnitarioItem": 450.5}
    return {
        "Encabezado": {
            "IdDoc": {"eNCF": e_ncf, "TipoIngresos": "01", "TipoPago": "1"},
            "Comprador": {"RNCComprador": "131880681", "RazonSocialComprador": "Colmado Dos Hermanos SRL"},
        },
        "DetallesItems": {"Item": [{**line, "NombreItem": f"Martillo nº {nth}"} for nth in range(lines)]},
    }


def request_maker(order: Order) -> Callable[[int], bytes]:
    """Return a function that makes the bytes of the n-th request."""
    marker = "E310000000000"
    body = {"format": "structured", "payload": payload(marker, order.lines), "clientRequestId": marker}
    template = json.dumps(body, ensure_ascii=False).encode()  # a number takes the marker's place: as many bytes
    head = (
        f"POST /api/v1/fe/invoices HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {order.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(template)}\r\n\r\n"
    ).encode()
    whole = head + template
    return lambda nth: whole.replace(marker.encode(), b"E31%010d" % (order.first + nth))


class _Client:
    """One connection, and the moment at which what it waits for was due; None while it waits for nothing."""

    def __init__(self, order: Order, poll: "select.epoll") -> None:
        self._order, self._poll = order, poll
        self.due: float | None = None
        self.seen = bytearray()
        self._request, self._closed = b"", 0
        self.connect()

    def connect(self) -> None:
        """Open the connection, also again: a server closes idle ones."""
        self.sock = socket.create_connection(("127.0.0.1", self._order.port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._poll.register(self.sock.fileno(), select.EPOLLIN)

    def send(self, request: bytes, due: float) -> None:
        """Ask. A connection that is closed by then is found so when its answer is read."""
        self.due, self._request = due, request
        with suppress(BrokenPipeError, ConnectionResetError):
            self.sock.sendall(request)

    def read(self) -> bytes:
        """Return the bytes that came; none when the server has closed the connection."""
        try:
            return self.sock.recv(65536)
        except ConnectionResetError:
            return b""

    def closed(self) -> None:
        """Repeat the unanswered requests after the server has closed the connection; their clientRequestId allows it.

        The connection was idle, and the request crossed the close. Raises SystemExit at the third time.
        """
        self._poll.unregister(self.sock.fileno())
        self.sock.close()
        self.connect()
        if self.due is not None:
            self._closed += 1
            if self._closed > _CROSSED:
                raise SystemExit("the server closes connections without an answer")
            self.seen.clear()
            self.send(self._request, self.due)


def run(order: Order) -> Answer:
    """Send all of it from this process."""
    make = request_maker(order)
    requests = deque(enumerate(make(nth) for nth in range(order.documents)))
    poll = select.epoll()
    idle = [_Client(order, poll) for _ in range(order.connections)]
    clients = {client.sock.fileno(): client for client in idle}
    statuses: dict[str, int] = {}
    posts: list[tuple[float, float]] = []
    cpu, began = time.process_time(), time.perf_counter()
    while len(posts) < order.documents:
        now = time.perf_counter()
        wait = 5.0
        while requests and idle:
            due = began + requests[0][0] / order.rate if order.rate else now
            if due > now:
                wait = due - now
                break
            idle.pop().send(requests.popleft()[1], due)  # the one used last: it is the least likely to be closed
        for number, _ in poll.poll(wait):
            client = clients[number]
            chunk = client.read()
            if not chunk:
                client.closed()
                del clients[number]
                clients[client.sock.fileno()] = client
                continue
            client.seen += chunk
            if (status := whole_answer(client.seen)) and client.due is not None:
                posts.append((client.due - began, time.perf_counter() - client.due))
                statuses[str(status)] = statuses.get(str(status), 0) + 1
                client.seen.clear()
                client.due = None
                idle.append(client)
    return Answer(time.perf_counter() - began, time.process_time() - cpu, statuses, posts)


def main() -> None:
    """Do what standard input says."""
    told = json.load(sys.stdin)
    order = Order(**{**told, "cores": tuple(told["cores"])})
    if order.cores:
        os.sched_setaffinity(0, order.cores)
    print(json.dumps(asdict(run(order))))


if __name__ == "__main__":
    main()
