"""Replay plans: release many dead letters at a pace, each exactly once, across crashes.

The first row is the canary: the others follow its verdict. A plan that stops names why, and waits for an operator.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal, LiteralString
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from fe.identifiers import ReplayPlanId, SubmissionId, TenantId
from fe.store.postgres.db import Conn
from fe.store.queue import dead_letters
from fe.store.queue.audit import OperatorAction, record


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
    #: Whether the service runs it, and not the command that began it.
    carried_on: bool
    #: When and why it stopped, until an operator goes on.
    halted_at: datetime | None
    halted_because: str | None


_MAKE = """
    INSERT INTO replay_plans (plan_id, created_at, created_by, reason, canary, canaries_passed, per_second,
                              stop_on_failure, carried_on)
    VALUES (%(plan)s, %(at)s, %(by)s, %(reason)s, (%(canary)s::boolean)::int, NOT %(canary)s::boolean, %(pace)s,
            %(stop)s, %(carried_on)s)
    ON CONFLICT DO NOTHING
"""

_ADD_ITEMS = """
    INSERT INTO replay_items (tenant_id, plan_id, subject, turn)
    SELECT i.tenant_id, %(plan)s, i.subject, i.turn
      FROM unnest(%(tenants)s::bigint[], %(subjects)s::uuid[]) WITH ORDINALITY AS i (tenant_id, subject, turn)
"""


async def make(
    conn: Conn,
    action: OperatorAction,
    plan_id: ReplayPlanId,
    rows: Sequence[tuple[TenantId, SubmissionId]],
    *,
    canary: bool,
    per_second: Decimal,
    stop_on_failure: bool,
    carried_on: bool = False,
) -> bool:
    """Store a plan with its rows, in the caller's transaction; False when there is one by that id already.

    With `canary` the first row goes alone. With `carried_on` the service runs the plan.
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
    await record(conn, action, "plan", None, None, {"plan": plan_id, "rows": len(rows)})
    return True


_PLANS = """
    SELECT plan_id, created_by, reason, per_second, stop_on_failure, finished_at, created_at, carried_on, halted_at,
           halted_because
      FROM replay_plans
"""
_ONE = f"{_PLANS} WHERE plan_id = %(plan)s"
_LATEST = f"{_PLANS} ORDER BY created_at DESC, plan_id DESC LIMIT %(limit)s"
_TO_DO = f"""{_PLANS}
     WHERE carried_on AND finished_at IS NULL AND halted_at IS NULL
     ORDER BY created_at, plan_id
     LIMIT 20
"""


async def _read(conn: Conn, statement: LiteralString, **values: Any) -> list[ReplayPlan]:
    cursor = conn.cursor(row_factory=class_row(ReplayPlan))
    await cursor.execute(statement, values)
    return await cursor.fetchall()


async def find(conn: Conn, plan_id: ReplayPlanId) -> ReplayPlan | None:
    """Find a plan."""
    return next(iter(await _read(conn, _ONE, plan=plan_id)), None)


async def latest(conn: Conn, limit: int) -> list[ReplayPlan]:
    """List plans, the latest first."""
    return await _read(conn, _LATEST, limit=limit)


async def to_carry_on(conn: Conn) -> list[ReplayPlan]:
    """List the plans that the service runs and that nothing has stopped, the oldest first."""
    return await _read(conn, _TO_DO)


# State of a plan's released rows, read before plan tables are joined: a distributing engine joins the two in no other
# order.
_STATES = """
    states AS MATERIALIZED (
        SELECT s.tenant_id, s.submission_id AS subject, s.e_ncf,
               s.status IN ('Aceptado', 'Aceptado Condicional', 'Rechazado') AS has_verdict,
               s.status = 'error' OR d.subject IS NOT NULL AS gave_up, d.subject IS NOT NULL AS is_dead,
               o.last_error IS NOT NULL OR o.deaths > 0 AS fails,
               coalesce(d.error, o.last_error, s.response ->> 'error', 'processes died over it: ' || o.deaths, '')
               AS error
          FROM submissions AS s
          LEFT JOIN dead_letters AS d ON d.tenant_id = s.tenant_id AND d.subject = s.submission_id
          LEFT JOIN outbox AS o ON o.tenant_id = s.tenant_id AND o.subject = s.submission_id
         WHERE (s.tenant_id, s.submission_id) IN (
             SELECT i.tenant_id, i.subject FROM replay_items AS i
              WHERE i.plan_id = %(plan)s AND i.released_to IS NOT NULL)
    )
"""


