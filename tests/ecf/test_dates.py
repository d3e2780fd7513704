from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from fe.ecf.dates import ZONE, end_of_day, last_day, local, read_day, read_moment, show_day, show_moment


def test_a_moment_is_written_in_dominican_time_with_a_24_hour_clock() -> None:
    assert show_moment(datetime(2026, 11, 21, 2, 5, 9, 999_999, tzinfo=UTC)) == "20-11-2026 22:05:09"


def test_midnight_in_santo_domingo_is_the_day_there() -> None:
    moment = datetime(2026, 1, 1, 3, 59, 59, tzinfo=UTC)

    assert local(moment).date() == date(2025, 12, 31)
    assert local(moment + timedelta(seconds=1)).date() == date(2026, 1, 1)


def test_a_moment_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="time zone"):
        show_moment(datetime(2026, 1, 1))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("01-04-2020", date(2020, 4, 1)),
        ("1-4-2020", date(2020, 4, 1)),
        ("29-02-2024", date(2024, 2, 29)),
        ("2020-04-01", date(2020, 4, 1)),
        ("29-02-2023", None),
        ("31-04-2020", None),
        ("00-01-2020", None),
        ("01/04/2020", None),
        ("", None),
        ("01-04-2020 10:00:00", None),
        ("1-4-2020-", None),
        ("٠١-٠٤-٢٠٢٠", None),
        ("x" * 1000, None),
    ],
)
def test_days_are_read_only_when_they_exist(text: str, expected: date | None) -> None:
    assert read_day(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("06-11-2026 10:15:30", datetime(2026, 11, 6, 10, 15, 30, tzinfo=ZONE)),
        ("2026-11-06T14:15:30Z", datetime(2026, 11, 6, 10, 15, 30, tzinfo=ZONE)),
        ("2026-11-06 10:15:30", datetime(2026, 11, 6, 10, 15, 30, tzinfo=ZONE)),
        ("06-11-2026 24:00:00", None),
        ("06-11-2026 10:60:00", None),
        ("31-11-2026 10:00:00", None),
        ("06-11-2026", None),
        ("06-11-2026 10:15", None),
        ("2026-11-06T99:15:30Z", None),
    ],
)
def test_moments_are_read_only_when_they_exist(text: str, expected: datetime | None) -> None:
    assert read_moment(text) == expected


def test_written_date_is_read_back() -> None:
    now = datetime(2026, 12, 31, 23, 59, 59, tzinfo=timezone(timedelta(hours=9)))

    assert read_moment(show_moment(now)) == now
    assert read_day(show_day(date(2026, 2, 3))) == date(2026, 2, 3)


@pytest.mark.parametrize(
    ("moment", "day"),
    [
        ("2028-12-31T00:00:00+00:00", date(2028, 12, 31)),
        ("2028-12-31T23:59:59.999999+00:00", date(2028, 12, 31)),
        ("2029-01-01T03:59:59+00:00", date(2028, 12, 31)),
        ("2028-12-31T23:59:59-04:00", date(2028, 12, 31)),
        ("2029-01-01T04:00:00+00:00", date(2029, 1, 1)),
    ],
)
def test_the_last_day_of_a_sequence_is_the_one_that_was_meant(moment: str, day: date) -> None:
    assert last_day(datetime.fromisoformat(moment)) == day


def test_the_end_of_a_day_is_of_that_day_and_the_next_moment_is_not() -> None:
    end = end_of_day(date(2028, 12, 31))

    assert end == datetime(2029, 1, 1, 3, 59, 59, 999000, tzinfo=UTC)
    assert last_day(end) == date(2028, 12, 31)
    assert last_day(end + timedelta(milliseconds=1)) == date(2029, 1, 1)
