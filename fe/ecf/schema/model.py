"""Types of the format: codes, simple types, and elements."""

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
    """Type of an element's text: the facets of an XSD simple type, and words for people.

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


@dataclass(frozen=True, slots=True, eq=False)
class Element:
    """An element as one kind of document has it."""

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
