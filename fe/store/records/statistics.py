"""Counts for operators over all tenants: one statement each, never by tenant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import LiteralString

from psycopg.rows import class_row

from fe.contingency import ALARMS, TERMS, Clock, TermState
from fe.store.postgres.db import Conn
from fe.store.records.certificates import HAS_NO_RENEWAL
from fe.store.records.modes import AUTHORISES

_DEAD_LETTERS = """
    SELECT d.stage, d.environment, count(*)::int, greatest(extract(EPOCH FROM now() - min(d.died_at)), 0)::float8
      FROM dead_letters AS d
     GROUP BY d.stage, d.environment
"""


async def dead_letters(conn: Conn) -> list[tuple[str, str, int, float]]:
    """Tell per stage and environment how many rows gave up, and how many seconds ago the oldest did."""
    cursor = await conn.execute(_DEAD_LETTERS)
    return await cursor.fetchall()


# A doubt that became a dead letter still counts: it is unknown whether the authority has the document.
_UNKNOWN = """
    SELECT u.environment, count(*)::int, greatest(extract(EPOCH FROM now() - min(u.since)), 0)::float8
      FROM (SELECT o.environment, o.entered_at AS since
              FROM outbox AS o
             WHERE o.stage = 'reconcile' AND o.run_at < 'infinity'  -- the index's condition: see queue/tables.py
            UNION ALL
            SELECT d.environment, d.entered_at
              FROM dead_letters AS d
             WHERE EXISTS (SELECT 1
                             FROM sends AS x
                            WHERE x.tenant_id = d.tenant_id AND x.submission_id = d.subject
                              AND x.outcome IN ('intended', 'unknown'))) AS u
     GROUP BY u.environment
"""


async def unknown_outcomes(conn: Conn) -> list[tuple[str, int, float]]:
    """Return per environment the number of submissions in doubt and the age of the oldest in seconds."""
    cursor = await conn.execute(_UNKNOWN)
    return await cursor.fetchall()


# Paused submissions are not tracked, so their verdicts are not awaited. By tenant, for the reason given at _WAITING of
# queue/outbox.py.
_AWAITED = """
    WITH waiting AS MATERIALIZED (
        SELECT o.environment, o.tenant_id, min(o.entered_at) AS since
          FROM outbox AS o
         WHERE o.stage = 'track' AND o.run_at < 'infinity'  -- the index's condition: see queue/tables.py
         GROUP BY o.environment, o.tenant_id
    )
    SELECT w.environment, greatest(extract(EPOCH FROM now() - min(w.since)), 0)::float8
      FROM waiting AS w
     WHERE NOT EXISTS (SELECT 1
                         FROM pauses AS p
                        WHERE p.tenant_id IN (0, w.tenant_id) AND p.environment IN ('', w.environment::text))
     GROUP BY w.environment
"""


async def awaited_verdicts(conn: Conn) -> list[tuple[str, float]]:
    """Tell per environment for how many seconds the one that was received longest ago has waited for its verdict."""
    cursor = await conn.execute(_AWAITED)
    return await cursor.fetchall()


_PAUSES = "SELECT count(*)::int, coalesce(extract(EPOCH FROM now() - min(paused_at)), 0)::float8 FROM pauses"


async def pauses(conn: Conn) -> tuple[int, float]:
    """Tell how many pauses are in force, and for how many seconds the oldest has been."""
    cursor = await conn.execute(_PAUSES)
    count, oldest = await cursor.fetchone() or (0, 0.0)
    return count, oldest


# A tenant without a call, issued or received document for a month, or a disabled one, is inactive: its certificates may
# expire. Tenants that issue in the portal, or only receive, use no key. Tenants (each has a mark) are looked up one by
# one, so that years of days and documents are not read; tables that some engines distribute are read first.
def _issued(in_production: LiteralString) -> LiteralString:
    return f"""SELECT m.tenant_id, {in_production} AS in_production
          FROM usage_marks AS m
         WHERE EXISTS (SELECT 1
                         FROM usage_days AS u
                        WHERE u.tenant_id = m.tenant_id AND u.utc_day > (now() - interval '30 days')::date
                          AND (u.environment = 'ecf' OR NOT {in_production}))"""


def _received(in_production: LiteralString) -> LiteralString:
    return f"""SELECT m.tenant_id, {in_production} AS in_production
          FROM usage_marks AS m
         WHERE EXISTS (SELECT 1
                         FROM received AS r
                        WHERE r.tenant_id = m.tenant_id AND r.received_id >= uuid_floor(now() - interval '30 days')
                          AND (r.environment = 'ecf' OR NOT {in_production}))"""


_LATELY = "\n        UNION ALL\n        ".join(of(where) for of in (_issued, _received) for where in ("true", "false"))
_AT_WORK = f"""
    lately AS MATERIALIZED (
        {_LATELY}
    ), at_work AS MATERIALIZED (
        SELECT a.tenant_id, bool_or(a.in_production) AS in_production
          FROM (SELECT l.tenant_id, l.in_production FROM lately AS l
                UNION ALL
                SELECT k.tenant_id, false
                  FROM api_key_uses AS k
                 WHERE k.last_used_at > now() - interval '30 days') AS a
         WHERE NOT EXISTS (SELECT 1 FROM disabled_tenants AS d WHERE d.tenant_id = a.tenant_id)
         GROUP BY a.tenant_id
    )
