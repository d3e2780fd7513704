"""The TypeScript client as the service gives it out, built as its page says."""

import shutil
import subprocess
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from clients.generate import TYPESCRIPT
from fe.http.pages.clients import downloads
from tests.clients.npm import install
from tests.clients.snippets import program


def built(folder: Path) -> Path:
    """Install what builds it, and build it. Skips, loudly, where there is no npm or no registry."""
    if not (shutil.which("node") and shutil.which("npm")):
        pytest.skip("NOT PROVED HERE: there is no node or no npm")
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    if int(version.lstrip("v").partition(".")[0]) < 18:
        pytest.skip(f"NOT PROVED HERE: node is {version}, and older than 18")
    package = folder / "fe-client"
    with ZipFile(BytesIO(downloads()["fe-client-typescript.zip"].content)) as served:
        served.extractall(folder)
    (script,) = program(TYPESCRIPT / "README.md", "sh")
    assert "(cd fe-client && npm ci && npm pack)" in script.splitlines()
    install(package, "ci")
    packed = subprocess.run(["npm", "pack", "--silent"], cwd=package, capture_output=True, text=True)
    assert packed.returncode == 0, packed.stderr
    assert (package / packed.stdout.splitlines()[-1]).is_file()
    return package
