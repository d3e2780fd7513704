"""No valid signature survives a change of any value, and none is lost by what store and transport do to the bytes."""

import re
from collections.abc import Callable
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from fe.ecf.parse import MalformedXml, parse_xml
from fe.ecf.signature import BadSignature, Signer, verify
from tests.factories import certificates as made
from tests.factories.signatures import ECF, SEED, signed, verify_with_xmlsec

# A flipped bit can make a serial number negative, which `cryptography` still reads, with a warning.
pytestmark = pytest.mark.filterwarnings("ignore:Parsed a serial number which wasn't positive")

NAMES = st.sampled_from(["Encabezado", "Item", "Monto", "NombreItem", "eNCF"])
#: Characters of XML 1.0, with those that parsers and serialisers treat specially made likely.
MESSAGES = st.text(
    st.one_of(
        st.sampled_from("\t\n\r &<>\"'];\u0085\u00a0\u2028\ufeff\ufffd😀"),
        st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], exclude_characters="\ufffe\uffff"),
    ),
    max_size=20,
)
SPACES = " \t\r\n"


def _element(name: str, text: str, children: list[etree._Element]) -> etree._Element:
    element = etree.Element(name)
    if children:
        element.extend(children)
    else:
        element.text = text
    return element


TREES = st.recursive(
    st.builds(_element, NAMES, MESSAGES, st.just([])),
    lambda below: st.builds(_element, NAMES, st.just(""), st.lists(below, min_size=1, max_size=4)),
    max_leaves=12,
)
DOCUMENTS = st.builds(_element, st.sampled_from(["ECF", "RFCE", "ARECF"]), st.just(""), st.lists(TREES, min_size=1))


def canonical(root: etree._Element) -> bytes:
    return etree.tostring(root, method="c14n")


def without_blanks(root: etree._Element) -> bytes:
    """The content that is signed: an element of nothing but blanks counts as empty."""
    for element in root.iter():
        if not (element.text or "").strip(SPACES):
            element.text = None
    return canonical(root)


@settings(max_examples=200, deadline=None)
@given(DOCUMENTS)
def test_signed_document_verifies_with_unchanged_content(document: etree._Element) -> None:
    credential = made.default_credential()
    signed = Signer(credential).sign(document)

    verified = verify(signed.xml)

    assert verified.signature_value == signed.signature_value
    assert canonical(verified.root) == without_blanks(document)
    verify_with_xmlsec(signed.xml, credential)


def _indented(xml: bytes) -> bytes:
    root = parse_xml(xml)
    etree.indent(root, "\t")
    return etree.tostring(root, encoding="utf-8")


TRAVELS: list[Callable[[bytes], bytes]] = [
    lambda xml: b"\xef\xbb\xbf" + xml.removeprefix(b"\xef\xbb\xbf"),
    lambda xml: re.sub(rb"^(\xef\xbb\xbf)?<\?xml[^>]*\?>\s*", b"", xml),
    lambda xml: xml.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    lambda xml: xml + b"\n",
    lambda xml: xml.rstrip(),
    lambda xml: etree.tostring(parse_xml(xml), encoding="utf-8", xml_declaration=True),
    lambda xml: etree.tostring(parse_xml(xml), encoding="us-ascii"),
    lambda xml: re.sub(rb"<(\w+)></\1>", rb"<\1/>", xml),
    _indented,
]


@settings(max_examples=200, deadline=None)
@given(document=DOCUMENTS, travels=st.lists(st.sampled_from(TRAVELS), min_size=1, max_size=4))
def test_a_signature_survives_any_journey(document: etree._Element, travels: list[Callable[[bytes], bytes]]) -> None:
    signed = Signer(made.default_credential()).sign(document)
    xml = signed.xml

    for travel in travels:
        xml = travel(xml)

    assert verify(xml).signature_value == signed.signature_value


# --- changes ------------------------------------------------------------------------------------------------------


def _change_text(root: etree._Element, at: etree._Element, other: etree._Element, text: str) -> None:
    at.text = text


