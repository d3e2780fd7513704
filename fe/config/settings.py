"""Settings, read from environment variables named `FE_` and the field's name. docs/configuration.md lists them."""

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
    Origins,
    Ports,
    archive_problem,
    base_problem,
    collector_problem,
    host_of,
    is_literal,
    is_loopback,
    is_real_authority,
    openid_problem,
    read_hosts,
    relay_problem,
    sender_problem,
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

#: Variables that begin with FE_ and are not settings: input of single commands and of the tests.
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


#: Upper bound of slots: more than one process can use, and no database counter overflows.
_MOST_SLOTS = 10_000
#: Upper bound of durations, in seconds.
_DAY = 86_400


def _log_level(name: str) -> str:
    if name.strip().upper() not in logging.getLevelNamesMapping():
        raise ValueError("should be debug, info, warning or error")
    return name.strip().lower()


def _tests_only(default: Any, **bounds: Any) -> Any:
    """Declare a setting for tests and development. It needs FE_DEVELOPMENT=1, and `fe settings` does not list it."""
    return Field(default, json_schema_extra={"tests_only": True}, **bounds)


class Settings(BaseSettings):
    """The settings of one process, checked by `load_settings`."""

    model_config = SettingsConfigDict(
        env_prefix="FE_", extra="ignore", frozen=True, hide_input_in_errors=True, allow_inf_nan=False
    )

    database_url: DatabaseAddress = Field(
        None, description="address of the Postgres database; unset: the embedded one under data_dir"
    )
    database_connections: int = Field(
        8, ge=2, le=200, description="connections per pool; the HTTP front and the actors have a pool each"
    )
    database_plaintext: bool = Field(
        False, description="allow a database on another machine without TLS; otherwise sslmode decides"
    )
    database_shared_login: bool = Field(
        False, description="accept a database login with more rights than the process needs (`RESET ROLE` gives them)"
    )
    database_engine: Literal["postgres", "citus"] = Field(
        "postgres", description="database engine: Postgres, or Citus (docs/scaling.md lists what it lacks)"
    )
    database_near: DatabaseAddress = Field(
        None, description="address of a Citus node: this process claims only the work stored there (docs/scaling.md)"
    )
    database_driver: Literal["trio", "trio-asyncio"] = Field(
        "trio", description="event loop under psycopg: Trio, or asyncio inside Trio (slower)"
    )
    data_dir: Path = Field(Path(".fe"), description="folder of the embedded Postgres and the development secrets")
    development: bool = Field(
        False, description="create missing secrets and keep them in data_dir; never in production"
    )

    http_bind: str = Field("127.0.0.1:8080", description="address and port of the public listener")
    metrics_bind: str = Field(
        "",
        description="address and first port of /metrics, one port per process; empty: 127.0.0.1 and 9464 for the HTTP"
        " front or all, 9474 for actors, 9484 for the portal, 9494 for reception, 9504 for the buyers' page",
    )
    trusted_proxies: Networks = Field("", description="comma-separated networks whose X-Forwarded-For is trusted")
    cors_origins: Origins = Field(
        "",
        description="comma-separated origins whose pages may call the API from a browser, such as https://shop.example",
    )
    max_connections: int = Field(1000, ge=1, description="open connections per HTTP process")
    calls_per_second: float = Field(0.0, ge=0, description="calls per second of one API key; 0: no limit")
    address_connections: int = Field(
        150,
        ge=1,
        description="open connections of one address (IPv6: /64) per HTTP process, a tenth of it once half of all are"
        " taken; no limit for trusted proxies",
    )
    tenant_requests: int = Field(
        100,
        ge=1,
        description="requests of one tenant in progress per HTTP process, and the same number waiting for verdicts",
    )
    tenant_documents_a_minute: int = Field(
        12_000,
        ge=0,
        description="documents per minute of one tenant per HTTP process, of 22 KiB on average; 0: no limit",
    )
    large_processes: int = Field(
        1,
        ge=1,
        le=32,
        description="processes for documents over 64 KiB, 500 lines or 2,000 tags, for each HTTP process and for the"
        " actors; under load as many again for tenants that have used a tenth of a processor",
    )
    max_in_flight: int = Field(200, ge=1, description="requests in progress per HTTP process before it answers 503")

    reception_bind: str = Field(
        "", description="address and port where suppliers deliver receipts; empty: no reception (docs/operations.md)"
    )
    reception_roots: Path | None = Field(
        None,
        description="PEM file of the certification authorities that suppliers' and receivers' certificates must come"
        " from; without it nothing is received from suppliers or sent to receivers",
    )

    share_bind: str = Field(
        "", description="address and port of the buyers' page; empty: no page (docs/operations/sharing.md)"
    )
    share_url: str = Field(
        "",
        description="public address of the buyers' page (https://...), for links; empty: no receipt can be shared; in"
        " development the default is its own address",
    )

    portal_bind: str = Field("", description="address and port of the portal; empty: no portal (docs/portal.md)")
    portal_url: str = Field(
        "", description="public address of the portal (https://...); in development the default is its own address"
    )
    portal_name: str = Field(
        "fe",
        min_length=1,
        max_length=40,
        description="name of the portal in titles; its first two letters are the mark",
    )
    portal_operators: bool = Field(False, description="serve the operators' pages beside those of tenants")
    portal_second_factor: Literal["operators", "everyone"] = Field(
        "operators",
        description="people who must set up a second factor before they see more than their own account, also with"
        " OpenID Connect",
    )

    approval_days: int = Field(
        0,
        ge=0,
        le=365,
        description="days in which a company answers a received receipt, from its arrival, as the portal counts them"
        " down; 0: it shows how long each waits (the law leaves the time to technical texts)",
    )

    portal_oidc_issuer: str = Field(
        "", description="OpenID Connect provider for signing in (https://...); empty: passwords only"
    )
    portal_oidc_client_id: str = Field("", description="client id of the portal at that provider")
    portal_oidc_client_secret: Line | None = Field(None, description="client secret of the portal at that provider")
    portal_oidc_name: str = Field("OpenID", description="name of that provider on the sign-in button")

    jwt_keys: NamedKeys | None = Field(
        None, description="keys of access tokens, id:hex[,id:hex]; the first signs, all verify"
    )
    api_key_pepper: Peppers | None = Field(
        None, description="keys that hash every apiSecret, hex or id:hex[,id:hex]; the first hashes, all verify"
    )
    kek: KeyEncryptionKeys | None = Field(
        None,
        description="key-encryption keys, id:hex[,id:hex]; the first encrypts, all decrypt; for actors, reception,"
        " portal and CLI",
    )
    webhook_keys: KeyEncryptionKeys | None = Field(
        None,
        description="keys for the secrets and headers of webhooks, id:hex[,id:hex]; the first encrypts, all decrypt;"
        " for the HTTP front, actors, portal and CLI; unset: no webhooks",
    )

    pkcs11_module: Path | None = Field(
        None, description="PKCS #11 library of an HSM with the key-encryption keys, used before `kek`"
    )
    pkcs11_token: str | None = Field(None, description="label of the HSM's token")
    pkcs11_keys: str = Field(
        "", description="comma-separated labels of AES-256 keys in the token; the first encrypts, all decrypt"
    )
    pkcs11_pin_file: Path | None = Field(None, description="file with the PIN of the token's user")

    certifiers_file: Path | None = Field(
        None, description="PEM file of the certification authorities to trust, intermediates included"
    )
    revocation_hosts: str = Field(
        "", description="comma-separated hosts (host or host:port) that may be asked whether a certificate is revoked"
    )

    authority_ecf_url: str = Field(
        "https://ecf.dgii.gov.do", description="address of the authority's services except summaries"
    )
    authority_fc_url: str = Field(
        "https://fc.dgii.gov.do", description="address of the authority's service for consumer summaries"
    )
    authority_status_url: str = Field(
        "https://statusecf.dgii.gov.do", description="address of the authority's status service"
    )
    authority_status_key: Word | None = Field(
        None, description="API key of the authority's status service; with it, sending pauses in announced maintenance"
    )
    authority_timeout: float = Field(20.0, gt=0, le=35, description="seconds for one exchange with the authority")
    authority_simulated: bool = Field(
        False,
        description="the authority's addresses are a simulator: clients may request outcomes (docs/api/testing.md);"
        " rejected with the real authority",
    )
    simulator_url: str = Field(
        "",
        description="management address of the simulator, which then plays a supplier and a buyer for clients"
        " (docs/api/testing.md); empty: it does not; only with FE_AUTHORITY_SIMULATED",
    )
    simulator_reception_url: str = Field(
        "", description="address at which the simulator reaches this reception; empty: that of FE_RECEPTION_BIND"
    )
    anecf_service: Service = Field(Service.COMMERCIAL_APPROVAL, description="service that receives ANECF documents")

    stripe_key: Word | None = Field(
        None, description="secret key of the Stripe account; unset: charges wait and nothing is charged"
    )
    stripe_url: str = Field("https://api.stripe.com", description="address of the payment processor")

    mail_relay: str = Field(
        "",
        description="SMTP relay, smtp://host:587 or smtps://host:465; empty: no mail (docs/operations/mail.md)",
    )
    mail_from: str = Field("", description="sender of all mail: name@domain, or Name <name@domain>")
    mail_user: str = Field("", description="user name at the relay; empty: no login")
    mail_password: Line | None = Field(None, description="password at the relay")
    mail_roots: Path | None = Field(
        None, description="PEM file of the relay's certification authorities; unset: those of the system"
    )

    archive: str = Field(
        "",
        description="where archive packages go: a folder, or s3://bucket/prefix; empty: no archive (docs/archive.md)",
    )
    archive_key: Word | None = Field(
        None, description="private key that signs archive packages, made by `fe archive key`; for the actors only"
    )
    archive_receipts: int = Field(10_000, ge=1, le=10_000, description="receipts in one archive package at most")
    archive_time_stamps: str = Field(
        "", description="URL of a time stamp authority (RFC 3161) that stamps archive packages; empty: no stamps"
    )
    archive_endpoint: str = Field("", description="address of the S3 service; empty: that of AWS in archive_region")
    archive_region: str = Field("us-east-1", description="region of the bucket")
    archive_access_key: str = Field(
        "", description="access key id of the S3 service; empty: the machine's own identity"
    )
    archive_secret_key: Word | None = Field(None, description="secret access key of the S3 service")

    sign_slots: int = Field(
        2,
        ge=1,
        le=_MOST_SLOTS,
        description="signing threads per process for documents above 8 kB or 100 lines; shorter ones need none",
    )
    send_slots: int = Field(64, ge=1, le=_MOST_SLOTS, description="documents sent at once per process")
    track_slots: int = Field(64, ge=1, le=_MOST_SLOTS, description="verdict queries at once per process")
    webhook_slots: int = Field(
        128,
        ge=2,
        le=_MOST_SLOTS,
        description="webhook calls at once per process; half are reserved for endpoints that answer fast",
    )
    egress_ports: Ports = Field(
        "443,8443", description="comma-separated ports that webhooks, receivers and issuers may be called at"
    )
    egress_proxy: str = Field(
        "", description="http://host:port of a CONNECT proxy for calls to webhooks, receivers and issuers; empty: none"
    )
    public_hosts: Hosts = Field(
        "", description="comma-separated host names of this service; calls to them are rejected as loops"
    )
    poll_seconds: float = Field(
        2.0, gt=0, le=_DAY, description="seconds between looks for due work when no notification comes"
    )
    grace_seconds: float = Field(
        20.0, gt=0, le=_DAY, description="seconds that work in progress has to finish after SIGTERM"
    )
    log_level: Annotated[str, AfterValidator(_log_level)] = Field("info", description="debug, info, warning or error")
    submission_log: float = Field(
        1.0,
        ge=0,
        le=1,
        description="share of submissions that are logged from acceptance to verdict: 0 none, 1 all; every process logs"
        " the same ones; errors are logged for every submission",
    )
    access_log: float = Field(
        0.0, ge=0, le=1, description="share of requests that get a log line: 0 none, 1 all, 0.01 one in a hundred"
    )

    tracing_url: str = Field(
        "", description="OTLP over HTTP, as http://127.0.0.1:4318/v1/traces; empty: no tracing (docs/tracing.md)"
    )
    tracing_ratio: float = Field(0.01, ge=0, le=1, description="share of submitted documents that are traced")
    tracing_asked: float = Field(
        1.0,
        ge=0,
        le=1000,
        description="traces per second that one tenant may request with `traceparent`, per HTTP process",
    )

    #: Let debuggers attach and core dumps be written.
    dumpable: bool = _tests_only(False)
    #: Seconds until a claim without a heartbeat lapses.
    lease_seconds: float = _tests_only(60.0, ge=5, le=_DAY)
    #: `name:n`: exit at the n-th arrival at this place of the code; `name:n:stop`: freeze there.
    failpoint: str = _tests_only("")
    #: Factor that shortens all schedules.
    time_scale: float = _tests_only(1.0, gt=0, le=1)
    #: Seconds by which our clock is wrong.
    clock_offset: float = _tests_only(0.0)

    @property
    def lease(self) -> timedelta:
        """Time until a claim without a heartbeat lapses."""
        return timedelta(seconds=self.lease_seconds)

    def webhook_keks(self) -> dict[str, bytes] | None:
        """Return the webhook keys by id, the current one first, or None."""
        return None if self.webhook_keys is None else named_keys(self.webhook_keys.get_secret_value())

    def ports_of_egress(self) -> frozenset[int]:
        """Return the ports that outgoing calls may use."""
        return frozenset(int(port) for port in self.egress_ports.split(","))

    def own_hosts(self) -> frozenset[str]:
        """Return the host names of this service in lower case."""
        return read_hosts(self.public_hosts)

    def reception_of_simulator(self) -> str:
        """Return where the simulator reaches this reception, without a slash at the end."""
        return (self.simulator_reception_url or f"http://{self.reception_bind}").rstrip("/")

    def without_key_encryption_key(self) -> "Settings":
        """Copy the settings without the key-encryption keys, for a process that must not decrypt."""
        return self.model_copy(
            update={"kek": None, "pkcs11_module": None, "pkcs11_token": None, "pkcs11_keys": ""}
            | {"pkcs11_pin_file": None, "archive_key": None}
        )

    def pkcs11_labels(self) -> list[str]:
        """Return the labels of the token's keys, the current one first."""
        return [label.strip() for label in self.pkcs11_keys.split(",") if label.strip()]

    def hosts_of_revocation(self) -> frozenset[str]:
        """Return the hosts that may be asked about revocation, in lower case."""
        return frozenset(filter(None, (host.strip().lower() for host in self.revocation_hosts.split(","))))

    def authority_urls(self) -> dict[str, str]:
        """Return the authority's addresses by variable."""
        return {
            "FE_AUTHORITY_ECF_URL": self.authority_ecf_url,
            "FE_AUTHORITY_FC_URL": self.authority_fc_url,
            "FE_AUTHORITY_STATUS_URL": self.authority_status_url,
        }

    def keks(self) -> dict[str, bytes]:
        """Return the key-encryption keys by id, the current one first. Raises ConfigError when there is none."""
        return named_keys(require(self.kek, "FE_KEK (or FE_KEK_FILE)"))

    def secrets(self) -> dict[str, dict[str, bytes]]:
        """Return the secrets that are set, by variable and id. They must all differ."""
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
        """Return the peppers by id, the current one first; one without id has ''. Raises ConfigError."""
        entries = require(self.api_key_pepper, "FE_API_KEY_PEPPER").split(",")
        return named_keys(",".join(entry if ":" in entry else f":{entry.strip()}" for entry in entries))


