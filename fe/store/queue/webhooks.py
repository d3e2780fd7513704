"""Deliveries and recoveries of webhooks as work: claims, what a try needs, the fenced ways to book what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, LiteralString
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from fe.identifiers import TenantId
from fe.store.postgres.arrays import blobs, booleans, int4s, int8s, intervals, moments, texts, uuids
from fe.store.postgres.db import Conn
from fe.store.queue.host_lanes import AllHosts, HostLanes
from fe.store.queue.tables import QueueRow, QueueTable

#: The stages; no other table has one of these names.
DELIVER: Final = "webhook"
RECOVER: Final = "webhook_recovery"

#: Most concurrent calls to an endpoint, over all processes.
_MAX_IN_LANE: Final = 4

#: An endpoint whose last try failed.
_FAILING: LiteralString = (
    "EXISTS (SELECT 1 FROM webhook_endpoints AS e WHERE e.tenant_id = d.tenant_id"
    " AND e.endpoint_id = d.host::uuid AND e.failing_since IS NOT NULL)"
)


@dataclass(frozen=True, slots=True)
class WebhookWork(QueueRow[AllHosts, UUID]):
    """A claimed row of either table. Of a delivery the subject is its id, and the host its endpoint's."""

    environment: str = ""
    host: str = ""


def deliveries_table(slots: int) -> HostLanes[WebhookWork]:
    """Return the queue of deliveries for a process with `slots` calls: half are reserved for hosts that answer."""
    return HostLanes(
        "webhook_deliveries", WebhookWork, maximum=_MAX_IN_LANE, suspects=max(slots // 2, 1), suspect=_FAILING
    )


#: The queue of deliveries for callers that claim nothing.
DELIVERIES: HostLanes[WebhookWork] = deliveries_table(2)

RECOVERIES: QueueTable[AllHosts, WebhookWork] = QueueTable("webhook_recoveries", WebhookWork)


@dataclass(frozen=True, slots=True)
class DeliveryInput:
    """The input of a delivery. Secrets and headers are encrypted; the first secret is the one in use."""

    kind: str
    body: bytes
    endpoint_id: UUID
    url: str
    #: Whether its endpoint is to be called.
    is_called: bool
    headers: bytes | None
    secret_ids: Sequence[UUID]
    secrets: Sequence[bytes]
    #: The context of the trace it belongs to, if that is traced.
    trace: str | None = None


# A test is made for an endpoint that is off, too: before it is switched on. But nothing for a tenant that is disabled.
_INPUT = """
    SELECT v.kind, v.body, e.endpoint_id, e.url,
           e.removed_at IS NULL AND e.disabled_reason IS DISTINCT FROM 'tenant'
           AND (v.kind = 'test' OR (e.enabled AND e.disabled_at IS NULL)) AS is_called, e.headers,
           d.trace,
           ARRAY(SELECT s.secret_id
                   FROM webhook_secrets AS s
                  WHERE s.tenant_id = %(tenant)s AND s.endpoint_id = d.endpoint_id
                    AND (s.expires_at IS NULL OR s.expires_at > %(at)s)
                  ORDER BY s.expires_at DESC NULLS FIRST, s.secret_id) AS secret_ids,
           ARRAY(SELECT s.secret
                   FROM webhook_secrets AS s
                  WHERE s.tenant_id = %(tenant)s AND s.endpoint_id = d.endpoint_id
                    AND (s.expires_at IS NULL OR s.expires_at > %(at)s)
                  ORDER BY s.expires_at DESC NULLS FIRST, s.secret_id) AS secrets
      FROM webhook_deliveries AS d
      JOIN webhook_events AS v ON v.tenant_id = d.tenant_id AND v.event_id = d.event_id
      JOIN webhook_endpoints AS e ON e.tenant_id = d.tenant_id AND e.endpoint_id = d.endpoint_id
     WHERE d.tenant_id = %(tenant)s AND v.tenant_id = %(tenant)s AND e.tenant_id = %(tenant)s
       AND d.subject = %(delivery)s
"""


async def input_of(conn: Conn, tenant_id: TenantId, delivery_id: UUID, at: datetime) -> DeliveryInput | None:
    """Fetch what a try needs; None when the delivery is not there any more."""
    cursor = conn.cursor(row_factory=class_row(DeliveryInput), binary=True)
    await cursor.execute(_INPUT, {"tenant": tenant_id, "delivery": delivery_id, "at": at})
    return await cursor.fetchone()


@dataclass(frozen=True, slots=True)
class Booked:
    """The result of one try of a delivery, for the store."""

    #: Where it goes: a state of fe.store.webhooks.deliveries.DeliveryState.
    state: str
    after: timedelta
    counts: bool
    error: str | None
    #: The try, where one was made.
    begun: datetime | None = None
    duration: timedelta = timedelta(0)
    status: int | None = None
    error_kind: str | None = None
    redirected: bool = False
    answer: bytes | None = None
    gone: bool = False


_BOOK = """
    SELECT book_webhooks_batch(%(tenants)s::bigint[], %(subjects)s::uuid[], %(epochs)s::bigint[], %(at)s,
                               %(states)s::text[], %(afters)s::interval[], %(counts)s::boolean[],
                               %(begun)s::timestamptz[], %(durations)s::int[], %(statuses)s::int[],
                               %(errors)s::text[], %(redirected)s::boolean[], %(answers)s::bytea[],
                               %(gone)s::boolean[], %(patience)s)
"""


async def book(
    conn: Conn, works: Sequence[WebhookWork], booked: Sequence[Booked], *, at: datetime, patience: timedelta
) -> list[bool]:
    """Write what came of some claims, sorted by tenant and subject; tells of each whether it was still ours."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(
        _BOOK,
        {
            "tenants": int8s([work.tenant_id for work in works]),
            "subjects": uuids([work.subject for work in works]),
            "epochs": int8s([work.epoch for work in works]),
            "at": at,
            "states": texts([each.state for each in booked]),
            "afters": intervals([each.after for each in booked]),
            "counts": booleans([each.counts for each in booked]),
            "begun": moments([each.begun for each in booked]),
            "durations": int4s([int(each.duration / timedelta(milliseconds=1)) for each in booked]),
            "statuses": int4s([each.status for each in booked]),
            "errors": texts([each.error_kind or each.error for each in booked]),
            "redirected": booleans([each.redirected for each in booked]),
            "answers": blobs([each.answer for each in booked]),
            "gone": booleans([each.gone for each in booked]),
            "patience": patience,
        },
        binary=True,
    )
    (mine,) = await cursor.fetchall()
    return [subject is not None for subject in mine]


# --- recoveries -------------------------------------------------------------------------------------------------------

_RECOVER = """
    SELECT found, is_done
      FROM recover_webhooks(%(tenant)s, %(recovery)s, %(epoch)s, %(at)s, %(limit)s)
"""


async def recover(conn: Conn, work: WebhookWork, at: datetime, limit: int) -> tuple[int, bool] | None:
    """Put a stretch of a recovery on its way; how many deliveries, and whether that was all. None: not ours."""
    cursor = await conn.execute(
        _RECOVER,
        {"tenant": work.tenant_id, "recovery": work.subject, "epoch": work.epoch, "at": at, "limit": limit},
    )
    row: Any = await cursor.fetchone()
    return None if row is None else (row[0], row[1])


_AGAIN = """
    UPDATE webhook_recoveries
       SET holder = NULL, deaths = 0, run_at = now() + %(after)s, last_error = %(error)s,
           attempt = CASE WHEN %(counts)s THEN attempt ELSE greatest(attempt - 1, 0) END, stage = %(stage)s
     WHERE tenant_id = %(tenant)s AND subject = %(recovery)s AND epoch = %(epoch)s AND holder IS NOT NULL
"""


async def recovery_later(
    conn: Conn, work: WebhookWork, *, after: timedelta, error: str, counts: bool, gives_up: bool
) -> bool:
    """It did not work out: later, or not at all; False when it is not ours any more."""
    cursor = await conn.execute(
        _AGAIN,
        {
            "tenant": work.tenant_id,
            "recovery": work.subject,
            "epoch": work.epoch,
            "after": after,
            "error": error,
            "counts": counts,
            "stage": "failed" if gives_up else RECOVER,
        },
    )
    return cursor.rowcount == 1


# --- what is forgotten ------------------------------------------------------------------------------------------------

_TENANTS = "SELECT DISTINCT e.tenant_id FROM webhook_endpoints AS e ORDER BY e.tenant_id"
# By key, which begins with the moment, a part at a time: so no statement takes long, however many rows remain (rows
# still to be tried are never deleted, however old). Chosen rows go through an array: see tables.py. A sub-select is
# looked up for each row, where NOT EXISTS would read the table.
_PART: LiteralString = """
    WITH part AS MATERIALIZED (
        SELECT p.{key} AS key
          FROM {table} AS p
         WHERE p.tenant_id = %(tenant)s AND p.{key} > %(after)s AND p.{key} < uuid_floor(%(before)s)
         ORDER BY p.{key}
         LIMIT %(limit)s
    ), gone AS (
        DELETE FROM {table} AS o
         WHERE o.tenant_id = %(tenant)s AND o.{key} = ANY (ARRAY(SELECT part.key FROM part)) AND {is_over}
    )
    SELECT (SELECT part.key FROM part ORDER BY part.key DESC LIMIT 1), (SELECT count(*) FROM part)
"""
_FORGET: Sequence[LiteralString] = (
    _PART.format(
        table="webhook_deliveries",
        key="subject",
        is_over="""o.holder IS NULL
           AND (o.finished_at < %(before)s OR (o.stage = 'held' AND o.subject < uuid_floor(%(held_before)s)))""",
    ),
    _PART.format(
        table="webhook_attempts",
        key="delivery_id",
        is_over="""(SELECT d.subject FROM webhook_deliveries AS d
                     WHERE d.tenant_id = %(tenant)s AND d.subject = o.delivery_id) IS NULL""",
    ),
    _PART.format(
        table="webhook_events",
        key="event_id",
        is_over="""(SELECT d.subject FROM webhook_deliveries AS d
                     WHERE d.tenant_id = %(tenant)s AND d.event_id = o.event_id LIMIT 1) IS NULL""",
    ),
)
_FORGET_RECOVERIES = """
    DELETE FROM webhook_recoveries
     WHERE tenant_id = %(tenant)s AND subject < uuid_floor(%(before)s) AND stage IN ('done', 'failed')
"""
_FORGET_SECRETS = "DELETE FROM webhook_secrets WHERE tenant_id = %(tenant)s AND expires_at < %(at)s"
# Deleted endpoints, after the last of their deliveries.
_FORGET_ENDPOINTS = """
    DELETE FROM webhook_endpoints AS e
     WHERE e.tenant_id = %(tenant)s AND e.removed_at < %(before)s
       AND NOT EXISTS (SELECT 1 FROM webhook_secrets AS s
                        WHERE s.tenant_id = %(tenant)s AND s.endpoint_id = e.endpoint_id)
       AND NOT EXISTS (SELECT 1 FROM webhook_deliveries AS d
                        WHERE d.tenant_id = %(tenant)s AND d.host = e.endpoint_id::text
                          AND d.stage IN ('webhook', 'held', 'delivered', 'failed')
                          AND d.environment IN ('testecf', 'certecf', 'ecf'))
"""

#: Rows per statement.
PART: Final = 5000
_FIRST: Final = UUID(int=0)


@dataclass(frozen=True, slots=True)
class OldPart:
    """How far what is old of a tenant was looked at: which of the tables is next, and after which key."""

    table: int = 0
    after: UUID = _FIRST


async def tenants(conn: Conn) -> list[TenantId]:
    """List the tenants that have, or had, an endpoint."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_TENANTS)
    return await cursor.fetchall()


async def held_in_vain(conn: Conn) -> list[TenantId]:
    """List the tenants of whom something is held though its endpoint is called (held_in_vain.sql)."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute("SELECT held_in_vain()")
    return await cursor.fetchall()


async def end_deleted(conn: Conn, at: datetime, limit: int) -> int:
    """End what deleted endpoints still have undelivered, at most `limit` of each; return how many."""
    cursor = await conn.execute("SELECT end_deleted_webhooks(%(at)s, %(limit)s)", {"at": at, "limit": limit})
    (row,) = await cursor.fetchall()
    return int(row[0])


async def let_go_of_held(conn: Conn, tenant_id: TenantId, limit: int) -> int:
    """Release held deliveries of a tenant, at most `limit`; return how many."""
    cursor = await conn.execute("SELECT let_go_of_held(%(tenant)s, %(limit)s)", {"tenant": tenant_id, "limit": limit})
    (row,) = await cursor.fetchall()
    return int(row[0])


async def forget(
    conn: Conn,
    tenant_id: TenantId,
    part: OldPart,
    *,
    before: datetime,
    held_before: datetime,
    at: datetime,
    limit: int = PART,
) -> OldPart | None:
    """Look at a part of what is old; gives the next one, None after the last.

    Forgotten is what had ended before a moment, what has been held since before another, and secrets that have ended.
    """
    values = {"tenant": tenant_id, "before": before, "held_before": held_before, "at": at}
    if part == OldPart():
        await conn.execute(_FORGET_RECOVERIES, values)
        await conn.execute(_FORGET_SECRETS, values)
        await conn.execute(_FORGET_ENDPOINTS, values)
    cursor = await conn.execute(_FORGET[part.table], {**values, "after": part.after, "limit": limit})
    (row,) = await cursor.fetchall()
    last, many = row
    if many == limit:
        return OldPart(part.table, last)
    return OldPart(part.table + 1) if part.table + 1 < len(_FORGET) else None
