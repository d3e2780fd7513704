from collections.abc import AsyncIterator

import httpx
import pytest
import trio

from fe.identifiers import TenantId
from fe.store.postgres.db import Database
from tests.http.front import Key, Running, Streams, make_key, make_tenant, start_front


@pytest.fixture
async def front(front_db: Database, nursery: trio.Nursery) -> Running:
    return await start_front(nursery, front_db)


@pytest.fixture
async def tenant(db: Database) -> TenantId:
    return await make_tenant(db)


@pytest.fixture
async def key(db: Database, tenant: TenantId) -> Key:
    return await make_key(db, tenant)


@pytest.fixture
async def api(front: Running, key: Key) -> AsyncIterator[httpx.AsyncClient]:
    """A client that has logged in with all scopes."""
    async with front.client(await front.token(key)) as client:
        yield client


@pytest.fixture
async def streams() -> AsyncIterator[Streams]:
    """Bare connections, closed at the end of the test."""
    streams = Streams()
    yield streams
    with trio.CancelScope(shield=True):
        await streams.close()