def _change_tail(root: etree._Element, at: etree._Element, other: etree._Element, text: str) -> None:
    if at is not root:
        at.tail = text


def _rename(root: etree._Element, at: etree._Element, other: etree._Element, text: str) -> None:
    at.tag = other.tag


def _remove(root: etree._Element, at: etree._Element, other: etree._Element, text: str) -> None:
    if (parent := at.getparent()) is not None:
        parent.remove(at)


def _duplicate(root: etree._Element, at: etree._Element, other: etree._Element, text: str) -> None:
    other.append(deepcopy(at))


def _move(root: etree._Element, at: etree._Element, other: etree._Element, text: str) -> None:
    if at is not root and at not in other.iterancestors() and at is not other:
        other.append(at)


def _move_first(root: etree._Element, at: etree._Element, other: etree._Element, text: str) -> None:
    if at is not root and at not in other.iterancestors() and at is not other:
        other.insert(0, at)


def _comment(root: etree._Element, at: etree._Element, other: etree._Element, text: str) -> None:
    at.insert(0, etree.Comment("x"))


def _instruct(root: etree._Element, at: etree._Element, other: etree._Element, text: str) -> None:
    at.insert(0, etree.ProcessingInstruction("x", "y"))


def _attribute(root: etree._Element, at: etree._Element, other: etree._Element, text: str) -> None:
    at.set("Id", text)


def _empty_child(root: etree._Element, at: etree._Element, other: etree._Element, text: str) -> None:
    etree.SubElement(at, other.tag)


def _wrap(root: etree._Element, at: etree._Element, other: etree._Element, text: str) -> None:
    if (parent := at.getparent()) is not None:
        wrapper = etree.Element(other.tag)
        parent.replace(at, wrapper)
        wrapper.append(at)


CHANGES = [
    _change_text,
    _change_tail,
    _rename,
    _remove,
    _duplicate,
    _move,
    _move_first,
    _comment,
    _instruct,
    _attribute,
    _empty_child,
    _wrap,
]


def accepted(xml: bytes) -> bytes | None:
    """The content that is accepted as signed; None when the signature is refused, as it should be."""
    try:
        return canonical(verify(xml).root)
    except (BadSignature, MalformedXml):
        return None


@settings(max_examples=400, deadline=None)
@given(data=st.data(), document=st.sampled_from([ECF, SEED]))
def test_no_change_of_the_tree_is_accepted_with_other_values(data: st.DataObject, document: bytes) -> None:
    root = parse_xml(signed(document))
    for _ in range(data.draw(st.integers(1, 3))):
        elements = list(root.iter(etree.Element))
        at, other = data.draw(st.sampled_from(elements)), data.draw(st.sampled_from(elements))
        data.draw(st.sampled_from(CHANGES))(root, at, other, data.draw(MESSAGES))

    assert accepted(etree.tostring(root)) in (None, canonical(parse_xml(document)))


@settings(max_examples=400, deadline=None)
@given(data=st.data(), document=st.sampled_from([ECF, SEED]))
def test_no_change_of_a_byte_is_accepted_with_other_values(data: st.DataObject, document: bytes) -> None:
    xml = bytearray(signed(document))
    at = data.draw(st.integers(0, len(xml) - 1))
    length = data.draw(st.integers(0, 3))
    xml[at : at + length] = data.draw(st.binary(max_size=3) | st.sampled_from([b"<!--x-->", b"<x/>", b"]]>", b"&lt;"]))

    assert accepted(bytes(xml)) in (None, canonical(parse_xml(document)))


@settings(max_examples=200, deadline=None)
@given(text=MESSAGES)
def test_no_other_text_is_accepted_in_place_of_a_signed_one(text: str) -> None:
    root = parse_xml(signed())
    total = root.find("Encabezado/Totales/MontoTotal")
    assert total is not None
    total.text = text

    assert accepted(etree.tostring(root, encoding="utf-8")) == (
        canonical(parse_xml(ECF)) if text == "40120.00" else None
    )


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_are_refused_by_name(data: bytes) -> None:
    assert accepted(data) is None
    assert accepted(b"<ECF>" + data + b"</ECF>") is None
