"""Billing as its tenant sees it."""

from datetime import date
from decimal import Decimal
from uuid import uuid4

from fe.identifiers import TenantId
from fe.store.portal.people import PortalRole
from fe.store.records import billing
from fe.store.records.months import month_before, month_of
from tests.factories.tenants import rows
from tests.portal.running import Browser, Running


async def make_month(portal: Running, tenant: TenantId, month: date, counted: int, *, closed: bool) -> None:
    await rows(
        portal.db,
        """INSERT INTO billing_months (tenant_id, month, unit_price, currency, pricing_tier, subscription_id, frozen_at,
                                       counted, closed_at, charged)
           VALUES (%(tenant)s, %(month)s, 0.035, 'USD', 'volume', 'sub_1', now(), %(counted)s,
                   CASE WHEN %(closed)s THEN now() END, 0)
           RETURNING 1""",
        tenant=tenant,
        month=month,
        counted=counted,
        closed=closed,
    )


async def charge(portal: Running, tenant: TenantId, month: date, stage: str) -> None:
    await rows(
        portal.db,
        """INSERT INTO billing_charges (tenant_id, subject, stage, environment, run_at, month, part, emissions,
                                        unit_price, amount, currency, subscription_id, item_id, last_error)
           VALUES (%(tenant)s, %(id)s, %(stage)s, 'ecf', now(), %(month)s, 0, 2000, 0.035, 70.00, 'USD', 'sub_1',
                   CASE WHEN %(stage)s = 'charged' THEN 'ii_42' END, 'HTTP 400 of the processor')
           RETURNING 1""",
        tenant=tenant,
        id=uuid4(),
        stage=stage,
        month=month,
    )


async def test_months_show_what_they_come_to_and_where_they_stand(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    this = month_of(portal.clock())
    last = month_before(this)
    await portal.db.run(
        billing.enable, tenant, subscription_id="sub_1", unit_price=Decimal("0.035"), pricing_tier="volume"
    )
    await make_month(portal, tenant, this.date(), 1234, closed=False)
    await make_month(portal, tenant, last.date(), 2000, closed=True)
    await charge(portal, tenant, last.date(), "charged")

    page = await owner.get(f"/companies/{tenant}/billing")

    assert page.status_code == 200
    assert "<dd>1,234</dd>" in page.text
    assert "43.19 USD" in page.text  # 1234 x 0.035
    assert "70.00 USD" in page.text
    assert "Charged" in page.text
    assert "Open: the month is not closed" in page.text
    assert page.text.count('<figure class="plot">') == 1
    assert "HTTP 400" not in page.text


async def test_half_a_cent_goes_up_as_in_what_is_charged(portal: Running, owner: Browser, tenant: TenantId) -> None:
    this = month_of(portal.clock())
    await portal.db.run(billing.enable, tenant, subscription_id="sub_1", unit_price=Decimal("0.035"))
    for month in (this, month_before(this)):
        await make_month(portal, tenant, month.date(), 3, closed=False)

    page = await owner.get(f"/companies/{tenant}/billing")

    # 0.105 is charged as 0.11 (tests/metering/test_charging.py): so far, and in the row of each month.
    assert page.text.count("0.11 USD") == 3
    assert "0.10 USD" not in page.text


async def test_a_charge_that_failed_is_said(portal: Running, owner: Browser, tenant: TenantId) -> None:
    last = month_before(month_of(portal.clock())).date()
    await make_month(portal, tenant, last, 2000, closed=True)
    await charge(portal, tenant, last, "failed")

    assert "The charge failed" in (await owner.get(f"/companies/{tenant}/billing")).text


async def test_who_is_not_billed_reads_so(portal: Running, tenant: TenantId) -> None:
    async with portal.browser(await portal.person(tenant, PortalRole.ACCOUNTANT, language="es")) as browser:
        page = await browser.get(f"/companies/{tenant}/billing")

    assert page.status_code == 200
    assert "Por ahora no se cobran" in page.text
    assert "Todavía no se ha contado nada." in page.text
