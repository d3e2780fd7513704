"""A database that the examples of a module share: each has a tenant of its own."""

import secrets
from collections.abc import Iterator

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo


@pytest.fixture(scope="module")
def shared_dsn(postgres: str, template: str) -> Iterator[str]:
    name = f"m_{secrets.token_hex(6)}"
    with psycopg.connect(postgres, autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(template)))
        yield make_conninfo(postgres, dbname=name)
        conn.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
