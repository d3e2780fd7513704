"""Replay plans: many dead letters set going again at a pace, each exactly once, whoever crashes on the way."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from fe.store import dead_letters
from fe.store.db import Conn
from fe.store.operators import Act, record


@dataclass(frozen=True, slots=True)
class Plan:
    """A replay of many rows, as it was written down."""

    plan_id: str
    created_by: str
    reason: str
    canary: int
    per_second: Decimal
    stop_on_failure: bool
    finished_at: datetime | None


_MAKE = """
    INSERT INTO replay_plans (plan_id, created_at, created_by, reason, canary, canaries_passed, per_second,
                              stop_on_failure)
    VALUES (%(plan)s, %(at)s, %(by)s, %(reason)s, %(canary)s, %(canary)s = 0, %(pace)s, %(stop)s)
    ON CONFLICT DO NOTHING
"""

_ADD_ITEMS = """
    INSERT INTO replay_items (tenant_id, plan_id, subject, turn)
    SELECT i.tenant_id, %(plan)s, i.subject, i.turn
      FROM unnest(%(tenants)s::bigint[], %(subjects)s::uuid[]) WITH ORDINALITY AS i (tenant_id, subject, turn)
"""


async def make(
    conn: Conn,
    act: Act,
    plan_id: str,
    rows: Sequence[tuple[int, UUID]],
    *,
    canary: int,
    per_second: Decimal,
    stop_on_failure: bool,
) -> bool:
    """Write a plan down, rows and all, in the caller's transaction; False when there is one by that id already."""
    cursor = await conn.execute(
        _MAKE,
        {
            "plan": plan_id,
            "at": act.at,
            "by": act.by_whom,
            "reason": act.reason,
            "canary": canary,
            "pace": per_second,
            "stop": stop_on_failure,
        },
    )
    if cursor.rowcount == 0:
        return False
    tenants = [tenant for tenant, _ in rows]
    await conn.execute(_ADD_ITEMS, {"plan": plan_id, "tenants": tenants, "subjects": [subject for _, subject in rows]})
    await record(conn, act, "plan", None, None, {"plan": plan_id, "rows": len(rows)})
    return True


_FIND = """
    SELECT plan_id, created_by, reason, canary, per_second, stop_on_failure, finished_at
      FROM replay_plans
     WHERE plan_id = %(plan)s
"""


async def find(conn: Conn, plan_id: str) -> Plan | None:
    """Find a plan."""
    cursor = conn.cursor(row_factory=class_row(Plan))
    await cursor.execute(_FIND, {"plan": plan_id})
    return await cursor.fetchone()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a plan is. `skipped` rows were no dead letters any more; `failed` ones are dead again, or in error."""

    total: int
    released: int
    skipped: int
    ended: int
    failed: list[UUID]


# A row counts by what it came to after its release: `ended` when its submission has reached a last state, `failed` when
# it lies among the dead letters again or ended in an error.
_PROGRESS = """
    SELECT count(*)::int AS total,
           count(i.released_at)::int AS released,
           count(*) FILTER (WHERE i.released_at IS NOT NULL AND i.released_to IS NULL)::int AS skipped,
           count(*) FILTER (WHERE i.released_to IS NOT NULL
                              AND s.status IN ('Aceptado', 'Aceptado Condicional', 'Rechazado'))::int AS ended,
           coalesce(array_agg(i.subject ORDER BY i.turn)
                    FILTER (WHERE i.released_to IS NOT NULL
                              AND (s.status = 'error' OR d.subject IS NOT NULL)), '{}') AS failed
      FROM replay_items AS i
      JOIN submissions AS s ON s.tenant_id = i.tenant_id AND s.submission_id = i.subject
      LEFT JOIN dead_letters AS d ON d.tenant_id = i.tenant_id AND d.subject = i.subject
     WHERE i.plan_id = %(plan)s
