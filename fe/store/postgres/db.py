"""Postgres under Trio: where work meets a connection, and what went wrong in our own words.

Which of two drivers lends the connections is a setting: psycopg pumped by Trio itself (trio_connection.py), or psycopg
on an asyncio loop that trio-asyncio carries (asyncio_connection.py). Each unit of work (`run`, `transact`) is handed
over once, whatever number of statements it makes.
"""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar

import psycopg
import trio
from psycopg import sql

from fe.identifiers import TenantId
from fe.store.postgres.asyncio_connection import AsyncioDriver
from fe.store.postgres.engine import POSTGRES, Engine, note_engine
from fe.store.postgres.errors import Contended, DatabaseUnavailable, LockNotHad, NoNumber, TenantDisabled, words
from fe.store.postgres.session import NO_ROLE, apply_settings, settings_of
from fe.store.postgres.tenant_scope import tenant_scope
from fe.store.postgres.trio_connection import TrioDriver

P = ParamSpec("P")
T = TypeVar("T")

#: A connection in autocommit mode: a statement outside `transaction()` is its own transaction.
Conn = psycopg.AsyncConnection[Any]

#: Which driver: Trio's own way to wait, or asyncio carried inside Trio.
DriverName = Literal["trio", "trio-asyncio"]

_log = logging.getLogger(__name__)

#: Classes of SQLSTATE that speak of the server's condition, not of the statement: connection, rollback (deadlock,
#: serialisation), resources, operator intervention, system.
_TRANSIENT = ("08", "40", "53", "57", "58")
#: And of other classes: a standby; a transaction that idled or lasted too long, and was ended.
_TRANSIENT_STATES = ("25006", "25P03", "25P04")
#: What a node of a cluster says that lost another in the middle; it has the SQLSTATE of any internal error.
_LOST_NODE = (
    "server closed the connection unexpectedly",
    "failure on connection marked as essential",
    "postmaster was shut down",
    "could not commit transaction for shard",
)
#: Others were in the way, and the statement has left nothing behind.
_CONTENDED = {"40001": Contended, "40P01": Contended, "55P03": LockNotHad}
_NO_NUMBER = {"FE001": "none", "FE002": "expired", "FE003": "used up"}
_DISABLED = "FE004"


class Driver(Protocol):
    """What lends connections."""

    async def borrow(self, work: Callable[[Conn], Awaitable[T]]) -> T:
        """Run `work` on a connection of the pool."""

    async def apart(self, work: Callable[[Conn], Awaitable[T]]) -> T:
        """Run `work` on a connection of its own, which is closed afterwards."""


