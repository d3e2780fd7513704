"""Make a package from the database, store it, and read it back. Every step may be repeated after a crash."""

import hashlib
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import partial
from pathlib import Path
from uuid import UUID

import structlog
import trio

from fe.archive.evidence import Addition, Evidence
from fe.archive.keys import ArchiveKey
from fe.archive.package import PackageHeading, PackageWriter, PackedEntry, Sealed, pack_entries, package_name
from fe.archiving.certificates import Chains
from fe.clock import Clock
from fe.ecf.dates import ZONE
from fe.objects.storage import ObjectStore, StorageError, StorageFault
from fe.offload.pool import Apart, ApartFailed
from fe.process import failpoints
from fe.store.postgres.db import Conn, Database
from fe.store.records import archive
from fe.store.records.archive import Package, PackageChain
from fe.store.records.archive_evidence import Position, read_page
from fe.store.records.archive_planning import Planned, plan

_log = structlog.get_logger(__name__)

#: Receipts that are read from the database and written to the package at once: few, so that each step of the loop is
#: short.
_TOGETHER = 25
#: Key of the work in the pool of processes: the tenants' packages follow one another.
_APART = "archive"
#: Bytes of documents of one package; a larger receipt has a package of its own.
MOST_BYTES = 64 * 1024 * 1024
#: A day is planned this long after its end, when its last transactions have ended.
_SETTLED = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class ArchiveDay:
    """The last day of Santo Domingo that is over, and its end."""

    day: date
    until: datetime

    @classmethod
    def at(cls, now: datetime) -> "ArchiveDay":
        """Return the day that may be archived at a time."""
        today = (now - _SETTLED).astimezone(ZONE).date()
        return cls(today - timedelta(days=1), datetime.combine(today, time(), ZONE))


@dataclass(frozen=True, slots=True)
class _Made:
    sealed: Sealed
    size: int
    digest: bytes


class Archive:
    """Writes the packages of all chains, one at a time."""

    def __init__(
        self,
        db: Database,
        store: ObjectStore,
        key: ArchiveKey,
        clock: Clock,
        chains: Chains,
        *,
        most: int,
        apart: Apart | None = None,
    ) -> None:
        """`most`: receipts in one package.

        With `apart` it packs them in its processes and pauses after each step as long as the step took, so that POSTs
        beside it are as fast as without it. Without, it packs in a thread, at full speed.
        """
        self._db = db
        self._store = store
        self._key = key
        self._clock = clock
        self._chains = chains
        self._most = most
        self._apart = apart
        self._threads = trio.CapacityLimiter(1)

    async def advance(self, chain: PackageChain, day: ArchiveDay) -> Package | None:
        """Plan, make and store the next package of a chain; None when nothing is left. Raises StorageError."""
        planning = partial(plan, until=day.until, day=day.day, most=self._most, most_bytes=MOST_BYTES)
        while (planned := await self._db.transact(planning, chain, at=self._clock())) is Planned.PASSED:
            pass
        if planned is Planned.NOTHING:
            return None
        failpoints.reached("packing")
        package = await self._db.run(archive.open_package, chain)
        if package is None:  # another process was faster
            return None
        with tempfile.TemporaryDirectory(prefix="fe-archive-") as folder:
            draft, manifest = Path(folder, "package.zip"), Path(folder, "manifest.json")
            made, refused = await self._make(package, draft, manifest)
            location = location_of(package, made.digest)
            if refused or package.digest != made.digest:
                await self._db.transact(self._record, package, made, refused, location)
            failpoints.reached("packed")
            keep = partial(_keep, self._store, location, draft, manifest, made)
            await trio.to_thread.run_sync(keep, abandon_on_cancel=True)
        await self._db.run(archive.mark_stored, package, made.digest, self._clock())
        failpoints.reached("archived")
        return package

    async def _make(self, package: Package, draft: Path, manifest: Path) -> tuple[_Made, list[tuple[Evidence, str]]]:
        """Write a package to a file from what its plan named: the same bytes every time."""
        heading = PackageHeading(
            package.tenant_id,
            package.environment,
            package.number,
            package.day,
            package.planned_at,
            package.previous,
        )
        refused: list[tuple[Evidence, str]] = []
        with draft.open("xb") as sink:
            writer = PackageWriter(sink, heading, self._key)
            position: Position | None = Position()
            while position is not None:
                began = trio.current_time()
                evidence, position = await self._db.transact(read_page, package, position, _TOGETHER)
                if evidence:
                    packed = await self._pack(package, evidence)
                    add = partial(_add, writer, evidence, packed)
                    refused += await trio.to_thread.run_sync(add, limiter=self._threads)
                if self._apart is not None:
                    await trio.sleep(trio.current_time() - began)
            sealed = await trio.to_thread.run_sync(partial(_close, writer, manifest), limiter=self._threads)
        size, digest = await trio.to_thread.run_sync(_digest_of, draft, limiter=self._threads)
        return _Made(sealed, size, digest), refused

    async def _pack(self, package: Package, evidence: Sequence[Evidence]) -> Sequence[PackedEntry | str]:
        whole = partial(_with_chains, self._chains, evidence)
        pack = partial(pack_entries, package.tenant_id, await trio.to_thread.run_sync(whole, limiter=self._threads))
        if self._apart is not None:
            with suppress(ApartFailed):  # it was logged; no receipt may wait for that
                return await self._apart.run(_APART, pack)
        return await trio.to_thread.run_sync(pack, limiter=self._threads)

    async def _record(
        self, conn: Conn, package: Package, made: _Made, refused: Sequence[tuple[Evidence, str]], location: str
    ) -> None:
        for evidence, reason in refused:
            _log.error("evidence cannot be archived", tenant=package.tenant_id, evidence=evidence.id, reason=reason)
            await archive.refuse(
                conn, package, UUID(str(evidence.id)), reason, is_addition=isinstance(evidence, Addition)
            )
        await archive.mark_made(
            conn,
            package,
            manifest=made.sealed.digest,
            digest=made.digest,
            size=made.size,
            location=location,
            totals=made.sealed.totals,
            at=self._clock(),
        )


