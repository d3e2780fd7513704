"""Dead letters and what operators do about them: reads across tenants, and decisions about one row each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString

from psycopg.rows import scalar_row

from fe.ecf.catalogue import Environment, Root
from fe.identifiers import CertificateId, SubmissionId, TenantId, TrackId
from fe.lifecycle import NumberFate, Stage
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row
from fe.store.queue.audit import OperatorAction, record


@dataclass(frozen=True, slots=True)
class DeadLetterFilter:
    """Which dead letters are meant; None means any."""

    tenant_id: TenantId | None = None
    environment: Environment | None = None
    stage: Stage | None = None
    #: Part of the text of the error or of its cause, letter case apart.
    error: str | None = None
    #: Died at least this long ago.
    older_than: timedelta | None = None
    e_ncf: str | None = None
    subjects: Sequence[SubmissionId] | None = None

    def values(self) -> dict[str, Any]:
        """The values of a statement that chooses by it; NULL is no condition."""
        return {
            "tenant": self.tenant_id,
            "environment": self.environment,
            "stage": self.stage,
            "error": self.error,
            "older": self.older_than,
            "e_ncf": self.e_ncf,
            "subjects": list(self.subjects) if self.subjects is not None else None,
        }


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A row that gave up, with what an operator wants to see of its submission."""

    tenant_id: TenantId
    tenant: str
    subject: SubmissionId
    stage: Stage
    environment: Environment
    host: str
    attempt: int
    crash_count: int
    died_at: datetime
    #: How it ended, as "sent 8 times, and the authority does not know it"; and why: what its last send failed
    #: with, where the outcome is unknown, else the same.
    error: str
    cause: str
    root: Root
    e_ncf: str | None
    issuer_rnc: str | None
    #: It has the amount; None before it was signed.
    qr_code_url: str | None
    track_id: TrackId | None
    #: The bytes that are sent: of the summary where there is one, else of the signed document.
    sent_sha256: str | None
    certificate_id: CertificateId | None
    #: Until when the last of the tenant's certificates in use is good, or the one that signed it.
    certificate_until: datetime | None
    #: When the tenant's active sequence of this type expires.
    sequence_until: datetime | None
    #: Sends of its bytes that may have reached the authority, and of these the ones never resolved.
    sends: int
    open_sends: int
    last_sent_at: datetime | None
    #: Another submission whose document with this number was accepted.
    accepted_instead: SubmissionId | None
    paused_by: str | None
    circuit_open: bool


# The cause is kept by the history: the last outcome that was unknown.
_FROM_CHOSEN = """
      FROM (SELECT l.*,
                   coalesce((SELECT v.detail ->> 'error'
                               FROM submission_events AS v
                              WHERE v.tenant_id = l.tenant_id AND v.submission_id = l.subject
                                AND v.kind = 'outcome_unknown' AND l.stage = 'reconcile'
                              ORDER BY v.seq DESC
                              LIMIT 1), l.error) AS cause
              FROM dead_letters AS l
             WHERE (%(tenant)s::bigint IS NULL OR l.tenant_id = %(tenant)s)
               AND (%(environment)s::text IS NULL OR l.environment = %(environment)s)
               AND (%(stage)s::text IS NULL OR l.stage = %(stage)s)
               AND (%(older)s::interval IS NULL OR l.died_at <= now() - %(older)s)
               AND (%(e_ncf)s::text IS NULL
                    OR EXISTS (SELECT 1 FROM submissions AS n
                                WHERE n.tenant_id = l.tenant_id AND n.submission_id = l.subject
                                  AND n.e_ncf = %(e_ncf)s))
               AND (%(subjects)s::uuid[] IS NULL OR l.subject = ANY (%(subjects)s))) AS c
     WHERE %(error)s::text IS NULL
        OR position(lower(%(error)s) IN lower(c.error)) > 0 OR position(lower(%(error)s) IN lower(c.cause)) > 0
"""
_CHOSEN = f"SELECT c.* {_FROM_CHOSEN}"

