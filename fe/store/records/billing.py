"""Billing: under what a tenant is billed, and what its months come to (interface.md#billing, sql/functions)."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID, uuid5

from psycopg.rows import class_row, scalar_row

from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.records import tenants

PricingTier = Literal["standard", "volume", "enterprise"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A month so far. `emissions` counts production submissions by the moment of the verdict that accepted them.

    Subscription, price, currency and tier are the month's once something counts; before, there is no price, and the
    others are what they would be.
    """

    enabled: bool
    subscription_id: str | None
    unit_price: Decimal | None
    currency: str
    pricing_tier: PricingTier
    emissions: int


# Sums and pending notes in one statement: a row that moves from one to the other is seen in exactly one of them.
_SNAPSHOT = """
    SELECT coalesce(b.enabled, false) AS enabled, coalesce(m.subscription_id, b.subscription_id) AS subscription_id,
           m.unit_price, coalesce(m.currency, b.currency, 'USD') AS currency,
           coalesce(m.pricing_tier, b.pricing_tier, 'standard') AS pricing_tier,
           coalesce(m.counted, 0)
           + (SELECT count(*) FROM usage_ends AS e
               WHERE e.tenant_id = %(tenant)s AND e.billed_in = %(month)s) AS emissions
      FROM tenants AS t
      LEFT JOIN billing_accounts AS b ON b.tenant_id = t.tenant_id AND b.tenant_id = %(tenant)s
      LEFT JOIN billing_months AS m ON m.tenant_id = t.tenant_id AND m.tenant_id = %(tenant)s AND m.month = %(month)s
     WHERE t.tenant_id = %(tenant)s
"""


async def snapshot(conn: Conn, tenant_id: TenantId, month: date) -> Snapshot:
    """Tell what a month comes to so far, as of this moment; `month` is its first day."""
    cursor = conn.cursor(row_factory=class_row(Snapshot))
    await cursor.execute(_SNAPSHOT, {"tenant": tenant_id, "month": month})
    found = await cursor.fetchone()
    assert found is not None
    return found


_SET_TERMS = """
    SELECT set_billing_terms(
      %(tenant)s, %(at)s, %(enabled)s, %(subscription)s, %(price)s, %(currency)s, %(tier)s)
"""


async def enable(
    conn: Conn,
    tenant_id: TenantId,
    *,
    subscription_id: str,
    unit_price: Decimal,
    currency: str = "USD",
    pricing_tier: PricingTier = "standard",
    at: datetime | None = None,
) -> None:
    """Bill a tenant from `at` on (None: from now on), or change under what it is billed.

    A month whose price is frozen keeps it, and its subscription.
    """
    await _set_terms(conn, tenant_id, at, True, subscription_id, unit_price, currency, pricing_tier)


async def disable(conn: Conn, tenant_id: TenantId, *, at: datetime | None = None) -> None:
    """Stop billing a tenant. Usage until now is charged when its month ends."""
    await _set_terms(conn, tenant_id, at, False)


async def set_price(
    conn: Conn,
    tenant_id: TenantId,
    *,
    unit_price: Decimal,
    currency: str | None = None,
    pricing_tier: PricingTier | None = None,
    at: datetime | None = None,
) -> None:
    """Change the price; it holds for months that have none yet. Whether the tenant is billed stays as it is."""
    await _set_terms(conn, tenant_id, at, None, None, unit_price, currency, pricing_tier)


async def _set_terms(
    conn: Conn,
    tenant_id: TenantId,
    at: datetime | None,
    enabled: bool | None,
    subscription_id: str | None = None,
    unit_price: Decimal | None = None,
    currency: str | None = None,
    pricing_tier: PricingTier | None = None,
) -> None:
    await tenants.locked(conn, tenant_id)  # also who is billed for the first time has no row to wait at yet
    await conn.execute(
        _SET_TERMS,
        {
            "tenant": tenant_id,
            "at": at,
            "enabled": enabled,
            "subscription": subscription_id,
            "price": unit_price,
            "currency": currency,
            "tier": pricing_tier,
        },
    )


@dataclass(frozen=True, slots=True)
class Account:
    """Under what a tenant is billed now."""

    tenant_id: TenantId
    enabled: bool
    subscription_id: str | None
    unit_price: Decimal | None
    currency: str
    pricing_tier: PricingTier


_ACCOUNT = """
    SELECT b.tenant_id, b.enabled, b.subscription_id, b.unit_price, b.currency, b.pricing_tier
      FROM billing_accounts AS b
     WHERE b.tenant_id = %(tenant)s
"""


async def account(conn: Conn, tenant_id: TenantId, *, locked: bool = False) -> Account | None:
    """Tell under what a tenant is billed; None when it never was.

    `locked`: as it stays, but for what the caller sets, until the transaction ends.
    """
    if locked:
        await tenants.locked(conn, tenant_id)
    cursor = conn.cursor(row_factory=class_row(Account))
    await cursor.execute(_ACCOUNT, {"tenant": tenant_id})
    return await cursor.fetchone()


