"""Each receipt is in exactly one package, whatever ends the archiver, and a store that lies is found out."""

import hashlib
import json
import os
import signal
import socket
import subprocess
import sys
import zipfile
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import trio

from fe.actors.archiver import Archiver
from fe.archive.keys import MemoryKey
from fe.archive.verifier.time_stamp import read_time_stamp
from fe.archiving.certificates import Chains
from fe.archiving.checking import check
from fe.archiving.packing import Archive, stamp_location
from fe.archiving.stamping import Stamper
from fe.ecf.catalogue import Environment
from fe.egress.client import Egress
from fe.egress.target import CONFIGURED
from fe.identifiers import TenantId
from fe.monitoring.metrics import Metrics
from fe.objects.s3 import S3Objects
from fe.objects.storage import FolderStore, ObjectStore
from fe.store.postgres.db import Database
from fe.store.records import archive, archive_checks
from fe.store.records.archive import PackageChain
from tests import citus
from tests.archiving.authority_of_time import time_stamp_authority
from tests.archiving.receipts import EVENING, MORNING, acknowledged, approved, finished, given_up, received, voided
from tests.factories.tenants import make_tenant, rows
from tests.waiting import PATIENCE

KEY = MemoryKey.generate()

#: The archiver, once for each failpoint, each time killed there; at last it ends by itself.
KILLED = """
import base64, os, sys, trio
from datetime import datetime
from pathlib import Path
from fe.archive.keys import MemoryKey
from fe.archiving.certificates import Chains
from fe.archiving.packing import Archive, ArchiveDay
from fe.objects.storage import FolderStore
from fe.process import failpoints
from fe.store.engines import engine_named
from fe.store.postgres.db import open_database
from fe.store.records import archive
dsn, folder, now, key, engine, *points = sys.argv[1:]
now = datetime.fromisoformat(now)
async def main():
    async with open_database(dsn, role="fe_worker", max_size=2, engine=engine_named(engine)) as db:
        key_of = MemoryKey.from_der(base64.b64decode(key))
        work = Archive(db, FolderStore(Path(folder)), key_of, lambda: now, Chains(()), most=2)
        day = ArchiveDay.at(now)
        for chain in await db.run(archive.due, day.until):
            while await work.advance(chain, day):
                pass
for point in points:
    child = os.fork()
    if child == 0:
        failpoints.arm(point)
        trio.run(main)
        os._exit(0)
    print(os.waitpid(child, 0)[1])
"""


def archiver_of(
    db: Database, store: ObjectStore, now: datetime = MORNING, *, most: int = 100, stamps: str = ""
) -> tuple[Archiver, Metrics]:
    """The actor. `stamps`: address of a time stamp authority."""
    metrics = Metrics()
    work = Archive(db, store, KEY, lambda: now, Chains(()), most=most)
    stamper = Stamper(db, store, Egress(CONFIGURED), stamps) if stamps else None
    stopping = trio.Event()
    archiver = Archiver(db, work, store, lambda: now, metrics, "test", stamper=stamper, scale=1.0, stopping=stopping)
    return archiver, metrics


async def run_archiver(
    db: Database, store: ObjectStore, now: datetime = MORNING, *, most: int = 100, stamps: str = ""
) -> Metrics:
    """One round, as the actor does it."""
    archiver, metrics = archiver_of(db, store, now, most=most, stamps=stamps)
    await archiver.round()
    return metrics


def chain_of(tenant: TenantId) -> PackageChain:
    return PackageChain(tenant, Environment.ECF)


async def contents(db: Database, tenant: TenantId, folder: Path) -> list[dict[str, Any]]:
    """The manifests of a tenant's packages, each checked against the database, its files and the one before."""
    found, previous = [], None
    packages = await db.run(archive.listed, tenant, Environment.ECF, limit=100)
    for package in reversed(packages):
        path = folder / str(package.location)
        assert hashlib.sha256(path.read_bytes()).digest() == package.digest
        with zipfile.ZipFile(path) as file:
            manifest = file.read("manifest.json")
        said = json.loads(manifest)
        assert said["previous"] == (None if previous is None else previous.hex())
        assert path.with_suffix(".json").read_bytes() == manifest
        previous = hashlib.sha256(manifest).digest()
        assert previous == package.manifest
        found.append(said)
    return found


