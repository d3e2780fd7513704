"""Customers or products from a CSV of a spreadsheet, whole or not at all."""

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from fe.catalogue.entries import Customer, Product, check_customer, check_product
from fe.catalogue.fields import ID_FORM, BadEntry, EntryId, read_id
from fe.catalogue.remembered import remembered_id
from fe.ecf.schema.repairs import fold
from fe.ecf.texts import Text

E = TypeVar("E", bound=Customer | Product)

MAX_ROWS: Final = 5000
#: Faults that are named; a file has more when all columns are shifted.
MAX_FAULTS: Final = 20
_MAX_CELL = 1000

#: Columns of each kind, and what they are called in files, folded.
CUSTOMER_COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "id": ("id",),
    "name": ("nombre", "razonsocial", "cliente"),
    "rnc": ("cedula", "rncocedula"),
    "email": ("correo", "mail", "correoelectronico"),
    "phone": ("telefono", "tel"),
    "address": ("direccion",),
    "municipality": ("municipio",),
    "province": ("provincia",),
    "type": ("tipo", "tipodecomprobante"),
}
PRODUCT_COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "id": ("id",),
    "name": ("nombre", "descripcion", "producto"),
    "code": ("codigo", "codigodebarras"),
    "unit": ("unidad", "unidaddemedida"),
    "price": ("precio",),
    "priceHasItbis": ("precioconitbis", "itbisincluido", "conitbis"),
    "itbis": ("tasa", "tasaitbis"),
    "kind": ("clase", "bienoservicio"),
    "additionalTaxes": ("impuestosadicionales", "selectivo"),
}
_YES = {"1", "si", "yes", "true", "x", "verdadero"}

_NOT_TEXT = Text("is not a CSV in UTF-8 or Windows-1252", "no es un CSV en UTF-8 ni en Windows-1252")
_NO_NAME = Text(
    "its first row needs a column named name (or nombre)", "su primera fila necesita una columna llamada nombre"
)
_TOO_MANY = Text("has more than {most} rows", "tiene más de {most} filas")
_SAME = Text("is the same entry as line {line}", "es la misma ficha que la línea {line}")
_EMPTY = Text("has no rows below its first one", "no tiene filas debajo de la primera")
_CELLS = Text("has a cell of more than {most} characters", "tiene una celda de más de {most} caracteres")


@dataclass(frozen=True, slots=True)
class CsvFault:
    """A fault in a line of a file; line 0 is the whole file."""

    line: int
    text: Text


@dataclass(frozen=True, slots=True)
class CsvEntries(Generic[E]):
    """The entries of a file by id; where there are faults, they are not to be written."""

    entries: Mapping[EntryId, E]
    faults: Sequence[CsvFault]


def customers_in(raw: bytes) -> CsvEntries[Customer]:
    """Read customers."""
    return _read(raw, CUSTOMER_COLUMNS, _customer)


def products_in(raw: bytes) -> CsvEntries[Product]:
    """Read products."""
    return _read(raw, PRODUCT_COLUMNS, _product)


def _customer(row: Mapping[str, str]) -> Customer:
    known = {name: row.get(name) for name in ("rnc", "email", "phone", "address", "municipality", "province")}
    return check_customer(name=row.get("name"), receipt_type=row.get("type"), **known)


def _product(row: Mapping[str, str]) -> Product:
    return check_product(
        name=row.get("name"),
        code=row.get("code"),
        unit=row.get("unit"),
        price=row.get("price"),
        price_has_itbis=fold(row.get("priceHasItbis", "")) in _YES,
        itbis=row.get("itbis"),
        kind=row.get("kind"),
        additional_taxes=row.get("additionalTaxes", "").replace("+", " ").replace(",", " ").split(),
    )


def _read(raw: bytes, columns: Mapping[str, Sequence[str]], read: Callable[[Mapping[str, str]], E]) -> CsvEntries[E]:
    try:
        text = _text(raw)
    except ValueError:
        return CsvEntries({}, [CsvFault(0, _NOT_TEXT)])
    entries: dict[EntryId, E] = {}
    lines: dict[EntryId, int] = {}
    faults: list[CsvFault] = []
    try:
        for line, row in _rows(text, columns):
            if len(faults) == MAX_FAULTS:
                break
            try:
                entry = read(row)
                entry_id = read_id(row["id"]) if row.get("id") else remembered_id(entry)
                if entry_id is None:
                    raise BadEntry("id", ID_FORM)
            except BadEntry as bad:
                faults.append(CsvFault(line, bad.text.after(bad.field)))
                continue
            if entry_id in lines:
                faults.append(CsvFault(line, _SAME.fill(line=lines[entry_id])))
            entries[entry_id], lines[entry_id] = entry, line
    except _BadFile as bad:
        faults.append(CsvFault(bad.line, bad.text))
    if not entries and not faults:
        faults.append(CsvFault(0, _EMPTY))
    return CsvEntries(entries, faults)


class _BadFile(Exception):
    def __init__(self, line: int, text: Text) -> None:
        super().__init__(line, text)
        self.line = line
        self.text = text


def _text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("cp1252")


def _rows(text: str, columns: Mapping[str, Sequence[str]]) -> Iterator[tuple[int, dict[str, str]]]:
    names = {fold(called): name for name, others in columns.items() for called in (name, *others)}
    first = text.partition("\n")[0]
    delimiter = max(";,\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    heads: list[str | None] | None = None
    many = 0
    try:
        for cells in reader:
            if any(len(cell) > _MAX_CELL for cell in cells):
                raise _BadFile(reader.line_num, _CELLS.fill(most=_MAX_CELL))
            if heads is None:
                heads = [names.get(fold(cell)) for cell in cells]
                if "name" not in heads:
                    raise _BadFile(1, _NO_NAME)
            elif any(cell.strip() for cell in cells):
                many += 1
                if many > MAX_ROWS:
                    raise _BadFile(0, _TOO_MANY.fill(most=MAX_ROWS))
                row = {head: cell.strip() for head, cell in zip(heads, cells, strict=False) if head is not None}
                yield reader.line_num, row
    except csv.Error:
        raise _BadFile(reader.line_num, _NOT_TEXT) from None
