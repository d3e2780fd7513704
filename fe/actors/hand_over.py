"""CPU work in threads, several pieces for one hand-over: what comes while all threads are busy goes together."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import trio

T = TypeVar("T")

#: So many pieces go to a thread together at most: the first waits for the last of them.
AT_ONCE = 16


class _Waiting(Generic[T]):
    __slots__ = ("error", "leads", "piece", "result", "woken")

    def __init__(self, piece: Callable[[], T]) -> None:
        self.piece = piece
        self.woken = trio.Event()
        #: A thread has become free, and this one is to take the next pieces to it.
        self.leads = False
        self.result: T | None = None
        self.error: Exception | None = None


class HandOver:
    """Hands pieces of work over to as many threads as `limiter` has, in the order in which they come.

    Going to a thread and back costs about 100 us of CPU however little is done there. There is no timer: while a thread
    is free a piece goes at once, alone.
    """

    def __init__(self, limiter: trio.CapacityLimiter, *, at_once: int = AT_ONCE) -> None:
        self._limiter = limiter
        self._at_once = at_once
        self._waiting: deque[_Waiting[Any]] = deque()
        self._busy = 0

    async def run(self, piece: Callable[[], T]) -> T:
        """Run `piece` in a thread; return or raise what it does, whatever becomes of those that go with it.

        Cancelled before it began, it is not run; after that it is run to its end and nobody hears of it.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        entry = _Waiting(piece)
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
            await self._carry(entry)
        if entry.error is not None:
            raise entry.error
        return entry.result  # type: ignore[return-value]  # it was run: that it returned None is its own matter

    def _withdraw(self, entry: _Waiting[Any]) -> None:
        if entry.leads:
            self._pass_on()
        elif entry in self._waiting:
            self._waiting.remove(entry)

    async def _carry(self, first: _Waiting[Any]) -> None:
        """Take a piece and the next ones to a thread; not cut short, because they are others' too."""
        even = -(-(1 + len(self._waiting)) // int(self._limiter.total_tokens))
        batch = [first, *(self._waiting.popleft() for _ in range(min(self._at_once, even) - 1))]
        try:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(_run_all, batch, limiter=self._limiter)
        except Exception as error:  # there is no thread to be had: nothing was run
            for entry in batch:
                entry.error = error
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


def _run_all(batch: Sequence[_Waiting[Any]]) -> None:
    for entry in batch:
        try:
            entry.result = entry.piece()
        except Exception as error:
            entry.error = error
