"""Database engines, and their effect on sessions, tenant scopes and migrations.

FE_DATABASE_ENGINE names the engine. Its distribution (fe/store/citus/) installs its own forms of database functions
under the names that our statements call. A statement that an engine refuses has a second form beside it, chosen by
`engine_of` its connection, inside the store only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, LiteralString
from weakref import WeakKeyDictionary

import psycopg

from fe.store.citus.tables import DISTRIBUTED
from fe.store.postgres.nodes import doubt_nodes

#: As FE_DATABASE_ENGINE names them.
EngineName = Literal["postgres", "citus"]


@dataclass(frozen=True, slots=True)
class Engine:
    """The properties of an engine that the code depends on."""

    name: EngineName
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


POSTGRES = Engine("postgres")

CITUS = Engine(
    "citus",
    session={
        # A plan that is made before its tenant is known cannot tell on which node it runs: such a statement fails.
        "plan_cache_mode": "force_custom_plan",
        # SET LOCAL goes with the statements of its transaction to the nodes that they touch.
        "citus.propagate_set_commands": "local",
    },
    migrating={
        # One file may change a table and make a function in one transaction, and each uses its own connections.
        "citus.multi_shard_modify_mode": "sequential",
        # The triggers that distributed tables have look at their own row and the transaction's settings alone.
        "citus.enable_unsafe_triggers": "on",
    },
    hands_on_set_config=False,
    looking_around="SELECT set_config('fe.looks_around_until', (clock_timestamp() + interval '1 minute')::text, false)",
    commits_there=True,
    distributed=frozenset(DISTRIBUTED),
)

#: SQLSTATE of a function that cannot run alone after all; nothing was done.
_NOT_ALONE = "FE011"

#: SQLSTATEs of a server that did not reach another (class 08).
LOST_CONNECTION = "08"

_ENGINES: Mapping[EngineName, Engine] = {engine.name: engine for engine in (POSTGRES, CITUS)}

#: Of connections that are not with plain Postgres.
_OTHERS: WeakKeyDictionary[psycopg.AsyncConnection[Any], Engine] = WeakKeyDictionary()


def note_engine(conn: psycopg.AsyncConnection[Any], engine: Engine) -> None:
    """Remember with which engine a connection was opened."""
    if engine is not POSTGRES:
        _OTHERS[conn] = engine


def engine_of(conn: psycopg.AsyncConnection[Any]) -> Engine:
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


def engine_named(name: EngineName) -> Engine:
    """Give the engine that goes by this name."""
    return _ENGINES[name]


async def looks_around(conn: psycopg.AsyncConnection[Any], error: psycopg.Error) -> bool:
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
