"""Memory that was needed for a moment goes back to the system.

glibc keeps what was freed for whoever asks next: the largest block that ever came and went decides what it asks the
system for one by one, and what lies between two blocks in use stays. A thousand strangers in one minute would be in the
process's size for good. On systems without glibc nothing is done here.
"""

import ctypes
import resource
from pathlib import Path

#: Parameters of mallopt(3), and what they are set to. A block of this size is had from the system, and given back,
#: alone; threads share so many heaps.
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
_ALONE = 128 * 1024
_HEAPS = 2

LOOK_SECONDS = 2.0
#: By so much the process has to have grown since the last time before it is tidied up.
GROWN = 8 * 1024 * 1024


def keep_little() -> None:
    """Say how freed memory is to be kept. Call it before threads are started."""
    if (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        mallopt(_MMAP_THRESHOLD, _ALONE)
        mallopt(_ARENA_MAX, _HEAPS)


async def trim() -> None:
    """Give back what lies unused inside the heaps, whenever the process has grown, until cancelled."""
    import trio  # here: processes for large documents want `resident`, and read nothing that they do not need

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
    """How many bytes of memory this process has; 0 where nobody says."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:  # not Linux
        return 0
    return pages * resource.getpagesize()
