"""Dates and times as the formats write them: dd-MM-yyyy and dd-MM-yyyy HH:mm:ss, Dominican time (-04:00, no DST).

A payload may also carry ISO dates, which `build` rewrites: both readers take them too.
"""

from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import lru_cache

#: America/Santo_Domingo has been at this offset, without daylight saving, since long before the first e-CF.
ZONE = timezone(timedelta(hours=-4), "-04:00")


@lru_cache(maxsize=256)  # a document asks five times, and always for the same moment
def local(now: datetime) -> datetime:
    """Return `now` as Dominican time, to the second. ValueError when it does not know its own zone."""
    if now.tzinfo is None:
        raise ValueError("a moment without a time zone cannot be dated in a fiscal document")
    return now.astimezone(ZONE).replace(microsecond=0)


def show_day(day: date) -> str:
    """Write a date the way every document does: dd-MM-yyyy."""
    return f"{day.day:02d}-{day.month:02d}-{day.year:04d}"


def show_moment(now: datetime) -> str:
    """Write a moment the way every document does: dd-MM-yyyy HH:mm:ss at -04:00."""
    here = local(now)
    return f"{show_day(here)} {here.hour:02d}:{here.minute:02d}:{here.second:02d}"


def last_day(moment: datetime) -> date:
    """Tell on which day a sequence ends whose end was given as a moment: a sequence ends with a *day* in Santo Domingo.

    It is the day the moment falls on there. But midnight UTC is how programs write a day without meaning a time
    (`2028-12-31T00:00:00.000Z`): it is its own calendar day. At its word it would be the evening before, and the
    authority refuses a document whose date is not the one it authorised. (`sequence_last_day` in sql/ is the same.)
    OverflowError where the calendar begins.
    """
    utc = moment.astimezone(UTC)
    return utc.date() if utc.time() == time(0) else moment.astimezone(ZONE).date()


def end_of_day(day: date) -> datetime:
    """Return the last millisecond of a day in Santo Domingo, in UTC. OverflowError where the calendar ends."""
    return datetime.combine(day, time(23, 59, 59, 999000), ZONE).astimezone(UTC)


# The same few days fill a batch of documents, so both readers remember; only texts of a sane length are remembered.
_LONGEST = 32


def read_day(text: str) -> date | None:
    """Read dd-MM-yyyy (the authority's patterns take one-digit days and months too); None when there is no such day."""
    return _read_day(text) if len(text) <= _LONGEST else None


def read_moment(text: str) -> datetime | None:
    """Read dd-MM-yyyy HH:mm:ss as Dominican time; None when there is no such moment."""
    return _read_moment(text) if len(text) <= _LONGEST else None


@lru_cache(maxsize=2048)
def _read_day(text: str) -> date | None:
    parts = text.strip().split("-")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() and len(part) <= 4 for part in parts):
        return None
    if len(parts[0]) == 4:
        parts.reverse()
    try:
        return date(int(parts[2]), int(parts[1]), int(parts[0]))
    except ValueError:
        return None


@lru_cache(maxsize=2048)
def _read_moment(text: str) -> datetime | None:
    if text[4:5] == "-":
        try:
            moment = datetime.fromisoformat(text)
            return moment.astimezone(ZONE) if moment.tzinfo else moment.replace(tzinfo=ZONE)
        except (ValueError, OverflowError):
            return None
    head, _, tail = text.strip().partition(" ")
    day = _read_day(head)
    clock = tail.split(":")
    if day is None or len(clock) != 3 or not all(p.isascii() and p.isdigit() and len(p) <= 2 for p in clock):
        return None
    try:
        return datetime(day.year, day.month, day.day, int(clock[0]), int(clock[1]), int(clock[2]), tzinfo=ZONE)
    except ValueError:
        return None
