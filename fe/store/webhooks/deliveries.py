"""Deliveries as their tenant sees them: which there are, what became of each try, and having one made again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, LiteralString
from uuid import UUID

from psycopg.rows import class_row

from fe.ecf.catalogue import Environment
from fe.ecf.ids import LAST_ID, id_after, period_of_ids
from fe.identifiers import TenantId
from fe.lifecycle import WebhookEvent
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row


class DeliveryState(StrEnum):
    """Where a delivery is."""

    #: Waits for its next try, or is under way.
    PENDING = "webhook"
    #: Kept while its endpoint is not called.
    HELD = "held"
    DELIVERED = "delivered"
    #: Its last try failed; it can be made again.
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class DeliveryRecord:
    """An event on its way to an endpoint. `delivery_id` is that of the header X-Service-Delivery."""

    delivery_id: UUID
    endpoint_id: UUID
    #: The endpoint's name; None once the endpoint is forgotten.
    endpoint_name: str | None
    event_id: UUID
    kind: WebhookEvent
    #: The id of the received document or the submission, or what else it tells of.
    about: str
    environment: Environment | None
    state: DeliveryState
    #: Tries since it was last begun.
    attempts: int
    created_at: datetime
    #: When it is tried next; None where it is not.
    next_at: datetime | None
    finished_at: datetime | None
    last_error: str | None
    #: Confirmed by a redirect, which was not followed.
    redirected: bool


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """A try that came to an end. `error` is a word of a short list (fe/webhooks/exchange.py); None: it confirmed."""

    attempt: int
    at: datetime
    duration_ms: int
    status: int | None
    error: str | None
    redirected: bool
    #: The first bytes of the answer.
    answer: bytes | None


@dataclass(frozen=True, slots=True)
class DeliveryFilter:
    """Which deliveries: of a state, of an endpoint, of a kind, about something, made in a period (both ends included).

    `environment`: of what happened there, and of what belongs to none.
    """

    environment: Environment | None = None
    state: DeliveryState | None = None
    endpoint_id: UUID | None = None
    #: By name, those of deleted ones included.
    endpoint: str | None = None
    kind: WebhookEvent | None = None
    about: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def values(self, tenant_id: TenantId) -> dict[str, Any]:
        """Return the parameters of the condition."""
        first, last = period_of_ids(self.since, self.until)
        return {
            "tenant": tenant_id,
            "environment": self.environment,
            "state": self.state,
            "endpoint": self.endpoint_id,
            "named": self.endpoint,
            "kind": self.kind,
            "about": self.about,
            "first": first,
            "last": last,
        }


_COLUMNS = """d.subject AS delivery_id, d.endpoint_id,
           (SELECT e.name
              FROM webhook_endpoints AS e
             WHERE e.tenant_id = %(tenant)s AND e.endpoint_id = d.endpoint_id) AS endpoint_name,
           d.event_id, v.kind, v.about, v.environment, d.stage AS state,
           d.attempt AS attempts, d.created_at, CASE WHEN d.stage = 'webhook' THEN d.run_at END AS next_at,
           d.finished_at, d.last_error, d.redirected
      FROM webhook_deliveries AS d"""
_MATCHING = """(%(environment)s::text IS NULL OR v.environment IS NULL OR v.environment = %(environment)s)
       AND (%(state)s::text IS NULL OR d.stage = %(state)s)
       AND (%(endpoint)s::uuid IS NULL OR d.endpoint_id = %(endpoint)s)
       AND (%(named)s::text IS NULL
            OR d.endpoint_id IN (SELECT n.endpoint_id
                                   FROM webhook_endpoints AS n
                                  WHERE n.tenant_id = %(tenant)s AND n.name = %(named)s))
       AND (%(kind)s::text IS NULL OR v.kind = %(kind)s)
       AND (%(about)s::text IS NULL OR v.about = %(about)s)"""

# Deliveries come in the order of their key, and each has its event looked up: LIMIT 1 keeps the planner from joining
# all events of a tenant when it is to give one page. For the same reason there is a lower bound only where one was
# asked for: of a range whose ends it does not know, the planner expects a handful of rows, and sorts thousands.
_EVENTS_OF_DELIVERIES = """
     CROSS JOIN LATERAL (SELECT e.*
                           FROM webhook_events AS e
                          WHERE e.tenant_id = d.tenant_id AND e.event_id = d.event_id
                          LIMIT 1) AS v"""
# Where few events can be meant it is the other way round: these are found by their own indexes, and their deliveries.
_DELIVERIES_OF_EVENTS = "\n      JOIN webhook_events AS v ON v.tenant_id = d.tenant_id AND v.event_id = d.event_id"
_WHERE = f"""
     WHERE d.tenant_id = %(tenant)s AND v.tenant_id = %(tenant)s AND d.subject < %(top)s AND {_MATCHING}"""
_SINCE = " AND d.subject >= %(first)s"
#: Written out, so that the planner recognises the index of these states.
_IN_STATE: Mapping[DeliveryState | None, LiteralString] = {
    None: "",
    DeliveryState.PENDING: " AND d.stage = 'webhook'",
    DeliveryState.HELD: " AND d.stage = 'held'",
    DeliveryState.DELIVERED: " AND d.stage = 'delivered'",
    DeliveryState.FAILED: " AND d.stage = 'failed'",
}
_ABOUT = " AND v.about = %(about)s"
_OF_RARE_KIND = " AND v.kind = %(kind)s AND v.kind <> 'submission.accepted'"
_END_OF_PAGE = """
     ORDER BY d.subject DESC
     LIMIT %(limit)s OFFSET %(offset)s
