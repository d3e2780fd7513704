"""A newcomer's first hour in each language, from the served pages alone.

From nothing to an accepted receipt, its XML and PDF, and a verified webhook; then the whole page of the client as one
program: a refusal, lists, a batch. Each step's seconds are printed.
"""

import json
import re
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
import trio

from fe.ecf.identity import TaxId
from fe.ecf.signature import verify
from fe.http.app import PREFIX
from fe.http.pages.examples import examples
from tests.clients.programs import PROGRAMS, Language, head, java_options
from tests.clients.receipts import a_call_of_now
from tests.clients.snippets import environment, lines_of_code
from tests.newcomer.test_curl import key_of
from tests.system.stack import running_stack
from tests.waiting import PATIENCE
from tests.webhooks.receiver import Heard, Receiver, receiving
from tests.webhooks.vectors import SECRET

# As in tests/system/test_road.py.
pytestmark = [pytest.mark.drill, pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]

#: Anchors of the guide's page, in the order of a newcomer's steps.
_SUBMIT, _KEEP, _CHECK = (
    "submit-a-receipt-and-wait-for-the-verdict",
    "keep-the-signed-xml-and-the-pdf",
    "check-a-webhook",
)


#: Examples of the clients' own pages, which are run as a whole.
_ELSEWHERE = {"start", "keep", "repeat", "problems", "rejected", "lists", "webhook"}
#: Clients whose page submits a receipt made of types.
_TYPED = {"php", "java", "csharp"}
#: The lines that the other examples print, in every language. No document was received; the request that the client's
#: page gets wrong may be listed by then.
_SAID = r"""E31 5000
0 problems
1063\.18
202 .+
202 .+
Aceptado %s
\S{6} 1063\.18
Aceptado
verdict
(?i:none|undefined|null|true)
131880657 1
validating 1
crm 5\d
pending
crm"""


class Pages:
    """The pages as a browser shows them, found by their links."""

    def __init__(self, client: httpx.AsyncClient, base_url: str) -> None:
        self._client = client
        self._root = base_url.removesuffix(PREFIX)

    async def read(self, address: str) -> str:
        answer = await self._client.get(f"{self._root}{address}", headers={"Accept": "text/html"})
        assert answer.status_code == 200, address
        return answer.text

    async def follow(self, page: str, ending: str) -> str:
        """Read the one page that a page links under an address that ends so."""
        (address,) = set(re.findall(rf'href="([^"]*{re.escape(ending)})"', page))
        return await self.read(address)


def shown(page: str, language: str) -> list[str]:
    """The code that a page shows in a language."""
    found = re.findall(rf'<code class="language-{language}">(.*?)</code>', page, re.S)
    assert found, language
    return [unescape(code) for code in found]


def shown_code(block: str) -> str:
    """The code of a block of Markdown."""
    return block.partition("\n")[2].removesuffix("```\n")


def section(page: str, anchor: str) -> str:
    _, found, rest = page.partition(f'<h2 id="{anchor}">')
    assert found, anchor
    return rest.partition("<h2 ")[0]


class RegistryAway(Exception):
    """npm did not reach a registry that has the packages."""


class Newcomer:
    """A reader who follows the pages in one language, in a folder."""

    def __init__(self, name: str, folder: Path, told: dict[str, str]) -> None:
        self.name = name
        self.folder = folder
        self._told = told
        self.took: dict[str, float] = {}

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.took[step] = time.monotonic() - began

    async def install(self, script: str) -> None:
        """Paste a page's lines. pip installs into the folder, and nothing else; npm asks its registry."""
        pip = {"PIP_TARGET": str(self.folder), "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1"}
        npm = {"npm_config_audit": "false", "npm_config_fund": "false", "npm_config_prefer_offline": "true"}
        path = f"{Path(sys.executable).parent}:{self._told['PATH']}"
        try:
            await self.run(["sh", "-e", "-c", script], pip | npm | {"PATH": path})
        except AssertionError as failed:
            if re.search(r"npm (?:error|ERR!) (?:network|code E(?:TIMEDOUT|NOTFOUND|404))", str(failed)):
                raise RegistryAway from failed
            raise

    async def write_and_run(self, examples: Sequence[str], *, call: tuple[Any, str, str] | None = None) -> list[str]:
        """Run examples as a program, and return the lines it printed. `call`: headers, body and secret of a webhook."""
        language = PROGRAMS[self.name]
        command = await trio.to_thread.run_sync(language.write, examples, self.folder, call is not None)
        more = {} if call is None else {"CALL": json.dumps(call[:2]), "WEBHOOK_SECRET": call[2]}
        return (await self.run(command, more)).splitlines()

    async def run(self, command: list[str], more: dict[str, str]) -> str:
        ended = await trio.run_process(
            command, env=self._told | more, cwd=self.folder, capture_stdout=True, capture_stderr=True, check=False
        )
        assert ended.returncode == 0, (self.name, ended.stdout.decode(), ended.stderr.decode())
        return ended.stdout.decode()


def _missing(language: Language) -> list[str]:
    return [command for command in language.needed if shutil.which(command) is None]