@dataclass(frozen=True, slots=True)
class ReplayTrouble:
    """A released row that failed. `gave_up`: it is dead again, or in error; else it will be tried again by itself.

    `passed_over`: an operator has gone on since, so it does not stop the plan.
    """

    subject: SubmissionId
    e_ncf: str | None
    gave_up: bool
    is_canary: bool
    passed_over: bool
    error: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a plan is. `skipped` rows were no dead letters any more; of `troubles` those come first that gave up."""

    total: int
    released: int
    skipped: int
    ended: int
    troubles: Sequence[ReplayTrouble] = ()

    @property
    def failed(self) -> list[SubmissionId]:
        """The rows that are dead again, or in error."""
        return [one.subject for one in self.troubles if one.gave_up]

    @property
    def open(self) -> int:
        """How many are under way: released, and neither at a verdict nor failed."""
        return self.released - self.skipped - self.ended - len(self.failed)


# A row keeps its error until it succeeds, so that the first failed try shows, not the last one minutes later.
_PROGRESS = f"""
    WITH {_STATES}
    SELECT count(*)::int AS total,
           count(i.released_at)::int AS released,
           count(*) FILTER (WHERE i.released_at IS NOT NULL AND i.released_to IS NULL)::int AS skipped,
           count(*) FILTER (WHERE s.has_verdict)::int AS ended,
           coalesce(jsonb_agg(jsonb_build_array(i.subject, s.e_ncf, s.gave_up, NOT p.canaries_passed, i.passed_over,
                                                s.error) ORDER BY s.gave_up DESC, i.turn)
                    FILTER (WHERE s.gave_up OR s.fails), '[]') AS troubles
      FROM replay_plans AS p
      JOIN replay_items AS i ON i.plan_id = p.plan_id
      LEFT JOIN states AS s ON s.tenant_id = i.tenant_id AND s.subject = i.subject
     WHERE p.plan_id = %(plan)s
"""


async def progress(conn: Conn, plan_id: ReplayPlanId) -> Progress:
    """Count what became of a plan's rows, and list those that failed."""
    found = await (await conn.execute(_PROGRESS, {"plan": plan_id})).fetchone()
    assert found is not None
    total, released, skipped, ended, troubles = found
    failing = [ReplayTrouble(SubmissionId(UUID(subject)), *rest) for subject, *rest in troubles]
    return Progress(total, released, skipped, ended, failing)


@dataclass(frozen=True, slots=True)
class Step:
    """The result of asking for the next release.

    `released`: one row; `early`: the pace asks for `wait` more seconds; `canary`: the canary has no verdict yet;
    `done`: no row is left; `halted`: stopped until an operator goes on.
    """

    what: Literal["released", "early", "canary", "done", "halted"]
    wait: float = 0.0


# Locks the plan until the transaction ends. A statement of its own, because one that waits for a lock goes on seeing
# other tables as they were before the wait.
_LOCK = "SELECT FROM replay_plans WHERE plan_id = %(plan)s FOR UPDATE"

_GATE = """
    SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM replay_items AS i
                                  WHERE i.plan_id = p.plan_id AND i.released_at IS NULL) THEN 'done'
                WHEN p.halted_at IS NOT NULL THEN 'halted'
                WHEN p.next_release_at > clock_timestamp()
                 AND p.next_release_at <= clock_timestamp() + make_interval(secs => (1 / p.per_second)::float8)
                THEN 'early'  -- and not because the server's clock was ahead
                WHEN NOT p.canaries_passed THEN 'canary'
                ELSE 'released' END,
           -- Not simply the difference: before the first release that is infinite, which Postgres knows since 17.
           greatest(0, extract(EPOCH FROM greatest(p.next_release_at, clock_timestamp()) - clock_timestamp()))::float8
      FROM replay_plans AS p
     WHERE p.plan_id = %(plan)s
"""

