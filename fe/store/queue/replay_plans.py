"""Replay plans: replay many dead letters at a pace, each exactly once, across crashes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from psycopg.rows import class_row

from fe.identifiers import ReplayPlanId, SubmissionId, TenantId
from fe.store.postgres.db import Conn
from fe.store.queue import dead_letters
from fe.store.queue.audit import OperatorAction, record
from fe.store.queue.replay_progress import STATES


@dataclass(frozen=True, slots=True)
class ReplayPlan:
    """A replay of many rows, as it was written down."""

    plan_id: ReplayPlanId
    created_by: str
    reason: str
    per_second: Decimal
    stop_on_failure: bool
    finished_at: datetime | None
    created_at: datetime
    #: Whether the service carries it on by itself, and not the command that began it.
    carried_on: bool
    #: Why it was halted, until an operator resumes it.
    halted_at: datetime | None
    halted_because: str | None


_MAKE = """
    INSERT INTO replay_plans (plan_id, created_at, created_by, reason, canary, canary_of_lane, canaries_passed,
                              per_second, stop_on_failure, carried_on)
    VALUES (%(plan)s, %(at)s, %(by)s, %(reason)s, 0, %(canary)s, true, %(pace)s, %(stop)s, %(carried_on)s)
    ON CONFLICT DO NOTHING
"""

_ADD_ITEMS = """
    INSERT INTO replay_items (tenant_id, plan_id, subject, turn)
    SELECT i.tenant_id, %(plan)s, i.subject, i.turn
      FROM unnest(%(tenants)s::bigint[], %(subjects)s::uuid[]) WITH ORDINALITY AS i (tenant_id, subject, turn)
"""

# A lane is one of the authority's hosts in one environment: what gets through to one says nothing of another. A row
# that is no dead letter any more proves nothing, and is no canary. A plan of the release before has one number for all.
_CANARIES_FIRST = f"""
    WITH {STATES}, waiting AS (
        SELECT i.tenant_id, i.subject, i.turn,
               s.is_dead
               AND row_number() OVER (PARTITION BY s.environment, s.host, s.is_dead ORDER BY i.turn)
                   <= coalesce(p.canary_of_lane, p.canary) AS is_first
          FROM replay_plans AS p
          JOIN replay_items AS i ON i.plan_id = p.plan_id AND i.released_at IS NULL
          JOIN states AS s ON s.tenant_id = i.tenant_id AND s.subject = i.subject
         WHERE p.plan_id = %(plan)s
    ), placed AS (
        SELECT w.tenant_id, w.subject, w.is_first,
               (SELECT coalesce(max(r.turn), 0) FROM replay_items AS r
                 WHERE r.plan_id = %(plan)s AND r.released_at IS NOT NULL)
               + row_number() OVER (ORDER BY NOT w.is_first, w.turn) AS turn
          FROM waiting AS w
    ), turns AS (
        UPDATE replay_items AS i
           SET turn = placed.turn
          FROM placed
         WHERE i.plan_id = %(plan)s AND i.tenant_id = placed.tenant_id AND i.subject = placed.subject
    )
    UPDATE replay_plans AS p
       SET canary = greatest(p.canary, coalesce(last.turn, 0)), canaries_passed = last.turn IS NULL
      FROM (SELECT max(placed.turn) AS turn FROM placed WHERE placed.is_first) AS last
     WHERE p.plan_id = %(plan)s
"""


async def make(
    conn: Conn,
    action: OperatorAction,
    plan_id: ReplayPlanId,
    rows: Sequence[tuple[TenantId, SubmissionId]],
    *,
    canary: int,
    per_second: Decimal,
    stop_on_failure: bool,
    carried_on: bool = False,
) -> bool:
    """Write a plan down, rows and all, in the caller's transaction; False when there is one by that id already.

    `canary` rows of each lane go first, the others in their order. With `carried_on` the service runs it by itself.
    """
    cursor = await conn.execute(
        _MAKE,
        {
            "plan": plan_id,
            "at": action.at,
            "by": action.by_whom,
            "reason": action.reason,
            "canary": canary,
            "pace": per_second,
            "stop": stop_on_failure,
            "carried_on": carried_on,
        },
    )
    if cursor.rowcount == 0:
        return False
    tenants = [tenant for tenant, _ in rows]
    await conn.execute(_ADD_ITEMS, {"plan": plan_id, "tenants": tenants, "subjects": [subject for _, subject in rows]})
    await conn.execute(_CANARIES_FIRST, {"plan": plan_id})
    await record(conn, action, "plan", None, None, {"plan": plan_id, "rows": len(rows)})
    return True


_COLUMNS = """
    plan_id, created_by, reason, per_second, stop_on_failure, finished_at, created_at, carried_on, halted_at,
    halted_because
