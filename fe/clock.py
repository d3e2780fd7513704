"""The one clock. Passed in everywhere, so that a test or a simulation decides what time it is."""

from collections.abc import Callable
from datetime import UTC, datetime

#: Tells the time as an aware datetime in UTC.
Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """Tell the machine's time in UTC."""
    return datetime.now(UTC)
