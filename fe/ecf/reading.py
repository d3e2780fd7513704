"""Read the content of a document whose shape has not been checked.

A missing or malformed part reads as empty, so rules need no guards of their own. The schema reports what is missing.
"""

from collections.abc import Mapping
from typing import Any

from lxml import etree

from fe.ecf.money import number

Fields = Mapping[str, Any]

EMPTY: Fields = {}


def section(parent: Fields, name: str) -> Fields:
    """Return the fields under `name`, or none."""
    value = parent.get(name)
    return value if isinstance(value, dict) else EMPTY


def says_anything(group: Fields) -> bool:
    """Return whether anything of a group will be written: an empty text never is."""
    return any(value != "" for value in group.values())


def rows(parent: Fields, table: str, name: str) -> list[Fields]:
    """Return each `name` in `table` (`SubDescuento`, `TablaSubDescuento`), each as fields; a single one is a row."""
    holder = parent.get(table)
    if not isinstance(holder, dict):
        return []
    value = holder.get(name)
    if isinstance(value, list):
        return [row if isinstance(row, dict) else EMPTY for row in value]
    return [value] if isinstance(value, dict) else []


def text(parent: Fields, name: str) -> str | None:
    """Return the text of a leaf without the blanks around it; None when it is absent, empty, or no leaf."""
    value = parent.get(name)
    if type(value) is str:
        return value.strip() or None
    return _written(value)


def whole(parent: Fields, name: str) -> str | None:
    """Return the text of a code that is a whole number, as `as_whole` spells it."""
    return as_whole(text(parent, name))


def as_whole(written: str | None) -> str | None:
    """Spell a code that is a whole number as the lists of the format do: `1` for `01` and `+1`, which are the same.

    What is no whole number stays as it is.
    """
    if written is None or (len(written) == 1 and written.isdecimal()):
        return written
    amount = number(written)
    return written if amount is None or amount != amount.to_integral_value() else str(int(amount))


def coded(parent: Fields, name: str, width: int) -> str | None:
    """Return the text of a code; one given as a number is filled up with zeros, as `build` will write it."""
    value = parent.get(name)
    if isinstance(value, str):
        return value.strip() or None
    written = _written(value)
    return None if written is None else written.zfill(width)


def _written(value: object) -> str | None:
    amount = number(value)
    if amount is None:
        return None
    return str(int(amount)) if amount == amount.to_integral_value() else str(amount)


def text_at(root: etree._Element, *steps: str) -> str | None:
    """Return the text of the first element at `steps` below `root`, or None: `findtext` at a fifth of its price."""
    node = root
    for step in steps:
        below = next(node.iterchildren(step), None)
        if below is None:
            return None
        node = below
    return node.text or ""
