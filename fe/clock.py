"""The time of day. Passed in everywhere, so that a test or a simulation decides what time it is.

What is due is decided by the database's clock, and durations are measured on the monotonic one.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

#: Tells the time as an aware datetime in UTC.
Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """Tell the machine's time in UTC."""
    return datetime.now(UTC)


def clock_ahead(seconds: float) -> Clock:
    """Make a clock that is wrong on purpose: for the fault suite."""
    ahead = timedelta(seconds=seconds)
    return lambda: system_clock() + ahead
