"""The examples of the description are true: bodies are taken, answers look like those that come back; and payloads that
are in order follow the schema of their type."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import httpx
import jsonschema_rs
import pytest
import trio
from hypothesis import given

from fe.catalogue.taxpayers import RegisteredTaxpayer
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.document import Document
from fe.http.openapi.payload_schemas import payload_schemas
from fe.http.openapi.served import description
from fe.identifiers import TenantId, TrackId
from fe.integrator.demo.documents import FIRST
from fe.lifecycle import Status
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import RECEPTION
from fe.store.records import receivers, taxpayers
from fe.store.records.receivers import Receiver
from tests.archiving.receipts import STORED_PACKAGE
from tests.ecf.drafts import any_draft
from tests.ecf.receipts import USUAL_INDICATOR, line, payload
from tests.factories.companies import make_certificate
from tests.factories.tenants import rows
from tests.http import worker
from tests.http.closed import closed
from tests.http.front import Key, Running, invoice_payload, start_front, structured
from tests.receiving import supplier
from tests.receiving.supplier import OURS, document, start_reception

DESCRIPTION = closed(description())
OUTAGE = """
    INSERT INTO authority_outages (environment, host, began_at, ended_at, reason)
    VALUES ('testecf', 'ecf', now() - interval '1 hour', NULL, 'a test'),
           ('testecf', 'ecf', now() - interval '3 hours', now() - interval '2 hours', 'a test')
    RETURNING host
"""
IN_CONTINGENCY = """
    INSERT INTO mode_periods (tenant_id, environment, period_id, mode, number, began_at, begun_by, reason)
    VALUES (%(tenant)s, 'testecf', gen_random_uuid(), 'contingency', 'C-1', '2026-11-20', 'eva', 'fire')
    RETURNING period_id
"""
MEASURED = """
    INSERT INTO authority_health (environment, service, began_at, answered, failed, milliseconds, slowest_milliseconds)
    SELECT e.environment, 'reception', now(), 3, 1, 600, 400
      FROM unnest(ARRAY['ecf', 'certecf', 'testecf']) AS e (environment)
    RETURNING service
"""

STATUS = """
    INSERT INTO service_states (part, began_at, seen_at, severity)
    SELECT 'sending', now() - make_interval(hours => s.hours), now() - make_interval(hours => s.hours - 1), s.severity
      FROM (VALUES (3, 0), (2, 2), (1, 0)) AS s (hours, severity)
    RETURNING part
