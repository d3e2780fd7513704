"""Misbehaving clients, which affect their own connection alone."""

import contextlib

import pytest
import trio

from fe.simulator.connection import FaultyConnection, serving
from fe.simulator.exchange import RawAnswer, RawRequest
from tests.simulator.support import RECEPTION, RESULT, Running
from tests.waiting import PATIENCE


def _address(simulator: Running) -> tuple[str, int]:
    host, _, port = simulator.at.ecf.removeprefix("http://").partition(":")
    return host, int(port)


async def test_malformed_chunks_end_their_own_connection_only(simulator: Running) -> None:
    authorization = (await simulator.authorized("testecf"))["Authorization"]
    broken = (
        f"POST /testecf/{RECEPTION} HTTP/1.1\r\nHost: x\r\nAuthorization: {authorization}\r\n"
        "Transfer-Encoding: chunked\r\n\r\n2\r\n{}XX0\r\n\r\n"
    ).encode()
    for _ in range(300):
        async with await trio.open_tcp_stream(*_address(simulator)) as stream:
            await stream.send_all(broken)
            with trio.fail_after(PATIENCE), contextlib.suppress(trio.BrokenResourceError):
                while await stream.receive_some():
                    pass

    assert (await simulator.get(RESULT, trackid="x")).status_code == 200


async def _breaks(request: RawRequest, connection: FaultyConnection) -> RawAnswer:
    if request.path == "/broken":
        raise ZeroDivisionError
    return RawAnswer(401)


async def test_broken_client_does_not_end_the_listener(nursery: trio.Nursery) -> None:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listener.socket.getsockname()[1]
    nursery.start_soon(trio.serve_listeners, serving(_breaks), [listener])
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(b"GET /broken HTTP/1.1\r\nHost: x\r\n\r\n")
        with trio.fail_after(PATIENCE):
            assert await stream.receive_some() == b""

    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        with trio.fail_after(PATIENCE):
            assert (await stream.receive_some()).startswith(b"HTTP/1.1 401")


async def _read_all(stream: trio.SocketStream) -> bytes:
    seen = b""
    with trio.fail_after(PATIENCE):
        while piece := await stream.receive_some():
            seen += piece
    return seen


async def test_bytes_that_are_not_http_get_400_and_a_close(simulator: Running) -> None:
    async with await trio.open_tcp_stream(*_address(simulator)) as stream:
        await stream.send_all(b"GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n")

        assert (await _read_all(stream)).startswith(b"HTTP/1.1 400")


async def test_a_head_without_end_is_not_read_to_its_end(simulator: Running) -> None:
    async with await trio.open_tcp_stream(*_address(simulator)) as stream:
        await stream.send_all(b"GET / HTTP/1.1\r\n" + b"X-Filler: 1234567890\r\n" * 5_000)

        with contextlib.suppress(trio.BrokenResourceError):  # it ends, with a 400 or with a reset for what it left
            assert (await _read_all(stream))[:12] == b"HTTP/1.1 400"
    assert (await simulator.get(RESULT, trackid="x")).status_code == 200


async def test_expect_continue_is_answered(simulator: Running) -> None:
    head = b"POST /nowhere HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    async with await trio.open_tcp_stream(*_address(simulator)) as stream:
        await stream.send_all(head)
        with trio.fail_after(PATIENCE):
            assert await stream.receive_some() == b"HTTP/1.1 100 Continue\r\n\r\n"
            await stream.send_all(b"ab")
            assert (await stream.receive_some()).startswith(b"HTTP/1.1 404")


async def test_requests_sent_at_once_are_answered_in_their_order_until_one_ends_the_connection(
    simulator: Running,
) -> None:
    request = b"HEAD /%b HTTP/1.1\r\nHost: x\r\n%b\r\n"
    async with await trio.open_tcp_stream(*_address(simulator)) as stream:
        await stream.send_all(
            request % (b"a", b"") + request % (b"b", b"Connection: close\r\n") + request % (b"c", b"")
        )

        seen = await _read_all(stream)

    assert seen.count(b"HTTP/1.1 404") == 2
    assert seen.endswith(b"connection: close\r\n\r\n")


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

        with trio.fail_after(PATIENCE):
            await simulator.stop()
        assert simulator.stopped.is_set()


async def test_an_idle_connection_is_kept_for_the_next_request(simulator: Running) -> None:
    request = b"GET /testecf/autenticacion/api/autenticacion/semilla HTTP/1.1\r\nHost: x\r\n\r\n"
    async with await trio.open_tcp_stream(*_address(simulator)) as stream:
        for _ in range(3):
            await stream.send_all(request)
            seen = b""
            with trio.fail_after(PATIENCE):
                while b"</SemillaModel>" not in seen:
                    seen += await stream.receive_some()
            assert seen.startswith(b"HTTP/1.1 200")


async def test_a_body_that_is_too_large_is_413(simulator: Running) -> None:
    headers = await simulator.authorized("testecf")

    reply = await simulator.http.post(
        f"{simulator.at.ecf}/testecf/{RECEPTION}", content=bytes(10 * 1024 * 1024 + 1), headers=headers
    )

    assert reply.status_code == 413
