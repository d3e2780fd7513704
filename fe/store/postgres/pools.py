"""The pools of a process: one for each role that it takes in the database, so that these share no connection."""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

from fe.config import Settings
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.engine import Engine
from fe.store.postgres.roles import WORKER

#: Connections of a process beside its pools: those on which it listens for notifications.
LISTENING = 3
#: Connections to the node that a process is near: one for each stage of a submission's.
CLAIMING = 4
#: Beside each pool with a cluster: by it the nodes are asked whether they answer, when the pool's may all wait for one.
ASKING = 1


@asynccontextmanager
async def open_pools(
    dsn: str,
    roles: Iterable[str],
    settings: Settings,
    engine: Engine,
    *,
    observe_wait: Callable[[float], None],
) -> AsyncIterator[dict[str, Database]]:
    """Open one pool for each role, and yield them by role; the rest is as in `open_database`."""
    max_size, driver = settings.database_connections, settings.database_driver
    async with AsyncExitStack() as pools:
        yield {
            role: await pools.enter_async_context(
                open_database(
                    dsn, max_size=max_size, driver=driver, role=role, engine=engine, observe_wait=observe_wait
                )
            )
            for role in roles
        }


@asynccontextmanager
async def open_near(settings: Settings, roles: Iterable[str], engine: Engine) -> AsyncIterator[Database | None]:
    """Open the pool of the node that this process claims from, if it is told to be near one and works.

    A claim holds a connection of it for one statement, and each stage claims one at a time.
    """
    if settings.database_near is None or WORKER not in roles:
        yield None
        return
    async with open_database(
        settings.database_near,
        max_size=CLAIMING,
        driver=settings.database_driver,
        role=WORKER,
        engine=engine,
    ) as node:
        yield node
