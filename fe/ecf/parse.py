"""The only door through which bytes from outside become JSON values or XML trees.

Everything that arrives (requests, received e-CF, the authority's answers) is read here, so that there is one answer to
what is refused. Each limit exists because its absence was seen to hang, fool or outgrow a parser or a later reader.
"""

import json
import re
import threading
from collections import Counter
from decimal import Decimal
from itertools import accumulate, islice
from typing import Any, NoReturn

import msgspec
from lxml import etree

from fe.ecf import parse_messages as messages
from fe.ecf.places import extents, other_markup, place
from fe.ecf.texts import Text

MAX_BYTES = 1024 * 1024
MAX_JSON_DEPTH = 64
#: Objects and lists together. A megabyte has room for ten times as many, each of which takes a hundred bytes; a
#: document has at most 10,000 lines, and those leave no room for more within each.
MAX_JSON_CONTAINERS = 50_000
MAX_NUMBER_DIGITS = 20  # a unit price has 16 + 4, the longest number of the format
MAX_XML_ELEMENTS = 50_000
MAX_XML_DEPTH = 32  # a signed document is 8 deep
#: On an element and those around it, together. The canonical form of each element costs the square of them, so four
#: thousand on the root of 64 KB took seconds. Documents have none; seeds and what serialisers write have two or three,
#: the frameworks that declare all they know perhaps a dozen. How many a document has in all does not matter.
MAX_XML_NAMESPACES = 32
MAX_XML_PREFIX = 64  # characters; each is compared with all others, over and over
#: On one element. To bring them in order costs the square of them. No document has any, a Signature has one.
MAX_XML_ATTRIBUTES = 32

_BOM = b"\xef\xbb\xbf"

#: Characters that XML 1.0 cannot carry: a value with one of them could be accepted here and never written.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Malformed(ValueError):
    """Bytes that are not what they were said to be. `message` never repeats the input at length."""

    def __init__(self, message: Text, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message, line, column)
        self.message = message
        self.line = line
        self.column = column

    @property
    def text(self) -> Text:
        """The message with its place, as far as that is known."""
        if self.line is None:
            return self.message
        en, es = f"line {self.line}", f"línea {self.line}"
        if self.column is not None:
            en, es = f"{en}, column {self.column}", f"{es}, columna {self.column}"
        return Text(f"{self.message.en} ({en})", f"{self.message.es} ({es})")

    def __str__(self) -> str:
        return self.text.en


class MalformedJson(Malformed):
    """Not a JSON text this service reads."""


class MalformedXml(Malformed):
    """Not an XML document this service reads."""


def excerpt(text: str, limit: int = 64) -> str:
    """`text` made safe to show: at most `limit` characters, those that are not printable written as escapes."""
    shown = text[:limit]
    if not shown.isprintable():
        shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in shown)[:limit]
    return shown if len(text) <= limit else shown[: limit - 1] + "…"


def writable(text: str) -> bool:
    """Whether XML 1.0 can carry `text`."""
    return _NOT_XML.search(text) is None


def _decode(raw: bytes, error: type[Malformed]) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as wrong:
        before = raw[: wrong.start].decode()
        raise error(messages.NOT_UTF_8, *place(before, len(before))) from None


# --- JSON ---------------------------------------------------------------------------------------------------------

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
    if raw.startswith(_BOM):
        raise MalformedJson(messages.BYTE_ORDER_MARK, 1, 1)
    if b"\0" in raw:
        raise MalformedJson(messages.NUL)
    text = _decode(raw, MalformedJson)
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
        if _NOT_XML.search(value):
            raise MalformedJson(messages.unwritable_text(path))
    elif isinstance(value, dict):
        for key, below in value.items():
            if _NOT_XML.search(key):
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


# --- XML ----------------------------------------------------------------------------------------------------------