# NULL where no canary was released yet. A plan of the release before may have several.
_CANARY = f"""
    WITH {_STATES}
    SELECT bool_and(s.has_verdict)
      FROM replay_items AS i
      JOIN states AS s ON s.tenant_id = i.tenant_id AND s.subject = i.subject
     WHERE i.plan_id = %(plan)s AND NOT i.passed_over
"""
_CANARY_PASSED = "UPDATE replay_plans SET canaries_passed = true WHERE plan_id = %(plan)s"
_FINISH = "UPDATE replay_plans SET finished_at = %(at)s WHERE plan_id = %(plan)s AND finished_at IS NULL"

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
             ORDER BY w.passed_over, w.turn
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
    values = {"plan": plan_id, "at": action.at}
    await conn.execute(_LOCK, values)
    gate = await (await conn.execute(_GATE, values)).fetchone()
    assert gate is not None, "a plan that was found before"
    what, wait = gate
    if what == "canary":
        cursor = conn.cursor(row_factory=scalar_row)
        has_verdict = await (await cursor.execute(_CANARY, values)).fetchone()
        if has_verdict:
            await conn.execute(_CANARY_PASSED, values)
        what = "canary" if has_verdict is False else "released"
    if what == "done":
        await conn.execute(_FINISH, values)
    if what != "released":
        return Step(what, wait)
    following = await (await conn.execute(_NEXT, values)).fetchone()
    assert following is not None, "the gate saw one, and holds the lock"
    tenant_id, subject = following
    stage = await dead_letters.replay(conn, action, tenant_id, subject)
    if stage is not None:
        await conn.execute(_RELEASED_TO, values | {"stage": stage, "tenant": tenant_id, "subject": subject})
        await conn.execute(_CURSOR, values)
    return Step("released")


_HALT = """
    UPDATE replay_plans SET halted_at = %(at)s, halted_because = %(why)s
     WHERE plan_id = %(plan)s AND finished_at IS NULL AND halted_at IS NULL
"""


async def halt(conn: Conn, plan_id: ReplayPlanId, why: str, at: datetime) -> bool:
    """Halt a plan until `go_on`; False if it is finished or halted already.

    A release in progress finishes first: nothing is released after this transaction.
    """
    halted = await conn.execute(_HALT, {"plan": plan_id, "why": why, "at": at})
    return halted.rowcount == 1


_UNHALT = """
    UPDATE replay_plans SET halted_at = NULL, halted_because = NULL, canaries_passed = canary = 0
     WHERE plan_id = %(plan)s AND finished_at IS NULL AND halted_at = %(halted_at)s
"""

_PASS_OVER = f"""
    WITH {_STATES}
    UPDATE replay_items AS i
       SET passed_over = true,
           released_at = CASE WHEN NOT s.is_dead THEN i.released_at END,
           released_to = CASE WHEN NOT s.is_dead THEN i.released_to END
      FROM states AS s
     WHERE i.plan_id = %(plan)s AND s.tenant_id = i.tenant_id AND s.subject = i.subject
"""


async def go_on(conn: Conn, plan_id: ReplayPlanId, halted_at: datetime) -> bool:
    """Go on with the plan that was halted at this moment, with another canary; run it in a transaction.

    Rows released so far do not stop the plan again, and those that are dead again are tried once more, at its end.
    False if the plan is finished, or was not halted then.
    """
    unhalted = await conn.execute(_UNHALT, {"plan": plan_id, "halted_at": halted_at})
    if unhalted.rowcount == 0:
        return False
    await conn.execute(_PASS_OVER, {"plan": plan_id})
    return True
