"""`fe tenant show` and `fe tenant changes`: the data that a tenant's people see in the portal."""

from typing import Any
from uuid import UUID

import click

from fe.accounts import provision
from fe.cli.printing import json_option, show, show_all
from fe.cli.session import run_query
from fe.store.portal import changes as book
from fe.store.portal.changes import TenantChange
from fe.store.postgres.db import Conn


@click.command("show")
@click.argument("name")
@json_option
def show_tenant(name: str, as_json: bool) -> None:
    """Show the tenant NAME with all its fiscal data."""

    found = run_query(provision.find_tenant, name)
    record = {
        "tenantId": found.tenant_id,
        "name": found.name,
        "consumerSummary": found.consumer_summary,
        "disabledSince": found.disabled_since,
        "issuer": found.issuer,
    }
    show(record, as_json=as_json)


@click.command("changes")
@click.argument("name")
@click.option("--action", metavar="KIND", help='Only of this kind, such as "key created".')
@click.option("--before", type=click.UUID, metavar="ID", help="Only those before this one.")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=50, show_default=True, help="Most rows; the latest come first."
)
@json_option
def list_changes(name: str, action: str | None, before: UUID | None, limit: int, as_json: bool) -> None:
    """List the changes of the tenant NAME with author, channel, before and after; the latest first."""

    async def task(conn: Conn) -> list[TenantChange]:
        owner = await provision.find_tenant(conn, name)
        return await book.latest(conn, owner.tenant_id, limit=limit, before=before, action=action)

    found = run_query(task)
    show_all([_record(each) for each in found], as_json=as_json, none=f"nothing was changed for tenant {name!r}")


def _record(found: TenantChange) -> dict[str, Any]:
    return {
        "changeId": str(found.change_id),
        "at": found.at,
        "by": found.by_whom,
        "through": found.through,
        "action": found.action,
        "subject": found.subject,
        "before": found.before,
        "after": found.after,
    }
