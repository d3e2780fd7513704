"""Time stamps beside packages: ask a time stamp authority (RFC 3161) about each stored manifest, and keep its token."""

import hashlib
import tempfile
from functools import partial
from pathlib import Path

import trio

from fe.archive.time_stamp import REQUEST_TYPE, NoTimeStamp, read_response, time_stamp_request
from fe.archiving.packing import keep_one, stamp_location
from fe.egress.client import Egress, Request
from fe.egress.errors import EgressError
from fe.objects.storage import ObjectStore
from fe.store.postgres.db import Database
from fe.store.records import archive
from fe.store.records.archive import Package, PackageChain


class StampFailed(Exception):
    """The time stamp authority was not reached, or its answer does not hold; packages wait without a stamp."""


class Stamper:
    """Stamps stored packages that have no time stamp."""

    def __init__(self, db: Database, store: ObjectStore, egress: Egress, url: str) -> None:
        self._db = db
        self._store = store
        self._egress = egress
        self._url = url

    async def stamp(self, chain: PackageChain) -> None:
        """Stamp the packages of a chain, at most 100. Raises StampFailed or StorageError."""
        for package in await self._db.run(archive.unstamped, chain):
            await self._stamp_one(package)

    async def _stamp_one(self, package: Package) -> None:
        assert package.manifest is not None
        assert package.location is not None
        request = Request("POST", self._url, [("Content-Type", REQUEST_TYPE)], time_stamp_request(package.manifest))
        try:
            reply = await self._egress.exchange(request)
            if reply.status != 200:
                raise StampFailed(f"the time stamp authority answered with status {reply.status}")
            token, stamp = read_response(reply.body, package.manifest)
        except EgressError as error:
            raise StampFailed(f"the time stamp authority was not reached: {error.reason}") from error
        except NoTimeStamp as error:
            raise StampFailed(str(error)) from error
        keep = partial(_keep, self._store, stamp_location(package.location), token)
        await trio.to_thread.run_sync(keep, abandon_on_cancel=True)
        await self._db.run(archive.mark_stamped, package, stamp.at)


def _keep(store: ObjectStore, name: str, token: bytes) -> None:
    """Store a token and read it back. A token of an attempt before, which was not recorded, is replaced."""
    with tempfile.TemporaryDirectory(prefix="fe-archive-") as folder:
        draft = Path(folder, "token.tst")
        draft.write_bytes(token)
        keep_one(store, name, draft, len(token), hashlib.sha256(token).digest())
