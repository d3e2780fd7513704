"""Settings: what is missing or wrong is named, never shown; development makes its secrets once."""

import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fe.config import (
    IN_FILES,
    ConfigError,
    Settings,
    apply_env_file,
    load_settings,
    named_keys,
    require,
    without_env_files,
)
from fe.config.env_file import read_env_file

CANARY = "c0ffee"
KEY = "ab" * 31 + "cd"
OTHER_KEY = "ef" + "ab" * 31


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
        ("FE_LOG_LEVEL", CANARY, "FE_LOG_LEVEL: should be debug, info, warning or error"),
        ("FE_LEASE_SECONDS", "inf", "FE_LEASE_SECONDS"),
        ("FE_LEASE_SECONDS", "1e15", "FE_LEASE_SECONDS"),
        ("FE_GRACE_SECONDS", "inf", "FE_GRACE_SECONDS"),
        ("FE_CALLS_PER_SECOND", "inf", "FE_CALLS_PER_SECOND"),
        ("FE_SEND_SLOTS", "99999999999", "FE_SEND_SLOTS"),
        ("FE_STRIPE_KEY", "", "FE_STRIPE_KEY: is empty: leave it out"),
        ("FE_AUTHORITY_STATUS_KEY", f"{CANARY} {CANARY}", "FE_AUTHORITY_STATUS_KEY: should be one word"),
        ("FE_STRIPE_KEY", f"{CANARY}\n{CANARY}", "FE_STRIPE_KEY: should be one line of visible ASCII"),
        (
            "FE_PORTAL_OIDC_CLIENT_SECRET",
            f"{CANARY}é",
            "FE_PORTAL_OIDC_CLIENT_SECRET: should be one line of visible ASCII",
        ),
        ("FE_PUBLIC_HOSTS", "https://fe.example.do", "FE_PUBLIC_HOSTS: 'https://fe.example.do' is not a name"),
        ("FE_PUBLIC_HOSTS", "fe.example.do,fe.example.do:8443", "FE_PUBLIC_HOSTS: 'fe.example.do:8443' is not a name"),
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


def test_what_a_file_puts_around_a_value_is_no_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FE_DATABASE_URL", "postgresql://fe@db.example.com/fe?sslmode=verify-full\n")
    monkeypatch.setenv("FE_STRIPE_KEY", f"{CANARY}\n")
    monkeypatch.setenv("FE_LOG_LEVEL", "WARNING ")
    monkeypatch.setenv("FE_PUBLIC_HOSTS", "FE.example.do., 203.0.113.7\n")

    settings = load_settings()

    assert settings.database_url == "postgresql://fe@db.example.com/fe?sslmode=verify-full"
    assert settings.stripe_key is not None
    assert settings.stripe_key.get_secret_value() == CANARY
    assert settings.log_level == "warning"
    assert settings.own_hosts() == {"fe.example.do", "203.0.113.7"}


@pytest.mark.parametrize("empty", ["", " ", "\n"])
def test_an_empty_address_of_the_database_names_none(monkeypatch: pytest.MonkeyPatch, empty: str) -> None:
    monkeypatch.setenv("FE_DATABASE_URL", empty)

    assert load_settings().database_url is None


def test_a_missing_secret_is_named_with_what_to_do() -> None:
    settings = load_settings()

    with pytest.raises(ConfigError, match=r"FE_JWT_KEYS is not set.*FE_DEVELOPMENT=1"):
        require(settings.jwt_keys, "FE_JWT_KEYS")
    with pytest.raises(ConfigError, match=r"FE_KEK \(or FE_KEK_FILE\) is not set"):
        settings.keks()


def test_secrets_are_not_shown_by_the_settings_themselves() -> None:
    settings = load_settings(jwt_keys=f"k:{KEY}", api_key_pepper=KEY[::-1], kek=f"k:{OTHER_KEY}")

    assert KEY not in repr(settings)
    assert KEY not in str(settings.model_dump())
    assert KEY not in json.dumps(settings.model_dump(mode="json"))


def test_keys_keep_their_order_and_may_have_blanks_around_them() -> None:
    assert list(named_keys(f" new:{KEY} , old:{KEY}")) == ["new", "old"]
    assert named_keys(f"k:{KEY}") == {"k": bytes.fromhex(KEY)}


#: A right value of each setting that a file may hold.
HELD = {
    "database_url": "postgresql://fe:a%26b@/fe",
    "database_near": "postgresql://fe@/fe",
    "jwt_keys": f"k:{KEY}",
    "api_key_pepper": KEY,
    "kek": f"k2:{KEY},k1:{OTHER_KEY}",
    "webhook_keys": f"w1:{KEY}",
    "authority_status_key": CANARY,
    "stripe_key": CANARY,
    "archive_key": CANARY,
    "archive_secret_key": CANARY,
    "mail_password": f"{CANARY} {CANARY}",
    "portal_oidc_client_secret": f"{CANARY} {CANARY}",
}


