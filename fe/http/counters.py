"""Counts of requests, kept in memory and written down every few seconds and at shutdown."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

import structlog
import trio

from fe.clock import Clock
from fe.http.calls import Caller
from fe.identifiers import ApiKeyId, TenantId
from fe.process import failpoints
from fe.store.postgres.db import Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE
from fe.store.records import request_counts
from fe.store.records.request_counts import CountKey, KeyUse, RequestCount

FLUSH_SECONDS = 5.0

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Batch:
    number: int
    counts: dict[CountKey, RequestCount]
    uses: Sequence[KeyUse]


class Counters:
    """Counts the calls of each caller. One per process; a crash loses at most the last few seconds.

    Nothing is counted twice: a batch whose commit is in doubt is written again unchanged, under the same number, before
    any other.
    """

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._process = uuid4()
        self._counts: dict[CountKey, RequestCount] = {}
        self._uses: dict[tuple[TenantId, ApiKeyId], datetime] = {}
        self._batches = 0
        #: Handed to the database, which has not said yet that it has it.
        self._unsure: _Batch | None = None
        self._flushing = trio.Lock()

    def count(self, caller: Caller, status: int, bytes_in: int, bytes_out: int) -> None:
        """Count one request that a caller made."""
        now = self._clock()
        key = (caller.tenant_id, caller.environment, now.date())
        count = self._counts.get(key)
        if count is None:
            count = self._counts[key] = RequestCount()
        if status < 400:
            count.succeeded += 1
        else:
            count.failed += 1
        count.bytes_in += bytes_in
        count.bytes_out += bytes_out
        self._uses[caller.tenant_id, caller.api_key_id] = now

    async def run(self) -> None:
        """Write down every few seconds, until cancelled."""
        while True:
            await trio.sleep(FLUSH_SECONDS)
            await self.flush()

    async def flush(self) -> None:
        """Store the counters. Those that cannot be stored now are kept for the next time."""
        async with self._flushing:
            try:
                if self._unsure is not None:
                    await self._write(self._unsure)
                if self._counts:
                    await self._write(self._next_batch())
            except ANY_OF_THE_DATABASE as error:
                _log.warning("request counts were not written, and are kept", error=error)

    def _next_batch(self) -> _Batch:
        self._batches += 1
        uses = [(tenant_id, key, at) for (tenant_id, key), at in self._uses.items()]
        batch = self._unsure = _Batch(self._batches, self._counts, uses)
        self._counts, self._uses = {}, {}
        return batch

    async def _write(self, batch: _Batch) -> None:
        failpoints.reached("counting")
        await self._db.run(request_counts.flush, self._process, batch.number, batch.counts, batch.uses)
        failpoints.reached("counted")
        self._unsure = None
