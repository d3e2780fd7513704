"""Fixtures shared by all tests: a real Postgres, migrated once, and a fresh copy of it for each test."""

import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from fe.store.db import Database, open_database
from fe.store.embedded import start_embedded
from fe.store.migrate import migrate


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> str:
    """DSN of a server of our own, which ends with the test run."""
    folder: Path = tmp_path_factory.mktemp("postgres") / "data"
    return start_embedded(folder, keep=False)


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
    """An open database for this test alone."""
    async with open_database(dsn) as database:
        yield database
