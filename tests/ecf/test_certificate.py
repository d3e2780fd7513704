"""Opening .p12 files: what works, and one distinct error for each way it can fail."""

from datetime import UTC, datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from hypothesis import given, settings
from hypothesis import strategies as st

from fe.ecf import certificate as certificates
from fe.ecf import p12_cost
from fe.ecf.certificate import (
    CertificateError,
    CertificateTooLarge,
    Credential,
    KeyMismatch,
    NoKeyPair,
    NotAP12,
    PassphraseMissing,
    TooCostly,
    UnreadableCertificate,
    UnsupportedKey,
    UnsupportedProtection,
    WrongPassphrase,
    holder,
    holder_id,
    is_for_signing,
    open_p12,
)
from fe.ecf.p12_cache import P12Opener
from tests.factories import certificates as made

NO_PAIR = "loaded .p12 did not yield a key and certificate pair"
NO_PASSPHRASE = "tenant is missing the certificate passphrase setting"

BILLION = 10**9


@pytest.fixture(scope="module")
def credential() -> Credential:
    return made.default_credential()


@pytest.fixture(scope="module")
def good(credential: Credential) -> bytes:
    return made.make_p12(credential.key, credential.certificate)


def test_modern_file_opens_with_its_holder(good: bytes, credential: Credential) -> None:
    opened = open_p12(good, made.PASSPHRASE)

    assert opened.certificate == credential.certificate
    assert opened.key.private_numbers() == credential.key.private_numbers()
    assert opened.holder == made.HOLDER
    assert opened.holder_id == made.HOLDER_ID
    assert opened.serial == f"{credential.certificate.serial_number:x}"
    assert (opened.not_before, opened.not_after) == (made.VALID_FROM, made.VALID_UNTIL)
    assert x509.load_der_x509_certificate(opened.der) == credential.certificate


def test_a_3des_file_opens(credential: Credential) -> None:
    assert open_p12(made.make_3des_p12(credential), made.PASSPHRASE).certificate == credential.certificate


def test_a_legacy_file_with_rc2_40_opens() -> None:
    opened = open_p12(made.RC2_40_P12, made.RC2_40_PASSPHRASE)

    assert (opened.holder, opened.holder_id) == ("DEMO", "00112233445")


def test_a_file_with_indefinite_lengths_opens(good: bytes, credential: Credential) -> None:
    assert open_p12(made.as_ber(good), made.PASSPHRASE).certificate == credential.certificate


def test_a_file_without_checksum_opens(good: bytes, credential: Credential) -> None:
    assert open_p12(made.p12_of(*made.parts_of(good)), made.PASSPHRASE).certificate == credential.certificate


def test_the_certifiers_own_certificates_in_the_file_do_not_matter(credential: Credential) -> None:
    others = [made.default_root().certificate, made.make_credential("OTRA PERSONA").certificate]
    data = made.make_p12(credential.key, credential.certificate, others=others)

    assert open_p12(data, made.PASSPHRASE).certificate == credential.certificate


@pytest.fixture(scope="module")
def for_encryption() -> Credential:
    return made.make_credential(key=made.rsa_key("cifrado"), usage=made.key_usage())


@pytest.mark.parametrize("is_first", [True, False])
def test_p12_with_an_encryption_pair_opens_with_the_signing_pair(
    credential: Credential, for_encryption: Credential, is_first: bool
) -> None:
    pairs = (credential, for_encryption) if is_first else (for_encryption, credential)
    file = made.make_two_pair_p12(*pairs)

    opened = open_p12(file, made.PASSPHRASE)

    assert opened.certificate == credential.certificate
    assert opened.key.public_key() == credential.key.public_key()
    opener = P12Opener()
    opener.open(file, made.PASSPHRASE)
    assert opener.open(file, made.PASSPHRASE).certificate == credential.certificate


def test_p12_with_only_an_encryption_pair_opens_and_shows_its_usage(for_encryption: Credential) -> None:
    """Whether it may be used is decided where certificates are added."""
    opened = open_p12(made.make_p12(for_encryption.key, for_encryption.certificate), made.PASSPHRASE)

    assert not is_for_signing(opened.certificate)


