"""The leader's billing duties: recount open months every hour, and close months that are over.

What a tenant owes is computed in the database: sql/functions/metering/close_month.sql.
"""

from collections import deque
from datetime import date, timedelta
from decimal import Decimal
from functools import partial

import structlog
import trio

from fe.clock import Clock
from fe.identifiers import TenantId
from fe.metering.failures import failures_of_metering
from fe.process import failpoints
from fe.store.postgres.db import Conn, Database
from fe.store.records import billing, metering
from fe.store.records.failures import Failures
from fe.store.records.months import month_before, month_of

_log = structlog.get_logger(__name__)

#: Delay before a month is closed, for verdicts of its last moments. Later verdicts are charged separately.
SETTLES = timedelta(hours=1)

#: Seconds per cycle for recounting and for closing; the next cycle continues. Both are below the leader's timeout, so
#: that no second leader starts beside it, and days are not delayed.
_TURN_SECONDS = 10.0
#: Seconds between recounts. A process that paused for longer starts from the beginning.
_HOUR_SECONDS = 3600.0


class Biller:
    """Reconciles and closes, for all tenants."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        #: Tenants still to be recounted, and the time of the last progress.
        self._to_count: deque[TenantId] = deque()
        self._went_on = float("-inf")
        #: The month that was last tried to be closed.
        self._tried = (date.min, TenantId(0))

    async def round(self) -> None:
        """Do the due work for a limited time; most rounds have none.

        Raises DatabaseUnavailable; then the next round continues. Raises PartlyDone if some months failed: the next
        round retries a month that could not be closed; one that could not be counted is retried after an hour.
        """
        failures = failures_of_metering()
        if await self._db.run(billing.round_is_due):
            await self._go_on(failures)
        else:
            self._to_count.clear()
        await self._close_some(failures)
        failures.raise_any()

    async def _close_some(self, failures: Failures) -> None:
        """Close months that are over, from the one after that which was tried last: one that fails is tried in turn."""
        began = trio.current_time()
        due = await self._db.run(billing.months_to_close, month_of(self._clock() - SETTLES).date())
        for tenant_id, month in sorted(due, key=lambda one: (one[1], one[0]) <= self._tried):
            if trio.current_time() - began >= _TURN_SECONDS:
                break
            self._tried = (month, tenant_id)
            with failures.apart(tenant_id):
                if await close_month(self._db, tenant_id, month, self._clock) is None:
                    _log.warning("a month is over by our clock, and not by the server's", month=month)

    async def _go_on(self, failures: Failures) -> None:
        """Count open months again, of one tenant after the other."""
        began = trio.current_time()
        if not self._to_count or began - self._went_on >= _HOUR_SECONDS:
            self._to_count = deque(await self._db.run(billing.billed_tenants))
        self._went_on = began
        while self._to_count and trio.current_time() - began < _TURN_SECONDS:
            with failures.apart(self._to_count[0]):
                await self._reconcile(self._to_count[0])
            self._to_count.popleft()
        if not self._to_count:
            await self._db.run(billing.round_ended)

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
