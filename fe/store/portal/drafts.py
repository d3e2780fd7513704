"""Drafts of receipts: forms that people have begun, each of a person and a company."""

from datetime import datetime, timedelta
from uuid import UUID

from psycopg.rows import scalar_row

from fe.identifiers import PersonId, TenantId
from fe.store.postgres.db import Conn

#: How long a draft is kept, and how many a person has for a company: the oldest make room.
KEPT = timedelta(days=2)
MOST = 20

_SAVE = """
    INSERT INTO portal_drafts (tenant_id, person_id, draft_id, saved_at, content)
    VALUES (%(tenant)s, %(person)s, %(draft)s, %(at)s, %(content)s)
    ON CONFLICT (tenant_id, person_id, draft_id) DO UPDATE SET saved_at = EXCLUDED.saved_at, content = EXCLUDED.content
"""
_MAKE_ROOM = f"""
    DELETE FROM portal_drafts
     WHERE tenant_id = %(tenant)s AND person_id = %(person)s AND saved_at < (
        SELECT min(d.saved_at)
          FROM (SELECT n.saved_at FROM portal_drafts AS n
                 WHERE n.tenant_id = %(tenant)s AND n.person_id = %(person)s
                 ORDER BY n.saved_at DESC LIMIT {MOST}) AS d)
"""


async def save(
    conn: Conn, tenant_id: TenantId, person_id: PersonId, draft_id: UUID, content: bytes, at: datetime
) -> None:
    """Keep a draft as it is now. Run it in a transaction."""
    values = {"tenant": tenant_id, "person": person_id, "draft": draft_id, "at": at, "content": content}
    await conn.execute(_SAVE, values)
    await conn.execute(_MAKE_ROOM, {"tenant": tenant_id, "person": person_id})


_FIND = """
    SELECT content FROM portal_drafts
     WHERE tenant_id = %(tenant)s AND person_id = %(person)s AND draft_id = %(draft)s AND saved_at > %(oldest)s
"""


async def find(conn: Conn, tenant_id: TenantId, person_id: PersonId, draft_id: UUID, now: datetime) -> bytes | None:
    """Find a draft of a person; None where there is none, or it is too old."""
    cursor = conn.cursor(row_factory=scalar_row)
    values = {"tenant": tenant_id, "person": person_id, "draft": draft_id, "oldest": now - KEPT}
    found = await (await cursor.execute(_FIND, values, binary=True)).fetchone()
    return None if found is None else bytes(found)


# At most MOST rows of a person are looked at.
_LAST = """
    SELECT draft_id, content FROM portal_drafts
     WHERE tenant_id = %(tenant)s AND person_id = %(person)s AND saved_at > %(oldest)s
       AND position(%(says)s::bytea IN content) > 0
     ORDER BY saved_at DESC
     LIMIT 1
"""


async def last(
    conn: Conn, tenant_id: TenantId, person_id: PersonId, says: bytes, now: datetime
) -> tuple[UUID, bytes] | None:
    """Find the latest draft of a person whose content has the bytes `says`: its id and content."""
    values = {"tenant": tenant_id, "person": person_id, "says": says, "oldest": now - KEPT}
    found = await (await conn.execute(_LAST, values, binary=True)).fetchone()
    return None if found is None else (found[0], bytes(found[1]))


_END = "DELETE FROM portal_drafts WHERE tenant_id = %(tenant)s AND person_id = %(person)s AND draft_id = %(draft)s"


async def end(conn: Conn, tenant_id: TenantId, person_id: PersonId, draft_id: UUID) -> None:
    """Delete a draft: its receipt is issued, or the person discards it."""
    await conn.execute(_END, {"tenant": tenant_id, "person": person_id, "draft": draft_id})


_FORGET = "DELETE FROM portal_drafts WHERE saved_at < %(oldest)s"


async def forget(conn: Conn, now: datetime) -> None:
    """Delete drafts that are too old, of all tenants."""
    await conn.execute(_FORGET, {"oldest": now - KEPT})
