"""Sums of a tenant's month: receipts issued, by type and state; receipts received; and the numbers that were drawn.

Receipts that have ended are read off the sums of their days (sql/functions/metering/add_receipt_days.sql). Ends of the
last seconds, which are not added yet, are read beside them in the same statement.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from psycopg.rows import args_row, class_row, scalar_row
from psycopg.types.json import Jsonb

from fe.ecf.catalogue import Environment
from fe.ecf.dates import ZONE
from fe.ecf.ids import first_id
from fe.identifiers import TenantId
from fe.lifecycle import Status
from fe.month.period import Period, YearMonth
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row
from fe.store.postgres.tenant_scope import Asked, fetch
from fe.store.records.sequences import Sequence as NumberSequence
from fe.store.records.sequences import known_ranges

#: Earliest submission before a period of a receipt that is issued in it: a day, for clocks that differ.
_EARLIEST = timedelta(days=1)
#: Rows that are read beside the sums at most, of each queue; `left_out` tells whether there are more.
MOST_BESIDE = 2000


@dataclass(frozen=True, slots=True)
class IssuedSum:
    """The receipts of one type that ended in one state. `without_amounts` are in no amount but `total` and `itbis`."""

    ecf_type: str
    status: Status
    receipts: int
    total: Decimal
    itbis: Decimal
    base18: Decimal
    base16: Decimal
    base0: Decimal
    exempt: Decimal
    itbis18: Decimal
    itbis16: Decimal
    itbis_withheld: Decimal
    isr_withheld: Decimal
    without_amounts: int
    first_number: str
    last_number: str


_AMOUNTS = ("base18", "base16", "base0", "exempt", "itbis18", "itbis16", "itbis_withheld", "isr_withheld")
_SUMS = ", ".join(f"sum(x.{name}) AS {name}" for name in ("total", "itbis", *_AMOUNTS))
_OF_ONE = ", ".join(
    f"coalesce((s.amounts ->> '{key}')::numeric, 0) AS {name}"
    for name, key in zip(
        _AMOUNTS,
        ("base18", "base16", "base0", "exempt", "itbis18", "itbis16", "itbisWithheld", "isrWithheld"),
        strict=True,
    )
)
_DAYS = ", ".join(f"d.{name}" for name in _AMOUNTS)
_OF_DAYS = f"""
        SELECT d.ecf_type, d.status, d.receipts, d.total, d.itbis, {_DAYS}, d.without_amounts, d.first_number,
               d.last_number
          FROM receipt_days AS d
         WHERE d.tenant_id = %(tenant)s AND d.environment = %(environment)s
           AND d.issued_on BETWEEN %(first)s AND %(last)s"""
_OF_THE_LAST_SECONDS = f"""
         UNION ALL
        SELECT s.ecf_type, s.status, 1, s.total, s.itbis, {_OF_ONE}, (s.amounts IS NULL)::int, s.e_ncf, s.e_ncf
          FROM (SELECT u.submission_id FROM usage_ends AS u
                 WHERE u.tenant_id = %(tenant)s
                 ORDER BY u.submission_id DESC
                 LIMIT {MOST_BESIDE}) AS e
         CROSS JOIN LATERAL (
            SELECT z.* FROM submissions AS z
             WHERE z.tenant_id = %(tenant)s AND z.submission_id = e.submission_id
            OFFSET 0) AS s
         WHERE s.environment = %(environment)s AND s.issued_on BETWEEN %(first)s AND %(last)s
           AND s.root IN ('ECF', 'RFCE') AND s.total IS NOT NULL AND s.ecf_type IS NOT NULL AND s.e_ncf IS NOT NULL"""
_ISSUED = f"""
    SELECT x.ecf_type, x.status, sum(x.receipts)::bigint AS receipts, {_SUMS},
           sum(x.without_amounts)::bigint AS without_amounts, min(x.first_number) AS first_number,
           max(x.last_number) AS last_number
      FROM ({{source}}
      ) AS x
     GROUP BY x.ecf_type, x.status
     ORDER BY x.ecf_type, x.status