class Database:
    """A pool of connections, used from Trio tasks."""

    def __init__(self, driver: Driver, role: str | None = None, engine: Engine = POSTGRES) -> None:
        self._driver = driver
        self._role = role or NO_ROLE
        self._engine = engine

    async def run(self, work: Callable[Concatenate[Conn, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` on a connection in autocommit: right for work that is one statement (one round trip).

        Raises DatabaseUnavailable when the server cannot be asked, NoNumber when a draw is refused, TenantDisabled. If
        the caller's scope is cancelled the running statement is cancelled too; whether it took effect is then unknown.
        """

        async def borrowed(conn: Conn) -> T:
            return await work(conn, *args, **kwargs)

        return await self._translated(self._driver.borrow, borrowed)

    async def run_for(
        self,
        tenant_id: TenantId,
        work: Callable[Concatenate[Conn, TenantId, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `work(conn, tenant_id, ...)` as `run` does, and let the database show it that tenant's rows alone.

        Each statement brings the tenant's name with it, in the same round trip. What the front asks about a tenant goes
        this way or finds nothing; to roles that serve all tenants the name means nothing.
        """

        async def borrowed(conn: Conn) -> T:
            with tenant_scope(conn, tenant_id, self._role, self._engine):
                return await work(conn, tenant_id, *args, **kwargs)

        return await self._translated(self._driver.borrow, borrowed)

    async def transact(
        self, work: Callable[Concatenate[Conn, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `work` in one explicit transaction. Errors and cancellation as for `run`; either rolls back."""

        async def borrowed(conn: Conn) -> T:
            async with conn.transaction():
                return await work(conn, *args, **kwargs)

        return await self._translated(self._driver.borrow, borrowed)

    async def transact_for(
        self,
        tenant_id: TenantId,
        work: Callable[Concatenate[Conn, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `work(conn, ...)` in one explicit transaction that sees and writes that tenant's rows alone.

        As `transact` and `run_for`: what a person changes for a tenant goes this way.
        """

        async def borrowed(conn: Conn) -> T:
            async with conn.transaction():
                with tenant_scope(conn, tenant_id, self._role, self._engine):
                    return await work(conn, *args, **kwargs)

        return await self._translated(self._driver.borrow, borrowed)

    async def listen(self, channel: str, heard: Callable[[str], None], *, retry: float = 2.0) -> None:
        """Call `heard` with each payload notified on `channel`, until cancelled; connect anew when the link breaks.

        Notifications sent while there is no link are lost, so they may only ever be hints.
        """

        async def listening(conn: Conn) -> None:
            await conn.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
            async with aclosing(conn.notifies()) as notifications:
                async for notification in notifications:
                    heard(notification.payload)

        while True:
            try:
                await self._translated(self._driver.apart, listening)
            except DatabaseUnavailable as lost:
                _log.warning("listening for %s stopped: %s", channel, lost)
            await trio.sleep(retry)

    async def _translated(
        self,
        lend: Callable[[Callable[[Conn], Awaitable[T]]], Awaitable[T]],
        work: Callable[[Conn], Awaitable[T]],
    ) -> T:
        try:
            return await lend(work)
        except psycopg.Error as error:
            raise _translate(error) from error
        except OSError as error:
            raise DatabaseUnavailable(f"{type(error).__name__}: {error.strerror or error}") from error


def _translate(error: psycopg.Error) -> Exception:
    """Say in our words what psycopg's error means; an error that is a bug of ours comes back unchanged."""
    state = error.sqlstate
    if state is None:
        is_link = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        # A DataError without SQLSTATE is psycopg refusing a value: a bug at our door, never the server's condition.
        return DatabaseUnavailable(f"{type(error).__name__}: {words(error)}") if is_link else error
    if state in _NO_NUMBER:
        prefix = (error.diag.message_primary or "").rsplit("for ", 1)[-1][:3]
        return NoNumber(prefix, _NO_NUMBER[state])
    if state == _DISABLED:
        return TenantDisabled("the tenant is disabled")
    if state in _CONTENDED:
        return _CONTENDED[state](f"{type(error).__name__} ({state}): {error.diag.message_primary}")
    lost_node = state == "XX000" and (error.diag.message_primary or "").startswith(_LOST_NODE)
    if lost_node or state.startswith(_TRANSIENT) or state in _TRANSIENT_STATES:
        return DatabaseUnavailable(f"{type(error).__name__} ({state}): {error.diag.message_primary}")
    return error


@asynccontextmanager
async def open_database(
    dsn: str,
    *,
    max_size: int = 8,
    patience: float = 5.0,
    driver: DriverName = "trio",
    role: str | None = None,
    engine: Engine = POSTGRES,
    observe_wait: Callable[[float], None] = lambda _: None,
) -> AsyncIterator[Database]:
    """Open a pool for as long as the block runs; at most `max_size` connections, opened when they are needed.

    Every connection takes `role` (one of fe.store.postgres.roles) and has its rights alone; without one it has the
    login's.
    `observe_wait` is told, in seconds, how long each unit of work waited for its connection; it must not raise.
    An unreachable server shows as DatabaseUnavailable at each use, after at most `patience` seconds, until it is back.
    """
    parameters = {"application_name": "fe", "connect_timeout": "5"}

    async def prepare(conn: Conn) -> None:
        await apply_settings(conn, settings_of(role, engine))
        note_engine(conn, engine)

    kind = TrioDriver if driver == "trio" else AsyncioDriver
    async with kind.opened(dsn, max_size, patience, parameters, prepare, observe_wait) as opened:
        yield Database(opened, role, engine)
