"""Values of a payload by their paths, as problems name them: `DetallesItems.Item[3].NombreItem`, counted from 1."""

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from fe.ecf.problems import Repair

_STEP = re.compile(r"([A-Za-z0-9_]{1,80})(?:\[([1-9][0-9]{0,4})\])?", re.ASCII)
_DEEPEST = 12

Steps = tuple[tuple[str, int | None], ...]


class NoPlace(ValueError):
    """There is no such place in the payload: the path is none, or goes past the end of a list."""


def steps_of(path: str) -> Steps:
    """Take a path apart. Raises NoPlace."""
    parts = path.split(".")
    found = [_STEP.fullmatch(part) for part in parts]
    if len(parts) > _DEEPEST or None in found:
        raise NoPlace(path)
    return tuple((one[1], int(one[2]) if one[2] else None) for one in found if one)


def plain(path: str) -> str:
    """The path without numbers, as tables of the format name it."""
    return re.sub(r"\[[0-9]+\]", "", path)


def in_row(path: str, rows: str) -> tuple[int, str] | None:
    """Say in which row of the list at `rows` a path leads, and where to in it; None where it leads elsewhere."""
    if not path.startswith(f"{rows}["):
        return None
    number, _, below = path[len(rows) + 1 :].partition("]")
    if not (number.isascii() and number.isdigit() and len(number) < 6 and below[:1] in ("", ".")):
        return None
    return int(number), below[1:]


def put(payload: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a path. Missing parents are made; a list may grow by one at its end. Raises NoPlace."""
    here, steps = payload, steps_of(path)
    for place, (name, number) in enumerate(steps):
        last = place == len(steps) - 1
        if number is None:
            if last:
                here[name] = value
                return
            here = _group(here.setdefault(name, {}), path)
            continue
        rows = here.setdefault(name, [])
        if not isinstance(rows, list) or number > len(rows) + 1:
            raise NoPlace(path)
        if number == len(rows) + 1:
            rows.append(value if last else {})
        elif last:
            rows[number - 1] = value
        here = _group(rows[number - 1], path) if not last else here


def take(payload: dict[str, Any], path: str) -> Any:
    """Take away what is at a path, and give it; None where nothing is. Raises NoPlace where no path is."""
    here: Any = payload
    *way, (name, number) = steps_of(path)
    for step, at in way:
        here = here.get(step) if isinstance(here, dict) else None
        if at is not None:
            here = here[at - 1] if isinstance(here, list) and at <= len(here) else None
    if not isinstance(here, dict) or name not in here:
        return None
    if number is None:
        return here.pop(name)
    rows = here[name]
    return rows.pop(number - 1) if isinstance(rows, list) and number <= len(rows) else None


def mend(payload: dict[str, Any], repair: Repair) -> None:
    """Do to a payload what a repair says. Raises NoPlace."""
    if repair.op == "set":
        put(payload, repair.path, repair.value)
        return
    taken = take(payload, repair.path)
    if repair.op == "rename" and repair.to is not None and taken is not None:
        put(payload, repair.to, taken)


def flatten(content: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """List the values of a payload with their paths, in its order, as text; nothings are left out."""
    if isinstance(content, dict):
        for name, value in content.items():
            yield from flatten(value, f"{path}.{name}" if path else str(name))
    elif isinstance(content, list):
        for number, value in enumerate(content, 1):
            yield from flatten(value, f"{path}[{number}]")
    elif content is not None:
        yield path, format(content, "f") if isinstance(content, Decimal) else str(content)


def _group(value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise NoPlace(path)
    return value
