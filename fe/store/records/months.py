"""Months as billing and totals have them: of UTC, from their first moment to before the next one's."""

from datetime import UTC, date, datetime


def month_of(moment: datetime) -> datetime:
    """The first moment of the month that a moment lies in."""
    there = moment.astimezone(UTC)
    return datetime(there.year, there.month, 1, tzinfo=UTC)


def month_after(begin: datetime | date) -> datetime:
    """The first moment of the month after the one that begins with `begin`."""
    return datetime(begin.year + begin.month // 12, begin.month % 12 + 1, 1, tzinfo=UTC)


def month_before(begin: datetime | date) -> datetime:
    """The first moment of the month before the one that begins with `begin`."""
    return datetime(begin.year - (begin.month == 1), (begin.month - 2) % 12 + 1, 1, tzinfo=UTC)
