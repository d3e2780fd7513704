"""Version of a build: the release of `fe/__init__.py` and the commit, 0.1.0.dev108+ge59da804.

Two builds of different contents never have the same version: pip would keep the old one and exit 0. The rest of the
build is in pyproject.toml.
"""

import hashlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
RELEASE = re.findall(r'^RELEASE = "(.+)"$', (HERE / "fe" / "__init__.py").read_text(encoding="utf-8"), re.MULTILINE)[0]
#: Everything that ends up in a wheel.
_CLIENTS = ("csharp", "java", "php", "python", "typescript")
_FOLDERS = ("fe", "sql", "ops", "docs", *(f"clients/{language}" for language in _CLIENTS))
SOURCES = (*_FOLDERS, "pyproject.toml", "setup.py", "README.md", "LICENSE")


def version() -> str:
    """Return the version: as BUILD_VERSION says, as the sdist was made, of the commit, or of the files' contents.

    A commit tagged `vRELEASE` is the release itself. A shallow clone cannot count its commits: 0.1.0.dev0+ge59da804.
    """
    if given := os.environ.get("BUILD_VERSION"):
        return given
    if "editable_wheel" in sys.argv:
        return f"{RELEASE}.dev0+checkout"
    if (HERE / "PKG-INFO").exists():
        return re.findall(r"^Version: (.+)$", (HERE / "PKG-INFO").read_text(encoding="utf-8"), re.MULTILINE)[0]
    return _of_commit() or f"{RELEASE}.dev0+t{_digest_of_files()[:12]}"


def _of_commit() -> str | None:
    if not (HERE / ".git").exists() or (commit := _git("rev-parse", "--short=8", "HEAD")) is None:
        return None
    changed = _git("status", "--porcelain")
    if not changed and f"v{RELEASE}" in (_git("tag", "--points-at", "HEAD") or "").split():
        return RELEASE
    is_shallow = _git("rev-parse", "--is-shallow-repository") == "true"
    count = "0" if is_shallow else _git("rev-list", "--count", "HEAD") or "0"
    when = time.strftime(".d%Y%m%d%H%M%S", time.gmtime()) if changed else ""
    return f"{RELEASE}.dev{count}+g{commit}{when}"


def _git(*arguments: str) -> str | None:
    try:
        return subprocess.run(  # noqa: S603  (arguments of ours alone)
            ["git", *arguments],  # noqa: S607  (git of PATH)
            cwd=HERE,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):  # no git, or the tree is another user's
        return None


def _digest_of_files() -> str:
    whole = hashlib.sha256()
    for source in SOURCES:
        for file in sorted(file for file in [HERE / source, *(HERE / source).rglob("*")] if file.is_file()):
            if "__pycache__" not in file.parts:
                whole.update(f"{file.relative_to(HERE)}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
    return whole.hexdigest()


class BuildWithVersion(build_py):
    """Write the version into the package, so that `import fe` need not look for its metadata."""

    def run(self) -> None:
        """Build, and add the module that fe/__init__.py reads."""
        super().run()
        if not self.editable_mode:
            built = Path(self.build_lib) / "fe" / "_built.py"
            built.write_text(
                f'"""Made by setup.py."""\n\nVERSION = "{self.distribution.get_version()}"\n', encoding="utf-8"
            )


setup(version=version(), cmdclass={"build_py": BuildWithVersion})
