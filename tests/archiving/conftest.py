from collections.abc import AsyncIterator

import pytest

from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import OPERATOR


@pytest.fixture
async def operator_db(dsn: str) -> AsyncIterator[Database]:
    """The database with the rights of operators, and no others."""
    async with open_database(dsn, role=OPERATOR) as database:
        yield database
