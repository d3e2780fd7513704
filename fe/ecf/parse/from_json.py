"""JSON from outside: into values of which no limit of a later reader is broken, and no number is rounded."""

import json
import re
from collections import Counter
from decimal import Decimal
from itertools import accumulate
from typing import Any, NoReturn

import msgspec

from fe.ecf.parse import messages
from fe.ecf.parse.malformed import BOM, MAX_BYTES, NOT_XML, MalformedJson, decode, excerpt

MAX_JSON_DEPTH = 64
#: Objects and lists together. A megabyte has room for ten times as many, each of which takes a hundred bytes; a
#: document has at most 10,000 lines, and those leave no room for more within each.
MAX_JSON_CONTAINERS = 50_000
MAX_NUMBER_DIGITS = 20  # a unit price has 16 + 4, the longest number of the format

_OPENING = re.compile(rb"[\[{]")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_NOT_A_BRACKET = bytes(set(range(256)) - set(b"[]{}"))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_SUSPECT_ESCAPE = re.compile(r"\\[ubf]")


def parse_json(raw: bytes, *, max_bytes: int = MAX_BYTES) -> Any:
    """Read a JSON text into dict, list, str, bool, None, int and Decimal; never a float.

    Refuses with MalformedJson: more than `max_bytes`; anything but UTF-8 without a byte order mark; nesting deeper than
    64; more than 50,000 objects and lists; numbers of more than 20 digits or with an exponent, NaN and Infinity; an
    object that has a key twice; and, in keys and strings alike, every character that XML 1.0 has no room for (NUL,
    controls, lone surrogates).
    """
    if len(raw) > max_bytes:
        raise MalformedJson(messages.larger(max_bytes))
    if raw.startswith(BOM):
        raise MalformedJson(messages.BYTE_ORDER_MARK, 1, 1)
    if b"\0" in raw:
        raise MalformedJson(messages.NUL)
    text = decode(raw, MalformedJson)
    if (opened := raw.count(b"{") + raw.count(b"[")) > MAX_JSON_DEPTH:
        _refuse_deep(raw, may_be_many=opened > MAX_JSON_CONTAINERS)
    value = _read_quickly(raw)
    if value is _UNSURE:
        try:
            value = _JSON.decode(text)
        except json.JSONDecodeError as wrong:
            raise MalformedJson(messages.not_json(wrong.msg), wrong.lineno, wrong.colno) from None
    if _may_be_unwritable(text):
        _refuse_unwritable(value, "")
    return value


#: A text of more strings is not looked through at a glance: to find where each of them ends takes its time.
_FEW_STRINGS = 10_000


def refuse_crowd(raw: bytes) -> None:
    """Refuse at a glance, in a few milliseconds, what `parse_json` would refuse for its many objects and lists.

    Raises MalformedJson where that is plain; what passes may still be refused.
    """
    if raw.count(b"{") + raw.count(b"[") > MAX_JSON_CONTAINERS and raw.count(b'"') <= _FEW_STRINGS:
        _refuse_deep(raw, may_be_many=True)


_UNSURE = object()


def _read_quickly(raw: bytes) -> Any:
    """Read what is beyond doubt, in half the time of the reader in the standard library; `_UNSURE` of everything else.

    What is refused, and with which words, is decided by the other reader alone. This one would let an object have a key
    twice: so it is believed only where there are as many colons outside of texts as members, which leaves none that was
    lost. And it would take integers of any length.
    """
    if _TOO_LONG in raw.translate(_DIGITS_AS_0):
        return _UNSURE
    try:
        value = _QUICK.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _UNSURE
    members = _members(value)
    # The second look is at a text with a colon in it; it costs half of what the other reader does.
    return value if raw.count(b":") == members or _STRING.sub(b"", raw).count(b":") == members else _UNSURE


def _members(value: Any) -> int:
    """How many members the objects in a value have together."""
    count = 0
    found: list[Any] = [value] if value.__class__ in _HOLDERS else []
    for one in found:  # it grows
        if one.__class__ is dict:
            count += len(one)
            one = one.values()
        for below in one:
            if below.__class__ in _HOLDERS:
                found.append(below)
    return count


def _refuse_deep(raw: bytes, *, may_be_many: bool) -> None:
    brackets = _STRING.sub(b"", raw).translate(None, _NOT_A_BRACKET)
    if may_be_many and brackets.count(b"{") + brackets.count(b"[") > MAX_JSON_CONTAINERS:
        raise MalformedJson(messages.too_many_containers(MAX_JSON_CONTAINERS))
    if max(accumulate(map(_STEP.__getitem__, brackets)), default=0) > MAX_JSON_DEPTH:
        raise MalformedJson(messages.too_deep(MAX_JSON_DEPTH))


def _may_be_unwritable(text: str) -> bool:
    """Whether the strings must be walked for characters XML cannot carry; most bodies are spared that.

    Raw controls are refused by the JSON parser, so such a character is an escape or one of two raw ones.
    """
    if "\\" in text and _SUSPECT_ESCAPE.search(text):
        return True
    return "\ufffe" in text or "\uffff" in text


def _refuse_unwritable(value: Any, path: str) -> None:
    if isinstance(value, str):
        if NOT_XML.search(value):
            raise MalformedJson(messages.unwritable_text(path))
    elif isinstance(value, dict):
        for key, below in value.items():
            if NOT_XML.search(key):
                raise MalformedJson(messages.unwritable_key(excerpt(key)))
            _refuse_unwritable(below, f"{path}.{excerpt(key)}" if path else excerpt(key))
    elif isinstance(value, list):
        for number, below in enumerate(value, 1):
            _refuse_unwritable(below, f"{path}[{number}]")


def _integer(token: str) -> int:
    # The length is checked before the conversion: that of a long token takes seconds and holds the interpreter lock.
    if len(token) > MAX_NUMBER_DIGITS + (token[0] == "-"):
        raise MalformedJson(messages.too_many_digits(MAX_NUMBER_DIGITS))
    return int(token)


def _decimal(token: str) -> Decimal:
    if len(token) > MAX_NUMBER_DIGITS + 1 + (token[0] == "-"):
        raise MalformedJson(messages.too_many_digits(MAX_NUMBER_DIGITS))
    if "e" in token or "E" in token:
        raise MalformedJson(messages.EXPONENT)
    return Decimal(token)


def _not_a_number(token: str) -> NoReturn:
    raise MalformedJson(messages.not_a_number(token))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise MalformedJson(messages.key_twice(excerpt(counts.most_common(1)[0][0])))
    return members


def _number(token: str) -> int | Decimal:
    """A number that is not a small integer."""
    return _decimal(token) if "." in token or "e" in token or "E" in token else _integer(token)


_HOLDERS: frozenset[type] = frozenset({dict, list})
_DIGITS_AS_0 = bytes(b"0"[0] if byte in b"0123456789" else b" "[0] for byte in range(256))
_TOO_LONG = b"0" * (MAX_NUMBER_DIGITS + 1)
_QUICK = msgspec.json.Decoder(float_hook=_number)

_JSON = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_decimal, parse_constant=_not_a_number, strict=True
)
