from collections.abc import AsyncIterator

import pytest
import trio

from fe.identifiers import TenantId
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import OPERATOR, PORTAL
from tests.http.front import make_tenant
from tests.portal.running import Browser, Running, start_portal
from tests.waiting import PATIENCE


@pytest.fixture
async def portal_db(dsn: str) -> AsyncIterator[Database]:
    """The database with the rights of the portal."""
    async with open_database(dsn, patience=PATIENCE, role=PORTAL) as database:
        yield database


@pytest.fixture
async def operator_db(dsn: str) -> AsyncIterator[Database]:
    """The database with the rights of operators."""
    async with open_database(dsn, patience=PATIENCE, role=OPERATOR) as database:
        yield database


@pytest.fixture
async def portal(nursery: trio.Nursery, db: Database, portal_db: Database, operator_db: Database) -> Running:
    return await start_portal(nursery, db, portal_db, operator_db)


@pytest.fixture
async def tenant(db: Database) -> TenantId:
    return await make_tenant(db)


@pytest.fixture
async def owner(portal: Running, tenant: TenantId) -> AsyncIterator[Browser]:
    """A browser in which an owner of the company has logged in; pages are in English."""
    async with portal.browser(await portal.person(tenant)) as browser:
        yield browser