@dataclass(frozen=True, slots=True)
class Month:
    """A month of a tenant: its frozen price, what counted, and for how many of them there are charges."""

    tenant_id: TenantId
    month: date
    unit_price: Decimal
    currency: str
    pricing_tier: PricingTier
    subscription_id: str
    emissions: int
    checked_at: datetime | None
    drift: int
    closed_at: datetime | None
    charged: int


_MONTHS = """
    SELECT m.tenant_id, m.month, m.unit_price, m.currency, m.pricing_tier, m.subscription_id,
           m.counted + (SELECT count(*) FROM usage_ends AS e
                         WHERE e.tenant_id = %(tenant)s AND e.billed_in = m.month) AS emissions,
           m.checked_at, m.drift, m.closed_at, m.charged
      FROM billing_months AS m
     WHERE m.tenant_id = %(tenant)s
     ORDER BY m.month DESC
     LIMIT %(limit)s
"""


async def months(conn: Conn, tenant_id: TenantId, limit: int = 24) -> list[Month]:
    """List a tenant's months in which something counted, the newest first."""
    cursor = conn.cursor(row_factory=class_row(Month))
    await cursor.execute(_MONTHS, {"tenant": tenant_id, "limit": limit})
    return await cursor.fetchall()


_BILLED = "SELECT DISTINCT t.tenant_id FROM billing_terms AS t WHERE t.enabled ORDER BY t.tenant_id"


async def billed_tenants(conn: Conn) -> list[TenantId]:
    """Name the tenants that were ever billed."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_BILLED)
    return await cursor.fetchall()


_TO_CLOSE = """
    SELECT m.tenant_id, m.month
      FROM billing_months AS m
     WHERE m.month < %(before)s AND (m.closed_at IS NULL OR m.counted > m.charged)
     ORDER BY m.month, m.tenant_id
"""


async def months_to_close(conn: Conn, before: date) -> list[tuple[TenantId, date]]:
    """Name the months before `before` that are not closed, or for which there are not charges for all that counted."""
    cursor = await conn.execute(_TO_CLOSE, {"before": before})
    return await cursor.fetchall()


async def reconcile(conn: Conn, tenant_id: TenantId, month: date) -> int | None:
    """Count a month again from the submissions and put right what was counted; by how many it was wrong.

    None when nothing of the month is billed. Reads the month's verdicts: `patiently` gives it the time.
    """
    cursor = await conn.execute("SELECT reconcile_month(%(tenant)s, %(month)s)", {"tenant": tenant_id, "month": month})
    (drift,) = await cursor.fetchone() or (None,)
    return drift


_NEXT_CHARGE = """
    SELECT m.subscription_id,
           (SELECT count(*) FROM billing_charges AS c WHERE c.tenant_id = %(tenant)s AND c.month = %(month)s) AS part
      FROM billing_months AS m
     WHERE m.tenant_id = %(tenant)s AND m.month = %(month)s
"""
_CHARGES = UUID("5b6f4e0e-8d1c-4c55-9f0e-2f1f6a3f7c21")


async def next_charge_id(conn: Conn, tenant_id: TenantId, month: date) -> UUID:
    """Return the id of the charge that closing a month makes next: always the same for the same part of it.

    Closing a month again, after an older database was restored, finds the earlier charge at the processor.
    """
    cursor = await conn.execute(_NEXT_CHARGE, {"tenant": tenant_id, "month": month})
    subscription, part = await cursor.fetchone() or ("", 0)
    return uuid5(_CHARGES, f"{tenant_id} {month} {part} {subscription}")


async def close(conn: Conn, tenant_id: TenantId, month: date, *, charge_id: UUID, at: datetime) -> Decimal | None:
    """Close a month that is over and charge what there are no charges for yet: the amount that is now to be charged.

    None when the month is not over by the server's clock. Closing again charges what turned up since, and else nothing:
    0. Reads the month's verdicts, as `reconcile` does.
    """
    cursor = await conn.execute(
        "SELECT close_month(%(tenant)s, %(month)s, %(charge)s, %(at)s)",
        {"tenant": tenant_id, "month": month, "charge": charge_id, "at": at},
    )
    (amount,) = await cursor.fetchone() or (None,)
    return amount


_ROUND_IS_DUE = """
    SELECT NOT EXISTS (SELECT 1 FROM billing_rounds AS r
                        WHERE r.round = 'reconcile'
                          -- Not one of the future: the server's clock was ahead.
                          AND r.ended_at BETWEEN clock_timestamp() - interval '1 hour' AND clock_timestamp())
"""
_ROUND_ENDED = """
    INSERT INTO billing_rounds (round, ended_at)
    VALUES ('reconcile', clock_timestamp())
    ON CONFLICT (round) DO UPDATE SET ended_at = EXCLUDED.ended_at
"""


async def round_is_due(conn: Conn) -> bool:
    """Tell whether an hour has passed since all open months were counted again."""
    cursor = await conn.execute(_ROUND_IS_DUE)
    (is_due,) = await cursor.fetchone() or (True,)
    return bool(is_due)


async def round_ended(conn: Conn) -> None:
    """Put on record that they were."""
    await conn.execute(_ROUND_ENDED)
