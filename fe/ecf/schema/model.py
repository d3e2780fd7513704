"""What the tables of the format are made of: codes, simple types, and rows that say which element stands where."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple


class Code(NamedTuple):
    """One value of a code list and what it means, in English and in Spanish."""

    value: str
    meaning: str
    meaning_es: str


class Base(Enum):
    """The XSD type a simple type restricts. All but STRING ignore blanks around the value."""

    STRING = "string"
    INTEGER = "integer"
    DECIMAL = "decimal"
    DATE_TIME = "dateTime"


class ValueForm(Enum):
    """How a value that is not text yet is written."""

    TEXT = auto()
    CODE = auto()
    NUMBER = auto()
    DATE = auto()
    TIMESTAMP = auto()


@dataclass(frozen=True, slots=True, eq=False)
class Simple:
    """What the text of an element may be: the facets of an XSD simple type, and words for people.

    `expected` and `expected_es` say it in a phrase. A number given as a number is written with at least `pad` decimals.
    """

    name: str
    base: Base
    expected: str
    expected_es: str
    form: ValueForm = ValueForm.TEXT
    pattern: str | None = None
    shortest: int | None = None
    longest: int | None = None
    codes: tuple[Code, ...] = ()
    minimum: int | None = None
    above: int | None = None
    maximum: int | None = None
    digits: int | None = None
    decimals: int | None = None
    pad: int = 0
    #: Whether an ISO date given in it is written in the format's way.
    dated: bool = False


@dataclass(frozen=True, slots=True)
class ElementRow:
    """One line of a table: an element, and in which of the table's documents it is required, optional or unknown.

    `presence` has one character for each document, in the order of the table's columns: `R` required, `o` optional,
    `-` not allowed. `many` is how often the element may stand there; above 1 it is a list. `but` names the documents
    for which the simple type or the number is another one.
    """

    presence: str
    name: str
    content: "Simple | tuple[ElementRow, ...]"
    many: int = 1
    but: Mapping[str, "Simple | int"] = field(default_factory=dict)


def row(
    presence: str,
    name: str,
    content: Simple | tuple[ElementRow, ...],
    *,
    many: int = 1,
    but: Mapping[str, Simple | int] | None = None,
) -> ElementRow:
    """Write one line of a table; `but` may name several documents in one key: `{"33 34": LINE_TO_10000}`."""
    each = {document: other for documents, other in (but or {}).items() for document in documents.split()}
    return ElementRow(presence.replace(" ", ""), name, content, many, each)


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """An element as one kind of document has it: the tables with the columns of the other documents taken away."""

    name: str
    required: bool
    many: int
    simple: Simple | None = field(repr=False)
    children: "tuple[Element, ...]" = field(repr=False)
    may_be_empty: bool
    by_name: "Mapping[str, Element]" = field(repr=False)
    #: The place of each child in the sequence.
    order: Mapping[str, int] = field(repr=False)
    #: The children that are there even when they say nothing: required, and allowed to be empty.
    always: tuple[str, ...]
    #: The children that are texts or numbers, stand there once, and mean what they say: all but the dates.
    plain: frozenset[str] = field(repr=False)

    @property
    def listed(self) -> "Element | None":
        """The only child, where that is a list: `Item` of `DetallesItems`. Such an element may be given as the list."""
        only = self.children[0] if len(self.children) == 1 else None
        return only if only is not None and only.many > 1 else None


def element(of: ElementRow, column: int, document: str, may_be_empty: frozenset[str] = frozenset()) -> Element:
    """What `of` is in the document of that column. Rows marked `-` there are left out."""
    content = of.content
    many = of.many
    other = of.but.get(document)
    if isinstance(other, int):
        many = other
    elif other is not None:
        content = other
    children: tuple[Element, ...] = ()
    if isinstance(content, tuple):
        there = (child for child in content if child.presence[column] != "-")
        children = tuple(element(child, column, document, may_be_empty) for child in there)
    return Element(
        name=of.name,
        required=of.presence[column] == "R",
        many=many,
        simple=content if isinstance(content, Simple) else None,
        children=children,
        may_be_empty=of.name in may_be_empty,
        by_name={child.name: child for child in children},
        order={child.name: place for place, child in enumerate(children)},
        always=tuple(child.name for child in children if child.required and child.may_be_empty),
        plain=frozenset(
            child.name for child in children if child.many == 1 and child.simple is not None and not child.simple.dated
        ),
    )
