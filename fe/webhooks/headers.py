"""The headers that a tenant wants sent with its calls: never one of ours, nor one that steers the connection."""

import re
from collections.abc import Iterable
from typing import Final

Headers = tuple[tuple[str, str], ...]

MAX_NAME: Final = 64
MAX_VALUE: Final = 1024
#: Of all of them together.
MAX_BYTES: Final = 4096

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
#: Visible characters of ASCII with blanks between them: what every receiver reads alike.
_VALUE = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")

#: Ours, and those that say how the message is framed, routed or kept (RFC 9110, 9112).
_OURS = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "cookie",
        "date",
        "expect",
        "forwarded",
        "host",
        "http2-settings",
        "keep-alive",
        "max-forwards",
        "origin",
        "range",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "user-agent",
        "via",
    }
)
_OUR_BEGINNINGS = ("x-service-", "webhook-", "proxy-", "x-forwarded-", "sec-", "content-")


class BadHeaders(ValueError):
    """Headers that are not sent; the message names the first, and never repeats a value."""


def check_headers(pairs: Iterable[tuple[str, str]]) -> Headers:
    """Check what a tenant wants sent. Raises BadHeaders."""
    checked: dict[str, tuple[str, str]] = {}
    for name, value in pairs:
        if not _NAME.fullmatch(name) or len(name) > MAX_NAME:
            raise BadHeaders(f"a name has at most {MAX_NAME} letters, digits and -, and no other characters")
        low = name.lower()
        if low in _OURS or low.startswith(_OUR_BEGINNINGS):
            raise BadHeaders(f"{name} is not for you to set")
        if low in checked:
            raise BadHeaders(f"{name} is there twice")
        if len(value) > MAX_VALUE or not _VALUE.fullmatch(value):
            raise BadHeaders(f"the value of {name} must be 1 to {MAX_VALUE} visible characters of ASCII")
        checked[low] = (name, value)
    if sum(len(name) + len(value) for name, value in checked.values()) > MAX_BYTES:
        raise BadHeaders(f"together they may have {MAX_BYTES} bytes")
    return tuple(checked.values())
