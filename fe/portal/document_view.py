"""A document for reading: indented, numbered lines, with problems beside their lines."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from html import escape
from typing import Any

from lxml import etree

from fe.ecf.parse import Malformed, parse_json, parse_xml

#: More is not shown in a page; the file itself can be had.
MAX_SHOWN_BYTES = 512 * 1024
MAX_SHOWN_LINES = 3000
_INDENT = "  "

#: Characters that reorder text are shown by number.
_TURNING = {
    code: f"[U+{code:04X}]" for code in (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
}


@dataclass(slots=True)
class DocumentView:
    """Lines of a document. `is_whole`: there are no more."""

    lines: list[str] = field(default_factory=list)
    is_whole: bool = True
    _paths: dict[str, int] = field(default_factory=dict)
    _source_lines: dict[int, int] = field(default_factory=dict)

    def line_of(self, problem: Mapping[str, Any]) -> int | None:
        """Return the line of a problem; for a missing element, the line of its group."""
        path = str(problem.get("path") or "").replace("[1]", "")
        while path:
            if path in self._paths:
                return self._paths[path]
            path = path.rpartition(".")[0]
        return self._source_lines.get(int(problem.get("line") or 0))

    def _add(self, depth: int, text: str) -> int:
        self.lines.append(_INDENT * depth + text.translate(_TURNING))
        return len(self.lines)

    def _note(self, path: str, source_line: int | None = None) -> None:
        number = len(self.lines) + 1
        if path:
            self._paths.setdefault(path, number)
        if source_line:
            self._source_lines.setdefault(source_line, number)


def show_document(content: bytes, *, is_xml: bool) -> DocumentView | None:
    """Lay a document out; None for one that is too large, or cannot be read."""
    if len(content) > MAX_SHOWN_BYTES:
        return None
    view = DocumentView()
    try:
        lines = _xml(view, parse_xml(content), "", 0) if is_xml else _json(view, parse_json(content), "", 0, "", "")
        for _ in lines:
            if len(view.lines) >= MAX_SHOWN_LINES:
                view.is_whole = False
                break
    except Malformed:
        return None
    return view


# --- XML --------------------------------------------------------------------------------------------------------------


def _xml(view: DocumentView, element: etree._Element, path: str, depth: int) -> Iterator[int]:
    """Write an element, each line in turn; `path` is its own, as problems name it: below the root."""
    source_line: Any = element.sourceline  # the type stubs say `...`
    view._note(path, source_line)
    name, head = _name(element), _head(element)
    children = list(element)
    if not children:
        text = escape(element.text or "", quote=False)
        yield view._add(depth, f"<{head}>{text}</{name}>" if text else f"<{head}/>")
        return
    yield view._add(depth, f"<{head}>")
    seen: dict[str, int] = {}
    for child in children:
        tag = etree.QName(child).localname
        seen[tag] = seen.get(tag, 0) + 1
        step = tag if seen[tag] == 1 else f"{tag}[{seen[tag]}]"
        yield from _xml(view, child, f"{path}.{step}" if path else step, depth + 1)
    yield view._add(depth, f"</{name}>")


def _name(element: etree._Element) -> str:
    name = etree.QName(element).localname
    return f"{element.prefix}:{name}" if element.prefix else name


def _head(element: etree._Element) -> str:
    parent = element.getparent()
    known = parent.nsmap if parent is not None else {}
    spaces = [
        f' xmlns{":" + prefix if prefix else ""}="{escape(uri)}"'
        for prefix, uri in element.nsmap.items()
        if known.get(prefix) != uri
    ]
    given = [f' {etree.QName(name).localname}="{escape(str(value))}"' for name, value in element.attrib.items()]
    return _name(element) + "".join(spaces + given)


# --- JSON -------------------------------------------------------------------------------------------------------------


def _json(view: DocumentView, value: Any, path: str, depth: int, before: str, after: str) -> Iterator[int]:
    view._note(path)
    if isinstance(value, dict) and value:
        yield view._add(depth, f"{before}{{")
        for place, (key, inner) in enumerate(value.items(), 1):
            is_root = depth == 0 and len(value) == 1 and key.isupper()
            step = "" if is_root else f"{path}.{key}" if path else key
            comma = "," if place < len(value) else ""
            yield from _json(view, inner, step, depth + 1, f"{_text(key)}: ", comma)
        yield view._add(depth, f"}}{after}")
    elif isinstance(value, list) and value:
        yield view._add(depth, f"{before}[")
        for place, inner in enumerate(value, 1):
            step = path if place == 1 else f"{path}[{place}]"
            yield from _json(view, inner, step, depth + 1, "", "," if place < len(value) else "")
        yield view._add(depth, f"]{after}")
    else:
        yield view._add(depth, f"{before}{_text(value)}{after}")


def _text(value: Any) -> str:
    return str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False)


def marked(view: DocumentView | None, problems: Sequence[Mapping[str, Any]]) -> dict[int, list[Mapping[str, Any]]]:
    """Attach problems to their lines."""
    found: dict[int, list[Mapping[str, Any]]] = {}
    for problem in problems:
        line = view.line_of(problem) if view is not None else None
        if line is not None:
            found.setdefault(line, []).append(problem)
    return found
