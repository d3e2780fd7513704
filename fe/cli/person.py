"""`fe person`: people of the portal, their roles, and operators of the installation."""

import secrets
from functools import partial
from typing import Any

import click
import trio

from fe.accounts import members as accounts
from fe.accounts import people as makers
from fe.accounts import provision
from fe.accounts.passwords import require_good
from fe.cli.failures import Failure
from fe.cli.operator_options import by_option
from fe.cli.printing import json_option, print_result, show, show_all
from fe.cli.session import run_transaction, settings_with_database, tenant_option, with_database
from fe.clock import system_clock
from fe.config import Settings
from fe.ecf.ids import new_id
from fe.identifiers import TenantId
from fe.mail.configured import relay_from_settings
from fe.mail.links import mail_invitation, mail_reset
from fe.mail.relay import Relay
from fe.portal.serve import portal_url
from fe.store.portal import changes, invitations, members, people, second_factor
from fe.store.portal.changes import ChangeAction, TenantChange
from fe.store.portal.members import Member
from fe.store.portal.people import Person, PortalRole
from fe.store.postgres.db import Conn, Database

_MADE_BYTES = 18

role_option = click.option(
    "--role",
    required=True,
    type=click.Choice([role.value for role in PortalRole]),
    callback=lambda _ctx, _param, value: PortalRole(value),
    help="owner does everything, member issues and changes, accountant reads.",
)
_works_for_option = click.option("--tenant", "tenant_name", metavar="NAME", help="The tenant to work for; with --role.")
_with_role_option = click.option(
    "--role", type=click.Choice([role.value for role in PortalRole]), help="Role: owner, member or accountant."
)


_mail_option = click.option("--mail", "by_mail", is_flag=True, help="Send the link by mail, too (FE_MAIL_RELAY).")


@click.group()
def person() -> None:
    """Create and invite people of the portal, give them roles, disable them, let them set a new password."""


@person.command()
@click.argument("email")
@click.option("--name", required=True, help="The person's name.")
@_works_for_option
@_with_role_option
@click.option("--no-password", is_flag=True, help="Set no password: the person signs in with OpenID.")
@by_option
@json_option
def create(
    email: str,
    name: str,
    tenant_name: str | None,
    role: str | None,
    no_password: bool,
    by_whom: str,
    as_json: bool,
) -> None:
    """Create the person EMAIL with a password that is shown this once; `fe person invite` lets people choose theirs."""
    if (tenant_name is None) != (role is None):
        raise click.UsageError("--tenant and --role go together")
    password = None if no_password else secrets.token_urlsafe(_MADE_BYTES)
    settings = settings_with_database()

    async def task(conn: Conn, hashed: str | None) -> Person:
        now = system_clock()
        made = await makers.create_person(conn, email, name, password_hash=hashed, now=now)
        if tenant_name is not None and role is not None:
            owner = await provision.find_tenant(conn, tenant_name)
            await people.join(conn, owner.tenant_id, made.person_id, PortalRole(role), now)
            await _noted(conn, owner.tenant_id, by_whom)("person joined", made.email, None, {"role": role})
        return made

    async def work(db: Database) -> Person:
        hashed = None
        if password is not None:
            require_good(password, (email, name))
            hashed = await makers.hash_password(password)
        return await db.transact(task, hashed)

    record = _record(with_database(settings, work))
    show({**record, "password": password}, as_json=as_json)
    if password is not None:
        click.echo("fe: keep the password now: it is not shown again", err=True)


