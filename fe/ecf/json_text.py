"""Writing JSON that keeps every digit: a decimal is written as the number it was read from, never through a float."""

import json
import secrets
from decimal import Decimal
from typing import Any

# Fast encoders cannot write a Decimal as a number, and one in Python costs five times as much. So a decimal goes
# through them as a string that nothing else can look like, and its quotes are taken off afterwards.
_OPENING, _CLOSING = secrets.token_hex(8), secrets.token_hex(8)
_OPENING_BYTES, _CLOSING_BYTES = _OPENING.encode(), _CLOSING.encode()


def mark(value: Decimal) -> str:
    """The string that stands for a decimal until `unmark` makes a number of it."""
    return f"{_OPENING}{value:f}{_CLOSING}"


def unmark(raw: bytes) -> bytes:
    """JSON with every marked decimal as a number."""
    if _OPENING_BYTES in raw:
        raw = raw.replace(b'"' + _OPENING_BYTES, b"").replace(_CLOSING_BYTES + b'"', b"")
    return raw


def _mark(value: Any) -> str:
    if isinstance(value, Decimal):
        return mark(value)
    raise TypeError(f"not a value of JSON: {type(value).__name__}")


_AS_GIVEN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_mark, allow_nan=False)
_SORTED = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), default=_mark, allow_nan=False, sort_keys=True, check_circular=False
)


def write_json(value: Any) -> bytes:
    """Write JSON in UTF-8, members in the order they have."""
    return unmark(_AS_GIVEN.encode(value).encode())


def write_canonical_json(value: Any) -> bytes:
    """Write JSON in UTF-8, members sorted by key: the same value gives the same bytes in whatever order it was sent."""
    return unmark(_SORTED.encode(value).encode())
