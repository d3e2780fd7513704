"""A pool of processes at low priority, in which large documents are read, validated and made.

Python work holds its interpreter: a document of thousands of lines would delay small ones by a second, in a thread too,
and its memory would stay allocated. A process of the pool ends when it was idle for a while or has grown, and returns
its memory.

There are two kinds of processes. The first has a low priority, and still gets a tenth of a busy processor. A tenant
that has used a tenth of a processor is served by the second kind, which runs only on an idle processor: one with many
large documents delays no other tenant. Work on an idle processor still slows its neighbours by the shared caches, so
the second kind takes a twentieth of the machine over time. Work that waits too long there is done by the first kind.

Arguments and results are pickled: bytes and records of values, never a key.
"""

import math
import os
import sys
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from typing import Any, TypeVar, cast

import structlog
import trio
import trio_parallel

from fe.limits import ConcurrencyLimit, TokenBucket
from fe.monitoring.metrics import Metrics
from fe.offload.worker import begin, begin_when_idle, is_spent, measured
from fe.process.cpu import Pace, run_behind_others

_log = structlog.get_logger(__name__)

T = TypeVar("T")

#: How long a process stays without work, in seconds. To start one takes about a second of CPU: a till should not wait
#: for it, so one that prints stays longer.
IDLE_SECONDS = 30.0
PRINTER_IDLE_SECONDS = 900.0
_START_SECONDS = 1.0
#: How long one piece of work may take. The largest document takes two seconds on a machine that has time; where others
#: leave a process of low priority a tenth of a core, its start alone takes ten.
WORK_SECONDS = 60.0
_END_SECONDS = 2.0
#: The share of one processor that each key has before its work waits for idle ones, and its burst in seconds.
SHARE = 0.1
BURST = 1.0
#: How long work may wait for an idle processor, and then run on it, before the first kind does it.
IDLE_PATIENCE = 10.0
#: How much of all processors of the machine such work takes over time.
IDLE_SHARE = 0.05

#: Seconds after which a working thread gives the interpreter to the loop, a tenth of Python's default: a request waits
#: for the interpreter a dozen times, after each wait for the network or the database.
_SWITCH_SECONDS = 0.0005


def share_interpreter() -> None:
    """See that threads of this process let its loop have the interpreter soon."""
    sys.setswitchinterval(_SWITCH_SECONDS)


class ApartFailed(Exception):
    """The work was not done: its process died, had not memory enough, or took too long. Nothing has happened."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"a large document was not dealt with: {reason}")
        self.reason = reason


class _Processes:
    """Processes of one kind, and turns on them."""

    def __init__(self, number: int, begin: Callable[[], None], idle: float) -> None:
        self.slots: ConcurrencyLimit[Hashable] = ConcurrencyLimit(each=1, together=number)
        self._limiter = trio.CapacityLimiter(number)
        self._begin = begin
        self._idle = idle
        self._workers: trio_parallel.WorkerContext | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        failed: BaseException | None = None
        try:
            async with trio_parallel.open_worker_context(
                idle_timeout=self._idle, init=self._begin, retire=is_spent, grace_period=_END_SECONDS
            ) as self._workers:
                try:
                    yield
                except BaseException as error:
                    failed = error
                    raise
        except trio_parallel.BrokenWorkerError as error:  # at the end: one had to be killed, or was before
            _log.warning("a process for large documents did not end well", error=error)
            if failed is not None:  # the end of the process must not hide why the block ended
                raise failed from None
        finally:
            self._workers = None

    async def run(self, work: Callable[..., T], *given: Any) -> T:
        assert self._workers is not None, "not running"
        done: T = await self._workers.run_sync(work, *given, kill_on_cancel=True, limiter=self._limiter)
        return done

    @property
    def alive(self) -> int:
        if self._workers is None:
            return 0
        counted = self._workers.statistics()
        return int(counted.idle_workers + counted.running_workers)


class Apart:
    """`processes` of each kind; each starts when it is needed. The front has its own pool, and so have the actors.

    `idle`: how long a process of the first kind stays without work, in seconds.
    """

    def __init__(
        self,
        processes: int,
        metrics: Metrics,
        *,
        seconds: float = WORK_SECONDS,
        share: float | None = None,
        idle: float = IDLE_SECONDS,
    ) -> None:
        self._turns: ConcurrencyLimit[Hashable] = ConcurrencyLimit(each=1)
        self._shares: TokenBucket[Hashable] = TokenBucket(at_once=BURST, a_second=SHARE if share is None else share)
        self._behind = _Processes(processes, _begin_behind, idle)
        self._when_idle = _Processes(processes, begin_when_idle, IDLE_SECONDS)
        self._idle = Pace(IDLE_SHARE * (os.cpu_count() or 1))
        self._metrics = metrics
        self._seconds = seconds

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Take work while the block runs; at its end the processes end."""
        async with self._behind.running(), self._when_idle.running():
            yield

    async def run(self, whose: Hashable, work: Callable[..., T], *given: Any, within: float = math.inf) -> T:
        """Run `work(*given)` in a process, one call of `whose` at a time; return its result or raise its exception.

        `work` is a function of a module; its arguments, results and exceptions can be pickled. If the caller is
        cancelled, the process is killed: it has no other work.

        Raises ApartFailed, and TurnTimeout when its turn does not come `within` seconds.
        """
        until = trio.current_time() + within

        def left() -> float:
            return max(until - trio.current_time(), 0)

        async with self._turns.turn(whose, within=within):
            if not self._shares.has_some(whose, trio.current_time()):
                with trio.move_on_after(IDLE_PATIENCE) as patience:
                    async with self._when_idle.slots.turn(whose, within=left()):
                        await trio.sleep_until(self._idle.free_from)
                        patience.deadline = trio.current_time() + IDLE_PATIENCE  # its turn has come: as long to be done
                        return await self._run(self._when_idle, whose, work, *given)
                # No processor was idle in time: the first kind does the work.
            async with self._behind.slots.turn(whose, within=left()):
                return await self._run(self._behind, whose, work, *given)

    async def _run(self, processes: _Processes, whose: Hashable, work: Callable[..., T], *given: Any) -> T:
        # Of what is given up: its process is killed, and the next has to start.
        began, taken = trio.current_time(), _START_SECONDS
        try:
            with trio.fail_after(self._seconds):
                done, error, taken = await processes.run(measured, work, given)
            if error is not None:
                raise error
            return cast(T, done)
        except trio_parallel.BrokenWorkerError as error:
            taken = _START_SECONDS
            raise self._failed("died", "its process died") from error
        except trio.TooSlowError as error:
            taken = self._seconds
            raise self._failed("too slow", f"it took more than {self._seconds:g} s") from error
        except MemoryError:
            raise self._failed("memory", "it takes too much memory") from None
        except OSError as error:
            raise self._failed("no process", "no process could be started") from error
        finally:
            self._shares.take(whose, taken, trio.current_time())
            if processes is self._when_idle:
                self._idle.take(taken, began)

    def _failed(self, why: str, reason: str) -> ApartFailed:
        self._metrics.apart_failures.labels(why).inc()
        _log.warning("large document", failed=why)
        return ApartFailed(reason)

    @property
    def alive(self) -> int:
        """How many processes there are."""
        return self._behind.alive + self._when_idle.alive


def _begin_behind() -> None:
    """Initialize a process of the first kind.

    It is here and not in `fe.offload.worker` so that its modules are imported before the priority is lowered: on a busy
    machine, importing them afterwards took most of the time for the work.
    """
    begin()
    run_behind_others()
