"""Settings: read from the environment here alone. Every one is `FE_` and its name; docs/configuration.md lists them."""

import os
import secrets
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from fe.ecf.catalogue import Service


class ConfigError(Exception):
    """A setting is missing or wrong; the message names it and says what it should be."""


def _hex_of_32_bytes(value: SecretStr) -> SecretStr:
    try:
        ok = len(bytes.fromhex(value.get_secret_value())) >= 32
    except ValueError:
        ok = False
    if not ok:
        raise ValueError("should be at least 64 hexadecimal characters (32 random bytes)")
    return value


def _named_keys(value: SecretStr) -> SecretStr:
    names: set[str] = set()
    for entry in value.get_secret_value().split(","):
        name, _, key = entry.strip().partition(":")
        if not name or not key:
            raise ValueError("should be `id:hex[,id:hex]`, the first being the one in use")
        _hex_of_32_bytes(SecretStr(key))
        if name in names:
            raise ValueError("should have each id once")
        names.add(name)
    return value


HexSecret = Annotated[SecretStr, AfterValidator(_hex_of_32_bytes)]
NamedKeys = Annotated[SecretStr, AfterValidator(_named_keys)]


class Settings(BaseSettings):
    """What an operator may set."""

    model_config = SettingsConfigDict(env_prefix="FE_", extra="ignore", frozen=True, hide_input_in_errors=True)

    database_url: str | None = Field(None, description="Postgres to use; unset: the embedded one under data_dir")
    database_connections: int = Field(
        8, ge=2, le=200, description="connections per pool: one for the HTTP front, one for the actors"
    )
    database_driver: Literal["trio", "trio-asyncio"] = Field(
        "trio", description="how psycopg waits: pumped by Trio, or on an asyncio loop carried inside Trio (slower)"
    )
    data_dir: Path = Field(Path(".fe"), description="where the embedded Postgres and development secrets lie")
    development: bool = Field(False, description="make missing secrets and keep them in data_dir; never in production")

    http_bind: str = Field("127.0.0.1:8080", description="address and port of the public listener")
    metrics_bind: str = Field("127.0.0.1:9464", description="address and first port of /metrics; one port per process")
    trusted_proxies: str = Field("", description="comma-separated networks whose X-Forwarded-For is believed")
    max_body_bytes: int = Field(1024 * 1024, ge=1024, description="largest request body")
    max_connections: int = Field(1000, ge=1, description="open connections per HTTP process")
    calls_per_second: float = Field(0.0, ge=0, description="calls an API key may make a second; 0: as many as it likes")
    max_in_flight: int = Field(200, ge=1, description="requests in work per HTTP process before it sheds with 503")

    reception_bind: str = Field(
        "", description="address and port on which suppliers are received; empty: nobody is (docs/operations.md)"
    )
    reception_roots: Path | None = Field(
        None, description="PEM file of the certifiers whose certificates suppliers may sign with; needed to receive"
    )
    reception_in_flight: int = Field(32, ge=1, description="suppliers' requests in work per process")
    reception_threads: int = Field(
        2, ge=1, description="suppliers' documents judged or acknowledged at once per process"
    )
    reception_calls_per_second: float = Field(
        20.0, ge=0, description="calls an address may make to reception a second; 0: as many as it likes"
    )

    jwt_keys: NamedKeys | None = Field(None, description="id:hex[,id:hex]; the first signs, all verify")
    api_key_pepper: HexSecret | None = Field(None, description="hex; keys the hash of every apiSecret")
    kek: NamedKeys | None = Field(
        None, description="id:hex[,id:hex]; the first encrypts, all decrypt; only for actors, reception and CLI"
    )
    kek_file: Path | None = Field(None, description="a file with what `kek` would hold")

    authority_ecf_url: str = Field("https://ecf.dgii.gov.do", description="host of all services but summaries")
    authority_fc_url: str = Field("https://fc.dgii.gov.do", description="host of consumer summaries")
    authority_status_url: str = Field("https://statusecf.dgii.gov.do", description="host of the service status")
    authority_status_key: SecretStr | None = Field(
        None, description="API key of the authority's status service; with it, announced maintenance is honoured"
    )
    authority_timeout: float = Field(20.0, gt=0, le=35, description="seconds for one exchange with the authority")
    anecf_service: Service = Field(Service.COMMERCIAL_APPROVAL, description="where ANECF documents go")

    sign_slots: int = Field(4, ge=1, description="documents signed at once per process")
    send_slots: int = Field(16, ge=1, description="documents sent at once per process")
    track_slots: int = Field(16, ge=1, description="verdicts asked for at once per process")
    lease_seconds: float = Field(60.0, ge=5, description="how long a claim is believed without a sign of life")
    poll_seconds: float = Field(2.0, gt=0, description="how often due work is looked for when nobody wakes us")
    grace_seconds: float = Field(20.0, gt=0, description="how long SIGTERM waits for work in hand")
    failpoint: str = Field(
        "", description="for the fault suite only: `name:n`, die at the n-th arrival there; `name:n:stop`, stand still"
    )
    time_scale: float = Field(1.0, gt=0, le=1, description="for the fault suite only: shortens all schedules")
    clock_offset: float = Field(0.0, description="for the fault suite only: seconds our clock is wrong")
    log_level: str = Field("info", description="debug, info, warning or error")

    @property
    def lease(self) -> timedelta:
        """How long a claim is believed."""
        return timedelta(seconds=self.lease_seconds)

    def keks(self) -> dict[str, bytes]:
        """The key-encryption keys by id, the one in use first. Raises ConfigError when none is configured."""
        if self.kek_file is not None:
            try:
                text = _named_keys(SecretStr(self.kek_file.read_text(encoding="ascii").strip())).get_secret_value()
            except (OSError, ValueError) as error:
                raise ConfigError(f"FE_KEK_FILE {self.kek_file}: {error}") from error
            return named_keys(text)
        return named_keys(require(self.kek, "FE_KEK (or FE_KEK_FILE)"))


