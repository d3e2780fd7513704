"""Finished XML: a document that is signed as it stands, or refused with the line and column of each problem.

Only the canonical form, the elements that are filled in, our FechaHoraFirma and our Signature (in place of an old one)
differ from the bytes that a client sent. So it must hold nothing that rewriting would lose, move or repair: stray text,
attributes, elements that are unknown, out of order or too many, empty tags, carriage returns. Values are validated by
`schema.validate` and the rules, as for any other document.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from lxml import etree

from fe.ecf.catalogue import Root
from fe.ecf.document import Document, NotADocument, malformed_number, read_xml
from fe.ecf.parse import parse_xml
from fe.ecf.problems import Problem, Room
from fe.ecf.schema import DECLARABLE
from fe.ecf.schema.kinds import kind
from fe.ecf.schema.messages import problem
from fe.ecf.schema.model import Element
from fe.ecf.schema.validator import Spot, misfits
from fe.ecf.xml_positions import Lines, extents, place


def read_finished(raw: bytes, *, at_the_door: bool = False, room: Room | None = None) -> Document:
    """Read an XML document that is to be signed as it stands.

    `at_the_door` lets empty tags pass, like missing elements: validation reports them. But a document that issues a
    number has to have it. `room` is shared by all documents of the request.

    Raises MalformedXml for bytes that are not acceptable XML, and NotADocument with every other problem: an unknown
    root or type, an impossible e-NCF, and the problems listed above; each with line and column.
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
    the_kind = kind(document.root, document.type)
    found += misfits(the_kind, root, room)
    if b"xmlns" in raw:
        found += islice(_foreign_declarations(root), _FEW)
    if b"&#" in raw:
        found += islice(_carriage_returns(the_kind.root, root, ""), _FEW)
    if found and not (at_the_door and all(each.code == "empty-element" for each, _ in found)):
        raise NotADocument(_placed(raw, root, found))
    if at_the_door and document.root in (Root.ECF, Root.RFCE) and document.e_ncf is None:
        missing = problem("missing-number", _NUMBER)
        raise NotADocument(_placed(raw, root, [(missing, (_node_at(root, _NUMBER), "tag"))]))
    namespaces = {prefix: address for prefix, address in root.nsmap.items() if prefix}
    return replace(document, namespaces=namespaces) if namespaces else document


_NUMBER = "Encabezado.IdDoc.eNCF"
#: Declarations that are reported; a document with more has them everywhere.
_FEW = 20

#: Lines of the documents that have many, each with the most that any type may have.
_LINES = ("Item", "Pagina", "Secuencias")
_MAX_LINES = 10_000


def _refuse_crowds(raw: bytes) -> None:
    """Refuse, before anything is built, what has more lines than any type may have; fewer are counted by type later.

    Counts start tags in the bytes, one pass for each name; where such a thing stands in a text, the text is no value.
    """
    for name in _LINES:
        tag = b"<" + name.encode()
        if raw.count(tag) > _MAX_LINES:
            starts = [match.start() for match in re.finditer(tag + rb"(?=[ \t\r\n/>])", raw)]
            if len(starts) > _MAX_LINES:
                too_many = problem("too-many", "", found=len(starts), name=name, expected=str(_MAX_LINES))
                before = raw[: starts[_MAX_LINES]].decode("utf-8-sig", "replace")
                line, column = place(before, len(before))
                raise NotADocument((replace(too_many, line=line, column=column),))


def _foreign_declarations(root: etree._Element) -> Iterator[tuple[Problem, Spot]]:
    """Find namespace declarations below the root, or of foreign namespaces; a Signature has its own.

    Reads each declaration once, not the namespaces in scope at every node: that would be nodes times declarations.
    """
    declared: list[tuple[str | None, str]] = []
    walk: Any = etree.iterwalk(root, events=("start-ns", "start"))  # the type stubs do not know all events
    for event, what in walk:
        if event == "start-ns":
            prefix, address = what
            declared.append((prefix or None, address))
            continue
        node: etree._Element = what
        parent = node.getparent()
        if parent is root and str(node.tag).startswith("{"):
            walk.skip_subtree()
        elif declared:
            inherited: dict[Any, str] = parent.nsmap if parent is not None else {}
            for prefix, address in declared:
                # xmlns="" says that there is no namespace, which is so already; .NET writes it into children.
                if inherited.get(prefix, "") == address or (node is root and prefix and address in DECLARABLE):
                    continue
                path = "" if node is root else root.getroottree().getelementpath(node).replace("/", ".")
                name = f"xmlns:{prefix}" if prefix else "xmlns"
                yield problem("unexpected-attribute", path, found=name, name=str(node.tag)), (node, "tag")
        declared.clear()


def _carriage_returns(of: Element, node: etree._Element, path: str) -> Iterator[tuple[Problem, Spot]]:
    """Texts with a carriage return, written as a reference: the authority finds no signature over them valid (see
    `build`).

    Elements that the format does not know, such as an old Signature, are skipped.
    """
    counts: Counter[str] = Counter()
    for child in node:
        name = str(child.tag)
        known = of.by_name.get(name)
        if known is None:
            continue
        counts[name] += 1
        below = f"{path}.{name}" if path else name
        if known.many > 1:
            below = f"{below}[{counts[name]}]"
        if known.simple is None:
            yield from _carriage_returns(known, child, below)
        elif "\r" in (child.text or ""):
            yield problem("carriage-return", below), (child, "tag")


def _node_at(root: etree._Element, path: str) -> etree._Element:
    node = root
    for step in path.split("."):
        below = next((child for child in node if child.tag == step), None)
        if below is None:
            break
        node = below
    return node


# --- where things stand -------------------------------------------------------------------------------------------

_NOT_BLANK = re.compile(r"[^ \t\r\n]")


def _placed(raw: bytes, root: etree._Element, found: list[tuple[Problem, Spot]]) -> tuple[Problem, ...]:
    """The problems with line and column, counted in characters from 1."""
    text = raw.decode("utf-8-sig")
    lines = Lines(text)
    order = dict(zip(root.iter(), list(extents(text)), strict=True))
    placed = []
    for each, (node, what) in found:
        extent = order[node]
        at = {"tag": extent.start, "text": extent.after_start, "tail": extent.after_end}[what]
        if what != "tag":
            stray = _NOT_BLANK.search(text, at)
            at = stray.start() if stray else at
        line, column = lines.place(at)
        placed.append(replace(each, line=line, column=column))
    return tuple(placed)
