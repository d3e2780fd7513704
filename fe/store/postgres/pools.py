"""The pools of a process: one for each role that it takes in the database, so that these share no connection."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

from fe.store.postgres.db import Database, DriverName, open_database

#: Connections of a process beside its pools: those on which it listens for notifications.
LISTENING = 3


@asynccontextmanager
async def open_pools(
    dsn: str,
    roles: Iterable[str],
    *,
    max_size: int,
    driver: DriverName,
    observe_wait: Callable[[float], None],
) -> AsyncIterator[dict[str, Database]]:
    """Open one pool for each role, and yield them by role; the parameters are those of `open_database`."""
    async with AsyncExitStack() as pools:
        yield {
            role: await pools.enter_async_context(
                open_database(dsn, max_size=max_size, driver=driver, role=role, observe_wait=observe_wait)
            )
            for role in roles
        }
