"""The initializers of the processes of `fe.offload.pool`, and the wrapper around each piece of work.

Until `begin_when_idle` runs, a process has normal priority. So this module imports little: the modules that the work
needs are imported afterwards, while a processor is idle.
"""

import multiprocessing
import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing import connection
from typing import Any, TypeVar

from fe.process.cpu import run_when_idle
from fe.process.hardening import close_memory
from fe.process.memory import resident

T = TypeVar("T")

#: The memory that a process may map, in bytes: ten times that of the largest document.
MEMORY = 1024 * 1024 * 1024
#: A process is replaced when it holds more than this after a document.
KEPT_MEMORY = 192 * 1024 * 1024


def begin_when_idle() -> None:
    """Initialize a process of the second kind."""
    begin()
    run_when_idle()


def begin() -> None:
    """Initialize any process: without secrets, with a memory limit, and ending with the service."""
    close_memory()
    for name in [name for name in os.environ if name.startswith("FE_") or name == "PGPASSWORD"]:
        del os.environ[name]
    # It ends with the pipe that its work comes by; who stops the whole group still wants the work in hand finished.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    threading.Thread(target=_end_with_parent, name="parent watch", daemon=True).start()


def _end_with_parent() -> None:
    """End at once when the service has ended, also by a kill."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(70)


def measured(work: Callable[..., T], given: Sequence[Any]) -> tuple[T | None, Exception | None, float]:
    """Do the work; return its result or exception, and the seconds of CPU that it took."""
    began = time.process_time()
    try:
        done, failed = work(*given), None
    except Exception as error:  # raised at the caller
        done, failed = None, error
    return done, failed, time.process_time() - began


def is_spent() -> bool:
    """Return whether to replace this process after a piece of work: it never gives memory back otherwise."""
    return resident() > KEPT_MEMORY