"""

_CERTIFICATES = f"""
    WITH {_AT_WORK}
    SELECT CASE WHEN c.not_after <= now() THEN 'expired'
                WHEN c.not_after <= now() + interval '7 days' THEN 'within_7_days'
                WHEN c.not_after <= now() + interval '30 days' THEN 'within_30_days'
                WHEN c.not_after <= now() + interval '60 days' THEN 'within_60_days'
                ELSE 'later' END AS expires,
           CASE WHEN at_work.in_production THEN 'production' ELSE 'tests' END AS at_work_in,
           count(*)::int
      FROM certificates AS c
      JOIN at_work ON at_work.tenant_id = c.tenant_id
     WHERE c.retired_at IS NULL AND {HAS_NO_RENEWAL}
     GROUP BY expires, at_work_in
"""


async def certificates(conn: Conn) -> list[tuple[str, str, int]]:
    """Count the certificates in use of tenants at work: time left, whether in production or for tests, how many."""
    cursor = await conn.execute(_CERTIFICATES)
    return await cursor.fetchall()


# How fast a sequence is used is known on the average of its life, and no better than that, but for at least a day.
_SEQUENCES = f"""
    WITH {_AT_WORK}, counted AS (
        SELECT q.environment,
               CASE WHEN NOT q.next_counts THEN q.expire_at
                    WHEN q.next_is_due THEN q.next_expire_at
                    WHEN num_nulls(q.expire_at, q.next_expire_at) = 0
                    THEN greatest(q.expire_at, q.next_expire_at) END AS expire_at,
               q.max_number - q.min_number + 1 AS size, q.current_number - q.min_number AS used,
               CASE WHEN q.next_counts AND q.next_is_due THEN 0 ELSE q.max_number + 1 - q.current_number END
                    + CASE WHEN q.next_counts THEN q.next_max + 1 - q.next_min ELSE 0 END AS remaining,
               greatest(extract(EPOCH FROM now() - q.created_at) / 86400, 1) AS days
          FROM (SELECT s.*, s.next_min IS NOT NULL AND coalesce(s.next_expire_at > now(), true) AS next_counts,
                       s.current_number > s.max_number OR coalesce(s.expire_at <= now(), false) AS next_is_due
                  FROM sequences AS s
                 WHERE s.is_active) AS q
          JOIN at_work ON at_work.tenant_id = q.tenant_id
    )
    SELECT c.environment,
           CASE WHEN c.remaining = 0 THEN 'none'
                WHEN c.remaining * c.days < 3 * c.used THEN 'under_3_days'
                WHEN c.remaining * 10 < c.size THEN 'under_10_percent'
                ELSE 'enough' END AS numbers_left,
           CASE WHEN c.expire_at IS NULL THEN 'never'
                WHEN c.expire_at <= now() THEN 'expired'
                WHEN c.expire_at <= now() + interval '15 days' THEN 'within_15_days'
                WHEN c.expire_at <= now() + interval '60 days' THEN 'within_60_days'
                ELSE 'later' END AS expires,
           count(*)::int
      FROM counted AS c
     GROUP BY c.environment, numbers_left, expires
