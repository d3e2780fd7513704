"""The outbox: claims of due work, and the fenced ways to book what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString

from psycopg.rows import scalar_row
from psycopg.types.json import Jsonb

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId, TrackId
from fe.lifecycle import NumberFate, Stage, Status
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import LeaseLost


@dataclass(frozen=True, slots=True)
class OutboxLane:
    """Rows that stand or fall together: one environment, and one of the authority's hosts ('' before it is known)."""

    environment: Environment
    host: str = ""

    @property
    def group(self) -> str:
        """A tenant's work in one environment does not use up its share in another."""
        return self.environment

    @property
    def takes_all(self) -> bool:
        """The test environments take what production leaves, and never the last quarter of the slots."""
        return self.environment is Environment.ECF


@dataclass(frozen=True, slots=True)
class Work:
    """A claimed row. `attempt` counts this try; `epoch` is the fencing token every booking must show."""

    stage: Stage
    lane: OutboxLane
    tenant_id: TenantId
    subject: SubmissionId
    attempt: int
    epoch: int
    crash_count: int
    #: For how long it had been in this stage when it was claimed, by the database's clock.
    waited: timedelta
    last_error: str | None

    @property
    def environment(self) -> Environment:
        """The environment of its lane."""
        return self.lane.environment

    @property
    def host(self) -> str:
        """The host of its lane."""
        return self.lane.host


#: Before any row can be due.
ALWAYS = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
NO_FLOORS: Mapping[OutboxLane, datetime] = {}

# A row gets its run_at from the database's clock, at the latest statement_timeout (8 s) before it can be seen.
_FLOORS = """
    SELECT o.environment, o.host, least(min(o.run_at), now()) - interval '15 s'
      FROM outbox AS o
     WHERE o.stage = %(stage)s
     GROUP BY o.environment, o.host
     UNION ALL
    SELECT 'none', '', now() - interval '15 s'
"""
_NO_LANE = ("none", "")


async def floors_of(conn: Conn, stage: str, lanes: Sequence[OutboxLane]) -> dict[OutboxLane, datetime]:
    """Tell, for each lane, a moment before which no row of it is due, now or later.

    While an old snapshot is held open (a backup, a forgotten session) nothing that died since can be cleaned away, and
    a search that began at the beginning would walk over every row that ever was, at each claim. With a floor that is
    renewed now and then it walks over those that died since the renewal.
    """
    cursor = await conn.execute(_FLOORS, {"stage": stage})
    found = {(environment, host): floor for environment, host, floor in await cursor.fetchall()}
    of_empty_lanes = found[_NO_LANE]
    return {lane: found.get((lane.environment, lane.host), of_empty_lanes) for lane in lanes}


@dataclass(frozen=True, slots=True)
class OutboxShare:
    """A tenant that has work due, and how many rows it may be served for each row of a tenant of weight 1."""

    tenant_id: TenantId
    weight: int