async def test_first_hour_in_each_language_from_the_served_pages_alone(dsn: str, tmp_path: Path) -> None:
    missing = sorted({command for language in PROGRAMS.values() for command in _missing(language)})
    companies = (rnc for rnc in map(TaxId, map(str, range(101000001, 102000000))) if rnc.checks)
    async with (
        running_stack(dsn, tmp_path / "data", authority_simulated=True) as stack,
        receiving() as receiver,
        httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client,
    ):
        for name, language in PROGRAMS.items():
            if _missing(language):
                continue
            given = await key_of(stack, next(companies))
            # The clients know the path of the address.
            url = given["FE_URL"].removesuffix(PREFIX)
            told = environment(url, (given["FE_API_KEY_ID"], given["FE_API_SECRET"]))
            told |= {"TMPDIR": str(tmp_path), "JAVA_TOOL_OPTIONS": java_options()}
            folder = tmp_path / name
            await trio.Path(folder).mkdir()
            if name == "python":
                told["PYTHONPATH"] = str(folder)
            newcomer = Newcomer(name, folder, told)

            try:
                await _first_hour(newcomer, Pages(client, stack.base_url), given, receiver, client)
            except RegistryAway:
                missing.append("registry of npm")
            steps = ", ".join(f"{step} {took:.1f} s" for step, took in newcomer.took.items())
            sys.stdout.write(f"\n{name}: {steps}\n")
    if missing:
        pytest.skip(f"NOT PROVED HERE: there is no {' or '.join(missing)}")


async def _first_hour(
    newcomer: Newcomer, pages: Pages, given: dict[str, str], receiver: Receiver, client: httpx.AsyncClient
) -> None:
    fence = PROGRAMS[newcomer.name].fence
    with newcomer.timed("pages read"):
        guide = await pages.read(f"{PREFIX}/docs/en/guide")
        side_by_side = await pages.follow(guide, "/docs/en/guide/languages")
        own_page = await pages.follow(side_by_side, f"/docs/en/clients/{newcomer.name}")
        (start,), (keep,), (check,) = (
            shown(section(side_by_side, anchor), fence) for anchor in (_SUBMIT, _KEEP, _CHECK)
        )
    (script,) = shown(own_page, "sh")
    with newcomer.timed("client installed"):
        await newcomer.install(f"FE_URL={given['FE_URL']}\n{script}")

    login = {"apiKeyId": given["FE_API_KEY_ID"], "apiSecret": given["FE_API_SECRET"]}
    token = (await client.post(f"{given['FE_URL']}/login", json=login)).json()["accessToken"]
    endpoint = {"url": f"{receiver.url}/{newcomer.name}", "events": ["submission.accepted"]}
    put = await client.put(f"{given['FE_URL']}/webhooks", json=endpoint, headers={"Authorization": f"Bearer {token}"})
    with newcomer.timed("receipt accepted and kept"):
        said = await newcomer.write_and_run([start, keep])
    status, number, _ = said[0].split()
    assert (status, number[:3], len(said)) == ("Aceptado", "E31", 1)
    proof, pdf = (newcomer.folder / f"{number}.{suffix}" for suffix in ("xml", "pdf"))
    assert verify(proof.read_bytes()).root.findtext("Encabezado/IdDoc/eNCF") == number
    assert pdf.read_bytes().startswith(b"%PDF")
    newcomer.took["of which the PDF"] = pdf.stat().st_mtime - proof.stat().st_mtime
    assert lines_of_code(start) <= 12, "the page promises some ten"

    with newcomer.timed("webhook verified"):
        call = await _first_call(receiver, newcomer.name)
        event = json.loads(call.body)
        made = (call.headers, call.body.decode(), put.json()["secret"])
        said = await newcomer.write_and_run([head(start), check], call=made)
    assert event["submission"]["eNCF"] == number
    assert said == [f"submission.accepted {event['sentAt']}", "204 401"]

    with newcomer.timed("the client's whole page"):
        said = await newcomer.write_and_run(shown(own_page, fence), call=(*a_call_of_now(), SECRET))
    assert said[0].startswith(f"Aceptado {number}"), "it has the same id, so it is the same receipt"
    assert said[1].startswith("Encabezado.IdDoc.TipoPago "), said
    assert said[2].startswith("Rechazado 4 "), said
    assert [line.split()[0] for line in said if line.startswith("202 ")] == ["202", "202"], said
    if newcomer.name in _TYPED:
        assert re.fullmatch(r"Aceptado 43\.72 E31\d{10}", said[-3]), said
    assert said[-2:] == ["test 2026-11-06T14:15:30.000Z", "204 401"], said

    with newcomer.timed("the guide's other examples"):
        named = {name: shown_code(block) for name, block in examples()[newcomer.name].items()}
        others = [code for name, code in named.items() if name not in _ELSEWHERE]
        said = await newcomer.write_and_run([start, keep, *others])
    assert said.pop(0).startswith(f"Aceptado {number}")
    said = [line for line in said if not re.fullmatch(r"400 /api/v1/fe/invoices", line)]
    for expected in (_SAID % number).split("\n"):
        assert re.fullmatch(expected, said.pop(0)), (newcomer.name, expected, said)
    assert (newcomer.folder / "receipt.pdf").read_bytes().startswith(b"%PDF")


async def _first_call(receiver: Receiver, name: str) -> Heard:
    count = 0
    while True:
        for heard in await receiver.wait(count):
            if heard.path.endswith(f"/{name}"):
                return heard
        count = len(receiver.heard) + 1