"""


async def sequences(conn: Conn) -> list[tuple[str, str, str, int]]:
    """Count the active sequences of tenants at work: environment, numbers left, time left, how many."""
    cursor = await conn.execute(_SEQUENCES)
    return await cursor.fetchall()


# A month says by how many it was wrong until it is counted again, an hour later; one that is over is not any more.
_BILLING = """
    SELECT (SELECT coalesce(sum(abs(m.drift)), 0)
              FROM billing_months AS m
             WHERE m.checked_at > now() - interval '2 hours')::float8,
           (SELECT coalesce(greatest(extract(EPOCH FROM clock_timestamp() - min(e.noted_at)), 0), 0)
              FROM usage_ends AS e
             WHERE e.billed_in IS NOT NULL)::float8,
           (SELECT coalesce(extract(EPOCH FROM clock_timestamp() - max(r.ended_at)), 0)
              FROM billing_rounds AS r)::float8
"""


async def billing(conn: Conn) -> tuple[float, float, float]:
    """Tell by how many emissions months were found wrong, and the seconds that the oldest billed one waits to be added.

    The third is for how many seconds months have not been counted again.
    """
    cursor = await conn.execute(_BILLING)
    found = await cursor.fetchone()
    assert found is not None
    drift, lag, reconciled = found
    return drift, lag, reconciled


_CHARGES = """
    SELECT CASE c.stage WHEN 'charge' THEN 'waiting' ELSE c.stage END, count(*)::int,
           greatest(extract(EPOCH FROM clock_timestamp() - min(coalesce(c.settled_at, c.entered_at))), 0)::float8
      FROM billing_charges AS c
     WHERE c.stage IN ('charge', 'failed')
     GROUP BY c.stage
"""


async def charges(conn: Conn) -> list[tuple[str, int, float]]:
    """Tell how many charges wait or failed, and for how many seconds the oldest of each has."""
    cursor = await conn.execute(_CHARGES)
    return await cursor.fetchall()


# Those that change all the time, where bloat would show first.
_TABLES = """
    SELECT t.relname, pg_total_relation_size(t.relid)::float8, t.n_live_tup::float8, t.n_dead_tup::float8
      FROM pg_stat_user_tables AS t
     WHERE t.schemaname = current_schema() AND t.relname IN ('outbox', 'dead_letters', 'sequences', 'workers')
"""


async def tables(conn: Conn) -> list[tuple[str, float, float, float]]:
    """Tell of each hot table its bytes, and by the server's estimate its live and its dead rows."""
    cursor = await conn.execute(_TABLES)
    return await cursor.fetchall()


@dataclass(frozen=True, slots=True)
class PostgresHealth:
    """How the server is. `oldest_transaction` is in seconds, 0 when there is none but the one that asks.

    What is counted (`committed` to `temporary_bytes`) is counted since its statistics were last reset, for our database
    alone. `transaction_ids_used` is a share: from 1 on the server takes no writes. `replica_lag` is in seconds, 0 when
    there is no standby.
    """

    connections: int
    max_connections: int
    oldest_transaction: float
    lock_waits: int
    bytes: float
    transaction_ids_used: float
    committed: float
    rolled_back: float
    from_cache: float
    from_disk: float
    deadlocks: float
    temporary_bytes: float
    replica_lag: float
    archive_fails: bool


# Of other roles the server shows us when their transactions began, and of standbys how far behind they are, only if we
# may see it.
_SERVER = """
    SELECT (SELECT count(*) FROM pg_stat_activity AS a WHERE a.datid IS NOT NULL)::int AS connections,
           current_setting('max_connections')::int AS max_connections,
           (SELECT coalesce(max(extract(EPOCH FROM clock_timestamp() - a.xact_start)), 0)
              FROM pg_stat_activity AS a
             WHERE a.backend_type = 'client backend' AND a.pid <> pg_backend_pid())::float8 AS oldest_transaction,
           (SELECT count(*)
              FROM pg_stat_activity AS a
             WHERE a.datname = current_database() AND a.wait_event_type = 'Lock')::int AS lock_waits,
           pg_database_size(current_database())::float8 AS bytes,
           (SELECT max(age(b.datfrozenxid)) FROM pg_database AS b)::float8 / 2147483647 AS transaction_ids_used,
           d.xact_commit::float8 AS committed, d.xact_rollback::float8 AS rolled_back,
           d.blks_hit::float8 AS from_cache, d.blks_read::float8 AS from_disk,
           d.deadlocks::float8 AS deadlocks, d.temp_bytes::float8 AS temporary_bytes,
           (SELECT coalesce(max(extract(EPOCH FROM r.replay_lag)), 0) FROM pg_stat_replication AS r)::float8
               AS replica_lag,
           (SELECT coalesce(w.last_failed_time > w.last_archived_time, w.last_failed_time IS NOT NULL)
              FROM pg_stat_archiver AS w) AS archive_fails
      FROM pg_stat_database AS d
     WHERE d.datname = current_database()
"""


