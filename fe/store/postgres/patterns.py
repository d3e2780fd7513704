"""Patterns of LIKE."""

import re

_SPECIAL = re.compile(r"[%_\\]")


def containing(text: str) -> str:
    """Return the pattern of texts that contain this one, each of its characters taken literally."""
    literal = _SPECIAL.sub(r"\\\g<0>", text)
    return f"%{literal}%"
