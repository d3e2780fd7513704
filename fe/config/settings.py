"""Settings: read from the environment here alone. Every one is `FE_` and its name; docs/configuration.md lists them."""

import difflib
import logging
import os
import re
import secrets
from collections.abc import Iterable, Mapping
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from fe.config.addresses import (
    DatabaseAddress,
    Hosts,
    Networks,
    Ports,
    base_problem,
    collector_problem,
    host_of,
    is_literal,
    is_loopback,
    is_real_authority,
    openid_problem,
    read_hosts,
)
from fe.config.errors import ConfigError
from fe.config.keys import (
    KeyEncryptionKeys,
    Line,
    NamedKeys,
    Peppers,
    Word,
    named_keys,
    read_key_file,
    require,
    require_different,
)
from fe.ecf.catalogue import Service

#: Variables that begin like settings and are none: a command's own input, and what the tests are told.
_OTHER_VARIABLES = (
    "FE_PASSPHRASE",
    "FE_URL",
    "FE_API_KEY_ID",
    "FE_API_SECRET",
    "FE_PROFILE",
    "FE_WEBHOOK_SECRET",
    "FE_TEST_POSTGRES",
    "FE_TEST_CITUS",
)

_PORT_VARIABLE = re.compile(r"PORT(_|$)|SERVICE_")


#: More of any of them than a process could ever do at once; no counter of the database overflows.
_MOST_SLOTS = 10_000
#: No lease, pause or grace is longer than a day.
_DAY = 86_400


def _log_level(name: str) -> str:
    if name.strip().upper() not in logging.getLevelNamesMapping():
        raise ValueError("should be debug, info, warning or error")
    return name.strip().lower()