async def server(conn: Conn) -> PostgresHealth:
    """Tell how the server is."""
    cursor = conn.cursor(row_factory=class_row(PostgresHealth))
    await cursor.execute(_SERVER)
    found = await cursor.fetchone()
    assert found is not None
    return found


@dataclass(frozen=True, slots=True)
class WebhookStock:
    """Deliveries that are not confirmed and endpoints that are switched on, by their states; `late` in seconds."""

    deliveries: Mapping[str, int]
    endpoints: Mapping[str, int]
    #: How late the oldest due delivery is, of endpoints whose last try did not fail.
    late: float


_WEBHOOK_DELIVERIES = """
    SELECT d.stage, count(*)
      FROM webhook_deliveries AS d
     WHERE d.stage IN ('webhook', 'held', 'failed')
     GROUP BY d.stage
"""
_WEBHOOK_ENDPOINTS = """
    SELECT CASE WHEN e.disabled_at IS NOT NULL THEN 'disabled' WHEN e.failing_since IS NOT NULL THEN 'failing'
                ELSE 'well' END AS state, count(*)
      FROM webhook_endpoints AS e
     WHERE e.enabled AND e.removed_at IS NULL AND e.disabled_reason IS DISTINCT FROM 'tenant'
     GROUP BY state
"""
_WEBHOOK_LATE = """
    SELECT coalesce(extract(EPOCH FROM now() - min(d.run_at)), 0)::float
      FROM webhook_deliveries AS d
      JOIN webhook_endpoints AS e ON e.tenant_id = d.tenant_id AND e.endpoint_id = d.endpoint_id
     WHERE d.stage = 'webhook' AND d.run_at < now() AND e.failing_since IS NULL
       AND NOT EXISTS (SELECT 1
                         FROM pauses AS p
                        WHERE p.tenant_id IN (0, d.tenant_id) AND p.environment IN ('', d.environment::text))
"""


# Older failed deliveries are not counted: an operator may leave one as it is.
_GIVEN_UP = """
    SELECT d.kind, count(*)::int
      FROM counterparty_deliveries AS d
     WHERE d.state = 'gave_up' AND d.changed_at > now() - interval '7 days'
     GROUP BY d.kind
"""


async def given_up(conn: Conn) -> list[tuple[str, int]]:
    """Count the deliveries to counterparties that gave up in the last week, by their kind."""
    cursor = await conn.execute(_GIVEN_UP)
    return await cursor.fetchall()


# Mails that wait for the next day, or for a later try, are not late. Paused ones are left out.
_MAILS = """
    SELECT (SELECT coalesce(extract(EPOCH FROM now() - min(m.run_at)), 0)
              FROM mails AS m
             WHERE m.stage = 'mail' AND m.run_at < now() AND m.run_at < 'infinity'
               AND NOT EXISTS (SELECT 1
                                 FROM pauses AS p
                                WHERE p.tenant_id IN (0, m.tenant_id)
                                  AND p.environment IN ('', m.environment::text)))::float8,
           (SELECT count(*) FROM mails AS m WHERE m.stage = 'failed' AND m.finished_at > now() - interval '7 days')::int
"""


async def mails(conn: Conn) -> tuple[float, int]:
    """Tell how many seconds late the oldest due mail is, and how many mails gave up in the last week."""
    cursor = await conn.execute(_MAILS)
    late, given_up = await cursor.fetchone() or (0.0, 0)
    return late, given_up


_VOIDINGS_IN_DOUBT = "SELECT count(*)::int FROM voidings AS v WHERE v.stage = 'in doubt'"


async def voidings_in_doubt(conn: Conn) -> int:
    """Count the voidings that an operator has to settle."""
    found = await (await conn.execute(_VOIDINGS_IN_DOUBT)).fetchone()
    return 0 if found is None else int(found[0])


# Tenants whose documents are signed before they are handed over, or have the shorter term of deferred sending.
# `with_agents` comes first: a cluster has agents on the coordinator alone.
_AGENTS = "with_agents AS MATERIALIZED (SELECT DISTINCT a.tenant_id FROM agents AS a)"
_APART = """(EXISTS (SELECT 1 FROM with_agents AS a WHERE a.tenant_id = u.tenant_id)
             OR EXISTS (SELECT 1 FROM mode_periods AS p WHERE p.tenant_id = u.tenant_id AND p.mode = 'deferred'))"""
