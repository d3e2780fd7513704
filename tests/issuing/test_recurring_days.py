"""The calendar of recurring receipts."""

from datetime import UTC, date, datetime
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fe.issuing.recurring_days import day_in, days_from, issuing_of, months_after, next_day, preview_of

DAYS = st.dates(date(2020, 1, 1), date(2090, 12, 31))


@pytest.mark.parametrize(
    ("day", "every", "last", "earliest", "due"),
    [
        (31, 1, None, date(2027, 2, 1), date(2027, 2, 28)),
        (31, 1, None, date(2028, 2, 1), date(2028, 2, 29)),
        (5, 1, None, date(2026, 12, 6), date(2027, 1, 5)),
        (5, 1, None, date(2026, 12, 5), date(2026, 12, 5)),
        # The month has had its turn: a later day of it is not another one.
        (20, 1, date(2026, 12, 1), date(2026, 12, 10), date(2027, 1, 20)),
        (1, 3, date(2026, 11, 1), date(2027, 6, 2), date(2027, 8, 1)),
    ],
)
def test_next_day_is_in_the_month_expected(day: int, every: int, last: date | None, earliest: date, due: date) -> None:
    assert next_day(day, every, last, earliest) == due


@given(st.integers(1, 31), st.integers(1, 12), DAYS, st.none() | DAYS.map(lambda one: one.replace(day=1)))
def test_next_day_is_the_first_from_the_earliest_and_never_in_a_month_before(
    day: int, every: int, earliest: date, last: date | None
) -> None:
    due = next_day(day, every, last, earliest)

    assert due >= earliest
    assert due == day_in(due.replace(day=1), day)
    assert due.day == day or months_after(due, 1).toordinal() - due.toordinal() == 1
    if last is None:
        assert (due - earliest).days <= 31 + 30
    else:
        apart = (due.year - last.year) * 12 + due.month - last.month
        assert apart > 0
        assert apart % every == 0
        before = day_in(months_after(last, apart - every), day)
        assert apart == every or before < earliest
    days = list(islice(days_from(due, day, every), 30))
    assert days[0] == due
    for one, following in pairwise(days):
        assert following == next_day(day, every, one.replace(day=1), one)


@given(DAYS)
def test_preview_is_a_day_before_the_issue_in_santo_domingo(due: date) -> None:
    assert issuing_of(due).astimezone(UTC) == datetime(due.year, due.month, due.day, 10, tzinfo=UTC)
    assert (issuing_of(due) - preview_of(due)).total_seconds() == 86400
