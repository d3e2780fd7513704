"""Finished XML: a document that is signed as it stands, or refused with the line and the column of what hinders it.

Between what a client sent and what is signed stand only the canonical form, the elements that are filled in, our own
FechaHoraFirma and our Signature instead of an old one. So nothing may be in it that writing it anew would lose, move
or mend: stray text, attributes, elements that are unknown, out of order or there too often, empty tags. What a value
should be is not validated here: that is `schema.validate`'s and the rules' matter, as for any other document.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from lxml import etree

from fe.ecf.document import Document, NotADocument, malformed_number, read_xml
from fe.ecf.parse import parse_xml
from fe.ecf.problems import Problem
from fe.ecf.schema import DECLARABLE
from fe.ecf.schema.kinds import kind
from fe.ecf.schema.messages import problem
from fe.ecf.schema.validator import Spot, misfits


def read_finished(raw: bytes, *, at_the_door: bool = False) -> Document:
    """Read an XML document that is to be signed as it stands.

    `at_the_door` lets empty tags pass, like whatever else is missing: they are told where the document is validated.

    Raises MalformedXml when it is no XML we read, and NotADocument with everything else that hinders it: an unknown
    root or type, an e-NCF that can never be one, and what is said above; each with line and column.
    """
    _refuse_crowds(raw)
    root = parse_xml(raw)
    try:
        document = read_xml(root)
    except NotADocument as refused:
        there = _node_at(root, refused.problems[0].path)
        raise NotADocument(_placed(raw, root, [(each, (there, "tag")) for each in refused.problems])) from None
    found: list[tuple[Problem, Spot]] = []
    malformed = malformed_number(document.root, document.content)
    if malformed is not None:
        found.append((malformed, (_node_at(root, malformed.path), "tag")))
    found += misfits(kind(document.root, document.type), root)
    if b"xmlns" in raw:
        found += _foreign_declarations(root)
    if found and not (at_the_door and all(each.code == "empty-element" for each, _ in found)):
        raise NotADocument(_placed(raw, root, found))
    namespaces: dict[Any, str] = root.nsmap
    return replace(document, namespaces=namespaces) if namespaces else document


#: What a line is in the formats that have many of them, each with the most that any type may have.
_LINES = ("Item", "Pagina", "Secuencias")
_MAX_LINES = 10_000


def _refuse_crowds(raw: bytes) -> None:
    """Refuse, before anything is built, what has more lines than any type may have; fewer are counted by type later.

    Counts start tags in the bytes, one pass for each name; where such a thing stands in a text, the text is no value.
    """
    for name in _LINES:
        tag = b"<" + name.encode()
        if raw.count(tag) > _MAX_LINES:
            found = sum(1 for _ in re.finditer(tag + rb"(?=[ \t\r\n/>])", raw))
            if found > _MAX_LINES:
                too_many = problem("too-many", "", found=found, name=name, expected=str(_MAX_LINES))
                raise NotADocument((too_many,))


def _foreign_declarations(root: etree._Element) -> Iterator[tuple[Problem, Spot]]:
    """Namespace declarations elsewhere than on the root, or of what has no business here; a Signature has its own."""
    for node in (root, *(below for child in root if not str(child.tag).startswith("{") for below in child.iter())):
        parent = node.getparent()
        inherited: dict[Any, str] = parent.nsmap if parent is not None else {}
        declared: dict[Any, str] = node.nsmap
        for prefix, address in declared.items():
            if inherited.get(prefix) == address or (node is root and prefix and address in DECLARABLE):
                continue
            path = "" if node is root else root.getroottree().getelementpath(node).replace("/", ".")
            name = f"xmlns:{prefix}" if prefix else "xmlns"
            yield problem("unexpected-attribute", path, found=name, name=str(node.tag)), (node, "tag")


def _node_at(root: etree._Element, path: str) -> etree._Element:
    node = root
    for step in path.split("."):
        below = next((child for child in node if child.tag == step), None)
        if below is None:
            break
        node = below
    return node


# --- where things stand -------------------------------------------------------------------------------------------

#: What a well-formed document without comments, instructions and DOCTYPE is made of besides text.
_MARKUP = re.compile(
    r"<!\[CDATA\[.*?\]\]>|<\?xml[^>]*\?>|<(?P<end>/)?[^\s/>]+(?:[^>\"']|\"[^\"]*\"|'[^']*')*?(?P<empty>/)?>", re.DOTALL
)
_NOT_BLANK = re.compile(r"[^ \t\r\n]")


@dataclass(slots=True)
class _Extent:
    """Where the tags of an element are, as offsets in the text."""

    start: int
    after_start: int
    after_end: int = 0


def _placed(raw: bytes, root: etree._Element, found: list[tuple[Problem, Spot]]) -> tuple[Problem, ...]:
    """The problems with line and column, counted in characters from 1."""
    text = raw.decode("utf-8-sig")
    extents = _extents(text)
    order = dict(zip(root.iter(), extents, strict=True))
    placed = []
    for each, (node, what) in found:
        extent = order[node]
        at = {"tag": extent.start, "text": extent.after_start, "tail": extent.after_end}[what]
        if what != "tag":
            stray = _NOT_BLANK.search(text, at)
            at = stray.start() if stray else at
        line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        placed.append(replace(each, line=line, column=column))
    return tuple(placed)


def _extents(text: str) -> list[_Extent]:
    """Where each element is, in the order of their start tags. `text` has been parsed: it is well-formed."""
    extents: list[_Extent] = []
    open_: list[_Extent] = []
    for markup in _MARKUP.finditer(text):
        if markup[0].startswith(("<!", "<?")):
            continue
        if markup["end"]:
            open_.pop().after_end = markup.end()
            continue
        extent = _Extent(markup.start(), markup.end(), markup.end())
        extents.append(extent)
        if not markup["empty"]:
            open_.append(extent)
    return extents
