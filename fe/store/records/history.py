"""The history of a tenant's submissions: pages, cursors and filters, newest first."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Literal
from uuid import UUID

from fe.cache import ExpiringCache
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.ids import LAST_ID, first_id, period_of_ids
from fe.identifiers import ClientRequestId, SubmissionId, TenantId, UserId
from fe.lifecycle import NumberFate, Place, Status
from fe.store.postgres.db import Conn
from fe.store.postgres.patterns import containing, containing_roughly
from fe.store.postgres.rows import record_row
from fe.store.records.metadata import HAS_LABEL, OF_SUBMISSION
from fe.store.records.modes import IS_DEFERRED
from fe.store.records.months import month_after, month_of
from fe.store.records.submissions import ISSUED_ON, Record

#: How long after its end a month may still get a submission: clocks differ, and accepting takes a moment.
_LATE = timedelta(hours=1)
_INSTANT = timedelta(milliseconds=1)
_REMEMBERED_MONTHS = 100_000
#: Submissions that one call looks through for a condition that no index answers. Ten thousand rows take 10 ms; a month
#: of 80,000 took 100 ms and the work of 230 MB of pages.
LOOK = 10_000

_COLUMNS = f"""s.submission_id, s.track_id, s.environment, s.status, s.e_ncf, s.qr_code_url, s.security_code,
           s.ncf_expiration, s.signed_at, s.number_fate, s.response, s.submitted_at, s.updated_at, s.client_request_id,
           s.format, s.ecf_type, s.buyer_rnc, s.total, s.itbis, s.buyer_name,
           {ISSUED_ON}, s.first_answer_at, s.verdict_at,
           {IS_DEFERRED},
           {OF_SUBMISSION}"""

#: States that have an index of their own.
_IN_INDEX = frozenset({Status.REJECTED, Status.ERROR, Status.CONDITIONAL})
_FILTERS = {
    "e_ncf": "s.e_ncf = %(e_ncf)s",
    "buyer_rnc": "s.buyer_rnc = %(buyer_rnc)s",
    "client_request_id": """c.tenant_id = %(tenant)s AND c.environment = ANY(%(environments)s)
                            AND c.client_request_id = %(client_request_id)s""",
    "ecf_type": "s.ecf_type = %(ecf_type)s",
    # As a comparison of rows: for a range of days the planner expects a handful of rows, and sorts what are thousands.
    "issued_from": "s.issued_on IS NOT NULL AND (s.issued_on, s.submission_id) >= (%(issued_from)s, %(lowest)s)",
    "issued_to": "s.issued_on <= %(issued_to)s",
}
#: Conditions that no index answers.
_LOOKED_THROUGH = {
    "total_from": "s.total >= %(total_from)s",
    "total_to": "s.total <= %(total_to)s",
    "label": HAS_LABEL,
    "number_fate": "s.e_ncf IS NOT NULL AND s.number_fate = %(number_fate)s",
}
_STATE = "s.status = %(state)s"
_NAME = 's.buyer_name COLLATE "C" ILIKE %(rough)s AND s.buyer_name ILIKE %(text)s'
#: A text that may be a part of a number; others are looked for in names only.
_PART_OF_NUMBER = re.compile("E?[0-9]*", re.I)
_NAME_OR_NUMBER = "(s.buyer_name ILIKE %(text)s OR s.e_ncf ILIKE %(text)s)"
_ALL = "submissions AS s"
# Submissions by a client's request id: at most one per environment. OFFSET 0 makes each a read by key, whatever the
# planner estimates: with the keys as an array, servers before Postgres 17 may read all rows of a tenant.
_NAMED = """client_requests AS c
             CROSS JOIN LATERAL (SELECT *
                                   FROM submissions AS named
                                  WHERE named.tenant_id = %(tenant)s AND named.submission_id = c.submission_id
                                 OFFSET 0) AS s"""
# Dead letters are in a table of their own: a handful of a history of millions, in the order of ids. Each is read by its
# key, as above.
_DEAD = """dead_letters AS w
             CROSS JOIN LATERAL (SELECT *
                                   FROM submissions AS dead
                                  WHERE dead.tenant_id = %(tenant)s AND dead.submission_id = w.subject
                                 OFFSET 0) AS s"""
# The indexes of types and of states begin with the environment: one look for each keeps a page in the order of ids.
_OF_EACH_ENVIRONMENT = """unnest(%(environments)s::text[]) AS k (environment)
             CROSS JOIN LATERAL (SELECT s.*
                                   FROM submissions AS s
                                  WHERE {where} AND s.environment = k.environment AND s.submission_id < %(below)s
                                  ORDER BY s.submission_id DESC
                                  LIMIT %(reach)s) AS s"""
# Where few are left to look at anyway: a number's, and what a client called so.
_SAYS_DEAD = "s.response ->> 'status' = %(state)s"


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """Which submissions: of a period (both ends included, to the millisecond), in a state, of a number, of a buyer.

    And the ones that their client called `client_request_id`. Days of issue and amounts have both ends included; `user`
    is an address or a user's id, `text` a part of the buyer's name or of the number, `label` a pair of the metadata.
    `number_fate` is of receipts that have a number.
    """

    since: datetime | None = None
    until: datetime | None = None
    #: A dead letter has a status too: to its client it is as it was.
    state: Status | Literal[Place.DEAD_LETTER] | None = None
    e_ncf: str | None = None
    buyer_rnc: str | None = None
    client_request_id: ClientRequestId | None = None
    ecf_type: EcfType | None = None
    issued_from: date | None = None
    issued_to: date | None = None
    total_from: Decimal | None = None
    total_to: Decimal | None = None
    user: str | UserId | None = None
    text: str | None = None
    label: tuple[str, str] | None = None
    number_fate: NumberFate | None = None

    def source(self, where: str) -> str:
        """Return the tables to read, with a condition: `s`, and others that the condition needs."""
        if self.client_request_id is not None:
            return f"{_NAMED} WHERE {where}"
        if self._is_of_dead_letters:
            return f"{_DEAD} WHERE {where}"
        others = (self.e_ncf, self.buyer_rnc, self.user)
        is_indexed = self.ecf_type is not None or self.state in _IN_INDEX
        if is_indexed and not self.is_by_day_of_issue and others == (None,) * len(others):
            return f"{_OF_EACH_ENVIRONMENT.format(where=where)} WHERE true"
        return f"{_ALL} WHERE {where}"

    @property
    def is_by_day_of_issue(self) -> bool:
        """Whether days of issue are asked for: then the list is in their order."""
        return self.issued_from is not None or self.issued_to is not None

    @property
    def is_looked_through(self) -> bool:
        """Whether there is a condition that no index answers."""
        return (self.text, self.total_from, self.total_to, self.label, self.number_fate) != (None,) * 5

    @property
    def _is_of_dead_letters(self) -> bool:
        return self.state is Place.DEAD_LETTER and self.e_ncf is None and self.client_request_id is None

    @property
    def key(self) -> str:
        """The submission's id, in the table whose order is that of the list."""
        return "w.subject" if self._is_of_dead_letters else "s.submission_id"

    def where(self) -> str:
        """The condition, made of constants of this module."""
        return f"{self.in_index()} AND {self.looked_through()}"

    def in_index(self) -> str:
        """The part of the condition that an index answers.

        The id carries the millisecond of submission, so the ends of a period are ids: a key alone answers, also when it
        counts.
        """
        table = self.key.partition(".")[0]
        chosen = [f"{table}.tenant_id = %(tenant)s AND {self.key} BETWEEN %(first)s AND %(last)s"]
        chosen += [condition for name, condition in _FILTERS.items() if getattr(self, name) is not None]
        if self.state in _IN_INDEX:
            # As a constant: the index is of these alone.
            chosen.append(f"s.status = '{self.state}'")
        if self.user is not None:
            chosen.append(f"s.{'as_user_id' if isinstance(self.user, UUID) else 'as_user'} = %(user)s")
        if self.state is Place.DEAD_LETTER and not self._is_of_dead_letters:
            chosen.append(_SAYS_DEAD)
        return " AND ".join(chosen)

    def looked_through(self) -> str:
        """The part of the condition that each submission is looked at for."""
        asked = [condition for name, condition in _LOOKED_THROUGH.items() if getattr(self, name) is not None]
        if self.text is not None:
            asked.append(_NAME_OR_NUMBER if _PART_OF_NUMBER.fullmatch(self.text) else _NAME)
        if self.state is not None and self.state not in {*_IN_INDEX, Place.DEAD_LETTER}:
            asked.append(_STATE)
        return " AND ".join(asked) or "true"

    def values(self, tenant_id: TenantId) -> dict[str, Any]:
        """Return the parameters of the condition."""
        first, last = period_of_ids(self.since, self.until)
        return {
            "tenant": tenant_id,
            "first": first,
            "last": last,
            "state": self.state,
            "e_ncf": self.e_ncf,
            "buyer_rnc": self.buyer_rnc,
            "client_request_id": self.client_request_id,
            "environments": list(Environment),
            "ecf_type": self.ecf_type,
            "issued_from": self.issued_from,
            "lowest": UUID(int=0),
            "issued_to": self.issued_to,
            "total_from": self.total_from,
            "total_to": self.total_to,
            "user": self.user,
            "label": None if self.label is None else self.label[0],
            "labelled": None if self.label is None else self.label[1],
            "number_fate": self.number_fate,
            "text": None if self.text is None else containing(self.text),
            "rough": None if self.text is None else containing_roughly(self.text),
        }