"""
#: Of a kind with fewer events than this all are gathered; of the others the next page is never far.
_RARE = 2000
_HOW_RARE = f"""
    SELECT count(*)
      FROM (SELECT true FROM webhook_events AS v WHERE v.tenant_id = %(tenant)s{_OF_RARE_KIND} LIMIT {_RARE}) AS few
"""


async def listed(
    conn: Conn,
    tenant_id: TenantId,
    chosen: DeliveryFilter,
    *,
    limit: int,
    below: UUID | None = None,
    offset: int = 0,
) -> list[DeliveryRecord]:
    """List deliveries, newest first, from below an id on, but for the first `offset`."""
    cursor = conn.cursor(row_factory=record_row(DeliveryRecord))
    values = chosen.values(tenant_id)
    top = min(below or LAST_ID, id_after(values["last"]))
    found_by, more = _EVENTS_OF_DELIVERIES, _IN_STATE[chosen.state]
    if chosen.about is not None:
        found_by, more = _DELIVERIES_OF_EVENTS, more + _ABOUT
    elif await _is_rare(conn, chosen.kind, values):
        found_by, more = _DELIVERIES_OF_EVENTS, more + _OF_RARE_KIND
    if chosen.since is not None:
        more += _SINCE
    statement: LiteralString = "SELECT " + _COLUMNS + found_by + _WHERE + more + _END_OF_PAGE
    await cursor.execute(statement, {**values, "top": top, "limit": limit, "offset": offset})
    return await cursor.fetchall()


async def _is_rare(conn: Conn, kind: WebhookEvent | None, values: dict[str, Any]) -> bool:
    if kind in (None, WebhookEvent.ACCEPTED):
        return False
    cursor = await conn.execute(_HOW_RARE, values)
    return (await cursor.fetchone() or (_RARE,))[0] < _RARE


_COUNT = f"""
    SELECT count(*)
      FROM webhook_deliveries AS d
      JOIN webhook_events AS v ON v.tenant_id = d.tenant_id AND v.event_id = d.event_id
     WHERE d.tenant_id = %(tenant)s AND v.tenant_id = %(tenant)s AND d.subject BETWEEN %(first)s AND %(last)s
       AND {_MATCHING}
"""


async def count(conn: Conn, tenant_id: TenantId, chosen: DeliveryFilter) -> int:
    """Count deliveries."""
    cursor = await conn.execute(_COUNT, chosen.values(tenant_id))
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


_ONE = f"""
    SELECT {_COLUMNS}
      JOIN webhook_events AS v ON v.tenant_id = d.tenant_id AND v.event_id = d.event_id
     WHERE d.tenant_id = %(tenant)s AND v.tenant_id = %(tenant)s AND d.subject = %(delivery)s
"""


async def one(conn: Conn, tenant_id: TenantId, delivery_id: UUID) -> DeliveryRecord | None:
    """Find one delivery."""
    cursor = conn.cursor(row_factory=record_row(DeliveryRecord))
    await cursor.execute(_ONE, {"tenant": tenant_id, "delivery": delivery_id})
    return await cursor.fetchone()


_ATTEMPTS = """
    SELECT attempt, at, duration_ms, status, error, redirected, answer
      FROM webhook_attempts
     WHERE tenant_id = %(tenant)s AND delivery_id = %(delivery)s
     ORDER BY epoch
"""


async def attempts(conn: Conn, tenant_id: TenantId, delivery_id: UUID) -> Sequence[AttemptRecord]:
    """List the tries of a delivery, first first. One whose process died before it could be written is not there."""
    cursor = conn.cursor(row_factory=class_row(AttemptRecord))
    await cursor.execute(_ATTEMPTS, {"tenant": tenant_id, "delivery": delivery_id})
    return await cursor.fetchall()


_OLDEST_HELD = """
    SELECT min(created_at)
      FROM webhook_deliveries
     WHERE tenant_id = %(tenant)s AND endpoint_id = %(endpoint)s AND stage = 'held' AND host = %(endpoint)s::uuid::text
"""


async def oldest_held(conn: Conn, tenant_id: TenantId, endpoint_id: UUID) -> datetime | None:
    """Tell when the oldest delivery that is kept for an endpoint was made; None where none is kept."""
    cursor = await conn.execute(_OLDEST_HELD, {"tenant": tenant_id, "endpoint": endpoint_id})
    row = await cursor.fetchone()
    assert row is not None
    made: datetime | None = row[0]
    return made


_RETRY = "SELECT retry_webhook(%(tenant)s, %(delivery)s)"


async def retry(conn: Conn, tenant_id: TenantId, delivery_id: UUID) -> bool:
    """Have it made again now, whatever became of it, with all tries before it; under the same id.

    False when it is under way at this moment, or is not there.
    """
    cursor = await conn.execute(_RETRY, {"tenant": tenant_id, "delivery": delivery_id})
    return await cursor.fetchone() == (True,)


_BODY = """
    SELECT substring(v.body FOR %(maximum)s), octet_length(v.body)
      FROM webhook_events AS v
     WHERE v.tenant_id = %(tenant)s AND v.event_id = %(event)s
"""


async def body(conn: Conn, tenant_id: TenantId, event_id: UUID, *, maximum: int) -> tuple[bytes, int]:
    """Give the first bytes of what is sent of an event, every time the same, and how many there are."""
    cursor = await conn.execute(_BODY, {"tenant": tenant_id, "event": event_id, "maximum": maximum})
    row = await cursor.fetchone()
    return (b"", 0) if row is None else (bytes(row[0]), int(row[1]))
