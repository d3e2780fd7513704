"""Ports for processes that a test starts, and that must be told theirs before they have it."""

import os
import random
import socket
from contextlib import suppress

#: This one of the processes that run tests side by side, and how many they are.
_NUMBER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_SIDE_BY_SIDE = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))

#: Below the ephemeral ports of the kernel. Shuffled, so that another run on this machine draws others. Each port is
#: drawn once, and each of our processes has its own, because a drawn port is not yet bound.
_PORTS = list(range(20_000 + _NUMBER, 29_000, _SIDE_BY_SIDE))
random.SystemRandom().shuffle(_PORTS)


def free_port() -> int:
    """Return a free port of 127.0.0.1 that no other call returns."""
    while True:
        port = _PORTS.pop()
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
