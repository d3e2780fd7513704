"""Two implementations that we did not write agree with ours, in both directions."""

import shutil
import subprocess
from pathlib import Path

import pytest
import xmlsec
from cryptography.hazmat.primitives.serialization import Encoding
from lxml import etree
from signxml.algorithms import CanonicalizationMethod

from fe.ecf.parse import parse_xml
from fe.ecf.signature import Signer, profile, verify
from tests.factories import certificates as made
from tests.factories.signatures import (
    DSIG,
    ECF,
    SEED,
    sign_with_signxml,
    sign_with_xmlsec,
    signature_template,
    verify_with_signxml,
    verify_with_xmlsec,
)

XMLSEC1 = shutil.which("xmlsec1")
EXCLUSIVE = f'<CanonicalizationMethod Algorithm="{profile.EXCLUSIVE_C14N}"/>'
ENVELOPED = f'<Transform Algorithm="{profile.ENVELOPED}"/>'

documents = pytest.mark.parametrize("document", [ECF, SEED], ids=["ecf", "seed"])


def compact(document: bytes) -> bytes:
    return etree.tostring(parse_xml(document))


@documents
def test_xmlsec_verifies_ours(document: bytes) -> None:
    credential = made.default_credential()

    verify_with_xmlsec(Signer(credential).sign(parse_xml(document)).xml, credential)


@documents
def test_xmlsec_refuses_ours_once_altered(document: bytes) -> None:
    credential = made.default_credential()
    altered = Signer(credential).sign(parse_xml(document)).xml.replace(b"2026", b"2025")

    with pytest.raises(xmlsec.Error):
        verify_with_xmlsec(altered, credential)


@documents
def test_signxml_verifies_ours(document: bytes) -> None:
    credential = made.default_credential()

    signed = verify_with_signxml(Signer(credential).sign(parse_xml(document)).xml, credential)

    assert signed == etree.tostring(parse_xml(document), method="c14n")


@pytest.mark.skipif(XMLSEC1 is None, reason="NOT PROVED HERE: the xmlsec1 command is not installed")
@documents
def test_the_xmlsec_command_verifies_ours(document: bytes, tmp_path: Path) -> None:
    credential = made.default_credential()
    signed, trusted = tmp_path / "signed.xml", tmp_path / "root.pem"
    signed.write_bytes(Signer(credential).sign(parse_xml(document)).xml)
    trusted.write_bytes(made.default_root().certificate.public_bytes(Encoding.PEM))
    assert XMLSEC1 is not None

    done = subprocess.run([XMLSEC1, "--verify", "--trusted-pem", trusted, signed], capture_output=True, check=False)

    assert done.returncode == 0, done.stderr.decode()


SIGNS = "<ECF><NombreItem>Ron® © 2026 a 5 €, y ‰ ñ</NombreItem></ECF>".encode()


def test_three_signs_go_out_as_numeric_references_and_the_signature_holds(tmp_path: Path) -> None:
    """The digest is of the canonical form, which has the characters; the bytes that are sent have the references."""
    credential = made.default_credential()

    signed = Signer(credential).sign(parse_xml(SIGNS)).xml

    assert "<NombreItem>Ron&#174; &#169; 2026 a 5 &#8364;, y ‰ ñ</NombreItem>".encode() in signed
    assert verify(signed).root.findtext("NombreItem") == "Ron® © 2026 a 5 €, y ‰ ñ"
    verify_with_signxml(signed, credential)
    if XMLSEC1 is not None:
        sent, trusted = tmp_path / "signed.xml", tmp_path / "root.pem"
        sent.write_bytes(signed)
        trusted.write_bytes(made.default_root().certificate.public_bytes(Encoding.PEM))
        done = subprocess.run([XMLSEC1, "--verify", "--trusted-pem", trusted, sent], capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()


@documents
@pytest.mark.parametrize(
    "template",
    [
        signature_template(),
        signature_template(c14n=EXCLUSIVE),
        signature_template(
            transforms=f'<Transforms>{ENVELOPED}<Transform Algorithm="{profile.EXCLUSIVE_C14N}"/></Transforms>'
        ),
        signature_template(
            transforms=f'<Transforms>{ENVELOPED}<Transform Algorithm="{profile.INCLUSIVE_C14N}"/></Transforms>'
        ),
        signature_template(
            c14n=EXCLUSIVE,
            transforms=f'<Transforms>{ENVELOPED}<Transform Algorithm="{profile.EXCLUSIVE_C14N}"/></Transforms>',
        ),
    ],
    ids=["profile", "exclusive-method", "exclusive-transform", "inclusive-transform", "exclusive-both"],
)
def test_signature_of_xmlsec_verifies(document: bytes, template: str) -> None:
    credential = made.default_credential()
    signed = sign_with_xmlsec(compact(document), credential, template)

    verified = verify(signed)

    assert etree.tostring(verified.root, method="c14n") == etree.tostring(parse_xml(document), method="c14n")
    assert verified.certificate == credential.certificate


@documents
@pytest.mark.parametrize(
    "c14n",
    [CanonicalizationMethod.CANONICAL_XML_1_0, CanonicalizationMethod.EXCLUSIVE_XML_CANONICALIZATION_1_0],
    ids=["inclusive", "exclusive"],
)
def test_signature_of_signxml_under_a_prefix_verifies(document: bytes, c14n: CanonicalizationMethod) -> None:
    credential = made.default_credential()
    signed = sign_with_signxml(compact(document), credential, c14n)
    assert b"<ds:Signature" in signed

    verified = verify(signed)

    assert verified.root.find(f"{{{DSIG}}}Signature") is None
    assert verified.security_code == verified.signature_value[:6]


def test_a_declaration_deeper_in_the_document_is_canonicalised_as_xmlsec_does() -> None:
    credential = made.default_credential()
    document = b'<ECF xmlns:z="urn:z"><A xmlns:b="urn:b" b:c="1" a="2"><b:D xmlns="urn:d"><E xmlns=""/></b:D></A></ECF>'

    xml = Signer(credential).sign(parse_xml(document)).xml

    verify_with_xmlsec(xml, credential)
    verify(xml)
    verify(sign_with_xmlsec(document, credential))
