"""The outbox: claims of due work, and the fenced ways to book what came of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, LiteralString, NamedTuple

import psycopg
from psycopg.rows import scalar_row

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TrackId
from fe.lifecycle import NumberFate, Stage, Status
from fe.store.postgres.arrays import Array, booleans, int8s, intervals, jsonbs, texts, uuids
from fe.store.postgres.db import Conn
from fe.store.postgres.engine import Calling
from fe.store.queue.inputs import StepInput
from fe.store.queue.tables import QueueRow, QueueTable


class OutboxLane(NamedTuple):
    """Rows that stand or fall together: one environment, and one of the authority's hosts ('' before it is known)."""

    environment: Environment
    host: str = ""

    @property
    def group(self) -> str:
        """The hosts of one environment are peers."""
        return self.environment

    @property
    def takes_all(self) -> bool:
        """The test environments take what production leaves, and never the last quarter of the slots."""
        return self.environment is Environment.ECF


@dataclass(frozen=True, slots=True)
class Work(QueueRow[OutboxLane, SubmissionId]):
    """A claimed row of the outbox."""

    stage: Stage
    #: The input of its step; None if the claim did not bring it.
    input: StepInput | None = None
    #: The context of its trace, where it is traced and the claim asked for it.
    trace: str | None = None

    @property
    def environment(self) -> Environment:
        """The environment of its lane."""
        return self.lane.environment

    @property
    def host(self) -> str:
        """The host of its lane."""
        return self.lane.host

    def following(self, stage: Stage, lane: OutboxLane, needs: StepInput) -> "Work":
        """The claim of a stage that follows, as it is where it is committed with what this one came to."""
        return Work(
            stage,
            lane,
            self.tenant_id,
            self.subject,
            attempt=1,
            epoch=self.epoch + 1,
            crash_count=0,
            waited=timedelta(0),
            last_error=None,
            input=needs,
            trace=self.trace,
        )


def _work(stage: str, lane: OutboxLane, *row: Any) -> Work:
    return Work(stage if isinstance(stage, Stage) else Stage(stage), lane, *row)


#: The queue table of submissions; with these three it is their `Source` (fe/queue/stage.py).
OUTBOX: QueueTable[OutboxLane, Work] = QueueTable("outbox", _work, by_time=True)
floors_of, due_tenants, claim = OUTBOX.floors_of, OUTBOX.due_tenants, OUTBOX.claim


async def _book(conn: Conn, call: LiteralString, works: Sequence[Work], **values: Any) -> list[bool]:
    """Call one of the functions of sql/functions/outbox: tells of each claim, in order, whether it was still ours."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(call, {**claims_of(works), **values}, binary=True)
    return await _still_ours(cursor)


async def _still_ours(cursor: psycopg.AsyncCursor[Any]) -> list[bool]:
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


_RECEIVED = Calling.of(
    "book_received_batch",
    """
    SELECT book_received_batch(%(tenants)s::bigint[], %(subjects)s::uuid[], %(epochs)s::bigint[], %(at)s,
                               %(environments)s::text[], %(track_ids)s::text[], %(afters)s::interval[],
                               %(replies)s::jsonb[], %(leases)s::interval[])
""",
)

_VERDICT = Calling.of(
    "book_verdict_batch",
    """
    SELECT book_verdict_batch(%(tenants)s::bigint[], %(subjects)s::uuid[], %(epochs)s::bigint[], %(at)s,
                              %(statuses)s::text[], %(track_ids)s::text[], %(responses)s::jsonb[], %(fates)s::text[])
