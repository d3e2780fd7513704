"""Whose list is read when: a tenant has a few of the connections to the database for its lists, and no more.

What a list costs grows with what its tenant has had: to count a month of a million receipts takes a second, and a
process has eight connections. Ninety such lists of one tenant had all of them, one after the other, and everybody
else's calls, of a millisecond each, waited for seconds. Here they wait behind each other.
"""

from collections.abc import Awaitable, Callable
from typing import Concatenate, ParamSpec, TypeVar

from fe.http.limits.shares import RETRY_WHEN_FULL, too_many_requests
from fe.identifiers import TenantId
from fe.monitoring.metrics import Metrics
from fe.offload.pool import FairSlots, NoSlot
from fe.store.postgres.db import Conn, Database

P = ParamSpec("P")
T = TypeVar("T")

#: Lists of one tenant that are read at once, each on a connection, and how long the others wait, in seconds: as long as
#: whoever waits for a connection.
AT_ONCE = 2
PATIENCE = 5.0


class TenantLists:
    """Reads lists: of submissions, of received documents, of deliveries. One per pool of connections."""

    def __init__(self, db: Database, metrics: Metrics) -> None:
        self._db = db
        self._metrics = metrics
        self._turns: FairSlots[TenantId] = FairSlots(of_one=AT_ONCE)

    async def read(
        self,
        tenant_id: TenantId,
        work: Callable[Concatenate[Conn, TenantId, P], Awaitable[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `work(conn, tenant_id, ...)` as `Database.run_for` does, when it is the tenant's turn.

        Raises ApiError (429) when that does not come in time.
        """
        try:
            async with self._turns.of(tenant_id, within=PATIENCE):
                return await self._db.run_for(tenant_id, work, *args, **kwargs)
        except NoSlot:
            self._metrics.share_refused.labels("tenant_lists").inc()
            raise too_many_requests(RETRY_WHEN_FULL) from None