def test_p12_with_an_elliptic_pair_first_opens_with_the_rsa_pair(credential: Credential) -> None:
    elliptic = made.make_p12(*made.make_ec_pair())
    file = made.p12_of(*made.parts_of(elliptic), *made.parts_of(made.make_p12(credential.key, credential.certificate)))

    assert open_p12(file, made.PASSPHRASE).certificate == credential.certificate


def test_p12_with_more_keys_than_uses_is_too_costly(credential: Credential) -> None:
    file = made.make_two_pair_p12(*[credential] * (p12_cost.MAX_KEYS + 1))

    with pytest.raises(TooCostly):
        open_p12(file, made.PASSPHRASE)


def test_an_expired_certificate_opens_because_time_is_judged_elsewhere() -> None:
    expired = made.make_credential(not_after=datetime(2024, 6, 1, tzinfo=UTC))

    opened = open_p12(made.make_p12(expired.key, expired.certificate), made.PASSPHRASE)

    assert opened.not_after == datetime(2024, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize("passphrase", [None, ""])
def test_no_passphrase_has_the_text_that_the_interface_promises(good: bytes, passphrase: str | None) -> None:
    with pytest.raises(PassphraseMissing) as error:
        open_p12(good, passphrase)

    assert error.value.contract.en == NO_PASSPHRASE


@pytest.mark.parametrize("passphrase", ["otra", made.PASSPHRASE.upper(), made.PASSPHRASE + "\0", "\ud800", "x" * 5000])
def test_wrong_passphrase_is_reported(good: bytes, passphrase: str) -> None:
    with pytest.raises(WrongPassphrase):
        open_p12(good, passphrase)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0",
        b"-----BEGIN CERTIFICATE-----\n",
        b"%PDF-1.7\n",
        b"PK\x03\x04",
        b"\x30\x80",
        b"\x30\x80" * 1000,
        b"\x30\x84\xff\xff\xff\xff",
        made.der(0x30, made.der_integer(3)),
        made.der(0x30, made.der_integer(3), made.der(0x30)),
        made.p12_of() + b"\0",
        made.p12_of(b"\x1f\x1f\x00"),
    ],
)
def test_file_that_is_not_a_p12_is_reported(data: bytes) -> None:
    with pytest.raises(NotAP12):
        open_p12(data, made.PASSPHRASE)


def test_a_bare_certificate_is_no_p12(credential: Credential) -> None:
    with pytest.raises(NotAP12):
        open_p12(credential.der, made.PASSPHRASE)


def test_a_file_that_was_cut_off_is_no_p12(good: bytes) -> None:
    with pytest.raises(NotAP12):
        open_p12(good[:-1], made.PASSPHRASE)


def test_a_large_file_is_refused_by_its_size_alone() -> None:
    with pytest.raises(CertificateTooLarge):
        open_p12(bytes(certificates.MAX_BYTES + 1), made.PASSPHRASE)


def test_file_without_a_private_key_is_reported(credential: Credential) -> None:
    with pytest.raises(NoKeyPair):
        open_p12(made.make_p12(None, credential.certificate), made.PASSPHRASE)


def test_file_without_a_certificate_is_reported(credential: Credential) -> None:
    with pytest.raises(NoKeyPair):
        open_p12(made.make_p12(credential.key, None), made.PASSPHRASE)


def test_empty_p12_is_reported() -> None:
    with pytest.raises(NoKeyPair):
        open_p12(made.p12_of(), made.PASSPHRASE)


def test_key_with_another_certificate_is_reported(credential: Credential) -> None:
    other = made.make_credential("OTRA PERSONA")
    data = made.make_p12(credential.key, None, others=[other.certificate])

    with pytest.raises(KeyMismatch):
        open_p12(data, made.PASSPHRASE)


def test_an_elliptic_key_is_not_supported() -> None:
    key, certificate = made.make_ec_pair()

    with pytest.raises(UnsupportedKey):
        open_p12(made.make_p12(key, certificate), made.PASSPHRASE)


