"""Short CPU work in the event loop: a few pieces per turn, so that other tasks run in between."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import trio

P = TypeVar("P")
R = TypeVar("R")

#: Does pieces of work and returns their results in order; an exception belongs to its piece alone.
DoAll = Callable[[Sequence[P]], Sequence[R | Exception]]

#: Pieces per turn of the loop; every other ready task waits for them.
AT_ONCE = 2


class _Waiting(Generic[P, R]):
    """A piece that waits for its turn, and its result."""

    __slots__ = ("leads", "piece", "result", "woken")

    def __init__(self, piece: P) -> None:
        self.piece = piece
        self.woken = trio.Event()
        #: This task runs the next batch.
        self.leads = False
        self.result: R | Exception | None = None


class LoopBatcher(Generic[P, R]):
    """Does pieces of work in the order in which they come; `do_all` does those of one turn.

    For work of about a millisecond. A thread would pass the interpreter lock back and forth several times: for a
    signature that took a fifth of its CPU (docs/decisions/micro-performance.md).
    """

    def __init__(self, do_all: DoAll[P, R], *, at_once: int = AT_ONCE) -> None:
        self._do_all = do_all
        self._at_once = at_once
        self._waiting: deque[_Waiting[P, R]] = deque()
        self._is_led = False

    async def run(self, piece: P) -> R:
        """Do `piece` in a later turn of the loop; return its result or raise its exception.

        Cancelled before that, it is not done.
        """
        entry: _Waiting[P, R] = _Waiting(piece)
        self._waiting.append(entry)
        try:
            if self._is_led:
                await entry.woken.wait()
            else:
                self._is_led = entry.leads = True
                await trio.lowlevel.checkpoint()
        except trio.Cancelled:
            if entry in self._waiting:
                self._waiting.remove(entry)
            if entry.leads:
                self._next_leads()
            raise
        if entry.leads:
            self._lead()
        if isinstance(entry.result, Exception):
            raise entry.result
        return entry.result  # type: ignore[return-value]  # done by now: None is a result too

    def _lead(self) -> None:
        """Do the next pieces, the leader's first, and let the next waiting task lead in the next turn."""
        batch = [self._waiting.popleft() for _ in range(min(self._at_once, len(self._waiting)))]
        for entry, result in zip(batch, self._results([entry.piece for entry in batch]), strict=True):
            entry.result = result
            entry.woken.set()
        self._next_leads()

    def _results(self, pieces: Sequence[P]) -> Sequence[R | Exception]:
        try:
            return self._do_all(pieces)
        except Exception as error:  # fails all pieces, so that no task waits for ever
            return [error] * len(pieces)

    def _next_leads(self) -> None:
        if self._waiting:
            self._waiting[0].leads = True
            self._waiting[0].woken.set()
        else:
            self._is_led = False