"""
_ISSUED_ADDED = _ISSUED.format(source=_OF_DAYS)
_ISSUED_SO_FAR = _ISSUED.format(source=_OF_DAYS + _OF_THE_LAST_SECONDS)


def issued_asked(
    tenant_id: TenantId, environment: Environment, month: Period, *, lately: bool = True
) -> Asked[IssuedSum]:
    """Return the statement of `issued`."""
    statement = _ISSUED_SO_FAR if lately else _ISSUED_ADDED
    return Asked(statement.encode(), _values(tenant_id, environment, month), record_row(IssuedSum))


async def issued(
    conn: Conn, tenant_id: TenantId, environment: Environment, month: Period, *, lately: bool = True
) -> Sequence[IssuedSum]:
    """Sum the receipts of a month or a day that ended, by type and state.

    `lately`: false where `left_out` has told that none ended in the last seconds. Planning for every month's partition
    costs more than reading the sums.
    """
    return await fetch(conn, issued_asked(tenant_id, environment, month, lately=lately))


def oldest_of(first: date) -> UUID:
    """Return the lowest id of receipts that are issued on a day or later."""
    return first_id(datetime.combine(first, time.min, ZONE) - _EARLIEST)


def _values(tenant_id: TenantId, environment: Environment, month: Period) -> dict[str, Any]:
    return {
        "tenant": tenant_id,
        "environment": environment,
        "first": month.first,
        "last": month.last,
        "since": first_id(datetime.combine(month.first, time.min, ZONE)),
        "until": first_id(datetime.combine(month.after.first, time.min, ZONE)),
        "oldest": oldest_of(month.first),
    }


@dataclass(frozen=True, slots=True)
class OpenSum:
    """The receipts of one type without a verdict, with their numbers; `prefix` None: those without a number.

    `unsigned` of them are not signed yet: they count to the month in which they were submitted.
    """

    prefix: str | None
    receipts: int
    first_number: str
    last_number: str
    unsigned: int
    unsigned_numbers: Sequence[str]


# A receipt is not issued after the day on which it was submitted. Those submitted within the period are read off the
# queue; later ones with an earlier day of issue off the index of days: they are few, however long the queue is.
_WAITING = f"""
    SELECT w.ids::text, (SELECT i.id FROM unnest(w.ids) AS i (id) ORDER BY i.id LIMIT 1) AS lowest,
           (SELECT i.id FROM unnest(w.ids) AS i (id) ORDER BY i.id DESC LIMIT 1) AS highest,
           EXISTS (SELECT 1 FROM outbox AS o WHERE o.tenant_id = %(tenant)s AND o.subject >= %(until)s)
           OR EXISTS (SELECT 1 FROM dead_letters AS d
                       WHERE d.tenant_id = %(tenant)s AND d.subject >= %(until)s) AS has_later
      FROM (SELECT ARRAY(SELECT o.subject FROM outbox AS o
                          WHERE o.tenant_id = %(tenant)s AND o.environment = %(environment)s
                            AND o.subject >= %(oldest)s AND o.subject < %(until)s
                          LIMIT {MOST_BESIDE})
                   || ARRAY(SELECT d.subject FROM dead_letters AS d
                             WHERE d.tenant_id = %(tenant)s AND d.environment = %(environment)s
                               AND d.subject >= %(oldest)s AND d.subject < %(until)s
                             LIMIT {MOST_BESIDE}) AS ids
            OFFSET 0) AS w
"""
# As an array of ids: the index is read once for neighbours, and not from its root for each receipt. It goes back as the
# text in which it came: thousands of ids are not read here to be written again.
_OF_THE_PERIOD = """
        SELECT y.e_ncf, y.signed_at
          FROM submissions AS y
         WHERE y.tenant_id = %(tenant)s AND y.submission_id = ANY (%(ids)s::text::uuid[])
           AND y.submission_id BETWEEN %(lowest)s AND %(highest)s
           AND y.environment = %(environment)s AND y.root IN ('ECF', 'RFCE')
           AND (y.issued_on BETWEEN %(first)s AND %(last)s
                OR y.issued_on IS NULL AND y.submission_id >= %(since)s)"""
_SUBMITTED_LATER = """
        SELECT y.e_ncf, y.signed_at
          FROM submissions AS y
         WHERE y.tenant_id = %(tenant)s AND y.submission_id >= %(until)s AND y.environment = %(environment)s
           AND y.issued_on BETWEEN %(first)s AND %(last)s AND y.root IN ('ECF', 'RFCE')
           AND (EXISTS (SELECT 1 FROM outbox AS o
                         WHERE o.tenant_id = %(tenant)s AND o.subject = y.submission_id)
                OR EXISTS (SELECT 1 FROM dead_letters AS d
                            WHERE d.tenant_id = %(tenant)s AND d.subject = y.submission_id))"""
_OPEN = """
    SELECT left(s.e_ncf, 3) AS prefix, count(*) AS receipts, coalesce(min(s.e_ncf), '') AS first_number,
           coalesce(max(s.e_ncf), '') AS last_number, count(*) FILTER (WHERE s.signed_at IS NULL) AS unsigned,
           coalesce(array_agg(s.e_ncf) FILTER (WHERE s.signed_at IS NULL), '{{}}') AS unsigned_numbers
      FROM ({source}
      ) AS s
     GROUP BY left(s.e_ncf, 3)
