"""Print results: as text for people, with `--json` for programs, from the same record.

docs/cli.md promises the forms of JSON: ids, money and receipt numbers are strings, times are RFC 3339 in UTC, days are
YYYY-MM-DD. All records are converted here.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import click

from fe.clock import iso

Record = Mapping[str, Any]

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON for programs instead of text.")


def moment(value: datetime | None) -> str | None:
    """Show a moment the way the HTTP interface does."""
    return None if value is None else iso(value)


def form(value: Any, name: str = "") -> Any:
    """Convert a value, stored under `name`, to its JSON form. Raises TypeError for an unknown type."""
    match value:
        case Enum():
            return value.value
        case bool() | None | str() | float():
            return value
        case int():
            return str(value) if name == "id" or name.endswith("Id") else value
        case Decimal() | UUID():
            return str(value)
        case datetime():
            return moment(value)
        case date():
            return value.isoformat()
        case Mapping():
            return {str(key): form(below, str(key)) for key, below in value.items()}
        case list() | tuple():
            return [form(each, name) for each in value]
    raise TypeError(f"{name}: no form for {type(value).__name__}")


def show(record: Record, *, as_json: bool) -> None:
    """Print one record."""
    found = form(record)
    if as_json:
        print_json(found)
        return
    width = max(len(name) for name in found)
    for name, value in found.items():
        click.echo(f"{name:<{width}}  {_text(value)}")


def show_all(records: Sequence[Record], *, as_json: bool, none: str) -> None:
    """Print records as a table, or as a JSON array; print `none` when there are none."""
    found = form(list(records))
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo(none, err=True)
        return
    # Records of one list may differ: of a call for many, one is done and the next refused.
    names = list(dict.fromkeys(name for record in found for name in record))
    rows = [names] + [[_text(record.get(name)) for name in names] for record in found]
    widths = [max(len(row[column]) for row in rows) for column in range(len(names))]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def print_result(words: str | Sequence[str], record: Record, *, as_json: bool) -> None:
    """Print a result: lines of text, or a record."""
    if as_json:
        print_json(form(record))
        return
    for line in [words] if isinstance(words, str) else words:
        click.echo(line)


def print_json(found: Any) -> None:
    """Print JSON in one line, without converting it."""
    click.echo(json.dumps(found, ensure_ascii=False))


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return " ".join(_text(item) for item in value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | bool) else str(value)
