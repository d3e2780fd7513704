"""Shared receipts: links, the buyer's page, its limits, and guessed tokens."""

import re
import signal
import socket
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from secrets import token_urlsafe
from uuid import UUID, uuid4

import httpx
import pytest
import trio

from fe.clock import system_clock
from fe.config import load_settings
from fe.ecf.build import build
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.signature import verify
from fe.http.buyer_pages.app import ShareDeps, SharePages, create_share
from fe.http.calls import Call
from fe.http.server.listener import serve_http
from fe.identifiers import SubmissionId, TenantId
from fe.issuing.sharing import Sharing
from fe.lifecycle import Status
from fe.monitoring.metrics import Metrics
from fe.printing.settings import PrintSettings
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import SHARE
from fe.store.records import print_settings
from tests.cli.running import environment
from tests.cli.warm import warm_fe
from tests.ecf.receipts import changed, receipt
from tests.factories.certificates import default_root, make_root
from tests.factories.tenants import rows
from tests.http import worker
from tests.http.front import SHARING, Key, Running, make_key, make_tenant, start_front, structured
from tests.plain_http import NO_TLS
from tests.portal.receipts import HOSTILE
from tests.ports import free_port
from tests.printing import reading
from tests.printing.documents import GOLDEN, long_receipt, sign, signed
from tests.waiting import PATIENCE

XML = signed(GOLDEN[0])
#: Addresses and ports of a page.
LINK = re.compile(r'(?:href|src|action)="([^"]*)"')


@dataclass
class Buyers:
    """The page that buyers reach."""

    metrics: Metrics
    port: int

    def client(self, **more: str) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{self.port}", timeout=PATIENCE, verify=NO_TLS, trust_env=False, headers=more
        )

    async def get(self, path: str, **more: str) -> httpx.Response:
        async with self.client(**more) as client:
            return await client.get(path)


@asynccontextmanager
async def serving(dsn: str, *, of_address: int = 100, **deps: object) -> AsyncIterator[Buyers]:
    """Serve with the rights of the page and no others."""
    shutdown, metrics = trio.Event(), Metrics()
    async with open_database(dsn, role=SHARE) as share_db, trio.open_nursery() as nursery:
        app = create_share(ShareDeps(**{"db": share_db, "metrics": metrics, "calls_per_second": 0.0, **deps}))  # type: ignore[arg-type]

        async def serve(task_status: trio.TaskStatus[list[socket.socket]]) -> None:
            settings = load_settings(grace_seconds=2, address_connections=of_address)
            await serve_http(app, "127.0.0.1:0", settings=settings, shutdown=shutdown, task_status=task_status)

        sockets: list[socket.socket] = await nursery.start(serve)
        yield Buyers(metrics, sockets[0].getsockname()[1])
        shutdown.set()


@pytest.fixture
async def buyers(dsn: str) -> AsyncIterator[Buyers]:
    async with serving(dsn) as page:
        yield page


async def issued(
    api: httpx.AsyncClient, db: Database, *, xml: bytes = XML, status: Status | None = Status.ACCEPTED
) -> str:
    """A receipt with its verdict, and the security code of its signature."""
    tax_log_id = str((await api.post("/invoices", json=structured())).json()["taxLogId"])
    await worker.sign(db, tax_log_id, signed=xml)
    code = verify(xml).security_code
    await rows(db, f"UPDATE submissions SET security_code = '{code}' WHERE submission_id = '{UUID(tax_log_id)}'")
    if status is not None:
        await worker.receive(db, tax_log_id, f"track-{tax_log_id[-12:]}")  # type: ignore[arg-type]
        await worker.give_verdict(db, tax_log_id, status, ("0", "dicho"))
    return tax_log_id


async def shared(api: httpx.AsyncClient, tax_log_id: str) -> str:
    """The path of a receipt's page."""
    answer = await api.post(f"/invoices/{tax_log_id}/share")
    assert answer.status_code == 200, answer.text
    url = str(answer.json()["url"])
    assert url.startswith(f"{SHARING.url}/")
    return url.removeprefix(SHARING.url)


