"""Trust in a certificate: validity, chain, usage. Each objection is provoked once, and alone."""

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from fe.ecf.trust import Distrust, check_certificate
from tests.factories import certificates as made

SECOND = timedelta(seconds=1)


def reasons(
    certificate: x509.Certificate, roots: list[x509.Certificate] | None, at: datetime = made.WITHIN
) -> list[Distrust]:
    return [objection.reason for objection in check_certificate(certificate, roots=roots, at=at)]


def test_a_certificate_of_a_trusted_certifier_is_trusted() -> None:
    assert reasons(made.default_credential().certificate, [made.default_root().certificate]) == []


def test_a_certifier_below_a_root_must_itself_be_among_the_trusted() -> None:
    root = made.default_root()
    below = made.make_intermediate(root)
    leaf = made.make_credential("HOJA", issuer=below).certificate

    assert reasons(leaf, [root.certificate, below.certificate]) == []
    assert reasons(leaf, [root.certificate]) == [Distrust.UNKNOWN_ISSUER]


def test_no_certificate_is_trusted_without_roots() -> None:
    assert reasons(made.default_credential().certificate, []) == [Distrust.UNKNOWN_ISSUER]


def test_a_certifier_of_the_same_name_with_another_key_is_not_the_issuer() -> None:
    root = made.default_root()
    impostor = made.Certifier(
        made.rsa_key("impostor"),
        made.Certifier(made.rsa_key("impostor"), root.certificate).issue(
            root.certificate.subject, made.rsa_key("impostor"), is_ca=True, usage=made.SIGNS_CERTIFICATES
        ),
    )
    leaf = made.make_credential("VICTIMA", issuer=impostor).certificate

    assert reasons(leaf, [root.certificate]) == [Distrust.UNKNOWN_ISSUER]


def test_a_person_cannot_certify_another() -> None:
    person = made.default_credential()
    leaf = made.make_credential("OTRA", issuer=made.Certifier(person.key, person.certificate)).certificate

    assert reasons(leaf, [made.default_root().certificate, person.certificate]) == [Distrust.UNKNOWN_ISSUER]


def test_a_root_that_may_not_certify_is_no_issuer() -> None:
    for root in (made.make_root("SIN CA", is_ca=False), made.make_root("SIN USO", usage=made.SIGNS_DOCUMENTS)):
        leaf = made.make_credential("HOJA", issuer=root).certificate

        assert reasons(leaf, [root.certificate]) == [Distrust.UNKNOWN_ISSUER]


def test_a_pinned_certificate_is_trusted_for_itself() -> None:
    certificate = made.default_credential().certificate

    assert reasons(certificate, [certificate]) == []


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (made.VALID_FROM, []),
        (made.VALID_UNTIL, []),
        (made.VALID_FROM - SECOND, [Distrust.NOT_YET_VALID]),
        (made.VALID_UNTIL + SECOND, [Distrust.EXPIRED]),
    ],
)
def test_validity_includes_its_first_and_last_second(at: datetime, expected: list[Distrust]) -> None:
    assert reasons(made.default_credential().certificate, None, at) == expected


def test_an_expired_issuer_is_an_objection_unless_it_renewed_under_the_same_key() -> None:
    old = made.make_root("RENOVADA", not_after=datetime(2025, 1, 1, tzinfo=UTC))
    renewed = made.make_root("RENOVADA", not_before=datetime(2025, 1, 1, tzinfo=UTC))
    leaf = made.make_credential("HOJA", issuer=old).certificate

    assert reasons(leaf, [old.certificate]) == [Distrust.EXPIRED]
    assert reasons(leaf, [old.certificate, renewed.certificate]) == []


def test_expired_certificate_is_refused_even_when_any_issuer_is_allowed() -> None:
    certificate = made.make_credential("SUELTA", issuer=made.make_root("DESCONOCIDA")).certificate

    assert reasons(certificate, None) == []
    assert reasons(certificate, None, made.VALID_UNTIL + SECOND) == [Distrust.EXPIRED]


def test_a_certificate_for_something_else_may_not_sign_documents() -> None:
    certificate = made.make_credential("SERVIDOR", usage=made.key_usage()).certificate

    assert reasons(certificate, None) == [Distrust.WRONG_USAGE]


@pytest.mark.parametrize(
    "usage", [None, made.key_usage(digital_signature=True), made.key_usage(content_commitment=True)]
)
def test_either_kind_of_signing_will_do_and_so_does_saying_nothing(usage: x509.KeyUsage | None) -> None:
    assert reasons(made.make_credential("FIRMANTE", usage=usage).certificate, None) == []


def test_short_and_elliptic_keys_are_objected_to() -> None:
    short = made.default_root().issue(made.name("CORTA"), made.rsa_key("corta", 1024))
    _, elliptic = made.make_ec_pair()

    assert reasons(short, None) == [Distrust.WEAK_KEY]
    assert reasons(elliptic, None) == [Distrust.WEAK_KEY]


def test_all_objections_are_reported_together() -> None:
    certificate = made.make_credential("TODO MAL", usage=made.key_usage(), issuer=made.make_root("NADIE")).certificate

    assert reasons(certificate, [made.default_root().certificate], made.VALID_UNTIL + SECOND) == [
        Distrust.EXPIRED,
        Distrust.WRONG_USAGE,
        Distrust.UNKNOWN_ISSUER,
    ]


def test_a_certificate_with_broken_extensions_is_unreadable() -> None:
    der = bytearray(made.default_credential().der)
    at = der.index(bytes.fromhex("0603551d0f"))  # the object identifier of keyUsage
    der[at + 10] = 0x04  # octets where bits belong

    assert reasons(x509.load_der_x509_certificate(bytes(der)), None) == [Distrust.UNREADABLE]


def test_certificate_with_a_duplicate_extension_is_unreadable() -> None:
    """A second keyUsage in the place of another extension: cryptography's word for it is no ValueError."""
    usage = made.SIGNS_DOCUMENTS
    other = x509.UnrecognizedExtension(x509.ObjectIdentifier("2.5.29.99"), usage.public_bytes())
    certificate = (
        x509.CertificateBuilder()
        .subject_name(made.name("DOBLE"))
        .issuer_name(made.name("DOBLE"))
        .public_key(made.default_credential().key.public_key())
        .serial_number(7)
        .not_valid_before(made.VALID_FROM)
        .not_valid_after(made.VALID_UNTIL)
        .add_extension(usage, critical=False)
        .add_extension(other, critical=False)
        .sign(made.default_credential().key, SHA256())
    )
    der = certificate.public_bytes(Encoding.DER).replace(b"\x06\x03\x55\x1d\x63", b"\x06\x03\x55\x1d\x0f")

    assert reasons(x509.load_der_x509_certificate(der), None) == [Distrust.UNREADABLE]


def test_a_time_without_a_zone_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="zone"):
        check_certificate(made.default_credential().certificate, roots=None, at=datetime(2026, 1, 1))
