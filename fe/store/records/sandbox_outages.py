"""Outages of the authority that a sandbox plays for one tenant (docs/api/testing.md). The database's clock decides."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class PlayedOutage:
    """An outage of one tenant; both moments are now where it has ended."""

    began_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class LastingOutage(PlayedOutage):
    """An outage that lasts, and for how long yet."""

    remaining: timedelta


_FORGET = """
    DELETE FROM sandbox_outages
     WHERE tenant_id = %(tenant)s AND environment = %(environment)s AND ends_at < now() - interval '1 hour'
"""
_CHANGE = """
    UPDATE sandbox_outages
       SET ends_at = now() + %(lasting)s
     WHERE tenant_id = %(tenant)s AND environment = %(environment)s AND ends_at > now()
    RETURNING began_at, ends_at
"""
_BEGIN = """
    INSERT INTO sandbox_outages (tenant_id, environment, began_at, ends_at)
    VALUES (%(tenant)s, %(environment)s, now(), now() + %(lasting)s)
    RETURNING began_at, ends_at
"""
_NONE = "SELECT now() AS began_at, now() AS ends_at"


async def play(conn: Conn, tenant_id: TenantId, environment: Environment, lasting: timedelta) -> PlayedOutage:
    """Have the authority be away for the tenant from now on; an outage that lasts gets a new end.

    Run it in a transaction. The database refuses production.
    """
    values = {"tenant": tenant_id, "environment": environment, "lasting": lasting}
    await conn.execute(_FORGET, values)
    cursor = conn.cursor(row_factory=record_row(PlayedOutage))
    await cursor.execute(_CHANGE, values)
    found = await cursor.fetchone()
    if found is None:
        if lasting:
            await cursor.execute(_BEGIN, values)
        else:
            await cursor.execute(_NONE)
        found = await cursor.fetchone()
    assert found is not None
    return found


_LASTING = """
    SELECT o.began_at, o.ends_at, o.ends_at - now() AS remaining
      FROM sandbox_outages AS o
     WHERE o.tenant_id = %(tenant)s AND o.environment = %(environment)s AND o.ends_at > now()
     ORDER BY o.ends_at DESC
     LIMIT 1
"""


async def lasting(conn: Conn, tenant_id: TenantId, environment: Environment) -> LastingOutage | None:
    """Return the outage of a tenant that lasts; None where there is none."""
    cursor = conn.cursor(row_factory=record_row(LastingOutage))
    await cursor.execute(_LASTING, {"tenant": tenant_id, "environment": environment})
    return await cursor.fetchone()


_OF_ALL = "SELECT o.tenant_id, o.environment, o.began_at FROM sandbox_outages AS o WHERE o.ends_at > now()"


async def of_all(conn: Conn) -> Mapping[tuple[TenantId, Environment], datetime]:
    """Return since when the authority is away, for every tenant for which it is."""
    cursor = await conn.execute(_OF_ALL)
    return {(TenantId(tenant), Environment(environment)): began async for tenant, environment, began in cursor}
