"""Documents of months that are archived leave the database, are served from the archive, and come back."""

import os
import secrets
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trio

from fe.archiving import months
from fe.archiving.checking import check
from fe.archiving.documents import ArchiveAway, ArchiveDiffers, ReceiptDocuments
from fe.ecf.catalogue import EcfType, Environment
from fe.http.messages import say
from fe.identifiers import ClientRequestId, SubmissionId, TenantId
from fe.monitoring.metrics import Metrics
from fe.month.period import YearMonth
from fe.objects.storage import FolderStore
from fe.offload.pool import Apart
from fe.store.postgres.db import Database
from fe.store.records import archive, archive_places, numbers, submissions
from tests import citus
from tests.archiving.receipts import SIGNED, finished
from tests.archiving.test_archiving import chain_of, run_archiver
from tests.cli.running import Fe
from tests.factories.tenants import make_submission, make_tenant, new_submission, rows
from tests.http.front import make_key, start_front
from tests.http.test_imports import here
from tests.printing.documents import GOLDEN, signed
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.skipif(citus.wanted(), reason="months leave plain Postgres only")

YEAR = [YearMonth(2025, month) for month in range(1, 13)]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
RECEIPT = signed(GOLDEN[0])
Documents = dict[SubmissionId, dict[str, bytes]]


def middle_of(month: YearMonth) -> datetime:
    return datetime(month.year, month.month, 15, 12, tzinfo=UTC)


async def stored_documents(db: Database, tenant: TenantId) -> Documents:
    found: Documents = {}
    for one in await rows(
        db,
        "SELECT submission_id, kind::text, content FROM submission_documents WHERE tenant_id = %(tenant)s",
        tenant=tenant,
    ):
        found.setdefault(one["submission_id"], {})[one["kind"]] = bytes(one["content"])
    return found


async def detach(operator_db: Database, store: FolderStore, month: YearMonth) -> tuple[int, int]:
    _, reasons = await months.reasons(operator_db, lambda: NOW, month)
    assert reasons == []
    _, faults = await months.verify_month(operator_db, store, month)
    assert faults == []
    return await operator_db.transact(archive_places.release, month)


async def test_year_that_left_is_served_from_the_archive_and_comes_back(
    db: Database, worker_db: Database, operator_db: Database, front_db: Database, dsn: str, tmp_path: Path
) -> None:
    tenant, store, other = await make_tenant(db), FolderStore(tmp_path), await make_tenant(db)
    for month in YEAR:
        await rows(db, "SELECT 1 FROM ensure_month(%(at)s)", at=middle_of(month))
    left, stay = list[SubmissionId](), list[SubmissionId]()
    for at in map(middle_of, YEAR):
        left += [await finished(db, tenant, at=at, signed=SIGNED + secrets.token_hex(4000).encode()) for _ in range(2)]
        stay.append(await finished(db, tenant, at=at, ecf_type=EcfType.CREDIT_NOTE))
    before = await stored_documents(db, tenant)
    await run_archiver(worker_db, store, NOW)
    space = "SELECT pg_table_size('submission_documents_2025_01') AS bytes"
    full = (await rows(db, space))[0]["bytes"]

    for month in YEAR[:-1]:
        assert await detach(operator_db, store, month) == (4, 2)
    fe, place = Fe(tmp_path, dsn), {"archive": str(tmp_path)}

    def by_command() -> None:
        assert fe("archive", "detach", str(YEAR[-1]), "--json", **place).json["documentsReleased"] is None
        made = fe("archive", "detach", str(YEAR[-1]), "--yes", "--json", **place).json
        assert (made["verified"], made["documentsReleased"], made["documentsKept"]) == (2, 4, 2)
        shown = fe("evidence", "export", str(left[-1]), **place).json
        assert sorted(one["kind"] for one in shown["documents"]) == ["original", "signed"]
        assert "FE_ARCHIVE is not set" in fe.refused("evidence", "export", str(left[-1]))

    await trio.to_thread.run_sync(by_command)
    (said,) = await rows(db, "SELECT action, detail FROM operator_actions")
    assert said["action"] == "archive detach"
    assert said["detail"] == {"month": str(YEAR[-1]), "documentsReleased": 4, "documentsKept": 2}

    assert await detach(operator_db, store, YEAR[0]) == (0, 2)
    assert (await rows(db, space))[0]["bytes"] < full
    after = await stored_documents(db, tenant)
    assert sorted(after) == sorted(stay)
    archived = ReceiptDocuments(front_db, store, Metrics())
    assert {one: await archived.archived(tenant, one) for one in left} == {one: before[one] for one in left}
    assert await archived.archived(other, left[0]) == {}
    assert await check(worker_db, store, lambda: NOW, chain_of(tenant), all_receipts=True, reads=True) == (0, [])

    record = await front_db.run_for(tenant, submissions.find, left[0])
    assert record is not None
    assert record.e_ncf is not None
    holders = await front_db.run_for(tenant, numbers.holders, Environment.ECF, record.e_ncf, NOW)
    assert [one.submission_id for one in holders] == [left[0]]
    assert len(await front_db.run_for(tenant, submissions.timeline, left[0])) > 1

    for expected in (2, 0):
        assert await months.restore_month(operator_db, store, YEAR[0]) == (expected, [])
    restored = await stored_documents(db, tenant)
    assert {one: restored[one] for one in left[:2]} == {one: before[one] for one in left[:2]}
    assert len(restored) == 14