async def count(conn: Conn, tenant_id: TenantId, chosen: HistoryFilter, at_most: int | None = None) -> int:
    """Count a tenant's submissions, no more than `at_most`."""
    values = {**chosen.values(tenant_id), "below": LAST_ID, "reach": None, "most": at_most}
    if at_most is None:
        statement = f"SELECT count(*) FROM {chosen.source(chosen.where())}"
    else:
        statement = f"SELECT count(*) FROM (SELECT 1 FROM {chosen.source(chosen.where())} LIMIT %(most)s) AS found"
    # Prepared at once, as every statement here that names all months: to plan one costs as much as to run it.
    cursor = await conn.execute(statement.encode(), values, prepare=True)
    row = await cursor.fetchone()
    assert row is not None
    return int(row[0])


class Totals:
    """Counts of whole months that are over, remembered: they never change, so a long history is counted once.

    One per process. A count is of a tenant, of one type or of all, over all environments, as the list is. A month is
    over when the server's clock says so, too: one of ours that was ahead for a moment would have this month remembered
    as it was then.
    """

    def __init__(self) -> None:
        self._months: ExpiringCache[tuple[TenantId, EcfType | None, datetime], int] = ExpiringCache(_REMEMBERED_MONTHS)

    async def count(self, conn: Conn, tenant_id: TenantId, chosen: HistoryFilter, now: datetime) -> int:
        """Count as `count` does; of a period and a type alone, only the months at its ends are counted anew."""
        code = chosen.ecf_type
        if chosen != HistoryFilter(since=chosen.since, until=chosen.until, ecf_type=code):
            return await count(conn, tenant_id, chosen)
        if code is not None and (few := await count(conn, tenant_id, chosen, LOOK)) < LOOK:
            return few  # by the index of types: one that is rare has nothing in most months
        if (first := await _oldest_month(conn, tenant_id)) is None:
            return 0
        oldest, server_now = first
        since, over = max(chosen.since or oldest, oldest), min(now, server_now) - _LATE
        months = list(_months_between(since, min(chosen.until or over, over))) if since < over else []
        if not months:
            return await count(conn, tenant_id, chosen)
        # Others may have months evicted while the missing ones are counted: what was found here is added up here.
        known = {month: total for month in months if (total := self._months.get((tenant_id, code, month))) is not None}
        missing = [month for month in months if month not in known]
        for month, found in zip(missing, await _count_months(conn, tenant_id, missing, code), strict=True):
            known[month] = found
            self._months.put((tenant_id, code, month), found)
        whole = sum(known.values())
        before = HistoryFilter(since=chosen.since, until=months[0] - _INSTANT, ecf_type=code)
        after = HistoryFilter(since=month_after(months[-1]), until=chosen.until, ecf_type=code)
        return await count(conn, tenant_id, before) + whole + await count(conn, tenant_id, after)


