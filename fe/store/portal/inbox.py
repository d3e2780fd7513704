"""Received documents for a company's people: a page at a time, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from fe.ecf.ids import LAST_ID, id_after, period_of_ids
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.records import received
from fe.store.records.received import ReceivedFilter, ReceivedRecord

#: Documents on a page, and those that are looked through for one where no index answers; fewer for decisions, which are
#: looked up for each.
PAGE = 50
LOOK = 2000
LOOK_AT_DECISIONS = 150


@dataclass(frozen=True, slots=True)
class InboxPage:
    """Documents, newest first. `older` is where the next page begins, None at the end.

    `looked_until`: there may be more further back; so far it was looked for.
    """

    rows: Sequence[ReceivedRecord]
    older: UUID | None = None
    looked_until: UUID | None = None


async def page(conn: Conn, tenant_id: TenantId, chosen: ReceivedFilter, *, below: UUID | None = None) -> InboxPage:
    """List one page: what was asked for and came before the document `below`."""
    # Only one end of the period is in the statement: with both, the planner expects a handful of rows and sorts
    # thousands. Rows before the first day are cut off the page.
    first, top, asked = UUID(int=0), below, chosen
    if not chosen.is_by_day_of_issue:
        first, last = period_of_ids(chosen.since, chosen.until)
        top, asked = min(below or LAST_ID, id_after(last)), replace(chosen, since=None, until=None)
    look = None
    if asked.looked_through():
        look = LOOK if asked.status is None else LOOK_AT_DECISIONS
    seen = await received.listed(conn, tenant_id, asked, limit=PAGE + 1, below=top, look=look)
    rows = [row for row in seen if row.received_id >= first]
    if len(rows) > PAGE:
        return InboxPage(rows[:PAGE], rows[PAGE - 1].received_id)
    end = None
    if look is not None and len(rows) == len(seen):
        end = await received.end_of_look(conn, tenant_id, asked, look=look, below=top)
        if end is not None and end < first:
            end = None
    return InboxPage(rows, end, end)
