"""The authority's XSDs as facts to compare ours with: which elements, in which order, how often, with which facets."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lxml import etree

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.schema.kinds import SEED, DocumentKind, kind
from tests.shared import shared

XS = "{http://www.w3.org/2001/XMLSchema}"

Facets = dict[str, str | tuple[str, ...]]


@dataclass(frozen=True)
class Fact:
    """One element of a format: where, how often, and what it may hold (None if it holds elements)."""

    path: str
    minimum: str
    maximum: str
    facets: Facets | None


def _file(name: str) -> Path:
    patched = shared(f"xsd/patched/{name}-v1.0.xsd")
    return patched if patched.exists() else shared(f"xsd/{name}-v1.0.xsd")


#: Our kinds, and the authority's file for each.
FILES: dict[str, DocumentKind] = {f"e-CF-{ecf_type}": kind(Root.ECF, ecf_type) for ecf_type in EcfType}
FILES |= {
    "RFCE-32": kind(Root.RFCE, EcfType.CONSUMER),
    "ACECF": kind(Root.ACECF, None),
    "ANECF": kind(Root.ANECF, None),
    "ARECF": kind(Root.ARECF, None),
    "Semilla": kind(SEED, None),
}


def read(name: str) -> etree._Element:
    """The XSD of that name, the patched one where there is one."""
    return etree.parse(_file(name)).getroot()


def facts(schema: etree._Element) -> list[Fact]:
    """Every element of an XSD, in order. Fails on any construct that the format does not use."""
    types = {str(each.get("name")): _facets(each) for each in schema.iterfind(f"{XS}simpleType")}
    roots = schema.findall(f"{XS}element")
    assert len(roots) == 1
    return list(_elements(roots[0], "", types))


def _elements(declared: etree._Element, above: str, types: dict[str, Facets]) -> Iterator[Fact]:
    path = f"{above}.{declared.get('name')}".removeprefix(".")
    assert set(declared.keys()) <= {"name", "type", "minOccurs", "maxOccurs"}, path
    minimum, maximum = declared.get("minOccurs", "1"), declared.get("maxOccurs", "1")
    content = list(declared.iterchildren("*"))
    if not content:
        named = str(declared.get("type"))
        yield Fact(path, minimum, maximum, types.get(named, {"base": named}))
        return
    assert [child.tag for child in content] == [f"{XS}complexType"], path
    yield Fact(path, minimum, maximum, None)
    (sequence,) = content[0].iterchildren("*")
    assert sequence.tag == f"{XS}sequence", path
    assert not sequence.keys(), path
    for child in sequence.iterchildren("*"):
        if child.tag == f"{XS}element":
            yield from _elements(child, path, types)
        else:
            assert child.tag == f"{XS}any", path
            assert child.get("processContents") == "skip", path
            yield Fact(f"{path}.*", child.get("minOccurs", "1"), child.get("maxOccurs", "1"), None)


def _facets(simple_type: etree._Element) -> Facets:
    (restriction,) = simple_type.iterchildren("*")
    assert restriction.tag == f"{XS}restriction"
    facets: Facets = {"base": str(restriction.get("base"))}
    codes = []
    for facet in restriction.iterchildren("*"):
        name, value = str(facet.tag).removeprefix(XS), str(facet.get("value"))
        if name == "enumeration":
            codes.append(value)
        else:
            assert name not in facets, f"{simple_type.get('name')} has {name} twice"
            facets[name] = value
    if codes:
        facets["enumeration"] = tuple(codes)
    return facets


def compiled(name: str) -> etree.XMLSchema:
    """The authority's XSD of that name as libxml2 runs it.

    With one change: in 33 and 34 the pattern of `ResponsablePago` has `^` and `$`, which .NET reads as anchors and XSD,
    libxml2 with it, as characters that must stand there.
    """
    schema = read(name)
    for pattern in schema.iter(f"{XS}pattern"):
        value = str(pattern.get("value"))
        if value.startswith("^"):
            pattern.set("value", value.removeprefix("^").removesuffix("$"))
    return etree.XMLSchema(schema)
