"""`fe sequence`: the numbers the authority gave a tenant."""

from datetime import datetime
from typing import Any

import click

from fe.cli.failures import Failure
from fe.cli.session import (
    environment_option,
    json_option,
    moment,
    settings_with_database,
    show,
    show_all,
    tenant_option,
    with_database,
)
from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.flows import provision
from fe.store import sequences
from fe.store.db import Conn, Database
from fe.store.sequences import Sequence


@click.group()
def sequence() -> None:
    """Set, list and delete number sequences."""


@sequence.command()
@click.argument("prefix")
@tenant_option
@environment_option
@click.option("--from", "minimum", type=int, default=1, show_default=True, help="First authorised number.")
@click.option("--to", "maximum", type=int, default=9_999_999_999, show_default=True, help="Last authorised number.")
@click.option("--expires", type=click.DateTime(["%Y-%m-%d"]), help="Last day it may be used.")
@click.option("--inactive", is_flag=True, help="Keep it, but do not draw from it.")
@json_option
def put(
    prefix: str,
    tenant_name: str,
    environment: Environment,
    minimum: int,
    maximum: int,
    expires: datetime | None,
    inactive: bool,
    as_json: bool,
) -> None:
    """Create the sequence of PREFIX (E31, E32, ...), or change it in place."""

    async def task(conn: Conn) -> Sequence:
        owner = await provision.find_tenant(conn, tenant_name)
        return await provision.put_sequence(
            conn,
            owner,
            environment,
            prefix,
            minimum=minimum,
            maximum=maximum,
            expires=expires.date() if expires else None,
            is_active=not inactive,
            now=system_clock(),
        )

    async def work(db: Database) -> Sequence:
        return await db.transact(task)

    show(_record(with_database(settings_with_database(), work)), as_json=as_json)


@sequence.command("list")
@tenant_option
@environment_option
@json_option
def list_(tenant_name: str, environment: Environment, as_json: bool) -> None:
    """List the tenant's sequences of one environment."""

    async def task(conn: Conn) -> list[Sequence]:
        owner = await provision.find_tenant(conn, tenant_name)
        return await sequences.listed(conn, owner.tenant_id, environment)

    async def work(db: Database) -> list[Sequence]:
        return await db.run(task)

    found = with_database(settings_with_database(), work)
    none = f"tenant {tenant_name!r} has no sequences in {environment.value}"
    show_all([_record(one) for one in found], as_json=as_json, none=none)


@sequence.command()
@click.argument("prefix")
@tenant_option
@environment_option
def delete(prefix: str, tenant_name: str, environment: Environment) -> None:
    """Delete the sequence of PREFIX. Receipts that were issued from it are not touched."""

    async def task(conn: Conn) -> bool:
        provision.check_prefix(prefix)
        owner = await provision.find_tenant(conn, tenant_name)
        return await sequences.delete(conn, owner.tenant_id, environment, prefix)

    async def work(db: Database) -> bool:
        return await db.transact(task)

    if not with_database(settings_with_database(), work):
        raise Failure(f"tenant {tenant_name!r} has no NCF sequence for {prefix} in {environment.value}")
    click.echo(f"{prefix} is deleted")


def _record(found: Sequence) -> dict[str, Any]:
    return {
        "id": str(found.sequence_id),
        "prefix": found.prefix,
        "minSequence": str(found.min_number),
        "maxSequence": str(found.max_number),
        "currentSequence": str(found.current_number),
        "isActive": found.is_active,
        "expireAt": moment(found.expire_at),
    }
