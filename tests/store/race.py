"""Racers that start together: each has its own connection and waits at a barrier before it acts."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import psycopg
import trio

from fe.store.postgres.db import Conn, open_database

T = TypeVar("T")


async def race(dsn: str, racers: int, act: Callable[[Conn, int], Awaitable[T]]) -> list[T | BaseException]:
    """Let `racers` connections run `act(conn, number)` at the same moment; what each came to, errors included."""
    results: list[T | BaseException] = []
    async with open_database(dsn, max_size=racers) as db, trio.open_nursery() as nursery:
        at_the_line = trio.Event()
        ready = 0

        async def warm(conn: Conn) -> None:
            await conn.execute("SELECT pg_sleep(0.05)")

        async def run(number: int) -> None:
            nonlocal ready
            await db.run(warm)  # all connections are open, and each racer has had one
            ready += 1
            if ready == racers:
                at_the_line.set()
            await at_the_line.wait()
            try:
                results.append(await db.run(act, number))
            except Exception as error:
                results.append(error)

        for number in range(racers):
            nursery.start_soon(run, number)
    return results


def plain(dsn: str) -> psycopg.Connection:
    """A connection beside the pool, to look at or to disturb the server with."""
    return psycopg.connect(dsn, autocommit=True)
