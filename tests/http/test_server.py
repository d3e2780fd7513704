"""Where the front listens."""

import os
import socket

import httpx
import pytest
import trio

from fe.config import load_settings
from fe.http.app import create_app
from fe.http.server.listener import serve_http
from fe.process.workers import BindError, open_sockets
from fe.store.postgres.db import Database
from tests.http.front import Running, start_front
from tests.plain_http import NO_TLS
from tests.waiting import PATIENCE, until


@pytest.mark.parametrize("bind", ["127.0.0.1:0", "[::1]:0"])
def test_an_address_with_a_port_is_listened_on(bind: str) -> None:
    (listener,) = open_sockets(bind)
    with listener:
        assert listener.getsockname()[1] > 0
        assert listener.get_inheritable()


@pytest.mark.parametrize(
    "bind", ["127.0.0.1", "127.0.0.1:http", "127.0.0.1:99999", "203.0.113.7:0", "fd://x", ":::", ""]
)
def test_an_address_that_cannot_be_had_is_named(bind: str) -> None:
    with pytest.raises(BindError, match="cannot listen on"):
        open_sockets(bind)


def test_an_address_in_use_is_named() -> None:
    with open_sockets("127.0.0.1:0")[0] as taken, pytest.raises(BindError, match="Address already in use"):
        open_sockets(f"127.0.0.1:{taken.getsockname()[1]}")


async def test_several_fronts_share_one_inherited_socket(front_db: Database, nursery: trio.Nursery) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    fronts: list[Running] = []
    ended: list[int] = []
    for _ in range(2):
        front = await start_front(nursery, front_db)  # for its dependencies; it also listens on a port of its own
        fronts.append(front)
        bind = f"fd://{os.dup(listener.fileno())}"

        async def serve(
            task_status: trio.TaskStatus[list[socket.socket]], front: Running = front, bind: str = bind
        ) -> None:
            settings = load_settings(grace_seconds=1)
            app = create_app(front.deps)
            await serve_http(app, bind, settings=settings, shutdown=front.shutdown, task_status=task_status)
            ended.append(front.port)

        await nursery.start(serve)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}/healthz"
    listener.close()

    async def call() -> None:
        async with httpx.AsyncClient(verify=NO_TLS, trust_env=False, timeout=PATIENCE) as client:
            assert (await client.get(url)).status_code == 200

    for _ in range(20):
        await call()
    fronts[0].shutdown.set()
    await until(lambda: ended == [fronts[0].port])
    for _ in range(20):
        await call()  # the other one takes them all
