"""Invalid requests, and too many valid ones: refused, bounded, and not stored."""

import socket
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import trio
from cryptography.hazmat.primitives.serialization import Encoding

from fe.http.reception import app as module
from fe.store.postgres.db import Database
from tests.factories.certificates import default_credential, make_bitwise
from tests.factories.tenants import rows
from tests.receiving.supplier import BASE, OURS, Running, document, read, start_reception
from tests.waiting import PATIENCE

PATH = f"{BASE}/recepcion/api/ecf"
GOOD = document()
BITWISE = b64encode(make_bitwise().public_bytes(Encoding.DER))
BODY = GOOD[GOOD.index(b"?>") + 2 :]


@contextmanager
def listener() -> Iterator[tuple[int, list[int]]]:
    """A port of ours that must not be called; the list has one entry for each call."""
    calls: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                calls.append(1)
                connection.close()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield server.getsockname()[1], calls
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def corpus(port: int, canary: Path) -> dict[str, bytes]:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 9))
    return {
        "external entity": f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{canary}">]><ECF>&x;</ECF>'.encode(),
        "entity over http": f'<!DOCTYPE a [<!ENTITY x SYSTEM "http://127.0.0.1:{port}/">]><ECF>&x;</ECF>'.encode(),
        "external dtd": f'<!DOCTYPE ECF SYSTEM "http://127.0.0.1:{port}/d.dtd">'.encode() + BODY,
        "parameter entity": f'<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1:{port}/">%x;]><ECF/>'.encode(),
        "billion laughs": f'<!DOCTYPE a [<!ENTITY l0 "ha">{laughs}]><ECF>&l8;</ECF>'.encode(),
        "quadratic": f'<!DOCTYPE a [<!ENTITY l "{"a" * 50_000}">]><ECF>{"&l;" * 50_000}</ECF>'.encode(),
        "doctype alone": b"<!DOCTYPE ECF>" + BODY,
        "utf-16": b"\xff\xfe" + "<ECF/>".encode("utf-16-le"),
        "latin-1": b'<?xml version="1.0" encoding="iso-8859-1"?>' + BODY,
        "nul": BODY.replace(b"COSA", b"CO\0SA"),
        "control": BODY.replace(b"COSA", b"CO\x01SA"),
        "deep": b"<a>" * 5000 + b"</a>" * 5000,
        "many elements": b"<ECF>" + b"<a/>" * 200_000 + b"</ECF>",
        "many declarations": BODY.replace(
            b"<ECF", b"<ECF " + b" ".join(b'xmlns:a%d="a:"' % n for n in range(4_000)), 1
        ),
        "many attributes": BODY.replace(b"<ECF", b"<ECF " + b" ".join(b'a%d="1"' % n for n in range(40_000)), 1),
        "long prefixes": BODY.replace(b"<ECF", b"<ECF xmlns:%s='u'" % (b"p" * 40_000), 1),
        "an unknown entity": BODY.replace(b"COSA", b"&nbsp;"),
        "cut off": BODY[:-5],
        "two roots": BODY + BODY,
        "text after": BODY + b"x",
        "xinclude": b'<ECF xmlns:i="http://www.w3.org/2001/XInclude"><i:include href="file:///etc/passwd"/></ECF>',
        "a number that is none": BODY.replace(b"E310000000007", b"E31000000000\xd9\xa7"),
        "an issuer that is none": BODY.replace(b"131880738", b"13188073x"),
    }