@pytest.mark.parametrize("name", IN_FILES)
def test_secret_in_a_file_is_read_as_if_its_variable_had_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "secret"
    file.write_text(f"{HELD[name]}\n")
    file.chmod(0o640)
    monkeypatch.setenv(f"FE_{name.upper()}_FILE", str(file))

    found = getattr(load_settings(), name)

    assert (found if isinstance(found, str) else found.get_secret_value()) == HELD[name]


def test_secret_in_a_file_and_in_its_variable_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FE_KEK", f"k:{KEY}")
    monkeypatch.setenv("FE_KEK_FILE", str(tmp_path / "kek"))

    with pytest.raises(ConfigError, match="FE_KEK and FE_KEK_FILE are both set"):
        load_settings()


@pytest.mark.parametrize("content", [b"", CANARY.encode(), f"a:{CANARY}".encode(), b"\xff\xfe" + CANARY.encode()])
def test_a_bad_kek_file_is_named_and_its_content_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "keks"
    file.write_bytes(content)
    file.chmod(0o600)
    monkeypatch.setenv("FE_KEK_FILE", str(file))

    with pytest.raises(ConfigError) as wrong:
        load_settings()

    assert f"FE_KEK_FILE {file}" in str(wrong.value)
    assert CANARY not in str(wrong.value)


def test_a_kek_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FE_KEK_FILE", str(tmp_path / "nowhere"))

    with pytest.raises(ConfigError, match=r"FE_KEK_FILE .*nowhere"):
        load_settings()


# --- Files of settings -------------------------------------------------------------------------------------------


def env_file(folder: Path, text: str, mode: int = 0o640) -> Path:
    file = folder / "fe.env"
    file.write_text(text)
    file.chmod(mode)
    return file


def test_env_file_is_read_without_a_shell(tmp_path: Path) -> None:
    text = (
        "# a remark\n\nFE_DATABASE_URL=postgresql://fe@db/fe?sslmode=verify-full&sslrootcert=/etc/fe/ca.pem\n"
        "export FE_LOG_LEVEL='info'\nPGPASSFILE=\"/etc/fe/pg pass\"\nFE_PORTAL_OIDC_CLIENT_SECRET=$x `y` #z\n"
    )

    assert read_env_file(env_file(tmp_path, text)) == {
        "FE_DATABASE_URL": "postgresql://fe@db/fe?sslmode=verify-full&sslrootcert=/etc/fe/ca.pem",
        "FE_LOG_LEVEL": "info",
        "PGPASSFILE": "/etc/fe/pg pass",
        "FE_PORTAL_OIDC_CLIENT_SECRET": "$x `y` #z",
    }


def test_env_file_with_a_line_that_is_no_setting_is_named_without_its_content(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"fe.env, line 2: should be NAME=VALUE") as wrong:
        read_env_file(env_file(tmp_path, f"FE_LOG_LEVEL=info\n{CANARY}\n"))

    assert CANARY not in str(wrong.value)


def test_env_file_that_others_may_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"fe.env: others may read or change it \(mode 0644\)"):
        read_env_file(env_file(tmp_path, "FE_LOG_LEVEL=info\n", 0o644))


def test_env_file_does_not_change_what_the_environment_has(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FE_LOG_LEVEL", "error")
    monkeypatch.setenv("FE_SEND_SLOTS", "1")
    monkeypatch.delenv("FE_SEND_SLOTS")

    apply_env_file(env_file(tmp_path, "FE_LOG_LEVEL=info\nFE_SEND_SLOTS=7\n"))

    settings = load_settings()
    assert (settings.log_level, settings.send_slots) == ("error", 7)
    # A process that is started reads the file as it is then.
    assert "FE_SEND_SLOTS" not in without_env_files(os.environ)


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
    """A dead process left a draft that is longer than ours and that every user may read."""
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
from typing import Any
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

    said = {racer.communicate(timeout=120)[0] for racer in racers}

    assert {racer.returncode for racer in racers} == {0}
    assert len(said) == 1
    assert [file.name for file in data_dir.iterdir()] == ["development-secrets"]


# --- What is refused, because it would open the service by mistake ------------------------------------------------


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("FE_SNED_SLOTS", "there is no setting FE_SNED_SLOTS: did you mean FE_SEND_SLOTS?"),
        ("FE_KEKS", "there is no setting FE_KEKS: did you mean FE_KEK?"),
        ("fe_jwt_key", "there is no setting fe_jwt_key: did you mean FE_JWT_KEYS?"),
        ("FE_XYZZY_42", "there is no setting FE_XYZZY_42: `fe settings` lists them all"),
    ],
)
def test_a_variable_that_nobody_reads_is_an_error(monkeypatch: pytest.MonkeyPatch, name: str, told: str) -> None:
    monkeypatch.setenv(name, CANARY)

    with pytest.raises(ConfigError) as wrong:
        load_settings()

    assert str(wrong.value) == told


