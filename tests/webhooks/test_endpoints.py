"""Several endpoints of an environment: each gets its own delivery, and a deleted one leaves nothing waiting."""

from datetime import timedelta

import trio

from fe.actors.webhook_watch import KEPT_FOR, forget_old
from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.lifecycle import Status, WebhookEvent
from fe.store.postgres.db import Database
from fe.store.queue import webhooks
from fe.store.webhooks import deliveries, endpoints
from fe.store.webhooks.deliveries import DeliveryFilter, DeliveryState
from tests.authority.scripted import in_turn, say, wait_for
from tests.factories.tenants import make_tenant, rows
from tests.receiving.supplier import Hands
from tests.webhooks.receiver import Receiver, delivering, emit_event, make_endpoint, receiving
from tests.webhooks.test_deliverer import ended, eventually
from tests.webhooks.test_events import judged


async def test_an_event_goes_to_each_endpoint_that_wants_it_and_one_does_not_delay_another(
    db: Database, worker_db: Database, receiver: Receiver
) -> None:
    tenant, wanted = await make_tenant(db), [WebhookEvent.ACCEPTED]
    async with receiving(say("no", 500)) as failing:
        for name, url in (("default", receiver.url), ("crm", failing.url)):
            await make_endpoint(db, tenant, url, events=wanted, environment=Environment.ECF, name=name)
        await make_endpoint(
            db, tenant, receiver.url, events=[WebhookEvent.ERROR], environment=Environment.ECF, name="errors"
        )
        await judged(db, worker_db, tenant, Status.ACCEPTED)

        found = await db.run(deliveries.listed, tenant, DeliveryFilter(), limit=10)
        by_name = {one.endpoint_name: one.delivery_id for one in found}
        assert sorted(by_name, key=str) == ["crm", "default"]
        (of_crm,) = await db.run(deliveries.listed, tenant, DeliveryFilter(endpoint="crm"), limit=10)
        assert await db.run(deliveries.count, tenant, DeliveryFilter(endpoint="crm")) == 1
        async with delivering(worker_db):
            await ended(db, tenant, by_name["default"], DeliveryState.DELIVERED)
            await failing.wait()

    assert of_crm.delivery_id == by_name["crm"]
    assert (receiver.heard[0].body, failing.heard[0].body) == (failing.heard[0].body, receiver.heard[0].body)
    signed = [heard.headers["x-service-signature"] for heard in (receiver.heard[0], failing.heard[0])]
    assert signed[0] != signed[1], "each has its own secret"


async def test_a_try_under_way_when_its_endpoint_is_deleted_ends_as_failed_afterwards(
    db: Database, worker_db: Database, receiver: Receiver
) -> None:
    clock, goes_on = Hands(system_clock()), trio.Event()
    receiver.steps.append(in_turn(wait_for(goes_on), say("no", 500)))
    made = await make_endpoint(db, await make_tenant(db), receiver.url, clock=clock)
    under_way = await emit_event(db, made, kind=WebhookEvent.RECEIVED_ECF, clock=clock)
    async with delivering(worker_db, clock=clock):
        await receiver.wait()
        waits = await emit_event(db, made, kind=WebhookEvent.RECEIVED_ECF, clock=clock)
        await rows(db, "UPDATE webhook_deliveries SET stage = 'held' WHERE subject = %(id)s", id=waits)
        await db.run(endpoints.remove, made.tenant, made.endpoint, at=clock())
        assert (await ended(db, made.tenant, waits)).last_error == "deleted"
        assert await db.run(webhooks.end_deleted, clock(), 10) == 0, "a worker holds it"
        goes_on.set()

        async def end() -> int | None:
            return await worker_db.run(webhooks.end_deleted, clock(), 10) or None

        assert await eventually(end) == 1
    shown = await ended(db, made.tenant, under_way, DeliveryState.FAILED)
    assert (shown.last_error, shown.endpoint_name, len(receiver.heard)) == ("deleted", "default", 1)

    clock.forward(KEPT_FOR - timedelta(days=1))
    await forget_old(worker_db, clock)
    assert len(await rows(db, "SELECT 1 FROM webhook_endpoints")) == 1
    clock.forward(timedelta(days=2))
    for _ in range(2):
        await forget_old(worker_db, clock)
    assert await rows(db, "SELECT 1 FROM webhook_endpoints UNION ALL SELECT 1 FROM webhook_deliveries") == []
