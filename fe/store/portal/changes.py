"""The log of changes for a tenant, for its people to read: who, when, from and to which value. Append-only."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from psycopg.rows import class_row, scalar_row
from psycopg.types.json import Jsonb

from fe.identifiers import PersonId, TenantId
from fe.store.postgres.db import Conn

#: Kinds of changes that are written; fe/portal/action_names.toml has their Spanish. Old rows may have others.
ChangeAction = Literal[
    "company created",
    "archive exported",
    "company changed",
    "print settings changed",
    "certification path chosen",
    "certification step done",
    "certification step taken back",
    "certification set loaded",
    "certification simulation planned",
    "certification set sent",
    "certification act asked",
    "certification addresses checked",
    "portal file signed",
    "company disabled",
    "company enabled",
    "user created",
    "user changed",
    "user removed",
    "person invited",
    "invitation withdrawn",
    "person joined",
    "role changed",
    "person removed",
    "certificate added",
    "certificate retired",
    "certificate key destroyed",
    "key created",
    "key rolled",
    "key revoked",
    "sequence set",
    "sequence deleted",
    "mail changed",
    "mail address suppressed",
    "mail address allowed",
    "receipt issued",
    "receipts imported",
    "recurring receipt set",
    "recurring receipt deleted",
    "recurring turn decided",
    "webhook set",
    "webhook enabled",
    "webhook deleted",
    "webhook disabled",
    "webhook secret shown",
    "webhook secret rotated",
    "webhook recovery asked",
    "received decided",
    "receipt mailed",
    "receipt shared",
    "receipt share revoked",
    "agent retired",
    "mode changed",
    "numbers voided",
    "paper range recorded",
    "paper range deleted",
    "paper receipt entered",
    "paper receipt corrected",
    "expense classified",
    "voiding settled",
]


@dataclass(frozen=True, slots=True)
class TenantChange:
    """One change. `before` and `after` hold nothing secret; None where there was nothing, or is nothing any more."""

    change_id: UUID
    at: datetime
    by_whom: str
    person_id: PersonId | None
    #: `portal`, `cli` or `api`.
    through: str
    action: ChangeAction
    #: To what: a name or an id that people know.
    subject: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


_NOTE = """
    INSERT INTO tenant_changes
           (tenant_id, change_id, at, by_whom, person_id, through, action, subject, before, after)
    VALUES (%(tenant)s, %(id)s, %(at)s, %(by)s, %(person)s, %(through)s, %(action)s, %(subject)s, %(before)s, %(after)s)
"""


async def note(conn: Conn, tenant_id: TenantId, change: TenantChange) -> None:
    """Keep a change, in the transaction that makes it."""
    await conn.execute(
        _NOTE,
        {
            "tenant": tenant_id,
            "id": change.change_id,
            "at": change.at,
            "by": change.by_whom,
            "person": change.person_id,
            "through": change.through,
            "action": change.action,
            "subject": change.subject,
            "before": None if change.before is None else Jsonb(change.before),
            "after": None if change.after is None else Jsonb(change.after),
        },
    )


_LATEST = """
    SELECT change_id, at, by_whom, person_id, through, action, subject, before, after
      FROM tenant_changes
     WHERE tenant_id = %(tenant)s
       AND (%(before)s::uuid IS NULL OR change_id < %(before)s)
       AND (%(action)s::text IS NULL OR action = %(action)s)
     ORDER BY change_id DESC
     LIMIT %(limit)s
"""


async def latest(
    conn: Conn, tenant_id: TenantId, *, limit: int, before: UUID | None = None, action: str | None = None
) -> list[TenantChange]:
    """List a tenant's changes, the latest first; `before` one of them, of one kind only."""
    cursor = conn.cursor(row_factory=class_row(TenantChange))
    await cursor.execute(_LATEST, {"tenant": tenant_id, "limit": limit, "before": before, "action": action})
    return await cursor.fetchall()


#: Changes that are looked through for who made one.
_LOOK = 2000
_BY_SUBJECT = f"""
    SELECT DISTINCT ON (c.subject) c.subject, c.by_whom
      FROM (SELECT x.subject, x.by_whom, x.change_id
              FROM tenant_changes AS x
             WHERE x.tenant_id = %(tenant)s AND x.action = %(action)s
             ORDER BY x.change_id DESC
             LIMIT {_LOOK}) AS c
     WHERE c.subject = ANY (%(subjects)s)
     ORDER BY c.subject, c.change_id DESC
"""


async def by_subject(conn: Conn, tenant_id: TenantId, action: ChangeAction, subjects: Sequence[str]) -> dict[str, str]:
    """Tell who made the last change of a kind to each of these, of the latest changes of that kind."""
    cursor = await conn.execute(_BY_SUBJECT, {"tenant": tenant_id, "action": action, "subjects": list(subjects)})
    return dict(await cursor.fetchall())


_ACTIONS = "SELECT DISTINCT action FROM tenant_changes WHERE tenant_id = %(tenant)s ORDER BY action"


async def actions(conn: Conn, tenant_id: TenantId) -> list[str]:
    """List the kinds of changes that a tenant has."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_ACTIONS, {"tenant": tenant_id})
    return await cursor.fetchall()
