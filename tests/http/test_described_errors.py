"""Every error that the description shows is one that the service gives, in those words."""

import base64
import re
from http import HTTPStatus
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import trio

from fe.ecf.catalogue import Environment
from fe.egress.client import Egress
from fe.egress.target import CONFIGURED
from fe.http.simulator import Simulator
from fe.identifiers import SubmissionId, TenantId
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import RECEPTION
from fe.store.records import mail, receivers, tenants
from fe.store.records.receivers import Receiver
from tests.archiving.receipts import STORED_PACKAGE
from tests.factories.companies import make_certificate
from tests.factories.tenants import rows
from tests.http import worker
from tests.http.contract.test_sequences import go_out
from tests.http.front import ISSUER, Key, Running, invoice_payload, make_key, start_front, structured
from tests.receiving import supplier
from tests.receiving.supplier import OURS, document, start_reception
from tests.workbooks.books import csv, row

#: Nothing that one request can bring about: a fault, a server that is full, a lock-out, a body that does not come.
#: Other tests do (test_errors, test_limits, test_login, test_admission); here their words are looked up in the code.
ELSEWHERE = {"fault-of-ours", "overloaded", "too-many", "slow-body", "delivery-under-way", "revoked-key"}
#: The server closes the connection while such a body is on its way.
ELSEWHERE |= {"large-body-11188906"}
#: Another taxpayer has to do something first: see tests/system/test_sandbox.py.
ELSEWHERE |= {"reception-closed", "supplier-used-number", "buyer-decided-otherwise"}
CODE = Path(__file__).resolve().parents[2] / "fe"
URL = "https://erp.example.com/hooks/fe"
DEFERRED = """
    INSERT INTO mode_periods (tenant_id, environment, period_id, mode, number, began_at, begun_by, reason)
    VALUES (%(tenant)s, 'testecf', gen_random_uuid(), 'deferred', 'A-1', now(), 'eva', 'route')
    RETURNING period_id
"""


async def shown(front: Running) -> dict[str, Any]:
    async with front.client() as client:
        examples: dict[str, Any] = (await client.get("/openapi.json")).json()["components"]["examples"]
    return examples


def fits(body: Any, example: Any) -> bool:
    """Whether an answer is the one that is shown; `…` stands for what differs."""
    words = re.escape(example["message"]).replace("…", ".+")
    body.pop("hint", None)  # for people: its words may change
    return re.fullmatch(words, body["message"]) is not None and {**body, "message": ""} == {**example, "message": ""}


