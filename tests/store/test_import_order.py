"""psycopg may be imported before us, whatever order a caller's own imports have."""

import subprocess
import sys

import pytest

_PROGRAM = """
import psycopg
import trio
from fe.store.postgres.db import open_database

async def main(dsn: str, driver: str) -> None:
    async with open_database(dsn, max_size=1, driver=driver) as db:
        async def work(conn):
            return await (await conn.execute("SELECT 42")).fetchone()
        print((await db.run(work))[0])

import sys
trio.run(main, *sys.argv[1:])
"""


@pytest.mark.parametrize("driver", ["trio", "trio-asyncio"])
def test_psycopg_may_be_imported_first(dsn: str, driver: str) -> None:
    ran = subprocess.run([sys.executable, "-c", _PROGRAM, dsn, driver], capture_output=True, text=True)

    assert (ran.stdout.strip(), ran.returncode) == ("42", 0), ran.stderr
