"""Access control: decides who may see which page."""

from urllib.parse import quote

from fe.ecf.texts import Text
from fe.identifiers import PersonId, TenantId
from fe.portal.page_types import Needs, Page
from fe.portal.replies import NOT_ALLOWED, Refused, Reply, not_found, redirect
from fe.portal.session import FRESH
from fe.portal.sign_in_flow import own_path
from fe.portal.visit import Company, Visit
from fe.store.portal import people, standing
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
    "The DGII does not answer now. Receipts are signed and have their number, so you may hand them over; they are sent "
    "by themselves.",
    "La DGII no responde en este momento. Los comprobantes se firman y llevan su número, así que puede entregarlos; se "
    "envían solos.",
)

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


async def _company(visit: Visit, person_id: PersonId) -> Company | None:
    tenant_id = TenantId(visit.params["company"])

    async def find(conn: Conn, tenant_id: TenantId) -> Company | None:
        rights = await people.role_in(conn, tenant_id, person_id)
        tenant = await tenants.by_id(conn, tenant_id) if rights is not None else None
        if tenant is None or rights is None:
            return None
        held = None
        if visit.method == "GET":
            if await pauses.is_paused(conn, tenant_id, visit.here):
                held = _PAUSED
            elif await standing.is_authority_away(conn, tenant_id, visit.here):
                held = _AWAY
        return Company(tenant, *rights, held)

    return await visit.portal.db.run_for(tenant_id, find)