# Walks the index from tenant to tenant, to the earliest row of each, so that a tenant's million rows cost one step,
# whether they are due or not; ordering by run_at too leaves the planner no other index. It goes on from the tenant
# served last, then round from the first, and stops when it has enough. It takes no locks and may be wrong: the claim
# looks again. statement_timestamp(), because a volatile clock is compared row by row and never finds its place in an
# index. All lanes in one statement, because starting so large a plan costs more than running it.
_DUE_TENANTS = """
    SELECT lane.environment, lane.host, due_tenant.tenant_id, due_tenant.weight
      FROM (SELECT l.environment COLLATE "C" AS environment, l.host COLLATE "C" AS host, l.after, l.floor, l.n
              FROM unnest(%(environments)s::text[], %(hosts)s::text[], %(afters)s::bigint[], %(floors)s::timestamptz[])
                   WITH ORDINALITY AS l (environment, host, after, floor, n)) AS lane
     CROSS JOIN LATERAL (
        WITH RECURSIVE ahead (tenant_id, run_at, n) AS (
            (SELECT o.tenant_id, o.run_at, 1
               FROM outbox AS o
              WHERE o.stage = %(stage)s AND o.environment = lane.environment AND o.host = lane.host
                AND o.tenant_id > lane.after AND o.run_at >= lane.floor
              ORDER BY o.tenant_id, o.run_at
              LIMIT 1)
            UNION ALL
            SELECT following.tenant_id, following.run_at, ahead.n + 1
              FROM ahead
             CROSS JOIN LATERAL (SELECT o.tenant_id, o.run_at
                                   FROM outbox AS o
                                  WHERE o.stage = %(stage)s AND o.environment = lane.environment AND o.host = lane.host
                                    AND o.tenant_id > ahead.tenant_id AND o.run_at >= lane.floor
                                  ORDER BY o.tenant_id, o.run_at
                                  LIMIT 1) AS following
        ), around (tenant_id, run_at, n) AS (
            (SELECT o.tenant_id, o.run_at, 1
               FROM outbox AS o
              WHERE o.stage = %(stage)s AND o.environment = lane.environment AND o.host = lane.host
                AND o.tenant_id <= lane.after AND o.run_at >= lane.floor
              ORDER BY o.tenant_id, o.run_at
              LIMIT 1)
            UNION ALL
            SELECT following.tenant_id, following.run_at, around.n + 1
              FROM around
             CROSS JOIN LATERAL (SELECT o.tenant_id, o.run_at
                                   FROM outbox AS o
                                  WHERE o.stage = %(stage)s AND o.environment = lane.environment AND o.host = lane.host
                                    AND o.tenant_id > around.tenant_id AND o.tenant_id <= lane.after
                                    AND o.run_at >= lane.floor
                                  ORDER BY o.tenant_id, o.run_at
                                  LIMIT 1) AS following
        ), due AS (
            SELECT step.tenant_id, step.round, step.n
              FROM (SELECT ahead.tenant_id, ahead.run_at, 1 AS round, ahead.n FROM ahead
                    UNION ALL
                    SELECT around.tenant_id, around.run_at, 2 AS round, around.n FROM around) AS step
             WHERE step.run_at <= statement_timestamp()
               AND (SELECT count(*)
                      FROM pauses AS p
                     WHERE p.tenant_id IN (0, step.tenant_id) AND p.environment IN ('', lane.environment)) = 0
             LIMIT %(limit)s
        )
        SELECT due.tenant_id, t.weight, due.round, due.n
          FROM due
          JOIN tenants AS t ON t.tenant_id = due.tenant_id) AS due_tenant
     ORDER BY lane.n, due_tenant.round, due_tenant.n
"""


async def due_tenants(
    conn: Conn,
    stage: str,
    lanes: Sequence[tuple[OutboxLane, TenantId]],
    limit: int,
    *,
    floors: Mapping[OutboxLane, datetime] = NO_FLOORS,
) -> dict[OutboxLane, list[OutboxShare]]:
    """Name, for each lane, up to `limit` tenants that have work due and are not paused, in one round trip.

    They come by their ids, beginning past the tenant that is given with the lane and going round. `floors` as
    `floors_of` gives them: rows that fell due before their lane's are not looked for.
    """
    cursor = await conn.execute(
        _DUE_TENANTS,
        {
            "stage": stage,
            "environments": [lane.environment for lane, _ in lanes],
            "hosts": [lane.host for lane, _ in lanes],
            "afters": [after for _, after in lanes],
            "floors": [floors.get(lane, ALWAYS) for lane, _ in lanes],
            "limit": limit,
        },
    )
    tenants: dict[OutboxLane, list[OutboxShare]] = {lane: [] for lane, _ in lanes}
    for environment, host, tenant_id, weight in await cursor.fetchall():
        tenants[OutboxLane(Environment(environment), host)].append(OutboxShare(tenant_id, weight))
    return tenants