def test_a_short_key_is_not_supported() -> None:
    key = made.rsa_key("corta", 1024)
    certificate = made.default_root().issue(made.name("CORTA"), key)

    with pytest.raises(UnsupportedKey):
        open_p12(made.make_p12(key, certificate), made.PASSPHRASE)


def test_unreadable_certificate_is_reported() -> None:
    with pytest.raises(UnreadableCertificate):
        open_p12(made.p12_with_unreadable_certificate(), made.PASSPHRASE)


def test_certificate_of_unknown_version_is_reported() -> None:
    with pytest.raises(UnreadableCertificate):
        open_p12(made.p12_with(made.der_of_another_version()), made.PASSPHRASE)


@pytest.mark.parametrize("whose", [made.HOLDER, made.ISSUER])
def test_certificate_with_a_bit_string_name_is_reported(whose: str) -> None:
    with pytest.raises(UnreadableCertificate):
        open_p12(made.p12_with(made.make_bitwise(whose).public_bytes(Encoding.DER)), made.PASSPHRASE)


# A flipped bit can make a serial number negative, which `cryptography` still reads, with a warning.
@pytest.mark.filterwarnings("ignore:Parsed a serial number which wasn't positive")
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_damaged_certificate_raises_a_named_error_or_is_readable(data: st.DataObject) -> None:
    der = bytearray(made.default_credential().der)
    der[data.draw(st.integers(0, len(der) - 1))] ^= data.draw(st.integers(1, 255))

    try:
        opened = open_p12(made.p12_with(bytes(der)), made.PASSPHRASE)
    except CertificateError:
        return

    assert opened.serial
    assert isinstance(opened.holder, str)
    assert opened.holder_id is None or opened.holder_id
    assert isinstance(opened.not_before, datetime)
    assert isinstance(opened.not_after, datetime)


def errors() -> list[type[CertificateError]]:
    return CertificateError.__subclasses__()


@pytest.mark.parametrize("error", errors())
def test_certificate_error_has_a_remedy_in_both_languages(error: type[CertificateError]) -> None:
    assert error.contract.en in (NO_PAIR, NO_PASSPHRASE)
    assert error().failure.en.startswith(error.contract.en)
    assert error.message != CertificateError.message
    assert error.message_es != CertificateError.message_es
    assert str(error()) == error.message


def test_no_two_errors_share_a_message() -> None:
    assert len({error.message for error in errors()}) == len({error.message_es for error in errors()}) == len(errors())


def test_an_error_shows_neither_passphrase_nor_file(good: bytes) -> None:
    with pytest.raises(WrongPassphrase) as error:
        open_p12(good, "canary-passphrase")

    assert "canary" not in repr(error.value)
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__


def test_a_credential_shows_no_part_of_its_key(credential: Credential) -> None:
    shown = repr(credential)

    numbers = credential.key.private_numbers()
    assert str(numbers.d) not in shown
    assert str(numbers.p) not in shown


# --- files made to burn processor time ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        made.p12_of(made.encrypted_part(made.pbes2(BILLION)), made.plain_part(made.shrouded_key_bag(made.pbes2(1)))),
        made.p12_of(made.plain_part(made.shrouded_key_bag(made.pbes2(BILLION)))),
        made.p12_of(made.plain_part(made.shrouded_key_bag(made.pkcs12_pbe(BILLION)))),
        made.p12_of(made.plain_part(made.shrouded_key_bag(made.pbes2(2**70)))),
        made.p12_of(*[made.encrypted_part(made.pbes2(100_000), b"")] * 40),
        made.p12_of(made.plain_part(made.shrouded_key_bag(made.pbes2(1), bytes(40_000)))),
        made.as_ber(made.p12_of(made.plain_part(made.shrouded_key_bag(made.pbes2(BILLION))))),
    ],
    ids=["certificates", "key", "key-pbe", "beyond-64-bit", "many-parts", "huge-key", "indefinite-lengths"],
)
def test_a_costly_file_is_refused_before_it_costs_anything(data: bytes) -> None:
    with pytest.raises(TooCostly):  # which is only raised before anything is derived
        open_p12(data, made.PASSPHRASE)


