"""A link to Postgres that breaks at any moment is the database's condition to us, never a bug."""

import random
from collections import Counter

import pytest
import trio

from fe.store.postgres.db import Conn, Database, open_database
from fe.store.postgres.errors import DatabaseUnavailable
from tests.faults.proxied import proxied, through


async def ask(conn: Conn) -> None:
    await conn.execute("SELECT repeat('x', 20000), %s::text", ["y" * 2000])


@pytest.mark.parametrize("pause", [0.0, 0.02], ids=["busy", "often idle"])
async def test_connection_reset_at_any_moment_raises_unavailable(pause: float, dsn: str) -> None:
    chance, said = random.Random(1), Counter[str]()

    async def go_on_asking(db: Database, over: trio.Event) -> None:
        while not over.is_set():
            try:
                await db.run(ask)
            except DatabaseUnavailable as error:
                said[str(error)] += 1
            await trio.sleep(chance.uniform(0, pause))

    async with (
        proxied(dsn) as (proxy, _),
        open_database(through(dsn, proxy.port), max_size=4) as db,
        trio.open_nursery() as nursery,
    ):
        over = trio.Event()
        for _ in range(6):
            nursery.start_soon(go_on_asking, db, over)
        for _ in range(100):
            await trio.sleep(chance.uniform(0.001, 0.02))
            proxy.cut()
        over.set()

    assert said
