"""A company's archive: its packages by day, the verifier, and everything at once when a contract ends."""

from collections.abc import AsyncGenerator
from decimal import Decimal
from itertools import groupby
from typing import Any

import structlog
import trio

from fe.accounts import audited_changes
from fe.archive.package import package_name
from fe.archive.program import FILE_NAME, build_verifier
from fe.archiving.export import WholeArchive
from fe.archiving.packing import stamp_location
from fe.archiving.sending import begin_sending
from fe.archiving.zip_stream import zip_stream
from fe.ecf.texts import Text
from fe.objects.storage import ObjectStore, StorageError
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Refused, Reply, not_found
from fe.portal.visit import Visit
from fe.store.records import archive, archive_checks, archive_handovers
from fe.store.records.archive import Package

_log = structlog.get_logger(__name__)

_ON_A_PAGE = 60
_AWAY = Text(
    "The archive cannot be read now; try again in a moment.",
    "El archivo no se puede leer ahora; intente de nuevo en un momento.",
)


async def show(visit: Visit) -> Reply:
    """Show the newest packages, or those before one."""
    asked = visit.query.get("before", "")
    before = int(asked) if asked.isdecimal() and asked.isascii() and len(asked) < 10 else None
    packages = await visit.read(_listed, visit.environment, before)
    checked = await visit.read(archive_checks.last_check, visit.environment)
    return visit.page(
        "company/archive.html",
        days=[(day, list(of_day)) for day, of_day in groupby(packages, lambda one: one.day)],
        older=packages[-1].number if len(packages) == _ON_A_PAGE else None,
        checked=checked,
        differs=lambda one: any(one.location in fault for fault in checked.faults),
        issued_total=_issued_total,
        can_download=visit.portal.archive is not None,
        verifier=FILE_NAME,
        handovers=await visit.read(archive_handovers.newest) if visit.company.owns else [],
    )


async def _listed(conn: Any, tenant_id: Any, environment: Any, before: int | None) -> list[Package]:
    return await archive.listed(conn, tenant_id, environment, limit=_ON_A_PAGE, below=before)


def _issued_total(package: Package) -> Decimal:
    """Sum MontoTotal of the issued receipts in a package, as their documents state it."""
    totals: Any = package.totals or ()
    return sum((Decimal(one["total"]) for one in totals if one["kind"] == "issued"), Decimal())


async def download(visit: Visit) -> Reply:
    """Send a package."""
    package, store = await _package(visit)
    name = package_name(visit.tenant_id, visit.environment, package.number)
    assert package.location is not None
    visit.until_sent.enter_context(visit.portal.archives.held(visit.tenant_id))
    return visit.streamed(name, "application/zip", await _begin(visit, store, package.location))


async def time_stamp(visit: Visit) -> Reply:
    """Send the time stamp of a package."""
    package, store = await _package(visit)
    if package.stamped_at is None or package.location is None:
        raise not_found()
    name = package_name(visit.tenant_id, visit.environment, package.number).replace(".zip", ".tst")
    return visit.streamed(
        name, "application/octet-stream", await _begin(visit, store, stamp_location(package.location))
    )


async def _package(visit: Visit) -> tuple[Package, ObjectStore]:
    package = await visit.read(archive.stored, visit.environment, visit.params["number"])
    if package is None:
        raise not_found()
    return package, _store(visit)


def _store(visit: Visit) -> ObjectStore:
    if visit.portal.archive is None:
        raise Refused(503, _AWAY)
    return visit.portal.archive


async def _begin(visit: Visit, store: ObjectStore, name: str) -> AsyncGenerator[bytes, None]:
    try:
        return await begin_sending(store, visit.portal.metrics, visit.tenant_id, name)
    except StorageError:
        raise Refused(503, _AWAY) from None


async def verifier(visit: Visit) -> Reply:
    """Send the program that checks packages."""
    return visit.file(FILE_NAME, "application/octet-stream", await trio.to_thread.run_sync(build_verifier))


async def everything(visit: Visit) -> Reply:
    """Send all packages of all environments with a protocol, and record the handover."""
    whole = WholeArchive(visit.portal.db, _store(visit), visit.company.tenant, visit.by_whom, visit.now)
    visit.until_sent.enter_context(visit.portal.archives.held(visit.tenant_id))
    await visit.change(_note, visit)
    name = f"fe-archive-{visit.tenant_id}-{visit.now:%Y-%m-%d}.zip"
    return visit.streamed(name, "application/zip", zip_stream(_logged(whole)))


async def _note(conn: Any, visit: Visit) -> None:
    tenant = visit.company.tenant
    await audited_changes.note(conn, tenant, visit.author, "archive exported", tenant.name, None, None)


async def _logged(whole: WholeArchive) -> AsyncGenerator[tuple[str, bytes], None]:
    """An answer that has begun can only break off: the log says why."""
    try:
        async for part in whole.chunks():
            yield part
    except StorageError as error:
        _log.error("an export of the archive broke off", tenant=whole.tenant.tenant_id, error=error)
        raise
    if whole.faults:
        _log.error("an export of the archive has faults", tenant=whole.tenant.tenant_id, faults=whole.faults[:3])


_HERE = "/companies/<int:company>/<environment>/archive"
PAGES = (
    Page("GET", _HERE, Needs.READ, show),
    Page("GET", f"{_HERE}/<int:number>.zip", Needs.READ, download),
    Page("GET", f"{_HERE}/<int:number>.tst", Needs.READ, time_stamp),
    Page("GET", f"{_HERE}/verifier", Needs.READ, verifier),
    Page("POST", f"{_HERE}/everything", Needs.OWN, everything),
)
