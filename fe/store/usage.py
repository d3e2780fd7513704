"""Usage: what a tenant did by UTC day and environment (interface.md#usage).

A day that is over does not change any more: an emission counts as submitted on the day of its POST, as accepted or
rejected on the day of its verdict, and for latency on the day of the authority's first answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from fe.ecf.catalogue import Environment
from fe.identifiers import ApiKeyId, TenantId
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


# Verdicts are found by their own index, because a verdict may come long after its POST. Latencies are not: one
# first answered more than four days after its POST had waited for an operator, and is no measure of the service.
_DAYS = """
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
    """List a tenant's days from `since` to before `until` (both midnight UTC); a day without anything has no entry."""
    cursor = conn.cursor(row_factory=record_row(UsageDay))
    await cursor.execute(_DAYS, {"tenant": tenant_id, "from": since, "until": until})
    return await cursor.fetchall()


@dataclass(slots=True)
class RequestCount:
    """Requests of one tenant, environment and day that are not in the database yet."""

    succeeded: int = 0
    failed: int = 0
    bytes_in: int = 0
    bytes_out: int = 0


#: Tenant, environment, day.
CountKey = tuple[TenantId, Environment, date]

_ADD = """
    SELECT count_requests(
      %(tenant)s, %(environment)s, %(day)s, %(succeeded)s, %(failed)s, %(bytes_in)s, %(bytes_out)s)
"""


async def add_requests(conn: Conn, counts: Mapping[CountKey, RequestCount]) -> None:
    """Add counts to what is there. Run it in a transaction: then it is added once or not at all."""
    # Sorted, so that two processes that add at once lock rows in the same order.
    rows = [
        {
            "tenant": tenant_id,
            "environment": environment,
            "day": day,
            "succeeded": count.succeeded,
            "failed": count.failed,
            "bytes_in": count.bytes_in,
            "bytes_out": count.bytes_out,
        }
        for (tenant_id, environment, day), count in sorted(counts.items(), key=lambda item: item[0])
    ]
    await conn.cursor().executemany(_ADD, rows)


_USED = "SELECT note_key_use(%(tenant)s, %(key)s, %(at)s)"


async def keys_used(conn: Conn, uses: Sequence[tuple[TenantId, ApiKeyId, datetime]]) -> None:
    """Note when keys (tenant, key id) were last used."""
    rows = [{"tenant": tenant_id, "key": key, "at": at} for tenant_id, key, at in sorted(uses)]
    await conn.cursor().executemany(_USED, rows)
