"""Hostile and broken bytes at the one door. The limits are those of the module; each case was seen to do harm."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from fe.ecf.parse import (
    MAX_BYTES,
    MAX_JSON_CONTAINERS,
    MAX_JSON_DEPTH,
    MAX_XML_ATTRIBUTES,
    MAX_XML_DEPTH,
    MAX_XML_ELEMENTS,
    MAX_XML_NAMESPACES,
    MAX_XML_PREFIX,
    Malformed,
    MalformedJson,
    MalformedXml,
    excerpt,
    parse_json,
    parse_own,
    parse_xml,
    split_list,
)
from fe.ecf.texts import Text
from tests.ecf.strategies import json_values


def _refusal(load: Callable[[bytes], object], raw: bytes) -> str | None:
    """Why `raw` is refused, in the only way anything may be; None if it is read."""
    try:
        load(raw)
    except Malformed as refused:
        return refused.message.en
    return None


# --- JSON -----------------------------------------------------------------------------------------------------------


def test_json_numbers_are_exact_and_never_floats() -> None:
    value = parse_json(b'{"a": 0.10, "b": -3, "c": [12345678901234567890, 1234567890123456.7890, -0.5], "d": -0}')

    assert value == {
        "a": Decimal("0.10"),
        "b": -3,
        "c": [12345678901234567890, Decimal("1234567890123456.7890"), Decimal("-0.5")],
        "d": 0,
    }
    assert str(value["a"]) == "0.10"
    assert type(value["b"]) is int


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"[1] [2]", "not JSON: Extra data"),
        (b"{'a': 1}", "not JSON"),
        (b'{"a": 1,}', "not JSON"),
        (b'["\n"]', "not JSON: Invalid control character"),
        (b'["\\x"]', "not JSON: Invalid \\escape"),
        ("{}".encode("utf-16"), "NUL character; it looks like UTF-16: send UTF-8"),
        (b"\x1f\x8b\x08\x08", "not UTF-8; it looks compressed"),
        ("{}".encode("utf-16-le"), "NUL"),
        ("{}".encode("utf-32"), "NUL"),
        ('"ñ"'.encode("latin-1"), "not UTF-8"),
        (b'"\xed\xa0\x80"', "not UTF-8"),
        (b'"\xc0\x80"', "not UTF-8"),
        (b'{"a": "\x00"}', "NUL"),
        (b"[NaN]", "NaN"),
        (b"[Infinity]", "Infinity"),
        (b"[-Infinity]", "-Infinity"),
        (b"[1e3]", "exponent"),
        (b"[1E400]", "exponent"),
        (b"[1.5e-3]", "exponent"),
        (b"[1e1000000]", "exponent"),
        (b"[123456789012345678901]", "20 digits"),
        (b"[-123456789012345678901]", "20 digits"),
        (b"[0.12345678901234567890]", "20 digits"),
        (b"[" + b"9" * 5000 + b"]", "20 digits"),
        (b'{"a": 1, "b": 2, "a": 1}', 'the key "a" appears twice'),
        (b'{"x": {"\\u0061": 1, "a": 2}}', 'the key "a" appears twice'),
        # A colon in a text that is left, or one that is lost, is no member.
        (b'{"a": 1, "a": ":"}', 'the key "a" appears twice'),
        (b'{"a": ":", "a": 1}', 'the key "a" appears twice'),
        (b'{"a": 1, "a": "\\u003a"}', 'the key "a" appears twice'),
        (b'{"a:": 1, "a:": [":"]}', 'the key "a:" appears twice'),
        (b'["\\u0000"]', "at [1]"),
        (b'{"a": {"b": ["ok", "\\b"]}}', "at a.b[2]"),
        (b'["\\f"]', "not allowed"),
        (b'["\\ud800"]', "not allowed"),
        (b'["\\udc00\\ud800"]', "not allowed"),
        (b'{"\\udfff": 1}', 'the key "\\udfff"'),
        (b'{"\\u0000": 1}', 'the key "\\x00"'),
        (b'["\\uffff"]', "not allowed"),
        (b'["\xef\xbf\xbe"]', "not allowed"),
    ],
)
def test_json_that_is_refused(raw: bytes, said: str) -> None:
    with pytest.raises(MalformedJson) as caught:
        parse_json(raw)

    assert said in caught.value.message.en


def test_json_error_names_line_and_column() -> None:
    with pytest.raises(MalformedJson) as caught:
        parse_json(b'{\n  "a": ?\n}')

    assert (caught.value.line, caught.value.column) == (2, 8)
    assert str(caught.value).endswith("(line 2, column 8)")

    with pytest.raises(MalformedJson) as caught:
        parse_json(b'{\n "a": "\xff"}')

    assert (caught.value.line, caught.value.column) == (2, 8)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b'{"a": {"b": [1,\n 1.0E7]}}', "a.b[2]: a number with an exponent; write it out (line 2, column 2)"),
        (b'{"a": [{"b": 1}, {"b": NaN}]}', "a[2].b: NaN is not a number of JSON (line 1, column 24)"),
        (b'{"a": -Infinity}', "a: -Infinity is not a number of JSON (line 1, column 7)"),
        (b'{"1e5": "1e5", "b": 123456789012345678901}', "b: a number of more than 20 digits (line 1, column 21)"),
        (b'{"a": {"b": 1, "b": 1e5}}', 'a: the key "b" appears twice in one object'),
        (b'{"a": 1e5, "b": ?}', "a number with an exponent; write it out (line 1, column 7)"),
        (b'{"a": "x\x00"}', "holds a NUL character (line 1, column 9)"),
    ],
)
def test_json_value_refused_names_path_and_place(raw: bytes, said: str) -> None:
    with pytest.raises(MalformedJson) as caught:
        parse_json(raw)

    assert str(caught.value) == said


def test_json_byte_order_mark_is_tolerated() -> None:
    assert parse_json(b"\xef\xbb\xbf" + b'{"a": 1}') == {"a": 1}


def test_json_list_is_cut_where_its_elements_end() -> None:
    raw = b'{"n": [[7]], "items" : [ {"a": "],\xff"},\n [1, {"b": 1e5}], "\\"]", {"c": 1,} ], "z": {"items": [1, 2]}}'
    cut = split_list(raw, "items", 4)
    assert cut is not None
    rest, parts = cut

    said = []
    for part in parts:
        try:
            said.append(part.read())
        except MalformedJson as wrong:
            said.append(str(wrong))

    assert parse_json(rest) == {"n": [[7]], "items": [0, 0, 0, 0], "z": {"items": [1, 2]}}
    assert said == [
        "not UTF-8 (line 1, column 35)",
        "[2].b: a number with an exponent; write it out (line 2, column 12)",
        '"]',
        "not JSON: Expecting property name enclosed in double quotes (line 2, column 34)",
    ]
    assert split_list(raw, "items", 3) is None
    assert split_list(raw, "other", 4) is None
    assert split_list(b'{"items": [{"a": [}]}', "items", 4) is None


def test_escapes_for_characters_that_xml_can_carry_are_kept() -> None:
    assert parse_json(b'["\\ud83d\\ude00\\t\\n\\r\\u00f1\\"\\\\ \x7f"]') == ['\U0001f600\t\n\rñ"\\ \x7f']


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_json_may_be_nested_so_deep_and_no_deeper(opening: bytes) -> None:
    closing = b"]" if opening == b"[" else b"}"

    parse_json(opening * MAX_JSON_DEPTH + b"1" + closing * MAX_JSON_DEPTH)
    with pytest.raises(MalformedJson, match="deeper than 64"):
        parse_json(opening * (MAX_JSON_DEPTH + 1) + b"1" + closing * (MAX_JSON_DEPTH + 1))


def test_json_may_hold_so_many_objects_and_lists_and_no_more() -> None:
    parse_json(b"[" + b",".join([b"{}"] * (MAX_JSON_CONTAINERS - 1)) + b"]")
    parse_json(b'["' + b"[" * (2 * MAX_JSON_CONTAINERS) + b'"]')  # in a text they are none
    with pytest.raises(MalformedJson, match="more than 50000 objects and lists"):
        parse_json(b"[" + b",".join([b"[]"] * MAX_JSON_CONTAINERS) + b"]")


def test_brackets_in_strings_and_beside_each_other_are_no_depth() -> None:
    strings = b'["' + b"[{" * 500 + b'", "\\"' + b"[" * 500 + b'\\\\"]'
    flat = b"[" + b",".join([b"[]", b"{}"] * 500) + b"]"

    assert parse_json(strings) == ["[{" * 500, '"' + "[" * 500 + "\\"]
    assert len(parse_json(flat)) == 1000


@pytest.mark.parametrize(
    "raw",
    [
        b"[" * 500_000,
        b'{"a":' * 150_000,
        b'["' + b'\\"' * 400_000,
        b'["' + b'\\"' * 400_000 + b"\\",
        b'["' + b"\\" * 900_001,
        b"[" + b"9" * 900_000 + b"]",
        b"[" + b"1e" * 400_000 + b"]",
        b"[[" + b'"' * 900_000,
    ],
    ids=range(8),
)
def test_a_megabyte_of_hostile_json_is_refused_without_hanging(raw: bytes) -> None:
    with pytest.raises(MalformedJson) as caught:
        parse_json(raw)

    assert len(str(caught.value)) < 200


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_json_or_refused(raw: bytes) -> None:
    message = _refusal(parse_json, raw)

    assert message is None or message.isprintable()


@settings(max_examples=100, deadline=None)
@given(json_values)
def test_parsed_json_can_be_written_as_xml(value: Any) -> None:
    try:
        read = parse_json(json.dumps(value, default=str).encode())
    except MalformedJson:
        return

    assert _carried(read)


def _carried(value: Any) -> bool:
    if isinstance(value, str):
        probe = etree.Element("a")
        probe.text = value  # ValueError for what XML cannot carry
        return probe.text == value
    inside = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return all(_carried(each) for each in inside)


# --- XML ------------------------------------------------------------------------------------------------------------

_BOMB = b"<!DOCTYPE r [<!ENTITY a 'aaaaaaaaaa'>%s]><r>&j;</r>" % b"".join(
    b"<!ENTITY %c '%s'>" % (letter, b"&%c;" % (letter - 1) * 10) for letter in range(ord("b"), ord("k"))
)


@pytest.mark.parametrize(
    "raw",
    [
        b"<!DOCTYPE r><r/>",
        b"<!DOCTYPE r SYSTEM 'file:///etc/hostname'><r/>",
        b"<!DOCTYPE r PUBLIC '-//x' 'http://127.0.0.1:1/x'><r/>",
        b"<!DOCTYPE r [<!ENTITY x SYSTEM 'file:///etc/hostname'>]><r>&x;</r>",
        b"<!DOCTYPE r [<!ENTITY % p SYSTEM 'http://127.0.0.1:1/p'> %p;]><r/>",
        b"<!DOCTYPE r [<!ENTITY x 'y'>]><r>&x;</r>",
        b"<!DOCTYPE r [<!ATTLIST r a CDATA 'b'>]><r/>",
        b"\n<!DOCTYPE r><r/>",
        b"<?xml version='1.0'?>\n<!DOCTYPE r><r/>",
        b"<!-- x --><!DOCTYPE r><r/>",
        _BOMB,
        b"<!DOCTYPE r [<!ENTITY a '" + b"a" * 100_000 + b"'>]><r>" + b"&a;" * 10_000 + b"</r>",
    ],
    ids=range(12),
)
def test_every_doctype_is_refused(raw: bytes) -> None:
    # In words that are only said before the parser sees it, so nothing is expanded.
    with pytest.raises(MalformedXml, match="DOCTYPE"):
        parse_xml(raw)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "no document"),
        (b"   ", "no document"),
        (b"ECF", "no document"),
        (b"<r>", "not finished"),
        (b"<r></s>", "end tag"),
        (b"<r/><s/>", "after the end"),
        (b"<r/>x", "after the end"),
        (b"<r a='1' a='2'/>", "twice"),
        (b"<r a=1/>", "not well-formed"),
        (b"<r>a & b</r>", "&amp;"),
        (b"<r>a &b c</r>", "&amp;"),
        (b"<r>&copy;</r>", "entity"),
        (b"<r>&x;</r>", "entity"),
        (b"<p:r/>", "not well-formed"),
        (b"<r>\x01</r>", "character"),
        (b"<r>&#0;</r>", "character"),
        (b"<r>&#xD800;</r>", "character"),
        (b"<r>\xef\xbf\xbf</r>", "character"),
        (b"<r>\x00</r>", "NUL"),
        (b"<r>131<!-- x -->000001</r>", "comment"),
        (b"<!-- x --><r/>", "comment"),
        (b"<r/><!-- x -->", "comment"),
        (b"<r><?php x?></r>", "instruction"),
        (b"<?xml-stylesheet href='x'?><r/>", "instruction"),
        (b"<?xml version='1.0'?><?x y?><r/>", "instruction"),
        (b"<r/><?x y?>", "instruction"),
        (b" <?xml version='1.0'?><r/>", "beginning"),
        (b"<?xml version='1.1'?><r/>", "version 1.0"),
        (b"<?xml encoding='utf-8'?><r/>", "version 1.0"),
        (b"<?xml version='1.0' encoding='ISO-8859-1'?><r/>", 'write encoding="utf-8"'),
        (b"<?xml version='1.0' encoding='us-ascii'?><r/>", 'write encoding="utf-8"'),
        (b"<?xml version='1.0' encoding='UTF-16'?><r/>", 'write encoding="utf-8"'),
        (b"<?xml version='1.0' encoding='UTF-7'?><r/>", 'write encoding="utf-8"'),
        (b"<?xml version='1.0' encoding='IBM037'?><r/>", 'write encoding="utf-8"'),
        ("<?xml version='1.0' encoding='utf-16'?><r/>".encode("utf-16"), "UTF-8"),
        ("<r>ñ</r>".encode("utf-16-le"), "UTF-8"),
        ("<r>ñ</r>".encode("utf-16-be"), "UTF-8"),
        ("<r>ñ</r>".encode("utf-32"), "UTF-8"),
        ("<r>ñ</r>".encode("latin-1"), "not UTF-8"),
        ("<?xml version='1.0' encoding='iso-8859-1'?><r>ñ</r>".encode("latin-1"), "not UTF-8"),
        ("<r>ñ</r>".encode("cp037"), "not UTF-8"),
        (b"<r>\xed\xa0\x80</r>", "not UTF-8"),
    ],
)
def test_xml_that_is_refused(raw: bytes, said: str) -> None:
    with pytest.raises(MalformedXml) as caught:
        parse_xml(raw)

    assert said in caught.value.message.en


@pytest.mark.parametrize(
    "raw",
    [
        b"<r/>",
        b"\xef\xbb\xbf<r/>",
        b"<?xml version='1.0'?><r/>",
        b'<?xml version="1.0" encoding="utf-8"?>\n<r/>\n',
        b"\xef\xbb\xbf<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><r/>",
    ],
)
def test_plain_declared_and_marked_utf_8_are_read(raw: bytes) -> None:
    assert etree.tostring(parse_xml(raw)) == b"<r/>"


def test_xml_error_names_line_and_column_without_the_input() -> None:
    secret = b"s3cr3t" * 10
    with pytest.raises(MalformedXml) as caught:
        parse_xml(b"<r>\n  <" + secret + b">x</other>\n</r>")

    assert caught.value.line == 2
    assert caught.value.column is not None
    assert b"s3cr3t" not in str(caught.value).encode()


def test_blanks_between_elements_are_dropped_and_leaf_text_is_not() -> None:
    root = parse_xml(
        b"<r>\r\n\t<a> x </a>\n <b>  </b>&#32;<c>\n</c> <d><![CDATA[ ]]><e/> y <f/></d><g/>\n</r>\n",
    )

    assert etree.tostring(root) == b"<r><a> x </a><b>  </b><c>\n</c><d><e/> y <f/></d><g/></r>"
    lines: list[Any] = [child.sourceline for child in root]
    assert lines == [2, 3, 3, 4, 4]


def test_character_data_sections_are_text() -> None:
    root = parse_xml(b"<r><a>x<![CDATA[<b> & ]]>y</a></r>")

    assert root.findtext("a") == "x<b> & y"
    assert len(root[0]) == 0


def test_xml_is_limited_in_bytes_elements_and_depth() -> None:
    with pytest.raises(MalformedXml, match="larger"):
        parse_xml(b"<r>" + b"x" * MAX_BYTES + b"</r>")
    with pytest.raises(MalformedXml, match="larger than 10 bytes"):
        parse_xml(b"<r>xxxxxx</r>", max_bytes=10)
    parse_xml(b"<r>" + b"<a/>" * (MAX_XML_ELEMENTS - 1) + b"</r>")
    with pytest.raises(MalformedXml, match="more than 50000 elements"):
        parse_xml(b"<r>" + b"<a/>" * MAX_XML_ELEMENTS + b"</r>")
    parse_xml(b"<a>" * MAX_XML_DEPTH + b"</a>" * MAX_XML_DEPTH)
    with pytest.raises(MalformedXml, match="deeper than 32"):
        parse_xml(b"<a>" * (MAX_XML_DEPTH + 1) + b"</a>" * (MAX_XML_DEPTH + 1))


def declared(many: int, first: int = 0) -> bytes:
    return b" ".join(b'xmlns:a%d="urn:a"' % number for number in range(first, first + many))


def attributes(many: int) -> bytes:
    return b" ".join(b'a%d="1"' % number for number in range(many))


@pytest.mark.parametrize(
    ("raw", "said", "line", "column"),
    [
        (b"<r>\n <a %s/></r>" % declared(MAX_XML_NAMESPACES + 1), "32 namespace declarations", 2, 2),
        (b"<r %s/>" % declared(4_000), "32 namespace declarations", 1, 1),
        # In force together, although on several elements, and although one hides the other.
        (b"<r %s>\n<b/><a %s/></r>" % (declared(20), declared(13, 20)), "32 namespace declarations", 2, 5),
        (b"<a xmlns:a='u' xmlns='u'>" * 17 + b"</a>" * 17, "32 namespace declarations", 1, 1 + 16 * 25),
        (b"<r><a %s/>\n<b %s/></r>" % (declared(32), declared(33)), "32 namespace declarations", 2, 1),
        (b"<r>\n\xc3\xb1<a xmlns:%s='u'/></r>" % (b"p" * (MAX_XML_PREFIX + 1)), "prefix of more than 64", 2, 2),
        (b"<r>\n <a %s/></r>" % attributes(MAX_XML_ATTRIBUTES + 1), "32 attributes", 2, 2),
        (
            b"<r><![CDATA[<a>]]><a b='<a>'/></r>".replace(b"'<a>'", b"'&lt;a>' " + attributes(32)),
            "32 attributes",
            1,
            19,
        ),
    ],
    ids=range(8),
)
def test_costly_canonical_form_is_refused_with_its_place(raw: bytes, said: str, line: int, column: int) -> None:
    with pytest.raises(MalformedXml) as caught:
        parse_xml(raw)

    assert said in caught.value.message.en
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.message.es != caught.value.message.en


@pytest.mark.parametrize(
    "raw",
    [
        b"<r %s/>" % declared(MAX_XML_NAMESPACES),
        b"<r %s/>" % attributes(MAX_XML_ATTRIBUTES),
        b"<r xmlns:%s='u'/>" % (b"p" * MAX_XML_PREFIX),
        # Serialisers that build each line by itself write this.
        b"<r>" + b"<a xmlns:xsi='urn:i' xmlns:xsd='urn:d' xmlns=''>1</a>" * 5_000 + b"</r>",
        # Words in texts and values are none.
        b"<r a='%s'>%s</r>" % (b"xmlns:a= " * 5_000, b"xmlns:a=" * 5_000 + b"xmlns:" + b"p" * 1_000),
        b"<r>" + b"<![CDATA[<a %s>]]>" % (declared(50) + attributes(50)) + b"</r>",
        b"<r>" + b"<a b='1'/>" * 5_000 + b"</r>",
    ],
    ids=range(7),
)
def test_namespaces_of_real_software_are_accepted(raw: bytes) -> None:
    assert parse_xml(raw).tag == "r"


@pytest.mark.parametrize(
    ("raw", "said", "line", "column"),
    [
        (b"<r>\n <a>\xc3\xb1<!-- x --></a></r>", "comment", 2, 6),
        (b"<r><![CDATA[<!--]]><a b='>'/>\n  <?x y?></r>", "instruction", 2, 3),
        (b"<?xml version='1.0'?>\n<!-- x --><r/>", "comment", 2, 1),
        (b"<?xml-stylesheet href='x'?><r/>", "instruction", 1, 1),
        (b"<r/>\n\n <!-- x -->", "comment", 3, 2),
        (b"<r/>\n<?x y?>", "instruction", 2, 1),
        (b"<?xml version='1.0'?>\n <!DOCTYPE r><r/>", "DOCTYPE", 2, 2),
        (b"<r>\n<a>&copy;</a></r>", "entity", 2, None),
        (b"<?xml version='1.1'?><r/>", "version 1.0", 1, 1),
        (b"<?xml version='1.0'\n encoding='latin-1'?><r/>", "encoding", 2, 12),
        (b"\xef\xbb\xbf<?xml version='1.0' encoding='latin-1'?><r/>", "encoding", 1, 31),
        (b"<r>\n" + b"<a>" * MAX_XML_DEPTH + b"</a>" * MAX_XML_DEPTH + b"</r>", "deeper than 32", 2, 94),
        (b"<r>\n" + b"<a/>" * MAX_XML_ELEMENTS + b"</r>", "50000 elements", 2, 4 * MAX_XML_ELEMENTS - 3),
        (b"<r>\n\xc3\xb1\0</r>", "NUL", 2, 2),
        (b"<r>\n\xc3\xb1\xff</r>", "not UTF-8", 2, 2),
    ],
    ids=range(15),
)
def test_every_refusal_names_line_and_column(raw: bytes, said: str, line: int, column: int | None) -> None:
    with pytest.raises(MalformedXml) as caught:
        parse_xml(raw)

    assert said in caught.value.message.en
    assert caught.value.line == line
    assert caught.value.column is not None
    if column is not None:  # where it is libxml2's own, it may be that of the end
        assert caught.value.column == column


@pytest.mark.parametrize(
    "raw",
    [
        b"<a>" * 300_000,
        b"<a/>" * 250_000,
        b"<a " + b" ".join(b"a%d=''" % n for n in range(80_000)) + b"/>",
        b"<" + b"a" * 1_000_000 + b"/>",
        b"<r>" + b"&lt;" * 250_000,
        b"<r>" + b"<![CDATA[" * 100_000,
        b"<!--" * 250_000,
    ],
    ids=range(7),
)
def test_a_megabyte_of_hostile_xml_does_not_hang(raw: bytes) -> None:
    message = _refusal(parse_xml, raw)

    assert message is None or len(message) < 200


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=120) | st.text("<>/&;#!?[]-= \n\"'abxECF", max_size=60).map(str.encode))
def test_any_bytes_are_xml_or_refused(raw: bytes) -> None:
    try:
        root = parse_xml(raw)
    except MalformedXml:
        return
    assert all(isinstance(node.tag, str) for node in root.iter())


def test_threads_parse_without_disturbing_each_other() -> None:
    def parse(number: int) -> str:
        text = f"<r><a>{number}</a></r>" if number % 3 else f"<r><a>{number}</b></r>"
        return _refusal(parse_xml, text.encode()) or str(parse_xml(text.encode()).findtext("a"))

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(parse, range(300)))

    expected = "an end tag does not match its start tag"
    assert answers == [str(number) if number % 3 else expected for number in range(300)]


def test_our_own_xml_is_refused_too_when_it_could_not_be_read_again() -> None:
    assert etree.tostring(parse_own("<r>\x7fñ&amp;</r>"), encoding="unicode") == "<r>\x7fñ&amp;</r>"
    with pytest.raises(MalformedXml):
        parse_own("<r>\x01</r>")
    with pytest.raises(UnicodeEncodeError):
        parse_own("<r>\ud800</r>")


def test_excerpts_are_short_and_printable() -> None:
    assert excerpt("ñandú") == "ñandú"
    assert excerpt("a\nb\x00\ud800") == "a\\nb\\x00\\ud800"
    assert excerpt("x" * 100) == "x" * 63 + "…"
    assert len(excerpt("\x00" * 100)) == 64


def test_both_errors_are_value_errors_with_one_shape() -> None:
    for error in (MalformedJson(Text("m", "m"), 3), MalformedXml(Text("m", "m"), 3)):
        assert isinstance(error, ValueError)
        assert isinstance(error, Malformed)
        assert (error.message.en, error.line, error.column, str(error)) == ("m", 3, None, "m (line 3)")
