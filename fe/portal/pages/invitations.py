"""Accepting an invitation by its link, and setting a password by one."""

from typing import Any

from fe.accounts import identities
from fe.accounts import members as accounts
from fe.accounts import people as logins
from fe.accounts.id_token import Subject
from fe.accounts.people import LINK_OVER, PersonRefused, hash_token
from fe.ecf.ids import new_id
from fe.ecf.texts import Text
from fe.identifiers import TenantId
from fe.portal import attempts
from fe.portal.page_types import Needs, Page
from fe.portal.pages.account import password_problem
from fe.portal.replies import Refused, Reply
from fe.portal.role_names import ROLES
from fe.portal.sign_in_flow import begin_session
from fe.portal.visit import Visit
from fe.store.portal import changes, invitations, people, resets
from fe.store.portal.changes import ChangeAction, TenantChange
from fe.store.portal.invitations import Invitation
from fe.store.portal.people import Person
from fe.store.postgres.db import Conn
from fe.store.records import tenants
from fe.store.records.tenants import Tenant


async def find(visit: Visit, token_hash: bytes) -> Invitation:
    """Find an invitation that may still be accepted here. Raises Refused."""
    found = await visit.portal.db.run(invitations.by_token, token_hash)
    if found is None or not found.is_open(visit.now) or (found.tenant_id is None and visit.portal.operators is None):
        raise Refused(404, LINK_OVER)
    return found


async def form(visit: Visit) -> Reply:
    """Show the invitation."""
    return await _page(visit, 200, await find(visit, hash_token(visit.params["token"])))


async def _page(visit: Visit, status: int, invitation: Invitation, problem: Text | None = None) -> Reply:
    return visit.page(
        "people/accept.html",
        status,
        invitation=invitation,
        company=await _company(visit, invitation),
        is_known=await visit.portal.db.run(people.by_email, invitation.email) is not None,
        at=visit.path,
        name=visit.form.get("name")[:200],
        roles=ROLES,
        openid=visit.portal.openid,
        problem=problem,
    )


async def _company(visit: Visit, invitation: Invitation) -> str | None:
    async def name(conn: Conn, tenant_id: TenantId) -> Tenant | None:
        return await tenants.by_id(conn, tenant_id)

    if invitation.tenant_id is None:
        return None
    found = await visit.portal.db.run_for(invitation.tenant_id, name)
    return found.name if found is not None else None


async def accept(visit: Visit) -> Reply:
    """Accept the invitation as the signed-in person, or create one with a name and password."""
    await attempts.count(visit, "address")
    invitation = await find(visit, hash_token(visit.params["token"]))
    try:
        if visit.session is not None:
            await let_in(visit, invitation, visit.session.person)
            return await visit.go(first_page(invitation))
        name = logins.require_name(visit.form.get("name"))
        new = visit.form.verbatim("new")
        problem = password_problem(new, visit.form.verbatim("repeated"), name, invitation.email)
        if problem is not None:
            return await _page(visit, 400, invitation, problem)
        made = await let_in(visit, invitation, name, password_hash=await logins.hash_password(new))
    except PersonRefused as refused:
        return await _page(visit, 400, invitation, refused.text)
    return await begin_session(visit, made, "invitation", first_page(invitation))


async def let_in(
    visit: Visit,
    invitation: Invitation,
    who: Person | str,
    *,
    password_hash: str | None = None,
    subject: Subject | None = None,
) -> Person:
    """Accept an invitation for a person or a new one of that name; links a subject. Raises PersonRefused."""

    async def work(conn: Conn) -> Person:
        if isinstance(who, Person):
            person = who
        else:
            person = await logins.create_person(
                conn,
                invitation.email,
                who,
                password_hash=password_hash,
                language=visit.language,
                now=visit.now,
            )

        async def note(action: ChangeAction, subject: str, before: Any, after: Any) -> None:
            if invitation.tenant_id is not None:
                made = TenantChange(
                    *(new_id(visit.now), visit.now, person.email, person.person_id, "portal", action, subject),
                    before,
                    after,
                )
                await changes.note(conn, invitation.tenant_id, made)

        if subject is not None:
            await identities.link(conn, subject, person.person_id, visit.now)
        await accounts.accept(conn, invitation, person, now=visit.now, note=note)
        return person

    if invitation.tenant_id is None:
        # To make an operator takes an operator's rights.
        return await visit.operators.transact(work)
    return await visit.portal.db.transact_for(invitation.tenant_id, work)


def first_page(invitation: Invitation) -> str:
    """Return the page to show after accepting."""
    return "/operators" if invitation.tenant_id is None else f"/companies/{invitation.tenant_id}"


async def reset_form(visit: Visit) -> Reply:
    """Ask for a new password, or, where the link is over, for the address that gets another."""
    try:
        person = await _whose(visit)
    except Refused as over:
        can_mail = visit.portal.resets is not None
        return visit.page("forgotten.html", over.status, can_mail=can_mail, asked=False, problem=over.message)
    return visit.page("reset.html", person=person, at=visit.path, problem=None)


async def _whose(visit: Visit) -> Person:
    found = await visit.portal.db.run(resets.find, hash_token(visit.params["token"]), visit.now)
    if found is None:
        raise Refused(404, LINK_OVER)
    return found


async def reset(visit: Visit) -> Reply:
    """Set the password; one logs in with it then, and with the second factor where there is one."""
    await attempts.count(visit, "address")
    person = await _whose(visit)
    new = visit.form.verbatim("new")
    problem = password_problem(new, visit.form.verbatim("repeated"), person.name, person.email)
    if problem is not None:
        return visit.page("reset.html", 400, person=person, at=visit.path, problem=problem)
    hashed = await logins.hash_password(new)
    await visit.portal.db.transact(logins.reset_password, visit.params["token"], hashed, visit.now)
    visit.session = None
    return await visit.go("/sign-in?saved=1")


PAGES = (
    Page("GET", "/invitation/<token>", Needs.NOTHING, form),
    Page("POST", "/invitation/<token>", Needs.NOTHING, accept),
    Page("GET", "/reset/<token>", Needs.NOTHING, reset_form),
    Page("POST", "/reset/<token>", Needs.NOTHING, reset),
)
