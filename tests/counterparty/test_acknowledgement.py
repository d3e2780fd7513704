"""An acknowledgement is trusted only when a trusted certificate signed it and it is about this document."""

from base64 import b64encode

import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from lxml import etree

from fe.counterparty.acknowledgement import Acknowledged, NotBelieved, SentDocument, read_acknowledgement
from fe.ecf.build import build
from fe.ecf.catalogue import Root
from fe.ecf.dates import show_moment
from fe.ecf.document import Document
from fe.ecf.signature import Signer
from tests.factories.certificates import WITHIN, default_credential, default_root, make_bitwise
from tests.factories.companies import company_credential
from tests.receiving.supplier import OURS, THEIRS, approval

ABOUT = SentDocument(issuer_rnc=OURS, buyer_rnc=THEIRS, e_ncf="E310000000001")
ROOTS = [default_root().certificate]


def unsigned(**changes: str | None) -> etree._Element:
    detail = {
        "Version": "1.0",
        "RNCEmisor": OURS,
        "RNCComprador": THEIRS,
        "eNCF": "E310000000001",
        "Estado": "0",
        "CodigoMotivoNoRecibido": None,
        "FechaHoraAcuseRecibo": show_moment(WITHIN),
        **changes,
    }
    content = {name: value for name, value in detail.items() if value is not None}
    return build(Document(Root.ARECF, None, {"DetalleAcusedeRecibo": content}))


def signed(**changes: str | None) -> bytes:
    return Signer(default_credential()).sign(unsigned(**changes)).xml


def by_whom(der: bytes) -> bytes:
    """An acknowledgement with another certificate in it."""
    return signed().replace(b64encode(default_credential().der), b64encode(der))


def read(raw: bytes) -> Acknowledged:
    return read_acknowledgement(raw, ABOUT, roots=ROOTS, now=WITHIN)


def test_received() -> None:
    assert read(signed()) == Acknowledged(True, None)


def test_acknowledgement_with_subject_and_issuer_serial_is_believed() -> None:
    names = (
        b"<X509SubjectName>CN=x</X509SubjectName><X509IssuerSerial><X509IssuerName>CN=y</X509IssuerName>"
        b"<X509SerialNumber>1</X509SerialNumber></X509IssuerSerial>"
    )

    assert read(signed().replace(b"<X509Data>", b"<X509Data>" + names)).received


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("1", "1: specification error"),
        ("2", "2: digital signature error"),
        ("3", "3: duplicate"),
        ("4", "4: the buyer is not theirs"),
        (None, "it does not say why"),
    ],
)
def test_not_received_has_its_reason(code: str | None, reason: str) -> None:
    assert read(signed(Estado="1", CodigoMotivoNoRecibido=code)) == Acknowledged(False, reason, has_one=code == "3")
    assert read(signed(Estado="00")) == Acknowledged(True, None)  # the number counts


@pytest.mark.parametrize(
    ("state", "said"), [("0", Acknowledged(True, None)), ("1", Acknowledged(False, "it does not say why"))]
)
def test_a_reason_that_is_left_empty_is_none(state: str, said: Acknowledged) -> None:
    """As some published examples have it (authority.md#receivers)."""
    document = unsigned(Estado=state)
    document[0].insert(5, etree.SubElement(document[0], "CodigoMotivoNoRecibido"))

    assert read(Signer(default_credential()).sign(document).xml) == said


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "no XML"),
        (b"OK", "no XML"),
        (b"<html><body>received</body></html>", "signature"),
        (signed().replace(b"<Estado>0", b"<Estado>1"), "signature"),
        (etree.tostring(unsigned()), "signature"),
        (signed(eNCF="E310000000002"), "another document"),
        (signed(RNCEmisor="131880657"), "another document"),
        (signed(RNCComprador="131880657"), "another buyer"),
        (signed(Estado="7"), "format"),
        (approval("E310000000001", THEIRS), "another document"),
        (Signer(company_credential()).sign(unsigned()).xml, "not issued by a trusted certifier"),
        (by_whom(make_bitwise().public_bytes(Encoding.DER)), "cannot be read"),
    ],
)
def test_untrusted_acknowledgement_is_not_a_success(raw: bytes, says: str) -> None:
    with pytest.raises(NotBelieved, match=says):
        read(raw)


def test_any_signer_is_trusted_in_development_without_roots() -> None:
    raw = Signer(company_credential()).sign(unsigned()).xml

    assert read_acknowledgement(raw, ABOUT, roots=None, now=WITHIN).received
