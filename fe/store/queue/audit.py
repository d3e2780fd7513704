"""The audit record of operators: who did what, to what, when, and why."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from psycopg.rows import class_row
from psycopg.types.json import Jsonb

from fe.ecf.ids import new_id
from fe.identifiers import ActionId, SubmissionId, TenantId
from fe.store.postgres.db import Conn

#: A reason may be this long; the table refuses more.
LONGEST_REASON = 1000


@dataclass(frozen=True, slots=True)
class OperatorAction:
    """The operator, the reason and the time of an action. `reason` has 1 to LONGEST_REASON characters."""

    action_id: ActionId
    at: datetime
    by_whom: str
    reason: str

    @classmethod
    def of(cls, by_whom: str, reason: str, at: datetime) -> Self:
        """A new one, with an id of its own."""
        return cls(ActionId(new_id(at)), at, by_whom, reason)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An action on record. `login` is who the server knew had logged in; before that was kept, None."""

    at: datetime
    by_whom: str
    login: str | None
    action: str
    reason: str
    tenant_id: TenantId | None
    subject: SubmissionId | None
    detail: dict[str, Any]


_RECORD = """
    INSERT INTO operator_actions (action_id, at, by_whom, action, reason, tenant_id, subject, detail)
    VALUES (%(id)s, %(at)s, %(by)s, %(action)s, %(reason)s, %(tenant)s, %(subject)s, %(detail)s)
"""


async def record(
    conn: Conn,
    action: OperatorAction,
    name: str,
    tenant_id: TenantId | None,
    subject: SubmissionId | None,
    detail: dict[str, Any],
) -> None:
    """Put an action on record; in the transaction of the action itself."""
    await conn.execute(
        _RECORD,
        {
            "id": action.action_id,
            "at": action.at,
            "by": action.by_whom,
            "action": name,
            "reason": action.reason,
            "tenant": tenant_id,
            "subject": subject,
            "detail": Jsonb(detail),
        },
    )


_LATEST = """
    SELECT at, by_whom, login, action, reason, tenant_id, subject, detail
      FROM operator_actions
     ORDER BY at DESC, action_id DESC
     LIMIT %(limit)s
"""


async def latest(conn: Conn, limit: int) -> list[AuditEntry]:
    """List what operators did, the latest first."""
    cursor = conn.cursor(row_factory=class_row(AuditEntry))
    await cursor.execute(_LATEST, {"limit": limit})
    return await cursor.fetchall()
