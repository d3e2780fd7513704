"""Work for tests/test_apart.py: in a module that is imported quickly, because a process of its own does."""

import os
import signal
import time
from pathlib import Path


def whoami() -> tuple[int, dict[str, str], int]:
    return os.getpid(), dict(os.environ), os.nice(0)


def who_comes_first(burnt: float = 0.0) -> tuple[int, int, int, int]:
    """Use some seconds of CPU; return the scheduling class, nice value and session of the process."""
    began = time.process_time()
    while time.process_time() - began < burnt:
        pass
    return os.sched_getscheduler(0), os.nice(0), os.getsid(0), os.getpid()


def burn_and_fail(seconds: float) -> float:
    who_comes_first(seconds)
    return 1 / 0


def die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def never_end(started: str) -> None:
    Path(started).write_text(str(os.getpid()), encoding="ascii")
    while True:
        time.sleep(0.01)


def take_memory(size: int) -> int:
    return len(bytearray(size))


def keep_memory(size: int) -> int:
    _kept.append(bytearray(os.urandom(1) * size))
    return os.getpid()


_kept: list[bytearray] = []
