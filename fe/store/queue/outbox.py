"""The outbox: claims of due work, and the fenced ways to book what came of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, LiteralString

from psycopg.rows import scalar_row

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId, TrackId
from fe.lifecycle import NumberFate, Stage, Status
from fe.store.postgres.arrays import Array, booleans, int8s, intervals, jsonbs, texts, uuids
from fe.store.postgres.db import Conn
from fe.store.queue.inputs import StepInput


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
    #: What its step needs; None where the claim did not bring it: then it is asked for.
    input: StepInput | None = None

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


async def _book(conn: Conn, call: LiteralString, works: Sequence[Work], **values: Any) -> list[bool]:
    """Call one of the functions of sql/0013_batches.sql: tells of each claim, in order, whether it was still ours."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(call, {**claims_of(works), **values}, binary=True)
    (mine,) = await cursor.fetchall()
    return [subject is not None for subject in mine]


def claims_of(works: Sequence[Work]) -> dict[str, Array]:
    """The claims of a batch, as each of the functions takes them."""
    return {
        "tenants": int8s([work.tenant_id for work in works]),
        "subjects": uuids([work.subject for work in works]),
        "epochs": int8s([work.epoch for work in works]),
    }


# Each of these writes what came of some claims in one statement, all or nothing, and tells of each claim whether it was
# still ours: for one that was not, nothing was written. The values come in the order of the claims, which are sorted by
# tenant and subject.


async def retry(
    conn: Conn,
    works: Sequence[Work],
    *,
    at: datetime,
    afters: Sequence[timedelta],
    counts: Sequence[bool],
    errors: Sequence[str],
) -> list[bool]:
    """Due again after a while. Where it counts, the claim's send, if it has one, certainly came to nothing.

    Where it does not, the attempt is given back: we were stopped, and nothing failed.
    """
    return await _book(
        conn,
        """SELECT book_retry_batch(%(tenants)s::bigint[], %(subjects)s::uuid[], %(epochs)s::bigint[], %(at)s,
                                   %(afters)s::interval[], %(counts)s::boolean[], %(errors)s::text[])""",
        works,
        at=at,
        afters=intervals(afters),
        counts=booleans(counts),
        errors=texts(errors),
    )


async def dead_letter(conn: Conn, works: Sequence[Work], *, at: datetime, errors: Sequence[str]) -> list[bool]:
    """Out of attempts: an operator's matter from here on; the client still sees `queued`."""
    return await _book(
        conn,
        """SELECT book_dead_letter_batch(%(tenants)s::bigint[], %(subjects)s::uuid[], %(epochs)s::bigint[], %(at)s,
                                         %(errors)s::text[])""",
        works,
        at=at,
        errors=texts(errors),
    )


async def failure(
    conn: Conn,
    works: Sequence[Work],
    *,
    at: datetime,
    responses: Sequence[dict[str, Any]],
    fates: Sequence[NumberFate],
) -> list[bool]:
    """A permanent failure: status `error`, never tried again by itself."""
    return await _book(
        conn,
        """SELECT book_failure_batch(%(tenants)s::bigint[], %(subjects)s::uuid[], %(epochs)s::bigint[], %(at)s,
                                     %(responses)s::jsonb[], %(fates)s::text[])""",
        works,
        at=at,
        responses=jsonbs(responses),
        fates=texts(fates),
    )


async def received(
    conn: Conn,
    works: Sequence[Work],
    *,
    at: datetime,
    track_ids: Sequence[TrackId],
    afters: Sequence[timedelta],
    replies: Sequence[dict[str, Any]],
) -> list[bool]:
    """The authority has it under its trackId; ask for its verdict after a while."""
    return await _book(
        conn,
        """SELECT book_received_batch(%(tenants)s::bigint[], %(subjects)s::uuid[], %(epochs)s::bigint[], %(at)s,
                                      %(track_ids)s::text[], %(afters)s::interval[], %(replies)s::jsonb[])""",
        works,
        at=at,
        track_ids=texts(track_ids),
        afters=intervals(afters),
        replies=jsonbs(replies),
    )


async def doubt(
    conn: Conn, works: Sequence[Work], *, at: datetime, afters: Sequence[timedelta], errors: Sequence[str]
) -> list[bool]:
    """Nobody knows whether the authority has it: ask before anything is sent again."""
    return await _book(
        conn,
        """SELECT book_doubt_batch(%(tenants)s::bigint[], %(subjects)s::uuid[], %(epochs)s::bigint[], %(at)s,
                                   %(afters)s::interval[], %(errors)s::text[])""",
        works,
        at=at,
        afters=intervals(afters),
        errors=texts(errors),
    )


async def resend(
    conn: Conn, works: Sequence[Work], *, at: datetime, afters: Sequence[timedelta], reasons: Sequence[str]
) -> list[bool]:
    """It is not known there: the same bytes may go out again."""
    return await _book(
        conn,
        """SELECT book_resend_batch(%(tenants)s::bigint[], %(subjects)s::uuid[], %(epochs)s::bigint[], %(at)s,
                                    %(afters)s::interval[], %(reasons)s::text[])""",
        works,
        at=at,
        afters=intervals(afters),
        reasons=texts(reasons),
    )


async def processing(
    conn: Conn,
    works: Sequence[Work],
    *,
    at: datetime,
    afters: Sequence[timedelta],
    responses: Sequence[dict[str, Any]],
) -> list[bool]:
    """The authority is still at it: ask again after a while."""
    return await _book(
        conn,
        """SELECT book_processing_batch(%(tenants)s::bigint[], %(subjects)s::uuid[], %(epochs)s::bigint[], %(at)s,
                                        %(afters)s::interval[], %(responses)s::jsonb[])""",
        works,
        at=at,
        afters=intervals(afters),
        responses=jsonbs(responses),
    )


async def verdict(
    conn: Conn,
    works: Sequence[Work],
    *,
    at: datetime,
    statuses: Sequence[Status],
    track_ids: Sequence[TrackId | None],
    responses: Sequence[dict[str, Any]],
    fates: Sequence[NumberFate],
) -> list[bool]:
    """The authority's last word."""
    return await _book(
        conn,
        """SELECT book_verdict_batch(%(tenants)s::bigint[], %(subjects)s::uuid[], %(epochs)s::bigint[], %(at)s,
                                     %(statuses)s::text[], %(track_ids)s::text[], %(responses)s::jsonb[],
                                     %(fates)s::text[])""",
        works,
        at=at,
        statuses=texts(statuses),
        track_ids=texts(track_ids),
        responses=jsonbs(responses),
        fates=texts(fates),
    )


_OPEN_SENDS = """
    SELECT ARRAY(SELECT EXISTS (SELECT 1
                                  FROM sends AS x
                                 WHERE x.tenant_id = b.tenant_id AND x.submission_id = b.subject
                                   AND x.outcome IN ('intended', 'unknown'))
                   FROM unnest(%(tenants)s::bigint[], %(subjects)s::uuid[]) WITH ORDINALITY
                                AS b (tenant_id, subject, n)
                  ORDER BY b.n)
"""


async def have_open_sends(conn: Conn, works: Sequence[Work]) -> list[bool]:
    """Tell of each whether bytes may have gone out of which nobody knows what became of them."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_OPEN_SENDS, claims_of(works))
    (answers,) = await cursor.fetchall()
    return list(answers)


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
            "subjects": uuids([work.subject for work in works]),
            "epochs": int8s([work.epoch for work in works]),
        },
        binary=True,
    )
    return set(await cursor.fetchall())
