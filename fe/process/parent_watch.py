"""Ending with one's parent, however that ends: a pipe that only the parent holds open reaches its end when it dies."""

import os
import signal
import threading

#: How long an orderly stop may take once the parent is gone.
PATIENCE = 10.0


def obey(fd: int, patience: float = PATIENCE) -> None:
    """Send this process SIGTERM when `fd` reaches its end, and end it hard when it is still there after `patience`.

    A pipe and not PR_SET_PDEATHSIG: that one is sent when the *thread* that started us ends, and Trio starts processes
    from worker threads, which end when they are idle.
    """
    threading.Thread(target=_watch, args=(fd, patience), name="parent watch", daemon=True).start()


def _watch(fd: int, patience: float) -> None:
    while os.read(fd, 64):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(patience)
    os._exit(70)
