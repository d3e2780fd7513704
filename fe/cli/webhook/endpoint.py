"""`fe webhook show|set|disable|rotate|test|recover`: where a tenant's events are sent, and sending again."""

import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from uuid import UUID

import click

from fe.accounts import audited_changes, provision
from fe.cli.failures import USAGE, Failure
from fe.cli.operator_options import author, by_option
from fe.cli.printing import json_option, moment, show, show_all
from fe.cli.session import environment_option, read_object, settings_with_database, tenant_option, with_database
from fe.clock import system_clock
from fe.config import ConfigError
from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.lifecycle import WANTED, WebhookEvent
from fe.store.portal.changes import ChangeAction
from fe.store.postgres.db import Conn
from fe.store.records import tenants
from fe.store.webhooks import recoveries
from fe.store.webhooks.endpoints import DEFAULT
from fe.store.webhooks.recoveries import RecoveryRecord, RecoveryState
from fe.webhooks.accounts import DEFAULT_EVENTS, NAME_FORM, EndpointView, Wanted, WebhookAccounts, webhook_accounts

T = TypeVar("T")


def _check_name(_: click.Context, __: click.Parameter, name: str) -> str:
    if not re.fullmatch(NAME_FORM, name):
        raise click.BadParameter("1 to 40 lower-case letters, digits or hyphens, beginning with a letter or digit")
    return name


#: Which of several endpoints of an environment.
name_option = click.option(
    "--name", default=DEFAULT, callback=_check_name, metavar="NAME", help="Of several endpoints. [default]"
)

_KINDS = [str(kind) for kind in WebhookEvent if kind in WANTED]


def of_tenant(tenant_name: str, work: Callable[[WebhookAccounts, Conn, TenantId], Awaitable[T]]) -> T:
    """Do something about a tenant's webhooks. Raises ConfigError where this installation has no key for them."""
    settings = settings_with_database()
    accounts = webhook_accounts(settings)
    if accounts is None:
        raise ConfigError("FE_WEBHOOK_KEYS is not set: without it there are no webhooks")
    known = accounts

    async def task(conn: Conn) -> T:
        owner = await provision.find_tenant(conn, tenant_name)
        return await work(known, conn, owner.tenant_id)

    return with_database(settings, lambda db: db.transact(task))


def change_of_tenant(
    tenant_name: str,
    environment: Environment,
    by_whom: str,
    action: ChangeAction,
    work: Callable[[WebhookAccounts, Conn, TenantId], Awaitable[EndpointView | None]],
    name: str = DEFAULT,
    *,
    deletes: bool = False,
) -> EndpointView | None:
    """Change a tenant's webhook, and keep it among the tenant's changes; None where there is none."""
    subject = environment if name == DEFAULT else f"{environment}/{name}"

    async def task(accounts: WebhookAccounts, conn: Conn, tenant_id: TenantId) -> EndpointView | None:
        by = author(by_whom)
        shown = await accounts.shown(conn, tenant_id, environment, by.at, locked=True)
        wanted = (environment, name)
        found = (one.audit_record for one in shown if (one.endpoint.environment, one.endpoint.name) == wanted)
        before = next(found, None)
        made = await work(accounts, conn, tenant_id)
        owner = await tenants.by_id(conn, tenant_id)
        if made is not None and owner is not None:
            after = None if deletes else made.audit_record
            await audited_changes.note(conn, owner, by, action, subject, before, after)
        return made

    return of_tenant(tenant_name, task)


@click.command("show")
@tenant_option
@environment_option
@json_option
def show_(tenant_name: str, environment: Environment, as_json: bool) -> None:
    """Show where the tenant is called, and how that goes. Secrets and values of headers are not shown."""

    async def work(accounts: WebhookAccounts, conn: Conn, tenant_id: TenantId) -> list[EndpointView]:
        return await accounts.shown(conn, tenant_id, environment, system_clock())

    found = of_tenant(tenant_name, work)
    if not found and not as_json:
        click.echo(f"tenant {tenant_name!r} has no webhook in {environment.value}: `fe webhook set`", err=True)
    if as_json:
        show_all([record(one) for one in found], as_json=True, none="")
        return
    for one in found:
        show(record(one), as_json=False)


