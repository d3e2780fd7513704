"""URLs that others give us to call: read strictly, refused with words. Pure; the addresses behind are another matter.

Nothing is repaired: of two readers of a sloppy URL one would check a host and the other call another.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

import idna

from fe.ecf.texts import LocalizedError, Text

_LONGEST: Final = 2048
_URL: Final = re.compile(r"(https?)://([^/?#]*)((?:[/?][!-~]*)?)", re.IGNORECASE | re.ASCII)
_PORT: Final = re.compile(r"[0-9]{1,5}")
_LABEL: Final = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
#: How the last label of a literal address looks, in any notation a resolver takes for one (127.1, 0x7f000001, 0177.1).
_NUMERIC: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_IPV6: Final = re.compile(r"\[[0-9a-fA-F:.]+\]")
#: Names that are never of the public internet (RFC 6761 and successors).
_NEVER_PUBLIC: Final = (
    "localhost",
    "local",
    "internal",
    "intranet",
    "invalid",
    "onion",
    "home.arpa",
    "in-addr.arpa",
    "ip6.arpa",
)
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_DEFAULT_PORTS: Final = {"https": 443, "http": 80}

_NO_HTTPS: Final = Text("the URL should begin with https://", "la URL debe comenzar con https://")
_OURS: Final = Text("the URL is this service's own", "la URL es de este mismo servicio")
_ADDRESS: Final = Text("the URL should name a host, not an address", "la URL debe nombrar un host, no una dirección IP")
_NO_NAME: Final = Text("the host of the URL is no name", "el host de la URL no es un nombre")
_NO_IDNA: Final = Text(
    "the host of the URL is no name that IDNA knows", "el host de la URL no es un nombre que IDNA conozca"
)


class BadTarget(LocalizedError, ValueError):
    """A URL that is not allowed; the message is for the user who set it."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The policy of allowed targets. `development`: this very machine too, without TLS and at any port."""

    development: bool = False
    #: An operator configured the target: any host, port and address.
    any_address: bool = False
    ports: Collection[int] = frozenset({443, 8443})
    #: The names under which this installation is reached itself, in lower case.
    own_hosts: Collection[str] = frozenset()
    #: The addresses at which it listens, where they are of the public internet.
    own_addresses: Collection[str] = frozenset()
    #: The ports at which it listens on this machine.
    own_ports: Collection[int] = field(default=frozenset())


#: For the authority and the OpenID provider.
CONFIGURED: Final = Policy(any_address=True)


@dataclass(frozen=True, slots=True)
class Origin:
    """Address to connect to."""

    tls: bool
    host: str
    port: int

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether it names this machine."""
        return self.host in _LOOPBACK


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes. `host` is lower-case ASCII without brackets or a final dot; `path` begins with a slash."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def origin(self) -> Origin:
        """The address to connect to."""
        return Origin(self.scheme == "https", self.host, self.port)

    @property
    def url(self) -> str:
        """The URL in its one form."""
        return f"{self.scheme}://{self.origin.authority}{self.path}"


def read_target(url: str, policy: Policy) -> Target:
    """Read a URL. Raises BadTarget saying what is wrong with it."""
    if len(url) > _LONGEST:
        raise BadTarget(Text(f"the URL is longer than {_LONGEST} characters", f"la URL pasa de {_LONGEST} caracteres"))
    if "\\" in url or any(character <= " " or character == "\x7f" for character in url):
        raise BadTarget(
            Text(
                "the URL holds blanks, control characters or backslashes",
                "la URL contiene espacios, caracteres de control o barras invertidas",
            )
        )
    if "#" in url:
        raise BadTarget(
            Text(
                "the URL has a fragment (#...), which is never sent: leave it out",
                "la URL tiene un fragmento (#...), que nunca se envía: omítalo",
            )
        )
    matched = _URL.fullmatch(url)
    if matched is None:
        if not re.match(r"https?://", url, re.IGNORECASE | re.ASCII):
            raise BadTarget(_NO_HTTPS)
        raise BadTarget(
            Text(
                "the path of the URL holds characters that have to be written with %",
                "la ruta de la URL contiene caracteres que deben escribirse con %",
            )
        )
    scheme, authority, path = matched[1].lower(), matched[2], matched[3]
    if "@" in authority:
        raise BadTarget(
            Text(
                "the URL holds credentials: put them in a header of your own",
                "la URL contiene credenciales: póngalas en una cabecera propia",
            )
        )
    host, port = _split(authority, scheme, policy)
    target = Target(scheme, host, port, path if path.startswith("/") else f"/{path}")
    if policy.any_address:
        return target
    if target.origin.is_loopback:
        if not policy.development:
            raise BadTarget(Text("the URL is this machine's own", "la URL es de esta misma máquina"))
        if port in policy.own_ports:
            raise BadTarget(_OURS)
        return target
    if scheme != "https":
        raise BadTarget(_NO_HTTPS)
    if port not in policy.ports:
        ports = ", ".join(map(str, sorted(policy.ports)))
        raise BadTarget(Text(f"the port should be one of {ports}", f"el puerto debe ser uno de {ports}"))
    if host in policy.own_hosts:
        raise BadTarget(_OURS)
    return target


def _split(authority: str, scheme: str, policy: Policy) -> tuple[str, int]:
    if authority.startswith("["):
        host, bracket, rest = authority.partition("]")
        if host + bracket != "[::1]" and not (policy.any_address and _IPV6.fullmatch(host + bracket)):
            raise BadTarget(_ADDRESS)
        name = host[1:]
        if rest and not rest.startswith(":"):
            raise BadTarget(_NO_NAME)
        port = rest[1:] if rest else ""
        colon = rest[:1]
    else:
        name, colon, port = authority.partition(":")
        name = _name(name, policy)
    if colon and not _PORT.fullmatch(port):
        raise BadTarget(Text("the port of the URL is no number", "el puerto de la URL no es un número"))
    number = int(port) if port else _DEFAULT_PORTS[scheme]
    if not 0 < number < 65536:
        raise BadTarget(Text("the port of the URL is none", "el puerto de la URL no existe"))
    return name, number


def _name(text: str, policy: Policy) -> str:
    """Bring a host's name to its ASCII form. Raises BadTarget for what is none, for an address, for a private name."""
    name = text
    if not text.isascii():
        try:
            name = idna.encode(text, uts46=True, std3_rules=True, transitional=False).decode()
        except idna.IDNAError:
            raise BadTarget(_NO_IDNA) from None
    name = name.lower()
    if name in _LOOPBACK:
        return name
    name = name.removesuffix(".")
    labels = name.split(".")
    if _NUMERIC.fullmatch(labels[-1]) and not policy.any_address:
        raise BadTarget(_ADDRESS)
    if len(name) > 253 or not all(_LABEL.fullmatch(label) for label in labels):
        raise BadTarget(_NO_NAME)
    for label in labels:
        if label.startswith("xn--"):
            _require_plain(label)
    is_private = len(labels) < 2 or any(name == each or name.endswith(f".{each}") for each in _NEVER_PUBLIC)
    if is_private and not policy.any_address:
        raise BadTarget(
            Text(
                "the host of the URL is not one of the public internet",
                "el host de la URL no es de la internet pública",
            )
        )
    return name


def _require_plain(label: str) -> None:
    """See that a label in punycode stands for what it would be written from. Raises BadTarget."""
    try:
        plain = idna.alabel(idna.ulabel(label)).decode() == label
    except idna.IDNAError:
        plain = False
    if not plain:
        raise BadTarget(_NO_IDNA)
