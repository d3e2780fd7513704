"""Usage: what a tenant did by UTC day and environment (interface.md#usage).

A day that is over does not change any more: an emission counts as submitted on the day of its POST, as accepted or
rejected on the day of its verdict, and for latency on the day of the authority's first answer.

Days are kept in sums (sql/functions/metering, fe/store/records/metering.py). Those that are not closed yet, which are
yesterday's in the moments after midnight, are read off the submissions.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Any

from psycopg.rows import dict_row

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class UsageDay:
    """One day in one environment. Latencies are milliseconds, None when no emission was answered that day."""

    day: date
    environment: Environment
    succeeded: int
    failed: int
    bytes_in: int
    bytes_out: int
    submitted: int
    accepted: int
    conditional: int
    rejected: int
    pending: int
    average_ms: float | None
    p95_ms: float | None


@dataclass(frozen=True, slots=True)
class UsageSoFar:
    """Emissions of the running day in one environment."""

    environment: Environment
    submitted: int
    accepted: int
    conditional: int
    rejected: int
    pending: int
    is_complete: bool


#: Submissions, and verdicts, of the running day that are counted at most.
COUNTED_OF_TODAY = 20_000

# Always a row, so that it says until when the days are closed even where there are none.
_FROM_SUMS = """
    SELECT mark.closed_until, found.day, found.environment, found.succeeded, found.failed, found.bytes_in,
           found.bytes_out, found.submitted, found.accepted, found.conditional, found.rejected, found.pending,
           found.average_ms, found.p95_ms
      FROM (SELECT (SELECT m.closed_until FROM usage_marks AS m WHERE m.tenant_id = %(tenant)s) AS closed_until) AS mark
      LEFT JOIN (
        SELECT utc_day AS day, environment,
               coalesce(r.succeeded, 0) AS succeeded, coalesce(r.failed, 0) AS failed,
               coalesce(r.bytes_in, 0) AS bytes_in, coalesce(r.bytes_out, 0) AS bytes_out,
               coalesce(d.submitted, 0) AS submitted, coalesce(d.accepted, 0) AS accepted,
               coalesce(d.conditional, 0) AS conditional, coalesce(d.rejected, 0) AS rejected,
               coalesce(d.submitted - d.settled, 0) AS pending,
               d.latency_us::double precision / nullif(d.answered, 0) / 1000 AS average_ms,
               d.p95_us::double precision / 1000 AS p95_ms
          FROM (SELECT u.utc_day, u.environment, u.submitted, u.settled, u.accepted, u.conditional, u.rejected,
                       u.answered, u.latency_us, u.p95_us
                  FROM usage_days AS u
                 WHERE u.tenant_id = %(tenant)s AND u.utc_day >= %(first)s AND u.utc_day < %(end)s) AS d
          FULL JOIN (SELECT c.utc_day, c.environment, c.succeeded, c.failed, c.bytes_in, c.bytes_out
                       FROM request_counts AS c
                      WHERE c.tenant_id = %(tenant)s AND c.utc_day >= %(first)s AND c.utc_day < %(end)s) AS r
         USING (utc_day, environment)
      ) AS found ON true
     ORDER BY found.day, found.environment