"""
#: By whether receipts of the period wait, and whether later ones do.
_OPEN_OF = {
    (True, False): _OPEN.format(source=_OF_THE_PERIOD),
    (False, True): _OPEN.format(source=_SUBMITTED_LATER),
    (True, True): _OPEN.format(source=f"{_OF_THE_PERIOD}\n         UNION ALL{_SUBMITTED_LATER}"),
}


async def still_open(conn: Conn, tenant_id: TenantId, environment: Environment, month: Period) -> Sequence[OpenSum]:
    """Sum the receipts of a month or a day without a verdict, by type: two statements, or one where none waits."""
    values = _values(tenant_id, environment, month)
    row = await (await conn.execute(_WAITING.encode(), values)).fetchone()
    assert row is not None
    ids, lowest, highest, has_later = row
    if lowest is None and not has_later:
        return []
    if lowest is not None:
        values |= {"ids": ids, "lowest": lowest, "highest": highest}
    cursor = conn.cursor(row_factory=class_row(OpenSum))
    await cursor.execute(_OPEN_OF[lowest is not None, has_later].encode(), values, prepare=True)
    return await cursor.fetchall()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Whether MOST_BESIDE left receipts out: of those that `ended` in the last seconds, or of those `waiting`.

    `lately`: whether any ended in the last seconds.
    """

    ended: bool
    waiting: bool
    lately: bool = field(compare=False)


_LATELY = "EXISTS (SELECT 1 FROM usage_ends AS u WHERE u.tenant_id = %(tenant)s)"
_MORE_ENDED = "EXISTS (SELECT 1 FROM usage_ends AS u WHERE u.tenant_id = %(tenant)s OFFSET %(most)s)"
_MORE_IN = """EXISTS (SELECT 1 FROM {queue} AS q
                    WHERE q.tenant_id = %(tenant)s AND q.environment = %(environment)s
                      AND q.subject >= %(oldest)s AND q.subject < %(until)s
                   OFFSET %(most)s)"""
_MORE_WAITING = " OR ".join(_MORE_IN.format(queue=queue) for queue in ("outbox", "dead_letters"))
_LEFT_OUT = f"SELECT {_MORE_ENDED}, {_MORE_WAITING}, {_LATELY}"
_LEFT_OUT_OF_ENDED = f"SELECT {_MORE_ENDED}, false, {_LATELY}"


def left_out_asked(
    tenant_id: TenantId, environment: Environment, month: Period, *, with_open: bool = True
) -> Asked[LeftOut]:
    """Return the statement of `left_out`."""
    statement = _LEFT_OUT if with_open else _LEFT_OUT_OF_ENDED
    values = {**_values(tenant_id, environment, month), "most": MOST_BESIDE}
    return Asked(statement.encode(), values, args_row(LeftOut))


async def left_out(
    conn: Conn, tenant_id: TenantId, environment: Environment, month: Period, *, with_open: bool = True
) -> LeftOut:
    """Tell what `issued` and, `with_open`, `still_open` leave out of a month or a day."""
    (found,) = await fetch(conn, left_out_asked(tenant_id, environment, month, with_open=with_open))
    return found


_FAILED = """
    SELECT left(s.e_ncf, 3) AS prefix, count(*) AS numbers
      FROM submissions AS s
      JOIN held_numbers AS h
        ON h.tenant_id = %(tenant)s AND h.environment = %(environment)s AND h.e_ncf = s.e_ncf
       AND h.submission_id = s.submission_id
     WHERE s.tenant_id = %(tenant)s AND s.environment = %(environment)s AND s.status = 'error'
       AND s.submission_id >= %(oldest)s AND s.issued_on BETWEEN %(first)s AND %(last)s
     GROUP BY left(s.e_ncf, 3)
"""


