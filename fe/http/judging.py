"""Whose large document is read and judged when: work on the spot that takes memory and CPU from all tenants.

A parsed document takes a dozen times its bytes. So it is parsed only when it is its turn to be judged, a few at once in
the process and one at once of each tenant; and those that wait are counted in bytes, each tenant's and all together.
"""

from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from fe.http.errors import RETRY_WHEN_SHED, ApiError
from fe.identifiers import TenantId
from fe.monitoring.metrics import Metrics

#: Documents that are parsed and judged at once in this process.
AT_ONCE = 2
#: Bytes of documents that are in hand for it, waiting included: of all tenants, and of each.
BYTES_IN_HAND = 16 * 1024 * 1024
BYTES_OF_A_TENANT = 4 * 1024 * 1024


class Judging:
    """Gives turns. One per process."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._slots = trio.CapacityLimiter(AT_ONCE)
        self._of_tenant: dict[TenantId, trio.CapacityLimiter] = {}
        self._held: defaultdict[TenantId, int] = defaultdict(int)

    @asynccontextmanager
    async def held(self, tenant_id: TenantId, size: int) -> AsyncIterator[None]:
        """Count a document of so many bytes, its waiting included, for as long as the block runs.

        Raises ApiError: 429 where the tenant has enough in hand, 503 where all together have.
        """
        if self._held[tenant_id] + size > BYTES_OF_A_TENANT:
            raise ApiError(429, "Too Many Requests", (("Retry-After", "1"),))
        if sum(self._held.values()) + size > BYTES_IN_HAND:
            self._metrics.http_shed.inc()
            raise ApiError(503, "Service Unavailable", (("Retry-After", str(RETRY_WHEN_SHED)),))
        self._held[tenant_id] += size
        try:
            yield
        finally:
            self._held[tenant_id] -= size
            if not self._held[tenant_id]:
                del self._held[tenant_id]
                self._of_tenant.pop(tenant_id, None)

    @asynccontextmanager
    async def turn(self, tenant_id: TenantId) -> AsyncIterator[None]:
        """Wait for one's turn and have it for the block; within `held`.

        One of each tenant at most waits for a slot, so the slots go round among tenants.
        """
        mine = self._of_tenant.setdefault(tenant_id, trio.CapacityLimiter(1))
        me = object()
        async with _taken(mine, me), _taken(self._slots, me):
            yield


@asynccontextmanager
async def _taken(limiter: trio.CapacityLimiter, who: object) -> AsyncIterator[None]:
    await limiter.acquire_on_behalf_of(who)
    try:
        yield
    finally:
        limiter.release_on_behalf_of(who)
