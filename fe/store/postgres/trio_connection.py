"""psycopg's own AsyncConnection, pumped by Trio instead of asyncio, and a pool of them.

psycopg keeps its protocol in generators that say when they would block; all that is asyncio's in it is the waiting.
Here Trio does that. Compared with carrying an asyncio loop inside Trio, the same transaction costs a fraction of the
CPU (docs/decisions/micro-performance.md). It leans on private names of psycopg: its version is pinned,
`check_psycopg` looks for them at start, and FE_DATABASE_DRIVER=trio-asyncio does without.
"""

import random
import select
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Sequence
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Any, Self, TypeVar, cast

import psycopg
import trio
from psycopg import errors
from psycopg.abc import PQGen, PQGenConn
from psycopg.conninfo import conninfo_attempts, conninfo_to_dict, make_conninfo
from psycopg.generators import send
from psycopg.pq import TransactionStatus
from psycopg.waiting import Ready, Wait

from fe.store.postgres.errors import StoreError

RV = TypeVar("RV")

#: Prepares each new connection before its first use.
Prepare = Callable[[psycopg.AsyncConnection[Any]], Awaitable[None]]

#: How long a query that was cancelled may take to end, on the server and back, before its connection is given up.
_CANCEL_SECONDS = 2.0

#: Connections are made anew after this, so that no server process grows old.
_LIFETIME_SECONDS = 1800.0

#: Threads that look names up, of their own: they may all wait for a name server that is silent.
_NAMES = trio.CapacityLimiter(16)

_PRIVATE_NAMES = ("_connect_gen", "_cancel_gen", "_should_cancel")
_PRIVATE_NAMES_OF_PIPELINES = ("_enqueue_sync", "_communicate_gen", "_fetch_gen", "_exit_gen")


class UnknownPsycopg(StoreError):
    """The installed psycopg lacks what this module leans on; the message says what to do."""


def check_psycopg() -> None:
    """Look for the private names this module uses. Raises UnknownPsycopg."""
    missing = [name for name in _PRIVATE_NAMES if not hasattr(psycopg.AsyncConnection, name)]
    missing += [name for name in _PRIVATE_NAMES_OF_PIPELINES if not hasattr(psycopg.AsyncPipeline, name)]
    if missing:
        raise UnknownPsycopg(
            f"psycopg {psycopg.__version__} has no {', '.join(missing)}: install the version of requirements/run.lock, "
            "or set FE_DATABASE_DRIVER=trio-asyncio"
        )


class _Lock:
    """The lock of a connection. A connection belongs to one task, so taking it never waits or yields."""

    def __init__(self) -> None:
        self._lock = trio.Lock()

    async def __aenter__(self) -> None:
        try:
            self._lock.acquire_nowait()
        except trio.WouldBlock:
            await self._lock.acquire()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._lock.release()


class _Pipeline(psycopg.AsyncPipeline):
    """A pipeline that ends with its Sync, which makes the server answer.

    psycopg sends a Flush after it: an unnecessary packet, and a transaction pooler that receives it after the answer
    assigns a server process that is never returned, because nothing answers a Flush alone.
    """

    def _exit_gen(self) -> PQGen[None]:
        try:
            self._enqueue_sync()
            yield from self._communicate_gen()
        finally:
            if self.result_queue:
                yield from send(self.pgconn)  # what has not gone out yet: with much data, the Sync
                yield from self._fetch_gen(flush=False)