"""

_FIND = f"SELECT {_COLUMNS} FROM replay_plans WHERE plan_id = %(plan)s"


async def find(conn: Conn, plan_id: ReplayPlanId) -> ReplayPlan | None:
    """Find a plan."""
    cursor = conn.cursor(row_factory=class_row(ReplayPlan))
    await cursor.execute(_FIND, {"plan": plan_id})
    return await cursor.fetchone()


# Locks the plan until the transaction ends. A statement of its own, because one that waits for a lock goes on seeing
# other tables as they were before the wait.
_LOCK = "SELECT FROM replay_plans WHERE plan_id = %(plan)s FOR UPDATE"


async def locked(conn: Conn, plan_id: ReplayPlanId) -> ReplayPlan | None:
    """Find and lock a plan: until this transaction ends no other can halt, resume or advance it."""
    await conn.execute(_LOCK, {"plan": plan_id})
    return await find(conn, plan_id)


_LATEST = f"SELECT {_COLUMNS} FROM replay_plans ORDER BY created_at DESC, plan_id DESC LIMIT %(limit)s"


async def latest(conn: Conn, limit: int) -> list[ReplayPlan]:
    """List plans, the latest first."""
    cursor = conn.cursor(row_factory=class_row(ReplayPlan))
    await cursor.execute(_LATEST, {"limit": limit})
    return await cursor.fetchall()


_TO_DO = f"""
    SELECT {_COLUMNS}
      FROM replay_plans
     WHERE carried_on AND finished_at IS NULL AND halted_at IS NULL
     ORDER BY created_at, plan_id
     LIMIT 20
"""


async def to_carry_on(conn: Conn) -> list[ReplayPlan]:
    """List the plans that the service runs by itself and that nothing has stopped, the oldest first."""
    cursor = conn.cursor(row_factory=class_row(ReplayPlan))
    await cursor.execute(_TO_DO)
    return await cursor.fetchall()


@dataclass(frozen=True, slots=True)
class Step:
    """The result of asking for the next release.

    `released`: one row; `skipped`: the row is no dead letter any more; `early`: the pace asks for `wait` more seconds;
    `canaries`: the canaries are released and not yet passed; `done`: no row is left; `halted`: stopped until an
    operator resumes.
    """

    what: Literal["released", "skipped", "early", "canaries", "done", "halted"]
    wait: float = 0.0
    subject: SubmissionId | None = None


_GATE = """
    SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM replay_items AS i
                                  WHERE i.plan_id = p.plan_id AND i.released_at IS NULL) THEN 'done'
                WHEN p.halted_at IS NOT NULL THEN 'halted'
                WHEN NOT p.canaries_passed
                 AND (SELECT count(*) FROM replay_items AS i
                       WHERE i.plan_id = p.plan_id AND i.turn <= p.canary AND i.released_at IS NULL) = 0 THEN 'canaries'
                WHEN p.next_release_at > clock_timestamp()
                 AND p.next_release_at <= clock_timestamp() + make_interval(secs => (1 / p.per_second)::float8)
                THEN 'early'  -- and not because the server's clock was ahead
                ELSE 'released' END,
           -- Not simply the difference: before the first release that is infinite, which Postgres knows since 17.
           greatest(0, extract(EPOCH FROM greatest(p.next_release_at, clock_timestamp()) - clock_timestamp()))::float8
      FROM replay_plans AS p
     WHERE p.plan_id = %(plan)s
"""

_CURSOR = """
    UPDATE replay_plans
       SET next_release_at = clock_timestamp() + make_interval(secs => (1 / per_second)::float8)
     WHERE plan_id = %(plan)s
"""

_NEXT = """
    UPDATE replay_items AS i
       SET released_at = %(at)s
      FROM (SELECT w.tenant_id, w.subject
              FROM replay_items AS w
             WHERE w.plan_id = %(plan)s AND w.released_at IS NULL
             ORDER BY w.turn
             LIMIT 1) AS up
     WHERE i.plan_id = %(plan)s AND i.tenant_id = up.tenant_id AND i.subject = up.subject
    RETURNING i.tenant_id, i.subject
"""

_RELEASED_TO = """
    UPDATE replay_items SET released_to = %(stage)s
     WHERE tenant_id = %(tenant)s AND plan_id = %(plan)s AND subject = %(subject)s
