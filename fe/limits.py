"""What each may take of something over time: so much at once, and then so much a second."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Who = TypeVar("Who", bound=Hashable)

_MAX_KEPT = 10_000


class Allowances(Generic[Who]):
    """What each has left, in any unit. It may take more than it has; then it has none for a while.

    For as long at most as it takes to have all `at_once` again: what was taken beyond that is forgotten, since who
    takes nothing for so long, for it was given nothing, has some again.
    """

    def __init__(self, *, at_once: float, a_second: float) -> None:
        self._at_once = at_once
        self._a_second = a_second
        self._left: OrderedDict[Who, tuple[float, float]] = OrderedDict()

    def has_some(self, who: Who, now: float) -> bool:
        """Tell whether anything of it is left at `now`, in seconds of a clock that only moves forward."""
        return self._level(who, now) > 0

    def wait(self, who: Who, now: float, amount: float = 0) -> float:
        """Seconds until so much of it is left; 0 where it is. What was taken beyond it has to come back first."""
        return max((amount - self._level(who, now)) / self._a_second, 0.0)

    def take(self, who: Who, amount: float, now: float) -> None:
        """Count what it took."""
        self._left[who] = (max(self._level(who, now) - amount, -self._at_once), now)
        self._left.move_to_end(who)
        if len(self._left) > _MAX_KEPT:
            self._left.popitem(last=False)

    def _level(self, who: Who, now: float) -> float:
        level, at = self._left.get(who, (self._at_once, now))
        return min(level + (now - at) * self._a_second, self._at_once)
