"""The contract: interface.md#events. A supplier's document arrives, and the tenant's own system is called."""

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import httpx
import jsonschema_rs
import pytest
import trio
from standardwebhooks import Webhook

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.lifecycle import WebhookEvent
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import RECEPTION
from fe.store.records import receivers
from fe.store.records.receivers import Receiver as OpenReception
from tests.authority.scripted import hang, hang_up, say
from tests.factories.companies import make_certificate
from tests.factories.tenants import make_submission, rows
from tests.http.clauses import clause
from tests.http.front import Running
from tests.receiving import supplier
from tests.receiving.supplier import OURS, THEIRS, document, start_reception
from tests.webhooks.receiver import Receiver, delivering, receiving

NUMBER = "E310000000007"


@pytest.fixture
async def reception(dsn: str, nursery: trio.Nursery, db: Database, tenant: TenantId) -> AsyncIterator[supplier.Running]:
    """Where suppliers reach the tenant of these tests."""
    await make_certificate(db, tenant)
    await db.run(receivers.open_reception, OpenReception(tenant, Environment.TESTECF, OURS, False))
    async with open_database(dsn, role=RECEPTION) as reception_db:
        yield await start_reception(nursery, db, reception_db, tenant=tenant)


@pytest.fixture
async def consumer() -> AsyncIterator[Receiver]:
    """The tenant's own system."""
    async with receiving() as one:
        yield one


async def set_webhook(api: httpx.AsyncClient, url: str, **more: Any) -> str:
    """Set where the tenant is called, and give the secret."""
    answer = await api.put("/webhooks", json={"url": url, **more})
    assert answer.status_code == 200, answer.text
    secret: str = answer.json()["secret"]
    return secret


async def in_state(api: httpx.AsyncClient, state: str) -> dict[str, Any]:
    """Wait for the one delivery there is to be in a state."""
    with trio.fail_after(60):
        while True:
            (item,) = (await api.get("/webhooks/deliveries")).json()["items"]
            if item["state"] == state:
                found: dict[str, Any] = item
                return found
            await trio.sleep(0.05)


@clause("What the service does", "Receipts that suppliers issue to the tenant are received")
@clause("Events", "The service sends one kind of event", "Configuration is in the portal")
@clause("Request sent", "POST to the tenant's URL", "| X-Service-Signature", "| X-Service-Event")
@clause("Request sent", "| X-Service-Delivery", "| custom headers", "| event", "| sentAt", "| xml")
@clause("Request sent", "| receivedEcf.id", "| receivedEcf.encf", "| receivedEcf.tipoEcf", "| receivedEcf.rncEmisor")
@clause("Request sent", "| receivedEcf.rncComprador", "| receivedEcf.montoTotal", "| receivedEcf.fechaEmision")
@clause("Request sent", "| receivedEcf.approvalStatus", "| receivedEcf.receivedAt")
@clause("Received e-CF summary (webhook)", "Fields are in the Events section")
@clause("Signature verification", "Compute HMAC-SHA256 over the exact raw body", "Verification must use the raw body")
@clause("Delivery rules", "Delivery is asynchronous and does not block reception", "A 2xx or 3xx response confirms")
async def test_a_supplier_s_document_is_told_to_the_tenant_s_own_system(
    front: Running, api: httpx.AsyncClient, worker_db: Database, reception: supplier.Running, consumer: Receiver
) -> None:
    secret = await set_webhook(api, consumer.url, headers={"Authorization": "Bearer theirs"})
    raw = document()

    # The supplier gets its acknowledgement although no worker delivers yet.
    assert supplier.read(await reception.send(raw)).state == "0"
    (listed,) = (await api.get("/received")).json()["items"]
    async with delivering(worker_db):
        (heard,) = await consumer.wait()
        delivered = await in_state(api, "delivered")

    body = json.loads(heard.body)
    assert tuple(body) == ("event", "sentAt", "receivedEcf", "xml")
    assert body["event"] == "received_ecf"
    told = body["receivedEcf"]
    assert told == {name: listed[name] for name in listed if name in told}
    assert tuple(told) == (
        *("id", "encf", "tipoEcf", "rncEmisor", "rncComprador", "montoTotal"),
        *("fechaEmision", "approvalStatus", "receivedAt"),
    )
    assert (told["encf"], told["rncEmisor"], told["rncComprador"]) == (NUMBER, THEIRS, OURS)
    assert told["approvalStatus"] == "pending"
    assert body["xml"].encode() == raw

    assert heard.method == "POST"
    assert heard.headers["content-type"] == "application/json"
    assert heard.headers["authorization"] == "Bearer theirs"
    assert heard.headers["x-service-event"] == "received_ecf"
    assert heard.headers["x-service-delivery"] == delivered["id"]
    right = "sha256=" + hmac.new(secret.encode(), heard.body, hashlib.sha256).hexdigest()
    assert heard.headers["x-service-signature"] == right
    again = json.dumps(body).encode()
    assert hmac.new(secret.encode(), again, hashlib.sha256).hexdigest() not in right, "the raw body, no other"
    assert Webhook(secret).verify(heard.body, dict(heard.headers))["event"] == "received_ecf"
    await _as_described(front, WebhookEvent.RECEIVED_ECF, body)


