"""Dead letters and what operators do about them: reads across tenants (an operator's right), acts on one row each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from fe.store.db import Conn


@dataclass(frozen=True, slots=True)
class Filter:
    """Which dead letters are meant; None means any."""

    tenant_id: int | None = None
    environment: str | None = None
    stage: str | None = None
    #: Part of the error's text, letter case apart.
    error: str | None = None
    #: Died at least so long ago.
    older_than: timedelta | None = None
    subjects: Sequence[UUID] | None = None


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A row that gave up, with what an operator wants to see of its submission."""

    tenant_id: int
    tenant: str
    subject: UUID
    stage: str
    environment: str
    host: str
    attempt: int
    deaths: int
    died_at: datetime
    error: str
    root: str
    e_ncf: str | None
    issuer_rnc: str | None
    certificate_id: UUID | None
    certificate_until: datetime | None
    sequence_until: datetime | None
    track_id: str | None
    security_code: str | None
    signed_sha256: str | None
    #: Sends of its bytes that may have reached the authority, and of these the ones never resolved.
    sends: int
    open_sends: int


_LIST = """
    SELECT d.tenant_id, t.name AS tenant, d.subject, d.stage, d.environment, d.host, d.attempt, d.deaths, d.died_at,
           d.error, s.root, s.e_ncf, s.issuer_rnc, s.certificate_id, c.not_after AS certificate_until,
           q.expire_at AS sequence_until, s.track_id, s.security_code,
           (SELECT encode(sha256(b.content), 'hex') FROM submission_documents AS b
             WHERE b.tenant_id = d.tenant_id AND b.submission_id = d.subject AND b.kind IN ('sent', 'signed')
             ORDER BY b.kind LIMIT 1) AS signed_sha256,
           (SELECT count(*) FROM sends AS x
             WHERE x.tenant_id = d.tenant_id AND x.submission_id = d.subject AND x.outcome <> 'not_sent')::int AS sends,
           (SELECT count(*) FROM sends AS x
             WHERE x.tenant_id = d.tenant_id AND x.submission_id = d.subject
               AND x.outcome IN ('intended', 'unknown'))::int AS open_sends
      FROM dead_letters AS d
      JOIN tenants AS t ON t.tenant_id = d.tenant_id
      JOIN submissions AS s ON s.tenant_id = d.tenant_id AND s.submission_id = d.subject
      LEFT JOIN certificates AS c ON c.tenant_id = d.tenant_id AND c.certificate_id = s.certificate_id
      LEFT JOIN sequences AS q
        ON q.tenant_id = d.tenant_id AND q.environment = d.environment AND q.prefix = left(s.e_ncf, 3) AND q.is_active
     WHERE (%(tenant)s::bigint IS NULL OR d.tenant_id = %(tenant)s)
       AND (%(environment)s::text IS NULL OR d.environment = %(environment)s)
       AND (%(stage)s::text IS NULL OR d.stage = %(stage)s)
       AND (%(error)s::text IS NULL OR position(lower(%(error)s) IN lower(d.error)) > 0)
       AND (%(older)s::interval IS NULL OR d.died_at <= now() - %(older)s)
       AND (%(subjects)s::uuid[] IS NULL OR d.subject = ANY (%(subjects)s))
     ORDER BY d.died_at, d.tenant_id, d.subject
     LIMIT %(limit)s
"""


async def listed(conn: Conn, which: Filter, limit: int = 1000) -> list[DeadLetter]:
    """List dead letters, the longest dead first."""
    cursor = conn.cursor(row_factory=class_row(DeadLetter))
    await cursor.execute(
        _LIST,
        {
            "tenant": which.tenant_id,
            "environment": which.environment,
            "stage": which.stage,
            "error": which.error,
            "older": which.older_than,
            "subjects": list(which.subjects) if which.subjects is not None else None,
            "limit": limit,
        },
    )
    return await cursor.fetchall()


@dataclass(frozen=True, slots=True)
class Act:
    """Who does something, why, and when; kept with it."""

    action_id: UUID
    at: datetime
    by_whom: str
    reason: str


_RECORD = """
    INSERT INTO operator_actions (action_id, at, by_whom, action, reason, tenant_id, subject, detail)
    VALUES (%(id)s, %(at)s, %(by)s, %(action)s, %(reason)s, %(tenant)s, %(subject)s, %(detail)s)
"""


