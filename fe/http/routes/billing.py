"""GET /billing/current-period: the month so far."""

from decimal import Decimal

from fe.clock import Clock, iso
from fe.http.calls import ApiReply, Call
from fe.http.models.responses import BILLING_PERIOD, BillingPeriod
from fe.store.postgres.db import Database
from fe.store.records import billing
from fe.store.records.months import month_after, month_of


class BillingHandlers:
    """The handler of /billing/current-period."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def current_period(self, call: Call) -> ApiReply:
        """Show the snapshot of the current UTC month (interface.md#billing)."""
        now = self._clock()
        start = month_of(now)
        end = month_after(start)
        found = await self._db.run_for(call.identity.tenant_id, billing.snapshot, start.date())
        emissions = found.emissions if found.enabled else 0
        # Before the first emission of the month there is no price yet.
        price = found.unit_price if emissions else None
        answer: BillingPeriod = {
            "period": f"{start:%Y-%m}",
            "periodStart": iso(start),
            "periodEnd": iso(end),
            "enabled": found.enabled,
            "subscriptionId": found.subscription_id if found.enabled else None,
            "unitPrice": price,
            "currency": found.currency,
            "pricingTier": found.pricing_tier,
            "emissionsAccepted": emissions,
            "subtotal": emissions * price if price is not None else Decimal(0),
            "lastUpdated": iso(now),
        }
        return ApiReply(200, BILLING_PERIOD.write(answer))