class Settings(BaseSettings):
    """What an operator may set."""

    model_config = SettingsConfigDict(
        env_prefix="FE_", extra="ignore", frozen=True, hide_input_in_errors=True, allow_inf_nan=False
    )

    database_url: DatabaseAddress = Field(None, description="Postgres to use; unset: the embedded one under data_dir")
    database_connections: int = Field(
        8, ge=2, le=200, description="connections per pool: one for the HTTP front, one for the actors"
    )
    database_plaintext: bool = Field(
        False, description="let a database that is not on this machine be reached without TLS; else sslmode says how"
    )
    database_shared_login: bool = Field(
        False, description="let processes use a login that may do more than they need: `RESET ROLE` has its rights"
    )
    database_engine: Literal["postgres", "citus"] = Field(
        "postgres", description="which engine the database is: Postgres, or Citus (docs/scaling.md says what it lacks)"
    )
    database_near: DatabaseAddress = Field(
        None,
        description="a node of the cluster: this process claims what lies there, from it, and nothing else"
        " (docs/scaling.md)",
    )
    database_driver: Literal["trio", "trio-asyncio"] = Field(
        "trio", description="how psycopg waits: pumped by Trio, or on an asyncio loop carried inside Trio (slower)"
    )
    data_dir: Path = Field(Path(".fe"), description="where the embedded Postgres and development secrets lie")
    development: bool = Field(False, description="make missing secrets and keep them in data_dir; never in production")

    dumpable: bool = Field(False, description="let debuggers attach and core dumps be written; for development only")

    http_bind: str = Field("127.0.0.1:8080", description="address and port of the public listener")
    metrics_bind: str = Field(
        "",
        description="address and first port of /metrics, one port per process; empty: 127.0.0.1 and 9464 for the HTTP"
        " front or all, 9474 for actors, 9484 for the portal, 9494 for reception",
    )
    trusted_proxies: Networks = Field("", description="comma-separated networks whose X-Forwarded-For is believed")
    max_body_bytes: int = Field(1024 * 1024, ge=1024, description="largest request body")
    max_connections: int = Field(1000, ge=1, description="open connections per HTTP process")
    calls_per_second: float = Field(0.0, ge=0, description="calls an API key may make a second; 0: as many as it likes")
    address_connections: int = Field(
        150,
        ge=1,
        description="open connections of one address (IPv6: /64) per HTTP process, a tenth of it once half of all are"
        " taken; trusted proxies have all",
    )
    tenant_requests: int = Field(
        100,
        ge=1,
        description="requests of one tenant in work per HTTP process, and as many more that wait for verdicts",
    )
    tenant_documents_a_minute: int = Field(
        12_000, ge=0, description="documents a tenant may hand in a minute per HTTP process; 0: as many as it likes"
    )
    tenant_documents_a_day: int = Field(2_000_000, ge=0, description="the same a day")
    tenant_bytes_a_minute: int = Field(
        256 * 1024 * 1024, ge=0, description="bytes of documents a tenant may hand in a minute; 0: as many as it likes"
    )
    tenant_bytes_a_day: int = Field(16 * 1024 * 1024 * 1024, ge=0, description="the same a day")
    tenant_webhook_calls_a_minute: int = Field(
        30,
        ge=0,
        description="test events, retries and recoveries of webhooks a tenant may ask for a minute per HTTP process;"
        " 0: as many as it likes",
    )
    large_processes: int = Field(
        1,
        ge=1,
        le=32,
        description="processes for documents over 64 KiB, 500 lines or 2,000 tags: for each HTTP process, and for the"
        " actors; and as many more, while they are needed, for tenants that have had a tenth of a processor for theirs",
    )
    max_in_flight: int = Field(200, ge=1, description="requests in work per HTTP process before it sheds with 503")

    reception_bind: str = Field(
        "", description="address and port on which suppliers are received; empty: nobody is (docs/operations.md)"
    )
    reception_roots: Path | None = Field(
        None,
        description="PEM file of the certifiers whose certificates suppliers may sign with; needed to receive. Actors"
        " believe receivers' acknowledgements by it, too; without it nothing is sent to receivers",
    )
    reception_in_flight: int = Field(32, ge=1, description="suppliers' requests in work per process")
    reception_threads: int = Field(
        2, ge=1, description="suppliers' documents checked or acknowledged at once per process"
    )
    reception_calls_per_second: float = Field(
        20.0, ge=0, description="calls an address may make to reception a second; 0: as many as it likes"
    )

    portal_bind: str = Field(
        "", description="address and port of the portal for people; empty: there is none (docs/portal.md)"
    )
    portal_url: str = Field(
        "", description="under which address people reach the portal (https://...); in development its own is enough"
    )
    portal_operators: bool = Field(
        False, description="serve the pages of the installation's operators beside those of tenants"
    )
    portal_second_factor: Literal["operators", "everyone"] = Field(
        "operators",
        description="who sees nothing but the own account before having a second factor: operators, or everyone;"
        " those who come by OpenID Connect too",
    )

    portal_oidc_issuer: str = Field(
        "", description="OpenID Connect provider that people may log in by (https://...); empty: none"
    )
    portal_oidc_client_id: str = Field("", description="what that provider calls this portal")
    portal_oidc_client_secret: Line | None = Field(None, description="with which the portal proves to it who it is")
    portal_oidc_name: str = Field("OpenID", description="how people call that provider: shown on the button")

    jwt_keys: NamedKeys | None = Field(None, description="id:hex[,id:hex]; the first signs, all verify")
    api_key_pepper: Peppers | None = Field(
        None, description="hex or id:hex[,id:hex]; keys the hash of every apiSecret; the first hashes, all verify"
    )
    kek: KeyEncryptionKeys | None = Field(
        None, description="id:hex[,id:hex]; the first encrypts, all decrypt; only for actors, reception and CLI"
    )
    webhook_keys: KeyEncryptionKeys | None = Field(
        None,
        description="id:hex[,id:hex]; the first encrypts the secrets and headers of webhooks, all decrypt; for the HTTP"
        " front, actors, portal and CLI. Without it there are no webhooks",
    )

    pkcs11_module: Path | None = Field(
        None, description="library of a token (HSM) that holds key-encryption keys; with the three below, before `kek`"
    )
    pkcs11_token: str | None = Field(None, description="label of the token")
    pkcs11_keys: str = Field(
        "", description="comma-separated labels of AES-256 keys in it; the first encrypts, all decrypt"
    )
    pkcs11_pin_file: Path | None = Field(None, description="a file with the PIN of the token's user")

    certifiers_file: Path | None = Field(
        None, description="PEM file with the certifiers' certificates that are trusted, those below a root too"
    )
    revocation_hosts: str = Field(
        "", description="comma-separated hosts (host or host:port) that may be asked whether a certificate is revoked"
    )

    authority_ecf_url: str = Field("https://ecf.dgii.gov.do", description="host of all services but summaries")
    authority_fc_url: str = Field("https://fc.dgii.gov.do", description="host of consumer summaries")
    authority_status_url: str = Field("https://statusecf.dgii.gov.do", description="host of the service status")
    authority_status_key: Word | None = Field(
        None, description="API key of the authority's status service; with it, announced maintenance is honoured"
    )
    authority_timeout: float = Field(20.0, gt=0, le=35, description="seconds for one exchange with the authority")
    authority_simulated: bool = Field(
        False,
        description="the authority's hosts are its simulator: clients may ask for outcomes (docs/api/testing.md);"
        " refused beside the real authority",
    )
    anecf_service: Service = Field(Service.COMMERCIAL_APPROVAL, description="where ANECF documents go")

    stripe_key: Word | None = Field(
        None, description="secret key of the payment processor's account (Stripe); unset: nothing is charged, it waits"
    )
    stripe_url: str = Field("https://api.stripe.com", description="host of the payment processor")

    sign_slots: int = Field(
        2,
        ge=1,
        le=_MOST_SLOTS,
        description="threads of a process that sign longer documents (above 8 kB or a hundred lines);"
        " short ones are signed in its loop",
    )
    send_slots: int = Field(64, ge=1, le=_MOST_SLOTS, description="documents sent at once per process")
    track_slots: int = Field(64, ge=1, le=_MOST_SLOTS, description="verdicts asked for at once per process")
    webhook_slots: int = Field(
        128, ge=2, le=_MOST_SLOTS, description="webhooks called at once per process; half of them never for long"
    )
    egress_ports: Ports = Field("443,8443", description="comma-separated ports at which others may be called")
    egress_proxy: str = Field(
        "", description="http://host:port of a proxy (CONNECT) that calls to others go through; empty: none"
    )
    public_hosts: Hosts = Field(
        "", description="comma-separated names under which this service is reached: it never calls itself"
    )
    lease_seconds: float = Field(60.0, ge=5, le=_DAY, description="how long a claim is believed without a sign of life")
    poll_seconds: float = Field(2.0, gt=0, le=_DAY, description="how often due work is looked for when nobody wakes us")
    grace_seconds: float = Field(20.0, gt=0, le=_DAY, description="how long SIGTERM waits for work in flight")
    failpoint: str = Field(
        "", description="for the fault suite only: `name:n`, die at the n-th arrival there; `name:n:stop`, stand still"
    )
    time_scale: float = Field(1.0, gt=0, le=1, description="for the fault suite only: shortens all schedules")
    clock_offset: float = Field(0.0, description="for the fault suite only: seconds our clock is wrong")
    log_level: Annotated[str, AfterValidator(_log_level)] = Field("info", description="debug, info, warning or error")
    submission_log: float = Field(
        1.0,
        ge=0,
        le=1,
        description="share of submissions whose way is in the log, from acceptance to verdict: 0 none, 1 all; the same "
        "submissions in every process, and what goes wrong is told of all",
    )
    access_log: float = Field(
        0.0,
        ge=0,
        le=1,
        description="share of requests that get a line in the log: 0 none, 1 all, 0.01 one in a hundred",
    )

    tracing_url: str = Field(
        "", description="OTLP over HTTP: http://127.0.0.1:4318/v1/traces; empty: nothing is traced (docs/tracing.md)"
    )
    tracing_ratio: float = Field(0.01, ge=0, le=1, description="share of the documents handed in that are traced")
    tracing_asked: float = Field(
        1.0, ge=0, le=1000, description="traces a second that a tenant may ask for (`traceparent`), per HTTP process"
    )

    @property
    def lease(self) -> timedelta:
        """How long a claim is believed."""
        return timedelta(seconds=self.lease_seconds)

    def webhook_keks(self) -> dict[str, bytes] | None:
        """The keys of webhooks by id, the one in use first; None where there are none."""
        return None if self.webhook_keys is None else named_keys(self.webhook_keys.get_secret_value())

    def ports_of_egress(self) -> frozenset[int]:
        """The ports at which others may be called."""
        return frozenset(int(port) for port in self.egress_ports.split(","))

    def own_hosts(self) -> frozenset[str]:
        """The names under which this service is reached, in lower case."""
        return read_hosts(self.public_hosts)

    def without_key_encryption_key(self) -> "Settings":
        """The same for a process that opens nothing."""
        return self.model_copy(
            update={"kek": None, "pkcs11_module": None, "pkcs11_token": None, "pkcs11_keys": ""}
            | {"pkcs11_pin_file": None}
        )

    def pkcs11_labels(self) -> list[str]:
        """The labels of the keys in the token, the one in use first."""
        return [label.strip() for label in self.pkcs11_keys.split(",") if label.strip()]

    def hosts_of_revocation(self) -> frozenset[str]:
        """The hosts that may be asked about revocation, in lower case."""
        return frozenset(filter(None, (host.strip().lower() for host in self.revocation_hosts.split(","))))

    def authority_urls(self) -> dict[str, str]:
        """The hosts of the authority by the variable that names each."""
        return {
            "FE_AUTHORITY_ECF_URL": self.authority_ecf_url,
            "FE_AUTHORITY_FC_URL": self.authority_fc_url,
            "FE_AUTHORITY_STATUS_URL": self.authority_status_url,
        }

    def keks(self) -> dict[str, bytes]:
        """The key-encryption keys by id, the one in use first. Raises ConfigError when none is configured."""
        return named_keys(require(self.kek, "FE_KEK (or FE_KEK_FILE)"))

    def secrets(self) -> dict[str, dict[str, bytes]]:
        """The secrets that are set and have to differ, by the variable and their ids."""
        found: dict[str, dict[str, bytes]] = {}
        if self.kek is not None:
            found["FE_KEK"] = named_keys(self.kek.get_secret_value())
        if self.webhook_keys is not None:
            found["FE_WEBHOOK_KEYS"] = named_keys(self.webhook_keys.get_secret_value())
        if self.jwt_keys is not None:
            found["FE_JWT_KEYS"] = named_keys(self.jwt_keys.get_secret_value())
        if self.api_key_pepper is not None:
            found["FE_API_KEY_PEPPER"] = self.peppers()
        return found

    def peppers(self) -> dict[str, bytes]:
        """The peppers by id, the one in use first; one without an id has ''. Raises ConfigError when none is set."""
        entries = require(self.api_key_pepper, "FE_API_KEY_PEPPER").split(",")
        return named_keys(",".join(entry if ":" in entry else f":{entry.strip()}" for entry in entries))


