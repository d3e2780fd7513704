"""Postgres under Trio: lends connections to units of work and translates errors.

Which of two drivers lends the connections is a setting: psycopg pumped by Trio itself (trio_connection.py), or psycopg
on an asyncio loop that trio-asyncio carries (asyncio_connection.py). Each unit of work (`run`, `transact`) is handed
over once, whatever number of statements it makes.
"""

import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from functools import partial
from typing import Any, Concatenate, Literal, ParamSpec, Protocol, TypeVar
from weakref import WeakSet, ref

import psycopg
import trio
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from fe.identifiers import TenantId
from fe.store.postgres.asyncio_connection import AsyncioDriver
from fe.store.postgres.engine import LOST_CONNECTION, POSTGRES, Engine, Nodes, note_engine
from fe.store.postgres.errors import (
    Contended,
    DatabaseUnavailable,
    LockNotHad,
    NodeUnavailable,
    NoNumber,
    SchemaChanging,
    SecondPersonNeeded,
    TenantDisabled,
    words,
)
from fe.store.postgres.nodes import ASKING_SECONDS, AwayNodes
from fe.store.postgres.pooled import PooledSessions
from fe.store.postgres.session import NO_ROLE, apply_settings, settings_of
from fe.store.postgres.tenant_scope import tenant_scope
from fe.store.postgres.trio_connection import TrioDriver

P = ParamSpec("P")
T = TypeVar("T")
Item = TypeVar("Item")
R = TypeVar("R")

#: A connection in autocommit mode: a statement outside `transaction()` is its own transaction.
Conn = psycopg.AsyncConnection[Any]

#: Which driver: Trio's own way to wait, or asyncio carried inside Trio.
DriverName = Literal["trio", "trio-asyncio"]

_log = logging.getLogger(__name__)

#: Classes of SQLSTATE that speak of the server's condition, not of the statement: rollback (deadlock, serialisation),
#: resources, operator intervention, system.
_TRANSIENT = ("40", "53", "57", "58")
#: And of other classes: a standby; a transaction that idled or lasted too long, and was ended.
_TRANSIENT_STATES = ("25006", "25P03", "25P04")
#: Messages of a cluster node that lost another in the middle; they have the SQLSTATE of any internal error.
_LOST_NODE = (
    "server closed the connection unexpectedly",
    "failure on connection marked as essential",
    "postmaster was shut down",
    "could not commit transaction for shard",
    "could not receive data from server",
    "could not send data to server",
)
#: A statement took too long, perhaps because a node is silent.
_TIMED_OUT = "57014"
#: A machine that is gone sends nothing. By default the kernel retransmits for a quarter of an hour, and sends the first
#: keepalive after two hours. If another server has taken its place meanwhile, all work would stand still.
_NOTICING = {
    "tcp_user_timeout": "15000",
    "keepalives_idle": "10",
    "keepalives_interval": "5",
    "keepalives_count": "3",
}
#: How long a confirmation may wait for the synchronous standby before its answer is "unavailable".
CONFIRM_SECONDS = 10.0
#: A transaction that writes nothing waits for no standby. This message is written to the log, and its commit comes
#: behind every commit that is visible: once the standby has it, the standby has those.
_CONFIRM = "SELECT pg_logical_emit_message(true, 'fe', '')"
#: The function of the server that warns when a wait for the standby is cancelled. Its text depends on lc_messages.
_WAITS_FOR_STANDBY = "SyncRepWaitForLSN"
_NOT_CONFIRMED = "the synchronous standby has not confirmed the commit"
#: Errors of a statement that runs beside a migration, by SQLSTATE and the beginning of the message: a function is gone,
#: a plan's result has another form, an entry of the catalogue went away (with the SQLSTATE of any internal error).
_SCHEMA_CHANGES = {
    "42883": ("",),
    "0A000": ("cached plan must not change result type",),
    "XX000": ("cache lookup failed for ", "could not open relation with OID ", "tuple concurrently "),
}
_AWAY = "the node that it lies on does not answer"
#: Others were in the way, and the statement has left nothing behind.
_CONTENDED = {"40001": Contended, "40P01": Contended, "55P03": LockNotHad}
#: The words around the sequence in the messages of refuse_to_draw.sql.
_AROUND_SEQUENCE = re.compile(r"^.*? NCF sequence for | (?:has expired|is paused|is used up)$")
_NO_NUMBER = {"FE001": "none", "FE002": "expired", "FE003": "used up", "FE012": "paused"}
_DISABLED = "FE004"
_SECOND_PERSON = "FE013"


