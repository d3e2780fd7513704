"""CSV files that a spreadsheet opens as what they are: text stays text, whatever it begins with."""

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal

from fe.ecf.dates import ZONE

#: What makes a spreadsheet compute or run what is in a cell, also behind what some of them skip; the wide forms too.
_ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

Cell = str | int | Decimal | date | datetime | None

CSV_TYPE = "text/csv; charset=utf-8"


def csv_file(heads: Sequence[str], rows: Iterable[Sequence[Cell]]) -> bytes:
    """Write a table as CSV for spreadsheets: UTF-8 that says so, each text guarded by `guarded`, days as YYYY-MM-DD."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([guarded(head) for head in heads])
    writer.writerows([_cell(cell) for cell in row] for row in rows)
    return text.getvalue().encode("utf-8-sig", "replace")


def guarded(text: str) -> str:
    """Put a quote before what a spreadsheet would take for a formula; everything else stays as it is."""
    return f"'{text}" if text.lstrip(" ").startswith(_ACTIVE) else text


def _cell(value: Cell) -> str:
    match value:
        case None:
            return ""
        case str():
            return guarded(value)
        case datetime():
            return value.astimezone(ZONE).isoformat(" ", "seconds")
        case _:
            return str(value)
