"""The newcomer's first command, as a newcomer runs it, and whether it cleans up after itself however it ends."""

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fe.ecf.catalogue import PREFIXES
from tests.cli.running import environment
from tests.http.test_api_docs import PATIENT, blocks
from tests.waiting import PATIENCE

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="NOT PROVED HERE: looks through /proc")

#: Those that a visitor may paste into; zsh is installed by .ci/servers, where that can be done.
SHELLS = [["bash", "--norc"], *([["zsh", "-f"]] if shutil.which("zsh") else [])]

#: The types that the guide issues after the first one.
PREFIXES_BUT_31 = [prefix for prefix in PREFIXES if prefix != "E31"]

_COMMAND = [sys.executable, "-m", "fe", "demo"]


def processes_of(folder: str) -> set[int]:
    """The live processes that have to do with a stack's folder: named on the command line or in the environment."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            told = words + (process / "environ").read_bytes() if words else b""
        except OSError:
            continue  # it has just ended, or is not ours to look at
        if folder.encode() in told:
            found.add(int(process.name))
    return found


@contextmanager
def demonstrating(until: str) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """A demonstration that has printed a line with this in it, and what it printed so far."""
    process = subprocess.Popen(
        _COMMAND, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment(), start_new_session=True
    )
    try:
        assert process.stdout is not None
        printed = ""
        for line in process.stdout:
            printed += line
            if until in line:
                break
        else:
            raise AssertionError(printed)
        yield process, printed
    finally:
        process.kill()
        process.communicate(timeout=120)


def _folder(printed: str) -> str:
    match = re.search(r" \. (\S+)/env ", printed)
    assert match is not None, printed
    return match[1]


def _base_url(printed: str) -> str:
    match = re.search(r"base URL +(\S+)", printed)
    assert match is not None, printed
    return match[1]


def _one_of_every_type() -> str:
    """The commands of the guide work when pasted; waits as long as a busy machine needs."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "api" / "README.md").read_text(encoding="utf-8")
    part = page[page.index("\n## One of every type\n") :]
    return PATIENT + next(block for kind, block in blocks(part) if kind == "run")


def parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0  # it has just ended


def parts_of(pid: int) -> list[int]:
    """The processes that this one has started: Postgres's keeper, the authority, the service."""
    there = [int(process.name) for process in Path("/proc").glob("[0-9]*")]
    return [one for one in there if parent_of(one) == pid]


def folder_of(pid: int) -> str:
    """The stack's folder, as one of its parts was told it."""
    words = Path(f"/proc/{pid}/cmdline").read_text() + "\0" + Path(f"/proc/{pid}/environ").read_text()
    match = re.search(r"(/\S*?/fe-stack-\w+)", words.replace("\0", " "))
    assert match is not None, words
    return match[1]


def _all_gone(folder: str, *, within: float) -> bool:
    deadline = time.monotonic() + within
    while processes_of(folder):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def test_the_demonstration_shows_every_shape_of_receipt_and_ends_well() -> None:
    ended = subprocess.run([*_COMMAND, "--exit"], capture_output=True, text=True, env=environment(), timeout=300)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stderr == ""
    assert "All as expected" in ended.stdout
    accepted = re.findall(r"(structured|xml) +(E\d{12}) +Aceptado .* valid", ended.stdout)
    assert {(form, number[:3]) for form, number in accepted} == {
        ("structured", "E31"),
        ("xml", "E31"),
        ("structured", "E32"),
        ("xml", "E32"),
        ("structured", "E41"),
        ("xml", "E41"),
        ("xml", "E34"),
    }
    assert len(accepted) == 11
    assert re.search(r"xml +E310010000001 +Rechazado", ended.stdout)
    assert "The refusal, in the authority's words: 4 Número de secuencia no autorizada." in ended.stdout
    assert re.search(r"\d+ ms +\+\d+  service  the authority's verdict +Aceptado", ended.stdout)
    assert re.search(r"sha256 of the document +([0-9a-f]{16}) +\1\n", ended.stdout)
    assert re.search(r"webhook +- +received_ecf, signature valid\n", ended.stdout)
    assert re.search(r"approvalStatus +approved +approved\n", ended.stdout)
    assert "✓ Logging in there, and finding what was issued" in ended.stdout
    printed = re.search(r"PDF/A with the signed XML inside: (\S+)\n", ended.stdout)
    assert printed is not None
    assert Path(printed[1]).read_bytes().startswith(b"%PDF-")
    Path(printed[1]).unlink()
    assert re.search(r"The buyer's page: http://127\.0\.0\.1:\d+/[A-Za-z0-9_-]{32}\n", ended.stdout)
    number = r"E31\d{10}"
    assert re.search(rf"as the relay got it: \[PRUEBA, SIN VALOR FISCAL\] .* {number} de Comercial", ended.stdout)
    assert re.search(rf"to compras@brisas\.example, with \d+{number}\.xml, \d+{number}\.pdf\n", ended.stdout)
    assert "\x1b" not in ended.stdout, "no colours where nobody can see them"


