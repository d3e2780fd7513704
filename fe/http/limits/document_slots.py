"""Turns for reading and validating documents in this process.

A parsed document takes a dozen times its bytes, so it is parsed only when its turn to be validated has come: a few at
once in the process and one at once of each tenant. Large ones go to other processes (fe/offload/pool.py). The bytes
that wait are limited for each tenant and for all together. Large documents are stored at a limited rate per tenant,
because they share the disk with everybody's small ones.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import trio

from fe.http.limits.shares import Shares
from fe.identifiers import TenantId
from fe.issuing.large import LARGE_BYTES
from fe.limits import Allowances
from fe.monitoring.metrics import Metrics
from fe.offload.pool import FairSlots

#: Documents that are parsed and validated at once in this process.
AT_ONCE = 2
#: Bytes of documents that are in hand for it, waiting included: of all tenants, and of each. As much again of large
#: ones, which wait longer: a few tenants that send nothing else leave small ones their room.
BYTES_IN_FLIGHT = 16 * 1024 * 1024
BYTES_OF_A_TENANT = 4 * 1024 * 1024
#: Of each once half of all are taken: as much as the largest document, so that many tenants have one each.
BYTES_WHEN_CROWDED = 1024 * 1024
#: Of large documents that are stored: what a tenant may hand in at once, and then in a second.
STORED_AT_ONCE = 4 * 1024 * 1024
STORED_A_SECOND = 512 * 1024


class DocumentSlots:
    """Gives turns on two slots. One per process."""

    def __init__(self, metrics: Metrics) -> None:
        self._slots: FairSlots[TenantId] = FairSlots(AT_ONCE)
        self._apart: FairSlots[TenantId] = FairSlots()
        self._stored: Allowances[TenantId] = Allowances(at_once=STORED_AT_ONCE, a_second=STORED_A_SECOND)
        self._bytes: Shares[TenantId] = self._bytes_in_hand(metrics)
        self._bytes_of_large: Shares[TenantId] = self._bytes_in_hand(metrics)

    @staticmethod
    def _bytes_in_hand(metrics: Metrics) -> Shares[TenantId]:
        return Shares(
            "document_bytes",
            metrics,
            each=BYTES_OF_A_TENANT,
            together=BYTES_IN_FLIGHT,
            crowded=min(BYTES_WHEN_CROWDED, BYTES_OF_A_TENANT),
        )

    @contextmanager
    def held(self, tenant_id: TenantId, size: int) -> Iterator[None]:
        """Count a document of so many bytes, its waiting included, for as long as the block runs.

        Raises ApiError: 429 where the tenant has enough in hand, 503 where all together have.
        """
        with (self._bytes_of_large if size > LARGE_BYTES else self._bytes).held(tenant_id, size):
            yield

    @asynccontextmanager
    async def slot(self, tenant_id: TenantId, size: int) -> AsyncIterator[None]:
        """Wait for one's turn and have it for the block, `size` bytes in hand (0: they are counted already, by `held`).

        One of each tenant at most waits for a slot, so the slots go round among tenants. Raises as `held` does.
        """
        with self.held(tenant_id, size):
            async with self._slots.of(tenant_id):
                yield

    @asynccontextmanager
    async def turn(self, tenant_id: TenantId, size: int) -> AsyncIterator[None]:
        """The same for what is done apart: one at once of each tenant, and in none of the slots, for its turn there may
        come late. Its bytes are those of large documents, however few they are: it may have many lines."""
        with self._bytes_of_large.held(tenant_id, size):
            async with self._apart.of(tenant_id):
                yield

    async def may_store(self, tenant_id: TenantId, size: int) -> None:
        """Wait until a large document of so many bytes may be stored for the tenant, in the turn it has: 8 s at most,
        with what may be in hand before it. Cancelled, nothing was counted."""
        await trio.sleep(self._stored.wait(tenant_id, trio.current_time()))
        self._stored.take(tenant_id, size, trio.current_time())
