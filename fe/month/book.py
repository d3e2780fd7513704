"""A workbook of a month: sheets of headed columns with amounts and days as such, for spreadsheets."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

from xlsxwriter import Workbook

Cell = str | int | Decimal | date | None

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_LONGEST = 32_000
_NARROWEST, _WIDEST = 10, 44


@dataclass(frozen=True, slots=True)
class MonthSheet:
    """A table. Decimals are amounts with two decimals; text stays text, whatever it begins with."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[Cell]]


def workbook(sheets: Sequence[MonthSheet]) -> bytes:
    """Write the sheets as XLSX."""
    sink = io.BytesIO()
    book = Workbook(sink, {"in_memory": True})
    head = book.add_format({"bold": True, "bg_color": "#1f3a5f", "font_color": "white", "text_wrap": True})
    forms = {
        Decimal: book.add_format({"num_format": "#,##0.00"}),
        int: book.add_format({"num_format": "#,##0"}),
        date: book.add_format({"num_format": "dd-mm-yyyy"}),
        str: book.add_format({"num_format": "@"}),
    }
    for one in sheets:
        sheet = book.add_worksheet(one.title)
        for place, name in enumerate(one.heads):
            sheet.write_string(0, place, name, head)
            sheet.set_column(place, place, _width(name, [row[place] for row in one.rows]))
        for at, row in enumerate(one.rows, 1):
            for place, cell in enumerate(row):
                _write(sheet, at, place, cell, forms)
        sheet.freeze_panes(1, 0)
        if one.rows:
            sheet.autofilter(0, 0, len(one.rows), len(one.heads) - 1)
    book.close()
    return sink.getvalue()


def _write(sheet: Any, at: int, place: int, cell: Cell, forms: dict[type, Any]) -> None:
    match cell:
        case None | "":
            pass
        case str():
            sheet.write_string(at, place, cell[:_LONGEST], forms[str])
        case date():
            sheet.write_datetime(at, place, cell, forms[date])
        case _:
            sheet.write_number(at, place, cell, forms[type(cell)])


def _width(name: str, cells: Sequence[Cell]) -> int:
    shown = (f"{cell:,}" if isinstance(cell, (int, Decimal)) else str(cell or "") for cell in cells)
    widest = max(map(len, shown), default=0)
    return min(max(widest + 2, len(name) // 2 + 4, _NARROWEST), _WIDEST)
