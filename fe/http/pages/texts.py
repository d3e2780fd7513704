"""Texts of the documentation pages (texts.toml)."""

from fe.ecf.data_files import toml_file
from fe.ecf.texts import Text
from fe.http.languages import Language

_TEXTS = toml_file("http/pages/texts.toml", dict[str, Text])


def said(key: str, language: Language) -> str:
    """Return a text in a language."""
    return _TEXTS[key].said(language)
