"""The parts of a run: processes that are killed, frozen and told to die, and that are started again each time."""

import os
import random
import signal
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import trio

from tests.faults.watchman import Watchman

#: Told what happened to a part: its name, and what.
Tell = Callable[[str, str], None]

#: How long a part that was asked to stop may take.
_STOP_SECONDS = 25.0

#: Seconds within which a process must reach the failpoint at which it is to stop. On a busy machine it needs half of
#: them to start.
_NAP_COMES_WITHIN = 60.0


class Part:
    """One process of the run and its successors."""

    def __init__(
        self,
        name: str,
        command: Callable[[], Sequence[str]],
        environment: Mapping[str, str],
        folder: Path,
        watchman: Watchman,
        tell: Tell,
        seed: int,
    ) -> None:
        self.name = name
        self._command = command
        self._environment = dict(environment)
        self._log = folder / f"{name}.log"
        self._watchman = watchman
        self._tell = tell
        self._random = random.Random(f"{seed}/{name}")
        self.process: trio.Process | None = None
        #: FE_* variables of the next process only; `arm` is asked for more at each start.
        self.next: dict[str, str] = {}
        self.arm: Callable[[], Mapping[str, str]] = dict
        self._now: Mapping[str, str] = {}
        self._blamed: str | None = None
        self._frozen = False
        self._ending = False
        self._ended = trio.Event()
        self.lives = 0
        #: How its processes ended, by cause.
        self.ends: Counter[str] = Counter()

    async def keep_running(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run the process, and another after each, until `end`."""
        try:
            await self._start()
            task_status.started()
            while True:
                assert self.process is not None
                code = await self.process.wait()
                self._watchman.forget(self.process.pid)
                self._account_for(code)
                if not self._ending:
                    await trio.sleep(self._random.uniform(0.05, 0.4))
                if self._ending:
                    return
                await self._start()
        finally:
            # Cancelled, or done: either way nothing of ours stays behind.
            if self.process is not None and self.process.returncode is None:
                self.process.kill()
                with trio.CancelScope(shield=True):
                    await self.process.wait()
                self._watchman.forget(self.process.pid)
            self._ended.set()

    async def _start(self) -> None:
        self._now, self.next = {**self.arm(), **self.next}, {}
        with self._log.open("ab") as log:
            self.process = await trio.lowlevel.open_process(
                list(self._command()),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**self._environment, **self._now},
                start_new_session=True,
            )
        self._watchman.follow(self.process.pid)
        self._frozen = False
        self.lives += 1
        self._tell(self.name, "start")

    def _account_for(self, code: int) -> None:
        point = self._now.get("FE_FAILPOINT", "").partition(":")[0]
        if self._blamed is not None:
            cause = self._blamed
        elif code == -signal.SIGKILL and point:
            cause = f"died at {point}"
        else:
            cause = f"ended by itself with {code}"
        self._blamed = None
        self.ends[cause] += 1
        self._tell(self.name, cause)

    # --- What can be done to it ---

    @property
    def alive(self) -> bool:
        """Whether there is a process now, frozen or not."""
        return self.process is not None and self.process.returncode is None

    def kill(self, why: str = "kill -9") -> None:
        """SIGKILL, now."""
        self._strike(signal.SIGKILL, why)

    def terminate(self) -> None:
        """SIGTERM: an orderly stop."""
        self._strike(signal.SIGTERM, "SIGTERM")

    def _strike(self, how: signal.Signals, why: str) -> None:
        if self.alive and not self._frozen:
            assert self.process is not None
            self._blamed = why
            self.process.send_signal(how)

    async def freeze(self, seconds: float) -> None:
        """SIGSTOP, and SIGCONT later: it wakes and does not know that time has passed."""
        frozen = self.process
        if not self.alive or self._frozen or self._blamed is not None:
            return
        assert frozen is not None
        self._frozen = True
        os.kill(frozen.pid, signal.SIGSTOP)
        self._tell(self.name, "frozen")
        try:
            await trio.sleep(seconds)
        finally:
            if frozen is self.process and self.alive:
                os.kill(frozen.pid, signal.SIGCONT)
                self._frozen = False
                self._tell(self.name, "thawed")

    async def nap(self, order: str, seconds: float) -> None:
        """Kill it, let the next process stop itself at the failpoint of `order`, and continue it after `seconds`."""
        if not self.alive or self._frozen or self._blamed is not None:
            return
        lives = self.lives
        self.next["FE_FAILPOINT"] = order
        self.kill("kill -9, to nap")
        with trio.move_on_after(_NAP_COMES_WITHIN):
            # A process that stops itself sends no event.
            while self.lives <= lives or (self.lives == lives + 1 and not self._stands_still()):  # noqa: ASYNC110
                await trio.sleep(0.02)
        if self.lives != lives + 1:
            return  # it died before it came there
        if not self._stands_still():
            self.kill("kill -9, it took no nap")  # else it would stop later, with no task to continue it
            return
        napping, self._frozen = self.process, True
        assert napping is not None
        self._tell(self.name, "frozen")
        with trio.CancelScope(shield=True):
            await trio.sleep(seconds)
        if napping is self.process and self.alive:
            os.kill(napping.pid, signal.SIGCONT)
            self._frozen = False
            self._tell(self.name, "thawed")

    def _stands_still(self) -> bool:
        if not self.alive or self._frozen:
            return False
        assert self.process is not None
        told = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="utf-8")
        return told.rpartition(")")[2].split()[0] == "T"

    def last_words(self) -> str:
        """The last line of its log."""
        return (self._log.read_text(encoding="utf-8", errors="replace").splitlines() or ["it said nothing"])[-1]

    async def end(self) -> None:
        """Stop it for good: in order, or hard when that takes too long."""
        self._ending = True
        with trio.move_on_after(_STOP_SECONDS):
            while not self._ended.is_set():
                if self._blamed is None:
                    self._strike(signal.SIGTERM, "the end")
                with trio.move_on_after(0.2):
                    await self._ended.wait()
            return
        self.kill("would not end")
        await self._ended.wait()
