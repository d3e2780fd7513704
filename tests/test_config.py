"""Settings: what is missing or wrong is named, never shown; development makes its secrets once."""

import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fe.config import ConfigError, Settings, load_settings, named_keys, require

CANARY = "c0ffee"
KEY = "ab" * 32


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith("FE_"):
            monkeypatch.delenv(name)


def test_without_any_setting_there_are_defaults_for_all_but_the_secrets() -> None:
    settings = load_settings()

    assert settings.database_url is None
    assert settings.http_bind == "127.0.0.1:8080"
    assert settings.lease.total_seconds() == 60
    assert (settings.jwt_keys, settings.api_key_pepper, settings.kek) == (None, None, None)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("FE_DATABASE_CONNECTIONS", CANARY, "FE_DATABASE_CONNECTIONS"),
        ("FE_DATABASE_CONNECTIONS", "1", "FE_DATABASE_CONNECTIONS"),
        ("FE_JWT_KEYS", CANARY, "FE_JWT_KEYS: should be `id:hex[,id:hex]`"),
        ("FE_JWT_KEYS", f"a:{CANARY}", "FE_JWT_KEYS: should be at least 64 hexadecimal characters"),
        ("FE_JWT_KEYS", f"a:{KEY},b:{CANARY}zz", "FE_JWT_KEYS: should be at least 64"),
        ("FE_JWT_KEYS", f"a:{KEY},", "FE_JWT_KEYS: should be"),
        ("FE_JWT_KEYS", f":{KEY}", "FE_JWT_KEYS: should be"),
        ("FE_KEK", f"a:{KEY},a:{KEY[::-1]}", "FE_KEK: should have each id once"),
        ("FE_API_KEY_PEPPER", CANARY, "FE_API_KEY_PEPPER: should be at least 64"),
        ("FE_API_KEY_PEPPER", KEY[:-2], "FE_API_KEY_PEPPER: should be at least 64"),
        ("FE_LEASE_SECONDS", "1", "FE_LEASE_SECONDS"),
        ("FE_AUTHORITY_TIMEOUT", "99", "FE_AUTHORITY_TIMEOUT"),
        ("FE_ANECF_SERVICE", CANARY, "FE_ANECF_SERVICE"),
        ("FE_DEVELOPMENT", CANARY, "FE_DEVELOPMENT"),
    ],
)
def test_a_wrong_setting_is_named_and_its_value_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(ConfigError) as wrong:
        load_settings()

    assert told in str(wrong.value)
    assert CANARY not in str(wrong.value)
    assert KEY not in str(wrong.value)
    assert wrong.value.__cause__ is None
    assert wrong.value.__suppress_context__


def test_all_wrong_settings_are_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FE_SIGN_SLOTS", "0")
    monkeypatch.setenv("FE_POLL_SECONDS", "-1")

    with pytest.raises(ConfigError, match=r"FE_SIGN_SLOTS.*FE_POLL_SECONDS|FE_POLL_SECONDS.*FE_SIGN_SLOTS"):
        load_settings()


def test_a_missing_secret_is_named_with_what_to_do() -> None:
    settings = load_settings()

    with pytest.raises(ConfigError, match=r"FE_JWT_KEYS is not set.*FE_DEVELOPMENT=1"):
        require(settings.jwt_keys, "FE_JWT_KEYS")
    with pytest.raises(ConfigError, match=r"FE_KEK \(or FE_KEK_FILE\) is not set"):
        settings.keks()


def test_secrets_are_not_shown_by_the_settings_themselves() -> None:
    settings = load_settings(jwt_keys=f"k:{KEY}", api_key_pepper=KEY, kek=f"k:{KEY}")

    assert KEY not in repr(settings)
    assert KEY not in str(settings.model_dump())
    assert KEY not in json.dumps(settings.model_dump(mode="json"))


