"""Recoveries: what an endpoint has not confirmed since some time is delivered again, a stretch at a time."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from fe.ecf.catalogue import Environment
from fe.ecf.ids import first_id
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row


class RecoveryState(StrEnum):
    """How far a recovery is."""

    UNDER_WAY = "webhook_recovery"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class RecoveryRecord:
    """A recovery and its progress."""

    recovery_id: UUID
    endpoint_id: UUID
    since: datetime
    until: datetime
    state: RecoveryState
    recovered: int
    asked_at: datetime
    finished_at: datetime | None


_ASK = """
    INSERT INTO webhook_recoveries (tenant_id, subject, stage, run_at, endpoint_id, since, until, only_held, position,
                                    asked_at)
    VALUES (%(tenant)s, %(recovery)s, 'webhook_recovery', now(), %(endpoint)s, %(since)s, %(until)s, %(only_held)s,
            %(position)s, %(at)s)
"""


async def ask(
    conn: Conn,
    tenant_id: TenantId,
    endpoint_id: UUID,
    *,
    recovery_id: UUID,
    since: datetime,
    until: datetime,
    only_held: bool,
    at: datetime,
) -> None:
    """Ask for what happened from `since` on and before `until` to be delivered where it was not confirmed.

    That is what failed and what was held; with `only_held` only the latter, without it also received documents that
    were never told. The id is new. Wake the stage `webhook_recovery` after it.
    """
    await conn.execute(
        _ASK,
        {
            "tenant": tenant_id,
            "recovery": recovery_id,
            "endpoint": endpoint_id,
            "since": since,
            "until": until,
            "only_held": only_held,
            # The id just below the first that can have been made then.
            "position": UUID(int=max(first_id(since).int - 1, 0)),
            "at": at,
        },
    )


_COLUMNS = """subject AS recovery_id, endpoint_id, since, until, stage AS state, recovered, asked_at, finished_at"""

_LISTED = f"""
    SELECT {_COLUMNS}
      FROM webhook_recoveries
     WHERE tenant_id = %(tenant)s AND NOT only_held
       AND (%(environment)s::text IS NULL
            OR endpoint_id IN (SELECT e.endpoint_id
                                 FROM webhook_endpoints AS e
                                WHERE e.tenant_id = %(tenant)s
                                  AND (e.environment IS NULL OR e.environment = %(environment)s::text)))
     ORDER BY subject DESC
     LIMIT %(limit)s
"""


async def listed(
    conn: Conn, tenant_id: TenantId, *, environment: Environment | None = None, limit: int = 20
) -> list[RecoveryRecord]:
    """List the recoveries that a tenant asked for, newest first: of the endpoints of an environment, or of all.

    Those that re-enabling an endpoint starts are left out.
    """
    cursor = conn.cursor(row_factory=record_row(RecoveryRecord))
    await cursor.execute(_LISTED, {"tenant": tenant_id, "environment": environment, "limit": limit})
    return await cursor.fetchall()


_UNDER_WAY = """
    SELECT subject
      FROM webhook_recoveries
     WHERE tenant_id = %(tenant)s AND endpoint_id = %(endpoint)s AND stage = 'webhook_recovery' AND NOT only_held
     LIMIT 1
"""


async def under_way(conn: Conn, tenant_id: TenantId, endpoint_id: UUID) -> UUID | None:
    """Find a recovery of an endpoint that its tenant asked for and that has not ended."""
    cursor = await conn.execute(_UNDER_WAY, {"tenant": tenant_id, "endpoint": endpoint_id})
    row: tuple[UUID] | None = await cursor.fetchone()
    return row and row[0]


_ONE = f"SELECT {_COLUMNS} FROM webhook_recoveries WHERE tenant_id = %(tenant)s AND subject = %(recovery)s"


async def one(conn: Conn, tenant_id: TenantId, recovery_id: UUID) -> RecoveryRecord | None:
    """Find one recovery."""
    cursor = conn.cursor(row_factory=record_row(RecoveryRecord))
    await cursor.execute(_ONE, {"tenant": tenant_id, "recovery": recovery_id})
    return await cursor.fetchone()
