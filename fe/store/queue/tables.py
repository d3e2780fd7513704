"""Queue tables: where rows of one kind of work wait, and how they are claimed fairly and freed.

The outbox of the submissions is one. Each kind of work has its own, of the columns in docs/reference/queue-table.md.
The engine (fe/queue) claims from any of them by these statements; the rescue (workers.py) frees rows in all of them.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, LiteralString, Protocol, TypeVar

from fe.identifiers import TenantId
from fe.store.postgres.arrays import int4s, int8s, moments, texts
from fe.store.postgres.db import Conn
from fe.store.postgres.engine import engine_of

#: Before any row can be due.
ALWAYS = datetime.fromisoformat("1970-01-01T00:00:00+00:00")

# Such a name needs no quotes, and is a name and nothing else wherever it is put into a statement.
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


class TableLane(Protocol):
    """The two columns that tell rows of a stage apart which stand or fall together."""

    @property
    def environment(self) -> str:
        """The environment: pauses are of one, or of all."""

    @property
    def host(self) -> str:
        """The host that they wait for, or ''."""

    def __hash__(self) -> int: ...


L = TypeVar("L", bound=TableLane)
S = TypeVar("S")
W = TypeVar("W")


@dataclass(frozen=True, slots=True)
class QueueRow(Generic[L, S]):
    """A claimed row. `attempt` counts this try; `epoch` is the fencing token every booking must show."""

    stage: str
    lane: L
    tenant_id: TenantId
    subject: S
    attempt: int
    epoch: int
    crash_count: int
    #: For how long it had been in this stage when it was claimed, by the database's clock.
    waited: timedelta
    last_error: str | None


@dataclass(frozen=True, slots=True)
class DueTenant:
    """A tenant that has work due, and how many rows it may be served for each row of a tenant of weight 1."""

    tenant_id: TenantId
    weight: int


# Searches for due rows say run_at < 'infinity': the condition of the outbox's index for them
# (docs/decisions/micro-performance.md), which statements that know a row's key must not use.

# A row gets its run_at from the database's clock, at the latest statement_timeout (8 s) before it can be seen.
#
# From tenant to tenant in the index, to the earliest row of each: a backlog of a million rows costs as many steps as it
# has tenants, where reading it would cost each process, each stage and each start a million. From the floor before on,
# unless the server's clock was set back meanwhile.
_FLOORS = """
    SELECT lane.environment, lane.host, greatest(least(earliest.run_at, now()) - interval '15 s', lane.since)
      FROM (SELECT l.environment COLLATE "C" AS environment, l.host COLLATE "C" AS host,
                   least(l.since, now() - interval '15 s') AS since
              FROM unnest(%(environments)s::text[], %(hosts)s::text[], %(sinces)s::timestamptz[])
                   AS l (environment, host, since)) AS lane
     CROSS JOIN LATERAL (
        WITH RECURSIVE firsts (tenant_id, run_at) AS (
            (SELECT o.tenant_id, o.run_at
               FROM {table} AS o
              WHERE o.stage = %(stage)s AND o.environment = lane.environment AND o.host = lane.host
                AND o.run_at >= lane.since AND o.run_at < 'infinity'
              ORDER BY o.tenant_id, o.run_at
              LIMIT 1)
            UNION ALL
            SELECT following.tenant_id, following.run_at
              FROM firsts
             CROSS JOIN LATERAL (SELECT o.tenant_id, o.run_at
                                   FROM {table} AS o
                                  WHERE o.stage = %(stage)s AND o.environment = lane.environment AND o.host = lane.host
                                    AND o.tenant_id > firsts.tenant_id
                                    AND o.run_at >= lane.since AND o.run_at < 'infinity'
                                  ORDER BY o.tenant_id, o.run_at
                                  LIMIT 1) AS following
        )
        SELECT min(firsts.run_at) AS run_at FROM firsts) AS earliest
