"""The pages of the clients that need a compiler or an interpreter of their own: each is a program, on one service.

A page goes from nothing to an accepted receipt, its XML and PDF, a refusal, lists, a batch, and a webhook.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from clients.examples import LANGUAGES as FENCES
from clients.examples import PAGES, with_examples
from fe.http.app import PREFIX
from tests.clients.java import compiled
from tests.clients.receipts import a_call_of_now
from tests.clients.snippets import CLIENTS, environment, lines_of_code, program
from tests.system.stack import running_stack
from tests.webhooks.vectors import SECRET

# As in tests/system/test_road.py.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def php(page: Path, folder: Path) -> list[str] | None:
    found = shutil.which("php")
    if found is None:
        return None
    (folder / "fe-client").symlink_to(CLIENTS / "php")
    _, *uses = "\n".join(program(page, "php")).partition("require")
    called = """[$headers, $body] = json_decode(getenv('CALL'));
        echo called((array) $headers, $body), ' ', called((array) $headers, '{}'), "\\n";"""
    (folder / "page.php").write_text(f"<?php\n{''.join(uses)}\n{called}\n", encoding="utf-8")
    return [found, "-d", "error_reporting=E_ALL", "-d", "zend.assertions=1", "page.php"]


_JAVA = """
import fe.client.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

public final class Page {
%s
    public static void main(String[] arguments) throws Exception {
%s
        Json call = Json.parse(System.getenv("CALL"));
        Map<String, String> headers = new HashMap<>();
        call.at(0).members().forEach((name, value) -> headers.put(name, value.text()));
        int right = called(headers, call.at(1).text().getBytes(StandardCharsets.UTF_8));
        System.out.println(right + " " + called(headers, "{}".getBytes(StandardCharsets.UTF_8)));
    }
}
"""


def java(page: Path, folder: Path) -> list[str] | None:
    *statements, method = program(page, "java")
    (folder / "Page.java").write_text(_JAVA % (method, "\n".join(statements)), encoding="utf-8")
    command = compiled(folder / "classes", [folder / "Page.java"])
    return None if command is None else [*command, "-Dfile.encoding=UTF-8", "Page"]


#: Writes the program of a page, and returns the command that runs it; None where the machine lacks its language.
LANGUAGES: dict[str, Callable[[Path, Path], list[str] | None]] = {"java": java, "php": php}


async def test_pages_go_from_nothing_to_a_verdict_and_a_webhook(dsn: str, tmp_path: Path) -> None:
    missing = []
    given = {"CALL": json.dumps(a_call_of_now()), "WEBHOOK_SECRET": SECRET, "TMPDIR": str(tmp_path)}
    async with running_stack(dsn, tmp_path / "data", authority_simulated=True) as stack:
        told = environment(stack.base_url.removesuffix(PREFIX), stack.key) | given
        for language, prepared in LANGUAGES.items():
            folder = tmp_path / language
            folder.mkdir()
            page = CLIENTS / language / "README.md"
            command = await trio.to_thread.run_sync(prepared, page, folder)
            if command is None:
                missing.append(language)
                continue
            ended = await trio.run_process(
                command, env=told, cwd=folder, capture_stdout=True, capture_stderr=True, check=False
            )
            assert ended.returncode == 0, (ended.stdout.decode(), ended.stderr.decode())
            _read(ended.stdout.decode(), folder)
            assert lines_of_code(program(page, language)[0]) <= 12, "the page promises some ten"
    if missing:
        pytest.skip(f"NOT PROVED HERE: there is no {' or '.join(missing)}")


def _read(said: str, folder: Path) -> None:
    lines = said.splitlines()
    assert lines[0].startswith("Aceptado E31"), said
    number = lines[0].split()[1]
    assert (folder / f"{number}.pdf").read_bytes().startswith(b"%PDF")
    assert number in (folder / f"{number}.xml").read_text(encoding="utf-8")
    assert lines[1].startswith("Encabezado.IdDoc.TipoPago "), said
    assert lines[2].startswith("Rechazado 4 "), said
    assert [line.split()[0] for line in lines if line.startswith("202 ")] == ["202", "202"], said
    assert lines[-3:] == ["10 sequences", "test 2026-11-06T14:15:30.000Z", "204 401"], said


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_in_spanish_have_the_same_code(language: str) -> None:
    page = CLIENTS / language / "README.md"
    assert program(page.with_name("README.es.md"), language) == program(page, language)


@pytest.mark.parametrize("page", PAGES, ids=["en", "es"])
def test_guide_shows_the_code_of_the_clients_own_pages(page: Path) -> None:
    written = page.read_text(encoding="utf-8")

    assert with_examples(written) == written
    assert all(written.count(f"```{fence}\n") == 6 for folder, fence in FENCES.items() if (CLIENTS / folder).is_dir())