def text_of(page: httpx.Response) -> str:
    return unescape(re.sub(r"<[^>]+>", " ", page.text))


async def test_shared_receipt_has_a_page_with_its_pdf_and_its_xml(
    api: httpx.AsyncClient, db: Database, buyers: Buyers
) -> None:
    path = await shared(api, await issued(api, db))

    page = await buyers.get(path)
    pdf, xml = await buyers.get(f"{path}/pdf"), await buyers.get(f"{path}/xml")

    assert (page.status_code, page.headers["Content-Type"]) == (
        200,
        "text/html; charset=utf-8",
    )
    shown = text_of(page)
    root = verify(XML).root
    for name in ("Emisor/RazonSocialEmisor", "Emisor/RNCEmisor", "IdDoc/eNCF", "Emisor/FechaEmision"):
        assert str(root.findtext(f"Encabezado/{name}")) in shown
    assert "Factura de Crédito Fiscal Electrónica" in shown
    assert "Aceptado por la DGII" in shown
    assert "PRUEBA: SIN VALOR FISCAL" in shown
    assert verify(XML).security_code in shown
    assert (xml.content, xml.headers["Content-Type"]) == (XML, "application/xml")
    assert xml.headers["Content-Disposition"].startswith("attachment; ")
    assert pdf.headers["Content-Type"] == "application/pdf"
    assert reading.attached(pdf.content) == XML


async def test_page_is_in_the_language_of_the_link_or_the_browser(
    api: httpx.AsyncClient, db: Database, buyers: Buyers
) -> None:
    path = await shared(api, await issued(api, db, status=Status.CONDITIONAL))

    assert "Aceptado condicional por la DGII" in (await buyers.get(path)).text
    assert "Accepted conditionally" in (await buyers.get(path, **{"Accept-Language": "en-US,en"})).text
    assert "Aceptado condicional por la DGII" in (await buyers.get(f"{path}?lang=es", **{"Accept-Language": "en"})).text
    assert 'lang="en"' in (await buyers.get(f"{path}/signature?lang=en")).text


async def test_page_tells_its_address_to_nobody_and_loads_nothing_of_others(
    api: httpx.AsyncClient, db: Database, buyers: Buyers
) -> None:
    path = await shared(api, await issued(api, db))

    for page in (await buyers.get(path), await buyers.get(f"{path}/signature")):
        policy = page.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; style-src 'sha256-")
        assert "<script" not in page.text
        assert '<meta name="robots" content="noindex">' in page.text
        outside = [link for link in LINK.findall(page.text) if not link.startswith(path)]
        assert all(link.startswith("https://ecf.dgii.gov.do/") for link in outside), outside
    for end in ("", "/pdf", "/xml", "/signature"):
        headers = (await buyers.get(f"{path}{end}")).headers
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["X-Robots-Tag"].startswith("noindex")
        assert headers["Cache-Control"] == "private, no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"


async def test_signature_page_says_what_was_verified_and_what_was_not(
    api: httpx.AsyncClient, db: Database, dsn: str
) -> None:
    path = await shared(api, await issued(api, db))

    async with serving(dsn) as without, serving(dsn, roots=[default_root().certificate]) as trusting:
        unknown, known = await without.get(f"{path}/signature?lang=en"), await trusting.get(f"{path}/signature?lang=en")

    chain = "A certification authority that this service trusts issued the certificate"
    for page, knows_chain in ((unknown, False), (known, True)):
        answers = dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", page.text))
        assert [question for question, answer in answers.items() if answer == "Yes"] == [
            "The XML is as it was signed",
            "The security code is that of the signature",
            "The certificate was valid when it signed",
            *([chain] if knows_chain else []),
        ]
        assert "No" not in answers.values()
        assert re.findall(r"<li>([^<]*)</li>", page.text) == [
            *([] if knows_chain else ["Whether a recognized certification authority issued the certificate"]),
            "Whether the certificate had been revoked",
            "Whether the signer may sign for the issuer",
            "Whether the DGII accepted it: its own page tells",
        ]
        assert '<p class="good">The signature is valid: the XML is exactly what ' in page.text
        assert "https://ecf.dgii.gov.do/" in page.text


