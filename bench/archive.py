"""Rate, bytes and CPU of the archiver, months that leave the database, and POSTs beside it.

`python -m bench.archive [--receipts 50000] [--short]`. Receipts of a year with a real signed XML are put into the
database. A whole service takes POSTs for some seconds alone and for as long while a process archives as the service
does, at low priority and with pauses; the parts are in the order alone, beside, beside, alone. Then the rest is
archived at full speed and checked, the year is detached, and receipts of it are read from the archive, which is a
folder on the same disk.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import trio

from bench import history, submit
from bench.report import Report
from bench.runner import HIDDEN, read_options
from bench.stack import Stack, open_stack
from fe.archive.keys import MemoryKey
from fe.archiving import months
from fe.archiving.certificates import Chains
from fe.archiving.checking import check
from fe.archiving.documents import ReceiptDocuments
from fe.archiving.packing import Archive, ArchiveDay
from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId
from fe.monitoring.metrics import Metrics
from fe.month.period import YearMonth
from fe.objects.storage import FolderStore
from fe.offload.pool import Apart
from fe.process.workers import collect_rarely
from fe.store.postgres.db import open_database
from fe.store.postgres.roles import FRONT, OPERATOR, WORKER
from fe.store.records import archive_places
from fe.store.records.archive import PackageChain
from tests.printing.documents import GOLDEN, signed

_POSTS, _SECONDS, _PARTS = 40, 8, 4
_A_PACKAGE = 10_000
#: Months that the receipts are spread over, and receipts that are read back from the archive.
_MONTHS, _READS = 13, 500
#: Bytes of a month's partitions, indexes and TOAST included, by table.
_SIZES = """
    SELECT p.relname, sum(pg_total_relation_size(c.oid))::bigint
      FROM pg_class AS p
      JOIN pg_inherits AS i ON i.inhparent = p.oid
      JOIN pg_class AS c ON c.oid = i.inhrelid
     WHERE p.relname = ANY (%(parents)s) AND right(c.relname, 7) = ANY (%(months)s)
     GROUP BY p.relname
"""
#: Bytes of a row of tables that are not cut by month.
_ROWS = """
    SELECT pg_total_relation_size('client_requests')::float8 / (SELECT count(*) FROM client_requests),
           pg_total_relation_size('held_numbers')::float8 / (SELECT count(*) FROM held_numbers),
           pg_total_relation_size('archive_items')::float8 / (SELECT count(*) FROM archive_items),
           pg_total_relation_size('archive_places')::float8 / (SELECT count(*) FROM archive_places)
"""
_SOME = """
    SELECT a.submission_id FROM archive_places AS a WHERE a.tenant_id = %(tenant)s ORDER BY a.digest LIMIT %(reads)s
