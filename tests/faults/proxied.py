"""The tests' own database behind a fault proxy."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
import trio
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.faults.proxy import FaultProxy


@asynccontextmanager
async def proxied(dsn: str) -> AsyncIterator[tuple[FaultProxy, psycopg.Connection]]:
    """A proxy, and a connection through it."""
    where = conninfo_to_dict(dsn)
    async with trio.open_nursery() as nursery:
        upstream = await _tcp_front(nursery, f"{where['host']}/.s.PGSQL.5432")
        proxy = FaultProxy(upstream)
        await nursery.start(proxy.serve)
        conn = await trio.to_thread.run_sync(lambda: psycopg.connect(through(dsn, proxy.port), autocommit=True))
        try:
            yield proxy, conn
        finally:
            nursery.cancel_scope.cancel()
            conn.close()


def through(dsn: str, port: int) -> str:
    """The same database by way of this port."""
    return make_conninfo(dsn, host="127.0.0.1", port=port, sslmode="disable", gssencmode="disable")


async def _tcp_front(nursery: trio.Nursery, path: str) -> int:
    """The tests' server listens on a socket of the file system only: give it a port."""

    async def handle(client: trio.SocketStream) -> None:
        server = await trio.open_unix_socket(path)
        async with client, server, trio.open_nursery() as both:

            async def pump(source: trio.SocketStream, sink: trio.SocketStream) -> None:
                try:
                    while data := await source.receive_some(65536):
                        await sink.send_all(data)
                except (trio.BrokenResourceError, trio.ClosedResourceError):
                    pass
                both.cancel_scope.cancel()

            both.start_soon(pump, client, server)
            both.start_soon(pump, server, client)

    listeners = await nursery.start(trio.serve_tcp, handle, 0)
    port: int = listeners[0].socket.getsockname()[1]
    return port
