"""Printed receipts: what the API gives, of issued receipts and of received ones, and to whom."""

import io
import json
import zipfile
from base64 import b64encode
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx
import pytest
import trio

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.lifecycle import Status
from fe.offload.pool import Apart, ApartFailed
from fe.printing import PaperSize
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import RECEPTION
from fe.store.records import receivers, tenants
from fe.store.records.receivers import Receiver
from tests.factories.companies import make_certificate
from tests.factories.tenants import rows
from tests.http import worker
from tests.http.front import ISSUER, Key, Running, Start, make_key, structured
from tests.printing import reading
from tests.printing.documents import GOLDEN, signed
from tests.printing.receipt_printer import decode
from tests.printing.test_logo import SVG, drawing, lying_png, png
from tests.receiving import supplier
from tests.receiving.supplier import OURS, document, start_reception

XML = signed(GOLDEN[0])
QR = "https://ecf.dgii.gov.do/testecf/ConsultaTimbre?rncemisor=131880681"


@pytest.fixture
async def receipt(api: httpx.AsyncClient, db: Database) -> str:
    """A receipt that is signed and has no verdict."""
    answer = await api.post("/invoices", json=structured())
    tax_log_id = str(answer.json()["taxLogId"])
    await worker.sign(db, tax_log_id, signed=XML)
    return tax_log_id


async def accept(db: Database, tax_log_id: str, status: Status = Status.ACCEPTED) -> None:
    await worker.receive(db, tax_log_id, _track(tax_log_id))
    await worker.give_verdict(db, tax_log_id, status, ("0", "dicho"))


def _track(tax_log_id: str) -> Any:
    return f"track-{tax_log_id[-12:]}"


async def test_issued_receipt_is_printed_as_pdf_on_each_layout(
    api: httpx.AsyncClient, db: Database, receipt: str
) -> None:
    await accept(db, receipt)

    for layout in PaperSize:
        answer = await api.get(f"/invoices/{receipt}/pdf?layout={layout}&language=en")

        (page,) = reading.pages(answer.content)
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/pdf")
        assert answer.headers["Content-Disposition"].startswith('inline; filename="E')
        assert reading.attached(answer.content) == XML
        assert [code for code, *_ in page.codes] == [QR]
        assert "Salesperson" in page.text
        assert "sin valor" not in page.text.lower()
        assert (await api.get(f"/invoices/{receipt}/pdf?layout={layout}&language=en")).content == answer.content


@pytest.mark.usefixtures("in_process")
async def test_receipt_without_acceptance_says_so(api: httpx.AsyncClient, db: Database, receipt: str) -> None:
    before = reading.text((await api.get(f"/invoices/{receipt}/pdf")).content)
    await accept(db, receipt, Status.REJECTED)
    after = reading.text((await api.get(f"/invoices/{receipt}/pdf")).content)

    assert "Vista previa, sin valor fiscal" in before
    assert "Sin valor fiscal" in after


@pytest.mark.usefixtures("in_process")
async def test_issued_receipt_is_printed_for_a_receipt_printer(
    api: httpx.AsyncClient, db: Database, receipt: str
) -> None:
    await accept(db, receipt)

    native = decode((await api.get(f"/invoices/{receipt}/ticket")).content)
    raster = decode((await api.get(f"/invoices/{receipt}/ticket?layout=58mm&qr=raster")).content)

    assert (native.codes, native.cuts) == ([QR], 1)
    assert max(len(line) for line, _ in native.lines) == 48
    assert (raster.codes, len(raster.pictures)) == ([], 1)


@pytest.mark.usefixtures("in_process")
async def test_qr_code_is_drawn(api: httpx.AsyncClient, receipt: str) -> None:
    png, svg = [await api.get(f"/invoices/{receipt}/qr.{kind}") for kind in ("png", "svg")]

    (found,) = reading.qr_codes(reading.picture(png.content))
    assert (found.text, reading.picture(png.content).size) == (QR, (342, 342))  # version 8
    assert (png.headers["Content-Type"], svg.headers["Content-Type"]) == ("image/png", "image/svg+xml")
    assert [code.text for code in reading.qr_codes(reading.svg_picture(svg.content))] == [QR]


