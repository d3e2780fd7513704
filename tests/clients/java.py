"""Compiles the Java client and programs that use it."""

import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tests.clients.snippets import CLIENTS

PACKAGE = CLIENTS / "java"
#: Java compiles to its quick form only, and collects garbage on one core: it runs for seconds.
QUICK = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")


def compiled(folder: Path, more: Iterable[Path]) -> list[str] | None:
    """Compile the client and these programs, every warning an error. Return the command for a class; None: no JDK."""
    if shutil.which("javac") is None:
        return None
    sources = [*PACKAGE.rglob("*.java"), *more]
    quick = [f"-J{option}" for option in QUICK]
    lint = ("-Xlint:all,-serial", "-Werror", "-encoding", "UTF-8", "--release", "17")
    ended = subprocess.run(
        ["javac", *quick, *lint, "-d", str(folder), *map(str, sources)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ["java", *QUICK, "-ea", "-cp", str(folder)]
