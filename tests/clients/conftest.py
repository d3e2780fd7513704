import pytest
import trio

from fe.store.postgres.db import Database
from tests.http.front import Running, start_front


@pytest.fixture
async def front(front_db: Database, nursery: trio.Nursery) -> Running:
    return await start_front(nursery, front_db)