@person.command()
@click.argument("email")
@_works_for_option
@_with_role_option
@click.option("--operator", is_flag=True, help="Invite an operator of the installation instead.")
@_mail_option
@by_option
@json_option
def invite(
    email: str,
    tenant_name: str | None,
    role: str | None,
    operator: bool,
    by_mail: bool,
    by_whom: str,
    as_json: bool,
) -> None:
    """Invite EMAIL. The link is shown once, admits any holder, and is valid for seven days."""
    if operator == (tenant_name is not None) or (tenant_name is None) != (role is None):
        raise click.UsageError("say --tenant and --role, or --operator")
    settings = settings_with_database()
    _link(settings, "invitation", "")
    relay = _relay(settings, by_mail)

    async def task(conn: Conn) -> tuple[invitations.Invitation, str]:
        now = system_clock()
        if tenant_name is None or role is None:
            return await accounts.invite_operator(conn, email, by_whom=by_whom, now=now)
        owner = await provision.find_tenant(conn, tenant_name)
        note = _noted(conn, owner.tenant_id, by_whom)
        return await accounts.invite(
            conn, owner.tenant_id, email, PortalRole(role), by_whom=by_whom, now=now, note=note
        )

    made, token = with_database(settings, lambda db: db.transact(task))
    link = _link(settings, "invitation", token)
    record = {
        "email": made.email,
        "tenant": tenant_name,
        "role": role,
        "operator": operator,
        "expiresAt": made.expires_at,
        "link": link,
        "mailed": trio.run(partial(mail_invitation, relay, made.email, link, tenant_name, system_clock(), "es")),
    }
    show(record, as_json=as_json)
    click.echo("fe: hand the link over now: it is not shown again", err=True)


@person.command("list")
@click.option("--tenant", "tenant_name", metavar="NAME", help="Only who works for this tenant, and in which role.")
@json_option
def list_(tenant_name: str | None, as_json: bool) -> None:
    """List people by address."""

    async def of_tenant(conn: Conn, name: str) -> list[Member]:
        owner = await provision.find_tenant(conn, name)
        return await members.of_tenant(conn, owner.tenant_id)

    async def work(db: Database) -> list[dict[str, Any]]:
        if tenant_name is None:
            return [_record(one) for one in await db.run(people.everybody)]
        return [_member(one) for one in await db.run(of_tenant, tenant_name)]

    found = with_database(settings_with_database(), work)
    show_all(found, as_json=as_json, none="there are no people yet")


@person.command()
@click.argument("email")
@tenant_option
@role_option
@by_option
@json_option
def role(email: str, tenant_name: str, role: PortalRole, by_whom: str, as_json: bool) -> None:
    """Give EMAIL a role at a tenant, as a new member or instead of the old role."""

    async def task(conn: Conn) -> Member:
        owner = await provision.find_tenant(conn, tenant_name)
        found = await makers.find_person(conn, email)
        note = _noted(conn, owner.tenant_id, by_whom)
        if await members.one(conn, owner.tenant_id, found.person_id) is None:
            await people.join(conn, owner.tenant_id, found.person_id, role, system_clock())
            await note("person joined", found.email, None, {"role": str(role)})
        else:
            await accounts.change_role(conn, owner.tenant_id, found.person_id, role, note=note)
        now = await members.one(conn, owner.tenant_id, found.person_id)
        assert now is not None
        return now

    show(_member(run_transaction(task)), as_json=as_json)


@person.command()
@click.argument("email")
@tenant_option
@by_option
@json_option
def remove(email: str, tenant_name: str, by_whom: str, as_json: bool) -> None:
    """Remove EMAIL from a tenant. The last owner cannot be removed."""

    async def task(conn: Conn) -> Member:
        owner = await provision.find_tenant(conn, tenant_name)
        found = await makers.find_person(conn, email)
        note = _noted(conn, owner.tenant_id, by_whom)
        return await accounts.remove(conn, owner.tenant_id, found.person_id, note=note)

    gone = run_transaction(task)
    record = {"email": gone.email, "tenant": tenant_name, "removed": True}
    print_result(f"{gone.email} works for {tenant_name} no more", record, as_json=as_json)


@person.command()
@click.argument("email")
@json_option
def disable(email: str, as_json: bool) -> None:
    """Disable EMAIL in the portal at once, everywhere; `fe person enable` undoes it."""

    async def task(conn: Conn) -> Person:
        found = await makers.find_person(conn, email)
        if found.disabled_at is None:
            await people.set_disabled(conn, found.person_id, system_clock())
        await makers.end_everything(conn, found.person_id)
        return await makers.find_person(conn, email)

    show(_record(run_transaction(task)), as_json=as_json)