_DECLARATION = re.compile(
    rb"""<\?xml[ \t\r\n]+version[ \t\r\n]*=[ \t\r\n]*["']1\.0["']"""
    rb"""(?:[ \t\r\n]+encoding[ \t\r\n]*=[ \t\r\n]*["'](?P<encoding>[A-Za-z0-9._-]+)["'])?"""
    rb"""(?:[ \t\r\n]+standalone[ \t\r\n]*=[ \t\r\n]*["'](?:yes|no)["'])?[ \t\r\n]*\?>"""
)
_BLANK_BETWEEN_TAGS = re.compile(rb">[ \t\r\n]+<")
_BLANKS = " \t\r\n"
_TOO_DEEP = etree.XPath("boolean(" + "/*" * (MAX_XML_DEPTH + 1) + ")")
_START = re.compile(rb"<(?!/)")
_LONG_PREFIX = re.compile(rb"xmlns:[^ \t\r\n=\"'<>/]{%d}" % (MAX_XML_PREFIX + 1))
_TOO_MANY_ATTRIBUTES = etree.XPath(f"boolean(//*[@*[{MAX_XML_ATTRIBUTES + 1}]])")


class _Parsers(threading.local):
    """One parser for each thread: lxml parsers must not be shared, and making one for every document is waste.

    No further option may be given: with `collect_ids=False`, say, lxml loads external DTDs in spite of `load_dtd`.
    """

    def __init__(self) -> None:
        self.parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)


_parsers = _Parsers()


def parse_xml(raw: bytes, *, max_bytes: int = MAX_BYTES) -> etree._Element:
    """Parse an XML document and return its root, without the whitespace between elements (authority.md#whitespace).

    The text of an element that has no element in it is left as it is, blanks included. Line numbers (`sourceline`) are
    those of the input. A byte order mark is tolerated.

    Refuses with MalformedXml, with line and column where there is a place: more than `max_bytes`; anything but XML 1.0
    in UTF-8; a DOCTYPE, an entity, a comment, a processing instruction, anything beside the root; more than 50,000
    elements or 32 levels; more than 32 namespace declarations in force at one element, prefixes of more than 64
    characters, more than 32 attributes of one element; NUL. So whoever looks at the declarations of every node, or
    writes the canonical form, does work in proportion to the bytes.
    """
    if len(raw) > max_bytes:
        raise MalformedXml(messages.larger(max_bytes))
    if b"\0" in raw:
        raise _refusal(messages.NUL_OR_NOT_UTF_8, raw, raw.index(b"\0"))
    raw = raw.removeprefix(_BOM)
    _decode(raw, MalformedXml)
    has_declaration = _refuse_foreign_declaration(raw)
    if b"<!DOCTYPE" in raw:
        raise _refusal(messages.DOCTYPE, raw, raw.index(b"<!DOCTYPE"))
    # Counted before parsing: a megabyte of empty elements costs a hundred of memory.
    if raw.count(b"<") > MAX_XML_ELEMENTS and raw.count(b"<") - raw.count(b"</") > MAX_XML_ELEMENTS:
        first_too_many = next(islice(_START.finditer(raw), MAX_XML_ELEMENTS, None))
        raise _refusal(messages.too_many_elements(MAX_XML_ELEMENTS), raw, first_too_many.start())
    try:
        root = etree.fromstring(raw, _parsers.parser)
    except etree.XMLSyntaxError as wrong:
        line, column = wrong.position
        meaning = messages.XML_ERRORS.get(_code_of(wrong), messages.NOT_WELL_FORMED)
        raise MalformedXml(meaning, line or None, column or None) from None
    if _TOO_DEEP(root):
        text = raw.decode()
        at = next(extent.start for extent in extents(text) if extent.depth > MAX_XML_DEPTH)
        raise MalformedXml(messages.too_deep(MAX_XML_DEPTH), *place(text, at))
    # Looked for in the bytes first, which is enough for nearly every document; a text may have such words in it, too.
    if raw.count(b"xmlns") > MAX_XML_NAMESPACES or _LONG_PREFIX.search(raw):
        _refuse_crowded_namespaces(raw, root)
    if raw.count(b"=") > MAX_XML_ATTRIBUTES and _TOO_MANY_ATTRIBUTES(root):
        crowded = next(n for n, each in enumerate(root.iter("*")) if len(each.attrib) > MAX_XML_ATTRIBUTES)
        raise _refusal_of_element(messages.too_many_attributes(MAX_XML_ATTRIBUTES), raw, crowded)
    # Compact documents without references or markup other than elements (our own, say) need no second look. One byte is
    # looked for, not two: comments and CDATA have a !, instructions a ?, references a &, of which those to characters
    # may be blanks.
    has_other_markup = b"!" in raw or raw.count(b"?") > 2 * has_declaration
    references = b"&" in raw
    if has_other_markup or references:
        _refuse_all_but_elements(raw, root)
    if has_other_markup or (references and b"&#" in raw) or _BLANK_BETWEEN_TAGS.search(raw):
        _drop_blanks(root)
    return root