#: Settings that may be in a file, which FE_NAME_FILE names: secrets, and addresses with a password.
IN_FILES = (
    "database_url",
    "database_near",
    *(name for name, field in Settings.model_fields.items() if "SecretStr" in repr(field.annotation)),
)


def load_settings(**overrides: Any) -> Settings:
    """Read the environment, and see that it holds together: what is dangerous is refused before anything is started.

    Raises ConfigError naming each setting that is wrong, never its value.
    """
    _require_known(os.environ)
    files = _files(os.environ)
    try:
        settings = Settings(**(_read(files) | overrides))
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False)
        told = (_describe(problem["loc"], problem["msg"], files) for problem in found)
        raise ConfigError("; ".join(told)) from None
    require_different(settings.secrets())
    problems = (
        *(_only_in_development, _authority_problems, _proxy_problems, _processor_problems, _tracing_problems),
        _openid_problems,
    )
    if wrong := [one for problems_of in problems for one in problems_of(settings)]:
        raise ConfigError("; ".join(wrong))
    return _with_development_secrets(settings) if settings.development else settings


#: Settings of earlier releases, and where what they said is kept now.
_MOVED = {"FE_PORTAL_SECOND_PERSON": "the limit is in the database: `fe approval limit N`, with the owner's login"}


def _require_known(names: Iterable[str]) -> None:
    """Raise ConfigError for a variable that nobody reads: most likely a slip, and its default would be in force."""
    given = [name for name in names if name.upper().startswith("FE_")]
    known = [*(f"FE_{name.upper()}" for name in Settings.model_fields), *_OTHER_VARIABLES]
    known += [f"FE_{name.upper()}_FILE" for name in IN_FILES]
    # Kubernetes tells each container of its services: one that is called fe, or fe-something, looks like a setting.
    services = [name.removesuffix("SERVICE_HOST") for name in given if name.endswith("_SERVICE_HOST")]
    for name in given:
        if name.upper() in known or any(
            name.startswith(service) and _PORT_VARIABLE.match(name.removeprefix(service)) for service in services
        ):
            continue
        if name.upper() in _MOVED:
            raise ConfigError(f"{name} is no setting any more: {_MOVED[name.upper()]}")
        nearest = difflib.get_close_matches(name.upper(), known, n=1)
        hint = f": did you mean {nearest[0]}?" if nearest else ": `fe settings` lists them all"
        raise ConfigError(f"there is no setting {name}{hint}")


