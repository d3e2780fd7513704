"""Tabs of the guide: every example has them, and what they show runs in each language and answers as the page says."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
import trio

from fe.ecf.catalogue import Environment
from fe.ecf.identity import TaxId
from fe.http.app import PREFIX
from fe.http.languages import Language
from fe.http.pages.clients import PACKED, downloads
from fe.http.pages.commands import Block, CurlCall, Look, blocks
from fe.http.pages.examples import with_examples
from fe.http.pages.guide import guide_pages
from fe.http.pages.writers import WRITERS, Writer
from fe.store.postgres.db import Database
from tests.clients.java import compiled
from tests.clients.package import built
from tests.clients.programs import PROGRAMS, head
from tests.clients.snippets import CLIENTS, environment
from tests.http.front import Running, make_key, make_tenant
from tests.http.test_api_docs import FOLDER, LIVE
from tests.system.stack import ISSUER, open_reception, provision, running_stack

PAGES = sorted(FOLDER.glob("*.md"))

#: Examples that stay in the shell, by their page and how they begin, and why. `*`: the whole page.
SHELL_ONLY = {
    ("README", 'curl -sS "$FE_URL/login"'): "the clients log in by themselves",
    ("README", 'TOKEN=$(curl -sS "$FE_URL/login"'): "the clients log in by themselves",
    ("README", "for prefix in"): "it reads files of examples from the service",
    ("commands", "*"): "it is about the program fe",
    (
        "errors",
        'curl -sS "$FE_URL/invoices" -H "Authorization: Bearer $TOKEN" -H \'Content-Type: application/json\' \\\n'
        "  -H 'Accept-Language: es'",
    ): "it is about a header, which the clients set by an option of theirs",
    ("printing", 'curl -sS -X POST "$FE_URL/invoices/pdf?rnc='): "not all clients have a call for a ZIP",
    ("testing", 'ask \'{"outcome": "stuck"}\' 0'): "it looks again and again until the authority has the receipt",
}

#: Begins a program that shows an answer as one line of JSON.
_FIRST = {
    "python": """
import builtins, json, os
from fe_client import Fe
def print(*said):
    builtins.print(*(json.dumps(one, default=str) if isinstance(one, dict) else one for one in said), flush=True)
""",
    "typescript": """
