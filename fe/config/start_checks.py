"""Checks of several settings together, before anything starts. `fe/config` checks each setting alone."""

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from psycopg import ProgrammingError
from psycopg.conninfo import conninfo_to_dict

from fe.config import ConfigError, Settings, host_of, is_loopback, is_real_authority

#: Values of sslmode that enforce TLS; libpq's default `prefer` accepts plaintext.
_WITH_TLS = ("require", "verify-ca", "verify-full")

_NO_DATABASE = (
    "FE_DATABASE_URL is not set: name your Postgres, or set FE_DEVELOPMENT=1 for the embedded one, for trying things"
)


def require_database(settings: Settings, environ: Mapping[str, str] = os.environ) -> None:
    """Check the database address; without one only development may start, with the embedded server.

    Raises ConfigError.
    """
    if settings.database_near is not None:
        if settings.database_engine != "citus":
            raise ConfigError("FE_DATABASE_NEAR is a node of a cluster: set FE_DATABASE_ENGINE=citus, or leave it out")
        if settings.database_driver != "trio":  # Citus work uses two databases
            raise ConfigError("FE_DATABASE_NEAR takes FE_DATABASE_DRIVER=trio: leave one of the two out")
        _require_address("FE_DATABASE_NEAR", settings.database_near, settings, environ)
    if settings.database_url is None:
        if not settings.development:
            raise ConfigError(_NO_DATABASE)
        return
    _require_address("FE_DATABASE_URL", settings.database_url, settings, environ)


def _require_address(name: str, address: str, settings: Settings, environ: Mapping[str, str]) -> None:
    try:
        named = conninfo_to_dict(address)
    except ProgrammingError as wrong:
        # Its text may quote the address, and with it a password.
        raise ConfigError(f"{name}: not a connection address: postgresql://user@host/database") from wrong
    if _is_local(named, environ):
        return
    if settings.development:
        raise ConfigError(
            f"FE_DEVELOPMENT is set, and {name} is another machine: made-up secrets are for a database here"
        )
    if (named.get("sslmode") or environ.get("PGSSLMODE")) not in _WITH_TLS and not settings.database_plaintext:
        raise ConfigError(
            f"{name} is another machine, and nothing demands TLS: add sslmode=verify-full (and sslrootcert), "
            "or set FE_DATABASE_PLAINTEXT=1 where the network itself is encrypted"
        )


def require_startable(settings: Settings) -> None:
    """Check that the service may start with these settings. Raises ConfigError with one line."""
    require_database(settings)
    real = [name for name, url in settings.authority_urls().items() if is_real_authority(host_of(url) or "")]
    if not settings.development:
        return
    if real:
        raise ConfigError(
            f"FE_DEVELOPMENT is set, and {real[0]} is the real authority: name a simulated one "
            "(`fe authority simulate`), or leave FE_DEVELOPMENT out"
        )
    for name, bind in (
        ("FE_HTTP_BIND", settings.http_bind),
        ("FE_METRICS_BIND", settings.metrics_bind),
        ("FE_RECEPTION_BIND", settings.reception_bind),
        ("FE_PORTAL_BIND", settings.portal_bind),
        ("FE_SHARE_BIND", settings.share_bind),
    ):
        if bind and not is_loopback(bind.rpartition(":")[0]):
            raise ConfigError(f"FE_DEVELOPMENT is set, and {name} is open to other machines: listen on 127.0.0.1")


def require_portal(settings: Settings, role: str) -> None:
    """See, before anything is started, that people can trust a portal of these settings. Raises ConfigError."""
    if role == "portal" and not settings.portal_bind:
        raise ConfigError("FE_PORTAL_BIND is not set: where should people reach the portal?")
    if role not in ("portal", "all") or not settings.portal_bind:
        return
    if not settings.portal_url:
        if not settings.development:
            raise ConfigError("FE_PORTAL_URL is not set: under which https:// address do people reach the portal?")
        return
    if not _is_origin(settings.portal_url):
        raise ConfigError("FE_PORTAL_URL should be an address such as https://portal.example.do, and nothing after it")
    if _is_in_the_clear(settings, settings.portal_url):
        raise ConfigError("FE_PORTAL_URL should begin with https://: passwords and sessions would go in the clear")


