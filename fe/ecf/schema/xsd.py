"""Our tables as an XSD, so that libxml2 can validate a document in some 20 microseconds.

libxml2 fills its table of built-in types (`xs:string`, ...) when the first schema is compiled, and takes no lock. When
several threads compile first, the table stays broken for as long as the process lives: nothing compiles any more.
So it is filled here, on import, which Python lets one thread do while all others wait; and what serves documents calls
`prepare` before it starts a thread.
"""

import threading
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

from lxml import etree

from fe.ecf.schema.kinds import DS, DocumentKind, kinds
from fe.ecf.schema.model import Base, Element, Simple

XS = "http://www.w3.org/2001/XMLSchema"
_LONG_LIST = 30
_SIMPLE_FACETS = (
    ("minInclusive", "minimum"),
    ("minExclusive", "above"),
    ("maxInclusive", "maximum"),
    ("totalDigits", "digits"),
    ("fractionDigits", "decimals"),
    ("pattern", "pattern"),
    ("minLength", "shortest"),
    ("maxLength", "longest"),
)


etree.XMLSchema(etree.Element(f"{{{XS}}}schema"))  # fills the table of built-in types


def prepare() -> None:
    """Compile all that validating documents needs: a fraction of a second, and nothing when it was done before.

    Call it before the first thread that validates documents starts, and before a fork, so that all processes share it.
    """
    for kind in kinds():
        compiled(kind)
    _values()


def xsd(kind: DocumentKind) -> etree._Element:
    """The XSD of a kind of document. A `Signature` may follow at the end of the root, whatever is in it."""
    schema = _schema(_simples(kind.root))
    _declare(schema, kind.root)
    sequence = schema.find(f"{{{XS}}}element/{{{XS}}}complexType/{{{XS}}}sequence")
    assert sequence is not None
    etree.SubElement(sequence, f"{{{XS}}}any", namespace=DS, processContents="skip", minOccurs="0")
    return schema


@cache
def compiled(kind: DocumentKind) -> etree.XMLSchema:
    """Return the compiled XSD, shared by all threads: use only its verdict, its `error_log` may be another thread's."""
    return etree.XMLSchema(quick_xsd(kind))


def quick_xsd(kind: DocumentKind) -> etree._Element:
    """The same XSD with long lists of codes put as one pattern.

    libxml2 compares a value with each code of a list in turn; the 582 places cost a fifth of the whole validation.
    """
    schema = xsd(kind)
    long = {
        simple.name: [code.value for code in simple.codes]
        for simple in _simples(kind.root)
        if simple.base is Base.STRING and len(simple.codes) > _LONG_LIST
    }
    for declaration in schema.iterfind(f"{{{XS}}}simpleType"):
        codes = long.get(str(declaration.get("name")))
        if codes is not None:
            del declaration[0][:]
            etree.SubElement(declaration[0], f"{{{XS}}}pattern", value=_one_of(codes))
    return schema


def _one_of(words: list[str]) -> str:
    """A pattern of letters and digits for exactly these words, with common beginnings once: `1(0|1[01])`."""
    after: dict[str, list[str]] = {}
    for word in words:
        if word:
            after.setdefault(word[0], []).append(word[1:])
    starts: dict[str, list[str]] = {}
    for start, rests in after.items():
        starts.setdefault(_one_of(rests), []).append(start)
    ways = [f"[{''.join(some)}]{rest}" for rest, some in starts.items()]
    pattern = ways[0] if len(ways) == 1 else f"({'|'.join(ways)})"
    return f"({pattern})?" if "" in words and ways else pattern if ways else ""


def _schema(simples: Iterable[Simple]) -> etree._Element:
    schema = etree.Element(f"{{{XS}}}schema", nsmap={"xs": XS})
    for simple in sorted(set(simples), key=lambda each: each.name):
        schema.append(_simple_type(simple))
    return schema


def _simples(of: Element) -> Iterator[Simple]:
    if of.simple is not None:
        yield of.simple
    for child in of.children:
        yield from _simples(child)


def _simple_type(simple: Simple) -> etree._Element:
    declaration = etree.Element(f"{{{XS}}}simpleType", name=simple.name)
    restriction = etree.SubElement(declaration, f"{{{XS}}}restriction", base=f"xs:{simple.base.value}")
    for facet, attribute in _SIMPLE_FACETS:
        value = getattr(simple, attribute)
        if value is not None:
            etree.SubElement(restriction, f"{{{XS}}}{facet}", value=str(value))
    for code in simple.codes:
        etree.SubElement(restriction, f"{{{XS}}}enumeration", value=code.value)
    return declaration


def _declare(parent: etree._Element, of: Element) -> None:
    declaration = etree.SubElement(parent, f"{{{XS}}}element", name=of.name)
    if parent.tag != f"{{{XS}}}schema":
        declaration.set("minOccurs", "1" if of.required else "0")
        declaration.set("maxOccurs", str(of.many))
    if of.simple is not None:
        declaration.set("type", of.simple.name)
        return
    sequence = etree.SubElement(etree.SubElement(declaration, f"{{{XS}}}complexType"), f"{{{XS}}}sequence")
    for child in of.children:
        _declare(sequence, child)


@cache
def _values() -> etree.XMLSchema:
    simples = {simple.name: simple for kind in kinds() for simple in _simples(kind.root)}
    schema = _schema(simples.values())
    for name in simples:
        etree.SubElement(schema, f"{{{XS}}}element", name=name, type=name)
    return etree.XMLSchema(schema)


_one_by_one = threading.Lock()


def violations(simple: Simple, text: str) -> list[str]:
    """The names of the facets that `text` breaks, `DATATYPE` for what is no number at all; empty if it is fine.

    By the same libxml2 that validates whole documents, so there is one reading of the facets, not two. Any thread may
    ask; they take turns, as the names are read from the schema's log, which is one for all.
    """
    probe = etree.Element(simple.name)
    probe.text = text
    with _one_by_one:
        schema = _values()
        if schema.validate(probe):
            return []
        log: Any = schema.error_log  # iterable, which the type stubs do not know
        return [_facet(entry.type_name) for entry in log]


def _facet(type_name: str) -> str:
    # SCHEMAV_CVC_PATTERN_VALID, SCHEMAV_CVC_DATATYPE_VALID_1_2_1, ...
    return type_name.removeprefix("SCHEMAV_CVC_").split("_")[0]
