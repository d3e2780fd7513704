"""A tenant's archive over HTTP: the list of its packages, and each as a file."""

import re
from collections.abc import AsyncGenerator

from fe.archive.package import package_name
from fe.archiving.documents import DAMAGE, ArchiveAway, ArchiveDiffers
from fe.archiving.packing import stamp_location
from fe.archiving.sending import begin_sending
from fe.http.archives import archive_limit
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.messages import say
from fe.http.models.archive import ARCHIVE, serialize_package
from fe.http.openapi.described_errors import errors
from fe.http.paging import read_in_turn
from fe.http.parameters import LIMIT_DEFAULT, LIMIT_MAX, read_number
from fe.http.routes.types import About, Parameter, Route, whole
from fe.identifiers import TenantId
from fe.limits import ConcurrencyLimit
from fe.monitoring.metrics import Metrics
from fe.objects.storage import ObjectStore, StorageError
from fe.store.postgres.db import Database
from fe.store.records import archive
from fe.store.records.archive import Package

#: Packages, of which a chain has at most a few a day.
_MOST = 10**9
_RANGE = re.compile(r"bytes=([0-9]{1,15})-([0-9]{0,15})\Z")
_STAMP = "application/octet-stream"
_NUMBER = re.compile(r"[1-9][0-9]{0,8}\Z")


class ArchiveHandlers:
    """The handlers of /archive. Without a store no package can be fetched here."""

    def __init__(
        self, db: Database, lists: ConcurrencyLimit[TenantId], store: ObjectStore | None, metrics: Metrics
    ) -> None:
        self._db = db
        self._lists = lists
        self._store = store
        self._metrics = metrics
        self._downloads = archive_limit(metrics)

    async def listed(self, call: Call) -> ApiReply:
        """List the stored packages of the caller's environment."""
        query, caller = call.query(), call.identity
        limit = read_number(query, "limit", default=LIMIT_DEFAULT, minimum=1, maximum=LIMIT_MAX)
        below = read_number(query, "cursor", default=0, minimum=1, maximum=_MOST) or None
        found = await read_in_turn(
            self._db, self._lists, caller.tenant_id, archive.listed, caller.environment, limit=limit, below=below
        )
        cursor = str(found[-1].number) if len(found) == limit else None
        items = [serialize_package(one) for one in found]
        return ApiReply(200, ARCHIVE.write({"limit": limit, "items": items, "nextCursor": cursor}))

    async def package(self, call: Call) -> ApiReply:
        """Send a package, or the rest of one from a byte on."""
        caller, found = call.identity, await self._found(call)
        assert found.location is not None
        assert found.bytes is not None
        start, end = _range(call.headers.get("range"), found.bytes)
        call.until_sent.enter_context(self._downloads.held(caller.tenant_id))
        content = await self._begin(caller.tenant_id, found.location, start, end)
        name = package_name(caller.tenant_id, caller.environment, found.number)
        headers = [
            ("Content-Type", "application/zip"),
            ("Content-Disposition", f'attachment; filename="{name}"'),
            ("Accept-Ranges", "bytes"),
        ]
        is_part = (start, end) != (0, found.bytes)
        if is_part:
            headers.append(("Content-Range", f"bytes {start}-{end - 1}/{found.bytes}"))
        return ApiReply(206 if is_part else 200, b"", tuple(headers), content)

    async def time_stamp(self, call: Call) -> ApiReply:
        """Send the time stamp of a package."""
        found = await self._found(call)
        if found.stamped_at is None or found.location is None:
            raise ApiError(404, say("no-time-stamp"))
        content = await self._begin(call.identity.tenant_id, stamp_location(found.location))
        return ApiReply(200, b"", (("Content-Type", _STAMP),), content)

    async def _found(self, call: Call) -> Package:
        caller, number = call.identity, call.params["number"]
        found = None
        if _NUMBER.match(number):
            found = await self._db.run_for(caller.tenant_id, archive.stored, caller.environment, int(number))
        if found is None:
            raise ApiError(404, say("no-package"))
        return found

    async def _begin(
        self, tenant_id: TenantId, name: str, start: int = 0, end: int | None = None
    ) -> AsyncGenerator[bytes, None]:
        if self._store is None:
            raise ArchiveAway
        try:
            return await begin_sending(self._store, self._metrics, tenant_id, name, start, end)
        except StorageError as error:
            raise (ArchiveDiffers if error.fault in DAMAGE else ArchiveAway) from None


def _range(asked: str | None, size: int) -> tuple[int, int]:
    """Read a Range of one part; any other is ignored, as RFC 9110 allows."""
    matched = _RANGE.match(asked or "")
    if matched is None:
        return 0, size
    start, end = int(matched[1]), int(matched[2]) + 1 if matched[2] else size
    return (start, min(end, size)) if start < min(end, size) else (0, size)


_PACKAGE = Parameter(
    "number", "`number` of a package", {"type": "integer", "minimum": 1, "maximum": 999_999_999}, "path"
)


def archive_routes(prefix: str, handlers: ArchiveHandlers, group: str) -> tuple[Route, ...]:
    """Make the routes below `{prefix}/archive`."""
    return (
        Route(
            "GET",
            f"{prefix}/archive",
            "invoices:read",
            handlers.listed,
            About(
                "listArchive",
                "List archive packages",
                group,
                {200: (ARCHIVE,)},
                parameters=(
                    Parameter("limit", "items on a page", whole(1, LIMIT_MAX, LIMIT_DEFAULT)),
                    Parameter("cursor", "`nextCursor` of an earlier answer", {"type": "integer", "minimum": 1}),
                ),
                errors=errors("bad-limit"),
                note="Signed bytes, verdicts, acknowledgements and approvals of each day, kept for ten years.",
            ),
        ),
        Route(
            "GET",
            f"{prefix}/archive/<number>/zip",
            "invoices:read",
            handlers.package,
            About(
                "getArchivePackage",
                "Download an archive package",
                group,
                {},
                parameters=(_PACKAGE,),
                errors=errors("no-package"),
                note="`Range: bytes=N-` continues a download.",
                file="application/zip",
            ),
        ),
        Route(
            "GET",
            f"{prefix}/archive/<number>/tst",
            "invoices:read",
            handlers.time_stamp,
            About(
                "getArchiveTimeStamp",
                "Download the time stamp of an archive package",
                group,
                {},
                parameters=(_PACKAGE,),
                errors=errors("no-package", "no-time-stamp"),
                note="An RFC 3161 token (DER) about the manifest's SHA-256. Keep it beside the package, as `.tst`.",
                file=_STAMP,
            ),
        ),
    )
