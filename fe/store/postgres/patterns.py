"""Patterns of LIKE."""

import re

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_SPECIAL = re.compile(r"[%_\\]")


def containing(text: str) -> str:
    """Return the pattern of texts that contain this one, each of its characters taken literally."""
    literal = _SPECIAL.sub(r"\\\g<0>", text)
    return f"%{literal}%"


def containing_roughly(text: str) -> str:
    """Return a pattern for ILIKE in collation C, which compares bytes: it fits every text that `containing` fits.

    ILIKE takes a third of the time in that collation, but knows the letters of ASCII alone.
    """
    return _NOT_ASCII.sub("%", containing(text))
