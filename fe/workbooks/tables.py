"""Read XLSX, ODS or CSV into a table of cells, within bounds. CPU work only: run it in a process of fe/offload."""

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Literal

from python_calamine import CalamineError, PasswordError, load_workbook

from fe.ecf.texts import LocalizedError, Text

#: A cell as its file says it; '' for an empty one.
Cell = str | int | float | bool | date | datetime | time | timedelta
#: First and last row and column of merged cells, counted from 0.
Merge = tuple[tuple[int, int], tuple[int, int]]
Format = Literal["xlsx", "ods", "csv"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a workbook: bytes as sent and unpacked, packing ratio, parts, rows and columns."""

    size: int = 8 * 1024 * 1024
    unpacked: int = 64 * 1024 * 1024
    ratio: int = 250
    parts: int = 1000
    rows: int = 50_000
    columns: int = 200


BOUNDS = Bounds()


class UnreadableWorkbook(LocalizedError):
    """A file that is refused as a whole; `status` is 400, 413 (too large) or 415 (of another kind)."""

    def __init__(self, status: int, text: Text) -> None:
        super().__init__(text)
        self.status = status

    def __reduce__(self) -> tuple[type["UnreadableWorkbook"], tuple[object, ...]]:
        """Go from process to process whole."""
        return UnreadableWorkbook, (self.status, self.text)


@dataclass(frozen=True, slots=True)
class ReadSheet:
    """The cells of one sheet; all rows have the same length, and row and column 1 of the file are `rows[0][0]`."""

    name: str
    rows: list[list[Cell]]
    merges: tuple[Merge, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadTable:
    """The sheets of a file, or the rows of a CSV as one sheet."""

    format: Format
    sheets: tuple[ReadSheet, ...]
    #: Of a CSV: how it is written.
    delimiter: str = ","
    encoding: str = "utf-8"


_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP = b"PK\x03\x04"
_CHUNK = 256 * 1024
_KINDS = Text("Send an .xlsx, .ods or .csv file.", "Envíe un archivo .xlsx, .ods o .csv.")
#: Parts that say what a ZIP holds.
_XLSX, _ODS = "xl/workbook.xml", "content.xml"
_LAST_ROW = re.compile(rb'<row [^>]{0,400}?\br="([0-9]{1,9})"')
#: Columns beyond the 26th.
_LAST_COLUMN = re.compile(rb'<c [^>]{0,80}?\br="([A-Z]{2,3})[0-9]')


def read_table(content: bytes, bounds: Bounds = BOUNDS) -> ReadTable:
    """Recognize and read a file. Raises UnreadableWorkbook."""
    if not content:
        raise _refuse(400, "The file is empty.", "El archivo está vacío.")
    if len(content) > bounds.size:
        limit = bounds.size // (1024 * 1024)
        raise _refuse(413, f"The file has more than {limit} MB.", f"El archivo pasa de {limit} MB.")
    if content.startswith(_OLE):
        raise _refuse(
            415,
            "The file has a password or is an old .xls. Save it as .xlsx without a password.",
            "El archivo tiene contraseña o es un .xls antiguo. Guárdelo como .xlsx sin contraseña.",
        )
    if content.startswith(_ZIP):
        return _read_workbook(content, _kind_of(content, bounds), bounds)
    if b"\0" in content and not content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _refuse(
            415, f"The file is no workbook. {_KINDS.en}", f"El archivo no es una hoja de cálculo. {_KINDS.es}"
        )
    if content.lstrip()[:5].lower() in (b"%pdf-", b"<html", b"<?xml", b"<!doc", b"{\\rtf"):
        raise _refuse(
            415, f"The file is no workbook. {_KINDS.en}", f"El archivo no es una hoja de cálculo. {_KINDS.es}"
        )
    return _read_csv(content, bounds)


def _refuse(status: int, en: str, es: str) -> UnreadableWorkbook:
    return UnreadableWorkbook(status, Text(en, es))


def _damaged() -> UnreadableWorkbook:
    return _refuse(
        400,
        "The workbook is damaged. Open it, save it again and send that.",
        "La hoja está dañada. Ábrala, guárdela otra vez y envíela.",
    )


def _too_many(bounds: Bounds) -> UnreadableWorkbook:
    return _refuse(
        413,
        f"The workbook has more than {bounds.rows:,} rows. Divide it.",
        f"La hoja tiene más de {bounds.rows:,} filas. Divídala.",
    )


def _too_wide(bounds: Bounds) -> UnreadableWorkbook:
    return _refuse(
        413,
        f"The workbook has more than {bounds.columns} columns.",
        f"La hoja tiene más de {bounds.columns} columnas.",
    )


def _kind_of(content: bytes, bounds: Bounds) -> Format:
    """Unpack every part once, within the bounds, before another reader may; say what kind of workbook it is."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = archive.infolist()
            names = {part.filename for part in parts}
            if len(parts) > bounds.parts or len(names) < len(parts):
                raise _damaged()
            if any(part.flag_bits & 1 for part in parts) or "EncryptedPackage" in names:
                raise _refuse(
                    415,
                    "The file has a password. Save it without one.",
                    "El archivo tiene contraseña. Guárdelo sin ella.",
                )
            kind = _named_by(names, archive)
            _refuse_active(names)
            _unpack(archive, parts, len(content), bounds)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError, KeyError):
        raise _damaged() from None
    return kind


