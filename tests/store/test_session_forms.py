"""Sessions write and read values in forms of their own, whatever a database was set to for other programs."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fe.store.postgres.db import Conn, DriverName, open_database
from fe.store.postgres.migrate import migrate, pending_names, verify
from fe.store.postgres.roles import FRONT, WORKER
from fe.store.postgres.session import connected_once
from tests.store.race import plain

#: Settings that other programs, or a server in another country, may have.
OTHERS = {
    "client_encoding": "LATIN1",
    "datestyle": "SQL, DMY",
    "default_transaction_isolation": "serializable",
    "intervalstyle": "iso_8601",
    "standard_conforming_strings": "off",
    "timezone": "America/Santo_Domingo",
}

_VALUES = (
    r"SELECT '2026-11-26T12:30Z'::timestamptz, interval '1 day 2 hours', '— 😀'::text, length('\d'), '\x01'::bytea"
)
_READ = [
    (
        datetime(2026, 11, 26, 12, 30, tzinfo=UTC),
        timedelta(days=1, hours=2),
        "— 😀",
        2,
        b"\x01",
    )
]
_ISOLATION = "SHOW transaction_isolation"


@pytest.fixture
def otherwise(dsn: str) -> str:
    """DSN of a database whose sessions begin with the settings of others."""
    with plain(dsn) as conn:
        (name,) = conn.execute("SELECT current_database()").fetchone() or ("",)
        for setting, value in OTHERS.items():
            conn.execute(f"ALTER DATABASE {name} SET {setting} = '{value}'".encode())
    return dsn


async def read(conn: Conn) -> tuple[Sequence[Any], Sequence[Any]]:
    values = await (await conn.execute(_VALUES)).fetchall()
    return values, await (await conn.execute(_ISOLATION)).fetchall()


@pytest.mark.parametrize("driver", ["trio", "trio-asyncio"])
async def test_a_session_of_the_service_says_its_own(otherwise: str, driver: DriverName) -> None:
    async with open_database(otherwise, max_size=1, driver=driver, role=FRONT) as db:
        assert await db.run(read) == (_READ, [("read committed",)])


def test_a_look_at_the_start_and_a_migration_say_their_own(otherwise: str) -> None:
    with connected_once(otherwise) as conn:
        assert conn.execute(_VALUES.encode()).fetchall() == _READ
    verify(otherwise, FRONT, WORKER)
    assert pending_names(otherwise) == []
    assert migrate(otherwise) == []
