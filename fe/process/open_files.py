"""Open files of a process: the standard streams, and the limit."""

import os
import resource
import sys
from contextlib import suppress

#: The limit to set where the system has none.
_ENOUGH = 65_536


def most_open_files() -> int:
    """Return how many files a process may open after raising its limit."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return _ENOUGH if most == resource.RLIM_INFINITY else most


def open_as_many_as_allowed() -> None:
    """Raise the soft limit of open files to the hard limit; child processes inherit it.

    The soft limit is often 1024. Client connections alone may use it up, and then neither the database nor the
    authority can be reached.
    """
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(most_open_files(), _ENOUGH)
    if allowed != resource.RLIM_INFINITY and allowed < wanted:
        with suppress(OSError, ValueError):  # macOS reports no limit but has one
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def hold_standard_files() -> None:
    """Open the file descriptors 0, 1 and 2 if they are closed. Call it before any other file is opened.

    If one is closed (`fe run 2>&-`), the next file opened gets its number, perhaps a connection: output of a library on
    stderr would go to the peer, and child processes would inherit it.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest free number: this one
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
