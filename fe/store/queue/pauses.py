"""Pauses: what an operator has stopped. Claims look at them; what is in flight already is finished."""

from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import scalar_row

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row
from fe.store.queue.audit import OperatorAction, record


@dataclass(frozen=True, slots=True)
class Pause:
    """The scope of a pause. `tenant` and `tenant_id` are None for all tenants, `environment` is None for all
    environments.
    """

    tenant_id: TenantId | None
    tenant: str | None
    environment: Environment | None
    paused_at: datetime
    paused_by: str
    reason: str


_PAUSE = """
    INSERT INTO pauses (tenant_id, environment, paused_at, paused_by, reason)
    VALUES (%(tenant)s, %(environment)s, %(at)s, %(by)s, %(reason)s)
    ON CONFLICT DO NOTHING
"""


async def pause(
    conn: Conn, action: OperatorAction, tenant_id: TenantId | None, environment: Environment | None
) -> bool:
    """Stop claiming rows of a tenant (None: of all) in an environment (None: in all); False if it was paused already.

    Run it in a transaction: the action is audited together with its effect.
    """
    values = {"tenant": tenant_id or 0, "environment": environment or ""}
    cursor = await conn.execute(_PAUSE, {**values, "at": action.at, "by": action.by_whom, "reason": action.reason})
    if cursor.rowcount == 1:
        await record(conn, action, "pause", tenant_id, None, {"environment": environment})
    return cursor.rowcount == 1


_RESUME = "DELETE FROM pauses WHERE tenant_id = %(tenant)s AND environment = %(environment)s"


async def resume(
    conn: Conn, action: OperatorAction, tenant_id: TenantId | None, environment: Environment | None
) -> bool:
    """Undo a pause; False when there was none like this. Run it in a transaction, like `pause`."""
    cursor = await conn.execute(_RESUME, {"tenant": tenant_id or 0, "environment": environment or ""})
    if cursor.rowcount == 1:
        await record(conn, action, "resume", tenant_id, None, {"environment": environment})
    return cursor.rowcount == 1


_IS_PAUSED = """
    SELECT EXISTS (
        SELECT 1 FROM pauses AS p
         WHERE p.tenant_id IN (0, %(tenant)s) AND p.environment IN ('', %(environment)s))
"""


async def is_paused(conn: Conn, tenant_id: TenantId, environment: Environment) -> bool:
    """Tell whether work of a tenant is paused in an environment, whichever pause does it."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_IS_PAUSED, {"tenant": tenant_id, "environment": environment})
    return bool(await cursor.fetchone())


_ALL = """
    SELECT nullif(p.tenant_id, 0) AS tenant_id, t.name AS tenant, nullif(p.environment, '') AS environment,
           p.paused_at, p.paused_by, p.reason
      FROM pauses AS p
      LEFT JOIN tenants AS t ON t.tenant_id = p.tenant_id
     ORDER BY p.paused_at, p.tenant_id, p.environment
"""


async def everything(conn: Conn) -> list[Pause]:
    """List what is stopped, the longest first."""
    cursor = conn.cursor(row_factory=record_row(Pause))
    await cursor.execute(_ALL)
    return await cursor.fetchall()
