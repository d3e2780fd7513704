"""Compiles the C# client and programs that use it, by Mono."""

import shutil
import subprocess
from pathlib import Path

from tests.clients.snippets import CLIENTS

PACKAGE = CLIENTS / "csharp"
NEEDED = ("mcs", "mono")
#: The C# that netstandard2.0 is written in, every warning an error.
COMPILER = ("mcs", "-langversion:7.2", "-warnaserror", "-r:System.Net.Http.dll")


def compiled(program: Path, source: Path) -> list[str] | None:
    """Compile the client with a program. Return the command that runs it; None: there is no Mono."""
    if not all(map(shutil.which, NEEDED)) or not Path("/usr/lib/mono/4.5/System.Net.Http.dll").exists():
        return None
    sources = [*PACKAGE.rglob("*.cs"), source]
    ended = subprocess.run(
        [*COMPILER, f"-out:{program}", *map(str, sources)], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ["mono", str(program)]
