"""Partition maintenance: creates the partitions of coming months, and deletes small rows that have expired."""

from datetime import datetime

import structlog
import trio

from fe.clock import Clock
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE
from fe.store.postgres.migrate import coming_months
from fe.store.records import request_log, service_states, spent_seeds

_log = structlog.get_logger(__name__)

_CHORES_EVERY = 3600.0
#: All statements queue behind one that waits for a table lock, so this wait is short. Partitions are made long before
#: they are needed; while a dump locks the tables, it is retried every hour.
_LOCK_PATIENCE = "250ms"


async def maintain_partitions(db: Database, clock: Clock) -> None:
    """Create the partitions of coming months; delete spent seeds, old failed requests and states: now and hourly."""
    while True:
        try:
            for month in coming_months(clock()):
                await db.transact(ensure_month, month)
            while await db.run(spent_seeds.forget):
                pass
            while await db.run(request_log.forget):
                pass
            await db.run(service_states.forget, clock())
        except ANY_OF_THE_DATABASE as error:
            _log.warning("housekeeping failed: partitions, spent seeds, request log", error=error)
        await trio.sleep(_CHORES_EVERY)


async def ensure_month(conn: Conn, moment: datetime) -> None:
    """Create a month's partitions if missing. Raises LockNotHad while the tables are locked."""
    await conn.execute("SELECT set_config('lock_timeout', %s, true)", (_LOCK_PATIENCE,))
    await conn.execute("SELECT ensure_month(%s)", (moment,))