"""

# Verdicts are found by their own index, because a verdict may come long after its POST. Latencies are not: one
# first answered more than four days after its POST had waited for an operator, and is no measure of the service.
_FROM_SUBMISSIONS = """
    WITH submitted AS (
        SELECT s.environment, (s.submitted_at AT TIME ZONE 'UTC')::date AS day, count(*) AS submitted,
               count(*) FILTER (
                   WHERE coalesce(s.verdict_at, CASE WHEN s.status = 'error' THEN s.updated_at END, 'infinity')
                         >= (date_trunc('day', s.submitted_at AT TIME ZONE 'UTC') + interval '1 day')
                            AT TIME ZONE 'UTC') AS pending
          FROM submissions AS s
         WHERE s.tenant_id = %(tenant)s
           AND s.submission_id >= uuid_floor(%(from)s) AND s.submission_id < uuid_floor(%(until)s)
         GROUP BY 1, 2
    ), verdicts AS (
        SELECT s.environment, (s.verdict_at AT TIME ZONE 'UTC')::date AS day,
               count(*) FILTER (WHERE s.status = 'Aceptado') AS accepted,
               count(*) FILTER (WHERE s.status = 'Aceptado Condicional') AS conditional,
               count(*) FILTER (WHERE s.status = 'Rechazado') AS rejected
          FROM submissions AS s
         WHERE s.tenant_id = %(tenant)s AND s.environment IN ('ecf', 'certecf', 'testecf')
           AND s.verdict_at >= %(from)s AND s.verdict_at < %(until)s
         GROUP BY 1, 2
    ), answered AS (
        SELECT s.environment, (s.first_answer_at AT TIME ZONE 'UTC')::date AS day,
               avg(extract(EPOCH FROM s.first_answer_at - s.submitted_at)::double precision * 1000) AS average_ms,
               percentile_disc(0.95) WITHIN GROUP (
                   ORDER BY extract(EPOCH FROM s.first_answer_at - s.submitted_at)::double precision * 1000) AS p95_ms
          FROM submissions AS s
         WHERE s.tenant_id = %(tenant)s
           AND s.submission_id >= uuid_floor(%(from)s - interval '4 days')
           AND s.submission_id < uuid_floor(%(until)s)
           AND s.first_answer_at >= %(from)s AND s.first_answer_at < %(until)s
         GROUP BY 1, 2
    ), requests AS (
        SELECT r.environment, r.utc_day AS day, r.succeeded, r.failed, r.bytes_in, r.bytes_out
          FROM request_counts AS r
         WHERE r.tenant_id = %(tenant)s
           AND r.utc_day >= (%(from)s AT TIME ZONE 'UTC')::date
           AND r.utc_day < (%(until)s AT TIME ZONE 'UTC')::date
    )
    SELECT day, environment,
           coalesce(requests.succeeded, 0) AS succeeded, coalesce(requests.failed, 0) AS failed,
           coalesce(requests.bytes_in, 0) AS bytes_in, coalesce(requests.bytes_out, 0) AS bytes_out,
           coalesce(submitted.submitted, 0) AS submitted, coalesce(verdicts.accepted, 0) AS accepted,
           coalesce(verdicts.conditional, 0) AS conditional, coalesce(verdicts.rejected, 0) AS rejected,
           coalesce(submitted.pending, 0) AS pending, answered.average_ms, answered.p95_ms
      FROM submitted
      FULL JOIN verdicts USING (environment, day)
      FULL JOIN answered USING (environment, day)
      FULL JOIN requests USING (environment, day)
     ORDER BY day, environment
