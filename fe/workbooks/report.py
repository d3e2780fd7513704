"""A copy of an uploaded file with errors, state and number of each row. Values are copied, formats are not."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from xlsxwriter import Workbook

from fe.ecf.texts import Language
from fe.workbooks.cells import fold
from fe.workbooks.columns import COLUMNS, FAULTS, IGNORED, KEY, NUMBER, STATE
from fe.workbooks.receipts import HeadedSheet, RowFault, find_head
from fe.workbooks.tables import BOUNDS, Bounds, Cell, ReadTable, read_table

_LONGEST = 32_000
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
CSV = "text/csv; charset=utf-8"


@dataclass(frozen=True, slots=True)
class RowNote:
    """The receipt's key, errors, state and number, as the copy says them in a row."""

    key: str
    faults: tuple[RowFault, ...] = ()
    state: str = ""
    e_ncf: str = ""


def report(
    content: bytes, notes: Mapping[int, RowNote], language: Language, bounds: Bounds = BOUNDS
) -> tuple[bytes, str, str]:
    """Write the copy; return it, its media type, and the ending of its name. Raises UnreadableWorkbook.

    `notes` are by row of the file. The key of each receipt stands in its column, also where the file had none: so the
    copy, mended and sent again, issues nothing twice.
    """
    table = read_table(content, bounds)
    headed = find_head(table)
    rows = _annotated(headed, notes, language)
    if table.format == "csv":
        return _csv(rows, table), CSV, "csv"
    return _xlsx(rows, headed.head, headed.first), XLSX, "xlsx"


def say_faults(faults: Sequence[RowFault], language: Language) -> str:
    """Name each fault with its column, one a line."""
    said = []
    for fault in faults:
        heading = "" if fault.column is None else f"{COLUMNS[fault.column].heading.said(language)}: "
        said.append(f"{heading}{fault.text.said(language)}")
    return "\n".join(said)[:_LONGEST]


def _annotated(headed: HeadedSheet, notes: Mapping[int, RowNote], language: Language) -> list[list[Cell]]:
    sheet = headed.sheet
    kept = [at for at, cell in enumerate(sheet.rows[headed.head]) if fold(str(cell)) not in IGNORED]
    key_place = headed.places.get(KEY)
    titles: list[Cell] = [text.said(language) for text in (FAULTS, STATE, NUMBER)]
    rows: list[list[Cell]] = []
    for at, row in enumerate(sheet.rows):
        note = notes.get(at + 1)
        cells: list[Cell] = [note.key if note and place == key_place else row[place] for place in kept]
        if key_place is None:
            cells.append(COLUMNS[KEY].heading.said(language) if at == headed.head else note.key if note else "")
        if at == headed.head:
            cells += titles
        elif note is not None:
            cells += [say_faults(note.faults, language), note.state, note.e_ncf]
        rows.append(cells)
    return rows


def _csv(rows: Sequence[Sequence[Cell]], table: ReadTable) -> bytes:
    sink = io.StringIO(newline="")
    csv.writer(sink, delimiter=table.delimiter).writerows(rows)
    return sink.getvalue().encode("utf-8-sig")


def _xlsx(rows: Sequence[Sequence[Cell]], head: int, first: int) -> bytes:
    sink = io.BytesIO()
    book = Workbook(sink, {"in_memory": True})
    sheet = book.add_worksheet()
    bold = book.add_format({"bold": True, "bg_color": "#1f3a5f", "font_color": "white", "text_wrap": True})
    red = book.add_format({"font_color": "#a00000", "text_wrap": True, "valign": "top"})
    day = book.add_format({"num_format": "dd-mm-yyyy"})
    text = book.add_format({"num_format": "@"})
    width = max(map(len, rows), default=1)
    sheet.set_column(0, max(width - 4, 0), 16)
    sheet.set_column(max(width - 3, 0), max(width - 3, 0), 60)
    sheet.set_column(max(width - 2, 0), width, 18)
    for at, row in enumerate(rows):
        for place, cell in enumerate(row):
            if cell == "":
                continue
            form = bold if at == head else red if at >= first and place == width - 3 else None
            _write(sheet, at, place, cell, form, day, text)
    sheet.freeze_panes(first, 1)
    book.close()
    return sink.getvalue()


def _write(sheet: Any, at: int, place: int, cell: Cell, form: Any, day: Any, text: Any) -> None:
    if isinstance(cell, bool):
        sheet.write_boolean(at, place, cell)
    elif isinstance(cell, (int, float)):
        sheet.write_number(at, place, cell)
    elif isinstance(cell, (datetime, date)):
        sheet.write_datetime(at, place, cell, day)
    elif isinstance(cell, (time, timedelta)):
        sheet.write_string(at, place, str(cell), text)
    else:
        sheet.write_string(at, place, cell[:_LONGEST], form or text)
