"""Problems of a document beside the fields of the form that they are about."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.describe import described, every
from fe.ecf.problems import Problem, Severity
from fe.portal.receipt.entry import ReceiptEntry
from fe.portal.receipt.layout import Layout, Table
from fe.portal.receipt.paths import in_row, plain

#: Where what is said about the number stands; there is no field for it, because sequences give it.
NUMBER = "number"
USER = "as_user"
_OF_USER = ("asUser", "asUserId")


@dataclass(slots=True)
class Notices:
    """`beside` has problems by the id of a field (`NAME`, in rows `NAME-3`); the others have none to stand at."""

    beside: dict[str, list[Problem]] = field(default_factory=dict)
    others: list[Problem] = field(default_factory=list)
    #: Problems of computed values while a typed value is wrong too, which causes them.
    following: list[Problem] = field(default_factory=list)


def place_all(entry: ReceiptEntry, problems: Iterable[Problem]) -> Notices:
    """Find for each problem where it is shown."""
    notices, typed_is_wrong = Notices(), False
    computed = []
    for one in problems:
        if plain(one.path) in _computed(entry.layout.type):
            computed.append(one)
            continue
        typed_is_wrong = typed_is_wrong or one.severity is Severity.REJECTED
        _place(notices, entry, one)
    if typed_is_wrong:
        notices.following = computed
    else:
        for one in computed:
            _place(notices, entry, one)
    return notices


def _place(notices: Notices, entry: ReceiptEntry, one: Problem) -> None:
    where = field_of(entry, one.path)
    if where is None:
        notices.others.append(one)
    else:
        notices.beside.setdefault(where, []).append(one)


def field_of(entry: ReceiptEntry, path: str) -> str | None:
    """The id of the field that a path of the document is about; None where there is none."""
    if path in _OF_USER:
        return USER
    if path == "Encabezado.IdDoc.eNCF":
        return NUMBER
    for table in entry.layout.tables:
        found = in_row(path, table.path)
        if found is not None:
            number, below = found
            return f"{_in_row(table, below)}-{number}" if number <= len(entry.rows[table.key]) else None
    return _once(entry.layout, path)


def _in_row(table: Table, below: str) -> str:
    """The field of a row for what stands below it at this path: itself, the first of that group, or the free one."""
    name = f"{table.key}.{below}" if below else table.fields[0].name
    if any(one.name == name for one in table.fields):
        return name
    return next((one.name for one in table.fields if one.name.startswith(f"{name}.")), table.more)


def _once(layout: Layout, path: str) -> str | None:
    fields = list(layout.fields)
    if any(one.name == path for one in fields):
        return path
    return next((one.name for one in fields if path and one.name.startswith(f"{path}.")), None)


@cache
def _computed(of: EcfType) -> frozenset[str]:
    """The paths of what is computed of what people type: amounts of lines, totals."""
    roots = ("Encabezado.Totales", "DetallesItems.Item.MontoItem")
    return frozenset(one.path for one in every(described(Root.ECF, of)) if one.path.startswith(roots))
