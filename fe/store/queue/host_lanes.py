"""Queue tables whose rows wait for many hosts, each a lane: a slow or dead host does not slow down the others.

The engine has fixed lanes per stage (fe/queue/stage.py); here they come and go with the rows. So the engine sees one
lane, and one statement decides which rows are claimed: a few of each (environment, host, tenant) with due work, in
turn. A host never has more than a few rows in flight over all processes, counted by the held rows; a host that is
suspected to be dead, or was slow for some seconds, has one, and all suspects together never have the last half of the
slots. The table needs two more indexes:

    CREATE INDEX deliveries_held ON deliveries (stage, environment, host) WHERE holder IS NOT NULL;
    CREATE INDEX deliveries_by_time ON deliveries (stage, run_at);
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import LiteralString, TypeVar

from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.queue.capacity import LaneCapacity, LaneClaim, Terms
from fe.store.queue.tables import ALWAYS, QueueTable

W = TypeVar("W")


#: Due rows read before the statement walks along the hosts.
_FEW = 256
#: A host with a row in flight for this long is suspect until that row ends.
_SLOW = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class AllHosts:
    """The one lane that the engine knows."""

    environment: str = "ecf"
    host: str = ""

    @property
    def group(self) -> str:
        """There is one."""
        return self.environment

    @property
    def takes_all(self) -> bool:
        """The claim itself distinguishes lanes that may not take all slots."""
        return True


ALL_HOSTS = AllHosts()

# Few due rows are found by time: a thousand hosts with a later next try cost nothing then. With many, the statement
# walks from one (environment, host, tenant) to the next by the index, to the earliest row of each, so that a million
# rows of one cost one step. Both start past the one served last and go round once. Of those with due rows the ones not
# suspect come first, each with as many rows as it may have in flight, the first of each before the second of any. Rows
# of a dead worker still have a holder but are due: they are not in flight. Picked rows go through arrays: see
# tables.py. `more`: some lane has due rows that were not claimed.
_CLAIM = """
    WITH RECURSIVE early AS MATERIALIZED (
        SELECT o.environment, o.host, o.tenant_id
          FROM {table} AS o
         WHERE o.stage = %(stage)s AND o.run_at >= %(floor)s AND o.run_at <= statement_timestamp()
         ORDER BY o.run_at
         LIMIT {few} + 1
    ), ahead (environment, host, tenant_id, run_at, n) AS (
        (SELECT o.environment, o.host, o.tenant_id, o.run_at, 1
           FROM {table} AS o
          WHERE (SELECT count(*) FROM early) > {few} AND o.stage = %(stage)s
            AND (o.environment, o.host, o.tenant_id) > (%(environment)s, %(host)s, %(tenant)s)
            AND o.run_at >= %(floor)s
          ORDER BY o.environment, o.host, o.tenant_id, o.run_at
          LIMIT 1)
        UNION ALL
        SELECT following.environment, following.host, following.tenant_id, following.run_at, ahead.n + 1
          FROM ahead
         CROSS JOIN LATERAL (SELECT o.environment, o.host, o.tenant_id, o.run_at
                               FROM {table} AS o
                              WHERE o.stage = %(stage)s
                                AND (o.environment, o.host, o.tenant_id)
                                    > (ahead.environment, ahead.host, ahead.tenant_id)
                                AND o.run_at >= %(floor)s
                              ORDER BY o.environment, o.host, o.tenant_id, o.run_at
                              LIMIT 1) AS following
    ), around (environment, host, tenant_id, run_at, n) AS (
        (SELECT o.environment, o.host, o.tenant_id, o.run_at, 1
           FROM {table} AS o
          WHERE (SELECT count(*) FROM early) > {few} AND o.stage = %(stage)s
            AND (o.environment, o.host, o.tenant_id) <= (%(environment)s, %(host)s, %(tenant)s)
            AND o.run_at >= %(floor)s
          ORDER BY o.environment, o.host, o.tenant_id, o.run_at
          LIMIT 1)
        UNION ALL
        SELECT following.environment, following.host, following.tenant_id, following.run_at, around.n + 1
          FROM around
         CROSS JOIN LATERAL (SELECT o.environment, o.host, o.tenant_id, o.run_at
                               FROM {table} AS o
                              WHERE o.stage = %(stage)s
                                AND (o.environment, o.host, o.tenant_id)
                                    > (around.environment, around.host, around.tenant_id)
                                AND (o.environment, o.host, o.tenant_id) <= (%(environment)s, %(host)s, %(tenant)s)
                                AND o.run_at >= %(floor)s
                              ORDER BY o.environment, o.host, o.tenant_id, o.run_at
                              LIMIT 1) AS following
    ), held AS MATERIALIZED (
        SELECT d.environment, d.host, d.tenant_id, count(*) AS held,
               count(*) FILTER (WHERE d.holder = %(holder)s) AS mine,
               bool_or(d.run_at - %(lease)s < now() - %(slow)s) AS is_slow
          FROM {table} AS d
         WHERE d.stage = %(stage)s AND d.holder IS NOT NULL AND d.run_at > statement_timestamp()
         GROUP BY d.environment, d.host, d.tenant_id
    ), due AS MATERIALIZED (
        SELECT d.environment, d.host, d.tenant_id, d.turn, under_way.is_slow OR {suspect} AS is_suspect, under_way.held
          FROM (SELECT a.environment, a.host, a.tenant_id, a.n AS turn
                  FROM ahead AS a
                 WHERE a.run_at <= statement_timestamp()
                UNION ALL
                SELECT r.environment, r.host, r.tenant_id, 1000000 + r.n AS turn
                  FROM around AS r
                 WHERE r.run_at <= statement_timestamp()
                UNION ALL
                SELECT e.environment, e.host, e.tenant_id,
                       (CASE WHEN (e.environment, e.host, e.tenant_id) > (%(environment)s, %(host)s, %(tenant)s)
                             THEN 0 ELSE 1000000 END) + row_number() OVER (ORDER BY e.environment, e.host, e.tenant_id)
                  FROM (SELECT DISTINCT f.environment, f.host, f.tenant_id FROM early AS f) AS e
                 WHERE (SELECT count(*) FROM early) <= {few}) AS d
         CROSS JOIN LATERAL (SELECT coalesce(sum(h.held), 0) AS held, coalesce(bool_or(h.is_slow), false) AS is_slow
                               FROM held AS h
                              WHERE h.environment = d.environment AND h.host = d.host) AS under_way
         WHERE d.tenant_id <> ALL (%(full)s::bigint[])
           AND (SELECT count(*)
                  FROM pauses AS p
                 WHERE p.tenant_id IN (0, d.tenant_id) AND p.environment IN ('', d.environment)) = 0
    ), lanes AS MATERIALIZED (
        SELECT d.environment, d.host, d.tenant_id, d.turn, d.is_suspect,
               (CASE WHEN d.is_suspect THEN 1 ELSE %(maximum)s END - d.held)::int AS room
          FROM due AS d
         WHERE d.held < CASE WHEN d.is_suspect THEN 1 ELSE %(maximum)s END
         ORDER BY d.is_suspect, d.turn
         LIMIT %(slots)s
    ), candidates AS MATERIALIZED (
        SELECT lane.is_suspect, lane.turn, lane.room, w.tenant_id, w.subject,
               row_number() OVER (PARTITION BY lane.environment, lane.host ORDER BY w.run_at, w.subject) AS nth
          FROM lanes AS lane
         CROSS JOIN LATERAL (SELECT o.tenant_id, o.subject, o.run_at
                               FROM {table} AS o
                              WHERE o.tenant_id = lane.tenant_id AND o.stage = %(stage)s
                                AND o.environment = lane.environment AND o.host = lane.host
                                AND o.run_at >= %(floor)s AND o.run_at <= statement_timestamp()
                              ORDER BY o.run_at
                              LIMIT lane.room) AS w
    ), chosen AS MATERIALIZED (
        SELECT c.tenant_id, c.subject, c.turn
          FROM (SELECT e.tenant_id, e.subject, e.turn, e.nth, e.is_suspect,
                       row_number() OVER (PARTITION BY e.is_suspect ORDER BY e.nth, e.turn, e.subject) AS place
                  FROM candidates AS e
                 WHERE e.nth <= e.room) AS c
         WHERE NOT c.is_suspect
            OR c.place <= %(suspects)s - (SELECT coalesce(sum(d.mine), 0) FROM held AS d WHERE d.is_slow OR {suspect})
         ORDER BY c.is_suspect, c.nth, c.turn
         LIMIT %(slots)s
    ), locked AS MATERIALIZED (
        SELECT o.tenant_id, o.subject
          FROM unnest(ARRAY(SELECT tenant_id FROM chosen), ARRAY(SELECT subject FROM chosen))
                       AS c (tenant_id, subject)
         CROSS JOIN LATERAL (SELECT w.tenant_id, w.subject
                               FROM {table} AS w
                              WHERE w.tenant_id = c.tenant_id AND w.subject = c.subject AND w.stage = %(stage)s
                                AND w.run_at <= statement_timestamp()
                                FOR UPDATE SKIP LOCKED) AS o
    ), claimed AS (
        UPDATE {table} AS o
           SET attempt = o.attempt + 1, epoch = o.epoch + 1, holder = %(holder)s,
               deaths = o.deaths + (o.holder IS NOT NULL)::int, run_at = now() + %(lease)s
          FROM unnest(ARRAY(SELECT tenant_id FROM locked), ARRAY(SELECT subject FROM locked))
                       AS picked (tenant_id, subject)
         WHERE o.tenant_id = picked.tenant_id AND o.subject = picked.subject
        RETURNING o.environment, o.host, o.tenant_id, o.subject, o.attempt, o.epoch, o.deaths,
                  now() - o.entered_at AS waited, o.last_error
    )
    SELECT count_of.due > count_of.served AS more, k.environment, k.host, k.tenant_id, k.subject, k.attempt, k.epoch,
           k.deaths, k.waited, k.last_error
      FROM (SELECT (SELECT count(*) FROM due) AS due,
                   (SELECT count(*) FROM lanes AS l WHERE l.room > (SELECT count(*)
                                                                      FROM candidates AS e
                                                                     WHERE e.turn = l.turn)) AS served) AS count_of
      LEFT JOIN (claimed AS k JOIN chosen AS c ON c.tenant_id = k.tenant_id AND c.subject = k.subject) ON true
     ORDER BY c.turn
