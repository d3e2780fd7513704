"""A signature byte for byte; making it changes nothing and may run in many threads."""

import re
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from pathlib import Path

import pytest
from lxml import etree

from fe.ecf.parse import parse_xml
from fe.ecf.signature import NotSignable, Signer, profile, security_code, signature_time, verify
from tests.factories import certificates as made
from tests.factories import signatures
from tests.factories.signatures import DSIG, ECF, SEED
from tests.shared import SHARED, needs_shared

SAMPLES = sorted(SHARED.glob("samples/*.xml")) if SHARED else []


@pytest.fixture(scope="module")
def signer() -> Signer:
    return Signer(made.default_credential())


def test_the_signature_is_exactly_the_profile(signer: Signer) -> None:
    xml = signer.sign(parse_xml(ECF)).xml.decode()

    assert re.fullmatch(
        r'<\?xml version="1\.0" encoding="utf-8"\?><ECF>.*'
        r'<Signature xmlns="http://www\.w3\.org/2000/09/xmldsig#"><SignedInfo>'
        r'<CanonicalizationMethod Algorithm="http://www\.w3\.org/TR/2001/REC-xml-c14n-20010315"></CanonicalizationMethod>'
        r'<SignatureMethod Algorithm="http://www\.w3\.org/2001/04/xmldsig-more#rsa-sha256"></SignatureMethod>'
        r'<Reference URI=""><Transforms>'
        r'<Transform Algorithm="http://www\.w3\.org/2000/09/xmldsig#enveloped-signature"></Transform></Transforms>'
        r'<DigestMethod Algorithm="http://www\.w3\.org/2001/04/xmlenc#sha256"></DigestMethod>'
        r"<DigestValue>[A-Za-z0-9+/]{43}=</DigestValue></Reference></SignedInfo>"
        r"<SignatureValue>[A-Za-z0-9+/]{342}==</SignatureValue>"
        r"<KeyInfo><X509Data><X509Certificate>[A-Za-z0-9+/]+=*</X509Certificate></X509Data></KeyInfo>"
        r"</Signature></ECF>",
        xml,
        re.DOTALL,
    )


def test_the_certificate_inside_is_the_signers_leaf_and_nothing_else(signer: Signer) -> None:
    root = parse_xml(signer.sign(parse_xml(ECF)).xml)

    (certificate,) = root.iter(f"{{{DSIG}}}X509Certificate")
    assert b64decode(certificate.text or "") == made.default_credential().der


def test_the_digest_is_that_of_the_bytes_in_front_of_the_signature(signer: Signer) -> None:
    xml = signer.sign(parse_xml(ECF)).xml

    before, _, after = xml.partition(b"<Signature")
    content = before.partition(b"?>")[2] + after.partition(b"</Signature>")[2]
    (digest,) = parse_xml(xml).iter(f"{{{DSIG}}}DigestValue")
    assert b64decode(digest.text or "") == sha256(content).digest()


def test_the_security_code_is_the_first_six_characters_of_the_signature_value(signer: Signer) -> None:
    signed = signer.sign(parse_xml(ECF))

    assert f"<SignatureValue>{signed.signature_value}</SignatureValue>".encode() in signed.xml
    assert signed.security_code == security_code(signed.signature_value) == signed.signature_value[:6]


def test_the_same_document_gets_the_same_bytes_and_code(signer: Signer) -> None:
    assert signer.sign(parse_xml(ECF)) == signer.sign(parse_xml(ECF))
    assert signer.sign(parse_xml(ECF)) == Signer(made.default_credential()).sign(parse_xml(ECF))


def test_signing_leaves_the_tree_as_it_was(signer: Signer) -> None:
    root = parse_xml(signer.sign(parse_xml(SEED)).xml)
    before = etree.tostring(root)

    signer.sign(root)

    assert etree.tostring(root) == before


def test_the_signed_content_is_the_content_that_was_given(signer: Signer) -> None:
    root = parse_xml(ECF)

    verified = verify(signer.sign(root).xml)

    assert etree.tostring(verified.root, method="c14n") == etree.tostring(root, method="c14n")


def test_there_is_no_byte_order_mark_and_no_line_break_of_ours(signer: Signer) -> None:
    xml = signer.sign(parse_xml(SEED)).xml

    assert xml.startswith(b"<?xml")
    assert b"\n" not in xml
    assert b"\r" not in xml


def test_indentation_is_dropped_before_signing(signer: Signer) -> None:
    indented = etree.fromstring(b"<ECF>\n  <A>\t<B>1</B>\r\n</A>\n  <C> x </C> </ECF>")
    compact = parse_xml(b"<ECF><A><B>1</B></A><C> x </C></ECF>")

    assert signer.sign(indented) == signer.sign(compact)


def test_an_element_of_nothing_but_blanks_is_signed_as_empty(signer: Signer) -> None:
    """The authority's parser drops those blanks before it verifies: with them its digest would be another."""
    blank = etree.fromstring(b"<ECF><A> \n </A><B>&#xD;&#x9;</B><C>\xc2\xa0</C></ECF>")

    assert b"<ECF><A></A><B></B><C>\xc2\xa0</C><Signature" in signer.sign(blank).xml


