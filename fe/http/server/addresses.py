"""The address of a client: the peer's, or the forwarded one if the peer is a trusted proxy."""

from collections.abc import Hashable, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from hypercorn.typing import HTTPScope

from fe.config import Network

Address = IPv4Address | IPv6Address

#: The address of peers without one (a local socket): all of them are one client.
NOWHERE = IPv4Address("0.0.0.0")  # noqa: S104  (a name for "no address", nothing listens there)


def client_address(peer: str, forwarded_for: str | None, trusted: Sequence[Network]) -> Address:
    """Return the client's address. A forwarded one counts only as far as every hop to us is a trusted proxy.

    A client can write anything into X-Forwarded-For; each trusted proxy appends the address that it saw. So the header
    is read from its end, up to the first address that is not a trusted proxy. An entry that is no address ends the
    reading.
    """
    address = _read(peer)
    if address is None:
        return NOWHERE
    hops = (forwarded_for or "").split(",")
    while hops and is_trusted(address, trusted):
        before = _read(hops.pop())
        if before is None:
            break
        address = before
    return address


def holder_of(address: Address) -> Address | IPv6Network:
    """The key of an address for limits: a client of IPv6 has a whole /64."""
    return IPv6Network((address, 64), strict=False) if isinstance(address, IPv6Address) else address


def holder_of_request(scope: HTTPScope, trusted: Sequence[Network]) -> Hashable:
    """The key of a request's client address for limits."""
    forwarded = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for"]
    client = scope["client"]
    return holder_of(client_address(client[0] if client else "", ", ".join(forwarded), trusted))


@lru_cache(maxsize=10_000)
def _read(text: str) -> Address | None:
    try:
        address = ip_address(_without_port(text.strip()).split("%", 1)[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _without_port(text: str) -> str:
    """Remove the port that some proxies add: `192.0.2.1:4711`, `[2001:db8::1]`, `[2001:db8::1]:4711`."""
    if text.startswith("["):
        address, closed, rest = text[1:].partition("]")
        return address if closed and (not rest or (rest[0] == ":" and _is_port(rest[1:]))) else ""
    address, _, port = text.partition(":")
    return address if _is_port(port) else text


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5


def is_trusted(address: Address, trusted: Sequence[Network]) -> bool:
    """Whether an address is a trusted proxy's."""
    return any(address in network for network in trusted)
