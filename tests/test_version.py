"""Each build has a version of its own, so that pip installs it over an older one: from git, an sdist, or bare files."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.version import Version

import fe
from tests.test_wheel import BUILD, ROOT

#: A tree that is built in seconds: no package but `fe` itself.
SMALL = ("fe/__init__.py", "setup.py", "pyproject.toml", "README.md", "LICENSE")
PLAIN = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") and name != "BUILD_VERSION"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in SMALL:
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / "tree" / name)
    return tmp_path / "tree"


def run(*command: str, cwd: Path, **environment: str) -> str:
    ended = subprocess.run(command, cwd=cwd, env=PLAIN | environment, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout.strip()


def git(tree: Path, *arguments: str) -> str:
    return run("git", "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments, cwd=tree)


def commit(tree: Path, text: str) -> str:
    (tree / "README.md").write_text(text, encoding="utf-8")
    if not (tree / ".git").exists():
        git(tree, "init", "-q")
    git(tree, "add", "--all")
    git(tree, "commit", "-q", "-m", text)
    return git(tree, "rev-parse", "--short=8", "HEAD")


def version(tree: Path, **environment: str) -> str:
    return run(sys.executable, "setup.py", "-q", "--version", cwd=tree, **environment).splitlines()[-1]


def wheel(tree: Path, into: Path) -> Path:
    run(sys.executable, *BUILD, "--wheel-dir", str(into), ".", cwd=tree)
    (made,) = into.glob("fe-*.whl")
    return made


def test_version_of_a_commit_names_it_and_grows_with_the_next(tree: Path) -> None:
    first = commit(tree, "one"), version(tree)
    second = commit(tree, "two"), version(tree)

    assert first[1] == f"{fe.RELEASE}.dev1+g{first[0]}"
    assert second[1] == f"{fe.RELEASE}.dev2+g{second[0]}"
    assert Version(first[1]) < Version(second[1]) < Version(fe.RELEASE)


def test_version_of_a_tagged_commit_is_the_release(tree: Path) -> None:
    commit(tree, "one")
    git(tree, "tag", f"v{fe.RELEASE}")

    assert version(tree) == fe.RELEASE
    (tree / "README.md").write_text("changed and not committed", encoding="utf-8")
    assert version(tree).startswith(f"{fe.RELEASE}.dev1+g")
    assert ".d20" in version(tree)


def test_version_of_a_shallow_clone_names_the_commit(tree: Path, tmp_path: Path) -> None:
    commit(tree, "one")
    newest = commit(tree, "two")
    git(tmp_path, "clone", "-q", "--depth=1", tree.as_uri(), "shallow")

    assert version(tmp_path / "shallow") == f"{fe.RELEASE}.dev0+g{newest}"


def test_version_of_files_without_git_follows_their_contents(tree: Path) -> None:
    first = version(tree)
    assert version(tree) == first
    assert first.startswith(f"{fe.RELEASE}.dev0+t")

    (tree / "fe" / "more.py").write_text("X = 1\n", encoding="utf-8")
    assert version(tree) not in ("", first)
    assert version(tree, BUILD_VERSION="0.1.0.dev7+gabc") == "0.1.0.dev7+gabc"


def test_version_of_an_sdist_is_that_of_its_tree(tree: Path, tmp_path: Path) -> None:
    short = commit(tree, "one")
    run(sys.executable, "setup.py", "-q", "sdist", "--dist-dir", str(tmp_path / "sdist"), cwd=tree)
    (archive,) = (tmp_path / "sdist").glob("fe-*.tar.gz")
    shutil.unpack_archive(archive, tmp_path / "unpacked")
    (unpacked,) = (tmp_path / "unpacked").iterdir()

    assert version(unpacked) == f"{fe.RELEASE}.dev1+g{short}"


def test_pip_installs_the_wheel_of_a_newer_commit_over_an_older_one(tree: Path, tmp_path: Path) -> None:
    """Once every commit was 0.1.0: pip kept the old code and ended with 0."""
    run(sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "there"), cwd=tmp_path)
    python = str(tmp_path / "there" / "bin" / "python")
    told = []
    for text in ("one", "two"):
        short = commit(tree, text)
        made = wheel(tree, tmp_path / text)
        install = ("-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "-q", str(made))
        run(sys.executable, *install, cwd=tmp_path, PIP_DISABLE_PIP_VERSION_CHECK="1")
        told.append((short, run(python, "-c", "import fe; print(fe.__version__)", cwd=tmp_path)))

    assert [shown.partition("+g")[2] for _, shown in told] == [short for short, _ in told]


def test_version_in_an_editable_checkout_names_no_commit() -> None:
    """It would be that of the day on which the environment was made."""
    assert fe.__version__ == f"{fe.RELEASE}.dev0+checkout"
