"""Recurring receipts of tenants: what is issued, on which days, and each turn (docs/decisions/recurring.md).

Whatever changes one locks its row first and plans it last, in one transaction.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from psycopg.rows import scalar_row
from psycopg.types.json import Jsonb

from fe.ecf.catalogue import Environment
from fe.ecf.mail_address import MailAddress
from fe.identifiers import ApiKeyId, SubmissionId, TenantId, UserId
from fe.lifecycle import WebhookEvent
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row
from fe.store.postgres.tenant_scope import Asked

#: Recurring receipts that a tenant may have in an environment.
MOST: Final = 5_000


class RecurringState(StrEnum):
    """Whether turns come."""

    ACTIVE = "active"
    PAUSED = "paused"
    ENDED = "ended"


class TurnState(StrEnum):
    """The state of a turn."""

    #: A front is to issue it now.
    WAITING = "waiting"
    ISSUED = "issued"
    #: It could not be issued, and may yet be.
    HELD = "held"
    #: A person said so.
    SKIPPED = "skipped"
    #: The next turn came first.
    MISSED = "missed"


class TurnReason(StrEnum):
    """Why a turn is held, or was missed."""

    CUSTOMER = "customer"
    TENANT = "tenant"
    CERTIFICATE = "certificate"
    SEQUENCE = "sequence"
    DOCUMENT = "document"
    ISSUER = "issuer"
    FAILURE = "failure"
    #: No front ran while it was due.
    LATE = "late"


@dataclass(frozen=True, slots=True)
class RecurringContent:
    """The part of a recurring receipt that clients write."""

    id: str
    name: str
    state: RecurringState
    day: int
    every: int
    starts_on: date | None
    ends_on: date | None
    customer: str | None
    payment_days: int | None
    payload: bytes
    as_user: str | None
    as_user_id: UserId | None
    notify: MailAddress | None
    #: The name of the sequence that gives the numbers; None: that of the user, or the one without a name.
    sequence: str | None


@dataclass(frozen=True, slots=True)
class RecurringRecord(RecurringContent):
    """A recurring receipt."""

    recurring_id: UUID
    environment: Environment
    next_on: date | None
    last_month: date | None
    api_key_id: ApiKeyId
    version: int
    changed_at: datetime
    changed_by: str
    #: Preview of the turn of `previewed_for`.
    preview: Mapping[str, Any] | None
    previewed_for: date | None
    #: Turns that are held.
    held: int = 0


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A turn."""

    month: date
    due_on: date
    state: TurnState
    reason: TurnReason | None
    #: Texts, English and Spanish.
    said: Sequence[Sequence[str]] | None
    tried_at: datetime | None
    try_at: datetime | None
    submission_id: SubmissionId | None
    e_ncf: str | None


@dataclass(frozen=True, slots=True)
class RecurringWork:
    """A recurring receipt that a front is to look at."""

    tenant_id: TenantId
    recurring_id: UUID


_WRITTEN = tuple(one.name for one in fields(RecurringContent))
_COLUMNS = (
    *("recurring_id", "environment", *_WRITTEN, "next_on", "last_month", "api_key_id", "version"),
    *("changed_at", "changed_by", "preview", "previewed_for"),
)
_READ = ", ".join(f"r.{name}" for name in _COLUMNS)
_NAMES = ", ".join(_WRITTEN)
_VALUES = ", ".join(f"%({name})s" for name in _WRITTEN)
_SETS = ", ".join(f"{name} = %({name})s" for name in _WRITTEN)
_SHOWN = f"""
    SELECT {_READ},
           (SELECT count(*) FROM recurring_turns AS t
             WHERE t.tenant_id = r.tenant_id AND t.recurring_id = r.recurring_id AND t.state = 'held')::int AS held
      FROM recurring_receipts AS r
     WHERE r.tenant_id = %(tenant)s
"""
_OF_CLIENT = f"{_SHOWN} AND r.environment = %(environment)s AND r.id = %(id)s".encode()
_ONE = f"{_SHOWN} AND r.recurring_id = %(id)s".encode()
_LISTED = f"""{_SHOWN} AND r.environment = %(environment)s AND r.id > %(after)s
     ORDER BY r.id LIMIT %(limit)s""".encode()
