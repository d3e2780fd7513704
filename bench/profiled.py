"""`FOLDER/fe run ...`: `fe run ...` whose processes watch where their main threads spend CPU.

A timer of CPU time interrupts it every 2 ms; what is on the stack then is weighed with the CPU used since. On SIGUSR2
each process writes FOLDER/PID.json: microseconds by part of ours and by library. FOLDER/fe is a copy of this file
(bench/stack.py), because the service's parent starts its workers by the path that started it. Sampling slows the
service by some percents and wakes its loop, so read the figures as shares.
"""

import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

INTERVAL = 0.002
#: Parts, by what a file's path holds; the first that fits. The innermost frame of ours decides.
_PARTS = (
    ("/fe/http/", "http front"),
    ("/fe/queue/", "engine"),
    ("/fe/actors/", "actors"),
    ("/fe/authority/", "authority client"),
    ("/fe/issuing/", "issuing"),
    ("/fe/ecf/signature", "signing"),
    ("/fe/ecf/", "document"),
    ("/fe/store/postgres/", "database driver of ours"),
    ("/fe/store/", "store"),
    ("/fe/monitoring/", "metrics and logs"),
    ("/fe/main.py", "scheduler (trio)"),  # where the loop itself was started from
    ("/fe/cli/", "scheduler (trio)"),
    ("/fe/", "rest of ours"),
)
#: Libraries, by the name of their folder, where the CPU itself went.
_LIBRARIES = (
    "psycopg", "trio", "h11", "httpx", "httpcore", "anyio", "hypercorn", "quart", "structlog", "logging", "lxml",
    "prometheus_client", "pydantic", "joserfc", "cryptography", "json", "msgspec", "orjson",
)  # fmt: skip

_spent: Counter[tuple[str, str]] = Counter()
#: By function: the innermost of ours, and the one that runs, which may be it.
_functions: Counter[tuple[str, str]] = Counter()
_last = 0.0


def ours(frame: FrameType | None) -> FrameType | None:
    """The innermost frame that is ours."""
    while frame is not None and ("/fe/" not in frame.f_code.co_filename or "site-packages" in frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def part_of(frame: FrameType | None) -> str:
    """Which part of ours is at work, by the innermost frame that is ours, or the scheduler when none is."""
    if frame is None:
        return "scheduler (trio)"
    return next(name for piece, name in _PARTS if piece in frame.f_code.co_filename)


def name_of(frame: FrameType | None) -> str:
    """File and function."""
    if frame is None:
        return "-"
    return f"{'/'.join(Path(frame.f_code.co_filename).parts[-2:])} {frame.f_code.co_qualname}"


def library_of(frame: FrameType | None) -> str:
    """Return the library of the running code."""
    if frame is None:
        return "?"
    path = frame.f_code.co_filename
    for name in _LIBRARIES:
        if f"/{name}/" in path:
            return name
    return "ours" if "/fe/" in path and "site-packages" not in path else "others"


def _sample(_: int, frame: FrameType | None) -> None:
    global _last
    now = time.thread_time()
    # Other threads' CPU ticks the same timer: only what this one has used is put down to what it does.
    us, inner = round((now - _last) * 1e6), ours(frame)
    _spent[part_of(inner), library_of(frame)] += us
    _functions[name_of(inner), name_of(frame)] += us
    _last = now


def _begin() -> None:
    global _last
    _spent.clear()
    _functions.clear()
    _last = time.thread_time()
    signal.setitimer(signal.ITIMER_PROF, INTERVAL, INTERVAL)


def _tell(folder: Path) -> Any:
    def write(*_: Any) -> None:  # the timer may go on counting meanwhile, so of copies
        threads = (time.process_time() - time.thread_time()) * 1e6
        said = {
            "spent": [[*key, us] for key, us in dict(_spent).items()],
            "functions": [[*key, us] for key, us in dict(_functions).items()],
            "threads": threads,
        }
        draft = folder / f"{os.getpid()}.draft"
        draft.write_text(json.dumps(said))
        draft.rename(folder / f"{os.getpid()}.json")

    return write


def _without_timer(execve: Callable[..., None]) -> Callable[..., None]:
    """Stop the timer first: it would outlive the call, and its signal would end the new program."""

    def run(*arguments: Any) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        execve(*arguments)

    return run


def main() -> None:
    """Start `fe` with the arguments."""
    os.execve = _without_timer(os.execve)  # type: ignore[assignment]  # the real one never returns
    folder = Path(sys.argv[0]).parent
    signal.signal(signal.SIGPROF, _sample)
    signal.siginterrupt(signal.SIGPROF, False)
    signal.signal(signal.SIGUSR2, _tell(folder))
    os.register_at_fork(after_in_child=_begin)  # timers are not inherited
    _begin()
    # This file's folder comes first on the path and is not wanted there.
    sys.path.pop(0)
    from fe.cli import main as fe

    fe()


if __name__ == "__main__":
    main()
