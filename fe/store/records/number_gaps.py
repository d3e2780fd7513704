"""Numbers of a sequence that no signed receipt has, between the first and the last of a month.

A walk over the index of numbers finds them; numbers in a row are passed over in blocks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.rows import scalar_row

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn


@dataclass(frozen=True, slots=True)
class NumberGap:
    """Numbers between the first and the last of a month that no signed receipt has."""

    first: int
    last: int

    @property
    def count(self) -> int:
        """How many."""
        return self.last - self.first + 1


#: Gaps of a type that are named.
MOST_GAPS = 50
_STRETCHES = "unnest(%(firsts)s::text[], %(lasts)s::text[]) AS x (first, last)"
_HELD = f"""
    SELECT sum((SELECT count(*)
                  FROM held_numbers AS h
                 WHERE h.tenant_id = %(tenant)s AND h.environment = %(environment)s
                   AND h.e_ncf BETWEEN x.first AND x.last))::bigint
      FROM {_STRETCHES}
"""
#: Numbers of a block. A block without a gap is told by its last number: its numbers are not compared one by one.
A_BLOCK = 128
_END_OF_BLOCK = f"""(SELECT h.e_ncf
                  FROM held_numbers AS h
                 WHERE h.tenant_id = %(tenant)s AND h.environment = %(environment)s AND h.e_ncf > x.below
                   AND h.e_ncf <= x.last
                 ORDER BY h.e_ncf
                OFFSET {A_BLOCK - 1}
                 LIMIT 1)"""
# `up_to` is null in the last block of a stretch, which may end with a gap; the others have as many numbers each. Gaps
# of a block are found before each number of it, in the order of the index, and after its last one.
_WALK = f"""
    WITH RECURSIVE steps AS (
        SELECT x.below COLLATE "C" AS below, x.last COLLATE "C" AS last, {_END_OF_BLOCK} AS up_to
          FROM unnest(%(belows)s::text[], %(lasts)s::text[]) AS x (below, last)
         UNION ALL
        SELECT x.below, x.last, {_END_OF_BLOCK}
          FROM (SELECT y.up_to AS below, y.last FROM steps AS y WHERE y.up_to IS NOT NULL) AS x
    ), walked AS MATERIALIZED (
        SELECT x.below, coalesce(x.up_to, x.last) AS last, x.up_to IS NULL AS is_last,
               x.up_to IS NOT NULL AND substr(x.up_to, 4)::bigint = substr(x.below, 4)::bigint + {A_BLOCK} AS is_full
          FROM steps AS x
    ), blocks AS MATERIALIZED (
        SELECT y.below, y.last, y.is_last
          FROM (SELECT x.below, x.last, x.is_last,
                       row_number() OVER (PARTITION BY left(x.below, 3) ORDER BY x.below) AS nth
                  FROM walked AS x
                 WHERE NOT x.is_full) AS y
         WHERE y.nth <= %(blocks)s
    )
    SELECT 'held' AS kind, left(x.below, 3) AS prefix, NULL AS first,
           sum(CASE WHEN x.is_last
                    THEN (SELECT count(*)
                            FROM held_numbers AS h
                           WHERE h.tenant_id = %(tenant)s AND h.environment = %(environment)s
                             AND h.e_ncf > x.below AND h.e_ncf <= x.last)
                    ELSE {A_BLOCK} END)::bigint AS last
      FROM walked AS x
     GROUP BY left(x.below, 3)
     UNION ALL
    SELECT CASE WHEN x.is_full THEN 'full' ELSE 'looked at' END, left(x.below, 3), substr(x.below, 4)::bigint + 1,
           substr(x.last, 4)::bigint
      FROM (SELECT w.below, w.last, true AS is_full FROM walked AS w WHERE w.is_full
             UNION ALL
            SELECT b.below, b.last, false FROM blocks AS b) AS x
     UNION ALL
    SELECT 'gap', left(b.below, 3), z.previous + 1, z.number - 1
      FROM blocks AS b
     CROSS JOIN LATERAL (
        SELECT substr(h.e_ncf, 4)::bigint AS number,
               coalesce(substr(lag(h.e_ncf) OVER (ORDER BY h.e_ncf), 4)::bigint, substr(b.below, 4)::bigint) AS previous
          FROM held_numbers AS h
         WHERE h.tenant_id = %(tenant)s AND h.environment = %(environment)s AND h.e_ncf > b.below AND h.e_ncf <= b.last
        ) AS z
     WHERE z.number > z.previous + 1
     UNION ALL
    SELECT 'gap', left(b.below, 3), substr(coalesce(z.e_ncf, b.below), 4)::bigint + 1, substr(b.last, 4)::bigint
      FROM blocks AS b
     CROSS JOIN LATERAL (
        SELECT max(h.e_ncf) AS e_ncf
          FROM held_numbers AS h
         WHERE h.tenant_id = %(tenant)s AND h.environment = %(environment)s AND h.e_ncf > b.below AND h.e_ncf <= b.last
        ) AS z
     WHERE b.is_last AND b.below < b.last AND z.e_ncf IS DISTINCT FROM b.last
"""

#: The first and the last of some numbers in a row.
NumberStretch = tuple[str, str]


def _of_stretches(tenant_id: TenantId, environment: Environment, stretches: Sequence[NumberStretch]) -> dict[str, Any]:
    firsts, lasts = [first for first, _ in stretches], [last for _, last in stretches]
    return {"tenant": tenant_id, "environment": environment, "firsts": firsts, "lasts": lasts}


async def numbers_held(
    conn: Conn, tenant_id: TenantId, environment: Environment, stretches: Sequence[NumberStretch]
) -> int:
    """Count the numbers of stretches that signed receipts have."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_HELD.encode(), _of_stretches(tenant_id, environment, stretches))
    return int((await cursor.fetchone()) or 0)


@dataclass(frozen=True, slots=True)
class NumberWalk:
    """The numbers of one prefix: how many receipts hold, and the first gaps.

    All numbers of the runs in `full` are held. In those that were `looked_at`, all but the gaps are.
    """

    held: int
    gaps: Sequence[NumberGap]
    full: Sequence[tuple[int, int]]
    looked_at: Sequence[tuple[int, int]]


async def walk_numbers(
    conn: Conn, tenant_id: TenantId, environment: Environment, stretches: Sequence[NumberStretch]
) -> Mapping[str, NumberWalk]:
    """Count the numbers of stretches that signed receipts have, by prefix, and list the first gaps: in one walk."""
    values = {
        **_of_stretches(tenant_id, environment, stretches),
        "belows": [f"{first[:3]}{int(first[3:]) - 1:010}" for first, _ in stretches],
        "blocks": MOST_GAPS + len(stretches),
    }
    cursor = await conn.execute(_WALK.encode(), values)
    held: dict[str, int] = {}
    rows: dict[str, dict[str, list[tuple[int, int]]]] = {}
    for kind, prefix, first, last in await cursor.fetchall():
        if kind == "held":
            held[prefix] = last
        else:
            rows.setdefault(prefix, {}).setdefault(kind, []).append((first, last))
    found = {}
    for prefix, many in held.items():
        of = {kind: sorted(pairs) for kind, pairs in rows.get(prefix, {}).items()}
        gaps = [NumberGap(first, last) for first, last in of.get("gap", ())]
        found[prefix] = NumberWalk(many, gaps, of.get("full", ()), of.get("looked at", ()))
    return found
