"""Validation of networks, hosts and URLs in settings, by text alone."""

import ipaddress
import re
from ipaddress import IPv4Network, IPv6Network
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator

from fe.ecf.mail_address import BadAddress, parse_address

Network = IPv4Network | IPv6Network

#: The widest networks that a proxy may be believed in: 10.0.0.0/8 and fc00::/7 are the widest private ones.
_WIDEST = {4: 8, 6: 7}

#: The real authority: whatever is served below it.
_REAL_AUTHORITY = "dgii.gov.do"


def read_networks(text: str) -> tuple[Network, ...]:
    """Read the comma-separated networks of FE_TRUSTED_PROXIES. Raises ValueError naming the one that cannot be."""
    networks = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        try:
            network = ipaddress.ip_network(part, strict=False)
        except ValueError:
            raise ValueError(f"{part!r} is not a network such as 10.0.0.0/8") from None
        if network.prefixlen < _WIDEST[network.version]:
            raise ValueError(f"{part!r} is wider than any private network: every client in it could claim any address")
        networks.append(network)
    return tuple(networks)


def _networks(text: str) -> str:
    read_networks(text)
    return text


#: Comma-separated networks.
Networks = Annotated[str, AfterValidator(_networks)]


def _ports(text: str) -> str:
    for part in text.split(","):
        if not (part.strip().isascii() and part.strip().isdigit() and 0 < int(part) < 65536):
            raise ValueError(f"{part.strip()!r} is not a port")
    return text


#: Comma-separated ports, at least one.
Ports = Annotated[str, AfterValidator(_ports)]


#: How a name of a host is written, once it is in lower case and without the dot that may end it.
_HOST = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*")


def read_hosts(text: str) -> frozenset[str]:
    """Parse comma-separated host names or addresses in normal form. Raises ValueError naming the invalid one."""
    hosts = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        host = part.lower().removesuffix(".")
        if not (_HOST.fullmatch(host) or _is_address(host)):
            raise ValueError(f"{part!r} is not a name such as fe.example.do: no https://, no port, no path")
        hosts.add(host)
    return frozenset(hosts)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _hosts(text: str) -> str:
    read_hosts(text)
    return text


#: Comma-separated names of hosts.
Hosts = Annotated[str, AfterValidator(_hosts)]


_ORIGIN = re.compile(r"https://[a-z0-9.-]+(:[0-9]{1,5})?|http://(localhost|127\.0\.0\.1)(:[0-9]{1,5})?")


def read_origins(text: str) -> frozenset[str]:
    """Parse comma-separated origins of pages. Raises ValueError naming the invalid one."""
    origins = frozenset(filter(None, (part.strip() for part in text.split(","))))
    for one in sorted(origins):
        if not _ORIGIN.fullmatch(one):
            raise ValueError(f"{one!r} is not an origin such as https://shop.example.do: lower case, no path")
    return origins


def _origins(text: str) -> str:
    read_origins(text)
    return text


#: Comma-separated origins of pages.
Origins = Annotated[str, AfterValidator(_origins)]


def _stripped(text: object) -> object:
    return (text.strip() or None) if isinstance(text, str) else text


#: The address of a database. A file or a template that it comes from may end it with a line of its own, or be empty.
DatabaseAddress = Annotated[str | None, BeforeValidator(_stripped)]


def base_problem(url: str) -> str | None:
    """Describe what is wrong with a base URL of the authority, or None."""
    try:
        parts = urlsplit(url)
        is_plain = parts.port != 0 and not (parts.query or parts.fragment or "@" in parts.netloc)
    except ValueError:
        is_plain = False
    if host_of(url) is None or not (is_plain and url.isprintable() and url.isascii() and " " not in url):
        return "should be a URL such as https://ecf.dgii.gov.do"
    return None


def origin_of(url: str) -> str:
    """The origin of a URL as browsers write it: in lower case, and without the port that goes without saying."""
    parts = urlsplit(url)
    port = parts.port
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    is_usual = port in (None, {"https": 443, "http": 80}.get(parts.scheme))
    return f"{parts.scheme}://{host}" if is_usual else f"{parts.scheme}://{host}:{port}"


def host_of(url: str) -> str | None:
    """The host of a URL; None where there is none."""
    try:
        parts = urlsplit(url)
        return parts.hostname if parts.scheme in ("http", "https") else None
    except ValueError:
        return None


def archive_problem(location: str) -> str | None:
    """Describe what is wrong with the archive's location, or None."""
    if location.startswith("/"):
        return None
    try:
        parts = urlsplit(location)
    except ValueError:
        return "should be the path of a folder, or s3://bucket/prefix"
    if parts.scheme == "s3" and parts.netloc and not (parts.query or parts.fragment or "@" in parts.netloc):
        return None
    return "should be the path of a folder from / on, or s3://bucket/prefix"


def collector_problem(url: str) -> str | None:
    """Describe what is wrong with the tracing URL, or None. Plain HTTP is allowed: docs/decisions/tracing.md."""
    try:
        parts = urlsplit(url)
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole or parts.path in ("", "/") or parts.fragment:
        return "should be a whole URL, such as http://127.0.0.1:4318/v1/traces"
    if "@" in parts.netloc:
        return "holds credentials: they belong into a header (OTEL_EXPORTER_OTLP_HEADERS)"
    return None


def openid_problem(issuer: str, *, development: bool) -> str | None:
    """Describe what is wrong with the identity provider's URL, or None: passwords go there."""
    try:
        parts = urlsplit(issuer)
        is_whole = bool(parts.hostname) and parts.port != 0 and not (parts.query or parts.fragment)
    except ValueError:
        is_whole = False
    if not is_whole or "@" in parts.netloc or parts.scheme not in ("http", "https"):
        return "should be a URL such as https://accounts.example.com"
    if parts.scheme == "http" and not (development and is_loopback(parts.hostname or "")):
        return "should begin with https://: identities would travel unencrypted"
    return None


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, by name or address alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower().rstrip(".") == "localhost"


def is_real_authority(host: str) -> bool:
    """Return whether a host is the tax authority's own."""
    return f".{host.lower().rstrip('.')}".endswith(f".{_REAL_AUTHORITY}")


def is_literal(host: str) -> bool:
    """Return whether a host is an address, in any form that a resolver accepts (127.1, 0x7f000001)."""
    last = host.rstrip(".").rsplit(".", 1)[-1]
    return ":" in host or bool(re.fullmatch(r"\d+|0[xX][0-9a-fA-F]*", last))


def relay_problem(url: str) -> str | None:
    """Name what is wrong with the address of an SMTP relay, if anything is."""
    try:
        parts = urlsplit(url)
        is_plain = parts.hostname and parts.port != 0 and not (parts.path or parts.query or parts.fragment)
    except ValueError:
        is_plain = False
    if not is_plain or parts.scheme not in ("smtp", "smtps") or not (url.isascii() and url.isprintable()):
        return "should be smtp://host:587 or smtps://host:465"
    if "@" in parts.netloc:
        return "should have no user name: set FE_MAIL_USER and FE_MAIL_PASSWORD"
    return None


def sender_problem(sender: str) -> str | None:
    """Name what is wrong with the sender of mail, if anything is: an address, or a name and an address in brackets."""
    name, bracket, address = sender.rpartition("<")
    if not name.isprintable() or bool(bracket) != address.endswith(">"):
        return "should be name@domain, or Name <name@domain>"
    try:
        parse_address(address.removesuffix(">"))
    except BadAddress as wrong:
        return str(wrong)
    return None
