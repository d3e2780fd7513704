"""One HTTP call to an address that a tenant or a counterparty chose.

The name is resolved once. If any of its addresses is not public, the call is refused; otherwise the connection goes to
one of these addresses, so a second, different resolution has no effect. TLS is verified for the name. No redirect is
followed, no connection is kept, nothing is read from the environment (proxies, .netrc).

Why not an httpx client: it hides the moment from which the other side may have the request; only a private part of
httpcore can check an address when it connects; and its timeouts are per read, so a slow answer never ends. One exchange
on h11 and a Trio stream is less code than such workarounds.
"""

import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import h11
import trio

from fe.egress.answer import HostReply, new_connection, read_answer
from fe.egress.errors import CallBroken, CallNotSent, CallRefused
from fe.egress.public_addresses import is_loopback, is_public
from fe.egress.target import BadTarget, Policy, Target, read_target
from fe.egress.tls import default_tls

#: For a whole exchange: name, connection, request, answer.
SECONDS: Final = 20.0
#: The bytes of an answer's body that are read.
KEEP: Final = 64 * 1024

_CONNECT_SECONDS: Final = 8.0
#: The addresses of a name that are tried.
_TRIED: Final = 4

#: Numeric addresses of a host, at least one; raises OSError. Asked once for each call.
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Request:
    """A request. `headers` lack Host, Content-Length, Connection and Accept-Encoding, which are ours."""

    method: str
    url: str
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy of the operator's that alone may reach the outside: it is asked (CONNECT) for the address we checked."""

    host: str
    port: int


class Resolver:
    """Resolves names by the system, with threads of its own, so that a slow name server delays no other lookups."""

    def __init__(self, threads: int = 256) -> None:
        self._threads = trio.CapacityLimiter(threads)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        """Ask for the addresses of a host. Raises OSError.

        The name is asked for as it is, whole: with the dot that ends it, so that no search list of this machine
        (resolv.conf; in Kubernetes it comes first) makes another name of it.
        """
        name = host if host == "localhost" else f"{host}."

        def ask() -> list[str]:
            found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
            return list(dict.fromkeys(str(entry[4][0]) for entry in found))

        return await trio.to_thread.run_sync(ask, limiter=self._threads, abandon_on_cancel=True)