"""


def schema_of(ref: dict[str, Any]) -> Any:
    return jsonschema_rs.validator_for({**ref, "components": DESCRIPTION["components"]})


PAYLOADS = {str(kind): schema_of({"$ref": f"#/components/schemas/Ecf{kind}"}) for kind in EcfType}


# --- payloads -------------------------------------------------------------------------------------------------------


@given(any_draft)
def test_every_draft_that_is_in_order_follows_the_schema_of_its_type(document: Document) -> None:
    PAYLOADS[str(document.type)].validate(dict(document.content))


def test_the_first_receipt_of_a_newcomer_follows_its_schema() -> None:
    """It has no buyer: below RD$250,000 a buyer is optional, though the format then requires an empty element."""
    assert schema_of({"$ref": "#/components/schemas/NewInvoice"}).is_valid(FIRST)


@pytest.mark.parametrize("kind", EcfType)
def test_a_payload_follows_the_schema_of_its_own_type_only(kind: EcfType) -> None:
    good = payload(kind, [line(indicator=USUAL_INDICATOR[kind])])

    assert [name for name, schema in PAYLOADS.items() if schema.is_valid(good)] == [str(kind)]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("Encabezado.IdDoc.Color", "rojo"),
        ("Encabezado.IdDoc.TipoIngresos", "99"),
        ("Encabezado.IdDoc.TipoIngresos", None),
        ("Encabezado.IdDoc.eNCF", "E32000000001"),
        ("Encabezado.IdDoc.FechaLimitePago", "mañana"),
        ("Encabezado.Comprador.RNCComprador", "1-31-88068-1"),
        ("Encabezado.Comprador.CorreoComprador", "nobody"),
        ("DetallesItems.Item", []),
        ("DetallesItems", None),
        ("Encabezado.Totales", {"MontoTotal": "1,000.00"}),
        ("Encabezado.Totales", {"MontoTotal": -1}),
    ],
)
def test_what_can_never_be_good_does_not_follow_it(path: str, value: Any) -> None:
    wrong = payload(EcfType.CREDIT_FISCAL, [line()])
    group, *rest = wrong, *path.split(".")
    for name in rest[:-1]:
        group = group[name]
    if value is None:
        del group[rest[-1]]
    else:
        group[rest[-1]] = value

    assert not PAYLOADS["31"].is_valid(wrong)


@pytest.mark.parametrize("value", [1180, 1180.5, "1180.50"])
def test_an_amount_may_be_a_number_or_a_text(value: float | str) -> None:
    assert PAYLOADS["31"].is_valid(payload(EcfType.CREDIT_FISCAL, [line(MontoItem=value)]))


@pytest.mark.parametrize("value", ["2026-11-20", "20-11-2026"])
def test_a_date_may_have_either_form(value: str) -> None:
    assert PAYLOADS["31"].is_valid(payload(EcfType.CREDIT_FISCAL, [line(FechaElaboracion=value)]))


def test_the_code_lists_tell_what_their_codes_mean_in_both_languages() -> None:
    _, components = payload_schemas()

    kinds = components["EcfPaymentType"]
    assert kinds["enum"] == ["1", "2", "3"]
    assert kinds["x-enum-varnames"] == ["CASH", "CREDIT", "FREE_OF_CHARGE"]
    assert "`2` credit · crédito" in kinds["description"]
    for name, component in components.items():
        if "enum" in component:
            names = component["x-enum-varnames"]
            assert len(set(names)) == len(names) == len(component["enum"]), name


def test_every_component_is_referred_to_and_every_reference_leads_to_one() -> None:
    made = description()
    text = json.dumps(made)

    for kind in ("schemas", "examples"):
        for name in made["components"][kind]:
            assert f'"#/components/{kind}/{name}"' in text, name
    named = {name for part in text.split('"#/components/')[1:] for name in [part.partition('"')[0]]}
    assert {name.partition("/")[2] for name in named} <= {
        name for kind in ("schemas", "examples") for name in made["components"][kind]
    }


# --- examples -------------------------------------------------------------------------------------------------------


def operations() -> dict[str, tuple[str, str, dict[str, Any]]]:
    return {
        operation["operationId"]: (method.upper(), path, operation)
        for path, those in DESCRIPTION["paths"].items()
        for method, operation in those.items()
    }


OPERATIONS = operations()


def examples_in(content: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for name, example in content["application/json"]["examples"].items():
        whole = example
        if "$ref" in example:
            whole = DESCRIPTION["components"]["examples"][example["$ref"].rpartition("/")[2]]
        found[name] = whole["value"]
    return found


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_body_and_every_answer_has_an_example_that_follows_its_schema(name: str) -> None:
    _, _, operation = OPERATIONS[name]
    contents = [answer["content"] for answer in operation["responses"].values()]
    if "requestBody" in operation:
        contents.append(operation["requestBody"]["content"])
    files = [content for content in contents if "application/json" not in content]
    assert all(schema["schema"]["format"] == "binary" for file in files for schema in file.values())
    for content in (content for content in contents if content not in files):
        schema = schema_of(content["application/json"]["schema"])
        for example in examples_in(content).values():
            schema.validate(example)
        assert examples_in(content)


#: Fields whose content the authority or the event determines, so that it varies.
FREE = {"response", "detail"}


def alike(seen: Any, shown: Any) -> bool:
    """Whether an answer has the fields of an example, and values of their kinds; null is like anything."""
    if seen is None or shown is None:
        return True
    if isinstance(seen, dict) and isinstance(shown, dict):
        return seen.keys() == shown.keys() and all(alike(seen[key], shown[key]) for key in seen.keys() - FREE)
    if isinstance(seen, list) and isinstance(shown, list):
        return not seen or not shown or alike(seen[0], shown[0])
    number = (int, float, Decimal)
    return isinstance(seen, type(shown)) or (isinstance(seen, number) and isinstance(shown, number))


async def test_answers_look_like_their_examples_and_bodies_are_taken(
    front: Running, api: httpx.AsyncClient, db: Database, key: Key, tenant: TenantId, dsn: str, nursery: Any
) -> None:
    seen: set[tuple[str, str]] = set()

    def like(name: str, answer: httpx.Response, example: str) -> Any:
        _, _, operation = OPERATIONS[name]
        content = operation["responses"][str(answer.status_code)]["content"]
        shown = examples_in(content)[example]
        assert alike(answer.json(), shown), (name, answer.text, shown)
        seen.add((name, example))
        return answer.json()

    def bodies(name: str) -> list[Any]:
        return list(examples_in(OPERATIONS[name][2]["requestBody"]["content"]).values())

    like("login", await api.post("/login", json=key.credentials), "token")
    (sequence,) = bodies("putSequence")
    like("putSequence", await api.post("/ncf", json=sequence), "set")
    like("listSequences", await api.get("/ncf"), "one")
    for body in bodies("changeSequence"):
        like("changeSequence", await api.patch("/ncf/E31", json=body), "changed")
    await api.post("/ncf", json=sequence)
    await api.post("/ncf", json={"prefix": "E32"})
    like("deleteSequence", await api.delete("/ncf/E32"), "deleted")

    first, *others = bodies("submitInvoice")
    taken = like("submitInvoice", await api.post("/invoices", json=first), "taken-in")
    like("submitInvoice", await api.post("/invoices", json=first), "known")
    for body in others:
        answer = await api.post("/invoices", json=body)
        assert answer.status_code == 202, answer.text
    (batch,) = bodies("submitInvoiceBatch")
    two = {"items": [{**batch["items"][0], "clientRequestId": "another"}, {"format": "none"}]}
    like("submitInvoiceBatch", await api.post("/invoices/batch", json=two), "one-of-two")
    for body in bodies("validateInvoice"):
        answer = await api.post("/invoices/validate", json=body)
        assert answer.status_code == 200, answer.text
    wrong = await api.post("/invoices/validate", json=structured(invoice_payload("E310000000400", TipoPago="9")))
    like("validateInvoice", wrong, "invalid")
    shown_wrong = examples_in(OPERATIONS["validateInvoice"][2]["responses"]["200"]["content"])["invalid"]
    assert wrong.json() == shown_wrong
    like("previewInvoice", await api.post("/invoices/preview", json={**first, "clientRequestId": "p"}), "completed")
    one = f"/invoices/{taken['taxLogId']}"
    like("getInvoice", await api.get(one), "queued")
    await worker.carry_through(db, taken["taxLogId"])
    like("getInvoice", await api.get(one), "accepted")
    refused = (
        await api.post("/invoices", json=structured(invoice_payload("E310000000401"), clientRequestId="r"))
    ).json()
    await worker.carry_through(
        db, refused["taxLogId"], Status.REJECTED, ("4", "Número de secuencia no autorizada."), track_id=TrackId("t-2")
    )
    like("getInvoice", await api.get(f"/invoices/{refused['taxLogId']}"), "rejected")
    like("getInvoiceXml", await api.get(f"{one}/xml"), "signed")
    like("getInvoiceTimeline", await api.get(f"{one}/timeline"), "accepted")
    for name, end in {"getInvoice": "", "getInvoiceXml": "/xml", "getInvoiceTimeline": "/timeline"}.items():
        like(name, await api.get(f"/invoices/nobody{end}"), "not-found")
    page = like("listInvoices", await api.get("/invoices?rnc=131880657&state=Rechazado"), "page")
    assert page["total"] == 1
    newest = "ffffffff-ffff-ffff-ffff-ffffffffffff"
    like("listInvoices", await api.get(f"/invoices?cursor={newest}&state=Rechazado"), "after-cursor")

    await make_certificate(db, tenant)
    await db.run(receivers.open_reception, Receiver(tenant, Environment.TESTECF, OURS, False))
    async with open_database(dsn, role=RECEPTION) as reception_db:
        reception = await start_reception(nursery, db, reception_db, tenant=tenant)
        for number in (1, 2, 3):
            raw = document(Encabezado__IdDoc__eNCF=f"E31{number:010}")
            assert supplier.read(await reception.send(raw)).state == "0"
    received = like("listReceived", await api.get("/received"), "page")
    like("listReceived", await api.get(f"/received?cursor={newest}"), "after-cursor")
    mine, other, third = (f"/received/{item['id']}" for item in received["items"])
    like("getReceived", await api.get(mine), "pending")
    like("getReceivedXml", await api.get(f"{mine}/xml"), "document")
    like("getReceived", await api.get("/received/nobody"), "not-found")
    like("getReceivedXml", await api.get("/received/nobody/xml"), "not-found")
    (approval,), (rejection,) = bodies("approveReceived"), bodies("rejectReceived")
    like("approveReceived", await api.post(f"{mine}/approve", json=approval), "taken-in")
    like("approveReceived", await api.post(f"{mine}/approve", json=approval), "decided-before")
    like("rejectReceived", await api.post(f"{other}/reject", json=rejection), "taken-in")
    like("rejectReceived", await api.post(f"{other}/reject", json=rejection), "decided-before")
    (many,) = bodies("decideReceived")
    many["ids"] = [third.removeprefix("/received/"), *many["ids"]]
    like("decideReceived", await api.post("/received/approvals", json=many), "each")

    (lease,) = bodies("leaseAgent")
    agent = {"agentId": "5f0d1c1e-6c0d-4a0b-9d0a-2f1f6f8f7a11", "minSequence": 9001, "maxSequence": 10000}
    await api.post("/ncf", json={"prefix": "E44", "name": "Caja 1", "expireAt": "2028-12-31", **agent})
    like("leaseAgent", await api.put(f"/agents/{agent['agentId']}", json=lease), "leased")

    (printing,) = bodies("putPrinting")
    like("getPrinting", await api.get("/printing"), "defaults")
    like("putPrinting", await api.put("/printing", json=printing), "set")
    like("shareInvoice", await api.post(f"{one}/share"), "shared")
    like("revokeInvoiceShare", await api.delete(f"{one}/share"), "revoked")

    (workbook,) = bodies("createImport")
    await api.post("/ncf", json={"prefix": "E32", "expireAt": "2028-12-31"})
    imported = f"/imports/{like('createImport', await api.post('/imports', json=workbook), 'uploaded')['importId']}"
    while (answer := await api.get(imported)).json()["state"] == "validating":  # noqa: ASYNC110  (only the API knows)
        await trio.sleep(0.05)
    like("getImport", answer, "validated")
    like("issueImport", await api.post(f"{imported}/issue"), "started")

    on, off = bodies("putMail")
    like("getMail", await api.get("/mail"), "defaults")
    like("putMail", await api.put("/mail", json=on), "on")
    like("putMail", await api.put("/mail", json=off), "off")

    known = RegisteredTaxpayer("131880657", "FERRETERIA EL SOL SRL", "EL SOL", "", "ACTIVO", "NORMAL")
    await db.transact(taxpayers.replace, [known], datetime(2026, 11, 20, tzinfo=UTC), "ana")
    like("getTaxpayer", await api.get("/rnc/131880657"), "active")
    for name, path in (("Customer", "/customers/C-001"), ("Product", "/products/CEM-1")):
        first, second = bodies(f"put{name}")
        like(f"put{name}", await api.put(path, json=first), "new")
        like(f"get{name}", await api.get(path), "one")
        like(f"list{name}s", await api.get(path.rpartition("/")[0]), "one")
        assert (await api.put(path, json=second)).status_code == 200
        like(f"delete{name}", await api.delete(path), "deleted")

    first, second = bodies("putRecurring")
    like("putRecurring", await api.put("/recurring/alquiler-3", json=first), "new")
    like("getRecurring", await api.get("/recurring/alquiler-3"), "one")
    like("listRecurring", await api.get("/recurring"), "one")
    (skip,) = bodies("decideRecurringTurn")
    month = (await api.get("/recurring/alquiler-3")).json()["nextOn"][:7]
    like("decideRecurringTurn", await api.post(f"/recurring/alquiler-3/turns/{month}", json=skip), "skipped")
    assert (await api.put("/recurring/alquiler-3", json=second)).status_code == 200
    like("deleteRecurring", await api.delete("/recurring/alquiler-3"), "deleted")

    await rows(db, STORED_PACKAGE)
    like("listArchive", await api.get("/archive"), "one")

    new, changed = bodies("putWebhook")
    like("putWebhook", await api.put("/webhooks", json=new), "new")
    like("putWebhook", await api.put("/webhooks", json=changed), "changed")
    like("listWebhooks", await api.get("/webhooks"), "one")
    crm = "/webhooks/endpoints/crm"
    like("listWebhookEndpoints", await api.get("/webhooks/endpoints"), "one")
    like("putWebhookEndpoint", await api.put(crm, json=new), "new")
    like("putWebhookEndpoint", await api.put(crm, json=changed), "changed")
    like("rotateEndpointSecret", await api.post(f"{crm}/rotate"), "rotated")
    like("testWebhookEndpoint", await api.post(f"{crm}/test"), "under-way")
    like("deleteWebhookEndpoint", await api.delete(crm), "deleted")
    like("rotateWebhookSecret", await api.post("/webhooks/rotate"), "rotated")
    like("testWebhook", await api.post("/webhooks/test"), "under-way")
    deliveries = like("listDeliveries", await api.get("/webhooks/deliveries"), "page")
    like("listDeliveries", await api.get(f"/webhooks/deliveries?cursor={newest}"), "after-cursor")
    delivery = f"/webhooks/deliveries/{deliveries['items'][0]['id']}"
    like("getDelivery", await api.get(delivery), "delivered")
    like("getDelivery", await api.get("/webhooks/deliveries/nobody"), "not-found")
    like("retryDelivery", await api.post(f"{delivery}/retry"), "again")
    (since,) = bodies("recoverDeliveries")
    like("recoverDeliveries", await api.post("/webhooks/recover", json=since), "begun")
    like("listRecoveries", await api.get("/webhooks/recoveries"), "begun")

    (to_void,) = bodies("voidNumbers")
    await api.post("/ncf", json={"prefix": "E32", "minSequence": 1, "maxSequence": 1000})
    voiding = like("voidNumbers", await api.post("/voidings", json=to_void), "requested")["voidingId"]
    like("voidNumbers", await api.post("/voidings", json=to_void), "again")
    like("listVoidable", await api.get("/voidings/proposals?prefix=E32"), "two")
    like("listVoidings", await api.get("/voidings"), "one")
    like("getVoiding", await api.get(f"/voidings/{voiding}"), "waiting")

    assert (await api.post("/invoices", json={"format": "xml"})).status_code == 400
    await front.app.extensions["fe"].finish()
    like("listFailedRequests", await api.get("/requests?limit=1&status=400"), "one")

    (a_range,) = bodies("addPaperRange")
    like("addPaperRange", await api.post("/paper-ranges", json=a_range), "recorded")
    like("listPaperRanges", await api.get("/paper-ranges"), "one")
    unused = {**a_range, "first": "B0200000600", "last": "B0200000700"}
    unused_id = (await api.post("/paper-ranges", json=unused)).json()["rangeId"]
    like("deletePaperRange", await api.delete(f"/paper-ranges/{unused_id}"), "deleted")
    await rows(db, IN_CONTINGENCY, tenant=tenant)
    (papers,) = bodies("enterPaperReceipts")
    like("enterPaperReceipts", await api.post("/paper-receipts", json=papers), "entered")
    like("listPaperReceipts", await api.get("/paper-receipts"), "one")
    like("getPaperReceipt", await api.get("/paper-receipts/B0200000007"), "open")
    (corrected,) = bodies("correctPaperReceipt")
    like("correctPaperReceipt", await api.put("/paper-receipts/B0200000007", json=corrected), "corrected")
    await rows(db, "UPDATE mode_periods SET ended_at = now(), ended_by = 'eva' RETURNING period_id")
    (replaced, every) = bodies("replacePaperReceipts")
    like("replacePaperReceipts", await api.post("/paper-receipts/replacements", json=replaced), "issued")
    assert (await api.post("/paper-receipts/replacements", json=every)).json() == {"items": [], "open": 1}

    like("getMode", await api.get("/contingency"), "normal")
    (offline,) = bodies("setMode")
    like("setMode", await api.post("/contingency", json=offline), "offline")
    await api.post("/contingency", json={"mode": "normal", "reason": "the line is back"})
    await rows(db, OUTAGE)
    like("getMode", await api.get("/contingency"), "authority-down")
    await rows(db, MEASURED)
    like("getAuthority", await api.get("/authority"), "answers")
    await rows(db, STATUS)
    like("getStatus", await api.get("/status"), "recovered")
    like("getMonth", await api.get("/months/2026-11"), "a-month")
    like("getMonthPurchases", await api.get("/months/2026-11/606"), "incomplete")
    suppliers = [one["rncEmisor"] for one in (await api.get("/received")).json()["items"]]
    (said, _) = bodies("classifyPurchases")
    assert suppliers[0] == "131880738"
    like("classifyPurchases", await api.put(f"/expenses/{suppliers[0]}", json=said), "a-supplier")
    like("getMonthPurchases", await api.get("/months/2026-11/606"), "complete")
    like("getMonthVoided", await api.get("/months/2026-11/608"), "none")
    like("getUsage", await api.get("/usage"), "a-month")
    like("getUsage", await api.get("/usage?today=true"), "with-today")
    like("getCurrentBill", await api.get("/billing/current-period"), "nothing-yet")

    simulated = await start_front(nursery, front.db, authority_simulated=True)
    (outage,) = bodies("playSandboxOutage")
    async with simulated.client(await simulated.token(key)) as client:
        like("playSandboxOutage", await client.post("/sandbox/outages", json=outage), "away")

    shown = {
        (name, example)
        for name, (_, _, operation) in OPERATIONS.items()
        for status, answer in operation["responses"].items()
        if status.startswith("2")
        for example in answer["content"].get("application/json", {"examples": ()})["examples"]
    }
    #: Another taxpayer has to do something for these: see tests/system/test_sandbox.py.
    played = {("sendSandboxReceipt", "sent"), ("sendSandboxApproval", "approved")}
    assert shown - seen == {("validateInvoice", "valid")} | played
