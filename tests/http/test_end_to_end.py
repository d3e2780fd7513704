"""The front end to end, on a real socket and a real database."""

from uuid import UUID

import httpx
import trio

from fe.store.postgres.db import Database
from tests.http.front import Key, Running, invoice_payload, structured
from tests.waiting import PATIENCE

XML = (
    '<?xml version="1.0" encoding="utf-8"?><ECF><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>31</TipoeCF>'
    "<eNCF>E310000000007</eNCF></IdDoc></Encabezado></ECF>"
)


async def test_a_client_logs_in_submits_and_asks_after_its_receipt(front: Running, key: Key) -> None:
    async with front.client() as client:
        login = await client.post("/login", json=key.credentials)
        client.headers["Authorization"] = f"Bearer {login.json()['accessToken']}"
        accepted = await client.post("/invoices", json=structured(clientRequestId="order-1"))
        shown = await client.get(f"/invoices/{accepted.json()['taxLogId']}")
        listed = await client.get("/invoices")

    assert login.status_code == 200
    assert login.json()["tokenType"] == "Bearer"
    assert login.json()["expiresIn"] == 3600
    assert accepted.status_code == 202
    assert accepted.json()["status"] == "queued"
    assert accepted.json()["billable"] is False
    assert UUID(accepted.json()["taxLogId"]).version == 7
    assert shown.json()["status"] == "queued"
    assert shown.json()["clientRequestId"] == "order-1"
    assert "trackId" not in shown.json()
    assert listed.json()["total"] == 1
    assert listed.json()["items"][0]["taxLogId"] == accepted.json()["taxLogId"]


async def test_the_original_xml_is_shown_until_the_document_is_signed(api: httpx.AsyncClient) -> None:
    accepted = await api.post("/invoices", json={"format": "xml", "xml": XML})
    structured_one = await api.post("/invoices", json=structured())

    shown = await api.get(f"/invoices/{accepted.json()['taxLogId']}/xml")
    other = await api.get(f"/invoices/{structured_one.json()['taxLogId']}/xml")

    assert accepted.status_code == 202
    assert shown.json()["source"] == "original"
    assert shown.json()["xml"] == XML
    assert other.json()["source"] is None
    assert other.json()["xml"] is None


async def test_every_root_is_taken(api: httpx.AsyncClient) -> None:
    for xml in (
        XML,
        "<RFCE><Encabezado><IdDoc><TipoeCF>32</TipoeCF><eNCF>E320000000001</eNCF></IdDoc></Encabezado></RFCE>",
        "<ACECF><DetalleAprobacionComercial/></ACECF>",
        "<ANECF><Encabezado/></ANECF>",
    ):
        answer = await api.post("/invoices", json={"format": "xml", "xml": xml})
        assert answer.status_code == 202, answer.text

    wrapped = await api.post("/invoices", json=structured({"ECF": invoice_payload()}))
    assert wrapped.status_code == 202


async def test_twenty_simultaneous_firsts_make_one_submission(api: httpx.AsyncClient, db: Database) -> None:
    answers: list[httpx.Response] = []

    async def post() -> None:
        answers.append(await api.post("/invoices", json=structured(clientRequestId="twin")))

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(post)

    assert sorted(answer.status_code for answer in answers) == [200] * 19 + [202]
    assert len({answer.json()["taxLogId"] for answer in answers}) == 1
    assert all(answer.json()["deduped"] for answer in answers if answer.status_code == 200)
    assert (await api.get("/invoices")).json()["total"] == 1


async def test_a_repeat_with_another_body_is_told_so(api: httpx.AsyncClient) -> None:
    await api.post("/invoices", json=structured(clientRequestId="a"))

    again = await api.post("/invoices", json=structured(clientRequestId="a"))
    other = await api.post("/invoices", json=structured(invoice_payload("E310000000002"), clientRequestId="a"))

    assert again.json()["bodyMatched"] is True
    assert other.status_code == 200
    assert other.json()["bodyMatched"] is False


async def test_health_needs_no_token_and_lies_outside_the_prefix(front: Running) -> None:
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as client:
        live = await client.get(f"http://127.0.0.1:{front.port}/healthz")
        ready = await client.get(f"http://127.0.0.1:{front.port}/readyz")
        metrics = await client.get(f"http://127.0.0.1:{front.port}/metrics")

    assert (live.status_code, live.json()) == (200, {"status": "ok"})
    assert metrics.status_code == 404  # they have a port of their own
    assert (ready.status_code, ready.json()) == (200, {"status": "ready"})


async def test_every_answer_carries_a_request_id_and_keeps_a_sane_one(front: Running) -> None:
    async with front.client() as client:
        made = await client.get("/nowhere")
        kept = await client.get("/nowhere", headers={"X-Request-Id": "order-77.b"})
        refused = await client.get("/nowhere", headers={"X-Request-Id": "a b<script>"})

    assert len(made.headers["X-Request-Id"]) == 16
    assert kept.headers["X-Request-Id"] == "order-77.b"
    assert "script" not in refused.headers["X-Request-Id"]


async def test_whatever_the_router_refuses_is_said_in_json(front: Running) -> None:
    async with front.client() as client:
        unknown = await client.get("/nowhere")
        method = await client.put("/login")
        doubled = await client.get(f"{front.base_url}//invoices")
        trailing = await client.get("/invoices/")

    assert (unknown.status_code, unknown.json()) == (404, {"message": "Not Found", "statusCode": 404})
    assert (method.status_code, method.json()) == (405, {"message": "Method Not Allowed", "statusCode": 405})
    assert method.headers["Allow"] == "POST"
    assert doubled.status_code == 404
    assert trailing.status_code == 404