def _named_by(names: set[str], archive: zipfile.ZipFile) -> Format:
    if _XLSX in names:
        return "xlsx"
    if _ODS in names and "mimetype" in names:
        with archive.open("mimetype") as file:
            said = file.read(100)
        if said.startswith(b"application/vnd.oasis.opendocument.spreadsheet"):
            if b"encryption-data" in archive.open("META-INF/manifest.xml").read(1024 * 1024):
                raise _refuse(
                    415,
                    "The file has a password. Save it without one.",
                    "El archivo tiene contraseña. Guárdelo sin ella.",
                )
            return "ods"
    raise _refuse(415, f"The file is no workbook. {_KINDS.en}", f"El archivo no es una hoja de cálculo. {_KINDS.es}")


def _refuse_active(names: set[str]) -> None:
    """Refuse macros, and values that another file decides."""
    lower = [name.lower() for name in names]
    if any(
        name.endswith("vbaproject.bin") or name.startswith(("basic/", "scripts/", "xl/macrosheets/")) for name in lower
    ):
        raise _refuse(
            400,
            "The workbook has macros. Save it as .xlsx, without them.",
            "La hoja tiene macros. Guárdela como .xlsx, sin ellas.",
        )
    if any(name.startswith("xl/externallinks/") for name in lower):
        raise _refuse(
            400,
            "The workbook takes values from another file. Paste them as values.",
            "La hoja toma valores de otro archivo. Péguelos como valores.",
        )


def _unpack(archive: zipfile.ZipFile, parts: list[zipfile.ZipInfo], packed: int, bounds: Bounds) -> None:
    """Read each part to its end: what the directory says of its size is not believed, and its checksum is compared."""
    left = min(bounds.unpacked, bounds.ratio * packed + 1024 * 1024)
    for part in parts:
        rows, tail = 0, b""
        with archive.open(part) as file:
            while chunk := file.read(_CHUNK):
                left -= len(chunk)
                if left < 0:
                    raise _refuse(
                        413,
                        "The workbook is too large when it is unpacked.",
                        "La hoja es demasiado grande al descomprimirse.",
                    )
                rows += chunk.count(b"<row ")
                seen, tail = tail + chunk, chunk[-500:]
                if rows > bounds.rows + 100 or _reach(_LAST_ROW, seen, int) > bounds.rows + 1000:
                    raise _too_many(bounds)
                if _reach(_LAST_COLUMN, seen, _column) > bounds.columns:
                    raise _too_wide(bounds)


def _reach(pattern: re.Pattern[bytes], seen: bytes, place: Callable[[bytes], int]) -> int:
    """The last row or column that a part of a sheet names."""
    return max(map(place, set(pattern.findall(seen))), default=0)


def _column(letters: bytes) -> int:
    place = 0
    for letter in letters:
        place = place * 26 + letter - 64
    return place


def _read_workbook(content: bytes, kind: Format, bounds: Bounds) -> ReadTable:
    try:
        with load_workbook(io.BytesIO(content)) as book:
            sheets = []
            for place, name in enumerate(book.sheet_names[:20]):
                sheet = book.get_sheet_by_index(place)
                if sheet.total_height > bounds.rows:
                    raise _too_many(bounds)
                if sheet.total_width > bounds.columns:
                    raise _too_wide(bounds)
                rows = sheet.to_python(skip_empty_area=False)
                merges = tuple(sheet.merged_cell_ranges or ()) if kind == "xlsx" else ()
                sheets.append(ReadSheet(name, rows, merges[: bounds.rows]))
    except PasswordError:
        raise _refuse(
            415, "The file has a password. Save it without one.", "El archivo tiene contraseña. Guárdelo sin ella."
        ) from None
    except (CalamineError, ValueError, OverflowError):
        raise _damaged() from None
    return ReadTable(kind, tuple(sheets))


# -- CSV ---------------------------------------------------------------------------------------------------------------


def _decoded(content: bytes) -> tuple[str, str]:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return content.decode("utf-16"), "utf-16"
        except UnicodeDecodeError:
            raise _damaged() from None
    try:
        return content.decode("utf-8-sig"), "utf-8-sig" if content.startswith(b"\xef\xbb\xbf") else "utf-8"
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace"), "cp1252"


def _read_csv(content: bytes, bounds: Bounds) -> ReadTable:
    text, encoding = _decoded(content)
    head = text[:65536].splitlines()[:1] or [""]
    delimiter = max(";\t,|", key=head[0].count)
    rows: list[list[Cell]] = []
    try:
        for row in _csv_rows(text, delimiter):
            if len(rows) >= bounds.rows:
                raise _too_many(bounds)
            if len(row) > bounds.columns:
                raise _too_wide(bounds)
            rows.append(row)
    except csv.Error:
        raise _refuse(400, "The file cannot be read as CSV.", "El archivo no se puede leer como CSV.") from None
    width = max(map(len, rows), default=0)
    return ReadTable("csv", (ReadSheet("", [row + [""] * (width - len(row)) for row in rows]),), delimiter, encoding)


def _csv_rows(text: str, delimiter: str) -> Iterator[list[Cell]]:
    for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
        yield list(row)
