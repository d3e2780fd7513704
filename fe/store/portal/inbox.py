"""What suppliers sent, as a company's people look for it: a page at a time, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from fe.identifiers import TenantId
from fe.store import received
from fe.store.postgres.db import Conn
from fe.store.received import ApprovalStatus, ReceivedFilter, ReceivedRecord

#: Documents on a page, and those that are looked through for one where only the decided ones, say, are asked for: what
#: was decided is looked up for each.
PAGE = 50
LOOK = 300


@dataclass(frozen=True, slots=True)
class ReceivedPage:
    """Documents, newest first. `older` is where the next page begins, None at the end.

    `looked_until`: there may be more further back; so far it was looked for.
    """

    rows: Sequence[ReceivedRecord]
    older: UUID | None = None
    looked_until: UUID | None = None


async def page(
    conn: Conn,
    tenant_id: TenantId,
    chosen: ReceivedFilter,
    *,
    status: ApprovalStatus | None = None,
    below: UUID | None = None,
) -> ReceivedPage:
    """List one page: what was asked for and came before the document `below`."""
    if status is None:
        rows = await received.listed(conn, tenant_id, chosen, limit=PAGE + 1, below=below)
        return _cut(rows) or ReceivedPage(rows)
    seen = await received.listed(conn, tenant_id, chosen, limit=LOOK, below=below)
    rows = [row for row in seen if row.approval_status is status]
    end = seen[-1].received_id if len(seen) == LOOK else None
    return _cut(rows) or ReceivedPage(rows, end, end)


def _cut(rows: Sequence[ReceivedRecord]) -> ReceivedPage | None:
    return ReceivedPage(rows[:PAGE], rows[PAGE - 1].received_id) if len(rows) > PAGE else None
