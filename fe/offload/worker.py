"""What a process for large documents does first, and around each piece of work; `fe.offload.pool` starts them.

Until `begin_when_idle` runs, such a process takes the processor from others, and it reads the modules that it takes to
find that. So this module imports little: what the work itself needs is read while a processor has nothing else to do.
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

#: What a process may map, in bytes: ten times what the largest document takes. A document that wants more fails alone.
MEMORY = 1024 * 1024 * 1024
#: A process that holds more than this after a document is replaced, and each is after so many.
KEPT_MEMORY = 192 * 1024 * 1024
KEPT_FOR = 200

_done = 0


def begin_when_idle() -> None:
    """What a process of the second kind does first."""
    begin()
    run_when_idle()


def begin() -> None:
    """What each does first: it knows no secret, maps so much memory, and ends with the service."""
    close_memory()
    for name in [name for name in os.environ if name.startswith("FE_") or name == "PGPASSWORD"]:
        del os.environ[name]
    # It ends with the pipe that its work comes by; who stops the whole group still wants the work in hand finished.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    threading.Thread(target=_end_with_parent, name="parent watch", daemon=True).start()


def _end_with_parent() -> None:
    """End hard when the service has ended however hard: what is done here is for nobody else."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    connection.wait([parent.sentinel])
    os._exit(70)


def measured(work: Callable[..., T], given: Sequence[Any]) -> tuple[T | None, Exception | None, float]:
    """Do the work; tell the seconds of a processor that it took, too, however it went."""
    began = time.process_time()
    try:
        done, failed = work(*given), None
    except Exception as error:  # for whoever asked: it is raised there
        done, failed = None, error
    return done, failed, time.process_time() - began


def is_spent() -> bool:
    """Tell, after a piece of work, whether this process should be replaced: it never gives memory back otherwise."""
    global _done
    _done += 1
    return _done >= KEPT_FOR or resident() > KEPT_MEMORY
