"""CSV for spreadsheets: what strangers wrote stays text there, and is no formula."""

import csv
import io
from collections.abc import Iterable

#: What makes a spreadsheet take a cell for a formula (ASVS 1.2.10); a quote before it makes it text.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def cell(text: str) -> str:
    """A text as a cell holds it. Blanks before a sign do not hide it."""
    return f"'{text}" if text.startswith(_FORMULA) or text.lstrip().startswith(_FORMULA) else text


def csv_file(rows: Iterable[Iterable[str]]) -> bytes:
    """Write rows as a file that spreadsheets read as UTF-8."""
    written = io.StringIO()
    csv.writer(written).writerows([cell(text) for text in row] for row in rows)
    return written.getvalue().encode("utf-8-sig")