"""

_FLOOR = """
    SELECT greatest(least(min(o.run_at), now()) - interval '15 s', least(%(since)s, now() - interval '15 s'))
      FROM {table} AS o
     WHERE o.stage = %(stage)s AND o.run_at >= least(%(since)s, now() - interval '15 s')
"""


class HostLanes(QueueTable[AllHosts, W]):
    """A queue table of many hosts: the `Source` of its kind of work and, as `together`, how its rows are claimed.

    `work` makes a claimed row: called with the stage, the lane, and by position tenant, subject, attempt, epoch,
    deaths, for how long it was in the stage, the last error, the environment and the host. `maximum` are the rows of a
    host in flight at once, `suspects` those of suspected hosts in this process; `suspect` is an SQL condition that
    tells by d.tenant_id and d.host whether a host is one. One for each stage and process: it knows who was served last.
    """

    def __init__(
        self,
        name: LiteralString,
        work: Callable[..., W],
        *,
        maximum: int,
        suspects: int,
        suspect: LiteralString = "false",
    ) -> None:
        super().__init__(name, work)
        self._across = _CLAIM.format(table=name, suspect=suspect, few=_FEW)
        self._floor = _FLOOR.format(table=name)
        self._maximum, self._suspects = maximum, suspects
        self._last: tuple[str, str, int] = ("", "", 0)

    async def floors_of(
        self, conn: Conn, stage: str, lanes: Sequence[AllHosts], since: Mapping[AllHosts, datetime] | None = None
    ) -> dict[AllHosts, datetime]:
        """Return a moment before which no row of any host is due, now or later; from the floor before on."""
        values = {"stage": stage, "since": (since or {}).get(ALL_HOSTS, ALWAYS)}
        cursor = await conn.execute(self._floor, values)
        row = await cursor.fetchone()
        assert row is not None
        return dict.fromkeys(lanes, row[0])

    async def together(self, conn: Conn, stage: str, lanes: Sequence[LaneCapacity], terms: Terms) -> list[LaneClaim[W]]:
        """Claim: a few rows of each host that has some due, in turn. For `WorkKind.together`."""
        (lane,) = lanes
        slots = min(terms.slots, terms.max_rows, lane.free)
        if slots <= 0:
            return []
        environment, host, tenant = self._last
        cursor = await conn.execute(
            self._across,
            {
                "stage": stage,
                "environment": environment,
                "host": host,
                "tenant": tenant,
                "floor": lane.floor,
                "full": [tenant_id for (tenant_id, _), busy in terms.busy.items() if busy >= terms.max_per_tenant],
                "maximum": self._maximum,
                "suspects": self._suspects,
                "slots": slots,
                "lease": terms.lease,
                "slow": _SLOW,
                "holder": terms.holder,
            },
            binary=True,
        )
        rows = await cursor.fetchall()
        claimed = [row[1:] for row in rows if row[4] is not None]
        works = [self._work(stage, lane.lane, *row[2:], row[0], row[1]) for row in claimed]
        claims: list[LaneClaim[W]] = []
        if claimed:
            self._last = claimed[-1][:3]
            # No share counts as used up: `more` below says whether there are more rows.
            shares: Mapping[TenantId, int] = Counter(row[2] for row in claimed)
            claims.append(LaneClaim(lane.lane, 0, {tenant_id: count + 1 for tenant_id, count in shares.items()}, works))
        if rows[0][0]:
            # More is due of hosts that have all they may have: it is looked for again when one of their tries ends.
            claims.append(LaneClaim(lane.lane, 1, {}, ()))
        return claims
