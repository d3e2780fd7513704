from collections.abc import AsyncIterator

import pytest
import trio

from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import RECEPTION
from tests.receiving.supplier import Running, start_reception


@pytest.fixture
async def reception_db(dsn: str) -> AsyncIterator[Database]:
    """The database with the rights of reception, and no others: then a right that is missing shows."""
    async with open_database(dsn, role=RECEPTION) as database:
        yield database


@pytest.fixture
async def reception(nursery: trio.Nursery, db: Database, reception_db: Database) -> Running:
    return await start_reception(nursery, db, reception_db)
