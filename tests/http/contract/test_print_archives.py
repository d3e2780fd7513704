"""Many receipts in one ZIP: its files, the refusals, the limit of a tenant, and a client that leaves."""

import io
import json
import random
import socket
import struct
import zipfile
from collections.abc import Callable
from hashlib import sha256
from uuid import uuid4

import httpx
import pytest
import trio

from fe.http.counters import Counters
from fe.http.routes.print_archives import PrintArchives
from fe.identifiers import TenantId
from fe.offload.pool import Apart
from fe.store.postgres.db import Database
from fe.store.records import tenants
from tests.http import worker
from tests.http.front import ISSUER, Running, invoice_payload, make_key, structured
from tests.printing.documents import GOLDEN, signed
from tests.waiting import until

XML = signed(GOLDEN[0])


async def made(api: httpx.AsyncClient, db: Database, number: int, xml: bytes | None = XML) -> str:
    answer = await api.post("/invoices", json=structured(invoice_payload(f"E31{number:010d}")))
    tax_log_id = str(answer.json()["taxLogId"])
    if xml is not None:
        await worker.sign(db, tax_log_id, signed=xml)
    return tax_log_id


def _handlers(front: Running) -> PrintArchives:
    (route,) = (one for one in front.app.extensions["fe"].routes if one.path.endswith("/invoices/pdf"))
    handlers = route.handler.__self__
    assert isinstance(handlers, PrintArchives)
    return handlers


def _request(api: httpx.AsyncClient, wanted: object) -> bytes:
    body = json.dumps(wanted)
    head = f"POST {api.base_url.path}invoices/pdf HTTP/1.1\r\nHost: fe\r\nContent-Length: {len(body)}\r\n"
    said = f"{head}Content-Type: application/json\r\nAuthorization: {api.headers['Authorization']}\r\n\r\n{body}"
    return said.encode()


@pytest.mark.usefixtures("in_process")
async def test_archive_has_pdf_and_xml_of_each_and_names_the_others(api: httpx.AsyncClient, db: Database) -> None:
    good, waiting, broken = await made(api, db, 1), await made(api, db, 2, None), await made(api, db, 3, b"<ECF/>")

    answer = await api.post("/invoices/pdf?layout=80mm", json={"ids": [good, waiting, broken]})

    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        lines = json.loads(archive.read("manifest.json"))["receipts"]
        assert [line["taxLogId"] for line in lines] == [good, waiting, broken]
        first = lines[0]
        assert (archive.read(first["xml"]), archive.read(first["pdf"])[:5]) == (XML, b"%PDF-")
        assert first["pdfSha256"] == sha256(archive.read(first["pdf"])).hexdigest()
        assert first["xmlSha256"] == sha256(XML).hexdigest()
        assert (first["eNCF"], first["status"], "error" in first) == ("E310000000001", "queued", False)
        assert "not signed yet" in lines[1]["error"]
        assert "only an e-CF is printed" in lines[2]["error"]
        assert len(archive.namelist()) == 3


@pytest.mark.usefixtures("in_process")
async def test_archive_of_a_filter_is_bounded_and_names_the_receipts_that_it_lacks(
    api: httpx.AsyncClient, db: Database, front: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_handlers(front), "_most_bytes", 1)
    first, second = await made(api, db, 1), await made(api, db, 2)

    answer = await api.post("/invoices/pdf?rnc=131880657")

    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        lines = json.loads(archive.read("manifest.json"))["receipts"]
    assert [line["taxLogId"] for line in lines] == [second, first]
    assert ["error" in line for line in lines] == [False, True]


