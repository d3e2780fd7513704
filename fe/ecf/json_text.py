"""Writing JSON that keeps every digit: a decimal is written as the number it was read from, never through a float."""

import json
import secrets
from decimal import Decimal
from typing import Any

import msgspec

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


_QUICK = msgspec.json.Encoder(order="sorted", decimal_format="number")


def write_json(value: Any) -> bytes:
    """Write JSON in UTF-8, members in the order they have."""
    return unmark(_AS_GIVEN.encode(value).encode())


def write_canonical_json(value: Any) -> bytes:
    """Write JSON in UTF-8, members sorted by key: equal values give equal bytes, regardless of the order received.

    `value` comes from `parse_json`. A writer that is faster than the standard library's gives the same bytes nearly
    always. The standard library writes the rest: small decimals, to which the fast one gives an exponent, and integers
    of more than 64 bits, which it refuses.
    """
    try:
        raw = _QUICK.encode(value)
    except (OverflowError, ValueError, TypeError):
        return unmark(_SORTED.encode(value).encode())
    return unmark(_SORTED.encode(value).encode()) if b"E-" in raw else raw