async def failed_holders(conn: Conn, tenant_id: TenantId, environment: Environment, month: YearMonth) -> dict[str, int]:
    """Count the failed receipts that still hold their number, by prefix; a later receipt has the others."""
    cursor = await conn.execute(_FAILED, _values(tenant_id, environment, month), prepare=True)
    return dict(await cursor.fetchall())


@dataclass(frozen=True, slots=True)
class SequenceSum:
    """Accepted receipts of a month whose numbers one sequence gave; `name` is '' for the one without."""

    prefix: str
    name: str
    receipts: int
    total: Decimal
    first_number: str
    last_number: str


#: Receipts that are summed by sequence at most.
MOST_BY_SEQUENCE = 50_000
# All that were read count, also those whose numbers no sequence has: else a part would pass for the whole.
_BY_SEQUENCE = """
    SELECT q.prefix, q.name, count(*) AS receipts, sum(s.total) AS total, min(s.e_ncf) AS first_number,
           max(s.e_ncf) AS last_number
      FROM (SELECT r.e_ncf, r.total, count(*) OVER () AS receipts_read
              FROM (SELECT x.e_ncf, x.total
                      FROM submissions AS x
                     WHERE x.tenant_id = %(tenant)s AND x.environment = %(environment)s
                       AND x.issued_on BETWEEN %(first)s AND %(last)s AND x.ecf_type = ANY(%(types)s)
                       AND x.root IN ('ECF', 'RFCE') AND x.total IS NOT NULL AND x.e_ncf IS NOT NULL
                       AND x.status IN ('Aceptado', 'Aceptado Condicional')
                     LIMIT %(most)s + 1) AS r) AS s
      JOIN unnest(%(prefixes)s::text[], %(names)s::text[], %(firsts)s::text[], %(lasts)s::text[])
           AS q (prefix, name, first, last) ON s.e_ncf BETWEEN q.first AND q.last
     WHERE s.receipts_read <= %(most)s
     GROUP BY q.prefix, q.name
     ORDER BY q.prefix, q.name
"""


async def by_sequence(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    month: YearMonth,
    ranges: Sequence[NumberSequence],
    *,
    most: int = MOST_BY_SEQUENCE,
) -> Sequence[SequenceSum]:
    """Sum the accepted receipts of a month by sequence; none where there are more than `most`."""
    known = known_ranges(ranges)
    values = {
        **_values(tenant_id, environment, month),
        "types": sorted({one.prefix[1:] for one in ranges}),
        "prefixes": [one.sequence.prefix for one in known],
        "names": [one.sequence.name for one in known],
        "firsts": [one.first_e_ncf for one in known],
        "lasts": [one.last_e_ncf for one in known],
        "most": most,
    }
    cursor = conn.cursor(row_factory=class_row(SequenceSum))
    await cursor.execute(_BY_SEQUENCE, values)
    return await cursor.fetchall()


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


@dataclass(frozen=True, slots=True)
class ReceivedSum:
    """The received receipts of one type. ITBIS of those `without_amounts` is not in it."""

    ecf_type: str
    receipts: int
    total: Decimal
    itbis: Decimal
    without_amounts: int


