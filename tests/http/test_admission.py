"""No client crowds out the others: which requests are refused, and before which part is read. Judged by counts."""

import json
import select
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import count
from typing import Any
from unittest.mock import MagicMock

import h11
import pytest
import trio
import trio.lowlevel
import trio.testing
from structlog.testing import capture_logs

from fe.config import load_settings
from fe.ecf.problems import Problem
from fe.http import app
from fe.http.app import PREFIX
from fe.http.auth import login
from fe.http.calls import ApiReply, Call
from fe.http.openapi.docs import Docs
from fe.http.request_bodies import read_body
from fe.http.routes import document_slots, invoices, large_invoices, long_polls
from fe.http.routes.document_slots import DocumentSlots
from fe.http.server import acceptor, pipeline
from fe.http.server.connection import PeerPatience
from fe.http.server.pipeline import ANONYMOUS_AT_ONCE, Pipeline
from fe.http.server.requests import make_scope
from fe.identifiers import SubmissionId, TenantId
from fe.issuing.document_size import LARGE_BYTES, LARGE_LINES, LARGE_TAGS
from fe.issuing.submitting import Submitting
from fe.limits import ConcurrencyLimit, Overloaded, QuotaLimits, ShareTaken, TokenBucket
from fe.monitoring.metrics import Metrics
from fe.offload.pool import Apart
from fe.store.postgres.db import Conn, Database
from fe.store.records import submissions
from tests.apart_work import die
from tests.factories.tenants import rows
from tests.http.front import (
    Key,
    Running,
    Streams,
    body_of,
    invoice_payload,
    make_key,
    make_tenant,
    start_front,
    structured,
)
from tests.http.test_fast_path import requests_through_quart
from tests.waiting import PATIENCE, until

#: Of a front that waits for slow clients for as long as a test takes on a slow machine.
PATIENT: dict[str, Any] = {"patience": PeerPatience(request=3 * PATIENCE), "body_seconds": 3 * PATIENCE}
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
    answers = [await front.raw(post("/login", TOO_MUCH, "Connection: close")) for _ in range(31)]

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
    throttled = front.metrics.registry.get_sample_value("fe_login_total", {"outcome": "throttled"})
    assert throttled
    assert throttled + (refusals(front, "too_soon") or 0) == 10  # repeats are refused before they are counted as logins


