"""`fe tenant`: the customer accounts."""

import re
from pathlib import Path
from typing import Any

import click

from fe.accounts import provision
from fe.cli.dead_letter_options import by_option, given, words
from fe.cli.failures import Failure
from fe.cli.session import json_option, moment, read_object, settings_with_database, show, show_all, with_database
from fe.clock import system_clock
from fe.ecf.dates import local
from fe.ecf.identity import TAX_ID_FORM
from fe.store import issuers, tenants
from fe.store.issuers import Delegation
from fe.store.postgres.db import Conn, Database
from fe.store.tenants import Tenant


@click.group()
def tenant() -> None:
    """Create and list tenants: whose receipts are issued."""


@tenant.command()
@click.argument("name")
@click.option("--rnc", metavar="DIGITS", help="RNC (9 digits) or cédula (11): RNCEmisor.")
@click.option("--legal-name", help="RazonSocialEmisor.")
@click.option("--address", help="DireccionEmisor.")
@click.option(
    "--issuer",
    "issuer_file",
    type=click.Path(path_type=Path),
    help="JSON file with fields of Emisor by their names in the format; the options above win over it.",
)
@click.option(
    "--consumer-summary",
    type=click.Choice(["automatic", "off"]),
    default="automatic",
    show_default=True,
    help="Whether consumer invoices under the threshold go out as their summary.",
)
@json_option
def create(
    name: str,
    rnc: str | None,
    legal_name: str | None,
    address: str | None,
    issuer_file: Path | None,
    consumer_summary: str,
    as_json: bool,
) -> None:
    """Create the tenant NAME with its fiscal data: what becomes Emisor when a client leaves it out."""
    issuer = read_object(issuer_file) if issuer_file else {}
    given = {"RNCEmisor": rnc, "RazonSocialEmisor": legal_name, "DireccionEmisor": address}
    issuer |= {field: value for field, value in given.items() if value is not None}
    today = local(system_clock()).date()

    async def work(db: Database) -> Tenant:
        return await db.transact(provision.create_tenant, name, issuer, consumer_summary, today=today)

    show(_record(with_database(settings_with_database(), work)), as_json=as_json)


@tenant.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List all tenants, oldest first."""

    async def work(db: Database) -> list[Tenant]:
        return await db.run(tenants.everyone)

    found = with_database(settings_with_database(), work)
    show_all([_record(one) for one in found], as_json=as_json, none="there are no tenants yet: `fe tenant create`")


def _rnc(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    if not re.fullmatch(TAX_ID_FORM, value):
        raise click.BadParameter("an RNC has 9 digits, a cédula 11")
    return value


@tenant.command()
@click.argument("name")
@click.argument("rnc", callback=_rnc)
@click.option("--reason", metavar="TEXT", callback=words, help="What shows that the issuer agreed; kept on record.")
@by_option
@json_option
def delegate(name: str, rnc: str, reason: str | None, by_whom: str, as_json: bool) -> None:
    """Record that the holder of RNC, another tenant, lets the tenant NAME issue in its name. It counts at once."""
    because = given(reason)

    async def task(conn: Conn) -> Delegation | None:
        owner = await provision.find_tenant(conn, name)
        made = Delegation(owner.tenant_id, rnc, system_clock(), by_whom, because)
        return made if await issuers.record(conn, made) else None

    async def work(db: Database) -> Delegation | None:
        return await db.transact(task)

    made = with_database(settings_with_database(), work)
    if made is None:
        raise Failure(f"tenant {name!r} has a delegation of {rnc} already")
    show(_delegation(made), as_json=as_json)


@tenant.command()
@click.argument("name")
@click.argument("rnc", callback=_rnc)
def withdraw(name: str, rnc: str) -> None:
    """Take back what `delegate` recorded. Running processes know of it within 30 seconds; what was accepted goes on."""

    async def task(conn: Conn) -> bool:
        owner = await provision.find_tenant(conn, name)
        return await issuers.withdraw(conn, owner.tenant_id, rnc)

    async def work(db: Database) -> bool:
        return await db.transact(task)

    if not with_database(settings_with_database(), work):
        raise Failure(f"tenant {name!r} has no delegation of {rnc}")
    click.echo(f"taken back: {name} no longer issues for {rnc}")


@tenant.command()
@click.argument("name")
@json_option
def delegations(name: str, as_json: bool) -> None:
    """List for whom the tenant NAME may issue by what was recorded."""

    async def task(conn: Conn) -> list[Delegation]:
        owner = await provision.find_tenant(conn, name)
        return await issuers.delegations_of(conn, owner.tenant_id)

    async def work(db: Database) -> list[Delegation]:
        return await db.run(task)

    found = with_database(settings_with_database(), work)
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
    }
