"""Customers or products from a CSV of a spreadsheet, whole or not at all."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from fe.catalogue.entries import KINDS, RATES, Customer, Product, check_customer, check_product
from fe.catalogue.fields import ID_FORM, BadEntry, EntryId, read_id
from fe.catalogue.remembered import remembered_id
from fe.ecf.schema.repairs import fold
from fe.ecf.texts import Text

E = TypeVar("E", bound=Customer | Product)

MAX_ROWS: Final = 5000
#: Faults that are named; a file has more when all columns are shifted.
MAX_FAULTS: Final = 20
_MAX_CELL = 1000
#: How files of Excel and LibreOffice begin.
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """A column: its heading in either language, what else may head it (folded), and what may stand in it."""

    heading: Text
    also: Sequence[str] = ()
    about: Text | None = None


_PLACE = Text("code of the authority's list, such as 320100", "código de la lista de la DGII, como 320100")
#: Columns by the API's name of the field, which may head them, too.
CUSTOMER_COLUMNS: Final[Mapping[str, CsvColumn]] = {
    "id": CsvColumn(Text("id", "id"), about=Text("your own key, if you have one", "su propia clave, si la tiene")),
    "name": CsvColumn(Text("name", "nombre"), ("razonsocial", "nombreorazonsocial", "cliente")),
    "rnc": CsvColumn(Text("rnc", "rnc o cédula"), ("cedula", "rnccedula", "cedularnc", "rncycedula")),
    "email": CsvColumn(Text("email", "correo"), ("mail", "correoelectronico")),
    "phone": CsvColumn(Text("phone", "teléfono"), ("tel", "celular", "movil", "telefonomovil", "telefonocelular")),
    "address": CsvColumn(Text("address", "dirección")),
    "municipality": CsvColumn(Text("municipality", "municipio"), about=_PLACE),
    "province": CsvColumn(Text("province", "provincia"), about=_PLACE),
    "type": CsvColumn(
        Text("type", "tipo de comprobante"),
        ("tipo",),
        Text("the usual receipt: 31 for credit fiscal, 32 for consumers", "el habitual: 31 crédito fiscal, 32 consumo"),
    ),
}
PRODUCT_COLUMNS: Final[Mapping[str, CsvColumn]] = {
    "id": CsvColumn(Text("id", "id"), about=Text("your own key, if you have one", "su propia clave, si la tiene")),
    "name": CsvColumn(Text("name", "nombre"), ("descripcion", "producto")),
    "code": CsvColumn(Text("code", "código"), ("codigodebarras",)),
    "unit": CsvColumn(
        Text("unit", "unidad"), ("unidaddemedida",), Text("such as unit, pound, 43", "como unidad, libra, 43")
    ),
    "price": CsvColumn(Text("price", "precio")),
    "priceHasItbis": CsvColumn(
        Text("priceHasItbis", "ITBIS incluido"),
        ("conitbis", "precioconitbis"),
        Text("yes or no; empty is no", "sí o no; vacío es no"),
    ),
    "itbis": CsvColumn(Text("itbis", "ITBIS"), ("tasa", "tasaitbis"), RATES),
    "kind": CsvColumn(Text("kind", "clase"), ("bienoservicio",), KINDS),
    "additionalTaxes": CsvColumn(
        Text("additionalTaxes", "impuestos adicionales"),
        ("selectivo",),
        Text("codes such as 006 023", "códigos como 006 023"),
    ),
}
#: Without a column of prices this one has the price itself, ITBIS included.
_PRICE_WITH_ITBIS = "precioconitbis"
_YES = {"1", "si", "yes", "true", "x", "verdadero"}
_NO = {"", "0", "no", "false", "falso"}

_NOT_TEXT = Text("is not a CSV in UTF-8 or Windows-1252", "no es un CSV en UTF-8 ni en Windows-1252")
_WORKBOOK = Text(
    "is an Excel workbook: in Excel choose Save as, then CSV UTF-8, and send that file",
    "es un libro de Excel: en Excel elija Guardar como, luego CSV UTF-8, y envíe ese archivo",
)
_NO_BYTES = Text("is empty", "está vacío")
_NO_NAME = Text(
    "its first row needs a column named name (or nombre)", "su primera fila necesita una columna llamada nombre"
)
_UNKNOWN = Text(
    "Unknown columns: {named}. Put # before a heading that is to be ignored.",
    "Columnas desconocidas: {named}. Ponga # delante del encabezado que no se deba leer.",
)
_TWICE = Text("Two columns are the same field: {named}.", "Dos columnas son el mismo dato: {named}.")
_YES_OR_NO = Text("must be yes or no", "debe ser sí o no")
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
    """The entries of a file by id; where there are faults, they are not to be written. `doubts` are no faults."""

    entries: Mapping[EntryId, E]
    faults: Sequence[CsvFault]
    doubts: Sequence[CsvFault] = ()


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
    has_itbis = fold(row.get("priceHasItbis", ""))
    if has_itbis not in _YES | _NO:
        raise BadEntry("priceHasItbis", _YES_OR_NO)
    return check_product(
        name=row.get("name"),
        code=row.get("code"),
        unit=row.get("unit"),
        price=row.get("price", row.get(_PRICE_WITH_ITBIS)),
        price_has_itbis=has_itbis in _YES or _PRICE_WITH_ITBIS in row,
        itbis=row.get("itbis"),
        kind=row.get("kind"),
        additional_taxes=row.get("additionalTaxes", "").replace("+", " ").replace(",", " ").split(),
    )


def _read(raw: bytes, columns: Mapping[str, CsvColumn], read: Callable[[Mapping[str, str]], E]) -> CsvEntries[E]:
    entries: dict[EntryId, E] = {}
    lines: dict[EntryId, int] = {}
    faults: list[CsvFault] = []
    doubts: list[CsvFault] = []
    try:
        headings, rows = _rows(_text(raw), columns)
        for line, row in rows:
            if len(faults) == MAX_FAULTS:
                break
            try:
                entry = read(row)
                entry_id = read_id(row["id"]) if row.get("id") else remembered_id(entry)
                if entry_id is None:
                    raise BadEntry("id", ID_FORM)
            except BadEntry as bad:
                faults.append(CsvFault(line, bad.text.after(headings.get(bad.field, bad.field))))
                continue
            if entry_id in lines:
                faults.append(CsvFault(line, _SAME.fill(line=lines[entry_id])))
            doubts += [CsvFault(line, remark) for remark in entry.remarks]
            entries[entry_id], lines[entry_id] = entry, line
    except _BadFile as bad:
        faults.append(CsvFault(bad.line, bad.text))
    if not entries and not faults:
        faults.append(CsvFault(0, _EMPTY))
    return CsvEntries(entries, faults, doubts)


class _BadFile(Exception):
    def __init__(self, line: int, text: Text) -> None:
        super().__init__(line, text)
        self.line = line
        self.text = text


def _text(raw: bytes) -> str:
    if not raw.strip():
        raise _BadFile(0, _NO_BYTES)
    if raw.startswith(_WORKBOOKS):
        raise _BadFile(0, _WORKBOOK)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError:
        raise _BadFile(0, _NOT_TEXT) from None


def _rows(text: str, columns: Mapping[str, CsvColumn]) -> tuple[Mapping[str, str], list[tuple[int, dict[str, str]]]]:
    """Return the headings of the file by field, and its rows by field, each with its line. Raises _BadFile."""
    first = text.partition("\n")[0]
    delimiter = max(";,\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    table: list[tuple[int, list[str]]] = []
    try:
        for cells in reader:
            if any(len(cell) > _MAX_CELL for cell in cells):
                raise _BadFile(reader.line_num, _CELLS.fill(most=_MAX_CELL))
            if not table or any(cell.strip() for cell in cells):
                table.append((reader.line_num, [cell.strip() for cell in cells]))
            if len(table) > MAX_ROWS + 1:
                raise _BadFile(0, _TOO_MANY.fill(most=MAX_ROWS))
    except csv.Error:
        raise _BadFile(reader.line_num, _NOT_TEXT) from None
    (_, head), *rows = table
    places = _places(head, [cells for _, cells in rows], columns)
    read = [(line, {name: cells[at] if at < len(cells) else "" for name, at in places.items()}) for line, cells in rows]
    return {"price" if name == _PRICE_WITH_ITBIS else name: head[at] for name, at in places.items()}, read


def _places(head: Sequence[str], rows: Sequence[Sequence[str]], columns: Mapping[str, CsvColumn]) -> Mapping[str, int]:
    """Return the place of each field. Raises _BadFile for a column with values that would be lost."""
    named = {
        fold(called): name for name, column in columns.items() for called in (name, column.heading.es, *column.also)
    }
    places: dict[str, int] = {}
    unknown = []
    used = {at for cells in rows for at, cell in enumerate(cells) if cell}
    for at in sorted({*range(len(head)), *used}):
        said = head[at] if at < len(head) else ""
        name = named.get(fold(said))
        if name in places:
            raise _BadFile(1, _TWICE.fill(named=f"«{head[places[name]]}», «{said}»"))
        if name is not None:
            places[name] = at
        elif at in used and not said.startswith("#"):
            unknown.append(f"«{said[:40]}»" if said else str(at + 1))
    if unknown:
        raise _BadFile(1, _UNKNOWN.fill(named=", ".join(unknown[:5])))
    if "name" not in places:
        raise _BadFile(1, _NO_NAME)
    with_itbis = places.get("priceHasItbis")
    if with_itbis is not None and "price" not in places and fold(head[with_itbis]) == _PRICE_WITH_ITBIS:
        places[_PRICE_WITH_ITBIS] = places.pop("priceHasItbis")
    return places
