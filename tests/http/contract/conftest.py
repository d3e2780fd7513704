"""The contract holds on the fast path and through Quart: every test that has a front runs once with each."""

from functools import partial

import pytest
import trio

from fe.store.postgres.db import Database
from tests.http.front import Running, Start, start_front


@pytest.fixture(params=[True, False], ids=["fast path", "Quart"])
def start(request: pytest.FixtureRequest) -> Start:
    """Start a front as `start_front` does."""
    return partial(start_front, fast_path=request.param)


@pytest.fixture
async def front(front_db: Database, nursery: trio.Nursery, start: Start) -> Running:
    return await start(nursery, front_db)
