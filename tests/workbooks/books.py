"""Workbooks of tests: made with XlsxWriter, or as bytes by hand."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

from xlsxwriter import Workbook

HEAD = (
    *("Comprobante", "TipoeCF", "NombreItem", "IndicadorBienoServicio", "CantidadItem", "PrecioUnitarioItem"),
    "IndicadorFacturacion",
)


def row(key: Any = "A-1", price: Any = 100, **changes: Any) -> list[Any]:
    """A row of a consumer invoice, by the names of `HEAD`."""
    cells = dict(zip(HEAD, (key, "32", "Café", "1", 1, price, "1"), strict=True)) | changes
    return list(cells.values())


def xlsx(rows: Sequence[Sequence[Any]], head: Sequence[str] = HEAD, merge: str = "", constant: bool = False) -> bytes:
    """A workbook of rows below headings; `merge` is a range that is merged, with the value of its first cell."""
    sink = io.BytesIO()
    book = Workbook(sink, {"constant_memory": constant, "in_memory": not constant})
    sheet = book.add_worksheet()
    day = book.add_format({"num_format": "dd-mm-yyyy"})
    for at, cells in enumerate([head, *rows]):
        for place, cell in enumerate(cells):
            if hasattr(cell, "year"):
                sheet.write_datetime(at, place, cell, day)
            elif isinstance(cell, tuple):
                sheet.write_formula(at, place, cell[0], None, cell[1])
            elif cell is not None:
                sheet.write(at, place, cell)
    if merge:
        sheet.merge_range(merge, rows[0][0])
    book.close()
    return sink.getvalue()


def csv(
    rows: Sequence[Sequence[Any]], head: Sequence[str] = HEAD, delimiter: str = ",", encoding: str = "utf-8"
) -> bytes:
    """A CSV of rows below headings."""
    return "\r\n".join(delimiter.join(map(str, cells)) for cells in (head, *rows)).encode(encoding)


def with_parts(content: bytes, parts: Mapping[str, bytes]) -> bytes:
    """The workbook with more parts."""
    sink = io.BytesIO(content)
    with zipfile.ZipFile(sink, "a", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return sink.getvalue()


def sparse(cell: str, before: str = "") -> bytes:
    """A workbook with one more cell, far away; `before` its place stands in the element."""
    sink = io.BytesIO()
    far = f'<row><c {before}r="{cell}"><v>1</v></c></row></sheetData>'
    with zipfile.ZipFile(io.BytesIO(xlsx([row()]))) as old, zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b"</sheetData>", far.encode()))
    return sink.getvalue()


def ods(content_xml: str, more: str = "") -> bytes:
    """An ODS with this content, and more in its manifest."""
    mimetype = "application/vnd.oasis.opendocument.spreadsheet"
    sink = io.BytesIO()
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{mimetype}"/>{more}</manifest:manifest>'
    )
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", mimetype, zipfile.ZIP_STORED)
        archive.writestr("META-INF/manifest.xml", manifest)
        archive.writestr("content.xml", content_xml)
    return sink.getvalue()


def ods_table(rows: str) -> str:
    """The content of an ODS, with these rows."""
    names = ("office", "table", "text")
    spaces = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names)
    return (
        f'<?xml version="1.0"?><office:document-content {spaces}><office:body><office:spreadsheet>'
        f'<table:table table:name="S">{rows}</table:table></office:spreadsheet></office:body></office:document-content>'
    )
