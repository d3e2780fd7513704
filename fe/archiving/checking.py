"""The daily check: each receipt with a verdict is in a stored package, chains are whole, and objects are there."""

from datetime import datetime, timedelta
from functools import partial

import trio

from fe.archiving.packing import ArchiveDay, difference, manifest_location, stamp_location
from fe.clock import Clock
from fe.objects.storage import ObjectStore
from fe.store.postgres.db import Database
from fe.store.records import archive
from fe.store.records.archive import Package, PackageChain

#: How far back the daily check counts receipts; `fe archive check` counts all.
RECENT = timedelta(days=35)
#: Verdicts of the last day may still be on their way into the archive.
_LATE = timedelta(days=1)
#: Where a chain has time stamps, a stored package gets its own within this time.
_LATE_STAMP = timedelta(days=2)
_PAGE = 1000
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
    since = _EVER if all_receipts else until - RECENT
    missing = await db.run(archive.count_missing, chain, since, until)
    packages = await _packages(db, chain)
    faults = _breaks(packages) + _unstamped(packages, now - _LATE_STAMP)
    faults += await trio.to_thread.run_sync(partial(_objects, store, chain, packages, reads), abandon_on_cancel=True)
    await db.run(archive.note_check, chain, now, missing, faults[:_MOST])
    if missing:
        await db.run(archive.plan_again, chain, since)
    return missing, faults


async def _packages(db: Database, chain: PackageChain) -> list[Package]:
    found: list[Package] = []
    below: int | None = None
    while page := await db.run(archive.listed, chain.tenant_id, chain.environment, limit=_PAGE, below=below):
        found += page
        below = page[-1].number
    return found[::-1]


def _breaks(packages: list[Package]) -> list[str]:
    """Find packages that do not follow the one before."""
    faults, previous = [], None
    for expected, package in enumerate(packages, 1):
        if package.number != expected or package.previous != previous:
            faults.append(f"package {package.number} does not follow package {expected - 1}")
        previous = package.manifest
    return faults


def _unstamped(packages: list[Package], before: datetime) -> list[str]:
    """Find packages that wait for a time stamp, in a chain that has some."""
    if not any(package.stamped_at for package in packages):
        return []
    return [
        f"package {one.number} has no time stamp"
        for one in packages
        if one.stamped_at is None and one.stored_at is not None and one.stored_at < before
    ]


def _objects(store: ObjectStore, chain: PackageChain, packages: list[Package], reads: bool) -> list[str]:
    """Find objects that are absent or differ. A list may be old, so an absent one is asked for by its name."""
    listed = store.sizes(f"{chain.tenant_id}/{chain.environment}/") if packages else {}
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
