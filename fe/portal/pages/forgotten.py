"""Asking for a link to set a new password. The answer never says whether a person has the address."""

from fe.ecf.texts import Text
from fe.portal import attempts
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Refused, Reply
from fe.portal.visit import Visit

_LONGEST = 254
_NO_RELAY = Text(
    "This service sends no mail: ask its operator for a link that sets a new password.",
    "Este servicio no envía correos: pida a su operador un enlace para crear una contraseña nueva.",
)


async def form(visit: Visit) -> Reply:
    """Ask for the address, where mail is sent, and say what follows; else say whom to ask."""
    can_mail = visit.portal.resets is not None
    return visit.page("forgotten.html", can_mail=can_mail, asked=can_mail and "asked" in visit.query, problem=None)


async def ask(visit: Visit) -> Reply:
    """Queue the address."""
    await attempts.count(visit, "address")
    if visit.portal.resets is None:
        raise Refused(404, _NO_RELAY)
    email = visit.form.get("email").strip()
    if email.isprintable() and 0 < len(email) <= _LONGEST:
        visit.portal.resets.ask(email)
    return await visit.go("/forgotten?asked=1")


PAGES = (
    Page("GET", "/forgotten", Needs.NOTHING, form),
    Page("POST", "/forgotten", Needs.NOTHING, ask),
)
