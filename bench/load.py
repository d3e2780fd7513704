"""A load generator of our own: raw sockets and epoll, so that it costs little and needs nothing.

`python -m bench.load PORT CONNECTIONS SECONDS < request` sends the bytes of one HTTP/1.1 request over and over on that
many kept-alive connections, one in flight on each, and prints one line of JSON: requests, seconds, its own CPU
seconds, percentiles in milliseconds, statuses.
"""

import json
import select
import socket
import sys
import time
from dataclasses import dataclass, field

WARM_UP = 0.5


@dataclass
class Client:
    """One connection."""

    sock: socket.socket
    began: float = 0.0
    seen: bytearray = field(default_factory=bytearray)


def connect(port: int) -> Client:
    sock = socket.create_connection(("127.0.0.1", port))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Client(sock)


def whole_answer(seen: bytearray) -> int:
    """The status of the answer once it is all there, else 0."""
    end = seen.find(b"\r\n\r\n")
    if end < 0:
        return 0
    head = bytes(seen[:end]).lower()
    at = head.find(b"content-length:")
    length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
    return int(head[9:12]) if len(seen) >= end + 4 + length else 0


def run(port: int, connections: int, seconds: float, request: bytes) -> dict[str, object]:
    poll = select.epoll()
    clients = {client.sock.fileno(): client for client in (connect(port) for _ in range(connections))}
    for number in clients:
        poll.register(number, select.EPOLLIN)
    taken: list[float] = []
    statuses: dict[int, int] = {}
    start = time.perf_counter()
    measure_from, until = start + WARM_UP, start + WARM_UP + seconds
    for client in clients.values():
        client.began = time.perf_counter()
        client.sock.sendall(request)
    while (now := time.perf_counter()) < until:
        for number, _ in poll.poll(0.2):
            client = clients[number]
            chunk = client.sock.recv(65536)
            client.seen += chunk
            status = whole_answer(client.seen)
            if not chunk:
                raise SystemExit("the server closed a connection")
            if not status:
                continue
            now = time.perf_counter()
            if now >= measure_from:
                taken.append(now - client.began)
                statuses[status] = statuses.get(status, 0) + 1
            client.seen.clear()
            client.began = now
            client.sock.sendall(request)
    taken.sort()
    return {
        "requests": len(taken),
        "seconds": now - measure_from,
        "cpu": time.process_time(),
        "p50": 1000 * taken[len(taken) // 2],
        "p95": 1000 * taken[int(len(taken) * 0.95)],
        "p99": 1000 * taken[int(len(taken) * 0.99)],
        "statuses": statuses,
    }


if __name__ == "__main__":
    print(json.dumps(run(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.stdin.buffer.read())))
