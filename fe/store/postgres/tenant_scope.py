"""The tenant scope: each statement names its tenant to row-level security (sql/0008_roles.sql), which hides all others.

The name is a setting of the transaction, never of the session: a connection goes back to the pool, and the next user
must see nothing. The role goes with it, so that the scope holds even where a pooler gives us a session in which another
role is set. A statement and the settings before it travel together, in one round trip: before the Sync that ends a
pipeline they are one transaction.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Self

import psycopg
from psycopg.rows import AsyncRowFactory

from fe.identifiers import TenantId

_NAME_TENANT = "SELECT set_config('role', %s, true), set_config('fe.tenant', %s, true)"


class _ScopedCursor(psycopg.AsyncCursor[Any]):
    """Names its tenant in front of what `execute` runs. Its other ways to run a statement name nobody: no rows."""

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
        async with self.connection.pipeline():
            await psycopg.AsyncCursor(self.connection).execute(_NAME_TENANT, self._named)
            await super().execute(query, params, **how)
        return self


@contextmanager
def tenant_scope(conn: psycopg.AsyncConnection[Any], tenant_id: TenantId, role: str) -> Iterator[None]:
    """Let each statement of this connection's cursors see and write, in this role, the rows of one tenant only."""
    plain = conn.cursor_factory
    conn.cursor_factory = partial(_ScopedCursor, role=role, tenant=str(tenant_id))  # type: ignore[assignment]  # it makes cursors
    try:
        yield
    finally:
        conn.cursor_factory = plain
