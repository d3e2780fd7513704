"""The Python client in trouble: blocking, on asyncio and on Trio."""

import asyncio
import io
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from decimal import Decimal
from typing import Any

import httpx
import pytest
import trio
from fe_client import AnswerLostError, AsyncFe, Fe, FeError, Retries

from tests.clients.hostile import say, silent
from tests.clients.troubles import OVER, RECEIPT, TAKEN, TROUBLES, Driver, Outcome, Trouble, play
from tests.plain_http import NO_TLS
from tests.waiting import until

FIELDS = ("status", "retry_after", "client_request_id", "problems", "request_id", "items")


def _neutral(value: Any) -> Any:
    """A result as conversations.json has it: amounts are texts."""
    match value:
        case Decimal():
            return str(value)
        case bytes():
            return {"bytes": value.decode()}
        case dict():
            return {name: _neutral(each) for name, each in value.items()}
        case list():
            return [_neutral(each) for each in value]
        case _:
            return value


class Pauses:
    """A clock that only pauses move."""

    def __init__(self, paused: Callable[[], None]) -> None:
        self._paused = paused
        self.slept: list[float] = []

    def clock(self) -> float:
        return sum(self.slept)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self._paused()

    async def asleep(self, seconds: float) -> None:
        self.sleep(seconds)

    def outcome(self, result: Any, error: FeError | TypeError | None) -> Outcome:
        if error is None:
            return Outcome(_neutral(result), None, self.slept)
        if isinstance(error, TypeError):
            return Outcome(refused=str(error))
        fields = {name: getattr(error, name, None) for name in FIELDS}
        told = {name: value for name, value in fields.items() if value}
        return Outcome(None, {"name": type(error).__name__, **told}, self.slept)


def blocking(trouble: Trouble, url: str, paused: Callable[[], None]) -> Outcome:
    pauses = Pauses(paused)
    options: Any = {"retries": Retries(trouble.tries), "clock": pauses.clock, "chance": lambda: 0.0}
    with (
        httpx.Client(verify=NO_TLS, trust_env=False) as http,
        Fe(url, "fak_0", "secret", http=http, sleep=pauses.sleep, **options) as fe,
    ):
        if trouble.patience is not None:
            fe.login()
            fe.session.timeout = trouble.patience
        name, args, kwargs = trouble.call
        try:
            result = getattr(fe, name)(*args, **kwargs)
            return pauses.outcome(list(result) if isinstance(result, Iterator) else result, None)
        except (FeError, TypeError) as error:
            return pauses.outcome(None, error)


async def _awaited(trouble: Trouble, url: str, paused: Callable[[], None]) -> Outcome:
    pauses = Pauses(paused)
    options: Any = {"retries": Retries(trouble.tries), "clock": pauses.clock, "chance": lambda: 0.0}
    async with (
        httpx.AsyncClient(verify=NO_TLS, trust_env=False) as http,
        AsyncFe(url, "fak_0", "secret", http=http, sleep=pauses.asleep, **options) as fe,
    ):
        if trouble.patience is not None:
            await fe.login()
            fe.session.timeout = trouble.patience
        name, args, kwargs = trouble.call
        try:
            result: AsyncIterator[Any] | Awaitable[Any] = getattr(fe, name)(*args, **kwargs)
            if isinstance(result, AsyncIterator):
                return pauses.outcome([item async for item in result], None)
            return pauses.outcome(await result, None)
        except (FeError, TypeError) as error:
            return pauses.outcome(None, error)


def on_asyncio(trouble: Trouble, url: str, paused: Callable[[], None]) -> Outcome:
    return asyncio.run(_awaited(trouble, url, paused))


def on_trio(trouble: Trouble, url: str, paused: Callable[[], None]) -> Outcome:
    return trio.run(_awaited, trouble, url, paused)


@pytest.mark.parametrize("drive", [blocking, on_asyncio, on_trio], ids=lambda drive: drive.__name__)
@pytest.mark.parametrize("trouble", TROUBLES, ids=lambda trouble: trouble.name)
def test_a_trouble_is_borne_or_told_as_what_it_is(trouble: Trouble, drive: Driver) -> None:
    play(trouble, drive)


