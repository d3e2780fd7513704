"""Completion, as shells ask for it: click's protocol, and bash with the line that the page has for its `.bashrc`."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fe.cli import COMMANDS
from fe.integrator import profiles
from tests.cli.running import environment
from tests.cli.warm import path_with_fe, warm_fe


def complete(tmp_path: Path, shell: str, *words: str) -> list[str]:
    """Return what `fe` completes for the last of `words`."""
    asked = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1), "_FE_COMPLETE": f"{shell}_complete"}
    ended = subprocess.run(
        [warm_fe()],
        env=environment() | asked | {"XDG_CONFIG_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.splitlines()


def test_bash_is_told_commands_options_and_choices(tmp_path: Path) -> None:
    assert complete(tmp_path, "bash", "fe", "") == [f"plain,{name}" for name in COMMANDS]
    assert complete(tmp_path, "bash", "fe", "st") == ["plain,status"]
    assert complete(tmp_path, "bash", "fe", "status", "--w") == ["plain,--wait"]
    assert complete(tmp_path, "bash", "fe", "qr", "x", "--environment", "t") == ["plain,testecf"]
    assert complete(tmp_path, "bash", "fe", "outbox", "repl") == ["plain,replay"]


def test_zsh_is_told_what_each_is_too(tmp_path: Path) -> None:
    assert complete(tmp_path, "zsh", "fe", "verif") == ["plain", "verify", COMMANDS["verify"][1]]


def test_profiles_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for name in ("shop", "tests"):
        profiles.save(profiles.Profile(name, "http://127.0.0.1:1", "fak_1", "s", "ecf"))

    assert complete(tmp_path, "bash", "fe", "status", "--profile", "s") == ["plain,shop"]


def test_nothing_is_imported_for_the_names_of_commands(tmp_path: Path) -> None:
    program = (
        "import sys; from fe.cli import main\n"
        "try: main()\n"
        "finally: print(sum(name.startswith('fe.cli.') for name in sys.modules), file=sys.stderr)"
    )
    asked = {"COMP_WORDS": "fe ", "COMP_CWORD": "1", "_FE_COMPLETE": "bash_complete"}
    ended = subprocess.run(
        [sys.executable, "-c", program], env=environment() | asked, capture_output=True, text=True, timeout=300
    )

    assert ended.stdout.splitlines() == [f"plain,{name}" for name in COMMANDS]
    assert ended.stderr == "1\n", "fe.cli.failures, which every command has"


@pytest.mark.skipif(shutil.which("bash") is None, reason="NOT PROVED HERE: there is no bash on this machine")
def test_bash_completes_with_the_line_of_the_page(tmp_path: Path) -> None:
    page = (Path(__file__).resolve().parents[3] / "docs/api/commands.md").read_text(encoding="utf-8")
    line = 'eval "$(_FE_COMPLETE=bash_source fe)"'
    assert f"\n{line}\n" in page
    typed = 'COMP_WORDS=(fe verify --ro); COMP_CWORD=2; _fe_completion fe; printf "%s\\n" "${COMPREPLY[@]}"'
    ended = subprocess.run(
        ["bash", "--norc", "-euc", f"{line}\n{typed}"],
        env=environment() | {"PATH": path_with_fe()},
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert (ended.stdout, ended.returncode) == ("--roots\n", 0), ended.stderr
