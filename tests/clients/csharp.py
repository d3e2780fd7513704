"""Compiles the C# client and programs that use it by Mono, and runs them by Mono and by .NET."""

import json
import shutil
import subprocess
from pathlib import Path

from tests.clients.snippets import CLIENTS

PACKAGE = CLIENTS / "csharp"
NEEDED = ("mcs", "mono")
#: The C# that netstandard2.0 is written in, every warning an error.
COMPILER = ("mcs", "-langversion:7.2", "-warnaserror", "-r:System.Net.Http.dll")

#: A runtime of .NET 8, where .ci/servers puts it.
DOTNET = Path("/usr/local/share/fe-dotnet/dnv/net/runtime/.net/dotnet")


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


def by_dotnet(program: Path) -> list[str] | None:
    """Return the command that runs a compiled program by .NET 8 or newer; None: there is no .NET."""
    found = shutil.which("dotnet") or (str(DOTNET) if DOTNET.exists() else None)
    if found is None:
        return None
    framework = {"name": "Microsoft.NETCore.App", "version": "8.0.0"}
    # A machine may lack ICU, which compares texts by the rules of a language.
    more = {"configProperties": {"System.Globalization.Invariant": True}}
    config = {"runtimeOptions": {"tfm": "net8.0", "rollForward": "Major", "framework": framework, **more}}
    program.with_suffix(".runtimeconfig.json").write_text(json.dumps(config), encoding="utf-8")
    return [found, "exec", str(program)]