#: Settings for tests and development, which `fe settings` does not list.
TESTS_ONLY = tuple(
    name
    for name, field in Settings.model_fields.items()
    if isinstance(field.json_schema_extra, dict) and field.json_schema_extra.get("tests_only")
)

#: Settings that may be in a file, which FE_NAME_FILE names: secrets, and addresses with a password.
IN_FILES = (
    "database_url",
    "database_near",
    *(name for name, field in Settings.model_fields.items() if "SecretStr" in repr(field.annotation)),
)


def load_settings(**overrides: Any) -> Settings:
    """Read the environment and check the settings together; dangerous combinations are rejected before anything starts.

    Raises ConfigError naming each setting that is wrong, never its value.
    """
    _require_known(os.environ)
    files = _files(os.environ)
    try:
        settings = Settings(**(_read(files) | overrides))
    except ValidationError as error:
        found = error.errors(include_input=False, include_url=False)
        problems_found = (_describe(problem["loc"], problem["msg"], files) for problem in found)
        raise ConfigError("; ".join(problems_found)) from None
    require_different(settings.secrets())
    problems = (
        *(_only_in_development, _authority_problems, _proxy_problems, _processor_problems, _tracing_problems),
        *(_openid_problems, _mail_problems, _archive_problems, _simulator_problems),
    )
    if wrong := [one for problems_of in problems for one in problems_of(settings)]:
        raise ConfigError("; ".join(wrong))
    return _with_development_secrets(settings) if settings.development else settings


