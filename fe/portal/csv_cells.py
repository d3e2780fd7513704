"""CSV files that a spreadsheet opens as what they are: text stays text, whatever it begins with."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal

from fe.ecf.dates import ZONE

#: What makes a spreadsheet compute or run what is in a cell, also behind what some of them skip; the wide forms too.
_ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

#: What a spreadsheet would take for a number or a day and write otherwise: without the zeros that a cédula begins with,
#: without what comes after the fifteenth digit, as a power of ten, or as a day of its own form.
_REWRITTEN = re.compile(r"0[0-9]+|[0-9]{16,}|[0-9]+[eE][0-9]+|[0-9]{1,4}[-/][0-9]{1,2}(?:[-/][0-9]{1,4})?", re.ASCII)

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
    """Put a quote before what a spreadsheet would take for a formula, or would write otherwise; all else stays."""
    return f"'{text}" if text.lstrip(" ").startswith(_ACTIVE) or _REWRITTEN.fullmatch(text.strip()) else text


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
