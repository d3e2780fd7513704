"""`fe user`: a tenant's branches and people that sign with a certificate of their own."""

from pathlib import Path
from typing import Any

import click

from fe.accounts import audited_changes, provision
from fe.cli.operator_options import act, audited, author, by_option
from fe.cli.printing import json_option, print_result, show, show_all
from fe.cli.session import read_object, run_query, run_transaction, tenant_option
from fe.store.postgres.db import Conn
from fe.store.records import tenants
from fe.store.records.tenants import User


@click.group()
def user() -> None:
    """Create, change, list and remove a tenant's users, who sign with their own certificates (`asUser`)."""


@user.command()
@click.argument("email")
@tenant_option
@click.option(
    "--issuer-override",
    type=click.Path(path_type=Path),
    help="JSON file with the fields of Emisor that are different on this user's receipts.",
)
@by_option
@json_option
def create(email: str, tenant_name: str, issuer_override: Path | None, by_whom: str, as_json: bool) -> None:
    """Create the user EMAIL."""
    override = read_object(issuer_override) if issuer_override else None

    async def task(conn: Conn) -> User:
        owner = await provision.find_tenant(conn, tenant_name)
        return await audited_changes.create_user(conn, author(by_whom), owner, email, override)

    show(_record(run_transaction(task)), as_json=as_json)


@user.command()
@click.argument("email")
@tenant_option
@click.option(
    "--issuer-override",
    type=click.Path(path_type=Path),
    help="JSON file with the fields of Emisor that are different on this user's receipts; the whole of it.",
)
@click.option("--no-override", is_flag=True, help="Nothing is different on this user's receipts.")
@by_option
@json_option
def update(
    email: str, tenant_name: str, issuer_override: Path | None, no_override: bool, by_whom: str, as_json: bool
) -> None:
    """Change the Emisor fields of the receipts of the user EMAIL."""
    if (issuer_override is None) != no_override:
        raise click.UsageError("give either --issuer-override or --no-override")
    override = read_object(issuer_override) if issuer_override else None

    async def task(conn: Conn) -> User:
        owner = await provision.find_tenant(conn, tenant_name)
        found = await provision.find_user(conn, owner, email)
        return await audited_changes.change_user(conn, author(by_whom), owner, found, override)

    show(_record(run_transaction(task)), as_json=as_json)


@user.command("list")
@tenant_option
@json_option
def list_(tenant_name: str, as_json: bool) -> None:
    """List the tenant's users by address."""

    async def task(conn: Conn) -> list[User]:
        owner = await provision.find_tenant(conn, tenant_name)
        return await tenants.users_of(conn, owner.tenant_id)

    found = run_query(task)
    show_all([_record(one) for one in found], as_json=as_json, none=f"tenant {tenant_name!r} has no users")


@user.command()
@click.argument("email")
@tenant_option
@audited
@json_option
def remove(email: str, tenant_name: str, by_whom: str, reason: str | None, as_json: bool) -> None:
    """Remove the user EMAIL and retire its certificate. Signed receipts keep the name."""
    action = act(by_whom, reason)

    async def task(conn: Conn) -> User:
        owner = await provision.find_tenant(conn, tenant_name)
        found = await provision.find_user(conn, owner, email)
        await audited_changes.remove_user(conn, author(by_whom, action), owner, found)
        return found

    found = run_transaction(task)
    print_result(f"{found.email} is removed", {**_record(found), "removedAt": action.at}, as_json=as_json)


def _record(found: User) -> dict[str, Any]:
    return {"userId": str(found.user_id), "email": found.email, "issuerOverride": found.issuer_override}
