"""XML from outside: a tree of elements alone, whose later processing costs no more than in proportion to its bytes."""

import re
import threading
from itertools import islice
from typing import Any

from lxml import etree

from fe.ecf.parse import messages
from fe.ecf.parse.malformed import BOM, MAX_BYTES, ForeignMarkup, MalformedXml, decode
from fe.ecf.texts import Text
from fe.ecf.xml_positions import extents, other_markup, place

MAX_XML_ELEMENTS = 50_000
MAX_XML_DEPTH = 32  # a signed document is 8 deep
#: On an element and those around it, together. The canonical form of each element costs the square of them, so four
#: thousand on the root of 64 KB took seconds. Documents have none; seeds and what serialisers write have two or three,
#: the frameworks that declare all they know perhaps a dozen. How many a document has in all does not matter.
MAX_XML_NAMESPACES = 32
MAX_XML_PREFIX = 64  # characters; each is compared with all others, over and over
#: On one element. To bring them in order costs the square of them. No document has any, a Signature has one.
MAX_XML_ATTRIBUTES = 32

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


def parse_xml(raw: bytes, *, max_bytes: int = MAX_BYTES, max_elements: int = MAX_XML_ELEMENTS) -> etree._Element:
    """Parse an XML document and return its root, without the whitespace between elements (authority.md#whitespace).

    The text of an element without children is left as it is, blanks included. Line numbers (`sourceline`) are those of
    the input. A byte order mark is tolerated.

    Raises MalformedXml, with line and column where there is a place, for: more than `max_bytes`; anything but XML 1.0
    in UTF-8; a DOCTYPE, an entity, a comment, a processing instruction, anything beside the root; more than
    `max_elements` or 32 levels; more than 32 namespace declarations in force at one element, prefixes of more than 64
    characters, more than 32 attributes of one element; NUL. So looking at the declarations of every node, or writing
    the canonical form, costs in proportion to the bytes. Comments and instructions raise ForeignMarkup.
    """
    if len(raw) > max_bytes:
        raise MalformedXml(messages.LARGER.fill(limit=max_bytes))
    if b"\0" in raw:
        raise _refusal(messages.NUL_OR_NOT_UTF_8, raw, raw.index(b"\0"))
    raw = raw.removeprefix(BOM)
    decode(raw, MalformedXml)
    has_declaration = _refuse_foreign_declaration(raw)
    if b"<!DOCTYPE" in raw:
        raise _refusal(messages.DOCTYPE, raw, raw.index(b"<!DOCTYPE"))
    # Counted before parsing: a megabyte of empty elements costs a hundred of memory.
    if raw.count(b"<") > max_elements and raw.count(b"<") - raw.count(b"</") > max_elements:
        first_too_many = next(islice(_START.finditer(raw), max_elements, None))
        raise _refusal(messages.TOO_MANY_ELEMENTS.fill(limit=max_elements), raw, first_too_many.start())
    try:
        root = etree.fromstring(raw, _parsers.parser)
    except etree.XMLSyntaxError as wrong:
        line, column = wrong.position
        meaning = messages.XML_ERRORS.get(_code_of(wrong), messages.NOT_WELL_FORMED)
        raise MalformedXml(meaning, line or None, column or None) from None
    if _TOO_DEEP(root):
        text = raw.decode()
        at = next(extent.start for extent in extents(text) if extent.depth > MAX_XML_DEPTH)
        raise MalformedXml(messages.TOO_DEEP.fill(limit=MAX_XML_DEPTH), *place(text, at))
    # Looked for in the bytes first, which is enough for nearly every document; a text may have such words in it, too.
    if raw.count(b"xmlns") > MAX_XML_NAMESPACES or _LONG_PREFIX.search(raw):
        _refuse_crowded_namespaces(raw, root)
    if raw.count(b"=") > MAX_XML_ATTRIBUTES and _TOO_MANY_ATTRIBUTES(root):
        crowded = next(n for n, each in enumerate(root.iter("*")) if len(each.attrib) > MAX_XML_ATTRIBUTES)
        raise _refusal_of_element(messages.TOO_MANY_ATTRIBUTES.fill(limit=MAX_XML_ATTRIBUTES), raw, crowded)
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
    """Refuse the element with this number in document order, from 0."""
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
            raise _refusal_of_element(messages.PREFIX_TOO_LONG.fill(limit=MAX_XML_PREFIX), raw, number)
        else:
            in_force += 1
            if in_force > MAX_XML_NAMESPACES:
                raise _refusal_of_element(messages.TOO_MANY_NAMESPACES.fill(limit=MAX_XML_NAMESPACES), raw, number)


def _refuse_all_but_elements(raw: bytes, root: etree._Element) -> None:
    if next(root.itersiblings(preceding=True), None) is not None or next(root.itersiblings(), None) is not None:
        message = messages.COMMENT
    elif next(root.iter(etree.Comment, etree.ProcessingInstruction, etree.Entity), None) is not None:
        message = messages.COMMENT_OR_ENTITY
    else:
        return
    # Without a DOCTYPE an entity that XML does not define is refused by the parser, so it is one of the others.
    text = raw.decode()
    raise ForeignMarkup(message, *place(text, next(other_markup(text), 0)))


def _drop_blanks(root: etree._Element) -> None:
    for element in root.iter():
        if len(element):
            if element.text and not element.text.strip(_BLANKS):
                element.text = None
            for child in element:
                if child.tail and not child.tail.strip(_BLANKS):
                    child.tail = None
