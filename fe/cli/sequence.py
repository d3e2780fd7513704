"""`fe sequence`: the numbers the authority gave a tenant."""

from datetime import datetime
from typing import Any

import click

from fe.accounts import audited_changes, provision
from fe.accounts import sequences as flow
from fe.cli.failures import Failure
from fe.cli.operator_options import author, by_option
from fe.cli.printing import json_option, print_result, show, show_all
from fe.cli.sequence_probe import probe
from fe.cli.sequence_use import fates, name_option, none_for, outlook
from fe.cli.session import environment_option, run_query, run_transaction, tenant_option
from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.store.postgres.db import Conn
from fe.store.records import sequences
from fe.store.records.sequences import Change, NextRange, Sequence, sequence_key


@click.group()
def sequence() -> None:
    """Set, list and delete number sequences, and list the state of their numbers."""


sequence.add_command(outlook)
sequence.add_command(fates)
sequence.add_command(probe)


@sequence.command()
@click.argument("prefix")
@tenant_option
@environment_option
@name_option
@click.option("--from", "minimum", type=int, default=1, show_default=True, help="First authorised number.")
@click.option("--to", "maximum", type=int, default=9_999_999_999, show_default=True, help="Last authorised number.")
@click.option("--expires", type=click.DateTime(["%Y-%m-%d"]), help="Last day it may be used.")
@click.option("--inactive", is_flag=True, help="Keep it, but do not draw from it.")
@by_option
@json_option
def put(
    prefix: str,
    tenant_name: str,
    environment: Environment,
    name: str | None,
    minimum: int,
    maximum: int,
    expires: datetime | None,
    inactive: bool,
    by_whom: str,
    as_json: bool,
) -> None:
    """Create the sequence of PREFIX (E31, E32, ...), or replace it.

    Omitted options take their defaults, also for an existing sequence; `set` changes only the given ones.
    """

    async def task(conn: Conn) -> Sequence:
        owner = await provision.find_tenant(conn, tenant_name)
        return await audited_changes.put_sequence(
            conn,
            author(by_whom),
            owner,
            environment,
            sequence_key(prefix, name),
            minimum=minimum,
            maximum=maximum,
            expires=expires.date() if expires else None,
            is_active=not inactive,
        )

    _show(run_transaction(task), as_json=as_json, asked=NextRange(minimum, maximum, None))


@sequence.command("set")
@click.argument("prefix")
@tenant_option
@environment_option
@name_option
@click.option("--from", "minimum", type=int, help="First authorised number.")
@click.option("--to", "maximum", type=int, help="Last authorised number.")
@click.option("--next", "next_number", type=int, help="Next number; it may go back while nothing from there was sent.")
@click.option("--expires", type=click.DateTime(["%Y-%m-%d"]), help="Last day it may be used.")
@click.option("--no-end", is_flag=True, help="It does not expire.")
@click.option("--active/--inactive", default=None, help="Whether numbers are drawn from it.")
@click.option("--next-range", metavar="FROM-TO", help="Range that it goes on with once its own is used up or expired.")
@click.option("--next-expires", type=click.DateTime(["%Y-%m-%d"]), help="Last day of the next range.")
@click.option("--no-next-range", is_flag=True, help="Remove the next range.")
@by_option
@json_option
def set_(
    prefix: str,
    tenant_name: str,
    environment: Environment,
    name: str | None,
    minimum: int | None,
    maximum: int | None,
    next_number: int | None,
    expires: datetime | None,
    no_end: bool,
    active: bool | None,
    next_range: str | None,
    next_expires: datetime | None,
    no_next_range: bool,
    by_whom: str,
    as_json: bool,
) -> None:
    """Change only the given options of the sequence of PREFIX."""
    if expires is not None and no_end:
        raise click.UsageError("--expires and --no-end exclude each other")
    if next_range is None and next_expires is not None:
        raise click.UsageError("--next-expires needs --next-range")
    if next_range is not None and no_next_range:
        raise click.UsageError("--next-range and --no-next-range exclude each other")
    changes = Change(
        minimum=minimum,
        maximum=maximum,
        next_number=next_number,
        sets_expiry=no_end or expires is not None,
        expire_at=flow.end_of(expires.date()) if expires else None,
        is_active=active,
        sets_next=no_next_range or next_range is not None,
        next_range=None if next_range is None else _read_range(next_range, next_expires),
    )

    async def task(conn: Conn) -> Sequence:
        owner = await provision.find_tenant(conn, tenant_name)
        key = sequence_key(prefix, name)
        before = await sequences.locked(conn, owner.tenant_id, environment, key)
        try:
            after = await audited_changes.change_sequence(conn, author(by_whom), owner, environment, key, changes)
            _warn_of_what_is_passed_over(before, after)
            return after
        except flow.NoSequence:
            raise Failure(none_for(tenant_name, prefix, name, environment)) from None

    _show(run_transaction(task), as_json=as_json)


