"""HTTP client for every call out: authority, counterparties, webhooks, OpenID provider.

A policy says which addresses are allowed. For a URL that a tenant or a counterparty chose, the name is resolved once.
If any of its addresses is not public, the call is refused; otherwise the connection goes to one of these addresses, so
a second, different resolution has no effect. A host that the operator configured may be anywhere. TLS is verified for
the name. No redirect is followed, nothing is read from the environment (proxies, .netrc).

`fe.authority.transport` keeps connections; `Egress.exchange` makes one for each call
(docs/decisions/http-client.md).
"""

import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import trio

from fe.egress.answer import AnswerReader, HttpReply
from fe.egress.connection import Connection, HttpRequest, WayOut
from fe.egress.errors import CallBroken, CallNotSent, CallRefused
from fe.egress.public_addresses import is_loopback, is_public
from fe.egress.target import BadTarget, Origin, Policy, read_target
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
    """Opens connections that the policy allows, and makes calls over one each. Keeps none."""

    policy: Policy = field(default_factory=Policy)
    proxy: Proxy | None = None
    tls: ssl.SSLContext = field(default_factory=default_tls)
    resolve: Resolve = field(default_factory=Resolver)

    async def exchange(self, request: Request, *, seconds: float = SECONDS, keep: int = KEEP) -> HttpReply:
        """Make one call and read its answer, all within `seconds`.

        Raises CallRefused, CallNotSent or CallBroken. Cancelled, the connection is closed at once; the request may
        have arrived.
        """
        try:
            target = read_target(request.url, self.policy)
        except BadTarget as error:
            raise CallRefused("url", str(error)) from error
        headers = [*request.headers, ("Connection", "close"), ("Accept-Encoding", "identity")]
        sent = HttpRequest(request.method, target.path, headers, request.body)
        sent.head(target.origin.authority)  # a ValueError is our fault, and comes before any connection
        has_begun = False
        with trio.move_on_after(seconds):
            connection = await self.connect(target.origin)
            try:
                has_begun = True
                return await connection.exchange(target.origin, sent, keep=keep)
            finally:
                connection.close()
        if has_begun:
            raise CallBroken("timeout", f"no complete answer within {seconds:g} s")
        raise CallNotSent("timeout", f"no connection within {seconds:g} s")

    async def connect(self, origin: Origin) -> Connection:
        """Open a connection, without a deadline of its own. Raises CallRefused or CallNotSent."""
        tcp = await self._dial(origin)
        way_out = WayOut(tcp)
        if not origin.tls:
            return Connection(way_out, way_out)
        stream = trio.SSLStream(way_out, self.tls, server_hostname=origin.host, https_compatible=True)
        try:
            await stream.do_handshake()
        except BaseException as error:
            # At once: no goodbye that the other side could hold up, and nothing to await while being cancelled.
            tcp.socket.close()
            if isinstance(error, trio.BrokenResourceError):
                why = error.__cause__ or "closed by the peer"
                raise CallNotSent("tls", f"no TLS with {origin.authority}: {why}") from error
            raise
        return Connection(stream, way_out)

    async def _dial(self, origin: Origin) -> trio.SocketStream:
        proxy = None if origin.is_loopback else self.proxy
        if not self.policy.any_address:
            addresses = await self._addresses(origin)
        elif proxy is not None:
            addresses = [origin.host]  # the proxy resolves it
        else:
            return await _open_any(origin)
        if proxy is not None:
            return await _open_by_proxy(proxy, addresses[0], origin.port)
        why = "no answer"
        for address in addresses[:_TRIED]:
            with trio.move_on_after(_CONNECT_SECONDS):
                try:
                    return await _open(address, origin.port)
                except OSError as error:
                    why = _why(error)
        raise CallNotSent("connect", f"cannot connect to {origin.authority}: {why}")

    async def _addresses(self, origin: Origin) -> Sequence[str]:
        """Resolve the host. Raises CallRefused when one of its addresses is not public, and CallNotSent."""
        here = origin.is_loopback and self.policy.development
        if here and origin.host != "localhost":
            return [origin.host]
        try:
            found = await self.resolve(origin.host, origin.port)
        except (OSError, UnicodeError) as error:
            raise CallNotSent("dns", f"{origin.host} has no address: {_why(error)}") from error
        allowed = is_loopback if here else is_public
        if not found or not all(allowed(address) for address in found):
            raise CallRefused("address", f"{origin.host} has an address that is not of the public internet")
        if any(address in self.policy.own_addresses for address in found):
            raise CallRefused("address", f"{origin.host} is this service itself")
        return found


async def _open_any(origin: Origin) -> trio.SocketStream:
    """Connect to the first address of a host that answers. Raises CallNotSent."""
    try:
        return await trio.open_tcp_stream(origin.host, origin.port)
    except OSError as error:
        raise CallNotSent("connect", f"cannot connect to {origin.authority}: {_why(error)}") from error


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


async def _open_by_proxy(proxy: Proxy, host: str, port: int) -> trio.SocketStream:
    """Have the proxy connect (CONNECT). Raises CallNotSent."""
    try:
        tcp = await trio.open_tcp_stream(proxy.host, proxy.port)
    except OSError as error:
        raise CallNotSent("proxy", f"cannot connect to the proxy: {_why(error)}") from error
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    answer = AnswerReader(keep=0)
    try:
        await tcp.send_all(f"CONNECT {where} HTTP/1.1\r\nHost: {where}\r\n\r\n".encode("ascii"))
        while not (answer.head_ended or answer.whole):
            if data := await tcp.receive_some(4096):
                answer.feed(bytes(data))
            else:
                answer.end()
    except BaseException as error:
        tcp.socket.close()
        if isinstance(error, trio.BrokenResourceError | CallBroken):
            raise CallNotSent("proxy", "the proxy gave no answer") from error
        raise
    if answer.status != 200 or answer.is_cut:
        tcp.socket.close()
        raise CallNotSent("proxy", f"the proxy answered {answer.status}")
    return tcp


def _why(error: BaseException) -> str:
    cause = error.__cause__
    if isinstance(cause, BaseExceptionGroup):  # Trio tries all addresses of a name and gathers their errors
        error = cause.exceptions[0]
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__)[:200]
