"""How a replay plan stands: what has become of its rows, which of them failed, which canaries have no verdict yet."""

from dataclasses import dataclass

from psycopg.rows import class_row

from fe.identifiers import ReplayPlanId, SubmissionId
from fe.lifecycle import Stage
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row

# State of a plan's rows, read before plan tables are joined: a distributing engine joins the two in no other order.
STATES = """
    states AS MATERIALIZED (
        SELECT s.tenant_id, s.submission_id AS subject, s.e_ncf, s.status, s.response ->> 'error' AS end_error,
               d.subject IS NOT NULL AS is_dead, d.environment, d.host, d.error, o.stage, o.last_error, o.deaths
          FROM submissions AS s
          LEFT JOIN dead_letters AS d ON d.tenant_id = s.tenant_id AND d.subject = s.submission_id
          LEFT JOIN outbox AS o ON o.tenant_id = s.tenant_id AND o.subject = s.submission_id
         WHERE (s.tenant_id, s.submission_id) IN (
             SELECT i.tenant_id, i.subject FROM replay_items AS i WHERE i.plan_id = %(plan)s)
    )
"""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a plan is. `skipped` rows were no dead letters any more; `failed` ones are dead again, or in error."""

    total: int
    released: int
    skipped: int
    ended: int
    failed: list[SubmissionId]

    @property
    def open(self) -> int:
        """How many are under way: released, and neither at a verdict nor failed."""
        return self.released - self.skipped - self.ended - len(self.failed)


# A row counts by what it came to after its release: `ended` when its submission has reached a last state, `failed` when
# it lies among the dead letters again or ended in an error.
_PROGRESS = f"""
    WITH {STATES}
    SELECT count(*)::int AS total,
           count(i.released_at)::int AS released,
           count(*) FILTER (WHERE i.released_at IS NOT NULL AND i.released_to IS NULL)::int AS skipped,
           count(*) FILTER (WHERE i.released_to IS NOT NULL
                              AND s.status IN ('Aceptado', 'Aceptado Condicional', 'Rechazado'))::int AS ended,
           coalesce(array_agg(i.subject ORDER BY i.turn)
                    FILTER (WHERE i.released_to IS NOT NULL
                              AND (s.status = 'error' OR s.is_dead)), '{{}}') AS failed
      FROM replay_items AS i
      JOIN states AS s ON s.tenant_id = i.tenant_id AND s.subject = i.subject
     WHERE i.plan_id = %(plan)s
"""


async def progress(conn: Conn, plan_id: ReplayPlanId) -> Progress:
    """Tell how far a plan has come."""
    cursor = conn.cursor(row_factory=class_row(Progress))
    await cursor.execute(_PROGRESS, {"plan": plan_id})
    found = await cursor.fetchone()
    assert found is not None
    return found


@dataclass(frozen=True, slots=True)
class ReplayTrouble:
    """A released row that failed. `gave_up`: it is dead again, or in error; else it will be tried again by itself."""

    subject: SubmissionId
    e_ncf: str | None
    gave_up: bool
    is_canary: bool
    error: str


# A row keeps its error until it succeeds, so that the first failed try shows, not the last one minutes later.
_TROUBLES = f"""
    WITH {STATES}
    SELECT i.subject, s.e_ncf, s.status = 'error' OR s.is_dead AS gave_up,
           i.turn <= p.canary AND NOT p.canaries_passed AS is_canary,
           coalesce(s.error, s.last_error, s.end_error, 'processes died over it: ' || s.deaths, '') AS error
      FROM replay_plans AS p
      JOIN replay_items AS i ON i.plan_id = p.plan_id AND i.released_to IS NOT NULL AND NOT i.passed_over
      JOIN states AS s ON s.tenant_id = i.tenant_id AND s.subject = i.subject
     WHERE p.plan_id = %(plan)s
       AND (s.status = 'error' OR s.is_dead OR s.last_error IS NOT NULL OR s.deaths > 0)
     ORDER BY gave_up DESC, i.turn
     LIMIT 100
"""


async def troubles(conn: Conn, plan_id: ReplayPlanId) -> list[ReplayTrouble]:
    """Name rows of a plan that failed and that no operator has passed over, those first that gave up."""
    cursor = conn.cursor(row_factory=class_row(ReplayTrouble))
    await cursor.execute(_TROUBLES, {"plan": plan_id})
    return await cursor.fetchall()


@dataclass(frozen=True, slots=True)
class Canary:
    """A canary without a verdict so far; `stage` is the stage that it waits for, None if it is not under way.

    `error` is why its last try failed, if one did.
    """

    subject: SubmissionId
    stage: Stage | None
    error: str | None


_CANARIES = f"""
    WITH {STATES}
    SELECT i.subject, s.stage, s.last_error AS error
      FROM replay_plans AS p
      JOIN replay_items AS i ON i.plan_id = p.plan_id AND i.turn <= p.canary AND NOT i.passed_over
      JOIN states AS s ON s.tenant_id = i.tenant_id AND s.subject = i.subject
     WHERE p.plan_id = %(plan)s AND i.released_to IS NOT NULL
       AND s.status NOT IN ('Aceptado', 'Aceptado Condicional', 'Rechazado')
     ORDER BY i.turn
"""


async def open_canaries(conn: Conn, plan_id: ReplayPlanId) -> list[Canary]:
    """Name the canaries that have no verdict yet; none of those is left out that failed."""
    cursor = conn.cursor(row_factory=record_row(Canary))
    await cursor.execute(_CANARIES, {"plan": plan_id})
    return await cursor.fetchall()