@pytest.mark.parametrize("times", [1, 2])
def test_an_earlier_signature_is_replaced(signer: Signer, times: int) -> None:
    other = made.make_credential("OTRA PERSONA")
    root = parse_xml(Signer(other).sign(parse_xml(ECF)).xml)
    for _ in range(times - 1):
        root.insert(0, deepcopy(root[-1]))

    assert signer.sign(root) == signer.sign(parse_xml(ECF))


def test_a_foreign_signature_under_a_prefix_is_replaced_too(signer: Signer) -> None:
    root = parse_xml(ECF.replace(b"<Encabezado>", b'<ds:Signature xmlns:ds="%b"/><Encabezado>' % DSIG.encode()))

    assert signer.sign(root) == signer.sign(parse_xml(ECF))


def test_a_text_that_only_mentions_the_namespace_is_kept(signer: Signer) -> None:
    root = parse_xml(b"<ECF><A>%b</A></ECF>" % DSIG.encode())

    assert verify(signer.sign(root).xml).root.findtext("A") == DSIG


@pytest.mark.parametrize(
    "document",
    [
        b'<ECF><A><Signature xmlns="%b"/></A></ECF>' % DSIG.encode(),
        b'<ECF><A/><Signature xmlns="%b"/>text</ECF>' % DSIG.encode(),
        b"<ECF><A>131<!--x-->1</A></ECF>",
        b"<ECF><?x y?></ECF>",
        b"<!DOCTYPE ECF [<!ENTITY e '1'>]><ECF><A>&e;</A></ECF>",
        b'<ECF xml:lang="es"><A/></ECF>',
        b'<ECF xmlns:x="relative"><A/></ECF>',
        b'<ECF xmlns:x="urn:x?a&amp;b"><A/></ECF>',
        b'<ECF><A xmlns:x="urn:x?a&amp;b"/></ECF>',
    ],
    ids=["nested", "text-after", "comment", "pi", "entity", "xml-lang", "relative-ns", "ns", "ns-below"],
)
def test_forbidden_content_is_not_signed(signer: Signer, document: bytes) -> None:
    root = etree.fromstring(document, etree.XMLParser(resolve_entities=False))

    with pytest.raises(NotSignable):
        signer.sign(root)


def test_namespaces_of_the_root_are_declared_in_canonical_order_and_covered(signer: Signer) -> None:
    xml = signer.sign(parse_xml(SEED)).xml

    assert b"<SemillaModel xmlns:xsd=" in xml
    signatures.verify_with_xmlsec(xml, made.default_credential())


def test_nodes_beside_the_root_are_left_out(signer: Signer) -> None:
    root = etree.fromstring(b"<!--x--><?x y?>" + ECF + b"<!--z-->")

    assert signer.sign(root) == signer.sign(parse_xml(ECF))


def test_a_part_of_a_larger_tree_is_signed_as_a_document_of_its_own(signer: Signer) -> None:
    outer = etree.fromstring(b'<x xmlns:q="urn:q">' + ECF + b"</x>")

    xml = signer.sign(outer[0]).xml

    verify(xml)
    signatures.verify_with_xmlsec(xml, made.default_credential())


@needs_shared
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_the_authoritys_samples_are_signed_and_verify_everywhere(signer: Signer, path: Path) -> None:
    credential = made.default_credential()

    xml = signer.sign(parse_xml(path.read_bytes())).xml

    assert verify(xml).root.tag in ("ECF", "RFCE")
    signatures.verify_with_xmlsec(xml, credential)
    signatures.verify_with_signxml(xml, credential)


def test_many_threads_share_one_signer(signer: Signer) -> None:
    documents = [ECF.replace(b"E310005000201", f"E31{number:010}".encode()) for number in range(64)]
    alone = [signer.sign(parse_xml(document)) for document in documents]

    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda document: signer.sign(parse_xml(document)), documents))

    assert together == alone


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (datetime(2026, 11, 6, 14, 15, 30, tzinfo=UTC), "06-11-2026 10:15:30"),
        (datetime(2026, 11, 6, 2, 0, 0, tzinfo=UTC), "05-11-2026 22:00:00"),
        (datetime(2026, 7, 1, 13, 5, 9, 999_999, tzinfo=timezone(timedelta(hours=-4))), "01-07-2026 13:05:09"),
        (datetime(2027, 1, 1, 3, 59, 59, tzinfo=UTC), "31-12-2026 23:59:59"),
    ],
)
def test_the_time_of_signing_is_that_of_santo_domingo(now: datetime, expected: str) -> None:
    assert signature_time(now) == expected


def test_a_time_without_a_zone_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="zone"):
        signature_time(datetime(2026, 11, 6))


def test_the_profile_names_the_algorithms_of_the_protocol() -> None:
    assert profile.INCLUSIVE_C14N.endswith("REC-xml-c14n-20010315")
    assert f"{{{DSIG}}}Signature" == profile.SIGNATURE
