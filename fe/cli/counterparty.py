"""`fe counterparty`: deliveries to other taxpayers, and retrying failed ones."""

from typing import Any

import click

from fe.accounts import provision
from fe.cli.failures import Failure
from fe.cli.operator_options import audited, given, submission_named
from fe.cli.printing import json_option, moment, print_result, show_all
from fe.cli.session import run_transaction, settings_with_database, with_database
from fe.clock import system_clock
from fe.identifiers import SubmissionId
from fe.store.postgres.db import Conn, Database
from fe.store.queue.audit import OperatorAction
from fe.store.records import counterparty as store
from fe.store.records.counterparty import HandingRecord, HandingState


@click.group()
def counterparty() -> None:
    """List deliveries to receivers and issuers, retry failed ones, and switch sending on or off."""


@counterparty.command("list")
@click.option("--tenant", "tenant_name", metavar="NAME", help="Only of this tenant.")
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice([state.value for state in HandingState]),
    help="May be repeated; default: gave_up.",
)
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="Most rows.")
@json_option
def list_(tenant_name: str | None, states: tuple[str, ...], limit: int, as_json: bool) -> None:
    """List deliveries, those first that have been as they are for the longest time."""

    async def work(db: Database) -> list[HandingRecord]:
        tenant = await db.run(provision.find_tenant, tenant_name) if tenant_name else None
        chosen = [HandingState(state) for state in states] or [HandingState.GAVE_UP]
        return await db.run(store.listed, chosen, tenant_id=tenant.tenant_id if tenant else None, limit=limit)

    found = with_database(settings_with_database(), work)
    show_all([_record(one) for one in found], as_json=as_json, none="there are no such deliveries")


@counterparty.command()
@click.argument("name", metavar="ID")
@audited
@json_option
def replay(name: str, by_whom: str, reason: str | None, as_json: bool) -> None:
    """Retry a delivery that failed, was rejected or found no address. The same bytes are sent.

    ID is the taxLogId, trackId, e-NCF or clientRequestId of the document.
    """
    because = given(reason)

    async def work(db: Database) -> SubmissionId | None:
        submission_id = await submission_named(db, name)
        found = await db.run(store.listed, list(HandingState), submission_id=submission_id, limit=1)
        if not found:
            raise Failure(f"nothing is handed on of {name}")
        action = OperatorAction.of(by_whom, because, system_clock())
        going = await db.transact(store.replay, action, found[0].tenant_id, submission_id)
        return submission_id if going else None

    tax_log_id = with_database(settings_with_database(), work)
    if tax_log_id is None:
        raise Failure("it is under way, or delivered: there is nothing to replay")
    print_result("it is set going again", {"taxLogId": tax_log_id, "state": HandingState.PENDING}, as_json=as_json)


@counterparty.command()
@click.argument("tenant_name", metavar="TENANT")
@click.argument("switch", type=click.Choice(["on", "off"]))
@json_option
def sending(tenant_name: str, switch: str, as_json: bool) -> None:
    """Switch whether TENANT's accepted receipts are sent to their receivers. Default: off.

    It applies from the next verdict on; deliveries in progress continue.
    """

    async def task(conn: Conn) -> bool:
        tenant = await provision.find_tenant(conn, tenant_name)
        return await store.send_to_receivers(conn, tenant.tenant_id, on=switch == "on")

    changed = run_transaction(task)
    print_result(
        f"sending to receivers is {switch} for {tenant_name}" + ("" if changed else ", as it was"),
        {"tenant": tenant_name, "sendsToReceivers": switch == "on", "changed": changed},
        as_json=as_json,
    )


def _record(one: HandingRecord) -> dict[str, Any]:
    return {
        "taxLogId": str(one.submission_id),
        "tenant": one.tenant,
        "environment": one.environment,
        "kind": one.kind,
        "eNCF": one.e_ncf,
        "counterparty": one.counterparty_rnc,
        "state": one.state,
        "since": moment(one.since),
        "changedAt": moment(one.changed_at),
        "sends": one.sends,
        "url": one.url,
        "reason": one.reason,
    }
