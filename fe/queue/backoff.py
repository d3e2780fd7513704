"""When to try again (interface.md#limits and #life)."""

import random
from collections.abc import Callable
from datetime import timedelta

#: The wait after the try of this number (from 1).
Gap = Callable[[int, random.Random], timedelta]

#: Tries before a row becomes a dead letter.
MAX_ATTEMPTS = 8

_FIRST_GAP = 3.8
_JITTER = 0.10
_POLL_FROM = 2.0
_POLL_GROWTH = 1.5
_POLL_TO = 60.0


def retry_gap(attempt: int, spread: random.Random) -> timedelta:
    """Return the wait after failed attempt number `attempt` (from 1): 3.8 s doubling (480 s in all), +-10 %."""
    base = _FIRST_GAP * 2 ** (min(attempt, MAX_ATTEMPTS - 1) - 1)
    return timedelta(seconds=base * (1 + spread.uniform(-_JITTER, _JITTER)))


def poll_gap(polls: int, spread: random.Random) -> timedelta:
    """Return the wait after poll number `polls` (from 1): 2 s growing by half to 60 s, +-10 %."""
    base = min(_POLL_FROM * _POLL_GROWTH ** min(polls - 1, 20), _POLL_TO)
    return timedelta(seconds=base * (1 + spread.uniform(-_JITTER, _JITTER)))


def scaled(gap: Gap, scale: float) -> Gap:
    """Shorten a schedule, for the fault suite."""
    return lambda number, spread: gap(number, spread) * scale
