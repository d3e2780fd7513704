"""Which numbers can be voided, and what keeps one from being voided."""

from dataclasses import dataclass

from psycopg.rows import scalar_row

from fe.ecf.catalogue import Environment
from fe.ecf.voiding import NumberRange
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import NumberFate, Status
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row

#: Ranges that are proposed of one sequence at most.
_MOST_PROPOSED = 100

# Gaps of the held numbers, in the order of their index, so that a long history is read only as far as needed; of each
# gap, what no submission has (but for one that ended before it was signed) and no voiding.
_FREE = f"""
    SELECT f.first, f.last
      FROM (SELECT z.previous + 1 AS first, z.number - 1 AS last
              FROM (SELECT substr(h.e_ncf, 4)::bigint AS number,
                           coalesce(substr(lag(h.e_ncf) OVER (ORDER BY h.e_ncf), 4)::bigint, %(first)s - 1) AS previous
                      FROM held_numbers AS h
                     WHERE h.tenant_id = %(tenant)s AND h.environment = %(environment)s
                       AND h.e_ncf BETWEEN %(from)s AND %(to)s) AS z
             WHERE z.number > z.previous + 1
             UNION ALL
            SELECT coalesce(substr(max(h.e_ncf), 4)::bigint + 1, %(first)s), %(last)s
              FROM held_numbers AS h
             WHERE h.tenant_id = %(tenant)s AND h.environment = %(environment)s
               AND h.e_ncf BETWEEN %(from)s AND %(to)s) AS g
     CROSS JOIN LATERAL (
        SELECT y.after + 1 AS first, y.first - 1 AS last
          FROM (SELECT x.first,
                       coalesce(max(x.last) OVER (ORDER BY x.first, x.last
                                                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING),
                                g.first - 1) AS after
                  FROM (SELECT substr(s.e_ncf, 4)::bigint AS first, substr(s.e_ncf, 4)::bigint AS last
                          FROM submissions AS s
                         WHERE s.tenant_id = %(tenant)s AND s.environment = %(environment)s
                           AND s.e_ncf BETWEEN %(prefix)s::text || lpad(g.first::text, 10, '0')
                                           AND %(prefix)s::text || lpad(g.last::text, 10, '0')
                           AND s.root IN ('ECF', 'RFCE') AND NOT (s.status = 'error' AND s.signed_at IS NULL)
                         UNION ALL
                        SELECT v.first_number, v.last_number
                          FROM voided_ranges AS v
                         WHERE v.tenant_id = %(tenant)s AND v.environment = %(environment)s AND v.prefix = %(prefix)s
                           AND v.first_number <= g.last AND v.last_number >= g.first
                         UNION ALL
                        SELECT g.last + 1, g.last + 1) AS x) AS y
         WHERE y.first > y.after + 1) AS f
     LIMIT {_MOST_PROPOSED}
"""


async def free_ranges(conn: Conn, tenant_id: TenantId, environment: Environment, of: NumberRange) -> list[NumberRange]:
    """List the ranges within `of` that can be voided: no signed submission has them, none waits, none is void."""
    given = {
        "tenant": tenant_id,
        "environment": environment,
        "prefix": of.prefix,
        "first": of.first,
        "last": of.last,
        "from": of.first_e_ncf,
        "to": of.last_e_ncf,
    }
    found = await (await conn.execute(_FREE.encode(), given)).fetchall()
    return [NumberRange(of.type, first, last) for first, last in sorted(found)]


_NEWEST_HELD = """
    SELECT substr(h.e_ncf, 4)::bigint
      FROM held_numbers AS h
     WHERE h.tenant_id = %(tenant)s AND h.environment = %(environment)s AND h.e_ncf BETWEEN %(from)s AND %(to)s
     ORDER BY h.e_ncf DESC
    OFFSET %(look)s
     LIMIT 1
"""


async def newest_within(
    conn: Conn, tenant_id: TenantId, environment: Environment, of: NumberRange, look: int
) -> NumberRange:
    """Cut a range at its start, so that receipts hold at most `look` numbers of it."""
    given = {"tenant": tenant_id, "environment": environment, "look": look}
    given |= {"from": of.first_e_ncf, "to": of.last_e_ncf}
    last_left_out = await (await conn.cursor(row_factory=scalar_row).execute(_NEWEST_HELD, given)).fetchone()
    return of if last_left_out is None else NumberRange(of.type, last_left_out + 1, of.last)


@dataclass(frozen=True, slots=True)
class Taken:
    """A submission that keeps its number from being voided."""

    e_ncf: str
    submission_id: SubmissionId
    status: Status
    number_fate: NumberFate
    is_signed: bool


_FIRST_TAKEN = """
    SELECT x.e_ncf, x.submission_id, s.status, s.number_fate, s.signed_at IS NOT NULL AS is_signed
      FROM ((SELECT h.e_ncf, h.submission_id
               FROM held_numbers AS h
              WHERE h.tenant_id = %(tenant)s AND h.environment = %(environment)s
                AND h.e_ncf BETWEEN %(from)s AND %(to)s
              ORDER BY h.e_ncf
              LIMIT 1)
            UNION ALL
            (SELECT o.e_ncf, o.submission_id
               FROM submissions AS o
              WHERE o.tenant_id = %(tenant)s AND o.environment = %(environment)s
                AND o.e_ncf BETWEEN %(from)s AND %(to)s AND o.root IN ('ECF', 'RFCE')
                AND NOT (o.status = 'error' AND o.signed_at IS NULL)
              ORDER BY o.e_ncf
              LIMIT 1)) AS x
      JOIN submissions AS s ON s.tenant_id = %(tenant)s AND s.submission_id = x.submission_id
     ORDER BY x.e_ncf
     LIMIT 1
"""


async def first_taken(conn: Conn, tenant_id: TenantId, environment: Environment, of: NumberRange) -> Taken | None:
    """Find the first number of a range that a submission has. One that ended before it was signed has none."""
    given = {"tenant": tenant_id, "environment": environment, "from": of.first_e_ncf, "to": of.last_e_ncf}
    cursor = conn.cursor(row_factory=record_row(Taken))
    return await (await cursor.execute(_FIRST_TAKEN, given)).fetchone()
