"""`fe billing`: billing terms, monthly totals and charges of tenants."""

import re
from collections.abc import Callable
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any, Literal

import click
import trio

from fe.accounts import approvals, provision
from fe.cli.approval import ask_if_bulk
from fe.cli.failures import Failure
from fe.cli.operator_options import act, by_option, words
from fe.cli.printing import json_option, moment, print_result, show, show_all
from fe.cli.session import run_transaction, settings_with_database, until_signal, with_database
from fe.clock import system_clock
from fe.identifiers import TenantId
from fe.metering import aggregator, closing
from fe.metering.terms import SUBSCRIPTION, is_currency, is_price
from fe.simulator.payment_processor import ProcessorState, simulate_processor
from fe.store.postgres.db import Conn, Database
from fe.store.queue.audit import OperatorAction, record
from fe.store.records import billing as store
from fe.store.records import charges
from fe.store.records.billing import Account, Month, PricingTier
from fe.store.records.charges import ChargeRecord
from fe.store.records.months import month_before, month_of
from fe.store.records.pending_actions import Kind


def _price(_ctx: click.Context, _param: click.Parameter, value: str | None) -> Decimal | None:
    if value is None:
        return None
    try:
        price = Decimal(value)
    except InvalidOperation:
        raise click.BadParameter("a number such as 0.035") from None
    if not is_price(value):
        raise click.BadParameter("from 0 to 99999999, with at most four decimals")
    return price


