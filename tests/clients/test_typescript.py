"""The TypeScript client: built as it is published, in trouble, and its core compared with the description."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clients.generate import TYPESCRIPT, TYPESCRIPT_CORE, description, typescript_core
from tests.clients.package import built
from tests.clients.troubles import TROUBLES, Outcome, Trouble, play
from tests.webhooks.vectors import FILE, VECTORS

DRIVER = Path(__file__).with_name("driver.mjs")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("npm"))


class Node:
    """A process that makes calls by the client, one after the other."""

    def __init__(self, package: Path) -> None:
        self._process = subprocess.Popen(
            ["node", str(DRIVER), str(package / "dist" / "index.js")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        self._process.kill()
        self._process.communicate(timeout=120)

    def ask(self, order: object, paused: Callable[[], None] = lambda: None) -> Outcome:
        slept = []
        while True:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
            assert line, "the process ended"
            told: dict[str, Any] = json.loads(line)
            if "slept" not in told:
                return Outcome(told["result"], told["error"], slept)
            slept.append(told["slept"])
            paused()
            order = "go on"

    def drive(self, trouble: Trouble, url: str, paused: Callable[[], None]) -> Outcome:
        name, args, options = trouble.call
        order = {"url": url, "call": name, "args": args, "options": options}
        return self.ask({**order, "tries": trouble.tries, "patience": trouble.patience}, paused)


@pytest.fixture(scope="module")
def node(package: Path) -> Iterator[Node]:
    node = Node(package)
    yield node
    node.close()


@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.name)
def test_a_trouble_is_borne_or_told_as_what_it_is(trouble: Trouble, node: Node) -> None:
    play(trouble, node.drive)


def test_webhooks_are_judged_as_the_vectors_say(node: Node) -> None:
    judged = node.ask(json.loads(FILE.read_text(encoding="utf-8"))).result

    standard = {each.name: valid for each, (valid, _) in zip(VECTORS, judged, strict=True)}
    assert standard == {each.name: each.valid for each in VECTORS}
    by_header = {each.name for each, (_, valid) in zip(VECTORS, judged, strict=True) if not valid}
    assert by_header == SIGNED_OTHERWISE


#: The vectors whose body was not signed by the secret as X-Service-Signature says; the rest differ in other headers.
SIGNED_OTHERWISE = {
    "one character of the body was changed",
    "parsed and written again: the same JSON, other bytes",
    "signed by another secret",
}


def test_the_core_is_what_is_made_of_the_description(package: Path) -> None:
    assert (TYPESCRIPT / TYPESCRIPT_CORE).read_text(encoding="utf-8") == typescript_core(description(), package), (
        "run: npm ci in clients/typescript, then python -m clients.generate"
    )


def test_what_is_published_is_what_is_needed_and_no_more(package: Path) -> None:
    packed = subprocess.run(
        ["npm", "pack", "--dry-run", "--json", "--ignore-scripts"], cwd=package, capture_output=True, text=True
    )

    assert packed.returncode == 0, packed.stderr
    (told,) = json.loads(packed.stdout)
    modules = {path.stem for path in (TYPESCRIPT / "src").glob("*.ts")}
    built_files = {f"dist/{module}{ending}" for module in modules for ending in (".js", ".d.ts")}
    assert {file["path"] for file in told["files"]} == built_files | {"package.json", "README.md", "LICENSE"}
    assert json.loads((package / "package.json").read_text(encoding="utf-8")).get("dependencies") is None
