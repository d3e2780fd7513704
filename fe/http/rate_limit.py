"""A token bucket per API key, or per address of a supplier: a limit on how fast one may call; off without a rate."""

import math
from collections import OrderedDict

from fe.http import messages
from fe.http.errors import ApiError

_MAX_KEYS = 10_000


class Buckets:
    """Limits calls a second of each key in this process, with bursts of up to twice a second's worth."""

    def __init__(self, rate: float) -> None:
        """Take the rate in calls per second; 0 switches the limit off."""
        self._rate = rate
        self._burst = max(2 * rate, 1.0)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str, now: float) -> None:
        """Count a call at `now` (seconds of a clock that only moves forward). Raises ApiError (429) when too fast."""
        if not self._rate:
            return
        level, at = self._buckets.pop(key, (self._burst, now))
        level = min(level + (now - at) * self._rate, self._burst)
        allowed = level >= 1
        self._buckets[key] = (level - 1 if allowed else level, now)
        if len(self._buckets) > _MAX_KEYS:
            self._buckets.popitem(last=False)
        if not allowed:
            wait = max(math.ceil((1 - level) / self._rate), 1)
            raise ApiError(429, messages.TOO_MANY_REQUESTS, (("Retry-After", str(wait)),))