# The rows of one page are chosen first, then their details are looked up. Tables distributed with the dead letters are
# read within `d`, by the keys of `s`; others beside it, because a distributing engine does not join the two row by row.
_LIST = f"""
    WITH d AS MATERIALIZED (
        SELECT s.tenant_id, s.submission_id AS subject, l.stage, l.environment, l.host, l.attempt,
               l.deaths AS crash_count, l.died_at, l.error, l.cause, s.root, s.e_ncf, s.issuer_rnc, s.qr_code_url,
               s.track_id,
               s.certificate_id,
               encode(sha256(coalesce(
                   (SELECT b.content
                      FROM submission_documents AS b
                     WHERE b.tenant_id = s.tenant_id AND b.submission_id = s.submission_id AND b.kind = 'sent'),
                   (SELECT b.content
                      FROM submission_documents AS b
                     WHERE b.tenant_id = s.tenant_id AND b.submission_id = s.submission_id AND b.kind = 'signed')
               )), 'hex') AS sent_sha256,
               (SELECT (array_agg(
                            expiry_of_number(s.e_ncf, q.min_number, q.max_number, q.expire_at, q.former_ranges)
                            ORDER BY number_lies(s.e_ncf, q.prefix, q.min_number, q.max_number, q.former_ranges)))[1]
                  FROM sequences AS q
                 WHERE q.tenant_id = s.tenant_id AND q.environment = s.environment AND q.is_active
                   AND left(q.prefix, 3) = left(s.e_ncf, 3)
                   AND number_lies(s.e_ncf, q.prefix, q.min_number, q.max_number, q.former_ranges) IS NOT NULL
               ) AS sequence_until,
               (SELECT count(*)::int
                  FROM sends AS x
                 WHERE x.tenant_id = s.tenant_id AND x.submission_id = s.submission_id
                   AND x.outcome <> 'not_sent') AS sends,
               (SELECT count(*)::int
                  FROM sends AS x
                 WHERE x.tenant_id = s.tenant_id AND x.submission_id = s.submission_id
                   AND x.outcome IN ('intended', 'unknown')) AS open_sends,
               (SELECT max(x.intended_at)
                  FROM sends AS x
                 WHERE x.tenant_id = s.tenant_id AND x.submission_id = s.submission_id
                   AND x.outcome <> 'not_sent') AS last_sent_at,
               (SELECT (array_agg(other.submission_id))[1]
                  FROM submissions AS other
                 WHERE other.tenant_id = s.tenant_id AND other.e_ncf = s.e_ncf
                   AND other.submission_id <> s.submission_id
                   AND other.environment = s.environment AND other.issuer_rnc = s.issuer_rnc
                   AND s.root IN ('ECF', 'RFCE') AND other.root IN ('ECF', 'RFCE')
                   AND other.status IN ('Aceptado', 'Aceptado Condicional')) AS accepted_instead
          FROM ({_CHOSEN}
                 ORDER BY c.died_at, c.tenant_id, c.subject
                 LIMIT %(limit)s) AS l
          JOIN submissions AS s ON s.tenant_id = l.tenant_id AND s.submission_id = l.subject
    )
    SELECT d.*, t.name AS tenant,
           (SELECT max(c.not_after)
              FROM certificates AS c
             WHERE c.tenant_id = d.tenant_id
               AND (c.retired_at IS NULL OR c.certificate_id = d.certificate_id)) AS certificate_until,
           (SELECT p.paused_by
              FROM pauses AS p
             WHERE p.tenant_id IN (0, d.tenant_id) AND p.environment IN ('', d.environment)
             ORDER BY p.paused_at
             LIMIT 1) AS paused_by,
           coalesce((SELECT c.is_open
                       FROM circuits AS c
                      WHERE c.environment = d.environment AND c.host = d.host), false) AS circuit_open
      FROM d
      JOIN tenants AS t ON t.tenant_id = d.tenant_id
     ORDER BY d.died_at, d.tenant_id, d.subject
"""


async def listed(conn: Conn, which: DeadLetterFilter, limit: int) -> list[DeadLetter]:
    """List dead letters, the longest dead first."""
    cursor = conn.cursor(row_factory=record_row(DeadLetter))
    await cursor.execute(_LIST, {**which.values(), "limit": limit})
    return await cursor.fetchall()


@dataclass(frozen=True, slots=True)
class DeadLetterLine:
    """A dead letter as a line of a list, without sends, certificate and sequence."""

    tenant_id: TenantId
    tenant: str
    subject: SubmissionId
    stage: Stage
    environment: Environment
    died_at: datetime
    error: str
    cause: str
    e_ncf: str | None


# A subquery, so that each number is read by its key. A lateral one behind the LIMIT is refused by a cluster.
_LINES = f"""
    WITH d AS MATERIALIZED (
        SELECT c.tenant_id, c.subject, c.stage, c.environment, c.died_at, c.error, c.cause,
               (SELECT s.e_ncf
                  FROM submissions AS s
                 WHERE s.tenant_id = c.tenant_id AND s.submission_id = c.subject) AS e_ncf
               {_FROM_CHOSEN}
         ORDER BY c.died_at, c.tenant_id, c.subject
         LIMIT %(limit)s
    )
    SELECT d.*, t.name AS tenant
      FROM d
      JOIN tenants AS t ON t.tenant_id = d.tenant_id
     ORDER BY d.died_at, d.tenant_id, d.subject
"""


async def lines(conn: Conn, which: DeadLetterFilter, limit: int) -> list[DeadLetterLine]:
    """List dead letters as `listed` does, without what only a review shows."""
    cursor = conn.cursor(row_factory=record_row(DeadLetterLine))
    await cursor.execute(_LINES, {**which.values(), "limit": limit})
    return await cursor.fetchall()


