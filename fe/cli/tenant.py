"""`fe tenant`: the customer accounts."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from fe.accounts import audited_changes, provision
from fe.cli.approval import ask_if_bulk
from fe.cli.failures import Failure
from fe.cli.operator_options import act, audited, author, by_option, given, words
from fe.cli.printing import json_option, moment, print_result, show, show_all
from fe.cli.session import read_object, run_query, run_transaction, settings_with_database, with_database
from fe.cli.tenant_changes import list_changes, show_tenant
from fe.clock import system_clock
from fe.ecf.identity import TAX_ID_FORM
from fe.store.postgres.db import Conn, Database
from fe.store.records import issuers, tenants
from fe.store.records.issuers import Delegation
from fe.store.records.tenants import Tenant

F = TypeVar("F", bound=Callable[..., Any])


@click.group()
def tenant() -> None:
    """Create, change, list, disable and enable tenants."""


tenant.add_command(show_tenant)
tenant.add_command(list_changes)


def _issuer_options(command: F) -> F:
    """Add the options for Emisor."""
    for option in reversed(
        (
            click.option("--rnc", metavar="DIGITS", help="RNC (9 digits) or cédula (11): RNCEmisor."),
            click.option("--legal-name", help="RazonSocialEmisor."),
            click.option("--address", help="DireccionEmisor."),
            click.option(
                "--issuer",
                "issuer_file",
                type=click.Path(path_type=Path),
                help="JSON file with fields of Emisor by their names in the format; the options above win over it.",
            ),
        )
    ):
        command = option(command)
    return command


def _issuer(rnc: str | None, legal_name: str | None, address: str | None, issuer_file: Path | None) -> dict[str, Any]:
    issuer = read_object(issuer_file) if issuer_file else {}
    named = {"RNCEmisor": rnc, "RazonSocialEmisor": legal_name, "DireccionEmisor": address}
    return issuer | {field: value for field, value in named.items() if value is not None}


@tenant.command()
@click.argument("name")
@_issuer_options
@click.option(
    "--consumer-summary",
    type=click.Choice(["automatic", "off"]),
    default="automatic",
    show_default=True,
    help="Whether consumer invoices under the threshold go out as their summary. Off: whole, which the authority "
    "rejects; only for who hands in the summaries (RFCE) from a program of their own.",
)
@by_option
@json_option
def create(
    name: str,
    rnc: str | None,
    legal_name: str | None,
    address: str | None,
    issuer_file: Path | None,
    consumer_summary: str,
    by_whom: str,
    as_json: bool,
) -> None:
    """Create the tenant NAME with its fiscal data, which fill Emisor when a client omits it."""
    issuer = _issuer(rnc, legal_name, address, issuer_file)

    show(
        _record(
            _remarked(run_transaction(audited_changes.create_tenant, author(by_whom), name, issuer, consumer_summary))
        ),
        as_json=as_json,
    )


def _remarked(made: Tenant) -> Tenant:
    """Say on stderr that its RNC may be mistyped."""
    remark = provision.remark_on(made.issuer)
    if remark is not None:
        click.echo(f"fe: {remark}", err=True)
    return made


@tenant.command()
@click.argument("name")
@click.option("--name", "new_name", metavar="NAME", help="Call it so from now on.")
@_issuer_options
@click.option(
    "--consumer-summary",
    type=click.Choice(["automatic", "off"]),
    help="Whether consumer invoices under the threshold go out as their summary. Off: whole, which the authority "
    "rejects; only for who hands in the summaries (RFCE) from a program of their own.",
)
@by_option
@json_option
def update(
    name: str,
    new_name: str | None,
    rnc: str | None,
    legal_name: str | None,
    address: str | None,
    issuer_file: Path | None,
    consumer_summary: str | None,
    by_whom: str,
    as_json: bool,
) -> None:
    """Change only the given data of the tenant NAME; null in the file of --issuer removes a field.

    Receipts that are not signed yet use the new data. The RNC can be corrected until the first document was submitted,
    and not while reception is open: another RNC is another taxpayer.
    """
    issuer = _issuer(rnc, legal_name, address, issuer_file) or None
    if new_name is None and issuer is None and consumer_summary is None:
        raise click.UsageError("choose at least one change")

    async def task(conn: Conn) -> Tenant:
        owner = await provision.find_tenant(conn, name)
        return await audited_changes.update_tenant(
            conn, author(by_whom), owner, name=new_name, issuer=issuer, consumer_summary=consumer_summary
        )

    show(_record(_remarked(run_transaction(task))), as_json=as_json)


@tenant.command()
@click.argument("name")
@audited
@json_option
def disable(name: str, by_whom: str, reason: str | None, as_json: bool) -> None:
    """Disable the tenant NAME: its keys and tokens are rejected, its webhooks are not called.

    Receipts already submitted are still sent, and suppliers' receipts are still received until `fe reception close`.
    """
    action = act(by_whom, reason)

    async def task(conn: Conn) -> Tenant:
        owner = await provision.find_tenant(conn, name)
        await audited_changes.disable_tenant(conn, author(by_whom, action), owner, action)
        return await provision.find_tenant(conn, name)

    async def work(db: Database) -> Tenant:
        owner = await db.run(provision.find_tenant, name)
        await ask_if_bulk(db, "tenant disable", {"tenant": name}, action, owner)
        return await db.transact(task)

    found = with_database(settings_with_database(), work)
    print_result(f"{name} is disabled: `fe tenant enable` lets it in again", _record(found), as_json=as_json)


@tenant.command()
@click.argument("name")
@audited
@json_option
def enable(name: str, by_whom: str, reason: str | None, as_json: bool) -> None:
    """Enable the tenant NAME again. Its webhooks get the events kept for them."""
    action = act(by_whom, reason)

    async def task(conn: Conn) -> Tenant:
        owner = await provision.find_tenant(conn, name)
        await audited_changes.enable_tenant(conn, author(by_whom, action), owner, action)
        return await provision.find_tenant(conn, name)

    found = run_transaction(task)
    print_result(f"{name} is enabled", _record(found), as_json=as_json)


@tenant.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List all tenants, oldest first."""

    found = run_query(tenants.everyone)
    show_all([_record(one) for one in found], as_json=as_json, none="there are no tenants yet: `fe tenant create`")


