"""The relay of the settings."""

from urllib.parse import urlsplit

from fe.config import Settings, is_loopback
from fe.ecf.mail_address import parse_address
from fe.mail.relay import Relay

_PORTS = {"smtp": 587, "smtps": 465}


def relay_from_settings(settings: Settings) -> Relay | None:
    """Return the relay; None where no mail is configured. `load_settings` has checked the values."""
    if not settings.mail_relay:
        return None
    parts = urlsplit(settings.mail_relay)
    host = parts.hostname or ""
    name, _, address = settings.mail_from.rpartition("<")
    return Relay(
        host=host,
        port=parts.port or _PORTS[parts.scheme],
        implicit_tls=parts.scheme == "smtps",
        may_be_plain=is_loopback(host) and settings.mail_roots is None,
        sender=parse_address(address.strip().removesuffix(">")),
        sender_name=name.strip(),
        user=settings.mail_user or None,
        password=settings.mail_password,
        roots=settings.mail_roots,
    )