@click.command("set")
@tenant_option
@environment_option
@name_option
@click.option("--url", required=True, help="https address that is called.")
@click.option("--event", "events", multiple=True, type=click.Choice(_KINDS), help="May be repeated. [received_ecf]")
@click.option("--headers", "headers_file", type=click.Path(path_type=Path), help="JSON file: headers of the tenant's.")
@click.option("--no-headers", is_flag=True, help="Send none. Left out, those it has stay.")
@click.option(
    "--keep-header", "kept", multiple=True, metavar="NAME", help="With --headers: this one stays beside them."
)
@by_option
@json_option
def set_(
    tenant_name: str,
    environment: Environment,
    name: str,
    url: str,
    events: tuple[str, ...],
    headers_file: Path | None,
    no_headers: bool,
    kept: tuple[str, ...],
    by_whom: str,
    as_json: bool,
) -> None:
    """Set where the tenant is called, and enable it; of a new one the secret is shown, this once.

    What was kept while it was not called is delivered now.
    """
    if headers_file is not None and no_headers:
        raise click.UsageError("--headers and --no-headers exclude each other")
    if kept and headers_file is None:
        raise click.UsageError("--keep-header goes with --headers: without it all stay")
    headers: dict[str, Any] | None = {} if no_headers else None
    if headers_file is not None:
        headers = read_object(headers_file)
        if not all(isinstance(value, str) for value in headers.values()):
            raise Failure(f"{headers_file}: every value should be a text", USAGE)
    wanted = Wanted(url=url, events=events or DEFAULT_EVENTS, headers=headers, kept=kept)

    async def work(accounts: WebhookAccounts, conn: Conn, tenant_id: TenantId) -> EndpointView:
        return await accounts.put(conn, tenant_id, environment, wanted, system_clock(), name=name)

    made = change_of_tenant(tenant_name, environment, by_whom, "webhook set", work, name)
    assert made is not None
    _print(made, as_json=as_json)


@click.command()
@tenant_option
@environment_option
@name_option
@by_option
@json_option
def disable(tenant_name: str, environment: Environment, name: str, by_whom: str, as_json: bool) -> None:
    """Disable the webhook and create no events for it; `set` enables it again."""

    async def work(accounts: WebhookAccounts, conn: Conn, tenant_id: TenantId) -> EndpointView | None:
        return await accounts.disable(conn, tenant_id, environment, system_clock(), name=name)

    found = change_of_tenant(tenant_name, environment, by_whom, "webhook disabled", work, name)
    if found is None:
        raise Failure(f"no webhook is set in {environment.value}")
    _print(found, as_json=as_json)


@click.command()
@tenant_option
@environment_option
@name_option
@by_option
@json_option
def rotate(tenant_name: str, environment: Environment, name: str, by_whom: str, as_json: bool) -> None:
    """Create a new secret and show it once; the old one also signs for 24 hours."""

    async def work(accounts: WebhookAccounts, conn: Conn, tenant_id: TenantId) -> EndpointView:
        return await accounts.rotate(conn, tenant_id, environment, system_clock(), name=name)

    made = change_of_tenant(tenant_name, environment, by_whom, "webhook secret rotated", work, name)
    assert made is not None
    _print(made, as_json=as_json)


@click.command()
@tenant_option
@environment_option
@name_option
@by_option
@json_option
def reveal(tenant_name: str, environment: Environment, name: str, by_whom: str, as_json: bool) -> None:
    """Show the current secret again. The tenant's changes record this."""

    async def work(accounts: WebhookAccounts, conn: Conn, tenant_id: TenantId) -> EndpointView:
        return await accounts.reveal(conn, tenant_id, environment, system_clock(), name=name)

    made = change_of_tenant(tenant_name, environment, by_whom, "webhook secret shown", work, name)
    assert made is not None
    show(record(made), as_json=as_json)