"""
# Where the table has an index of what is due by time (docs/decisions/micro-performance.md), whose condition this names.
_FLOORS_BY_TIME = """
    SELECT lane.environment, lane.host, greatest(least(earliest.run_at, now()) - interval '15 s', lane.since)
      FROM (SELECT l.environment COLLATE "C" AS environment, l.host COLLATE "C" AS host,
                   least(l.since, now() - interval '15 s') AS since
              FROM unnest(%(environments)s::text[], %(hosts)s::text[], %(sinces)s::timestamptz[])
                   AS l (environment, host, since)) AS lane
      LEFT JOIN LATERAL (SELECT o.run_at
                           FROM {table} AS o
                          WHERE o.stage = %(stage)s AND o.environment = lane.environment AND o.host = lane.host
                            AND o.run_at >= lane.since AND o.run_at < 'infinity' AND o.epoch >= 0
                          ORDER BY o.run_at
                          LIMIT 1) AS earliest ON true
"""
# Where its rows are on several nodes of a cluster, each tells of its own (due_batch of fe/store/citus/shard).
_FLOORS_OF_NODES = """
    SELECT lane.environment, lane.host, least(lane.run_at, now()) - interval '15 s'
      FROM unnest(%(environments)s::text[], %(hosts)s::text[],
                  floors_anywhere(%(stage)s, %(environments)s::text[], %(hosts)s::text[]))
           AS lane (environment, host, run_at)
"""


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
               FROM {table} AS o
              WHERE o.stage = %(stage)s AND o.environment = lane.environment AND o.host = lane.host
                AND o.tenant_id > lane.after AND o.run_at >= lane.floor AND o.run_at < 'infinity'
              ORDER BY o.tenant_id, o.run_at
              LIMIT 1)
            UNION ALL
            SELECT following.tenant_id, following.run_at, ahead.n + 1
              FROM ahead
             CROSS JOIN LATERAL (SELECT o.tenant_id, o.run_at
                                   FROM {table} AS o
                                  WHERE o.stage = %(stage)s AND o.environment = lane.environment AND o.host = lane.host
                                    AND o.tenant_id > ahead.tenant_id
                                    AND o.run_at >= lane.floor AND o.run_at < 'infinity'
                                  ORDER BY o.tenant_id, o.run_at
                                  LIMIT 1) AS following
        ), around (tenant_id, run_at, n) AS (
            (SELECT o.tenant_id, o.run_at, 1
               FROM {table} AS o
              WHERE o.stage = %(stage)s AND o.environment = lane.environment AND o.host = lane.host
                AND o.tenant_id <= lane.after AND o.run_at >= lane.floor AND o.run_at < 'infinity'
              ORDER BY o.tenant_id, o.run_at
              LIMIT 1)
            UNION ALL
            SELECT following.tenant_id, following.run_at, around.n + 1
              FROM around
             CROSS JOIN LATERAL (SELECT o.tenant_id, o.run_at
                                   FROM {table} AS o
                                  WHERE o.stage = %(stage)s AND o.environment = lane.environment AND o.host = lane.host
                                    AND o.tenant_id > around.tenant_id AND o.tenant_id <= lane.after
                                    AND o.run_at >= lane.floor AND o.run_at < 'infinity'
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

# Picked rows go through arrays because the planner expects ten elements of an array, but a tenth of the table for a
# LIMIT that it cannot see: then it would read the whole table for each claim.
_CLAIM = """
    WITH due AS (
        SELECT o.tenant_id, o.subject
          FROM unnest(%(scope)s::bigint[], %(shares)s::int[]) AS scope (tenant_id, share)
         CROSS JOIN LATERAL (SELECT w.tenant_id, w.subject
                               FROM {table} AS w
                              WHERE w.tenant_id = scope.tenant_id AND w.stage = %(stage)s
                                AND w.environment = %(environment)s AND w.host = %(host)s
                                AND w.run_at >= %(floor)s AND w.run_at <= statement_timestamp()
                                AND w.run_at < 'infinity'
                              ORDER BY w.run_at
                              LIMIT scope.share
                                FOR UPDATE SKIP LOCKED) AS o
    )
    UPDATE {table} AS o
       SET attempt = o.attempt + 1, epoch = o.epoch + 1, holder = %(holder)s,
           deaths = o.deaths + (o.holder IS NOT NULL)::int, run_at = now() + %(lease)s
      FROM unnest(ARRAY(SELECT tenant_id FROM due), ARRAY(SELECT subject FROM due)) AS picked (tenant_id, subject)
     WHERE o.tenant_id = ANY (%(scope)s::bigint[])
       AND o.tenant_id = picked.tenant_id AND o.subject = picked.subject
    RETURNING o.tenant_id, o.subject, o.attempt, o.epoch, o.deaths, now() - o.entered_at,
              o.last_error
