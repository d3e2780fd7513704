"""Texts of strangers: what was answered, or what is in an error. Shown so that nothing in them acts on the page."""

import unicodedata
from typing import Final

#: Control characters, those that turn text around or hide, those of no meaning, and line separators beside our own.
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
