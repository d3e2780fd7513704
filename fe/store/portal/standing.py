"""Where a company stands: what it was given as verdicts this month, what is on its way, and what did not work out."""

from dataclasses import dataclass
from datetime import date, datetime

from psycopg.rows import scalar_row

from fe.ecf.catalogue import Environment
from fe.ecf.ids import first_id
from fe.identifiers import PersonId, TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row
from fe.store.postgres.tenant_scope import Asked, fetch

#: Counts stop at this number.
MAX_COUNTED = 1000

_VERDICTS = """
    SELECT e.environment, coalesce(d.accepted, 0)::bigint AS accepted,
           coalesce(d.conditional, 0)::bigint AS conditional, coalesce(d.rejected, 0)::bigint AS rejected
      FROM unnest(%(environments)s::text[]) WITH ORDINALITY AS e (environment, n)
     CROSS JOIN LATERAL (
        SELECT sum(u.accepted) AS accepted, sum(u.conditional) AS conditional, sum(u.rejected) AS rejected
          FROM usage_days AS u
         WHERE u.tenant_id = %(tenant)s AND u.utc_day >= %(since)s AND u.environment = e.environment) AS d
     ORDER BY e.n
"""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The verdicts of a period in an environment, as usage counts them: seconds after they were given."""

    environment: Environment
    accepted: int
    conditional: int
    rejected: int


async def verdicts(conn: Conn, tenant_id: TenantId, since: date) -> list[Verdicts]:
    """Count the verdicts since a day (UTC), for each environment."""
    cursor = conn.cursor(row_factory=record_row(Verdicts))
    await cursor.execute(_VERDICTS, {"tenant": tenant_id, "since": since, "environments": list(Environment)})
    return await cursor.fetchall()


@dataclass(frozen=True, slots=True)
class Unsettled:
    """How many receipts of an environment are on their way, given up, and lately rejected or failed.

    MAX_COUNTED at most.
    """

    environment: Environment
    on_its_way: int
    given_up: int
    rejected: int
    failed: int


# Rows counted at most; rows of one environment are not stored together.
_TROUBLE = f"""
    SELECT e.environment,
           (SELECT count(*) FILTER (WHERE o.environment = e.environment)
              FROM (SELECT x.environment FROM outbox AS x
                     WHERE x.tenant_id = %(tenant)s AND x.run_at < 'infinity'
                     LIMIT {MAX_COUNTED}) AS o)::int AS on_its_way,
           (SELECT count(*) FILTER (WHERE d.environment = e.environment)
              FROM (SELECT y.environment FROM dead_letters AS y
                     WHERE y.tenant_id = %(tenant)s LIMIT {MAX_COUNTED}) AS d)::int AS given_up,
           (SELECT count(*)
              FROM (SELECT 1 FROM submissions AS r
                     WHERE r.tenant_id = %(tenant)s AND r.environment = e.environment AND r.submission_id >= %(first)s
                       AND r.status = 'Rechazado' LIMIT {MAX_COUNTED}) AS z)::int AS rejected,
           (SELECT count(*)
              FROM (SELECT 1 FROM submissions AS f
                     WHERE f.tenant_id = %(tenant)s AND f.environment = e.environment AND f.submission_id >= %(first)s
                       AND f.status = 'error' LIMIT {MAX_COUNTED}) AS z)::int AS failed
      FROM unnest(%(environments)s::text[]) WITH ORDINALITY AS e (environment, n)
     ORDER BY e.n
"""


_ACCEPTED_IN = """
    SELECT DISTINCT u.environment
      FROM usage_days AS u
     WHERE u.tenant_id = %(tenant)s AND u.accepted + u.conditional > 0
"""


async def accepted_in(conn: Conn, tenant_id: TenantId) -> set[Environment]:
    """Name the environments in which a receipt was ever accepted, as usage counts them."""
    cursor = await conn.execute(_ACCEPTED_IN, {"tenant": tenant_id})
    return {Environment(row[0]) for row in await cursor.fetchall()}


_SEEN_AT = "SELECT seen_at FROM portal_troubles_seen WHERE tenant_id = %(tenant)s AND person_id = %(person)s"


async def troubles_seen_at(conn: Conn, tenant_id: TenantId, person_id: PersonId) -> datetime | None:
    """Tell until when a person has looked at the company's rejected and failed receipts."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_SEEN_AT, {"tenant": tenant_id, "person": person_id})
    return await cursor.fetchone()


# Each as the first of its key: for EXISTS the planner may read all rows of other tenants, where this one has none.
_KEPT = """
    SELECT (SELECT t.seen_at FROM portal_troubles_seen AS t
             WHERE t.tenant_id = %(tenant)s AND t.person_id = %(person)s) AS seen_at,
           (SELECT r.received_id FROM received AS r
             WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s
             ORDER BY r.received_id DESC LIMIT 1) IS NOT NULL AS has_received,
           (SELECT w.endpoint_id FROM webhook_endpoints AS w
             WHERE w.tenant_id = %(tenant)s ORDER BY w.endpoint_id LIMIT 1) IS NOT NULL AS has_endpoints,
           (SELECT c.recurring_id FROM recurring_receipts AS c
             WHERE c.tenant_id = %(tenant)s ORDER BY c.recurring_id LIMIT 1) IS NOT NULL AS has_recurring,
           (SELECT p.ncf FROM paper_receipts AS p
             WHERE p.tenant_id = %(tenant)s ORDER BY p.environment, p.ncf LIMIT 1) IS NOT NULL AS has_papers
"""


@dataclass(frozen=True, slots=True)
class KeptRecords:
    """Which records a company has: the others are not asked for. `seen_at` is as `troubles_seen_at` returns it."""

    seen_at: datetime | None
    has_received: bool
    has_endpoints: bool
    has_recurring: bool
    has_papers: bool


def kept_asked(tenant_id: TenantId, person_id: PersonId, environment: Environment) -> Asked[KeptRecords]:
    """Tell which records a company has, received ones in an environment, and what a person has seen of it."""
    values = {"tenant": tenant_id, "person": person_id, "environment": environment}
    return Asked(_KEPT.encode(), values, record_row(KeptRecords))


_SEE = """
    INSERT INTO portal_troubles_seen (tenant_id, person_id, seen_at) VALUES (%(tenant)s, %(person)s, %(at)s)
    ON CONFLICT (tenant_id, person_id) DO UPDATE SET seen_at = EXCLUDED.seen_at
"""


async def see_troubles(conn: Conn, tenant_id: TenantId, person_id: PersonId, at: datetime) -> None:
    """Note that a person has looked at the company's rejected and failed receipts."""
    await conn.execute(_SEE, {"tenant": tenant_id, "person": person_id, "at": at})


def trouble_asked(tenant_id: TenantId, since: datetime) -> Asked[Unsettled]:
    """Return the statement of `trouble`."""
    values = {"tenant": tenant_id, "first": first_id(since), "environments": list(Environment)}
    return Asked(_TROUBLE.encode(), values, record_row(Unsettled))


async def trouble(conn: Conn, tenant_id: TenantId, since: datetime) -> list[Unsettled]:
    """Count the submissions that are under way, and those since `since` that were rejected or failed."""
    return await fetch(conn, trouble_asked(tenant_id, since))
