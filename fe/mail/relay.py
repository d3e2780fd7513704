"""SMTP submission to the operator's relay. Blocking: call it in a thread.

TLS is required, with a verified certificate, unless the relay is this machine and no roots are configured.
"""

import smtplib
import ssl
import time
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

from pydantic import SecretStr

from fe.ecf.mail_address import MailAddress
from fe.ecf.parse import excerpt

#: Longest answer of the relay that is kept.
_LONGEST_ANSWER = 300
#: Headers are not folded: `email` drops the quotes of a name where it folds one, and the name's commas would then
#: separate addresses. Names are bounded, so no line comes near SMTP's 998.
_WIRE = SMTP.clone(max_line_length=998)
#: Enhanced codes (RFC 3463) that say that there is no such mailbox.
_NO_MAILBOX = frozenset({"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10"})
#: Codes and words about the sender or the login, which many relays send only as the answer to the recipient.
_OPERATORS_CODES = frozenset({530, 535})
_OPERATORS = frozenset({"5.1.0", "5.1.7", "5.1.8"})
_OPERATORS_WORDS = ("relay", "sender", "authentic")


@dataclass(frozen=True, slots=True)
class Relay:
    """Address, login and trust of the relay."""

    host: str
    port: int
    #: TLS from the first byte (smtps://); otherwise STARTTLS.
    implicit_tls: bool
    #: Whether the connection may stay plain: only to this machine.
    may_be_plain: bool
    sender: MailAddress
    sender_name: str = ""
    user: str | None = None
    password: SecretStr | None = None
    #: Certification authorities of the relay, instead of the system's.
    roots: Path | None = None


class NotTaken(Exception):
    """The relay did not take the message. `reason` is safe to show; `code` its reply code, if there was one."""

    def __init__(self, reason: str, code: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.code = code


class RelayUnavailable(NotTaken):
    """Not now: no connection, no TLS, no login, or a temporary answer. The same message may be taken later."""


class RelayUnusable(RelayUnavailable):
    """No connection, TLS, login or sender: the operator's matter, the same for every message. Nothing was sent."""


class RelayRefused(NotTaken):
    """The relay refused this recipient or this message for good. `bad_address`: the mailbox does not exist."""

    def __init__(self, reason: str, code: int, *, bad_address: bool) -> None:
        super().__init__(reason, code)
        self.bad_address = bad_address


def on_wire(message: EmailMessage) -> bytes:
    """Return the bytes of a message as they are sent."""
    return message.as_bytes(policy=_WIRE)


def send(relay: Relay, message: EmailMessage, recipient: MailAddress, seconds: float) -> None:
    """Hand one message to the relay within `seconds`; returns when the relay has taken it.

    Raises RelayUnusable, RelayUnavailable or RelayRefused. After a failure between the last byte and the answer the
    relay may have taken it: RelayUnavailable, and a repeat has the same Message-ID.
    """
    until = time.monotonic() + seconds
    try:
        connection = _connected(relay, seconds)
    except (OSError, smtplib.SMTPException) as error:
        raise RelayUnusable(_said(error), getattr(error, "smtp_code", None)) from error
    try:
        _begin(connection, relay, until)
        _within(connection, until)
        code, answer = connection.rcpt(recipient)
        if code not in (250, 251):
            _refuse("recipient not accepted", code, answer)
        _within(connection, until)
        code, answer = connection.data(on_wire(message))
        if code != 250:
            _refuse("message not accepted", code, answer, of_recipient=False)
    except smtplib.SMTPDataError as error:
        _refuse("message not accepted", error.smtp_code, error.smtp_error, of_recipient=False)
    except (OSError, smtplib.SMTPException) as error:
        raise RelayUnavailable(_said(error), getattr(error, "smtp_code", None)) from error
    finally:
        _leave(connection)


def _connected(relay: Relay, seconds: float) -> smtplib.SMTP:
    if relay.implicit_tls:
        return smtplib.SMTP_SSL(relay.host, relay.port, timeout=seconds, context=_context(relay))
    return smtplib.SMTP(relay.host, relay.port, timeout=seconds)


def _context(relay: Relay) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=None if relay.roots is None else str(relay.roots))


def _begin(connection: smtplib.SMTP, relay: Relay, until: float) -> None:
    """Log in and name the sender. Raises RelayUnusable."""
    try:
        _log_in(connection, relay, until)
        _within(connection, until)
        code, answer = connection.mail(relay.sender)
    except (OSError, smtplib.SMTPException) as error:
        raise RelayUnusable(_said(error), getattr(error, "smtp_code", None)) from error
    if code != 250:  # a wrong sender is the operator's matter, whatever the code
        raise RelayUnusable(_answer("sender not accepted", code, answer), code)


def _log_in(connection: smtplib.SMTP, relay: Relay, until: float) -> None:
    """Greet, encrypt and log in. Raises RelayUnusable where the relay offers no TLS and must."""
    _within(connection, until)
    connection.ehlo_or_helo_if_needed()
    if not relay.implicit_tls and not relay.may_be_plain:
        if not connection.has_extn("starttls"):
            raise RelayUnusable("the relay does not offer STARTTLS: nothing was sent")
        _within(connection, until)
        connection.starttls(context=_context(relay))
        connection.ehlo()
    if relay.user is not None and relay.password is not None:
        _within(connection, until)
        connection.login(relay.user, relay.password.get_secret_value())


def _within(connection: smtplib.SMTP, until: float) -> None:
    """Set the time left for the next answer. Raises TimeoutError."""
    left = until - time.monotonic()
    if left <= 0 or connection.sock is None:
        raise TimeoutError("the relay took too long")
    connection.sock.settimeout(left)


def _leave(connection: smtplib.SMTP) -> None:
    """Say goodbye to a relay that still listens, and close."""
    try:
        if connection.sock is not None:
            connection.sock.settimeout(2.0)
            connection.quit()
    except (OSError, smtplib.SMTPException):
        pass  # the message's fate is decided
    finally:
        connection.close()


def _refuse(what: str, code: int, answer: bytes | str, *, of_recipient: bool = True) -> None:
    """Raise RelayRefused for a permanent answer, else RelayUnavailable."""
    reason = _answer(what, code, answer)
    if not 500 <= code < 600:
        raise RelayUnavailable(reason, code)
    text = answer.decode(errors="replace") if isinstance(answer, bytes) else answer
    enhanced = text.lstrip().split(" ", 1)[0]
    if of_recipient and enhanced not in _NO_MAILBOX:
        said = text.lower()
        if code in _OPERATORS_CODES or enhanced in _OPERATORS or any(word in said for word in _OPERATORS_WORDS):
            raise RelayUnusable(reason, code)
    raise RelayRefused(reason, code, bad_address=of_recipient and enhanced in _NO_MAILBOX)


def _answer(what: str, code: int, answer: bytes | str) -> str:
    text = answer.decode(errors="replace") if isinstance(answer, bytes) else answer
    return excerpt(f"{what}: {code} {' '.join(text.split())}", _LONGEST_ANSWER)


def _said(error: Exception) -> str:
    """Describe an error without what was sent: a failed login's text is the relay's own."""
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return _answer("login not accepted", error.smtp_code, error.smtp_error)
    if isinstance(error, smtplib.SMTPResponseException):
        return _answer("the relay answered", error.smtp_code, error.smtp_error)
    return excerpt(f"{type(error).__name__}: {' '.join(str(error).split())}", _LONGEST_ANSWER)