@dataclass(frozen=True, slots=True)
class Egress:
    """Makes such calls. Holds no connection, so there is nothing to close."""

    policy: Policy = field(default_factory=Policy)
    proxy: Proxy | None = None
    tls: ssl.SSLContext = field(default_factory=default_tls)
    resolve: Resolve = field(default_factory=Resolver)

    async def exchange(self, request: Request, *, seconds: float = SECONDS, keep: int = KEEP) -> HostReply:
        """Make one call and read its answer, all within `seconds`.

        Raises CallRefused, CallNotSent or CallBroken. Cancelled, the connection is closed at once; the request may
        have arrived.
        """
        try:
            target = read_target(request.url, self.policy)
        except BadTarget as error:
            raise CallRefused("url", str(error)) from error
        head = _head(request, target)
        has_begun = False
        with trio.move_on_after(seconds):
            addresses = await self._addresses(target)
            tcp = await self._connect(target, addresses)
            try:
                stream = await self._secure(tcp, target)
                has_begun = True
                return await _exchange(stream, head, request.body, keep)
            finally:
                # At once: no goodbye that the other side could hold up, and nothing to await while being cancelled.
                tcp.socket.close()
        if has_begun:
            raise CallBroken("timeout", f"no complete answer within {seconds:g} s")
        raise CallNotSent("timeout", f"no connection within {seconds:g} s")

    async def _addresses(self, target: Target) -> Sequence[str]:
        """Resolve the host. Raises CallRefused when one of its addresses is not public, and CallNotSent."""
        here = target.is_loopback and self.policy.development
        if here and target.host != "localhost":
            return [target.host]
        try:
            found = await self.resolve(target.host, target.port)
        except (OSError, UnicodeError) as error:
            raise CallNotSent("dns", f"{target.host} has no address: {_why(error)}") from error
        allowed = is_loopback if here else is_public
        if not found or not all(allowed(address) for address in found):
            raise CallRefused("address", f"{target.host} has an address that is not of the public internet")
        if any(address in self.policy.own_addresses for address in found):
            raise CallRefused("address", f"{target.host} is this service itself")
        return found

    async def _connect(self, target: Target, addresses: Sequence[str]) -> trio.SocketStream:
        if self.proxy is not None and not target.is_loopback:
            return await self._connect_by_proxy(self.proxy, target, addresses[0])
        why = "no answer"
        for address in addresses[:_TRIED]:
            with trio.move_on_after(_CONNECT_SECONDS):
                try:
                    return await _open(address, target.port)
                except OSError as error:
                    why = _why(error)
        raise CallNotSent("connect", f"cannot connect to {target.authority}: {why}")

    async def _connect_by_proxy(self, proxy: Proxy, target: Target, address: str) -> trio.SocketStream:
        try:
            tcp = await trio.open_tcp_stream(proxy.host, proxy.port)
        except OSError as error:
            raise CallNotSent("proxy", f"cannot connect to the proxy: {_why(error)}") from error
        where = f"[{address}]:{target.port}" if ":" in address else f"{address}:{target.port}"
        connection = new_connection()
        try:
            asked = connection.send(h11.Request(method="CONNECT", target=where, headers=[("Host", where)]))
            await tcp.send_all(asked or b"")
            status, rest = await _connected(connection, tcp)
        except BaseException as error:
            tcp.socket.close()
            if isinstance(error, trio.BrokenResourceError | CallBroken):
                raise CallNotSent("proxy", "the proxy gave no answer") from error
            raise
        if status != 200 or rest:
            tcp.socket.close()
            raise CallNotSent("proxy", f"the proxy answered {status}")
        return tcp

    async def _secure(self, tcp: trio.SocketStream, target: Target) -> trio.abc.Stream:
        if target.scheme == "http":
            return tcp
        stream = trio.SSLStream(tcp, self.tls, server_hostname=target.host, https_compatible=True)
        try:
            await stream.do_handshake()
        except trio.BrokenResourceError as error:
            raise CallNotSent(
                "tls", f"no TLS with {target.authority}: {error.__cause__ or 'closed by the peer'}"
            ) from error
        return stream


async def _open(address: str, port: int) -> trio.SocketStream:
    """Connect to a numeric address: nothing is resolved here. Raises OSError."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    connecting = trio.socket.socket(family, socket.SOCK_STREAM)
    try:
        await connecting.connect((address, port))
    except BaseException:
        connecting.close()
        raise
    return trio.SocketStream(connecting)


async def _connected(connection: h11.Connection, tcp: trio.SocketStream) -> tuple[int, bytes]:
    """The proxy's answer to CONNECT, and what came behind it, which should be nothing."""
    read = 0
    while True:
        try:
            event = connection.next_event()
        except h11.RemoteProtocolError as error:
            raise CallBroken("answer", "the proxy's answer is not HTTP") from error
        if isinstance(event, h11.Response):
            return event.status_code, connection.trailing_data[0] if event.status_code == 200 else b""
        if event is h11.NEED_DATA:
            data = await tcp.receive_some(4096)
            read += len(data)
            if not data or read > 64 * 1024:
                raise CallBroken("closed", "the proxy gave no answer")
            connection.receive_data(bytes(data))


def _head(request: Request, target: Target) -> h11.Request:
    """Write the head. Raises ValueError for what has no place in one, which is our fault."""
    headers = [("Host", target.authority), *request.headers, ("Connection", "close"), ("Accept-Encoding", "identity")]
    if request.body or request.method == "POST":
        headers.append(("Content-Length", str(len(request.body))))
    try:
        return h11.Request(method=request.method, target=target.path, headers=headers)
    except h11.LocalProtocolError as error:
        raise ValueError(f"a request that HTTP has no room for: {error}") from error


async def _exchange(stream: trio.abc.Stream, head: h11.Request, body: bytes, keep: int) -> HostReply:
    connection = new_connection()
    sent = (connection.send(head) or b"") + (connection.send(h11.Data(data=body)) or b"" if body else b"")
    sent += connection.send(h11.EndOfMessage()) or b""
    with suppress(trio.BrokenResourceError):  # the other side may have answered before it stopped listening
        await stream.send_all(sent)
    return await read_answer(connection, stream, keep)


def _why(error: BaseException) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__)[:200]