def _months_between(since: datetime, until: datetime) -> Iterator[datetime]:
    """The first days of the whole UTC months from `since` to `until`."""
    first = month_of(since)
    month = first if first == since else month_after(first)
    while (following := month_after(month)) <= until + _INSTANT:
        yield month
        month = following


_OLDEST = """
    SELECT s.submitted_at, now()
      FROM submissions AS s
     WHERE s.tenant_id = %(tenant)s
     ORDER BY s.submission_id
     LIMIT 1
"""


async def _oldest_month(conn: Conn, tenant_id: TenantId) -> tuple[datetime, datetime] | None:
    """The month of a tenant's first submission, and what time it is by the server's clock; None where there is none."""
    cursor = await conn.execute(_OLDEST, {"tenant": tenant_id})
    row = await cursor.fetchone()
    if row is None:
        return None
    oldest, server_now = row
    return month_of(oldest), server_now


_COUNT_MONTHS = """
    SELECT (SELECT count(*)
              FROM submissions AS s
             WHERE s.tenant_id = %(tenant)s AND s.submission_id >= month.first AND s.submission_id < month.following)
      FROM unnest(%(firsts)s::uuid[], %(followings)s::uuid[]) WITH ORDINALITY AS month (first, following, n)
     ORDER BY month.n
"""


