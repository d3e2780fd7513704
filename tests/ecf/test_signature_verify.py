"""Documents that `verify` accepts: the profile, its allowed variants, and changes of transport."""

from collections.abc import Callable

import pytest
from lxml import etree

from fe.ecf.parse import parse_xml
from fe.ecf.signature import Reason, Signer, profile, verify
from tests.factories import certificates as made
from tests.factories.signatures import ECF, SEED, reason_of, sign_with_xmlsec, signed


def test_a_signed_document_gives_its_content_certificate_and_code() -> None:
    signed = Signer(made.default_credential()).sign(parse_xml(ECF))

    verified = verify(signed.xml)

    assert verified.root.tag == "ECF"
    assert verified.root.find(profile.SIGNATURE) is None
    assert verified.root.findtext("Encabezado/Emisor/RNCEmisor") == "131880738"
    assert verified.certificate == made.default_credential().certificate
    assert verified.signature_value == signed.signature_value
    assert verified.security_code == signed.security_code


@pytest.mark.parametrize("root", ["ECF", "RFCE", "ACECF", "ANECF", "ARECF", "SemillaModel"])
def test_every_kind_of_document_is_verified(root: str) -> None:
    assert verify(signed(f"<{root}><A>1</A></{root}>".encode())).root.tag == root


def test_a_document_that_was_signed_compact_and_travels_indented_verifies() -> None:
    root = parse_xml(signed(SEED))
    etree.indent(root)
    indented = etree.tostring(root, xml_declaration=True, encoding="utf-8")
    assert indented.count(b"\n") > 10

    assert verify(indented).root.findtext("valor") == "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA="


def test_a_document_that_was_signed_with_its_indentation_does_not_verify() -> None:
    indented = b"<ECF>\n  <A>1</A>\n</ECF>"

    assert reason_of(sign_with_xmlsec(indented, made.default_credential())) is Reason.DIGEST


def test_base64_in_lines_is_the_same_base64() -> None:
    value = Signer(made.default_credential()).sign(parse_xml(ECF)).signature_value
    lines = "\n".join(value[at : at + 76] for at in range(0, len(value), 76))

    verified = verify(signed().replace(value.encode(), f"\n{lines}\r\n".encode()))

    assert verified.signature_value == value


def test_a_text_in_cdata_is_read_whole() -> None:
    split = signed().replace(b">131880738<", b">131<![CDATA[880]]>738<")

    assert verify(split).root.findtext("Encabezado/Emisor/RNCEmisor") == "131880738"


@pytest.mark.parametrize(
    "travel",
    [
        lambda xml: b"\xef\xbb\xbf" + xml,
        lambda xml: xml.partition(b"?>")[2],
        lambda xml: xml.replace(b"\n", b"\r\n"),
        lambda xml: xml.replace(b"\n", b"\r"),
        lambda xml: xml + b"\r\n",
        lambda xml: xml.replace(b"?>", b"?>\n\n"),
        lambda xml: xml.replace(b"></Transform>", b"/>"),
        lambda xml: (
            xml.replace(b'"', b"'").replace(b"encoding='utf-8'", b'encoding="UTF-8"').replace(b"'A'B'", b'"A\'B"')
        ),
        lambda xml: xml.decode().replace("Ñ", "&#209;").encode(),
        lambda xml: xml.replace(b"<SignedInfo>", b"<SignedInfo >").replace(b"</ECF>", b"</ECF\n>"),
    ],
    ids=[
        "bom",
        "no-declaration",
        "crlf",
        "cr",
        "final-newline",
        "newlines-before",
        "empty-tags",
        "quotes",
        "references",
        "spaces",
    ],
)
def test_changes_of_transport_do_not_break_the_signature(travel: Callable[[bytes], bytes]) -> None:
    travelled = travel(signed())
    assert travelled != signed()

    verified = verify(travelled)

    assert etree.tostring(verified.root, method="c14n") == etree.tostring(parse_xml(ECF), method="c14n")
