"""The hardening that protects a process's memory, tested in separate processes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from fe.config import Settings
from fe.process.hardening import SECRETS, keep_from_children, restart_without

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="NOT PROVED HERE: asks Linux")

_CLOSED = """
import ctypes, os, resource, sys
from fe.process.hardening import close_memory

def told():
    return ctypes.CDLL(None).prctl(3, 0, 0, 0, 0), *resource.getrlimit(resource.RLIMIT_CORE)

before = told()
close_memory()
print(before[0], told(), flush=True)
if os.fork() == 0:
    print(told(), flush=True)
    os._exit(0)
os.wait()
"""


def test_memory_is_closed_for_a_process_and_its_children() -> None:
    ended = subprocess.run([sys.executable, "-c", _CLOSED], capture_output=True, text=True, timeout=300)

    assert ended.stdout.splitlines() == ["1 (0, 0, 0)", "(0, 0, 0)"], ended


_ANEW = """
import os, sys
from fe.process.hardening import restart_without
restart_without(("FE_KEK",))
print(os.getpid(), sys.argv[1:], open("/proc/self/environ").read().replace(chr(0), " "))
"""


@pytest.mark.parametrize("name", ["FE_KEK", "fe_kek"])
def test_a_program_that_begins_anew_is_the_same_one_without_the_variable(name: str) -> None:
    begun = subprocess.Popen(
        [sys.executable, "-c", _ANEW, "run", "--role"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, name: "c0ffee", "OTHER": "kept"},
    )
    said = begun.communicate(timeout=120)[0]

    assert said.startswith(f"{begun.pid} ['run', '--role'] ")
    assert "OTHER=kept" in said
    assert "c0ffee" not in said


def test_without_such_a_variable_nothing_begins_anew() -> None:
    restart_without(("FE_NO_SUCH_VARIABLE",))


def test_whatever_is_a_secret_among_the_settings_is_kept_from_programs_that_are_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secret = {
        f"FE_{name.upper()}" for name, field in Settings.model_fields.items() if "SecretStr" in repr(field.annotation)
    }
    assert secret | {"FE_DATABASE_URL"} <= set(SECRETS)  # its address may hold a password
    for name in SECRETS:
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("FE_LOG_LEVEL", "info")

    keep_from_children()

    told = subprocess.run([sys.executable, "-c", "import os; print(*os.environ)"], capture_output=True, text=True)
    assert not set(told.stdout.split()) & set(SECRETS)
    assert "FE_LOG_LEVEL" in told.stdout.split()


def test_whoever_opens_the_vault_has_closed_its_memory_before(tmp_path: Path) -> None:
    """The commands that take the key-encryption key, too: there is no other way to open it."""
    look = (
        "import resource, ctypes\n"
        "from fe.config import load_settings\n"
        "from fe.secrets.hsm import open_vault\n"
        "state = lambda: (resource.getrlimit(resource.RLIMIT_CORE)[0], ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))\n"
        "before = state()\n"
        "open_vault(load_settings())\n"
        "print(before[1], *state())\n"
    )
    development = {"FE_DEVELOPMENT": "1", "FE_DUMPABLE": "1", "FE_DATA_DIR": str(tmp_path)}
    closed: dict[str, str] = {}
    for more, told in ((closed, "1 0 0"), (development, "1 ")):
        environment = {**os.environ, "FE_KEK": f"k:{'1f2e' * 16}", **more}
        ended = subprocess.run([sys.executable, "-c", look], env=environment, capture_output=True, text=True)
        assert ended.stdout.startswith(told), ended
    opened = re.compile(r"\bVault\(")
    code = Path(__file__).parent.parent / "fe"
    paths = {str(file.relative_to(code)) for file in code.rglob("*.py") if opened.search(file.read_text("utf-8"))}
    # Secrets of webhooks have a key of their own, and the demonstration makes its key up.
    assert paths == {"secrets/hsm.py", "webhooks/secrets.py", "integrator/demo/tenant.py", "integrator/demo/people.py"}