async def test_signature_page_doubts_a_certificate_of_an_unknown_certifier(
    api: httpx.AsyncClient, db: Database, dsn: str
) -> None:
    path = await shared(api, await issued(api, db))
    stranger = make_root("Otra").certificate

    async with serving(dsn, roots=[stranger]) as buyers:
        page = (await buyers.get(f"{path}/signature")).text

    assert '<p class="bad">El XML está tal como lo firmó ' in page
    assert "entidad de certificación en que confía este servicio</dt><dd>No</dd>" in page


async def test_signature_page_finds_an_altered_document(api: httpx.AsyncClient, db: Database, buyers: Buyers) -> None:
    path = await shared(api, await issued(api, db))
    await rows(
        db, "UPDATE shared_receipts SET document = replace(encode(document, 'escape'), '<eNCF>E', '<eNCF>F')::bytea"
    )

    page = await buyers.get(f"{path}/signature?lang=en")

    assert '<p class="bad">The signature is not valid: ' in page.text
    assert "<dt>The XML is as it was signed</dt><dd>No</dd>" in page.text
    assert "Yes" not in page.text
    assert re.findall(r"<li>([^<]*)</li>", page.text) == [
        "Anything else: without a valid signature nothing else counts"
    ]


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
async def test_hostile_names_are_shown_as_text(
    api: httpx.AsyncClient, db: Database, buyers: Buyers, hostile: str
) -> None:
    name = hostile[:150].replace("\t", " ").strip()
    xml = sign(build(changed(receipt(EcfType.CREDIT_FISCAL), "Encabezado.Emisor.RazonSocialEmisor", name)))
    path = await shared(api, await issued(api, db, xml=xml))

    page = (await buyers.get(path)).text

    assert not re.search(r"<img|<script|\u202e", page)


async def test_same_link_is_shown_again_until_it_is_revoked(
    api: httpx.AsyncClient, db: Database, buyers: Buyers
) -> None:
    tax_log_id = await issued(api, db)
    first, again = await shared(api, tax_log_id), await shared(api, tax_log_id)
    assert first == again
    assert len(await rows(db, "SELECT 1 FROM shared_receipts")) == 1

    revoked = [(await api.delete(f"/invoices/{tax_log_id}/share")).json() for _ in range(2)]

    assert revoked == [{"ok": True, "revoked": True}, {"ok": True, "revoked": False}]
    assert (await buyers.get(first)).status_code == 404
    later = await shared(api, tax_log_id)
    assert later != first
    assert ((await buyers.get(first)).status_code, (await buyers.get(later)).status_code) == (404, 200)


async def test_calls_at_once_make_one_link(api: httpx.AsyncClient, db: Database) -> None:
    tax_log_id = await issued(api, db)
    found: list[str] = []

    async def share() -> None:
        found.append(await shared(api, tax_log_id))

    async with trio.open_nursery() as nursery:
        for _ in range(6):
            nursery.start_soon(share)

    assert len(set(found)) == 1


async def test_database_holds_no_token(api: httpx.AsyncClient, db: Database) -> None:
    path = await shared(api, await issued(api, db))
    (row,) = await rows(db, "SELECT * FROM shared_receipts")

    token = path.removeprefix("/")
    assert len(token) == 32
    assert token.encode() not in b"|".join(bytes(v) if isinstance(v, bytes) else str(v).encode() for v in row.values())


