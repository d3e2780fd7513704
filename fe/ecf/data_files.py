"""Read data files: tables as CSV, texts as TOML. Paths are relative to `fe`.

Modules read their files on import: a process that is shut off from files later has them already.
"""

import csv
import tomllib
from pathlib import Path
from typing import TypeVar

import msgspec

_HERE = Path(__file__).parents[1]
_Row = TypeVar("_Row")


def data_text(path: str) -> str:
    """Read a data file as it is."""
    return (_HERE / path).read_text(encoding="utf-8")


def csv_rows(path: str) -> list[dict[str, str]]:
    """Read a CSV file as rows by column name. Raises ValueError for a row of another length than the header."""
    with (_HERE / path).open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, strict=True)
    return [dict(zip(header, row, strict=True)) for row in rows]


def toml_file(path: str, kind: type[_Row]) -> _Row:
    """Read a TOML file as a `kind`.

    Raises msgspec.ValidationError for a field that is missing, unknown or of another type.
    """
    return msgspec.convert(tomllib.loads(data_text(path)), kind)


def toml_rows(path: str, row: type[_Row]) -> dict[str, _Row]:
    """Read each table of a TOML file as a `row`, whose `code` is the table's name.

    Raises msgspec.ValidationError for a field that is missing, unknown or of another type.
    """
    tables = tomllib.loads(data_text(path))
    return {code: msgspec.convert({"code": code, **fields}, row) for code, fields in tables.items()}
