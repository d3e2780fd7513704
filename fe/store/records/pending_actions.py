"""Requests of operators that need approval (sql/migrations/0009): decided and executed once."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, LiteralString
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from fe.identifiers import TenantId
from fe.store.postgres.db import Conn

Kind = Literal["replay", "discard", "tenant disable", "billing enable", "billing price"]
Through = Literal["portal", "cli"]
Decision = Literal["approved", "refused", "alone"]


@dataclass(frozen=True, slots=True)
class PendingAction:
    """A request and its result. `digest` names the request; the request itself is `request_of`."""

    action_id: UUID
    kind: Kind
    tenant_id: TenantId | None
    tenant: str | None
    digest: bytes
    row_count: int
    asked_by: str
    asked_through: Through
    asked_at: datetime
    reason: str
    expires_at: datetime
    #: None while undecided; `alone` if no second person is needed.
    decision: Decision | None
    decided_by: str | None
    decided_at: datetime | None
    rows_done: int
    outcome: dict[str, Any]
    executed_at: datetime | None

    def state(self, now: datetime) -> str:
        """`waiting`, `expired`, `refused`, `under way` or `done`."""
        if self.decision is None:
            return "waiting" if now < self.expires_at else "expired"
        if self.decision == "refused":
            return "refused"
        return "under way" if self.executed_at is None else "done"


_COLUMNS = """
    p.action_id, p.kind, p.tenant_id, t.name AS tenant, p.digest, p.row_count, p.asked_by, p.asked_through, p.asked_at,
    p.reason, p.expires_at, p.decision, p.decided_by, p.decided_at, p.rows_done, p.outcome, p.executed_at
"""

_ASK = """
    INSERT INTO pending_actions (action_id, kind, tenant_id, request, digest, row_count, asked_by, asked_through,
                                 asked_at, reason, expires_at, decision, decided_by, decided_at)
    VALUES (%(id)s, %(kind)s, %(tenant)s, %(request)s, sha256(convert_to(%(request)s, 'UTF8')), %(rows)s, %(by)s,
            %(through)s, %(at)s, %(reason)s, %(expires)s, %(decision)s, %(decided_by)s, %(decided_at)s)
"""


async def ask(
    conn: Conn,
    action_id: UUID,
    kind: Kind,
    tenant_id: TenantId | None,
    request: str,
    *,
    row_count: int,
    by_whom: str,
    through: Through,
    reason: str,
    at: datetime,
    expires_at: datetime,
    alone: bool,
) -> None:
    """Store a request; `alone`: it needs no second person."""
    await conn.execute(
        _ASK,
        {
            "id": action_id,
            "kind": kind,
            "tenant": tenant_id,
            "request": request,
            "rows": row_count,
            "by": by_whom,
            "through": through,
            "reason": reason,
            "at": at,
            "expires": expires_at,
            "decision": "alone" if alone else None,
            "decided_by": by_whom if alone else None,
            "decided_at": at if alone else None,
        },
    )


_FROM: LiteralString = " FROM pending_actions AS p LEFT JOIN tenants AS t ON t.tenant_id = p.tenant_id "

_FIND = f"SELECT {_COLUMNS} {_FROM} WHERE p.action_id = %(id)s"


async def find(conn: Conn, action_id: UUID) -> PendingAction | None:
    """Find what was asked for."""
    cursor = conn.cursor(row_factory=class_row(PendingAction))
    await cursor.execute(_FIND, {"id": action_id})
    return await cursor.fetchone()


# The digest is compared here, so that what is carried out is what people saw, whatever happened to the row.
_REQUEST = """
    SELECT p.request FROM pending_actions AS p
     WHERE p.action_id = %(id)s AND p.digest = sha256(convert_to(p.request, 'UTF8'))
"""


async def request_of(conn: Conn, action_id: UUID) -> str | None:
    """Read what exactly was asked for; None where it is not what was digested."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_REQUEST, {"id": action_id})
    return await cursor.fetchone()


_LATEST = f"""
    SELECT {_COLUMNS} {_FROM}
     WHERE %(decided)s OR (p.decision IS NULL AND p.expires_at > %(now)s)
     ORDER BY p.asked_at DESC, p.action_id DESC
     LIMIT %(limit)s
"""


async def latest(conn: Conn, now: datetime, *, limit: int, decided: bool = True) -> list[PendingAction]:
    """List what was asked for, the latest first; without `decided`, what waits for a decision alone."""
    cursor = conn.cursor(row_factory=class_row(PendingAction))
    await cursor.execute(_LATEST, {"now": now, "limit": limit, "decided": decided})
    return await cursor.fetchall()


_DECIDE = """
    UPDATE pending_actions
       SET decision = %(decision)s, decided_by = %(by)s, decided_at = %(at)s
     WHERE action_id = %(id)s AND decision IS NULL AND expires_at > %(at)s AND digest = %(digest)s
"""


async def decide(conn: Conn, action_id: UUID, decision: Decision, by_whom: str, at: datetime, digest: bytes) -> bool:
    """Decide, of several who do at once the first alone; False where it is decided, over, or not what was seen."""
    decided = await conn.execute(
        _DECIDE, {"id": action_id, "decision": decision, "by": by_whom, "at": at, "digest": digest}
    )
    return decided.rowcount == 1


# A concurrent execution waits here, then sees that it is done.
_CLAIM = f"""
    SELECT {_COLUMNS} {_FROM}
     WHERE p.action_id = %(id)s AND p.decision IN ('approved', 'alone') AND p.executed_at IS NULL
       FOR UPDATE OF p
"""


async def claim(conn: Conn, action_id: UUID) -> PendingAction | None:
    """Take what is to be carried out, to the end of the transaction; None when it is done, or not agreed."""
    cursor = conn.cursor(row_factory=class_row(PendingAction))
    await cursor.execute(_CLAIM, {"id": action_id})
    return await cursor.fetchone()


_ADVANCE = """
    UPDATE pending_actions
       SET rows_done = %(rows)s, outcome = %(outcome)s, executed_at = coalesce(%(executed)s, executed_at)
     WHERE action_id = %(id)s AND executed_at IS NULL
"""


async def advance(
    conn: Conn, action_id: UUID, rows_done: int, outcome: dict[str, Any], executed_at: datetime | None
) -> None:
    """Note how far it is, in the transaction that brought it there; with `executed_at` it is done."""
    await conn.execute(
        _ADVANCE, {"id": action_id, "rows": rows_done, "outcome": Jsonb(outcome), "executed": executed_at}
    )


_NEEDS = "SELECT needs_second_person(%(kind)s, %(by)s, %(rows)s)"


async def needs_second_person(conn: Conn, kind: Kind, by_whom: str, rows: int = 1) -> bool:
    """Tell whether an act of `rows` rows takes a second operator; the database refuses it otherwise."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_NEEDS, {"kind": kind, "by": by_whom, "rows": rows})
    return bool(await cursor.fetchone())


async def limit(conn: Conn) -> int:
    """Read how many dead letters one operator may replay or discard alone; 0: any number."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute("SELECT more_than FROM second_person")
    found: int = await cursor.fetchone() or 0
    return found


_TO_DO = """
    SELECT p.action_id FROM pending_actions AS p
     WHERE p.executed_at IS NULL AND p.decision IN ('approved', 'alone')
     ORDER BY p.asked_at
     LIMIT 100
"""


async def to_carry_out(conn: Conn) -> list[UUID]:
    """Name what is agreed and not done, the oldest first."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_TO_DO)
    return await cursor.fetchall()