@click.command()
@tenant_option
@environment_option
@name_option
@by_option
@json_option
def delete(tenant_name: str, environment: Environment, name: str, by_whom: str, as_json: bool) -> None:
    """Delete a webhook. Its undelivered events end as failed."""

    async def work(accounts: WebhookAccounts, conn: Conn, tenant_id: TenantId) -> EndpointView:
        return await accounts.remove(conn, tenant_id, environment, system_clock(), name=name)

    change_of_tenant(tenant_name, environment, by_whom, "webhook deleted", work, name, deletes=True)
    show({"deleted": name, "environment": environment}, as_json=as_json)


@click.command("test")
@tenant_option
@environment_option
@name_option
@json_option
def test_(tenant_name: str, environment: Environment, name: str, as_json: bool) -> None:
    """Send an event `test`; `fe webhook deliveries --id` shows its outcome."""

    async def work(accounts: WebhookAccounts, conn: Conn, tenant_id: TenantId) -> UUID:
        return await accounts.test(conn, tenant_id, environment, system_clock(), name=name)

    show({"delivery": str(of_tenant(tenant_name, work)), "state": "pending"}, as_json=as_json)


@click.command()
@tenant_option
@environment_option
@name_option
@click.option("--since", required=True, type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]), help="In UTC.")
@json_option
def recover(tenant_name: str, environment: Environment, name: str, since: datetime, as_json: bool) -> None:
    """Redeliver the events that were not delivered since a time, in the background."""

    async def work(accounts: WebhookAccounts, conn: Conn, tenant_id: TenantId) -> RecoveryRecord:
        moment_ = since.replace(tzinfo=UTC)
        return await accounts.recover(conn, tenant_id, environment, moment_, system_clock(), name=name)

    show(_recovery(of_tenant(tenant_name, work)), as_json=as_json)


@click.command("recoveries")
@tenant_option
@json_option
def recoveries_(tenant_name: str, as_json: bool) -> None:
    """List the latest recoveries that were asked for."""

    async def work(_: WebhookAccounts, conn: Conn, tenant_id: TenantId) -> list[RecoveryRecord]:
        return await recoveries.listed(conn, tenant_id)

    found = of_tenant(tenant_name, work)
    listed = [{**_recovery(one), "recovered": one.recovered, "finishedAt": one.finished_at} for one in found]
    show_all(listed, as_json=as_json, none="no recovery was requested")


def _recovery(found: RecoveryRecord) -> dict[str, Any]:
    return {
        "recovery": str(found.recovery_id),
        "since": moment(found.since),
        "until": moment(found.until),
        "state": "pending" if found.state is RecoveryState.UNDER_WAY else found.state.value,
    }


def record(shown: EndpointView) -> dict[str, Any]:
    """An endpoint, as the commands print it."""
    one = shown.endpoint
    printed: dict[str, Any] = {
        "id": str(one.endpoint_id),
        "environment": one.environment,
        "name": one.name,
        "url": one.url,
        "enabled": one.enabled,
        "events": list(one.events),
        "headers": list(shown.header_names),
        "createdAt": moment(one.created_at),
        "failingSince": moment(one.failing_since),
        "disabledAt": moment(one.disabled_at),
        "disabledReason": one.disabled_reason,
        "oldSecretUntil": moment(shown.old_secret_until),
    }
    return printed if shown.secret is None else {"secret": shown.secret, **printed}


def _print(shown: EndpointView, *, as_json: bool) -> None:
    show(record(shown), as_json=as_json)
    if shown.secret is not None:
        click.echo("fe: keep the secret now; `fe webhook reveal` shows it again", err=True)
