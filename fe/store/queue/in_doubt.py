"""Submissions whose arrival at the authority is unknown, for operators before they become dead letters."""

from dataclasses import dataclass
from datetime import datetime

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row
from fe.store.queue.dead_letters import DeadLetterFilter


@dataclass(frozen=True, slots=True)
class Doubt:
    """One that is in doubt. `gave_up`: it lies among the dead letters; else the authority is being asked about it."""

    tenant: str
    subject: SubmissionId
    environment: Environment
    host: str
    e_ncf: str | None
    gave_up: bool
    since: datetime
    #: Sends whose outcome is not known, and when the last of them began.
    open_sends: int
    last_sent_at: datetime | None
    error: str | None


# run_at < 'infinity' is the condition of the index that finds the rows of a stage.
_IN_DOUBT = """
    WITH d AS MATERIALIZED (
        SELECT s.tenant_id, s.submission_id AS subject, x.environment, x.host, s.e_ncf, x.gave_up, x.since, x.error,
               (SELECT count(*)::int
                  FROM sends AS y
                 WHERE y.tenant_id = s.tenant_id AND y.submission_id = s.submission_id
                   AND y.outcome IN ('intended', 'unknown')) AS open_sends,
               (SELECT max(y.intended_at)
                  FROM sends AS y
                 WHERE y.tenant_id = s.tenant_id AND y.submission_id = s.submission_id
                   AND y.outcome IN ('intended', 'unknown')) AS last_sent_at
          FROM (SELECT o.tenant_id, o.subject, o.environment, o.host, false AS gave_up, o.entered_at AS since,
                       o.last_error AS error
                  FROM outbox AS o
                 WHERE o.stage = 'reconcile' AND o.run_at < 'infinity'
                 UNION ALL
                SELECT d.tenant_id, d.subject, d.environment, d.host, true AS gave_up, d.entered_at AS since, d.error
                  FROM dead_letters AS d
                 WHERE EXISTS (SELECT 1
                                 FROM sends AS y
                                WHERE y.tenant_id = d.tenant_id AND y.submission_id = d.subject
                                  AND y.outcome IN ('intended', 'unknown'))) AS x
          JOIN submissions AS s ON s.tenant_id = x.tenant_id AND s.submission_id = x.subject
         WHERE (%(tenant)s::bigint IS NULL OR x.tenant_id = %(tenant)s)
           AND (%(environment)s::text IS NULL OR x.environment = %(environment)s)
           AND (%(error)s::text IS NULL OR position(lower(%(error)s) IN lower(x.error)) > 0)
           AND (%(older)s::interval IS NULL OR x.since <= now() - %(older)s)
           AND (%(e_ncf)s::text IS NULL OR s.e_ncf = %(e_ncf)s)
           AND (%(subjects)s::uuid[] IS NULL OR x.subject = ANY (%(subjects)s))
         ORDER BY x.since, s.tenant_id, s.submission_id
         LIMIT %(limit)s
    )
    SELECT t.name AS tenant, d.subject, d.environment, d.host, d.e_ncf, d.gave_up, d.since, d.error, d.open_sends,
           d.last_sent_at
      FROM d
      JOIN tenants AS t ON t.tenant_id = d.tenant_id
     ORDER BY d.since, d.tenant_id, d.subject
"""


async def listed(conn: Conn, which: DeadLetterFilter, limit: int) -> list[Doubt]:
    """List what is in doubt, the longest first. Of the filter everything counts but the stage."""
    cursor = conn.cursor(row_factory=record_row(Doubt))
    await cursor.execute(_IN_DOUBT, {**which.values(), "limit": limit})
    return await cursor.fetchall()


_COUNTED = """
    SELECT x.environment, x.host, count(*) FILTER (WHERE NOT x.gave_up)::int,
           count(*) FILTER (WHERE x.gave_up)::int, min(x.since)
      FROM (SELECT o.environment, o.host, false AS gave_up, o.entered_at AS since
              FROM outbox AS o
             WHERE o.stage = 'reconcile' AND o.run_at < 'infinity'
             UNION ALL
            SELECT d.environment, d.host, true AS gave_up, d.entered_at AS since
              FROM dead_letters AS d
             WHERE EXISTS (SELECT 1
                             FROM sends AS y
                            WHERE y.tenant_id = d.tenant_id AND y.submission_id = d.subject
                              AND y.outcome IN ('intended', 'unknown'))) AS x
     GROUP BY x.environment, x.host
     ORDER BY x.environment, x.host
"""


async def counted(conn: Conn) -> list[tuple[str, str, int, int, datetime]]:
    """Count by environment and host what is asked about and what gave up, with since when the longest is in doubt."""
    cursor = await conn.execute(_COUNTED)
    return await cursor.fetchall()
