"""Waiting in tests: for events, not for time to pass.

A test waits for an event, or polls a condition, and gives up only after a time that no busy machine needs.
"""

from collections.abc import Callable

import httpx
import trio

from fe.store.postgres.db import Database
from tests import citus
from tests.factories.tenants import rows

#: Seconds after which something is wrong. A limit, never a measure: more of it costs nothing where all is well.
PATIENCE = 120.0
#: Of a client that pauses: a connection that was idle for long is not used again, since the service may be about to
#: close it, and a POST is not repeated by itself.
PAUSING = httpx.Limits(keepalive_expiry=1.0)

#: Sessions that wait for a lock; on a cluster they are those that the nodes have with each other.
_LOCKED, _LOCKED_ON_A_NODE = (
    f"SELECT 1 AS n FROM {view} WHERE datname = current_database() AND wait_event_type = 'Lock'"
    for view in ("pg_stat_activity", "citus_stat_activity")
)


async def until(holds: Callable[[], object]) -> None:
    """Ask until the answer is yes, for what rings no bell: a gauge, a flag of another thread, a row."""
    with trio.fail_after(PATIENCE):
        while not holds():  # noqa: ASYNC110  (it rings no bell)
            await trio.sleep(0.01)


async def until_listened_to(db: Database, channel: str, by: int = 1) -> None:
    """Wait until `by` sessions listen to `channel` in this database: earlier notifications would be lost."""
    listening = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query = %(listen)s"
    with trio.fail_after(PATIENCE):
        while len(await rows(db, listening, listen=f'LISTEN "{channel}"')) < by:  # noqa: ASYNC110  (another's session)
            await trio.sleep(0.01)


async def until_waited_for(db: Database, done: Callable[[], object] = bool) -> None:
    """Wait until a session of this database waits for a lock, on a cluster on any node, or until `done`."""
    waiting = _LOCKED_ON_A_NODE if citus.wanted() else _LOCKED
    with trio.fail_after(PATIENCE):
        while not (done() or await rows(db, waiting)):  # noqa: ASYNC110  (only the server knows)
            await trio.sleep(0.01)
