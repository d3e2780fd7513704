"""The parent of the service's processes: starts, restarts and stops them, and replaces them at SIGHUP.

Imports the standard library alone: 12 MB instead of the 120 of what it starts. It holds the listening sockets, so that
no connection is refused while a process takes another's place. `fe run --processes N` replaces itself by
`python -m fe.process.supervise PLAN`; PLAN is a `Plan` as JSON.
"""

import ctypes
import json
import os
import select
import signal
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from types import FrameType

#: Seconds after the grace until a process that has not ended is killed. Every step is kill-safe.
KILL_AFTER = 15.0

#: This many crashes within this many seconds end the whole with 1.
_MAX_CRASHES = 5
_WITHIN_SECONDS = 60.0

#: Exit code of a process whose settings are wrong (fe/cli/failures.py). Beside processes that serve it is tried again
#: after a while: the file of its settings may be in the middle of a change.
_CONFIGURATION = 3
_CONFIGURATION_SECONDS = 10.0

#: A replacement that does not serve after this many seconds is given up.
_READY_SECONDS = 120.0

_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)
_PR_SET_DUMPABLE = 4


@dataclass(frozen=True)
class Plan:
    """The command to start, with `--worker` and a `ProcessFiles` as JSON appended; and its files."""

    command: list[str]
    #: Numbers of listening sockets that every process shares, by what they are for.
    listeners: dict[str, list[int]]
    #: One listening socket of /metrics for each process.
    metrics: list[int]
    #: Seconds that work in flight may take after SIGTERM.
    grace: float
    #: Keep the memory of this process from others of its user: its environment may hold secrets.
    closed: bool = True


@dataclass(frozen=True)
class ProcessFiles:
    """The open files of a worker, by number."""

    listeners: dict[str, list[int]]
    metrics: int
    #: It writes a byte here when it serves.
    ready: int
    #: Reads its end when the parent has ended, however that came.
    parent: int


@dataclass
class _Child:
    index: int
    ready: int
    #: Process that ends once this one serves.
    replaces: int | None = None
    started: float = field(default_factory=time.monotonic)
    serves: bool = False
    #: From when on it is killed.
    kill_at: float | None = None


def supervise(plan: Plan) -> int:
    """Run the processes until SIGTERM or SIGINT, and return the exit code: 0 when all have ended well."""
    return _Supervisor(plan).run()


