"""Under whose RNC a tenant issues: its own, its users', what operators recorded, or another tenant's."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from psycopg.rows import class_row

from fe.identifiers import TenantId
from fe.store.postgres.db import Conn


class Standing(StrEnum):
    """The relation of an RNC to a tenant."""

    #: Its own, or one that its users issue for.
    OWN = "own"
    #: An operator recorded that its holder lets the tenant issue.
    RECORDED = "recorded"
    #: Of no tenant of this installation: only the authority knows of a delegation.
    FOREIGN = "foreign"
    #: Another tenant's, and nothing is recorded.
    ANOTHER = "another"


_STANDING = """
    SELECT CASE
        WHEN EXISTS (SELECT 1 FROM tenants AS t
                      WHERE t.tenant_id = %(tenant)s AND t.issuer ->> 'RNCEmisor' = %(rnc)s) THEN 'own'
        WHEN EXISTS (SELECT 1 FROM users AS u
                      WHERE u.tenant_id = %(tenant)s AND u.removed_at IS NULL
                        AND u.issuer_override ->> 'RNCEmisor' = %(rnc)s) THEN 'own'
        WHEN EXISTS (SELECT 1 FROM issuer_delegations AS d
                      WHERE d.tenant_id = %(tenant)s AND d.rnc = %(rnc)s) THEN 'recorded'
        WHEN is_rnc_of_another(%(tenant)s::bigint, %(rnc)s) THEN 'another'
        ELSE 'foreign'
    END
"""


async def standing(conn: Conn, tenant_id: TenantId, rnc: str) -> Standing:
    """Tell what an RNC is to this tenant."""
    cursor = await conn.execute(_STANDING, {"tenant": tenant_id, "rnc": rnc})
    row = await cursor.fetchone()
    assert row is not None
    return Standing(row[0])


@dataclass(frozen=True, slots=True)
class Delegation:
    """A delegation recorded by an operator: the tenant may issue in the name of the holder of `rnc`."""

    tenant_id: TenantId
    rnc: str
    recorded_at: datetime
    recorded_by: str
    reason: str


_RECORD = """
    INSERT INTO issuer_delegations (tenant_id, rnc, recorded_at, recorded_by, reason)
    VALUES (%(tenant)s, %(rnc)s, %(at)s, %(by)s, %(reason)s)
    ON CONFLICT DO NOTHING
"""


async def record(conn: Conn, delegation: Delegation) -> bool:
    """Record a delegation; False when it was recorded before, and then that one stays."""
    cursor = await conn.execute(
        _RECORD,
        {
            "tenant": delegation.tenant_id,
            "rnc": delegation.rnc,
            "at": delegation.recorded_at,
            "by": delegation.recorded_by,
            "reason": delegation.reason,
        },
    )
    return cursor.rowcount == 1


_WITHDRAW = "DELETE FROM issuer_delegations WHERE tenant_id = %(tenant)s AND rnc = %(rnc)s"


async def withdraw(conn: Conn, tenant_id: TenantId, rnc: str) -> bool:
    """Take a delegation back; False when none is recorded."""
    cursor = await conn.execute(_WITHDRAW, {"tenant": tenant_id, "rnc": rnc})
    return cursor.rowcount == 1


_OF = """
    SELECT tenant_id, rnc, recorded_at, recorded_by, reason
      FROM issuer_delegations
     WHERE tenant_id = %(tenant)s
     ORDER BY rnc
"""


async def delegations_of(conn: Conn, tenant_id: TenantId) -> list[Delegation]:
    """List what is recorded for a tenant, by RNC."""
    cursor = conn.cursor(row_factory=class_row(Delegation))
    await cursor.execute(_OF, {"tenant": tenant_id})
    return await cursor.fetchall()
