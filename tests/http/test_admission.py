"""Nobody takes the front from the others: what is refused, and before what of it was read. Judged by counts."""

import json
import threading
from collections.abc import Callable

import h11
import pytest
import trio
import trio.lowlevel
from structlog.testing import capture_logs

from fe.http import invoices, login
from fe.http.app import PREFIX
from fe.http.request_bodies import read_body
from fe.issuing.prepare import Draft
from fe.store.postgres.db import Database
from tests.http.front import Key, Running, body_of, make_key, make_tenant, structured

TOO_MUCH = b'{"a":[' + b"[]," * 2000 + b"[]]}"


def post(path: str, body: bytes, *more: str, chunked: bool = False) -> bytes:
    framing = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(body)}"
    head = [f"POST {PREFIX}{path} HTTP/1.1", "Host: a", "Content-Type: application/json", framing, *more, "", ""]
    return "\r\n".join(head).encode() + (b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if chunked else body)


def parsed_bodies(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the login bodies that are parsed from now on."""
    sizes: list[int] = []

    def noting(model: type[login.LoginRequest], raw: bytes) -> login.LoginRequest:
        sizes.append(len(raw))
        return read_body(model, raw)

    monkeypatch.setattr(login, "read_body", noting)
    return sizes


@pytest.mark.parametrize("chunked", [False, True])
async def test_a_route_of_small_bodies_reads_no_others(
    front: Running, key: Key, monkeypatch: pytest.MonkeyPatch, chunked: bool
) -> None:
    sizes = parsed_bodies(monkeypatch)
    authorized = f"Authorization: Bearer {await front.token(key)}"
    sizes.clear()

    for path in ("/login", "/ncf"):
        got = await front.raw(post(path, TOO_MUCH, authorized, chunked=chunked))
        assert got.startswith(b"HTTP/1.1 413 "), (path, got)
        assert body_of(got)["message"] == "the body must not be larger than 4096 bytes"
    assert sizes == []


async def test_a_large_login_counts_for_its_address_as_a_malformed_one(front: Running, key: Key) -> None:
    answers = [await front.raw(post("/login", TOO_MUCH)) for _ in range(31)]

    assert [int(got.split()[1]) for got in answers] == [413] * 30 + [429]


async def test_malformed_logins_are_throttled_and_their_lockout_is_counted(front: Running) -> None:
    async with front.client() as client:
        statuses = [(await client.post("/login", json={"apiKeyId": 1})).status_code for _ in range(32)]

    assert statuses == [400] * 30 + [429] * 2
    begun = [s.value for m in front.metrics.lockouts.collect() for s in m.samples if s.name.endswith("_total")]
    assert sum(begun) == 1


async def test_throttled_logins_are_told_of_once_in_a_while(front: Running) -> None:
    with capture_logs() as logs:
        async with front.client() as client:
            for _ in range(40):
                await client.post("/login", json={"apiKeyId": 1})

    (told,) = [line for line in logs if line["event"] == "logins were throttled"]
    assert (told["logins"], told["last_address"]) == (1, "127.0.0.1")
    assert front.metrics.registry.get_sample_value("fe_login_total", {"outcome": "throttled"}) == 10


async def test_of_an_address_that_is_locked_out_nothing_is_read(
    front: Running, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with front.client() as client:
        for _ in range(31):
            await client.post("/login", content=b"{")
    sizes = parsed_bodies(monkeypatch)

    # The body never comes: an answer shows that nobody waited for it.
    got = await front.raw(post("/login", b"x" * 100)[:-100], seconds=4)

    assert got.startswith(b"HTTP/1.1 429 "), got
    assert sizes == []


async def test_chunks_of_one_byte_let_others_have_their_turn(
    front: Running, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = longest = since = 0
    last_turn = -1
    next_event = h11.Connection.next_event

    def counting(self: h11.Connection) -> object:
        nonlocal longest, since, last_turn
        since = since + 1 if turns == last_turn else 1
        last_turn, longest = turns, max(longest, since)
        return next_event(self)

    async def another() -> None:
        nonlocal turns
        while True:
            turns += 1
            await trio.lowlevel.checkpoint()

    authorized = f"Authorization: Bearer {await front.token(key)}"
    head = post("/invoices", b"", authorized, chunked=True).removesuffix(b"0\r\n\r\n0\r\n\r\n")
    monkeypatch.setattr(h11.Connection, "next_event", counting)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(another)
        for path in ("/invoices", "/invoices/validate"):
            request = head.replace(b"/invoices", path.encode()) + b"1\r\nx\r\n" * 3000 + b"0\r\n\r\n"
            got = await front.raw(request, seconds=3)
            assert got.startswith(b"HTTP/1.1 400 "), got
        nursery.cancel_scope.cancel()

    assert 1 < longest <= 32  # without a turn for others: thousands


class Slow:
    """`_read_draft`, and how many are read at once, of whom, when they are let."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = self.most = self.read = 0
        self.gate = threading.Event()
        self._lock = threading.Lock()
        self._read = invoices._read_draft
        monkeypatch.setattr(invoices, "_read_draft", self)

    def __call__(self, raw: bytes) -> Draft:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self.gate.wait(60)
        with self._lock:
            self.now -= 1
            self.read += 1
        return self._read(raw)


async def until(condition: Callable[[], bool]) -> None:
    with trio.fail_after(60):
        while not condition():  # noqa: ASYNC110  (what is counted is counted in threads)
            await trio.sleep(0.01)


async def test_of_what_waits_to_be_judged_bytes_are_held_and_each_tenant_has_a_share(
    front: Running, db: Database, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow(monkeypatch)
    stranger = await make_key(db, await make_tenant(db, "Otra Empresa SRL"))
    large = json.dumps({"format": "xml", "xml": "x" * 1_000_000}).encode()
    authorized = f"Authorization: Bearer {await front.token(key)}"
    head = post("/invoices/validate", large, authorized).removesuffix(large)
    refused: list[bytes] = []
    waiting = [await trio.open_tcp_stream("127.0.0.1", front.port) for _ in range(12)]

    async def hear(stream: trio.SocketStream) -> None:
        refused.append(bytes(await stream.receive_some(65536)))
        waiting.remove(stream)
        await stream.aclose()

    async with trio.open_nursery() as hearing:
        for stream in tuple(waiting):
            await stream.send_all(head)
            hearing.start_soon(hear, stream)
        await until(lambda: len(refused) == 8)
        hearing.cancel_scope.cancel()
    # Four times a megabyte are the share of one tenant, counted before a byte of it has come.
    assert [int(got.split()[1]) for got in refused] == [429] * 8

    async with front.client(await front.token(stranger)) as good, trio.open_nursery() as nursery:
        for stream in waiting:
            nursery.start_soon(stream.send_all, large)
        await until(lambda: slow.now == 1)

        async def ask() -> None:
            assert (await good.post("/invoices/validate", json=structured())).status_code == 200

        nursery.start_soon(ask)
        await until(lambda: slow.now == 2)  # of one tenant one at a time: the other slot is a stranger's
        slow.gate.set()
        await until(lambda: slow.read == 5)
    for stream in waiting:
        assert (await stream.receive_some(65536)).startswith(b"HTTP/1.1 ")
        await stream.aclose()
    assert slow.most == 2


async def test_what_was_held_is_given_back_however_it_ends(front: Running, key: Key) -> None:
    """Twice the share of one tenant, one after the other."""
    body = json.dumps({"format": "xml", "xml": "<" * 900_000}).encode()
    async with front.client(await front.token(key)) as client:
        for _ in range(9):
            answer = await client.post("/invoices/validate", content=body, headers={"Content-Type": "application/json"})
            assert answer.status_code == 400
        assert (await client.post("/invoices/validate", json=structured())).status_code == 200
        assert (await client.post("/invoices", json=structured(strict=True))).status_code in (202, 400)
