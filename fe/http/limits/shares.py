"""Shares of what there is too little of: so much of it for each, so much for all together.

Bytes of bodies, requests in work, slots to wait in, connections: whoever has its share is refused more of it, long
before all have too little.
"""

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Generic, TypeVar

from fe.http import messages
from fe.http.errors import RETRY_WHEN_SHED, ApiError
from fe.monitoring.metrics import Metrics

Who = TypeVar("Who", bound=Hashable)

#: Seconds after which somebody who has all of its share may ask again.
RETRY_WHEN_FULL = 1


class Shares(Generic[Who]):
    """Who has how much. `limit` names it in the metrics; nobody is named there."""

    def __init__(
        self, limit: str, metrics: Metrics, *, each: int, together: int | None = None, crowded: int | None = None
    ) -> None:
        """Take what each may have, and all `together`; `crowded`: each, once half of that is taken."""
        self._limit = limit
        self._metrics = metrics
        self._each = each
        self._together = together
        self._crowded = each if crowded is None else crowded
        self._held: dict[Who, int] = {}
        self._all = 0

    @property
    def all_held(self) -> int:
        """How much all have together."""
        return self._all

    def of(self, who: Who) -> int:
        """How much `who` has."""
        return self._held.get(who, 0)

    def has_room(self, who: Who) -> bool:
        """Tell whether `who` may take one more, and count nothing."""
        return self._held.get(who, 0) < self._each and (self._together is None or self._all < self._together)

    def has_capacity(self, who: Who, amount: int = 1) -> bool:
        """Tell whether `who` may take so much more; a refusal for its own share is counted."""
        if self._held.get(who, 0) + amount > self._each:
            self._metrics.share_refused.labels(self._limit).inc()
            return False
        return self._together is None or self._all + amount <= self._together

    def acquire(self, who: Who, amount: int = 1) -> None:
        """Note that `who` has so much more, whether there is capacity or not."""
        self._held[who] = self._held.get(who, 0) + amount
        self._all += amount

    def release(self, who: Who, amount: int = 1) -> None:
        """Undo one `acquire`."""
        self._all -= amount
        left = self._held.pop(who, 0) - amount
        if left:
            self._held[who] = left

    def require_capacity(self, who: Who, amount: int = 1) -> None:
        """Raise ApiError when `who` may not take so much more: 429 where it has its share, 503 where all have."""
        is_crowded = self._together is not None and self._all + amount > self._together / 2
        if self._held.get(who, 0) + amount > (self._crowded if is_crowded else self._each):
            self._metrics.share_refused.labels(self._limit).inc()
            raise too_many_requests(RETRY_WHEN_FULL)
        if self._together is not None and self._all + amount > self._together:
            self._metrics.http_shed.inc()
            raise ApiError(503, messages.UNAVAILABLE, (("Retry-After", str(RETRY_WHEN_SHED)),))

    def take(self, who: Who) -> None:
        """Take one. Whoever does releases it, whatever happens. Raises as `require_capacity` does."""
        self.require_capacity(who)
        self.acquire(who)

    @contextmanager
    def held(self, who: Who, amount: int = 1) -> Iterator[None]:
        """Hold so much for the block. Raises as `require_capacity` does."""
        self.require_capacity(who, amount)
        self.acquire(who, amount)
        try:
            yield
        finally:
            self.release(who, amount)

    @contextmanager
    def released(self, who: Who, amount: int = 1) -> Iterator[None]:
        """Release so much for the block, and have it again after, capacity or none: it was had before."""
        self.release(who, amount)
        try:
            yield
        finally:
            self.acquire(who, amount)


def too_many_requests(seconds: int) -> ApiError:
    """Refuse somebody who had its share, for so many seconds; the connection ends, for connections are shared too."""
    refused = ApiError(429, messages.TOO_MANY_REQUESTS, (("Retry-After", str(seconds)), ("Connection", "close")))
    refused.refuses_for = seconds
    return refused
