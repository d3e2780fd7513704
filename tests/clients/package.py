"""The TypeScript client as npm and tsc make it, in a copy: nothing is built beside the sources."""

import shutil
import subprocess
from pathlib import Path

import pytest

from clients.generate import TYPESCRIPT
from tests.clients.npm import install


def built(folder: Path) -> Path:
    """Install what builds it, and build it. Skips, loudly, where there is no npm or no registry."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("NOT PROVED HERE: there is no node or no npm")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.lstrip("v").partition(".")[0]) < 18:
        pytest.skip(f"NOT PROVED HERE: node is {version}, and older than 18")
    package = folder / "typescript"
    shutil.copytree(TYPESCRIPT, package, ignore=shutil.ignore_patterns("node_modules", "dist"))
    install(package, "ci")
    compiled = subprocess.run(["node_modules/.bin/tsc"], cwd=package, capture_output=True, text=True)
    assert compiled.returncode == 0, compiled.stdout
    return package
