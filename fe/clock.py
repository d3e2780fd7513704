"""The time of day. Passed in everywhere, so that a test or a simulation decides what time it is.

What is due is decided by the database's clock, and durations are measured on the monotonic one.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

#: Tells the time as an aware datetime in UTC.
Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """Tell the machine's time in UTC."""
    return datetime.now(UTC)


#: The monotonic clock that goes on while the machine sleeps: Linux has one of its own for that, macOS only this one.
_BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def boot_seconds() -> float:
    """Tell the seconds since some moment in the past; nobody sets this clock, and a suspended machine does not stop it.

    On a system without such a clock it is the monotonic one, which may stand still while the machine sleeps.
    """
    return time.clock_gettime(_BOOT_CLOCK)


def iso(moment: datetime) -> str:
    """Write a moment as answers, events, records and commands do: ISO 8601 in UTC, with milliseconds and Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def for_people(moment: datetime | None) -> str:
    """Write a moment as operators read it: in UTC, to the second; `?` where it is not known."""
    return "?" if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"


def clock_ahead(seconds: float) -> Clock:
    """Make a clock that is wrong on purpose: for the fault suite."""
    ahead = timedelta(seconds=seconds)
    return lambda: system_clock() + ahead