def _rnc(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    if not re.fullmatch(TAX_ID_FORM, value):
        raise click.BadParameter("an RNC has 9 digits, a cédula 11")
    return value


@tenant.command()
@click.argument("name")
@click.argument("rnc", callback=_rnc)
@click.option("--reason", metavar="TEXT", callback=words, help="Evidence that the issuer agreed; kept on record.")
@by_option
@json_option
def delegate(name: str, rnc: str, reason: str | None, by_whom: str, as_json: bool) -> None:
    """Record that the holder of RNC, another tenant, lets the tenant NAME issue in its name. Effective at once."""
    because = given(reason)

    async def task(conn: Conn) -> Delegation | None:
        owner = await provision.find_tenant(conn, name)
        made = Delegation(owner.tenant_id, rnc, system_clock(), by_whom, because)
        return made if await issuers.record(conn, made) else None

    made = run_transaction(task)
    if made is None:
        raise Failure(f"tenant {name!r} has a delegation of {rnc} already")
    show(_delegation(made), as_json=as_json)


@tenant.command()
@click.argument("name")
@click.argument("rnc", callback=_rnc)
@json_option
def withdraw(name: str, rnc: str, as_json: bool) -> None:
    """Withdraw a delegation. Running processes apply it within 30 seconds; accepted receipts continue."""

    async def task(conn: Conn) -> bool:
        owner = await provision.find_tenant(conn, name)
        return await issuers.withdraw(conn, owner.tenant_id, rnc)

    if not run_transaction(task):
        raise Failure(f"tenant {name!r} has no delegation of {rnc}")
    record = {"tenant": name, "rnc": rnc, "recorded": False}
    print_result(f"taken back: {name} no longer issues for {rnc}", record, as_json=as_json)


@tenant.command()
@click.argument("name")
@json_option
def delegations(name: str, as_json: bool) -> None:
    """List the recorded delegations of the tenant NAME."""

    async def task(conn: Conn) -> list[Delegation]:
        owner = await provision.find_tenant(conn, name)
        return await issuers.delegations_of(conn, owner.tenant_id)

    found = run_query(task)
    show_all([_delegation(each) for each in found], as_json=as_json, none=f"nothing is recorded for tenant {name!r}")


def _delegation(found: Delegation) -> dict[str, Any]:
    return {
        "rnc": found.rnc,
        "recordedAt": moment(found.recorded_at),
        "recordedBy": found.recorded_by,
        "reason": found.reason,
    }


def _record(found: Tenant) -> dict[str, Any]:
    return {
        "tenantId": found.tenant_id,
        "name": found.name,
        "rnc": found.issuer.get("RNCEmisor"),
        "legalName": found.issuer.get("RazonSocialEmisor"),
        "consumerSummary": found.consumer_summary,
        "disabledSince": moment(found.disabled_since),
    }