async def test_the_corpus_is_refused_and_nothing_is_fetched_or_kept(
    reception: Running, db: Database, tmp_path: Path
) -> None:
    canary = tmp_path / "canary"
    canary.write_text("CANARIO")
    with listener() as (port, calls):
        for name, content in corpus(port, canary).items():
            answer = await reception.send(content)
            assert answer.status_code == 400, (name, answer.text)
            assert "CANARIO" not in answer.text, name
            assert len(answer.content) < 500, name
    assert calls == []
    assert await rows(db, "SELECT 1 FROM acknowledgements") == []


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda b: b.replace(b"</ECF>", b[b.index(b"<Signature") :], 1), id="two signatures"),
        pytest.param(lambda b: b.replace(b'URI=""', b'URI="#x"'), id="by Id"),
        pytest.param(lambda b: b.replace(b'URI=""', b'URI="file:///etc/passwd"'), id="a file"),
        pytest.param(lambda b: b.replace(b"xmldsig-more#rsa-sha256", b"xmldsig-more#hmac-sha256"), id="hmac"),
        pytest.param(lambda b: b.replace(b"2001/04/xmlenc#sha256", b"2000/09/xmldsig#sha1"), id="sha1"),
        pytest.param(lambda b: b.replace(b"<NombreItem>COSA", b"<NombreItem>CASA"), id="a changed line"),
        pytest.param(lambda b: b.replace(b64encode(default_credential().der), BITWISE), id="a holder that is bits"),
    ],
)
async def test_signatures_that_are_bent_are_reason_2_and_nothing_of_them_is_kept(
    reception: Running, db: Database, spoil: object
) -> None:
    assert callable(spoil)
    bent: bytes = spoil(BODY)
    assert bent != BODY

    said = read(await reception.send(bent))

    assert (said.state, said.reason) in (("1", "2"), ("1", "1"))
    assert await rows(db, "SELECT 1 FROM acknowledgements") == []
    assert await rows(db, "SELECT 1 FROM received") == []


async def test_a_sender_that_never_ends_is_given_up(
    nursery: trio.Nursery, db: Database, reception_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BODY_SECONDS", 1)
    reception = await start_reception(nursery, db, reception_db)
    stream = await trio.open_tcp_stream("127.0.0.1", reception.port)
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n"
    async with stream:
        await stream.send_all(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        got = b""
        with trio.fail_after(60):
            async with trio.open_nursery() as both:

                async def drip() -> None:
                    try:
                        while True:
                            await stream.send_all(b"1\r\na\r\n")
                            await trio.sleep(0.05)
                    except (trio.BrokenResourceError, trio.ClosedResourceError):
                        pass

                both.start_soon(drip)
                while b"\r\n\r\n" not in got and (chunk := await stream.receive_some(4096)):
                    got += chunk
                both.cancel_scope.cancel()
    assert got.startswith(b"HTTP/1.1 408 ")


async def test_fast_caller_gets_429_and_trusted_proxies_name_it(
    nursery: trio.Nursery, db: Database, reception_db: Database
) -> None:
    from fe.config import read_networks

    trusted = read_networks("127.0.0.0/8")
    reception = await start_reception(nursery, db, reception_db, calls_per_second=0.01, trusted_proxies=trusted)

    async with reception.client() as client:

        async def ask(address: str) -> int:
            seed = f"/testecf/{OURS}/fe/autenticacion/api/semilla"
            return (await client.get(seed, headers={"x-forwarded-for": address})).status_code

        assert [await ask("192.0.2.1") for _ in range(2)] == [200, 429]
        assert await ask("192.0.2.2") == 200


async def test_more_than_fits_is_shed_and_nothing_waits(
    nursery: trio.Nursery, db: Database, reception_db: Database
) -> None:
    """One request in work at most: while a slow body arrives, the next is told to come again."""
    reception = await start_reception(nursery, db, reception_db, in_flight=1)
    stream = await trio.open_tcp_stream("127.0.0.1", reception.port)
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n"
    async with stream, reception.client() as client:
        await stream.send_all(f"{head}Content-Length: 100\r\n\r\n".encode())
        with trio.fail_after(60):
            seed = f"{BASE}/autenticacion/api/semilla"
            while (answer := await client.get(seed)).status_code == 200:  # noqa: ASYNC110  (only asking shows it)
                await trio.sleep(0.05)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        # Health checks are answered all the same.
        assert (await client.get("/healthz")).status_code == 200
    assert isinstance(answer, httpx.Response)


async def test_document_before_a_half_close_is_acknowledged(reception: Running) -> None:
    request = httpx.Request("POST", f"http://127.0.0.1:{reception.port}{PATH}", files={"xml": ("e.xml", GOOD)})
    head = "".join(f"{name}: {value}\r\n" for name, value in request.headers.items())
    got = b""
    with trio.fail_after(PATIENCE):
        async with await trio.open_tcp_stream("127.0.0.1", reception.port) as stream:
            await stream.send_all(f"POST {PATH} HTTP/1.1\r\n{head}\r\n".encode() + request.read())
            await stream.send_eof()
            while chunk := await stream.receive_some(65536):
                got += chunk

    assert got.startswith(b"HTTP/1.1 200 "), got
