"""A backup to any moment, as docs/deployment.md says it, and the restore: what was committed before is there."""

import os
import pwd
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
import trio

from fe.accounts.provision import create_tenant
from fe.store.postgres.db import open_database
from fe.store.postgres.migrate import migrate
from fe.store.records import tenants
from tests.cli.running import environment
from tests.cli.warm import warm_fe
from tests.factories.tenants import ISSUER
from tests.ops.material import ROOT
from tests.servers import DEBIAN
from tests.waiting import PATIENCE

PAGE = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
#: Debian's: the tools for backups of the embedded one do not work.
PROGRAMS = max(DEBIAN.glob("*/bin"), key=lambda folder: int(folder.parent.name), default=None)

needs_postgres = pytest.mark.skipif(
    PROGRAMS is None,
    reason="NOT PROVED HERE: that a backup can be restored (no Postgres of Debian's: apt-get install postgresql)",
)


def block(language: str, beginning: str) -> str:
    """The page's block that begins with a line."""
    (found,) = [one for one in re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL) if one.startswith(beginning)]
    return str(found)


class Servers:
    """Postgres in folders of one machine, as the user that it wants to be."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.user: dict[str, Any] = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self.user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        for name in ("archive", "backups", "socket"):
            self.sh(f"mkdir {folder}/{name}")

    def sh(self, script: str, **told: str) -> None:
        """Run a block of the page here: what it calls /srv/fe is this folder."""
        path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
        ended = subprocess.run(
            ["sh", "-eu", "-c", script.replace("/srv/fe", str(self.folder))],
            env={"PATH": path, "HOME": str(self.folder), **told},
            capture_output=True,
            text=True,
            timeout=300,
            cwd=self.folder,
            **self.user,
        )
        assert ended.returncode == 0, script + ended.stdout + ended.stderr

    @contextmanager
    def running(self, data: Path) -> Iterator[str]:
        """A server on this folder; its DSN, once it takes writes."""
        told = f"-k {self.folder}/socket -c listen_addresses= -c fsync=off"
        self.sh(f"pg_ctl start --wait --timeout={PATIENCE:.0f} -D {data} -l {data}.log -o '{told}'")
        try:
            yield f"postgresql://postgres@/postgres?host={quote(str(self.folder / 'socket'), safe='')}"
        finally:
            self.sh(f"pg_ctl stop --wait --mode=fast -D {data}")


async def add(dsn: str, name: str) -> None:
    async with open_database(dsn) as db:
        await db.transact(create_tenant, name, ISSUER, today=date(2026, 11, 1))


async def names(dsn: str) -> set[str]:
    async with open_database(dsn) as db:
        return {tenant.name for tenant in await db.run(tenants.everyone)}


def ask(dsn: str, statement: str) -> Any:
    with psycopg.connect(dsn, autocommit=True) as conn:
        row = conn.execute(statement.encode()).fetchone()
        return row and row[0]


@pytest.fixture
def servers() -> Iterator[Servers]:
    # Not under pytest's own folder, which is closed to the user that Postgres runs as.
    folder = Path(tempfile.mkdtemp(prefix="fe-restore-"))
    yield Servers(folder)
    shutil.rmtree(folder, ignore_errors=True)


async def until(dsn: str, statement: str) -> None:
    with trio.fail_after(PATIENCE):
        while not ask(dsn, statement):  # noqa: ASYNC110  (a server's own process does the work)
            await trio.sleep(0.1)


@needs_postgres
@pytest.mark.timeout(900)
async def test_what_was_committed_before_the_moment_is_there_and_what_came_after_is_not(servers: Servers) -> None:
    data, restored = servers.folder / "data", servers.folder / "restored"
    servers.sh(f"initdb -D {data} -U postgres --auth=trust --encoding=utf8 --no-sync")
    settings = block("ini", "wal_level").replace("/srv/fe", str(servers.folder))
    servers.sh(f"cat >> {data}/postgresql.conf <<'END'\n{settings}END")
    with servers.running(data) as dsn:
        await trio.to_thread.run_sync(migrate, dsn)
        await add(dsn, "before the backup")
        servers.sh(
            block("sh", "# base backup"), NIGHT="monday", PGHOST=str(servers.folder / "socket"), PGUSER="postgres"
        )
        await add(dsn, "after the backup")
        moment = ask(dsn, "SELECT now() + interval '1 ms'")
        assert isinstance(moment, datetime)
        await until(dsn, "SELECT clock_timestamp() > now() - interval '1 s'")
        await add(dsn, "after the moment")
        last = ask(dsn, "SELECT pg_walfile_name(pg_switch_wal())")
        await until(dsn, f"SELECT last_archived_wal >= '{last}' FROM pg_stat_archiver")
    servers.sh("rm -r data")

    told = {"NIGHT": "monday", "PGDATA": str(restored), "MOMENT": moment.astimezone(UTC).isoformat()}
    servers.sh(block("sh", "# restore"), **told)
    with servers.running(restored) as dsn:
        await until(dsn, "SELECT NOT pg_is_in_recovery()")
        found = await names(dsn)
        runbook = [*("migrate", "--check"), *("outbox", "pause", "--reason", "restored; not looked at yet")]
        for command in (runbook[:2], runbook[2:]):
            ended = await trio.to_thread.run_sync(_fe, dsn, servers.folder, command)
            assert ended.returncode == 0, ended.stderr

    assert found == {"before the backup", "after the backup"}


def _fe(dsn: str, folder: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    told = environment(database_url=dsn, data_dir=str(folder))
    return subprocess.run([warm_fe(), *command], env=told, capture_output=True, text=True, timeout=300)