async def test_qr_code_is_drawn_once_and_in_a_process_of_the_pool(
    api: httpx.AsyncClient, receipt: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[object] = []

    async def run(_: Apart, tenant: TenantId, work: Callable[..., bytes], *given: object) -> bytes:
        drawn.append(given)
        return work(*given)

    monkeypatch.setattr(Apart, "run", run)

    first, second = [(await api.get(f"/invoices/{receipt}/qr.png")).content for _ in range(2)]

    assert first == second
    assert drawn == [(QR, "png")]


@pytest.mark.parametrize("query", ["layout=a5", "layout=", "language=fr", "color=red", "layout=a4&layout=a4"])
async def test_option_out_of_range_is_refused(api: httpx.AsyncClient, receipt: str, query: str) -> None:
    assert (await api.get(f"/invoices/{receipt}/pdf?{query}")).status_code == 400


async def test_receipt_of_another_tenant_is_not_printed(front: Running, db: Database, receipt: str) -> None:
    tenant = await db.run(tenants.create, "Another", {**ISSUER, "RNCEmisor": "131880657"})
    assert tenant is not None
    stranger = await make_key(db, tenant.tenant_id)
    async with front.client(await front.token(stranger)) as client:
        answers = [await client.get(f"/invoices/{receipt}/{kind}") for kind in ("pdf", "ticket", "qr.png", "qr.svg")]

    assert [answer.status_code for answer in answers] == [404] * 4


@pytest.mark.usefixtures("in_process")
async def test_received_receipt_that_cannot_be_printed_is_answered_as_described(
    api: httpx.AsyncClient, db: Database, dsn: str, nursery: trio.Nursery, tenant: TenantId
) -> None:
    await make_certificate(db, tenant)
    await db.run(receivers.open_reception, Receiver(tenant, Environment.TESTECF, OURS, False))
    async with open_database(dsn, role=RECEPTION) as reception_db:
        reception = await start_reception(nursery, db, reception_db, tenant=tenant)
        assert supplier.read(await reception.send(document())).state == "0"
    await rows(db, "UPDATE acknowledgements SET document = '<ECF/>' RETURNING 1")
    (one,) = (await api.get("/received")).json()["items"]
    described = (await api.get("/openapi.json")).json()["paths"]

    for kind in ("pdf", "ticket", "qr.png", "qr.svg"):
        answer = await api.get(f"/received/{one['id']}/{kind}")
        assert answer.status_code == 409, answer.text
        (path,) = (one for one in described if "/received/{" in one and one.endswith(f"}}/{kind}"))
        assert "not-printable" in described[path]["get"]["responses"]["409"]["content"]["application/json"]["examples"]


@pytest.mark.usefixtures("in_process")
async def test_received_receipt_is_printed(
    start: Start,
    front_db: Database,
    key: Key,
    dsn: str,
    nursery: trio.Nursery,
    db: Database,
    tenant: TenantId,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    front = await start(nursery, front_db, authority_ecf_url="https://ecf.example")
    await make_certificate(db, tenant)
    await db.run(receivers.open_reception, Receiver(tenant, Environment.TESTECF, OURS, False))
    async with open_database(dsn, role=RECEPTION) as reception_db:
        reception = await start_reception(nursery, db, reception_db, tenant=tenant)
        sent = document()
        assert supplier.read(await reception.send(sent)).state == "0"

    async with front.client(await front.token(key)) as api:
        (one,) = (await api.get("/received")).json()["items"]
        assert (await api.put("/printing", json={"footer": "Nuestro pie", "marks": ["Original", "Copia"]})).is_success
        printed = await api.get(f"/received/{one['id']}/pdf?layout=80mm")
        ticket = await api.get(f"/received/{one['id']}/ticket")
        png, svg = [await api.get(f"/received/{one['id']}/qr.{kind}") for kind in ("png", "svg")]
        unknown = [await api.get(f"/received/{uuid4()}/{kind}") for kind in ("pdf", "qr.png", "qr.svg")]
        chosen = [
            await api.post("/received/pdf?layout=80mm", json={"ids": [one["id"]]}),
            await api.post(f"/received/pdf?layout=80mm&encf={one['encf']}"),
        ]
        nothing = await api.post("/received/pdf", json={"ids": [one["id"], str(uuid4())]})
        monkeypatch.setattr(Apart, "run", no_process)
        unprinted = await api.post("/received/pdf?layout=58mm", json={"ids": [one["id"]]})
    stranger = await db.run(tenants.create, "Another", {**ISSUER, "RNCEmisor": "131880657"})
    assert stranger is not None
    async with front.client(await front.token(await make_key(db, stranger.tenant_id))) as api:
        strange = [
            await api.post("/received/pdf", json={"ids": [one["id"]]}),
            await api.post("/received/pdf?rnc=101000001"),
            *[await api.get(f"/received/{one['id']}/{kind}") for kind in ("pdf", "ticket", "qr.png", "qr.svg")],
        ]

    (page,) = reading.pages(printed.content)
    assert one["encf"] in page.text
    assert "Nuestro pie" not in page.text, "it is the supplier's receipt"
    assert "ConsultaTimbre" in decode(ticket.content).codes[0]
    assert page.codes[0][0].startswith("https://ecf.example/testecf/ConsultaTimbre?")
    assert reading.attached(printed.content) == sent
    for answer in chosen:
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            (line,) = json.loads(archive.read("manifest.json"))["receipts"]
            assert (line["id"], line["eNCF"], line["rncEmisor"]) == (one["id"], one["encf"], one["rncEmisor"])
            assert (archive.read(line["pdf"]), archive.read(line["xml"])) == (printed.content, sent)
    assert [answer.status_code for answer in (*unknown, nothing, *strange)] == [404] * 10
    drawn = [reading.picture(png.content), reading.svg_picture(svg.content)]
    assert [[code.text for code in reading.qr_codes(one)] for one in drawn] == [[page.codes[0][0]]] * 2
    assert (png.headers["Content-Type"], svg.headers["Content-Type"]) == ("image/png", "image/svg+xml")
    with zipfile.ZipFile(io.BytesIO(unprinted.content)) as archive:
        (line,) = json.loads(archive.read("manifest.json"))["receipts"]
    assert (line["id"], "pdf" in line) == (one["id"], False)
    assert "could not be printed" in line["error"]


async def no_process(*_: object) -> bytes:
    raise ApartFailed("no process could be started")


SETTINGS = {
    "logo": b64encode(SVG).decode(),
    "accent": "#aa0000",
    "footer": "Gracias por su compra\nVuelva pronto",
    "marks": ["Original", "Copia"],
    "language": "en",
    "layout": "80mm",
}


async def test_print_settings_are_defaults_until_set(api: httpx.AsyncClient) -> None:
    before = (await api.get("/printing")).json()
    put = await api.put("/printing", json=SETTINGS)

    assert before == {
        "logo": None,
        "accent": "#1f3a5f",
        "footer": "",
        "marks": [""],
        "language": "es",
        "layout": "letter",
    }
    assert (put.status_code, put.json()) == (200, SETTINGS)
    assert (await api.get("/printing")).json() == SETTINGS
    assert (await api.put("/printing", json={})).json() == before


@pytest.mark.usefixtures("in_process")
async def test_prints_follow_the_settings_at_once(api: httpx.AsyncClient, receipt: str) -> None:
    before = await api.get(f"/invoices/{receipt}/pdf")
    await api.put("/printing", json=SETTINGS)
    after = await api.get(f"/invoices/{receipt}/pdf")
    ticket = decode((await api.get(f"/invoices/{receipt}/ticket")).content)

    assert len(reading.pages(before.content)) == 1
    text = reading.text(after.content)
    for words in ("ORIGINAL", "COPIA", "Vuelva pronto", "Salesperson"):
        assert words in text, words
        assert words not in reading.text(before.content), words
    assert ticket.cuts == 2
    asked = reading.text((await api.get(f"/invoices/{receipt}/pdf?layout=a4&language=es")).content)
    assert "Salesperson" not in asked
    assert "Vuelva pronto" in asked
    await api.put("/printing", json={**SETTINGS, "logo": b64encode(png()).decode()})
    assert (await api.get(f"/invoices/{receipt}/pdf")).content != after.content, "another logo is another print"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("logo", "this is no base64"),
        ("logo", b64encode(drawing(b"<script>1</script>")).decode()),
        ("logo", b64encode(lying_png()).decode()),
        ("logo", b64encode(bytes(257 * 1024)).decode()),
        ("logo", ""),
        ("logo", 7),
        ("accent", "red"),
        ("accent", None),
        ("accent", "#ffee00"),
        ("footer", "a" * 401),
        ("footer", "\u202e"),
        ("footer", "\t"),
        ("marks", []),
        ("marks", ["a"] * 5),
        ("marks", ["a" * 21]),
        ("marks", [None]),
        ("language", "fr"),
        ("layout", "a5"),
    ],
    ids=range(18),
)
async def test_bad_print_setting_is_refused_by_name_in_both_languages(
    api: httpx.AsyncClient, field: str, value: object
) -> None:
    sent = {**SETTINGS, field: value}
    answers = [
        await api.put("/printing", json=sent, headers={"Accept-Language": language}) for language in ("en", "es")
    ]

    assert [answer.status_code for answer in answers] == [400, 400]
    english, spanish = (answer.json()["message"] for answer in answers)
    assert field in english
    assert field in spanish
    assert english != spanish
    assert (await api.get("/printing")).json()["footer"] == ""


async def test_print_settings_are_of_one_tenant_and_need_a_scope(
    front: Running, api: httpx.AsyncClient, db: Database, tenant: TenantId
) -> None:
    other = await db.run(tenants.create, "Another", {**ISSUER, "RNCEmisor": "131880657"})
    assert other is not None
    await api.put("/printing", json=SETTINGS)
    async with front.client(await front.token(await make_key(db, other.tenant_id))) as stranger:
        assert (await stranger.get("/printing")).json()["logo"] is None
    reader = await make_key(db, tenant, scopes=("invoices:read",))
    async with front.client(await front.token(reader)) as client:
        assert (await client.put("/printing", json={})).status_code == 403
        assert (await client.get("/printing")).json() == SETTINGS
