"""Messages to clients in English and Spanish: one cannot be written without the other."""

from dataclasses import dataclass
from typing import Literal

Language = Literal["en", "es"]


@dataclass(frozen=True, slots=True)
class Text:
    """One message in English and in Spanish. As `str` it is the English one: for logs, operators and tests."""

    en: str
    es: str

    def __str__(self) -> str:
        return self.en

    def said(self, language: Language) -> str:
        """Return it in a language."""
        return self.es if language == "es" else self.en

    def fill(self, **values: object) -> "Text":
        """Return it with values in place of its braces; a Text gives its own language."""
        en = {name: value.en if isinstance(value, Text) else value for name, value in values.items()}
        es = {name: value.es if isinstance(value, Text) else value for name, value in values.items()}
        return Text(self.en.format_map(en), self.es.format_map(es))

    def after(self, name: str) -> "Text":
        """Put the name of what it is about before it."""
        return Text(f"{name}: {self.en}", f"{name}: {self.es}")


class LocalizedError(Exception):
    """An error whose message a client may read, in its language."""

    def __init__(self, text: Text) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return self.text.en
