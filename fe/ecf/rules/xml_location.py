"""From a problem's path to its line in the XML."""

import re
from typing import Any

from lxml import etree

_STEP = re.compile(r"(\w+)(?:\[(\d+)\])?")


def line_of(root: etree._Element, path: str) -> int | None:
    """Return the line of the element at `path`, or of the nearest one above it that exists.

    None where the document stands on one line, or was never read from text: then a line says nothing.
    """
    top: Any = root  # the type stubs say `...` of sourceline
    if len(top) == 0 or top[-1].sourceline == top.sourceline:
        return None
    node = top
    for step in path.split("."):
        match = _STEP.fullmatch(step)
        if match is None:
            break
        same = node.findall(match[1])
        place = int(match[2] or 1) - 1
        if place >= len(same):
            break
        node = same[place]
    line = node.sourceline
    return line if isinstance(line, int) else None