class _Supervisor:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._children: dict[int, _Child] = {}
        #: When to start which process again.
        self._due: dict[int, float] = {}
        #: Processes that SIGHUP asked to replace, one after the other.
        self._to_replace: list[int] = []
        self._crashes: list[float] = []
        self._signals: list[int] = []
        self._stopping = self._failed = False
        self._code: int | None = None
        # Never written: when this process ends, the children read end-of-file.
        self._parent, self._held = os.pipe()
        self._woken, self._wakes = os.pipe()
        for number in (self._woken, self._wakes):
            os.set_blocking(number, False)

    def run(self) -> int:
        signal.set_wakeup_fd(self._wakes, warn_on_full_buffer=False)
        for number in _SIGNALS:
            signal.signal(number, self._hear)
        self._due = dict.fromkeys(range(len(self._plan.metrics)), 0.0)
        while self._children or (self._due and not self._stopping):
            self._start_due()
            self._wait()
            self._obey_signals()
            self._reap()
            self._replace_next()
            self._kill_late()
        return self._code if self._code is not None else int(self._failed)

    def _hear(self, number: int, _: FrameType | None) -> None:
        self._signals.append(number)

    def _wait(self) -> None:
        """Wait for a signal, a process that serves now, or the next moment at which something is due."""
        moments = [*self._due.values(), *(one.kill_at for one in self._children.values() if one.kill_at is not None)]
        moments += [one.started + _READY_SECONDS for one in self._children.values() if one.replaces and not one.serves]
        seconds = max(0.0, min(moments) - time.monotonic()) if moments else None
        waiting = {one.ready: pid for pid, one in self._children.items() if one.ready >= 0}
        readable, _, _ = select.select([self._woken, *waiting], [], [], seconds)
        for number in readable:
            if number == self._woken:
                with suppress(BlockingIOError):
                    os.read(self._woken, 4096)
            else:
                self._hear_ready(waiting[number])

    def _hear_ready(self, pid: int) -> None:
        child = self._children[pid]
        child.serves = os.read(child.ready, 1) != b""
        os.close(child.ready)
        child.ready = -1
        if child.serves and child.replaces is not None:
            self._stop(child.replaces)

    def _obey_signals(self) -> None:
        while self._signals:
            number = self._signals.pop(0)
            if number == signal.SIGHUP and not self._stopping:
                _say("processes_replacing", "replacing all processes, one after the other: SIGHUP", "info")
                self._to_replace = [index for index in range(len(self._plan.metrics)) if index not in self._due]
            elif number in (signal.SIGTERM, signal.SIGINT):
                if self._stopping:
                    self._failed = True
                    for pid in self._children:
                        os.kill(pid, signal.SIGKILL)
                self._stop_all()

    def _stop_all(self) -> None:
        """Let every process end, and listen no more: connections are refused once the last process has let go."""
        if self._stopping:
            return
        self._stopping = True
        self._due.clear()
        for pid in self._children:
            self._stop(pid)
        for number in (*(one for each in self._plan.listeners.values() for one in each), *self._plan.metrics):
            os.close(number)

    def _stop(self, pid: int) -> None:
        child = self._children.get(pid)
        if child is not None and child.kill_at is None:
            child.kill_at = time.monotonic() + self._plan.grace + KILL_AFTER
            os.kill(pid, signal.SIGTERM)

    def _kill_late(self) -> None:
        now = time.monotonic()
        for pid, child in self._children.items():
            if child.kill_at is not None and child.kill_at <= now:
                self._failed = self._failed or self._stopping
                child.kill_at = now + KILL_AFTER
                os.kill(pid, signal.SIGKILL)
            elif child.replaces and not child.serves and child.kill_at is None and now - child.started > _READY_SECONDS:
                child.kill_at = now
                os.kill(pid, signal.SIGKILL)

    def _start_due(self) -> None:
        for index in [index for index, at in self._due.items() if at <= time.monotonic()]:
            del self._due[index]
            self._start(index)

    def _start(self, index: int, replaces: int | None = None) -> None:
        ready, theirs = os.pipe()
        given = ProcessFiles(self._plan.listeners, self._plan.metrics[index], theirs, self._parent)
        command = [*self._plan.command, "--worker", json.dumps(asdict(given))]
        metrics = self._plan.metrics[index]
        for number in (theirs, self._parent, metrics):
            os.set_inheritable(number, True)
        try:
            pid = os.posix_spawn(command[0], command, os.environ, setsigdef=_SIGNALS, setsigmask=[])
        finally:
            os.close(theirs)
            for number in (self._parent, metrics):
                os.set_inheritable(number, False)
        self._children[pid] = _Child(index, ready, replaces)

    def _reap(self) -> None:
        while self._children:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            child = self._children.pop(pid, None)
            if child is not None:
                if child.ready >= 0:
                    os.close(child.ready)
                self._ended(pid, child, os.waitstatus_to_exitcode(status))

    def _ended(self, pid: int, child: _Child, code: int) -> None:
        if self._stopping:
            self._failed = self._failed or code > 0
            return
        successor = next((one for one in self._children.values() if one.replaces == pid), None)
        if successor is not None:
            successor.replaces = None
            if child.kill_at is not None:
                _say("process_replaced", "a process was replaced", "info", index=child.index, pid=pid)
                return
        elif child.replaces in self._children:
            self._to_replace.clear()
            _say(
                "process_not_replaced",
                "a new process did not come to serve: the old ones go on, with what they had read",
                "error",
                index=child.index,
                pid=pid,
                status=code,
            )
            return
        now = time.monotonic()
        _say("process_died", "a process died", "error", index=child.index, pid=pid, status=code)
        if successor is not None:
            return
        if code == _CONFIGURATION and not child.serves:
            if any(one.serves for one in self._children.values()):
                self._due[child.index] = now + _CONFIGURATION_SECONDS
            else:
                self._code = code
                self._stop_all()
            return
        self._crashes = [at for at in self._crashes if now - at < _WITHIN_SECONDS] + [now]
        if len(self._crashes) >= _MAX_CRASHES:
            self._failed = True
            self._stop_all()
        else:
            self._due[child.index] = now + 0.2 * len(self._crashes)

    def _replace_next(self) -> None:
        """Start the next replacement, once the process before it has been replaced and has ended."""
        under_way = any(not one.serves or one.kill_at is not None for one in self._children.values())
        if self._stopping or under_way or not self._to_replace:
            return
        index = self._to_replace.pop(0)
        old = next((pid for pid, one in self._children.items() if one.index == index), None)
        if old is not None:  # else it died, and a new one is due
            self._start(index, replaces=old)


def _say(event: str, message: str, level: str, **about: int) -> None:
    """Write a line of the log, as fe/monitoring/log.py does."""
    at = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    line = {"event": message, "level": level, "timestamp": at, **about}
    with suppress(OSError):
        os.write(2, f"{json.dumps(line)}\n".encode())


def main() -> None:
    """Be the parent that `fe run --processes N` has become."""
    plan = Plan(**json.loads(sys.argv[1]))
    if plan.closed and sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)  # an exec opens it again
    sys.exit(supervise(plan))


if __name__ == "__main__":
    main()
