"""Agents: tills that give numbers of their own and sign while their line is down (docs/decisions/agents.md)."""

from dataclasses import dataclass
from datetime import datetime
from typing import NewType
from uuid import UUID

from psycopg.rows import class_row, scalar_row

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import StoreError

AgentId = NewType("AgentId", UUID)
#: Certificates of an agent that are known; documents signed with an older one are refused.
_KNOWN = 8
#: Agents of a tenant at work in an environment; requests at the same moment may add a few more.
MOST = 200


class TooManyAgents(StoreError):
    """As many agents as may be are at work."""


_RENEW = f"""
    UPDATE agents AS a
       SET epoch = %(epoch)s + 1, nonce = %(nonce)s, leased_at = %(at)s,
           certificates = CASE WHEN %(certificate)s::text IS NULL OR %(certificate)s = ANY (a.certificates)
                               THEN a.certificates
                               ELSE (ARRAY[%(certificate)s::text] || a.certificates)[1:{_KNOWN}] END
     WHERE a.tenant_id = %(tenant)s AND a.environment = %(environment)s AND a.agent_id = %(agent)s
       AND a.retired_at IS NULL
       AND (a.epoch = %(epoch)s OR (a.epoch = %(epoch)s + 1 AND a.nonce = %(nonce)s))
    RETURNING a.epoch
"""
_FIRST = f"""
    INSERT INTO agents AS a (tenant_id, environment, agent_id, epoch, nonce, certificates, leased_at)
    SELECT %(tenant)s, %(environment)s::text, %(agent)s, 1, %(nonce)s,
           array_remove(ARRAY[%(certificate)s::text], NULL), %(at)s
     WHERE (SELECT count(*)
              FROM agents AS o
             WHERE o.tenant_id = %(tenant)s AND o.environment = %(environment)s AND o.retired_at IS NULL) < {MOST}
    ON CONFLICT DO NOTHING
    RETURNING a.epoch
"""
_EXISTS = """
    SELECT EXISTS (SELECT 1
                     FROM agents AS a
                    WHERE a.tenant_id = %(tenant)s AND a.environment = %(environment)s AND a.agent_id = %(agent)s)
"""


async def lease(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    agent_id: AgentId,
    *,
    epoch: int,
    nonce: UUID,
    certificate: str | None,
    at: datetime,
) -> int | None:
    """Raise the epoch of an agent that presents its present one, and return it; None for another one, or if retired.

    Epoch 0 creates the agent. A repeat with the nonce of the last lease gets that lease again. Raises
    TooManyAgents.
    """
    values = {
        "tenant": tenant_id,
        "environment": environment,
        "agent": agent_id,
        "epoch": epoch,
        "nonce": nonce,
        "certificate": certificate,
        "at": at,
    }
    cursor = conn.cursor(row_factory=scalar_row)
    for statement in (_RENEW, _FIRST) if epoch == 0 else (_RENEW,):
        await cursor.execute(statement, values)
        leased: int | None = await cursor.fetchone()
        if leased is not None:
            return leased
    if epoch == 0:
        await cursor.execute(_EXISTS, values)
        if not await cursor.fetchone():
            raise TooManyAgents
    return None


@dataclass(frozen=True, slots=True)
class AgentRecord:
    """An agent, and when it last took a lease."""

    agent_id: AgentId
    leased_at: datetime
    retired_at: datetime | None
    retired_by: str | None


_LISTED = f"""
    SELECT a.agent_id, a.leased_at, a.retired_at, a.retired_by
      FROM agents AS a
     WHERE a.tenant_id = %(tenant)s AND a.environment = %(environment)s
     ORDER BY (a.retired_at IS NULL) DESC, a.leased_at DESC
     LIMIT {MOST}
"""


async def listed(conn: Conn, tenant_id: TenantId, environment: Environment) -> list[AgentRecord]:
    """List agents, those at work first."""
    cursor = conn.cursor(row_factory=class_row(AgentRecord))
    await cursor.execute(_LISTED, {"tenant": tenant_id, "environment": environment})
    return await cursor.fetchall()


_RETIRE = """
    UPDATE agents
       SET epoch = epoch + 1, retired_at = %(at)s, retired_by = %(by)s
     WHERE tenant_id = %(tenant)s AND environment = %(environment)s AND agent_id = %(agent)s AND retired_at IS NULL
"""


async def retire(
    conn: Conn, tenant_id: TenantId, environment: Environment, agent_id: AgentId, *, by: str, at: datetime
) -> bool:
    """Fence an agent for good: it gets no more leases, and delivers what it has. False: there is none at work."""
    values = {"tenant": tenant_id, "environment": environment, "agent": agent_id, "by": by, "at": at}
    return (await conn.execute(_RETIRE, values)).rowcount == 1


_KNOWS = """
    SELECT EXISTS (
        SELECT 1 FROM agents AS a
         WHERE a.tenant_id = %(tenant)s AND a.environment = %(environment)s AND %(certificate)s = ANY (a.certificates))
"""


async def knows_certificate(conn: Conn, tenant_id: TenantId, environment: Environment, certificate: str) -> bool:
    """Return whether an agent of the tenant signs with this certificate, named by its SHA-256."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_KNOWS, {"tenant": tenant_id, "environment": environment, "certificate": certificate})
    return bool(await cursor.fetchone())