"""
_PARENTS = ["submissions", "submission_documents", "submission_events", "sends"]


def main() -> None:
    """Measure, and show it."""
    wanted = {
        "receipts": (50_000, "receipts in the history"),
        "work": {"nargs": 4, "help": HIDDEN, "metavar": ("DSN", "TENANT", "FOLDER", "BESIDE")},
    }
    chosen = read_options(__doc__, wanted, short={"receipts": 5_000})
    if chosen.work:
        dsn, tenant, folder, beside = chosen.work
        Path(folder).mkdir(exist_ok=True)
        key = Path(folder).with_suffix(".key")
        if not key.exists():
            key.write_bytes(MemoryKey.generate().to_der())
        chain = PackageChain(TenantId(int(tenant)), Environment.TESTECF)
        store, signer = FolderStore(Path(folder)), MemoryKey.from_der(key.read_bytes())
        print(json.dumps(trio.run(_archive, dsn, chain, store, signer, bool(beside))))
        return
    with Report("archive") as report, open_stack() as stack:
        report.server(stack.dsn)
        _measure(stack, report, chosen.receipts, 1 if chosen.short else _PARTS)


def _measure(stack: Stack, report: Report, receipts: int, parts: int) -> None:
    xml = signed(GOLDEN[0]).decode()
    number = xml.partition("<eNCF>")[2][:13]
    with history.quickly(stack):
        history.fill(stack, 1, receipts, xml=(xml, number), youngest="60 days", span="365 days", months=16)
    stack.start_service()
    folder = stack.folder / "archive"
    _post_beside_archiver(stack, report, folder, parts)
    before = stack.cpu()
    worker = _start(stack, folder, beside=False)
    said, _ = worker.communicate()
    done = json.loads(said.splitlines()[-1])  # before it stands what the check of a long history logs
    used = stack.cpu()["Postgres"] - before["Postgres"]
    many = done["receipts"]
    report.figure("receipts archived in the measured run", "receipts", many)
    report.figure("archiver", "receipts/s", many / done["seconds"])
    report.figure("CPU of the archiver", "ms per receipt", done["cpu"] / many * 1000)
    report.figure("check of all receipts", "ms per receipt", done["checked"] / receipts * 1000)
    report.figure("memory of the archiver", "MiB at most", done["memory"])
    report.figure("CPU of Postgres meanwhile", "ms per receipt", used / many * 1000)
    files = [one.stat().st_size for one in folder.rglob("*") if one.is_file()]
    report.figure("archive, manifests twice", "bytes per receipt", sum(files) / receipts)
    report.figure("documents themselves", "bytes per receipt", 2 * len(xml.encode()))
    _detach(stack, report, folder, receipts)


def _detach(stack: Stack, report: Report, folder: Path, receipts: int) -> None:
    today = system_clock().date()
    places = [today.year * 12 + today.month - 1 - back for back in range(1, _MONTHS + 3)]
    old = [YearMonth(place // 12, place % 12 + 1) for place in places]
    before = _sizes(stack, old)
    left, seconds = trio.run(_detach_all, stack.dsn, folder, old)
    after = _sizes(stack, old)
    report.figure("receipts of months that left", "receipts", left)
    report.figure("a month is verified and leaves", "ms per receipt", seconds / left * 1000)
    report.figure("an XML from the archive", "ms", trio.run(_read_some, stack, folder))
    for name in _PARENTS:
        report.figure(f"{name} of these months", "bytes per receipt", before[name] / receipts)
    report.figure("submission_documents after", "bytes per receipt", after["submission_documents"] / receipts)
    with psycopg.connect(stack.dsn) as conn:
        by_row = conn.execute(_ROWS).fetchone()
        posted = conn.execute(
            "SELECT count(*) FROM submissions WHERE submission_id >= uuid_floor(now() - '1 h'::interval)"
        )
        (new,) = posted.fetchone() or (0,)
    assert by_row is not None
    for name, value in zip(("client_requests", "held_numbers", "archive_items", "archive_places"), by_row, strict=True):
        report.figure(f"{name}", "bytes per row", value)
    rows = sum(before.values()) / receipts + sum(by_row[:2])
    freed = (before["submission_documents"] - after["submission_documents"]) / receipts - by_row[3]
    report.figure("share of a receipt's bytes that left", "%", 100 * freed / rows)
    # Receipts that went the whole road have their real events; their documents are shorter, and JSON.
    real = _sizes(stack, [YearMonth.of(today)])
    for name in _PARENTS:
        report.figure(f"{name} of POSTed receipts", "bytes per receipt", real[name] / new)


def _sizes(stack: Stack, months_of: list[YearMonth]) -> dict[str, int]:
    values = {"parents": _PARENTS, "months": [str(one).replace("-", "_") for one in months_of]}
    with psycopg.connect(stack.dsn) as conn:
        return dict(conn.execute(_SIZES, values).fetchall())


async def _detach_all(dsn: str, folder: Path, old: list[YearMonth]) -> tuple[int, float]:
    store, left, seconds = FolderStore(folder), 0, 0.0
    async with open_database(dsn, max_size=2, role=OPERATOR) as db:
        for month in old:
            count, reasons = await months.reasons(db, system_clock, month)
            if reasons:
                raise SystemExit(f"{month} stays: {reasons}")
            began = time.monotonic()
            verified, faults = await months.verify_month(db, store, month)
            if faults or verified != count:
                raise SystemExit(f"{month}: {verified} of {count} verified, {faults}")
            if count:
                await db.transact(archive_places.release, month)
            seconds += time.monotonic() - began
            left += count
    return left, seconds


async def _read_some(stack: Stack, folder: Path) -> list[float]:
    """Read receipts of the months that left, spread over them; return the milliseconds that each took."""
    tenant, taken = TenantId(stack.tenant_id), list[float]()
    with psycopg.connect(stack.dsn) as conn:
        found = conn.execute(_SOME, {"tenant": tenant, "reads": _READS}).fetchall()
    async with open_database(stack.dsn, max_size=2, role=FRONT) as db:
        documents = ReceiptDocuments(db, FolderStore(folder), Metrics())
        for (submission_id,) in found:
            began = time.perf_counter()
            xml = await documents.xml(tenant, SubmissionId(submission_id))
            taken.append((time.perf_counter() - began) * 1000)
            if not xml.is_archived:
                raise SystemExit(f"{submission_id} was not read from the archive")
    return taken


def _post_beside_archiver(stack: Stack, report: Report, folder: Path, parts: int) -> None:
    port, token = urlsplit(stack.base_url).port, stack.log_in()
    assert port is not None
    first = 2_000_000_000
    alone: list[float] = []
    beside: list[float] = []
    for part in range(2 * parts):
        worker = _start(stack, folder, beside=True) if part % 4 in (1, 2) else None
        order = submit.Order(port, token, first=first, documents=_POSTS * _SECONDS, rate=_POSTS)
        first += order.documents
        (beside if worker else alone).extend(seconds * 1000 for _, seconds in submit.submit(order).posts)
        if worker is not None:
            if worker.poll() is not None:
                report.skip(f"part {part}", "everything was archived before it ended: take more receipts")
            worker.kill()  # as a crash would: the next one goes on with its package
            worker.communicate()
    report.posts(alone, beside, "the archiver")


def _start(stack: Stack, folder: Path, *, beside: bool) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "bench.archive", "--work", stack.dsn, str(stack.tenant_id), str(folder)]
    command.append("beside" if beside else "")
    worker = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert worker.stdout is not None
    if worker.stdout.readline() != b"ready\n":
        raise SystemExit("the archiver did not start")
    return worker


async def _archive(dsn: str, chain: PackageChain, store: FolderStore, key: MemoryKey, beside: bool) -> dict[str, float]:
    """Archive everything of a chain, and check it. `beside`: at low priority and with pauses, as the service does."""
    packers = Apart(1, Metrics(), share=1.0)
    async with open_database(dsn, max_size=2, role=WORKER) as db, packers.running():
        apart = packers if beside else None
        if beside:
            await packers.run("archive", int)
        collect_rarely()  # as the service does: a collection over all modules holds the loop for 60 ms
        print("ready", flush=True)  # starting took CPU that archiving does not take
        work = Archive(db, store, key, system_clock, Chains(()), most=_A_PACKAGE, apart=apart)
        day, receipts, began, cpu = ArchiveDay.at(system_clock()), 0, time.monotonic(), time.process_time()
        while package := await work.advance(chain, day):
            receipts += package.receipts
        seconds, cpu = time.monotonic() - began, time.process_time() - cpu
        began = time.monotonic()
        found = await check(db, store, system_clock, chain, all_receipts=True)
        if found != (0, []):
            raise SystemExit(f"the archive differs: {found}")
        checked = time.monotonic() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"receipts": receipts, "seconds": seconds, "cpu": cpu, "checked": checked, "memory": memory}


if __name__ == "__main__":
    main()
