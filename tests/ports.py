"""Ports for processes that a test starts, and that must be told theirs before they have it."""

import os
import random
import socket
from contextlib import suppress

#: This one of the processes that run tests side by side, and how many they are.
_NUMBER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_SIDE_BY_SIDE = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))

#: Below those that the kernel gives to whoever connects somewhere: nobody comes by one of these by chance. Shuffled, so
#: that another run on this machine draws others; each once, and each of our processes its own, because what is drawn is
#: not yet taken.
_PORTS = list(range(20_000 + _NUMBER, 29_000, _SIDE_BY_SIDE))
random.SystemRandom().shuffle(_PORTS)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on, and that no other call is given."""
    while True:
        port = _PORTS.pop()
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
