"""What whoever leads does for billing: counts open months again every hour, and closes months that are over."""

from datetime import date, timedelta
from decimal import Decimal
from functools import partial

import structlog

from fe import failpoints
from fe.clock import Clock
from fe.identifiers import TenantId
from fe.metering.failures import Failures
from fe.metering.months import month_before, month_of
from fe.store import billing, metering
from fe.store.postgres.db import Conn, Database

_log = structlog.get_logger(__name__)

#: A month is closed so long after its end: verdicts of its last moments are written down by then. What comes later
#: still is charged by itself.
SETTLES = timedelta(hours=1)


class Biller:
    """Reconciles and closes, for all tenants."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def round(self) -> None:
        """Do what is due: nothing, most of the time.

        Raises DatabaseUnavailable; then the next turn goes on. Raises PartlyDone when it failed for some: a month that
        could not be closed is tried again the next turn, one that could not be counted in an hour.
        """
        failures = Failures()
        if await self._db.run(billing.round_is_due):
            for tenant_id in await self._db.run(billing.billed_tenants):
                with failures.apart(tenant_id):
                    await self._reconcile(tenant_id)
            await self._db.run(billing.round_ended)
        for tenant_id, month in await self._db.run(billing.months_to_close, month_of(self._clock() - SETTLES).date()):
            with failures.apart(tenant_id):
                if await close_month(self._db, tenant_id, month, self._clock) is None:
                    _log.warning("a month is over by our clock, and not by the server's", month=month)
        failures.tell()

    async def _reconcile(self, tenant_id: TenantId) -> None:
        this = month_of(self._clock())
        for month in (month_before(this).date(), this.date()):
            drift = await reconcile_month(self._db, tenant_id, month)
            if drift:
                _log.error("billing had miscounted, and is put right", tenant_id=tenant_id, month=month, drift=drift)


async def reconcile_month(db: Database, tenant_id: TenantId, month: date) -> int | None:
    """Count a month again and put it right; by how many it was wrong, None when nothing of it is billed."""
    return await db.transact(partial(_reconcile, tenant_id=tenant_id, month=month))


async def _reconcile(conn: Conn, *, tenant_id: TenantId, month: date) -> int | None:
    await metering.patiently(conn)
    return await billing.reconcile(conn, tenant_id, month)


async def close_month(db: Database, tenant_id: TenantId, month: date, clock: Clock) -> Decimal | None:
    """Close a month and charge what is not charged yet; the new charge's amount, None when the month is not over."""
    failpoints.reached("closing")
    amount = await db.transact(partial(_close, tenant_id=tenant_id, month=month, clock=clock))
    failpoints.reached("closed")
    return amount


async def _close(conn: Conn, *, tenant_id: TenantId, month: date, clock: Clock) -> Decimal | None:
    await metering.patiently(conn)
    charge_id = await billing.next_charge_id(conn, tenant_id, month)
    return await billing.close(conn, tenant_id, month, charge_id=charge_id, at=clock())