async def test_every_error_that_is_shown_is_given_in_these_words(
    front: Running, api: httpx.AsyncClient, db: Database, key: Key, tenant: TenantId, dsn: str, nursery: trio.Nursery
) -> None:
    examples = await shown(front)
    seen: set[str] = set()

    def given(name: str, answer: httpx.Response) -> None:
        example = examples[name]["value"]
        assert answer.status_code == example["statusCode"], (name, answer.text)
        assert fits(answer.json(), example), (name, answer.text, example)
        seen.add(name)

    # Authentication.
    async with front.client() as nobody:
        given("old-token", await nobody.get("/ncf", headers={"Authorization": "Bearer none-of-ours"}))
        given("no-token", await nobody.get("/ncf"))
        given("no-key-id", await nobody.post("/login", json={"apiKeyId": "x", "apiSecret": "y"}))
        given("wrong-credentials", await nobody.post("/login", json={**key.credentials, "apiSecret": "y"}))
    narrow = await make_key(db, tenant, scopes=("usage:read",))
    other = await make_key(db, tenant, scopes=("invoices:read",))
    paths = {
        "invoices-write": ("POST", "/invoices"),
        "invoices-read": ("GET", "/invoices"),
        "ncf-read": ("GET", "/ncf"),
        "ncf-write": ("POST", "/ncf"),
        "billing-read": ("GET", "/billing/current-period"),
        "webhooks-read": ("GET", "/webhooks"),
        "webhooks-write": ("PUT", "/webhooks"),
        "mail-read": ("GET", "/mail"),
        "mail-write": ("PUT", "/mail"),
        "catalogue-read": ("GET", "/customers"),
        "catalogue-write": ("PUT", "/products/a"),
        "recurring-read": ("GET", "/recurring"),
        "recurring-write": ("PUT", "/recurring/a"),
    }
    async with front.client(await front.token(narrow)) as client:
        for scope, (method, path) in paths.items():
            given(f"no-scope-{scope}", await client.request(method, path, json={} if method != "GET" else None))
    async with front.client(await front.token(other)) as client:
        given("no-scope-usage-read", await client.get("/usage"))

    # Bodies and queries.
    given("no-object", await api.post("/invoices", json=[]))
    given("media-type", await api.post("/invoices", content=b"{}", headers={"Content-Type": "text/plain"}))
    given("large-body-1048576", await api.post("/invoices", content=b" " * (1024 * 1024 + 1)))
    given("large-body-4096", await api.post("/ncf", content=b" " * 4097))
    given("large-body-16384", await api.put("/webhooks", content=b" " * (16 * 1024 + 1)))
    given("large-body-393216", await api.put("/printing", content=b" " * (384 * 1024 + 1)))
    given("parameter-twice", await api.get("/invoices?limit=1&limit=2"))
    given("limit-out-of-range", await api.get("/invoices?limit=0"))
    given("filter-without-period", await api.get("/invoices?text=caf&from=2026-01-01&to=2026-11-01"))
    given("period-reversed", await api.get("/invoices?from=2026-02-01&to=2026-01-01"))
    given("month-malformed", await api.get("/months/2026-13"))
    given("empty-month", await api.get("/months/2026-01/zip"))
    given("days-out-of-range", await api.get("/usage?days=0"))
    given("today-is-no-flag", await api.get("/usage?today=1"))
    given("wait-out-of-range", await api.get(f"/invoices/{uuid4()}?wait=31"))

    # Documents.
    given("no-format", await api.post("/invoices", json={"format": "json"}))
    given("no-document", await api.post("/invoices", json=structured({"Encabezado": {"IdDoc": _COLOUR}})))
    given("malformed-xml", await api.post("/invoices", json={"format": "xml", "xml": "<ECF><Encabezado></ECF>"}))
    given(
        "malformed-xml", await api.post("/invoices/validate", json={"format": "xml", "xml": "<ECF><Encabezado></ECF>"})
    )
    given("no-sandbox", await api.post("/invoices", json=structured(simulate={"outcome": "stuck"})))
    given("no-sequence", await api.post("/invoices", json=structured(invoice_payload(None, TipoeCF="31"))))
    assert await db.run(tenants.create, "Another", {**ISSUER, "RNCEmisor": "131880657"})
    foreign = {
        **invoice_payload(),
        "Encabezado": {**invoice_payload()["Encabezado"], "Emisor": {"RNCEmisor": "131880657"}},
    }
    given("foreign-issuer", await api.post("/invoices", json=structured(foreign)))
    given("foreign-issuer", await api.post("/invoices/validate", json=structured(foreign)))
    given("no-items", await api.post("/invoices/batch", json={"items": []}))
    given("no-ids", await api.post("/received/approvals", json={"decision": "approved", "ids": []}))

    # Sequences.
    given("no-range", await api.post("/ncf", json={"prefix": "E32", "minSequence": 9, "maxSequence": 8}))
    given("no-type", await api.delete("/ncf/E99"))
    given("no-such-sequence", await api.delete("/ncf/E32"))
    await api.post("/ncf", json={"prefix": "E31"})
    taken = await api.post("/invoices", json=structured(invoice_payload(None, TipoeCF="31")))
    await go_out(db, SubmissionId(UUID(taken.json()["taxLogId"])))
    given("number-sent", await api.patch("/ncf/E31", json={"currentSequence": 1}))

    agent, nonce = f"/agents/{uuid4()}", {"nonce": str(uuid4())}
    given("bad-agent", await api.put("/agents/till", json={"epoch": 0, **nonce}))
    given("stale-lease", await api.put(agent, json={"epoch": 3, **nonce}))
    await rows(
        db,
        "INSERT INTO agents (tenant_id, environment, agent_id, epoch, nonce, certificates, leased_at)"
        " SELECT %(tenant)s, 'testecf', gen_random_uuid(), 1, gen_random_uuid(), '{}', now()"
        " FROM generate_series(1, 200) RETURNING 1",
        tenant=tenant,
    )
    given("many-agents", await api.put(agent, json={"epoch": 0, **nonce}))

    # Printing.
    waiting = (await api.post("/invoices", json=structured())).json()["taxLogId"]
    given("no-such-receipt", await api.get(f"/invoices/{uuid4()}/pdf"))
    given("not-signed-yet", await api.get(f"/invoices/{waiting}/ticket"))
    await worker.sign(db, waiting)
    given("not-printable", await api.get(f"/invoices/{waiting}/pdf"))

    given("large-body-65536", await api.post("/invoices/pdf", content=b" " * (64 * 1024 + 1)))
    given("ids-or-filter", await api.post("/invoices/pdf"))
    given("no-such-receipts", await api.post("/invoices/pdf?rnc=101000001"))
    wanted = {"enabled": True, "replyTo": "ventas@ozama.do"}
    given("bad-mail-setting", await api.put("/mail", json=wanted | {"replyTo": "Ventas"}))
    await db.run(mail.set_limit, tenant, 0)
    given("mail-forbidden", await api.put("/mail", json=wanted))
    given("bad-expense", await api.put("/expenses/131880738", json={"kind": "99"}))
    given("bad-customer", await api.put("/customers/a", json={"name": "Ana", "rnc": "1"}))
    given("bad-product", await api.put("/products/a", json={"name": "Pan", "unit": "manotada"}))
    for path in ("customers", "products"):
        given(f"no-such-{path[:-1]}", await api.delete(f"/{path}/a"))
        await api.put(f"/{path}/a", json={"name": "Ana"})
        await api.put(f"/{path}/a", json={"name": "Ana"})
        given("entry-changed", await api.put(f"/{path}/a", json={"name": "Ana", "version": 1}))
    given("no-taxpayer", await api.get("/rnc/131880657"))
    monthly = {"name": "Renta", "day": 1, "payload": invoice_payload(None, TipoeCF="31")}
    given("bad-recurring", await api.put("/recurring/a", json=monthly | {"payload": invoice_payload()}))
    given("no-such-package", await api.get("/archive/1/zip"))
    await rows(db, STORED_PACKAGE)
    given("no-time-stamp", await api.get("/archive/1/tst"))
    given("no-such-recurring", await api.get("/recurring/a"))
    await api.put("/recurring/a", json=monthly)
    made = (await api.put("/recurring/a", json=monthly)).json()
    given("entry-changed", await api.put("/recurring/a", json=monthly | {"version": 1}))
    given("no-such-turn", await api.post("/recurring/a/turns/2020-01", json={"action": "skip"}))
    turn = f"/recurring/a/turns/{made['nextOn'][:7]}"
    await api.post(turn, json={"action": "skip"})
    await rows(db, "UPDATE recurring_turns SET state = 'issued' RETURNING 1")
    given("turn-issued", await api.post(turn, json={"action": "skip"}))
    given("large-body-262144", await api.put("/recurring/a", content=b" " * (256 * 1024 + 1)))
    given("large-body-8192", await api.put("/customers/a", content=b" " * (8 * 1024 + 1)))
    given("bad-print-setting", await api.put("/printing", json={"accent": "red"}))
    given("no-such-receipt", await api.post(f"/invoices/{uuid4()}/share"))
    given("no-such-receipt", await api.delete(f"/invoices/{uuid4()}/share"))
    given("not-shareable", await api.post(f"/invoices/{waiting}/share"))
    alone = await start_front(nursery, front.db, sharing=None)
    async with alone.client(await alone.token(key)) as without:
        given("no-sharing", await without.post(f"/invoices/{waiting}/share"))

    # Other taxpayers of a sandbox; the simulator is asked for none of this.
    given("nobody-plays", await api.post("/sandbox/receipts"))
    simulator = Simulator("http://127.0.0.1:1", "http://127.0.0.1:1", Egress(CONFIGURED))
    sandbox = await start_front(nursery, front.db, simulator=simulator, authority_simulated=True)
    async with sandbox.client(await sandbox.token(key)) as player:
        given("bad-supplier-number", await player.post("/sandbox/receipts", json={"eNCF": "E320000000001"}))
        given("bad-outage", await player.post("/sandbox/outages", json={"seconds": 601}))
        said = {"taxLogId": waiting, "decision": "approved"}
        given("takes-no-approval", await player.post("/sandbox/approvals", json=said))
        given("no-such-receipt", await player.post("/sandbox/approvals", json={**said, "taxLogId": str(uuid4())}))
        given("no-reason", await player.post("/sandbox/approvals", json={**said, "decision": "rejected"}))

    # Imports.
    def workbook(content: bytes) -> dict[str, str]:
        return {"name": "x", "content": base64.b64encode(content).decode()}

    given("unreadable", await api.post("/imports", json=workbook(csv([]))))
    given("large-workbook", await api.post("/imports", json=workbook(csv([row()] * 50_001))))
    given("foreign-file", await api.post("/imports", json=workbook(b"%PDF-1.7")))
    given("no-such-import", await api.get(f"/imports/{uuid4()}"))
    faulty = (await api.post("/imports", json=workbook(csv([row(price="x")])))).json()["importId"]
    while (await api.get(f"/imports/{faulty}")).json()["state"] == "validating":  # noqa: ASYNC110  (only it knows)
        await trio.sleep(0.05)
    given("not-issuable", await api.post(f"/imports/{faulty}/issue"))

    # Paper receipts, modes, and voidings.
    of_paper = {"first": "B0200000001", "last": "B0200000500", "expiresOn": "2099-12-31"}
    await api.post("/paper-ranges", json={**of_paper, "first": "B0200000400", "last": "B0200000900"})
    given("paper-range-overlaps", await api.post("/paper-ranges", json=of_paper))
    given("paper-range-bad", await api.post("/paper-ranges", json={**of_paper, "first": "B0200000900"}))
    given("no-paper-range", await api.delete(f"/paper-ranges/{uuid4()}"))
    given("no-paper-receipt", await api.get("/paper-receipts/B0200000001"))
    never_entered = {"ncfs": ["B0200000001"]}
    given("paper-never-entered", await api.post("/paper-receipts/replacements", json=never_entered))
    given("bad-mode", await api.post("/contingency", json={"mode": "deferred", "reason": "route"}))
    await rows(db, DEFERRED, tenant=tenant)
    given("mode-of-people", await api.post("/contingency", json={"mode": "offline", "reason": "no line"}))
    given("no-such-voiding", await api.get(f"/voidings/{uuid4()}"))
    one_range = {"first": "E340000000900"}
    given("bad-ranges", await api.post("/voidings", json={"ranges": [one_range, one_range], "reason": 8}))
    await api.post("/ncf", json={"prefix": "E34", "maxSequence": 1000})
    voided = (await api.post("/voidings", json={"ranges": [one_range], "reason": 8})).json()["voidingId"]
    given("not-voidable", await api.post("/voidings", json={"ranges": [one_range], "reason": 8}))
    given("voiding-unsigned", await api.get(f"/voidings/{voided}/xml"))
    await rows(db, "UPDATE tenants SET issuer = jsonb_build_object('was', issuer) RETURNING 1")
    given("not-in-608", await api.get("/months/2026-11/608"))
    await rows(db, "UPDATE tenants SET issuer = issuer -> 'was' RETURNING 1")

    # Webhooks.
    given("no-webhook", await api.post("/webhooks/rotate"))
    given("no-event", await api.put("/webhooks", json={"url": URL, "events": ["nothing"]}))
    given("endpoint-name-form", await api.delete("/webhooks/endpoints/CRM"))
    given("no-endpoint", await api.delete("/webhooks/endpoints/crm"))
    given("no-such-delivery", await api.post(f"/webhooks/deliveries/{uuid4()}/retry"))
    given("no-moment", await api.post("/webhooks/recover", json={"since": "yesterday"}))
    await api.put("/webhooks", json={"url": URL, "enabled": False})
    given("disabled-webhook", await api.post("/webhooks/test"))
    await api.put("/webhooks", json={"url": URL})
    await api.post("/webhooks/recover", json={"since": "2026-01-01"})
    given("recovery-under-way", await api.post("/webhooks/recover", json={"since": "2026-01-01"}))

    # Documents of suppliers.
    await make_certificate(db, tenant)
    await db.run(receivers.open_reception, Receiver(tenant, Environment.TESTECF, OURS, False))
    async with open_database(dsn, role=RECEPTION) as reception_db:
        reception = await start_reception(nursery, db, reception_db, tenant=tenant)
        assert supplier.read(await reception.send(document())).state == "0"
    (one,) = (await api.get("/received")).json()["items"]
    given("no-such-document", await api.post(f"/received/{uuid4()}/approve"))
    given("no-reason", await api.post(f"/received/{one['id']}/reject", json={"reason": ""}))
    production = await make_key(db, tenant, Environment.ECF)
    async with front.client(await front.token(production)) as client:
        given("other-environment", await client.post(f"/received/{one['id']}/approve"))
    assert (await api.post(f"/received/{one['id']}/approve")).status_code == 202
    given("decided-before", await api.post(f"/received/{one['id']}/reject", json={"reason": "no"}))

    assert seen == set(examples) - ELSEWHERE
    code = "".join(
        path.read_text(encoding="utf-8")
        for path in CODE.rglob("*")
        if path.suffix in (".py", ".toml") and path.stem != "described_errors"
    )
    for name in ELSEWHERE:
        words, status = examples[name]["value"]["message"], examples[name]["value"]["statusCode"]
        assert words == HTTPStatus(status).phrase or re.split(r" \d+ ", words)[0] in code


_COLOUR = {"TipoeCF": "31", "Color": "rojo"}