def require_share(settings: Settings, role: str) -> None:
    """Check that receipts can be shared, and their page served, with these settings. Raises ConfigError."""
    if role == "share" and not settings.share_bind:
        raise ConfigError("FE_SHARE_BIND is not set: where should buyers reach their receipts?")
    if not (settings.share_bind or settings.share_url):
        return
    if settings.database_engine != "postgres":
        raise ConfigError("FE_SHARE_BIND and FE_SHARE_URL take FE_DATABASE_ENGINE=postgres: leave them out")
    if role == "all" and not (settings.share_url or settings.development):
        raise ConfigError("FE_SHARE_URL is not set: under which https:// address do buyers reach their receipts?")
    if settings.share_url and not _is_origin(settings.share_url):
        raise ConfigError("FE_SHARE_URL should be an address such as https://facturas.example.do, and nothing after it")
    if settings.share_url and _is_in_the_clear(settings, settings.share_url):
        raise ConfigError("FE_SHARE_URL should begin with https://: receipts and their links would go in the clear")
    if settings.share_url and role in ("http", "actors", "portal", "all") and settings.webhook_keys is None:
        raise ConfigError("FE_SHARE_URL is set, and FE_WEBHOOK_KEYS is not: links are derived from its first key")


def _is_in_the_clear(settings: Settings, url: str) -> bool:
    """Return whether a public address lacks TLS; in development this machine may."""
    parts = urlsplit(url)
    return parts.scheme == "http" and not (settings.development and is_loopback(parts.hostname or ""))


def _is_origin(url: str) -> bool:
    """Return whether a URL has only scheme, host and port, as in a browser's Origin header."""
    try:
        parts = urlsplit(url)
        has_port = parts.port != 0
    except ValueError:
        return False
    plain = parts.scheme in ("https", "http") and parts.hostname and not (parts.path or parts.query or parts.fragment)
    return bool(plain and has_port and "@" not in parts.netloc and url.isascii() and url.isprintable())


def require_front(settings: Settings, role: str) -> None:
    """Check that an API process has an address to listen on. Raises ConfigError."""
    if role in ("http", "all") and not settings.http_bind:
        raise ConfigError("FE_HTTP_BIND is empty: where should clients reach the API?")


def require_trust(settings: Settings, role: str) -> None:
    """Check that this role can verify the signatures of counterparties.

    Raises ConfigError when reception has no trusted certification authorities, or they cannot be read. Actors start
    without them and then send nothing to receivers (fe/actors/counterparty.py).
    """
    if role == "receive" and not settings.reception_bind:
        raise ConfigError("FE_RECEPTION_BIND is not set: where should suppliers be received?")
    receives = role in ("receive", "all") and settings.reception_bind
    if receives or (role not in ("http", "cli") and settings.reception_roots is not None):
        read_certifiers(settings)


def read_certifiers(settings: Settings) -> list[x509.Certificate]:
    """Read the certification authorities trusted for counterparties. Raises ConfigError."""
    if settings.reception_roots is None:
        raise ConfigError("FE_RECEPTION_ROOTS is not set: whose certificates may suppliers sign with?")
    return read_certificates("FE_RECEPTION_ROOTS", settings.reception_roots)


def read_certificates(setting: str, path: Path) -> list[x509.Certificate]:
    """Read the PEM file that a setting names. Raises ConfigError."""
    try:
        return x509.load_pem_x509_certificates(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ConfigError(f"{setting} {path}: {error}") from error


def holds_receipts(settings: Settings) -> bool:
    """Return whether receipts are held back from receivers because no acknowledgement could be verified.

    Anyone can sign an acknowledgement; only development accepts that (docs/decisions/counterparties.md).
    """
    return settings.reception_roots is None and not settings.development


def _is_local(named: Mapping[str, object], environ: Mapping[str, str]) -> bool:
    """Return whether a database is on this machine, judged by its address: sockets and loopback."""
    if named.get("service") or environ.get("PGSERVICE"):
        return False  # unparsable
    where = named.get("hostaddr") or environ.get("PGHOSTADDR") or named.get("host") or environ.get("PGHOST") or ""
    return all(not host or host[0] in "/@" or is_loopback(host) for host in str(where).split(","))
