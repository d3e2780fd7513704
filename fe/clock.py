"""The time of day. Passed in everywhere, so that a test or a simulation decides what time it is.

What is due is decided by the database's clock, and durations are measured on the monotonic one.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

#: Tells the time as an aware datetime in UTC.
Clock = Callable[[], datetime]

#: Seconds by which a clock may move before it is judged anew: every document asks.
_STILL = 0.001

#: A process signs only while its clock is within this of the database's (ops/runbooks/clock-skew.md).
MAX_SKEW = timedelta(seconds=2)

#: Tells why a process must not sign now; None while its clock agrees with the database's.
ClockFault = Callable[[], str | None]


def system_clock() -> datetime:
    """Tell the machine's time in UTC."""
    return datetime.now(UTC)


#: The monotonic clock that goes on while the machine sleeps (Linux; elsewhere the plain one).
_BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def boot_seconds() -> float:
    """Return seconds of a clock that is never set and goes on while the machine sleeps.

    On a system without such a clock it is the monotonic one, which may stop during sleep.
    """
    return time.clock_gettime(_BOOT_CLOCK)


def iso(moment: datetime) -> str:
    """Write a moment as answers, events, records and commands do: ISO 8601 in UTC, with milliseconds and Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def for_people(moment: datetime | None) -> str:
    """Write a moment as operators read it: in UTC, to the second; `?` where it is not known."""
    return "?" if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"


def clock_ahead(seconds: float) -> Clock:
    """Return a clock that is wrong on purpose, for the fault suite; without seconds it is the machine's."""
    if not seconds:
        return system_clock
    ahead = timedelta(seconds=seconds)
    return lambda: system_clock() + ahead


def no_fault() -> str | None:
    """Report no fault: for callers that have no database to compare with."""
    return None


class ClockWrong(Exception):
    """The clocks of this process and of the database are too far apart to start; the message is for an operator."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Bounds of how far a clock is ahead of the database's, from one round trip. Negative: behind.

    The database reads its clock somewhere within the round trip, so a slow one widens the bounds and proves nothing.
    """

    least: timedelta
    most: timedelta

    @classmethod
    def of(cls, before: datetime, took: float, theirs: datetime) -> "Comparison":
        """Compare the moment `before` a round trip of `took` seconds with the moment that the database answered."""
        least = before - theirs
        return cls(least, least + timedelta(seconds=took))

    @property
    def is_wrong(self) -> bool:
        """Whether the clocks are certainly further apart than MAX_SKEW."""
        return self.least > MAX_SKEW or self.most < -MAX_SKEW

    @property
    def is_right(self) -> bool:
        """Whether the clocks are certainly no further apart than MAX_SKEW."""
        return self.least >= -MAX_SKEW and self.most <= MAX_SKEW

    @property
    def halfway(self) -> timedelta:
        """The middle of the bounds."""
        return (self.least + self.most) / 2

    def moved(self, step: timedelta) -> "Comparison":
        """The bounds after the clock was set forward by `step`."""
        return Comparison(self.least + step, self.most + step)


def clocks_apart(ahead: timedelta) -> str:
    """Name how far this process's clock is from the database's."""
    seconds = ahead.total_seconds()
    return f"the clock of this process is {abs(seconds):.1f} s {'ahead of' if seconds > 0 else 'behind'} the database's"


class ClockCheck:
    """Forbids signing unless this process's clock agrees with the database's.

    `compared` takes a comparison every few seconds. In between, a change of the clock shows against the monotonic clock
    `steady`. A comparison that leaves the question open changes nothing.
    """

    def __init__(self, clock: Clock, steady: Callable[[], float] = boot_seconds) -> None:
        self.clock = clock
        self.steady = steady
        self._last: Comparison | None = None
        #: Wall clock minus monotonic clock at the last comparison.
        self._offset = 0.0
        self._agrees = False

    def compared(self, found: Comparison) -> None:
        """Take the result of a round trip."""
        self._last, self._offset = found, self._offset_now()
        self._judge(found)

    def fault(self) -> str | None:
        """Return why this process must not sign now, or None. Costs no round trip."""
        if self._last is None:
            return "the clock of this process has not been compared with the database's yet"
        step = self._offset_now() - self._offset
        if self._agrees and abs(step) < _STILL:
            return None
        now = self._last.moved(timedelta(seconds=step))
        self._judge(now)
        return None if self._agrees else f"{clocks_apart(now.halfway)}: it signs nothing until they agree"

    def _judge(self, found: Comparison) -> None:
        if found.is_wrong or found.is_right:
            self._agrees = found.is_right

    def _offset_now(self) -> float:
        return self.clock().timestamp() - self.steady()