import { Fe } from 'fe-client';
const written = (one) => (typeof one === 'object' ? JSON.stringify(one) : String(one));
const console = { log: (...said) => process.stdout.write(`${said.map(written).join(' ')}\\n`) };
""",
    "php": "require 'fe-client/autoload.php';\n",
    "java": "import fe.client.*;\n",
    "csharp": "using FeClient;\n",
}
#: Makes the client of a page, with the page's variables for itself.
_OF_PAGE = {
    "python": "fe = Fe(os.environ['FE_URL'], '%s', '%s')\n%s",
    "typescript": "{ const fe = new Fe(process.env.FE_URL, '%s', '%s');\n%s}\n",
    "php": "$fe = new FeClient\\Fe(getenv('FE_URL'), '%s', '%s');\n%s",
    "java": '{ Fe fe = new Fe(System.getenv("FE_URL"), "%s", "%s");\n%s}\n',
    "csharp": '{ var fe = new Fe(Environment.GetEnvironmentVariable("FE_URL"), "%s", "%s");\n%s}\n',
}


def test_every_example_has_tabs_or_a_reason_to_have_none() -> None:
    without = set()
    for page in PAGES:
        shown = page.read_text(encoding="utf-8")
        for block in blocks(shown):
            is_named = shown.startswith("\n<!-- in each language: ", block.end)
            if block.steps is None and not is_named:
                reasons = [
                    key
                    for key in SHELL_ONLY
                    if key[0] == page.stem and (key[1] == "*" or block.text.startswith(key[1]))
                ]
                without |= set(reasons or [(page.stem, block.text)])
    assert without == set(SHELL_ONLY)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_pages_in_both_languages_show_the_same_calls(page: Path) -> None:
    spanish = FOLDER / "es" / page.name
    shown, translated = (with_examples(one.read_text(encoding="utf-8")) for one in (page, spanish))
    assert _without_words(_code(translated)) == _without_words(_code(shown))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_tabs_of_a_page_use_no_variable_that_they_do_not_set(page: Path) -> None:
    known: set[str] = set()
    for block in blocks(page.read_text(encoding="utf-8")):
        is_shown = not page.read_text(encoding="utf-8").startswith("\n<!-- in each language: ", block.end)
        for step in (block.steps or ()) if is_shown else ():
            used = (
                re.findall("\ue000(\\w+)\ue001", f"{step.path}{json.dumps(step.body, ensure_ascii=False)}")
                if isinstance(step, CurlCall)
                else [step.variable]
            )
            assert set(used) <= known, block.text
            known |= {step.into} if step.into else set()


@pytest.mark.parametrize("language", ["en", "es"])
def test_one_example_has_one_tab_of_each_language(language: Language) -> None:
    groups = [
        re.findall(r'value="(\w+)"', group)
        for each in guide_pages().values()
        if language in each
        for group in re.findall(r'<div class="tabs">.*?</div>', each[language].html(lambda file: file), re.S)
    ]
    assert len(groups) > 60
    assert [group for group in groups if len(set(group)) < len(group)] == []


def test_block_that_does_more_than_call_is_left_alone() -> None:
    page = '```sh run\nfor each in 1 2; do curl -sS "$FE_URL/ncf"; done\n```\n'
    assert with_examples(page) == page


def _code(page: str) -> list[str]:
    return re.findall(r"^```(?:python|js|php|java|csharp)\n.*?^```$", page, re.M | re.S)


def _without_words(code: list[str]) -> list[str]:
    """Code with its texts cut to their first letter: pages translate some of what they send."""
    return [re.sub(r"(['\"])\w[^'\"\n]*\1", "''", block) for block in code]


class Installed:
    """A client of one language in a folder, and programs that use it."""

    def __init__(self, language: str, folder: Path) -> None:
        self._language = language
        self._folder = folder
        needed = PROGRAMS[language].needed
        if missing := [command for command in needed if shutil.which(command) is None]:
            pytest.skip(f"NOT PROVED HERE: there is no {' and no '.join(missing)}")
        if language == "typescript":
            package = built(folder)
            (folder / "node_modules").mkdir()
            (folder / "node_modules" / "fe-client").symlink_to(package)
        elif language == "python":
            (folder / "fe_client").symlink_to(CLIENTS / "python" / "fe_client")
        elif language in PACKED:
            with ZipFile(BytesIO(downloads()[f"fe-client-{language}.zip"].content)) as served:
                served.extractall(folder)
        if language == "java":
            assert compiled(folder / "classes", []) is not None
            jar = ["jar", "--create", "--file", "fe-client.jar", "-C", "classes", "."]
            subprocess.run(jar, cwd=folder, check=True)

    async def run(self, pages: Iterable[tuple[list[Block], tuple[str, str]]], url: str) -> list[str]:
        """Run what the tabs of pages show, each page with its key, and return the lines that it said."""
        program = [_FIRST[self._language]]
        for page, key in pages:
            writer = WRITERS[self._language]()
            code = "".join(writer.block(block.steps or (), block.answers) for block in page)
            # Imports go to the top of a program.
            program += [head(code), _OF_PAGE[self._language] % (*key, code)]
        write = PROGRAMS[self._language].write
        command = await trio.to_thread.run_sync(write, program, self._folder, False)
        told = environment(url.removesuffix(PREFIX), ("", ""))
        ended = await trio.run_process(
            command, env=told, cwd=self._folder, capture_stdout=True, capture_stderr=True, check=False
        )
        assert ended.returncode == 0, (ended.stdout.decode(), ended.stderr.decode())
        return ended.stdout.decode().splitlines()


@pytest.fixture(
    scope="module",
    params=[
        "python",
        *(pytest.param(language, marks=pytest.mark.drill) for language in WRITERS if language != "python"),
    ],
)
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(request.param, tmp_path_factory.mktemp(request.param))


async def test_tabs_answer_as_the_pages_say(installed: Installed, front: Running, db: Database) -> None:
    keys = {}
    for name in examples(live=False):
        key = await make_key(db, await make_tenant(db, name))
        keys[name] = (key.api_key_id, key.secret)
    await _answer_as_they_say(installed, keys, front.base_url)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_tabs_of_pages_with_verdicts_answer_as_they_say(installed: Installed, dsn: str, tmp_path: Path) -> None:
    companies = (rnc for rnc in map(TaxId, map(str, range(101000001, 102000000))) if rnc.checks)
    keys = {}
    async with running_stack(dsn, tmp_path, sandbox=True) as stack:
        assert stack.settings.api_key_pepper is not None
        pepper = bytes.fromhex(stack.settings.api_key_pepper.get_secret_value())
        environment = Environment.TESTECF
        for rnc, name in zip(companies, examples(live=True), strict=False):
            issuer = {**ISSUER, "RNCEmisor": str(rnc)}
            tenant, _, key = await provision(
                stack.db, stack.vault, pepper, environment=environment, issuer=issuer, credential=stack.credential
            )
            await open_reception(stack.db, tenant, environment)
            keys[name] = (key.record.api_key_id, key.secret)
        await _answer_as_they_say(installed, keys, stack.base_url)


def examples(*, live: bool) -> dict[str, list[Block]]:
    """Blocks that are written in other languages, by their pages: those with verdicts, or the others."""
    pages = {page.name: blocks(page.read_text(encoding="utf-8")) for page in PAGES if (page.name in LIVE) is live}
    found = {name: [block for block in page if block.steps] for name, page in pages.items()}
    return {name: page for name, page in found.items() if page}


async def _answer_as_they_say(installed: Installed, keys: Mapping[str, tuple[str, str]], url: str) -> None:
    pages = examples(live=set(keys) <= set(LIVE))
    said = await installed.run([(page, keys[name]) for name, page in pages.items()], url)
    expected = [(name, *one) for name, page in pages.items() for block in page for one in _expected(block)]
    assert len(said) == len(expected), said
    assert [(line, *one) for line, one in zip(said, expected, strict=True) if not _fits(line, *one[1:])] == []


def _expected(block: Block) -> Iterator[tuple[CurlCall | Look, Any]]:
    shown = [step for step in block.steps or () if step.is_shown]
    return zip(shown, block.answers, strict=True)


def _fits(line: str, step: CurlCall | Look, answer: Any) -> bool:
    if Writer.is_refusal(answer):
        return _is_alike(line.rpartition(" (HTTP")[0], answer["message"])
    if step.names:
        return re.fullmatch(" ".join(map(_pattern, answer.values())), line) is not None
    return _is_alike(json.loads(line), answer)


def _pattern(value: Any) -> str:
    """Return a pattern of what each language writes for a value. Some write nothing for false and true."""
    if isinstance(value, bool):
        return r"\S*"
    text = ".*".join(map(re.escape, str(value).split("…")))
    return re.sub(r"(\\\.00)$", r"(?:\1)?", text)


def _is_alike(seen: Any, shown: Any) -> bool:
    """Whether an answer is the one that the page shows. Clients may give amounts as texts."""
    if shown in ({}, []):
        return seen in ({}, [])  # which are one to PHP
    if isinstance(shown, dict):
        return (
            isinstance(seen, dict)
            and set(seen) == set(shown)
            and all(_is_alike(seen[name], shown[name]) for name in shown)
        )
    if isinstance(shown, list):
        return isinstance(seen, list) and len(seen) == len(shown) and all(map(_is_alike, seen, shown))
    if isinstance(shown, bool) or shown is None:
        return seen is shown
    if isinstance(seen, str) and re.fullmatch(".*".join(map(re.escape, str(shown).split("…"))), seen, re.S):
        return True
    return (
        not isinstance(seen, bool | None)
        and re.fullmatch(r"[\d.]+", f"{seen}{shown}") is not None
        and Decimal(str(seen)) == Decimal(str(shown))
    )