"""
# The same two of a table that is spread over several nodes (fe/store/citus/functions).
_DUE_TENANTS_OF_NODES = """
    SELECT environment, host, tenant_id, weight
      FROM due_tenants_of('{table}', %(stage)s, %(environments)s::text[], %(hosts)s::text[], %(afters)s::bigint[],
                          %(floors)s::timestamptz[], %(limit)s)
"""
_CLAIM_ON_NODES = """
    SELECT tenant_id, subject, attempt, epoch, deaths, waited, last_error
      FROM claim_rows(%(stage)s, %(environment)s, %(host)s, %(scope)s::bigint[], %(shares)s::int[],
                      %(floor)s, %(holder)s, %(lease)s)
"""

# Of workers that `silent` names. A row over which workers have died before is due at a moment of its own, one of sixty
# that its id and its epoch give it. One of them may be what ends the processes that touch it: claimed together with it
# again and again, the others would die with it until they were given up. The count comes first: if no worker is silent,
# Postgres does not read the table, nor the dead row versions that an old snapshot keeps in it.
_RESCUE = """
    UPDATE {table} AS o
       SET run_at = now() + CASE WHEN o.deaths = 0 THEN interval '0'
                                 ELSE %(apart)s::interval
                                      * (('x' || left(md5(o.subject::text || o.epoch), 6))::bit(24)::int %% 60) / 60 END
      FROM silent
     WHERE (SELECT count(*) FROM silent) > 0 AND o.holder = silent.holder AND o.run_at > now()
    RETURNING o.stage::text AS stage
"""

# After the server's clock was set back (clock_set_back.py). A lease that was given at any earlier time ends by now plus
# its length, so none that a living worker relies on is cut short.
_SET_BACK = """
    UPDATE {table} AS o
       SET run_at = CASE WHEN o.holder IS NULL THEN greatest(now(), o.run_at - %(by)s::interval)
                         ELSE least(o.run_at, now() + %(lease)s::interval) END
     WHERE o.run_at > now() AND o.run_at < 'infinity'
