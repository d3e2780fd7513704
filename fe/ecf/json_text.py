"""Writing JSON that keeps every digit: a decimal is written as the number it was read from, never through a float."""

import json
import secrets
from decimal import Decimal
from typing import Any

import msgspec

# The C encoder cannot write a Decimal as a number, and one in Python costs five times as much. So a decimal goes
# through it as a string that nothing else can look like, and its quotes are taken off afterwards.
_OPENING, _CLOSING = secrets.token_hex(8), secrets.token_hex(8)


def _mark(value: Any) -> str:
    if isinstance(value, Decimal):
        return f"{_OPENING}{value:f}{_CLOSING}"
    raise TypeError(f"not a value of JSON: {type(value).__name__}")


def _unmark(text: str) -> bytes:
    if _OPENING in text:
        text = text.replace(f'"{_OPENING}', "").replace(f'{_CLOSING}"', "")
    return text.encode()


_AS_GIVEN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_mark, allow_nan=False)
_SORTED = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), default=_mark, allow_nan=False, sort_keys=True, check_circular=False
)


_QUICK = msgspec.json.Encoder(order="sorted", decimal_format="number")


def write_json(value: Any) -> bytes:
    """Write JSON in UTF-8, members in the order they have."""
    return _unmark(_AS_GIVEN.encode(value))


def write_canonical_json(value: Any) -> bytes:
    """Write JSON in UTF-8, members sorted by key: the same value gives the same bytes in whatever order it was sent.

    `value` holds what `parse_json` gives. Nearly always a quicker writer than that of the standard library finds the
    same bytes; what it writes in another way (decimals so small that it gives them an exponent) or not at all (integers
    of more than 64 bits) is written by the other.
    """
    try:
        text = _QUICK.encode(value)
    except (OverflowError, ValueError, TypeError):
        return _unmark(_SORTED.encode(value))
    return _unmark(_SORTED.encode(value)) if b"E-" in text else text
