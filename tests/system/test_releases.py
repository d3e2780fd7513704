"""The release before beside this one: real processes of both on one database, and back again.

The code of the release before is taken from the history of this repository, so a clone without it skips this.
"""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import trio
from psycopg import sql
from psycopg.conninfo import make_conninfo

from fe.ecf.selfmade import to_p12
from fe.http.app import PREFIX
from fe.simulator import Addresses, SimulatorSettings, simulate
from fe.store.postgres.migrate import RELEASE_BEFORE, migrate
from tests.cli.running import environment
from tests.cli.warm import warm_fe
from tests.factories.companies import credential_of_today
from tests.ports import free_port
from tests.system.test_road import invoice
from tests.waiting import PATIENCE, PAUSING

ROOT = Path(__file__).resolve().parent.parent.parent
#: The last commit of the release before, whose newest migration is RELEASE_BEFORE.
COMMIT_BEFORE = "2fe48450"
#: A process started in the root of this repository runs this release.
THIS = ROOT

_PATIENCE = 60.0


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the code of the release before."""
    asked = subprocess.run(
        ["git", "-C", str(ROOT), "archive", "--format=tar", COMMIT_BEFORE, "fe", "sql"], capture_output=True
    )
    if asked.returncode != 0:
        pytest.skip(f"{COMMIT_BEFORE} is not in this clone's history: nothing was tried beside the release before")
    folder = tmp_path_factory.mktemp("before")
    subprocess.run(["tar", "-x", "-C", str(folder)], input=asked.stdout, check=True)
    assert max(int(path.name[:4]) for path in (folder / "sql").rglob("[0-9]*.sql")) == RELEASE_BEFORE
    imported = subprocess.run([sys.executable, "-c", "import fe; print(fe.__file__)"], cwd=folder, capture_output=True)
    assert Path(imported.stdout.decode().strip()).is_relative_to(folder), imported
    return folder


@pytest.fixture
def empty(postgres: str) -> Iterator[str]:
    """DSN of a database with nothing in it."""
    with psycopg.connect(postgres, autocommit=True) as conn:
        conn.execute("CREATE DATABASE releases")
        yield make_conninfo(postgres, dbname="releases")
        conn.execute(sql.SQL("DROP DATABASE releases WITH (FORCE)"))


class Installation:
    """One database and one authority; processes of whichever release come and go."""

    def __init__(self, dsn: str, folder: Path, authority: Addresses) -> None:
        self.folder = folder
        self._authority = authority
        self._told = environment(
            database_url=dsn,
            data_dir=str(folder),
            authority_ecf_url=authority.ecf,
            authority_fc_url=authority.fc,
            metrics_bind="127.0.0.1:0",
            poll_seconds="0.2",
            passphrase="correct horse",
        )

    async def fe(self, release: Path, *args: str) -> str:
        """Run one command of a release; what it printed."""
        command = [str(warm_fe())] if release is THIS else [sys.executable, "-m", "fe"]
        ended = await trio.run_process(
            [*command, *args],
            cwd=release,
            env=self._told,
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr.decode()
        return ended.stdout.decode()

    @asynccontextmanager
    async def running(self, release: Path, role: str) -> AsyncIterator[str]:
        """A process that serves; its URL, where it is a front."""
        bind = f"127.0.0.1:{free_port()}"
        process = await trio.lowlevel.open_process(
            [sys.executable, "-m", "fe", "run", "--role", role],
            cwd=release,
            env=self._told | {"FE_HTTP_BIND": bind},
            stderr=subprocess.PIPE,
        )
        assert process.stderr is not None
        said = b""
        try:
            with trio.fail_after(_PATIENCE):
                while b'"serving"' not in said:
                    more = await process.stderr.receive_some()
                    assert more, said.decode()
                    said += more
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_drain, process)
                yield f"http://{bind}"
                nursery.cancel_scope.cancel()
        finally:
            process.kill()
            with trio.CancelScope(shield=True):
                await process.wait()

    async def set_up(self, release: Path) -> dict[str, str]:
        """A tenant with all it needs, made by the commands of a release; its key, as a login."""
        file = self.folder / "signer.p12"
        file.write_bytes(to_p12(credential_of_today(), "correct horse"))
        who = ("--tenant", "Ozama")
        name = ("--rnc", "131880738", "--legal-name", "Cafe Ozama SRL", "--address", "Calle El Conde 1")
        await self.fe(release, "tenant", "create", "Ozama", *name)
        await self.fe(release, "certificate", "add", str(file), *who)
        sequence = ("sequence", "put", "E31", "--environment", "testecf", "--expires", "2028-12-31")
        await self.fe(release, *sequence, *who)
        key = json.loads(await self.fe(release, "key", "create", "--environment", "testecf", *who, "--json"))
        return {"apiKeyId": key["apiKeyId"], "apiSecret": key["apiSecret"]}

    async def received(self) -> Counter[str]:
        """How often the authority was handed each number."""
        async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
            records = (await client.get(f"{self._authority.management}/journal")).json()["records"]
        return Counter(one["eNCF"] for one in records if one["kind"] == "document")


async def _drain(process: trio.Process) -> None:
    assert process.stderr is not None
    while await process.stderr.receive_some():
        pass


@asynccontextmanager
async def logged_in(url: str, login: dict[str, str]) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(
        base_url=f"{url}{PREFIX}", timeout=PATIENCE, trust_env=False, limits=PAUSING
    ) as client:
        answer = await client.post("/login", json=login)
        assert answer.status_code == 200, answer.text
        client.headers["Authorization"] = f"Bearer {answer.json()['accessToken']}"
        yield client


async def hand_in(client: httpx.AsyncClient, number: int) -> str:
    answer = await client.post("/invoices", json={"format": "structured", "payload": invoice(number)})
    assert answer.status_code == 202, answer.text
    tax_log_id: str = answer.json()["taxLogId"]
    return tax_log_id


async def verdict(client: httpx.AsyncClient, tax_log_id: str) -> Any:
    with trio.fail_after(_PATIENCE):
        while True:
            record = (await client.get(f"/invoices/{tax_log_id}", params={"wait": 5})).json()
            if record["status"] not in ("queued", "En Proceso"):
                return record["status"]


async def ready(url: str) -> int:
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
        return (await client.get(f"{url}/readyz")).status_code


@asynccontextmanager
async def installed(dsn: str, folder: Path) -> AsyncIterator[Installation]:
    async with trio.open_nursery() as nursery:
        authority: Addresses = await nursery.start(simulate, SimulatorSettings())
        yield Installation(dsn, folder, authority)
        nursery.cancel_scope.cancel()


@pytest.mark.drill
@pytest.mark.timeout(900)
async def test_migrated_first_both_releases_serve_and_finish_each_others_documents(
    before: Path, empty: str, tmp_path: Path
) -> None:
    async with installed(empty, tmp_path) as here:
        await here.fe(before, "migrate")
        async with here.running(before, "http") as old:
            assert await ready(old) == 200
            await trio.to_thread.run_sync(migrate, empty)
            assert await ready(old) == 200  # it stays in the balancer

            login = await here.set_up(THIS)
            async with here.running(THIS, "http") as new:
                assert await ready(new) == 200
                async with logged_in(old, login) as by_old, logged_in(new, login) as by_new:
                    # Started after the migration, as when one of the old ones dies meanwhile.
                    async with here.running(before, "actors"):
                        assert await verdict(by_old, await hand_in(by_new, 1)) == "Aceptado"
                    async with here.running(THIS, "actors"):
                        assert await verdict(by_new, await hand_in(by_old, 2)) == "Aceptado"
                    async with here.running(before, "actors"), here.running(THIS, "actors"):
                        taken = [await hand_in((by_old, by_new)[number % 2], number) for number in range(3, 23)]
                        assert {await verdict(by_new, one) for one in taken} == {"Aceptado"}

        # Back again: nothing of this release runs, and the one before goes on with what there is.
        await here.fe(before, "migrate")
        async with here.running(before, "all") as old, logged_in(old, login) as by_old:
            assert await ready(old) == 200
            assert await verdict(by_old, await hand_in(by_old, 23)) == "Aceptado"
            assert await verdict(by_old, taken[0]) == "Aceptado"
        received = await here.received()

    assert received == {f"E31{number:010}": 1 for number in range(1, 24)}


@pytest.mark.drill
@pytest.mark.timeout(900)
async def test_what_was_on_its_way_under_the_release_before_is_finished_by_this_one(
    before: Path, empty: str, tmp_path: Path
) -> None:
    """Migrated in the middle of it: rows in every stage, workers that died over some, and a front that goes on.

    Its connections have prepared their statements by then, on functions that the migrations put others in the place of.
    """
    async with installed(empty, tmp_path) as here:
        await here.fe(before, "migrate")
        login = await here.set_up(before)
        async with here.running(before, "http") as old, logged_in(old, login) as by_old:
            async with here.running(before, "actors"):
                assert await verdict(by_old, await hand_in(by_old, 1)) == "Aceptado"
                taken = [await hand_in(by_old, number) for number in range(2, 12)]
            taken += [await hand_in(by_old, number) for number in range(12, 16)]

            await trio.to_thread.run_sync(migrate, empty)

            taken += [await hand_in(by_old, number) for number in range(16, 26)]
            async with here.running(THIS, "actors"):
                assert {await verdict(by_old, one) for one in taken} == {"Aceptado"}
        received = await here.received()

    assert received == {f"E31{number:010}": 1 for number in range(1, 26)}
