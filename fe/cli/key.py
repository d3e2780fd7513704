"""`fe key`: API keys."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Any

import click

from fe.accounts import audited_changes, provision
from fe.accounts.keys import SCOPES
from fe.accounts.provision import NewKey
from fe.cli.failures import Failure
from fe.cli.operator_options import author, by_option
from fe.cli.printing import json_option, moment, print_result, show, show_all
from fe.cli.session import (
    environment_option,
    run_query,
    run_transaction,
    settings_with_database,
    tenant_option,
    with_database,
)
from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.identifiers import ApiKeyId
from fe.store.postgres.db import Conn
from fe.store.records import keys, throttle
from fe.store.records.keys import ApiKey

#: More lockouts than these are an attack, of which the latest say enough.
_MAX_LOCKOUTS = 1000


@click.group()
def key() -> None:
    """Create, list, roll and revoke API keys."""


@key.command()
@tenant_option
@environment_option
@click.option("--scope", "scopes", multiple=True, type=click.Choice(SCOPES), help="May be repeated; default: all.")
@click.option("--name", default="", help="What the key is for.")
@click.option("--expires", type=click.DateTime(["%Y-%m-%d"]), help="Day (UTC) from which it is refused.")
@by_option
@json_option
def create(
    tenant_name: str,
    environment: Environment,
    scopes: tuple[str, ...],
    name: str,
    expires: datetime | None,
    by_whom: str,
    as_json: bool,
) -> None:
    """Create a key and show its secret, this once: only a hash of it is kept."""
    settings = settings_with_database()
    pepper_id, pepper = next(iter(settings.peppers().items()))
    until = expires.replace(tzinfo=UTC) if expires else None
    if until is not None and until <= system_clock():
        raise Failure("--expires lies in the past")

    async def task(conn: Conn) -> NewKey:
        owner = await provision.find_tenant(conn, tenant_name)
        return await audited_changes.create_key(
            conn,
            author(by_whom),
            owner,
            environment,
            pepper=pepper,
            pepper_id=pepper_id,
            scopes=scopes or SCOPES,
            name=name,
            expires_at=until,
        )

    made = with_database(settings, lambda db: db.transact(task))
    _show_made(made, as_json=as_json)


@key.command("list")
@tenant_option
@json_option
def list_(tenant_name: str, as_json: bool) -> None:
    """List the tenant's keys, oldest first."""

    async def task(conn: Conn) -> list[dict[str, Any]]:
        owner = await provision.find_tenant(conn, tenant_name)
        last_uses = await keys.last_uses(conn, owner.tenant_id)
        return [
            {**_record(one), "lastUsedAt": last_uses.get(one.api_key_id)}
            for one in await keys.of_tenant(conn, owner.tenant_id)
        ]

    found = run_query(task)
    show_all(found, as_json=as_json, none=f"tenant {tenant_name!r} has no keys")


@key.command("older-pepper")
@json_option
def older_pepper(as_json: bool) -> None:
    """List the keys of all tenants that did not log in since the pepper changed: FE_API_KEY_PEPPER has the new one."""
    settings = settings_with_database()
    current = next(iter(settings.peppers()))

    found = with_database(settings, lambda db: db.run(keys.under_other_peppers, current))
    names = ("tenant", "apiKeyId", "environment", "pepper")
    records = [dict(zip(names, row, strict=True)) for row in found]
    show_all(records, as_json=as_json, none=f"every key is under the pepper {current!r}")


@key.command()
@click.argument("api_key_id")
@tenant_option
@by_option
@json_option
def revoke(api_key_id: ApiKeyId, tenant_name: str, by_whom: str, as_json: bool) -> None:
    """Revoke a key for good. Its tokens stop working at once, at the latest after 30 seconds."""

    async def task(conn: Conn) -> bool:
        owner = await provision.find_tenant(conn, tenant_name)
        return await audited_changes.revoke_key(conn, author(by_whom), owner, api_key_id)

    if not run_transaction(task):
        raise Failure(f"tenant {tenant_name!r} has no active key {api_key_id!r}")
    print_result(f"{api_key_id} is revoked", {"apiKeyId": api_key_id, "state": "revoked"}, as_json=as_json)


@key.command()
@click.argument("api_key_id")
@tenant_option
@click.option(
    "--overlap",
    type=click.IntRange(0, 24 * 30),
    default=24,
    show_default=True,
    help="Hours that the old one still works.",
)
@by_option
@json_option
def roll(api_key_id: ApiKeyId, tenant_name: str, overlap: int, by_whom: str, as_json: bool) -> None:
    """Create a key like this one, with its end, show the secret this once, and let this one end after an overlap."""
    settings = settings_with_database()
    pepper_id, pepper = next(iter(settings.peppers().items()))

    async def task(conn: Conn) -> tuple[NewKey, ApiKey] | None:
        owner = await provision.find_tenant(conn, tenant_name)
        return await audited_changes.roll_key(
            conn,
            author(by_whom),
            owner,
            api_key_id,
            overlap=timedelta(hours=overlap),
            pepper=pepper,
            pepper_id=pepper_id,
        )

    rolled = with_database(settings, lambda db: db.transact(task))
    if rolled is None:
        raise Failure(f"tenant {tenant_name!r} has no active key {api_key_id!r}")
    _show_made(rolled[0], as_json=as_json)


@key.command()
@click.argument("api_key_id", required=False)
@click.option("--address", metavar="ADDRESS", help="End the lockout of a client's address instead; of IPv6, its /64.")
@json_option
def unlock(api_key_id: str | None, address: str | None, as_json: bool) -> None:
    """End the lockout of a key that failed to log in too often, or of an address."""
    if api_key_id is not None and address is None:
        who, bucket = api_key_id, throttle.bucket_of_key(ApiKeyId(api_key_id))
    elif address is not None and api_key_id is None:
        try:
            who, bucket = address, throttle.bucket_of_address(ip_address(address))
        except ValueError:
            raise click.UsageError(f"{address!r} is not an address") from None
    else:
        raise click.UsageError("name a key, or an address with --address")

    lifted = run_query(throttle.lift, bucket)
    print_result(
        f"{who} may log in again" if lifted else f"{who} is not locked out",
        {"apiKeyId": api_key_id, "address": address, "lifted": lifted},
        as_json=as_json,
    )


@key.command()
@json_option
def lockouts(as_json: bool) -> None:
    """List keys, people and addresses that are locked out after failed logins.

    An address has no name stored: `fe key unlock --address` unlocks it.
    """

    found = run_query(throttle.every_lockout, _MAX_LOCKOUTS)
    records = [{"kind": one.kind, "who": one.who, "lockedUntil": moment(one.locked_until)} for one in found]
    show_all(records, as_json=as_json, none="no lockouts")


def _show_made(made: NewKey, *, as_json: bool) -> None:
    record = _record(made.record)
    show({"apiKeyId": record.pop("apiKeyId"), "apiSecret": made.secret, **record}, as_json=as_json)
    click.echo("fe: keep apiSecret now: it is not shown again", err=True)


def _record(found: ApiKey) -> dict[str, Any]:
    return {
        "apiKeyId": found.api_key_id,
        "environment": found.environment.value,
        "state": found.state(system_clock()),
        "scopes": found.scopes,
        "name": found.name,
        "createdAt": moment(found.created_at),
        "expiresAt": moment(found.expires_at),
        "revokedAt": moment(found.revoked_at),
        "pepper": found.pepper_id,
    }
