"""The archiver: puts the evidence of finished receipts into packages, one process at a time for all tenants."""

from datetime import timedelta

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
from fe.store.records import archive, metering
from fe.store.records.archive import PackageChain

_log = structlog.get_logger(__name__)

#: Seconds between rounds. A day's packages are due once a day.
_ROUND_SECONDS = 120.0
#: A leader that is silent for this long loses the lead. It may then meet its successor: both make the same bytes.
_LEAD = timedelta(minutes=3)
#: Failures of the store in one round, after which the others wait for the next.
_PATIENCE = 3


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
        failures = 0
        day = ArchiveDay.at(self._clock())
        if not await self._leads():
            return
        for chain in await self._db.run(archive.due, day.until):
            if failures >= _PATIENCE or not await self._drain(chain, day):
                failures += 1
            if failures >= _PATIENCE or self._stopping.is_set():
                return
        await self._stamp()
        for chain in await self._db.run(archive.chains_to_check, day.until):
            if self._stopping.is_set() or not await self._leads():
                return
            if not await self._check(chain):
                failures += 1
            if failures >= _PATIENCE:
                return

    async def _drain(self, chain: PackageChain, day: ArchiveDay) -> bool:
        """Store all packages of a chain; False when the store failed."""
        try:
            while not self._stopping.is_set() and await self._leads():
                package = await self._work.advance(chain, day)
                if package is None:
                    break
                self._metrics.archive_receipts.inc(package.receipts)
                _log.info("package archived", tenant=chain.tenant_id, number=package.number, receipts=package.receipts)
        except StorageError as error:
            self._failed(chain, error)
            await self._db.run(archive.note_fault, chain, str(error))
            return False
        return True

    async def _stamp(self) -> None:
        """Stamp what is stored. Packages wait for a time stamp authority that is down, and nothing else does."""
        if self._stamper is None:
            return
        try:
            for chain in await self._db.run(archive.chains_to_stamp):
                if self._stopping.is_set() or not await self._leads():
                    return
                await self._stamper.stamp(chain)
        except StampFailed as error:
            self._metrics.archive_failures.labels("time-stamp").inc()
            _log.warning("an archive package was not time-stamped", error=error)
        except StorageError as error:
            self._metrics.archive_failures.labels(error.fault).inc()
            _log.warning("the archive's store failed", fault=error.fault, error=error)

    async def _check(self, chain: PackageChain) -> bool:
        try:
            missing, faults = await check(self._db, self._store, self._clock, chain)
        except StorageError as error:
            self._failed(chain, error)
            return False
        if missing or faults:
            _log.error("archive differs", tenant=chain.tenant_id, missing=missing, faults=faults[:3])
        return True

    def _failed(self, chain: PackageChain, error: StorageError) -> None:
        self._metrics.archive_failures.labels(error.fault).inc()
        _log.warning("the archive's store failed", tenant=chain.tenant_id, fault=error.fault, error=error)

    async def _leads(self) -> bool:
        return await self._db.run(metering.take_duty, "archive", self._holder, _LEAD)
