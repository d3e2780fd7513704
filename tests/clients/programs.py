"""Programs made of the examples that the pages of the clients show, as a reader would put them together."""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.clients.csharp import COMPILER
from tests.clients.java import QUICK

#: Lines that a reader keeps at the top of every file.
_HEAD = re.compile(r"^(?:import|from|using|require)\b.*\n", re.M)


def head(example: str) -> str:
    """The imports of an example."""
    return "".join(_HEAD.findall(example))


def _python(examples: Sequence[str], folder: Path, call: bool) -> list[str]:
    called = """
import json
headers, body = json.loads(os.environ["CALL"])
print(called(headers, body.encode()), called(headers, b"{}"))
"""
    (folder / "page.py").write_text("\n".join(examples) + called * call, encoding="utf-8")
    return [sys.executable, "page.py"]


def _typescript(examples: Sequence[str], folder: Path, call: bool) -> list[str]:
    called = """
const [headers, body] = JSON.parse(process.env.CALL);
console.log(await called(headers, body), await called(headers, '{}'));
"""
    (folder / "page.mjs").write_text("\n".join(examples) + called * call, encoding="utf-8")
    return ["node", "page.mjs"]


def _php(examples: Sequence[str], folder: Path, call: bool) -> list[str]:
    called = """
[$headers, $body] = json_decode(getenv('CALL'));
echo called((array) $headers, $body), ' ', called((array) $headers, '{}'), "\\n";
"""
    # A page shows parts of one file.
    program = "\n".join(examples)
    (folder / "page.php").write_text(f"<?php\n{program}\n{called * call}", encoding="utf-8")
    return ["php", "-d", "error_reporting=E_ALL", "-d", "zend.assertions=1", "page.php"]


_JAVA = """
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
%s
public final class Page {
%s
    public static void main(String[] arguments) throws Exception {
%s
    }
}
"""


def _java(examples: Sequence[str], folder: Path, call: bool) -> list[str]:
    called = """
        Json call = Json.parse(System.getenv("CALL"));
        Map<String, String> headers = new HashMap<>();
        call.at(0).members().forEach((name, value) -> headers.put(name, value.text()));
        int right = called(headers, call.at(1).text().getBytes(StandardCharsets.UTF_8));
        System.out.println(right + " " + called(headers, "{}".getBytes(StandardCharsets.UTF_8)));
"""
    imports, methods, statements = _parts(examples)
    (folder / "Page.java").write_text(_JAVA % (imports, methods, statements + called * call), encoding="utf-8")
    options = {**os.environ, "JAVA_TOOL_OPTIONS": java_options()}
    subprocess.run(["javac", "-cp", "fe-client.jar", "Page.java"], cwd=folder, env=options, check=True)
    return ["java", "-ea", "-cp", f"fe-client.jar{os.pathsep}.", "Page"]


_CSHARP = """
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text;
using System.Threading.Tasks;
%s
public static class Page
{
%s
    public static void Main() => Walk().GetAwaiter().GetResult();

    private static async Task Walk()
    {
        await Task.Yield();
%s
    }
}
"""


def _csharp(examples: Sequence[str], folder: Path, call: bool) -> list[str]:
    called = """
        Json call = Json.Parse(Environment.GetEnvironmentVariable("CALL"));
        var headers = call[0].Members.ToDictionary(each => each.Key, each => each.Value.Text);
        int right = Called(headers, Encoding.UTF8.GetBytes(call[1].Text));
        Console.WriteLine(right + " " + Called(headers, Encoding.UTF8.GetBytes("{}")));
"""
    usings, methods, statements = _parts(examples)
    (folder / "Page.cs").write_text(_CSHARP % (usings, methods, statements + called * call), encoding="utf-8")
    sources = [*(folder / "fe-client").rglob("*.cs"), folder / "Page.cs"]
    compiler = [*COMPILER, f"-out:{folder / 'page.exe'}"]
    ended = subprocess.run([*compiler, *map(str, sources)], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
    return ["mono", "page.exe"]


def _parts(examples: Sequence[str]) -> tuple[str, str, str]:
    """Imports, methods and statements, which these languages keep in places of their own."""
    bodies = [_HEAD.sub("", example) for example in examples]
    methods = [body for body in bodies if body.startswith("static ")]
    statements = [body for body in bodies if not body.startswith("static ")]
    return "".join(map(head, examples)), "\n".join(methods), "\n".join(statements)


def java_options() -> str:
    """JAVA_TOOL_OPTIONS of the tests."""
    return " ".join([*QUICK, "-Dfile.encoding=UTF-8"])


@dataclass(frozen=True, slots=True)
class Language:
    """A language of the guide: the word after its fences, the commands it needs, and what writes its program.

    The writer takes examples, a folder in which the client is installed, and whether the program ends by checking the
    webhook in the variable CALL and a wrong one. It returns the command that runs the program in that folder.
    """

    fence: str
    needed: tuple[str, ...]
    write: Callable[[Sequence[str], Path, bool], list[str]]


#: By the name of their clients' folders.
PROGRAMS = {
    "python": Language("python", (), _python),
    "typescript": Language("js", ("node", "npm"), _typescript),
    "php": Language("php", ("php",), _php),
    "java": Language("java", ("javac",), _java),
    "csharp": Language("csharp", ("mcs", "mono"), _csharp),
}
