"""`fe webhook deliveries|retry`: list webhook calls with their outcomes, and repeat one."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import click

from fe.accounts import provision
from fe.cli.failures import Failure
from fe.cli.printing import json_option, moment, show, show_all
from fe.cli.session import environment_option, run_transaction, settings_with_database, tenant_option, with_database
from fe.ecf.catalogue import Environment
from fe.lifecycle import WebhookEvent
from fe.store.postgres.db import Conn, Database
from fe.store.webhooks import deliveries
from fe.store.webhooks.deliveries import AttemptRecord, DeliveryFilter, DeliveryRecord, DeliveryState
from fe.webhooks import accounts as webhooks

#: Shown names of the unfinished states; the others have their stored names.
_PENDING = "pending"
_MOMENT = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"])
_STATES = [_PENDING if state is DeliveryState.PENDING else state.value for state in DeliveryState]


@click.command("deliveries")
@tenant_option
@environment_option
@click.option("--state", type=click.Choice(_STATES), help="Only those in this state.")
@click.option("--event", "kind", type=click.Choice([str(kind) for kind in WebhookEvent]), help="Only of this kind.")
@click.option("--about", metavar="ID", help="Only about this submission or received document.")
@click.option("--since", type=_MOMENT, help="Made then or later, in UTC.")
@click.option("--until", type=_MOMENT, help="Made then or before, in UTC.")
@click.option("--before", type=click.UUID, help="Only those older than this one.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="How many, newest first.")
@click.option("--id", "wanted", type=click.UUID, help="Show this one, with its tries.")
@json_option
def deliveries_(
    tenant_name: str,
    environment: Environment,
    state: str | None,
    kind: str | None,
    about: str | None,
    since: datetime | None,
    until: datetime | None,
    before: UUID | None,
    limit: int,
    wanted: UUID | None,
    as_json: bool,
) -> None:
    """List deliveries, newest first, or show one with every try."""
    found = DeliveryState.PENDING if state == _PENDING else None if state is None else DeliveryState(state)

    async def some(conn: Conn) -> list[DeliveryRecord]:
        owner = await provision.find_tenant(conn, tenant_name)
        chosen = DeliveryFilter(
            environment=environment,
            state=found,
            kind=None if kind is None else WebhookEvent(kind),
            about=about,
            since=None if since is None else since.replace(tzinfo=UTC),
            until=None if until is None else until.replace(tzinfo=UTC),
        )
        return await deliveries.listed(conn, owner.tenant_id, chosen, limit=limit, below=before)

    async def one(conn: Conn) -> tuple[DeliveryRecord, list[AttemptRecord]] | None:
        assert wanted is not None
        owner = await provision.find_tenant(conn, tenant_name)
        delivery = await deliveries.one(conn, owner.tenant_id, wanted)
        if delivery is None or delivery.environment not in (environment, None):
            return None
        return delivery, list(await deliveries.attempts(conn, owner.tenant_id, wanted))

    async def work(db: Database) -> list[DeliveryRecord] | tuple[DeliveryRecord, list[AttemptRecord]] | None:
        return await db.run(some) if wanted is None else await db.run(one)

    answer = with_database(settings_with_database(), work)
    if answer is None:
        raise Failure(f"tenant {tenant_name!r} has no delivery {wanted} in {environment.value}")
    if isinstance(answer, list):
        show_all([_record(each) for each in answer], as_json=as_json, none="nothing was sent yet")
        return
    delivery, tries = answer
    if as_json:
        show({**_record(delivery), "tries": [_try(each) for each in tries]}, as_json=True)
        return
    show(_record(delivery), as_json=False)
    click.echo("")
    show_all([_try(each) for each in tries], as_json=False, none="it was not tried yet")


@click.command()
@click.argument("delivery", type=click.UUID)
@tenant_option
@json_option
def retry(delivery: UUID, tenant_name: str, as_json: bool) -> None:
    """Make DELIVERY again, whatever became of it, under its id."""

    async def task(conn: Conn) -> DeliveryRecord | None:
        owner = await provision.find_tenant(conn, tenant_name)
        return await webhooks.retry(conn, owner.tenant_id, delivery)

    found = run_transaction(task)
    if found is None:
        raise Failure(f"tenant {tenant_name!r} has no delivery {delivery}")
    show(_record(found), as_json=as_json)


def _record(one: DeliveryRecord) -> dict[str, Any]:
    return {
        "id": str(one.delivery_id),
        "event": str(one.kind),
        "about": one.about,
        "state": _PENDING if one.state is DeliveryState.PENDING else one.state.value,
        "tries": one.attempts,
        "createdAt": moment(one.created_at),
        "nextAt": moment(one.next_at),
        "lastError": one.last_error,
    }


def _try(one: AttemptRecord) -> dict[str, Any]:
    return {
        "at": moment(one.at),
        "ms": one.duration_ms,
        "status": one.status,
        "error": one.error,
        "answer": None if one.answer is None else bytes(one.answer[:200]).decode("utf-8", "replace"),
    }
