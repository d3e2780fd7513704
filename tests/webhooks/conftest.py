from collections.abc import AsyncIterator

import pytest

from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import RECEPTION
from tests.webhooks.receiver import Receiver, receiving


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as one:
        yield one


@pytest.fixture
async def reception_db(dsn: str) -> AsyncIterator[Database]:
    """The database with the rights of reception, and no others: then a right that is missing shows."""
    async with open_database(dsn, role=RECEPTION) as database:
        yield database
