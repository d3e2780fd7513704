"""Handovers of whole archives: which tenant took what home, and when."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class ArchiveHandover:
    """A whole archive that a tenant took home. `heads`: number and manifest of the last package, by environment."""

    tenant_id: TenantId
    at: datetime
    by_whom: str
    protocol: bytes
    heads: Mapping[str, Mapping[str, Any]]
    packages: int
    receipts: int


_HANDED_OVER = """
    INSERT INTO archive_handovers (tenant_id, at, by_whom, protocol, heads, packages, receipts)
    VALUES (%(tenant)s, %(at)s, %(by)s, %(protocol)b, %(heads)s, %(packages)s, %(receipts)s)
"""
_HANDOVERS = """
    SELECT h.tenant_id, h.at, h.by_whom, h.protocol, h.heads, h.packages, h.receipts
      FROM archive_handovers AS h
     WHERE h.tenant_id = %(tenant)s
     ORDER BY h.at DESC
     LIMIT 100
"""


async def note(conn: Conn, tenant_id: TenantId, handover: ArchiveHandover) -> None:
    """Record that a tenant took its whole archive home."""
    values = {"at": handover.at, "by": handover.by_whom, "protocol": handover.protocol, "tenant": tenant_id}
    counts = {"packages": handover.packages, "receipts": handover.receipts, "heads": Jsonb(dict(handover.heads))}
    await conn.execute(_HANDED_OVER, values | counts)


async def newest(conn: Conn, tenant_id: TenantId) -> list[ArchiveHandover]:
    """List the handovers of a tenant's archive, newest first, at most 100."""
    cursor = conn.cursor(row_factory=record_row(ArchiveHandover))
    await cursor.execute(_HANDOVERS, {"tenant": tenant_id})
    return await cursor.fetchall()
