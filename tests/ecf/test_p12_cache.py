"""A .p12 that was opened before gives the same key again, without the long way; every other file goes the long way."""

import pytest

from fe.ecf import p12_cache
from fe.ecf.certificate import Credential, PassphraseMissing, UnsupportedKey, WrongPassphrase, open_p12
from fe.ecf.p12_cache import P12Opener
from fe.ecf.parse import parse_xml
from fe.ecf.signature import Signer, verify
from tests.factories import certificates as made


def files() -> dict[str, tuple[bytes, str]]:
    """As certifiers, OpenSSL, Java, Windows and we ourselves write them."""
    credential = made.default_credential()
    good = made.make_p12(credential.key, credential.certificate)
    return {
        "AES": (good, made.PASSPHRASE),
        "3DES": (made.make_3des_p12(credential), made.PASSPHRASE),
        "RC2-40": (made.RC2_40_P12, made.RC2_40_PASSPHRASE),
        "indefinite lengths": (made.as_ber(good), made.PASSPHRASE),
        "no checksum": (made.p12_of(*made.parts_of(good)), made.PASSPHRASE),
        "more certificates": (
            made.make_p12(credential.key, credential.certificate, others=[made.default_root().certificate]),
            made.PASSPHRASE,
        ),
    }


@pytest.mark.parametrize("name", files())
def test_a_file_gives_the_same_key_and_certificate_each_time(name: str) -> None:
    data, passphrase = files()[name]
    opener, whole = P12Opener(), open_p12(data, passphrase)

    for _ in range(3):
        opened = opener.open(data, passphrase)
        assert opened.certificate == whole.certificate
        assert opened.key.private_numbers() == whole.key.private_numbers()
        assert verify(Signer(opened).sign(parse_xml(b"<ECF><a>b</a></ECF>")).xml).certificate == whole.certificate


@pytest.mark.parametrize("name", ["AES", "3DES", "RC2-40", "no checksum", "more certificates"])
def test_the_long_way_is_gone_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data, passphrase = files()[name]
    ways: list[bytes] = []

    def counted(data: bytes, passphrase: str | None) -> Credential:
        ways.append(data)
        return open_p12(data, passphrase)

    monkeypatch.setattr(p12_cache, "open_p12", counted)
    opener = P12Opener()
    for _ in range(3):
        opener.open(data, passphrase)

    assert ways == [data]


@pytest.mark.parametrize("wrong", ["otra", made.PASSPHRASE + "\0", "\ud800", "x" * 5000])
def test_a_file_that_was_opened_before_opens_with_no_other_passphrase(wrong: str) -> None:
    data, passphrase = files()["AES"]
    opener = P12Opener()
    opener.open(data, passphrase)

    with pytest.raises(WrongPassphrase):
        opener.open(data, wrong)
    for nothing in (None, ""):
        with pytest.raises(PassphraseMissing):
            opener.open(data, nothing)
    assert opener.open(data, passphrase).holder == made.HOLDER


def test_key_of_another_certificate_is_opened_without_the_cache() -> None:
    data, passphrase = files()["AES"]

    assert p12_cache._open_again(data, passphrase, made.default_credential().certificate) is not None
    assert p12_cache._open_again(data, passphrase, made.default_root().certificate) is None


def test_file_that_cannot_be_opened_is_not_cached() -> None:
    key, certificate = made.make_ec_pair()
    data, opener = made.make_p12(key, certificate), P12Opener()

    for _ in range(2):
        with pytest.raises(UnsupportedKey):
            opener.open(data, made.PASSPHRASE)


def test_cache_evicts_the_least_recently_used_file(monkeypatch: pytest.MonkeyPatch) -> None:
    (first, passphrase), (second, _), (third, _) = (files()[name] for name in ("AES", "3DES", "no checksum"))
    opener = P12Opener(kept=2)
    for data in (first, second, first, third):
        opener.open(data, passphrase)

    def no_long_way(*_: object) -> Credential:
        raise AssertionError("the long way")

    monkeypatch.setattr(p12_cache, "open_p12", no_long_way)
    opener.open(first, passphrase)
    opener.open(third, passphrase)
    with pytest.raises(AssertionError, match="the long way"):
        opener.open(second, passphrase)
