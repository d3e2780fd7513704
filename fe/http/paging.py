"""Lists: one page and how many there are in all, or what follows a cursor. One way for every list by id."""

from collections.abc import Sequence
from typing import Protocol, TypeVar
from uuid import UUID

from fe.http.limits.tenant_lists import TenantLists
from fe.http.parameters import ListQuery
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn

F = TypeVar("F")
F_contra = TypeVar("F_contra", contravariant=True)
R = TypeVar("R")


class Listed(Protocol[F_contra, R]):
    """Lists records of a tenant, newest first."""

    async def __call__(
        self,
        conn: Conn,
        tenant_id: TenantId,
        chosen: F_contra,
        *,
        limit: int,
        offset: int = 0,
        below: UUID | None = None,
    ) -> list[R]:
        """From below an id on, but for the first `offset`."""


class Counted(Protocol[F_contra]):
    """Counts them."""

    async def __call__(self, conn: Conn, tenant_id: TenantId, chosen: F_contra) -> int:
        """How many there are in all."""


async def read_page(
    lists: TenantLists, tenant_id: TenantId, query: ListQuery[F], listed: Listed[F, R], counted: Counted[F]
) -> tuple[Sequence[R], int | None]:
    """Read what a list was asked for, and how many there are in all; None in place of that where it has a cursor.

    In one turn of the tenant's. Raises ApiError (429) when that does not come in time.
    """

    async def read(conn: Conn, tenant_id: TenantId) -> tuple[Sequence[R], int | None]:
        limit = query.limit
        if query.cursor is not None:
            return await listed(conn, tenant_id, query.chosen, limit=limit, below=query.cursor), None
        total = await counted(conn, tenant_id, query.chosen)
        offset = (query.page - 1) * limit
        if offset >= total:
            return [], total
        return await listed(conn, tenant_id, query.chosen, limit=limit, offset=offset), total

    return await lists.read(tenant_id, read)