"""
_SET_BACK_ON_NODES = "SELECT set_back_waiting('{table}', %(by)s::interval, %(lease)s::interval)"


class QueueTable(Generic[L, W]):
    """A table that work is claimed from, and its statements: the `Source` (fe/queue/stage.py) of its kind of work.

    `work` makes a claimed row: called with the stage, the lane, and by position tenant, subject, attempt, epoch,
    deaths, for how long it was in the stage, and the last error. Is it `by_time`, it has an index of what is due by
    time. Raises ValueError for a name that is not plain.
    """

    def __init__(self, name: LiteralString, work: Callable[..., W], *, by_time: bool = False) -> None:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name for a table")
        self.name = name
        self._work = work
        self._floors = _FLOORS_BY_TIME.format(table=name) if by_time else _FLOORS.format(table=name)
        self._due_tenants = _DUE_TENANTS.format(table=name)
        self._due_tenants_of_nodes = _DUE_TENANTS_OF_NODES.format(table=name)
        self._claim = _CLAIM.format(table=name)
        self._claim_on_nodes = _CLAIM_ON_NODES.format(table=name)
        #: Part of a statement in which `silent` names workers (see workers.py); returns the stage of each row.
        self.freeing = _RESCUE.format(table=name)
        self._set_back = _SET_BACK.format(table=name)
        self._set_back_on_nodes = _SET_BACK_ON_NODES.format(table=name)

    def _search(self, conn: Conn) -> LiteralString:
        return self._due_tenants_of_nodes if self.name in engine_of(conn).distributed else self._due_tenants

    def _looking(self, conn: Conn) -> LiteralString:
        return _FLOORS_OF_NODES if self.name in engine_of(conn).distributed else self._floors

    def _claiming(self, conn: Conn) -> LiteralString:
        return self._claim_on_nodes if self.name in engine_of(conn).distributed else self._claim

    async def set_back(self, conn: Conn, by: timedelta, lease: timedelta) -> None:
        """Move what waits for a later time by the time that the clock was set back, and shorten leases to `lease`."""
        distributed = self.name in engine_of(conn).distributed
        await conn.execute(self._set_back_on_nodes if distributed else self._set_back, {"by": by, "lease": lease})

    async def floors_of(
        self, conn: Conn, stage: str, lanes: Sequence[L], since: Mapping[L, datetime] | None = None
    ) -> dict[L, datetime]:
        """Return for each lane a moment before which no row of it is due, now or later.

        While an old snapshot is held open (a backup, a forgotten session) dead row versions stay, and a search from the
        beginning would read each row that ever was, at each claim. From a floor it reads those that died since.
        `since` are the floors before; no row is looked for below them.
        """
        before = since or {}
        values = {
            "stage": stage,
            "environments": texts([lane.environment for lane in lanes]),
            "hosts": texts([lane.host for lane in lanes]),
            "sinces": moments([before.get(lane, ALWAYS) for lane in lanes]),
        }
        cursor = await conn.execute(self._looking(conn), values)
        found = {(environment, host): floor for environment, host, floor in await cursor.fetchall()}
        return {lane: found[lane.environment, lane.host] for lane in lanes}

    async def due_tenants(
        self,
        conn: Conn,
        stage: str,
        lanes: Sequence[tuple[L, TenantId]],
        limit: int,
        *,
        floors: Mapping[L, datetime] | None = None,
    ) -> dict[L, list[DueTenant]]:
        """Name, for each lane, up to `limit` tenants that have work due and are not paused, in one round trip.

        They come by their ids, beginning past the tenant that is given with the lane and going round. `floors` as
        `floors_of` gives them: rows that fell due before their lane's are not looked for.
        """
        from_when = floors or {}
        cursor = await conn.execute(
            self._search(conn),
            {
                "stage": stage,
                "environments": texts([lane.environment for lane, _ in lanes]),
                "hosts": texts([lane.host for lane, _ in lanes]),
                "afters": int8s([after for _, after in lanes]),
                "floors": moments([from_when.get(lane, ALWAYS) for lane, _ in lanes]),
                "limit": limit,
            },
        )
        tenants: dict[L, list[DueTenant]] = {lane: [] for lane, _ in lanes}
        named = {(lane.environment, lane.host): lane for lane in tenants}
        for environment, host, tenant_id, weight in await cursor.fetchall():
            tenants[named[environment, host]].append(DueTenant(tenant_id, weight))
        return tenants

    async def claim(
        self,
        conn: Conn,
        stage: str,
        lane: L,
        scope: Sequence[TenantId],
        shares: Sequence[int],
        *,
        lease: timedelta,
        holder: str,
        floor: datetime = ALWAYS,
    ) -> list[W]:
        """Lease due rows of every tenant in `scope`, each at most its share; none that fell due before `floor`.

        Attempt and epoch are raised with the claim, so a try that dies has been counted. If this process dies, the rows
        fall due again when the lease ends, or when the rescuer notices that `holder` is silent.
        """
        if not scope:
            return []
        cursor = await conn.execute(
            self._claiming(conn),
            {
                "stage": stage,
                "environment": lane.environment,
                "host": lane.host,
                "scope": int8s(scope),
                "shares": int4s(shares),
                "floor": floor,
                "lease": lease,
                "holder": holder,
            },
            binary=True,
        )
        return [self._work(stage, lane, *row) for row in await cursor.fetchall()]


#: Tables of kinds of work that have nothing else in common.
AnyTable = QueueTable[Any, Any]
