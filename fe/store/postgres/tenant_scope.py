"""The tenant scope: each statement names its tenant to row-level security (0011_rights.sql), which hides all others.

The name is a setting of the transaction, never of the session: a connection goes back to the pool, and the next user
must see nothing. The role goes with it, so that the scope holds even where a pooler gives us a session in which another
role is set. A statement and the settings before it travel together, in one round trip: before the Sync that ends a
pipeline they are one transaction.

An engine of several nodes knows only of settings that SET LOCAL made in an open transaction; there BEGIN and COMMIT
travel along.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Self, TypeVar

import psycopg
from psycopg import sql
from psycopg.pq import TransactionStatus
from psycopg.rows import AsyncRowFactory, BaseRowFactory

from fe.identifiers import TenantId
from fe.store.postgres.engine import POSTGRES, Engine

Row = TypeVar("Row")

_NAME_TENANT = "SELECT set_config('role', %s, true), set_config('fe.tenant', %s, true)"


class _ScopedCursor(psycopg.AsyncCursor[Any]):
    """Names its tenant before each statement of `execute`. Other ways to run a statement name none and see no rows."""

    def __init__(
        self,
        connection: psycopg.AsyncConnection[Any],
        *,
        row_factory: AsyncRowFactory[Any] | None = None,
        role: str,
        tenant: str,
    ) -> None:
        super().__init__(connection, row_factory=row_factory or connection.row_factory)
        self._named = (role, tenant)

    async def execute(self, query: Any, params: Any = None, **how: Any) -> Self:
        """Run a statement within the tenant scope, in a transaction of its own unless one is open."""
        try:
            async with self.connection.pipeline():
                await psycopg.AsyncCursor(self.connection).execute(_NAME_TENANT, self._named)
                await super().execute(query, params, **how)
        except BaseException:
            self.connection._prepared.clear()  # as below, where a cancellation met what names the tenant
            raise
        return self

    async def _run(self, query: Any, params: Any, **how: Any) -> None:
        """Run a statement without a tenant."""
        await super().execute(query, params, **how)


class _TransactionScopedCursor(_ScopedCursor):
    """The same where only SET LOCAL in an open transaction is known to every node."""

    async def execute(self, query: Any, params: Any = None, **how: Any) -> Self:
        """Run a statement within the tenant scope. Cancelled, it leaves a connection that its pool closes."""
        conn = self.connection
        plain = psycopg.AsyncCursor(conn)
        alone = conn.pgconn.transaction_status == TransactionStatus.IDLE
        try:
            async with conn.pipeline():
                if alone:
                    await plain.execute("BEGIN")
                for name, value in zip(("role", "fe.tenant"), self._named, strict=True):
                    setting = sql.SQL("SET LOCAL {} = {}").format(sql.SQL(name), sql.Literal(value))
                    await plain.execute(setting, prepare=False)
                await self._run(query, params, **how)
                if alone:
                    await psycopg.AsyncCursor(conn).execute("COMMIT")
        except psycopg.Error:
            # Statements after the failure were skipped, but psycopg counts them as prepared, and would fail on them for
            # the life of the connection.
            conn._prepared.clear()
            if alone and not conn.closed:
                await psycopg.AsyncCursor(conn).execute("ROLLBACK", prepare=False)
            raise
        return self


@dataclass(frozen=True, slots=True)
class Asked(Generic[Row]):
    """A statement that was not sent yet, its values, and what its rows become."""

    statement: bytes
    values: Mapping[str, Any]
    rows: AsyncRowFactory[Row] | BaseRowFactory[Row]


async def fetch(conn: psycopg.AsyncConnection[Any], asked: Asked[Row]) -> list[Row]:
    """Run one statement and return its rows."""
    cursor = conn.cursor(row_factory=asked.rows)
    await cursor.execute(asked.statement, asked.values)
    return await cursor.fetchall()


async def fetch_together(conn: psycopg.AsyncConnection[Any], *asked: Asked[Any]) -> list[list[Any]]:
    """Run statements that do not hang on each other, in one round trip and one transaction; return the rows of each.

    Within a tenant scope the tenant is named once for all. Of several nodes each statement goes by itself.
    """
    scope: object = conn.cursor_factory
    if not (isinstance(scope, partial) and scope.func is _ScopedCursor):
        return [await fetch(conn, one) for one in asked]
    cursors = [psycopg.AsyncCursor(conn, row_factory=one.rows) for one in asked]
    try:
        async with conn.pipeline():
            await psycopg.AsyncCursor(conn).execute(_NAME_TENANT, (scope.keywords["role"], scope.keywords["tenant"]))
            for cursor, one in zip(cursors, asked, strict=True):
                await cursor.execute(one.statement, one.values)
    except BaseException:
        conn._prepared.clear()  # as in a scoped cursor
        raise
    return [await cursor.fetchall() for cursor in cursors]


@contextmanager
def tenant_scope(
    conn: psycopg.AsyncConnection[Any], tenant_id: TenantId, role: str, engine: Engine = POSTGRES
) -> Iterator[None]:
    """Let each statement of this connection's cursors see and write, in this role, the rows of one tenant only."""
    plain = conn.cursor_factory
    kind = _ScopedCursor if engine.hands_on_set_config else _TransactionScopedCursor
    conn.cursor_factory = partial(kind, role=role, tenant=str(tenant_id))  # type: ignore[assignment]  # it makes cursors
    try:
        yield
    finally:
        conn.cursor_factory = plain
