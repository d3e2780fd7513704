from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from fe.ecf.dates import ZONE, local, read_day, read_moment, show_day, show_moment


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


def test_what_is_written_is_read_back() -> None:
    now = datetime(2026, 12, 31, 23, 59, 59, tzinfo=timezone(timedelta(hours=9)))

    assert read_moment(show_moment(now)) == now
    assert read_day(show_day(date(2026, 2, 3))) == date(2026, 2, 3)