async def test_archiver_killed_at_every_step_archives_each_receipt_once(db: Database, dsn: str, tmp_path: Path) -> None:
    tenant = await make_tenant(db)
    subjects = [await finished(db, tenant) for _ in range(5)]
    await acknowledged(db, tenant, subjects[0], EVENING + timedelta(minutes=1))
    await received(db, tenant, EVENING)
    points = ["packing", "packed", "uploaded", "uploaded:2", "archived", "packing", "uploaded", "archived:2", ""]
    command = [sys.executable, "-c", KILLED, dsn, str(tmp_path), MORNING.isoformat()]
    command += [b64encode(KEY.to_der()).decode(), citus.engine().name, *points]
    with trio.fail_after(PATIENCE):
        done = await trio.run_process(command, capture_stdout=True, env=os.environ | {"PYTHONPATH": "."})

    ends = [int(line) for line in done.stdout.split()]
    assert ends == [signal.SIGKILL] * (len(points) - 1) + [0]
    manifests = await contents(db, tenant, tmp_path)
    archived = [one["id"] for said in manifests for one in said["receipts"]]
    assert len(archived) == 6
    assert sorted(archived[:5]) == sorted(map(str, subjects))
    assert [said["counts"]["receipts"] for said in manifests] == [2, 2, 2]
    assert await check(db, FolderStore(tmp_path), lambda: MORNING + timedelta(days=1), chain_of(tenant)) == (0, [])
    assert len(FolderStore(tmp_path).sizes(f"{tenant}/ecf/")) == 6


async def test_what_arrives_later_goes_into_a_later_package_once(
    db: Database, worker_db: Database, tmp_path: Path
) -> None:
    tenant, store, day = await make_tenant(db), FolderStore(tmp_path), timedelta(days=1)
    subjects = [await finished(db, tenant) for _ in range(3)]
    no_total = await finished(db, tenant, signed=b"<ECF>no total</ECF>")
    await rows(db, "UPDATE submissions SET total = NULL WHERE submission_id = %(one)s RETURNING 1", one=no_total)
    await acknowledged(db, tenant, subjects[0], EVENING)
    await run_archiver(worker_db, store)
    await acknowledged(db, tenant, subjects[1], MORNING)
    await approved(db, tenant, subjects[1], MORNING)
    await approved(db, tenant, subjects[2], MORNING)
    await voided(db, tenant, MORNING)
    refused_there = await given_up(db, tenant, at=MORNING)
    for _ in range(2):
        await run_archiver(worker_db, store, MORNING + day)

    first, second = await contents(db, tenant, tmp_path)
    assert first["counts"]["receipts"] == 3
    assert [(one["kind"], one["root"], one["status"], [*one["files"]]) for one in second["receipts"][2:]] == [
        ("issued", "ECF", "error", ["original.bin", "signed.xml", "timeline.json"]),
        ("voided", "ANECF", "voided", ["answer.json", "signed.xml"]),
    ]
    assert second["receipts"][2]["id"] == str(refused_there)
    assert {one["id"]: [*one["files"]][-2:] for one in second["receipts"][:2]} == {
        str(subjects[1]): ["acknowledgement.xml", "approval.xml"],
        str(subjects[2]): ["approval.xml"],
    }
    (refused,) = await rows(db, "SELECT evidence_id, refused FROM archive_items WHERE refused IS NOT NULL")
    assert refused["evidence_id"] == no_total
    assert "an e-CF has a number and a total" in refused["refused"]
    state = await worker_db.run(archive.state)
    assert (state.missing, state.refused, state.faults, state.unstored_seconds) == (1, 1, 0, 0)


#: The default retention of a bucket: objects are locked for ten years.
LOCK = """<ObjectLockConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
<ObjectLockEnabled>Enabled</ObjectLockEnabled>
<Rule><DefaultRetention><Mode>COMPLIANCE</Mode><Days>3653</Days></DefaultRetention></Rule>
</ObjectLockConfiguration>"""