def test_what_it_hands_over_works_and_ctrl_c_leaves_nothing_behind() -> None:
    with demonstrating("invoices?limit=") as (process, printed):
        assert "It is yours until Ctrl-C" in printed, printed
        assert re.search(r"portal +http://127\.0\.0\.1:\d+\n +owner +ana@demo\.do, password \S+\n", printed), printed
        folder = _folder(printed)
        running = processes_of(folder)
        pasted = "\n".join(line.strip() for line in printed.strip().splitlines()[-3:])
        assert "TOKEN=" in pasted
        # In each shell there is, twice in each: one receipt comes of it, and one login of each shell.
        said = [
            subprocess.run([shell, *quiet, "-c", f"{pasted}\n{pasted}"], capture_output=True, text=True, timeout=300)
            for shell, *quiet in SHELLS
        ]
        token, *_ = pasted.splitlines()
        going_on = f"FE_URL={_base_url(printed)}\n{token}\n{_one_of_every_type()}"
        ten = subprocess.run(["bash", "--norc", "-c", going_on], capture_output=True, text=True, timeout=500)
        receipts = 'curl -sS -X POST "$FE_URL/sandbox/receipts" -H "Authorization: Bearer $TOKEN"'
        ordered = f"FE_URL={_base_url(printed)}\n{token}\n{receipts}"
        supplied = subprocess.run(["bash", "--norc", "-c", ordered], capture_output=True, text=True, timeout=300)
        used = subprocess.run(
            ["sh", "-c", f". {folder}/env && {sys.executable} -m fe tenant list"],
            capture_output=True,
            text=True,
            env=environment(),
            timeout=300,
        )

        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=120)

    answers = [json.loads(line) for one in said for line in one.stdout.splitlines()]
    handed_in, listed = answers[::2], answers[1::2]
    assert {one["taxLogId"] for one in handed_in} == {listed[0]["items"][0]["taxLogId"]}
    assert [one.get("bodyMatched") for one in handed_in] == [None] + [True] * (2 * len(said) - 1)
    assert [one["total"] for one in listed] == [14] * 2 * len(said)
    assert [one.stderr for one in said] == [""] * len(said)
    assert re.findall(r"^(E\d\d)\d{10} Aceptado$", ten.stdout, re.MULTILINE) == PREFIXES_BUT_31, ten.stdout + ten.stderr
    assert json.loads(supplied.stdout)["receivedId"], supplied.stdout
    assert "Comercial Río Ozama SRL" in used.stdout
    assert len(running) >= 3
    assert rest == "Stopping everything.\n"
    assert process.returncode == 0
    assert _all_gone(folder, within=PATIENCE)
    assert not Path(folder).exists()


def test_a_demonstration_that_is_killed_takes_everything_with_it() -> None:
    with demonstrating("✓ Starting the service") as (process, _):
        (folder,) = {folder_of(part) for part in parts_of(process.pid)}
        process.kill()
        process.wait(timeout=120)

        gone = _all_gone(folder, within=PATIENCE)

    assert gone, processes_of(folder)
    assert not Path(folder).exists()


def test_a_part_that_does_not_start_ends_it_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        ended = subprocess.run(
            [*_COMMAND, "--exit", "--port", str(port)], capture_output=True, text=True, env=environment(), timeout=300
        )

    assert ended.returncode == 1
    assert ended.stderr.startswith("fe: the service ended with code 3: FE_HTTP_BIND")
    assert ended.stderr.count("\n") == 1
