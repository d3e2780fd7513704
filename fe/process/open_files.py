"""The files that a process has open: standard ones always, and as many as the system lets it."""

import os
import resource
import sys
from contextlib import suppress

#: More than any process of ours needs, where the system sets no limit.
_ENOUGH = 65_536


def most_open_files() -> int:
    """Tell how many files a process may have open once it has asked for all that the system lets it have."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return _ENOUGH if most == resource.RLIM_INFINITY else most


def open_as_many_as_allowed() -> None:
    """Have the limit of open files raised as far as the system lets us; what is started later inherits it.

    Of the two limits the lower one is what `select` once could stand, often 1024, and clients' connections alone may
    come to that: then neither the database nor the authority can be connected to.
    """
    allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(most_open_files(), _ENOUGH)
    if allowed != resource.RLIM_INFINITY and allowed < wanted:
        with suppress(OSError, ValueError):  # macOS says that there is no limit, and has one
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def hold_standard_files() -> None:
    """See that the numbers 0, 1 and 2 are open. Call it before anything is.

    Where one is closed (`fe run 2>&-`), what is opened next has its number, and that is a connection: what a library
    says on stderr then goes to whoever is at its other end, and programs that we start are given it.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free is given: this one
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))
