"""The daily check: each receipt with a verdict is in a stored package, chains are whole, and objects are there."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import structlog
import trio

from fe.archiving.packing import ArchiveDay, difference, manifest_location, stamp_location
from fe.clock import Clock
from fe.ecf.ids import first_id, moment_of
from fe.objects.storage import ObjectStore
from fe.store.postgres.db import Database
from fe.store.records import archive, archive_checks
from fe.store.records.archive import Package, PackageChain
from fe.store.records.archive_checks import CheckedPage, CheckedPeriod, MissingEvidence
from fe.store.records.archive_looks import NO_ID

_log = structlog.get_logger(__name__)

#: How far back the daily check counts receipts; `fe archive check` counts all.
RECENT = timedelta(days=35)
#: Verdicts of the last day may still be on their way into the archive.
_LATE = timedelta(days=1)
#: Where a chain has time stamps, a stored package gets its own within this time.
_LATE_STAMP = timedelta(days=2)
#: Receipts, and packages, that are looked at together.
_PAGE, _PACKAGES_TOGETHER = 1000, 100
#: Seconds between two lines of the log about a check.
_LOG_SECONDS = 30.0
#: Faults that are recorded of one chain.
_MOST = 20
_EVER = datetime.fromisoformat("2000-01-01T00:00:00Z")


async def check(
    db: Database,
    store: ObjectStore,
    clock: Clock,
    chain: PackageChain,
    *,
    all_receipts: bool = False,
    reads: bool = False,
) -> tuple[int, list[str]]:
    """Compare the database with the archive; record and return the receipts missing, and the faults.

    With `reads` every object is read and its digest computed, else sizes are compared. Missing receipts are planned
    again. Raises StorageError.
    """
    now = clock()
    until = ArchiveDay.at(now - _LATE).until
    missing = await find_missing(db, chain, None if all_receipts else until - RECENT, until)
    faults = await _faults(db, store, chain, now - _LATE_STAMP, reads)
    await db.run(archive_checks.note_check, chain, now, missing.count, faults[:_MOST])
    if missing.unplanned_since is not None:
        await db.run(archive_checks.plan_again, chain, missing.unplanned_since)
    return missing.count, faults


async def find_missing(
    db: Database, chain: PackageChain, since: datetime | None, until: datetime, *, page: int = _PAGE
) -> MissingEvidence:
    """Count the evidence of a period that is in no stored package; `since` None: of the whole history.

    Each page is read in transactions of its own, so no statement's cost grows with the history.
    """
    tenant, period = chain.tenant_id, CheckedPeriod(chain.environment, since or _EVER, until, page)
    found = await db.run_for(tenant, archive_checks.missing_voidings, period)
    looks: tuple[tuple[Callable[..., Awaitable[CheckedPage]], Any], ...] = (
        (archive_checks.missing_verdicts, period.since),
        (archive_checks.missing_received, first_id(period.since)),
        (archive_checks.missing_given_up, NO_ID),
    )
    log_at = trio.current_time() + _LOG_SECONDS
    for look, start in looks:
        after = start
        while after is not None:
            looked = await db.run_for(tenant, look, period, after)
            found, after = found + looked.missing, looked.after
            if after is not None and trio.current_time() >= log_at:
                log_at = trio.current_time() + _LOG_SECONDS
                reached = after if isinstance(after, datetime) else moment_of(after)
                _log.info("archive is being checked", tenant=tenant, reached=reached.isoformat(), missing=found.count)
    return found


async def _faults(
    db: Database, store: ObjectStore, chain: PackageChain, stamped_before: datetime, reads: bool
) -> list[str]:
    """Find packages that do not follow the one before, objects that are absent or differ, and missing time stamps."""
    faults, unstamped, has_stamps = list[str](), list[str](), False
    above, previous = 0, None
    listed: Mapping[str, int] | None = None
    while packages := await db.run_for(
        chain.tenant_id, archive.listed_from, chain.environment, above, limit=_PACKAGES_TOGETHER
    ):
        for package in packages:
            if package.number != above + 1 or package.previous != previous:
                faults.append(f"package {package.number} does not follow package {above}")
            above, previous = package.number, package.manifest
            has_stamps = has_stamps or package.stamped_at is not None
            if package.stamped_at is None and package.stored_at is not None and package.stored_at < stamped_before:
                unstamped.append(f"package {package.number} has no time stamp")
        if listed is None:
            prefix = f"{chain.tenant_id}/{chain.environment}/"
            listed = await trio.to_thread.run_sync(store.sizes, prefix, abandon_on_cancel=True)
        faults += await trio.to_thread.run_sync(
            partial(_objects, store, packages, listed, reads), abandon_on_cancel=True
        )
    return faults + (unstamped if has_stamps else [])


def _objects(store: ObjectStore, packages: list[Package], listed: Mapping[str, int], reads: bool) -> list[str]:
    """Find objects that are absent or differ. A list may be old, so an absent one is asked for by its name."""
    faults = []
    for package in packages:
        assert package.location is not None
        assert package.bytes is not None
        assert package.digest is not None
        if reads:
            wrong = difference(store, package.location, package.bytes, package.digest)
        else:
            size = listed.get(package.location)
            if size != package.bytes:
                size = store.size(package.location)
            wrong = None if size == package.bytes else f"{size} bytes instead of {package.bytes}" if size else "absent"
        if wrong is not None:
            faults.append(f"{package.location}: {wrong}")
        beside = [manifest_location(package.location)]
        beside += [stamp_location(package.location)] if package.stamped_at else []
        faults += [f"{name}: absent" for name in beside if name not in listed and store.size(name) is None]
    return faults
