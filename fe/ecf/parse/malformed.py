"""Limits and errors that JSON and XML from outside share."""

import re

from fe.ecf.parse import messages
from fe.ecf.texts import Text
from fe.ecf.xml_positions import place

MAX_BYTES = 1024 * 1024
#: Signed XML may be longer than its payload: it names each element twice, `&` has five characters there, and omitted
#: elements are filled in. One megabyte became 5.1 at most, with 148,000 elements (a note of 8,200 short lines); a
#: receipt of 1,000 lines with codes and discounts makes 1.2 of 0.7.
MAX_SIGNED_BYTES = 8 * MAX_BYTES
MAX_SIGNED_ELEMENTS = 200_000

#: The byte order mark of UTF-8.
BOM = b"\xef\xbb\xbf"

#: Characters that XML 1.0 cannot carry: a value with one of them could be accepted here and never written.
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Malformed(ValueError):
    """Bytes that are not what they were said to be. `message` never repeats the input at length."""

    def __init__(self, message: Text, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message, line, column)
        self.message = message
        self.line = line
        self.column = column

    @property
    def text(self) -> Text:
        """The message with its place, as far as that is known."""
        if self.line is None:
            return self.message
        en, es = f"line {self.line}", f"línea {self.line}"
        if self.column is not None:
            en, es = f"{en}, column {self.column}", f"{es}, columna {self.column}"
        return Text(f"{self.message.en} ({en})", f"{self.message.es} ({es})")

    def __str__(self) -> str:
        return self.text.en


class MalformedJson(Malformed):
    """Not a JSON text this service reads. `path` leads to the value that is refused, where that is known."""

    def __init__(self, message: Text, line: int | None = None, column: int | None = None, path: str = "") -> None:
        super().__init__(message, line, column)
        self.args = (message, line, column, path)
        self.path = path

    @property
    def text(self) -> Text:
        """The message with its place, as far as that is known."""
        said = super().text
        return said.after(self.path) if self.path else said


class MalformedXml(Malformed):
    """Not an XML document this service reads."""


class ForeignMarkup(MalformedXml):
    """Well-formed XML, and in it what no document says anything in: a comment, or a processing instruction."""


def excerpt(text: str, limit: int = 64) -> str:
    """`text` made safe to show: at most `limit` characters, those that are not printable written as escapes."""
    shown = text[:limit]
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in shown)[:limit]
    return shown if len(text) <= limit else shown[: limit - 1] + "…"


def writable(text: str) -> bool:
    """Whether XML 1.0 can carry `text`."""
    return NOT_XML.search(text) is None


def decode(raw: bytes, error: type[Malformed]) -> str:
    """Read UTF-8; raises `error`, with the place of what is none."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as wrong:
        before = raw[: wrong.start].decode()
        raise error(messages.NOT_UTF_8, *place(before, len(before))) from None