def test_keys_keep_their_order_and_may_have_blanks_around_them() -> None:
    assert list(named_keys(f" new:{KEY} , old:{KEY}")) == ["new", "old"]
    assert named_keys(f"k:{KEY}") == {"k": bytes.fromhex(KEY)}


def test_the_keks_come_from_a_file_when_one_is_named(tmp_path: Path) -> None:
    file = tmp_path / "keks"
    file.write_text(f"k2:{KEY},k1:{KEY}\n")

    settings = load_settings(kek=f"other:{KEY}", kek_file=file)

    assert list(settings.keks()) == ["k2", "k1"]


@pytest.mark.parametrize("content", [b"", CANARY.encode(), f"a:{CANARY}".encode(), b"\xff\xfe" + CANARY.encode()])
def test_a_bad_kek_file_is_named_and_its_content_is_not_shown(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "keks"
    file.write_bytes(content)

    with pytest.raises(ConfigError) as wrong:
        load_settings(kek_file=file).keks()

    assert f"FE_KEK_FILE {file}" in str(wrong.value)
    assert CANARY not in str(wrong.value)


def test_a_kek_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"FE_KEK_FILE .*nowhere"):
        load_settings(kek_file=tmp_path / "nowhere").keks()


# --- Development -------------------------------------------------------------------------------------------------


def develop(data_dir: Path) -> Settings:
    return load_settings(development=True, data_dir=data_dir)


def secrets_of(settings: Settings) -> tuple[str, str, str]:
    return (
        require(settings.jwt_keys, "jwt"),
        require(settings.api_key_pepper, "pepper"),
        require(settings.kek, "kek"),
    )


def test_development_makes_its_secrets_once_for_their_owners_eyes_only(tmp_path: Path) -> None:
    data_dir = tmp_path / "deep" / ".fe"

    first, second = develop(data_dir), develop(data_dir)

    assert secrets_of(first) == secrets_of(second)
    assert len(set(secrets_of(first))) == 3
    assert list(first.keks()) == ["dev"]
    (file,) = data_dir.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_development_secrets_are_readable_by_nobody_else_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        develop(tmp_path)
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "development-secrets").stat().st_mode) == 0o600


def test_secrets_that_are_set_are_not_replaced_in_development(tmp_path: Path) -> None:
    settings = load_settings(development=True, data_dir=tmp_path, kek=f"mine:{KEY}")

    assert list(settings.keks()) == ["mine"]
    assert settings.jwt_keys is not None


def test_without_development_nothing_is_made(tmp_path: Path) -> None:
    load_settings(data_dir=tmp_path)

    assert list(tmp_path.iterdir()) == []


def test_what_a_process_left_half_made_is_nobodys_secret(tmp_path: Path) -> None:
    """A draft that a process left which died, longer than ours and with everybody's eyes on it."""
    draft = tmp_path / f"development-secrets.{os.getpid()}"
    draft.write_text("x" * 1000)
    draft.chmod(0o644)

    develop(tmp_path)

    secrets = tmp_path / "development-secrets"
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o600
    assert "x" * 10 not in secrets.read_text()


RACER = """
import sys, time
from pathlib import Path
from fe.config import load_settings
time.sleep(max(0.0, float(sys.argv[2]) - time.time()))
settings = load_settings(development=True, data_dir=Path(sys.argv[1]))
print(settings.jwt_keys.get_secret_value(), settings.api_key_pepper.get_secret_value(), settings.kek.get_secret_value())
"""


def test_processes_that_start_together_agree_on_one_set(tmp_path: Path) -> None:
    data_dir, start = tmp_path / "shared", time.time() + 4
    racers = [
        subprocess.Popen([sys.executable, "-c", RACER, str(data_dir), str(start)], stdout=subprocess.PIPE, text=True)
        for _ in range(6)
    ]

    said = {racer.communicate(timeout=60)[0] for racer in racers}

    assert {racer.returncode for racer in racers} == {0}
    assert len(said) == 1
    assert [file.name for file in data_dir.iterdir()] == ["development-secrets"]