class TrioConnection(psycopg.AsyncConnection[Any]):
    """A connection for Trio tasks. A cancelled statement is cancelled on the server too, within two seconds."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lock = _Lock()  # type: ignore[assignment]  # psycopg types it as asyncio's

    @classmethod
    async def open(cls, dsn: str, prepare: Prepare, *, seconds: float, **parameters: Any) -> Self:
        """Connect, in autocommit mode, and have `prepare` set it up, all within `seconds`.

        Raises psycopg.OperationalError; cancellable.
        """
        with trio.move_on_after(seconds) as patience:
            opened = await cls._open_any(await _attempts(conninfo_to_dict(dsn, **parameters)), patience.deadline)
            try:
                await prepare(opened)
            except BaseException:
                opened.drop()
                raise
            return opened
        raise errors.OperationalError("connecting took too long")

    @classmethod
    async def _open_any(cls, attempts: Sequence[dict[str, Any]], until: float) -> Self:
        """Connect to the first of these addresses that answers: one that is silent leaves the others their time."""
        failure: psycopg.Error = errors.OperationalError("no address to connect to")
        for left, attempt in zip(range(len(attempts), 0, -1), attempts, strict=True):
            now = trio.current_time()
            with trio.move_on_at(now + (until - now) / left):
                try:
                    opened = await _pump_connecting(cls._connect_gen(make_conninfo("", **attempt)))
                except psycopg.Error as error:
                    failure = error
                    continue
                opened._autocommit = True
                return opened
            failure = errors.OperationalError("connecting took too long")
        raise failure

    async def wait(self, gen: PQGen[RV], interval: float = 0.0, timeout: float | None = None) -> RV:  # noqa: ASYNC109  (psycopg's signature)
        """Run one of psycopg's generators to its end."""
        try:
            if timeout is None:
                return await _pump(gen, self.pgconn.socket)
            with trio.move_on_after(timeout):
                return await _pump(gen, self.pgconn.socket)
            raise errors._WaitTimeout("wait timeout expired")
        except trio.Cancelled:
            if self.pgconn.transaction_status == TransactionStatus.ACTIVE:
                await self._cancel_running(gen)
            raise
        finally:
            _let_go(gen)

    @asynccontextmanager
    async def pipeline(self) -> AsyncIterator[psycopg.AsyncPipeline]:
        """Send what the block executes together; the results are there when it ends."""
        if self._pipeline is None:
            self._check_connection_ok()
            self._pipeline = _Pipeline(self)
        try:
            async with super().pipeline() as pipeline:
                yield pipeline
        except psycopg.OperationalError:
            # Cancelled as it ended, with much yet to be sent, psycopg says that the connection is busy instead.
            await trio.lowlevel.checkpoint_if_cancelled()
            raise

    async def _cancel_running(self, gen: PQGen[Any]) -> None:
        """Have the server stop the statement and take its last words; give the connection up if it will not."""
        with trio.move_on_after(_CANCEL_SECONDS, shield=True) as patience:
            try:
                await _pump_connecting(self._cancel_gen())
                await _pump(gen, self.pgconn.socket)
            except errors.QueryCanceled:
                pass  # as was asked for
            except psycopg.Error:
                self.drop()
        if patience.cancelled_caught:
            self.drop()

    async def cancel_safe(self, *, timeout: float = _CANCEL_SECONDS) -> None:  # noqa: ASYNC109  (psycopg's signature)
        """Cancel the running statement, if any."""
        if self._should_cancel():
            with trio.move_on_after(timeout):
                await _pump_connecting(self._cancel_gen())

    def drop(self) -> None:
        """Close it here and now, in whatever state it is."""
        self._closed = True
        self.pgconn.finish()

    @property
    def stale(self) -> bool:
        """Whether an idle connection has something to say: the server's farewell, since nothing was asked."""
        poller = select.poll()
        poller.register(self.pgconn.socket, select.POLLIN)
        return bool(poller.poll(0))


def _let_go(gen: PQGen[Any]) -> None:
    """Close an abandoned generator, instead of leaving it to the garbage collector.

    The one that leaves a pipeline reacts to being closed by waiting once more, or with an error of its own.
    """
    for _ in range(4):
        with suppress(RuntimeError, psycopg.Error):
            gen.close()
            return


async def _pump(gen: Generator[Wait, Ready, RV], fd: int) -> RV:
    try:
        wanted = next(gen)
        while True:
            wanted = gen.send(await _ready(fd, wanted))
    except StopIteration as done:
        return cast(RV, done.value)
    except OSError as error:
        raise errors.OperationalError("connection socket closed") from error


async def _pump_connecting(gen: PQGenConn[RV]) -> RV:
    try:
        fd, wanted = next(gen)
        while True:
            fd, wanted = gen.send(await _ready(fd, wanted))
    except StopIteration as done:
        return cast(RV, done.value)
    except OSError as error:
        raise errors.OperationalError("connection socket closed") from error


async def _ready(fd: int, wanted: int) -> Ready:
    if wanted == Wait.R:
        await trio.lowlevel.wait_readable(fd)
        return Ready.R
    if wanted == Wait.W:
        await trio.lowlevel.wait_writable(fd)
        return Ready.W
    # A pipeline asks for both whenever it sends. There is nearly always room to, and two tasks to wait for it would
    # cost several times the statement.
    if found := _ready_now(fd):
        return found
    seen = 0
    async with trio.open_nursery() as nursery:

        async def watch(wait: Any, state: int) -> None:
            nonlocal seen
            await wait(fd)
            seen |= state
            nursery.cancel_scope.cancel()

        nursery.start_soon(watch, trio.lowlevel.wait_readable, Ready.R)
        nursery.start_soon(watch, trio.lowlevel.wait_writable, Ready.W)
    return Ready(seen)


