"""SIGKILL ends the archiver, the way to the store and Postgres at random moments: each receipt is archived once.

ARCHIVE_KILLS says how often in all, ARCHIVE_SEED by which chance.
"""

import hashlib
import io
import json
import os
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import zipfile
from base64 import b64encode
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from fe.archiving.checking import check
from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.objects.s3 import S3Objects
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE
from fe.store.records import archive
from tests import citus
from tests.archiving.receipts import MORNING, SIGNED, acknowledged, finished
from tests.archiving.test_archiving import KEY, bucket, chain_of
from tests.factories.tenants import make_tenant, rows
from tests.faults.postgres import Postgres
from tests.faults.watchman import Watchman
from tests.ports import free_port
from tests.waiting import PATIENCE

pytestmark = [
    pytest.mark.skipif(citus.wanted(), reason="a server of its own, without Citus"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

KILLS = int(os.environ.get("ARCHIVE_KILLS", "3"))
SEED = int(os.environ.get("ARCHIVE_SEED", "7"))
_RECEIPTS_PER_KILL = 12

#: Archives until nothing is left, whatever fails meanwhile.
ARCHIVER = """
import base64, sys, trio
from datetime import datetime
from fe.archive.keys import MemoryKey
from fe.archiving.certificates import Chains
from fe.archiving.packing import Archive, ArchiveDay
from fe.objects.s3 import S3Objects
from fe.objects.storage import StorageError
from fe.store.postgres.db import open_database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE
from fe.store.records import archive
dsn, endpoint, now, key = sys.argv[1:]
now, key = datetime.fromisoformat(now), MemoryKey.from_der(base64.b64decode(key))
store = S3Objects("archive", prefix="", endpoint=endpoint, region="us-east-1", access_key="a", secret_key="b")
async def main():
    async with open_database(dsn, role="fe_worker", max_size=2) as db:
        work, day = Archive(db, store, key, lambda: now, Chains(()), most=2), ArchiveDay.at(now)
        while True:
            try:
                for chain in await db.run(archive.due, day.until):
                    while await work.advance(chain, day):
                        pass
                return
            except (StorageError, *ANY_OF_THE_DATABASE) as error:
                print(repr(error)[:200], file=sys.stderr, flush=True)
                await trio.sleep(0.1)
trio.run(main)
"""
#: Passes bytes between the archiver and the bucket; killed, it cuts what is on its way.
RELAY = """
import socket, sys, threading
here, there = int(sys.argv[1]), int(sys.argv[2])
def pump(source, sink):
    try:
        while data := source.recv(4096):
            sink.sendall(data)
    except OSError:
        pass
    for one in source, sink:
        one.close()
with socket.create_server(("127.0.0.1", here)) as server:
    while True:
        near, _ = server.accept()
        far = socket.create_connection(("127.0.0.1", there))
        threading.Thread(target=pump, args=(near, far), daemon=True).start()
        threading.Thread(target=pump, args=(far, near), daemon=True).start()
"""


class Process:
    """A Python program that is started again after each kill."""

    def __init__(self, log: Path, *command: str) -> None:
        self._log = log
        self._command = [sys.executable, "-c", *command]
        self.process: trio.Process | None = None

    async def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = await trio.lowlevel.open_process(
                self._command, stderr=log, stdout=subprocess.DEVNULL, env=os.environ | {"PYTHONPATH": "."}
            )

    async def kill(self) -> bool:
        """Whether it ran."""
        assert self.process is not None
        ran = self.process.poll() is None
        if ran:
            self.process.kill()
        await self.process.wait()
        return ran


@asynccontextmanager
async def server() -> AsyncIterator[tuple[Postgres, str]]:
    """Run a Postgres of its own with a migrated database; yield it and the DSN."""
    watchman = Watchman()
    try:
        with tempfile.TemporaryDirectory(prefix="fe-kills-") as folder:  # which the server's user may enter
            postgres = Postgres(Path(folder), watchman)
            await postgres.make()
            try:
                await postgres.make_database("kills")
                yield postgres, postgres.dsn("kills")
            finally:
                with trio.CancelScope(shield=True):
                    await postgres.close()
    finally:
        watchman.close()


async def test_archive_is_whole_after_kills_of_archiver_store_and_database(tmp_path: Path) -> None:
    chance, ends = random.Random(SEED), Counter[str]()
    async with server() as (postgres, dsn), bucket() as endpoint:
        async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as operator:
            assert (await operator.put(f"{endpoint}/archive")).is_success
        store = S3Objects("archive", prefix="", endpoint=endpoint, region="us-east-1", access_key="a", secret_key="b")
        port = free_port()
        relay = Process(tmp_path / "relay.log", RELAY, str(port), endpoint.rpartition(":")[2])
        way = f"http://127.0.0.1:{port}"
        archiver = Process(
            tmp_path / "archiver.log", ARCHIVER, dsn, way, MORNING.isoformat(), b64encode(KEY.to_der()).decode()
        )
        async with open_database(dsn, max_size=2) as db:
            tenant = await make_tenant(db)
            subjects = [
                await finished(db, tenant, signed=SIGNED + secrets.token_hex(20_000).encode())
                for _ in range(_RECEIPTS_PER_KILL * KILLS)
            ]
            await acknowledged(db, tenant, subjects[0], MORNING - timedelta(hours=9))
            await relay.start()
            await archiver.start()
            try:
                with trio.fail_after(PATIENCE + 30 * KILLS):
                    while ends.total() < KILLS:
                        await _moved(db)
                        await trio.sleep(chance.uniform(0, 0.3))
                        what = chance.choice(["archiver", "store", "database"])
                        if what == "database":
                            await postgres.end(signal.SIGKILL)
                            await postgres.start()
                        else:
                            one = archiver if what == "archiver" else relay
                            assert await one.kill(), f"{what} had ended: take more receipts"
                            await one.start()
                        ends[what] += 1
                    assert archiver.process is not None
                    assert await archiver.process.wait() == 0, (tmp_path / "archiver.log").read_text()
            finally:
                with trio.CancelScope(shield=True):
                    await archiver.kill()
                    await relay.kill()
            print(f"seed {SEED}: {dict(ends)}")  # noqa: T201  (figures of the proof)
            manifests = await contents(db, store, tenant)
            archived = [one["id"] for said in manifests for one in said["receipts"]]
            assert sorted(archived) == sorted(map(str, subjects))
            found = await check(
                db, store, lambda: MORNING + timedelta(days=1), chain_of(tenant), all_receipts=True, reads=True
            )
            assert found == (0, [])


async def contents(db: Database, store: S3Objects, tenant: TenantId) -> list[dict[str, Any]]:
    """The manifests of a tenant's packages, each checked against the database and the one before."""
    found, previous = [], None
    for package in reversed(await db.run(archive.listed, tenant, Environment.ECF, limit=1000)):
        content = b"".join(store.stream(str(package.location)))
        assert hashlib.sha256(content).digest() == package.digest
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            manifest = file.read("manifest.json")
        said = json.loads(manifest)
        assert said["previous"] == (None if previous is None else previous.hex())
        previous = hashlib.sha256(manifest).digest()
        found.append(said)
    return found


async def _moved(db: Database) -> None:
    """Wait until a package is planned, made or stored."""

    async def place() -> object:
        try:
            return await rows(db, "SELECT count(*), count(made_at) AS made, count(stored_at) FROM archive_packages")
        except ANY_OF_THE_DATABASE:
            return None

    before = await place()
    while (now := await place()) is None or now == before:  # noqa: ASYNC110  (only the database knows)
        await trio.sleep(0.02)
