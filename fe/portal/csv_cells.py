"""CSV for spreadsheets: text stays text, whatever it begins with."""

import csv
import io
import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal

from fe.ecf.dates import ZONE

#: Starts of formulas in spreadsheets, also behind skipped characters, with the wide forms.
_ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")

#: Text that a spreadsheet would convert to a number or a date: it would drop the leading zeros of a cédula and digits
#: after the fifteenth, or write a power of ten or a date of its own form.
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
    """Quote a cell that a spreadsheet would take for a formula or would convert."""
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
