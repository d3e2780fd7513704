"""CSV for spreadsheets: no cell of it is ever a formula, whatever somebody called a company."""

import csv
import io
from collections.abc import Iterable, Sequence

_BEGIN_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "＝", "＋", "－", "＠")


def cell(text: object) -> str:
    """Give what stands in a cell: a text that a spreadsheet would take for a formula begins with a quote."""
    said = "" if text is None else str(text)
    if isinstance(text, int | float) and not isinstance(text, bool):
        return said
    return f"'{said}" if said.lstrip(" ").startswith(_BEGIN_FORMULAS) else said


def csv_file(rows: Iterable[Sequence[object]]) -> bytes:
    """Write rows as CSV in UTF-8, with the mark by which spreadsheets know that it is."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    writer.writerows([cell(value) for value in row] for row in rows)
    return ("\ufeff" + written.getvalue()).encode("utf-8", "replace")
