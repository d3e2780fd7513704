"""Members of a company: invitation links, roles and leaving. A company always keeps an owner.

Each function runs in the caller's transaction; `note` records the change (fe/store/portal/changes.py).
"""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from fe.accounts.people import LINK_OVER, PersonRefused, hash_token, new_token, require_address
from fe.ecf.ids import new_id
from fe.ecf.texts import Text
from fe.identifiers import PersonId, TenantId
from fe.store.portal import invitations, members, people
from fe.store.portal.changes import ChangeAction
from fe.store.portal.invitations import Invitation
from fe.store.portal.members import Member
from fe.store.portal.people import Person, PortalRole
from fe.store.postgres.db import Conn

Shown = dict[str, Any] | None
#: Records a change: action, subject, before and after.
Note = Callable[[ChangeAction, str, Shown, Shown], Awaitable[None]]

INVITATION_LIFE = timedelta(days=7)

LAST_OWNER = Text(
    "A company must keep an owner: make another person an owner first.",
    "Una empresa tiene siempre un administrador: primero nombre administrador a otra persona.",
)
NOT_A_MEMBER = Text("This person does not work for the company.", "Esta persona no tiene acceso a la empresa.")


async def invite(
    conn: Conn, tenant_id: TenantId, email: str, role: PortalRole, *, by_whom: str, now: datetime, note: Note
) -> tuple[Invitation, str]:
    """Invite a member and return the link's token, which is never shown again. Raises PersonRefused."""
    address = require_address(email)
    for member in await members.of_tenant(conn, tenant_id):
        if member.email.lower() == address.lower():
            raise PersonRefused(
                Text(f"{address} works for the company already.", f"{address} ya tiene acceso a la empresa.")
            )
    for waiting in await invitations.waiting(conn, tenant_id, now):
        if waiting.email.lower() == address.lower():
            raise PersonRefused(
                Text(
                    f"{address} is invited already: withdraw that invitation to make another link.",
                    f"{address} ya tiene una invitación: retírela para crear otro enlace.",
                )
            )
    made, token = await _invite(conn, tenant_id, role, address, by_whom, now)
    await note("person invited", address, None, {"role": str(role)})
    return made, token


async def invite_operator(conn: Conn, email: str, *, by_whom: str, now: datetime) -> tuple[Invitation, str]:
    """Invite an operator of the installation. Raises PersonRefused."""
    return await _invite(conn, None, None, require_address(email), by_whom, now)


async def _invite(
    conn: Conn, tenant_id: TenantId | None, role: PortalRole | None, email: str, by_whom: str, now: datetime
) -> tuple[Invitation, str]:
    token = new_token()
    made = Invitation(new_id(now), tenant_id, role, email, by_whom, now, now + INVITATION_LIFE, None, None)
    await invitations.invite(conn, made, hash_token(token))
    return made, token


async def withdraw(conn: Conn, tenant_id: TenantId, invitation_id: UUID, *, now: datetime, note: Note) -> Invitation:
    """Take an invitation back. Raises PersonRefused where it is over."""
    found = await invitations.withdraw(conn, tenant_id, invitation_id, now)
    if found is None:
        raise PersonRefused(LINK_OVER)
    await note("invitation withdrawn", found.email, {"role": str(found.role)}, None)
    return found


async def accept(conn: Conn, invitation: Invitation, person: Person, *, now: datetime, note: Note) -> None:
    """Accept an invitation once. Raises PersonRefused when it has expired.

    A person who already is a member keeps the role. An operator's invitation needs an operator's rights.
    """
    if not await invitations.accept(conn, invitation, now):
        raise PersonRefused(LINK_OVER)
    if invitation.tenant_id is None or invitation.role is None:
        await people.set_operator(conn, person.person_id, True)
        return
    if await members.one(conn, invitation.tenant_id, person.person_id) is not None:
        raise PersonRefused(Text("You work for this company already.", "Usted ya tiene acceso a esta empresa."))
    await people.join(conn, invitation.tenant_id, person.person_id, invitation.role, now)
    await note("person joined", person.email, None, {"role": str(invitation.role), "invited": invitation.email})


async def change_role(
    conn: Conn, tenant_id: TenantId, person_id: PersonId, role: PortalRole, *, answers: bool = False, note: Note
) -> Member:
    """Change a member's role; `answers`: an accountant also approves and rejects received receipts.

    Raises PersonRefused for the last owner.
    """
    member = await _member(conn, tenant_id, person_id, stays_owner=role is PortalRole.OWNER)
    answers = answers and role is PortalRole.ACCOUNTANT
    if (member.role, member.answers) != (role, answers):
        await members.set_role(conn, tenant_id, person_id, role, answers=answers)
        before, after = {"role": str(member.role)}, {"role": str(role)}
        if member.answers != answers:
            before, after = before | {"answers": str(member.answers)}, after | {"answers": str(answers)}
        await note("role changed", member.email, before, after)
    return member


async def remove(conn: Conn, tenant_id: TenantId, person_id: PersonId, *, note: Note) -> Member:
    """Remove a member. Raises PersonRefused for the last owner."""
    member = await _member(conn, tenant_id, person_id, stays_owner=False)
    await members.leave(conn, tenant_id, person_id)
    await note("person removed", member.email, {"role": str(member.role)}, None)
    return member


async def _member(conn: Conn, tenant_id: TenantId, person_id: PersonId, *, stays_owner: bool) -> Member:
    """Find a member who may be changed. Read after locking the owners, so the result stays true."""
    owners = await members.lock_owners(conn, tenant_id)
    member = await members.one(conn, tenant_id, person_id)
    if member is None:
        raise PersonRefused(NOT_A_MEMBER)
    if member.role is PortalRole.OWNER and not stays_owner and not owners - {person_id}:
        raise PersonRefused(LAST_OWNER)
    return member
