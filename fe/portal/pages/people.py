"""Members of a company: invite by link, change roles, remove."""

from functools import partial
from typing import Any
from uuid import UUID

from fe.accounts import members as accounts
from fe.accounts.people import PersonRefused
from fe.ecf.texts import Text
from fe.identifiers import PersonId
from fe.mail.links import mail_invitation
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Refused, Reply, not_found
from fe.portal.role_names import MEANINGS, ROLES
from fe.portal.visit import Visit
from fe.store.portal import invitations, members
from fe.store.portal.invitations import Invitation
from fe.store.portal.members import Member
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Conn

_NO_ROLE = Text("Choose a role.", "Elija una función.")


async def people(visit: Visit) -> Reply:
    """List members and invitations."""
    return visit.page(
        "people/people.html",
        members=await visit.read(members.of_tenant),
        invitations=await visit.read(invitations.waiting, visit.now),
        roles=ROLES,
        meanings=MEANINGS,
    )


async def invite_form(visit: Visit) -> Reply:
    """Show the form of an invitation."""
    return _invite_page(visit, 200)


def _invite_page(visit: Visit, status: int, problem: Text | None = None) -> Reply:
    return visit.page(
        "people/invite.html",
        status,
        problem=problem,
        email=visit.form.get("email")[:254],
        role=visit.form.get("role", PortalRole.MEMBER),
        roles=ROLES,
        meanings=MEANINGS,
    )


async def invite(visit: Visit) -> Reply:
    """Make an invitation and show its link, this once."""
    role = _role(visit)
    if role is None:
        return _invite_page(visit, 400, _NO_ROLE)

    async def work(conn: Conn) -> tuple[Invitation, str]:
        return await accounts.invite(
            conn,
            visit.tenant_id,
            visit.form.get("email"),
            role,
            by_whom=visit.by_whom,
            now=visit.now,
            note=partial(visit.note, conn),
        )

    try:
        made, token = await visit.change(work)
    except PersonRefused as refused:
        return _invite_page(visit, 400, refused.text)
    link = f"{visit.portal.url}/invitation/{token}"
    company = visit.company.tenant.name
    mailed = await mail_invitation(visit.portal.relay, made.email, link, company, visit.now, visit.language)
    return visit.page("people/invited.html", invitation=made, link=link, mailed=mailed)


async def withdraw(visit: Visit) -> Reply:
    """Take an invitation back."""
    invitation_id = _uuid(visit.form.get("invitation"))

    async def work(conn: Conn) -> Invitation:
        return await accounts.withdraw(
            conn, visit.tenant_id, invitation_id, now=visit.now, note=partial(visit.note, conn)
        )

    await visit.change(work)
    return await visit.go(visit.at("people"), Text("The invitation is withdrawn.", "La invitación se retiró."))


async def member(visit: Visit) -> Reply:
    """Show the form of one member."""
    return _member_page(visit, 200, await _member(visit))


async def _member(visit: Visit) -> Member:
    found = await visit.read(members.one, _person(visit))
    if found is None:
        raise not_found()
    return found


def _member_page(visit: Visit, status: int, found: Member, problem: Text | None = None) -> Reply:
    values = {"member": found, "shown": _shown(found), "problem": problem, "roles": ROLES, "meanings": MEANINGS}
    return visit.page("people/member.html", status, **values)


async def change_role(visit: Visit) -> Reply:
    """Change a member's role."""
    found, role = await _member(visit), _role(visit)
    if role is None:
        return _member_page(visit, 400, found, _NO_ROLE)
    visit.require_unchanged(_shown(found))

    async def work(conn: Conn) -> Member:
        answers = visit.form.has("answers")
        note = partial(visit.note, conn)
        return await accounts.change_role(conn, visit.tenant_id, found.person_id, role, answers=answers, note=note)

    try:
        await visit.change(work)
    except PersonRefused as refused:
        return _member_page(visit, 409, found, refused.text)
    return await visit.go(visit.at("people"), Text("The role is changed.", "La función cambió."))


async def remove(visit: Visit) -> Reply:
    """Remove a member."""
    found = await _member(visit)
    visit.require_unchanged(_shown(found))

    async def work(conn: Conn) -> Member:
        return await accounts.remove(conn, visit.tenant_id, found.person_id, note=partial(visit.note, conn))

    try:
        await visit.change(work)
    except PersonRefused as refused:
        return _member_page(visit, 409, found, refused.text)
    gone = Text(f"{found.email} is removed.", f"Se quitó a {found.email}.")
    is_me = found.person_id == visit.person.person.person_id
    return await visit.go("/" if is_me else visit.at("people"), gone)


def _shown(found: Member) -> Any:
    return [found.person_id, found.role, found.answers]


def _role(visit: Visit) -> PortalRole | None:
    given = visit.form.get("role")
    return PortalRole(given) if given in list(PortalRole) else None


def _person(visit: Visit) -> PersonId:
    return PersonId(visit.params["person"])


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Refused(404, not_found().message) from None


_AT = "/companies/<int:company>/people"

PAGES = (
    Page("GET", _AT, Needs.READ, people),
    Page("GET", f"{_AT}/invite", Needs.OWN, invite_form, fresh=True),
    Page("POST", f"{_AT}/invite", Needs.OWN, invite, fresh=True),
    Page("POST", f"{_AT}/withdraw", Needs.OWN, withdraw),
    Page("GET", f"{_AT}/<uuid:person>", Needs.OWN, member, fresh=True),
    Page("POST", f"{_AT}/<uuid:person>/role", Needs.OWN, change_role, fresh=True),
    Page("POST", f"{_AT}/<uuid:person>/remove", Needs.OWN, remove, fresh=True),
)