# What was picked goes through arrays because the planner expects ten elements of an array, and a tenth of the table of
# a LIMIT that it cannot see: then it would read the whole table for each claim.
_CLAIM = """
    WITH due AS (
        SELECT o.tenant_id, o.subject
          FROM unnest(%(scope)s::bigint[], %(shares)s::int[]) AS scope (tenant_id, share)
         CROSS JOIN LATERAL (SELECT w.tenant_id, w.subject
                               FROM outbox AS w
                              WHERE w.tenant_id = scope.tenant_id AND w.stage = %(stage)s
                                AND w.environment = %(environment)s AND w.host = %(host)s
                                AND w.run_at >= %(floor)s AND w.run_at <= statement_timestamp()
                              ORDER BY w.run_at
                              LIMIT scope.share
                                FOR UPDATE SKIP LOCKED) AS o
    )
    UPDATE outbox AS o
       SET attempt = o.attempt + 1, epoch = o.epoch + 1, holder = %(holder)s,
           deaths = o.deaths + (o.holder IS NOT NULL)::int, run_at = now() + %(lease)s
      FROM unnest(ARRAY(SELECT tenant_id FROM due), ARRAY(SELECT subject FROM due)) AS picked (tenant_id, subject)
     WHERE o.tenant_id = ANY (%(scope)s::bigint[])
       AND o.tenant_id = picked.tenant_id AND o.subject = picked.subject
    RETURNING o.tenant_id, o.subject, o.attempt, o.epoch, o.deaths, now() - o.entered_at,
              o.last_error
"""


async def claim(
    conn: Conn,
    stage: str,
    lane: OutboxLane,
    scope: Sequence[TenantId],
    shares: Sequence[int],
    *,
    lease: timedelta,
    holder: str,
    floor: datetime = ALWAYS,
) -> list[Work]:
    """Take due rows of every tenant in `scope`, of each at most its share; none that fell due before `floor`.

    The attempt and the epoch are raised with the claim, so a try that dies has been counted. If we die, the rows fall
    due again when the lease ends, or when somebody notices that `holder` is silent.
    """
    if not scope:
        return []
    cursor = await conn.execute(
        _CLAIM,
        {
            "stage": stage,
            "environment": lane.environment,
            "host": lane.host,
            "scope": list(scope),
            "shares": list(shares),
            "floor": floor,
            "lease": lease,
            "holder": holder,
        },
        binary=True,
    )
    of = Stage(stage)
    return [Work(of, lane, *row) for row in await cursor.fetchall()]


async def book(conn: Conn, call: LiteralString, work: Work, **values: Any) -> None:
    """Call one of the booking functions of sql/0005_steps.sql; raise LeaseLost when it answers false."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(call, {"tenant": work.tenant_id, "subject": work.subject, "epoch": work.epoch, **values})
    if not await cursor.fetchone():
        raise LeaseLost(work.stage, work.subject, work.epoch)


async def retry(conn: Conn, work: Work, *, at: datetime, after: timedelta, error: str, counts: bool = True) -> None:
    """Due again after `after`. With `counts` false the attempt is given back (we were stopped; nothing failed)."""
    await book(
        conn,
        "SELECT book_retry(%(tenant)s, %(subject)s, %(epoch)s, %(at)s, %(after)s, %(counts)s, %(error)s)",
        work,
        at=at,
        after=after,
        counts=counts,
        error=error,
    )


async def not_sent(conn: Conn, work: Work, *, at: datetime, after: timedelta, error: str, counts: bool = True) -> None:
    """Like `retry`, and the intent to send is closed: certainly nothing was processed over there."""
    await book(
        conn,
        "SELECT book_not_sent(%(tenant)s, %(subject)s, %(epoch)s, %(at)s, %(after)s, %(counts)s, %(error)s)",
        work,
        at=at,
        after=after,
        counts=counts,
        error=error,
    )


async def dead_letter(conn: Conn, work: Work, *, at: datetime, error: str) -> None:
    """Out of attempts: an operator's matter from here on; the client still sees `queued`."""
    await book(
        conn,
        "SELECT book_dead_letter(%(tenant)s, %(subject)s, %(epoch)s, %(at)s, %(error)s)",
        work,
        at=at,
        error=error,
    )


async def failure(conn: Conn, work: Work, *, at: datetime, response: dict[str, Any], fate: NumberFate) -> None:
    """A permanent failure: status `error`, never tried again by itself."""
    await book(
        conn,
        "SELECT book_failure(%(tenant)s, %(subject)s, %(epoch)s, %(at)s, %(response)s, %(fate)s)",
        work,
        at=at,
        response=Jsonb(response),
        fate=fate,
    )


