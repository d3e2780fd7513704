"""Received documents for a company's people: a page at a time, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from fe.ecf.ids import LAST_ID, id_after, period_of_ids
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.records import received
from fe.store.records.received import ApprovalStatus, ReceivedFilter, ReceivedRecord

#: Documents on a page, and those that are looked through for one where only the decided ones, say, are asked for: what
#: was decided is looked up for each.
PAGE = 50
LOOK = 150


@dataclass(frozen=True, slots=True)
class InboxPage:
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
) -> InboxPage:
    """List one page: what was asked for and came before the document `below`."""
    # Only one end of the period is in the statement: with both, the planner expects a handful of rows and sorts
    # thousands. Rows before the first day are cut off the page.
    first, last = period_of_ids(chosen.since, chosen.until)
    top = min(below or LAST_ID, id_after(last))
    asked = replace(chosen, since=None, until=None)
    look = PAGE + 1 if status is None else LOOK
    seen = await received.listed(conn, tenant_id, asked, limit=look, below=top)
    meant = [row for row in seen if row.received_id >= first]
    rows = [row for row in meant if status is None or row.approval_status is status]
    if len(rows) > PAGE:
        return InboxPage(rows[:PAGE], rows[PAGE - 1].received_id)
    end = seen[-1].received_id if status is not None and len(meant) == look else None
    return InboxPage(rows, end, end)
