"""Return freed memory to the system.

glibc keeps freed memory for later: the largest block ever freed raises its mmap threshold, and memory between used
blocks stays. A thousand connections in one minute would enlarge the process permanently. Without glibc this does
nothing.
"""

import ctypes
import resource
from pathlib import Path

#: Parameters of mallopt(3) and their values: blocks of this size are mapped one by one; threads share two heaps.
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
_ALONE = 128 * 1024
_HEAPS = 2

LOOK_SECONDS = 2.0
#: The process is trimmed after it has grown by this much.
GROWN = 8 * 1024 * 1024


def keep_little() -> None:
    """Configure malloc to keep little freed memory. Call it before threads are started."""
    if (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        mallopt(_MMAP_THRESHOLD, _ALONE)
        mallopt(_ARENA_MAX, _HEAPS)


async def trim() -> None:
    """Return unused heap memory whenever the process has grown, until cancelled."""
    import trio  # here: processes for large documents use `resident` without trio

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is None or (kept := resident()) == 0:
        return
    while True:
        await trio.sleep(LOOK_SECONDS)
        if resident() < kept + GROWN:
            continue
        # A thread: it may take some milliseconds, and ctypes lets the loop have the interpreter meanwhile.
        await trio.to_thread.run_sync(trim, 0)
        kept = resident()


def resident() -> int:
    """Return the resident memory of this process in bytes; 0 if unknown."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:  # not Linux
        return 0
    return pages * resource.getpagesize()