def named_keys(text: str) -> dict[str, bytes]:
    """Read `id:hex[,id:hex]`, in its order."""
    pairs = (entry.strip().partition(":") for entry in text.split(","))
    return {name: bytes.fromhex(key) for name, _, key in pairs}


def require(secret: SecretStr | None, name: str) -> str:
    """Give out a secret that this process cannot do without."""
    if secret is None:
        raise ConfigError(f"{name} is not set (FE_DEVELOPMENT=1 makes one up and keeps it in FE_DATA_DIR)")
    return secret.get_secret_value()


def load_settings(**overrides: Any) -> Settings:
    """Read the environment. Raises ConfigError naming each setting that is wrong, never its value."""
    try:
        settings = Settings(**overrides)
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False)
        raise ConfigError("; ".join(_describe(problem["loc"], problem["msg"]) for problem in found)) from None
    return _with_development_secrets(settings) if settings.development else settings


def _describe(where: tuple[int | str, ...], message: str) -> str:
    return f"FE_{'.'.join(str(part) for part in where).upper()}: {message.removeprefix('Value error, ')}"


def _with_development_secrets(settings: Settings) -> Settings:
    """Fill in the secrets that are not set, from a file that is made once with the owner's eyes only."""
    path = settings.data_dir / "development-secrets"
    if not path.exists():
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        made = [
            f"jwt_keys=dev:{secrets.token_hex(32)}",
            f"api_key_pepper={secrets.token_hex(32)}",
            f"kek=dev:{secrets.token_hex(32)}",
        ]
        # Of no other process, on whatever machine: a process id is not enough where several share the folder.
        draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write("\n".join(made) + "\n")
        try:
            os.link(draft, path)  # fails when another process was first: then its secrets are everybody's
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    kept = dict(line.split("=", 1) for line in path.read_text(encoding="ascii").split())
    missing = {name: SecretStr(value) for name, value in kept.items() if getattr(settings, name) is None}
    return settings.model_copy(update=missing)
