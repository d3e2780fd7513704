"""`fe approval`: requests that wait for a second operator."""

import json
from typing import Any
from uuid import UUID

import click
import psycopg

from fe.accounts import approvals
from fe.accounts.execute_approval import execute_approval
from fe.cli.failures import WAITS_FOR_APPROVAL, Failure
from fe.cli.operator_options import act, audited
from fe.cli.printing import json_option, moment, print_result, show, show_all
from fe.cli.session import run_query, run_transaction, settings_with_database, with_database
from fe.clock import system_clock
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.session import connected_once
from fe.store.queue.audit import OperatorAction
from fe.store.queue.dead_letters import DeadLetter
from fe.store.records import pending_actions
from fe.store.records.pending_actions import Kind, PendingAction
from fe.store.records.tenants import Tenant


@click.group()
def approval() -> None:
    """List, approve and refuse bulk requests that need a second operator, and set their limit."""


@approval.command("limit")
@click.argument("rows", type=click.IntRange(0, 1_000_000), metavar="[N]", required=False)
@json_option
def limit(rows: int | None, as_json: bool) -> None:
    """Show how many dead letters a replay or discard may have before it needs two operators, or set that to N.

    With any N above 0, disabling a tenant and changing a price need two operators too; with 0 nothing does. Only the
    owner of the tables may set it, with the settings that `fe migrate` runs with.
    """
    settings = settings_with_database()
    if rows is not None:
        assert settings.database_url is not None
        try:
            with connected_once(settings.database_url) as conn:
                conn.execute("UPDATE second_person SET more_than = %s", (rows,))
        except psycopg.errors.InsufficientPrivilege:
            raise Failure("only the owner of the tables may set it: use the settings of `fe migrate`") from None
        now = rows
    else:
        now = with_database(settings, lambda db: db.run(pending_actions.limit))
    says = f"replays and discards of more than {now} dead letters take two operators" if now else "nothing takes two"
    print_result(says, {"moreThan": now}, as_json=as_json)


@approval.command("list")
@click.option("--all", "every", is_flag=True, help="Also what was decided, or is over.")
@click.option(
    "--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="Most rows, latest first."
)
@json_option
def list_(every: bool, limit: int, as_json: bool) -> None:
    """List the requests that wait for a second operator, the latest first."""

    found = run_query(pending_actions.latest, system_clock(), limit=limit, decided=every)
    show_all([_record(one) for one in found], as_json=as_json, none="nothing waits for a second operator")


@approval.command("show")
@click.argument("action_id", type=click.UUID, metavar="ID")
@json_option
def show_(action_id: UUID, as_json: bool) -> None:
    """Show a request with all its details and its outcome."""

    async def work(db: Database) -> tuple[PendingAction | None, dict[str, Any] | None, list[DeadLetter]]:
        found = await db.run(pending_actions.find, action_id)
        text = await db.run(pending_actions.request_of, action_id)
        request = None if text is None else json.loads(text)
        return found, request, await approvals.named(db, request or {})

    found, request, named = with_database(settings_with_database(), work)
    if found is None:
        raise Failure(f"there is no request {action_id}")
    documents = [
        {"taxLogId": str(one.subject), "tenant": one.tenant, "eNCF": one.e_ncf, "error": one.error, "cause": one.cause}
        for one in named
    ]
    show(_record(found) | {"request": request, "documents": documents}, as_json=as_json)


@approval.command()
@click.argument("action_id", type=click.UUID, metavar="ID")
@audited
@json_option
def approve(action_id: UUID, by_whom: str, reason: str | None, as_json: bool) -> None:
    """Approve a request that another operator made at the command line, and execute it.

    A replay is started by `fe outbox replay --plan`.
    """
    by = act(by_whom, reason)

    async def task(conn: Conn) -> None:
        await approvals.approve(conn, action_id, await _digest(conn, action_id), by, "cli")

    async def work(db: Database) -> PendingAction | None:
        await db.transact(task)
        await execute_approval(db, action_id, system_clock)
        return await db.run(pending_actions.find, action_id)

    _print(with_database(settings_with_database(), work), as_json=as_json)


@approval.command()
@click.argument("action_id", type=click.UUID, metavar="ID")
@audited
@json_option
def refuse(action_id: UUID, by_whom: str, reason: str | None, as_json: bool) -> None:
    """Refuse a request, or withdraw your own."""
    by = act(by_whom, reason)

    async def task(conn: Conn) -> PendingAction:
        return await approvals.refuse(conn, action_id, await _digest(conn, action_id), by)

    _print(run_transaction(task), as_json=as_json)


async def _digest(conn: Conn, action_id: UUID) -> bytes:
    found = await pending_actions.find(conn, action_id)
    return b"" if found is None else found.digest


def _print(found: PendingAction | None, *, as_json: bool) -> None:
    assert found is not None
    show(_record(found), as_json=as_json)


async def ask_if_bulk(
    db: Database, kind: Kind, request: dict[str, Any], by: OperatorAction, tenant: Tenant | None = None
) -> None:
    """Return where one operator may do this alone; else ask for it, and raise Failure, which says how to go on."""
    if not await db.run(pending_actions.needs_second_person, kind, by.by_whom, len(request.get("rows", ())) or 1):
        return
    action_id = await db.transact(approvals.ask, kind, request, by, "cli", tenant=tenant, alone=False)
    raise Failure(
        f"nothing is done yet: a second operator has to agree, with `fe approval approve {action_id} --reason TEXT`",
        WAITS_FOR_APPROVAL,
    )


def _record(found: PendingAction) -> dict[str, Any]:
    return {
        "id": str(found.action_id),
        "action": found.kind,
        "state": found.state(system_clock()),
        "tenant": found.tenant,
        "rows": found.row_count,
        "askedBy": found.asked_by,
        "through": found.asked_through,
        "askedAt": moment(found.asked_at),
        "reason": found.reason,
        "expiresAt": moment(found.expires_at),
        "decidedBy": found.decided_by,
        "decidedAt": moment(found.decided_at),
        "digest": found.digest.hex(),
        "outcome": found.outcome,
        "executedAt": moment(found.executed_at),
    }