""",
)


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


#: Result for a received document: claim lost; waiting to be tracked; or tracked by us.
ReceivedAnswer = Literal["lost", "received", "going on"]


async def received(
    conn: Conn,
    works: Sequence[Work],
    *,
    at: datetime,
    track_ids: Sequence[TrackId],
    afters: Sequence[timedelta],
    replies: Sequence[dict[str, Any]],
    leases: Sequence[timedelta | None],
) -> list[ReceivedAnswer]:
    """Write a receipt with its trackId; the verdict is asked for after a while.

    With a lease, unless paused, the row is leased to its holder from when it is due, as the claim of the next epoch.
    Else it is due for any worker.
    """
    cursor = conn.cursor(row_factory=scalar_row)
    values = {
        **claims_of(works),
        "at": at,
        "environments": texts([work.environment for work in works]),
        "track_ids": texts(track_ids),
        "afters": intervals(afters),
        "replies": jsonbs(replies),
        "leases": intervals(leases),
    }
    await _RECEIVED.run(cursor, values, binary=True)
    (answers,) = await cursor.fetchall()
    return list(answers)


async def doubt(
    conn: Conn, works: Sequence[Work], *, at: datetime, afters: Sequence[timedelta], errors: Sequence[str]
) -> list[bool]:
    """Write a doubt: ask the authority before anything is sent again."""
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
    """The same bytes go out again: it is not known there, or cannot be asked."""
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
    cursor = conn.cursor(row_factory=scalar_row)
    values = {
        **claims_of(works),
        "at": at,
        "statuses": texts(statuses),
        "track_ids": texts(track_ids),
        "responses": jsonbs(responses),
        "fates": texts(fates),
    }
    await _VERDICT.run(cursor, values, binary=True)
    return await _still_ours(cursor)


_OPEN_SENDS = """
    SELECT DISTINCT b.n
      FROM unnest(%(tenants)s::bigint[], %(subjects)s::uuid[]) WITH ORDINALITY AS b (tenant_id, subject, n)
      JOIN sends AS x ON x.tenant_id = b.tenant_id AND x.submission_id = b.subject
     WHERE x.tenant_id = ANY (%(tenants)s::bigint[]) AND x.outcome IN ('intended', 'unknown')
"""


async def have_open_sends(conn: Conn, works: Sequence[Work]) -> list[bool]:
    """Return for each whether it has a send without a known result."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_OPEN_SENDS, claims_of(works))
    found = set(await cursor.fetchall())
    return [place in found for place in range(1, len(works) + 1)]


# Paused rows wait for an operator and are not late: else they would hide rows that no worker takes. By tenant, because
# pauses are few, and on some engines not stored with the rows.
_WAITING = """
    WITH waiting AS MATERIALIZED (
        SELECT o.stage, o.environment, o.tenant_id, count(*) AS rows, min(o.run_at) AS earliest
          FROM outbox AS o
         GROUP BY o.stage, o.environment, o.tenant_id
    )
    SELECT w.stage, w.environment, sum(w.rows)::int AS rows,
           coalesce(extract(EPOCH FROM now() - min(w.earliest) FILTER (WHERE paused.many = 0)), 0)::float8 AS late
      FROM waiting AS w
     CROSS JOIN LATERAL (SELECT count(*) AS many
                           FROM pauses AS p
                          WHERE p.tenant_id IN (0, w.tenant_id)
                            AND p.environment IN ('', w.environment::text)) AS paused
     GROUP BY w.stage, w.environment
"""


# A front does not see whose the rows are. While a tenant is paused in an environment it cannot tell that tenant's rows
# from the others, so that it reports nothing late there: actors do.
_WAITING_FOR_FRONT = """
    WITH waiting AS MATERIALIZED (
        SELECT o.stage, o.environment, count(*)::int AS rows, min(o.run_at) AS earliest
          FROM outbox AS o
         GROUP BY o.stage, o.environment
    )
    SELECT w.stage, w.environment, w.rows,
           CASE WHEN paused.many = 0 THEN extract(EPOCH FROM now() - w.earliest) ELSE 0 END::float8 AS late
      FROM waiting AS w
     CROSS JOIN LATERAL (SELECT count(*) AS many
                           FROM pauses AS p
                          WHERE p.environment IN ('', w.environment::text)) AS paused
"""


async def depth_for_front(conn: Conn) -> list[tuple[str, str, int, float]]:
    """Return `depth` as a front may read it; 0 s late in an environment where anything is paused."""
    cursor = await conn.execute(_WAITING_FOR_FRONT)
    return await cursor.fetchall()


async def depth(conn: Conn) -> list[tuple[str, str, int, float]]:
    """Tell per stage and environment how many rows wait and how late the oldest is that is not paused, in seconds."""
    cursor = await conn.execute(_WAITING)
    return await cursor.fetchall()
