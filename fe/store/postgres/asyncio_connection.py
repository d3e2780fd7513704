"""psycopg on an asyncio loop that trio-asyncio carries inside Trio: public names only, and three times the CPU.

The way out should an upgrade of psycopg break what trio_connection.py leans on. Crossing into the loop costs more than
a statement, so there is one crossing per unit of work.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Self, TypeVar

import psycopg
import psycopg.waiting
import trio
import trio_asyncio
from psycopg.pq import TransactionStatus
from psycopg_pool import AsyncConnectionPool

T = TypeVar("T")
Conn = psycopg.AsyncConnection[Any]

# trio-asyncio replaces asyncio's way to find the running loop when it is imported. psycopg keeps a copy of that
# function from when *it* was imported; if that was earlier, the copy knows no loop of ours. Here both are there.
vars(psycopg.waiting)["get_running_loop"] = asyncio.get_running_loop


class AsyncioDriver:
    """Lends connections of psycopg's own pool."""

    def __init__(
        self,
        pool: AsyncConnectionPool[Conn],
        loop: Any,
        dsn: str,
        parameters: dict[str, Any],
        prepare: Callable[[Conn], Awaitable[None]],
        observe_wait: Callable[[float], None],
    ) -> None:
        self._pool = pool
        self._loop = loop
        self._dsn = dsn
        self._parameters = parameters
        self._prepare = prepare
        self._observe_wait = observe_wait

    @classmethod
    @asynccontextmanager
    async def opened(
        cls,
        dsn: str,
        size: int,
        patience: float,
        parameters: dict[str, Any],
        prepare: Callable[[Conn], Awaitable[None]],
        observe_wait: Callable[[float], None],
    ) -> AsyncIterator[Self]:
        """Open the loop and the pool on it, for as long as the block runs."""
        async with trio_asyncio.open_loop() as loop:
            pool: AsyncConnectionPool[Conn] = AsyncConnectionPool(
                dsn,
                min_size=1,
                max_size=size,
                timeout=patience,
                open=False,
                configure=prepare,
                reset=_discard_unless_idle,
                reconnect_timeout=patience,
                kwargs={"autocommit": True, **parameters},
            )
            await trio_asyncio.aio_as_trio(pool.open, loop=loop)()
            try:
                yield cls(pool, loop, dsn, parameters, prepare, observe_wait)
            finally:
                with trio.move_on_after(5, shield=True):
                    await trio_asyncio.aio_as_trio(pool.close, loop=loop)()

    async def borrow(self, work: Callable[[Conn], Awaitable[T]]) -> T:
        """Run `work` on a connection of the pool."""
        asked_at = time.monotonic()

        async def crossing() -> T:
            async with self._pool.connection() as conn:
                self._observe_wait(time.monotonic() - asked_at)
                try:
                    return await work(conn)
                except psycopg.errors.ReadOnlySqlTransaction:
                    await conn.close()  # as in trio_connection.py
                    raise

        result: T = await trio_asyncio.aio_as_trio(crossing, loop=self._loop)()
        return result

    async def apart(self, work: Callable[[Conn], Awaitable[T]]) -> T:
        """Run `work` on a connection of its own."""

        async def crossing() -> T:
            async with await psycopg.AsyncConnection.connect(self._dsn, autocommit=True, **self._parameters) as conn:
                await self._prepare(conn)
                return await work(conn)

        result: T = await trio_asyncio.aio_as_trio(crossing, loop=self._loop)()
        return result


async def _discard_unless_idle(conn: Conn) -> None:
    """Refuse to take back a connection that a cancelled task left in the middle of something."""
    if conn.pgconn.transaction_status != TransactionStatus.IDLE:
        await conn.close()
