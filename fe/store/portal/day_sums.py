"""Sums of the signed receipts of one day of issue, and those of them that are not accepted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from fe.ecf.catalogue import Environment
from fe.ecf.payments import FORMS, UNSTATED
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import Status
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row
from fe.store.records.month_sums import oldest_of
from fe.store.records.sequences import Sequence as NumberSequence
from fe.store.records.sequences import known_ranges


@dataclass(frozen=True, slots=True)
class DayPart:
    """Receipts of one type, state, user and sequence. `issued_by`: the branch or person, as lists show it.

    `paid` and `paid_receipts` are by PAID; `without_form` receipts have none, because an older release signed them.
    """

    ecf_type: str
    status: Status
    issued_by: str | None
    sequence: str
    receipts: int
    total: Decimal
    itbis: Decimal
    first_number: str
    last_number: str
    paid: Sequence[Decimal]
    paid_receipts: Sequence[int]
    without_form: int
    total_without_form: Decimal


#: Receipts of a day that are summed at most.
MOST = 20_000
_LIMIT = MOST + 1
#: Forms of payment in the order of the sums.
PAID = (*FORMS, UNSTATED)
_PAID = ", ".join(f"coalesce(sum((s.amounts ->> 'paid{form}')::numeric), 0)" for form in PAID)
_PAID_RECEIPTS = ", ".join(f"count(s.amounts ->> 'paid{form}')" for form in PAID)
_ANY = ", ".join(f"'paid{form}'" for form in PAID)
_WITHOUT_FORM = f"(s.amounts IS NULL OR NOT s.amounts ?| ARRAY[{_ANY}]) AND s.total <> 0"
# The id leaves out months before: a receipt is not issued after the day on which it was submitted.
_OF_DAY = """x.environment = %(environment)s AND x.issued_on = %(day)s AND x.submission_id >= %(oldest)s
           AND x.root IN ('ECF', 'RFCE') AND x.total IS NOT NULL AND x.itbis IS NOT NULL AND x.ecf_type IS NOT NULL
           AND x.e_ncf IS NOT NULL"""
_PARTS = f"""
    SELECT s.ecf_type, s.status, coalesce(s.as_user, u.email, s.as_user_id::text) AS issued_by,
           coalesce(q.label, left(s.e_ncf, 3)) AS sequence, count(*) AS receipts, sum(s.total) AS total,
           sum(s.itbis) AS itbis, min(s.e_ncf) AS first_number, max(s.e_ncf) AS last_number, ARRAY[{_PAID}] AS paid,
           ARRAY[{_PAID_RECEIPTS}] AS paid_receipts, count(*) FILTER (WHERE {_WITHOUT_FORM}) AS without_form,
           coalesce(sum(s.total) FILTER (WHERE {_WITHOUT_FORM}), 0) AS total_without_form
      FROM (SELECT x.* FROM submissions AS x WHERE x.tenant_id = %(tenant)s AND {_OF_DAY} LIMIT {_LIMIT}) AS s
      LEFT JOIN users AS u ON u.tenant_id = %(tenant)s AND u.user_id = s.as_user_id
      LEFT JOIN unnest(%(labels)s::text[], %(firsts)s::text[], %(lasts)s::text[]) AS q (label, first, last)
        ON s.e_ncf BETWEEN q.first AND q.last
     GROUP BY 1, 2, 3, 4
     ORDER BY 1, 2, 3, 4
"""


async def parts(
    conn: Conn, tenant_id: TenantId, environment: Environment, day: date, ranges: Sequence[NumberSequence]
) -> Sequence[DayPart] | None:
    """Sum the receipts of a day; None where there are more than MOST. `ranges` are the sequences to name."""
    known = known_ranges(ranges)
    values = {
        "tenant": tenant_id,
        "environment": environment,
        "day": day,
        "oldest": oldest_of(day),
        "labels": [one.sequence.label for one in known],
        "firsts": [one.first_e_ncf for one in known],
        "lasts": [one.last_e_ncf for one in known],
    }
    cursor = conn.cursor(row_factory=record_row(DayPart))
    await cursor.execute(_PARTS, values, prepare=True)  # planned once for all months
    found = await cursor.fetchall()
    return None if sum(one.receipts for one in found) > MOST else found


@dataclass(frozen=True, slots=True)
class DayLine:
    """One signed receipt that is not accepted."""

    submission_id: SubmissionId
    e_ncf: str
    status: Status
    total: Decimal
    itbis: Decimal


#: Receipts that are listed one by one, of those that wait and of those that were refused.
MOST_LISTED = 200
_LINES = f"""
    SELECT x.submission_id, x.e_ncf, x.status, x.total, x.itbis
      FROM submissions AS x
     WHERE x.tenant_id = %(tenant)s AND {_OF_DAY} AND x.status::text = ANY (%(states)s)
     ORDER BY x.submission_id
     LIMIT {MOST_LISTED}
"""


async def lines(
    conn: Conn, tenant_id: TenantId, environment: Environment, day: date, states: Sequence[Status]
) -> Sequence[DayLine]:
    """List the receipts of a day in these states, in the order in which they came, MOST_LISTED at most."""
    cursor = conn.cursor(row_factory=record_row(DayLine))
    values = {"tenant": tenant_id, "environment": environment, "day": day, "oldest": oldest_of(day)}
    values["states"] = list(states)
    await cursor.execute(_LINES, values, prepare=True)
    return await cursor.fetchall()
