"""Attacks on the process with a socket and arbitrary bytes."""

import json
import os
import re
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress

import pytest
import trio
import trio.lowlevel

from fe.config import load_settings
from fe.http.app import PREFIX
from fe.http.server import listener
from fe.http.server.connection import PeerPatience
from fe.store.postgres.db import Database
from tests.http.front import Key, Running, Streams, body_of, make_key, make_tenant, start_front, structured
from tests.waiting import PATIENCE, until

HEAD = f"POST {PREFIX}/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n".encode()
LIVE = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"


async def answers_health(front: Running) -> bool:
    got = await front.raw(LIVE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
    return got.startswith(b"HTTP/1.1 200")


def open_connections(front: Running) -> float:
    return front.metrics.registry.get_sample_value("fe_http_connections") or 0.0


def faults_of_connections(front: Running) -> dict[str, float]:
    """How many connections ended by a fault of their own, by its kind."""
    counted = front.metrics.http_faults.collect()
    return {sample.labels["kind"]: sample.value for metric in counted for sample in metric.samples}


AMBIGUOUS = {
    "CL and TE": HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "TE and CL": HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}",
    "two lengths": HEAD + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "signed length": HEAD + b"Content-Length: +2\r\n\r\n{}",
    "list of lengths": HEAD + b"Content-Length: 2, 2\r\nContent-Length: 3\r\n\r\n{}",
    "unknown coding": HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "blank before colon": HEAD + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "bad chunk size": HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n",
    "bad chunk end": HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}XX0\r\n\r\n",
    "two hosts": b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
    "HTTP/0.9": b"GET /healthz\r\n\r\n",
    "HTTP/2 prior knowledge": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "CONNECT": b"CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n",
    "no path": b"GET ?x HTTP/1.1\r\nHost: a\r\n\r\n",
    "20 kB of headers": b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 20_000 + b"\r\n\r\n",
    "NUL in a header": b"GET / HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n",
    "TLS hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "zeros": b"\x00" * 64,
}


