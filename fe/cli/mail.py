"""`fe mail`: a tenant's mail to its buyers, what became of it, and its list of suppressed addresses."""

from datetime import datetime
from typing import Any

import click

from fe.accounts import mail as accounts
from fe.accounts import provision
from fe.cli.failures import Failure
from fe.cli.operator_options import audited, author, by_option, given, receipt_named
from fe.cli.printing import json_option, moment, print_result, show_all
from fe.cli.session import run_transaction, settings_with_database, with_database
from fe.clock import system_clock
from fe.ecf.mail_address import BadAddress, MailAddress, parse_address
from fe.identifiers import SubmissionId
from fe.store.postgres.db import Conn, Database
from fe.store.queue.audit import OperatorAction
from fe.store.records import mail as store
from fe.store.records.mail import MailRecord, MailState


class _Address(click.ParamType[MailAddress]):
    name = "address"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> MailAddress:
        try:
            return parse_address(value)
        except BadAddress as wrong:
            self.fail(str(wrong), param, ctx)


ADDRESS = _Address()
_A_DAY = click.IntRange(1, accounts.MOST_A_DAY)


def _said(state: MailState) -> str:
    return state.name.lower()


@click.group()
def mail() -> None:
    """Switch a tenant's mail to its buyers on or off, list and replay mails, suppress addresses."""


@mail.command()
@click.argument("tenant_name", metavar="TENANT")
@click.option("--reply-to", type=ADDRESS, required=True, metavar="ADDRESS", help="Where buyers' answers go.")
@click.option("--language", type=click.Choice(accounts.LANGUAGES), default="es", show_default=True)
@click.option(
    "--documents",
    type=click.Choice(accounts.DOCUMENTS),
    default="attached",
    show_default=True,
    help="PDF and XML: attached, or on the buyer's page.",
)
@click.option("--a-day", type=_A_DAY, default=2000, show_default=True, help="Most mails per day.")
@by_option
@json_option
def on(
    tenant_name: str, reply_to: MailAddress, language: str, documents: str, a_day: int, by_whom: str, as_json: bool
) -> None:
    """Send TENANT's accepted receipts to their buyers by mail, from the next verdict on. Default: off."""
    settings = accounts.check_settings(reply_to=reply_to, language=language, documents=documents, a_day=a_day)

    async def task(conn: Conn) -> None:
        tenant = await provision.find_tenant(conn, tenant_name)
        try:
            await accounts.change_settings(conn, author(by_whom), tenant.tenant_id, settings)
        except accounts.MailForbidden:
            raise Failure(f"mail of {tenant_name} is forbidden: fe mail limit sets another limit") from None

    run_transaction(task)
    print_result(
        f"receipts of {tenant_name} are sent by mail", {"tenant": tenant_name, **settings.written()}, as_json=as_json
    )


@mail.command()
@click.argument("tenant_name", metavar="TENANT")
@by_option
@json_option
def off(tenant_name: str, by_whom: str, as_json: bool) -> None:
    """Send no more receipts of TENANT by mail; waiting ones are dropped. Its settings are kept."""

    async def task(conn: Conn) -> bool:
        tenant = await provision.find_tenant(conn, tenant_name)
        _, changed = await accounts.change_settings(conn, author(by_whom), tenant.tenant_id, None)
        return changed

    changed = run_transaction(task)
    said = f"receipts of {tenant_name} are not sent by mail" + ("" if changed else ", as it was")
    print_result(said, {"tenant": tenant_name, "changed": changed}, as_json=as_json)


@mail.command()
@click.argument("tenant_name", metavar="TENANT")
@click.option("--a-day", type=click.IntRange(0, accounts.MOST_A_DAY), help="Most mails per day; 0 forbids mail.")
@by_option
@json_option
def limit(tenant_name: str, a_day: int | None, by_whom: str, as_json: bool) -> None:
    """Limit TENANT's mails of a day, whatever it chooses, or forbid them. Without --a-day the limit ends."""

    async def task(conn: Conn) -> bool:
        tenant = await provision.find_tenant(conn, tenant_name)
        return await accounts.limit(conn, author(by_whom), tenant.tenant_id, a_day)

    changed = run_transaction(task)
    many = "any number of" if a_day is None else f"at most {a_day}"
    said = f"{tenant_name} may send {many} mails a day"
    shown = {"tenant": tenant_name, "aDayAllowed": a_day, "changed": changed}
    print_result(said + ("" if changed else ", as it was"), shown, as_json=as_json)


