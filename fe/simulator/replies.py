"""The authority's answers, in their shapes: JSON or XML, as seen live or as documented.

See authority.md#session to #queries.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from lxml import etree

from fe.ecf.dates import ZONE
from fe.simulator.exchange import RawAnswer

JSON = "application/json; charset=utf-8"
XML = "application/xml; charset=utf-8"
HTML = "text/html; charset=utf-8"
TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class AuthorityReply:
    """An answer before it has a form: JSON value, and the XML root it gets where the authority documents one.

    `content` holds dicts, lists, str, bool, int, Decimal and None.
    """

    content: Any
    root: str | None = None
    status: int = 200


def render(reply: AuthorityReply, *, xml: bool) -> RawAnswer:
    """Write `reply` as JSON, or as XML when that is asked for and exists."""
    if xml and reply.root is not None:
        return RawAnswer(reply.status, _to_xml(reply.root, reply.content), XML)
    return RawAnswer(reply.status, to_json(reply.content).encode(), JSON)


def page(status: int, html: str, *headers: tuple[str, str]) -> RawAnswer:
    """An HTML page."""
    return RawAnswer(status, html.encode(), HTML, headers)


def to_json(value: Any) -> str:
    """JSON with the digits of Decimals kept: `40120.00` stays so."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except TypeError:  # a Decimal, which only the answer of one query has
        return _to_json(value)


def _to_json(value: Any) -> str:
    match value:
        case Decimal():
            return str(value)
        case dict():
            return "{" + ",".join(f"{json.dumps(name)}:{_to_json(below)}" for name, below in value.items()) + "}"
        case list() | tuple():
            return "[" + ",".join(map(_to_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _to_xml(root: str, content: Any) -> bytes:
    if isinstance(content, list):
        element = etree.Element(f"ArrayOf{root}")
        for below in content:
            _fill(etree.SubElement(element, root), below)
    else:
        element = etree.Element(root)
        _fill(element, content)
    return etree.tostring(element, xml_declaration=True, encoding="utf-8")


def _fill(element: etree._Element, value: Any) -> None:
    match value:
        case Mapping():
            for name, below in value.items():
                # An array is its element repeated; nothing is no element.
                for each in below if isinstance(below, list) else [] if below is None else [below]:
                    _fill(etree.SubElement(element, name), each)
        case bool():
            element.text = "true" if value else "false"
        case _:
            element.text = str(value)


def other_shape(content: Any) -> Any:
    """An object where an array is due, and the reverse; as some of the authority's services do now and then."""
    if isinstance(content, Sequence) and not isinstance(content, str):
        return content[0] if len(content) == 1 else content
    return [content]


def us_time(moment: datetime) -> str:
    """`8/15/2023 6:06:57 AM`, the live form of `fechaRecepcion`, in local time."""
    local = moment.astimezone(ZONE)
    half = "AM" if local.hour < 12 else "PM"
    return (
        f"{local.month}/{local.day}/{local.year} {(local.hour - 1) % 12 + 1}:{local.minute:02}:{local.second:02} {half}"
    )


def utc_time(moment: datetime) -> str:
    """`2026-11-06T15:15:30Z`, as tokens' times are given."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
