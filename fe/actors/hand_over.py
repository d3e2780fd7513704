"""CPU work in threads, several pieces for one hand-over: what comes while all threads are busy goes together."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import trio

P = TypeVar("P")
R = TypeVar("R")

#: Does pieces of work and gives what each came to, in their order; an error is that piece's own.
DoAll = Callable[[Sequence[P]], Sequence[R | Exception]]

#: So many pieces go to a thread together at most: the first waits for the last of them.
AT_ONCE = 16


class Waiting(Generic[P, R]):
    """A piece that waits for its turn, and what it came to."""

    __slots__ = ("leads", "piece", "result", "woken")

    def __init__(self, piece: P) -> None:
        self.piece = piece
        self.woken = trio.Event()
        #: A thread has become free, and this one is to take the next pieces to it.
        self.leads = False
        self.result: R | Exception | None = None

    def came_to(self) -> R:
        """Return or raise what it came to, once it is done."""
        if isinstance(self.result, Exception):
            raise self.result
        return self.result  # type: ignore[return-value]  # it was done: that it came to None is its own matter


class HandOver(Generic[P, R]):
    """Hands pieces of work over to as many threads as `limiter` has, in the order in which they come; `do_all` does
    there what goes together.

    Going to a thread and back costs about 100 us of CPU however little is done there. There is no timer: while a thread
    is free a piece goes at once, alone.
    """

    def __init__(self, do_all: DoAll[P, R], limiter: trio.CapacityLimiter, *, at_once: int = AT_ONCE) -> None:
        self._do_all = do_all
        self._limiter = limiter
        self._at_once = at_once
        self._waiting: deque[Waiting[P, R]] = deque()
        self._busy = 0

    async def run(self, piece: P) -> R:
        """Have `piece` done in a thread; return or raise what it comes to, whatever becomes of those that go with it.

        Cancelled before it began, it is not done; after that it is done to its end and nobody hears of it.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        entry: Waiting[P, R] = Waiting(piece)
        if self._busy < self._limiter.total_tokens:
            self._busy += 1
            entry.leads = True
        else:
            self._waiting.append(entry)
            try:
                await entry.woken.wait()
            except trio.Cancelled:
                self._withdraw(entry)
                raise
        if entry.leads:
            await self._lead(entry)
        return entry.came_to()

    def _withdraw(self, entry: Waiting[P, R]) -> None:
        if entry.leads:
            self._pass_on()
        elif entry in self._waiting:
            self._waiting.remove(entry)

    async def _lead(self, first: Waiting[P, R]) -> None:
        """Take a piece and the next ones to a thread; not cut short, because they are others' too."""
        even = -(-(1 + len(self._waiting)) // int(self._limiter.total_tokens))
        batch = [first, *(self._waiting.popleft() for _ in range(min(self._at_once, even) - 1))]
        try:
            with trio.CancelScope(shield=True):
                pieces = [entry.piece for entry in batch]
                results = await trio.to_thread.run_sync(self._do_all, pieces, limiter=self._limiter)
            for entry, result in zip(batch, results, strict=True):
                entry.result = result
        except Exception as error:  # there is no thread to be had: nothing was done
            for entry in batch:
                entry.result = error
        finally:
            for entry in batch:
                entry.woken.set()
            self._pass_on()

    def _pass_on(self) -> None:
        """A thread is free: the one that has waited longest takes the next pieces to it."""
        if self._waiting:
            next_one = self._waiting.popleft()
            next_one.leads = True
            next_one.woken.set()
        else:
            self._busy -= 1
