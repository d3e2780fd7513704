"""Billing terms of a company: subscription, price and tier, as `fe billing` sets them."""

import re
from decimal import Decimal
from typing import cast

from fe.accounts import approvals
from fe.ecf.texts import LocalizedError, Text
from fe.metering.terms import SUBSCRIPTION, is_currency, is_price
from fe.portal.page_types import Needs, Page
from fe.portal.pages.operators.acting import (
    FormProblem,
    acting,
    executed,
    go_to_approval,
    may_alone,
    tenant_in_address,
)
from fe.portal.pages.operators.companies import show
from fe.portal.replies import CHANGED_MEANWHILE, Reply
from fe.portal.visit import Visit
from fe.store.postgres.db import Conn
from fe.store.queue.audit import OperatorAction, record
from fe.store.records import billing
from fe.store.records.billing import PricingTier
from fe.store.records.tenants import Tenant

_TIERS = ("standard", "volume", "enterprise")
_PRICE = Text(
    "The price is a number from 0 to 99999999 with at most four decimals, such as 0.035.",
    "El precio es un número de 0 a 99999999 con cuatro decimales como máximo, por ejemplo 0.035.",
)
_CURRENCY = Text(
    "The currency has three letters and hundredths, such as USD or DOP.",
    "La moneda tiene tres letras y centésimos, como USD o DOP.",
)
_SUBSCRIPTION = Text(
    "A subscription of the processor begins with sub_, and has letters and digits after it.",
    "Una suscripción del procesador comienza con sub_, seguido de letras y dígitos.",
)
_NEVER = Text("The company was never billed.", "A la empresa nunca se le ha cobrado.")


async def set_terms(visit: Visit) -> Reply:
    """Bill a company from now on, or under other terms, or ask a second person to agree to them."""
    tenant = await tenant_in_address(visit)
    before = await visit.operators.run(billing.account, tenant.tenant_id)
    alone = await may_alone(visit, "billing enable")
    try:
        by = acting(visit)
        visit.require_unchanged(approvals.shown_terms(before))
        request = _request(visit, before)
        action_id = await visit.run_operation(
            approvals.ask, "billing enable", request, by, "portal", tenant=tenant, alone=alone
        )
    except LocalizedError as wrong:
        return await show(visit, tenant, wrong.text)
    if not alone:
        return await go_to_approval(visit, action_id)
    if not await executed(visit, action_id):
        return await show(visit, tenant, CHANGED_MEANWHILE)
    return await visit.go(
        f"/operators/companies/{tenant.tenant_id}", Text("The terms are set.", "Las condiciones están guardadas.")
    )


def _request(visit: Visit, before: billing.Account | None) -> dict[str, object]:
    price, currency = visit.form.get("price"), visit.form.get("currency").upper()
    subscription, tier = visit.form.get("subscription"), visit.form.get("tier")
    if not is_price(price):
        raise FormProblem(_PRICE)
    if not is_currency(currency):
        raise FormProblem(_CURRENCY)
    if not re.fullmatch(SUBSCRIPTION, subscription):
        raise FormProblem(_SUBSCRIPTION)
    return approvals.terms_request(
        before,
        price=Decimal(price),
        currency=currency,
        tier=cast(PricingTier, tier if tier in _TIERS else "standard"),
        subscription=subscription,
    )


async def stop(visit: Visit) -> Reply:
    """Stop billing a company."""
    tenant = await tenant_in_address(visit)
    try:
        await visit.run_operation(_stop, tenant, acting(visit))
    except LocalizedError as wrong:
        return await show(visit, tenant, wrong.text)
    return await visit.go(f"/operators/companies/{tenant.tenant_id}", Text("Billing stopped.", "Ya no se le cobra."))


async def _stop(conn: Conn, tenant: Tenant, by: OperatorAction) -> None:
    if await billing.account(conn, tenant.tenant_id) is None:
        raise FormProblem(_NEVER)
    await billing.disable(conn, tenant.tenant_id, at=by.at)
    after = approvals.shown_terms(await billing.account(conn, tenant.tenant_id)) or {}
    await record(conn, by, "billing disable", tenant.tenant_id, None, after)


PAGES = (
    Page("POST", "/operators/companies/<int:tenant>/terms", Needs.OPERATE, set_terms),
    Page("POST", "/operators/companies/<int:tenant>/terms/stop", Needs.OPERATE, stop),
)
