"""The fifteen kinds of document the format knows, each with its own tree of elements."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from lxml import etree

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.reading import text_at
from fe.ecf.schema.elements import ECF_ROWS, OTHER_ROWS, ElementRow, element
from fe.ecf.schema.model import Element

SEED = "SemillaModel"
#: The namespace of `Signature`, the only thing in a document that has one.
DS = "http://www.w3.org/2000/09/xmldsig#"
SIGNATURE = f"{{{DS}}}Signature"

#: Required even where all their children are left out (authority.md#empty-buyer); every other empty tag is refused.
_MAY_BE_EMPTY = {
    (Root.ECF, EcfType.CONSUMER): frozenset({"Comprador"}),
    (Root.RFCE, EcfType.CONSUMER): frozenset({"Comprador"}),
}


@dataclass(frozen=True, slots=True, eq=False)
class DocumentKind:
    """One kind of document: `name` for people, its tree of elements, and which of them may be empty tags."""

    name: str
    root: Element = field(repr=False)
    may_be_empty: frozenset[str]


@cache
def kind(root: str, ecf_type: EcfType | None) -> DocumentKind:
    """The kind of a root and, for an ECF, a type. The seed's root is `SemillaModel`."""
    row, document = (ECF_ROWS, str(ecf_type)) if root == Root.ECF else (OTHER_ROWS[root], "")
    empty = _MAY_BE_EMPTY.get((Root(root), ecf_type), frozenset()) if ecf_type else frozenset[str]()
    name = f"e-CF {ecf_type}" if root == Root.ECF else root
    return DocumentKind(name, element(row, document, empty), empty)


def kinds() -> Iterator[DocumentKind]:
    """All of them."""
    for ecf_type in EcfType:
        yield kind(Root.ECF, ecf_type)
    yield kind(Root.RFCE, EcfType.CONSUMER)
    for root in (Root.ACECF, Root.ANECF, Root.ARECF, SEED):
        yield kind(root, None)


def type_of(root: Root, tipo_ecf: str | None) -> EcfType | None:
    """The type of a document by its root and the text of its `TipoeCF`; ValueError for an ECF of no known type."""
    if root is Root.ECF:
        return EcfType((tipo_ecf or "").strip())
    return EcfType.CONSUMER if root is Root.RFCE else None


def kind_of(tree: etree._Element) -> DocumentKind | None:
    """The kind of an XML document, or None for a root or type that is not known."""
    return _kind(tree, text_at(tree, "Encabezado", "IdDoc", "TipoeCF"))


def probable_kind(tree: etree._Element) -> DocumentKind | None:
    """The kind of an e-CF whose `TipoeCF` is missing or wrong, by the two digits of its e-NCF."""
    e_ncf = text_at(tree, "Encabezado", "IdDoc", "eNCF") or ""
    return _kind(tree, e_ncf[1:3] if e_ncf.startswith("E") else None)


def _kind(tree: etree._Element, tipo_ecf: str | None) -> DocumentKind | None:
    if tree.tag == SEED:
        return kind(SEED, None)
    try:
        root = Root(str(tree.tag))
        return kind(root, type_of(root, tipo_ecf))
    except ValueError:
        return None


@cache
def names() -> frozenset[str]:
    """Every element name of the e-CF, whatever the type: to tell a misspelt name from one that another type has."""

    def below(row: ElementRow) -> Iterator[str]:
        for child in row.children:
            yield child.name
            yield from below(child)

    return frozenset(below(ECF_ROWS))
