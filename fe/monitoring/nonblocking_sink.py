"""Nonblocking log sink: a slow reader of the log never blocks the process.

When the reader of a pipe or socket (systemd, a container runtime) stops, the pipe is full after a few hundred lines. A
process that waited would answer no requests and lose its leases. So after a short wait lines are dropped and counted;
once there is room, the first line says how many.
"""

import fcntl
import os
import select
import stat
import struct
import termios
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime
from logging import Handler, LogRecord, StreamHandler
from typing import TextIO

#: How long a line may wait for room; while lines are being dropped none waits.
_WAIT_SECONDS = 0.02
_LOOK_SECONDS = 0.002
#: Timeout for the rest of a line that is longer than the pipe; then it is cut off.
_LONG_LINE_SECONDS = 0.2
#: Bytes that a writable pipe or socket takes without blocking.
_PART = select.PIPE_BUF
#: Capacity of a pipe where the system does not report it.
_USUAL_PIPE = 65_536


def lost_lines_notice(lines: int) -> bytes:
    """Return the line that reports dropped lines."""
    at = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    event = "lines of the log were left out: nobody read them"
    return f'{{"event": "{event}", "level": "warning", "timestamp": "{at}", "lines": {lines}}}\n'.encode()


class NonblockingSink:
    """Writes whole lines to a file. Safe for several threads and handlers."""

    def __init__(self, number: int, notice: Callable[[int], bytes] = lost_lines_notice) -> None:
        self._number = number
        self._notice = notice
        self._lock = threading.Lock()
        self._poll = select.poll()
        self._poll.register(number, select.POLLOUT)
        self._is_pipe = stat.S_ISFIFO(os.fstat(number).st_mode)
        #: Lines dropped since the last one written.
        self._lost = 0
        #: The last line was cut off and has no newline yet.
        self._is_cut = False

    def write(self, line: bytes) -> None:
        """Write a line, after a notice of dropped ones; or drop it too. Raises OSError.

        A line longer than the pipe is cut off when its reader is too slow, and counted as dropped.
        """
        with self._lock:
            whole = self._notice(self._lost) + line if self._lost else line
            if self._is_cut:
                whole = b"\n" + whole
            if not self._has_room(len(whole)):
                self._lost += 1
                return
            at_once = self._capacity() if self._is_pipe else _USUAL_PIPE
            rest = whole[os.write(self._number, whole[:at_once]) :]
            rest = self._write_rest(rest) if rest else rest
            self._is_cut = bool(rest)
            self._lost = int(self._is_cut)

    def _write_rest(self, rest: bytes) -> bytes:
        until = time.monotonic() + _LONG_LINE_SECONDS
        while rest:
            if self._poll.poll(0):
                rest = rest[os.write(self._number, rest[:_PART]) :]
            elif time.monotonic() >= until:
                break
            else:
                time.sleep(_LOOK_SECONDS)
        return rest

    def _has_room(self, size: int) -> bool:
        until = time.monotonic() + (0 if self._lost else _WAIT_SECONDS)
        while not self._has_room_now(size):
            if time.monotonic() >= until:
                return False
            time.sleep(_LOOK_SECONDS)  # blocks the caller, even the event loop: 20 ms, once per stall
        return True

    def _has_room_now(self, size: int) -> bool:
        if not self._poll.poll(0):  # an error condition counts as writable: the write raises it
            return False
        if not self._is_pipe or size <= select.PIPE_BUF:
            return True
        # A pipe stores writes in pages that need not be full: only half of its capacity is certain.
        (unread,) = struct.unpack("i", fcntl.ioctl(self._number, termios.FIONREAD, bytes(4)))
        return bool(unread == 0 or unread + size <= self._capacity() // 2)

    def _capacity(self) -> int:
        get = getattr(fcntl, "F_GETPIPE_SZ", None)  # Linux has it
        return _USUAL_PIPE if get is None else int(fcntl.fcntl(self._number, get))


class SinkHandler(StreamHandler[TextIO]):
    """Writes records to the file of a stream, past its buffer."""

    def __init__(self, stream: TextIO, outlet: NonblockingSink) -> None:
        super().__init__(stream)
        self._outlet = outlet

    def emit(self, record: LogRecord) -> None:
        """Write a record."""
        try:
            self._outlet.write(f"{self.format(record)}\n".encode(errors="backslashreplace"))
        except Exception:  # as the library's handlers do
            self.handleError(record)


def handlers_of(stream: TextIO) -> tuple[Handler, Handler]:
    """Return two handlers of one stream: nonblocking if it has a file descriptor."""
    try:
        outlet = NonblockingSink(stream.fileno())
    except (AttributeError, OSError):  # a stream of a test's, or none
        return StreamHandler(stream), StreamHandler(stream)
    return SinkHandler(stream, outlet), SinkHandler(stream, outlet)
