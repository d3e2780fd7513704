"""The archiver: puts the evidence of finished receipts into packages, one process at a time for all tenants."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from itertools import count

import structlog
import trio

from fe.archiving.checking import check
from fe.archiving.packing import Archive, ArchiveDay
from fe.archiving.stamping import Stamper, StampFailed
from fe.clock import Clock
from fe.monitoring.metrics import Metrics
from fe.objects.storage import ObjectStore, StorageError
from fe.store.postgres.db import Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE
from fe.store.records import archive, archive_checks, metering
from fe.store.records.archive import PackageChain

_log = structlog.get_logger(__name__)

#: Seconds between rounds. A day's packages are due once a day.
_ROUND_SECONDS = 120.0
#: A leader that is silent for this long loses the lead. It may then meet its successor: both make the same bytes.
_LEAD = timedelta(minutes=3)
#: Seconds between renewals while a task works, which may take hours.
_RENEWAL = 30.0
#: Failures of the store or the time stamp authority in one task, after which the other chains wait for the next round.
_PATIENCE = 3
#: Fault of an error that no part of the archive knows.
_UNEXPECTED = "unexpected"


class Archiver:
    """Archives what is due and checks each chain once a day."""

    def __init__(
        self,
        db: Database,
        work: Archive,
        store: ObjectStore,
        clock: Clock,
        metrics: Metrics,
        holder: str,
        *,
        stamper: Stamper | None = None,
        scale: float,
        stopping: trio.Event,
    ) -> None:
        """Store the parts it works with. Without a stamper packages get no time stamps."""
        self._db = db
        self._work = work
        self._store = store
        self._clock = clock
        self._metrics = metrics
        self._holder = holder
        self._stamper = stamper
        self._seconds = _ROUND_SECONDS * scale
        self._stopping = stopping
        self._turns = count(1)
        #: Turn at which a task failed for a chain.
        self._failed_at: dict[tuple[str, PackageChain], int] = {}

    async def run(self) -> None:
        """Work until the service stops."""
        while not self._stopping.is_set():
            try:
                await self.round()
            except ANY_OF_THE_DATABASE as error:
                _log.warning("archiving waits for the database", error=error)
            with trio.move_on_after(self._seconds):
                await self._stopping.wait()

    async def round(self) -> None:
        """Archive and check everything that is due, while this process leads."""
        day = ArchiveDay.at(self._clock())
        if not await self._leads():
            return
        await self._each("archive", await self._db.run(archive.due, day.until), partial(self._drain, day))
        if self._stamper is not None:
            await self._each("stamp", await self._db.run(archive.chains_to_stamp), self._stamper.stamp)
        await self._each("check", await self._db.run(archive_checks.chains_to_check, day.until), self._check)

    async def _each(
        self, task: str, chains: list[PackageChain], work: Callable[[PackageChain], Awaitable[None]]
    ) -> None:
        """Work on chains, last on those that failed before, until the store or the authority has failed often.

        A database that is away raises at the next chain, as the lead cannot be renewed.
        """
        failures = 0
        for chain in sorted(chains, key=lambda one: self._failed_at.get((task, one), 0)):
            if self._stopping.is_set() or failures >= _PATIENCE or not await self._leads():
                return
            try:
                await self._while_leading(work, chain)
            except Exception as error:  # this chain's: the others go on
                failures += isinstance(error, StorageError | StampFailed)
                self._failed_at[task, chain] = next(self._turns)
                fault = self._failed(task, chain, error)
                if task == "archive":
                    await self._db.run(archive.note_fault, chain, fault)
            else:
                self._failed_at.pop((task, chain), None)

    async def _while_leading(self, work: Callable[[PackageChain], Awaitable[None]], chain: PackageChain) -> None:
        """Renew the lead while a task works; cancel it when the lead is lost or the service stops.

        Every step of a task may be repeated.
        """
        failed: Exception | None = None
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._keep_lead, nursery.cancel_scope)
            try:
                await work(chain)
            except Exception as error:  # raised below, not as a group
                failed = error
            nursery.cancel_scope.cancel()
        if failed is not None:
            raise failed

    async def _keep_lead(self, scope: trio.CancelScope) -> None:
        while True:
            with trio.move_on_after(_RENEWAL):
                await self._stopping.wait()
            with suppress(*ANY_OF_THE_DATABASE):  # the task meets the same error
                if self._stopping.is_set() or not await self._leads():
                    scope.cancel()
                    return

    async def _drain(self, day: ArchiveDay, chain: PackageChain) -> None:
        """Store all packages of a chain."""
        while package := await self._work.advance(chain, day):
            self._metrics.archive_receipts.inc(package.receipts)
            _log.info("package archived", tenant=chain.tenant_id, number=package.number, receipts=package.receipts)
            if self._stopping.is_set() or not await self._leads():
                return

    async def _check(self, chain: PackageChain) -> None:
        missing, faults = await check(self._db, self._store, self._clock, chain)
        if missing or faults:
            _log.error("archive differs", tenant=chain.tenant_id, missing=missing, faults=faults[:3])

    def _failed(self, task: str, chain: PackageChain, error: Exception) -> str:
        """Count and log a failure; return it in words that name no value of a row."""
        tenant = chain.tenant_id
        match error:
            case StorageError():
                fault, words = str(error.fault), str(error)
                _log.warning("the archive's store failed", tenant=tenant, fault=fault, error=error)
            case StampFailed():
                fault, words = "time-stamp", str(error)
                _log.warning("an archive package was not time-stamped", tenant=tenant, error=error)
            case _:
                fault, words = _UNEXPECTED, f"{_UNEXPECTED}: {type(error).__name__}"
                _log.error("a chain of the archive failed", tenant=tenant, task=task, exc_info=error)
        self._metrics.archive_failures.labels(fault).inc()
        return words

    async def _leads(self) -> bool:
        return await self._db.run(metering.take_duty, "archive", self._holder, _LEAD)
