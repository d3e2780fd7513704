"""Billing: under what a tenant is billed, and what it emitted in a month (interface.md#billing)."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from psycopg.rows import class_row

from fe.identifiers import TenantId
from fe.store.postgres.db import Conn

PricingTier = Literal["standard", "volume", "enterprise"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A month so far. `emissions` counts production submissions by the moment of the verdict that accepted them."""

    enabled: bool
    subscription_id: str | None
    unit_price: Decimal | None
    currency: str
    pricing_tier: PricingTier
    emissions: int


_SNAPSHOT = """
    SELECT coalesce(b.enabled, false) AS enabled, b.subscription_id, b.unit_price,
           coalesce(b.currency, 'USD') AS currency,
           coalesce(b.pricing_tier, 'standard') AS pricing_tier,
           (SELECT count(*)
              FROM submissions AS s
             WHERE s.tenant_id = %(tenant)s AND s.environment = 'ecf'
               AND s.verdict_at >= %(from)s AND s.verdict_at < %(until)s
               AND s.status IN ('Aceptado', 'Aceptado Condicional')) AS emissions
      FROM tenants AS t
      LEFT JOIN billing_accounts AS b ON b.tenant_id = t.tenant_id AND b.tenant_id = %(tenant)s
     WHERE t.tenant_id = %(tenant)s
"""


async def snapshot(conn: Conn, tenant_id: TenantId, since: datetime, until: datetime) -> Snapshot:
    """Count a tenant's billable emissions with a verdict from `since` to before `until`, beside its account."""
    cursor = conn.cursor(row_factory=class_row(Snapshot))
    await cursor.execute(_SNAPSHOT, {"tenant": tenant_id, "from": since, "until": until})
    found = await cursor.fetchone()
    assert found is not None
    return found


_OPEN = """
    INSERT INTO billing_accounts (tenant_id, enabled, subscription_id, unit_price, currency, pricing_tier)
    VALUES (%(tenant)s, true, %(subscription)s, %(price)s, %(currency)s, %(tier)s)
    ON CONFLICT (tenant_id) DO UPDATE
       SET enabled = true, subscription_id = EXCLUDED.subscription_id, unit_price = EXCLUDED.unit_price,
           currency = EXCLUDED.currency, pricing_tier = EXCLUDED.pricing_tier
"""


async def enable(
    conn: Conn,
    tenant_id: TenantId,
    *,
    subscription_id: str,
    unit_price: Decimal,
    currency: str = "USD",
    pricing_tier: PricingTier = "standard",
) -> None:
    """Enable a tenant's billing, or change under what it is billed."""
    await conn.execute(
        _OPEN,
        {
            "tenant": tenant_id,
            "subscription": subscription_id,
            "price": unit_price,
            "currency": currency,
            "tier": pricing_tier,
        },
    )