def test_what_kubernetes_tells_of_a_service_called_fe_is_no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    for prefix in ("FE", "FE_HTTP"):
        monkeypatch.setenv(f"{prefix}_SERVICE_HOST", "10.0.0.1")
        for name in ("SERVICE_PORT", "SERVICE_PORT_API", "PORT", "PORT_80_TCP", "PORT_80_TCP_ADDR"):
            monkeypatch.setenv(f"{prefix}_{name}", "tcp://10.0.0.1:80")
    monkeypatch.setenv("FE_PASSPHRASE", "of another command")

    assert load_settings().http_bind == "127.0.0.1:8080"

    monkeypatch.setenv("FE_OTHER_PORT", "80")
    with pytest.raises(ConfigError, match="FE_OTHER_PORT"):
        load_settings()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"kek": f"a:{'5c' * 32}"}, "FE_KEK: is one byte over and over"),
        ({"jwt_keys": f"a:{KEY},b:{'00' * 32}"}, "FE_JWT_KEYS: is one byte over and over"),
        ({"api_key_pepper": "11" * 32}, "FE_API_KEY_PEPPER: is one byte over and over"),
        ({"kek": f"a:{KEY}00"}, "FE_KEK: should be at most 64 hexadecimal characters: the first 64"),
        ({"jwt_keys": f"a:{KEY * 2}00"}, "FE_JWT_KEYS: should be at most 128 hexadecimal characters: the SHA-256"),
        ({"kek": f"a:{KEY},b:{KEY}"}, "FE_KEK: should have each key once"),
        ({"kek": f"a:{KEY}", "jwt_keys": f"b:{OTHER_KEY},a:{KEY}"}, "FE_KEK and FE_JWT_KEYS have the same key"),
        ({"api_key_pepper": KEY, "jwt_keys": f"a:{KEY}"}, "FE_JWT_KEYS and FE_API_KEY_PEPPER have the same key"),
        ({"api_key_pepper": f"{KEY}00", "kek": f"a:{KEY}"}, "FE_KEK and FE_API_KEY_PEPPER have the same key"),
        ({"failpoint": "claimed:1"}, "FE_FAILPOINT is for tests"),
        ({"clock_offset": -1}, "FE_CLOCK_OFFSET is for tests"),
        ({"dumpable": True}, "FE_DUMPABLE is for tests"),
        ({"time_scale": 0.5}, "FE_TIME_SCALE is for tests"),
        ({"authority_ecf_url": "http://ecf.dgii.gov.do"}, "FE_AUTHORITY_ECF_URL should begin with https://"),
        ({"authority_fc_url": "https://203.0.113.7"}, "FE_AUTHORITY_FC_URL should name a host, not an address"),
        ({"authority_fc_url": "https://0x7f000002/x"}, "FE_AUTHORITY_FC_URL should name a host, not an address"),
        ({"authority_status_url": "https://[2001:db8::1]"}, "FE_AUTHORITY_STATUS_URL should name a host"),
        ({"authority_ecf_url": "http://127.0.0.1:8090"}, "FE_AUTHORITY_ECF_URL is this machine"),
        ({"authority_ecf_url": "https://localhost"}, "FE_AUTHORITY_ECF_URL is this machine"),
        ({"authority_ecf_url": "ecf.dgii.gov.do"}, "FE_AUTHORITY_ECF_URL should be a URL"),
        ({"authority_ecf_url": "https://ecf.dgii.gov.do?a=b"}, "FE_AUTHORITY_ECF_URL should be a URL"),
        ({"authority_fc_url": f"https://me:{KEY}@fc.dgii.gov.do"}, "FE_AUTHORITY_FC_URL should be a URL"),
        ({"authority_status_url": "https://statusecf.dgii.gov.do\n"}, "FE_AUTHORITY_STATUS_URL should be a URL"),
        ({"authority_status_url": "https://statusecf.dgii.gov.do:99999"}, "FE_AUTHORITY_STATUS_URL should be a URL"),
        ({"trusted_proxies": "0.0.0.0/0"}, "FE_TRUSTED_PROXIES: '0.0.0.0/0' is wider"),
        ({"trusted_proxies": "10.0.0.0/8, ::/0"}, "FE_TRUSTED_PROXIES: '::/0' is wider"),
        ({"trusted_proxies": "0.0.0.0/1,128.0.0.0/1"}, "FE_TRUSTED_PROXIES: '0.0.0.0/1' is wider"),
        ({"tracing_url": "127.0.0.1:4318"}, "FE_TRACING_URL should be a whole URL"),
        ({"tracing_url": "grpc://collector:4317/v1/traces"}, "FE_TRACING_URL should be a whole URL"),
        ({"tracing_url": "http://collector:4318"}, "FE_TRACING_URL should be a whole URL"),
        ({"tracing_url": "http://collector:4318/"}, "FE_TRACING_URL should be a whole URL"),
        ({"tracing_url": "http://collector:port/v1/traces"}, "FE_TRACING_URL should be a whole URL"),
        ({"tracing_url": "http://collector/v1/traces#here"}, "FE_TRACING_URL should be a whole URL"),
        ({"tracing_url": "http:///v1/traces"}, "FE_TRACING_URL should be a whole URL"),
        ({"tracing_url": f"https://me:{KEY}@collector/v1/traces"}, "FE_TRACING_URL holds credentials"),
        ({"tracing_ratio": 1.1}, "FE_TRACING_RATIO: Input should be less than or equal to 1"),
        ({"tracing_ratio": float("nan")}, "FE_TRACING_RATIO: Input should be"),
        ({"tracing_asked": -1}, "FE_TRACING_ASKED: Input should be greater than or equal to 0"),
        ({"tracing_asked": float("inf")}, "FE_TRACING_ASKED: Input should be a finite number"),
    ],
)
def test_settings_that_are_a_mistake_are_refused_without_being_shown(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        load_settings(**given)

    assert told in str(wrong.value)
    assert "\n" not in str(wrong.value)
    assert KEY not in str(wrong.value)


@pytest.mark.parametrize("mode", [0o644, 0o604, 0o660, 0o601])
def test_a_key_file_that_others_may_read_or_change_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mode: int
) -> None:
    file = tmp_path / "keks"
    file.write_text(f"k:{KEY}")
    file.chmod(mode)
    monkeypatch.setenv("FE_KEK_FILE", str(file))

    with pytest.raises(ConfigError, match=rf"FE_KEK_FILE {file}: others may read or change it \(mode {mode:04o}\)"):
        load_settings()


