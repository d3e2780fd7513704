"""A scripted server over real sockets: resets, halves of answers, answers that come late or never.

It knows no rule of the authority's. It performs the steps of a path once each, in order; then it repeats the path's
default, if it has one: to give a session, to give a trackId.
"""

import json
import socket
import ssl
import struct
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from typing import Any

import trio

from fe.authority.client import Authority, Outgoing, Timeouts
from fe.authority.gateway import Observe
from fe.authority.hosts import Hosts
from fe.ecf.catalogue import Environment, Service
from fe.ecf.signature import Signer
from fe.identifiers import TrackId
from tests.factories.certificates import default_credential

NOW = datetime(2026, 11, 6, 14, 15, 30, tzinfo=UTC)
TRACK_ID = TrackId("d2b6e27c-3908-46f3-afaa-2207b9501b4b")
SEED = b"""<?xml version="1.0" encoding="utf-8"?>
<SemillaModel xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema">
  <valor>c2VtaWxsYQ==</valor>
  <fecha>2026-11-06T10:15:30.1234567-04:00</fecha>
</SemillaModel>"""


@dataclass(frozen=True)
class Heard:
    """A request as it arrived; of one that is answered before its body is read, the body is empty."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes
    connection: int


Stream = trio.SocketStream | trio.SSLStream[trio.SocketStream]
Step = Callable[[Stream, Heard], Awaitable[bool]]


def http(body: bytes, status: int = 200, content_type: str | None = "application/json", **headers: str) -> bytes:
    """An answer as bytes. Header names are given with underscores."""
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}"]
    if content_type is not None:
        lines.append(f"Content-Type: {content_type}")
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


def raw(answer: bytes, *, then_close: bool = False) -> Step:
    async def step(stream: Stream, _: Heard) -> bool:
        await stream.send_all(answer)
        return not then_close

    return step


def say(body: Any, status: int = 200, content_type: str | None = "application/json", **headers: str) -> Step:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return raw(http(content, status, content_type, **headers))


def in_turn(*steps: Step) -> Step:
    async def step(stream: Stream, heard: Heard) -> bool:
        return all([await each(stream, heard) for each in steps])

    return step


def pause(seconds: float) -> Step:
    async def step(_: Stream, __: Heard) -> bool:
        await trio.sleep(seconds)
        return True

    return step


def wait_for(event: trio.Event) -> Step:
    async def step(_: Stream, __: Heard) -> bool:
        await event.wait()
        return True

    return step


def tell(arrived: trio.Event) -> Step:
    async def step(_: Stream, __: Heard) -> bool:
        arrived.set()
        return True

    return step


async def hang(_: Stream, __: Heard) -> bool:
    await trio.sleep_forever()
    raise AssertionError


async def hang_up(_: Stream, __: Heard) -> bool:
    return False


async def reset(stream: Stream, _: Heard) -> bool:
    tcp = stream.transport_stream if isinstance(stream, trio.SSLStream) else stream
    # Closing with a linger time of zero sends RST.
    tcp.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return False


def session(token: str = "a.b.c", *, lifetime: float = 3600, **more: Any) -> Step:
    expires = NOW + timedelta(seconds=lifetime)
    return say({"token": token, "expedido": f"{NOW:%Y-%m-%dT%H:%M:%SZ}", "expira": f"{expires.isoformat()}", **more})


DEFAULTS = {
    "autenticacion/api/autenticacion/semilla": say(SEED, content_type="application/xml"),
    "autenticacion/api/autenticacion/validarsemilla": session(),
    "recepcion/api/facturaselectronicas": say({"trackId": TRACK_ID, "error": None, "mensaje": None}),
}
SEMILLA, VALIDAR, RECEPCION = DEFAULTS
RECEPCION_FC = "recepcionfc/api/recepcion/ecf"


class Scripted:
    """Requests that the server received, and its next steps. Paths are given without the environment."""

    def __init__(self, port: int, tls: ssl.SSLContext | None) -> None:
        self.url = f"{'https' if tls else 'http'}://localhost:{port}"
        self.heard: list[Heard] = []
        self.connections = 0
        self.open = 0
        #: Set when the connection of that number, from 1, is closed on this side.
        self.closed: defaultdict[int, trio.Event] = defaultdict(trio.Event)
        self.clients: list[Authority] = []
        self._tls = tls
        self._script: dict[str, deque[Step]] = defaultdict(deque)
        self._before_body: set[str] = set()

    def then(self, path: str, *steps: Step) -> None:
        """Do these, one for each request for `path`."""
        self._script[path].extend(steps)

    def ignore_body(self, path: str) -> None:
        """Act on the head of a request for `path`, with its body unread."""
        self._before_body.add(path)

    def count(self, path: str) -> int:
        return sum(heard.path.partition("/")[2] == path or heard.path == path for heard in self.heard)

    def last(self, path: str) -> Heard:
        return next(heard for heard in reversed(self.heard) if heard.path.partition("/")[2] == path)

    async def serve(self, tcp: trio.SocketStream) -> None:
        self.connections += 1
        number = self.connections
        self.open += 1
        stream: Stream = tcp
        if self._tls is not None:
            stream = trio.SSLStream(tcp, self._tls, server_side=True, https_compatible=True)
        try:
            while (heard := await hear(stream, number, self._before_body)) is not None:
                self.heard.append(heard)
                path = heard.path.partition("/")[2] if heard.path.partition("/")[0] in set(Environment) else heard.path
                waiting = self._script[path]
                step = waiting.popleft() if waiting else DEFAULTS[path]
                if not await step(stream, heard):
                    return
        except trio.BrokenResourceError:
            pass  # the client closed: that is for the tests to judge
        finally:
            self.open -= 1
            await trio.aclose_forcefully(tcp)
            self.closed[number].set()


async def hear(stream: Stream, number: int, before_body: Iterable[str] = ()) -> Heard | None:
    """Read a request; without its body, when its path ends like one of `before_body`. None: the client has closed."""
    received = b""
    while b"\r\n\r\n" not in received:
        data = await stream.receive_some(65536)
        if not data:
            return None
        received += data
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode("ascii").split("\r\n")
    method, target, _version = first.split(" ")
    path, _, query = target.lstrip("/").partition("?")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    assert len(headers) == len(lines), "a header twice"
    if not any(path.endswith(ignored) for ignored in before_body):
        while len(body) < int(headers.get("content-length", 0)):
            data = await stream.receive_some(65536)
            if not data:
                return None
            body += data
    return Heard(method, path, query, headers, body, number)


@asynccontextmanager
async def scripted(tls: ssl.SSLContext | None = None) -> AsyncIterator[Scripted]:
    """A server on a free port of the loopback interface, until the block ends."""
    async with trio.open_nursery() as nursery:
        listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
        server = Scripted(listeners[0].socket.getsockname()[1], tls)
        nursery.start_soon(partial(trio.serve_listeners, server.serve, listeners, handler_nursery=nursery))
        try:
            yield server
        finally:
            for client in server.clients:
                client.close()
        nursery.cancel_scope.cancel()


@dataclass(frozen=True)
class Owner:
    """A signer, as the client sees a certificate."""

    id: str
    signer: Signer


@cache
def owner(certificate_id: str = "certificate-1") -> Owner:
    return Owner(certificate_id, Signer(default_credential()))


#: Never reached, unless the machine is very busy with other things.
PATIENT = Timeouts(session=120.0, queue=120.0, connect=60.0, answer=60.0)
#: For calls that are to be given up. Calls that are to succeed before or after use PATIENT: see `in_a_hurry`.
QUICK = Timeouts(session=60.0, queue=60.0, connect=1.0, answer=1.0)


@contextmanager
def in_a_hurry(authority: Authority) -> Iterator[None]:
    """Within the block an answer may take a second; what goes well before and after it has all the time there is."""
    transport = authority._transport
    patient = transport._timeouts
    transport._timeouts = replace(patient, answer=QUICK.answer)
    try:
        yield
    finally:
        transport._timeouts = patient


def client(
    server: Scripted,
    *,
    hosts: Hosts | None = None,
    timeouts: Timeouts = PATIENT,
    connections: int = 8,
    now: datetime = NOW,
    observe: Observe | None = None,
    tls: ssl.SSLContext | None = None,
    **more: Any,
) -> Authority:
    """A client of this server, closed with it."""
    authority = Authority(
        hosts or Hosts.all_at(server.url),
        clock=lambda: now,
        timeouts=timeouts,
        connections=connections,
        observe=observe,
        tls=tls,
        **more,
    )
    server.clients.append(authority)
    return authority


def document(
    number: int = 1,
    *,
    service: Service = Service.RECEPTION,
    environment: Environment = Environment.TESTECF,
    xml: bytes = b"<ECF/>",
) -> Outgoing:
    kind = "32" if service is Service.SUMMARY_RECEPTION else "31"
    return Outgoing(environment, service, f"131880738E{kind}{number:010d}.xml", xml)


def collector() -> tuple[list[tuple[str, str, str, str]], Observe]:
    """A list, and the hook that fills it with operation, environment, host and outcome of each exchange."""
    seen: list[tuple[str, str, str, str]] = []

    def observe(operation: str, environment: str, host: str, outcome: str, seconds: float) -> None:
        assert seconds >= 0
        seen.append((str(operation), str(environment), str(host), outcome))

    return seen, observe
