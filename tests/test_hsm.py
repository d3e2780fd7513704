"""Key-encryption keys in a token: SoftHSM, spoken to as any other by PKCS#11."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fe.config import ConfigError, Settings, load_settings
from fe.identifiers import TenantId
from fe.receiving.seeds_and_tokens import SESSIONS
from fe.secrets.hsm import KeyInToken, Pkcs11Token, TokenAway, open_vault, require_usable
from fe.secrets.vault import Belongs, Tampered, UnknownKek, Vault, VaultError

_PLACES = [Path("/usr/lib/softhsm"), *Path("/usr/lib").glob("*/softhsm")]
MODULE = next((place / "libsofthsm2.so" for place in _PLACES if (place / "libsofthsm2.so").exists()), None)
PIN = "2468"
KEK = "2025:" + "5a7b" * 16
ROW = Belongs(TenantId(7), "a", "p12")
SECRET = b"a private key, say"

pytestmark = pytest.mark.skipif(
    MODULE is None, reason="no SoftHSM here (apt-get install softhsm2): NOTHING of key-encryption in a token is tested"
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """SoftHSM reads where its tokens are when its library is first used, so all tests of this process share one."""
    folder = tmp_path_factory.mktemp("hsm")
    (folder / "tokens").mkdir()
    (folder / "softhsm2.conf").write_text(f"directories.tokendir = {folder}/tokens\nlog.level = ERROR\n")
    (folder / "pin").write_text(PIN + "\n")
    (folder / "pin").chmod(0o600)
    os.environ["SOFTHSM2_CONF"] = str(folder / "softhsm2.conf")
    init = ["softhsm2-util", "--init-token", "--free", "--label", "fe", "--pin", PIN, "--so-pin", "13579"]
    subprocess.run(init, check=True, capture_output=True)
    import pkcs11

    with pkcs11.lib(str(MODULE)).get_token(token_label="fe").open(rw=True, user_pin=PIN) as session:
        for label in ("kek-1", "kek-2"):
            session.generate_key(
                pkcs11.KeyType.AES,
                256,
                label=label,
                store=True,
                template={pkcs11.Attribute.SENSITIVE: True, pkcs11.Attribute.EXTRACTABLE: False},
            )
        session.create_object(
            {
                pkcs11.Attribute.CLASS: pkcs11.ObjectClass.SECRET_KEY,
                pkcs11.Attribute.KEY_TYPE: pkcs11.KeyType.AES,
                pkcs11.Attribute.LABEL: "2025",
                pkcs11.Attribute.VALUE: bytes.fromhex("5a7b" * 16),
                pkcs11.Attribute.ENCRYPT: True,
                pkcs11.Attribute.DECRYPT: True,
                pkcs11.Attribute.TOKEN: True,
            }
        )
    yield folder
    del os.environ["SOFTHSM2_CONF"]


def settings(store: Path, keys: str = "kek-1", **more: Any) -> Settings:
    given: dict[str, Any] = {
        "pkcs11_module": MODULE,
        "pkcs11_token": "fe",
        "pkcs11_keys": keys,
        "pkcs11_pin_file": store / "pin",
    }
    return load_settings(**{**given, **more})


def test_what_a_key_in_the_token_encrypts_it_decrypts_and_no_key_is_in_this_process(store: Path) -> None:
    vault = open_vault(settings(store))
    encrypted = vault.encrypt(SECRET, ROW)

    assert vault.decrypt(encrypted, ROW) == SECRET
    assert Vault.kek_of(encrypted) == vault.current == "kek-1"
    with pytest.raises(UnknownKek):
        open_vault(settings(store, "kek-2")).decrypt(encrypted, ROW)
    assert isinstance(vault._keks["kek-1"], KeyInToken)


def test_what_was_changed_or_belongs_elsewhere_does_not_open(store: Path) -> None:
    vault = open_vault(settings(store))
    encrypted = vault.encrypt(SECRET, ROW)
    wrapped = 2 + len("kek-1") + 12
    for place in (wrapped - 1, wrapped, wrapped + 47, len(encrypted) - 1):
        changed = encrypted[:place] + bytes([encrypted[place] ^ 1]) + encrypted[place + 1 :]
        with pytest.raises(Tampered):
            vault.decrypt(changed, ROW)
    with pytest.raises(Tampered):
        vault.decrypt(encrypted, Belongs(TenantId(8), "a", "p12"))
    assert vault.decrypt(encrypted, ROW) == SECRET  # and the token goes on


def test_secrets_move_from_the_file_into_the_token_and_a_key_that_is_imported_opens_what_it_did(store: Path) -> None:
    old = open_vault(load_settings(kek=KEK))
    encrypted = old.encrypt(SECRET, ROW)

    both = open_vault(settings(store, "kek-2", kek=KEK))
    rewrapped = both.rewrap(encrypted, ROW)

    assert both.key_ids == ("kek-2", "2025")
    assert Vault.kek_of(rewrapped) == "kek-2"
    assert open_vault(settings(store, "kek-2,kek-1")).decrypt(rewrapped, ROW) == SECRET
    assert open_vault(settings(store, "2025")).decrypt(encrypted, ROW) == SECRET


def test_derived_keys_are_the_same_each_time_and_for_each_key_others(store: Path) -> None:
    roots = open_vault(settings(store, "kek-1,kek-2")).roots(SESSIONS)

    assert roots == open_vault(settings(store, "kek-1,kek-2")).roots(SESSIONS)
    assert len({*roots.values(), *open_vault(settings(store)).roots(b"other").values()}) == 3
    assert Vault({"a": b"x" * 32}).roots(SESSIONS) == {"a": b"x" * 32}


def test_each_process_has_a_session_of_its_own(store: Path) -> None:
    """The service forks after its vault was made, and perhaps used."""
    vault = open_vault(settings(store))
    encrypted = vault.encrypt(SECRET, ROW)
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(write, vault.decrypt(encrypted, ROW))
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as told:
        assert told.read() == SECRET
    os.waitpid(pid, 0)
    assert vault.decrypt(encrypted, ROW) == SECRET


def test_a_session_that_was_lost_is_opened_again(store: Path) -> None:
    import pkcs11

    vault = open_vault(settings(store))
    encrypted = vault.encrypt(SECRET, ROW)
    key = vault._keks["kek-1"]
    assert isinstance(key, KeyInToken)
    lost = key.token._session

    def fail(_: object) -> bytes:
        key.token._session, session = None, key.token._session
        if session is lost:
            raise pkcs11.exceptions.SessionHandleInvalid
        return b"again"

    assert key.token.with_key("kek-1", fail) == b"again"
    lost.close()
    assert vault.decrypt(encrypted, ROW) == SECRET


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"pkcs11_keys": "nobody"}, "NoSuchKey"),
        ({"pkcs11_token": "nowhere"}, "NoSuchToken"),
        ({"pkcs11_module": Path("/nowhere/lib.so")}, "/nowhere/lib.so"),
    ],
)
def test_a_token_that_is_not_as_described_is_said_before_anything_is_served(
    store: Path, wrong: dict[str, Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=said) as refused:
        require_usable(open_vault(settings(store, **{"pkcs11_keys": "kek-1", **wrong})))
    assert PIN not in str(refused.value)


def test_settings_of_a_token_come_together_and_its_pin_is_read_by_us_alone(store: Path, tmp_path: Path) -> None:
    for missing in ("pkcs11_token", "pkcs11_keys", "pkcs11_pin_file", "pkcs11_module"):
        without: dict[str, Any] = {missing: "" if missing == "pkcs11_keys" else None}
        with pytest.raises(ConfigError, match="belong together"):
            open_vault(settings(store, **without))
    (tmp_path / "pin").write_text(PIN)
    (tmp_path / "pin").chmod(0o644)
    with pytest.raises(ConfigError, match="others may read"):
        open_vault(settings(store, pkcs11_pin_file=tmp_path / "pin"))
    with pytest.raises(ConfigError, match="both have a key"):
        open_vault(settings(store, "2025", kek=KEK))
    assert settings(store).without_key_encryption_key().pkcs11_labels() == []


def test_a_token_that_is_away_is_not_taken_for_a_value_that_was_changed(store: Path) -> None:
    vault = open_vault(settings(store))
    encrypted = vault.encrypt(SECRET, ROW)
    assert MODULE is not None
    away = Vault({"kek-1": KeyInToken(Pkcs11Token(MODULE, "gone", PIN), "kek-1")})

    with pytest.raises(TokenAway) as error:
        away.decrypt(encrypted, ROW)
    assert isinstance(error.value, VaultError)
    assert not isinstance(error.value, Tampered)