def test_a_key_in_a_file_has_one_purpose_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "keks"
    file.write_text(f"k:{KEY}")
    file.chmod(0o600)
    monkeypatch.setenv("FE_KEK_FILE", str(file))

    with pytest.raises(ConfigError, match="FE_KEK and FE_API_KEY_PEPPER have the same key"):
        load_settings(api_key_pepper=KEY)


def test_secrets_of_development_that_others_may_read_are_refused(tmp_path: Path) -> None:
    develop(tmp_path)
    (tmp_path / "development-secrets").chmod(0o644)

    with pytest.raises(ConfigError, match="development-secrets: others may read or change it"):
        develop(tmp_path)


def test_development_may_use_a_simulated_authority_and_the_tools_of_the_tests(tmp_path: Path) -> None:
    settings = load_settings(
        development=True,
        data_dir=tmp_path,
        authority_ecf_url="http://127.0.0.1:8090",
        authority_fc_url="http://[::1]:8090",
        authority_status_url="http://localhost:8090",
        failpoint="claimed:1",
        clock_offset=3,
        time_scale=0.1,
    )

    assert settings.time_scale == 0.1


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        (KEY, [""]),
        (f"new:{KEY}", ["new"]),
        (f"new:{KEY}, {OTHER_KEY}", ["new", ""]),
        (f"b:{KEY},a:{OTHER_KEY}", ["b", "a"]),
    ],
)
def test_peppers_have_ids_of_which_one_may_be_missing(given: str, ids: list[str]) -> None:
    peppers = load_settings(api_key_pepper=given).peppers()

    assert list(peppers) == ids
    assert peppers[ids[0]] == bytes.fromhex(KEY)


@pytest.mark.parametrize("given", [f"{KEY},{OTHER_KEY}", f"a:{KEY},a:{OTHER_KEY}", f"a:{KEY},{KEY}", f":{KEY}", ""])
def test_peppers_that_cannot_be_told_apart_are_refused(given: str) -> None:
    with pytest.raises(ConfigError, match="FE_API_KEY_PEPPER: should"):
        load_settings(api_key_pepper=given)
