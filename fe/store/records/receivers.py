"""Receivers: for which tenant, environment and tax id suppliers' documents are taken in."""

from dataclasses import dataclass

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class Receiver:
    """A tenant that receives in an environment under a tax id; `demands_token`: only from who has a token."""

    tenant_id: TenantId
    environment: Environment
    rnc: str
    demands_token: bool


_FIND = """
    SELECT tenant_id, environment, rnc, demands_token
      FROM receivers
     WHERE environment = %(environment)s AND rnc = %(rnc)s
"""


async def find(conn: Conn, environment: Environment, rnc: str) -> Receiver | None:
    """Find who receives under a tax id."""
    cursor = conn.cursor(row_factory=record_row(Receiver))
    await cursor.execute(_FIND, {"environment": environment, "rnc": rnc})
    return await cursor.fetchone()


_OF_TENANT = """
    SELECT tenant_id, environment, rnc, demands_token
      FROM receivers
     WHERE tenant_id = %(tenant)s
     ORDER BY environment, rnc
"""


async def of_tenant(conn: Conn, tenant_id: TenantId) -> list[Receiver]:
    """List where a tenant receives."""
    cursor = conn.cursor(row_factory=record_row(Receiver))
    await cursor.execute(_OF_TENANT, {"tenant": tenant_id})
    return await cursor.fetchall()


_OPEN = """
    INSERT INTO receivers AS r (environment, rnc, tenant_id, demands_token)
    VALUES (%(environment)s, %(rnc)s, %(tenant)s, %(demands_token)s)
    ON CONFLICT (environment, rnc) DO UPDATE SET demands_token = EXCLUDED.demands_token
     WHERE r.tenant_id = EXCLUDED.tenant_id
    RETURNING tenant_id, environment, rnc, demands_token
"""


async def open_reception(conn: Conn, receiver: Receiver) -> bool:
    """Begin to receive, or change whether a token is demanded; False when the tax id is another tenant's there."""
    cursor = await conn.execute(
        _OPEN,
        {
            "environment": receiver.environment,
            "rnc": receiver.rnc,
            "tenant": receiver.tenant_id,
            "demands_token": receiver.demands_token,
        },
    )
    return cursor.rowcount == 1


_CLOSE = """
    DELETE FROM receivers WHERE environment = %(environment)s AND rnc = %(rnc)s AND tenant_id = %(tenant)s
"""


async def close_reception(conn: Conn, tenant_id: TenantId, environment: Environment, rnc: str) -> bool:
    """Stop receiving; what was received stays. False when there was nothing to stop."""
    cursor = await conn.execute(_CLOSE, {"environment": environment, "rnc": rnc, "tenant": tenant_id})
    return cursor.rowcount == 1