_LOCKED = f"{_SHOWN} AND r.recurring_id = %(id)s FOR UPDATE OF r".encode()
_LOCK_OF_CLIENT = f"{_SHOWN} AND r.environment = %(environment)s AND r.id = %(id)s FOR UPDATE OF r".encode()


async def of_client(conn: Conn, tenant_id: TenantId, environment: Environment, id_: str) -> RecurringRecord | None:
    """Find one by its client's key."""
    return await _found(conn, _OF_CLIENT, {"tenant": tenant_id, "environment": environment, "id": id_})


async def lock_of_client(conn: Conn, tenant_id: TenantId, environment: Environment, id_: str) -> RecurringRecord | None:
    """Find one by its client's key, and lock it."""
    return await _found(conn, _LOCK_OF_CLIENT, {"tenant": tenant_id, "environment": environment, "id": id_})


async def find(conn: Conn, tenant_id: TenantId, recurring_id: UUID) -> RecurringRecord | None:
    """Find one."""
    return await _found(conn, _ONE, {"tenant": tenant_id, "id": recurring_id})


async def lock(conn: Conn, tenant_id: TenantId, recurring_id: UUID) -> RecurringRecord | None:
    """Find one, and lock it."""
    return await _found(conn, _LOCKED, {"tenant": tenant_id, "id": recurring_id})


async def _found(conn: Conn, statement: bytes, given: Mapping[str, Any]) -> RecurringRecord | None:
    cursor = conn.cursor(row_factory=record_row(RecurringRecord))
    return await (await cursor.execute(statement, given, binary=True)).fetchone()


async def listed(
    conn: Conn, tenant_id: TenantId, environment: Environment, *, after: str = "", limit: int = 50
) -> list[RecurringRecord]:
    """List those of an environment by their client's key."""
    given = {"tenant": tenant_id, "environment": environment, "after": after, "limit": limit}
    cursor = conn.cursor(row_factory=record_row(RecurringRecord))
    return await (await cursor.execute(_LISTED, given, binary=True)).fetchall()


_COUNT = """
    SELECT count(*) FROM recurring_receipts AS r WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s
"""
_INSERT = f"""
    INSERT INTO recurring_receipts (
        tenant_id, recurring_id, environment, {_NAMES}, next_on, api_key_id, version, created_at,
        changed_at, changed_by
    )
    VALUES (%(tenant)s, %(recurring)s, %(environment)s, {_VALUES}, %(next_on)s,
            %(api_key)s, 1, %(at)s, %(at)s, %(by)s)
""".encode()
_UPDATE = f"""
    UPDATE recurring_receipts AS r
       SET {_SETS}, next_on = %(next_on)s, api_key_id = %(api_key)s,
           version = version + 1, changed_at = %(at)s, changed_by = %(by)s, preview = NULL, previewed_for = NULL
     WHERE r.tenant_id = %(tenant)s AND r.recurring_id = %(recurring)s
""".encode()


async def count(conn: Conn, tenant_id: TenantId, environment: Environment) -> int:
    """Count those of an environment."""
    cursor = conn.cursor(row_factory=scalar_row)
    found = await (await cursor.execute(_COUNT, {"tenant": tenant_id, "environment": environment})).fetchone()
    return int(found or 0)


