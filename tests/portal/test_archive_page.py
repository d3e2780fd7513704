"""The archive's page: packages by day, downloads, and everything at once for an owner alone."""

import io
import zipfile
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import trio

from fe.archive.program import build_verifier
from fe.identifiers import TenantId
from fe.objects.storage import FolderStore
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from tests.archiving.receipts import EVENING, MORNING, finished, voided
from tests.archiving.test_archiving import run_archiver
from tests.factories.tenants import rows
from tests.portal.running import start_portal
from tests.waiting import until


async def test_archive_page_lists_and_sends_packages_and_an_owner_takes_everything(
    nursery: trio.Nursery,
    db: Database,
    portal_db: Database,
    worker_db: Database,
    tenant: TenantId,
    tmp_path: Path,
) -> None:
    store = FolderStore(tmp_path)
    for hour in range(3):
        await finished(db, tenant, at=EVENING - timedelta(hours=hour))
    await voided(db, tenant, EVENING)
    await run_archiver(worker_db, store, most=3)
    await finished(db, tenant, at=MORNING)
    portal = await start_portal(nursery, db, portal_db, None, archive=store)
    here = f"/companies/{tenant}/ecf/archive"
    reader = await portal.person(tenant, PortalRole.MEMBER, email="eva@example.do", language="es")
    async with portal.browser(reader, language="es") as browser:
        theirs = await browser.get(here)
        refused = await browser.client.post(f"{here}/everything")
    async with portal.browser(await portal.person(tenant)) as browser:
        page = await browser.get(here)
        older = await browser.get(f"{here}?before=2")
        package = await browser.get(f"{here}/1.zip")
        absent = [(await browser.get(f"{here}/{name}")).status_code for name in ("1.tst", "3.zip")]
        verifier = await browser.get(f"{here}/verifier")
        await browser.get(here)
        everything = await browser.send(f"{here}/everything")
        again = await browser.get(here)
        (first,) = (name for name in store.sizes(f"{tenant}/ecf/") if "-000001-" in name and name.endswith(".zip"))
        (tmp_path / first).unlink()
        away = await browser.client.get(f"{here}/1.zip")
        archives = portal.portal.archives
        await until(lambda: not archives.of(tenant))
        with archives.held(tenant), archives.held(tenant):
            busy = await browser.send(f"{here}/everything")
    exported = await rows(db, "SELECT 1 AS n FROM tenant_changes WHERE action = 'archive exported'")

    assert page.text.count("Verified<") == 2
    assert f"{here}/2.zip" in page.text
    assert "354.00" in page.text  # three receipts of 118.00
    assert f"{here}/2.zip" not in older.text
    assert package.headers["content-disposition"].endswith(f'fe-archive-ecf-{tenant}-000001.zip"')
    assert absent == [404, 404]
    assert (busy.status_code, len(exported)) == (429, 1)
    assert away.status_code == 503
    assert portal.portal.metrics.registry.get_sample_value("fe_archive_failures_total", {"fault": "missing"}) == 1
    assert verifier.content == build_verifier()
    with zipfile.ZipFile(io.BytesIO(everything.content)) as opened:
        assert opened.testzip() is None
        names = opened.namelist()
        protocol = opened.read("PROTOCOLO.txt")
        assert opened.read(f"ecf/fe-archive-ecf-{tenant}-000001.zip") == package.content
    assert names[2:] == ["fe-verify-archive.pyz", "PROTOCOLO.txt"]
    said = protocol.decode()
    assert "Paquetes: 2. Documentos: 4. Adiciones: 0." in said
    assert "Terminados que no están en el archivo: 1." in said
    assert sha256(package.content).hexdigest() in said
    (handed,) = await rows(db, "SELECT protocol, packages, receipts, by_whom FROM archive_handovers")
    assert (bytes(handed["protocol"]), handed["packages"], handed["receipts"]) == (sha256(protocol).digest(), 2, 4)
    assert handed["protocol"].hex()[:16] in again.text
    assert "Paquetes por día" in theirs.text
    assert "archive/everything" not in theirs.text
    assert refused.status_code == 403
    nursery.cancel_scope.cancel()
