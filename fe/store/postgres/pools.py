"""The pools of a process: one for each role that it takes in the database, so that these share no connection."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

from fe.config import Settings
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.engine import engine_named

#: Connections of a process beside its pools: those on which it listens for notifications.
LISTENING = 3


@asynccontextmanager
async def open_pools(
    dsn: str,
    roles: Iterable[str],
    settings: Settings,
    *,
    observe_wait: Callable[[float], None],
) -> AsyncIterator[dict[str, Database]]:
    """Open one pool for each role, and yield them by role; the rest is as in `open_database`."""
    max_size, driver = settings.database_connections, settings.database_driver
    engine = engine_named(settings.database_engine)
    async with AsyncExitStack() as pools:
        yield {
            role: await pools.enter_async_context(
                open_database(
                    dsn, max_size=max_size, driver=driver, role=role, engine=engine, observe_wait=observe_wait
                )
            )
            for role in roles
        }
