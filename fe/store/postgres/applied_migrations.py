"""The database's own record of migrations: which were applied, and which releases each of them suits."""

from dataclasses import dataclass

import psycopg

from fe.store.postgres.db import Conn


@dataclass(frozen=True, slots=True)
class Applied:
    """A row of the record: `works_from` is the newest migration of the oldest release that this one suits."""

    number: int
    digest: bytes
    works_from: int


# Whether there is a record, and whether it has its former name, which databases older than the baseline may have.
_FIND = "SELECT to_regclass('applied_migrations') IS NOT NULL, to_regclass('schema_migrations') IS NOT NULL"
_READ = "SELECT number, digest, works_from FROM applied_migrations ORDER BY number"
_READ_FIRST = "SELECT number, digest, number AS works_from FROM schema_migrations ORDER BY number"

_MAKE = """
    CREATE TABLE applied_migrations (
        number int PRIMARY KEY,
        name text NOT NULL,
        digest bytea NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now(),
        works_from int NOT NULL
    )
"""
_ENTER = "INSERT INTO applied_migrations (number, name, digest, works_from) VALUES (%s, %s, %s, %s)"


async def read(conn: Conn) -> list[Applied]:
    """Read the record, in order; empty where there is none."""
    found = await (await conn.execute(_FIND)).fetchone()
    assert found is not None
    is_there, has_first_name = found
    if is_there:
        cursor = await conn.execute(_READ)
    elif has_first_name:
        cursor = await conn.execute(_READ_FIRST)
    else:
        return []
    return [Applied(*row) for row in await cursor.fetchall()]


def read_blocking(conn: psycopg.Connection) -> list[Applied]:
    """Do as `read` does, outside Trio."""
    is_there, has_first_name = _found(conn)
    if is_there:
        return [Applied(*row) for row in conn.execute(_READ)]
    return [Applied(*row) for row in conn.execute(_READ_FIRST)] if has_first_name else []


def make(conn: psycopg.Connection) -> None:
    """Make the record unless there is one; one at a time."""
    if not any(_found(conn)):
        conn.execute(_MAKE)


def enter(conn: psycopg.Connection, number: int, name: str, digest: bytes, works_from: int) -> None:
    """Write a row, in the transaction that applies the migration."""
    conn.execute(_ENTER, (number, name, digest, works_from))


def _found(conn: psycopg.Connection) -> tuple[bool, bool]:
    found: tuple[bool, bool] | None = conn.execute(_FIND).fetchone()
    assert found is not None
    return found
