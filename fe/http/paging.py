"""Lists: one page and the total, or the rows after a cursor; and the limit of lists that a tenant reads at once."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar
from uuid import UUID

from fe.clock import iso
from fe.ecf.ids import moment_of
from fe.ecf.problems import Problem, Severity
from fe.ecf.texts import Language
from fe.http.calls import ApiReply
from fe.http.languages import serialize_problems
from fe.http.messages import say
from fe.http.models.response_types import ResponseModel
from fe.http.parameters import ListQuery
from fe.identifiers import TenantId
from fe.limits import ConcurrencyLimit
from fe.monitoring.metrics import Metrics
from fe.store.postgres.db import Conn, Database
from fe.store.records.history import LOOK

#: Lists of one tenant that are read at once, each on a connection, and how long the others wait, in seconds. Counting
#: a million receipts takes a second, and a process has eight connections: without a limit, one tenant takes them all.
LISTS_AT_ONCE = 2
LIST_PATIENCE = 5.0

P = ParamSpec("P")
T = TypeVar("T")
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


def list_limit(metrics: Metrics) -> ConcurrencyLimit[TenantId]:
    """The limit of lists, one per pool of connections."""
    return ConcurrencyLimit("tenant_lists", metrics, each=LISTS_AT_ONCE, patience=LIST_PATIENCE)


async def read_in_turn(
    db: Database,
    lists: ConcurrencyLimit[TenantId],
    tenant_id: TenantId,
    work: Callable[Concatenate[Conn, TenantId, P], Awaitable[T]],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Run `work(conn, tenant_id, ...)` as `Database.run_for` does, in the tenant's turn. Raises TurnTimeout."""
    async with lists.turn(tenant_id):
        return await db.run_for(tenant_id, work, *args, **kwargs)


async def read_page(
    db: Database,
    lists: ConcurrencyLimit[TenantId],
    tenant_id: TenantId,
    query: ListQuery[F],
    listed: Listed[F, R],
    counted: Counted[F],
) -> tuple[Sequence[R], int | None]:
    """Read one page of a list and the total; None instead of the total where the query has a cursor.

    All of it is one turn of the tenant. Raises TurnTimeout.
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

    return await read_in_turn(db, lists, tenant_id, read)


def list_reply(
    query: ListQuery[F],
    found: Sequence[R],
    total: int | None,
    serialize: Callable[[R], Any],
    id_of: Callable[[R], UUID],
    page: ResponseModel[Any],
    stretch: ResponseModel[Any],
    looked_until: UUID | None = None,
    language: Language = "en",
) -> ApiReply:
    """Answer with what `read_page` found: as a page where there is a total, else as what follows a cursor.

    `looked_until`: the last row that was looked at, where there are more. The answer says so, and leads on from there.
    """
    last = id_of(found[-1]) if len(found) == query.limit else looked_until
    shown: dict[str, Any] = {
        "limit": query.limit,
        "items": [serialize(one) for one in found],
        "nextCursor": None if last is None else str(last),
    }
    if looked_until is not None:
        shown["warnings"] = serialize_problems([_not_all(looked_until)], language)
    if total is None:
        return ApiReply(200, stretch.write(shown))
    return ApiReply(200, page.write({"page": query.page, "limit": query.limit, "total": total, **shown}))


def _not_all(looked_until: UUID) -> Problem:
    """Say that a part of the period was looked through, and how to go on."""
    until = iso(moment_of(looked_until))
    message, fix = say("not-all-looked-through", many=LOOK, until=until), say("not-all-looked-through-fix")
    return Problem(
        code="not-all-looked-through",
        path="cursor",
        message=message.en,
        message_es=message.es,
        found=until,
        fix=fix.en,
        fix_es=fix.es,
        severity=Severity.CONDITIONAL,
    )
