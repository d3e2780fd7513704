"""Read the body of any answer of the authority as one value (authority.md#bodies).

The authority answers in JSON or XML; gateways in front of its services answer in HTML, in plain text or not at all.
Nothing in this module raises: an unreadable body becomes text, and other modules interpret it.
"""

import html
import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum, auto
from functools import lru_cache
from typing import Any

from lxml import etree

from fe.ecf.parse import MalformedJson, MalformedXml, parse_json, parse_xml

#: Limits of the stored part of an answer: it goes into a row of Postgres and to the client of the submission.
MAX_RAW_BYTES = 16 * 1024
MAX_TEXT = 2_000
MAX_MESSAGES = 100
MAX_LEVELS = 16

_BOM = b"\xef\xbb\xbf"
#: Characters that jsonb and text refuse (NUL, lone surrogates), and controls that spoil a log.
_UNSAFE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_CODE_FORM = re.compile(r"\s*[0-9]{1,9}\s*", re.ASCII)
_HTML_START = re.compile(rb"\s*(?:<!doctype\s+html|<html|<head|<body|<title|<center|<h1)", re.IGNORECASE)
_HTML_HIDDEN = re.compile(r"(?is)<(script|style)\b.*?(?:</\1\s*>|\Z)|<!--.*?(?:-->|\Z)")
_HTML_TAG = re.compile(r"<[^>]*(?:>|\Z)")


class BodyForm(Enum):
    """Kind of a body."""

    EMPTY = auto()
    DATA = auto()
    """JSON, or XML other than HTML: an object, a list, a string."""
    TEXT = auto()
    """Neither: a bare string, or something that breaks off in the middle."""
    HTML = auto()
    """A page, and so not from the service itself."""


@dataclass(frozen=True, slots=True)
class Message:
    """One remark of the authority. `codigo` is kept as it came ("004" is not "4"); empty where there was none."""

    codigo: str
    valor: str

    @property
    def number(self) -> int | None:
        """The code as a number, for comparisons: the services disagree about its type and its zeros."""
        return number(self.codigo)


@dataclass(frozen=True, slots=True)
class Body:
    """A body that was looked at.

    `value` is built of dict, list, str, int, Decimal, bool and None. An XML document is the dict of its root's
    children, and `root` is the root's name. `raw` is what may be stored and shown: JSON of at most 16 KiB without
    NUL and surrogates, an object always (`{"text": ...}` for what is no object, `{}` for an empty body).
    """

    form: BodyForm
    value: Any
    root: str | None
    raw: dict[str, Any]


def read_body(content: bytes) -> Body:
    """Look at the bytes themselves: the Content-Type of these services is not to be relied on."""
    content = content.removeprefix(_BOM).strip()
    if not content:
        return Body(BodyForm.EMPTY, None, None, {})
    if _HTML_START.match(content):
        return _page(content)
    try:
        if content[:1] == b"<":
            root = parse_xml(content)
            value, name = _from_xml(root), etree.QName(root).localname
        else:
            content = _in_utf8(content)
            value, name = _from_json(content), None
    except (MalformedJson, MalformedXml):
        words = clean(content.decode("utf-8", "replace"))
        return Body(BodyForm.TEXT, words, None, {"text": words})
    if name is not None and name.lower() == "html":
        return _page(content)
    return Body(BodyForm.DATA, value, name, _storable(value, len(content)))


def _in_utf8(content: bytes) -> bytes:
    """Decode as Windows-1252 where it is not UTF-8: older servers write accents that way."""
    try:
        content.decode()
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace").encode()
    return content


def alone(body: Body) -> Body:
    """The body, or what lies in it alone where it is an array of one: some answers come in either shape."""
    if body.form is not BodyForm.DATA or not isinstance(body.value, list) or len(body.value) != 1:
        return body
    return replace(body, value=body.value[0], raw=_storable(body.value[0], MAX_RAW_BYTES))


def _from_json(content: bytes) -> Any:
    value = parse_json(content)
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:  # an object that was serialised twice
            return parse_json(value.encode())
        except MalformedJson:
            return value
    return value


def _from_xml(element: etree._Element) -> Any:
    if not len(element):
        return element.text or ""
    members: dict[str, Any] = {}
    for child in element:
        name, value = etree.QName(child).localname, _from_xml(child)
        if name not in members:
            members[name] = value
        elif isinstance(members[name], list):
            members[name].append(value)
        else:
            members[name] = [members[name], value]
    return members


def _page(content: bytes) -> Body:
    page = _HTML_TAG.sub(" ", _HTML_HIDDEN.sub(" ", content.decode("utf-8", "replace")))
    words = clean(" ".join(html.unescape(page).split()))
    return Body(BodyForm.HTML, words, None, {"text": words})


# --- Reading values -----------------------------------------------------------------------------------------------


