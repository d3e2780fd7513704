"""Access control: decides who may see which page."""

from urllib.parse import quote

from fe.accounts import modes
from fe.accounts.modes import CurrentMode
from fe.contingency import Mode
from fe.ecf.dates import local
from fe.ecf.texts import Text
from fe.identifiers import PersonId, TenantId
from fe.portal.page_types import Needs, Page
from fe.portal.replies import NOT_ALLOWED, Refused, Reply, not_found, redirect
from fe.portal.session import FRESH
from fe.portal.sign_in_flow import own_path
from fe.portal.visit import Company, Visit
from fe.store.portal import people
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Conn
from fe.store.queue import pauses
from fe.store.records import tenants

_NOT_DONE = Text(
    "Nothing was changed: confirm your identity, and repeat it.",
    "No se cambió nada: confirme su identidad y repita la operación.",
)

_PAUSED = Text(
    "The service has paused sending to the DGII. Nothing is lost: receipts go out when the pause ends.",
    "El servicio tiene en pausa los envíos a la DGII. Nada se pierde: los comprobantes se envían cuando termine.",
)
_AWAY = Text(
    "The DGII has not answered since {since}. Receipts are signed, have their number and print with the legend of "
    "contingency, so you may hand them over; they are sent by themselves.",
    "La DGII no responde desde {since}. Los comprobantes se firman, llevan su número y se imprimen con la leyenda de "
    "contingencia, así que puede entregarlos; se envían solos.",
)
_MODES = {
    Mode.OFFLINE: Text(
        "The mode is “without connection” since {since}: receipts print with the legend of contingency. End it under "
        "Contingency when your line is back.",
        "El modo es «sin conexión» desde {since}: los comprobantes se imprimen con la leyenda de contingencia. "
        "Termínelo en Contingencia cuando vuelva su conexión.",
    ),
    Mode.CONTINGENCY: Text(
        "A contingency is declared since {since}: issue receipts of series B until you declare its end.",
        "Hay una contingencia declarada desde {since}: use comprobantes de la serie B hasta declarar su fin.",
    ),
}

_MAY = {
    Needs.READ: (PortalRole.OWNER, PortalRole.MEMBER, PortalRole.ACCOUNTANT),
    Needs.WRITE: (PortalRole.OWNER, PortalRole.MEMBER),
    Needs.ANSWER: (PortalRole.OWNER, PortalRole.MEMBER),
    Needs.OWN: (PortalRole.OWNER,),
}


async def let_in(page: Page, visit: Visit) -> Reply | None:
    """Check access to the page; return an answer where the person must first confirm their identity.

    Raises Refused: 404 for pages that the person must not know of, 403 for those that the role forbids.
    """
    if page.needs is Needs.NOTHING:
        return None
    session = visit.session
    if session is None:
        if page.method == "POST" and page.needs is not Needs.PERSON:
            return visit.page("ended.html", 403, resumes=page.resume is not None)
        return redirect(f"/sign-in{_back(visit)}")
    if page.needs is Needs.OPERATE and (not session.person.is_operator or visit.portal.operators is None):
        raise not_found()
    if session.person.totp_since is None and _asks_second_factor(page, visit):
        return redirect("/account/second-factor")
    if page.needs in _MAY:
        visit.of_company = await _company(visit, session.person.person_id)
        if visit.of_company is None:
            raise not_found()
        answers = page.needs is Needs.ANSWER and visit.of_company.answers
        if visit.of_company.role not in _MAY[page.needs] and not answers:
            raise Refused(403, NOT_ALLOWED)
    if page.fresh and visit.now - session.record.authenticated_at > FRESH:
        return await visit.go(f"/again{_back(visit)}", None if visit.method == "GET" else _NOT_DONE)
    return None


def _asks_second_factor(page: Page, visit: Visit) -> bool:
    """Require a second factor of operators, and of everyone where the installation is set so."""
    is_for_all = visit.portal.settings.portal_second_factor == "everyone"
    return page.needs is Needs.OPERATE or (is_for_all and page.needs in _MAY)


def _back(visit: Visit) -> str:
    """Where to go afterwards: to the page itself, and from a form to where it was."""
    path = visit.address_shown if visit.method == "GET" else own_path(visit.came_from)
    return "" if path == "/" else f"?next={quote(path, safe='/')}"


def _banner(found: CurrentMode) -> Text | None:
    """Say what is unusual about the mode; deferred sending and the normal mode are not."""
    said = _AWAY if found.mode is Mode.AUTHORITY_DOWN else _MODES.get(found.mode)
    if said is None or found.since is None:
        return None
    return said.fill(since=f"{local(found.since):%d-%m-%Y %H:%M}")


async def _company(visit: Visit, person_id: PersonId) -> Company | None:
    tenant_id = TenantId(visit.params["company"])

    async def find(conn: Conn, tenant_id: TenantId) -> Company | None:
        rights = await people.role_in(conn, tenant_id, person_id)
        tenant = await tenants.by_id(conn, tenant_id) if rights is not None else None
        if tenant is None or rights is None:
            return None
        held, is_cut_off = None, False
        if visit.method == "GET":
            if await pauses.is_paused(conn, tenant_id, visit.here):
                held = _PAUSED
            else:
                found = await modes.current(conn, tenant_id, visit.here)
                held, is_cut_off = _banner(found), found.mode is Mode.AUTHORITY_DOWN
        return Company(tenant, *rights, held, is_cut_off)

    return await visit.portal.db.run_for(tenant_id, find)
