"""Events: what happened, as it is told. Most are made by sql/functions/webhooks, with what they tell of."""

from datetime import datetime
from uuid import UUID

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.lifecycle import WebhookEvent
from fe.store.postgres.db import Conn

_TELL = """
    SELECT tell_webhooks(%(tenant)s, %(event)s, %(environment)s, %(kind)s, %(about)s, %(at)s, %(body)s, %(endpoint)s),
           webhook_id(%(at)s, %(event)s::uuid::text || %(endpoint)s::uuid::text) AS delivery_id
"""


async def emit_to_one(
    conn: Conn,
    tenant_id: TenantId,
    endpoint_id: UUID,
    *,
    event_id: UUID,
    environment: Environment | None,
    kind: WebhookEvent,
    about: str,
    body: str,
    at: datetime,
) -> UUID:
    """Emit an event to one endpoint, regardless of its subscription; return the delivery's id. For test events.

    `event_id` is new (fe.ecf.ids.new_id of `at`), `body` the JSON as it will be sent.
    """
    cursor = await conn.execute(
        _TELL,
        {
            "tenant": tenant_id,
            "event": event_id,
            "environment": environment,
            "kind": kind,
            "about": about,
            "at": at,
            "body": body,
            "endpoint": endpoint_id,
        },
    )
    row = await cursor.fetchone()
    assert row is not None
    delivery_id: UUID = row[1]
    return delivery_id


_TELL_ONCE = """
    SELECT tell_webhooks_once(%(tenant)s, %(environment)s, %(kind)s, %(about)s, %(at)s, %(body)s)
"""


async def emit_once(
    conn: Conn,
    tenant_id: TenantId,
    *,
    environment: Environment | None,
    kind: WebhookEvent,
    about: str,
    body: str,
    at: datetime,
) -> bool:
    """Emit an event that a threshold was passed; False if it was emitted before, or no endpoint wants it."""
    cursor = await conn.execute(
        _TELL_ONCE,
        {"tenant": tenant_id, "environment": environment, "kind": kind, "about": about, "at": at, "body": body},
    )
    return await cursor.fetchone() == (True,)


_BODY = "SELECT body FROM webhook_events WHERE tenant_id = %(tenant)s AND event_id = %(event)s"


async def body(conn: Conn, tenant_id: TenantId, event_id: UUID) -> bytes | None:
    """Fetch the bytes that are sent for an event."""
    cursor = await conn.execute(_BODY, {"tenant": tenant_id, "event": event_id}, binary=True)
    row = await cursor.fetchone()
    return None if row is None else bytes(row[0])
