"""Secrets at rest: what was encrypted for one row opens for that row alone, with the right key alone."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fe.secrets.vault
from fe.identifiers import TenantId
from fe.secrets.vault import P12_PURPOSE, PASSPHRASE_PURPOSE, Belongs, Tampered, UnknownKek, Vault, VaultError

OLD, NEW = {"2025": b"o" * 32}, {"2026": b"n" * 32}
ROW = Belongs(TenantId(7), "certificate-1", "p12")
SECRET = b"the private key"


@pytest.mark.parametrize("purpose", [P12_PURPOSE, PASSPHRASE_PURPOSE])
def test_a_purpose_is_written_down_once(purpose: str) -> None:
    """Two places that name it can come apart, and then nothing that was encrypted opens any more."""
    sources = Path(fe.secrets.vault.__file__).parent.rglob("*.py")

    naming = [source.name for source in sources if f'= "{purpose}"' in source.read_text(encoding="utf-8")]
    assert naming == ["vault.py"]


@given(st.binary(max_size=5000))
def test_what_was_encrypted_opens_and_shows_nothing(secret: bytes) -> None:
    vault = Vault(NEW)

    encrypted = vault.encrypt(secret, ROW)

    assert vault.decrypt(encrypted, ROW) == secret
    assert len(secret) < 8 or secret not in encrypted
    assert Vault.kek_of(encrypted) == "2026"


def test_encrypting_twice_gives_two_values() -> None:
    vault = Vault(NEW)

    assert vault.encrypt(SECRET, ROW) != vault.encrypt(SECRET, ROW)


@pytest.mark.parametrize(
    "other",
    [
        Belongs(TenantId(8), "certificate-1", "p12"),
        Belongs(TenantId(7), "certificate-2", "p12"),
        Belongs(TenantId(7), "certificate-1", "p12-passphrase"),
        Belongs(TenantId(7), "certificate-1:p12", ""),
        Belongs(TenantId(7), "", "certificate-1:p12"),
    ],
)
def test_a_value_moved_to_another_row_does_not_open(other: Belongs) -> None:
    vault = Vault(NEW)
    encrypted = vault.encrypt(SECRET, ROW)

    with pytest.raises(Tampered):
        vault.decrypt(encrypted, other)
    with pytest.raises(Tampered):
        vault.rewrap(encrypted, other)


def test_two_owners_never_look_the_same_to_the_lock() -> None:
    """Ids and purposes with the separator in them: what is authenticated must tell them apart all the same."""
    one, other = Belongs(TenantId(7), "a:b", "c"), Belongs(TenantId(7), "a", "b:c")
    vault = Vault(NEW)

    with pytest.raises(Tampered):
        vault.decrypt(vault.encrypt(SECRET, one), other)


def test_a_changed_byte_anywhere_is_noticed() -> None:
    vault = Vault(NEW)
    encrypted = vault.encrypt(SECRET, ROW)

    for place in range(len(encrypted)):
        for bit in (0x01, 0x80):
            changed = encrypted[:place] + bytes([encrypted[place] ^ bit]) + encrypted[place + 1 :]
            with pytest.raises(VaultError):
                vault.decrypt(changed, ROW)


def test_a_cut_or_lengthened_value_is_noticed() -> None:
    vault = Vault(NEW)
    encrypted = vault.encrypt(SECRET, ROW)

    for length in range(len(encrypted)):
        with pytest.raises(VaultError):
            vault.decrypt(encrypted[:length], ROW)
    with pytest.raises(VaultError):
        vault.decrypt(encrypted + b"\0", ROW)


@given(st.binary(max_size=300))
def test_garbage_is_no_encrypted_value(garbage: bytes) -> None:
    with pytest.raises(VaultError):
        Vault(NEW).decrypt(garbage, ROW)


def test_parts_of_two_values_do_not_go_together() -> None:
    """The data key of one secret and the body of another of the same row."""
    vault = Vault(NEW)
    one, other = vault.encrypt(SECRET, ROW), vault.encrypt(b"another secret!", ROW)
    assert len(one) == len(other)
    body = 2 + 4 + 12 + 48

    with pytest.raises(Tampered):
        vault.decrypt(one[:body] + other[body:], ROW)


def test_values_of_an_older_key_open_while_it_is_configured() -> None:
    encrypted = Vault(OLD).encrypt(SECRET, ROW)

    assert Vault(NEW | OLD).decrypt(encrypted, ROW) == SECRET
    with pytest.raises(UnknownKek, match="'2025'") as unknown:
        Vault(NEW).decrypt(encrypted, ROW)
    assert unknown.value.kek_id == "2025"


def test_the_first_key_encrypts() -> None:
    assert Vault.kek_of(Vault(NEW | OLD).encrypt(SECRET, ROW)) == "2026"
    assert Vault.kek_of(Vault(OLD | NEW).encrypt(SECRET, ROW)) == "2025"


def test_rewrapping_moves_a_value_to_the_current_key_without_touching_the_secret() -> None:
    encrypted = Vault(OLD).encrypt(SECRET, ROW)

    rewrapped = Vault(NEW | OLD).rewrap(encrypted, ROW)

    assert Vault.kek_of(rewrapped) == "2026"
    assert Vault(NEW).decrypt(rewrapped, ROW) == SECRET
    assert rewrapped.endswith(encrypted[-len(SECRET) - 16 - 12 :])
    with pytest.raises(UnknownKek):
        Vault(OLD).decrypt(rewrapped, ROW)


def test_rewrapping_needs_the_old_key_and_may_be_repeated() -> None:
    encrypted = Vault(OLD).encrypt(SECRET, ROW)
    both = Vault(NEW | OLD)

    with pytest.raises(UnknownKek):
        Vault(NEW).rewrap(encrypted, ROW)
    assert both.decrypt(both.rewrap(both.rewrap(encrypted, ROW), ROW), ROW) == SECRET


def test_a_wrong_key_under_the_right_name_does_not_open() -> None:
    encrypted = Vault(NEW).encrypt(SECRET, ROW)

    with pytest.raises(Tampered):
        Vault({"2026": os.urandom(32)}).decrypt(encrypted, ROW)


def test_a_vault_needs_a_key() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Vault({})


@pytest.mark.parametrize("name", ["ñ", "k" * 255])
def test_key_names_may_be_long_and_foreign(name: str) -> None:
    vault = Vault({name: b"k" * 32})

    assert vault.decrypt(vault.encrypt(SECRET, ROW), ROW) == SECRET


def test_a_key_name_that_cannot_be_written_down_is_refused_before_anything_is_encrypted() -> None:
    with pytest.raises(ValueError, match="255"):
        Vault({"k" * 256: b"k" * 32})


def test_errors_tell_nothing_of_keys_and_secrets() -> None:
    vault = Vault(NEW)
    for error in (Tampered(), UnknownKek("2025")):
        assert "nnnn" not in str(error)
        assert SECRET.decode() not in str(error)
    assert "nnnn" not in repr(vault)


# --- the format of a value -------------------------------------------------------------------------------------------


def test_what_is_written_is_what_the_release_before_opens() -> None:
    assert Vault(NEW).encrypt(SECRET, ROW)[0] == 1


@pytest.mark.parametrize(("written", "other"), [(1, 2), (2, 1)])
def test_both_formats_open_and_neither_can_be_passed_off_as_the_other(written: int, other: int) -> None:
    encrypted = Vault(OLD, writes=written).encrypt(SECRET, ROW)
    vault = Vault(NEW | OLD)

    rewrapped = vault.rewrap(encrypted, ROW)

    assert encrypted[0] == rewrapped[0] == written
    assert vault.decrypt(encrypted, ROW) == vault.decrypt(rewrapped, ROW) == SECRET
    for value in (encrypted, rewrapped):
        with pytest.raises(Tampered):
            vault.decrypt(bytes([other]) + value[1:], ROW)
