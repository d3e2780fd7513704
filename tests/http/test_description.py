"""The OpenAPI description: true of the routes, true of the answers, and a page that needs no other host."""

import json
import re
from typing import Any

import httpx
import jsonschema_rs

from fe.http.app import PREFIX, create_app
from fe.http.models.requests import NewInvoice
from fe.http.pages.layout import MARKDOWN
from fe.http.routes.types import Route
from fe.identifiers import TrackId
from fe.lifecycle import Status
from fe.store.postgres.db import Database
from tests.http import worker
from tests.http.closed import closed
from tests.http.front import Key, Running, invoice_payload, structured


async def described(front: Running) -> dict[str, Any]:
    async with front.client() as client:
        answer = await client.get("/openapi.json")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "application/json"
    description: dict[str, Any] = answer.json()
    return description


async def test_every_route_of_the_api_is_described_with_its_scope(front: Running) -> None:
    description = await described(front)
    routes: tuple[Route, ...] = create_app(front.deps).extensions["fe"].routes
    seen = set()
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            seen.add((method.upper(), re.sub(r"{\w+}", "*", path)))
            assert operation["summary"]
            assert bool(operation["security"]) == (
                path not in (f"{PREFIX}/login", f"{PREFIX}/authority", f"{PREFIX}/status")
            )

    health = {"/healthz", "/readyz"}
    pages = {
        "/",
        PREFIX,
        f"{PREFIX}/",
        "/llms.txt",
        f"{PREFIX}/openapi.json",
        f"{PREFIX}/docs",
        f"{PREFIX}/docs{MARKDOWN}",
        f"{PREFIX}/docs/authority",
        f"{PREFIX}/docs/<any(es, en):language>/authority",
        f"{PREFIX}/docs/status",
        f"{PREFIX}/docs/status.json",
        f"{PREFIX}/docs/<any(es, en):language>/status",
    }
    undescribed = health | pages | {f"{PREFIX}/docs/<path:page>"}
    assert seen == {
        (route.method, re.sub(r"<\w+>", "*", route.path)) for route in routes if route.path not in undescribed
    }
    ids = [
        operation["operationId"] for operations in description["paths"].values() for operation in operations.values()
    ]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("[a-z]+[A-Za-z]*", name) for name in ids)
    assert description["openapi"].startswith("3.1")


async def test_every_answer_is_as_it_is_described(
    front: Running, api: httpx.AsyncClient, db: Database, key: Key
) -> None:
    description = closed(await described(front))

    def check(answer: httpx.Response, path: str) -> None:
        operation = description["paths"][f"{PREFIX}{path}"][answer.request.method.lower()]
        schema = operation["responses"][str(answer.status_code)]["content"]["application/json"]["schema"]
        whole = {**schema, "components": description["components"]}
        jsonschema_rs.validator_for(whole).validate(answer.json())

    login = await api.post("/login", json=key.credentials)
    check(login, "/login")
    check(await api.post("/login", json={}), "/login")
    await api.post("/ncf", json={"prefix": "E31", "expireAt": "2028-12-31"})
    check(await api.post("/ncf", json={"prefix": "E32"}), "/ncf")
    check(await api.get("/ncf"), "/ncf")
    check(await api.post("/ncf", json={"prefix": "E99"}), "/ncf")
    accepted = await api.post("/invoices", json=structured(clientRequestId="a"))
    check(accepted, "/invoices")
    check(await api.post("/invoices", json=structured(clientRequestId="a")), "/invoices")
    check(await api.post("/invoices", json=structured(invoice_payload(None, TipoeCF="31"))), "/invoices")
    bad = invoice_payload(TipoIngresos="99")
    check(await api.post("/invoices", json=structured(bad, strict=True)), "/invoices")
    check(await api.post("/invoices/validate", json=structured(bad)), "/invoices/validate")
    one = f"/invoices/{accepted.json()['taxLogId']}"
    for then in (None, worker.sign, lambda d, i: worker.receive(d, i, TrackId("t")), worker.still_processing, _verdict):
        if then is not None:
            await then(db, accepted.json()["taxLogId"])
        check(await api.get(one), "/invoices/{trackOrId}")
        check(await api.get(f"{one}/xml"), "/invoices/{trackOrId}/xml")
        check(await api.get(f"{one}/timeline"), "/invoices/{trackOrId}/timeline")
    check(await api.get("/invoices/nobody"), "/invoices/{trackOrId}")
    listed = await api.get("/invoices", params={"limit": 1})
    check(listed, "/invoices")
    check(await api.get("/invoices", params={"cursor": listed.json()["nextCursor"]}), "/invoices")
    check(await api.get("/invoices", params={"limit": 0}), "/invoices")
    check(await api.delete("/ncf/E32"), "/ncf/{prefix}")
    check(await api.delete("/ncf/E32"), "/ncf/{prefix}")
    check(await api.delete("/ncf/E99"), "/ncf/{prefix}")
    check(await api.get("/usage"), "/usage")
    check(await api.get("/billing/current-period"), "/billing/current-period")


async def _verdict(db: Database, tax_log_id: str) -> None:
    await worker.give_verdict(db, tax_log_id, Status.ACCEPTED, ("0", "bien"))


async def test_what_the_description_shows_of_bodies_is_what_is_checked(front: Running, api: httpx.AsyncClient) -> None:
    schemas = (await described(front))["components"]["schemas"]

    structured, xml = schemas["NewStructuredInvoice"], schemas["NewXmlInvoice"]
    assert structured["required"] == ["format", "payload"]
    assert xml["required"] == ["format", "xml"]
    assert set(structured["properties"]) ^ set(xml["properties"]) == {"payload", "xml"}
    assert set(structured["properties"]) | set(xml["properties"]) == set(NewInvoice.model_fields)
    assert structured["properties"]["clientRequestId"]["anyOf"][0]["maxLength"] == 120
    assert schemas["NewSequence"]["required"] == ["prefix"]
    assert set(schemas["LoginRequest"]["required"]) == {"apiKeyId", "apiSecret"}
    assert "trackId" not in schemas["Submission"]["required"]
    assert "default" not in json.dumps(schemas["Submission"])


async def test_answers_may_be_added_to(front: Running) -> None:
    description = await described(front)

    open_ones = {name for name, schema in description["components"]["schemas"].items() if _is_open(schema)}
    closed_ones = {
        name for name, schema in closed(description)["components"]["schemas"].items() if not _is_open(schema)
    }
    assert {"Submission", "AcceptedSubmission", "SubmissionPage", "Error", "DocumentProblem"} <= open_ones & closed_ones
    assert "NewStructuredInvoice" not in closed_ones


def _is_open(schema: dict[str, Any]) -> bool:
    return schema.get("additionalProperties", True) is not False


async def test_the_page_needs_no_other_host(front: Running) -> None:
    async with front.client() as client:
        answer = await client.get("/docs")

    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    assert answer.text.count("<script") == 1, "the button that copies code"
    assert not re.findall(r"""(?:src|href)=["']?(?:https?:)?//""", answer.text)
    for path in (await described(front))["paths"]:
        assert f"<code>{path}</code>" in answer.text
    anchors = set(re.findall(r'href="#(\w+)"', answer.text))
    assert anchors <= set(re.findall(r'id="(\w+)"', answer.text))
