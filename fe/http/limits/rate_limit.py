"""A token bucket per API key, or per address of a supplier: a limit on how fast one may call; off without a rate."""

import math

from fe.http import messages
from fe.http.errors import ApiError
from fe.limits import Allowances


class Buckets:
    """Limits calls a second of each key in this process, with bursts of up to twice a second's worth."""

    def __init__(self, rate: float) -> None:
        """Take the rate in calls per second; 0 switches the limit off."""
        self._left: Allowances[str] | None = Allowances(at_once=max(2 * rate, 1.0), a_second=rate) if rate else None

    def take(self, key: str, now: float) -> None:
        """Count a call at `now` (seconds of a clock that only moves forward). Raises ApiError (429) when too fast."""
        if self._left is None:
            return
        if wait := self._left.wait(key, now, 1):
            again = max(math.ceil(wait), 1)
            raise ApiError(429, messages.TOO_MANY_REQUESTS, (("Retry-After", str(again)),))
        self._left.take(key, 1, now)