async def received(
    conn: Conn, work: Work, *, at: datetime, track_id: TrackId, after: timedelta, reply: dict[str, Any]
) -> None:
    """The authority has it under `track_id`; ask for its verdict after `after`."""
    await book(
        conn,
        "SELECT book_received(%(tenant)s, %(subject)s, %(epoch)s, %(at)s, %(track_id)s, %(after)s, %(reply)s)",
        work,
        at=at,
        track_id=track_id,
        after=after,
        reply=Jsonb(reply),
    )


_OPEN_SENDS = """
    SELECT EXISTS (SELECT 1
                     FROM sends AS x
                    WHERE x.tenant_id = %(tenant)s AND x.submission_id = %(subject)s
                      AND x.outcome IN ('intended', 'unknown'))
"""


async def has_open_sends(conn: Conn, work: Work) -> bool:
    """Tell whether bytes may have gone out of which nobody knows what became of them."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_OPEN_SENDS, {"tenant": work.tenant_id, "subject": work.subject})
    return bool(await cursor.fetchone())


async def doubt(conn: Conn, work: Work, *, at: datetime, after: timedelta, error: str) -> None:
    """Nobody knows whether the authority has it: ask before anything is sent again."""
    await book(
        conn,
        "SELECT book_doubt(%(tenant)s, %(subject)s, %(epoch)s, %(at)s, %(after)s, %(error)s)",
        work,
        at=at,
        after=after,
        error=error,
    )


async def resend(conn: Conn, work: Work, *, at: datetime, after: timedelta, reason: str) -> None:
    """It is not known there: the same bytes may go out again."""
    await book(
        conn,
        "SELECT book_resend(%(tenant)s, %(subject)s, %(epoch)s, %(at)s, %(after)s, %(reason)s)",
        work,
        at=at,
        after=after,
        reason=reason,
    )


async def processing(conn: Conn, work: Work, *, at: datetime, after: timedelta, response: dict[str, Any]) -> None:
    """The authority is still at it: ask again after `after`."""
    await book(
        conn,
        "SELECT book_processing(%(tenant)s, %(subject)s, %(epoch)s, %(at)s, %(after)s, %(response)s)",
        work,
        at=at,
        after=after,
        response=Jsonb(response),
    )


async def verdict(
    conn: Conn,
    work: Work,
    *,
    at: datetime,
    status: Status,
    track_id: TrackId | None,
    response: dict[str, Any],
    fate: NumberFate,
) -> None:
    """The authority's last word."""
    await book(
        conn,
        """SELECT book_verdict(%(tenant)s, %(subject)s, %(epoch)s, %(at)s, %(status)s, %(track_id)s, %(response)s,
                               %(fate)s)""",
        work,
        at=at,
        status=status,
        track_id=track_id,
        response=Jsonb(response),
        fate=fate,
    )


_WAITING = """
    SELECT stage, environment, count(*)::int AS rows,
           coalesce(extract(EPOCH FROM now() - min(run_at)), 0)::float8 AS late
      FROM outbox
     GROUP BY stage, environment
"""


async def depth(conn: Conn) -> list[tuple[str, str, int, float]]:
    """Tell per stage and environment how many rows wait and how late the oldest is, in seconds: for the gauges."""
    cursor = await conn.execute(_WAITING)
    return await cursor.fetchall()


# The arrays are taken apart and put together again for the reason given at _CLAIM: of an array in a parameter the
# planner knows the length, and for a long one it would read the whole table, each time.
_COMPLETE = """
    DELETE FROM outbox AS o
     USING unnest(ARRAY(SELECT unnest(%(subjects)b::uuid[])), ARRAY(SELECT unnest(%(epochs)b::bigint[])))
                  AS done (subject, epoch)
     WHERE o.tenant_id = %(tenant)s AND o.subject = done.subject AND o.epoch = done.epoch AND o.holder IS NOT NULL
    RETURNING o.subject
"""


async def complete(conn: Conn, tenant_id: TenantId, works: Sequence[Work]) -> set[SubmissionId]:
    """Take claimed rows of one tenant out together: for steps whose end is all there is to book.

    Returns the subjects that were taken out; the claims of the others are no longer ours.
    """
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(
        _COMPLETE,
        {
            "tenant": tenant_id,
            "subjects": [work.subject for work in works],
            "epochs": [work.epoch for work in works],
        },
        binary=True,
    )
    return set(await cursor.fetchall())