def test_a_count_hidden_inside_an_encrypted_part_is_never_reached(good: bytes, credential: Credential) -> None:
    """OpenSSL alone would take the hidden key first and derive a billion rounds for it."""
    hidden = made.encrypt_cheaply(made.der(0x30, made.shrouded_key_bag(made.pbes2(BILLION))))

    opened = open_p12(made.p12_of(hidden, *made.parts_of(good)), made.PASSPHRASE)

    assert opened.certificate == credential.certificate


def test_a_key_only_inside_an_encrypted_part_is_not_opened() -> None:
    hidden = made.encrypt_cheaply(made.der(0x30, made.shrouded_key_bag(made.pbes2(BILLION))))

    with pytest.raises(NoKeyPair):  # a billion rounds would outlast the limit every test has
        open_p12(made.p12_of(hidden), made.PASSPHRASE)


@pytest.mark.parametrize(
    "data",
    [
        made.p12_of(made.encrypted_part(made.pbes2(1, kdf="050e"))),
        made.p12_of(made.encrypted_part(made.der(0x30, made.der_oid("0301"), made.der(0x30)))),
        made.p12_of(made.der(0x30, made.der_oid("0703"), made.der(0xA0, made.der(0x30)))),
        made.der(0x30, made.der_integer(3), made.der(0x30, made.der_oid("0702"), made.der(0xA0, made.der(0x30)))),
        made.p12_of(made.plain_part(made.der(0x30, made.der_oid("0c0a0106"), made.der(0xA0, made.der(0x30))))),
    ],
    ids=["other-derivation", "other-encryption", "enveloped", "signed", "nested-bags"],
)
def test_protection_of_unknown_cost_is_refused(data: bytes) -> None:
    with pytest.raises(UnsupportedProtection):
        open_p12(data, made.PASSPHRASE)


def test_the_rounds_of_all_parts_are_added_up(credential: Credential) -> None:
    data = made.make_p12(credential.key, credential.certificate, rounds=4_096)

    assert p12_cost.bound(data).iterations == 2 * 4_096


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_give_one_of_the_named_errors(data: bytes) -> None:
    with pytest.raises(CertificateError):
        open_p12(data, made.PASSPHRASE)


# A flipped bit can make a serial number negative, which `cryptography` still reads, with a warning.
@pytest.mark.filterwarnings("ignore:Parsed a serial number which wasn't positive")
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_damaged_file_opens_to_the_same_key_or_gives_a_named_error(data: st.DataObject) -> None:
    credential = made.default_credential()
    file = bytearray(made.make_3des_p12(credential))
    file[data.draw(st.integers(0, len(file) - 1))] ^= data.draw(st.integers(1, 255))

    try:
        opened = open_p12(bytes(file), made.PASSPHRASE)
    except CertificateError:
        return

    assert opened.key.private_numbers() == credential.key.private_numbers()
    assert opened.certificate.public_key() == credential.certificate.public_key()


# --- who the holder is --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("serial_number", "expected"),
    [
        ("IDCDO-00112233445", "00112233445"),
        ("RNC 131880738", "131880738"),
        ("RNC131880738", "131880738"),
        ("RNC-131880738", "131880738"),
        ("PASDO-SE1234567", "SE1234567"),
        ("00112233445", "00112233445"),
        ("IDCDO-", None),
        (None, None),
    ],
)
def test_holder_id_is_returned_without_its_prefix(serial_number: str | None, expected: str | None) -> None:
    subject = made.name("PERSONA", serial_number=serial_number)
    certificate = made.default_root().issue(subject, made.rsa_key(made.HOLDER))

    assert holder_id(certificate) == expected


def test_a_holder_without_a_common_name_is_shown_by_the_whole_subject() -> None:
    subject = x509.Name([x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, "EMPRESA SRL")])
    certificate = made.default_root().issue(subject, made.rsa_key(made.HOLDER))

    assert holder(certificate) == "O=EMPRESA SRL"