async def write(
    conn: Conn,
    tenant_id: TenantId,
    recurring_id: UUID,
    environment: Environment,
    content: RecurringContent,
    *,
    is_new: bool,
    next_on: date | None,
    api_key_id: ApiKeyId,
    at: datetime,
    by: str,
) -> None:
    """Write one whole."""
    given = {name: getattr(content, name) for name in _WRITTEN} | {
        "tenant": tenant_id,
        "recurring": recurring_id,
        "environment": environment,
        "next_on": next_on,
        "api_key": api_key_id,
        "at": at,
        "by": by,
    }
    if is_new:
        await conn.execute(_INSERT, given)
    else:
        await conn.execute(_UPDATE, given)


_DELETE_TURNS = "DELETE FROM recurring_turns AS t WHERE t.tenant_id = %(tenant)s AND t.recurring_id = %(id)s"
_DELETE_DUE = "DELETE FROM recurring_due AS d WHERE d.tenant_id = %(tenant)s AND d.recurring_id = %(id)s"
_DELETE = "DELETE FROM recurring_receipts AS r WHERE r.tenant_id = %(tenant)s AND r.recurring_id = %(id)s"


async def delete(conn: Conn, tenant_id: TenantId, recurring_id: UUID) -> None:
    """Delete one with its turns; the issued receipts stay."""
    for statement in (_DELETE_TURNS, _DELETE_DUE, _DELETE):
        await conn.execute(statement, {"tenant": tenant_id, "id": recurring_id})


_MOVE = """
    UPDATE recurring_receipts AS r
       SET state = %(state)s, next_on = %(next_on)s, last_month = coalesce(%(last_month)s, r.last_month),
           preview = NULL, previewed_for = NULL
     WHERE r.tenant_id = %(tenant)s AND r.recurring_id = %(id)s
"""
_PREVIEW = """
    UPDATE recurring_receipts AS r
       SET preview = %(preview)s, previewed_for = %(day)s
     WHERE r.tenant_id = %(tenant)s AND r.recurring_id = %(id)s
"""


async def move(
    conn: Conn,
    tenant_id: TenantId,
    recurring_id: UUID,
    *,
    state: RecurringState,
    next_on: date | None,
    last_month: date | None = None,
) -> None:
    """Set the next due day, and the month of the last turn."""
    given = {"tenant": tenant_id, "id": recurring_id, "state": state, "next_on": next_on, "last_month": last_month}
    await conn.execute(_MOVE, given)


async def keep_preview(
    conn: Conn, tenant_id: TenantId, recurring_id: UUID, day: date, preview: Mapping[str, Any]
) -> None:
    """Keep the preview of the turn of a day."""
    given = {"tenant": tenant_id, "id": recurring_id, "day": day, "preview": Jsonb(preview)}
    await conn.execute(_PREVIEW, given)


# -- turns -------------------------------------------------------------------------------------------------------------

_TURN = "t.month, t.due_on, t.state, t.reason, t.said, t.tried_at, t.try_at, t.submission_id, t.e_ncf"
_TURNS = f"""
    SELECT {_TURN}
      FROM recurring_turns AS t
     WHERE t.tenant_id = %(tenant)s AND t.recurring_id = %(id)s
     ORDER BY t.month DESC
     LIMIT %(limit)s
"""
_OPEN = f"""
    SELECT {_TURN}
      FROM recurring_turns AS t
     WHERE t.tenant_id = %(tenant)s AND t.recurring_id = %(id)s AND t.state IN ('waiting', 'held')
     ORDER BY t.try_at, t.month
"""
_ADD = """
    INSERT INTO recurring_turns (tenant_id, recurring_id, month, due_on, state, reason, said, try_at)
    VALUES (%(tenant)s, %(id)s, %(month)s, %(due_on)s, %(state)s, %(reason)s, %(said)s, %(try_at)s)
    ON CONFLICT DO NOTHING
"""
_SET = """
    UPDATE recurring_turns AS t
       SET state = %(state)s, reason = %(reason)s, said = %(said)s, try_at = %(try_at)s,
           tried_at = coalesce(%(tried_at)s, t.tried_at), submission_id = %(submission)s, e_ncf = %(e_ncf)s
     WHERE t.tenant_id = %(tenant)s AND t.recurring_id = %(id)s AND t.month = %(month)s AND t.state <> 'issued'
"""
_ONE_TURN = f"""
    SELECT {_TURN}
      FROM recurring_turns AS t
     WHERE t.tenant_id = %(tenant)s AND t.recurring_id = %(id)s AND t.month = %(month)s
"""
_TRY_HELD = """
    UPDATE recurring_turns AS t
       SET try_at = %(at)s
     WHERE t.tenant_id = %(tenant)s AND t.recurring_id = %(id)s AND t.state = 'held'
"""


