"""Number history of a sequence, and its rate of use, for pages and commands.

Reads one range at a time, so the cost of a page does not depend on the number of used numbers.
"""

from collections.abc import Sequence as Many
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.rows import class_row

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import NumberFate, Status
from fe.store.postgres.db import Conn
from fe.store.postgres.engine import engine_of
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class TakenNumber:
    """A number that a submission has, or had: where several had it, the one that holds it, else the latest."""

    number: int
    submission_id: SubmissionId
    status: Status
    number_fate: NumberFate


@dataclass(frozen=True, slots=True)
class Use:
    """How many numbers of a sequence went since a moment: passed over or used."""

    #: Of the sequence.
    key: str
    #: From when on was looked: the moment that was asked for, or that of the sequence's making if it is later.
    since: datetime
    numbers: int


# Whether it is held is looked up for each: LIMIT 1 keeps the planner from joining all numbers that a tenant holds.
_TAKEN = """
    SELECT DISTINCT ON (s.e_ncf) substr(s.e_ncf, 4)::bigint AS number, s.submission_id, s.status, s.number_fate
      FROM submissions AS s
      LEFT JOIN LATERAL (SELECT true AS held
                           FROM held_numbers AS h
                          WHERE h.tenant_id = %(tenant)s AND h.environment = %(environment)s AND h.e_ncf = s.e_ncf
                            AND h.submission_id = s.submission_id
                          LIMIT 1) AS n ON true
     WHERE s.tenant_id = %(tenant)s AND s.environment = %(environment)s AND s.root IN ('ECF', 'RFCE')
       AND s.e_ncf BETWEEN %(first)s AND %(last)s
     ORDER BY s.e_ncf, n.held IS NULL, s.submission_id DESC
"""


async def taken(
    conn: Conn, tenant_id: TenantId, environment: Environment, prefix: str, *, first: int, last: int
) -> list[TakenNumber]:
    """List the numbers from `first` to `last` that a submission has or had, in their order."""
    cursor = conn.cursor(row_factory=record_row(TakenNumber))
    values = {
        "tenant": tenant_id,
        "environment": environment,
        "first": _e_ncf(prefix, first),
        "last": _e_ncf(prefix, last),
    }
    await cursor.execute(_TAKEN, values)
    return await cursor.fetchall()


# The next taken number may be far away: it is looked for among those that are held, by their key.
_NEXT_TAKEN = """
    SELECT substr(n.e_ncf, 4)::bigint AS number, s.submission_id, s.status, s.number_fate
      FROM (SELECT h.e_ncf, h.submission_id
              FROM held_numbers AS h
             WHERE h.tenant_id = %(tenant)s AND h.environment = %(environment)s
               AND h.e_ncf > %(after)s AND h.e_ncf <= %(last)s
             ORDER BY h.e_ncf
             LIMIT 1) AS n
      JOIN submissions AS s ON s.tenant_id = %(tenant)s AND s.submission_id = n.submission_id
"""


async def next_taken(
    conn: Conn, tenant_id: TenantId, environment: Environment, prefix: str, *, after: int, last: int
) -> TakenNumber | None:
    """Find the first number behind `after`, up to `last`, that a signed submission has."""
    cursor = conn.cursor(row_factory=record_row(TakenNumber))
    values = {
        "tenant": tenant_id,
        "environment": environment,
        "after": _e_ncf(prefix, after),
        "last": _e_ncf(prefix, last),
    }
    await cursor.execute(_NEXT_TAKEN, values)
    return await cursor.fetchone()


_NOT_DRAWN = """
    SELECT e.submission_id
      FROM submission_events AS e
     WHERE e.tenant_id = %(tenant)s AND e.submission_id = ANY (%(ids)s::uuid[]) AND e.seq = 1
       AND e.detail ->> 'drawn' = 'false'
"""


async def came_with_their_number(
    conn: Conn, tenant_id: TenantId, submissions: Many[SubmissionId]
) -> frozenset[SubmissionId]:
    """Tell which of these submissions brought their number with them, so that none was drawn for them."""
    cursor = await conn.execute(_NOT_DRAWN, {"tenant": tenant_id, "ids": list(submissions)})
    return frozenset(SubmissionId(row[0]) for row in await cursor.fetchall())


_USE = """
    SELECT x.prefix AS key, x.since,
           x.current_number - first_number_since(
               x.tenant_id, x.environment, left(x.prefix, 3), x.min_number, x.current_number, x.since) AS numbers
      FROM (SELECT q.*, greatest(%(since)s::timestamptz, q.created_at) AS since
              FROM sequences AS q
             WHERE q.tenant_id = %(tenant)s AND q.environment = %(environment)s) AS x
     ORDER BY x.prefix
"""

# Where rows are on several nodes, a function that looks for rows is asked on none of them: first the sequences are
# read, then of all of them at once how far each was.
_RANGES = """
    SELECT q.prefix, q.min_number, q.current_number, greatest(%(since)s::timestamptz, q.created_at) AS since
      FROM sequences AS q
     WHERE q.tenant_id = %(tenant)s AND q.environment = %(environment)s
     ORDER BY q.prefix
"""
_USE_OF_RANGES = """
    SELECT x.prefix AS key, x.since,
           x.current_number - first_number_since(
               %(tenant)s, %(environment)s, left(x.prefix, 3), x.min_number, x.current_number, x.since) AS numbers
      FROM unnest(%(prefixes)s::text[], %(mins)s::bigint[], %(nexts)s::bigint[], %(sinces)s::timestamptz[])
           AS x (prefix, min_number, current_number, since)
     ORDER BY x.prefix
"""


async def use(conn: Conn, tenant_id: TenantId, environment: Environment, since: datetime) -> list[Use]:
    """Tell of each sequence of an environment how many of its numbers went since a moment."""
    values: dict[str, Any] = {"tenant": tenant_id, "environment": environment, "since": since}
    statement = _USE
    if "sequences" in engine_of(conn).distributed:
        ranges = await (await conn.execute(_RANGES, values)).fetchall()
        if not ranges:
            return []
        prefixes, mins, nexts, sinces = (list(column) for column in zip(*ranges, strict=True))
        values |= {"prefixes": prefixes, "mins": mins, "nexts": nexts, "sinces": sinces}
        statement = _USE_OF_RANGES
    cursor = conn.cursor(row_factory=class_row(Use))
    await cursor.execute(statement, values)
    return await cursor.fetchall()


def _e_ncf(prefix: str, number: int) -> str:
    return f"{prefix}{number:010d}"