async def record(
    conn: Conn, act: Act, action: str, tenant_id: int | None, subject: UUID | None, detail: dict[str, Any]
) -> None:
    """Put an act on record; in the transaction of the act itself."""
    await conn.execute(
        _RECORD,
        {
            "id": act.action_id,
            "at": act.at,
            "by": act.by_whom,
            "action": action,
            "reason": act.reason,
            "tenant": tenant_id,
            "subject": subject,
            "detail": Jsonb(detail),
        },
    )


async def replay(conn: Conn, act: Act, tenant_id: int, subject: UUID) -> str | None:
    """Set one dead letter going again; return the stage it goes to, or None when it is no dead letter (any more)."""
    stage = await _act(
        conn, "SELECT replay_dead_letter(%(tenant)s, %(subject)s, %(at)s, %(by)s, %(reason)s)", act, tenant_id, subject
    )
    if stage is not None:
        await record(conn, act, "replay", tenant_id, subject, {"stage": stage})
    return stage


async def discard(conn: Conn, act: Act, tenant_id: int, subject: UUID) -> str | None:
    """Give one dead letter up; return what becomes of its number, or None when it is no dead letter (any more)."""
    fate = await _act(
        conn, "SELECT discard_dead_letter(%(tenant)s, %(subject)s, %(at)s, %(by)s, %(reason)s)", act, tenant_id, subject
    )
    if fate is not None:
        await record(conn, act, "discard", tenant_id, subject, {"numberFate": fate})
    return fate


async def _act(conn: Conn, call: str, act: Act, tenant_id: int, subject: UUID) -> str | None:
    cursor = conn.cursor(row_factory=scalar_row)
    values = {"tenant": tenant_id, "subject": subject, "at": act.at, "by": act.by_whom, "reason": act.reason}
    await cursor.execute(call.encode(), values)
    found: str | None = await cursor.fetchone()
    return found


_PAUSE = """
    INSERT INTO pauses (tenant_id, environment, paused_at, paused_by, reason)
    VALUES (%(tenant)s, %(environment)s, %(at)s, %(by)s, %(reason)s)
    ON CONFLICT DO NOTHING
"""


async def pause(conn: Conn, act: Act, tenant_id: int | None, environment: str | None) -> bool:
    """Stop claiming rows of a tenant (None: of all) in an environment (None: in all); False when it was paused."""
    cursor = await conn.execute(
        _PAUSE,
        {
            "tenant": tenant_id or 0,
            "environment": environment or "",
            "at": act.at,
            "by": act.by_whom,
            "reason": act.reason,
        },
    )
    if cursor.rowcount == 1:
        await record(conn, act, "pause", tenant_id, None, {"environment": environment})
    return cursor.rowcount == 1


_RESUME = "DELETE FROM pauses WHERE tenant_id = %(tenant)s AND environment = %(environment)s"


async def resume(conn: Conn, act: Act, tenant_id: int | None, environment: str | None) -> bool:
    """Undo a pause; False when there was none like this."""
    cursor = await conn.execute(_RESUME, {"tenant": tenant_id or 0, "environment": environment or ""})
    if cursor.rowcount == 1:
        await record(conn, act, "resume", tenant_id, None, {"environment": environment})
    return cursor.rowcount == 1


@dataclass(frozen=True, slots=True)
class Pause:
    """What is stopped; tenant_id 0 is everybody, environment '' is everywhere."""

    tenant_id: int
    environment: str
    paused_at: datetime
    paused_by: str
    reason: str


async def pauses(conn: Conn) -> list[Pause]:
    """List what is stopped."""
    cursor = conn.cursor(row_factory=class_row(Pause))
    await cursor.execute("SELECT tenant_id, environment, paused_at, paused_by, reason FROM pauses ORDER BY paused_at")
    return await cursor.fetchall()


@dataclass(frozen=True, slots=True)
class Plan:
    """A replay of many rows, and how far it got."""

    plan_id: str
    created_by: str
    reason: str
    canary: int
    per_second: Decimal
    stop_on_failure: bool
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class Item:
    """One row of a plan. `status` is its submission's; `dead` whether it lies among the dead letters (again)."""

    tenant_id: int
    subject: UUID
    turn: int
    released_at: datetime | None
    status: str
    dead: bool


_MAKE_PLAN = """
    INSERT INTO replay_plans (plan_id, created_at, created_by, reason, canary, per_second, stop_on_failure)
    VALUES (%(plan)s, %(at)s, %(by)s, %(reason)s, %(canary)s, %(pace)s, %(stop)s)
    ON CONFLICT DO NOTHING
"""

_ADD_ITEMS = """
    INSERT INTO replay_items (tenant_id, plan_id, subject, turn)
    SELECT i.tenant_id, %(plan)s, i.subject, i.turn
      FROM unnest(%(tenants)s::bigint[], %(subjects)s::uuid[]) WITH ORDINALITY AS i (tenant_id, subject, turn)
"""