@person.command()
@click.argument("email")
@json_option
def enable(email: str, as_json: bool) -> None:
    """Let EMAIL in again."""

    async def task(conn: Conn) -> Person:
        found = await makers.find_person(conn, email)
        await people.set_disabled(conn, found.person_id, None)
        return await makers.find_person(conn, email)

    show(_record(run_transaction(task)), as_json=as_json)


@person.command()
@click.argument("email")
@click.option(
    "--second-factor",
    "second_factor_too",
    is_flag=True,
    help="Take the second factor away too: its device and codes are lost.",
)
@_mail_option
@by_option
@json_option
def reset(email: str, second_factor_too: bool, by_mail: bool, by_whom: str, as_json: bool) -> None:
    """Make a link for EMAIL to set a new password. It is shown once, works once, and is valid for a day.

    First make sure, by a channel that others cannot take over, that this person asks for it.
    """
    settings = settings_with_database()
    _link(settings, "reset", "")
    relay = _relay(settings, by_mail)

    async def task(conn: Conn) -> str:
        found = await makers.find_person(conn, email)
        token = await makers.issue_reset(conn, found, by_whom, system_clock())
        if second_factor_too:
            await second_factor.remove(conn, found.person_id)
            await makers.end_everything(conn, found.person_id)
        return token

    token = with_database(settings, lambda db: db.transact(task))
    link = _link(settings, "reset", token)
    record = {
        "email": email,
        "link": link,
        "expiresAt": system_clock() + makers.RESET_LIFE,
        "secondFactorRemoved": second_factor_too,
        "mailed": trio.run(partial(mail_reset, relay, email, link, system_clock(), "es")),
    }
    show(record, as_json=as_json)
    click.echo("fe: hand the link over now: it is not shown again", err=True)


@person.command()
@click.argument("email")
@click.option("--withdraw", is_flag=True, help="Remove the operator's rights.")
@json_option
def operator(email: str, withdraw: bool, as_json: bool) -> None:
    """Make EMAIL an operator of the installation. Operators' pages ask for a second factor."""

    async def task(conn: Conn) -> Person:
        found = await makers.find_person(conn, email)
        if found.is_operator is not withdraw:
            raise Failure(f"{found.email} is {'no' if withdraw else 'an'} operator already")
        await people.set_operator(conn, found.person_id, not withdraw)
        return await makers.find_person(conn, email)

    show(_record(run_transaction(task)), as_json=as_json)


def _noted(conn: Conn, tenant_id: TenantId, by_whom: str) -> accounts.Note:
    """Record a tenant's change as made by the person who runs the command."""

    async def note(action: ChangeAction, subject: str, before: Any, after: Any) -> None:
        now = system_clock()
        await changes.note(
            conn, tenant_id, TenantChange(new_id(now), now, by_whom, None, "cli", action, subject, before, after)
        )

    return note


def _relay(settings: Settings, by_mail: bool) -> Relay | None:
    """Return the relay if a link is to be mailed. Raises Failure where none is set."""
    if not by_mail:
        return None
    relay = relay_from_settings(settings)
    if relay is None:
        raise Failure("FE_MAIL_RELAY is not set: no mail can be sent")
    return relay


def _link(settings: Settings, page: str, token: str) -> str:
    if not settings.portal_bind and not settings.portal_url:
        raise Failure("FE_PORTAL_URL is not set: under which address do people reach the portal?")
    return f"{portal_url(settings)}/{page}/{token}"


def _record(found: Person) -> dict[str, Any]:
    return {
        "personId": str(found.person_id),
        "email": found.email,
        "name": found.name,
        "operator": found.is_operator,
        "hasPassword": found.has_password,
        "secondFactorSince": found.totp_since,
        "createdAt": found.created_at,
        "disabledAt": found.disabled_at,
    }


def _member(found: Member) -> dict[str, Any]:
    return {
        "personId": str(found.person_id),
        "email": found.email,
        "name": found.name,
        "role": found.role.value,
        "since": found.since,
        "secondFactor": found.has_second_factor,
        "disabledAt": found.disabled_at,
    }
