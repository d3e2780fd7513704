"""The rescuer: gives this process's heartbeat, and frees the rows of workers that are silent."""

from collections.abc import Sequence
from datetime import timedelta

import structlog
import trio

from fe.queue.lease_guard import BEAT_SECONDS, SILENCE, LeaseGuard
from fe.queue.stage import StageContext
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.queue import clock_set_back, workers
from fe.store.queue.tables import AnyTable

_log = structlog.get_logger(__name__)

#: Rows that more than one worker died over are freed over this time, not all at the same moment.
APART = timedelta(minutes=1)


async def run_rescuer(
    context: StageContext, tables: Sequence[AnyTable], lease_guard: LeaseGuard, scale: float = 1.0
) -> None:
    """Give a heartbeat and free rows of silent workers, until cancelled; then sign off.

    `scale` shortens heartbeat, silence and spread alike. Before that it repairs moments that lie in the future because
    the server's clock was set back: no claim lasts longer than the lease.

    `tables` are all queue tables of this release, also those that this process does not claim from. It signs off only
    when cancelled: after a crash of this actor the others still work on their rows.
    """
    db, metrics = context.db, context.metrics
    metrics.watch_silence("rescuer")
    try:
        while True:
            try:
                begun = lease_guard.now()
                await db.run(workers.seen, context.holder)
                lease_guard.renewed(begun)
                await db.run(clock_set_back.pull_workers_back)
                if (by := await db.run(clock_set_back.set_back_by)) is not None:
                    await db.run(clock_set_back.mend, tables, by, context.lease)
                rescued = await db.run(workers.rescue, tables, SILENCE * scale, APART * scale)
            except DatabaseUnavailable as error:
                _log.warning("heartbeat failed", error=error)
            else:
                metrics.turned("rescuer")
                for stage in rescued:
                    metrics.rescued.labels(stage).inc()
                if rescued:
                    _log.warning("rows of silent workers are due again", rows=len(rescued))
                    context.wakeups.notify(*set(rescued))
            await trio.sleep(BEAT_SECONDS * scale)
    except trio.Cancelled:
        with trio.move_on_after(2, shield=True):
            try:
                await db.run(workers.gone, tables, context.holder)
            except DatabaseUnavailable:
                _log.warning("this worker could not sign off; its silence will show")
        raise