async def test_old_link_goes_on_after_a_rotation_and_ends_with_the_others(
    api: httpx.AsyncClient, db: Database, tenant: TenantId, buyers: Buyers
) -> None:
    tax_log_id = await issued(api, db)
    old = await shared(api, tax_log_id)
    rotated = Sharing(SHARING.url, {"s2": b"\x02" * 32, **SHARING.keys})

    link = await db.run(rotated.share, tenant, SubmissionId(UUID(tax_log_id)), datetime.now(UTC))

    assert link is not None
    new = link.url.removeprefix(SHARING.url)
    assert new != old
    assert [(await buyers.get(path)).status_code for path in (old, new)] == [200, 200]
    await api.delete(f"/invoices/{tax_log_id}/share")
    assert [(await buyers.get(path)).status_code for path in (old, new)] == [404, 404]


@pytest.mark.parametrize("status", [None, Status.REJECTED])
async def test_receipt_that_is_not_accepted_is_not_shared(
    api: httpx.AsyncClient, db: Database, status: Status | None
) -> None:
    tax_log_id = await issued(api, db, status=status)

    answer = await api.post(f"/invoices/{tax_log_id}/share")

    assert answer.status_code == 409
    assert await rows(db, "SELECT 1 FROM shared_receipts") == []


async def test_receipts_of_others_are_neither_shared_nor_revoked(
    api: httpx.AsyncClient, db: Database, front: Running, buyers: Buyers
) -> None:
    tax_log_id = await issued(api, db)
    path = await shared(api, tax_log_id)
    stranger: Key = await make_key(db, await make_tenant(db, "Ajena SRL"), Environment.TESTECF)

    async with front.client(await front.token(stranger)) as other:
        answers = [
            await other.post(f"/invoices/{tax_log_id}/share"),
            await other.delete(f"/invoices/{tax_log_id}/share"),
            await other.post(f"/invoices/{uuid4()}/share"),
        ]

    assert {answer.status_code for answer in answers} == {404}
    assert (await buyers.get(path)).status_code == 200


async def test_front_without_an_address_of_the_page_shares_nothing(
    db: Database, front_db: Database, key: Key, nursery: trio.Nursery
) -> None:
    front = await start_front(nursery, front_db, sharing=None)
    async with front.client(await front.token(key)) as api:
        answer = await api.post(f"/invoices/{await issued(api, db)}/share")

    assert (answer.status_code, "no address" in answer.json()["message"]) == (409, True)


async def test_unknown_and_malformed_links_get_the_same_answer(
    api: httpx.AsyncClient, db: Database, buyers: Buyers
) -> None:
    path = await shared(api, await issued(api, db))
    wrong = [
        "/",
        f"/{token_urlsafe(24)}",
        f"/{token_urlsafe(24)}/pdf",
        f"{path}x",
        f"{path[:-1]}",
        f"{path}/",
        f"{path}/other",
        f"/{path}",
        "/robots.txt",
        "/%00",
        "/../../etc/passwd",
        f"/{'é' * 32}",
        f"/{'A' * 2000}",
        f"/{path[1:].swapcase()}",
    ]

    answers = [await buyers.get(one) for one in wrong]

    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1
    async with buyers.client() as client:
        assert {(await client.request(method, path)).status_code for method in ("POST", "PUT", "DELETE")} == {405}
        head = await client.head(path)
    assert (head.status_code, head.content) == (200, b"")


async def test_refusal_of_an_overloaded_page_is_a_page(dsn: str) -> None:
    async with serving(dsn, in_flight=0) as buyers:
        answers = [await buyers.get("/x"), await buyers.get("/x", **{"Accept-Language": "en"})]

    assert [answer.status_code for answer in answers] == [503, 503]
    assert {answer.headers["Content-Type"] for answer in answers} == {"text/html; charset=utf-8"}
    assert all(answer.headers["Retry-After"] and answer.headers["X-Robots-Tag"] for answer in answers)
    assert [('lang="es"' in answer.text, 'lang="en"' in answer.text) for answer in answers] == [
        (True, True),
        (False, True),
    ]


