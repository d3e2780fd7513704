"""Ports for processes that a test starts, and that must be told theirs before they have it."""

import secrets
import socket
from contextlib import suppress

#: Below those that the kernel gives to whoever connects somewhere: nobody comes by one of these by chance.
_PORTS = range(20_000, 29_000)


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on, drawn from many: who else draws at this moment draws another."""
    while True:
        port = secrets.choice(_PORTS)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
