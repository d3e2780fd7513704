"""Downloads of the archive whose store fails: refused, counted and logged."""

from pathlib import Path

import pytest
import trio
from prometheus_client import generate_latest
from structlog.testing import capture_logs

from fe.archiving.packing import stamp_location
from fe.archiving.sending import begin_sending
from fe.ecf.catalogue import Environment
from fe.monitoring.initial_series import initialize_series
from fe.monitoring.metrics import Metrics
from fe.objects.storage import CHUNK, FolderStore, StorageError
from fe.store.postgres.db import Database
from fe.store.records import archive
from tests.archiving.authority_of_time import time_stamp_authority
from tests.archiving.receipts import finished
from tests.archiving.test_archiving import run_archiver
from tests.factories.tenants import make_tenant
from tests.http.front import make_key, start_front


async def test_download_of_an_object_that_is_gone_is_counted_and_logged(
    db: Database,
    front_db: Database,
    worker_db: Database,
    tmp_path: Path,
    nursery: trio.Nursery,
) -> None:
    tenant, store = await make_tenant(db), FolderStore(tmp_path / "store")
    await finished(db, tenant)
    with time_stamp_authority(tmp_path) as stamps:
        await run_archiver(worker_db, store, stamps=stamps)
    (package,) = await worker_db.run(archive.listed, tenant, Environment.ECF, limit=9)
    key = await make_key(db, tenant, Environment.ECF)
    front = await start_front(nursery, front_db, archive=store)
    assert package.location is not None
    for name in (package.location, stamp_location(package.location)):
        (tmp_path / "store" / name).unlink()
    with capture_logs() as logs:
        async with front.client(await front.token(key)) as client:
            answers = [await client.get(f"/archive/1/{kind}") for kind in ("zip", "tst")]

    assert [one.status_code for one in answers] == [502, 502]
    assert front.metrics.registry.get_sample_value("fe_archive_failures_total", {"fault": "missing"}) == 2
    assert [one["tenant"] for one in logs if one["event"] == "an object of the archive cannot be sent"] == [tenant] * 2
    nursery.cancel_scope.cancel()


async def test_download_that_breaks_off_is_counted(db: Database, tmp_path: Path) -> None:
    tenant, metrics = await make_tenant(db), Metrics()
    (tmp_path / "one").write_bytes(bytes(3 * CHUNK))

    class Disk(FolderStore):
        """A disk that fails after the first part."""

        def stream(self, name: str, start: int = 0, end: int | None = None):  # type: ignore[no-untyped-def]
            yield next(super().stream(name, start, end))
            yield from super().stream("gone")

    parts = await begin_sending(Disk(tmp_path), metrics, tenant, "one")
    assert len(await anext(parts)) == CHUNK
    with pytest.raises(StorageError):
        await anext(parts)
    assert metrics.registry.get_sample_value("fe_archive_failures_total", {"fault": "missing"}) == 1


def test_faults_of_the_archive_are_series_of_every_process() -> None:
    metrics = Metrics()
    initialize_series(metrics)  # all that a process of the portal has
    generate_latest(metrics.registry)
    assert metrics.registry.get_sample_value("fe_archive_failures_total", {"fault": "missing"}) == 0