class Driver(Protocol):
    """Lends connections."""

    async def borrow(self, work: Callable[[Conn], Awaitable[T]]) -> T:
        """Run `work` on a connection of the pool."""

    async def apart(self, work: Callable[[Conn], Awaitable[T]]) -> T:
        """Run `work` on a connection of its own, which is closed afterwards."""


class Database:
    """A pool of connections, used from Trio tasks."""

    def __init__(
        self,
        driver: Driver,
        role: str | None = None,
        engine: Engine = POSTGRES,
        nodes: AwayNodes | None = None,
        sessions: PooledSessions | None = None,
    ) -> None:
        self._driver = driver
        self._sessions = sessions
        self._role = role or NO_ROLE
        self._engine = engine
        self._nodes = nodes

    async def run(self, work: Callable[Concatenate[Conn, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` on a connection in autocommit: right for work that is one statement (one round trip).

        Raises DatabaseUnavailable when the server cannot be asked, NoNumber when a draw is refused, TenantDisabled. If
        the caller's scope is cancelled the running statement is cancelled too; whether it took effect is then unknown.
        """

        async def borrowed(conn: Conn) -> T:
            if self._nodes is not None:
                await self._nodes.tell(conn)
            return await work(conn, *args, **kwargs)

        return await self._lent(borrowed)

    async def run_for(
        self,
        tenant_id: TenantId,
        work: Callable[Concatenate[Conn, TenantId, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `work(conn, tenant_id, ...)` as `run` does, with only that tenant's rows visible.

        Each statement names the tenant in the same round trip. The front must read tenants' rows this way; roles that
        serve all tenants ignore the name. Raises NodeUnavailable at once if the tenant's node is known to be down.
        """
        await self._require_node_of(tenant_id)

        async def borrowed(conn: Conn) -> T:
            with tenant_scope(conn, tenant_id, self._role, self._engine):
                return await work(conn, tenant_id, *args, **kwargs)

        return await self._lent(borrowed)

    async def confirm(self) -> None:
        """Wait until everything that was visible so far is on the synchronous standby, where there is one.

        Call it before an answer that reports stored state as done and that has written nothing itself: the state may
        be a commit whose wait for the standby was cancelled. Costs one commit. Raises DatabaseUnavailable, after at
        most CONFIRM_SECONDS. On a cluster it waits for the coordinator's standby. It speaks for the server that is
        there now: what an acknowledgement rests on is read by `confirmed_for`, as another may have taken over since.
        """
        with trio.move_on_after(CONFIRM_SECONDS):
            await self.run(_confirm)
            return
        raise DatabaseUnavailable(_NOT_CONFIRMED)

    async def confirmed_for(
        self,
        tenant_id: TenantId,
        work: Callable[Concatenate[Conn, TenantId, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `work(conn, tenant_id, ...)` in one transaction, which ends when the standby has what it read.

        As `run_for` otherwise. Raises DatabaseUnavailable, after at most CONFIRM_SECONDS.
        """

        async def named(conn: Conn) -> T:
            return await work(conn, tenant_id, *args, **kwargs)

        with trio.move_on_after(CONFIRM_SECONDS):
            return await self.transact_for(tenant_id, named)
        raise DatabaseUnavailable(_NOT_CONFIRMED)

    async def transact(
        self, work: Callable[Concatenate[Conn, P], Awaitable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run `work` in one explicit transaction. Errors and cancellation as for `run`; either rolls back.

        The result is confirmed (`confirm`), and so is a refusal that `work` raises: "that is done already" reports
        stored state too.
        """

        async def borrowed(conn: Conn) -> T:
            return await _whole(conn, partial(work, conn, *args, **kwargs))

        return await self._lent(borrowed)

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
        await self._require_node_of(tenant_id)

        async def borrowed(conn: Conn) -> T:
            async def scoped() -> T:
                with tenant_scope(conn, tenant_id, self._role, self._engine):
                    return await work(conn, *args, **kwargs)

            return await _whole(conn, scoped)

        return await self._lent(borrowed)

    async def run_together(
        self,
        items: Sequence[Item],
        tenant_of: Callable[[Item], TenantId],
        write: Callable[[Sequence[Item]], Awaitable[Sequence[R]]],
    ) -> Sequence[R | Exception]:
        """Have `write`, which runs on this database, deal with all items at once: on one Postgres that is all.

        Where a node of a cluster is away they are taken `by_node` instead. Raises what `write` does.
        """
        if not self.has_silent_nodes:
            try:
                return await write(items)
            except NodeUnavailable:
                if len(items) == 1 or self._nodes is None:
                    raise
                if not self.has_silent_nodes:  # unless the watch has found them already
                    await self._nodes.settled()
        return await self.run_by_node(items, tenant_of, write)

    async def run_by_node(
        self,
        items: Sequence[Item],
        tenant_of: Callable[[Item], TenantId],
        write: Callable[[Sequence[Item]], Awaitable[Sequence[R]]],
    ) -> Sequence[R | Exception]:
        """Let `write` handle the items of each node of a cluster separately; on one Postgres, all together.

        Items of a node known to be down get NodeUnavailable without a try. If `write` raises DatabaseUnavailable for a
        node, all of its items get that error. Any other error may belong to one item, or come from contention: then the
        items are tried in halves, and a single one once more after contention. Raises an error that `write` raised for
        all items of all nodes, except NodeUnavailable.
        """
        if self._nodes is None:
            return await write(items)
        places: dict[int | None, list[int]] = {}
        for place, group in enumerate(await self._groups_of([tenant_of(item) for item in items])):
            places.setdefault(group, []).append(place)
        answers: dict[int, R | Exception] = {}
        failures: list[Exception] = []

        async def write_group(places: Sequence[int], *, again: bool = False) -> None:
            found: Sequence[R | Exception]
            try:
                found = await write([items[place] for place in places])
            except Exception as error:  # the answer of these alone: those of other nodes are written all the same
                is_of_one = not isinstance(error, DatabaseUnavailable) or isinstance(error, Contended)
                if is_of_one and len(places) > 1:
                    middle = len(places) // 2
                    await write_group(places[:middle])
                    await write_group(places[middle:])
                    return
                if isinstance(error, Contended) and not isinstance(error, LockNotHad) and not again:
                    await write_group(places, again=True)
                    return
                failures.extend(error for _ in places)
                # Each its own: a traceback grows with everyone who raises it.
                found = [error] if len(places) == 1 else [type(error)(*error.args) for _ in places]
            answers.update(zip(places, found, strict=True))

        for group in self._nodes.groups.intersection(group for group in places if group is not None):
            answers.update((place, NodeUnavailable(_AWAY)) for place in places.pop(group))
        async with trio.open_nursery() as nursery:  # none waits for one that turns out to be away
            for group in places:
                nursery.start_soon(write_group, places[group])
        if len(failures) == len(items) and not any(isinstance(error, NodeUnavailable) for error in failures):
            raise failures[0]
        return [answers[place] for place in range(len(items))]

    @property
    def has_silent_nodes(self) -> bool:
        """Whether it is known that a node of the cluster does not answer."""
        return self._nodes is not None and bool(self._nodes.groups)

    @property
    def _asked(self) -> Nodes:
        assert self._engine.nodes is not None, "AwayNodes belong to an engine with nodes"
        return self._engine.nodes

    async def _groups_of(self, tenants: Sequence[TenantId]) -> Sequence[int | None]:
        return await self.run(self._asked.of_tenants, tenants)

    async def _require_node_of(self, tenant_id: TenantId) -> None:
        if self._nodes is not None and self._nodes.groups:
            (group,) = await self._groups_of([tenant_id])
            if group in self._nodes.groups:
                raise NodeUnavailable(_AWAY)

    async def ask_nodes(self) -> Collection[int]:
        """Name the nodes of a cluster that do not answer. Raises DatabaseUnavailable.

        By a connection beside those of the pool, which may all be waiting for such a node.
        """
        try:
            with trio.fail_after(ASKING_SECONDS) as patience:
                return await self._translated(self._driver.apart, lambda conn: self._asked.silent(conn, patience))
        except trio.TooSlowError:
            raise DatabaseUnavailable("the coordinator does not say which nodes answer") from None

    async def listen(self, channel: str, heard: Callable[[str], None], *, retry: float = 2.0) -> None:
        """Call `heard` with each payload notified on `channel`, until cancelled; reconnect when the connection breaks.

        Notifications sent without a connection are lost, so they may only be hints.
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

    async def _lent(self, work: Callable[[Conn], Awaitable[T]]) -> T:
        async def watched(conn: Conn) -> T:
            _unconfirmed.discard(conn)
            if self._sessions is None:
                result = await work(conn)
            else:
                await self._sessions.look(conn)
                try:
                    result = await work(conn)
                except psycopg.Error as error:
                    await self._sessions.judge(conn, error)
                    raise
            if conn in _unconfirmed:
                raise DatabaseUnavailable(_NOT_CONFIRMED)
            return result

        if self._nodes is None:
            return await self._translated(self._driver.borrow, watched)
        with self._nodes.call():
            return await self._translated(self._driver.borrow, watched)
        raise NodeUnavailable("a node of the cluster does not answer, and it may have waited for that")

    async def _translated(
        self,
        lend: Callable[[Callable[[Conn], Awaitable[T]]], Awaitable[T]],
        work: Callable[[Conn], Awaitable[T]],
    ) -> T:
        try:
            return await lend(work)
        except psycopg.Error as error:
            translated = _translate(error)
            if self._nodes is not None and (isinstance(translated, NodeUnavailable) or error.sqlstate == _TIMED_OUT):
                self._nodes.doubt()
            raise translated from error
        except OSError as error:
            raise DatabaseUnavailable(f"{type(error).__name__}: {error.strerror or error}") from error


#: Connections on which a wait for the standby was cancelled since they were lent: to the server that is a warning, and
#: the statement a success.
_unconfirmed: WeakSet[Conn] = WeakSet()


def _watch_commits(conn: Conn) -> None:
    """Note on a new connection when a commit was not confirmed by the synchronous standby."""
    known = ref(conn)

    def note(diagnostic: psycopg.errors.Diagnostic) -> None:
        connection = known()
        if diagnostic.source_function == _WAITS_FOR_STANDBY and connection is not None:
            _unconfirmed.add(connection)

    conn.add_notice_handler(note)


async def _confirm(conn: Conn) -> None:
    await conn.execute(_CONFIRM)


async def _whole(conn: Conn, work: Callable[[], Awaitable[T]]) -> T:
    """Run `work` in a transaction and confirm its result, whether it returns or raises a refusal."""
    try:
        async with conn.transaction():
            result = await work()
            await _confirm(conn)
            return result
    except (DatabaseUnavailable, psycopg.Error, OSError):
        raise
    except Exception:
        await _confirm(conn)
        raise


def _translate(error: psycopg.Error) -> Exception:
    """Say in our words what psycopg's error means; an error that is a bug of ours comes back unchanged."""
    state = error.sqlstate
    if state is None:
        is_link = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        # A DataError without SQLSTATE is psycopg refusing a value: a bug at our door, never the server's condition.
        return DatabaseUnavailable(f"{type(error).__name__}: {words(error)}") if is_link else error
    if state in _NO_NUMBER:
        return NoNumber(_AROUND_SEQUENCE.sub("", error.diag.message_primary or ""), _NO_NUMBER[state])
    if state == _DISABLED:
        return TenantDisabled("the tenant is disabled")
    if state == _SECOND_PERSON:
        return SecondPersonNeeded(error.diag.message_primary or "")
    if state in _CONTENDED:
        return _CONTENDED[state](f"{type(error).__name__} ({state}): {error.diag.message_primary}")
    lost_node = state == "XX000" and (error.diag.message_primary or "").startswith(_LOST_NODE)
    if lost_node or state.startswith(LOST_CONNECTION):
        return NodeUnavailable(f"{type(error).__name__} ({state}): {error.diag.message_primary}")
    if state in _SCHEMA_CHANGES and (error.diag.message_primary or "").startswith(_SCHEMA_CHANGES[state]):
        # Where no migration runs this is a bug of ours, or a database of another release: an operator has to see it.
        _log.error("a statement does not fit the schema: %s (%s)", type(error).__name__, state)
        return SchemaChanging(f"{type(error).__name__} ({state}): {error.diag.message_primary}")
    if state.startswith(_TRANSIENT) or state in _TRANSIENT_STATES:
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
    An unreachable server shows as DatabaseUnavailable at each use, after at most `patience` seconds, until it is back;
    one that became silent over TCP after 15 to 25, unless `dsn` says otherwise.
    """
    parameters = {"application_name": "fe", "connect_timeout": "5", **_unless_named(dsn, _NOTICING)}
    nodes = AwayNodes() if engine.nodes else None
    sessions = PooledSessions()

    async def prepare(conn: Conn) -> None:
        await apply_settings(conn, settings_of(role, engine))
        note_engine(conn, engine)
        _watch_commits(conn)
        await sessions.mark(conn)
        if nodes is not None:
            nodes.of(conn)

    kind = TrioDriver if driver == "trio" else AsyncioDriver
    async with kind.opened(dsn, max_size, patience, parameters, prepare, observe_wait) as opened:
        database = Database(opened, role, engine, nodes, sessions)
        if nodes is None:
            yield database
            return
        failure: BaseException | None = None
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(nodes.watch, database.ask_nodes)
                try:
                    yield database
                except (Exception, KeyboardInterrupt, SystemExit) as error:
                    failure = error
                nursery.cancel_scope.cancel()
        finally:
            if failure is not None:
                raise failure  # as it is, and not in a group of the nursery's


def _unless_named(dsn: str, parameters: Mapping[str, str]) -> dict[str, str]:
    named: Mapping[str, Any] = {}
    with suppress(psycopg.ProgrammingError):  # connecting rejects a malformed address
        named = conninfo_to_dict(dsn)
    return {name: value for name, value in parameters.items() if name not in named}
