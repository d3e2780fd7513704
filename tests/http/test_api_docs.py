"""docs/api: every command on its pages is run against a live server, and answers what the page says."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import trio

from fe.identifiers import SubmissionId
from fe.lifecycle import Status
from fe.store import history
from fe.store.postgres.db import Database
from tests.http import worker
from tests.http.front import Key, Running

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "api"
#: All but the one that tests/cli/integrator/test_page.py runs.
PAGES = sorted(set(FOLDER.glob("*.md")) - {FOLDER / "commands.md"})
_BLOCK = re.compile(r"^```(\w+)( run)?\n(.*?)^```$|^(<!-- the worker does its part: Aceptado -->)$", re.M | re.S)
_END = "--- end of block ---"

needs_curl = pytest.mark.skipif(
    shutil.which("curl") is None, reason="NOT PROVED HERE: there is no curl on this machine"
)


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """(`run`, commands), (`json`, what they answer), (`worker`, "")."""
    for found in _BLOCK.finditer(page):
        if found[4]:
            yield "worker", ""
        elif found[1] == "json":
            yield "json", found[3]
        elif found[2]:
            yield "run", found[3]


def values(text: str) -> list[Any]:
    decoder, found, at = json.JSONDecoder(), [], 0
    while rest := text[at:].lstrip():
        at = len(text) - len(rest)
        value, at = decoder.raw_decode(text, at)
        found.append(value)
    return found


def fits(seen: Any, shown: Any) -> bool:
    """Whether an answer is the one the page shows; `…` in a shown text stands for anything."""
    if isinstance(shown, str) and isinstance(seen, str):
        return re.fullmatch(".*".join(map(re.escape, shown.split("…"))), seen, re.S) is not None
    if isinstance(shown, dict):
        return list(seen) == list(shown) and all(fits(seen[name], value) for name, value in shown.items())
    if isinstance(shown, list):
        return len(seen) == len(shown) and all(map(fits, seen, shown))
    return bool(seen == shown)


class Shell:
    """One bash for a whole page, so that what a command set is there for the next ones."""

    def __init__(self, process: trio.Process) -> None:
        self._process = process

    async def run(self, commands: str) -> str:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        await stdin.send_all(f"{commands}\nprintf '%s' '{_END}'\n".encode())
        seen = ""
        with trio.fail_after(60):
            while not seen.endswith(_END):
                chunk = await stdout.receive_some(65536)
                assert chunk, f"the shell ended: {seen}"
                seen += chunk.decode()
        return seen.removesuffix(_END)


@needs_curl
@pytest.mark.parametrize(("page", "text"), [(page.name, page.read_text(encoding="utf-8")) for page in PAGES])
async def test_every_command_answers_what_the_page_says(
    front: Running, db: Database, nursery: trio.Nursery, key: Key, page: str, text: str
) -> None:
    token = await front.token(key)
    process: trio.Process = await nursery.start(
        lambda task_status: trio.run_process(  # noqa: ASYNC105  (the nursery awaits it)
            ["bash", "--norc"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            task_status=task_status,
        )
    )
    shell = Shell(process)
    given = {
        "BASE": front.base_url,
        "API_KEY_ID": key.api_key_id,
        "API_SECRET": key.secret,
        "TOKEN": token,
        "no_proxy": "*",
    }
    await shell.run("\n".join(f"export {name}='{value}'" for name, value in given.items()))
    answers: list[Any] = []
    ran = shown = 0
    for kind, block in blocks(text):
        if kind == "worker":
            await _accept_the_last(db, key)
        elif kind == "run":
            assert answers == [], f"the page does not show what came back: {answers}"
            answers = values(await shell.run(block))
            ran += 1
        else:
            assert answers, f"nothing came back, but the page shows {block}"
            seen = answers.pop(0)
            assert fits(seen, json.loads(block)), f"{page} shows\n{block}\nbut it was\n{json.dumps(seen, indent=2)}"
            shown += 1
    assert answers == []
    assert ran >= 1
    assert shown >= 1
    nursery.cancel_scope.cancel()


async def _accept_the_last(db: Database, key: Key) -> None:
    records = await db.run(
        history.after, key.tenant_id, history.HistoryFilter(), limit=1, cursor=SubmissionId(UUID(int=2**128 - 1))
    )
    await worker.carry_through(db, str(records[0].submission_id), Status.ACCEPTED, ("0", "Aceptado"))


def test_the_pages_are_all_there_and_lead_to_each_other() -> None:
    named = {"README", "states", "idempotency", "sequences", "errors", "received", "webhooks"}
    assert {page.stem for page in PAGES} == named
    for page in PAGES:
        for target in re.findall(r"\]\(([\w.]+\.md)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).is_file(), (page.name, target)
