"""When a delivery is tried again: ten times over some 75 hours (interface.md#events). Pure."""

import random
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

#: How long after the try before: the first is made at once.
GAPS: Final = (
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)
ATTEMPTS: Final = len(GAPS) + 1

#: An endpoint whose calls have all failed for this long is disabled.
PATIENCE: Final = timedelta(days=5)

#: Longest Retry-After that is honoured: more would exceed each gap of the schedule.
_LONGEST_WAIT: Final = timedelta(hours=24)


def webhook_gap(attempt: int, spread: random.Random) -> timedelta:
    """How long to wait after the failed try of this number (from 1): a tenth more or less, so that many do not meet."""
    return GAPS[min(attempt, len(GAPS)) - 1] * spread.uniform(0.9, 1.1)


def retry_after(header: str | None, now: datetime) -> timedelta | None:
    """Read Retry-After: seconds, or a date; None where it says nothing that can be used."""
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return min(timedelta(seconds=int(text[:9])), _LONGEST_WAIT)
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        wait = moment - now
    except (ValueError, OverflowError, TypeError):  # whatever it says: of a date beyond all calendars, too
        return None
    return min(max(wait, timedelta(0)), _LONGEST_WAIT)
