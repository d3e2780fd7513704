"""Invite an owner of a company: the first one, or another when the last has left."""

from uuid import UUID

from fe.accounts import members
from fe.ecf.texts import LocalizedError, Text
from fe.mail.links import mail_invitation
from fe.portal.page_types import Needs, Page
from fe.portal.pages.operators.acting import acting, tenant_in_address, uuid_in
from fe.portal.pages.operators.companies import show
from fe.portal.replies import Reply
from fe.portal.visit import Visit
from fe.store.portal.changes import ChangeAction
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Conn
from fe.store.queue.audit import OperatorAction, record
from fe.store.records.tenants import Tenant


async def invite(visit: Visit) -> Reply:
    """Invite an owner; the link is shown this once."""
    tenant = await tenant_in_address(visit)
    try:
        token = await visit.run_operation(_invite, tenant, visit.form.get("email"), acting(visit))
    except LocalizedError as wrong:
        return await show(visit, tenant, wrong.text)
    link = f"{visit.portal.url}/invitation/{token}"
    to = visit.form.get("email").strip()
    await mail_invitation(visit.portal.relay, to, link, tenant.name, visit.now, visit.language)
    return await show(visit, tenant, invitation=link)


async def withdraw(visit: Visit) -> Reply:
    """Take an open invitation of an owner back."""
    tenant = await tenant_in_address(visit)
    invitation_id = uuid_in(visit.form.get("invitation"))
    by = OperatorAction.of(visit.by_whom, "invitation withdrawn", visit.now)
    try:
        await visit.run_operation(_withdraw, tenant, invitation_id, by)
    except LocalizedError as wrong:
        return await show(visit, tenant, wrong.text)
    gone = Text("The invitation is withdrawn.", "La invitación se retiró.")
    return await visit.go(f"/operators/companies/{tenant.tenant_id}", gone)


async def _withdraw(conn: Conn, tenant: Tenant, invitation_id: UUID, by: OperatorAction) -> None:
    async def note(_action: ChangeAction, subject: str, _before: members.Shown, _after: members.Shown) -> None:
        await record(conn, by, "owner withdraw", tenant.tenant_id, None, {"email": subject})

    await members.withdraw(conn, tenant.tenant_id, invitation_id, now=by.at, note=note)


async def _invite(conn: Conn, tenant: Tenant, email: str, by: OperatorAction) -> str:
    async def note(_action: ChangeAction, subject: str, _before: members.Shown, _after: members.Shown) -> None:
        await record(conn, by, "owner invite", tenant.tenant_id, None, {"email": subject})

    _, token = await members.invite(
        conn, tenant.tenant_id, email, PortalRole.OWNER, by_whom=by.by_whom, now=by.at, note=note
    )
    return token


PAGES = (
    Page("POST", "/operators/companies/<int:tenant>/owners", Needs.OPERATE, invite, fresh=True),
    Page("POST", "/operators/companies/<int:tenant>/owners/withdraw", Needs.OPERATE, withdraw),
)
