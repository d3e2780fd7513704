"""The authority's outages and health, as our own exchanges and probes measured them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.lifecycle import WebhookEvent
from fe.store.postgres.arrays import int8s, texts
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class CircuitOutage:
    """A time in which a circuit was open; None: it still is."""

    environment: Environment
    host: str
    began_at: datetime
    ended_at: datetime | None
    reason: str


#: Outages that are read at most.
_MOST = 200
_OUTAGES = f"""
    SELECT o.environment, o.host, o.began_at, o.ended_at, o.reason
      FROM authority_outages AS o
     WHERE o.ended_at IS NULL OR o.ended_at > %(since)s
     ORDER BY o.began_at DESC
     LIMIT {_MOST}
"""


async def outages(conn: Conn, since: datetime) -> list[CircuitOutage]:
    """List the outages since a moment, and those that last, the latest first."""
    cursor = conn.cursor(row_factory=record_row(CircuitOutage))
    await cursor.execute(_OUTAGES, {"since": since})
    return await cursor.fetchall()


_NOW = """
    SELECT o.environment, o.host, o.began_at, o.ended_at, o.reason
      FROM authority_outages AS o
     WHERE o.ended_at IS NULL
     ORDER BY o.began_at, o.host
"""


async def outages_now(conn: Conn) -> list[CircuitOutage]:
    """List the outages that last: six at most, one of each circuit."""
    cursor = conn.cursor(row_factory=record_row(CircuitOutage))
    await cursor.execute(_NOW)
    return await cursor.fetchall()


@dataclass(frozen=True, slots=True)
class Exchanges:
    """Our exchanges with one service within five minutes, or more. `milliseconds` is the sum of those answered."""

    environment: Environment
    service: str
    answered: int
    failed: int
    milliseconds: int
    slowest_milliseconds: int


_ADD = """
    INSERT INTO authority_health AS h (environment, service, began_at, answered, failed, milliseconds,
                                       slowest_milliseconds)
    SELECT a.environment, a.service, to_timestamp(floor(extract(EPOCH FROM %(at)s::timestamptz) / 300) * 300),
           a.answered, a.failed, a.milliseconds, a.slowest
      FROM unnest(%(environments)s::text[], %(services)s::text[], %(answered)s::bigint[], %(failed)s::bigint[],
                  %(milliseconds)s::bigint[], %(slowest)s::bigint[])
                   AS a (environment, service, answered, failed, milliseconds, slowest)
     ORDER BY a.environment, a.service
    ON CONFLICT (environment, service, began_at) DO UPDATE
       SET answered = h.answered + EXCLUDED.answered, failed = h.failed + EXCLUDED.failed,
           milliseconds = h.milliseconds + EXCLUDED.milliseconds,
           slowest_milliseconds = greatest(h.slowest_milliseconds, EXCLUDED.slowest_milliseconds)
"""
_FORGET = "DELETE FROM authority_health WHERE began_at < %(before)s"
#: How long measurements are kept.
KEPT_FOR = timedelta(days=8)


async def add(conn: Conn, exchanges: Sequence[Exchanges], at: datetime) -> None:
    """Add what a process measured."""
    await conn.execute(
        _ADD,
        {
            "at": at,
            "environments": texts([one.environment for one in exchanges]),
            "services": texts([one.service for one in exchanges]),
            "answered": int8s([one.answered for one in exchanges]),
            "failed": int8s([one.failed for one in exchanges]),
            "milliseconds": int8s([one.milliseconds for one in exchanges]),
            "slowest": int8s([one.slowest_milliseconds for one in exchanges]),
        },
    )


async def forget(conn: Conn, at: datetime) -> None:
    """Delete old measurements."""
    await conn.execute(_FORGET, {"before": at - KEPT_FOR})


_HEALTH = """
    SELECT h.environment, h.service, sum(h.answered)::bigint AS answered, sum(h.failed)::bigint AS failed,
           sum(h.milliseconds)::bigint AS milliseconds, max(h.slowest_milliseconds)::bigint AS slowest_milliseconds
      FROM authority_health AS h
     WHERE h.began_at >= %(since)s
     GROUP BY h.environment, h.service
