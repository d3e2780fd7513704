"""How much of this process strangers may have: a pace, and a share of what is in work, for each address."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv6Network

from fe.http import messages
from fe.http.errors import RETRY_WHEN_SHED, ApiError
from fe.http.limits.rate_limit import Buckets
from fe.http.server.addresses import Address

#: Of what is in work at once, an address may have one part in so many.
_SHARE = 4


class AddressLimits:
    """Counts by address. A client of IPv6 owns a whole /64, so that is what counts."""

    def __init__(self, per_second: float, in_flight: int) -> None:
        """Take calls per second and address (0: as many as they like), and requests in work in all."""
        self._pace = Buckets(per_second)
        self._maximum = max(in_flight // _SHARE, 1)
        self._in_work: Counter[str] = Counter()

    @contextmanager
    def admitted(self, address: Address, now: float) -> Iterator[None]:
        """Let one request of an address in for as long as the block runs. Raises ApiError (429)."""
        bucket = str(IPv6Network((address, 64), strict=False)) if address.version == 6 else str(address)
        self._pace.take(bucket, now)
        if self._in_work[bucket] >= self._maximum:
            raise ApiError(429, messages.TOO_MANY_REQUESTS, (("Retry-After", str(RETRY_WHEN_SHED)),))
        self._in_work[bucket] += 1
        try:
            yield
        finally:
            self._in_work[bucket] -= 1
            if not self._in_work[bucket]:
                del self._in_work[bucket]
