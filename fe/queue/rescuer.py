"""Leases of dead workers end early: a process says that it lives, and frees the rows of those that are silent."""

from collections.abc import Sequence
from datetime import timedelta

import structlog
import trio

from fe.monitoring.metrics import Metrics
from fe.queue.lease_guard import BEAT_SECONDS, SILENCE, LeaseGuard
from fe.store.postgres.db import Database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.queue import clock_set_back, workers
from fe.store.queue.tables import AnyTable
from fe.store.queue.wakeups import Wakeups

_log = structlog.get_logger(__name__)

#: Over this time are spread the rows of workers of which each was not the first to die over it.
APART = timedelta(minutes=1)


async def run_rescuer(
    db: Database,
    tables: Sequence[AnyTable],
    wakeups: Wakeups,
    metrics: Metrics,
    holder: str,
    lease_guard: LeaseGuard,
    scale: float = 1.0,
    lease: timedelta = timedelta(minutes=1),
) -> None:
    """Beat and look, until cancelled; then sign off. `scale` shortens beat, silence and spread alike.

    What lies in the future because the server's clock was set back is mended first: no claim lasts longer than `lease`.

    `tables` are all queue tables of this release, whichever of them this process claims from. It signs off only then:
    after a crash of this actor the others still work on what is held.
    """
    metrics.watch_silence("rescuer")
    try:
        while True:
            try:
                begun = lease_guard.now()
                await db.run(workers.seen, holder)
                lease_guard.renewed(begun)
                await db.run(clock_set_back.pull_workers_back)
                if (by := await db.run(clock_set_back.set_back_by)) is not None:
                    await db.run(clock_set_back.mend, tables, by, lease)
                rescued = await db.run(workers.rescue, tables, SILENCE * scale, APART * scale)
            except DatabaseUnavailable as error:
                _log.warning("heartbeat failed", error=error)
            else:
                metrics.turned("rescuer")
                for stage in rescued:
                    metrics.rescued.labels(stage).inc()
                if rescued:
                    _log.warning("rows of silent workers are due again", rows=len(rescued))
                    wakeups.notify(*set(rescued))
            await trio.sleep(BEAT_SECONDS * scale)
    except trio.Cancelled:
        with trio.move_on_after(2, shield=True):
            try:
                await db.run(workers.gone, tables, holder)
            except DatabaseUnavailable:
                _log.warning("this worker could not sign off; its silence will show")
        raise