"""


async def health(conn: Conn, since: datetime) -> list[Exchanges]:
    """Sum the measurements since a moment, by environment and service."""
    cursor = conn.cursor(row_factory=record_row(Exchanges))
    await cursor.execute(_HEALTH, {"since": since})
    return await cursor.fetchall()


@dataclass(frozen=True, slots=True)
class OutageNotice:
    """An outage, or its end, that a tenant's endpoint wants and has not been told of."""

    tenant_id: TenantId
    kind: WebhookEvent
    environment: Environment
    host: str
    began_at: datetime
    ended_at: datetime | None
    about: str


# Its end is told to those alone who were told that it began. An outage of a sandbox is told to its tenant alone,
# however short it is.
_TO_TELL = """
    SELECT w.tenant_id, 'authority.down' AS kind, o.environment, o.host, o.began_at, NULL::timestamptz AS ended_at,
           o.about
      FROM (SELECT x.environment, x.host, x.began_at, NULL::bigint AS tenant_id,
                   concat_ws(' ', x.environment, x.host, extract(EPOCH FROM x.began_at)) AS about
              FROM authority_outages AS x
             WHERE x.ended_at IS NULL AND x.began_at <= %(began_before)s
            UNION ALL
            SELECT p.environment, 'ecf', p.began_at, p.tenant_id,
                   concat_ws(' ', p.environment, 'sandbox', extract(EPOCH FROM p.began_at))
              FROM sandbox_outages AS p
             WHERE p.began_at > %(ended_after)s) AS o
     CROSS JOIN LATERAL (SELECT DISTINCT e.tenant_id
                           FROM webhook_endpoints AS e
                          WHERE e.enabled AND e.removed_at IS NULL AND 'authority.down' = ANY (e.events)
                            AND (e.environment IS NULL OR e.environment = o.environment)
                            AND (o.tenant_id IS NULL OR e.tenant_id = o.tenant_id)) AS w
     WHERE NOT EXISTS (SELECT 1
                         FROM webhook_notices AS n
                        WHERE n.tenant_id = w.tenant_id AND n.kind = 'authority.down' AND n.about = o.about)
    UNION ALL
    SELECT n.tenant_id, 'authority.up', o.environment, o.host, o.began_at, o.ended_at, o.about
      FROM (SELECT x.environment, x.host, x.began_at, x.ended_at, NULL::bigint AS tenant_id,
                   concat_ws(' ', x.environment, x.host, extract(EPOCH FROM x.began_at)) AS about
              FROM authority_outages AS x
             WHERE x.ended_at > %(ended_after)s
            UNION ALL
            SELECT p.environment, 'ecf', p.began_at, p.ends_at, p.tenant_id,
                   concat_ws(' ', p.environment, 'sandbox', extract(EPOCH FROM p.began_at))
              FROM sandbox_outages AS p
             WHERE p.ends_at > %(ended_after)s AND p.ends_at <= now()) AS o
      JOIN webhook_notices AS n
        ON n.kind = 'authority.down' AND n.about = o.about AND (o.tenant_id IS NULL OR n.tenant_id = o.tenant_id)
     WHERE webhook_wanted(n.tenant_id, o.environment, 'authority.up')
       AND NOT EXISTS (SELECT 1
                         FROM webhook_notices AS m
                        WHERE m.tenant_id = n.tenant_id AND m.kind = 'authority.up' AND m.about = o.about)
"""


async def to_tell(conn: Conn, *, began_before: datetime, ended_after: datetime) -> list[OutageNotice]:
    """List which tenants are to be told of which outages, and of which ends."""
    cursor = conn.cursor(row_factory=record_row(OutageNotice))
    await cursor.execute(_TO_TELL, {"began_before": began_before, "ended_after": ended_after})
    return await cursor.fetchall()