async def test_of_an_address_that_is_locked_out_nothing_is_read(
    front_db: Database, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A front that would wait for a body longer than the test does for an answer.
    front = await start_front(nursery, front_db, **PATIENT)
    async with front.client() as client:
        for _ in range(31):
            await client.post("/login", content=b"{")
    sizes = parsed_bodies(monkeypatch)

    # The body never comes: the answer shows that the front did not wait for it.
    got = await front.raw(post("/login", b"x" * 100)[:-100])

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
    head = post("/invoices", b"", authorized, "Connection: close", chunked=True).removesuffix(b"0\r\n\r\n0\r\n\r\n")
    monkeypatch.setattr(h11.Connection, "next_event", counting)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(another)
        for path in ("/invoices", "/invoices/validate"):
            request = head.replace(b"/invoices", path.encode()) + b"1\r\nx\r\n" * 3000 + b"0\r\n\r\n"
            got = await front.raw(request)
            assert got.startswith(b"HTTP/1.1 400 "), got
        nursery.cancel_scope.cancel()

    # A turn is had after 16, and Trio may let the one who had the last turn have the next one too; never thousands.
    assert 1 < longest <= 50


class Slow:
    """`Submitting.validate`, and how many are validated at once, when they are let."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = self.most = self.done = 0
        self.gate = trio.Event()
        validate = Submitting.validate

        async def slowly(*given: Any) -> list[Problem]:
            self.now += 1
            self.most = max(self.most, self.now)
            await self.gate.wait()
            try:
                return await validate(*given)
            finally:
                self.now -= 1
                self.done += 1

        monkeypatch.setattr(Submitting, "validate", slowly)


async def test_of_what_waits_to_be_judged_bytes_are_held_and_each_tenant_has_a_share(
    front_db: Database,
    nursery: trio.Nursery,
    db: Database,
    key: Key,
    monkeypatch: pytest.MonkeyPatch,
    streams: Streams,
) -> None:
    front = await start_front(nursery, front_db, **PATIENT)
    slow = Slow(monkeypatch)
    stranger = await make_key(db, await make_tenant(db, "Otra Empresa SRL"))
    large = json.dumps({"format": "xml", "xml": "x" * 1_000_000}).encode()
    authorized = f"Authorization: Bearer {await front.token(key)}"
    head = post("/invoices/validate", large, authorized).removesuffix(large)
    refused: list[bytes] = []
    waiting = await streams.opened(front.port, *[b""] * 12)

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
        await until(lambda: slow.done == 5)
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


# --- requests without a token -----------------------------------------------------------------------------------------


async def test_of_one_address_few_requests_without_a_token_are_in_work_at_once(
    front_db: Database, nursery: trio.Nursery, key: Key, monkeypatch: pytest.MonkeyPatch, streams: Streams
) -> None:
    now = most = 0
    gate = trio.Event()
    openapi = Docs.openapi

    async def slowly(self: Docs, call: Call) -> ApiReply:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await gate.wait()
        now -= 1
        return await openapi(self, call)

    monkeypatch.setattr(pipeline, "ANONYMOUS_PATIENCE", 60.0)
    monkeypatch.setattr(Docs, "openapi", slowly)
    front = await start_front(nursery, front_db, load_settings(grace_seconds=2))
    page = f"GET {PREFIX}/openapi.json HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode()
    greedy = await streams.opened(front.port, *[page] * 20, source="127.0.0.66")
    await until(lambda: now == ANONYMOUS_AT_ONCE)
    [modest] = await streams.opened(front.port, page, source="127.0.0.67")
    await until(lambda: now == ANONYMOUS_AT_ONCE + 1)  # another address has turns of its own
    async with front.client(await front.token(key)) as client:  # as have logins, which have a body, and tokens
        assert (await client.post("/invoices", json=structured())).status_code == 202
    gate.set()
    for stream in (*greedy, modest):
        assert (await stream.receive_some(20)).startswith(b"HTTP/1.1 200 ")
    assert most == ANONYMOUS_AT_ONCE + 1


@pytest.mark.parametrize(("method", "at_once"), [("GET", ANONYMOUS_AT_ONCE), ("HEAD", 4), ("POST", 20)])
async def test_a_body_gives_a_turn_at_once_only_to_whoever_is_not_answered_without(
    method: str, at_once: int, autojump_clock: trio.testing.MockClock
) -> None:
    front, now, most = Pipeline(MagicMock(), MagicMock(), MagicMock(), Metrics(), [], knows_tokens=True), 0, 0
    scope = make_scope(method.encode(), b"/", b"1.1", [(b"host", b"a"), (b"content-length", b"1")], ("127.0.0.66", 1))

    async def ask() -> None:
        nonlocal now, most
        async with front._anonymous_turn(scope):
            now += 1
            most = max(most, now)
            await trio.sleep(0.1)
            now -= 1

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(ask)
    assert most == at_once


async def test_who_waits_too_long_for_a_turn_without_a_token_is_told(
    front_db: Database, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch, streams: Streams
) -> None:
    async def never(self: Docs, call: Call) -> ApiReply:
        await trio.sleep_forever()
        raise AssertionError

    monkeypatch.setattr(pipeline, "ANONYMOUS_PATIENCE", 0.1)
    monkeypatch.setattr(Docs, "openapi", never)
    front = await start_front(nursery, front_db, load_settings(grace_seconds=0.1))
    page = f"GET {PREFIX}/openapi.json HTTP/1.1\r\nHost: a\r\n\r\n".encode()
    asking = await streams.opened(front.port, *[page] * (ANONYMOUS_AT_ONCE + 1))
    heard: list[bytes] = []

    async def hear(stream: trio.SocketStream) -> None:
        heard.append(bytes(await stream.receive_some(65536)))

    async with trio.open_nursery() as hearing:
        for stream in asking:
            hearing.start_soon(hear, stream)
        await until(lambda: bool(heard))
        hearing.cancel_scope.cancel()
    assert heard[0].startswith(b"HTTP/1.1 429 ")


# --- large documents --------------------------------------------------------------------------------------------------


def many_lines(lines: int = LARGE_LINES + 1, **more: Any) -> dict[str, Any]:
    """A document that is large by its lines alone, each of them good, with a number of its own."""
    made = structured(**more)
    given = made["payload"]
    given["Encabezado"]["IdDoc"] |= {"eNCF": f"E31{next(_numbers):010}", "FechaVencimientoSecuencia": "31-12-2028"}
    item = given["DetallesItems"]["Item"][0]
    given["DetallesItems"]["Item"] = [item | {"NumeroLinea": number} for number in range(1, lines + 1)]
    return made


_numbers = count(5)


async def test_large_documents_are_read_and_judged_apart_and_answered_as_small_ones_are(
    front: Running, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    run = Apart.run

    async def noting(self: Apart, whose: object, work: Callable[..., Any], *given: Any, **more: Any) -> Any:
        done.append(work.__name__)
        return await run(self, whose, work, *given, **more)

    monkeypatch.setattr(Apart, "run", noting)
    wrong = many_lines()
    wrong["payload"]["Encabezado"]["Comprador"] = {"RNCComprador": "1"}
    small = many_lines(1)
    small["payload"]["Encabezado"]["Comprador"] = {"RNCComprador": "1"}
    long = many_lines(1)
    long["payload"]["DetallesItems"]["Item"][0]["NombreItem"] = "x" * LARGE_BYTES
    async with front.client(await front.token(key)) as client:
        for body, status, by in (
            (many_lines(), 202, ["_take_in"]),
            (long, 202, ["_take_in"]),
            (many_lines(strict=True), 202, ["_take_in", "_problems"]),
            ({**wrong, "strict": True}, 400, ["_take_in", "_problems"]),
            (many_lines(5_000), 400, ["_take_in"]),
            ({**many_lines(), "format": "x"}, 400, ["_take_in"]),
            (many_lines(1, strict=True), 202, []),
        ):
            done.clear()
            answer = await client.post("/invoices", json=body)
            assert (answer.status_code, done) == (status, by), answer.text[:500]
        done.clear()
        valid, large, little = [
            (await client.post("/invoices/validate", json=body)).json() for body in (many_lines(), wrong, small)
        ]
    assert done == ["_survey", "_problems"] * 2
    assert valid == {"valid": True, "problems": []}
    assert [each["path"] for each in large["problems"]] == [each["path"] for each in little["problems"]] != []


async def test_large_documents_whose_turn_comes_late_keep_nobody_from_small_ones(
    front: Running, db: Database, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They wait for each other's processes, sometimes long; what is done on the spot waits for none of that."""
    run, gate, waiting = Apart.run, trio.Event(), 0

    async def late(self: Apart, whose: object, work: Callable[..., Any], *given: Any, **more: Any) -> Any:
        nonlocal waiting
        waiting += 1
        await gate.wait()
        return await run(self, whose, work, *given, **more)

    monkeypatch.setattr(Apart, "run", late)
    tokens = [await front.token(await make_key(db, await make_tenant(db, f"Empresa {n} SRL"))) for n in range(4)]
    answers: list[int] = []

    async def ask(token: str, path: str) -> None:
        async with front.client(token) as client:
            answers.append((await client.post(path, json=many_lines(strict=True))).status_code)

    async with trio.open_nursery() as nursery:
        for token, path in zip(tokens, ["/invoices", "/invoices/validate"] * 2, strict=True):
            nursery.start_soon(ask, token, path)
        await until(lambda: waiting == len(tokens))
        async with front.client(await front.token(key)) as client:
            assert (await client.post("/invoices", json=many_lines(1, strict=True))).status_code == 202
            assert (await client.post("/invoices/validate", json=structured())).status_code == 200
        assert answers == []
        gate.set()
    assert sorted(answers) == [200, 200, 202, 202]


@pytest.mark.parametrize("path", ["/invoices", "/invoices/batch"])
async def test_large_documents_of_a_tenant_are_stored_at_a_pace_and_nobody_else_waits(
    front_db: Database, nursery: trio.Nursery, db: Database, key: Key, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Small documents, and the large ones of other tenants, are stored meanwhile."""
    monkeypatch.setattr(document_slots, "STORED_AT_ONCE", 1.0)
    monkeypatch.setattr(document_slots, "STORED_A_SECOND", 1e-6)
    asked: list[TenantId] = []
    may_store = DocumentSlots.may_store

    async def noting(self: DocumentSlots, tenant_id: TenantId, size: int) -> None:
        asked.append(tenant_id)
        await may_store(self, tenant_id, size)

    monkeypatch.setattr(DocumentSlots, "may_store", noting)
    front = await start_front(nursery, front_db, **PATIENT)
    greedy, other = await front.token(key), await front.token(await make_key(db, await make_tenant(db, "Otra SRL")))
    answers: list[int] = []

    async def ask(token: str, lines: int, path: str = "/invoices") -> None:
        body = many_lines(lines)
        async with front.client(token) as client:
            answer = await client.post(path, json={"items": [body]} if path == "/invoices/batch" else body)
            answers.append(answer.status_code)

    await ask(greedy, LARGE_LINES + 1)
    async with trio.open_nursery() as waiting:
        waiting.start_soon(ask, greedy, LARGE_LINES + 1, path)
        await until(lambda: len(asked) == 2)
        await ask(greedy, 1)
        await ask(other, LARGE_LINES + 1)
        assert answers == [202] * 3
        waiting.cancel_scope.cancel()
    assert asked[0] == asked[1] != asked[2]


async def test_tenants_that_have_all_bytes_of_large_documents_leave_small_ones_theirs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(document_slots, "BYTES_IN_FLIGHT", 2 * LARGE_BYTES)
    slots, greedy, other = DocumentSlots(Metrics()), TenantId(1), TenantId(2)

    with slots.held(greedy, 2 * LARGE_BYTES):
        with pytest.raises(Overloaded), slots.held(other, LARGE_BYTES + 1):
            pass
        with slots.held(greedy, LARGE_BYTES), slots.held(other, LARGE_BYTES):
            pass


async def test_once_half_of_all_bytes_are_taken_a_tenant_has_a_document_s_worth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(document_slots, "BYTES_IN_FLIGHT", 8 * LARGE_BYTES)
    monkeypatch.setattr(document_slots, "BYTES_OF_A_TENANT", 4 * LARGE_BYTES)
    monkeypatch.setattr(document_slots, "BYTES_WHEN_CROWDED", 2 * LARGE_BYTES)
    slots, (greedy, *others) = DocumentSlots(Metrics()), map(TenantId, range(1, 5))

    with ExitStack() as held:
        held.enter_context(slots.held(greedy, 4 * LARGE_BYTES))
        for other in others[:2]:
            held.enter_context(slots.held(other, 2 * LARGE_BYTES))
            with pytest.raises(ShareTaken), slots.held(other, LARGE_BYTES + 1):
                pass
        with pytest.raises(Overloaded), slots.held(others[2], LARGE_BYTES + 1):
            pass


async def test_what_is_large_by_its_lines_alone_is_counted_among_large_documents() -> None:
    """Eighty of them in wait would else keep their tenant from `strict` for small receipts."""
    slots = DocumentSlots(Metrics())
    async with slots.turn(TenantId(1), LARGE_BYTES):
        assert (slots._bytes.all_held, slots._bytes_of_large.all_held) == (0, LARGE_BYTES)


@pytest.mark.parametrize(
    "escape", [str, lambda body: body.replace("<", "\\u003c"), lambda body: body.replace("<", "\\u003C")]
)
async def test_xml_of_many_tags_is_read_apart_however_its_client_writes_them(
    front: Running, key: Key, monkeypatch: pytest.MonkeyPatch, escape: Callable[[str], str]
) -> None:
    """In 60 KB there is room for 15,000 elements, for which the loop, and every other client, waited 200 ms."""
    monkeypatch.setattr(large_invoices, "_take_in", die)

    async def ask(elements: int) -> int:
        xml = "<ECF>" + "<a/>" * elements + "</ECF>"
        body = escape(json.dumps({"format": "xml", "xml": xml})).encode()
        assert len(body) < LARGE_BYTES
        async with front.client(await front.token(key)) as client:
            return (
                await client.post("/invoices", content=body, headers={"Content-Type": "application/json"})
            ).status_code

    assert await ask(LARGE_TAGS - 2) == 400
    assert await ask(LARGE_TAGS - 1) == 503


async def test_when_the_process_dies_the_client_is_told_to_come_again_and_nothing_is_kept(
    front: Running, db: Database, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large_invoices, "_take_in", die)
    body = many_lines(clientRequestId="once")
    async with front.client(await front.token(key)) as client:
        answer = await client.post("/invoices", json=body)
        assert answer.status_code == 503
        assert answer.json() == {"message": "Service Unavailable", "statusCode": 503}
        assert int(answer.headers["Retry-After"]) > 0
        monkeypatch.undo()
        answer = await client.post("/invoices", json=body)
        assert answer.status_code == 202  # and not 200, as if it had been there


# --- shares -----------------------------------------------------------------------------------------------------------


def refusals(front: Running, limit: str) -> float | None:
    return front.metrics.registry.get_sample_value("fe_share_refused_total", {"limit": limit})


def get(path: str, token: str) -> bytes:
    return f"GET {PREFIX}{path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\r\n".encode()


async def first_line(stream: trio.SocketStream) -> bytes:
    with trio.fail_after(PATIENCE):
        return bytes(await stream.receive_some(65536)).partition(b"\r\n")[0]


async def test_an_address_has_its_share_of_the_connections_whatever_it_does_with_them(
    front_db: Database, nursery: trio.Nursery, streams: Streams
) -> None:
    settings = load_settings(address_connections=20, grace_seconds=2)
    front = await start_front(nursery, front_db, settings, **PATIENT)
    heads = [f"POST {PREFIX}/login HTTP/1.1\r\nHost: a\r\nX".encode()] * 10
    bodies = [post("/login", b"x" * 4000)[:-3999]] * 10
    held = await streams.opened(front.port, *heads, *bodies, source="127.0.0.66")

    too_many = await streams.opened(front.port, *[heads[0]] * 30, source="127.0.0.66")
    assert {await first_line(stream) for stream in too_many} == {b"HTTP/1.1 429 Too Many Requests"}
    assert refusals(front, "address_connections") == 30
    async with front.client() as client:  # of another address
        assert (await client.get("/openapi.json")).status_code == 200

    await streams.close([*held, *too_many])
    open_now = front.metrics.registry.get_sample_value
    await until(lambda: open_now("fe_http_connections") == 0)
    assert b" 200 " in await front_answer(front, "127.0.0.66")


async def front_answer(front: Running, source: str) -> bytes:
    async with await trio.open_tcp_stream("127.0.0.1", front.port, local_address=source) as stream:
        await stream.send_all(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        return await first_line(stream)


async def test_once_half_of_all_connections_are_taken_an_address_has_a_tenth_of_its_share(
    front_db: Database, nursery: trio.Nursery, streams: Streams
) -> None:
    settings = load_settings(address_connections=20, max_connections=24, grace_seconds=2)
    front = await start_front(nursery, front_db, settings, **PATIENT)
    await streams.opened(front.port, *[b""] * 12, source="127.0.0.66")

    for source in ("127.0.0.67", "127.0.0.68"):
        await streams.opened(front.port, b"", b"", source=source)
        (third,) = await streams.opened(front.port, b"", source=source)
        assert await first_line(third) == b"HTTP/1.1 429 Too Many Requests"
    assert b" 200 " in await front_answer(front, "127.0.0.69")


async def test_repeated_refused_request_is_refused_without_the_framework(
    front_db: Database, nursery: trio.Nursery, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "REFUSED_SECONDS", 3 * PATIENCE)
    monkeypatch.setattr(document_slots, "BYTES_OF_A_TENANT", 500_000)
    front = await start_front(nursery, front_db, **PATIENT)
    token = await front.token(key)
    held = post("/invoices/validate", b"x" * 600_000, f"Authorization: Bearer {token}")[:-1]
    seen = requests_through_quart(front)

    for _ in range(5):
        got = await front.raw(held)  # none of the bodies ever ends
        assert got.startswith(b"HTTP/1.1 429 "), got
        assert b"retry-after: 1\r\n" in got.lower()
        assert body_of(got) == {"message": "Too Many Requests", "statusCode": 429}
    assert len(seen) == 1
    assert refusals(front, "too_soon") == 4
    async with front.client(token) as client:  # other paths are not refused
        assert (await client.get("/ncf")).status_code == 200


async def test_repeated_long_polls_are_refused_and_a_look_without_a_wait_is_answered(
    front_db: Database, nursery: trio.Nursery, key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "REFUSED_SECONDS", 3 * PATIENCE)
    front = await start_front(nursery, front_db, **PATIENT)
    waiting = front.app.extensions["fe"].waiting
    waiting.slots = ConcurrencyLimit("tenant_long_polls", front.metrics, each=0)
    waiting.answers = TokenBucket.per_second(1e-6)
    token = await front.token(key)
    async with front.client(token) as client:
        tax_log_id = (await client.post("/invoices", json=structured())).json()["taxLogId"]
    poll = get(f"/invoices/{tax_log_id}?wait=30", token).replace(b"Host", b"Connection: close\r\nHost")

    statuses = [int((await front.raw(poll)).split()[1]) for _ in range(6)]
    assert statuses == [200] + [429] * 5
    assert refusals(front, "too_soon") == 4
    async with front.client(token) as client:
        assert (await client.get(f"/invoices/{tax_log_id}")).status_code == 200


async def test_silent_connections_do_not_hold_up_the_end(
    front_db: Database, nursery: trio.Nursery, streams: Streams
) -> None:
    front = await start_front(nursery, front_db, load_settings(grace_seconds=3 * PATIENCE), **PATIENT)
    silent = await streams.opened(front.port, b"", b"", b"")
    await until(lambda: front.metrics.registry.get_sample_value("fe_http_connections") == 3)

    front.shutdown.set()
    with trio.fail_after(PATIENCE):
        assert [await stream.receive_some(1) for stream in silent] == [b""] * 3


@pytest.mark.parametrize("path", ["/invoices", "/invoices/validate"])
async def test_a_body_in_crumbs_is_refused_before_it_is_whole(front: Running, key: Key, path: str) -> None:
    authorized = f"Authorization: Bearer {await front.token(key)}"
    head = post(path, b"", authorized, chunked=True).removesuffix(b"0\r\n\r\n0\r\n\r\n")

    got = await front.raw(head + b"1\r\n \r\n" * 6000)

    assert got.startswith(b"HTTP/1.1 400 "), got
    assert body_of(got)["message"] == "the body came in too many small pieces"
    pieces = b"%x\r\n%b\r\n" % (100, b" " * 100) * 6000  # of a size that says something
    got = await front.raw(head + pieces + b"0\r\n\r\n")
    assert got.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 200 ")), got
    assert b"pieces" not in got


async def test_polls_that_find_no_slot_are_answered_so_often_a_second(
    front_db: Database, nursery: trio.Nursery, key: Key, streams: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(invoices, "WAIT_MAX", 600)
    front = await start_front(nursery, front_db, tenant_requests=2, max_waiting=8)
    waiting = front.app.extensions["fe"].waiting
    token = await front.token(key)
    async with front.client(token) as client:
        tax_log_id = (await client.post("/invoices", json=structured())).json()["taxLogId"]
        for held in (1, 2):
            await streams.opened(front.port, get(f"/invoices/{tax_log_id}?wait=600", token))
            await until(lambda: waiting.slots.all_held == held)  # noqa: B023  (awaited here)
        waiting.answers = TokenBucket.per_second(1e-6)

        answers = [await client.get(f"/invoices/{tax_log_id}?wait=600") for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 429]
        assert (await client.get(f"/invoices/{tax_log_id}")).status_code == 200  # who does not wait needs no slot


async def test_a_trusted_proxy_has_all_the_connections_it_wants(
    front_db: Database, nursery: trio.Nursery, streams: Streams
) -> None:
    settings = load_settings(address_connections=2, grace_seconds=2, trusted_proxies="127.0.0.66/32")
    front = await start_front(nursery, front_db, settings, **PATIENT)

    await streams.opened(front.port, *[b""] * 10, source="127.0.0.66")
    assert await front_answer(front, "127.0.0.66") == b"HTTP/1.1 200 "


async def test_all_are_told_why_they_are_turned_away(
    front_db: Database, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch, streams: Streams
) -> None:
    monkeypatch.setattr(acceptor, "LINGERING", 3)
    front = await start_front(nursery, front_db, load_settings(address_connections=1, grace_seconds=2), **PATIENT)
    await streams.opened(front.port, b"", source="127.0.0.66")

    turned_away = await streams.opened(front.port, *[b""] * 5, source="127.0.0.66")
    assert {await first_line(stream) for stream in turned_away} == {b"HTTP/1.1 429 Too Many Requests"}


async def test_those_who_wait_are_looked_after_together(
    front: Running, key: Key, streams: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[SubmissionId]] = []
    ended = submissions.ended

    async def noting(conn: Conn, tenant_id: TenantId, wanted: Sequence[SubmissionId]) -> list[SubmissionId]:
        asked.append(list(wanted))
        return await ended(conn, tenant_id, wanted)

    monkeypatch.setattr(submissions, "ended", noting)
    monkeypatch.setattr(invoices, "WAIT_MAX", 600)
    monkeypatch.setattr(long_polls, "_FIRST_LOOK", 1e6)
    waiting = front.app.extensions["fe"].waiting
    token = await front.token(key)
    ids = []
    async with front.client(token) as client:
        for number in (1, 2, 3):
            body = structured(invoice_payload(f"E31000000000{number}"))
            ids.append((await client.post("/invoices", json=body)).json()["taxLogId"])
    await streams.opened(front.port, *[get(f"/invoices/{one}?wait=600", token) for one in ids])
    await until(lambda: len(waiting._waits) == 3)
    assert asked == []

    for wait in waiting._waits.values():
        wait.due = 0.0
    await until(lambda: asked)
    assert sorted(map(str, asked[0])) == sorted(ids)
    assert waiting.slots.all_held == 3  # none of them has ended


async def test_long_polls_of_one_tenant_leave_places_to_others(
    front_db: Database, db: Database, nursery: trio.Nursery, key: Key, streams: Streams
) -> None:
    front = await start_front(nursery, front_db, tenant_requests=5, max_waiting=8)
    stranger = await make_key(db, await make_tenant(db, "Otra Empresa SRL"))
    asked = []
    for one in (key, stranger):
        token = await front.token(one)
        async with front.client(token) as client:
            tax_log_id = (await client.post("/invoices", json=structured())).json()["taxLogId"]
        asked.append(get(f"/invoices/{tax_log_id}?wait=30", token))
    greedy, good = asked

    front.app.extensions["fe"].waiting.answers = None  # another limit
    places = front.app.extensions["fe"].waiting.slots
    polls: list[trio.SocketStream] = []
    for asked_so_far in range(1, 26):  # one by one: of more than five that are in work at once some would be refused
        polls += await streams.opened(front.port, greedy)
        await until(lambda: places.all_held + sum(map(has_come, polls)) == asked_so_far)  # noqa: B023  (awaited here)
    answered = [stream for stream in polls if has_come(stream)]
    assert len(answered) == 20  # five wait; the others are answered with what there is
    assert places.all_held == 5
    assert {await first_line(stream) for stream in answered} == {b"HTTP/1.1 200 "}
    assert refusals(front, "tenant_long_polls") == 20

    others = await streams.opened(front.port, *[good] * 5)
    await until(lambda: sum(map(has_come, others)) == 2 and places.all_held == 8)  # those are all places there are
    assert refusals(front, "tenant_long_polls") == 20
    front.shutdown.set()
    assert {await first_line(stream) for stream in polls + others if stream not in answered} == {b"HTTP/1.1 200 "}


def has_come(stream: trio.SocketStream) -> bool:
    return bool(select.select([stream.socket], [], [], 0)[0])


async def test_requests_of_one_tenant_in_work_leave_room_for_others(
    front_db: Database, db: Database, nursery: trio.Nursery, key: Key, streams: Streams
) -> None:
    front = await start_front(nursery, front_db, tenant_requests=5, **PATIENT)
    stranger = await make_key(db, await make_tenant(db, "Otra Empresa SRL"))
    token = await front.token(key)
    drips = await streams.opened(
        front.port, *[post("/invoices", b"x" * 500, f"Authorization: Bearer {token}")[:-499]] * 5
    )
    await until(lambda: front.app.extensions["fe"].bodies.all_held == 5 * 500)

    got = await front.raw(get("/ncf", token))
    assert got.startswith(b"HTTP/1.1 429 ")
    assert b"retry-after: 1\r\n" in got.lower()
    assert b"connection: close\r\n" in got.lower()
    assert refusals(front, "tenant_requests") == 1
    async with front.client(await front.token(stranger)) as client:
        assert (await client.get("/ncf")).status_code == 200

    await streams.close(drips)
    await until(lambda: front.app.extensions["fe"].bodies.all_held == 0)
    async with front.client(token) as client:
        assert (await client.get("/ncf")).status_code == 200


async def test_bodies_are_counted_before_they_are_read_each_tenants_and_all(
    front_db: Database, db: Database, nursery: trio.Nursery, key: Key, monkeypatch: pytest.MonkeyPatch, streams: Streams
) -> None:
    monkeypatch.setattr(app, "BODY_BYTES_OF_ONE", 2_000_000)
    monkeypatch.setattr(app, "BODY_BYTES", 3_500_000)
    front = await start_front(nursery, front_db, **PATIENT)
    bodies = front.app.extensions["fe"].bodies
    stranger = await make_key(db, await make_tenant(db, "Otra Empresa SRL"))
    tokens = [await front.token(one) for one in (key, stranger)]
    (mine, others) = (
        post("/invoices", b"x" * 900_000, f"Authorization: Bearer {token}")[:-899_999] for token in tokens
    )
    unknown = post("/invoices", b"x", f"Authorization: Bearer {tokens[1]}", chunked=True)[:-6]

    held = await streams.opened(front.port, mine, mine)
    await until(lambda: bodies.all_held == 1_800_000)
    refused = await streams.opened(front.port, mine)
    assert await first_line(refused[0]) == b"HTTP/1.1 429 "
    assert refusals(front, "body_bytes") == 1

    held += await streams.opened(front.port, others)
    await until(lambda: bodies.all_held == 2_700_000)
    refused += await streams.opened(
        front.port, others, unknown
    )  # one that does not say its length may have the longest
    assert [await first_line(stream) for stream in refused[1:]] == [b"HTTP/1.1 503 "] * 2

    await streams.close([*held, *refused])
    await until(lambda: bodies.all_held == 0)


async def test_quotas_count_what_is_handed_in_and_what_is_validated(
    front_db: Database, nursery: trio.Nursery, key: Key
) -> None:
    front = await start_front(nursery, front_db, quota=QuotaLimits(documents_a_minute=2))
    async with front.client(await front.token(key)) as client:
        statuses = [
            (await client.post("/invoices/validate", json=structured())).status_code,
            (await client.post("/invoices", json=structured())).status_code,
            (await client.post("/invoices", json=structured())).status_code,
        ]
        refused = await client.post("/invoices/validate", json=structured())

    assert statuses == [200, 202, 429]
    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= 60


async def test_a_thread_that_judges_lets_the_loop_have_the_interpreter_soon(front: Running) -> None:
    assert sys.getswitchinterval() < 0.001  # Python's own is 5 ms, for each of a dozen waits of one request


async def test_outages_that_a_tenant_plays_are_limited_as_calls_of_its_webhook(
    front_db: Database, nursery: trio.Nursery, db: Database, key: Key
) -> None:
    limit = QuotaLimits(documents_a_minute=4)
    front = await start_front(nursery, front_db, webhook_quota=limit, authority_simulated=True)
    async with front.client(await front.token(key)) as api:
        answers = [await api.post("/sandbox/outages", json={"seconds": seconds}) for seconds in (9, 0, 9, 0, 9)]
    played = await rows(db, "SELECT ends_at FROM sandbox_outages")

    assert [one.status_code for one in answers] == [200] * 4 + [429]
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 60
    assert len(played) == 2


async def test_a_tenant_may_have_its_webhook_called_so_often_and_its_neighbour_too(
    front_db: Database, nursery: trio.Nursery, db: Database, key: Key
) -> None:
    front = await start_front(nursery, front_db, webhook_quota=QuotaLimits(documents_a_minute=4))
    other = await make_key(db, await make_tenant(db, "Otra Empresa SRL"))
    second = await make_key(db, key.tenant_id)
    async with (
        front.client(await front.token(key)) as api,
        front.client(await front.token(second)) as with_another_key,
        front.client(await front.token(other)) as neighbour,
    ):
        for one in (api, neighbour):
            assert (await one.put("/webhooks", json={"url": "https://erp.example/"})).status_code == 200
        sent = await api.post("/webhooks/test")
        retry = f"/webhooks/deliveries/{sent.json()['id']}/retry"
        spent = [
            await with_another_key.post(retry),
            await api.post("/webhooks/deliveries/none/retry"),
            await api.post("/webhooks/recover", json={"since": "2026-01-01"}),
        ]
        assert [sent.status_code, *(one.status_code for one in spent)] == [202, 202, 404, 202]

        for call in (api.post("/webhooks/test"), with_another_key.post(retry), api.post("/webhooks/recover", json={})):
            refused = await call
            assert (refused.status_code, refused.json()["message"]) == (429, "Too Many Requests")
            assert 1 <= int(refused.headers["Retry-After"]) <= 60
        assert (await api.get("/webhooks/deliveries")).json()["total"] == 1, "what is refused is not made"
        assert (await neighbour.post("/webhooks/test")).status_code == 202
    assert refusals(front, "tenant_webhooks") == 3
    assert refusals(front, "tenant_quota") == 0