"""


async def days(conn: Conn, tenant_id: TenantId, since: datetime, until: datetime) -> list[UsageDay]:
    """List a tenant's days from `since` to before `until` (both midnight UTC); a day without anything has no entry.

    Once the days are closed this reads a row for each, however much happened on them, and a 95th percentile is within
    1 % of the true one; before, it is the true one.
    """
    summed, open_from = await _summed(conn, tenant_id, since, until)
    return summed if open_from is None else summed + await _uncounted(conn, tenant_id, open_from, until)


async def days_at_hand(
    conn: Conn, tenant_id: TenantId, since: datetime, until: datetime, *, at_most: int
) -> tuple[list[UsageDay], date | None]:
    """Return `days`, counting at most `at_most` submissions; and the first day left out because of that.

    That happens after an import of a history or a recount, until its days are closed.
    """
    summed, open_from = await _summed(conn, tenant_id, since, until)
    if open_from is None:
        return summed, None
    values = {"tenant": tenant_id, "from": open_from, "until": until, "limit": at_most + 1}
    cursor = await conn.execute(_MANY, values)
    (many,) = await cursor.fetchone() or (0,)
    if many > at_most:
        return summed, open_from.date()
    return summed + await _uncounted(conn, tenant_id, open_from, until), None


# One row more than is counted tells that there are more. The orders make it read an index, and no further than needed.
_SO_FAR = """
    WITH submitted AS (
        SELECT s.environment, count(*) AS submitted,
               count(*) FILTER (WHERE s.verdict_at IS NULL AND s.status <> 'error') AS pending
          FROM (SELECT x.environment, x.verdict_at, x.status
                  FROM submissions AS x
                 WHERE x.tenant_id = %(tenant)s AND x.submission_id >= uuid_floor(%(from)s)
                 ORDER BY x.submission_id
                 LIMIT %(limit)s) AS s
         GROUP BY 1
    ), verdicts AS (
        SELECT e.environment,
               count(*) FILTER (WHERE s.status = 'Aceptado') AS accepted,
               count(*) FILTER (WHERE s.status = 'Aceptado Condicional') AS conditional,
               count(*) FILTER (WHERE s.status = 'Rechazado') AS rejected
          FROM unnest(ARRAY['ecf', 'certecf', 'testecf']::environment[]) AS e (environment)
         CROSS JOIN LATERAL (
            SELECT x.status
              FROM submissions AS x
             WHERE x.tenant_id = %(tenant)s AND x.environment = e.environment AND x.verdict_at >= %(from)s
             ORDER BY x.verdict_at
             LIMIT %(limit)s) AS s
         GROUP BY 1
    ), counted AS (
        SELECT environment, coalesce(submitted.submitted, 0) AS submitted, coalesce(verdicts.accepted, 0) AS accepted,
               coalesce(verdicts.conditional, 0) AS conditional, coalesce(verdicts.rejected, 0) AS rejected,
               coalesce(submitted.pending, 0) AS pending
          FROM submitted
          FULL JOIN verdicts USING (environment)
    )
    SELECT c.environment, c.submitted, c.accepted, c.conditional, c.rejected, c.pending,
           sum(c.submitted) OVER () < %(limit)s
           AND sum(c.accepted + c.conditional + c.rejected) OVER () < %(limit)s AS is_complete
      FROM counted AS c
     ORDER BY c.environment
"""


async def so_far(
    conn: Conn, tenant_id: TenantId, since: datetime, *, at_most: int = COUNTED_OF_TODAY
) -> list[UsageSoFar]:
    """Count the emissions since a moment of today, by environment.

    Beyond `at_most` submissions or verdicts the counts are lower bounds, and `is_complete` is False in every row.
    """
    cursor = conn.cursor(row_factory=record_row(UsageSoFar))
    await cursor.execute(_SO_FAR, {"tenant": tenant_id, "from": since, "limit": at_most + 1})
    return await cursor.fetchall()


_MANY = """
    SELECT count(*)
      FROM (SELECT true
              FROM submissions AS s
             WHERE s.tenant_id = %(tenant)s
               AND s.submission_id >= uuid_floor(%(from)s) AND s.submission_id < uuid_floor(%(until)s)
             LIMIT %(limit)s) AS few
"""


async def _summed(
    conn: Conn, tenant_id: TenantId, since: datetime, until: datetime
) -> tuple[list[UsageDay], datetime | None]:
    """The days that are closed, and from when on the others are; None where there are none."""
    cursor = conn.cursor(row_factory=dict_row)
    await cursor.execute(_FROM_SUMS, {"tenant": tenant_id, "first": since.date(), "end": until.date()})
    rows = await cursor.fetchall()
    closed_until: date | None = rows[0]["closed_until"]
    summed = [_day(row) for row in rows if row["day"] is not None]
    if closed_until is not None and closed_until >= until.date():
        return summed, None
    open_from = since if closed_until is None else max(since, datetime.combine(closed_until, time.min, UTC))
    return [day for day in summed if day.day < open_from.date()], open_from


async def _uncounted(conn: Conn, tenant_id: TenantId, since: datetime, until: datetime) -> list[UsageDay]:
    cursor = conn.cursor(row_factory=record_row(UsageDay))
    await cursor.execute(_FROM_SUBMISSIONS, {"tenant": tenant_id, "from": since, "until": until})
    return await cursor.fetchall()


def _day(row: dict[str, Any]) -> UsageDay:
    del row["closed_until"]
    return UsageDay(**row | {"environment": Environment(row["environment"])})
