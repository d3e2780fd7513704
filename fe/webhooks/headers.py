"""The headers that a tenant wants sent with every call: what may be one, and which are ours. Pure."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from fe.ecf.texts import LocalizedError, Text

_MAX_HEADERS: Final = 20
_LONGEST_NAME: Final = 100
_LONGEST_VALUE: Final = 4096
_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VALUE: Final = re.compile(r"[!-~](?:[ -~]*[!-~])?")

#: Headers that we set, that belong to one connection (RFC 9110, 7.6.1), or that change how a request is read.
_OURS: Final = frozenset(
    {
        "accept-encoding",
        "connection",
        "date",
        "expect",
        "host",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
        "via",
    }
)
_OUR_PREFIXES: Final = ("content-", "x-service-", "webhook-", "proxy-", ":")


class BadHeaders(LocalizedError, ValueError):
    """Headers that cannot be sent; the message says why."""


def check_headers(pairs: Iterable[tuple[str, str]]) -> Sequence[tuple[str, str]]:
    """See that these may be sent with every call. Raises BadHeaders; no value is ever in its message."""
    headers = list(pairs)
    if len(headers) > _MAX_HEADERS:
        raise BadHeaders(Text(f"at most {_MAX_HEADERS} headers", f"máximo {_MAX_HEADERS} cabeceras"))
    seen: set[str] = set()
    for name, value in headers:
        if not _NAME.fullmatch(name) or len(name) > _LONGEST_NAME:
            shown = repr(name[:_LONGEST_NAME])
            raise BadHeaders(Text(f"{shown} is no name for a header", f"{shown} no es un nombre de cabecera"))
        lower = name.lower()
        if lower in _OURS or lower.startswith(_OUR_PREFIXES):
            raise BadHeaders(
                Text(f"the header {name} is set by the service", f"la cabecera {name} la pone el servicio")
            )
        if lower in seen:
            raise BadHeaders(Text(f"the header {name} is there twice", f"la cabecera {name} está dos veces"))
        if len(value) > _LONGEST_VALUE or not _VALUE.fullmatch(value):
            raise BadHeaders(
                Text(
                    f"the value of {name} should be 1 to {_LONGEST_VALUE} visible ASCII characters, with blanks inside"
                    " only",
                    f"el valor de {name} debe ser de 1 a {_LONGEST_VALUE} caracteres ASCII visibles, con espacios solo"
                    " en medio",
                )
            )
        seen.add(lower)
    return headers
