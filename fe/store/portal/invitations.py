"""Invitations: links for new people. Only the hash of a link is stored."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from fe.identifiers import TenantId
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation. Without a tenant, and so without a role, it makes an operator."""

    invitation_id: UUID
    tenant_id: TenantId | None
    role: PortalRole | None
    email: str
    invited_by: str
    created_at: datetime
    expires_at: datetime
    accepted_at: datetime | None
    withdrawn_at: datetime | None

    def is_open(self, now: datetime) -> bool:
        """Tell whether it may still be accepted."""
        return self.accepted_at is None and self.withdrawn_at is None and now < self.expires_at


_COLUMNS = (
    "i.invitation_id, i.tenant_id, i.role, i.email, i.invited_by, i.created_at, i.expires_at, i.accepted_at, "
    "i.withdrawn_at"
)

_INVITE = """
    INSERT INTO invitations (invitation_id, tenant_id, role, email, token_hash, invited_by, created_at, expires_at)
    VALUES (%(id)s, %(tenant)s, %(role)s, %(email)s, %(hash)s, %(by)s, %(at)s, %(until)s)
"""


async def invite(conn: Conn, invitation: Invitation, token_hash: bytes) -> None:
    """Keep an invitation."""
    await conn.execute(
        _INVITE,
        {
            "id": invitation.invitation_id,
            "tenant": invitation.tenant_id,
            "role": invitation.role,
            "email": invitation.email,
            "hash": token_hash,
            "by": invitation.invited_by,
            "at": invitation.created_at,
            "until": invitation.expires_at,
        },
    )


_BY_TOKEN = f"SELECT {_COLUMNS} FROM invitations AS i WHERE i.token_hash = %(hash)s"


async def by_token(conn: Conn, token_hash: bytes) -> Invitation | None:
    """Find an invitation by what stands in its link, before a tenant is known."""
    cursor = conn.cursor(row_factory=record_row(Invitation))
    await cursor.execute(_BY_TOKEN, {"hash": token_hash})
    return await cursor.fetchone()


_WAITING = f"""
    SELECT {_COLUMNS}
      FROM invitations AS i
     WHERE i.tenant_id = %(tenant)s AND i.accepted_at IS NULL AND i.withdrawn_at IS NULL AND i.expires_at > %(now)s
     ORDER BY i.created_at
"""


async def waiting(conn: Conn, tenant_id: TenantId, now: datetime) -> list[Invitation]:
    """List a tenant's invitations that may still be accepted."""
    cursor = conn.cursor(row_factory=record_row(Invitation))
    await cursor.execute(_WAITING, {"tenant": tenant_id, "now": now})
    return await cursor.fetchall()


_ACCEPT = """
    UPDATE invitations SET accepted_at = %(at)s
     WHERE (tenant_id = %(tenant)s OR (tenant_id IS NULL AND %(tenant)s::bigint IS NULL)) AND invitation_id = %(id)s
       AND accepted_at IS NULL AND withdrawn_at IS NULL AND expires_at > %(at)s
"""


async def accept(conn: Conn, invitation: Invitation, at: datetime) -> bool:
    """Use an invitation up; False where it is over."""
    done = await conn.execute(_ACCEPT, {"id": invitation.invitation_id, "tenant": invitation.tenant_id, "at": at})
    return done.rowcount == 1


_WITHDRAW = f"""
    UPDATE invitations AS i SET withdrawn_at = %(at)s
     WHERE i.tenant_id = %(tenant)s AND i.invitation_id = %(id)s
       AND i.accepted_at IS NULL AND i.withdrawn_at IS NULL
    RETURNING {_COLUMNS}
"""


async def withdraw(conn: Conn, tenant_id: TenantId, invitation_id: UUID, at: datetime) -> Invitation | None:
    """Take an invitation back; None where there is none that could still be accepted."""
    cursor = conn.cursor(row_factory=record_row(Invitation))
    await cursor.execute(_WITHDRAW, {"tenant": tenant_id, "id": invitation_id, "at": at})
    return await cursor.fetchone()
