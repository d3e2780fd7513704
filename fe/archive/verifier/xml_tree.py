"""Parse documents into trees of elements, and write inclusive and exclusive Canonical XML 1.0 without comments.

The standard library canonicalises to version 2.0 alone, which places declarations of namespaces differently. Bounds
are those of `fe.ecf.parse`.
"""

import re
from dataclasses import dataclass, field
from xml.parsers import expat

from .faults import Broken

MAX_BYTES = 16 * 1024 * 1024
MAX_ELEMENTS = 200_000
MAX_DEPTH = 32
MAX_ATTRIBUTES = 32
MAX_NAMESPACES = 32
XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace"
BLANKS = " \t\r\n"

_NAME = re.compile(r"(?:([A-Za-z_][A-Za-z0-9._-]{0,63}):)?([A-Za-z_][A-Za-z0-9._-]{0,63})\Z")
_DECLARATION = re.compile(
    rb"""<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*["']1\.0["']"""
    rb"""(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*["'](?i:utf-?8)["'])?"""
    rb"""(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*["'](?:yes|no)["'])?[ \t\r\n]*\?>"""
)
_FOR_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#xD;"})
_FOR_VALUE = str.maketrans({"&": "&amp;", "<": "&lt;", '"': "&quot;", "\t": "&#x9;", "\n": "&#xA;", "\r": "&#xD;"})


@dataclass
class XmlElement:
    """An element. `declared`: its own declarations of namespaces; `scope`: all that are in force at it.

    `attributes` are (prefix, local name, namespace, value). `content` has elements and texts.
    """

    prefix: str
    local: str
    scope: dict[str, str]
    declared: dict[str, str]
    attributes: list[tuple[str, str, str, str]]
    content: "list[XmlElement | str]" = field(default_factory=list)

    @property
    def namespace(self) -> str:
        """The namespace of the element, empty for none."""
        return self.scope.get(self.prefix, "")

    @property
    def elements(self) -> "list[XmlElement]":
        """The elements within."""
        return [one for one in self.content if isinstance(one, XmlElement)]

    @property
    def text(self) -> str:
        """The text of an element without elements."""
        return "".join(one for one in self.content if isinstance(one, str))

    def find(self, *path: str) -> "XmlElement | None":
        """Return the first element along a path of local names without a namespace."""
        found: XmlElement | None = self
        for name in path:
            if found is None:
                return None
            found = next((one for one in found.elements if one.local == name and not one.namespace), None)
        return found


class _Builder:
    def __init__(self) -> None:
        self.root: XmlElement | None = None
        self.open: list[XmlElement] = []
        self.elements = 0

    def start(self, name: str, pairs: list[str]) -> None:
        self.elements += 1
        if self.elements > MAX_ELEMENTS or len(self.open) >= MAX_DEPTH or len(pairs) > 2 * MAX_ATTRIBUTES:
            raise Broken("XML: more elements, levels or attributes than a document has")
        parent = self.open[-1] if self.open else None
        scope = parent.scope if parent else {}
        declared, plain = {}, []
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            prefix, local = _split(key)
            if key == "xmlns" or prefix == "xmlns":
                declared[local if prefix else ""] = _declared(local if prefix else "", value)
            else:
                plain.append((prefix, local, value))
        if declared:
            scope = {**scope, **declared}
            if len(scope) > MAX_NAMESPACES:
                raise Broken("XML: more namespaces than a document has")
        prefix, local = _split(name)
        if prefix:
            _bound(prefix, scope)
        attributes = [(p, n, _bound(p, scope) if p else "", value) for p, n, value in plain]
        if len({(space, n) for _, n, space, _ in attributes}) != len(attributes):
            raise Broken("XML: an attribute is there twice")
        made = XmlElement(prefix, local, scope, declared, attributes)
        if parent:
            parent.content.append(made)
        else:
            self.root = made
        self.open.append(made)

    def end(self, _name: str) -> None:
        ended = self.open.pop()
        merged: list[XmlElement | str] = []
        for one in ended.content:
            if isinstance(one, str) and merged and isinstance(merged[-1], str):
                merged[-1] += one
            else:
                merged.append(one)
        if any(isinstance(one, XmlElement) for one in merged):
            merged = [one for one in merged if isinstance(one, XmlElement) or one.strip(BLANKS)]
        ended.content = merged

    def characters(self, text: str) -> None:
        self.open[-1].content.append(text)

    def refuse(self, *_: object) -> None:
        raise Broken("XML: a document type, comment, instruction or entity")


def _split(name: str) -> tuple[str, str]:
    found = _NAME.match(name)
    if found is None:
        raise Broken("XML: a name is not ASCII, or too long")
    return found[1] or "", found[2]


def _declared(prefix: str, uri: str) -> str:
    if prefix in ("xml", "xmlns") or uri in (XML_NAMESPACE, "http://www.w3.org/2000/xmlns/") or (prefix and not uri):
        raise Broken("XML: a namespace may not be declared like this")
    return uri


def _bound(prefix: str, scope: dict[str, str]) -> str:
    uri = XML_NAMESPACE if prefix == "xml" else scope.get(prefix)
    if uri is None:
        raise Broken("XML: a prefix is not declared")
    return uri


def parse(raw: bytes) -> XmlElement:
    """Parse a document in UTF-8, and drop blank texts beside elements. Raises Broken."""
    if len(raw) > MAX_BYTES:
        raise Broken("XML: too long")
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        raw.decode()
    except UnicodeDecodeError:
        raise Broken("XML: not UTF-8") from None
    if raw.startswith(b"<?xml") and _DECLARATION.match(raw) is None:
        raise Broken("XML: not version 1.0 in UTF-8")
    builder = _Builder()
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.ordered_attributes = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.characters
    parser.StartDoctypeDeclHandler = builder.refuse
    parser.CommentHandler = builder.refuse
    parser.ProcessingInstructionHandler = builder.refuse
    parser.SkippedEntityHandler = builder.refuse
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as wrong:
        raise Broken(f"XML: {wrong}") from None
    if builder.root is None:
        raise Broken("XML: no element")
    return builder.root


def canonical(apex: XmlElement, *, exclusive: bool, without: "XmlElement | None" = None) -> bytes:
    """Write the canonical form of an element and all in it, but `without`."""
    out: list[str] = []
    _write(apex, {}, out, exclusive, without)
    return "".join(out).encode()


def _write(
    element: XmlElement, shown: dict[str, str], out: list[str], exclusive: bool, without: "XmlElement | None"
) -> None:
    if exclusive:
        used = {element.prefix, *(prefix for prefix, _, _, _ in element.attributes if prefix)} - {"xml"}
        wanted = {prefix: element.scope.get(prefix, "") for prefix in used}
    else:
        wanted = element.scope
    new = {prefix: uri for prefix, uri in wanted.items() if shown.get(prefix, "") != uri}
    if new:
        shown = {**shown, **new}
    name = f"{element.prefix}:{element.local}" if element.prefix else element.local
    out.append(f"<{name}")
    for prefix, uri in sorted(new.items()):
        out.append(f' xmlns{":" if prefix else ""}{prefix}="{uri.translate(_FOR_VALUE)}"')
    for prefix, local, _, value in sorted(element.attributes, key=lambda one: (one[2], one[1])):
        out.append(f' {prefix}{":" if prefix else ""}{local}="{value.translate(_FOR_VALUE)}"')
    out.append(">")
    for one in element.content:
        if isinstance(one, str):
            out.append(one.translate(_FOR_TEXT))
        elif one is not without:
            _write(one, shown, out, exclusive, without)
    out.append(f"</{name}>")