@pytest.mark.parametrize(
    ("query", "body", "status", "words"),
    [
        ("", None, 400, "and not both"),
        ("?rnc=131880657", {"ids": [str(uuid4())]}, 400, "and not both"),
        ("", {"ids": []}, 400, "ids must be a list of 1 to 1000 ids"),
        ("", {"ids": ["nothing", str(uuid4())]}, 404, "(2 in all)"),
        ("?rnc=101000001", None, 404, "no receipt matches"),
        ("?rnc=101000001&layout=a3", None, 400, "layout must be one of"),
        ("", {"ids": [str(uuid4())] * 100_000}, 413, ""),
    ],
)
async def test_bad_choice_is_refused_in_both_languages(
    api: httpx.AsyncClient, query: str, body: object, status: int, words: str
) -> None:
    said = []
    for language in ("en", "es"):
        answer = await api.post(f"/invoices/pdf{query}", json=body, headers={"Accept-Language": language})
        assert (answer.status_code, answer.json()["statusCode"]) == (status, status)
        said.append(answer.json()["message"])

    assert words in said[0]
    assert said[0] != said[1]


async def test_receipt_of_another_tenant_is_unknown(front: Running, api: httpx.AsyncClient, db: Database) -> None:
    mine = await made(api, db, 1)
    tenant = await db.run(tenants.create, "Another", {**ISSUER, "RNCEmisor": "131880657"})
    assert tenant is not None
    async with front.client(await front.token(await make_key(db, tenant.tenant_id))) as client:
        answer = await client.post("/invoices/pdf", json={"ids": [mine]})

    assert answer.status_code == 404


@pytest.mark.usefixtures("in_process")
async def test_sent_bytes_of_an_archive_are_counted(
    api: httpx.AsyncClient, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []
    monkeypatch.setattr(Counters, "count", lambda _, caller, status, bytes_in, bytes_out: counted.append(bytes_out))

    receipt = await made(api, db, 1)
    archive = (await api.post("/invoices/pdf", json={"ids": [receipt]})).content

    await until(lambda: counted[1:] == [len(archive)])


async def test_third_archive_of_a_tenant_is_refused_until_a_client_of_two_has_left(
    front: Running, api: httpx.AsyncClient, db: Database, monkeypatch: pytest.MonkeyPatch, nursery: trio.Nursery
) -> None:
    wanted = {"ids": [await made(api, db, 1)]}
    proceed = trio.Event()

    async def run(_: Apart, tenant: TenantId, work: Callable[..., bytes], *given: object) -> bytes:
        await proceed.wait()
        return b"%PDF-"

    monkeypatch.setattr(Apart, "run", run)
    archives = _handlers(front)._archives
    whole: list[bool] = []

    async def answered() -> None:
        answer = await api.post("/invoices/pdf", json=wanted)
        whole.append(zipfile.is_zipfile(io.BytesIO(answer.content)))

    nursery.start_soon(answered)
    async with await trio.open_tcp_stream("127.0.0.1", front.port) as leaving:
        await leaving.send_all(_request(api, wanted))
        await until(lambda: archives.all_held == 2)
        refused = await api.post("/invoices/pdf?layout=a4", json=wanted)
        leaving.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    await until(lambda: archives.all_held == 1)
    nursery.start_soon(answered)
    await until(lambda: archives.all_held == 2)
    proceed.set()
    await until(lambda: len(whole) == 2)

    assert (refused.status_code, refused.headers["Retry-After"], whole) == (429, "1", [True, True])
    await until(lambda: archives.all_held == 0)


async def test_printing_stops_when_the_client_leaves(
    front: Running, api: httpx.AsyncClient, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [await made(api, db, number) for number in range(1, 13)]
    began = 0

    async def run(_: Apart, tenant: TenantId, work: Callable[..., bytes], *given: object) -> bytes:
        nonlocal began
        began += 1
        await trio.sleep(0.05)
        return b"%PDF-" + random.randbytes(50_000)

    monkeypatch.setattr(Apart, "run", run)
    async with await trio.open_tcp_stream("127.0.0.1", front.port) as stream:
        await stream.send_all(_request(api, {"ids": ids}))
        assert (await stream.receive_some(4096)).startswith(b"HTTP/1.1 200")
    seen = began

    await trio.sleep(1)  # as long as all of them take, and more
    assert seen <= began <= seen + 3 < len(ids)
