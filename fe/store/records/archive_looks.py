"""Looks of planning, checks and months: evidence that came to its end, a page at a time, and what is archived of it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from fe.store.postgres.arrays import texts, uuids
from fe.store.postgres.db import Conn

NO_ID = UUID(int=0)

# The verdict after as many as a page has: by the index alone, however many are to come.
_NEXT_VERDICT = """
    SELECT s.verdict_at
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s AND s.environment = %(environment)s
       AND s.verdict_at >= %(since)s AND s.verdict_at < %(until)s
     ORDER BY s.verdict_at
    OFFSET %(page)s
     LIMIT 1
"""
_VERDICTS = """
    SELECT s.submission_id, s.verdict_at
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s AND s.environment = %(environment)s
       AND s.verdict_at >= %(since)s AND s.verdict_at < %(end)s
     ORDER BY s.verdict_at, s.submission_id
"""


async def verdicts(
    conn: Conn, values: Mapping[str, Any], since: datetime, page: int
) -> tuple[list[tuple[UUID, datetime]], datetime | None]:
    """Read receipts of a chain with a verdict since a time, about `page` of them, and the time to go on from.

    Each with its time. None: there are no more before `until`.
    """
    values = {**values, "since": since}
    end: datetime | None = since
    while end == since:  # more verdicts of one moment than a page has
        row = await (await conn.execute(_NEXT_VERDICT, {**values, "page": page})).fetchone()
        end = None if row is None else row[0]
        page *= 2
    found = await conn.execute(_VERDICTS, {**values, "end": values["until"] if end is None else end})
    return await found.fetchall(), end


# Signed, and refused outright or given up by an operator. Status and time do not change any more. By id, as their end
# may be long after their month: a page of what ended as `error`.
_GIVEN_UP = """
    SELECT s.submission_id, s.updated_at, s.signed_at IS NOT NULL
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s AND s.environment = %(environment)s AND s.status = 'error'
       AND s.submission_id > %(after)s AND s.submission_id < uuid_floor(%(until)s)
     ORDER BY s.submission_id
     LIMIT %(page)s
"""


async def given_up(
    conn: Conn, values: Mapping[str, Any], after: UUID, page: int
) -> tuple[list[tuple[UUID, datetime]], UUID | None]:
    """Read signed receipts of a chain that ended as `error`, with the time of their end, and the id to go on after.

    Looks at `page` receipts that ended so, by id.
    """
    found = await (await conn.execute(_GIVEN_UP, {**values, "after": after, "page": page})).fetchall()
    return [(one, at) for one, at, is_signed in found if is_signed], found[-1][0] if len(found) == page else None


#: Stages of voidings that ended, and were sent.
_ENDS_OF_VOIDING = ("voided", "partly voided", "rejected")
# A tenant has few.
_VOIDINGS = """
    SELECT v.subject, octet_length(v.document), v.finished_at
      FROM voidings AS v
     WHERE v.tenant_id = %(tenant)s AND v.environment = %(environment)s
       AND v.stage = ANY (%(ends)s) AND v.document IS NOT NULL
       AND v.finished_at >= %(since)s AND v.finished_at < %(until)s
     ORDER BY v.subject
"""


async def voidings(conn: Conn, values: Mapping[str, Any]) -> list[tuple[UUID, int, datetime]]:
    """Read voidings of a chain that ended in a period: id, bytes of the document, and time of the end."""
    return await (await conn.execute(_VOIDINGS, {**values, "ends": texts(_ENDS_OF_VOIDING)})).fetchall()


class ArchivedItem(NamedTuple):
    """Evidence that was planned: its package is stored, or the format has no place for it, or neither yet."""

    is_stored: bool
    is_refused: bool


# Both by key: a join would be planned as a hash of all that was ever archived, or of all packages.
_ARCHIVED = """
    SELECT i.evidence_id,
           coalesce((SELECT p.stored_at IS NOT NULL
                       FROM archive_packages AS p
                      WHERE p.tenant_id = %(tenant)s AND p.environment = i.environment AND p.number = i.number), false),
           i.refused IS NOT NULL
      FROM archive_items AS i
     WHERE i.tenant_id = %(tenant)s AND i.evidence_id = ANY (%(ids)s) AND i.part = %(part)s
"""


async def archived(conn: Conn, values: Mapping[str, Any], part: str, ids: Sequence[UUID]) -> dict[UUID, ArchivedItem]:
    """Find the evidence among some that a package was planned for."""
    if not ids:
        return {}
    found = await conn.execute(_ARCHIVED, {**values, "ids": uuids(ids), "part": part})
    return {one: ArchivedItem(is_stored, is_refused) for one, is_stored, is_refused in await found.fetchall()}
