"""Elements of each document, from ecf.csv (the ten types of e-CF) and other_documents.csv (all others).

A line is an element, after the group it stands in and in the order of the format. Below the types' columns, or
`presence`: `R` required, `o` optional, `-` not allowed. `value` is its simple type (`simple.py`), empty for a group;
`many` how often it may stand there, 1 if empty; `except` the types of e-CF with another simple type or number:
`33 34: to-10000`. The XSDs of the other documents spell the same kinds of value in other ways than those of the e-CF.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.data_files import csv_rows
from fe.ecf.schema.model import Element, Simple
from fe.ecf.schema.simple import simple_type


@dataclass(frozen=True, slots=True)
class ElementRow:
    """One line of a table: `presence` and `other` by document, that is by type of e-CF or "" for other documents."""

    name: str
    presence: Mapping[str, str]
    simple: Simple | None
    many: int = 1
    other: Mapping[str, str] = field(default_factory=dict)
    children: "list[ElementRow]" = field(default_factory=list)


def _add(root: ElementRow, columns: Mapping[str, str], presence: Mapping[str, str]) -> None:
    *groups, name = columns["element"].split(".")
    group = root
    for step in groups:
        group = next(child for child in group.children if child.name == step)
    other: dict[str, str] = {}
    for exception in filter(None, columns.get("except", "").split("; ")):
        documents, _, instead = exception.partition(": ")
        other |= dict.fromkeys(documents.split(), instead)
    simple = simple_type(columns["value"]) if columns["value"] else None
    group.children.append(ElementRow(name, presence, simple, int(columns["many"] or 1), other))


ECF_ROWS = ElementRow(Root.ECF, dict.fromkeys(EcfType, "R"), None)
for _line in csv_rows("ecf/schema/ecf.csv"):
    _add(ECF_ROWS, _line, {ecf_type: _line[ecf_type] for ecf_type in EcfType})

OTHER_ROWS: dict[str, ElementRow] = {}
for _line in csv_rows("ecf/schema/other_documents.csv"):
    _root = OTHER_ROWS.setdefault(_line["root"], ElementRow(_line["root"], {"": "R"}, None))
    _add(_root, _line, {"": _line["presence"]})


def element(row: ElementRow, document: str, may_be_empty: frozenset[str] = frozenset()) -> Element:
    """Return the element as that document has it, without the rows that are not allowed there."""
    children = tuple(
        element(child, document, may_be_empty) for child in row.children if child.presence[document] != "-"
    )
    other = row.other.get(document, "")
    return Element(
        name=row.name,
        required=row.presence[document] == "R",
        many=int(other) if other.isdigit() else row.many,
        simple=simple_type(other) if other and not other.isdigit() else row.simple,
        children=children,
        may_be_empty=row.name in may_be_empty,
        by_name={child.name: child for child in children},
        order={child.name: place for place, child in enumerate(children)},
        always=tuple(child.name for child in children if child.required and child.may_be_empty),
        plain=frozenset(
            child.name for child in children if child.many == 1 and child.simple is not None and not child.simple.dated
        ),
    )