async def make_plan(
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
        _MAKE_PLAN,
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


_PLAN = """
    SELECT plan_id, created_by, reason, canary, per_second, stop_on_failure, finished_at
      FROM replay_plans
     WHERE plan_id = %(plan)s
"""


async def plan(conn: Conn, plan_id: str) -> Plan | None:
    """Find a plan."""
    cursor = conn.cursor(row_factory=class_row(Plan))
    await cursor.execute(_PLAN, {"plan": plan_id})
    return await cursor.fetchone()


_ITEMS = """
    SELECT i.tenant_id, i.subject, i.turn, i.released_at, s.status,
           EXISTS (SELECT 1 FROM dead_letters AS d
                    WHERE d.tenant_id = i.tenant_id AND d.subject = i.subject) AS dead
      FROM replay_items AS i
      JOIN submissions AS s ON s.tenant_id = i.tenant_id AND s.submission_id = i.subject
     WHERE i.plan_id = %(plan)s
     ORDER BY i.turn
"""


async def items(conn: Conn, plan_id: str) -> list[Item]:
    """Tell how far every row of a plan has come, in the order of release."""
    cursor = conn.cursor(row_factory=class_row(Item))
    await cursor.execute(_ITEMS, {"plan": plan_id})
    return await cursor.fetchall()


_RELEASED = """
    UPDATE replay_items SET released_at = %(at)s
     WHERE tenant_id = %(tenant)s AND plan_id = %(plan)s AND subject = %(subject)s AND released_at IS NULL
"""


async def release(conn: Conn, act: Act, plan_id: str, item: Item) -> str | None:
    """Release one row of a plan, once: in one transaction it is replayed and marked. None: it is no dead letter."""
    values = {"at": act.at, "tenant": item.tenant_id, "plan": plan_id, "subject": item.subject}
    cursor = await conn.execute(_RELEASED, values)
    if cursor.rowcount == 0:
        return None
    return await replay(conn, act, item.tenant_id, item.subject)


async def finish(conn: Conn, plan_id: str, at: datetime) -> None:
    """Close a plan."""
    await conn.execute(
        "UPDATE replay_plans SET finished_at = %(at)s WHERE plan_id = %(plan)s AND finished_at IS NULL",
        {"plan": plan_id, "at": at},
    )


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a submission waits for."""

    tenant_id: int
    tenant: str
    subject: UUID
    environment: str
    status: str
    e_ncf: str | None
    stage: str | None
    host: str | None
    run_at: datetime | None
    attempt: int | None
    deaths: int | None
    holder: str | None
    entered_at: datetime | None
    last_error: str | None
    dead_since: datetime | None
    dead_error: str | None
    circuit_open: bool
    circuit_reason: str | None
    probe_at: datetime | None
    paused_by: str | None
    pause_reason: str | None
    #: The database's clock, by which due work is decided.
    now: datetime


_WHY = """
    SELECT s.tenant_id, t.name AS tenant, s.submission_id AS subject, s.environment, s.status, s.e_ncf, o.stage, o.host,
           o.run_at, o.attempt, o.deaths, o.holder, o.entered_at, o.last_error, d.died_at AS dead_since,
           d.error AS dead_error, coalesce(c.is_open, false) AS circuit_open, c.reason AS circuit_reason, c.probe_at,
           p.paused_by, p.reason AS pause_reason, now() AS now
      FROM submissions AS s
      JOIN tenants AS t ON t.tenant_id = s.tenant_id
      LEFT JOIN outbox AS o ON o.tenant_id = s.tenant_id AND o.subject = s.submission_id
      LEFT JOIN dead_letters AS d ON d.tenant_id = s.tenant_id AND d.subject = s.submission_id
      LEFT JOIN circuits AS c ON c.environment = s.environment AND c.host = o.host
      LEFT JOIN LATERAL (SELECT x.paused_by, x.reason
                           FROM pauses AS x
                          WHERE x.tenant_id IN (0, s.tenant_id) AND x.environment IN ('', s.environment)
                          LIMIT 1) AS p ON true
     WHERE s.submission_id = %(subject)s
"""


async def why(conn: Conn, subject: UUID) -> Waiting | None:
    """Tell what a submission waits for, whoever's it is; None when there is no such submission."""
    cursor = conn.cursor(row_factory=class_row(Waiting))
    await cursor.execute(_WHY, {"subject": subject})
    return await cursor.fetchone()
