"""Fixtures shared by all tests: a real Postgres, migrated once, and a fresh copy of it for each test."""

import atexit
import secrets
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from fe.store.postgres.db import Database, open_database
from fe.store.postgres.migrate import migrate
from fe.store.postgres.roles import FRONT, WORKER
from tests.servers import chosen, start_server


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On another server than the usual one, run what needs a server: the rest would only say the same again."""
    if chosen() is None:
        return
    kept = [item for item in items if "postgres" in getattr(item, "fixturenames", ())]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


@pytest.fixture(scope="session")
def postgres() -> str:
    """DSN of a server of our own, which ends with the test run; FE_TEST_POSTGRES says which (tests/servers.py).

    Not under pytest's own temporary folder: as root the server runs as another user, and a second pytest that starts
    closes that folder to everybody else.
    """
    folder = Path(tempfile.mkdtemp(prefix="fe-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # runs after the server's own, which comes later
    dsn = start_server(folder)
    with psycopg.connect(dsn, autocommit=True) as conn:
        # Making a database a test would wait for the disk four times, and nothing here need outlive a power cut.
        conn.execute("ALTER SYSTEM SET fsync = off")
        conn.execute("SELECT pg_reload_conf()")
    return dsn


@pytest.fixture(scope="session")
def template(postgres: str) -> str:
    """Name of a migrated database that tests copy."""
    name = "fe_template"
    with psycopg.connect(postgres, autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    migrate(make_conninfo(postgres, dbname=name))
    return name


@pytest.fixture
def dsn(postgres: str, template: str) -> Iterator[str]:
    """DSN of a migrated database for this test alone."""
    name = f"t_{secrets.token_hex(6)}"
    with psycopg.connect(postgres, autocommit=True) as conn:
        conn.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(
                sql.Identifier(name), sql.Identifier(template)
            )
        )
        yield make_conninfo(postgres, dbname=name)
        conn.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
async def db(dsn: str) -> AsyncIterator[Database]:
    """An open database for this test alone, as its owner: for preparing data, and for looking behind the curtain."""
    async with open_database(dsn) as database:
        yield database


@pytest.fixture
async def front_db(dsn: str) -> AsyncIterator[Database]:
    """The same database with the rights of the HTTP front."""
    async with open_database(dsn, role=FRONT) as database:
        yield database


@pytest.fixture
async def worker_db(dsn: str) -> AsyncIterator[Database]:
    """The same database with the rights of the actors."""
    async with open_database(dsn, role=WORKER) as database:
        yield database
