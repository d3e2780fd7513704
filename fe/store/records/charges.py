"""Charges: what months that are over come to, on their way to the payment processor (sql/functions/metering)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, LiteralString
from uuid import UUID

from psycopg.rows import class_row

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import LeaseLost
from fe.store.queue.tables import QueueRow, QueueTable

#: The stage of a charge.
STAGE: Final = "charge"


@dataclass(frozen=True, slots=True)
class ChargeLane:
    """All charges go to one processor."""

    environment: Environment = Environment.ECF
    host: str = ""

    @property
    def group(self) -> str:
        """There is one."""
        return self.host

    @property
    def takes_all(self) -> bool:
        """Whether its rows may take all slots: always."""
        return True


ChargeWork = QueueRow[ChargeLane, UUID]
CHARGES: QueueTable[ChargeLane, ChargeWork] = QueueTable("billing_charges", QueueRow)


@dataclass(frozen=True, slots=True)
class Charge:
    """A charge. `amount` is in units of `currency`, with two decimals."""

    tenant_id: TenantId
    subject: UUID
    month: date
    part: int
    emissions: int
    unit_price: Decimal
    amount: Decimal
    currency: str
    subscription_id: str
    generation: int

    @property
    def idempotency_key(self) -> str:
        """Under which the processor takes it once; a new one only after a refusal."""
        return f"fe-{self.subject}-{self.generation}"


# Fenced as every writer.
_CLAIMED = """
    SELECT c.tenant_id, c.subject, c.month, c.part, c.emissions, c.unit_price, c.amount, c.currency,
           c.subscription_id, c.generation
      FROM billing_charges AS c
     WHERE c.tenant_id = %(tenant)s AND c.subject = %(subject)s AND c.epoch = %(epoch)s AND c.holder IS NOT NULL
       AND c.stage = 'charge'
"""
_BEGIN = """
    UPDATE billing_charges AS c
       SET tried_at = coalesce(c.tried_at, clock_timestamp())
     WHERE c.tenant_id = %(tenant)s AND c.subject = %(subject)s AND c.epoch = %(epoch)s AND c.holder IS NOT NULL
       AND c.stage = 'charge'
"""


async def claimed(conn: Conn, work: ChargeWork) -> Charge:
    """Read what a claim is about. Raises LeaseLost."""
    cursor = conn.cursor(row_factory=class_row(Charge))
    await cursor.execute(_CLAIMED, {"tenant": work.tenant_id, "subject": work.subject, "epoch": work.epoch})
    found = await cursor.fetchone()
    if found is None:
        raise LeaseLost(work.subject, work.epoch)
    return found


async def begin(conn: Conn, work: ChargeWork) -> None:
    """Say, durably, that a charge is about to be sent. Raises LeaseLost."""
    if not await _write(conn, _BEGIN, work):
        raise LeaseLost(work.subject, work.epoch)


# Each is fenced by its claim.
_CHARGED = """
    UPDATE billing_charges
       SET stage = 'charged', item_id = %(item)s, settled_at = %(at)s, holder = NULL, deaths = 0, last_error = NULL
     WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND epoch = %(epoch)s AND holder IS NOT NULL
"""
_FAILED = """
    UPDATE billing_charges
       SET stage = 'failed', settled_at = %(at)s, holder = NULL, deaths = 0, last_error = %(reason)s
     WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND epoch = %(epoch)s AND holder IS NOT NULL
"""
_REFUSED = """
    UPDATE billing_charges
       SET stage = 'failed', settled_at = %(at)s, tried_at = NULL, holder = NULL, deaths = 0, last_error = %(reason)s
     WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND epoch = %(epoch)s AND holder IS NOT NULL
"""
_RETRY = """
    UPDATE billing_charges
       SET run_at = clock_timestamp() + %(after)s, attempt = attempt - %(back)s, holder = NULL, deaths = 0,
           last_error = %(reason)s
     WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND epoch = %(epoch)s AND holder IS NOT NULL
"""


async def charged(conn: Conn, work: ChargeWork, *, item_id: str, at: datetime) -> bool:
    """Put on record what the processor calls it; False, and nothing written, when the claim is not ours any more."""
    return await _write(conn, _CHARGED, work, item=item_id, at=at)


async def failed(conn: Conn, work: ChargeWork, *, reason: str, at: datetime) -> bool:
    """Leave it to an operator. False as for `charged`."""
    return await _write(conn, _FAILED, work, reason=reason, at=at)


async def refused(conn: Conn, work: ChargeWork, *, reason: str, at: datetime) -> bool:
    """The same, and nothing was charged for certain. False as for `charged`."""
    return await _write(conn, _REFUSED, work, reason=reason, at=at)


async def retry(conn: Conn, work: ChargeWork, *, after: timedelta, reason: str, counts: bool) -> bool:
    """Due again after a while; where it does not count, the attempt is given back. False as for `charged`."""
    return await _write(conn, _RETRY, work, after=after, reason=reason, back=int(not counts))


async def _write(conn: Conn, statement: LiteralString, work: ChargeWork, **values: Any) -> bool:
    fence = {"tenant": work.tenant_id, "subject": work.subject, "epoch": work.epoch}
    return (await conn.execute(statement, fence | values)).rowcount == 1


@dataclass(frozen=True, slots=True)
class ChargeRecord:
    """A charge and what became of it; `stage` is `charge` (waiting), `charged` or `failed`."""

    subject: UUID
    month: date
    part: int
    stage: str
    emissions: int
    unit_price: Decimal
    amount: Decimal
    currency: str
    subscription_id: str
    entered_at: datetime
    tried_at: datetime | None
    settled_at: datetime | None
    item_id: str | None
    last_error: str | None


_OF_TENANT = """
    SELECT c.subject, c.month, c.part, c.stage, c.emissions, c.unit_price, c.amount, c.currency, c.subscription_id,
           c.entered_at, c.tried_at, c.settled_at, c.item_id, c.last_error
      FROM billing_charges AS c
     WHERE c.tenant_id = %(tenant)s
     ORDER BY c.month DESC, c.part DESC
     LIMIT %(limit)s
"""


async def of_tenant(conn: Conn, tenant_id: TenantId, limit: int = 48) -> list[ChargeRecord]:
    """List a tenant's charges, the newest first."""
    cursor = conn.cursor(row_factory=class_row(ChargeRecord))
    await cursor.execute(_OF_TENANT, {"tenant": tenant_id, "limit": limit})
    return await cursor.fetchall()


# A new key, because the processor would repeat its refusal under the old one for a day; and what may have been sent
# before is still asked for first.
_AGAIN = """
    UPDATE billing_charges AS c
       SET stage = 'charge', generation = c.generation + 1, attempt = 0, deaths = 0, run_at = clock_timestamp(),
           entered_at = clock_timestamp(), settled_at = NULL,
           subscription_id = coalesce(%(subscription)s, c.subscription_id)
     WHERE c.tenant_id = %(tenant)s AND c.month = %(month)s AND c.stage = 'failed'
       AND (%(subscription)s::text IS NULL OR c.tried_at IS NULL)
    RETURNING c.subject
"""


async def try_again(conn: Conn, tenant_id: TenantId, month: date, subscription_id: str | None) -> Sequence[UUID]:
    """Retry a month's failed charges, on another subscription if one is given; return them.

    On another subscription only those that were certainly not charged: a charge on the old one would go unnoticed.
    """
    cursor = await conn.execute(_AGAIN, {"tenant": tenant_id, "month": month, "subscription": subscription_id})
    return [subject for (subject,) in await cursor.fetchall()]
