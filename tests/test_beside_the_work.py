"""Background tasks of a process go on after database errors and never stop the process's main work."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import psycopg.errors
import pytest
import trio
import trio.testing

from fe.actors.announced_maintenance import honour_maintenance
from fe.actors.partition_maintenance import maintain_partitions
from fe.actors.webhook_watch import watch_webhooks
from fe.authority.client import MaintenanceWindow
from fe.clock import ClockCheck
from fe.ecf.ids import new_id
from fe.identifiers import SubmissionId
from fe.monitoring.collectors import Collectors
from fe.monitoring.metrics import Metrics
from fe.monitoring.observers import watch_database, watch_outbox, watch_writing
from fe.monitoring.service_status import StatusRecorder
from fe.portal.app import PortalApp
from fe.portal.plan_runner import PlanRunner
from fe.store.postgres.db import Database
from fe.store.queue.wakeups import Wakeups
from fe.store.records.verdict_notices import VerdictNotices

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)

#: For longer than five crashes may take, and than what is done least often waits.
_SECONDS = 3 * 3600.0

Beside = Callable[["Refusing"], Awaitable[None]]


class Refusing(Database):
    """A database that answers, and does nothing: no room for one more notification, say (54000)."""

    def __init__(self) -> None:
        self.asked = 0

    async def run(self, *_: Any, **__: Any) -> Any:
        self.asked += 1
        await trio.lowlevel.checkpoint()
        raise psycopg.errors.ProgramLimitExceeded

    async def transact(self, *_: Any, **__: Any) -> Any:
        await self.run()

    async def listen(self, *_: Any, **__: Any) -> None:
        await trio.sleep_forever()


async def _wakeups(db: Refusing) -> None:
    wakeups = Wakeups(db)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(wakeups.run)
        while True:
            wakeups.notify("sign")
            await trio.sleep(600)


async def _verdicts(db: Refusing) -> None:
    verdicts = VerdictNotices(db)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(verdicts.run)
        while True:
            verdicts.notify(SubmissionId(new_id(NOW)))
            await trio.sleep(600)


async def _maintenance(db: Refusing) -> None:
    async def windows(_: str) -> list[MaintenanceWindow]:
        return [MaintenanceWindow(None, NOW, NOW.replace(hour=13))]

    authority: Any = SimpleNamespace(maintenance_windows=windows)
    await honour_maintenance(db, authority, "the-key", lambda: NOW)


async def _stock(db: Refusing) -> None:
    await Collectors(db, Metrics()).run()


async def _status(db: Refusing) -> None:
    await StatusRecorder(db, lambda: NOW, Metrics(), lambda: None, front=db, reception=db, is_worker=True).run()


async def _portal(db: Refusing) -> None:
    class Running:
        def running(self) -> trio.Nursery:
            return trio.open_nursery()  # type: ignore[return-value]  # a block without anything in it

    portal: Any = SimpleNamespace(
        db=db,
        operators=None,
        clock=lambda: NOW,
        metrics=Metrics(),
        trusted_proxies=(),
        submitting=Running(),
        printers=Running(),
    )
    await PortalApp(portal).run()


BESIDE: dict[str, Beside] = {
    "wakeups": _wakeups,
    "verdicts": _verdicts,
    "database watch": lambda db: watch_database(db, ClockCheck(lambda: NOW), Metrics()),
    "outbox watch": lambda db: watch_outbox(db, Metrics(), True),
    "write watch": lambda db: watch_writing(db, Metrics()),
    "status": _status,
    "housekeeping": lambda db: maintain_partitions(db, lambda: NOW),
    "maintenance": _maintenance,
    "gauges": _stock,
    "webhook watch": lambda db: watch_webhooks(db, lambda: NOW),
    "portal": _portal,
    "replay plans": lambda db: PlanRunner(db, "me", lambda: NOW).run(),
}


@pytest.mark.parametrize("beside", BESIDE.values(), ids=BESIDE)
async def test_what_is_refused_is_tried_again_later(beside: Beside, autojump_clock: trio.testing.MockClock) -> None:
    db = Refusing()

    with trio.move_on_after(_SECONDS) as time:
        await beside(db)

    assert time.cancelled_caught, "it has ended by itself"
    assert db.asked > 1