def _only_in_development(settings: Settings) -> list[str]:
    """Name the tools of the fault suite that are set where real receipts may be issued."""
    if settings.development:
        return []
    tools = {
        "FE_FAILPOINT": settings.failpoint,
        "FE_CLOCK_OFFSET": settings.clock_offset,
        "FE_TIME_SCALE": settings.time_scale != 1,
        "FE_DUMPABLE": settings.dumpable,
    }
    return [f"{name} is for tests: only with FE_DEVELOPMENT=1" for name, value in tools.items() if value]


def _authority_problems(settings: Settings) -> list[str]:
    """Say which host of the authority cannot be trusted to be it: by its name, over TLS, or a simulator here."""
    problems = []
    for name, url in settings.authority_urls().items():
        host = host_of(url) or ""
        if problem := base_problem(url):
            problems.append(f"{name} {problem}")
        elif is_loopback(host):
            if not settings.development:
                problems.append(f"{name} is this machine: only with FE_DEVELOPMENT=1, beside a simulated authority")
        elif urlsplit(url).scheme != "https":
            problems.append(
                f"{name} should begin with https://: the session's token and receipts would go in the clear"
            )
        elif is_literal(host):
            problems.append(f"{name} should name a host, not an address: no certificate proves who answers there")
        if settings.authority_simulated and is_real_authority(host):
            problems.append(
                f"FE_AUTHORITY_SIMULATED is set, and {name} is the real authority, which would receive test outcomes"
            )
    return problems