def location_of(package: Package, digest: bytes) -> str:
    """Name the object of a package. Its digest is part of the name, so other bytes never have the same one."""
    name = package_name(package.tenant_id, package.environment, package.number).removesuffix(".zip")
    return f"{package.tenant_id}/{package.environment}/{name}-{digest.hex()[:16]}.zip"


def manifest_location(location: str) -> str:
    """Name the object with a package's manifest."""
    return f"{location.removesuffix('.zip')}.json"


def stamp_location(location: str) -> str:
    """Name the object with a package's time stamp."""
    return f"{location.removesuffix('.zip')}.tst"


def _with_chains(chains: Chains, evidence: Sequence[Evidence]) -> list[Evidence]:
    return [chains.add_to(one) for one in evidence]


def _add(
    writer: PackageWriter, evidence: Sequence[Evidence], packed: Sequence[PackedEntry | str]
) -> list[tuple[Evidence, str]]:
    """Write entries; return what the format has no place for, with the reason."""
    refused = []
    for one, entry in zip(evidence, packed, strict=True):
        if isinstance(entry, str):
            refused.append((one, entry))
        else:
            writer.append(entry)
    return refused


def _close(writer: PackageWriter, manifest: Path) -> Sealed:
    sealed = writer.seal()
    manifest.write_bytes(sealed.manifest)
    writer.close()
    return sealed


def _digest_of(path: Path) -> tuple[int, bytes]:
    with path.open("rb") as file:
        return path.stat().st_size, hashlib.file_digest(file, "sha256").digest()


def _keep(store: ObjectStore, location: str, draft: Path, manifest: Path, made: _Made) -> None:
    """Store manifest and package, and read both back. Raises StorageError."""
    size = len(made.sealed.manifest)
    keep_one(store, manifest_location(location), manifest, size, made.sealed.digest)
    keep_one(store, location, draft, made.size, made.digest)


def keep_one(store: ObjectStore, name: str, source: Path, size: int, digest: bytes) -> None:
    """Store an object and read it back. One of the same name with other bytes is damaged, and is replaced once."""
    store.create(name, source)
    failpoints.reached("uploaded")
    if difference(store, name, size, digest) is None:
        return
    store.replace(name, source)
    if wrong := difference(store, name, size, digest):
        raise StorageError(StorageFault.DIFFERS, f"{name}: {wrong}")


def difference(store: ObjectStore, name: str, size: int, digest: bytes) -> str | None:
    """Read an object; say how it differs from what was stored, or None. Raises StorageError."""
    read, hashed = 0, hashlib.sha256()
    try:
        for chunk in store.stream(name):
            read += len(chunk)
            hashed.update(chunk)
    except StorageError as error:
        if error.fault is not StorageFault.MISSING:
            raise
        return "it is not there"
    if read != size:
        return f"it has {read} bytes instead of {size}"
    return None if hashed.digest() == digest else "it has another digest"