async def answer_to(port: int, sent: bytes) -> tuple[bytes, str]:
    """Send these bytes; return the head and the body of the answer."""
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        await stream.send_all(sent)
        head, _, body = b"".join([some async for some in stream]).partition(b"\r\n\r\n")
        return head, body.decode()


async def test_refusal_before_a_request_is_read_is_a_page(dsn: str, buyers: Buyers) -> None:
    malformed = [
        await answer_to(buyers.port, b"GET / HTTP/1.1\r\n" + language + b"x y\r\n\r\n")
        for language in (b"", b"Accept-Language: en\r\n")
    ]
    async with (
        serving(dsn, of_address=1) as crowded,
        await trio.open_tcp_stream("127.0.0.1", crowded.port) as held,
    ):
        await held.send_all(b"GET / HTTP/1.1\r\n")
        refused = await answer_to(crowded.port, b"GET / HTTP/1.1\r\n\r\n")

    assert [int(head.split()[1]) for head, _ in (*malformed, refused)] == [400, 400, 429]
    for head, page in (*malformed, refused):
        said = head.lower()
        assert b"content-type: text/html; charset=utf-8" in said
        assert b"x-robots-tag: noindex" in said
        assert f"content-length: {len(page.encode())}".encode() in said
    assert ['lang="es"' in page for _, page in (*malformed, refused)] == [True, False, True]
    assert all('lang="en"' in page for _, page in (*malformed, refused))


async def test_guessing_ten_thousand_tokens_finds_nothing_and_is_slowed_down(
    api: httpx.AsyncClient, db: Database, dsn: str
) -> None:
    path = await shared(api, await issued(api, db))
    statuses: Counter[int] = Counter()
    bodies: dict[int, set[bytes]] = {}

    async def no_body() -> bytes:
        return b""

    def call(peer: str) -> Call:
        return Call(headers={}, query_string=b"", params={}, peer=peer, request_id="r", read_body=no_body)

    async with open_database(dsn, role=SHARE) as share_db:
        pages = SharePages(ShareDeps(db=share_db, metrics=Metrics(), calls_per_second=20.0))
        began = trio.current_time()
        for _ in range(10_000):
            answer = await pages.answer("GET", f"/{token_urlsafe(24)}", call("192.0.2.1"))
            statuses[answer.status] += 1
            bodies.setdefault(answer.status, set()).add(answer.body)
        seconds = trio.current_time() - began
        assert statuses.keys() == {404, 429}
        assert statuses[404] <= 40 + 20 * seconds + 1
        assert {status: len(found) for status, found in bodies.items()} == {404: 1, 429: 1}
        assert (await pages.answer("GET", path, call("192.0.2.2"))).status == 200


async def test_metrics_name_routes_without_tokens(api: httpx.AsyncClient, db: Database, buyers: Buyers) -> None:
    path = await shared(api, await issued(api, db))

    for wanted in (path, f"{path}/xml", f"/{token_urlsafe(24)}", "/robots.txt", f"{path}/other"):
        await buyers.get(wanted)

    series = {sample.labels["route"] for metric in buyers.metrics.http_requests.collect() for sample in metric.samples}
    assert series == {"share page", "share xml", "none"}


async def test_revoked_and_unknown_links_get_the_same_answer(
    api: httpx.AsyncClient, db: Database, buyers: Buyers
) -> None:
    tax_log_id = await issued(api, db)
    path = await shared(api, tax_log_id)
    assert (await buyers.get(f"{path}/pdf")).status_code == 200, "its print is kept"
    await api.delete(f"/invoices/{tax_log_id}/share")

    for end in ("", "/pdf", "/xml", "/signature"):
        revoked, unknown = await buyers.get(f"{path}{end}"), await buyers.get(f"/{token_urlsafe(24)}{end}")
        each = [
            (one.status_code, one.content, {k: v for k, v in one.headers.items() if k not in ("date", "x-request-id")})
            for one in (revoked, unknown)
        ]
        assert each[0] == each[1]
        assert each[0][0] == 404


