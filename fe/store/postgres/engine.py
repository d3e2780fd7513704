"""The interface of a database engine: what it changes in sessions, tenant scopes, migrations and questions to nodes.

FE_DATABASE_ENGINE names the engine (fe/store/engines.py). An engine with nodes installs its own forms of database
functions under the names that our statements call. A statement that it refuses has a second form beside it, chosen by
`engine_of` its connection, inside the store only.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, LiteralString
from weakref import WeakKeyDictionary

import psycopg
import trio

from fe.identifiers import TenantId
from fe.store.postgres.nodes import Node, doubt_nodes

Conn = psycopg.AsyncConnection[Any]


@dataclass(frozen=True, slots=True)
class Nodes:
    """How an engine asks about its nodes, which are named by their groups."""

    #: Distributes a database; `fe migrate` calls it after migrations and functions.
    distribute: Callable[[psycopg.Connection], object]
    #: Names the nodes that do not answer, by a session of its own. The scope ends somewhat later than the next answer
    #: should be there.
    silent: Callable[[Conn, trio.CancelScope], Awaitable[Collection[int]]]
    #: Names the node of each tenant's rows.
    of_tenants: Callable[[Conn, Sequence[TenantId]], Awaitable[Sequence[int | None]]]
    #: Lists the nodes with what they hold.
    contents: Callable[[Conn], Awaitable[list[Node]]]


@dataclass(frozen=True, slots=True)
class Engine:
    """The properties of an engine that the code depends on."""

    #: As FE_DATABASE_ENGINE names it.
    name: str
    #: Settings of every session, over those that sessions have anyway (session.py).
    session: Mapping[str, str] = field(default_factory=dict)
    #: Settings of the session that migrates, and that alone.
    migrating: Mapping[str, str] = field(default_factory=dict)
    #: Whether a setting made by a function is known where the rows are. Where not, it is said by SET LOCAL in an open
    #: transaction, which the engine hands on with each statement (tenant_scope.py).
    hands_on_set_config: bool = True
    #: Statement after which the claims of a session skip nodes that do not answer, for a while; it makes claims slower.
    looking_around: LiteralString | None = None
    #: Whether some functions have a form `_alone`: if that is all there is to do, it is committed where its rows are.
    commits_there: bool = False
    #: Tables whose rows are on several nodes by their tenants: of these no statement can claim rows of many tenants.
    distributed: frozenset[str] = frozenset()
    #: None where one server has all rows.
    nodes: Nodes | None = None


POSTGRES = Engine("postgres")

#: SQLSTATE of a function that cannot run alone after all; nothing was done.
_NOT_ALONE = "FE011"

#: SQLSTATEs of a server that did not reach another (class 08).
LOST_CONNECTION = "08"

#: Of connections that are not with plain Postgres.
_OTHERS: WeakKeyDictionary[Conn, Engine] = WeakKeyDictionary()


def note_engine(conn: Conn, engine: Engine) -> None:
    """Remember with which engine a connection was opened."""
    if engine is not POSTGRES:
        _OTHERS[conn] = engine


def engine_of(conn: Conn) -> Engine:
    """Tell with which engine a connection was opened."""
    return _OTHERS.get(conn, POSTGRES)


@dataclass(frozen=True, slots=True)
class Calling:
    """A statement that calls a function, and the same calling its form that stands alone."""

    statement: LiteralString
    alone: LiteralString

    @classmethod
    def of(cls, function: LiteralString, statement: LiteralString) -> "Calling":
        """Raises ValueError unless the statement calls it, once."""
        before, call, after = statement.partition(f"{function}(")
        if not call or f"{function}(" in after:
            raise ValueError(f"this does not call {function} once: {statement}")
        return cls(statement, f"{before}{function}_alone({after}")

    async def run(self, cursor: psycopg.AsyncCursor[Any], params: Any, **how: Any) -> None:
        """Execute it: alone, unless a transaction is open, or it turns out that more is to be done than on one node."""
        conn = cursor.connection
        idle = psycopg.pq.TransactionStatus.IDLE
        if engine_of(conn).commits_there and conn.pgconn.transaction_status == idle:
            try:
                await cursor.execute(self.alone, params, **how)
            except psycopg.Error as error:
                if error.sqlstate != _NOT_ALONE:
                    raise
            else:
                return
        await cursor.execute(self.statement, params, **how)


async def looks_around(conn: Conn, error: psycopg.Error) -> bool:
    """Tell whether a claim that failed may be tried again at once, since from now on it passes over the node that it
    failed for."""
    statement = engine_of(conn).looking_around
    if statement is None or not (error.sqlstate or "").startswith(LOST_CONNECTION):
        return False
    doubt_nodes(conn)
    if conn.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:  # closed, or in a transaction that is lost
        return False
    await conn.execute(statement)
    return True
