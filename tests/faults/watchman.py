"""A watchman process that kills the run's remaining processes when the run itself is gone.

The watchman reads lines `+pid` and `-pid` from the pipe on its standard input. The end of the pipe means that the run
has ended in some way.
"""

import os
import signal
import subprocess
import sys


class Watchman:
    """The run's end of it. Open one before the first process is started."""

    def __init__(self) -> None:
        self._process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, start_new_session=True)

    def follow(self, pid: int) -> None:
        """End this process if it is still there when we are gone. A process of ours, whom only we reap."""
        self._say(f"+{pid}\n")

    def forget(self, pid: int) -> None:
        """Forget a process; call it once it was reaped, for its number will be another's."""
        self._say(f"-{pid}\n")

    def close(self) -> None:
        """Let the watchman go; it ends what is still followed."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode())
        self._process.stdin.flush()


def watch() -> None:
    """Be the watchman."""
    followed: dict[int, None] = {}
    for line in sys.stdin:
        pid = int(line[1:])
        if line[0] == "+":
            followed[pid] = None
        else:
            followed.pop(pid, None)
    for pid in reversed(followed):
        try:
            os.kill(pid, signal.SIGCONT)
            # Postgres takes its children along at SIGQUIT; anything else of ours dies of it as well.
            os.kill(pid, signal.SIGQUIT)
        except ProcessLookupError:
            pass


if __name__ == "__main__":
    watch()