#: Days after a month within which nearly all of its receipts arrive: their amounts are read together.
_LATE = timedelta(days=10)
#: How long ago a receipt came whose sum is `settled`: clocks differ, and keeping it takes a moment.
_SETTLED = timedelta(hours=1)
# Amounts of those days are one range of the key; those of other receipts are read by key.
_RECEIVED = """
    SELECT x.ecf_type, x.received_id < u.settled_until AS is_settled, count(*) AS receipts, sum(x.total) AS total,
           coalesce(sum((x.amounts ->> 'itbis')::numeric), 0) AS itbis,
           count(*) FILTER (WHERE x.amounts IS NULL) AS without_amounts, u.settled_until
      FROM (SELECT uuid_floor(least(now(), %(now)s::timestamptz) - %(settled)s::interval) AS settled_until
            OFFSET 0) AS u
     CROSS JOIN (
        SELECT r.received_id, r.ecf_type, r.total,
               CASE WHEN r.received_id >= %(oldest)s AND r.received_id < %(late)s THEN a.amounts
                    ELSE (SELECT z.amounts
                            FROM received_amounts AS z
                           WHERE z.tenant_id = %(tenant)s AND z.received_id = r.received_id) END AS amounts
          FROM received AS r
          LEFT JOIN (
            SELECT y.received_id, y.amounts
              FROM received_amounts AS y
             WHERE y.tenant_id = %(tenant)s AND y.received_id >= %(oldest)s AND y.received_id < %(late)s
            OFFSET 0) AS a ON a.received_id = r.received_id
         WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s
           AND r.issued_on BETWEEN %(first)s AND %(last)s) AS x
     GROUP BY x.ecf_type, is_settled, u.settled_until
"""
# Of each day, what came after: a look at the end of its part of the index.
_RECEIVED_LATER = """
    SELECT x.ecf_type, x.received_id < u.settled_until AS is_settled, count(*) AS receipts, sum(x.total) AS total,
           coalesce(sum((x.amounts ->> 'itbis')::numeric), 0) AS itbis,
           count(*) FILTER (WHERE x.amounts IS NULL) AS without_amounts, u.settled_until
      FROM (SELECT uuid_floor(least(now(), %(now)s::timestamptz) - %(settled)s::interval) AS settled_until
            OFFSET 0) AS u
     CROSS JOIN (
        SELECT r.received_id, r.ecf_type, r.total,
               (SELECT z.amounts
                  FROM received_amounts AS z
                 WHERE z.tenant_id = %(tenant)s AND z.received_id = r.received_id) AS amounts
          FROM unnest(%(days)s::date[]) AS d (day)
         CROSS JOIN LATERAL (
            SELECT y.received_id, y.environment, y.ecf_type, y.total
              FROM received AS y
             WHERE y.tenant_id = %(tenant)s AND y.issued_on = d.day AND y.received_id >= %(after)s
            OFFSET 0) AS r
         WHERE r.environment = %(environment)s) AS x
     GROUP BY x.ecf_type, is_settled, u.settled_until
"""


@dataclass(frozen=True, slots=True)
class ReceivedPart:
    """As a ReceivedSum: of receipts that came before `settled_until`, or of those that came since."""

    ecf_type: str
    is_settled: bool
    receipts: int
    total: Decimal
    itbis: Decimal
    without_amounts: int
    settled_until: UUID


async def received(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    month: YearMonth,
    now: datetime,
    after: UUID | None = None,
) -> Sequence[ReceivedPart]:
    """Sum the received receipts of a month, by type: all of them, or those from an id on."""
    late = first_id(datetime.combine(month.after.first, time.min, ZONE) + _LATE)
    days = [month.first + timedelta(days=n) for n in range((month.last - month.first).days + 1)]
    values = {**_values(tenant_id, environment, month), "late": late, "now": now, "settled": _SETTLED}
    cursor = conn.cursor(row_factory=record_row(ReceivedPart))
    statement = _RECEIVED if after is None else _RECEIVED_LATER
    await cursor.execute(statement, values | {"days": days, "after": after})
    return await cursor.fetchall()


#: Documents whose amounts are computed in one go.
A_BATCH = 200
_WITHOUT_AMOUNTS = f"""
    SELECT r.received_id, d.document
      FROM received AS r
      LEFT JOIN received_amounts AS a ON a.tenant_id = %(tenant)s AND a.received_id = r.received_id
      JOIN acknowledgements AS d
        ON d.tenant_id = %(tenant)s AND d.environment = r.environment AND d.digest = r.digest AND d.reason = 0
     WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s AND r.issued_on BETWEEN %(first)s AND %(last)s
       AND a.received_id IS NULL
     LIMIT {A_BATCH}
"""
_KEEP_AMOUNTS = """
    INSERT INTO received_amounts (tenant_id, received_id, amounts)
    SELECT %(tenant)s, x.id, x.amounts
      FROM unnest(%(ids)s::uuid[], %(amounts)s::jsonb[]) AS x (id, amounts)
      JOIN received AS r ON r.tenant_id = %(tenant)s AND r.received_id = x.id
    ON CONFLICT DO NOTHING
"""


async def without_amounts(
    conn: Conn, tenant_id: TenantId, environment: Environment, month: YearMonth
) -> Sequence[tuple[UUID, bytes]]:
    """List received documents of a month whose amounts are not computed yet, A_BATCH at most."""
    cursor = await conn.execute(_WITHOUT_AMOUNTS.encode(), _values(tenant_id, environment, month))
    return [(row[0], bytes(row[1])) for row in await cursor.fetchall()]