def parse_own(text: str) -> etree._Element:
    """Make a tree of XML that this program has just written; what comes from outside goes through `parse_xml`.

    MalformedXml if it holds a character that XML does not allow; UnicodeEncodeError for lone surrogates.
    """
    try:
        return etree.fromstring(text.encode(), _parsers.parser)
    except etree.XMLSyntaxError as wrong:
        raise MalformedXml(messages.BAD_CHARACTER) from wrong


def _code_of(wrong: etree.XMLSyntaxError) -> int | None:
    return getattr(wrong, "code", None)  # lxml sets it; its type stubs do not know


def _refuse_foreign_declaration(raw: bytes) -> bool:
    """Whether there is an XML declaration; refuses one of another version or encoding."""
    if not raw.startswith(b"<?xml") or raw[5:6] not in (b" ", b"\t", b"\r", b"\n"):
        return False
    declaration = _DECLARATION.match(raw)
    if declaration is None:
        raise _refusal(messages.NOT_VERSION_1_0, raw, 0)
    encoding = declaration["encoding"]
    if encoding is not None and encoding.lower() not in (b"utf-8", b"utf8"):
        raise _refusal(messages.FOREIGN_ENCODING, raw, declaration.start("encoding"))
    return True


def _refusal(message: Text, raw: bytes, at: int) -> MalformedXml:
    """Refuse what stands at an offset in the bytes, of which those before it need not be UTF-8."""
    before = raw[:at].decode("utf-8", "replace")
    return MalformedXml(message, *place(before, len(before)))


def _refusal_of_element(message: Text, raw: bytes, number: int) -> MalformedXml:
    """Refuse the element that so many others begin before."""
    text = raw.decode()
    return MalformedXml(message, *place(text, next(islice(extents(text), number, None)).start))


def _refuse_crowded_namespaces(raw: bytes, root: etree._Element) -> None:
    """Refuse an element at which too many declarations are in force, each counted although another hides it.

    Goes by the declarations alone: to ask every node which are in force would itself cost nodes times declarations.
    """
    in_force = number = 0
    walk: Any = etree.iterwalk(root, events=("start-ns", "end-ns", "start"))  # the type stubs do not know all events
    for event, declared in walk:
        if event == "start":
            number += 1
        elif event == "end-ns":
            in_force -= 1
        elif len(declared[0]) > MAX_XML_PREFIX:
            raise _refusal_of_element(messages.prefix_too_long(MAX_XML_PREFIX), raw, number)
        else:
            in_force += 1
            if in_force > MAX_XML_NAMESPACES:
                raise _refusal_of_element(messages.too_many_namespaces(MAX_XML_NAMESPACES), raw, number)


def _refuse_all_but_elements(raw: bytes, root: etree._Element) -> None:
    if next(root.itersiblings(preceding=True), None) is not None or next(root.itersiblings(), None) is not None:
        message = messages.COMMENT
    elif next(root.iter(etree.Comment, etree.ProcessingInstruction, etree.Entity), None) is not None:
        message = messages.COMMENT_OR_ENTITY
    else:
        return
    # Without a DOCTYPE an entity that XML does not define is refused by the parser, so it is one of the others.
    text = raw.decode()
    raise MalformedXml(message, *place(text, next(other_markup(text), 0)))


def _drop_blanks(root: etree._Element) -> None:
    for element in root.iter():
        if len(element):
            if element.text and not element.text.strip(_BLANKS):
                element.text = None
            for child in element:
                if child.tail and not child.tail.strip(_BLANKS):
                    child.tail = None