#: Settings of earlier versions, and what replaces them.
_MOVED = {"FE_PORTAL_SECOND_PERSON": "the limit is in the database: `fe approval limit N`, with the owner's login"}


def _require_known(names: Iterable[str]) -> None:
    """Raise ConfigError for an unknown FE_ variable: probably a typing error, which would leave a default in force."""
    given = [name for name in names if name.upper().startswith("FE_")]
    known = [*(f"FE_{name.upper()}" for name in Settings.model_fields), *_OTHER_VARIABLES]
    known += [f"FE_{name.upper()}_FILE" for name in IN_FILES]
    # Kubernetes sets variables for each service: those of a service named fe or fe-... look like settings.
    services = [name.removesuffix("SERVICE_HOST") for name in given if name.endswith("_SERVICE_HOST")]
    for name in given:
        if name.upper() in known or any(
            name.startswith(service) and _PORT_VARIABLE.match(name.removeprefix(service)) for service in services
        ):
            continue
        if name.upper() in _MOVED:
            raise ConfigError(f"{name} is no longer a setting: {_MOVED[name.upper()]}")
        nearest = difflib.get_close_matches(name.upper(), known, n=1)
        hint = f": did you mean {nearest[0]}?" if nearest else ": `fe settings` lists them all"
        raise ConfigError(f"there is no setting {name}{hint}")


