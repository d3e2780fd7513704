"""Acts of the certification that a person asked for in the portal, and that need a key: a worker does them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from fe.ecf.parse import parse_json
from fe.ecf.texts import Text
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row
from fe.store.queue import wakeups

#: How long a worker has for an act before another one takes it.
HOLD = timedelta(minutes=2)


class TaskKind(StrEnum):
    """Kinds of acts."""

    #: Sign a file of the authority's portal.
    SIGN = "sign"
    #: Rehearse the documents of a step.
    CHECK = "check"
    #: Rehearse them and send them, or go on.
    SEND = "send"
    #: Play the authority against the addresses of reception.
    ADDRESSES = "addresses"


@dataclass(frozen=True, slots=True)
class CertificationTask:
    """An act. `faults` say why it was not done; None while it waits."""

    tenant_id: TenantId
    task_id: UUID
    kind: TaskKind
    asked_at: datetime
    asked_by: str
    name: str
    content: bytes | None
    choices: Mapping[str, Any]
    done_at: datetime | None
    result: bytes | None
    has_result: bool
    faults: Sequence[Sequence[str]] | None

    @property
    def step(self) -> int:
        """The step that it belongs to."""
        return int(self.choices["step"])

    @property
    def checks(self) -> list[dict[str, Any]]:
        """The checks of addresses: `step`, `state`, and texts in both languages."""
        found: list[dict[str, Any]] = parse_json(self.result or b"[]")
        return found

    @property
    def why_not(self) -> list[Text]:
        """Why it was not done."""
        return [Text(en, es) for en, es in self.faults or ()]


_COLUMNS = """tenant_id, task_id, kind, asked_at, asked_by, name, content, choices, done_at, result,
           result IS NOT NULL AS has_result, faults"""
_ASK = """
    INSERT INTO certification_tasks (tenant_id, task_id, kind, asked_at, asked_by, name, content, choices)
    VALUES (%(tenant)s, %(task)s, %(kind)s, %(at)s, %(by)s, %(name)s, %(content)s, %(choices)s)
"""
_KEEP = """
    INSERT INTO certification_tasks
           (tenant_id, task_id, kind, asked_at, asked_by, name, content, choices, done_at, result, faults)
    VALUES (%(tenant)s, %(task)s, %(kind)s, %(at)s, %(by)s, %(name)s, %(content)s, %(choices)s, %(at)s, %(result)s,
            '[]')
"""
_FIND = f"SELECT {_COLUMNS} FROM certification_tasks AS t WHERE t.tenant_id = %(tenant)s AND t.task_id = %(task)s"
# Without the files that were uploaded: only the worker reads them. Signatures have a query to themselves, so that later
# acts do not push them out.
_NEWEST = """
    SELECT t.tenant_id, t.task_id, t.kind, t.asked_at, t.asked_by, t.name, NULL::bytea AS content, t.choices, t.done_at,
           CASE WHEN %(with_results)s THEN t.result END AS result, t.result IS NOT NULL AS has_result, t.faults
      FROM certification_tasks AS t
     WHERE t.tenant_id = %(tenant)s AND (t.kind = 'sign') = %(signatures)s
     ORDER BY t.asked_at DESC
     LIMIT 100
"""
_TAKE = f"""
    UPDATE certification_tasks AS t
       SET held_until = now() + %(hold)s
     WHERE (t.tenant_id, t.task_id) IN (
               SELECT o.tenant_id, o.task_id FROM certification_tasks AS o
                WHERE o.done_at IS NULL AND (o.held_until IS NULL OR o.held_until < now())
                ORDER BY o.asked_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING {_COLUMNS}
"""
_FINISH = """
    UPDATE certification_tasks AS t
       SET done_at = %(at)s, result = %(result)s, faults = %(faults)s
     WHERE t.tenant_id = %(tenant)s AND t.task_id = %(task)s AND t.done_at IS NULL
"""


async def ask(
    conn: Conn,
    tenant_id: TenantId,
    task_id: UUID,
    kind: TaskKind,
    *,
    at: datetime,
    by: str,
    name: str = "",
    content: bytes | None = None,
    choices: Mapping[str, Any] | None = None,
) -> None:
    """Ask for an act, and wake the workers."""
    values = {"tenant": tenant_id, "task": task_id, "kind": kind, "at": at, "by": by, "name": name}
    await conn.execute(_ASK, {**values, "content": content, "choices": Jsonb(dict(choices or {}))})
    await wakeups.notify_after(conn, wakeups.ACTS)


async def keep_signed(
    conn: Conn,
    tenant_id: TenantId,
    task_id: UUID,
    content: bytes,
    result: bytes,
    *,
    at: datetime,
    by: str,
    name: str,
    choices: Mapping[str, Any],
) -> None:
    """Keep a file of the authority's portal that was signed without a worker."""
    values = {"tenant": tenant_id, "task": task_id, "kind": TaskKind.SIGN, "at": at, "by": by, "name": name}
    await conn.execute(_KEEP, {**values, "content": content, "result": result, "choices": Jsonb(dict(choices))})


async def find(conn: Conn, tenant_id: TenantId, task_id: UUID) -> CertificationTask | None:
    """Find an act."""
    cursor = conn.cursor(row_factory=record_row(CertificationTask))
    return await (await cursor.execute(_FIND, {"tenant": tenant_id, "task": task_id}, binary=True)).fetchone()


async def newest(conn: Conn, tenant_id: TenantId, *, with_results: bool = False) -> list[CertificationTask]:
    """List the last signatures of a tenant and its last other acts, newest first, without their `content`."""
    cursor, found = conn.cursor(row_factory=record_row(CertificationTask)), list[CertificationTask]()
    for signatures in (True, False):
        values = {"tenant": tenant_id, "signatures": signatures, "with_results": with_results}
        found += await (await cursor.execute(_NEWEST, values, binary=True)).fetchall()
    return sorted(found, key=lambda one: one.asked_at, reverse=True)


async def take(conn: Conn) -> CertificationTask | None:
    """Take the oldest act that no other worker holds."""
    cursor = conn.cursor(row_factory=record_row(CertificationTask))
    return await (await cursor.execute(_TAKE, {"hold": HOLD}, binary=True)).fetchone()


async def finish(
    conn: Conn, tenant_id: TenantId, task_id: UUID, at: datetime, result: bytes | None, faults: Sequence[Text]
) -> None:
    """Note that an act is done, or why it cannot be; the first note stays."""
    said = Jsonb([[one.en, one.es] for one in faults])
    values = {"tenant": tenant_id, "task": task_id, "at": at, "result": result, "faults": said}
    await conn.execute(_FINISH, values)
