"""Inviting who owns a company in the portal: the first owner, or another where the last is gone."""

from fe.accounts import members
from fe.ecf.texts import LocalizedError
from fe.portal.page_types import Needs, Page
from fe.portal.pages.operators.acting import acting, tenant_in_address
from fe.portal.pages.operators.companies import show
from fe.portal.replies import Reply
from fe.portal.visit import Visit
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Conn
from fe.store.queue.audit import OperatorAction, record
from fe.store.tenants import Tenant


async def invite(visit: Visit) -> Reply:
    """Invite an owner; the link is shown this once."""
    tenant = await tenant_in_address(visit)
    try:
        token = await visit.operate(_invite, tenant, visit.form.get("email"), acting(visit))
    except LocalizedError as wrong:
        return await show(visit, tenant, wrong.text)
    return await show(visit, tenant, invitation=f"{visit.portal.url}/invitation/{token}")


async def _invite(conn: Conn, tenant: Tenant, email: str, by: OperatorAction) -> str:
    async def note(_action: str, subject: str, _before: members.Shown, _after: members.Shown) -> None:
        await record(conn, by, "owner invite", tenant.tenant_id, None, {"email": subject})

    _, token = await members.invite(
        conn, tenant.tenant_id, email, PortalRole.OWNER, by_whom=by.by_whom, now=by.at, note=note
    )
    return token


PAGES = (Page("POST", "/operators/companies/<int:tenant>/owners", Needs.OPERATE, invite, fresh=True),)
