"""`fe approval`: what waits for a second operator, and agreeing to it or refusing it."""

import json
from typing import Any
from uuid import UUID

import click
import psycopg

from fe.accounts import second_person
from fe.accounts.carry_out import carry_out
from fe.cli.dead_letter_options import act, audited
from fe.cli.failures import WAITS_FOR_APPROVAL, Failure
from fe.cli.printing import json_option, moment, show, show_all, tell
from fe.cli.session import settings_with_database, with_database
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
    """Second-person approval of bulk actions: see, approve and refuse what was asked for, and from how many on."""


@approval.command("limit")
@click.argument("rows", type=click.IntRange(0, 1_000_000), metavar="[N]", required=False)
@json_option
def limit(rows: int | None, as_json: bool) -> None:
    """Show from how many dead letters on a replay or discard takes two operators, or set that to more than N.

    With any N above 0 disabling a tenant and changing a price take two, too; with 0 nothing does. Only the owner of the
    tables may set it, with the settings that `fe migrate` is run with: nobody lifts the limit that binds them.
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
    tell(says, {"moreThan": now}, as_json=as_json)


@approval.command("list")
@click.option("--all", "every", is_flag=True, help="Also what was decided, or is over.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="So many, latest first.")
@json_option
def list_(every: bool, limit: int, as_json: bool) -> None:
    """List what waits for a second operator, the latest first."""

    async def work(db: Database) -> list[PendingAction]:
        return await db.run(pending_actions.latest, system_clock(), limit=limit, decided=every)

    found = with_database(settings_with_database(), work)
    show_all([_record(one) for one in found], as_json=as_json, none="nothing waits for a second operator")


@approval.command("show")
@click.argument("action_id", type=click.UUID, metavar="ID")
@json_option
def show_(action_id: UUID, as_json: bool) -> None:
    """Show exactly what was asked for, and what became of it."""

    async def work(db: Database) -> tuple[PendingAction | None, dict[str, Any] | None, list[DeadLetter]]:
        found = await db.run(pending_actions.find, action_id)
        text = await db.run(pending_actions.request_of, action_id)
        request = None if text is None else json.loads(text)
        return found, request, await second_person.named(db, request or {})

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
    """Agree to what somebody else asked for at the command line, and carry it out.

    A replay is begun, and run by `fe outbox replay --plan`.
    """
    by = act(by_whom, reason)

    async def task(conn: Conn) -> None:
        await second_person.approve(conn, action_id, await _digest(conn, action_id), by, "cli")

    async def work(db: Database) -> PendingAction | None:
        await db.transact(task)
        await carry_out(db, action_id, system_clock)
        return await db.run(pending_actions.find, action_id)

    _tell(with_database(settings_with_database(), work), as_json=as_json)


@approval.command()
@click.argument("action_id", type=click.UUID, metavar="ID")
@audited
@json_option
def refuse(action_id: UUID, by_whom: str, reason: str | None, as_json: bool) -> None:
    """Refuse what was asked for, or take back what one asked for oneself."""
    by = act(by_whom, reason)

    async def task(conn: Conn) -> PendingAction:
        return await second_person.refuse(conn, action_id, await _digest(conn, action_id), by)

    async def work(db: Database) -> PendingAction:
        return await db.transact(task)

    _tell(with_database(settings_with_database(), work), as_json=as_json)


async def _digest(conn: Conn, action_id: UUID) -> bytes:
    found = await pending_actions.find(conn, action_id)
    return b"" if found is None else found.digest


def _tell(found: PendingAction | None, *, as_json: bool) -> None:
    assert found is not None
    show(_record(found), as_json=as_json)


async def ask_if_bulk(
    db: Database, kind: Kind, request: dict[str, Any], by: OperatorAction, tenant: Tenant | None = None
) -> None:
    """Return where one operator may do this alone; else ask for it, and raise Failure, which says how to go on."""
    if not await db.run(pending_actions.needs_second_person, kind, by.by_whom, len(request.get("rows", ())) or 1):
        return
    action_id = await db.transact(second_person.ask, kind, request, by, "cli", tenant=tenant, alone=False)
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
