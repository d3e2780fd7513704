"""`fe outbox signed-by`: documents signed by a process whose clock was wrong (ops/runbooks/clock-skew.md)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import click

from fe.accounts import provision
from fe.cli.printing import json_option, moment, show_all
from fe.cli.session import settings_with_database, with_database
from fe.clock import system_clock
from fe.store.postgres.db import Database
from fe.store.queue import signed_by
from fe.store.records import tenants

_MOMENT = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"])


@click.command("signed-by")
@click.argument("process")
@click.option("--since", type=_MOMENT, help="Accepted at this time (UTC) or later; without it, within the last day.")
@click.option("--until", type=_MOMENT, help="Accepted before this time (UTC).")
@click.option("--tenant", "tenant_name", metavar="NAME", help="Only of this tenant.")
@click.option("--rejected", is_flag=True, help="Only what the authority rejected.")
@json_option
def signed_by_(
    process: str,
    since: datetime | None,
    until: datetime | None,
    tenant_name: str | None,
    rejected: bool,
    as_json: bool,
) -> None:
    """List the documents that PROCESS signed: its host, host:pid, or whole name as `fe outbox status` shows it."""
    now = system_clock()
    first = since.replace(tzinfo=UTC) if since else now - timedelta(days=1)
    last = until.replace(tzinfo=UTC) if until else now + timedelta(days=1)

    async def work(db: Database) -> list[dict[str, Any]]:
        if tenant_name:
            owners = [await db.run(provision.find_tenant, tenant_name)]
        else:
            owners = await db.run(tenants.everyone)
        return [
            {
                "taxLogId": str(one.subject),
                "tenant": owner.name,
                "environment": one.environment,
                "eNCF": one.e_ncf,
                "status": one.status,
                "numberFate": one.number_fate,
                "signedAt": moment(one.signed_at),
                "process": one.process,
            }
            for owner in owners
            for one in await db.run(signed_by.signed_by, owner.tenant_id, process, first, last, rejected=rejected)
        ]

    found = with_database(settings_with_database(), work)
    show_all(found, as_json=as_json, none=f"nothing of that time was signed by {process}")
