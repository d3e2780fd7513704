"""Work for tests/test_apart.py: in a module that is imported quickly, because a process of its own does."""

import os
import signal
import time
from pathlib import Path


def whoami() -> tuple[int, dict[str, str], int]:
    return os.getpid(), dict(os.environ), os.nice(0)


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
