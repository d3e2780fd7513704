"""What keeps a process's memory to itself, tried on processes of their own."""

import os
import subprocess
import sys

import pytest

from fe.hardening import restart_without

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="NOT PROVED HERE: asks Linux")

_CLOSED = """
import ctypes, os, resource, sys
from fe.hardening import close_memory

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
from fe.hardening import restart_without
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
