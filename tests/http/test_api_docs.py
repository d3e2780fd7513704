"""docs/api: every command on its pages is run against a live server, and answers what the page says."""

import json
import re
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from fe.ecf.catalogue import Environment
from fe.ecf.identity import TaxId
from tests.http.front import Key, Running
from tests.system.stack import ISSUER, open_reception, provision, running_stack
from tests.waiting import PATIENCE

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "api"
#: All but the one that tests/cli/integrator/test_page.py runs, and the one whose code tests/clients/test_pages.py runs.
PAGES = sorted(set(FOLDER.glob("*.md")) - {FOLDER / "commands.md", FOLDER / "languages.md"})
_BLOCK = re.compile(r"^```(\w+)( run)?\n(.*?)^```$", re.M | re.S)
_END = "--- end of block ---"

needs_curl = pytest.mark.skipif(
    shutil.which("curl") is None, reason="NOT PROVED HERE: there is no curl on this machine"
)


def blocks(page: str) -> Iterator[tuple[str, str]]:
    """(`run`, commands), (`json` or `text`, what they answer)."""
    for found in _BLOCK.finditer(page):
        if found[1] in ("json", "text"):
            yield found[1], found[3]
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


#: Repeats a call with `wait=30` until there is a verdict, because a busy machine may need longer.
PATIENT = """
curl() {
  while :; do
    said=$(command curl "$@")
    case "$*" in *wait=30*)
      case "$said" in *'"status":"queued"'*|*'"status":"En Proceso"'*) continue ;; esac ;;
    esac
    printf '%s' "$said"
    return
  done
}
"""


class Shell:
    """One bash for a whole page, so that what a command set is there for the next ones."""

    def __init__(self, process: trio.Process) -> None:
        self._process = process

    async def prepare(self, given: dict[str, str]) -> None:
        """Set the variables that a page starts from; `curl` becomes patient, and asks no proxy."""
        setting = {**given, "no_proxy": "*"}
        await self.run("\n".join(f"export {name}='{value}'" for name, value in setting.items()) + PATIENT)

    async def run(self, commands: str) -> str:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        await stdin.send_all(f"{commands}\nprintf '%s' '{_END}'\n".encode())
        seen = ""
        with trio.fail_after(3 * PATIENCE):
            while not seen.endswith(_END):
                chunk = await stdout.receive_some(65536)
                assert chunk, f"the shell ended: {seen}"
                seen += chunk.decode()
        return seen.removesuffix(_END)


@asynccontextmanager
async def running_shell(*command: str, **how: Any) -> AsyncIterator[Shell]:
    """Shell that reads commands from its standard input until the block ends; `how` goes to the process."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    async with trio.open_nursery() as nursery:
        process: trio.Process = await nursery.start(partial(trio.run_process, command, check=False, **pipes, **how))
        yield Shell(process)
        nursery.cancel_scope.cancel()


#: Pages whose receipts come to their verdict: they are run beside a whole service, one after the other.
LIVE = ("README.md", "idempotency.md", "rejected.md", "sales.md", "sequences.md", "states.md", "testing.md", "till.md")

#: Final statuses of a page's receipts, newest first. For all other pages they are `Aceptado`.
VERDICTS = {
    "rejected.md": ["Aceptado", "Rechazado"],
    "testing.md": [
        "error",  # its sequence is over
        "Rechazado",  # of the batch
        "En Proceso",
        "Aceptado",  # after the outage
        "Aceptado",  # the lost answer
        "Aceptado",  # that took its time
        "Aceptado Condicional",
        "Rechazado",
    ],
}


@needs_curl
@pytest.mark.parametrize(
    ("page", "text"), [(page.name, page.read_text(encoding="utf-8")) for page in PAGES if page.name not in LIVE]
)
async def test_every_command_answers_what_the_page_says(front: Running, key: Key, page: str, text: str) -> None:
    given = {
        "FE_URL": front.base_url,
        "FE_API_KEY_ID": key.api_key_id,
        "FE_API_SECRET": key.secret,
        "TOKEN": await front.token(key),
    }
    await _walk(page, text, given)


@needs_curl
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_every_receipt_of_the_pages_comes_to_the_verdict_that_is_meant(dsn: str, tmp_path: Path) -> None:
    """Each page with a taxpayer of its own: they use the same numbers."""
    async with running_stack(dsn, tmp_path, sandbox=True) as stack:
        assert stack.settings.api_key_pepper is not None
        pepper = bytes.fromhex(stack.settings.api_key_pepper.get_secret_value())
        companies = (rnc for rnc in map(TaxId, map(str, range(101000001, 102000000))) if rnc.checks)
        for rnc, page in zip(companies, (one for one in PAGES if one.name in LIVE), strict=False):
            tenant, _, key = await provision(
                stack.db,
                stack.vault,
                pepper,
                environment=Environment.TESTECF,
                issuer={**ISSUER, "RNCEmisor": str(rnc)},
                credential=stack.credential,
            )
            await open_reception(stack.db, tenant, Environment.TESTECF)
            login = {"apiKeyId": key.record.api_key_id, "apiSecret": key.secret}
            token = (await stack.client.post("/login", json=login)).json()["accessToken"]
            given = {"FE_URL": stack.base_url, "FE_API_KEY_ID": key.record.api_key_id, "FE_API_SECRET": key.secret}
            await _walk(page.name, page.read_text(encoding="utf-8"), {**given, "TOKEN": token})

            bearer = {"Authorization": f"Bearer {token}"}
            listed = (await stack.client.get("/invoices", headers=bearer)).json()["items"]
            ended = [
                (await stack.client.get(f"/invoices/{one['taxLogId']}?wait=30", headers=bearer)).json()["status"]
                if one["status"] == "queued"
                else one["status"]
                for one in listed
            ]
            assert ended == VERDICTS.get(page.name, ["Aceptado"] * len(listed)), (page.name, listed)
            assert listed, page.name


async def _walk(page: str, text: str, given: dict[str, str]) -> None:
    """Run a page's commands in one bash, in their order, and compare what comes back with what the page shows."""
    async with running_shell("bash", "--norc") as shell:
        await shell.prepare(given)
        answers: list[Any] = []
        ran, shown, said = 0, 0, ""
        every = list(blocks(text))
        for (kind, block), (follows, _) in zip(every, [*every[1:], ("", "")], strict=True):
            if kind == "run":
                assert answers == [], f"the page does not show what came back: {answers}"
                said = await shell.run(block)
                answers = [said] if follows == "text" else values(said)
                ran += 1
            elif kind == "text":
                assert fits(answers.pop(0).strip(), block.strip()), f"{page} shows\n{block}\nbut it was\n{said}"
                shown += 1
            else:
                assert answers, f"nothing came back, but the page shows {block}"
                seen = answers.pop(0)
                assert fits(seen, json.loads(block)), f"{page} shows\n{block}\nbut it was\n{json.dumps(seen, indent=2)}"
                shown += 1
        assert answers == []
        assert ran >= 1
        assert shown >= 1


def test_the_pages_are_all_there_and_lead_to_each_other() -> None:
    named = {
        "README",
        "states",
        "idempotency",
        "sequences",
        "testing",
        "errors",
        "received",
        "webhooks",
        "mail",
        "catalogue",
        "recurring",
        "imports",
        "voidings",
        "contingency",
        "printing",
        "changes",
        "till",
        "sales",
        "rejected",
        "gobl",
    }
    assert {page.stem for page in PAGES} == named
    for page in PAGES:
        for target in re.findall(r"\]\(([\w.]+\.md)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).is_file(), (page.name, target)
