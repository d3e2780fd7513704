"""The actor that keeps usage by day up to date and closes days that are over: one process at a time, for all."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, date, timedelta
from functools import partial

import structlog
import trio

from fe.clock import Clock
from fe.identifiers import TenantId
from fe.metering.failures import failures_of_metering
from fe.monitoring.metrics import Metrics
from fe.process import failpoints
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE
from fe.store.records import metering, request_counts

_log = structlog.get_logger(__name__)

#: Seconds between runs of the aggregation.
_ROUND_SECONDS = 5.0
#: A leader that is silent for this long loses the lead.
_LEAD = timedelta(seconds=60)
_SAY_SO_SECONDS = 20.0
_CHORES_SECONDS = 3600.0

#: More duties of the leader, once per cycle.
Duty = Callable[[], Awaitable[None]]


class Aggregator:
    """Folds what has ended into the days and closes them. Safe beside others: the lead only saves work."""

    def __init__(self, db: Database, clock: Clock, metrics: Metrics, holder: str) -> None:
        self._db = db
        self._clock = clock
        self._metrics = metrics
        self._holder = holder
        self._said_at = float("-inf")
        self._chores_at = float("-inf")
        self._failures = failures_of_metering()

    async def run(self, *duties: Duty) -> None:
        """Aggregate and run the `duties` in cycles until cancelled. The next cycle continues where this one stopped.

        A failure for one tenant or duty does not stop the others. It is logged, and the loop counts as silent
        (fe_actor_silent_seconds) until a cycle has no failures.
        """
        while True:
            self._failures = failures_of_metering()
            try:
                if await self.round():
                    for duty in duties:
                        with self._failures.apart():
                            await duty()
                self._failures.raise_any()
            except ANY_OF_THE_DATABASE as error:
                _log.warning("usage could not be brought up to date", error=error)
                # Not from the start: the first turn may count whole histories.
                self._metrics.watch_silence("metering")
            else:
                self._metrics.turned("metering")
            await trio.sleep(_ROUND_SECONDS)

    async def round(self) -> bool:
        """Aggregate all tenants' days if this process leads; False if it does not."""
        db = self._db
        if not await self._leads():
            return False
        if not await self._each(await db.run(metering.tenants_without_days), partial(restart, db)):
            return False
        if not await self._each(await db.run(metering.tenants_with_ends), partial(fold_all, db)):
            return False
        today = self._clock().astimezone(UTC).date()
        if not await self._each(await db.run(metering.tenants_to_close, today), partial(self._close, today)):
            return False
        if trio.current_time() - self._chores_at >= _CHORES_SECONDS:
            await self._db.run(request_counts.forget_processes)
            self._chores_at = trio.current_time()
        return True

    async def _each(self, tenants: Sequence[TenantId], work: Callable[[TenantId], Awaitable[None]]) -> bool:
        """Do it for each while we lead; tell whether we still do."""
        for tenant_id in tenants:
            with self._failures.apart(tenant_id):
                await work(tenant_id)
            if not await self._leads():
                return False
        return True

    async def _close(self, today: date, tenant_id: TenantId) -> None:
        while not await self._db.run(metering.close, tenant_id, today):
            if not await self._leads() or not await _fold(self._db, tenant_id):
                break

    async def _leads(self) -> bool:
        now = trio.current_time()
        if now - self._said_at < _SAY_SO_SECONDS:
            return True
        leads = await self._db.run(metering.take_duty, "metering", self._holder, _LEAD)
        self._said_at = now if leads else float("-inf")
        return leads


async def fold_all(db: Database, tenant_id: TenantId) -> None:
    """Fold a tenant's notes into days, in batches that keep each statement short."""
    while await _fold(db, tenant_id):
        pass


async def _fold(db: Database, tenant_id: TenantId) -> int:
    failpoints.reached("folding")
    many = await db.run(metering.fold, tenant_id)
    failpoints.reached("folded")
    return many


async def restart(db: Database, tenant_id: TenantId) -> None:
    """Rebuild a tenant's days from all of its submissions."""
    await db.transact(partial(_restart, tenant_id=tenant_id))


async def rebuild(db: Database, tenant_id: TenantId, clock: Clock) -> None:
    """Count a tenant's days again from its submissions, and close those that are over."""
    await restart(db, tenant_id)
    await fold_all(db, tenant_id)
    while not await db.run(metering.close, tenant_id, clock().astimezone(UTC).date()):
        await fold_all(db, tenant_id)


async def _restart(conn: Conn, *, tenant_id: TenantId) -> None:
    await metering.patiently(conn)
    await metering.restart(conn, tenant_id)
