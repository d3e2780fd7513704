"""Texts from outside, such as answers and errors, made harmless for display."""

import unicodedata
from typing import Final

#: Control, direction, invisible and unassigned characters, and line separators other than our own.
_UNSEEN: Final = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")


def foreign(said: bytes | str | None) -> str:
    """Give a stranger's text with each character that is not seen written out, `\\u202e`; lines stay lines."""
    if said is None:
        return ""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    text = text.replace("\r\n", "\n")
    return "".join(
        f"\\u{ord(character):04x}"
        if character not in "\n\t" and unicodedata.category(character) in _UNSEEN
        else character
        for character in text
    )
