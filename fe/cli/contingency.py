"""`fe contingency`: the mode of a tenant, and the periods on record (docs/contingency.md)."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import click

from fe.accounts import modes as flow
from fe.accounts import provision
from fe.accounts.audited_changes import retire_agent
from fe.cli.failures import Failure
from fe.cli.operator_options import author, by_option
from fe.cli.printing import json_option, moment, show, show_all
from fe.cli.session import environment_option, run_query, run_transaction, tenant_option
from fe.contingency import STORED, Mode
from fe.ecf.catalogue import Environment
from fe.ecf.dates import ZONE
from fe.ecf.texts import LocalizedError
from fe.store.postgres.db import Conn
from fe.store.records import agents, modes, sequences, tenants
from fe.store.records.agents import AgentId
from fe.store.records.modes import ModePeriod

_DAY, _MOMENT = "%Y-%m-%d", "%Y-%m-%dT%H:%M"


@click.group()
def contingency() -> None:
    """Show and set the mode of a tenant: offline, declared contingency, deferred sending."""


@contingency.command("show")
@tenant_option
@environment_option
@json_option
def show_mode(tenant_name: str, environment: Environment, as_json: bool) -> None:
    """Show the mode in force."""

    async def task(conn: Conn) -> flow.CurrentMode:
        owner = await provision.find_tenant(conn, tenant_name)
        return await flow.current(conn, owner.tenant_id, environment)

    found = run_query(task)
    shown: dict[str, Any] = {
        "environment": environment.value,
        "mode": found.mode.value,
        "since": moment(found.since),
        "hostsDown": [one.host for one in found.outages],
    }
    if found.period is not None:
        shown["number"], shown["validUntil"] = found.period.number, found.period.valid_until
        shown["reason"] = found.period.reason
    show(shown, as_json=as_json)


@contingency.command("set")
@click.argument("mode", type=click.Choice([Mode.NORMAL.value, *sorted(one.value for one in STORED)]))
@tenant_option
@environment_option
@click.option("--reason", required=True, metavar="TEXT", help="Why; kept on record.")
@click.option("--number", metavar="TEXT", help="Number of the declaration or of the authorisation.")
@click.option(
    "--valid-until", type=click.DateTime([_DAY]), metavar="DAY", help="Last day of the authorisation (2026-12-31)."
)
@click.option(
    "--since",
    type=click.DateTime([_MOMENT]),
    metavar="MOMENT",
    help="Start of the contingency in Santo Domingo (2026-11-27T08:30). Default: now.",
)
@click.option("--leave-open", is_flag=True, help="End a contingency whose paper receipts are not replaced yet.")
@by_option
@json_option
def set_mode(
    mode: str,
    tenant_name: str,
    environment: Environment,
    reason: str,
    number: str | None,
    valid_until: datetime | None,
    since: datetime | None,
    leave_open: bool,
    by_whom: str,
    as_json: bool,
) -> None:
    """Set the MODE. A contingency and deferred sending need the number that the authority gave."""

    async def task(conn: Conn) -> ModePeriod | None:
        owner = await tenants.locked(conn, (await provision.find_tenant(conn, tenant_name)).tenant_id)
        assert owner is not None
        return await flow.change(
            conn,
            author(by_whom),
            owner,
            environment,
            Mode(mode),
            reason,
            number=number,
            valid_until=None if valid_until is None else valid_until.date(),
            since=None if since is None else since.replace(tzinfo=ZONE).astimezone(UTC),
            leaves_open=leave_open,
        )

    try:
        made = run_transaction(task)
    except flow.PapersOpen as refused:
        raise Failure(f"{refused.text.en} (--leave-open)") from None
    except LocalizedError as refused:
        raise Failure(refused.text.en) from None
    shown: dict[str, Any] = {"environment": environment.value, "mode": mode}
    if made is not None:
        shown |= {"since": moment(made.began_at), "number": made.number, "validUntil": made.valid_until}
    show(shown, as_json=as_json)


@contingency.command("list")
@tenant_option
@environment_option
@json_option
def list_(tenant_name: str, environment: Environment, as_json: bool) -> None:
    """List the periods on record, the newest first."""

    async def task(conn: Conn) -> list[ModePeriod]:
        owner = await provision.find_tenant(conn, tenant_name)
        return await modes.listed(conn, owner.tenant_id, environment)

    found = [
        {
            "mode": one.mode.value,
            "number": one.number,
            "validUntil": one.valid_until,
            "beganAt": moment(one.began_at),
            "begunBy": one.begun_by,
            "reason": one.reason,
            "endedAt": moment(one.ended_at),
            "endedBy": one.ended_by,
            "endReason": one.end_reason,
        }
        for one in run_query(task)
    ]
    show_all(found, as_json=as_json, none="the mode was never changed")


@contingency.command("agents")
@tenant_option
@environment_option
@json_option
def list_agents(tenant_name: str, environment: Environment, as_json: bool) -> None:
    """List the agents at tills, with their numbers and last contact."""

    async def task(conn: Conn) -> list[dict[str, Any]]:
        owner = await provision.find_tenant(conn, tenant_name)
        numbers = await sequences.listed(conn, owner.tenant_id, environment)
        found = []
        for one in await agents.listed(conn, owner.tenant_id, environment):
            own = [range_ for range_ in numbers if range_.agent_id == one.agent_id]
            found.append(
                {
                    "agentId": one.agent_id,
                    "name": own[0].name if own else None,
                    "ranges": [f"{range_.prefix[:3]}={range_.min_number}-{range_.max_number}" for range_ in own],
                    "leasedAt": moment(one.leased_at),
                    "retiredAt": moment(one.retired_at),
                    "retiredBy": one.retired_by,
                }
            )
        return found

    show_all(run_query(task), as_json=as_json, none="no agents")


@contingency.command("retire-agent")
@click.argument("agent_id", type=click.UUID, metavar="AGENT_ID")
@tenant_option
@environment_option
@by_option
@json_option
def retire(agent_id: UUID, tenant_name: str, environment: Environment, by_whom: str, as_json: bool) -> None:
    """Retire the agent of a till that was lost or replaced: it issues nothing more, and delivers what it has."""

    async def task(conn: Conn) -> bool:
        owner = await tenants.locked(conn, (await provision.find_tenant(conn, tenant_name)).tenant_id)
        assert owner is not None
        return await retire_agent(conn, author(by_whom), owner, environment, AgentId(agent_id))

    if not run_transaction(task):
        raise Failure("no agent at work has this id: `fe contingency agents` lists them")
    show({"agentId": agent_id, "environment": environment}, as_json=as_json)