def member(value: Any, *names: str) -> Any:
    """The first member of an object with one of these names (given in lower case) that is not null, in any case."""
    if isinstance(value, dict):
        spellings = _spellings(tuple(value))
        for name in names:
            for key in spellings.get(name, ()):
                if value[key] is not None:
                    return value[key]
    return None


@lru_cache(maxsize=64)  # a service's answers all have the same members
def _spellings(keys: tuple[str, ...]) -> dict[str, list[str]]:
    """By name in lower case, the keys that spell it, in their order."""
    found: dict[str, list[str]] = {}
    for key in keys:
        found.setdefault(key.lower(), []).append(key)
    return found


def text(value: Any) -> str | None:
    """A scalar as cleaned text; None for everything else, and for blank."""
    if isinstance(value, str):
        return clean(value).strip() or None
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return str(value)[:MAX_TEXT]
    return None


def number(value: Any) -> int | None:
    """A code, whether it came as 1, "1", "01" or 1.0."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else None
    if isinstance(value, str) and _CODE_FORM.fullmatch(value):
        return int(value)
    return None


def flag(value: Any) -> bool | None:
    """A truth value, in JSON's words or in XML's."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return {"true": True, "false": False, "1": True, "0": False}.get(value.strip().lower())
    return None


@lru_cache(maxsize=256)  # the authority says the same few things
def fold(words: str) -> str:
    """Text for comparison, as the authority spells its words in several ways: no accents, lower case, one blank."""
    plain = unicodedata.normalize("NFKD", words)
    return " ".join("".join(c for c in plain if not unicodedata.combining(c)).lower().split())


def clean(words: str) -> str:
    """Text that every store and every screen takes: characters that they refuse become U+FFFD, at most 2,000 in all."""
    words = words[:MAX_TEXT]
    return words if words.isprintable() else _UNSAFE.sub("\ufffd", words)  # the first is a quarter of the price


# --- Messages -----------------------------------------------------------------------------------------------------

_CODE = ("codigo", "code")
_WORDS = ("valor", "mensaje", "message", "descripcion", "detail", "title")
_HOLDERS = ("mensajes", "mensaje", "message", "error", "errors", "messages")


def messages(body: Body) -> tuple[Message, ...]:
    """All that the answer says in words, at most 100 remarks; of a page of HTML, its text as one."""
    if body.form is BodyForm.EMPTY:
        return ()
    body = alone(body)
    if isinstance(body.value, dict):
        found = [m for name in _HOLDERS for m in _remarks(member(body.value, name), 0)]
        title = text(member(body.value, "detail")) or text(member(body.value, "title"))
        if title is not None:
            found.insert(0, Message("", title))
    else:
        found = list(_remarks(body.value, 0))
    return tuple(dict.fromkeys(found))[:MAX_MESSAGES]


def _remarks(value: Any, level: int) -> Iterator[Message]:
    if level > MAX_LEVELS or value is None or isinstance(value, bool):
        return
    if isinstance(value, list):
        for each in value:
            yield from _remarks(each, level + 1)
    elif isinstance(value, dict):
        code, words = text(member(value, *_CODE)), member(value, *_WORDS)
        if code is not None or isinstance(words, str | int | Decimal):
            yield Message(code or "", text(words) or "")
        else:  # ProblemDetails' {field: [text]}, or an element that only wraps
            for each in value.values():
                yield from _remarks(each, level + 1)
    else:
        words = text(value)
        if words is not None:
            yield Message("", words)


# --- What may be stored -------------------------------------------------------------------------------------------


#: How many bytes of JSON one byte of an answer can become at most (an empty element: `<a/>` is `"a": "", `).
_GROWS = 4


def _storable(value: Any, size: int) -> dict[str, Any]:
    """Return the part of `value`, read from `size` bytes, that may be stored."""
    safe = _safe(value, 0)
    if not isinstance(safe, dict):
        safe = {} if safe is None else {"items": safe} if isinstance(safe, list) else {"text": safe}
    if size * _GROWS <= MAX_RAW_BYTES // 2:  # nearly every answer: there is no need to write it out to know its size
        return safe
    shown = json.dumps(safe, ensure_ascii=False)
    if len(shown.encode()) <= MAX_RAW_BYTES:
        return safe
    return {"text": shown[:MAX_TEXT], "truncated": True}


def _safe(value: Any, level: int) -> Any:
    """The same in JSON's own types. Decimals become text: as floats they would be other numbers."""
    if isinstance(value, str):
        return clean(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**63 else str(value)
    if level == MAX_LEVELS or not isinstance(value, dict | list):
        return clean(str(value))
    if isinstance(value, list):
        return [_safe(each, level + 1) for each in value]
    return {clean(key): _safe(below, level + 1) for key, below in value.items()}