"""


async def progress(conn: Conn, plan_id: str) -> Progress:
    """Tell how far a plan has come."""
    cursor = conn.cursor(row_factory=class_row(Progress))
    await cursor.execute(_PROGRESS, {"plan": plan_id})
    found = await cursor.fetchone()
    assert found is not None
    return found


@dataclass(frozen=True, slots=True)
class Step:
    """What came of asking for the next release.

    `released` one row; `skipped` one that was no dead letter any more; `early`: the pace asks for `wait` more seconds;
    `canaries`: the first ones are out and nobody has said yet that they are well; `done`: there is no row left.
    """

    what: Literal["released", "skipped", "early", "canaries", "done"]
    wait: float = 0.0
    subject: UUID | None = None


# To the end of the transaction: whoever runs the plan too waits here. A statement of its own, because one that waits
# for a lock goes on seeing the rows of other tables as they were before it waited.
_LOCK = "SELECT FROM replay_plans WHERE plan_id = %(plan)s FOR UPDATE"

_GATE = """
    SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM replay_items AS i
                                  WHERE i.plan_id = p.plan_id AND i.released_at IS NULL) THEN 'done'
                WHEN NOT p.canaries_passed
                 AND (SELECT count(*) FROM replay_items AS i
                       WHERE i.plan_id = p.plan_id AND i.turn <= p.canary AND i.released_at IS NULL) = 0 THEN 'canaries'
                WHEN p.next_release_at > clock_timestamp() THEN 'early'
                ELSE 'released' END,
           -- Not simply the difference: before the first release that is infinite, which Postgres knows since 17.
           greatest(0, extract(EPOCH FROM greatest(p.next_release_at, clock_timestamp()) - clock_timestamp()))::float8
      FROM replay_plans AS p
     WHERE p.plan_id = %(plan)s
"""

_TURN = """
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


async def release_next(conn: Conn, act: Act, plan_id: str) -> Step:
    """Release the next row of a plan, if it is time; run it in a transaction, so that a row is released once or not."""
    await conn.execute(_LOCK, {"plan": plan_id})
    gate = await (await conn.execute(_GATE, {"plan": plan_id})).fetchone()
    assert gate is not None, "a plan that was found before"
    what, wait = gate
    if what != "released":
        return Step(what, wait)
    cursor = await conn.execute(_NEXT, {"plan": plan_id, "at": act.at})
    following = await cursor.fetchone()
    assert following is not None, "the gate saw one, and holds the lock"
    tenant_id, subject = following
    stage = await dead_letters.replay(conn, act, tenant_id, subject)
    if stage is None:
        return Step("skipped", subject=subject)
    await conn.execute(_RELEASED_TO, {"stage": stage, "tenant": tenant_id, "plan": plan_id, "subject": subject})
    await conn.execute(_TURN, {"plan": plan_id})
    return Step("released", subject=subject)


_CANARIES = """
    SELECT CASE WHEN bool_or(i.released_to IS NOT NULL AND (s.status = 'error' OR d.subject IS NOT NULL)) THEN 'failed'
                WHEN bool_and(i.released_to IS NULL
                              OR s.status IN ('Aceptado', 'Aceptado Condicional', 'Rechazado')) THEN 'well'
                ELSE 'open' END
      FROM replay_plans AS p
      JOIN replay_items AS i ON i.plan_id = p.plan_id AND i.turn <= p.canary
      JOIN submissions AS s ON s.tenant_id = i.tenant_id AND s.submission_id = i.subject
      LEFT JOIN dead_letters AS d ON d.tenant_id = i.tenant_id AND d.subject = i.subject
     WHERE p.plan_id = %(plan)s
"""


async def canaries(conn: Conn, plan_id: str) -> str:
    """Say how the first rows fare: `well` (all at their ends), `open` (not all yet), or `failed`."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_CANARIES, {"plan": plan_id})
    found: str | None = await cursor.fetchone()
    assert found is not None
    return found


async def pass_canaries(conn: Conn, plan_id: str) -> None:
    """Let the rest of the plan follow its canaries."""
    await conn.execute("UPDATE replay_plans SET canaries_passed = true WHERE plan_id = %(plan)s", {"plan": plan_id})


async def finish(conn: Conn, plan_id: str, at: datetime) -> None:
    """Close a plan."""
    await conn.execute(
        "UPDATE replay_plans SET finished_at = %(at)s WHERE plan_id = %(plan)s AND finished_at IS NULL",
        {"plan": plan_id, "at": at},
    )