async def turns(conn: Conn, tenant_id: TenantId, recurring_id: UUID, *, limit: int = 24) -> list[TurnRecord]:
    """List its turns, the newest first."""
    cursor = conn.cursor(row_factory=record_row(TurnRecord))
    found = await cursor.execute(_TURNS, {"tenant": tenant_id, "id": recurring_id, "limit": limit})
    return await found.fetchall()


async def open_turns(conn: Conn, tenant_id: TenantId, recurring_id: UUID) -> list[TurnRecord]:
    """List turns that wait or are held, the one to try first at the front."""
    cursor = conn.cursor(row_factory=record_row(TurnRecord))
    return await (await cursor.execute(_OPEN, {"tenant": tenant_id, "id": recurring_id})).fetchall()


async def add_turn(
    conn: Conn,
    tenant_id: TenantId,
    recurring_id: UUID,
    due_on: date,
    state: TurnState,
    *,
    reason: TurnReason | None = None,
    said: Sequence[Sequence[str]] | None = None,
    try_at: datetime | None = None,
) -> None:
    """Add the turn of a day's month, unless it is there."""
    given = {
        "tenant": tenant_id,
        "id": recurring_id,
        "month": due_on.replace(day=1),
        "due_on": due_on,
        "state": state,
        "reason": reason,
        "said": None if said is None else json.dumps(said),
        "try_at": try_at,
    }
    await conn.execute(_ADD, given)


async def set_turn(
    conn: Conn,
    tenant_id: TenantId,
    recurring_id: UUID,
    month: date,
    state: TurnState,
    *,
    reason: TurnReason | None = None,
    said: Sequence[Sequence[str]] | None = None,
    tried_at: datetime | None = None,
    try_at: datetime | None = None,
    submission_id: SubmissionId | None = None,
    e_ncf: str | None = None,
) -> bool:
    """Set what became of a turn; False where it was issued, which stays."""
    given = {
        "tenant": tenant_id,
        "id": recurring_id,
        "month": month,
        "state": state,
        "reason": reason,
        "said": None if said is None else json.dumps(said),
        "tried_at": tried_at,
        "try_at": try_at,
        "submission": submission_id,
        "e_ncf": e_ncf,
    }
    return (await conn.execute(_SET, given)).rowcount > 0


async def turn(conn: Conn, tenant_id: TenantId, recurring_id: UUID, month: date) -> TurnRecord | None:
    """Find the turn of a month."""
    cursor = conn.cursor(row_factory=record_row(TurnRecord))
    given = {"tenant": tenant_id, "id": recurring_id, "month": month}
    return await (await cursor.execute(_ONE_TURN, given)).fetchone()


async def try_held(conn: Conn, tenant_id: TenantId, recurring_id: UUID, at: datetime | None) -> None:
    """Set when held turns are tried again; None: when a person says so."""
    await conn.execute(_TRY_HELD, {"tenant": tenant_id, "id": recurring_id, "at": at})


# -- work --------------------------------------------------------------------------------------------------------------