_COUNT_MONTHS_OF_A_TYPE = """
    SELECT (SELECT count(*)
              FROM submissions AS s
             WHERE s.tenant_id = %(tenant)s AND s.environment = ANY (%(environments)s::text[])
               AND s.ecf_type = %(type)s AND s.submission_id >= month.first AND s.submission_id < month.following)
      FROM unnest(%(firsts)s::uuid[], %(followings)s::uuid[]) WITH ORDINALITY AS month (first, following, n)
     ORDER BY month.n
"""


async def _count_months(conn: Conn, tenant_id: TenantId, months: Sequence[datetime], code: EcfType | None) -> list[int]:
    if not months:
        return []
    floors = [first_id(month) for month in (*months, *map(month_after, months))]
    values = {"tenant": tenant_id, "firsts": floors[: len(months)], "followings": floors[len(months) :]}
    if code is None:
        cursor = await conn.execute(_COUNT_MONTHS, values)
    else:
        values |= {"type": code, "environments": list(Environment)}
        cursor = await conn.execute(_COUNT_MONTHS_OF_A_TYPE, values)
    return [int(row[0]) for row in await cursor.fetchall()]


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """One page of submissions, newest first.

    `total` counts all that fit, or with `looked_until` those that fit among the newest LOOK submissions. `looked_until`
    is the oldest submission that was compared with the filter; the period has older ones.
    """

    records: list[Record]
    total: int
    looked_until: SubmissionId | None = None


async def page(
    conn: Conn, tenant_id: TenantId, chosen: HistoryFilter, *, limit: int, offset: int, totals: Totals, now: datetime
) -> HistoryPage:
    """List one page, and count them all. A page past the end is empty, and costs no more than the count."""
    if chosen.is_looked_through:
        return await _looked_through(conn, tenant_id, chosen, limit=limit, offset=offset, below=LAST_ID)
    total = await totals.count(conn, tenant_id, chosen, now)
    if offset >= total:
        return HistoryPage([], total)
    return HistoryPage(await _listed(conn, tenant_id, chosen, limit=limit, offset=offset, below=LAST_ID), total)


async def _looked_through(
    conn: Conn, tenant_id: TenantId, chosen: HistoryFilter, *, limit: int, offset: int, below: UUID
) -> HistoryPage:
    """List one page and count, in one look at the newest LOOK submissions below an id."""
    after, order = _order(chosen, below)
    by_day = "x.issued_on DESC, " if chosen.is_by_day_of_issue else ""
    cursor = await conn.execute(
        f"""WITH seen AS MATERIALIZED (
                SELECT s.submission_id AS id, s.issued_on, {chosen.looked_through()} AS is_asked_for
                  FROM (SELECT s.*
                          FROM {chosen.source(chosen.in_index())} AND {after}
                         ORDER BY {order}
                         LIMIT %(look)s) AS s
            )
            SELECT (SELECT count(*) FROM seen AS x WHERE x.is_asked_for),
                   ARRAY(SELECT x.id
                           FROM seen AS x
                          WHERE x.is_asked_for
                          ORDER BY {by_day}x.id DESC
                          LIMIT %(limit)s OFFSET %(offset)s),
                   (SELECT x.id FROM seen AS x ORDER BY {by_day}x.id DESC OFFSET %(skipped)s LIMIT 1)""".encode(),
        {
            **chosen.values(tenant_id),
            "below": below,
            "reach": LOOK,
            "look": LOOK,
            "skipped": LOOK - 1,
            "limit": limit,
            "offset": offset,
        },
        prepare=True,
    )
    row = await cursor.fetchone()
    assert row is not None
    total, ids, looked_until = row
    records = {record.submission_id: record for record in await of_ids(conn, tenant_id, ids)}
    found = await _with_deliveries(conn, tenant_id, [records[one] for one in ids])
    return HistoryPage(found, total, looked_until)


