"""Outages of the authority: told to endpoints that want it, to every tenant by a header, and to anyone by a page."""

from datetime import UTC, datetime, timedelta

import httpx

from fe.actors.authority_health import HealthMeter
from fe.actors.webhook_watch import emit_outages
from fe.authority.hosts import Operation
from fe.lifecycle import WebhookEvent
from fe.store.postgres.db import Database
from fe.store.queue import circuits
from tests.factories.tenants import make_tenant, rows
from tests.http.conftest import api, front, key, tenant
from tests.http.front import Running
from tests.webhooks.receiver import make_endpoint

__all__ = ["api", "front", "key", "tenant"]

SOON = timedelta(seconds=3)
EVENTS = "SELECT kind, body FROM webhook_events ORDER BY created_at, kind"


async def test_an_outage_of_two_minutes_and_its_end_are_told_once_to_who_wants_it(
    db: Database, worker_db: Database
) -> None:
    tenant, other = await make_tenant(db), await make_tenant(db)
    both = [WebhookEvent.AUTHORITY_DOWN, WebhookEvent.AUTHORITY_UP]
    await make_endpoint(db, tenant, "https://example.com/", events=both)
    await make_endpoint(db, other, "https://example.com/", events=[WebhookEvent.ACCEPTED])
    start = datetime.now(UTC)
    await worker_db.run(circuits.open_circuit, "testecf", "ecf", "no answer", SOON)

    async def told(seconds: int) -> int:
        return await emit_outages(worker_db, lambda: start + timedelta(seconds=seconds))

    down = [await told(60), await told(180), await told(240)]
    await worker_db.run(circuits.close_circuit, "testecf", "ecf")
    up = [await told(300), await told(360)]
    # One that is shorter is not told of, nor its end.
    await worker_db.run(circuits.open_circuit, "testecf", "fc", "no answer", SOON)
    await worker_db.run(circuits.close_circuit, "testecf", "fc")

    assert (down, up, await told(600)) == ([0, 1, 0], [1, 0], 0)
    found = await rows(db, EVENTS)
    assert [one["kind"] for one in found] == ["authority.down", "authority.up"]
    assert b'"until":null' in bytes(found[0]["body"]).replace(b" ", b"")


async def test_a_header_tells_each_caller_of_an_outage_in_its_environment(
    api: httpx.AsyncClient, front: Running, db: Database
) -> None:
    outages = front.app.extensions["fe"].outages
    before = await api.get("/ncf")
    await db.run(circuits.open_circuit, "testecf", "ecf", "no answer", SOON)
    await db.run(circuits.open_circuit, "ecf", "fc", "no answer", SOON)
    await outages.look()

    during = await api.get("/ncf")
    mode = (await api.get("/contingency")).json()
    await db.run(circuits.close_circuit, "testecf", "ecf")
    await outages.look()

    assert "authority-outage" not in before.headers
    assert during.headers["authority-outage"].startswith("ecf; since=20")
    assert (mode["mode"], [one["host"] for one in mode["outages"]]) == ("authority_down", ["ecf"])
    assert "authority-outage" not in (await api.get("/ncf")).headers


async def test_anyone_reads_the_health_that_exchanges_measured(
    front: Running, db: Database, worker_db: Database
) -> None:
    health = HealthMeter(worker_db, lambda: datetime.now(UTC))
    for outcome, seconds in (("ok", 0.2), ("refused", 0.4), ("unavailable", 9.0), ("cancelled", 1.0)):
        health.note("ecf", Operation.RECEPTION, outcome, seconds)
    health.note("", Operation.IS_UP, "ok", 0.1)
    await health.flush()
    health.note("ecf", Operation.RECEPTION, "ok", 0.9)
    await health.flush()
    await worker_db.run(circuits.open_circuit, "ecf", "ecf", "no answer", SOON)

    async with front.client() as client:
        answer = (await client.get("/authority")).json()
        page = await client.get("/docs/es/authority")
        other = await client.get("/docs/authority", headers={"Accept-Language": "en"})

    (production, *_) = answer["environments"]
    assert production["lastHour"] == [
        {"service": "reception", "answered": 3, "failed": 1, "averageMs": 500, "slowestMs": 900}
    ]
    assert production["lastDay"] == production["lastHour"]
    assert [one["host"] for one in production["outages"]] == ["ecf"]
    assert "sin respuesta desde" in page.text
    assert "no answer since" in other.text