#: moto asks for a signature and does not check it.
SIGNED_SOMEHOW = {
    "Authorization": "AWS4-HMAC-SHA256 Credential=a/20261127/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=x"
}


@asynccontextmanager
async def bucket() -> AsyncIterator[str]:
    """Run the server of tests/archiving/bucket.py; yield its address."""
    command = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("bucket.py"))]
    process = await trio.lowlevel.open_process(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert process.stdout is not None
        with trio.fail_after(PATIENCE):
            port = int(await process.stdout.receive_some(16))
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        await process.wait()


async def test_bucket_that_lies_is_found_out_and_tried_again(db: Database, worker_db: Database, tmp_path: Path) -> None:
    tenant = await make_tenant(db)
    subject = await finished(db, tenant)
    async with bucket() as endpoint, httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as operator:
        bucket_url = f"{endpoint}/archive"
        made = await operator.put(bucket_url, headers={"x-amz-bucket-object-lock-enabled": "true"})
        assert made.is_success, made.text
        rule = await operator.put(f"{bucket_url}?object-lock", content=LOCK)
        assert rule.is_success, rule.text
        store = S3Objects("archive", prefix="fe", endpoint=endpoint, region="us-east-1", access_key="a", secret_key="b")

        async def lie(kind: str) -> None:
            await operator.post(f"{endpoint}/-lie/{kind}")

        faults = {}
        for kind in ("denied", "midway", "half", "other"):
            await lie(kind)
            metrics = await run_archiver(worker_db, store)
            (package,) = await rows(db, "SELECT stored_at, fault FROM archive_packages")
            assert package["stored_at"] is None
            faults[kind] = package["fault"]
            assert (
                metrics.registry.get_sample_value(
                    "fe_archive_failures_total", {"fault": package["fault"].partition(":")[0]}
                )
                == 1
            )
        assert faults["denied"].startswith("denied: ")
        assert faults["midway"].startswith("denied: ")
        assert faults["half"].startswith("differs: ")
        assert "instead of" in faults["half"]
        assert faults["other"].endswith("it has another digest")

        await lie("none")
        await run_archiver(worker_db, store)
        (package,) = await rows(db, "SELECT location, bytes, stored_at, fault FROM archive_packages")
        assert package["stored_at"] is not None
        assert package["fault"] is None
        url = f"{bucket_url}/fe/{package['location']}"
        held = await operator.head(url, headers=SIGNED_SOMEHOW)
        assert held.headers["x-amz-object-lock-mode"] == "COMPLIANCE"
        whole = b"".join(store.stream(package["location"]))
        assert len(whole) == package["bytes"]
        assert str(subject).encode() in whole
        assert b"".join(store.stream(package["location"], 10, 20)) == whole[10:20]

        await lie("old")
        assert await check(worker_db, store, lambda: MORNING + timedelta(days=1), chain_of(tenant)) == (0, [])
        await lie("other")
        _, found = await check(worker_db, store, lambda: MORNING + timedelta(days=1), chain_of(tenant), reads=True)
        assert found == [f"{package['location']}: it has another digest"]


#: A planned package whose receipt is gone from the database.
DAMAGED_CHAIN = """
    WITH begun AS (INSERT INTO archive_chains (tenant_id, environment, planned_until, issued_until)
                   VALUES (%(tenant)s, 'ecf', '2020-01-01Z', '2020-01-01Z')),
         planned AS (INSERT INTO archive_packages (tenant_id, environment, number, day, planned_at, receipts, additions)
                     VALUES (%(tenant)s, 'ecf', 1, '2020-01-01', '2020-01-01Z', 1, 0))
    INSERT INTO archive_items (tenant_id, evidence_id, part, environment, number)
    VALUES (%(tenant)s, gen_random_uuid(), 'issued', 'ecf', 1)
    RETURNING evidence_id
"""


async def test_chain_with_an_unknown_error_does_not_stop_the_others(
    db: Database, worker_db: Database, tmp_path: Path
) -> None:
    damaged, tenant = await make_tenant(db), await make_tenant(db)
    await rows(db, DAMAGED_CHAIN, tenant=damaged)
    await finished(db, tenant)
    metrics = await run_archiver(worker_db, FolderStore(tmp_path))

    assert len(await contents(db, tenant, tmp_path)) == 1
    assert metrics.registry.get_sample_value("fe_archive_failures_total", {"fault": "unexpected"}) == 1
    (package,) = await rows(db, "SELECT fault FROM archive_packages WHERE tenant_id = %(tenant)s", tenant=damaged)
    assert package["fault"] == "unexpected: KeyError"


async def test_chain_that_was_never_checked_is_unchecked_since_its_first_package(
    db: Database, worker_db: Database
) -> None:
    old, new = [await make_tenant(db) for _ in range(2)]
    await rows(db, DAMAGED_CHAIN, tenant=old)  # planned years ago
    await worker_db.run(archive.note_fault, chain_of(new), "unexpected: KeyError")
    await worker_db.run(archive_checks.note_check, chain_of(new), datetime.now(UTC), 0, [])

    state = await worker_db.run(archive.state)
    assert timedelta(seconds=state.unchecked_seconds) > timedelta(days=30)
    await worker_db.run(archive_checks.note_check, chain_of(old), datetime.now(UTC), 0, [])
    state = await worker_db.run(archive.state)
    assert timedelta(seconds=state.unchecked_seconds) < timedelta(days=30)


async def test_chain_that_cannot_be_planned_is_begun_and_checked(db: Database, worker_db: Database) -> None:
    tenant = await make_tenant(db)
    await worker_db.run(archive.note_fault, chain_of(tenant), "unexpected: KeyError")
    assert await worker_db.run(archive_checks.chains_to_check, MORNING) == [chain_of(tenant)]


async def test_chains_whose_store_always_fails_do_not_starve_the_others(
    db: Database, worker_db: Database, tmp_path: Path
) -> None:
    tenants = [await make_tenant(db) for _ in range(5)]
    for tenant in tenants:
        await finished(db, tenant)
    for tenant in tenants[:4]:
        (tmp_path / str(tenant)).write_text("a file in the place of the folder")
    archiver, metrics = archiver_of(worker_db, FolderStore(tmp_path))
    for _ in range(2):
        await archiver.round()

    assert len(await contents(db, tenants[4], tmp_path)) == 1
    checked = await worker_db.run(archive_checks.last_check, tenants[4], Environment.ECF)
    assert checked.checked_at == MORNING
    assert metrics.registry.get_sample_value("fe_archive_failures_total", {"fault": "unavailable"}) == 6


async def test_time_stamp_authority_that_is_down_stops_no_package_and_its_stamp_follows(
    db: Database, worker_db: Database, tmp_path: Path
) -> None:
    tenant, store = await make_tenant(db), FolderStore(tmp_path / "archive")
    await finished(db, tenant)
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        nothing = f"http://127.0.0.1:{taken.getsockname()[1]}/tsa"
    metrics = await run_archiver(worker_db, store, stamps=nothing)
    (waiting,) = await worker_db.run(archive.listed, tenant, Environment.ECF, limit=9)
    with time_stamp_authority(tmp_path) as address:
        await run_archiver(worker_db, store, stamps=address)
    (stamped,) = await worker_db.run(archive.listed, tenant, Environment.ECF, limit=9)

    assert metrics.registry.get_sample_value("fe_archive_failures_total", {"fault": "time-stamp"}) == 1
    assert (waiting.stored_at is None, waiting.stamped_at) == (False, None)
    assert stamped.stamped_at is not None
    assert stamped.location is not None
    assert stamped.manifest is not None
    token = tmp_path / "archive" / stamp_location(stamped.location)
    assert read_time_stamp(token.read_bytes(), stamped.manifest).signer.name == "Sellos de prueba"
    token.unlink()
    _, found = await check(worker_db, store, lambda: MORNING + timedelta(days=1), chain_of(tenant))
    assert found == [f"{stamp_location(stamped.location)}: absent"]