@mail.command("list")
@click.option("--tenant", "tenant_name", metavar="NAME", help="Only of this tenant.")
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice([_said(state) for state in MailState]),
    help="May be repeated; default: failed.",
)
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="Most rows.")
@json_option
def list_(tenant_name: str | None, states: tuple[str, ...], limit: int, as_json: bool) -> None:
    """List mails, the oldest first. Without --state also say how many wait."""
    chosen = [state for state in MailState if _said(state) in (states or ("failed",))]

    async def work(db: Database) -> tuple[list[MailRecord], int]:
        tenant = await db.run(provision.find_tenant, tenant_name) if tenant_name else None
        tenant_id = tenant.tenant_id if tenant else None
        found = await db.run(store.listed, chosen, tenant_id=tenant_id, limit=limit)
        return found, 0 if states else await db.run(store.waiting, tenant_id)

    found, waiting = with_database(settings_with_database(), work)
    show_all([_record(one) for one in found], as_json=as_json, none=f"no mail is {' or '.join(map(_said, chosen))}")
    if waiting:
        click.echo(f"mails that wait: {waiting} (fe mail list --state waiting)", err=True)


@mail.command()
@click.argument("name", metavar="ID")
@audited
@json_option
def replay(name: str, by_whom: str, reason: str | None, as_json: bool) -> None:
    """Send a mail again that was refused, suppressed or failed, with the same Message-ID.

    ID is the taxLogId, trackId, e-NCF or clientRequestId of the receipt.
    """
    because = given(reason)

    async def work(db: Database) -> tuple[SubmissionId, bool]:
        found = await receipt_named(db, name)
        action = OperatorAction.of(by_whom, because, system_clock())
        return found.subject, await db.transact(store.replay, action, found.tenant_id, found.subject)

    submission_id, going = with_database(settings_with_database(), work)
    if not going:
        raise Failure("its mail waits, was sent, or there is none: there is nothing to replay")
    print_result("it is sent again", {"taxLogId": submission_id, "state": _said(MailState.WAITING)}, as_json=as_json)


@mail.command()
@click.argument("tenant_name", metavar="TENANT")
@click.argument("address", type=ADDRESS)
@by_option
@json_option
def suppress(tenant_name: str, address: MailAddress, by_whom: str, as_json: bool) -> None:
    """Put ADDRESS on TENANT's list of suppressed addresses."""

    async def task(conn: Conn) -> bool:
        tenant = await provision.find_tenant(conn, tenant_name)
        return await accounts.suppress(conn, author(by_whom), tenant, address)

    _print_listed(f"{address} gets no mail of {tenant_name}", tenant_name, address, run_transaction(task), as_json)


@mail.command()
@click.argument("tenant_name", metavar="TENANT")
@click.argument("address", type=ADDRESS)
@by_option
@json_option
def allow(tenant_name: str, address: MailAddress, by_whom: str, as_json: bool) -> None:
    """Take ADDRESS off TENANT's list of suppressed addresses."""

    async def task(conn: Conn) -> bool:
        tenant = await provision.find_tenant(conn, tenant_name)
        return await accounts.allow(conn, author(by_whom), tenant, address)

    _print_listed(f"{address} may get mail of {tenant_name}", tenant_name, address, run_transaction(task), as_json)


@mail.command()
@click.argument("tenant_name", metavar="TENANT")
@json_option
def suppressed(tenant_name: str, as_json: bool) -> None:
    """List TENANT's suppressed addresses, the newest first."""

    async def work(db: Database) -> list[tuple[str, str, datetime]]:
        tenant = await db.run(provision.find_tenant, tenant_name)
        return await db.run(store.suppressed, tenant.tenant_id)

    found = with_database(settings_with_database(), work)
    shown = [{"address": address, "reason": reason, "since": moment(since)} for address, reason, since in found]
    show_all(shown, as_json=as_json, none="no address is suppressed")


def _print_listed(said: str, tenant_name: str, address: str, changed: bool, as_json: bool) -> None:
    shown = {"tenant": tenant_name, "address": address, "changed": changed}
    print_result(said + ("" if changed else ", as it was"), shown, as_json=as_json)


def _record(one: MailRecord) -> dict[str, Any]:
    return {
        "taxLogId": str(one.subject),
        "tenantId": one.tenant_id,
        "state": _said(one.state),
        "address": one.address,
        "messageId": one.message_id,
        "tries": one.attempt,
        "code": one.code,
        "reason": one.reason,
        "since": moment(one.entered_at),
        "endedAt": None if one.finished_at is None else moment(one.finished_at),
    }
