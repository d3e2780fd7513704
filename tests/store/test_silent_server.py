"""How a server that became silent is noticed: by the kernel, as it was told with the connection; and what is not
waited for where others answer."""

import socket
import threading
from typing import NoReturn

import pytest
import trio
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from fe.store.postgres.db import Conn, DriverName, open_database
from fe.store.postgres.errors import DatabaseUnavailable
from tests.waiting import PATIENCE, until


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


async def test_an_address_that_is_silent_leaves_those_behind_it_their_time(dsn: str) -> None:
    named = conninfo_to_dict(dsn)
    # The kernel accepts the connection and no server answers: a hung machine, or a firewall that drops packets.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        hosts = f"127.0.0.1,{named['host']}"
        ports = f"{silent.getsockname()[1]},{named.get('port', 5432)}"
        async with open_database(make_conninfo(dsn, host=hosts, port=ports), max_size=1, patience=4) as db:
            assert (await db.run(parameters))["host"] == named["host"]


@pytest.mark.parametrize("driver", ["trio", "trio-asyncio"])
async def test_while_a_name_server_does_not_answer_everybody_else_is_served(
    driver: DriverName, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, answers = threading.Event(), threading.Event()
    waited: list[bool] = []

    def ask(*_: object, **__: object) -> NoReturn:
        asked.set()
        waited.append(answers.wait(PATIENCE / 4))
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    monkeypatch.setattr(socket, "getaddrinfo", ask)
    async with open_database("host=database.example user=fe", max_size=1, patience=1, driver=driver) as db:
        async with trio.open_nursery() as nursery:

            async def use() -> None:
                with pytest.raises(DatabaseUnavailable):
                    await db.run(parameters)

            nursery.start_soon(use)
            await until(asked.is_set)
            answers.set()
        await until(lambda: waited)
    assert waited[0], "the event loop stood still while the name was looked up"
