"""Whose address a request comes from: the peer's, unless the peer is a proxy that the settings trust."""

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

from fe.config import Network

Address = IPv4Address | IPv6Address

#: What stands in for a peer that has no address (a local socket): all of them are one client.
NOWHERE = IPv4Address("0.0.0.0")  # noqa: S104  (a name for "no address", nothing listens there)


def client_address(peer: str, forwarded_for: str | None, trusted: Sequence[Network]) -> Address:
    """Tell the client's address. A forwarded one counts only as far as every hop from here on is trusted.

    X-Forwarded-For is written by whoever sends it: an entry is believed only because the trusted proxy behind it added
    it. So it is read from its end, and the first address that is not a trusted proxy is the client. An entry that is no
    address ends the reading.
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
    """Tell who is meant by an address when something is shared out: whoever has one of IPv6 has its whole /64."""
    return IPv6Network((address, 64), strict=False) if isinstance(address, IPv6Address) else address


@lru_cache(maxsize=10_000)
def _read(text: str) -> Address | None:
    try:
        address = ip_address(_without_port(text.strip()).split("%", 1)[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def _without_port(text: str) -> str:
    """Take off what some proxies add to an address: `192.0.2.1:4711`, `[2001:db8::1]`, `[2001:db8::1]:4711`."""
    if text.startswith("["):
        address, closed, rest = text[1:].partition("]")
        return address if closed and (not rest or (rest[0] == ":" and _is_port(rest[1:]))) else ""
    address, _, port = text.partition(":")
    return address if _is_port(port) else text


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5


def is_trusted(address: Address, trusted: Sequence[Network]) -> bool:
    """Tell whether an address is one of a trusted proxy."""
    return any(address in network for network in trusted)
