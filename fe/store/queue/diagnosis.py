"""Diagnosis for operators: what a submission waits for, and an overview of the outbox."""

from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId, TrackId
from fe.lifecycle import Stage, Status
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class WaitingSubmission:
    """The reason why a submission waits. Without a `stage` it is not in the outbox; the fields of the row are None
    then.
    """

    tenant_id: TenantId
    tenant: str
    subject: SubmissionId
    environment: Environment
    status: Status
    e_ncf: str | None
    track_id: TrackId | None
    submitted_at: datetime
    updated_at: datetime
    stage: Stage | None
    host: str | None
    run_at: datetime | None
    attempt: int | None
    crash_count: int | None
    holder: str | None
    #: When the process that holds it last gave a sign of life; None when it never did, or was given up.
    holder_seen_at: datetime | None
    entered_at: datetime | None
    last_error: str | None
    dead_since: datetime | None
    dead_stage: Stage | None
    dead_error: str | None
    #: The end, if not by a verdict: our failure, a refusal, or an operator.
    end_error: str | None
    circuit_open: bool
    circuit_reason: str | None
    probe_at: datetime | None
    paused_by: str | None
    pause_reason: str | None
    #: The last sign of life of any process that works, None when there is none at all.
    anybody_seen_at: datetime | None
    #: The database's clock, by which due work is decided.
    now: datetime


# Tables that some engines distribute are read first; the others are joined to the result.
_WHY = """
    WITH s AS MATERIALIZED (
        SELECT s.tenant_id, s.submission_id AS subject, s.environment, s.status, s.e_ncf, s.track_id, s.submitted_at,
               s.updated_at, o.stage, o.host, o.run_at, o.attempt, o.deaths AS crash_count, o.holder, o.entered_at,
               o.last_error, d.died_at AS dead_since, d.stage AS dead_stage, d.error AS dead_error,
               s.response ->> 'error' AS end_error
          FROM submissions AS s
          LEFT JOIN outbox AS o ON o.tenant_id = s.tenant_id AND o.subject = s.submission_id
          LEFT JOIN dead_letters AS d ON d.tenant_id = s.tenant_id AND d.subject = s.submission_id
         WHERE s.submission_id = %(subject)s
    )
    SELECT s.*, t.name AS tenant, w.seen_at AS holder_seen_at, coalesce(c.is_open, false) AS circuit_open,
           c.reason AS circuit_reason, c.probe_at, p.paused_by, p.reason AS pause_reason,
           (SELECT max(x.seen_at) FROM workers AS x) AS anybody_seen_at, now() AS now
      FROM s
      JOIN tenants AS t ON t.tenant_id = s.tenant_id
      LEFT JOIN workers AS w ON w.holder = s.holder
      LEFT JOIN circuits AS c ON c.environment = s.environment AND c.host = s.host
      LEFT JOIN LATERAL (SELECT x.paused_by, x.reason
                           FROM pauses AS x
                          WHERE x.tenant_id IN (0, s.tenant_id) AND x.environment IN ('', s.environment)
                          ORDER BY x.paused_at
                          LIMIT 1) AS p ON true
"""


async def why(conn: Conn, subject: SubmissionId) -> WaitingSubmission | None:
    """Return what a submission of any tenant waits for; None when there is no such submission."""
    cursor = conn.cursor(row_factory=record_row(WaitingSubmission))
    await cursor.execute(_WHY, {"subject": subject})
    return await cursor.fetchone()


@dataclass(frozen=True, slots=True)
class Worker:
    """A process that works, by its own word. `silent_for` is in seconds."""

    holder: str
    started_at: datetime
    silent_for: float
    holds: int


_WORKERS = """
    SELECT w.holder, w.started_at, extract(EPOCH FROM now() - w.seen_at)::float8 AS silent_for,
           coalesce(held.rows, 0)::int AS holds
      FROM workers AS w
      LEFT JOIN (SELECT o.holder, count(*) AS rows
                   FROM outbox AS o
                  WHERE o.holder IS NOT NULL
                  GROUP BY o.holder) AS held ON held.holder = w.holder
     ORDER BY w.started_at, w.holder
"""


async def workers(conn: Conn) -> list[Worker]:
    """List the processes that work, and how many rows each holds."""
    cursor = conn.cursor(row_factory=class_row(Worker))
    await cursor.execute(_WORKERS)
    return await cursor.fetchall()
