"""Periodic checks: event loop lag, database, outbox depth."""

from datetime import timedelta

import structlog
import trio

from fe.clock import ClockCheck
from fe.monitoring.collectors import EVERYWHERE
from fe.monitoring.metrics import Metrics, show
from fe.monitoring.outages import Outage
from fe.store.postgres import readiness
from fe.store.postgres.clocks import compare_clocks, time_of_day
from fe.store.postgres.db import Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE, DatabaseUnavailable
from fe.store.queue import outbox

_log = structlog.get_logger(__name__)

_BEAT_SECONDS = 0.25
_LOOK_SECONDS = 5.0
#: Timeout of the smallest query.
_ANSWER_SECONDS = 5.0
#: After a longer round trip the difference of clocks that may agree is too vague to export.
_CLOCK_READ_WITHIN = timedelta(seconds=1)
#: Counting waiting rows takes time in proportion: at most a fiftieth of all time, but at least twice a minute.
_LOOK_SHARE, _LOOK_SECONDS_MAX = 50, 30.0


async def heartbeat(metrics: Metrics) -> None:
    """Measure how late the event loop runs a task that is due, until cancelled."""
    due = trio.current_time()
    while True:
        due = max(due + _BEAT_SECONDS, trio.current_time())
        await trio.sleep_until(due)
        metrics.loop_lag.observe(max(0.0, trio.current_time() - due))


async def watch_database(db: Database, check: ClockCheck, metrics: Metrics) -> None:
    """Export whether the database answers and how far this process's clock is ahead of its own, until cancelled.

    Runs in every process. `check` learns of each comparison; the log says when the clocks part and when they agree.
    """
    agreed = True
    away = Outage("database watch")
    while True:
        try:
            with trio.fail_after(_ANSWER_SECONDS):
                found = await db.run(compare_clocks, check)
        except (*ANY_OF_THE_DATABASE, trio.TooSlowError) as error:
            metrics.database_reachable.set(0)
            away.failed(error)
        else:
            away.succeeded()
            metrics.database_reachable.set(1)
            check.compared(found)
            if found.is_wrong or found.most - found.least <= _CLOCK_READ_WITHIN:
                metrics.clock_ahead.set(found.halfway.total_seconds())
            fault = check.fault()
            if agreed and fault is not None:
                _log.error("signing stopped: the clock is wrong", reason=fault, runbook="clock-skew.md")
            elif fault is None and not agreed:
                _log.info("signing resumed: the clock agrees with the database's")
            agreed = fault is None
        await trio.sleep(_LOOK_SECONDS)


async def watch_writing(front: Database, metrics: Metrics) -> None:
    """Export whether the database takes writes, until cancelled: a full disk or a standby answers reads only.

    A database that does not answer leaves the last value: that is `fe_database_reachable`.
    """
    while True:
        try:
            with trio.fail_after(_ANSWER_SECONDS):
                await front.run(time_of_day)
                writable = metrics.takes_writes = metrics.findings.writable = await _takes_writes(front)
                metrics.database_writable.set(writable)
        except (*ANY_OF_THE_DATABASE, trio.TooSlowError):
            pass  # `watch_database` logs it
        await trio.sleep(_LOOK_SECONDS)


async def _takes_writes(front: Database) -> bool:
    try:
        await front.run(readiness.probe_writing)
    except DatabaseUnavailable as error:
        _log.error("the database takes no writes", error=error)
        return False
    return True


async def watch_outbox(db: Database, metrics: Metrics, is_worker: bool) -> None:
    """Export how many rows wait and how late the oldest is, until cancelled.

    Fronts export it too, so that lateness shows while no actor runs: use the maximum, not the sum.
    """
    metrics.watch_silence("outbox watch")
    look = outbox.depth if is_worker else outbox.depth_for_front
    while True:
        began = trio.current_time()
        try:
            rows = await db.run(look)
        except ANY_OF_THE_DATABASE as error:
            _log.warning("the outbox could not be looked at", error=error)
        else:
            metrics.turned("outbox watch")
            counts, lateness = dict(EVERYWHERE), dict(EVERYWHERE)
            for stage, environment, count, late in rows:
                counts[stage, environment], lateness[stage, environment] = count, max(0.0, late)
            show(metrics.outbox_rows, counts)
            show(metrics.outbox_late, lateness)
            metrics.findings.late = lateness
        took = trio.current_time() - began
        await trio.sleep(min(max(_LOOK_SECONDS, took * _LOOK_SHARE), _LOOK_SECONDS_MAX))