# Documents that the authority may not have, dead letters included. `run_at`: as in queue/tables.py.
_WAITING = """(SELECT o.tenant_id, o.environment, o.subject
              FROM outbox AS o
             WHERE o.stage IN ('send', 'reconcile') AND o.run_at < 'infinity'
            UNION ALL
            SELECT d.tenant_id, d.environment, d.subject
              FROM dead_letters AS d
             WHERE d.stage IN ('send', 'reconcile')) AS u"""
# The service signs at once, so the id carries the millisecond of the signature.
_UNSENT = f"""
    WITH {_AGENTS}
    SELECT u.environment,
           count(*) FILTER (WHERE u.subject >= uuid_floor(now() - %(urgent)s::interval))::int,
           count(*) FILTER (WHERE u.subject < uuid_floor(now() - %(urgent)s::interval)
                              AND u.subject >= uuid_floor(now() - %(over)s::interval))::int,
           count(*) FILTER (WHERE u.subject < uuid_floor(now() - %(over)s::interval))::int
      FROM {_WAITING}
     WHERE u.subject < uuid_floor(now() - %(soon)s::interval) AND NOT {_APART}
     GROUP BY u.environment
"""
# Agents sign before they hand over. Documents for which deferred sending is authorised have its term.
_UNSENT_APART = f"""
    WITH {_AGENTS}
    SELECT s.environment,
           count(*) FILTER (WHERE s.signed_at > now() - %(urgent)s::interval)::int,
           count(*) FILTER (WHERE s.signed_at <= now() - %(urgent)s::interval
                              AND s.signed_at > now() - %(over)s::interval)::int,
           count(*) FILTER (WHERE s.signed_at <= now() - %(over)s::interval)::int
      FROM {_WAITING}
      JOIN submissions AS s ON s.tenant_id = u.tenant_id AND s.submission_id = u.subject
     WHERE s.signed_at <= now() - %(soon)s::interval AND {_APART}
       AND EXISTS (SELECT 1
                     FROM mode_periods AS p
                    WHERE p.tenant_id = s.tenant_id AND p.environment = s.environment
                      AND {AUTHORISES}) = %(deferred)s
     GROUP BY s.environment
"""
_CONTINGENCIES = """
    SELECT p.environment,
           count(*) FILTER (WHERE p.began_at > now() - %(urgent)s::interval)::int,
           count(*) FILTER (WHERE p.began_at <= now() - %(urgent)s::interval
                              AND p.began_at > now() - %(over)s::interval)::int,
           count(*) FILTER (WHERE p.began_at <= now() - %(over)s::interval)::int
      FROM mode_periods AS p
     WHERE p.mode = 'contingency' AND p.ended_at IS NULL AND p.began_at <= now() - %(soon)s::interval
     GROUP BY p.environment
"""
# Paper receipts without an accepted e-CF, from the end of their contingency on.
_UNREPLACED = """
    SELECT u.environment,
           count(*) FILTER (WHERE u.ended_at > now() - %(urgent)s::interval)::int,
           count(*) FILTER (WHERE u.ended_at <= now() - %(urgent)s::interval
                              AND u.ended_at > now() - %(over)s::interval)::int,
           count(*) FILTER (WHERE u.ended_at <= now() - %(over)s::interval)::int
      FROM (SELECT r.environment, coalesce(p.ended_at, p.began_at + %(period)s::interval) AS ended_at
              FROM paper_receipts AS r
              JOIN mode_periods AS p ON p.tenant_id = r.tenant_id AND p.period_id = r.period_id
             WHERE r.replaced_at IS NULL) AS u
     WHERE u.ended_at <= now() - %(soon)s::interval
     GROUP BY u.environment
"""
_OF_CLOCK = {
    Clock.SENDING: (_UNSENT, _UNSENT_APART),
    Clock.DEFERRED: (_UNSENT_APART,),
    Clock.PERIOD: (_CONTINGENCIES,),
    Clock.REPLACING: (_UNREPLACED,),
}


