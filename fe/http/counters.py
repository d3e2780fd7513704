"""Counts of requests, kept in memory and written down every few seconds and at shutdown."""

from datetime import datetime
from functools import partial

import structlog
import trio

from fe.clock import Clock
from fe.http.calls import Caller
from fe.identifiers import ApiKeyId, TenantId
from fe.store import usage
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.usage import CountKey, RequestCount

FLUSH_SECONDS = 5.0

_log = structlog.get_logger(__name__)


class Counters:
    """Counts what callers did. One per process; a crash loses what was not written down, a few seconds at most."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._counts: dict[CountKey, RequestCount] = {}
        self._uses: dict[tuple[TenantId, ApiKeyId], datetime] = {}

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
        """Write down what there is. What cannot be written now is kept for the next time."""
        if not self._counts:
            return
        counts, self._counts = self._counts, {}
        uses, self._uses = self._uses, {}
        try:
            await self._db.transact(partial(_write, counts=counts, uses=uses))
        except DatabaseUnavailable as error:
            _log.warning("request counts were not written, and are kept", error=error)
            for key, count in counts.items():
                kept = self._counts.setdefault(key, RequestCount())
                kept.succeeded += count.succeeded
                kept.failed += count.failed
                kept.bytes_in += count.bytes_in
                kept.bytes_out += count.bytes_out
            self._uses = uses | self._uses


async def _write(
    conn: Conn, *, counts: dict[CountKey, RequestCount], uses: dict[tuple[TenantId, ApiKeyId], datetime]
) -> None:
    await usage.add_requests(conn, counts)
    await usage.keys_used(conn, [(tenant_id, key, at) for (tenant_id, key), at in uses.items()])
