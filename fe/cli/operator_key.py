"""`fe operator-key`: keys with which a provider's program sets up tenants (docs/providers.md)."""

from typing import Any

import click

from fe.accounts import operator_keys
from fe.accounts import people as makers
from fe.accounts.keys import Peppers
from fe.accounts.operator_keys import MOST_DAYS, NewOperatorKey
from fe.cli.failures import Failure
from fe.cli.operator_options import act, audited
from fe.cli.printing import json_option, moment, print_result, show, show_all
from fe.cli.session import run_query, run_transaction, settings_with_database, with_database
from fe.clock import system_clock
from fe.store.portal import operator_keys as store
from fe.store.postgres.db import Conn

_MOST = 1000


@click.group("operator-key")
def operator_key() -> None:
    """Create, list and revoke keys of programs that set up tenants, in the name of an operator."""


@operator_key.command()
@click.argument("email")
@click.option("--name", required=True, help="The program it is for; on record with each act.")
@click.option("--days", type=click.IntRange(1, MOST_DAYS), default=90, show_default=True, help="Days it works.")
@audited
@json_option
def create(email: str, name: str, days: int, by_whom: str, reason: str | None, as_json: bool) -> None:
    """Create a key of the operator EMAIL and show it, this once. It stops working when EMAIL is an operator no more."""
    settings, action = settings_with_database(), act(by_whom, reason)
    peppers = Peppers(settings.peppers())

    async def task(conn: Conn) -> NewOperatorKey:
        person = await makers.find_person(conn, email)
        return await operator_keys.create(conn, action, person, name, days=days, peppers=peppers)

    made = with_database(settings, lambda db: db.transact(task))
    record = {"operatorKeyId": made.operator_key_id, "key": made.token, "name": name, "person": email}
    show({**record, "expiresAt": moment(made.expires_at)}, as_json=as_json)
    click.echo("fe: keep the key now: it is not shown again", err=True)


@operator_key.command("list")
@json_option
def list_(as_json: bool) -> None:
    """List operators' keys, the newest first."""
    now = system_clock()
    records: list[dict[str, Any]] = [
        {
            "operatorKeyId": one.operator_key_id,
            "name": one.name,
            "person": one.email,
            "state": one.state(now),
            "createdAt": moment(one.created_at),
            "expiresAt": moment(one.expires_at),
            "revokedAt": moment(one.revoked_at),
            "lastUsedAt": moment(one.last_used_at),
        }
        for one in run_query(store.listed, _MOST)
    ]
    show_all(records, as_json=as_json, none="there are no operators' keys")


@operator_key.command()
@click.argument("operator_key_id")
@audited
@json_option
def revoke(operator_key_id: str, by_whom: str, reason: str | None, as_json: bool) -> None:
    """Revoke a key for good: its next call is refused."""
    action = act(by_whom, reason)

    async def task(conn: Conn) -> bool:
        return await operator_keys.revoke(conn, action, operator_key_id)

    if not run_transaction(task):
        raise Failure(f"there is no key {operator_key_id!r} that is not revoked")
    record = {"operatorKeyId": operator_key_id, "state": "revoked"}
    print_result(f"{operator_key_id} is revoked", record, as_json=as_json)
