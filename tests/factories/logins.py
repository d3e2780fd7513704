"""Logins that are no superusers, and databases of theirs."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.conninfo import make_conninfo


@contextmanager
def login(server: str, *options: str) -> Iterator[str]:
    """A login of its own; its name."""
    name = f"login_{secrets.token_hex(4)}"
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f"CREATE ROLE {name} LOGIN {' '.join(options)}".encode())
        try:
            yield name
        finally:
            conn.execute(f"DROP ROLE {name}".encode())


@contextmanager
def database_of(server: str, owner: str) -> Iterator[str]:
    """DSN of an empty database for its owner, who is dropped with all that is theirs."""
    name = f"own_{secrets.token_hex(6)}"
    with psycopg.connect(server, autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE {name} OWNER {owner}".encode())
        try:
            yield make_conninfo(server, dbname=name, user=owner)
        finally:
            conn.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())