def _only_in_development(settings: Settings) -> list[str]:
    """Name the settings for tests that are set in production."""
    if settings.development:
        return []
    changed = [name for name in TESTS_ONLY if getattr(settings, name) != Settings.model_fields[name].default]
    return [f"FE_{name.upper()} is for tests: only with FE_DEVELOPMENT=1" for name in changed]


def _authority_problems(settings: Settings) -> list[str]:
    """Reject authority addresses that are neither HTTPS by host name nor a simulator on this machine."""
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


def _simulator_problems(settings: Settings) -> list[str]:
    """Check the addresses of the simulator that plays other taxpayers."""
    if not settings.simulator_url:
        return ["FE_SIMULATOR_RECEPTION_URL needs FE_SIMULATOR_URL"] if settings.simulator_reception_url else []
    if not settings.authority_simulated:
        return ["FE_SIMULATOR_URL is set without FE_AUTHORITY_SIMULATED: the real authority has no supplier to play"]
    problems = []
    for name, url in (
        ("FE_SIMULATOR_URL", settings.simulator_url),
        ("FE_SIMULATOR_RECEPTION_URL", settings.reception_of_simulator()),
    ):
        if base_problem(url):
            problems.append(f"{name} should be a URL such as http://simulator.internal:8091")
    return problems


