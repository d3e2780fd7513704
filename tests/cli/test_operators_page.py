"""The operators' page and their runbooks: every command in them is run as it stands there."""

import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trio

from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import Stage
from fe.store.postgres.db import Database
from tests.cli.logins import dsn_of
from tests.cli.running import Fe, environment
from tests.cli.warm import path_with_fe
from tests.factories import bookings
from tests.factories.tenants import make_submission, row, rows, take
from tests.simulator.conftest import http, start
from tests.simulator.support import Start

__all__ = ["http", "start"]

ROOT = Path(__file__).resolve().parent.parent.parent
RUNBOOKS = ("replay-dead-letters", "resolve-unknown-outcome", "authority-down", "poison-document")
PAGES = {"operators": ROOT / "docs" / "operators.md"} | {
    name: ROOT / "ops" / "runbooks" / f"{name}.md" for name in RUNBOOKS
}
NOW = datetime.now(UTC)


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of code in a page, those within lists too."""
    found = re.findall(rf"^( *)```{language}\n(.*?)^\1```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [re.sub(rf"^{indent}", "", block, flags=re.MULTILINE) for indent, block in found]


async def make_dead(db: Database, tenant: TenantId, number: int, stage: Stage, error: str) -> SubmissionId:
    subject = await make_submission(db, tenant, stage=stage, at=NOW, e_ncf=f"E31{number:010}")
    died_at = NOW - timedelta(hours=1) + timedelta(seconds=number)
    await db.run(bookings.dead_letter, await take(db, subject), at=died_at, error=error)
    return subject


async def be_the_actors(db: Database) -> None:
    """Bring whatever is set going again to its verdict."""
    while True:
        for found in await rows(db, "SELECT subject FROM outbox"):
            await db.run(bookings.verdict, await take(db, found["subject"]), at=NOW)
        await trio.sleep(0.05)


async def run(folder: Path, script: str, shell: list[str], **more: str) -> subprocess.CompletedProcess[str]:
    return await trio.to_thread.run_sync(
        lambda: subprocess.run(
            [*shell, script],
            cwd=folder,
            env={**environment(), "PATH": path_with_fe(), **more},
            capture_output=True,
            text=True,
            timeout=300,
        )
    )


@pytest.mark.parametrize("name", PAGES)
async def test_every_command_of_the_page_does_what_it_is_there_for(
    name: str, db: Database, fe: Fe, tenant: str, start: Start
) -> None:
    simulator = await start(summary_port=0)
    tenant_id = (await row(db, "SELECT tenant_id FROM tenants WHERE name = %(name)s", name=tenant))["tenant_id"]
    one = await make_dead(db, tenant_id, 1, Stage.SEND, "authority answered with status 503")
    await make_dead(db, tenant_id, 2, Stage.SEND, "authority answered with status 503")
    await make_dead(db, tenant_id, 3, Stage.RECONCILE, "no answer")
    died = await make_dead(db, tenant_id, 4, Stage.SIGN, "8 workers in a row died over it")
    other = await make_dead(db, tenant_id, 5, Stage.SEND, "cannot connect")
    settings = {
        "FE_DATABASE_URL": dsn_of("fe_cli_login", fe.dsn),
        "FE_DATA_DIR": str(fe.folder),
        "FE_DEVELOPMENT": "1",
        "FE_AUTHORITY_ECF_URL": simulator.at.ecf,
        "FE_AUTHORITY_FC_URL": simulator.at.fc,
        "FE_AUTHORITY_STATUS_URL": simulator.at.ecf,
        "ID": str(died if name == "poison-document" else one),
        "OTHER": str(other),
    }
    page = PAGES[name]
    assert blocks(page, "sh") != []

    async with trio.open_nursery() as actors:
        actors.start_soon(be_the_actors, db)
        for block in blocks(page, "sh"):
            ended = await run(fe.folder, block, ["sh", "-eu", "-c"], **settings)
            assert ended.returncode == 0, block + ended.stdout + ended.stderr
        actors.cancel_scope.cancel()

    for block in blocks(page, "python"):
        ended = await run(fe.folder, block, [sys.executable, "-c"])
        assert ended.returncode == 0, ended.stderr
        assert f"last hash {await last_hash(db, one)}" in ended.stdout


async def last_hash(db: Database, subject: SubmissionId) -> str:
    found = await row(
        db,
        "SELECT hash FROM submission_events WHERE submission_id = %(id)s ORDER BY seq DESC LIMIT 1",
        id=subject,
    )
    return bytes(found["hash"]).hex()


def test_every_command_for_dead_letters_is_on_the_page() -> None:
    shown = PAGES["operators"].read_text(encoding="utf-8")
    from fe.cli.evidence import evidence
    from fe.cli.outbox import outbox as commands

    everything = [f"fe outbox {name}" for name in commands.commands] + [f"fe evidence {n}" for n in evidence.commands]
    assert [command for command in everything if f"{command} " not in shown and f"{command}\n" not in shown] == []


def test_runbooks_point_to_pages_that_exist() -> None:
    for page in PAGES.values():
        for pointed in re.findall(r"[\w/-]+\.md", page.read_text(encoding="utf-8")):
            assert (ROOT / pointed).is_file() or (page.parent / pointed).is_file(), f"{page.name}: {pointed}"