def _proxy_problems(settings: Settings) -> list[str]:
    """Say what is wrong with the proxy of calls to others."""
    if not settings.egress_proxy:
        return []
    try:
        parts = urlsplit(settings.egress_proxy)
        is_plain = (
            parts.scheme == "http" and parts.hostname and parts.port and not parts.path and "@" not in parts.netloc
        )
    except ValueError:
        is_plain = False
    return [] if is_plain else ["FE_EGRESS_PROXY should be a URL such as http://proxy.internal:3128"]


def _processor_problems(settings: Settings) -> list[str]:
    """Say why the payment processor cannot be trusted to be it; or, in development, why it must not be the real one."""
    host = host_of(settings.stripe_url)
    if host is None:
        return ["FE_STRIPE_URL should be a URL such as https://api.stripe.com"]
    if is_loopback(host):
        return [] if settings.development else ["FE_STRIPE_URL is this machine: only with FE_DEVELOPMENT=1"]
    if urlsplit(settings.stripe_url).scheme != "https":
        return ["FE_STRIPE_URL should begin with https://: the account's key would go in the clear"]
    if settings.development and settings.stripe_key is not None:
        return ["FE_DEVELOPMENT is set, and FE_STRIPE_URL is no simulated processor: nobody may be charged by a trial"]
    return []


def _tracing_problems(settings: Settings) -> list[str]:
    problem = collector_problem(settings.tracing_url) if settings.tracing_url else None
    return [] if problem is None else [f"FE_TRACING_URL {problem}"]


def _openid_problems(settings: Settings) -> list[str]:
    """Say why the provider of identities cannot be trusted to be it."""
    issuer = settings.portal_oidc_issuer
    if not issuer:
        return []
    problem = openid_problem(issuer, development=settings.development)
    found = [] if problem is None else [f"FE_PORTAL_OIDC_ISSUER {problem}"]
    if not settings.portal_oidc_client_id:
        found.append("FE_PORTAL_OIDC_CLIENT_ID is not set: what does the provider call this portal?")
    return found


def _describe(where: tuple[int | str, ...], message: str, files: Mapping[str, Path]) -> str:
    name = ".".join(str(part) for part in where)
    source = f"_FILE {files[name]}" if name in files else ""
    return f"FE_{name.upper()}{source}: {message.removeprefix('Value error, ')}"


def _files(environ: Mapping[str, str]) -> dict[str, Path]:
    """Find the settings that a file holds: FE_KEK_FILE names that of FE_KEK. Raises ConfigError where both are set."""
    given = {name.upper(): value for name, value in environ.items()}
    found = {}
    for name in IN_FILES:
        variable = f"FE_{name.upper()}"
        if path := given.get(f"{variable}_FILE"):
            if given.get(variable):
                raise ConfigError(f"{variable} and {variable}_FILE are both set: leave one of them out")
            found[name] = Path(path)
    return found


def _read(files: Mapping[str, Path]) -> dict[str, Any]:
    """Read what files hold. Raises ConfigError naming the file, never what is in it."""
    found = {}
    for name, path in files.items():
        try:
            found[name] = read_key_file(path)
        except (OSError, ValueError) as error:
            why = "should be plain ASCII" if isinstance(error, UnicodeError) else error
            raise ConfigError(f"FE_{name.upper()}_FILE {path}: {why}") from error
    return found


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
    try:
        kept = dict(line.split("=", 1) for line in read_key_file(path).split())
    except ValueError as error:
        raise ConfigError(f"{path}: {error}") from None
    missing = {name: SecretStr(value) for name, value in kept.items() if getattr(settings, name) is None}
    filled = settings.model_copy(update=missing)
    if filled.webhook_keys is None and filled.kek is not None:
        # Made from the other one: files of before there were webhooks have none.
        made_of = sha256(b"webhooks" + next(iter(named_keys(filled.kek.get_secret_value()).values())))
        filled = filled.model_copy(update={"webhook_keys": SecretStr(f"dev:{made_of.hexdigest()}")})
    return filled