@sequence.command()
@click.argument("prefix")
@tenant_option
@environment_option
@name_option
@by_option
@json_option
def resume(
    prefix: str, tenant_name: str, environment: Environment, name: str | None, by_whom: str, as_json: bool
) -> None:
    """Draw from the paused sequence of PREFIX again, from where it stands; `set --next` resumes it elsewhere."""

    async def task(conn: Conn) -> Sequence:
        owner = await provision.find_tenant(conn, tenant_name)
        key = sequence_key(prefix, name)
        before = await sequences.locked(conn, owner.tenant_id, environment, key)
        if before is None:
            raise Failure(none_for(tenant_name, prefix, name, environment))
        if before.paused_at is None:
            raise Failure(f"the sequence {before.label} of tenant {tenant_name!r} in {environment.value} is not paused")
        return await audited_changes.change_sequence(
            conn, author(by_whom), owner, environment, key, Change(is_active=True)
        )

    _show(run_transaction(task), as_json=as_json)


@sequence.command()
@click.argument("prefix")
@tenant_option
@environment_option
@click.option("--name", metavar="TEXT", required=True, help="Name of the sequence.")
@click.option("--user", "users", multiple=True, metavar="EMAIL", help="User who draws from it; none: nobody.")
@by_option
@json_option
def assign(
    prefix: str,
    tenant_name: str,
    environment: Environment,
    name: str,
    users: tuple[str, ...],
    by_whom: str,
    as_json: bool,
) -> None:
    """Assign users to the sequence of PREFIX with this name; the named users replace those assigned before.

    A submission as one of them (asUser) that names no sequence draws from it.
    """

    async def task(conn: Conn) -> Sequence:
        owner = await provision.find_tenant(conn, tenant_name)
        try:
            return await audited_changes.assign_sequence(
                conn, author(by_whom), owner, environment, sequence_key(prefix, name), users
            )
        except flow.NoSequence:
            raise Failure(none_for(tenant_name, prefix, name, environment)) from None

    _show(run_transaction(task), as_json=as_json)


@sequence.command("list")
@tenant_option
@environment_option
@json_option
def list_(tenant_name: str, environment: Environment, as_json: bool) -> None:
    """List the tenant's sequences of one environment."""

    async def task(conn: Conn) -> list[Sequence]:
        owner = await provision.find_tenant(conn, tenant_name)
        return await sequences.listed(conn, owner.tenant_id, environment)

    found = run_query(task)
    none = f"tenant {tenant_name!r} has no sequences in {environment.value}"
    show_all([_record(one) for one in found], as_json=as_json, none=none)


@sequence.command()
@click.argument("prefix")
@tenant_option
@environment_option
@name_option
@by_option
@json_option
def delete(
    prefix: str, tenant_name: str, environment: Environment, name: str | None, by_whom: str, as_json: bool
) -> None:
    """Delete the sequence of PREFIX. Receipts that were issued from it are not touched."""

    async def task(conn: Conn) -> bool:
        key = sequence_key(prefix, name)
        flow.check_key(key)
        owner = await provision.find_tenant(conn, tenant_name)
        return await audited_changes.delete_sequence(conn, author(by_whom), owner, environment, key)

    if not run_transaction(task):
        raise Failure(none_for(tenant_name, prefix, name, environment))
    record = {"prefix": prefix, **({"name": name} if name else {}), "environment": environment, "deleted": True}
    print_result(f"{prefix}{f' {name}' if name else ''} is deleted", record, as_json=as_json)


def _read_range(text: str, expires: datetime | None) -> NextRange:
    first, _, last = text.partition("-")
    if not (first.isdecimal() and last.isdecimal()):
        raise click.UsageError("--next-range takes the first and the last number: 5001-6000")
    return NextRange(int(first), int(last), flow.end_of(expires.date()) if expires else None)


def _show(found: Sequence, *, as_json: bool, asked: NextRange | None = None) -> None:
    for remark in flow.remarks(found, system_clock(), asked):
        click.echo(f"warning: {remark.message}", err=True)
    show(_record(found), as_json=as_json)


def _warn_of_what_is_passed_over(before: Sequence | None, after: Sequence) -> None:
    lost = None if before is None else flow.passed_over(before, after)
    if lost is not None and lost.is_far:
        click.echo(
            f"warning: {lost.count} numbers from {lost.first} to {lost.last} stay unused; as long as none was sent from"
            f" there on, --next {lost.first} goes back",
            err=True,
        )


def _record(found: Sequence) -> dict[str, Any]:
    shown = flow.show(found)
    del shown["type"], shown["description"]
    return shown
