"""Short CPU work in the loop itself: a few pieces in each turn of it, whoever else is ready in between."""

from collections import deque
from collections.abc import Sequence
from typing import Generic

import trio

from fe.actors.hand_over import DoAll, P, R, Waiting

#: So many pieces are done in one turn of the loop; whoever else is ready waits for them.
AT_ONCE = 2


class LoopBatcher(Generic[P, R]):
    """Does pieces of work one after another, in the order in which they come; `do_all` does what is done in one turn.

    For work of about a millisecond. A thread would have to be given the interpreter's lock for it and to give it back
    several times, and the loop with it: for a signature that took a fifth of its CPU
    (docs/decisions/micro-performance.md).
    """

    def __init__(self, do_all: DoAll[P, R], *, at_once: int = AT_ONCE) -> None:
        self._do_all = do_all
        self._at_once = at_once
        self._waiting: deque[Waiting[P, R]] = deque()
        self._is_led = False

    async def run(self, piece: P) -> R:
        """Have `piece` done in a later turn of the loop; return or raise what it comes to.

        Cancelled before that, it is not done.
        """
        entry: Waiting[P, R] = Waiting(piece)
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
                self._pass_on()
            raise
        if entry.leads:
            self._lead()
        return entry.came_to()

    def _lead(self) -> None:
        """Do the next pieces, this one first, and have somebody else do those after them in the next turn."""
        batch = [self._waiting.popleft() for _ in range(min(self._at_once, len(self._waiting)))]
        for entry, result in zip(batch, self._results([entry.piece for entry in batch]), strict=True):
            entry.result = result
            entry.woken.set()
        self._pass_on()

    def _results(self, pieces: Sequence[P]) -> Sequence[R | Exception]:
        try:
            return self._do_all(pieces)
        except Exception as error:  # of all of them: nobody is left waiting
            return [error] * len(pieces)

    def _pass_on(self) -> None:
        if self._waiting:
            self._waiting[0].leads = True
            self._waiting[0].woken.set()
        else:
            self._is_led = False
