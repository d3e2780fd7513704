"""Databases with a long history, and counts of the rows that a piece of work reads in them."""

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

from fe.identifiers import TenantId
from fe.store.postgres.db import Conn


def make_grown(postgres: str, template: str, statements: Sequence[str], now: datetime, **values: object) -> str:
    """Copy the migrated database and fill the copy with what four months leave; return its DSN."""
    name = f"grown_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(postgres, autocommit=True) as conn:
        conn.execute(f"CREATE DATABASE {name} TEMPLATE {template}".encode())
    dsn = make_conninfo(postgres, dbname=name)
    with psycopg.connect(dsn, autocommit=True) as conn:
        for month in range(4):
            conn.execute("SELECT ensure_month(%s)", (now - timedelta(days=30 * month),))
        fill(conn, statements, {**values, "now": now})
    return dsn


def fill(conn: psycopg.Connection[Any], statements: Sequence[str], values: Mapping[str, object]) -> None:
    """Execute statements, with values where they name any."""
    for statement in statements:
        conn.execute(statement.encode(), values if "%(" in statement else None)


async def count_reads(conn: Conn, tables: str) -> tuple[int, int]:
    """Rows that this transaction has read, by scan and by index, in tables whose name matches the pattern."""
    cursor = await conn.execute(
        "SELECT coalesce(sum(seq_tup_read), 0)::int, coalesce(sum(idx_tup_fetch), 0)::int"
        "  FROM pg_stat_xact_user_tables WHERE relname ~ %s",
        [tables],
    )
    ((by_scan, by_index),) = await cursor.fetchall()
    return by_scan, by_index


def counting(
    work: Callable[[Conn, TenantId], Awaitable[Any]], tables: str
) -> Callable[[Conn, TenantId], Awaitable[tuple[Any, int, int]]]:
    """The same work, which also returns the rows that it read by scan and by index in tables of such names."""

    async def measured(conn: Conn, tenant_id: TenantId) -> tuple[Any, int, int]:
        async with conn.transaction():
            await conn.execute("SET LOCAL plan_cache_mode = force_generic_plan")
            found = await work(conn, tenant_id)
            return found, *await count_reads(conn, tables)

    return measured
