"""The columns of an import: each a field of a receipt, with its heading in both languages (columns.csv)."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.data_files import csv_rows
from fe.ecf.describe import Described, described, every
from fe.ecf.texts import Text
from fe.workbooks.cells import fold

#: The column that says which rows are one receipt.
KEY = "Comprobante"
#: The column that names the sequence that gives the number.
SEQUENCE = "sequence"
#: Columns that are no fields of a document.
BESIDE = (KEY, SEQUENCE)
TYPE = "Encabezado.IdDoc.TipoeCF"
LINE = "DetallesItems.Item"
#: Each row may say one form of payment of its receipt.
PAID = "Encabezado.IdDoc.TablaFormasPago.FormaDePago"
#: Types in whose receipts the other side sells: the format names the supplier as Comprador.
_SUPPLIERS = (EcfType.PURCHASES, EcfType.PAYMENTS_ABROAD)


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `path` is that of problems, without numbers. `initial` stands for an empty cell."""

    path: str
    heading: Text
    width: int
    required: bool
    initial: str

    @property
    def code(self) -> str:
        """The name of the element."""
        return self.path.rpartition(".")[2]

    @property
    def of_line(self) -> bool:
        """Whether each row of a receipt says its own."""
        return self.path.startswith(f"{LINE}.")

    @property
    def group(self) -> str:
        """The path of the group that it belongs to."""
        return self.path.rpartition(".")[0]

    def heading_of(self, ecf_type: EcfType) -> Text:
        """Return the heading in the template of a type."""
        if ecf_type not in _SUPPLIERS:
            return self.heading
        return Text(self.heading.en.replace("buyer", "supplier"), self.heading.es.replace("comprador", "suplidor"))


COLUMNS: Mapping[str, Column] = {
    row["path"]: Column(
        row["path"], Text(row["en"], row["es"]), int(row["width"]), bool(row["required"]), row["initial"]
    )
    for row in csv_rows("workbooks/columns.csv")
}

#: Columns that `report` adds and reading ignores.
FAULTS = Text("Errors", "Errores")
STATE = Text("State", "Estado")
NUMBER = Text("e-NCF issued", "e-NCF emitido")
IGNORED = frozenset(fold(said) for text in (FAULTS, STATE, NUMBER) for said in (text.en, text.es))


@cache
def fields_of(ecf_type: EcfType) -> Mapping[str, Described]:
    """The fields of a type that have a column, by path."""
    return {one.path: one for one in every(described(Root.ECF, ecf_type)) if one.path in COLUMNS}


@cache
def any_field(path: str) -> Described:
    """The field of the first type that has it."""
    return next(fields_of(of)[path] for of in EcfType if path in fields_of(of))


@cache
def by_heading() -> Mapping[str, str]:
    """Paths of columns by what may head them: either language, the name of the element, or its path."""
    named: dict[str, str] = {}
    for column in COLUMNS.values():
        for text in (column.heading, column.heading_of(EcfType.PURCHASES)):
            named |= {fold(text.en): column.path, fold(text.es): column.path}
        named |= {fold(column.code): column.path, fold(column.path): column.path}
    return named