def test_an_id_is_made_before_the_first_try_and_errors_have_it() -> None:
    trouble = Trouble("", ("submit", [RECEIPT], {}), [say(500, b"?")] * 3, Outcome(), tries=3)
    with trouble.server() as server:
        server.open()
        outcome = blocking(trouble, server.url, lambda: None)

    assert outcome.error is not None
    sent = [json.loads(call.body)["clientRequestId"] for call in server.calls]
    assert sent == [outcome.error["client_request_id"]] * 3


def test_each_item_of_a_batch_has_an_id_of_its_own() -> None:
    items = [{"format": "structured", "payload": RECEIPT}] * 2 + [{"format": "xml", "xml": "x", "clientRequestId": "o"}]
    trouble = Trouble("", ("batch", [items], {}), [say(200, {"items": []})], Outcome())
    with trouble.server() as server:
        server.open()
        blocking(trouble, server.url, lambda: None)

    first, second, third = (item["clientRequestId"] for item in json.loads(server.calls[0].body)["items"])
    assert first != second
    assert third == "o"


async def test_tasks_that_need_a_token_log_in_once_together() -> None:
    trouble = Trouble("", ("submit", [RECEIPT], {}), [say(202, TAKEN)] * 8, Outcome())
    with trouble.server() as server:
        server.open()
        async with (
            httpx.AsyncClient(verify=NO_TLS, trust_env=False) as http,
            AsyncFe(server.url, "fak_0", "s", http=http) as fe,
            trio.open_nursery() as together,
        ):
            for _ in range(8):
                together.start_soon(fe.submit, RECEIPT)

    assert (len(server.calls), server.times_logged_in) == (8, 1)


def test_a_token_is_renewed_before_it_is_over() -> None:
    now = [0.0]
    trouble = Trouble("", ("submit", [RECEIPT], {}), [say(202, TAKEN)] * 3, Outcome())
    with trouble.server() as server, httpx.Client(verify=NO_TLS, trust_env=False) as http:
        server.open()
        with Fe(server.url, "fak_0", "secret", http=http, clock=lambda: now[0]) as fe:
            for moment in (0.0, 3539.0, 3541.0):
                now[0] = moment
                fe.submit(RECEIPT)

    assert [call.headers["authorization"] for call in server.calls] == ["Bearer token-1"] * 2 + ["Bearer token-2"]


async def test_a_call_that_is_cancelled_leaves_the_client_usable() -> None:
    trouble = Trouble("", ("submit", [RECEIPT], {}), [silent, OVER, say(202, TAKEN)], Outcome())
    with trouble.server() as server:
        server.open()
        async with (
            httpx.AsyncClient(verify=NO_TLS, trust_env=False) as http,
            AsyncFe(server.url, "fak_0", "s", http=http) as fe,
        ):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(fe.submit, RECEIPT)
                await until(lambda: server.calls)
                nursery.cancel_scope.cancel()
            assert (await fe.submit(RECEIPT)) == TAKEN


class _BreaksOff(httpx.SyncByteStream):
    def __iter__(self) -> Iterator[bytes]:
        yield b"PK\x03\x04"
        raise httpx.ReadError("reset")


def test_archive_that_breaks_off_is_not_asked_for_again() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path.rpartition("/")[2])
        if asked[-1] == "login":
            return httpx.Response(200, json={"accessToken": "t", "expiresIn": 3600})
        if asked.count("pdf") == 1:
            return httpx.Response(503, json={"message": "busy", "statusCode": 503})
        return httpx.Response(200, headers={"content-type": "application/zip"}, stream=_BreaksOff())

    written = io.BytesIO()
    with (
        httpx.Client(transport=httpx.MockTransport(answer)) as http,
        Fe("http://fe", "fak_0", "secret", http=http, sleep=lambda _: None) as fe,
        pytest.raises(AnswerLostError),
    ):
        fe.pdfs(["id"], to=written)

    assert (asked, written.getvalue()) == (["login", "pdf", "pdf"], b"PK\x03\x04")