async def keep_amounts(conn: Conn, tenant_id: TenantId, found: Sequence[tuple[UUID, dict[str, str]]]) -> None:
    """Keep the amounts of received documents."""
    values = {"tenant": tenant_id, "ids": [one for one, _ in found], "amounts": [Jsonb(each) for _, each in found]}
    await conn.execute(_KEEP_AMOUNTS, values)


@dataclass(frozen=True, slots=True)
class ReceivedLine:
    """One received receipt of a month. `approved`: the tenant's answer, if it gave one that was not rejected."""

    received_id: UUID
    issued_on: date
    ecf_type: str
    e_ncf: str
    issuer_rnc: str
    issuer_name: str
    total: Decimal
    amounts: dict[str, str] | None
    approved: bool | None


@dataclass(frozen=True, slots=True)
class IssuedLine:
    """One signed receipt of a month."""

    submission_id: UUID
    issued_on: date
    ecf_type: str
    e_ncf: str
    status: Status
    buyer_rnc: str | None
    buyer_name: str | None
    total: Decimal
    itbis: Decimal
    amounts: dict[str, str] | None


#: Lines of one read.
A_PAGE = 1000
_LINES = f"""
    SELECT s.submission_id, s.issued_on, s.ecf_type, s.e_ncf, s.status, s.buyer_rnc, s.buyer_name, s.total, s.itbis,
           s.amounts
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s AND s.environment = %(environment)s AND s.root IN ('ECF', 'RFCE')
       AND s.issued_on <= %(last)s AND (s.issued_on, s.submission_id) > (%(after_day)s, %(after_id)s)
       AND s.total IS NOT NULL AND s.ecf_type IS NOT NULL AND s.e_ncf IS NOT NULL
     ORDER BY s.issued_on, s.submission_id
     LIMIT {A_PAGE}
"""


async def issued_lines(
    conn: Conn, tenant_id: TenantId, environment: Environment, month: YearMonth, after: IssuedLine | None = None
) -> Sequence[IssuedLine]:
    """List the signed receipts of a month by day of issue, A_PAGE at most, after one of them."""
    cursor = conn.cursor(row_factory=record_row(IssuedLine))
    values = {
        **_values(tenant_id, environment, month),
        "after_day": month.first if after is None else after.issued_on,
        "after_id": UUID(int=0) if after is None else after.submission_id,
    }
    await cursor.execute(_LINES.encode(), values)
    return await cursor.fetchall()


_RECEIVED_LINES = f"""
    SELECT r.received_id, r.issued_on, r.ecf_type, r.e_ncf, r.issuer_rnc, r.issuer_name, r.total, m.amounts, w.approved
      FROM received AS r
      LEFT JOIN received_amounts AS m ON m.tenant_id = %(tenant)s AND m.received_id = r.received_id
      LEFT JOIN LATERAL (
        SELECT a.approved
          FROM approvals AS a
          JOIN submissions AS s ON s.tenant_id = a.tenant_id AND s.submission_id = a.submission_id
         WHERE a.tenant_id = %(tenant)s AND s.tenant_id = %(tenant)s AND a.received_id = r.received_id
           AND s.status NOT IN ('Rechazado', 'error')
         ORDER BY a.round DESC
         LIMIT 1) AS w ON true
     WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s AND r.issued_on <= %(last)s
       AND (r.issued_on, r.received_id) > (%(after_day)s, %(after_id)s)
     ORDER BY r.issued_on, r.received_id
     LIMIT {A_PAGE}
"""


async def received_lines(
    conn: Conn, tenant_id: TenantId, environment: Environment, month: YearMonth, after: ReceivedLine | None = None
) -> Sequence[ReceivedLine]:
    """List the received receipts of a month by day of issue, A_PAGE at most, after one of them."""
    cursor = conn.cursor(row_factory=class_row(ReceivedLine))
    values = {
        **_values(tenant_id, environment, month),
        "after_day": month.first if after is None else after.issued_on,
        "after_id": UUID(int=0) if after is None else after.received_id,
    }
    await cursor.execute(_RECEIVED_LINES.encode(), values)
    return await cursor.fetchall()
