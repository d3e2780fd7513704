"""Applying the machine-readable repair of a problem to a structured payload: what a client's program would do."""

import re
from copy import deepcopy
from typing import Any

_STEP = re.compile(r"([^.\[\]]+)(?:\[(\d+)\])?")


def steps(path: str) -> list[str | int]:
    found: list[str | int] = []
    for name, number in _STEP.findall(path):
        found.append(name)
        if number:
            found.append(int(number) - 1)
    return found


def _holder(payload: Any, way: list[str | int], *, make: bool = False) -> tuple[Any, str | int]:
    """Return the container of the last step. A list that is alone in its group, or has one entry, may be left out."""
    node = payload
    for at, step in enumerate(way[:-1]):
        if isinstance(step, int) and isinstance(node, dict):
            continue  # one entry, given without its list
        if isinstance(step, str) and isinstance(node, list):
            continue  # the list, given without its group
        following = way[at + 1]
        if make and isinstance(node, dict) and step not in node:
            node[step] = [] if isinstance(following, int) else {}
        if make and isinstance(node, list) and isinstance(step, int) and step == len(node):
            node.append({})
        node = node[step]
    return node, way[-1]


def applied(payload: dict[str, Any], repair: dict[str, Any]) -> dict[str, Any]:
    """The payload with the repair made. Raises where it cannot be made: then it was no repair."""
    mended = deepcopy(payload)
    holder, last = _holder(mended, steps(repair["path"]))
    if repair["op"] == "remove":
        del holder[last]
    elif repair["op"] == "rename":
        if isinstance(holder, dict) and isinstance(last, int):
            raise AssertionError(repair)
        value = holder.pop(last) if isinstance(holder, dict) else holder[last]
        target, name = _holder(mended, steps(repair["to"]), make=True)
        target[name] = value
    else:
        target, name = _holder(mended, steps(repair["path"]), make=True)
        target[name] = repair["value"]
    return mended