async def test_month_with_an_unfinished_or_unarchived_receipt_stays_and_says_why(
    db: Database, worker_db: Database, operator_db: Database, tmp_path: Path
) -> None:
    tenant, store, month = await make_tenant(db), FolderStore(tmp_path), YEAR[0]
    subject = await finished(db, tenant, at=middle_of(month))
    waiting = await make_submission(db, tenant, at=middle_of(month))

    count, reasons = await months.reasons(operator_db, lambda: NOW, month)
    assert (count, [(one.receipts, one.why) for one in reasons]) == (2, [(1, "open"), (1, "not archived")])
    _, young = await months.reasons(operator_db, lambda: middle_of(month), month)
    assert [one.why for one in young] == ["open", "with a verdict of the last 35 days", "not archived"]

    await run_archiver(worker_db, store, NOW)
    (package,) = await worker_db.run(archive.listed, tenant, Environment.ECF, limit=9)
    (tmp_path / str(package.location)).write_bytes(b"other bytes")
    assert await months.verify_month(operator_db, store, month) == (0, [f"{package.location}: it has another digest"])
    assert set(await stored_documents(db, tenant)) == {subject, waiting}


async def test_archive_that_lies_gives_an_error_and_never_other_bytes(
    db: Database,
    worker_db: Database,
    operator_db: Database,
    front_db: Database,
    tmp_path: Path,
    nursery: trio.Nursery,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tenant, store, month = await make_tenant(db), FolderStore(tmp_path), YEAR[0]
    await rows(db, "SELECT 1 FROM ensure_month(%(at)s)", at=middle_of(month))
    monkeypatch.setattr(Apart, "run", here)  # prints in this process
    wanted = ClientRequestId("order-1")
    subject = await finished(db, tenant, at=middle_of(month), signed=RECEIPT, client_request_id=wanted)
    await run_archiver(worker_db, store, NOW)
    assert await detach(operator_db, store, month) == (2, 0)
    again = await db.run(submissions.accept, new_submission(tenant, client_request_id=wanted), NOW)
    assert (again.outcome, again.submission_id) == ("deduped", subject)

    (package,) = await worker_db.run(archive.listed, tenant, Environment.ECF, limit=9)
    path, metrics = tmp_path / str(package.location), Metrics()
    whole = path.read_bytes()
    archived = ReceiptDocuments(front_db, store, metrics)
    for bad in (whole[:10] + bytes([whole[10] ^ 1]) + whole[11:], whole[:20]):
        path.write_bytes(bad)
        with pytest.raises(ArchiveDiffers):
            await archived.archived(tenant, subject)
        assert (await months.restore_month(operator_db, store, month))[0] == 0
    assert metrics.registry.get_sample_value("fe_archive_failures_total", {"fault": "differs"}) == 2
    path.unlink()
    with pytest.raises(ArchiveDiffers):
        await archived.archived(tenant, subject)
    with pytest.raises(ArchiveAway):
        await ReceiptDocuments(front_db, None, metrics).archived(tenant, subject)
    assert await stored_documents(db, tenant) == {}

    path.write_bytes(whole)
    key = await make_key(db, tenant, Environment.ECF)
    front = await start_front(nursery, front_db, archive=store)
    async with front.client(await front.token(key)) as client:
        status, shown, printed = [await client.get(f"/invoices/{subject}{one}") for one in ("", "/xml", "/pdf")]
        assert status.json()["archived"] is True
        assert shown.json()["xml"].encode() == RECEIPT
        assert printed.content.startswith(b"%PDF")
        assert [one.headers.get("x-archived") for one in (shown, printed)] == ["true", "true"]
        path.write_bytes(whole[:20])
        wrong = await client.get(f"/invoices/{subject}/xml")
        assert (wrong.status_code, wrong.json()["message"]) == (502, say("archive-differs").en)
        path.write_bytes(whole)
    nursery.cancel_scope.cancel()
    assert await months.restore_month(operator_db, store, month) == (1, [])


async def test_store_that_hangs_holds_no_other_thread_of_the_process(
    db: Database, worker_db: Database, operator_db: Database, front_db: Database, tmp_path: Path
) -> None:
    tenant, store, month = await make_tenant(db), FolderStore(tmp_path), YEAR[0]
    await rows(db, "SELECT 1 FROM ensure_month(%(at)s)", at=middle_of(month))
    subject = await finished(db, tenant, at=middle_of(month), signed=RECEIPT)
    await run_archiver(worker_db, store, NOW)
    await detach(operator_db, store, month)
    (package,) = await worker_db.run(archive.listed, tenant, Environment.ECF, limit=9)
    path = tmp_path / str(package.location)
    path.unlink()
    os.mkfifo(path)  # a reader waits for a writer
    archived = ReceiptDocuments(front_db, store, Metrics())
    shared = trio.to_thread.current_default_thread_limiter()

    try:
        with trio.fail_after(PATIENCE):
            async with trio.open_nursery() as readers:
                for _ in range(int(shared.total_tokens) + 1):
                    readers.start_soon(archived.archived, tenant, subject)
                await until(lambda: not archived.threads.available_tokens)
                await trio.to_thread.run_sync(int)
                readers.cancel_scope.cancel()
    finally:
        os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))