async def _as_described(front: Running, event: WebhookEvent, body: Any) -> None:
    async with front.client() as client:
        description = (await client.get("/openapi.json")).json()
    schema = description["webhooks"][event]["post"]["requestBody"]["content"]["application/json"]["schema"]
    jsonschema_rs.validator_for({**schema, "components": description["components"]}).validate(body)


@clause("Delivery rules", "A 2xx or 3xx response confirms", "Any other code, a timeout or a network error")
@clause("Delivery rules", "The consumer must be idempotent", "Delivery history and manual retry")
@clause("Delivery rules", "The consumer should answer within 20 seconds", "Number of attempts, backoff schedule")
async def test_what_is_not_confirmed_is_tried_again_under_the_same_id_and_its_history_is_shown(
    api: httpx.AsyncClient, worker_db: Database, reception: supplier.Running, consumer: Receiver
) -> None:
    await set_webhook(api, consumer.url)
    consumer.steps.extend([say(b"no", 500), hang_up, hang, say(b"", 302, Location="/elsewhere")])
    await reception.send(document())

    async with delivering(worker_db, seconds=1.0):
        heard = list(await consumer.wait(4))
        delivered = await in_state(api, "delivered")
    detail = (await api.get(f"/webhooks/deliveries/{delivered['id']}")).json()

    assert {each.headers["x-service-delivery"] for each in heard} == {delivered["id"]}
    assert len({each.body for each in heard}) == 1
    assert [each["status"] for each in detail["tries"]] == [500, None, None, 302]
    assert all(each["error"] for each in detail["tries"][:3])
    assert detail["tries"][0]["answer"] == "no"
    assert detail["tries"][3]["error"] is None
    assert delivered["redirected"]

    assert (await api.post(f"/webhooks/deliveries/{delivered['id']}/retry")).status_code == 202
    async with delivering(worker_db):
        fifth = (await consumer.wait(5))[4]
        await in_state(api, "delivered")
    assert (fifth.headers["x-service-delivery"], fifth.body) == (delivered["id"], heard[0].body)


@clause("Events", "Forwarding applies only to received e-CFs", "Issued-submission results are obtained by polling")
@clause("Events", "Other event kinds: not shown", "Configuration endpoints in the API: not shown")
async def test_what_the_tenant_issues_is_told_only_to_who_asked_for_it(
    front: Running,
    api: httpx.AsyncClient,
    db: Database,
    worker_db: Database,
    tenant: TenantId,
    consumer: Receiver,
) -> None:
    await set_webhook(api, consumer.url)
    await _end(db, tenant)
    assert (await api.get("/webhooks/deliveries")).json()["items"] == []

    answer = await api.put("/webhooks", json={"url": consumer.url, "events": ["submission.accepted"]})
    assert answer.status_code == 200
    await _end(db, tenant)

    async with delivering(worker_db):
        (heard,) = await consumer.wait()
        await in_state(api, "delivered")
    assert heard.headers["x-service-event"] == "submission.accepted"
    await _as_described(front, WebhookEvent.ACCEPTED, json.loads(heard.body))


async def _end(db: Database, tenant: TenantId) -> None:
    """A submission of the tenant's is accepted."""
    subject = await make_submission(db, tenant, environment=Environment.TESTECF)
    await rows(
        db, "UPDATE submissions SET status = 'Aceptado', verdict_at = now() WHERE submission_id = %(i)s", i=subject
    )
    await rows(
        db,
        "SELECT record_event(%(tenant)s, %(id)s, %(at)s, 'verdict', '{}')",
        tenant=tenant,
        id=subject,
        at=datetime.now(UTC),
    )