def _currency(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not is_currency(value):
        raise click.BadParameter("the three letters of a currency that has hundredths, such as USD or DOP")
    return value


def _subscription(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not re.fullmatch(SUBSCRIPTION, value):
        raise click.BadParameter("the processor's id of a subscription: sub_ and letters or digits")
    return value


def _month(_ctx: click.Context, _param: click.Parameter, value: str | None) -> date | None:
    if value is None:
        return None
    if not re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", value):
        raise click.BadParameter("a month such as 2026-10")
    return date.fromisoformat(f"{value}-01")


price_option = click.option("--price", required=True, metavar="AMOUNT", callback=_price, help="For one emission.")
tier_option = click.option("--tier", type=click.Choice(["standard", "volume", "enterprise"]))
reason_option = click.option("--reason", metavar="TEXT", callback=words, help="Why; kept on record.")
month_option = click.option("--month", metavar="YYYY-MM", callback=_month, help="Which month (UTC).")


@click.group()
def billing() -> None:
    """Bill tenants for the receipts that the authority accepts in production."""


@billing.command()
@click.argument("tenant_name", metavar="TENANT")
@click.option("--subscription", required=True, metavar="ID", callback=_subscription, help="On whose invoice it goes.")
@price_option
@click.option("--currency", default="USD", show_default=True, callback=_currency, help="Of the price: three letters.")
@tier_option
@reason_option
@by_option
@json_option
def enable(
    tenant_name: str,
    subscription: str,
    price: Decimal,
    currency: str,
    tier: PricingTier | None,
    reason: str | None,
    by_whom: str,
    as_json: bool,
) -> None:
    """Bill TENANT from now on, or change its terms. A closed month keeps its price."""

    async def change(conn: Conn, tenant_id: TenantId) -> None:
        await store.enable(
            conn,
            tenant_id,
            subscription_id=subscription,
            unit_price=price,
            currency=currency,
            pricing_tier=tier or "standard",
            at=system_clock(),
        )

    terms = partial(
        approvals.terms_request, price=price, currency=currency, tier=tier or "standard", subscription=subscription
    )
    _change(tenant_name, change, act(by_whom, reason), "billing enable", terms, as_json=as_json)


@billing.command()
@click.argument("tenant_name", metavar="TENANT")
@reason_option
@by_option
@json_option
def disable(tenant_name: str, reason: str | None, by_whom: str, as_json: bool) -> None:
    """Stop billing TENANT. Receipts counted before are charged when the month ends."""

    async def change(conn: Conn, tenant_id: TenantId) -> None:
        await _account(conn, tenant_id, tenant_name)
        await store.disable(conn, tenant_id, at=system_clock())

    _change(tenant_name, change, act(by_whom, reason), "billing disable", as_json=as_json)


@billing.command()
@click.argument("tenant_name", metavar="TENANT")
@price_option
@click.option("--currency", callback=_currency, help="Default: as it is.")
@tier_option
@reason_option
@by_option
@json_option
def price(
    tenant_name: str,
    price: Decimal,
    currency: str | None,
    tier: PricingTier | None,
    reason: str | None,
    by_whom: str,
    as_json: bool,
) -> None:
    """Change TENANT's price, for the months in which nothing counted yet."""

    async def change(conn: Conn, tenant_id: TenantId) -> None:
        await _account(conn, tenant_id, tenant_name)
        await store.set_price(
            conn, tenant_id, unit_price=price, currency=currency, pricing_tier=tier, at=system_clock()
        )

    terms = partial(approvals.terms_request, price=price, currency=currency, tier=tier)
    _change(tenant_name, change, act(by_whom, reason), "billing price", terms, as_json=as_json)


@billing.command("show")
@click.argument("tenant_name", metavar="TENANT")
@json_option
def show_(tenant_name: str, as_json: bool) -> None:
    """Show TENANT's terms, monthly totals and charges."""

    async def work(db: Database) -> tuple[Account, list[Month], list[ChargeRecord]]:
        tenant = await db.run(provision.find_tenant, tenant_name)
        account = await db.run(_account, tenant.tenant_id, tenant_name)
        return account, await db.run(store.months, tenant.tenant_id), await db.run(charges.of_tenant, tenant.tenant_id)

    account, months, made = with_database(settings_with_database(), work)
    if as_json:
        listed = {"months": [_of_month(one) for one in months], "charges": [_of_charge(one) for one in made]}
        show(_record(account) | listed, as_json=True)
        return
    show(_record(account), as_json=False)
    click.echo()
    show_all([_of_month(one) for one in months], as_json=False, none="nothing counted yet")
    if made:
        click.echo()
        show_all([_of_charge(one) for one in made], as_json=False, none="")


@billing.command()
@click.argument("tenant_name", metavar="TENANT")
@month_option
@json_option
def reconcile(tenant_name: str, month: date | None, as_json: bool) -> None:
    """Recount a month of TENANT from its submissions, correct the count, and report the difference.

    Default: the current month. The service does this every hour.
    """
    which = month or month_of(system_clock()).date()

    async def work(db: Database) -> tuple[int | None, list[Month]]:
        tenant = await db.run(provision.find_tenant, tenant_name)
        drift = await closing.reconcile_month(db, tenant.tenant_id, which)
        return drift, [one for one in await db.run(store.months, tenant.tenant_id) if one.month == which]

    drift, found = with_database(settings_with_database(), work)
    if drift is None:
        raise Failure(f"nothing of {which:%Y-%m} is billed to {tenant_name!r}")
    show({"drift": drift, **_of_month(found[0])}, as_json=as_json)


@billing.command()
@click.argument("tenant_name", metavar="TENANT")
@month_option
@json_option
def close(tenant_name: str, month: date | None, as_json: bool) -> None:
    """Close a past month of TENANT and charge the rest. Repeating it charges nothing twice.

    Default: the last month. The service does this an hour after a month's end.
    """
    which = month or month_before(month_of(system_clock())).date()

    async def work(db: Database) -> tuple[Decimal | None, list[ChargeRecord]]:
        tenant = await db.run(provision.find_tenant, tenant_name)
        amount = await closing.close_month(db, tenant.tenant_id, which, system_clock)
        return amount, [one for one in await db.run(charges.of_tenant, tenant.tenant_id) if one.month == which]

    amount, found = with_database(settings_with_database(), work)
    if amount is None:
        raise Failure(f"{which:%Y-%m} is not over")
    show_all([_of_charge(one) for one in found], as_json=as_json, none=f"nothing of {which:%Y-%m} is to be charged")


@billing.command()
@click.argument("tenant_name", metavar="TENANT")
@click.option("--month", required=True, metavar="YYYY-MM", callback=_month, help="Which month (UTC).")
@click.option(
    "--subscription", metavar="ID", callback=_subscription, help="On another one, where certainly nothing was charged."
)
@reason_option
@by_option
@json_option
def retry(
    tenant_name: str, month: date, subscription: str | None, reason: str | None, by_whom: str, as_json: bool
) -> None:
    """Retry the failed charges of a month. The processor is first asked what it already has."""
    action = act(by_whom, reason)

    async def task(conn: Conn) -> list[ChargeRecord]:
        tenant = await provision.find_tenant(conn, tenant_name)
        again = await charges.try_again(conn, tenant.tenant_id, month, subscription)
        if not again:
            raise Failure(f"tenant {tenant_name!r} has no failed charge of {month:%Y-%m} that could be tried so")
        detail = {"month": f"{month:%Y-%m}", "subscription": subscription}
        await record(conn, action, "billing retry", tenant.tenant_id, None, detail)
        return [one for one in await charges.of_tenant(conn, tenant.tenant_id) if one.subject in again]

    found = run_transaction(task)
    show_all([_of_charge(one) for one in found], as_json=as_json, none="")


@billing.command("rebuild-usage")
@click.argument("tenant_name", metavar="TENANT")
@json_option
def rebuild_usage(tenant_name: str, as_json: bool) -> None:
    """Recount TENANT's days of GET /usage from its submissions."""

    async def work(db: Database) -> None:
        tenant = await db.run(provision.find_tenant, tenant_name)
        await aggregator.rebuild(db, tenant.tenant_id, system_clock)

    with_database(settings_with_database(), work)
    show({"tenant": tenant_name, "rebuilt": True}, as_json=as_json)


@billing.command("simulate-processor")
@click.option("--port", type=int, default=8092, show_default=True, help="0 picks a free one.")
@json_option
def simulate_processor_(port: int, as_json: bool) -> None:
    """Simulate a payment processor on this machine until SIGTERM or Ctrl-C. No money moves."""

    def announce(url: str) -> None:
        print_result(f"A simulated payment processor: FE_STRIPE_URL={url}", {"url": url}, as_json=as_json)

    trio.run(until_signal, partial(simulate_processor, ProcessorState(), port=port), announce)


async def _account(conn: Conn, tenant_id: TenantId, tenant_name: str) -> Account:
    found = await store.account(conn, tenant_id)
    if found is None:
        raise Failure(f"tenant {tenant_name!r} was never billed: `fe billing enable`")
    return found


def _change(
    tenant_name: str,
    change: Any,
    action: OperatorAction,
    name: Kind | Literal["billing disable"],
    terms: Callable[[Account | None], dict[str, Any]] | None = None,
    *,
    as_json: bool,
) -> None:
    """Change billing terms, or request a second operator's approval where the installation requires it."""

    async def task(conn: Conn) -> Account:
        tenant = await provision.find_tenant(conn, tenant_name)
        await change(conn, tenant.tenant_id)
        account = await _account(conn, tenant.tenant_id, tenant_name)
        await record(conn, action, name, tenant.tenant_id, None, _record(account))
        return account

    async def work(db: Database) -> Account:
        if terms is not None and name != "billing disable":
            tenant = await db.run(provision.find_tenant, tenant_name)
            await ask_if_bulk(db, name, terms(await db.run(store.account, tenant.tenant_id)), action, tenant)
        return await db.transact(task)

    show(_record(with_database(settings_with_database(), work)), as_json=as_json)


def _record(found: Account) -> dict[str, Any]:
    return {
        "enabled": found.enabled,
        "subscriptionId": found.subscription_id,
        "unitPrice": None if found.unit_price is None else str(found.unit_price),
        "currency": found.currency,
        "pricingTier": found.pricing_tier,
    }


def _of_month(found: Month) -> dict[str, Any]:
    return {
        "month": f"{found.month:%Y-%m}",
        "emissions": found.emissions,
        "unitPrice": str(found.unit_price),
        "currency": found.currency,
        "subtotal": str(found.emissions * found.unit_price),
        "charged": found.charged,
        "drift": found.drift,
        "checkedAt": moment(found.checked_at),
        "closedAt": moment(found.closed_at),
    }


def _of_charge(found: ChargeRecord) -> dict[str, Any]:
    return {
        "month": f"{found.month:%Y-%m}",
        "part": found.part,
        "state": {"charge": "waiting"}.get(found.stage, found.stage),
        "emissions": found.emissions,
        "amount": str(found.amount),
        "currency": found.currency,
        "subscriptionId": found.subscription_id,
        "itemId": found.item_id,
        "id": str(found.subject),
        "triedAt": moment(found.tried_at),
        "settledAt": moment(found.settled_at),
        "error": found.last_error,
    }