def _ready_now(fd: int) -> Ready | None:
    poller = select.poll()
    poller.register(fd, select.POLLIN | select.POLLOUT)
    state = 0
    for _, events in poller.poll(0):
        if events & select.POLLOUT:
            state |= Ready.W
        if events & ~select.POLLOUT:  # an end or an error is read, too
            state |= Ready.R
    return Ready(state) if state else None


async def _attempts(parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """Every address to try, in order, those of names among them; names that have none are left out if others have.

    In a thread: a name server that does not answer would hold up the event loop, here as in libpq.
    """
    return await trio.to_thread.run_sync(conninfo_attempts, parameters, limiter=_NAMES, abandon_on_cancel=True)


class TrioPool:
    """At most `size` connections, opened when needed, the last used first."""

    def __init__(self, dsn: str, size: int, patience: float, parameters: dict[str, Any], prepare: Prepare) -> None:
        self._dsn = dsn
        self._parameters = parameters
        self._prepare = prepare
        self._patience = patience
        self._free = trio.CapacityLimiter(size)
        self._idle: list[tuple[TrioConnection, float]] = []
        self._closed = False

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[TrioConnection]:
        """Lend a connection. One that comes back in the middle of something is closed.

        Raises psycopg.OperationalError when none can be opened, or none is free in time.
        """
        borrower = object()
        with trio.move_on_after(self._patience) as patience:
            await self._free.acquire_on_behalf_of(borrower)
        if patience.cancelled_caught:
            raise errors.OperationalError("all connections were in use for too long")
        try:
            lent, until = await self._take()
            try:
                yield lent
            except errors.ReadOnlySqlTransaction:
                lent.drop()  # a standby, or one that has become one: the next connection may find who was promoted
                raise
            finally:
                if lent.pgconn.transaction_status == TransactionStatus.IDLE and not self._closed:
                    self._idle.append((lent, until))
                else:
                    lent.drop()
        finally:
            self._free.release_on_behalf_of(borrower)

    def close(self) -> None:
        """Close the idle connections, and those in use when they come back."""
        self._closed = True
        while self._idle:
            self._idle.pop()[0].drop()

    async def _take(self) -> tuple[TrioConnection, float]:
        now = trio.current_time()
        while self._idle:
            kept, until = self._idle.pop()
            if now < until and not kept.closed and not kept.stale:
                return kept, until
            kept.drop()
        opened = await TrioConnection.open(self._dsn, self._prepare, seconds=self._patience, **self._parameters)
        spread = random.uniform(0.8, 1.2)  # noqa: S311  (spreads the renewals; nothing secret hangs on it)
        return opened, now + _LIFETIME_SECONDS * spread


class TrioDriver:
    """Lends connections that Trio pumps."""

    def __init__(
        self,
        dsn: str,
        parameters: dict[str, Any],
        prepare: Prepare,
        pool: TrioPool,
        patience: float,
        observe_wait: Callable[[float], None],
    ) -> None:
        self._dsn = dsn
        self._parameters = parameters
        self._prepare = prepare
        self._pool = pool
        self._patience = patience
        self._observe_wait = observe_wait

    @classmethod
    @asynccontextmanager
    async def opened(
        cls,
        dsn: str,
        size: int,
        patience: float,
        parameters: dict[str, Any],
        prepare: Prepare,
        observe_wait: Callable[[float], None],
    ) -> AsyncIterator[Self]:
        """Open the pool for as long as the block runs; `prepare` sets up each connection. Raises UnknownPsycopg."""
        check_psycopg()
        pool = TrioPool(dsn, size, patience, parameters, prepare)
        driver = cls(dsn, parameters, prepare, pool, patience, observe_wait)
        try:
            yield driver
        finally:
            driver._pool.close()

    async def borrow(self, work: Callable[[psycopg.AsyncConnection[Any]], Awaitable[RV]]) -> RV:
        """Run `work` on a connection of the pool."""
        asked_at = trio.current_time()
        async with self._pool.connection() as conn:
            self._observe_wait(trio.current_time() - asked_at)
            return await work(conn)

    async def apart(self, work: Callable[[psycopg.AsyncConnection[Any]], Awaitable[RV]]) -> RV:
        """Run `work` on a connection of its own."""
        conn = await TrioConnection.open(self._dsn, self._prepare, seconds=self._patience, **self._parameters)
        try:
            return await work(conn)
        finally:
            conn.drop()
