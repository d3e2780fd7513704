"""The pages of the clients that need a compiler or an interpreter of their own: each is a program, on one service.

A page goes from nothing to an accepted receipt, its XML and PDF, a refusal, lists, a batch, and a webhook.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import trio

from clients.examples import LANGUAGES as FENCES
from clients.examples import PAGES, with_examples
from fe.accounts.provision import create_key
from fe.ecf.catalogue import Environment
from fe.http.app import PREFIX
from tests.clients.csharp import COMPILER
from tests.clients.java import QUICK
from tests.clients.receipts import a_call_of_now
from tests.clients.snippets import CLIENTS, environment, lines_of_code, program
from tests.system.stack import running_stack
from tests.webhooks.vectors import SECRET

# As in tests/system/test_road.py.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def php(page: Path, folder: Path) -> list[str]:
    _, *uses = "\n".join(program(page, "php")).partition("require")
    called = """[$headers, $body] = json_decode(getenv('CALL'));
        echo called((array) $headers, $body), ' ', called((array) $headers, '{}'), "\\n";"""
    (folder / "page.php").write_text(f"<?php\n{''.join(uses)}\n{called}\n", encoding="utf-8")
    return ["php", "-d", "error_reporting=E_ALL", "-d", "zend.assertions=1", "page.php"]


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


def java(page: Path, folder: Path) -> list[str]:
    *statements, method = program(page, "java")
    (folder / "Page.java").write_text(_JAVA % (method, "\n".join(statements)), encoding="utf-8")
    subprocess.run(["javac", "-cp", "fe-client.jar", "Page.java"], cwd=folder, env=_with_quick_java(), check=True)
    return ["java", "-ea", "-cp", "fe-client.jar:.", "Page"]


_CSHARP = """
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
using FeClient;

public static class Page
{
%s
    public static void Main() => Walk().GetAwaiter().GetResult();

    private static async Task Walk()
    {
%s
        Json call = Json.Parse(Environment.GetEnvironmentVariable("CALL"));
        var headers = call[0].Members.ToDictionary(each => each.Key, each => each.Value.Text);
        int right = Called(headers, Encoding.UTF8.GetBytes(call[1].Text));
        Console.WriteLine(right + " " + Called(headers, Encoding.UTF8.GetBytes("{}")));
    }
}
"""


def csharp(page: Path, folder: Path) -> list[str]:
    *statements, method = program(page, "csharp")
    (folder / "Page.cs").write_text(_CSHARP % (method, "\n".join(statements)), encoding="utf-8")
    sources = [*(folder / "fe-client").rglob("*.cs"), folder / "Page.cs"]
    compiler = [*COMPILER, "-define:DEBUG", f"-out:{folder / 'page.exe'}"]
    ended = subprocess.run([*compiler, *map(str, sources)], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout
    return ["mono", "page.exe"]


def _with_quick_java() -> dict[str, str]:
    return {**os.environ, "JAVA_TOOL_OPTIONS": " ".join([*QUICK, "-Dfile.encoding=UTF-8"])}


#: The command that each language needs, and the function that writes its page as a program.
LANGUAGES: dict[str, tuple[str, Callable[[Path, Path], list[str]]]] = {
    "csharp": ("mcs", csharp),
    "java": ("javac", java),
    "php": ("php", php),
}


async def test_pages_go_from_nothing_to_a_verdict_and_a_webhook(dsn: str, tmp_path: Path) -> None:
    missing = [language for language, (needed, _) in LANGUAGES.items() if shutil.which(needed) is None]
    given = {"CALL": json.dumps(a_call_of_now()), "WEBHOOK_SECRET": SECRET, "TMPDIR": str(tmp_path)}
    async with running_stack(dsn, tmp_path / "data", authority_simulated=True) as stack:
        assert stack.settings.api_key_pepper is not None
        pepper = bytes.fromhex(stack.settings.api_key_pepper.get_secret_value())
        given["JAVA_TOOL_OPTIONS"] = _with_quick_java()["JAVA_TOOL_OPTIONS"]
        told = environment(stack.base_url, stack.key) | given
        await _installed(CLIENTS / "python" / "README.md", tmp_path / "python", told)
        for language, (_, prepared) in LANGUAGES.items():
            if language in missing:
                continue
            page, folder = CLIENTS / language / "README.md", tmp_path / language
            # Each has a key of its own: a key may log in five times a minute.
            key = await stack.db.transact(create_key, stack.tenant, Environment.TESTECF, pepper=pepper)
            told = environment(stack.base_url, (key.record.api_key_id, key.secret)) | given
            await _installed(page, folder, told)
            command = await trio.to_thread.run_sync(prepared, page, folder)
            # Without the path of the address: the client knows that.
            said = await _run(command, folder, told | {"FE_URL": stack.base_url.removesuffix(PREFIX)})
            _read(said, folder)
            assert lines_of_code(program(page, language)[0]) <= 12, "the page promises some ten"
    if missing:
        pytest.skip(f"NOT PROVED HERE: there is no {' or '.join(missing)}")


async def _installed(page: Path, folder: Path, told: dict[str, str]) -> None:
    """Fetch a client from the service, as its page says; pip installs into the folder, and nothing else."""
    await trio.Path(folder).mkdir()
    (script,) = program(page, "sh")
    pip = {"PIP_TARGET": str(folder), "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    path = f"{Path(sys.executable).parent}:{told['PATH']}"
    await _run(["sh", "-e", "-c", script], folder, told | pip | {"PATH": path})


async def _run(command: list[str], folder: Path, told: dict[str, str]) -> str:
    ended = await trio.run_process(command, env=told, cwd=folder, capture_stdout=True, capture_stderr=True, check=False)
    assert ended.returncode == 0, (ended.stdout.decode(), ended.stderr.decode())
    return ended.stdout.decode()


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
