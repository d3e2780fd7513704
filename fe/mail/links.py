"""Mails with a link of the portal: an invitation, or a new password.

They are sent at once and not queued: the link's token is stored as a hash alone, and its maker still sees the link.
"""

from datetime import datetime
from functools import partial
from uuid import uuid4

import structlog
import trio

from fe.ecf.mail_address import BadAddress, parse_address
from fe.ecf.texts import Language, Text
from fe.mail.message import clean, link_message, message_id_of
from fe.mail.relay import NotTaken, Relay, send

_log = structlog.get_logger(__name__)

#: Seconds that a person waits for the relay.
_SECONDS = 10.0

_INVITATION = Text("Invitation to {company}", "Invitación a {company}")
_INVITED = Text(
    "You are invited to {company}. The link is good once, for seven days, and only for you:",
    "Recibió una invitación a {company}. El enlace sirve una vez, durante siete días, y solo para usted:",
)
_OPERATORS = Text("the operation of the service", "la operación del servicio")
_RESET = Text("Set a new password", "Cree una contraseña nueva")
_ASKED = Text(
    "With this link you set a new password. It is good once, for a day. If you did not ask for it, tell the operator.",
    "Con este enlace crea una contraseña nueva. Sirve una vez, durante un día. Si usted no lo pidió, "
    "avise al operador.",
)
_FORGOTTEN = Text(
    "You asked for a new password. With this link you set it. It is good once, for one hour. If you did not ask for "
    "it, do nothing: your password stays as it is.",
    "Usted pidió una contraseña nueva. Con este enlace la crea. Sirve una vez, durante una hora. Si no la pidió, "
    "no haga nada: su contraseña sigue igual.",
)


async def mail_invitation(
    relay: Relay | None, to: str, url: str, company: str | None, at: datetime, language: Language
) -> bool | None:
    """Mail the link of an invitation; `company` is None for operators. Returns as `_mail` does."""
    where = clean(company) if company else _OPERATORS.said(language)
    subject, line = (text.fill(company=where).said(language) for text in (_INVITATION, _INVITED))
    return await _mail(relay, to, subject, line, url, at)


async def mail_reset(relay: Relay | None, to: str, url: str, at: datetime, language: Language) -> bool | None:
    """Mail the link to set a new password. Returns as `_mail` does."""
    return await _mail(relay, to, _RESET.said(language), _ASKED.said(language), url, at)


async def mail_forgotten(relay: Relay | None, to: str, url: str, at: datetime, language: Language) -> bool | None:
    """Mail the link that a person asked for without signing in. Returns as `_mail` does."""
    return await _mail(relay, to, _RESET.said(language), _FORGOTTEN.said(language), url, at)


async def _mail(relay: Relay | None, to: str, subject: str, line: str, url: str, at: datetime) -> bool | None:
    """Return whether the relay took the mail; None without a relay. The link is handed over by other means then."""
    if relay is None:
        return None
    try:
        address = parse_address(to)
        message = link_message(relay, address, at, subject, [line], url, message_id_of(uuid4(), relay.sender))
        await trio.to_thread.run_sync(partial(send, relay, message, address, _SECONDS), abandon_on_cancel=True)
    except (BadAddress, NotTaken) as error:
        _log.warning("a link of the portal was not mailed", error=error)
        return False
    return True
