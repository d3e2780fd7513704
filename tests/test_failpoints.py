"""Points at which a process dies, or stands still until it is woken up."""

import os
import signal
import subprocess
import sys

import pytest

from fe.process import failpoints

_PROGRAM = """
import sys
from fe.process import failpoints

failpoints.arm(sys.argv[1])
for number in range(1, 5):
    failpoints.reached("claimed")
    failpoints.reached("intended")
    print(number, flush=True)
"""


def _run(order: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", _PROGRAM, order], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("order", "lines"), [("intended", ""), ("intended:3", "1\n2\n")])
def test_it_dies_at_the_arrival_it_was_told(order: str, lines: str) -> None:
    process = _run(order)

    assert process.communicate(timeout=120)[0] == lines
    assert process.returncode == -signal.SIGKILL


def test_it_stands_still_until_it_is_woken_up_and_then_goes_on() -> None:
    process = _run("intended:2:stop")
    assert process.stdout is not None
    assert process.stdout.readline() == "1\n"

    _, status = os.waitpid(process.pid, os.WUNTRACED)
    stopped = os.WIFSTOPPED(status)
    process.send_signal(signal.SIGCONT)

    assert stopped
    assert process.communicate(timeout=120)[0] == "2\n3\n4\n"
    assert process.returncode == 0


@pytest.mark.parametrize("order", ["nowhere", "intended:x", "intended:1:sleep"])
def test_what_it_does_not_know_is_refused(order: str) -> None:
    with pytest.raises(ValueError, match="a failpoint is one of"):
        failpoints.arm(order)
