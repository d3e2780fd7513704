"""Addresses of the public internet: a URL from outside may lead only to these.

`ipaddress` alone is not enough. It takes multicast addresses for global, and addresses that contain another one (NAT64,
6to4, Teredo, IPv4-compatible). So this module lists the networks that are not public.
"""

from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Final

#: Beside what the library knows (RFC 6890 and its successors), for any reading of it.
_IPV4: Final = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared between carriers and their customers; Alibaba's metadata service (100.100.100.200)
        "127.0.0.0/8",
        "169.254.0.0/16",  # link-local: the metadata services of clouds
        "172.16.0.0/12",
        "168.63.129.16/32",  # Azure's wire server and name server: a public address, and inside every machine there
        "192.0.0.0/24",  # IETF protocol assignments; Oracle's metadata service (192.0.0.192)
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
#: Global unicast is 2000::/3 and nothing else (so no unique local address: the metadata services of AWS, fd00:ec2::254,
#: and Google, fd20:ce::254); of it these are something else, or hide an IPv4 address.
_GLOBAL: Final = IPv6Network("2000::/3")
_IPV6: Final = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # IETF protocol assignments, Teredo, ORCHID
        "2001:db8::/32",
        "2002::/16",  # 6to4
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)


def is_public(address: str) -> bool:
    """Tell whether a numeric address is one of a host on the public internet; False for what is no address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv6Address):
        # With a zone it is a link's own; every form that holds an IPv4 address lies outside of what follows.
        return (
            parsed.scope_id is None
            and parsed in _GLOBAL
            and not any(parsed in network for network in _IPV6)
            and parsed.is_global
        )
    return parsed.is_global and not any(parsed in network for network in _IPV4)


def is_loopback(address: str) -> bool:
    """Tell whether a numeric address is this machine itself, in its plain form."""
    try:
        return ip_address(address) in _LOOPBACK_V4 or ip_address(address) == IPv6Address("::1")
    except (ValueError, TypeError):
        return False


_LOOPBACK_V4: Final = IPv4Network("127.0.0.0/8")
