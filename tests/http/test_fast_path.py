"""The fast path and the way through Quart: which requests go where, and that it makes no difference to a client."""

import itertools
import json
import select
from typing import Any

import pytest
import trio

from fe.http.app import PREFIX
from fe.http.routes import invoices
from fe.http.server.requests import make_call
from fe.store.postgres.db import Database
from tests.http.front import Key, Running, Streams, body_of, start_front, structured
from tests.waiting import until

BOTH = pytest.mark.parametrize("fast_path", [True, False], ids=["fast path", "Quart"])


def requests_through_quart(front: Running) -> list[str]:
    """The paths of the requests that the framework is given from now on."""
    seen: list[str] = []
    framework = front.app.asgi_app

    async def noting(scope, receive, send):  # type: ignore[no-untyped-def]  # as any ASGI middleware
        seen.append(scope["path"])
        await framework(scope, receive, send)

    front.app.asgi_app = noting  # type: ignore[method-assign]  # the way that Quart documents for middleware
    return seen


def is_readable(stream: trio.SocketStream) -> bool:
    """Whether an answer, or the end, has arrived."""
    return bool(select.select([stream.socket.fileno()], [], [], 0)[0])


def request(method: str, path: str, *headers: str, body: bytes = b"") -> bytes:
    """A request in raw bytes, after which the server closes the connection."""
    lines = [f"{method} {PREFIX}{path} HTTP/1.1", "Host: a", "Connection: close", *headers]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


@BOTH
async def test_whole_requests_of_the_busiest_routes_skip_the_framework_unless_told_otherwise(
    front_db: Database, nursery: trio.Nursery, key: Key, fast_path: bool
) -> None:
    front = await start_front(nursery, front_db, fast_path=fast_path)
    async with front.client(await front.token(key)) as api:
        seen = requests_through_quart(front)
        accepted = await api.post("/invoices", json=structured())
        one = f"/invoices/{accepted.json()['taxLogId']}"
        shown = await api.get(one)
        listed = await api.get("/invoices")

    assert [answer.status_code for answer in (accepted, shown, listed)] == [202, 200, 200]
    expected = [f"{PREFIX}/invoices"] if fast_path else [f"{PREFIX}/invoices", f"{PREFIX}{one}", f"{PREFIX}/invoices"]
    assert seen == expected


@BOTH
async def test_a_client_that_leaves_ends_its_wait(
    front_db: Database,
    nursery: trio.Nursery,
    key: Key,
    streams: Streams,
    monkeypatch: pytest.MonkeyPatch,
    fast_path: bool,
) -> None:
    monkeypatch.setattr(invoices, "WAIT_MAX", 600)
    front = await start_front(nursery, front_db, fast_path=fast_path, max_in_flight=3)
    token = await front.token(key)
    async with front.client(token) as api:
        one = (await api.post("/invoices", json=structured())).json()["taxLogId"]
        description = await api.get("/openapi.json")
    seen = requests_through_quart(front)
    slots, in_work = front.app.extensions["fe"].waiting.slots, front.metrics.registry.get_sample_value
    poll = f"GET {PREFIX}/invoices/{one}?wait=600 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n"
    # The framework cannot be told to answer at once: who has closed one side may read, and is waited for.
    leave = [streams.close, streams.reset] if fast_path else [streams.reset]
    endings = ("\r\n", "Connection: close\r\n\r\n")  # read at a glance, and by h11
    for ending, go in itertools.product(endings, leave):
        waiting: list[trio.SocketStream] = []
        while (number := len(waiting)) < 5:  # one by one: at most three are in work at once; waiting ones do not count
            (stream,) = await streams.opened(front.port, (poll + ending).encode())
            await until(lambda: slots.all_held > number or is_readable(stream))  # noqa: B023  (awaited here)
            if is_readable(stream):  # a database that is slow for a moment is no failure of ours
                assert (await stream.receive_some()).startswith(b"HTTP/1.1 503 ")
            else:
                waiting.append(stream)
        await go(waiting)
        # A slot is given back a moment before its request is over, and the next one might be refused until then.
        await until(lambda: (slots.all_held, in_work("fe_http_in_flight")) == (0, 0))

    assert bool(seen) is not fast_path
    assert description.status_code == 200


@BOTH
async def test_a_header_that_decides_who_is_calling_may_not_be_repeated(
    front_db: Database, nursery: trio.Nursery, key: Key, fast_path: bool
) -> None:
    front = await start_front(nursery, front_db, fast_path=fast_path)
    good = f"Authorization: Bearer {await front.token(key)}"
    for repeated in ((good, good), (good, "Authorization: Bearer x"), ("authorization: Bearer x", good)):
        got = await front.raw(request("GET", "/invoices/nobody", *repeated))

        assert body_of(got) == {"message": "a request has only one Authorization", "statusCode": 400}, repeated


@BOTH
async def test_any_other_repeated_header_is_one_list(
    front_db: Database, nursery: trio.Nursery, key: Key, fast_path: bool
) -> None:
    """A second Content-Type makes a media type that is none, whichever of the two a reader might have preferred."""
    front = await start_front(nursery, front_db, fast_path=fast_path)
    token = f"Authorization: Bearer {await front.token(key)}"
    body = json.dumps(structured()).encode()
    for other in ("text/plain", "application/json"):
        got = await front.raw(request("POST", "/invoices", token, f"Content-Type: {other}", body=body))

        assert body_of(got)["message"].startswith("Content-Type must be application/json (it was "), other
    repeated = await front.raw(request("GET", "/invoices/nobody", token, "Accept: a/b", "Accept: c/d"))
    assert body_of(repeated) == {"found": False}


def test_the_values_of_a_repeated_header_are_joined_in_their_order() -> None:
    """A proxy that adds a header of its own adds it behind the client's, and the last hop is what we believe."""
    scope: Any = {
        "headers": [(b"x-forwarded-for", b"192.0.2.1"), (b"accept", b"a/b"), (b"x-forwarded-for", b"198.51.100.7")],
        "query_string": b"",
        "client": None,
        "state": {"request_id": "r"},
    }

    async def nothing() -> bytes:
        return b""

    call = make_call(scope, {}, nothing)

    assert call.headers == {"x-forwarded-for": "192.0.2.1, 198.51.100.7", "accept": "a/b"}
    assert call.peer == ""


@BOTH
async def test_a_client_that_leaves_has_handed_in_all_or_nothing(
    front_db: Database, nursery: trio.Nursery, key: Key, fast_path: bool
) -> None:
    front = await start_front(nursery, front_db, fast_path=fast_path)
    token = await front.token(key)
    body = structured(clientRequestId="once")
    whole = request("POST", "/invoices", f"Authorization: Bearer {token}", body=json.dumps(body).encode())

    got = await front.raw(whole, half_close=True)

    async with front.client(token) as api:
        again = await api.post("/invoices", json=body)
        assert (await api.get("/invoices")).json()["total"] == 1
    if got:  # it was answered although its client had closed its sending side, and the repeat gets the same receipt
        assert again.json()["taxLogId"] == body_of(got)["taxLogId"]
    if fast_path:  # the fast path does not check before the answer whether the client is still there
        assert got.startswith(b"HTTP/1.1 202")
        assert again.status_code == 200
