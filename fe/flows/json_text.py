"""Writing JSON that keeps every digit: a decimal is written as the number it was read from, never through a float."""

import json
import re
import secrets
from decimal import Decimal
from typing import Any

# The C encoder cannot write a Decimal as a number, and one in Python costs five times as much. So a decimal goes
# through it as a string that nothing else can look like, and its quotes are taken off afterwards.
_MARK = secrets.token_hex(8)
_MARKED = re.compile(rf'"{_MARK}([^"]*)"')


def _mark(value: Any) -> str:
    if isinstance(value, Decimal):
        return f"{_MARK}{value:f}"
    raise TypeError(f"not a value of JSON: {type(value).__name__}")


_AS_GIVEN = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_mark, allow_nan=False)
_SORTED = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), default=_mark, allow_nan=False, sort_keys=True, check_circular=False
)


def write_json(value: Any) -> bytes:
    """Write JSON in UTF-8, members in the order they have."""
    text = _AS_GIVEN.encode(value)
    return (_MARKED.sub(r"\1", text) if _MARK in text else text).encode()


def write_canonical_json(value: Any) -> bytes:
    """Write JSON in UTF-8, members sorted by key: the same value gives the same bytes in whatever order it was sent."""
    text = _SORTED.encode(value)
    return (_MARKED.sub(r"\1", text) if _MARK in text else text).encode()
