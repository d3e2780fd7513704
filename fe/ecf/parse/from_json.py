"""JSON from outside: into values of which no limit of a later reader is broken, and no number is rounded."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate, pairwise
from typing import Any, NoReturn

import msgspec

from fe.ecf.parse import messages
from fe.ecf.parse.malformed import BOM, MAX_BYTES, NOT_XML, MalformedJson, decode, excerpt
from fe.ecf.texts import Text
from fe.ecf.xml_positions import place

MAX_JSON_DEPTH = 64
#: Objects and lists together. A megabyte has room for ten times as many, each of which takes a hundred bytes; a
#: document has at most 10,000 lines, and those leave no room for more within each.
MAX_JSON_CONTAINERS = 50_000
MAX_NUMBER_DIGITS = 20  # a unit price has 16 + 4, the longest number of the format

_OPENING = re.compile(rb"[\[{]")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_NOT_A_BRACKET = bytes(set(range(256)) - set(b"[]{}"))
_NOT_A_SIGN = bytes(set(range(256)) - set(b"[{:"))
_STRUCTURE = re.compile(rb"[\[\]{},]")
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_SUSPECT_ESCAPE = re.compile(r"\\[ubf]")


def parse_json(raw: bytes, *, max_bytes: int = MAX_BYTES) -> Any:
    """Read a JSON text into dict, list, str, bool, None, int and Decimal; never a float.

    A byte order mark is tolerated, as in XML. Refuses with MalformedJson, naming the value by its path or the place by
    line and column: more than `max_bytes`; anything but UTF-8; nesting deeper than 64; more than 50,000 objects and
    lists; numbers of more than 20 digits or with an exponent, NaN and Infinity; an object that has a key twice; and, in
    keys and strings alike, every character that XML 1.0 has no room for (NUL, controls, lone surrogates).
    """
    if len(raw) > max_bytes:
        raise MalformedJson(messages.LARGER.fill(limit=max_bytes))
    raw = raw.removeprefix(BOM)
    if b"\0" in raw:
        before = raw[: raw.index(b"\0")].decode("utf-8", "replace")
        raise MalformedJson(messages.looks_like(messages.NUL, _coding_of(raw)), *place(before, len(before)))
    try:
        text = decode(raw, MalformedJson)
    except MalformedJson as wrong:
        said = messages.looks_like(wrong.message, _coding_of(raw))
        raise MalformedJson(said, wrong.line, wrong.column) from None
    signs = raw.translate(None, _NOT_A_SIGN)  # cheaper than to count each sign in the whole
    if (opened := signs.count(b"{") + signs.count(b"[")) > MAX_JSON_DEPTH:
        _refuse_deep(raw, may_be_many=opened > MAX_JSON_CONTAINERS)
    value = _read_quickly(raw, signs.count(b":"))
    if value is _UNSURE:
        try:
            value = _JSON.decode(text)
        except json.JSONDecodeError as wrong:
            raise MalformedJson(messages.not_json(wrong.msg), wrong.lineno, wrong.colno) from None
        except MalformedJson as refused:
            raise _locate(text, refused) from None
    if _may_be_unwritable(text):
        _refuse_unwritable(value, "")
    return value


#: Bytes before a bracket that are searched for its key.
_NEAR = 64
_JSON_BLANKS = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class ListedPart:
    """An element of a list in a JSON text: its bytes, and the place in the text at which they begin."""

    raw: bytes
    line: int
    column: int

    def read(self) -> Any:
        """Parse the element alone. Raises MalformedJson with the line and column in the whole text."""
        try:
            return parse_json(self.raw)
        except MalformedJson as wrong:
            line, column = wrong.line, wrong.column
            if line is not None and column is not None:
                line, column = self.line + line - 1, column + (self.column - 1 if line == 1 else 0)
            raise MalformedJson(wrong.message, line, column, wrong.path) from None


def split_list(raw: bytes, name: str, most: int) -> tuple[bytes, list[ListedPart]] | None:
    """Cut the elements out of the list `name` of a JSON object that `parse_json` refuses as a whole.

    Gives the text with a 0 in the place of each element, and the elements. None where the text has no such list, the
    list has no end or more than `most` elements, or the text has more objects and lists than any may have.
    """
    brackets = _STRING.sub(lambda text: b" " * len(text[0]), raw)
    if brackets.count(b"{") + brackets.count(b"[") > MAX_JSON_CONTAINERS:
        return None
    key = f'"{name}"'.encode()
    depth, ends = 0, list[int]()
    for found in _STRUCTURE.finditer(brackets):
        at, sign = found.start(), found[0]
        if sign in b"[{":
            depth += 1
            if not ends and depth == 2 and sign == b"[" and _follows(key, raw[max(at - _NEAR, 0) : at]):
                ends.append(at)
        elif sign == b",":
            if ends and depth == 2:
                ends.append(at)
        else:
            depth -= 1
            if ends and depth == 1:
                ends.append(at)
                break
        if len(ends) > most + 1:
            return None
    # The list that began ends with a bracket of its own kind.
    if not ends or depth != 1 or raw[ends[-1] : ends[-1] + 1] != b"]" or len(ends) > most + 1:
        return None
    parts, line, column, passed = [], 1, 1, 0
    for before, after in pairwise(ends):
        ahead = raw[passed : before + 1].decode("utf-8", "replace")
        line += ahead.count("\n")
        column = len(ahead) - ahead.rfind("\n") if "\n" in ahead else column + len(ahead)
        passed = before + 1
        parts.append(ListedPart(raw[passed:after], line, column))
    return raw[: ends[0] + 1] + b",".join([b"0"] * len(parts)) + raw[ends[-1] :], parts


def _follows(key: bytes, before: bytes) -> bool:
    before = before.rstrip(_JSON_BLANKS)
    return before.endswith(b":") and before[:-1].rstrip(_JSON_BLANKS).endswith(key)


#: A text of more strings is not looked through at a glance: to find where each of them ends takes its time.
_FEW_STRINGS = 10_000


def refuse_crowd(raw: bytes) -> None:
    """Refuse at a glance, in a few milliseconds, what `parse_json` would refuse for its many objects and lists.

    Raises MalformedJson where that is plain; what passes may still be refused.
    """
    if raw.count(b"{") + raw.count(b"[") > MAX_JSON_CONTAINERS and raw.count(b'"') <= _FEW_STRINGS:
        _refuse_deep(raw, may_be_many=True)


_UNSURE = object()


def _read_quickly(raw: bytes, colons: int) -> Any:
    """Read unproblematic JSON in half the time of the standard library's reader; return `_UNSURE` for the rest.

    Only the other reader refuses, and words the refusals. This one accepts duplicate keys, so its result counts only if
    the colons outside of texts are as many as the members: then no member was lost. It also accepts integers of any
    length.
    """
    if _TOO_LONG in raw.translate(_DIGITS_AS_0):
        return _UNSURE
    try:
        value = _QUICK.decode(raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _UNSURE
    members = _members(value)
    # The second look is at a text with a colon in it; it costs half of what the other reader does.
    return value if colons == members or _STRING.sub(b"", raw).count(b":") == members else _UNSURE


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
        raise MalformedJson(messages.TOO_MANY_CONTAINERS.fill(limit=MAX_JSON_CONTAINERS))
    if max(accumulate(map(_STEP.__getitem__, brackets)), default=0) > MAX_JSON_DEPTH:
        raise MalformedJson(messages.TOO_DEEP.fill(limit=MAX_JSON_DEPTH))


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
                raise MalformedJson(messages.UNWRITABLE_KEY.fill(key=excerpt(key)))
            _refuse_unwritable(below, f"{path}.{excerpt(key)}" if path else excerpt(key))
    elif isinstance(value, list):
        for number, below in enumerate(value, 1):
            _refuse_unwritable(below, f"{path}[{number}]")


def _wrong_with(token: str) -> Text | None:
    """Why a number is refused: the words of JSON for what is none, too many digits, an exponent."""
    if token[-1] not in "0123456789":
        return messages.NOT_A_NUMBER.fill(token=token)
    is_decimal = "." in token or "e" in token or "E" in token
    if len(token) > MAX_NUMBER_DIGITS + is_decimal + (token[0] == "-"):
        return messages.TOO_MANY_DIGITS.fill(limit=MAX_NUMBER_DIGITS)
    return messages.EXPONENT if "e" in token or "E" in token else None


def _integer(token: str) -> int:
    # The length is checked before the conversion: that of a long token takes seconds and holds the interpreter lock.
    if (wrong := _wrong_with(token)) is not None:
        raise MalformedJson(wrong)
    return int(token)


def _decimal(token: str) -> Decimal:
    if (wrong := _wrong_with(token)) is not None:
        raise MalformedJson(wrong)
    return Decimal(token)


def _not_a_number(token: str) -> NoReturn:
    raise MalformedJson(messages.NOT_A_NUMBER.fill(token=token))


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise MalformedJson(messages.KEY_TWICE.fill(key=excerpt(counts.most_common(1)[0][0])))
    return members


# The reader of the standard library does not tell its hooks where they are. So a text that a hook refuses is read a
# second time, by hooks that leave a mark in the place of each value that is refused: its path leads to it.


@dataclass(frozen=True, slots=True)
class _Refused:
    """The mark in the place of a value that is refused."""

    why: Text
    is_number: bool = True


def _number_or_mark(token: str) -> object:
    wrong = _wrong_with(token)
    return 0 if wrong is None else _Refused(wrong)


def _object_or_mark(pairs: list[tuple[str, Any]]) -> object:
    try:
        return _object(pairs)
    except MalformedJson as wrong:
        return _Refused(wrong.message, is_number=False)


def _locate(text: str, refused: MalformedJson) -> MalformedJson:
    """Add to a refusal of a hook the path and the place of the first value that is refused."""
    line = column = None
    without_texts = _TEXT.sub(lambda string: " " * len(string[0]), text)
    wrong = (found.start() for found in _NUMBER.finditer(without_texts) if _wrong_with(found[0]) is not None)
    if (at := next(wrong, None)) is not None:
        line, column = place(text, at)
    try:
        path, first = next(_marks(_MARKING.decode(text), ""))
    except json.JSONDecodeError:  # further on it is no JSON
        return MalformedJson(refused.message, line, column)
    if not first.is_number:
        line = column = None
    return MalformedJson(
        first.why, line, column, path if len(path) <= _LONGEST_PATH else f"…{path[1 - _LONGEST_PATH :]}"
    )


def _marks(value: Any, path: str) -> Iterator[tuple[str, _Refused]]:
    if isinstance(value, _Refused):
        yield path, value
    elif isinstance(value, dict):
        for key, below in value.items():
            yield from _marks(below, f"{path}.{excerpt(key)}" if path else excerpt(key))
    elif isinstance(value, list):
        for number, below in enumerate(value, 1):
            yield from _marks(below, f"{path}[{number}]")


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
_MARKING = json.JSONDecoder(
    object_pairs_hook=_object_or_mark,
    parse_int=_number_or_mark,
    parse_float=_number_or_mark,
    parse_constant=_number_or_mark,
    strict=True,
)
_TEXT = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)', re.DOTALL)
_NUMBER = re.compile(r"-?(?:NaN|Infinity|[0-9][0-9.]*(?:[eE][+-]?[0-9]+)?)")
_LONGEST_PATH = 160

#: How compressed bytes begin: gzip, zlib, zstd, zip.
_COMPRESSED = (b"\x1f\x8b", b"\x78\x01", b"\x78\x9c", b"\x78\xda", b"\x28\xb5\x2f\xfd", b"PK\x03\x04")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def _coding_of(raw: bytes) -> Text | None:
    """Return the coding that these bytes seem to have, if they are not JSON in UTF-8; None if it cannot be told."""
    begins = raw[:64]
    if begins.startswith(_COMPRESSED):
        return messages.COMPRESSED
    return messages.UTF_16 if begins.startswith(_UTF_16) or 3 * begins.count(0) >= len(begins) else None
