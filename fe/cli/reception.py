"""`fe reception`: tenants that receive from suppliers."""

from typing import Any

import click

from fe.accounts import provision
from fe.cli.failures import Failure
from fe.cli.printing import json_option, print_result, show, show_all
from fe.cli.session import environment_option, run_transaction, settings_with_database, with_database
from fe.ecf.catalogue import Environment
from fe.store.postgres.db import Conn, Database
from fe.store.records import receivers, tenants
from fe.store.records.receivers import Receiver


@click.group()
def reception() -> None:
    """Open and close reception for a tenant: the service that accepts receipts from suppliers."""


@reception.command("open")
@click.argument("tenant_name", metavar="TENANT")
@environment_option
@click.option("--authentication/--no-authentication", default=False, show_default=True, help="Demand a token.")
@json_option
def open_(tenant_name: str, environment: Environment, authentication: bool, as_json: bool) -> None:
    """Receive for TENANT under its RNC, or change whether suppliers need a token."""

    async def work(conn: Conn) -> Receiver:
        found = await provision.find_tenant(conn, tenant_name)
        # As it stays until this is done: its RNC may be corrected at this moment, or its certificate retired.
        tenant = await tenants.locked(conn, found.tenant_id)
        assert tenant is not None
        rnc = str(tenant.issuer.get("RNCEmisor") or "")
        if not rnc:
            raise provision.ProvisioningRefused(f"tenant {tenant_name!r} has no RNCEmisor to receive under")
        receiver = Receiver(tenant.tenant_id, environment, rnc, authentication)
        if not await receivers.open_reception(conn, receiver):
            raise provision.NameTaken(f"another tenant receives under {rnc} in {environment}")
        return receiver

    show(_record(run_transaction(work)), as_json=as_json)


@reception.command()
@click.argument("tenant_name", metavar="TENANT")
@environment_option
@json_option
def close(tenant_name: str, environment: Environment, as_json: bool) -> None:
    """Stop receiving for TENANT. Receipts already received stay."""

    async def work(conn: Conn) -> int:
        tenant = await provision.find_tenant(conn, tenant_name)
        open_ones = [one for one in await receivers.of_tenant(conn, tenant.tenant_id) if one.environment == environment]
        for one in open_ones:
            await receivers.close_reception(conn, one.tenant_id, one.environment, one.rnc)
        return len(open_ones)

    if not run_transaction(work):
        raise Failure(f"tenant {tenant_name!r} does not receive in {environment.value}")
    record = {"tenant": tenant_name, "environment": environment, "open": False}
    print_result("closed", record, as_json=as_json)


@reception.command("list")
@click.argument("tenant_name", metavar="TENANT")
@json_option
def list_(tenant_name: str, as_json: bool) -> None:
    """List where TENANT receives."""

    async def run(db: Database) -> list[Receiver]:
        tenant = await db.run(provision.find_tenant, tenant_name)
        return await db.run(receivers.of_tenant, tenant.tenant_id)

    found = with_database(settings_with_database(), run)
    show_all([_record(one) for one in found], as_json=as_json, none="nowhere yet: `fe reception open`")


def _record(receiver: Receiver) -> dict[str, Any]:
    return {
        "environment": receiver.environment,
        "rnc": receiver.rnc,
        "authentication": receiver.demands_token,
        "path": f"/{receiver.environment}/{receiver.rnc}",
    }
