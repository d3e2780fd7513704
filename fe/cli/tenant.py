"""`fe tenant`: the customer accounts."""

from pathlib import Path
from typing import Any

import click

from fe.accounts import provision
from fe.cli.session import json_option, read_object, settings_with_database, show, show_all, with_database
from fe.clock import system_clock
from fe.ecf.dates import local
from fe.store import tenants
from fe.store.postgres.db import Database
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


def _record(found: Tenant) -> dict[str, Any]:
    return {
        "tenantId": found.tenant_id,
        "name": found.name,
        "rnc": found.issuer.get("RNCEmisor"),
        "legalName": found.issuer.get("RazonSocialEmisor"),
        "consumerSummary": found.consumer_summary,
    }