def _proxy_problems(settings: Settings) -> list[str]:
    """Check the address of the egress proxy."""
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
    """Require HTTPS for the payment processor, and a simulated one in development."""
    host = host_of(settings.stripe_url)
    if host is None:
        return ["FE_STRIPE_URL should be a URL such as https://api.stripe.com"]
    if is_loopback(host):
        return [] if settings.development else ["FE_STRIPE_URL is this machine: only with FE_DEVELOPMENT=1"]
    if urlsplit(settings.stripe_url).scheme != "https":
        return ["FE_STRIPE_URL should begin with https://: the account's key would go in the clear"]
    if settings.development and settings.stripe_key is not None:
        return ["FE_DEVELOPMENT is set, and FE_STRIPE_URL is not a simulated processor: a trial must not charge anyone"]
    return []


def _tracing_problems(settings: Settings) -> list[str]:
    problem = collector_problem(settings.tracing_url) if settings.tracing_url else None
    return [] if problem is None else [f"FE_TRACING_URL {problem}"]


def _openid_problems(settings: Settings) -> list[str]:
    """Check the address and client id of the OpenID Connect provider."""
    issuer = settings.portal_oidc_issuer
    if not issuer:
        return []
    problem = openid_problem(issuer, development=settings.development)
    found = [] if problem is None else [f"FE_PORTAL_OIDC_ISSUER {problem}"]
    if not settings.portal_oidc_client_id:
        found.append("FE_PORTAL_OIDC_CLIENT_ID is not set: set the client id of the portal at the provider")
    return found


