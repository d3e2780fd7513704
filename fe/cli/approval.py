"""`fe approval`: what waits for a second operator, and agreeing to it or refusing it."""

import json
from typing import Any
from uuid import UUID

import click

from fe.accounts import second_person
from fe.accounts.carry_out import carry_out
from fe.cli.dead_letter_options import act, audited
from fe.cli.failures import WAITS_FOR_APPROVAL, Failure
from fe.cli.printing import json_option, moment, show, show_all
from fe.cli.session import settings_with_database, with_database
from fe.clock import system_clock
from fe.store import pending_actions
from fe.store.pending_actions import Kind, PendingAction
from fe.store.postgres.db import Conn, Database
from fe.store.queue.audit import OperatorAction
from fe.store.tenants import Tenant


@click.group()
def approval() -> None:
    """Second-person approval of bulk actions (FE_PORTAL_SECOND_PERSON): see, approve and refuse what was asked for."""


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

    async def work(db: Database) -> tuple[PendingAction | None, str | None]:
        found = await db.run(pending_actions.find, action_id)
        return found, await db.run(pending_actions.request_of, action_id)

    found, text = with_database(settings_with_database(), work)
    if found is None:
        raise Failure(f"there is no request {action_id}")
    show(_record(found) | {"request": None if text is None else json.loads(text)}, as_json=as_json)


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


async def ask_for(
    db: Database, kind: Kind, request: dict[str, Any], by: OperatorAction, tenant: Tenant | None = None
) -> None:
    """Ask for what a second operator has to agree to. Raises Failure, which says how: nothing is done yet."""
    action_id = await db.transact(second_person.ask, kind, request, by, "cli", tenant=tenant, alone=False)
    raise Failure(
        f"nothing is done yet: a second operator has to agree, with `fe approval approve {action_id}`",
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
