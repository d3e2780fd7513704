"""Forms as they are sent: slowly, by many at once, or with more in them than a page needs. Judged by the answers."""

from collections.abc import AsyncIterator, Hashable, Iterator
from functools import partial
from typing import Any

import httpx
import pytest
import trio
from structlog.testing import capture_logs

from fe.ecf.catalogue import EcfType
from fe.http.server import pipeline
from fe.identifiers import TenantId
from fe.limits import ConcurrencyLimit
from fe.portal import app, attempts, form_reader
from fe.portal.form_reader import read_form
from fe.portal.page_types import STRANGERS_BYTES, STRANGERS_FIELDS, Needs
from fe.portal.pages import every_page
from fe.portal.pages.new_receipt import MAX_FIELDS
from fe.portal.receipt.layout import layout
from fe.portal.replies import Refused
from fe.store.postgres.db import Database
from tests.http.front import Streams
from tests.plain_http import NO_TLS
from tests.portal.running import Browser, Running, hidden_fields, start_portal
from tests.waiting import PATIENCE, until

URLENCODED = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=b"
ATTACKER = "127.0.0.66"
IN_FLIGHT = 3


@pytest.fixture
async def streams() -> AsyncIterator[Streams]:
    opened = Streams()
    yield opened
    await opened.close()


@pytest.fixture
def turns() -> ConcurrencyLimit[Hashable]:
    return ConcurrencyLimit(each=1, patience=PATIENCE)


@pytest.fixture
async def small(
    nursery: trio.Nursery,
    db: Database,
    portal_db: Database,
    monkeypatch: pytest.MonkeyPatch,
    turns: ConcurrencyLimit[Hashable],
) -> Running:
    """A portal of few places, of which an address has one; it waits for as long as a test takes."""
    monkeypatch.setattr(app, "IN_FLIGHT", IN_FLIGHT)
    monkeypatch.setattr(pipeline, "ANONYMOUS_AT_ONCE", 1)
    monkeypatch.setattr(form_reader, "anonymous_limit", lambda: turns)
    monkeypatch.setattr(form_reader, "BODY_SECONDS", PATIENCE)
    return await start_portal(nursery, db, portal_db, None)