def _mail_problems(settings: Settings) -> list[str]:
    """Check the relay's address, the sender, and that a password does not go in the clear."""
    if not settings.mail_relay:
        return []
    found = []
    if problem := relay_problem(settings.mail_relay):
        found.append(f"FE_MAIL_RELAY {problem}")
    if problem := sender_problem(settings.mail_from):
        found.append(f"FE_MAIL_FROM {problem}")
    if bool(settings.mail_user) != (settings.mail_password is not None):
        found.append("FE_MAIL_USER and FE_MAIL_PASSWORD go together: set both, or leave both out")
    if not settings.mail_user.isprintable():
        found.append("FE_MAIL_USER should be one line")
    return found


def _archive_problems(settings: Settings) -> list[str]:
    """Check the archive's address, and that packages and keys of a bucket do not go in the clear."""
    if not settings.archive:
        return []
    found = [] if (problem := archive_problem(settings.archive)) is None else [f"FE_ARCHIVE {problem}"]
    if bool(settings.archive_access_key) != (settings.archive_secret_key is not None):
        found.append("FE_ARCHIVE_ACCESS_KEY and FE_ARCHIVE_SECRET_KEY go together: set both, or leave both out")
    if settings.archive_time_stamps and (problem := base_problem(settings.archive_time_stamps)):
        found.append(f"FE_ARCHIVE_TIME_STAMPS {problem.replace('ecf.dgii.gov.do', 'stamps.example/tsa')}")
    if endpoint := settings.archive_endpoint:
        if problem := base_problem(endpoint):
            found.append(f"FE_ARCHIVE_ENDPOINT {problem}")
        elif urlsplit(endpoint).scheme != "https" and not is_loopback(host_of(endpoint) or ""):
            found.append("FE_ARCHIVE_ENDPOINT should begin with https://: receipts would go in the clear")
    return found


def _describe(where: tuple[int | str, ...], message: str, files: Mapping[str, Path]) -> str:
    name = ".".join(str(part) for part in where)
    source = f"_FILE {files[name]}" if name in files else ""
    return f"FE_{name.upper()}{source}: {message.removeprefix('Value error, ')}"


def _files(environ: Mapping[str, str]) -> dict[str, Path]:
    """Find the FE_NAME_FILE variables, by setting. Raises ConfigError when FE_NAME is set too."""
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
    """Read the files of settings. Raises ConfigError naming the file, never its content."""
    found = {}
    for name, path in files.items():
        try:
            found[name] = read_key_file(path)
        except (OSError, ValueError) as error:
            why = "should be plain ASCII" if isinstance(error, UnicodeError) else error
            raise ConfigError(f"FE_{name.upper()}_FILE {path}: {why}") from error
    return found


def _with_development_secrets(settings: Settings) -> Settings:
    """Fill in missing secrets from a file that is created once, readable by its owner only."""
    path = settings.data_dir / "development-secrets"
    if not path.exists():
        settings.data_dir.mkdir(parents=True, exist_ok=True)
        made = [
            f"jwt_keys=dev:{secrets.token_hex(32)}",
            f"api_key_pepper={secrets.token_hex(32)}",
            f"kek=dev:{secrets.token_hex(32)}",
        ]
        # A random name: several machines may share the folder, so a process id is not unique.
        draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write("\n".join(made) + "\n")
        try:
            os.link(draft, path)  # fails when another process was first: its secrets are used
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
        # Derived from the key-encryption key: older files have no webhook keys.
        made_of = sha256(b"webhooks" + next(iter(named_keys(filled.kek.get_secret_value()).values())))
        filled = filled.model_copy(update={"webhook_keys": SecretStr(f"dev:{made_of.hexdigest()}")})
    return filled
