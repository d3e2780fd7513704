"""Where things stand in the text of an XML document, as an editor counts: lines and columns from 1, in characters.

libxml2 knows the lines of nodes, and no columns. So where something is refused its place is looked up in the text,
which has been parsed by then: none of this says whether it is well-formed.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

#: Markup of a well-formed document without a DOCTYPE. No part of it can match in two ways: a tag of a megabyte takes as
#: long as a megabyte of tags.
_MARKUP = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>"
    r"|<(?P<end>/)?[^\s/>][^>\"']*+(?:(?:\"[^\"]*+\"|'[^']*+')[^>\"']*+)*+>",
    re.DOTALL,
)


@dataclass(slots=True)
class Extent:
    """Where the tags of an element are, as offsets in the text; `depth` is 1 for the root."""

    start: int
    after_start: int
    depth: int
    after_end: int = 0


class Lines:
    """The lines of a text, looked up once for any number of places."""

    def __init__(self, text: str) -> None:
        self._ends = [match.start() for match in re.finditer("\n", text)]

    def place(self, at: int) -> tuple[int, int]:
        """Line and column of an offset."""
        before = bisect_right(self._ends, at - 1)
        return before + 1, at - (self._ends[before - 1] if before else -1)


def place(text: str, at: int) -> tuple[int, int]:
    """Line and column of an offset in `text`."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def extents(text: str) -> Iterator[Extent]:
    """The elements in the order of their start tags; where one ends is known once all after it have been asked for."""
    open_: list[Extent] = []
    for markup in _MARKUP.finditer(text):
        if markup["end"]:
            open_.pop().after_end = markup.end()
            continue
        if text.startswith(("<!", "<?"), markup.start()):
            continue
        extent = Extent(markup.start(), markup.end(), len(open_) + 1, markup.end())
        if text[markup.end() - 2] != "/":
            open_.append(extent)
        yield extent


def other_markup(text: str) -> Iterator[int]:
    """The offsets of comments and processing instructions; an XML declaration is none."""
    return (markup.start() for markup in _MARKUP.finditer(text) if _is_other(text, markup.start()))


def without_other_markup(text: str) -> str:
    """The text without its comments and processing instructions."""
    return _MARKUP.sub(lambda markup: "" if _is_other(text, markup.start()) else markup[0], text)


def _is_other(text: str, at: int) -> bool:
    return text.startswith("<!--", at) or (text.startswith("<?", at) and not _is_declaration(text, at))


def _is_declaration(text: str, at: int) -> bool:
    return at == 0 and text.startswith("<?xml") and text[5:6].isspace()
