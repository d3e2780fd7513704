"""Known answers: the same key and document give the same bytes, in every version of this program and its libraries."""

from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from fe.ecf.certificate import Credential
from fe.ecf.parse import parse_xml
from fe.ecf.signature import Signer, verify
from tests.factories.signatures import compact, sign_with_xmlsec, verify_with_xmlsec

VECTORS = Path(__file__).parent / "vectors"
CODES = {"ecf": "Iv0WTj", "seed": "gU1vRd", "acknowledgement": "G2oQ/y"}

documents = pytest.mark.parametrize("name", CODES)


@pytest.fixture(scope="module")
def credential() -> Credential:
    key = load_pem_private_key((VECTORS / "key.pem").read_bytes(), None)
    assert isinstance(key, RSAPrivateKey)
    return Credential(key, x509.load_pem_x509_certificate((VECTORS / "certificate.pem").read_bytes()))


@documents
def test_signing_gives_the_known_bytes_and_code(name: str, credential: Credential) -> None:
    signed = Signer(credential).sign(parse_xml((VECTORS / f"{name}.xml").read_bytes()))

    assert signed.xml == (VECTORS / f"{name}.signed.xml").read_bytes()
    assert signed.security_code == CODES[name]


@documents
def test_the_known_bytes_verify_here_and_with_xmlsec(name: str, credential: Credential) -> None:
    signed = (VECTORS / f"{name}.signed.xml").read_bytes()

    verified = verify(signed)

    assert verified.certificate == credential.certificate
    assert verified.security_code == CODES[name]
    verify_with_xmlsec(signed, credential)


@documents
def test_xmlsec_computes_the_same_signature_from_the_same_document(name: str, credential: Credential) -> None:
    document = compact((VECTORS / f"{name}.xml").read_bytes())

    assert verify(sign_with_xmlsec(document, credential)).security_code == CODES[name]


@pytest.mark.parametrize(
    "name", ["acknowledgement.indented-after-signing", "ecf.signxml-exclusive", "seed.xmlsec-exclusive"]
)
def test_documents_that_others_signed_verify(name: str, credential: Credential) -> None:
    assert verify((VECTORS / f"{name}.xml").read_bytes()).certificate == credential.certificate
