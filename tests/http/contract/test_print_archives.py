"""Many receipts in one ZIP: its files, the refusals, and a client that leaves."""

import io
import json
import random
import zipfile
from collections.abc import Callable
from hashlib import sha256
from uuid import uuid4

import httpx
import pytest
import trio

from fe.identifiers import TenantId
from fe.offload.pool import Apart
from fe.store.postgres.db import Database
from fe.store.records import tenants
from tests.http import worker
from tests.http.front import ISSUER, Running, invoice_payload, make_key, structured
from tests.printing.documents import GOLDEN, signed

XML = signed(GOLDEN[0])


async def made(api: httpx.AsyncClient, db: Database, number: int, xml: bytes | None = XML) -> str:
    answer = await api.post("/invoices", json=structured(invoice_payload(f"E31{number:010d}")))
    tax_log_id = str(answer.json()["taxLogId"])
    if xml is not None:
        await worker.sign(db, tax_log_id, signed=xml)
    return tax_log_id


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print in this process: another one would take a second to start."""

    async def run(_: Apart, tenant: TenantId, work: Callable[..., bytes], *given: object) -> bytes:
        return work(*given)

    monkeypatch.setattr(Apart, "run", run)


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
    (route,) = (one for one in front.app.extensions["fe"].routes if one.path.endswith("/invoices/pdf"))
    monkeypatch.setattr(route.handler.__self__, "_most_bytes", 1)
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
    body = json.dumps({"ids": ids})
    head = f"POST {api.base_url.path}invoices/pdf HTTP/1.1\r\nHost: fe\r\nContent-Length: {len(body)}\r\n"
    said = f"{head}Content-Type: application/json\r\nAuthorization: {api.headers['Authorization']}\r\n\r\n{body}"
    async with await trio.open_tcp_stream("127.0.0.1", front.port) as stream:
        await stream.send_all(said.encode())
        assert (await stream.receive_some(4096)).startswith(b"HTTP/1.1 200")
    seen = began

    await trio.sleep(1)  # as long as all of them take, and more
    assert seen <= began <= seen + 3 < len(ids)
