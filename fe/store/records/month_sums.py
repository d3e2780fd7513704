"""Sums of the receipts that a tenant issued in a month or a day, by type and state.

Receipts that have ended are read off the sums of their days (sql/functions/metering/add_receipt_days.sql). Ends of the
last seconds, which are not added yet, are read beside them in the same statement.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from psycopg.rows import args_row, class_row

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
    return Asked(statement.encode(), values_of(tenant_id, environment, month), record_row(IssuedSum))


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


def values_of(tenant_id: TenantId, environment: Environment, month: Period) -> dict[str, Any]:
    """Return the parameters that stand for a tenant's period in a statement."""
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
    values = values_of(tenant_id, environment, month)
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
    values = {**values_of(tenant_id, environment, month), "most": MOST_BESIDE}
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
    cursor = await conn.execute(_FAILED, values_of(tenant_id, environment, month), prepare=True)
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
        **values_of(tenant_id, environment, month),
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
