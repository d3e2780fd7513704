"""Documents of receipts, from the database or from the archive, where the digest of a range of a package must hold."""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from struct import Struct
from struct import error as TooShort
from typing import Literal

import structlog
import trio

from fe.archive.package import MAX_FILE
from fe.identifiers import SubmissionId, TenantId
from fe.monitoring.metrics import Metrics
from fe.objects.storage import ObjectStore, StorageError, StorageFault
from fe.store.postgres.db import Database
from fe.store.records import archive_places, submissions
from fe.store.records.archive_places import StoredPlace

_log = structlog.get_logger(__name__)

_LOCAL = Struct("<4s5HIII2H")
_DEFLATED = 8
#: Names of the format, and the kinds of the database.
KINDS = {"original.bin": "original", "signed.xml": "signed", "summary.xml": "sent"}
#: Faults that another try does not end: the archive lost an object, or has other bytes.
DAMAGE = (StorageFault.DIFFERS, StorageFault.MISSING)
#: Seconds that a reader waits for the store.
_PATIENCE = 20.0
#: Readers at once; a store that hangs holds no other thread of the process.
_AT_ONCE = 8


class ArchiveAway(Exception):
    """The archive cannot be read now, or is not set up in this process."""


class ArchiveDiffers(Exception):
    """The archive returned other bytes than it was given."""


@dataclass(frozen=True, slots=True)
class FoundXml:
    """The best document of a submission. `is_archived`: it left the database, and takes longer to read."""

    kind: Literal["signed", "original"]
    content: bytes
    is_archived: bool = False


class ReceiptDocuments:
    """Reads documents, those that left the database from the archive. `store` None: this process has no archive."""

    def __init__(self, db: Database, store: ObjectStore | None, metrics: Metrics) -> None:
        self.db = db
        self._store = store
        self._metrics = metrics
        self.threads = trio.CapacityLimiter(_AT_ONCE)

    async def xml(self, tenant_id: TenantId, submission_id: SubmissionId) -> FoundXml:
        """Return the signed document, before signing what the client sent. Raises ArchiveAway and ArchiveDiffers."""
        kind, content = await self.db.run_for(tenant_id, submissions.xml, submission_id)
        if kind is not None:
            return FoundXml(kind, content)
        return FoundXml("signed", (await self.archived(tenant_id, submission_id))["signed"], is_archived=True)

    async def every(self, tenant_id: TenantId, submission_id: SubmissionId) -> Mapping[str, bytes]:
        """Return the documents of a receipt by kind. Raises ArchiveAway and ArchiveDiffers."""
        found = await self.db.run_for(tenant_id, submissions.documents, submission_id)
        return found or await self.archived(tenant_id, submission_id)

    async def archived(self, tenant_id: TenantId, submission_id: SubmissionId) -> Mapping[str, bytes]:
        """Return the documents of a receipt that the archive has; none where it has no place of it.

        Raises ArchiveAway and ArchiveDiffers.
        """
        place = await self.db.run_for(tenant_id, archive_places.place_of, submission_id)
        if place is None:
            return {}
        if self._store is None:
            raise ArchiveAway
        try:
            with trio.fail_after(_PATIENCE):
                return await trio.to_thread.run_sync(
                    read_place, self._store, place, abandon_on_cancel=True, limiter=self.threads
                )
        except trio.TooSlowError:
            fault, error = StorageFault.UNAVAILABLE, "no answer in time"
        except StorageError as failed:
            fault, error = failed.fault, str(failed)
        self._metrics.archive_failures.labels(fault).inc()
        _log.error(
            "a document of the archive cannot be read", tenant=tenant_id, submission=str(submission_id), error=error
        )
        if fault in DAMAGE:
            raise ArchiveDiffers
        raise ArchiveAway


def read_place(store: ObjectStore, place: StoredPlace) -> dict[str, bytes]:
    """Read and verify the documents at a place. Raises StorageError."""
    content = b"".join(store.stream(place.location, place.start, place.start + place.length))
    if sha256(content).digest() != place.digest:
        raise StorageError(StorageFault.DIFFERS, f"{place.location}: {place.submission_id} has another digest")
    return {KINDS[name]: file for name, file in files_in(content) if name in KINDS}


def files_in(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Unpack the files of a piece of a package, whose digest was verified, each by the last part of its name."""
    at = 0
    try:
        while at < len(content):
            _, _, _, method, _, _, _, packed, size, of_name, extra = _LOCAL.unpack_from(content, at)
            start = at + _LOCAL.size + of_name + extra
            name = content[at + _LOCAL.size : start - extra].decode("ascii")
            raw = content[start : start + packed]
            if size > MAX_FILE:
                raise StorageError(StorageFault.DIFFERS, f"{name} is larger than the format allows")
            yield name.rpartition("/")[2], zlib.decompress(raw, -15, size) if method == _DEFLATED else raw
            at = start + packed
    except (TooShort, zlib.error, UnicodeDecodeError) as error:
        raise StorageError(StorageFault.DIFFERS, "a piece of a package is no sequence of files") from error
