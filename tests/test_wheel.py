"""A wheel of this project can be installed anywhere: it holds all that `fe` needs beside its modules."""

import json
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from zipfile import ZipFile

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from fe.http.pages.clients import downloads
from fe.operations.dossier import PROOFS
from tests.cli.running import environment

ROOT = Path(__file__).resolve().parent.parent
#: Files beside docs/api that the service serves.
BESIDE = (
    *("verdicts.md", "veredictos.md", "webhooks.md", "webhook-vectors.json"),
    *("going-live.md", "going-live.es.md"),
)
#: The sources of a wheel.
CLIENTS = ("csharp", "java", "php", "python", "typescript")
FOLDERS = ("fe", "docs", "sql", "ops", *(f"clients/{language}" for language in CLIENTS))
SOURCES = (*FOLDERS, "pyproject.toml", "setup.py", "README.md", "LICENSE")
BUILD = ("-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--quiet")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy: building leaves files behind, and old ones would end up in the next wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            leftovers = shutil.ignore_patterns("__pycache__", "node_modules", "dist")
            shutil.copytree(ROOT / name, folder / "from" / name, symlinks=True, ignore=leftovers)
        else:
            shutil.copy(ROOT / name, folder / "from" / name)
    built = subprocess.run(
        [sys.executable, *BUILD, "--wheel-dir", str(folder), "."], cwd=folder / "from", capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr
    (found,) = folder.glob("fe-*.whl")
    return found


def test_a_wheel_holds_the_migrations_and_everything_else_that_is_no_module(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        held = {name: archive.read(name) for name in archive.namelist()}

    files = [*(ROOT / "sql").glob("migrations/*.sql"), *(ROOT / "sql").glob("functions/*/*.sql")]
    applied = {f"fe/{file.relative_to(ROOT)}": file.read_bytes() for file in files}
    assert applied != {}
    assert {name: held.get(name) for name in applied} == applied
    package = ROOT / "fe"
    beside = {
        str(file.relative_to(ROOT))
        for file in package.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and file.suffix not in (".sql", ".md")
    }
    assert beside - held.keys() == set()
    assert {str(file.relative_to(ROOT)) for file in (package / "store" / "citus").rglob("*.sql")} <= held.keys()


def test_a_wheel_holds_the_pages_that_the_service_serves_and_the_proofs_of_a_dossier(wheel: Path) -> None:
    docs = ROOT / "docs"
    beside = [docs / name for name in (*BESIDE, *PROOFS)]
    served = [*(docs / "api").glob("*.md"), *(docs / "api" / "es").glob("*.md"), *beside]
    with ZipFile(wheel) as archive:
        held = {name: archive.read(name) for name in archive.namelist() if name.startswith("fe/docs/")}

    assert held == {f"fe/docs/{file.relative_to(docs)}": file.read_bytes() for file in served}


def test_wheel_holds_the_clients_that_the_service_serves(wheel: Path, tmp_path: Path) -> None:
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path, [name for name in archive.namelist() if name.startswith("fe/")])
    said = (
        "import json; from fe.http.pages.clients import downloads as d; print(json.dumps([*map(repr, d().values())]))"
    )
    run = [sys.executable, "-P", "-c", said]
    installed = subprocess.run(run, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, check=True)

    assert json.loads(installed.stdout) == [repr(one) for one in downloads().values()]


def test_a_wheel_holds_what_operators_need(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        held = {name.partition("/data/share/fe/")[2]: archive.read(name) for name in archive.namelist()}

    kinds = (
        "runbooks/*.md",
        "grafana/*.json",
        "prometheus/*.yml",
        "prometheus/rules/*.yml",
        "systemd/*",
        "kubernetes/*",
        "kubernetes/migrate/*",
    )
    wanted = {
        str(file.relative_to(ROOT)): file.read_bytes()
        for kind in kinds
        for file in (ROOT / "ops").glob(kind)
        if file.is_file()
    }
    assert len(wanted) > 40
    assert {name: held.get(name) for name in wanted} == wanted
    with ZipFile(wheel) as archive:  # the portal serves them
        served = {name for name in archive.namelist() if name.startswith("fe/runbooks/")}
    assert served == {f"fe/{name.removeprefix('ops/')}" for name in wanted if "/runbooks/" in name}


def test_it_is_installed_as_the_readme_says(wheel: Path, tmp_path: Path) -> None:
    """All but what a network is needed for: the packages it depends on are those that are here."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"## Installing it\n.*?```sh\n(.*?)```\n(.*?)\n\n`", text, re.DOTALL)
    assert found is not None
    build, *rest = found[1].splitlines()
    assert build.startswith("python3 -m pip wheel --no-deps --wheel-dir dist")  # as the fixture does
    (tmp_path / "dist").mkdir()
    shutil.copy(wheel, tmp_path / "dist")
    here = f"{sysconfig.get_path('purelib')}"
    commands = (
        "\n".join(rest)
        .replace(" -m venv ", " -m venv --without-pip ")
        .replace(
            "fe-env/bin/pip install",
            f"{sys.executable} -m pip --python fe-env/bin/python install --no-deps --no-index -q",
        )
    )
    ended = subprocess.run(
        ["sh", "-euc", commands],
        cwd=tmp_path,
        env=environment() | {"PYTHONPATH": here, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        capture_output=True,
        text=True,
    )
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]

    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.startswith("Usage: fe ")
    assert set(re.findall(r"^\| `(\w+)` \|", found[2], re.MULTILINE)) == extras.keys() - {"dev"}


def test_fe_migrate_from_a_wheel_finds_its_migrations(wheel: Path, postgres: str, tmp_path: Path) -> None:
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "unpacked")
    with psycopg.connect(postgres, autocommit=True) as conn:
        conn.execute("CREATE DATABASE from_a_wheel")
    told = environment(database_url=make_conninfo(postgres, dbname="from_a_wheel"), data_dir=str(tmp_path))

    def run(*words: str) -> str:
        ended = subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            env=told | {"PYTHONPATH": str(tmp_path / "unpacked")},
            capture_output=True,
            text=True,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    assert run("-c", "import fe; print(fe.__file__)").startswith(str(tmp_path))
    assert run("-m", "fe", "migrate").split()[1::2] == [
        *sorted(file.stem for file in (ROOT / "sql" / "migrations").glob("*.sql")),
        "functions",
    ]
    assert run("-m", "fe", "migrate") == "the database is up to date\n"
