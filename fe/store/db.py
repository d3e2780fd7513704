"""Postgres under Trio: the only module that knows how psycopg meets Trio.

psycopg's async side runs on asyncio; trio-asyncio carries it. A crossing between the two costs more than a statement,
so there is one crossing per unit of work (`run`, `transact`), whatever number of statements the work makes.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Concatenate, ParamSpec, TypeVar

import psycopg
import trio
import trio_asyncio
from psycopg import sql
from psycopg.pq import TransactionStatus
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from fe.store.errors import DatabaseUnavailable, NoNumber

P = ParamSpec("P")
T = TypeVar("T")

#: A connection in autocommit mode: a statement outside `transaction()` is its own transaction.
Conn = psycopg.AsyncConnection[Any]

_log = logging.getLogger(__name__)

#: Kept by the server, so that it gives up before we do and no lock outlives a worker that vanished.
SERVER_LIMITS = {
    "statement_timeout": "8s",
    "lock_timeout": "5s",
    "idle_in_transaction_session_timeout": "10s",
    "client_connection_check_interval": "5s",
    "timezone": "UTC",
}

#: Classes of SQLSTATE that speak of the server's condition, not of the statement: connection, rollback (deadlock,
#: serialisation), resources, operator intervention, system.
_TRANSIENT = ("08", "40", "53", "57", "58")
#: And of other classes: a standby; a transaction that idled or lasted too long, and was ended; a lock not had in time.
_TRANSIENT_STATES = ("25006", "25P03", "25P04", "55P03")
_NO_NUMBER = {"FE001": "none", "FE002": "expired", "FE003": "used up"}


class Database:
    """A pool of connections, used from Trio tasks."""

    def __init__(self, pool: AsyncConnectionPool[Conn], loop: Any, dsn: str) -> None:
        self._pool = pool
        self._loop = loop
        self._dsn = dsn

    async def run(self, work: Callable[Concatenate[Conn, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` on a connection in autocommit: right for work that is one statement (one round trip).

        Raises DatabaseUnavailable when the server cannot be asked, NoNumber when a draw is refused. If the caller's
        scope is cancelled the running statement is cancelled too; whether it took effect is then unknown.
        """

        async def crossing() -> T:
            async with self._pool.connection() as conn:
                return await work(conn, *args, **kwargs)

        return await self._cross(crossing)

    async def transact(
        self, work: Callable[Concatenate[Conn, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `work` in one explicit transaction. Errors and cancellation as for `run`; either rolls back."""

        async def crossing() -> T:
            async with self._pool.connection() as conn, conn.transaction():
                return await work(conn, *args, **kwargs)

        return await self._cross(crossing)

    async def listen(self, channel: str, heard: Callable[[str], None], *, retry: float = 2.0) -> None:
        """Call `heard` with each payload notified on `channel`, until cancelled; connect anew when the link breaks.

        Notifications sent while there is no link are lost, so they may only ever be hints.
        """
        while True:
            try:
                await self._cross(lambda: self._listen_once(channel, heard))
            except DatabaseUnavailable as lost:
                _log.warning("listening for %s stopped: %s", channel, lost)
            await trio.sleep(retry)

    async def _listen_once(self, channel: str, heard: Callable[[str], None]) -> None:
        async with await psycopg.AsyncConnection.connect(self._dsn, autocommit=True) as conn:
            await conn.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
            async for notification in conn.notifies():
                heard(notification.payload)

    async def _cross(self, crossing: Callable[[], Awaitable[T]]) -> T:
        try:
            result: T = await trio_asyncio.aio_as_trio(crossing, loop=self._loop)()
        except psycopg.Error as error:
            raise _translate(error) from error
        except OSError as error:
            raise DatabaseUnavailable(type(error).__name__) from error
        else:
            return result


def _translate(error: psycopg.Error) -> Exception:
    """Say in our words what psycopg's error means; an error that is a bug of ours comes back unchanged."""
    state = error.sqlstate
    if state is None:
        is_link = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError | PoolTimeout | PoolClosed)
        # A DataError without SQLSTATE is psycopg refusing a value: a bug at our door, never the server's condition.
        return DatabaseUnavailable(type(error).__name__) if is_link else error
    if state in _NO_NUMBER:
        prefix = (error.diag.message_primary or "").rsplit("for ", 1)[-1][:3]
        return NoNumber(prefix, _NO_NUMBER[state])
    if state.startswith(_TRANSIENT) or state in _TRANSIENT_STATES:
        return DatabaseUnavailable(f"{type(error).__name__} ({state})")
    return error


async def _discard_unless_idle(conn: Conn) -> None:
    """Refuse to take back a connection that a cancelled task left in the middle of something."""
    if conn.pgconn.transaction_status != TransactionStatus.IDLE:
        await conn.close()


@asynccontextmanager
async def open_database(
    dsn: str, *, min_size: int = 1, max_size: int = 8, patience: float = 5.0
) -> AsyncIterator[Database]:
    """Open the asyncio loop and a pool on it, for as long as the block runs.

    Connections are opened in the background: an unreachable server shows as DatabaseUnavailable at the first use, after
    `patience` seconds, and heals by itself.
    """
    options = " ".join(f"-c {name}={value}" for name, value in SERVER_LIMITS.items())
    async with trio_asyncio.open_loop() as loop:
        pool: AsyncConnectionPool[Conn] = AsyncConnectionPool(
            dsn,
            min_size=min_size,
            max_size=max_size,
            timeout=patience,
            open=False,
            reset=_discard_unless_idle,
            reconnect_timeout=5.0,
            kwargs={"autocommit": True, "options": options, "application_name": "fe", "connect_timeout": 5},
        )
        await trio_asyncio.aio_as_trio(pool.open, loop=loop)()
        try:
            yield Database(pool, loop, dsn)
        finally:
            with trio.move_on_after(5, shield=True):
                await trio_asyncio.aio_as_trio(pool.close, loop=loop)()
