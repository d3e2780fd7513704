"""What a client can do to its connection, and that it does it to no one else's."""

from collections.abc import Mapping
from typing import Any

import pytest
import trio

from fe.authority.simulator.connection import serving
from fe.authority.simulator.exchange import RawAnswer, Receive, Send, write_answer
from tests.simulator.support import RECEPTION, RESULT, Running


def _address(simulator: Running) -> tuple[str, int]:
    host, _, port = simulator.at.ecf.removeprefix("http://").partition(":")
    return host, int(port)


async def test_malformed_chunks_end_their_own_connection_only(simulator: Running) -> None:
    """Each of these made Hypercorn 0.18 lose its whole server, sooner or later, when an app answered early."""
    authorization = (await simulator.authorized("testecf"))["Authorization"]
    broken = (
        f"POST /testecf/{RECEPTION} HTTP/1.1\r\nHost: x\r\nAuthorization: {authorization}\r\n"
        "Transfer-Encoding: chunked\r\n\r\n2\r\n{}XX0\r\n\r\n"
    ).encode()
    for _ in range(300):
        async with await trio.open_tcp_stream(*_address(simulator)) as stream:
            await stream.send_all(broken)
            with trio.move_on_after(2):
                await stream.receive_some()

    assert (await simulator.get(RESULT, trackid="x")).status_code == 200


async def _answers_without_reading(scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
    await write_answer(RawAnswer(401), send)


async def test_an_answer_before_the_body_was_read_does_not_end_the_listener(nursery: trio.Nursery) -> None:
    """With malformed chunks Hypercorn then writes from two tasks at once, which used to end the whole server."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    nursery.start_soon(trio.serve_listeners, serving(_answers_without_reading), [listener])
    broken = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}XX0\r\n\r\n"
    for _ in range(200):
        async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
            await stream.send_all(broken)
            with trio.move_on_after(2):
                await stream.receive_some()

    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        with trio.fail_after(2):
            assert (await stream.receive_some()).startswith(b"HTTP/1.1 401")


@pytest.mark.parametrize(
    "raw",
    [
        b"\x16\x03\x01\x00\x00",
        b"GET / HTTP/9.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc",
    ],
)
async def test_nonsense_ends_its_own_connection_only(simulator: Running, raw: bytes) -> None:
    async with await trio.open_tcp_stream(*_address(simulator)) as stream:
        await stream.send_all(raw)
        await stream.send_eof()
        with trio.move_on_after(2):
            await stream.receive_some()

    assert (await simulator.get(RESULT, trackid="x")).status_code == 200


async def test_a_client_that_does_not_read_does_not_hold_up_the_end(simulator: Running) -> None:
    async with await trio.open_tcp_stream(*_address(simulator)) as stream:
        with trio.move_on_after(1):
            while True:
                await stream.send_all(b"GET /x HTTP/1.1\r\nHost: x\r\n\r\n" * 100)

        with trio.fail_after(2):
            await simulator.stop()


async def test_an_idle_connection_is_kept_for_the_next_request(simulator: Running) -> None:
    request = b"GET /testecf/autenticacion/api/autenticacion/semilla HTTP/1.1\r\nHost: x\r\n\r\n"
    async with await trio.open_tcp_stream(*_address(simulator)) as stream:
        for _ in range(3):
            await stream.send_all(request)
            seen = b""
            with trio.fail_after(5):
                while b"</SemillaModel>" not in seen:
                    seen += await stream.receive_some()
            assert seen.startswith(b"HTTP/1.1 200")


async def test_a_body_that_is_too_large_is_413(simulator: Running) -> None:
    headers = await simulator.authorized("testecf")

    reply = await simulator.http.post(
        f"{simulator.at.ecf}/testecf/{RECEPTION}", content=bytes(10 * 1024 * 1024 + 1), headers=headers
    )

    assert reply.status_code == 413