async def terms(conn: Conn) -> list[tuple[str, Clock, TermState, int]]:
    """Count unsent documents, declared contingencies and unreplaced paper receipts by how far their terms have run.

    An environment may come more than once.
    """
    found = []
    for clock, (soon, urgent) in ALARMS.items():
        values = {
            "soon": soon,
            "urgent": urgent,
            "over": TERMS[clock],
            "deferred": clock is Clock.DEFERRED,
            "period": TERMS[Clock.PERIOD],
        }
        for query in _OF_CLOCK[clock]:
            cursor = await conn.execute(query, values)
            for environment, *counts in await cursor.fetchall():
                found += [(environment, clock, *each) for each in zip(TermState, counts, strict=True)]
    return found


_HANDING_ON = """
    SELECT o.stage, greatest(extract(EPOCH FROM now() - min(o.entered_at)), 0)::float8
      FROM counterparty_outbox AS o
     WHERE NOT EXISTS (SELECT 1
                         FROM pauses AS p
                        WHERE p.tenant_id IN (0, o.tenant_id) AND p.environment IN ('', o.environment::text))
     GROUP BY o.stage
"""


async def handing_on(conn: Conn) -> list[tuple[str, float]]:
    """Tell for how many seconds the oldest delivery to a counterparty has been in its stage, where it is not paused."""
    cursor = await conn.execute(_HANDING_ON)
    return await cursor.fetchall()


async def webhooks(conn: Conn) -> WebhookStock:
    """Count what waits to be told, and who does not listen."""
    deliveries = await (await conn.execute(_WEBHOOK_DELIVERIES)).fetchall()
    endpoints = await (await conn.execute(_WEBHOOK_ENDPOINTS)).fetchall()
    late = await (await conn.execute(_WEBHOOK_LATE)).fetchone()
    assert late is not None
    return WebhookStock(dict(deliveries), dict(endpoints), late[0])


@dataclass(frozen=True, slots=True)
class Performance:
    """Receipts and requests of all tenants in an environment, and latencies of the authority's first answers."""

    environment: str
    submitted: int
    accepted: int
    conditional: int
    rejected: int
    answered: int
    requests_succeeded: int
    requests_failed: int
    #: Answers by their latency in microseconds, which rises; the value of a bucket is within 1 %.
    latencies: Sequence[tuple[int, int]] = ()

    def latency_ms(self, part: int) -> float | None:
        """Return the percentile `part` of the latencies in milliseconds; None where nothing was answered."""
        total, upto = sum(number for _, number in self.latencies), 0
        for microseconds, number in self.latencies:
            upto += number
            if upto * 100 >= total * part:
                return microseconds / 1000
        return None


_DONE = """
    SELECT d.environment, sum(d.submitted)::bigint, sum(d.accepted)::bigint, sum(d.conditional)::bigint,
           sum(d.rejected)::bigint, sum(d.answered)::bigint
      FROM usage_days AS d
     WHERE d.utc_day >= %(first)s AND d.utc_day <= %(last)s
     GROUP BY d.environment
     ORDER BY d.environment
"""
_CALLS = """
    SELECT r.environment, sum(r.succeeded)::bigint, sum(r.failed)::bigint
      FROM request_counts AS r
     WHERE r.utc_day >= %(first)s AND r.utc_day <= %(last)s
     GROUP BY r.environment
"""
_LATENCIES = """
    SELECT x.environment, latency_of_bucket(x.bucket::int), x.number
      FROM (SELECT l.environment, c.bucket, sum(c.number)::bigint AS number
              FROM usage_latency AS l CROSS JOIN LATERAL unnest(l.counts) WITH ORDINALITY AS c (number, bucket)
             WHERE l.utc_day >= %(first)s AND l.utc_day <= %(last)s
             GROUP BY l.environment, c.bucket) AS x
     WHERE x.number > 0
     ORDER BY x.environment, x.bucket
"""


async def performance(conn: Conn, first: date, last: date) -> list[Performance]:
    """Sum up the days from `first` to `last` (UTC), by environment."""
    days = {"first": first, "last": last}
    calls = {one[0]: one[1:] for one in await (await conn.execute(_CALLS, days)).fetchall()}
    latencies: dict[str, list[tuple[int, int]]] = {}
    for environment, microseconds, number in await (await conn.execute(_LATENCIES, days)).fetchall():
        latencies.setdefault(environment, []).append((microseconds, number))
    found = []
    for environment, submitted, accepted, conditional, rejected, answered in await (
        await conn.execute(_DONE, days)
    ).fetchall():
        succeeded, failed = calls.get(environment, (0, 0))
        counts = submitted, accepted, conditional, rejected, answered, succeeded, failed
        found.append(Performance(environment, *counts, latencies.get(environment, ())))
    return found