@pytest.mark.parametrize(
    "sent",
    [
        b"HEAD /healthz HTTP/1.1\r\nHost: a\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n",
        b"HEAD / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    ],
    ids=["refused by its head", "broken off in its body"],
)
async def test_a_head_request_is_refused_as_others_are_without_a_body(front: Running, sent: bytes) -> None:
    answer = await front.raw(sent)

    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"content-length: " in head.lower()
    assert body == b""
    assert not any(
        sample.value
        for metric in front.metrics.http_faults.collect()
        for sample in metric.samples
        if "total" in sample.name
    )


async def test_an_ambiguous_request_gets_one_refusal_and_the_connection_ends(front: Running) -> None:
    for name, request_bytes in AMBIGUOUS.items():
        got = await front.raw(request_bytes + LIVE)

        assert got.count(b"HTTP/1.1 ") == 1, (name, got)
        status = int(got.split()[1])
        assert 400 <= status < 500 or status in (501, 505), (name, got)
        assert b"x-request-id" in got.lower(), name
        assert body_of(got)["statusCode"] == status, name
        assert b"switching" not in got.lower(), name
        assert await answers_health(front), name


@pytest.mark.parametrize("fast_path", [True, False])
@pytest.mark.parametrize("apart", [False, True], ids=["with the body", "by itself"])
async def test_an_empty_line_after_a_body_is_no_request(
    front_db: Database, nursery: trio.Nursery, db: Database, fast_path: bool, apart: bool
) -> None:
    front = await start_front(nursery, front_db, fast_path=fast_path)
    token = await front.token(await make_key(db, await make_tenant(db)))
    body = json.dumps(structured()).encode()
    head = f"POST {PREFIX}/invoices HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n"
    submitted = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
    got = b""
    stream = await trio.open_tcp_stream("127.0.0.1", front.port)
    with trio.fail_after(PATIENCE):
        async with stream:
            for part in [submitted, b"\r\n"] if apart else [submitted + b"\r\n"]:
                await stream.send_all(part)
                await trio.sleep(0.05)
            while b'"eNCF"' not in got:
                got += await stream.receive_some(65536)
            await stream.send_all(LIVE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
            while some := await stream.receive_some(65536):
                got += some

    assert re.findall(rb"HTTP/1\.1 (\d+)", got) == [b"202", b"200"]


async def test_one_empty_line_is_passed_over_and_no_more(front: Running) -> None:
    closing = LIVE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")

    assert (await front.raw(b"\r\n" + closing)).startswith(b"HTTP/1.1 200")
    assert (await front.raw(b"\r\n\r\n" + closing)).startswith(b"HTTP/1.1 400")


#: Protocol upgrades that clients offer: Java's client h2c with every request in clear text, browsers WebSockets.
OFFERS = {
    "h2c": b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
    "websocket": (
        b"Connection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    ),
}


@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
@pytest.mark.parametrize("fast_path", [True, False])
async def test_an_offer_to_go_on_in_another_protocol_is_not_taken_up_and_the_request_is_answered(
    front_db: Database, nursery: trio.Nursery, db: Database, offer: bytes, fast_path: bool
) -> None:
    front = await start_front(nursery, front_db, fast_path=fast_path)
    token = await front.token(await make_key(db, await make_tenant(db)))
    body = json.dumps(structured()).encode()
    asked = f"Host: a\r\nAuthorization: Bearer {token}\r\n".encode() + offer
    submitted = b"POST %b/invoices HTTP/1.1\r\n%bContent-Length: %d\r\n\r\n" % (PREFIX.encode(), asked, len(body))

    got = await front.raw(
        submitted
        + body
        + b"GET %b/invoices/nobody?wait=1 HTTP/1.1\r\n%b\r\n" % (PREFIX.encode(), asked)
        + b"GET %b/ncf HTTP/1.1\r\n%b\r\n" % (PREFIX.encode(), asked)
        + LIVE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    )

    assert re.findall(rb"HTTP/1\.1 (\d+)", got) == [b"202", b"200", b"200", b"200"]
    assert b"upgrade" not in got.lower()
    assert faults_of_connections(front) == {}


async def test_a_refusal_of_what_cannot_be_read_is_in_the_language_that_its_head_asks_for(front: Running) -> None:
    asked = {
        name: sent.replace(b"Host: a\r\n", b"Host: a\r\nAccept-Language: es-DO\r\n", 1)
        for name, sent in AMBIGUOUS.items()
    }
    with_a_head = {name: sent for name, sent in asked.items() if sent != AMBIGUOUS[name]}

    assert len(with_a_head) > 10
    for name, request_bytes in with_a_head.items():
        got = await front.raw(request_bytes)

        assert b"\r\ncontent-language: es\r\n" in got.lower(), (name, got)
        plain = body_of(await front.raw(AMBIGUOUS[name]))
        assert body_of(got)["statusCode"] == plain["statusCode"]
        assert body_of(got)["message"] != plain["message"], name


@pytest.mark.parametrize("with_token", [False, True])
async def test_a_thousand_malformed_chunks_do_not_end_the_process(front: Running, key: Key, with_token: bool) -> None:
    """Without a token the answer comes before the body is read: an unguarded server of this kind ends after some 25."""
    token = await front.token(key) if with_token else ""
    attack = (
        f"POST {PREFIX}/invoices HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}XX0\r\n\r\n"
    ).encode()

    async def fire(limit: trio.CapacityLimiter) -> None:
        async with limit:
            await front.raw(attack)

    limit = trio.CapacityLimiter(50)
    async with trio.open_nursery() as nursery:
        for _ in range(1000):
            nursery.start_soon(fire, limit)

    assert await answers_health(front)
    assert front.metrics.registry.get_sample_value("fe_http_in_flight") == 0


async def test_fifty_chunks_without_a_token_are_refused_once_and_are_no_fault_of_the_connection(front: Running) -> None:
    """Whether they are joined, or read one by one because they are not plain; and whether or not the body has an end.

    A peer that closes its side before the end is refused for that or for the token, whichever is found first.
    """
    head = f"POST {PREFIX}/invoices HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    for chunk in (b"1\r\n \r\n", b"1;a=b\r\n \r\n"):
        for ending, statuses in ((b"", {400, 401}), (b"0\r\n\r\n", {401})):
            got = await front.raw(head + chunk * 50 + ending, half_close=True)

            assert got.count(b"HTTP/1.1 ") == 1, got
            refused = body_of(got)
            assert refused["statusCode"] == int(got.split()[1])
            assert refused["statusCode"] in statuses, got
            if refused["statusCode"] == 401:
                assert refused["message"] == "Missing bearer token"
    assert faults_of_connections(front) == {}
    assert await answers_health(front)


@pytest.fixture
async def hasty(front_db: Database, nursery: trio.Nursery) -> Running:
    """A front whose patience is less than the real one, so that tests need not wait as long, and yet more than it
    takes to send a request on a busy machine."""
    return await start_front(nursery, front_db, patience=PeerPatience(request=2.0), body_seconds=2)


async def test_an_idle_connection_is_closed(hasty: Running) -> None:
    got = await hasty.raw(LIVE)

    assert got.count(b"HTTP/1.1 200") == 1


async def asked_again_while_nobody_listens(
    front: Running, streams: Streams, *, meanwhile: Callable[[], object], request_bytes: bytes = LIVE
) -> bytes:
    """Send a second request while the process is busy with `meanwhile`. Return all bytes of the answer, to the end."""
    (stream,) = await streams.opened(front.port, LIVE)
    assert (await stream.receive_some(1000)).startswith(b"HTTP/1.1 200")

    os.write(stream.socket.fileno(), request_bytes)  # at once: no other task has a turn from here on
    meanwhile()

    return b"".join([part async for part in stream])


async def test_a_request_that_arrives_as_the_connection_was_idle_for_too_long_is_answered(
    front_db: Database, nursery: trio.Nursery, streams: Streams
) -> None:
    """The process sees the request and the timeout at the same moment. A close would leave the client in doubt."""
    patience = PeerPatience(request=0.5)
    front = await start_front(nursery, front_db, patience=patience)

    def be_busy() -> None:
        time.sleep(2 * patience.request)

    got = await asked_again_while_nobody_listens(front, streams, meanwhile=be_busy)

    assert got.count(b"HTTP/1.1 200") == 1
    assert await answers_health(front)


PAGE = f"GET {PREFIX}/docs HTTP/1.1\r\nHost: a\r\n\r\n".encode()


@pytest.mark.parametrize("request_bytes", [LIVE, PAGE], ids=["by the framework", "plain"])
async def test_a_request_that_arrives_as_the_process_ends_is_answered_and_told_that_this_was_the_last(
    request_bytes: bytes, front_db: Database, streams: Streams
) -> None:
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            front = await start_front(nursery, front_db, patience=PeerPatience(request=1e6))

            assert b"connection: close" not in (await front.raw(request_bytes, half_close=True)).lower()
            got = await asked_again_while_nobody_listens(
                front, streams, meanwhile=front.shutdown.set, request_bytes=request_bytes
            )

    assert got.count(b"HTTP/1.1 200") == 1
    assert got.lower().count(b"\r\nconnection: close\r\n") == 1


async def test_an_answer_that_does_not_wait_for_the_body_says_that_it_is_the_last(
    front: Running, streams: Streams
) -> None:
    """The rest of the body is never read, so the connection must end: a next request on it would be lost."""
    head = f"POST {PREFIX}/invoices HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n"
    whole, in_two = await streams.opened(front.port, head.encode() + b"{}", head.encode())

    kept = await whole.receive_some(65536)
    last = await in_two.receive_some(65536)
    await in_two.send_all(b"{}")

    for answer, is_last in ((kept, False), (last, True)):
        assert answer.startswith(b"HTTP/1.1 401"), answer
        assert answer.lower().count(b"\r\nconnection: close\r\n") == is_last
    assert await in_two.receive_some(1) == b""
    await whole.send_all(LIVE)
    assert (await whole.receive_some(65536)).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "parts", [[PAGE], [PAGE[:10], PAGE[10:]], [LIVE]], ids=["plain", "in two parts", "by the framework"]
)
async def test_the_last_request_that_a_connection_may_ask_is_answered_with_that(
    parts: list[bytes], front_db: Database, nursery: trio.Nursery, streams: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener, "KEEP_ALIVE_REQUESTS", 3)
    front = await start_front(nursery, front_db)
    (stream,) = await streams.opened(front.port, b"")
    got = b""
    for asked in range(1, 4):
        for part in parts:
            await stream.send_all(part)
            await trio.sleep(0.01)
        with trio.fail_after(PATIENCE):
            while got.count(b"HTTP/1.1 200") < asked:
                got += await stream.receive_some(65536)
    got += b"".join([part async for part in stream])

    said = [b"\r\nconnection: close\r\n" in answer.lower() for answer in got.split(b"HTTP/1.1 200")[1:]]
    assert said == [False, False, True]


async def test_half_a_head_that_arrives_as_the_time_is_up_is_not_waited_for(
    front_db: Database, nursery: trio.Nursery, streams: Streams
) -> None:
    front = await start_front(nursery, front_db, patience=PeerPatience(request=0.5))
    (stream,) = await streams.opened(front.port, LIVE)
    assert (await stream.receive_some(1000)).startswith(b"HTTP/1.1 200")

    os.write(stream.socket.fileno(), LIVE[:10])
    time.sleep(1)  # noqa: ASYNC251  (nothing else may run)

    assert b"".join([part async for part in stream]) == b""


async def test_headers_that_drip_in_are_cut(hasty: Running) -> None:
    stream = await trio.open_tcp_stream("127.0.0.1", hasty.port)
    async with stream, trio.open_nursery() as nursery:

        async def drip() -> None:
            await stream.send_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n")
            while True:
                await trio.sleep(0.05)
                await stream.send_all(b"X-A: b\r\n")

        async def drip_until_cut() -> None:
            with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                await drip()

        nursery.start_soon(drip_until_cut)
        with trio.fail_after(PATIENCE), suppress(trio.BrokenResourceError):
            assert await stream.receive_some(100) == b""
        nursery.cancel_scope.cancel()


async def test_a_body_that_does_not_arrive_gets_408(hasty: Running) -> None:
    stream = await trio.open_tcp_stream("127.0.0.1", hasty.port)
    async with stream:
        await stream.send_all(HEAD + b"Content-Length: 1000\r\n\r\n{")
        with trio.fail_after(PATIENCE):
            got = await stream.receive_some(65536)
            rest = await stream.receive_some(65536)

    assert got.startswith(b"HTTP/1.1 408")
    assert rest == b""


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_body_too_large_gets_413_and_the_client_can_read_it(front: Running, chunked: bool) -> None:
    size = 3 * 1024 * 1024
    if chunked:
        body = b"%x\r\n%s\r\n" % (65536, b" " * 65536)
        data = HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + body * (size // 65536)
    else:
        data = HEAD + b"Content-Length: %d\r\n\r\n" % size + b" " * size

    got = await front.raw(data)

    assert got.startswith(b"HTTP/1.1 413"), got[:200]
    assert body_of(got) == {"message": "the body must not be larger than 4096 bytes", "statusCode": 413}


async def test_a_half_close_in_the_middle_harms_nobody(front: Running) -> None:
    for cut in (b"POST", HEAD, HEAD + b"Content-Length: 10\r\n\r\n{", LIVE):
        await front.raw(cut, half_close=True)

    assert await answers_health(front)


def _calls(token: str) -> dict[str, bytes]:
    """A request for each way through the server."""
    more = f"Host: a\r\nAuthorization: Bearer {token}\r\n"
    receipt = json.dumps(structured()).encode()
    sized = f"Content-Type: application/json\r\nContent-Length: {len(receipt)}\r\n\r\n".encode() + receipt
    chunked = b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n"
    return {
        "fast path": f"POST {PREFIX}/invoices HTTP/1.1\r\n{more}".encode() + sized,
        "framework": f"POST {PREFIX}/invoices/validate HTTP/1.1\r\n{more}".encode() + sized,
        "chunked": f"POST {PREFIX}/invoices/validate HTTP/1.1\r\n{more}".encode() + chunked % (len(receipt), receipt),
        "list": f"GET {PREFIX}/invoices?limit=1 HTTP/1.1\r\n{more}\r\n".encode(),
        "refusal": f"GET {PREFIX}/nothing HTTP/1.1\r\n{more}\r\n".encode(),
        "no token": f"GET {PREFIX}/invoices HTTP/1.1\r\nHost: a\r\n\r\n".encode(),
        "health": LIVE,
    }


@pytest.mark.parametrize(
    ("way", "status"),
    [
        ("fast path", 202),
        ("framework", 200),
        ("chunked", 200),
        ("list", 200),
        ("refusal", 404),
        ("no token", 401),
        ("health", 200),
    ],
)
async def test_whole_request_before_a_half_close_is_answered(way: str, status: int, front: Running, key: Key) -> None:
    call = _calls(await front.token(key))[way]

    for _ in range(5):
        got = await front.raw(call, half_close=True)
        assert got.startswith(b"HTTP/1.1 %d" % status), got

    await until(lambda: open_connections(front) == 0)


async def test_long_poll_before_a_half_close_is_answered_without_waiting(front: Running, key: Key) -> None:
    token = await front.token(key)
    async with front.client(token) as client:
        tax_log_id = (await client.post("/invoices", json=structured())).json()["taxLogId"]
    asked = f"GET {PREFIX}/invoices/{tax_log_id}?wait=30 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\r\n"

    got = await front.raw(asked.encode(), half_close=True)

    assert got.startswith(b"HTTP/1.1 200"), got
    assert body_of(got)["status"] == "queued"


async def test_a_reset_in_the_middle_harms_nobody(front: Running) -> None:
    for cut in (HEAD + b"Content-Length: 10\r\n\r\n{", HEAD + b"Content-Length: 2\r\n\r\n{}", LIVE * 50):
        with socket.create_connection(("127.0.0.1", front.port)) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
            sock.sendall(cut)
            await until(lambda: open_connections(front) == 1)
        await until(lambda: open_connections(front) == 0)

    assert await answers_health(front)


async def test_pipelined_requests_are_answered_in_order(front: Running) -> None:
    got = await front.raw(LIVE + LIVE + LIVE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))

    assert got.count(b"HTTP/1.1 200") == 3


async def test_a_chunked_body_is_read(front: Running, key: Key) -> None:
    body = b'{"apiKeyId":"%s","apiSecret":"%s"}' % (key.api_key_id.encode(), key.secret.encode())
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body)

    got = await front.raw(HEAD + b"Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")

    assert got.startswith(b"HTTP/1.1 200"), got
    assert body_of(got)["tokenType"] == "Bearer"


async def test_five_hundred_idle_sockets_keep_nobody_from_an_answer(
    front_db: Database, nursery: trio.Nursery, streams: Streams
) -> None:
    settings = load_settings(address_connections=1000, max_connections=2000, grace_seconds=2)
    front = await start_front(nursery, front_db, settings, patience=PeerPatience(request=3 * PATIENCE))

    await streams.opened(front.port, *[b""] * 500)
    await until(lambda: open_connections(front) == 500)

    assert await answers_health(front)
    assert open_connections(front) >= 500


async def test_one_connection_too_many_is_turned_away(
    front_db: Database, nursery: trio.Nursery, streams: Streams
) -> None:
    settings = load_settings(max_connections=3, grace_seconds=1)
    front = await start_front(nursery, front_db, settings, patience=PeerPatience(request=3 * PATIENCE))
    held = await streams.opened(front.port, *[b""] * 3)
    await until(lambda: open_connections(front) == 3)

    got = await front.raw(LIVE)

    assert got.startswith(b"HTTP/1.1 503")
    assert b"retry-after" in got
    assert body_of(got)["statusCode"] == 503
    await streams.close(held)
    await until(lambda: open_connections(front) == 0)
    assert await answers_health(front)


@pytest.mark.parametrize("request_bytes", [LIVE, PAGE], ids=["by the framework", "plain"])
async def test_requests_that_came_before_the_end_on_new_connections_are_answered(
    request_bytes: bytes, front_db: Database
) -> None:
    """Their clients have connected and asked; reset, they would not know what became of it."""
    with ExitStack() as held, trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            front = await start_front(nursery, front_db, load_settings(grace_seconds=86_400))
            at = ("127.0.0.1", front.port)
            asked = [held.enter_context(socket.create_connection(at)) for _ in range(20)]
            silent = held.enter_context(socket.create_connection(at))
            for sock in asked:
                sock.sendall(request_bytes)
            front.shutdown.set()  # before the front has accepted them

        for sock in asked:
            answer = sock.recv(65536)
            assert answer.startswith(b"HTTP/1.1 200")
            assert b"\r\nconnection: close\r\n" in answer.lower()
        assert silent.recv(1) == b""


async def test_shutdown_does_not_wait_for_idle_connections(front_db: Database, streams: Streams) -> None:
    forever = PeerPatience(request=1e6)
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            front = await start_front(nursery, front_db, load_settings(grace_seconds=86_400), patience=forever)
            (stream,) = await streams.opened(front.port, LIVE)
            assert (await stream.receive_some(1000)).startswith(b"HTTP/1.1 200")
            front.shutdown.set()
        assert await stream.receive_some(1000) == b""


async def test_a_client_that_does_not_read_does_not_hold_up_the_shutdown(front_db: Database) -> None:
    page = f"GET {PREFIX}/docs HTTP/1.1\r\nHost: a\r\n\r\n".encode()
    settings, patience = load_settings(grace_seconds=86_400), PeerPatience(request=1e6, answer=0.5)
    with socket.socket() as sock, trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            front = await start_front(nursery, front_db, settings, patience=patience)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            sock.connect(("127.0.0.1", front.port))
            sock.setblocking(False)
            for _ in range(200):  # 6 MB of answers, and not one is read
                with suppress(BlockingIOError):
                    sock.send(page)
                await trio.lowlevel.checkpoint()
            await until(lambda: open_connections(front) == 1)
            front.shutdown.set()
        with suppress(BlockingIOError):
            assert sock.recv(1) == b"H"


async def test_bodies_that_drip_in_are_no_work_and_shed_nobody(
    front_db: Database, nursery: trio.Nursery, streams: Streams
) -> None:
    front = await start_front(nursery, front_db, max_in_flight=2, body_seconds=3 * PATIENCE)
    bodies = front.app.extensions["fe"].bodies
    for held in range(1, 21):  # one by one: heads are work
        await streams.opened(front.port, HEAD + b"Content-Length: 1000\r\n\r\n{")
        await until(lambda: bodies.all_held == held * 1000)  # noqa: B023  (awaited here)

    async with front.client() as client:
        answer = await client.get("/openapi.json")

    assert answer.status_code == 200
    assert bodies.all_held == 20_000


async def test_a_request_that_ends_as_its_client_leaves_is_not_answered_and_harms_nobody(
    front: Running, key: Key
) -> None:
    token = await front.token(key)
    head = f"POST {PREFIX}/invoices HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nContent-Length: 9\r\n\r\n"
    for cut in (b"", b"{", b'{"a": 1} '):
        await front.raw(head.encode() + cut, half_close=True)

    assert await answers_health(front)
    assert faults_of_connections(front) == {}


async def test_no_answer_may_be_kept_or_taken_for_something_else(front: Running, key: Key) -> None:
    async with front.client(await front.token(key)) as client:
        for path in ("/ncf", "/invoices/nobody", "/nowhere"):
            answer = await client.get(path)
            assert answer.headers["Cache-Control"] == "no-store"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert "server" not in answer.headers