_DUE = """
    SELECT d.tenant_id, d.recurring_id
      FROM recurring_due AS d
     WHERE d.run_at <= %(now)s AND d.held_until < clock_timestamp()
     ORDER BY d.run_at
     LIMIT 20
"""
_HOLD = """
    UPDATE recurring_due AS d
       SET held_until = clock_timestamp() + %(seconds)s * interval '1 second'
     WHERE d.tenant_id = %(tenant)s AND d.recurring_id = %(id)s AND (%(again)s OR d.held_until < clock_timestamp())
"""
_PLAN = """
    INSERT INTO recurring_due AS d (tenant_id, recurring_id, run_at)
    VALUES (%(tenant)s, %(id)s, coalesce(%(at)s::timestamptz, 'infinity'))
    ON CONFLICT (tenant_id, recurring_id) DO UPDATE SET run_at = EXCLUDED.run_at, held_until = '-infinity'
"""


async def due(conn: Conn, now: datetime) -> list[RecurringWork]:
    """List what fronts are to look at, of all tenants, the longest due first."""
    rows = await (await conn.execute(_DUE, {"now": now})).fetchall()
    return [RecurringWork(TenantId(tenant_id), recurring_id) for tenant_id, recurring_id in rows]


async def hold(conn: Conn, tenant_id: TenantId, recurring_id: UUID, seconds: float, *, again: bool = False) -> bool:
    """Take one for some seconds, unless another front has it; `again`: change how long it is held."""
    given = {"tenant": tenant_id, "id": recurring_id, "seconds": seconds, "again": again}
    return (await conn.execute(_HOLD, given)).rowcount > 0


async def plan(conn: Conn, tenant_id: TenantId, recurring_id: UUID, at: datetime | None) -> None:
    """Set when a front looks at it next; None: when something changes."""
    await conn.execute(_PLAN, {"tenant": tenant_id, "id": recurring_id, "at": at})


_TELL = """
    SELECT tell_webhooks(%(tenant)s, webhook_id(%(at)s, %(kind)s || ' ' || %(about)s), %(environment)s, %(kind)s,
                         %(about)s, %(at)s, %(body)s, NULL)
     WHERE webhook_wanted(%(tenant)s, %(environment)s, %(kind)s)
"""


async def tell(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    kind: WebhookEvent,
    *,
    about: str,
    at: datetime,
    body: str,
) -> None:
    """Emit an event about one in the transaction that makes it true, where an endpoint wants it."""
    given = {
        "tenant": tenant_id,
        "environment": environment,
        "kind": kind,
        "about": about,
        "at": at,
        "body": body,
    }
    await conn.execute(_TELL, given)


_NOTICES = """
    SELECT n.environment, sum(n.held)::int AS held, sum(n.coming)::int AS coming, sum(n.at_risk)::int AS at_risk
      FROM (SELECT r.environment, 1 AS held, 0 AS coming, 0 AS at_risk
              FROM recurring_turns AS t
              JOIN recurring_receipts AS r ON r.tenant_id = t.tenant_id AND r.recurring_id = t.recurring_id
             WHERE t.tenant_id = %(tenant)s AND t.state = 'held'
             UNION ALL
            SELECT r.environment, 0, CASE WHEN r.preview ->> 'reason' IS NULL THEN 1 ELSE 0 END,
                   CASE WHEN r.preview ->> 'reason' IS NULL THEN 0 ELSE 1 END
              FROM recurring_receipts AS r
             WHERE r.tenant_id = %(tenant)s AND r.previewed_for IS NOT NULL AND r.state = 'active') AS n
     GROUP BY n.environment
     ORDER BY n.environment
"""


@dataclass(frozen=True, slots=True)
class RecurringNotice:
    """Recurring receipts of an environment that need attention: held ones, and those of tomorrow."""

    environment: Environment
    held: int
    coming: int
    at_risk: int


def notices_asked(tenant_id: TenantId) -> Asked[RecurringNotice]:
    """Return the statement that counts what needs attention, by environment."""
    return Asked(_NOTICES.encode(), {"tenant": tenant_id}, record_row(RecurringNotice))