def head(path: str, length: int) -> bytes:
    return (
        f"POST {path} HTTP/1.1\r\nHost: a\r\nAccept-Language: en\r\nContent-Type: {URLENCODED}\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


def connections(portal: Running) -> float | None:
    return portal.portal.metrics.registry.get_sample_value("fe_http_connections")


async def said_by(stream: trio.SocketStream, until: bytes = b"") -> bytes:
    """Read the portal's answer until it closes, or has sent `until`."""
    got = b""
    with trio.fail_after(PATIENCE):
        while (part := await stream.receive_some()) and not (until and until in got + part):
            got += part
    return got + part


def browser_at(portal: Running, source: str) -> httpx.AsyncClient:
    transport = httpx.AsyncHTTPTransport(local_address=source, verify=NO_TLS)
    return httpx.AsyncClient(
        base_url=portal.url, timeout=PATIENCE, transport=transport, headers={"Accept-Language": "en"}
    )


async def test_bodies_that_do_not_come_keep_nobody_out(small: Running, streams: Streams) -> None:
    await streams.opened(small.port, *([head("/sign-in", 1000) + b"a=1"] * 2 * IN_FLIGHT), source=ATTACKER)
    await until(lambda: connections(small) == 2 * IN_FLIGHT)

    async with small.browser() as browser:
        answers = [(await browser.get("/sign-in")).status_code for _ in range(10)]

    assert answers == [200] * 10


async def test_a_body_that_comes_too_slowly_is_refused_and_is_no_fault_of_ours(
    portal: Running, streams: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(form_reader, "BODY_SECONDS", 0.1)
    with capture_logs() as logs:
        (stream,) = await streams.opened(portal.port, head("/sign-in", 1000) + b"a=1")
        answer = await said_by(stream)

    assert answer.startswith(b"HTTP/1.1 408 "), answer
    assert b"did not arrive within 0.1 seconds" in answer
    assert b"connection: close" in answer.lower()
    assert [line for line in logs if line["log_level"] == "error"] == []


def turns_taken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which addresses asked for their turn with what they send, from now on."""
    asked: list[str] = []
    turn = form_reader.FormReader.turn

    def noting(self: form_reader.FormReader, scope: Any) -> Any:
        if scope["method"] == "POST":
            asked.append(scope["client"][0])
        return turn(self, scope)

    monkeypatch.setattr(form_reader.FormReader, "turn", noting)
    return asked


def is_so_long(found: list[str], many: int) -> bool:
    return len(found) == many


async def test_an_address_has_its_turn_and_those_that_wait_for_theirs_keep_nobody_out(
    small: Running, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch, turns: ConcurrencyLimit[Hashable]
) -> None:
    begun: list[str] = []
    may_go_on = trio.Event()

    async def wait(visit: Any, *_: Any) -> None:
        begun.append(visit.address)
        await may_go_on.wait()

    monkeypatch.setattr(attempts, "count", wait)
    waited = turns_taken(monkeypatch)
    answers: list[int] = []
    async with browser_at(small, ATTACKER) as attacker, browser_at(small, "127.0.0.1") as other:

        async def form_of(client: httpx.AsyncClient) -> dict[str, str]:
            return hidden_fields((await client.get("/sign-in")).text, "/sign-in") | {"email": "a", "password": "b"}

        async def send(client: httpx.AsyncClient, form: dict[str, str]) -> None:
            answers.append((await client.post("/sign-in", data=form)).status_code)

        form, others = await form_of(attacker), await form_of(other)
        async with trio.open_nursery() as sending:
            sending.start_soon(send, attacker, form)
            await until(lambda: begun)
            waited.clear()
            for number in range(1, 2 * IN_FLIGHT):
                sending.start_soon(send, attacker, form)
                await until(partial(is_so_long, waited, number))
            seen = [(await other.get("/sign-in")).status_code for _ in range(10)]
            sending.start_soon(send, other, others)
            await until(lambda: "127.0.0.1" in begun)
            turns.patience = 0.0
            refused = await attacker.post("/sign-in", data=form)
            turns.patience = PATIENCE
            while_blocked = list(begun)
            may_go_on.set()

    assert seen == [200] * 10
    assert while_blocked == [ATTACKER, "127.0.0.1"], "one of each address was in work"
    assert (refused.status_code, "try again in a moment" in refused.text) == (429, True)
    assert refused.headers["retry-after"] == "1"
    assert answers == [403] * (2 * IN_FLIGHT + 1), "all had their turn"


async def test_an_authorization_that_somebody_made_up_buys_no_places(
    small: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    answers: list[int] = []
    may_go_on = trio.Event()

    async def wait(_: Any, visit: Any) -> None:
        begun.append(visit.address)
        await may_go_on.wait()

    monkeypatch.setattr(app, "let_in", wait)
    async with browser_at(small, ATTACKER) as attacker, browser_at(small, "127.0.0.1") as other:

        async def ask(client: httpx.AsyncClient, headers: dict[str, str]) -> None:
            answers.append((await client.get("/sign-in", headers=headers)).status_code)

        async with trio.open_nursery() as asking:
            for number in range(2 * IN_FLIGHT):
                asking.start_soon(ask, attacker, {"Authorization": f"Bearer {number}"})
            await until(lambda: begun and connections(small) == 2 * IN_FLIGHT)
            asking.start_soon(ask, other, {})
            await until(lambda: "127.0.0.1" in begun or answers)
            while_blocked = list(begun)
            may_go_on.set()

    assert while_blocked == [ATTACKER, "127.0.0.1"], "one of each address was in work"
    assert answers == [200] * (2 * IN_FLIGHT + 1)


async def test_what_is_sent_to_a_page_that_needs_somebody_is_not_read_of_nobody(
    portal: Running, streams: Streams
) -> None:
    (page, *_) = (one for one in every_page(portal.portal) if (one.method, one.needs) == ("POST", Needs.PERSON))

    (stream,) = await streams.opened(portal.port, head(page.path, page.max_body_bytes))
    answer = await said_by(stream, until=b"\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 303 "), answer
    assert b"location: /sign-in\r\n" in answer.lower()


async def test_before_somebody_has_logged_in_little_is_read(portal: Running) -> None:
    """This limit holds for every page, also for new ones."""
    for page in every_page(portal.portal):
        if page.needs is Needs.NOTHING:
            assert (page.max_body_bytes, page.max_fields) == (STRANGERS_BYTES, STRANGERS_FIELDS), page.name


async def test_a_chunked_body_is_held_to_its_page_too(portal: Running) -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield b"a=" + b"1" * STRANGERS_BYTES

    async with portal.browser() as browser:
        refused = await browser.client.post("/sign-in", content=parts(), headers={"Content-Type": URLENCODED})

    assert refused.status_code == 413


def part(name: int, more: str = "") -> bytes:
    return f'--b\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n1\r\n'.encode()


def forms_of(many: int) -> Iterator[tuple[str, bytes]]:
    yield URLENCODED, b"&".join(b"%d=1" % name for name in range(many))
    yield MULTIPART, b"".join(map(part, range(many))) + b"--b--\r\n"
    yield MULTIPART, b"".join(part(name, '; filename="a"') for name in range(many)) + b"--b--\r\n"


def test_a_form_has_as_many_fields_as_its_page_takes_and_no_more() -> None:
    for kind, body in forms_of(5):
        form = read_form(body, kind, 5)
        assert len(form.fields) + len(form.files) == 5
        with pytest.raises(Refused) as refused:
            read_form(body, kind, 4)
        assert refused.value.status == 413


def test_many_separators_with_nothing_between_them_are_many_fields() -> None:
    with pytest.raises(Refused):
        read_form(b"a" + b"&" * 200, URLENCODED, 200)


def test_form_has_no_nul_and_no_long_file_name() -> None:
    typed = read_form(b"name=An%00a", URLENCODED, 1)
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="' + b"n" * 300 + b'"\r\n\r\n'
    file = read_form(head + b"a\0b\r\n--b--\r\n", MULTIPART, 1).files["file"]

    assert typed.get("name") == "Ana"
    assert (len(file.name), file.content) == (200, b"a\0b")


@pytest.mark.parametrize("kind", range(3), ids=["urlencoded", "multipart", "files"])
async def test_too_many_fields_are_refused_in_a_page(owner: Browser, tenant: TenantId, kind: int) -> None:
    media_type, body = list(forms_of(1000))[kind]

    refused = await owner.client.post(
        f"/companies/{tenant}/settings", content=body, headers={"Content-Type": media_type, "Connection": "close"}
    )

    assert (refused.status_code, "is too large" in refused.text) == (413, True)


async def test_a_receipt_of_a_thousand_lines_fits(owner: Browser, tenant: TenantId) -> None:
    for of in EcfType:
        form = layout(of)
        lines = sum(len(table.blank_row()) * min(table.most, 1000) for table in form.tables)
        assert len(list(form.fields)) + lines + 20 < MAX_FIELDS, of
    page = await owner.get(f"/companies/{tenant}/testecf/new/31")
    hidden = hidden_fields(page.text, f"/companies/{tenant}/testecf/new/31")
    names = [f"cosa {number}" for number in range(1, 1001)]

    shown = await owner.send(
        f"/companies/{tenant}/testecf/new/31",
        hidden | {"do": "add:pay", "item.NombreItem": names, "item.CantidadItem": ["1"] * 1000},
    )

    assert shown.status_code == 200, shown.text
    assert all(f'value="cosa {number}"' in shown.text for number in (1, 500, 1000))
