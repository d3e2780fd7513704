"""How the parts of this service did, as its own processes measured them: one truth for all of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum, StrEnum

from fe.store.postgres.arrays import int4s, texts
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row


class ServicePart(StrEnum):
    """A part of the service as its users know it, in the order in which a receipt passes."""

    ACCEPTING = "accepting"
    SIGNING = "signing"
    SENDING = "sending"
    VERDICTS = "verdicts"
    WEBHOOKS = "webhooks"
    RECEIVING = "receiving"


class PartSeverity(IntEnum):
    """The state of a part; a higher number is worse."""

    WELL = 0
    #: It waits for the authority, which does not answer.
    WAITING = 1
    DEGRADED = 2
    DOWN = 3


@dataclass(frozen=True, slots=True)
class StatePeriod:
    """A time in which a part was in one state; `seen_at` is its latest measurement."""

    part: ServicePart
    began_at: datetime
    seen_at: datetime
    severity: PartSeverity


#: How often a process records what it measured; a single measurement stands for that long.
MEASURED_EVERY = timedelta(seconds=15)
#: A part without a measurement for this long is not measured. Webhooks are measured once a minute.
UNMEASURED_AFTER = timedelta(minutes=3)
#: A part is better once no process has found the worse state for this long: the worst view counts, and a part that
#: comes and goes makes few rows.
BETTER_AFTER = timedelta(minutes=2)
#: How long periods are kept.
KEPT_FOR = timedelta(days=92)
#: Periods that are read at most, the latest first.
MOST = 10_000

# A worse state begins at once. A state that goes on only moves its end; processes share that write. Two processes may
# begin a state at the same time: periods may overlap, and readers take the worst.
_RECORD = """
    WITH found AS (
        SELECT f.part, f.severity, l.began_at, l.seen_at, l.severity AS former,
               l.part IS NULL OR l.seen_at < %(since)s::timestamptz - %(unmeasured)s::interval AS is_first
          FROM unnest(%(parts)s::text[], %(severities)s::int[]) AS f (part, severity)
          LEFT JOIN LATERAL (SELECT s.part, s.began_at, s.seen_at, s.severity
                               FROM service_states AS s
                              WHERE s.part = f.part
                              ORDER BY s.began_at DESC
                              LIMIT 1) AS l ON true
    ), extended AS (
        UPDATE service_states AS s
           SET seen_at = %(at)s
          FROM found AS f
         WHERE s.part = f.part AND s.began_at = f.began_at AND NOT f.is_first AND f.severity = f.former
           AND s.seen_at < %(at)s::timestamptz - interval '5 seconds'
    )
    INSERT INTO service_states (part, began_at, seen_at, severity)
    SELECT f.part, CASE WHEN f.is_first OR f.severity > f.former THEN %(since)s ELSE f.seen_at END, %(at)s, f.severity
      FROM found AS f
     WHERE f.is_first OR f.severity > f.former
        OR (f.severity < f.former AND f.seen_at <= %(at)s::timestamptz - %(better)s::interval)
     ORDER BY f.part
    ON CONFLICT (part, began_at) DO NOTHING
"""


async def record(
    conn: Conn, found: Mapping[ServicePart, PartSeverity], at: datetime, since: datetime | None = None
) -> None:
    """Record what a process measured; `since` is when it began, where it could not be recorded then."""
    await conn.execute(
        _RECORD,
        {
            "parts": texts(list(found)),
            "severities": int4s(list(found.values())),
            "at": at,
            "since": since or at,
            "unmeasured": UNMEASURED_AFTER,
            "better": BETTER_AFTER,
        },
    )


_SINCE = """
    SELECT s.part, s.began_at, s.seen_at, s.severity
      FROM service_states AS s
     WHERE s.seen_at > %(since)s
     ORDER BY s.began_at DESC
     LIMIT %(most)s
"""


async def periods(conn: Conn, since: datetime) -> list[StatePeriod]:
    """List the periods that ended after a moment, the latest first, at most MOST."""
    cursor = conn.cursor(row_factory=record_row(StatePeriod))
    await cursor.execute(_SINCE, {"since": since, "most": MOST})
    return await cursor.fetchall()


_FORGET = "DELETE FROM service_states WHERE seen_at < %(before)s"


async def forget(conn: Conn, at: datetime) -> None:
    """Delete old periods."""
    await conn.execute(_FORGET, {"before": at - KEPT_FOR})
