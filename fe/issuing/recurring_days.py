"""The calendar of recurring receipts: due days, and the moments of issuing and of the preview. Pure."""

from calendar import monthrange
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Final

from fe.ecf.dates import ZONE

#: When a receipt is issued on its day, in Santo Domingo; its preview is made a day earlier, at the same time.
ISSUED_AT: Final = time(6)
_DAY: Final = timedelta(days=1)


def day_in(month: date, day: int) -> date:
    """Return the due day of a month: `day`, or the month's last where it is shorter."""
    return month.replace(day=min(day, monthrange(month.year, month.month)[1]))


def months_after(month: date, many: int) -> date:
    """Return the first day of the month `many` months later."""
    years, place = divmod(month.month - 1 + many, 12)
    return date(month.year + years, place + 1, 1)


def next_day(day: int, every: int, last: date | None, earliest: date) -> date:
    """Return the first due day from `earliest` on.

    `last` is the month of the last turn: the next one is `every` months later, or a multiple of that. So a month has
    one turn at most, whatever is changed.
    """
    month = earliest.replace(day=1) if last is None else months_after(last, every)
    while (due := day_in(month, day)) < earliest:
        month = months_after(month, 1 if last is None else every)
    return due


def days_from(first: date, day: int, every: int) -> Iterator[date]:
    """Yield the due days from the due day `first` on."""
    due = first
    while True:
        yield due
        due = day_in(months_after(due, every), day)


def issuing_of(due: date) -> datetime:
    """Return the moment at which the receipt of a day is issued."""
    return datetime.combine(due, ISSUED_AT, ZONE)


def preview_of(due: date) -> datetime:
    """Return the moment of its preview: the day before."""
    return issuing_of(due - _DAY)
