"""Limits for reading and validating documents in this process.

A parsed document takes a dozen times its bytes, so it is parsed only in its turn: a few at once in the process, one at
once per tenant. Large ones are parsed in other processes (fe/offload/pool.py). The bytes that wait are limited per
tenant and together. Large documents are stored at a limited rate per tenant, because all tenants share the disk.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import trio

from fe.identifiers import TenantId
from fe.issuing.document_size import LARGE_BYTES
from fe.limits import ConcurrencyLimit, TokenBucket
from fe.monitoring.metrics import Metrics

#: Documents that are parsed and validated at once in this process.
AT_ONCE = 2
#: Bytes of documents that are parsed or wait for it, of all tenants and of each. Large ones wait longer and have as
#: much again for themselves, so that a few tenants with large documents leave room for small ones.
BYTES_IN_FLIGHT = 16 * 1024 * 1024
BYTES_OF_A_TENANT = 4 * 1024 * 1024
#: The share of each tenant once half of all bytes are taken: the size of the largest document.
BYTES_WHEN_CROWDED = 1024 * 1024
#: Bytes of large documents that a tenant stores: the burst, and the rate per second.
STORED_AT_ONCE = 4 * 1024 * 1024
STORED_A_SECOND = 512 * 1024


class DocumentSlots:
    """The limits of documents. One per process. All methods raise what `ConcurrencyLimit.held` does."""

    def __init__(self, metrics: Metrics) -> None:
        self._slots: ConcurrencyLimit[TenantId] = ConcurrencyLimit(each=1, together=AT_ONCE)
        self._apart: ConcurrencyLimit[TenantId] = ConcurrencyLimit(each=1)
        self._stored: TokenBucket[TenantId] = TokenBucket(at_once=STORED_AT_ONCE, a_second=STORED_A_SECOND)
        self._bytes, self._bytes_of_large = (
            ConcurrencyLimit[TenantId](
                "document_bytes",
                metrics,
                each=BYTES_OF_A_TENANT,
                together=BYTES_IN_FLIGHT,
                crowded=min(BYTES_WHEN_CROWDED, BYTES_OF_A_TENANT),
            )
            for _ in range(2)
        )

    @contextmanager
    def held(self, tenant_id: TenantId, size: int) -> Iterator[None]:
        """Hold `size` bytes for the block, which includes the wait for a turn."""
        with (self._bytes_of_large if size > LARGE_BYTES else self._bytes).held(tenant_id, size):
            yield

    @asynccontextmanager
    async def slot(self, tenant_id: TenantId, size: int) -> AsyncIterator[None]:
        """Wait for a turn in this process and have it for the block; hold `size` bytes (0: `held` holds them)."""
        with self.held(tenant_id, size):
            async with self._slots.turn(tenant_id):
                yield

    @asynccontextmanager
    async def turn(self, tenant_id: TenantId, size: int) -> AsyncIterator[None]:
        """Wait for the tenant's turn in another process, and hold `size` bytes of large documents, however few.

        It takes no slot of this process, since the turn there may take long.
        """
        with self._bytes_of_large.held(tenant_id, size):
            async with self._apart.turn(tenant_id):
                yield

    async def may_store(self, tenant_id: TenantId, size: int) -> None:
        """Wait, in the tenant's turn, until a large document may be stored: at most 8 s.

        Cancelled, nothing is counted.
        """
        await trio.sleep(self._stored.wait(tenant_id, trio.current_time()))
        self._stored.take(tenant_id, size, trio.current_time())
