"""Months that leave the database, and come back: every package is read back before, and every document compared."""

import hashlib
import tempfile
import zipfile
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from uuid import UUID

import trio

from fe.archiving.documents import KINDS, files_in, read_place
from fe.clock import Clock
from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId
from fe.month.period import YearMonth
from fe.objects.storage import ObjectStore, StorageError, StorageFault
from fe.store.postgres.db import Database
from fe.store.records import archive, archive_places
from fe.store.records.archive import Package
from fe.store.records.archive_places import ArchivePlace, IdSpan, MonthState, StoredPlace

#: A month stays this long after its last verdict: lists and statuses count on documents of younger receipts.
SETTLED = timedelta(days=35)
_TOGETHER = 200
#: Receipts that one statement looks at, where it reads no documents.
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Hindrance:
    """Why a tenant's month stays: how many receipts, and what is the matter with them."""

    tenant_id: TenantId
    receipts: int
    why: str


async def reasons(db: Database, clock: Clock, month: YearMonth) -> tuple[int, list[Hindrance]]:
    """Count the receipts of a month, and say why it has to stay; no reason: it may leave."""
    span, limit = IdSpan.of(month), clock() - SETTLED
    count, found = 0, []
    async for tenant in _tenants(db):
        state = MonthState()
        first: UUID | None = span.first
        while first is not None:
            rest = IdSpan(first, span.end)
            page, first = await db.run(archive_places.month_state, tenant, rest, limit, page=_PAGE)
            state += page
        count += state.receipts
        for receipts, why in (
            (state.open, "open"),
            (state.young, f"with a verdict of the last {SETTLED.days} days"),
            (state.unarchived, "not archived"),
            (state.handing, "with a mail or a delivery that waits"),
        ):
            if receipts:
                found.append(Hindrance(tenant, receipts, why))
    return count, found


async def verify_month(db: Database, store: ObjectStore, month: YearMonth) -> tuple[int, list[str]]:
    """Read every package of a month, compare its documents with the database, and record their places.

    Returns the number of receipts whose documents may leave, and the faults. Raises StorageError.
    """
    span = IdSpan.of(month)
    count, faults = 0, list[str]()
    async for tenant in _tenants(db):
        for environment, number in await _packages(db, tenant, span):
            package = await db.run(archive.stored, tenant, environment, number)
            if package is None:
                continue
            with tempfile.TemporaryDirectory(prefix="fe-archive-") as folder:
                path = Path(folder, "package.zip")
                fetched = await trio.to_thread.run_sync(partial(_fetch, store, package, path), abandon_on_cancel=True)
                if fetched is not None:
                    faults.append(f"{package.location}: {fetched}")
                    continue
                pieces = await trio.to_thread.run_sync(partial(_pieces, path, span))
                for first in range(0, len(pieces), _TOGETHER):
                    some = pieces[first : first + _TOGETHER]
                    ours = await db.run(archive_places.digests, tenant, [one for one, _, _ in some])
                    places, wrong = await trio.to_thread.run_sync(partial(_compare, path, some, ours))
                    faults += [f"{package.location}: {one}" for one in wrong]
                    await db.run(archive_places.keep, package, places)
                    count += len(places)
    return count, faults


async def restore_month(db: Database, store: ObjectStore, month: YearMonth) -> tuple[int, list[str]]:
    """Put the documents of a month back into the database, verified; what is there is left alone.

    Returns the number of receipts, and the faults of those that could not be read. May be repeated, and goes on where
    it ended. Raises StorageError when the store is away.
    """
    span = IdSpan.of(month)
    count, faults = 0, list[str]()
    async for tenant in _tenants(db):
        after: UUID | None = None
        while True:
            places, after = await db.run(archive_places.away, tenant, span, after=after, limit=_TOGETHER)
            if after is None:
                break
            found, wrong = await trio.to_thread.run_sync(partial(_read, store, places), abandon_on_cancel=True)
            faults += wrong
            await db.run(archive_places.restore, tenant, found)
            count += len(places) - len(wrong)
    return count, faults


async def _packages(db: Database, tenant: TenantId, span: IdSpan) -> list[tuple[Environment, int]]:
    """List the packages that have receipts of a month."""
    found = set[tuple[Environment, int]]()
    first: UUID | None = span.first
    while first is not None:
        page, first = await db.run(archive_places.packages_of, tenant, IdSpan(first, span.end), page=_PAGE)
        found |= page
    return sorted(found)


async def _tenants(db: Database) -> AsyncIterator[TenantId]:
    after = 0
    while page := await db.run(archive_places.tenants_after, after):
        for tenant in page:
            yield tenant
        after = page[-1]


def _fetch(store: ObjectStore, package: Package, path: Path) -> str | None:
    """Copy a package to a file; say how it differs from what was stored, or None."""
    assert package.location is not None
    hashed = hashlib.sha256()
    try:
        with path.open("xb") as file:
            for chunk in store.stream(package.location):
                hashed.update(chunk)
                file.write(chunk)
    except StorageError as error:
        if error.fault is not StorageFault.MISSING:
            raise
        return "it is not there"
    return None if hashed.digest() == package.digest else "it has another digest"


def _pieces(path: Path, span: IdSpan) -> list[tuple[SubmissionId, int, int]]:
    """List where a package has whole issued receipts of a month: id, first byte, length."""
    with zipfile.ZipFile(path) as package:
        entries = sorted(package.infolist(), key=lambda one: one.header_offset)
        end = package.start_dir
    folders: dict[str, list[int]] = {}
    receipts = set()
    for entry, after in zip(entries, [one.header_offset for one in entries[1:]] + [end], strict=True):
        folder, _, name = entry.filename.rpartition("/")
        if not folder.startswith("issued/"):
            continue
        folders.setdefault(folder, [entry.header_offset, after])[1] = after
        if name == "signed.xml":
            receipts.add(folder)
    found = []
    for folder in folders:
        identifier = SubmissionId(UUID(folder[-36:]))
        if folder in receipts and span.first <= identifier < span.end:
            start, until = folders[folder]
            found.append((identifier, start, until - start))
    return found


def _compare(
    path: Path, pieces: Sequence[tuple[SubmissionId, int, int]], ours: Mapping[SubmissionId, Mapping[str, bytes]]
) -> tuple[list[ArchivePlace], list[str]]:
    """Return the places of receipts whose documents are those of the database, and what is wrong with others."""
    places, wrong = [], []
    with path.open("rb") as file:
        for submission_id, start, length in pieces:
            if submission_id not in ours:  # it stays, or left before
                continue
            file.seek(start)
            content = file.read(length)
            theirs = {KINDS[name]: hashlib.sha256(one).digest() for name, one in files_in(content) if name in KINDS}
            if theirs == ours[submission_id]:
                places.append(ArchivePlace(submission_id, start, length, hashlib.sha256(content).digest()))
            else:
                wrong.append(f"{submission_id} is not what the database has")
    return places, wrong


def _read(store: ObjectStore, places: Sequence[StoredPlace]) -> tuple[list[tuple[SubmissionId, str, bytes]], list[str]]:
    found: list[tuple[SubmissionId, str, bytes]] = []
    wrong = []
    for place in places:
        try:
            found += [(place.submission_id, kind, one) for kind, one in read_place(store, place).items()]
        except StorageError as error:
            if error.fault not in (StorageFault.DIFFERS, StorageFault.MISSING):
                raise
            wrong.append(str(error))
    return found, wrong
