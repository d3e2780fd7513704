"""The request log: requests of API keys that ended with 4xx or 5xx (sql/migrations/0106)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from fe.ecf.catalogue import Environment
from fe.ecf.ids import LAST_ID, id_after, moment_of, period_of_ids
from fe.identifiers import ApiKeyId, TenantId
from fe.store.postgres.arrays import int8s, texts, uuids
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class FailedRequest:
    """A request and its answer. `route` is the template of `path`; `body` its beginning, secrets left out."""

    entry_id: UUID
    tenant_id: TenantId
    environment: Environment
    api_key_id: ApiKeyId
    request_id: str
    method: str
    route: str
    path: str
    status: int
    duration_ms: int
    message: str | None
    message_es: str | None
    body: str | None

    @property
    def at(self) -> datetime:
        """When it was answered."""
        return moment_of(self.entry_id)


# Each row's tenant is named to row-level security by what becomes its tenant_id, as in accept_submissions.
_KEEP = """
    INSERT INTO request_log (
        tenant_id, environment, entry_id, api_key_id, request_id, method, route, path, status, duration_ms, message,
        message_es, body)
    SELECT name_tenant(x.tenant), x.environment::environment, x.entry, x.api_key, x.request, x.method, x.route, x.path,
           x.status, x.took, x.message, x.message_es, x.body
      FROM unnest(%(tenants)b::bigint[], %(environments)b::text[], %(entries)b::uuid[], %(api_keys)b::text[],
                  %(requests)b::text[], %(methods)b::text[], %(routes)b::text[], %(paths)b::text[],
                  %(statuses)b::bigint[], %(took)b::bigint[], %(messages)b::text[], %(messages_es)b::text[],
                  %(bodies)b::text[])
           AS x (tenant, environment, entry, api_key, request, method, route, path, status, took, message, message_es,
                 body)
    ON CONFLICT DO NOTHING
"""


async def keep(conn: Conn, entries: Sequence[FailedRequest]) -> None:
    """Add requests of any tenants, in one statement; those that are there already stay."""
    await conn.execute(
        _KEEP,
        {
            "tenants": int8s([one.tenant_id for one in entries]),
            "environments": texts([one.environment for one in entries]),
            "entries": uuids([one.entry_id for one in entries]),
            "api_keys": texts([one.api_key_id for one in entries]),
            "requests": texts([one.request_id for one in entries]),
            "methods": texts([one.method for one in entries]),
            "routes": texts([one.route for one in entries]),
            "paths": texts([one.path for one in entries]),
            "statuses": int8s([one.status for one in entries]),
            "took": int8s([one.duration_ms for one in entries]),
            "messages": texts([one.message for one in entries]),
            "messages_es": texts([one.message_es for one in entries]),
            "bodies": texts([one.body for one in entries]),
        },
    )


@dataclass(frozen=True, slots=True)
class RequestFilter:
    """Which requests of an environment: of a key, a status or a range of them, an id, a period (both ends included)."""

    environment: Environment
    api_key_id: str | None = None
    least_status: int = 400
    most_status: int = 599
    request_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None


_LIST = """
    SELECT r.entry_id, r.tenant_id, r.environment, r.api_key_id, r.request_id, r.method, r.route, r.path, r.status,
           r.duration_ms, r.message, r.message_es, r.body
      FROM request_log AS r
     WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s
       AND r.entry_id >= %(first)s AND r.entry_id < %(top)s
       AND r.status BETWEEN %(least)s AND %(most)s
       AND (%(key)s::text IS NULL OR r.api_key_id = %(key)s)"""
_OF_REQUEST = "\n       AND r.request_id = %(request)s"
_ORDER = "\n     ORDER BY r.entry_id DESC\n     LIMIT %(limit)s"


async def listed(
    conn: Conn, tenant_id: TenantId, chosen: RequestFilter, *, limit: int, below: UUID | None = None
) -> list[FailedRequest]:
    """List requests, newest first, from below an id on."""
    first, last = period_of_ids(chosen.since, chosen.until)
    values: dict[str, Any] = {
        "tenant": tenant_id,
        "environment": chosen.environment,
        "first": first,
        "top": min(id_after(last), below or LAST_ID),
        "least": chosen.least_status,
        "most": chosen.most_status,
        "key": chosen.api_key_id,
        "request": chosen.request_id,
        "limit": limit,
    }
    # Written only where one is asked for: then the index of request ids answers.
    statement = _LIST + (_ORDER if chosen.request_id is None else _OF_REQUEST + _ORDER)
    cursor = conn.cursor(row_factory=record_row(FailedRequest))
    return await (await cursor.execute(statement, values)).fetchall()


_FORGET = """
    DELETE FROM request_log AS r
     WHERE r.entry_id IN (SELECT o.entry_id
                            FROM request_log AS o
                           WHERE o.entry_id < uuid_floor(now() - interval '30 days')
                           ORDER BY o.entry_id
                           LIMIT %(most)s)
"""

#: Rows deleted per statement, so that none takes too long.
_PART = 5_000


async def forget(conn: Conn) -> bool:
    """Delete a part of the requests older than 30 days, the oldest; False when there were none."""
    return (await conn.execute(_FORGET, {"most": _PART})).rowcount > 0
