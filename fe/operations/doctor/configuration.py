"""Check the configuration: settings, secrets, listeners and trust."""

from fe.config import ConfigError, Settings, is_loopback, require
from fe.config.start_checks import (
    holds_receipts,
    read_certificates,
    read_certifiers,
    require_front,
    require_portal,
    require_share,
    require_startable,
    require_trust,
)
from fe.operations.doctor.finding import Finding, Role, State
from fe.secrets.hsm import open_vault, require_usable


def check_settings(settings: Settings, role: Role) -> Finding:
    """Check that the service may start with these settings."""
    try:
        require_startable(settings)
        require_front(settings, role.value)
        require_trust(settings, role.value)
        require_portal(settings, role.value)
        require_share(settings, role.value)
        if settings.certifiers_file is not None:
            read_certificates("FE_CERTIFIERS_FILE", settings.certifiers_file)
    except ConfigError as wrong:
        return Finding("settings", State.FAILED, str(wrong), "change what the line names: docs/configuration.md")
    if settings.development:
        return Finding("settings", State.WARNING, "in order, for development", "leave FE_DEVELOPMENT out in production")
    return Finding("settings", State.OK, "in order")


def check_secrets(settings: Settings, role: Role) -> Finding:
    """Check that the role has its secrets, and the front no others."""
    try:
        if role in (Role.ALL, Role.HTTP):
            require(settings.jwt_keys, "FE_JWT_KEYS")
        if role not in (Role.ACTORS, Role.RECEIVE, Role.SHARE, Role.OWNER):
            require(settings.api_key_pepper, "FE_API_KEY_PEPPER")
        if role not in (Role.HTTP, Role.SHARE, Role.OWNER):
            require_usable(open_vault(settings))
    except ConfigError as wrong:
        return Finding(
            "secrets", State.FAILED, str(wrong), "docs/operations.md, Who is given what, has a file for each role"
        )
    if role in (Role.HTTP, Role.SHARE) and settings != settings.without_key_encryption_key():
        which = "front" if role is Role.HTTP else "buyers' page"
        return Finding(
            "secrets",
            State.WARNING,
            f"the {which} is given the key-encryption key, which it does not need",
            "take FE_KEK, FE_KEK_FILE and FE_PKCS11_* out of its settings",
        )
    return Finding("secrets", State.OK, "all that this role needs are there")


def check_listeners(settings: Settings) -> Finding:
    """Check which networks can reach the listeners: TLS ends at the proxy, so they must be internal."""
    open_ones = [
        name
        for name, bind in (
            ("FE_HTTP_BIND", settings.http_bind),
            ("FE_RECEPTION_BIND", settings.reception_bind),
            ("FE_PORTAL_BIND", settings.portal_bind),
            ("FE_SHARE_BIND", settings.share_bind),
            ("FE_METRICS_BIND", settings.metrics_bind),
        )
        if bind and not is_loopback(bind.rpartition(":")[0])
    ]
    if open_ones:
        return Finding(
            "listeners",
            State.WARNING,
            f"{' and '.join(open_ones)}: other machines are served in clear text",
            "let only the proxy that speaks TLS, and Prometheus, reach them, over a network that is theirs alone",
        )
    return Finding("listeners", State.OK, "only this machine is served in clear text")


def check_trust(settings: Settings) -> Finding:
    """Check which signers of acknowledgements are trusted; without any, nothing is sent to receivers."""
    if settings.reception_roots is None:
        says = "every acknowledgement is accepted, for development"
        if holds_receipts(settings):
            says = "no certification authority is set, so receipts for receivers wait"
        return Finding("trust", State.WARNING, says, "name certifiers in FE_RECEPTION_ROOTS for the actors")
    try:
        certifiers = read_certifiers(settings)
    except ConfigError as wrong:
        return Finding("trust", State.FAILED, str(wrong), "name a file of certificates (PEM) that can be read")
    return Finding("trust", State.OK, f"the certificates of {len(certifiers)} certifiers are believed")