@dataclass(frozen=True, slots=True)
class DeadLetterGroup:
    """Dead letters of one cause, stage and environment, of one tenant."""

    cause: str
    stage: Stage
    environment: Environment
    tenant: str
    count: int
    oldest: datetime


#: Causes are compared by their beginnings: what an authority's page says further on differs.
_CAUSE_LENGTH = 160

_GROUPS = f"""
    WITH g AS MATERIALIZED (
        SELECT left(d.cause, {_CAUSE_LENGTH}) AS cause, d.stage, d.environment, d.tenant_id, count(*)::int AS count,
               min(d.died_at) AS oldest
          FROM ({_CHOSEN}) AS d
         GROUP BY 1, 2, 3, 4
    )
    SELECT g.cause, g.stage, g.environment, t.name AS tenant, g.count, g.oldest
      FROM g
      JOIN tenants AS t ON t.tenant_id = g.tenant_id
     ORDER BY sum(g.count) OVER (PARTITION BY g.cause, g.stage, g.environment) DESC, g.cause, g.stage, g.environment,
              g.count DESC, t.name
"""


async def grouped(conn: Conn, which: DeadLetterFilter) -> list[DeadLetterGroup]:
    """Count dead letters by cause, stage, environment and tenant; the commonest cause first."""
    cursor = conn.cursor(row_factory=record_row(DeadLetterGroup))
    await cursor.execute(_GROUPS, which.values())
    return await cursor.fetchall()


_UNCHANGED = """
    SELECT d.tenant_id, d.subject
      FROM unnest(%(tenants)s::bigint[], %(subjects)s::uuid[], %(died)s::timestamptz[])
           WITH ORDINALITY AS i (tenant_id, subject, died_at, turn)
      JOIN dead_letters AS d ON d.tenant_id = i.tenant_id AND d.subject = i.subject AND d.died_at = i.died_at
     ORDER BY i.turn
"""


async def unchanged(
    conn: Conn, rows: Sequence[tuple[TenantId, SubmissionId, datetime]]
) -> list[tuple[TenantId, SubmissionId]]:
    """Tell which of these, as they died then, are dead letters still, in their order."""
    values = {
        "tenants": [tenant_id for tenant_id, _, _ in rows],
        "subjects": [subject for _, subject, _ in rows],
        "died": [died_at for _, _, died_at in rows],
    }
    cursor = await conn.execute(_UNCHANGED, values)
    return await cursor.fetchall()


async def counted(conn: Conn) -> list[tuple[str, str, int]]:
    """Count dead letters by stage and environment."""
    cursor = await conn.execute(
        "SELECT stage, environment, count(*)::int FROM dead_letters GROUP BY stage, environment ORDER BY 1, 2"
    )
    return await cursor.fetchall()


_REPLAY = "SELECT replay_dead_letter(%(tenant)s, %(subject)s, %(at)s, %(by)s, %(reason)s)"
_DISCARD = "SELECT discard_dead_letter(%(tenant)s, %(subject)s, %(at)s, %(by)s, %(reason)s, %(note)s)"


async def replay(conn: Conn, action: OperatorAction, tenant_id: TenantId, subject: SubmissionId) -> Stage | None:
    """Replay one dead letter; return the stage it goes to, or None if it is no dead letter (any more).

    Run it in a transaction: the action is audited together with its effect.
    """
    stage = await _decide(conn, _REPLAY, action, tenant_id, subject)
    if stage is None:
        return None
    await record(conn, action, "replay", tenant_id, subject, {"stage": stage})
    return Stage(stage)


async def discard(
    conn: Conn, action: OperatorAction, tenant_id: TenantId, subject: SubmissionId, *, note: str | None = None
) -> NumberFate | None:
    """Discard one dead letter; return the fate of its number, or None if it is no dead letter (any more).

    The client sees `note` with the error, but not the action's reason. Run it in a transaction: the action is audited
    together with its effect.
    """
    fate = await _decide(conn, _DISCARD, action, tenant_id, subject, note=note)
    if fate is None:
        return None
    await record(conn, action, "discard", tenant_id, subject, {"numberFate": fate, "note": note})
    return NumberFate(fate)


async def _decide(
    conn: Conn,
    call: LiteralString,
    action: OperatorAction,
    tenant_id: TenantId,
    subject: SubmissionId,
    **more: str | None,
) -> str | None:
    cursor = conn.cursor(row_factory=scalar_row)
    values = {"tenant": tenant_id, "subject": subject, "at": action.at, "by": action.by_whom, "reason": action.reason}
    await cursor.execute(call, values | more)
    found: str | None = await cursor.fetchone()
    return found