async def after(
    conn: Conn, tenant_id: TenantId, chosen: HistoryFilter, *, limit: int, cursor: SubmissionId
) -> HistoryPage:
    """List what is older than the submission `cursor`: as fast at any depth. `total` is of this page."""
    if chosen.is_looked_through:
        return await _looked_through(conn, tenant_id, chosen, limit=limit, offset=0, below=cursor)
    records = await _listed(conn, tenant_id, chosen, limit=limit, offset=0, below=cursor)
    return HistoryPage(records, len(records))


async def newest(conn: Conn, tenant_id: TenantId, chosen: HistoryFilter, *, limit: int) -> list[Record]:
    """List the newest, without counting them all."""
    return await _listed(conn, tenant_id, chosen, limit=limit, offset=0, below=LAST_ID)


async def of_ids(conn: Conn, tenant_id: TenantId, ids: Sequence[SubmissionId]) -> list[Record]:
    """Find the submissions of these ids, in any order."""
    if not ids:
        return []
    cursor = conn.cursor(row_factory=record_row(Record))
    await cursor.execute(
        f"""SELECT {_COLUMNS}
              FROM submissions AS s
             WHERE s.tenant_id = %(tenant)s AND s.submission_id = ANY (%(ids)s)
               AND s.submission_id BETWEEN %(first)s AND %(last)s""".encode(),
        {"tenant": tenant_id, "ids": list(ids), "first": min(ids), "last": max(ids)},
        prepare=True,
    )
    return await cursor.fetchall()


async def _listed(
    conn: Conn, tenant_id: TenantId, chosen: HistoryFilter, *, limit: int, offset: int, below: UUID
) -> list[Record]:
    cursor = conn.cursor(row_factory=record_row(Record))
    after, order = _order(chosen, below)
    values = {**chosen.values(tenant_id), "below": below, "limit": limit, "offset": offset, "reach": limit + offset}
    await cursor.execute(
        f"""SELECT {_COLUMNS}
              FROM {chosen.source(chosen.where())} AND {after}
             ORDER BY {order}
             LIMIT %(limit)s OFFSET %(offset)s""".encode(),
        values,
        prepare=True,
    )
    return await _with_deliveries(conn, tenant_id, await cursor.fetchall())


def _order(chosen: HistoryFilter, below: UUID) -> tuple[str, str]:
    """The condition of what comes below an id, and the order of the list."""
    if chosen.is_by_day_of_issue:
        return ("true" if below == LAST_ID else _AFTER_BY_DAY), f"s.issued_on DESC, {chosen.key} DESC"
    return f"{chosen.key} < %(below)s", f"{chosen.key} DESC"


_DELIVERED = """
    SELECT f.submission_id, max(f.at)
      FROM (SELECT d.submission_id, d.changed_at AS at
              FROM counterparty_deliveries AS d
             WHERE d.tenant_id = %(tenant)s AND d.submission_id = ANY (%(ids)s) AND d.kind = 'receipt'
               AND d.state = 'delivered'
            UNION ALL
            SELECT m.subject, m.finished_at
              FROM mails AS m
             WHERE m.tenant_id = %(tenant)s AND m.subject = ANY (%(ids)s) AND m.stage = 'sent') AS f
     GROUP BY f.submission_id
"""


async def _with_deliveries(conn: Conn, tenant_id: TenantId, records: list[Record]) -> list[Record]:
    """Add when each accepted receipt was delivered: deliveries begin with the acceptance."""
    ids = [one.submission_id for one in records if one.status in (Status.ACCEPTED, Status.CONDITIONAL)]
    if not ids:
        return records
    cursor = await conn.execute(_DELIVERED, {"tenant": tenant_id, "ids": ids})
    delivered: dict[SubmissionId, datetime] = dict(await cursor.fetchall())
    return [replace(one, delivered_at=delivered.get(one.submission_id)) for one in records]


# The condition of rows after a submission in the order of days of issue.
_AFTER_BY_DAY = """(s.issued_on, s.submission_id) < (
                (SELECT b.issued_on
                   FROM submissions AS b
                  WHERE b.tenant_id = %(tenant)s AND b.submission_id = %(below)s),
                %(below)s)"""