@contextmanager
def process_of_the_page(dsn: str, port: int, folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    # None of the secrets is this role's to know.
    secrets = dict.fromkeys(("jwt_keys", "api_key_pepper", "kek"), "")
    given = environment(database_url=dsn, share_bind=f"127.0.0.1:{port}", metrics_bind="127.0.0.1:0", **secrets)
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [str(warm_fe()), "run", "--role", "share"], env=given, stdout=log, stderr=log, cwd=folder
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait(PATIENCE)


def log_of(folder: Path) -> str:
    return (folder / "log").read_text(encoding="utf-8")


async def test_large_receipt_is_printed_apart_and_once(api: httpx.AsyncClient, db: Database, buyers: Buyers) -> None:
    xml = long_receipt(1000)
    path = await shared(api, await issued(api, db, xml=xml))

    first, again = [(await buyers.get(f"{path}/pdf")).content for _ in range(2)]

    assert first == again
    assert reading.attached(first) == xml
    assert "Artículo 1000" in reading.text(first)


async def test_buyers_print_has_the_footer_of_its_issuer(api: httpx.AsyncClient, db: Database, buyers: Buyers) -> None:
    path = await shared(api, await issued(api, db))
    ((tenant_id,),) = [row.values() for row in await rows(db, "SELECT tenant_id FROM shared_receipts")]
    await db.run_for(tenant_id, print_settings.put, PrintSettings(footer="Vuelva pronto"), system_clock())

    printed = await buyers.get(f"{path}/pdf")

    assert "Vuelva pronto" in reading.text(printed.content)


async def test_receipt_that_cannot_be_printed_has_its_page_and_its_xml(
    api: httpx.AsyncClient, db: Database, buyers: Buyers
) -> None:
    path = await shared(api, await issued(api, db))
    await rows(db, f"UPDATE shared_receipts SET document = decode('{worker.SIGNED.hex()}', 'hex')")

    statuses = [(await buyers.get(f"{path}{end}")).status_code for end in ("", "/xml", "/signature", "/pdf")]

    assert statuses == [200, 200, 200, 409]


async def test_process_of_the_page_holds_no_key_and_serves_the_same_links_after_a_kill(
    api: httpx.AsyncClient, db: Database, dsn: str, tmp_path: Path
) -> None:
    tax_log_id = await issued(api, db)

    async def ready(process: "subprocess.Popen[bytes]", port: int) -> Buyers:
        page = Buyers(Metrics(), port)
        with trio.fail_after(PATIENCE):
            while True:
                try:
                    assert (await page.get("/readyz")).status_code == 200
                    return page
                except httpx.TransportError:
                    assert process.poll() is None, log_of(tmp_path)
                    await trio.sleep(0.05)

    port = free_port()
    with process_of_the_page(dsn, port, tmp_path) as killed:
        page = await ready(killed, port)
        revoked = await shared(api, tax_log_id)
        assert reading.attached((await page.get(f"{revoked}/pdf")).content) == XML
        await api.delete(f"/invoices/{tax_log_id}/share")
        path = await shared(api, tax_log_id)
        killed.send_signal(signal.SIGKILL)
    port = free_port()  # the killed one may have the other for a moment
    with process_of_the_page(dsn, port, tmp_path) as process:
        page = await ready(process, port)
        assert [(await page.get(one)).status_code for one in (path, revoked)] == [200, 404]
        process.send_signal(signal.SIGTERM)
        assert await trio.to_thread.run_sync(process.wait, PATIENCE) == 0
    assert path[1:] not in log_of(tmp_path)
    assert revoked[1:] not in log_of(tmp_path)


async def test_page_is_ready_while_the_database_answers(buyers: Buyers) -> None:
    assert (await buyers.get("/healthz")).json() == {"status": "ok"}
    assert (await buyers.get("/readyz")).json() == {"status": "ok"}
