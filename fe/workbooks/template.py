"""The template of a type of receipt: headings, an example, and the codes as lists. A pure function."""

import io
from datetime import date
from functools import cache
from typing import Any

from xlsxwriter import Workbook

from fe.ecf.catalogue import EcfType
from fe.ecf.schema.model import Code, ValueForm
from fe.ecf.texts import Language, Text
from fe.workbooks.columns import BESIDE, COLUMNS, KEY, TYPE, Column, any_field, fields_of

#: Rows that have lists and formats: as many as are read.
_ROWS = 5000
_ACCENT = "#1f3a5f"
_SHEET, _CODES, _HELP = Text("Receipts", "Comprobantes"), Text("Codes", "Códigos"), Text("Help", "Ayuda")
_EXAMPLE = {
    KEY: Text("EXAMPLE-1", "EJEMPLO-1"),
    "Encabezado.Comprador.RNCComprador": "131880738",
    "Encabezado.Comprador.RazonSocialComprador": "Ferretería Ozama SRL",
    "DetallesItems.Item.NombreItem": Text("Cement, 42.5 kg", "Cemento, 42.5 kg"),
    "DetallesItems.Item.CantidadItem": 10,
    "DetallesItems.Item.PrecioUnitarioItem": 480.5,
    "DetallesItems.Item.IndicadorBienoServicio": "1",
    "DetallesItems.Item.IndicadorFacturacion": "1",
    "InformacionReferencia.NCFModificado": "E310000000001",
    "InformacionReferencia.FechaNCFModificado": date(2026, 11, 2),
    "InformacionReferencia.CodigoModificacion": "3",
}
_SAID = (
    Text("One row is one line. Rows with the same key are one receipt.",
         "Una fila es una línea. Las filas con la misma clave son un solo comprobante."),
    Text("A key is yours and is used once for ever: the same key is never issued twice.",
         "La clave es suya y se usa una sola vez: la misma clave nunca se emite dos veces."),
    Text("Numbers (e-NCF) and totals are made by the service. An empty date is today.",
         "El servicio pone los números (e-NCF) y los totales. Una fecha vacía es hoy."),
    Text("A sequence is named only where a type has several, as one for each till.",
         "La secuencia solo se indica si el tipo tiene varias, como una por caja."),
    Text("Rows whose key begins with EXAMPLE are left out.", "Las filas cuya clave comienza con EJEMPLO no se emiten."),
    Text("Headings in bold with * are required.", "Los encabezados con * son obligatorios."),
)  # fmt: skip


def columns_of(ecf_type: EcfType) -> list[Column]:
    """The columns of a type's template, in their order."""
    known = fields_of(ecf_type)
    return [column for path, column in COLUMNS.items() if path in BESIDE or path in known]


def _needed(column: Column, ecf_type: EcfType) -> bool:
    if column.required:
        return True
    one = fields_of(ecf_type).get(column.path)
    return one is not None and one.needed and not column.initial and column.path not in BESIDE


def _shown(code: Code, language: Language) -> str:
    return f"{code.value} - {code.meaning_es if language == 'es' else code.meaning}"


@cache
def template(ecf_type: EcfType, language: Language) -> bytes:
    """Make the template of a type as XLSX."""
    sink = io.BytesIO()
    book = Workbook(sink, {"in_memory": True})
    book.set_properties({"title": f"e-CF {ecf_type.value}"})
    sheet = book.add_worksheet(_SHEET.said(language))
    codes = book.add_worksheet(_CODES.said(language))
    about = book.add_worksheet(_HELP.said(language))
    head = book.add_format({"bold": True, "bg_color": _ACCENT, "font_color": "white", "text_wrap": True})
    small = book.add_format({"font_color": "#666666", "font_size": 8})
    forms = {
        "text": book.add_format({"num_format": "@"}),
        "date": book.add_format({"num_format": "dd-mm-yyyy"}),
        "number": book.add_format({"num_format": "#,##0.00##"}),
    }
    example = _EXAMPLE | {TYPE: ecf_type.value}
    lists = 0
    for place, column in enumerate(columns_of(ecf_type)):
        field = None if column.path in BESIDE else fields_of(ecf_type).get(column.path) or any_field(column.path)
        kind = "text"
        if field is not None and field.simple is not None and not field.codes:
            kind = {ValueForm.NUMBER: "number", ValueForm.DATE: "date"}.get(field.simple.form, "text")
        sheet.set_column(place, place, column.width, forms[kind])
        star = " *" if _needed(column, ecf_type) else ""
        sheet.write_string(0, place, column.heading_of(ecf_type).said(language) + star, head)
        sheet.write_string(1, place, column.code, small)
        value: Any = example.get(column.path, column.initial)
        if field is not None and field.codes:
            _write_codes(codes, lists, column.heading_of(ecf_type).said(language), field.codes, language)
            where = f"='{_CODES.said(language)}'!${_letters(lists)}$2:${_letters(lists)}${len(field.codes) + 1}"
            sheet.data_validation(
                2, place, _ROWS, place, {"validate": "list", "source": where, "error_type": "warning"}
            )
            lists += 1
            value = next((_shown(code, language) for code in field.codes if code.value == value), "")
        if column.group.endswith("Retencion") and ecf_type not in (EcfType.PURCHASES, EcfType.PAYMENTS_ABROAD):
            value = ""
        _write(sheet, place, value.said(language) if isinstance(value, Text) else value, forms[kind])
    sheet.freeze_panes(2, 1)
    for at, said in enumerate(_SAID):
        about.write_string(at, 0, said.said(language))
    about.set_column(0, 0, 90)
    book.close()
    return sink.getvalue()


def _write(sheet: Any, place: int, value: Any, form: Any) -> None:
    if isinstance(value, date):
        sheet.write_datetime(2, place, value, form)
    elif isinstance(value, (int, float)):
        sheet.write_number(2, place, value, form)
    elif value:
        sheet.write_string(2, place, value, form)


def _write_codes(sheet: Any, place: int, heading: str, codes: tuple[Code, ...], language: Language) -> None:
    sheet.write_string(0, place, heading)
    sheet.set_column(place, place, 34)
    for at, code in enumerate(codes, 1):
        sheet.write_string(at, place, _shown(code, language))


def _letters(place: int) -> str:
    return chr(65 + place)
