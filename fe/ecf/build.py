"""From a document's content to the XML that is signed and stored."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any

from lxml import etree

from fe.ecf.document import Document, NotADocument
from fe.ecf.formats import write_number
from fe.ecf.parse import MalformedXml, parse_own, writable
from fe.ecf.problems import Enough, Findings, Problem
from fe.ecf.schema.kinds import DocumentKind, kind
from fe.ecf.schema.messages import problem
from fe.ecf.schema.model import Element, Simple
from fe.ecf.shape_checks import shape_problem, unknown_problems

DECLARATION = b'<?xml version="1.0" encoding="utf-8"?>'

_special = re.compile("[&<>\r\n]").search
#: A line feed is written as a reference: a bare one would make the lines of a document that has none mean something.
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\n": "&#10;"})


#: Texts that begin with a blank, which are examined further.
_blank_at_start = re.compile(r">\s").search


@dataclass(frozen=True, slots=True)
class Written:
    """A document as XML: the text without a declaration, and the tree that was read from it."""

    text: str
    element: etree._Element
    #: The text is its own canonical form: no attribute or namespace, nothing that is written as a reference, no text
    #: that begins or ends with a blank, or is nothing but blanks. Nearly every document is.
    is_plain: bool


def build(document: Document) -> etree._Element:
    """Write a document as an XML tree; see `write`."""
    return write(document).element


def write(document: Document) -> Written:
    """Write a document as XML, in the order of the format and without empty tags.

    Text is written as it is, but for its line ends (`read_payload` has brought ISO dates into the format's form);
    numbers as the field wants them (`formats`). None, empty text, an empty list and an empty group are left out, but a
    type 32 and an RFCE always have a `Comprador`. Nothing else is added or corrected: `schema.validate` reports that.

    Raises NotADocument for content that cannot be written: keys that the format of the type does not have, a value in
    place of a group or a group in place of a value, booleans and floats, characters that XML cannot carry.
    """
    the_kind = kind(document.root, document.type)
    writer = _Writer(the_kind)
    try:
        writer.group(the_kind.root, document.content, "")
    except Enough:
        writer.problems.append(problem("more-problems", ""))
    if writer.problems:
        raise NotADocument(tuple(writer.problems))
    try:
        if document.namespaces:
            writer.out[0] = f"<{the_kind.root.name}{_declarations(document.namespaces)}>"
        text = "".join(writer.out)
        return Written(text, parse_own(text), not document.namespaces and _is_plain(text))
    except (MalformedXml, UnicodeEncodeError):
        # libxml2 also refuses texts of ten megabytes, which have no wrong character in them.
        reasons = tuple(_unwritable(document.content, "")) or (problem("unwritable", "", name=document.root),)
        raise NotADocument(reasons) from None


def _escaped(text: str) -> str:
    """A text as it stands in XML. A line end is one line feed, as in every text that stands in an XML file.

    A carriage return can only stand there as a reference, and what is built on .NET's SignedXml, as the authority's
    verifier is, loses it before it digests: the signature would not hold (docs/decisions/finished-xml.md).
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.translate(_ESCAPES)


def _is_plain(text: str) -> bool:
    """Return whether XML without attributes is its own canonical form; in doubt it is not."""
    return not ("&" in text or "\t" in text or " <" in text or _blank_at_start(text))


def _declarations(namespaces: Mapping[str, str]) -> str:
    return "".join(f' xmlns:{prefix}="{address}"' for prefix, address in sorted(namespaces.items()))


def to_bytes(element: etree._Element) -> bytes:
    """The bytes of a document as they are signed, stored and sent: compact UTF-8 with a declaration."""
    return DECLARATION + etree.tostring(element, encoding="utf-8", xml_declaration=False, with_tail=False)


#: Values to write one child: its name, its tags, its simple type if it is one leaf, and itself. A bare tuple, because
#: unpacking anything else is several times slower, and this is the inner loop of the service.
_Step = tuple[str, str, str, Simple | None, Element]


@cache
def _steps(of: Element) -> tuple[_Step, ...]:
    return tuple(
        (child.name, f"<{child.name}>", f"</{child.name}>", child.simple if child.many == 1 else None, child)
        for child in of.children
    )


class _Writer:
    def __init__(self, the_kind: DocumentKind) -> None:
        self._kind = the_kind
        self.out: list[str] = []
        self.problems = Findings()

    def group(self, of: Element, content: Any, path: str) -> None:
        if content.__class__ is not dict and not isinstance(content, Mapping):  # the first is ten times faster
            self.problems.add(shape_problem(of, content, path))
            return
        for name in of.always:
            if content.get(name) is None:
                content = {**content, name: {}}
        out = self.out
        begin = len(out)
        out.append(f"<{of.name}>")
        written = 0
        get = content.get
        for name, start, end, simple, child in _steps(of):
            value = get(name)
            if value is None:
                continue
            written += 1
            its_class = value.__class__
            if simple is None:
                self._child(child, value, f"{path}.{name}" if path else name)
            elif its_class is str:
                if not value:
                    continue
                if _special(value):
                    value = _escaped(value)
                out.append(start + value + end)
            elif its_class is Decimal or its_class is int:
                out.append(start + write_number(simple, value) + end)
            else:
                self._child(child, value, f"{path}.{name}" if path else name)
        if written != len(content):
            self.problems.add_all(unknown_problems(self._kind, of, content, path, self.problems.room))
        if len(out) == begin + 1 and path and not of.may_be_empty:
            out.pop()
        else:
            out.append(f"</{of.name}>")

    def _child(self, child: Element, value: Any, path: str) -> None:
        write = self.group if child.simple is None else self._leaf
        if child.many == 1:
            write(child, value, path)
        elif isinstance(value, (list, tuple)):
            for number, each in enumerate(value, 1):
                write(child, each, f"{path}[{number}]")
        else:
            self.problems.add(shape_problem(child, value, path))

    def _leaf(self, of: Element, value: Any, path: str) -> None:
        assert of.simple is not None
        if isinstance(value, str):
            text = _escaped(value)
        elif isinstance(value, (int, Decimal)) and not isinstance(value, bool):
            text = write_number(of.simple, value)
        else:
            self.problems.add(shape_problem(of, value, path))
            return
        if text:
            self.out.append(f"<{of.name}>{text}</{of.name}>")


def _unwritable(content: Any, path: str) -> Iterator[Problem]:
    """Say where the characters are that XML has no room for."""
    if isinstance(content, Mapping):
        for name, value in content.items():
            yield from _unwritable(value, f"{path}.{name}" if path else str(name))
    elif isinstance(content, (list, tuple)):
        for number, value in enumerate(content, 1):
            yield from _unwritable(value, f"{path}[{number}]")
    elif isinstance(content, str) and not writable(content):
        yield problem("unwritable", path)
