"""How a server that became silent is noticed: by the kernel, as it was told with the connection."""

import pytest
from psycopg.conninfo import make_conninfo

from fe.store.postgres.db import Conn, DriverName, open_database


async def parameters(conn: Conn) -> dict[str, str]:
    return conn.info.get_parameters()


@pytest.mark.parametrize("driver", ["trio", "trio-asyncio"])
async def test_the_kernel_is_told_to_notice_it_unless_the_address_says_otherwise(dsn: str, driver: DriverName) -> None:
    async with open_database(dsn, max_size=1, driver=driver) as db:
        told = await db.run(parameters)
    assert (told["tcp_user_timeout"], told["keepalives_idle"]) == ("15000", "10")

    async with open_database(make_conninfo(dsn, tcp_user_timeout=1000), max_size=1, driver=driver) as db:
        told = await db.run(parameters)
    assert (told["tcp_user_timeout"], told["keepalives_idle"]) == ("1000", "10")
