"""`fe sequence outlook|fates`: how long sequences last, and the state of their numbers."""

from typing import Any

import click

from fe.accounts import number_fates, provision
from fe.accounts.number_fates import STRETCH, NumberRun, Outlook
from fe.cli.failures import Failure
from fe.cli.printing import json_option, show_all
from fe.cli.session import environment_option, run_query, tenant_option
from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.store.postgres.db import Conn
from fe.store.records import sequences

name_option = click.option("--name", metavar="TEXT", help="Name of the sequence. [the one without a name]")


def none_for(tenant_name: str, prefix: str, name: str | None, environment: Environment) -> str:
    """Say that a tenant has no such sequence."""
    named = f" with the name {name!r}" if name else ""
    return f"tenant {tenant_name!r} has no NCF sequence for {prefix}{named} in {environment.value}"


@click.command()
@tenant_option
@environment_option
@json_option
def outlook(tenant_name: str, environment: Environment, as_json: bool) -> None:
    """List for each sequence the numbers left, and the days they last at the rate of the last 30 days."""

    async def task(conn: Conn) -> list[Outlook]:
        owner = await provision.find_tenant(conn, tenant_name)
        found = await sequences.listed(conn, owner.tenant_id, environment)
        return await number_fates.outlooks(conn, owner.tenant_id, environment, found, system_clock())

    outlooks = run_query(task)
    none = f"tenant {tenant_name!r} has no sequences in {environment.value}"
    show_all([_outlook(one) for one in outlooks], as_json=as_json, none=none)


@click.command()
@click.argument("prefix")
@tenant_option
@environment_option
@name_option
@click.option("--from", "first", type=click.IntRange(min=1), help=f"First number. [{STRETCH} before the last]")
@click.option("--to", "last", type=click.IntRange(min=1), help="Last number. [the last that was used]")
@json_option
def fates(
    prefix: str,
    tenant_name: str,
    environment: Environment,
    name: str | None,
    first: int | None,
    last: int | None,
    as_json: bool,
) -> None:
    """List the state of the numbers of PREFIX in runs, gaps with their reason."""

    async def task(conn: Conn) -> list[NumberRun]:
        owner = await provision.find_tenant(conn, tenant_name)
        found = {one.key: one for one in await sequences.listed(conn, owner.tenant_id, environment)}
        sequence = found.get(sequences.sequence_key(prefix, name))
        if sequence is None:
            raise Failure(none_for(tenant_name, prefix, name, environment))
        upto = sequence.current_number - 1 if last is None else min(last, sequence.max_number)
        begin = max(sequence.min_number, upto - STRETCH + 1 if first is None else first)
        runs: list[NumberRun] = []
        for low in range(begin, upto + 1, STRETCH):
            high = min(low + STRETCH - 1, upto)
            runs += await number_fates.runs(conn, owner.tenant_id, environment, sequence, first=low, last=high)
        return number_fates.joined(runs)

    runs = run_query(task)
    show_all([_run(one) for one in runs], as_json=as_json, none="none of these numbers was used yet")


def _outlook(one: Outlook) -> dict[str, Any]:
    return {
        "prefix": one.sequence.prefix,
        **({"name": one.sequence.name} if one.sequence.name else {}),
        "numbers": str(one.size),
        "drawn": str(one.drawn),
        "left": str(one.left),
        "wentLately": str(one.went),
        "lastsDays": one.lasts_days,
        "expireOn": one.sequence.last_day,
        "daysLeft": one.days_left,
        "isActive": one.sequence.is_active,
    }


def _run(one: NumberRun) -> dict[str, Any]:
    return {
        "first": str(one.first),
        "last": str(one.last),
        "count": str(one.count),
        "fate": one.fate.value,
        "taxLogId": one.submission_id,
    }