"""


async def release_next(conn: Conn, action: OperatorAction, plan_id: ReplayPlanId) -> Step:
    """Release the next row of a plan, if it is time; run it in a transaction, so that a row is released once or not."""
    await conn.execute(_LOCK, {"plan": plan_id})
    gate = await (await conn.execute(_GATE, {"plan": plan_id})).fetchone()
    assert gate is not None, "a plan that was found before"
    what, wait = gate
    if what != "released":
        return Step(what, wait)
    cursor = await conn.execute(_NEXT, {"plan": plan_id, "at": action.at})
    following = await cursor.fetchone()
    assert following is not None, "the gate saw one, and holds the lock"
    tenant_id, subject = following
    stage = await dead_letters.replay(conn, action, tenant_id, subject)
    if stage is None:
        return Step("skipped", subject=subject)
    await conn.execute(_RELEASED_TO, {"stage": stage, "tenant": tenant_id, "plan": plan_id, "subject": subject})
    await conn.execute(_CURSOR, {"plan": plan_id})
    return Step("released", subject=subject)


_PASS = f"""
    WITH {STATES}, awaited AS (
        SELECT count(*) AS many
          FROM replay_plans AS p
          JOIN replay_items AS i ON i.plan_id = p.plan_id AND i.turn <= p.canary AND NOT i.passed_over
          JOIN states AS s ON s.tenant_id = i.tenant_id AND s.subject = i.subject
         WHERE p.plan_id = %(plan)s
           AND (i.released_at IS NULL
                OR (i.released_to IS NOT NULL AND s.status NOT IN ('Aceptado', 'Aceptado Condicional', 'Rechazado')))
    )
    UPDATE replay_plans AS p
       SET canaries_passed = true
      FROM awaited
     WHERE p.plan_id = %(plan)s AND p.halted_at IS NULL AND awaited.many = 0
"""


async def pass_canaries(conn: Conn, plan_id: ReplayPlanId) -> None:
    """Let the rest of the plan follow its canaries, if these are the ones that were looked at; run it in a transaction.

    Since that look the plan may have been stopped, and gone on with: then others go first, and it changes nothing.
    """
    await conn.execute(_LOCK, {"plan": plan_id})
    await conn.execute(_PASS, {"plan": plan_id})


_SEEN = f"""
    WITH {STATES}
    UPDATE replay_items AS i
       SET passed_over = true
      FROM replay_plans AS p, states AS s
     WHERE p.plan_id = %(plan)s AND i.plan_id = p.plan_id AND i.released_to IS NOT NULL
       AND s.tenant_id = i.tenant_id AND s.subject = i.subject
       AND s.status NOT IN ('Aceptado', 'Aceptado Condicional', 'Rechazado')
       AND ((i.turn <= p.canary AND NOT p.canaries_passed)
            OR s.status = 'error' OR s.is_dead OR s.last_error IS NOT NULL OR s.deaths > 0)
"""


_AGAIN = f"""
    WITH {STATES}
    UPDATE replay_items AS i
       SET released_at = NULL, released_to = NULL
      FROM replay_plans AS p, states AS s
     WHERE p.plan_id = %(plan)s AND p.finished_at IS NULL AND p.halted_at IS NULL
       AND i.plan_id = p.plan_id AND i.released_to IS NOT NULL AND NOT i.passed_over
       AND (p.stop_on_failure OR (i.turn <= p.canary AND NOT p.canaries_passed))
       AND s.tenant_id = i.tenant_id AND s.subject = i.subject AND s.is_dead
"""


async def try_again(conn: Conn, plan_id: ReplayPlanId) -> None:
    """Release once more what stopped a plan and is a dead letter again; run it in a transaction.

    What ended in an error is none any more: it stops the plan until `go_on`.
    """
    await conn.execute(_LOCK, {"plan": plan_id})
    await conn.execute(_AGAIN, {"plan": plan_id})


async def go_on(conn: Conn, plan_id: ReplayPlanId) -> None:
    """Pass over what failed, or came to no end as a canary, and send new canaries first; run it in a transaction."""
    await conn.execute(_LOCK, {"plan": plan_id})
    await conn.execute(_UNHALT, {"plan": plan_id})
    await conn.execute(_SEEN, {"plan": plan_id})
    await conn.execute(_CANARIES_FIRST, {"plan": plan_id})


_HALT = """
    UPDATE replay_plans SET halted_at = %(at)s, halted_because = %(why)s
     WHERE plan_id = %(plan)s AND finished_at IS NULL AND halted_at IS NULL
"""
_UNHALT = "UPDATE replay_plans SET halted_at = NULL, halted_because = NULL WHERE plan_id = %(plan)s"


async def halt(conn: Conn, plan_id: ReplayPlanId, why: str, at: datetime) -> bool:
    """Halt a plan until `go_on`; False if it is finished or halted already.

    A release in progress finishes first: nothing is released after this transaction.
    """
    halted = await conn.execute(_HALT, {"plan": plan_id, "why": why, "at": at})
    return halted.rowcount == 1


async def finish(conn: Conn, plan_id: ReplayPlanId, at: datetime) -> None:
    """Close a plan."""
    await conn.execute(
        "UPDATE replay_plans SET finished_at = %(at)s WHERE plan_id = %(plan)s AND finished_at IS NULL",
        {"plan": plan_id, "at": at},
    )
