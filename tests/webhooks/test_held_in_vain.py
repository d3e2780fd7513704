"""Events that are held although their endpoint is active, and late answers of a former address or an old claim."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import trio

from fe.actors.webhook_watch import let_go_of_held
from fe.clock import system_clock
from fe.ecf.ids import new_id
from fe.identifiers import ActionId
from fe.lifecycle import WebhookEvent
from fe.store.postgres.db import Database
from fe.store.queue.audit import OperatorAction
from fe.store.records import counterparty
from fe.store.webhooks import deliveries, endpoints
from fe.store.webhooks.deliveries import DeliveryState
from tests.authority.scripted import in_turn, say, wait_for
from tests.factories.tenants import make_submission, make_tenant, row, rows
from tests.webhooks.receiver import Made, Receiver, delivering, emit_event, make_endpoint
from tests.webhooks.test_deliverer import ended

_HELD = "UPDATE webhook_deliveries SET stage = 'held' WHERE subject = %(id)s"


async def told(db: Database, made: Made) -> UUID:
    """A delivery of what happened, not of a test."""
    return await emit_event(db, made, kind=WebhookEvent.RECEIVED_ECF)


async def state_of(db: Database, made: Made, delivery: UUID) -> DeliveryState:
    found = await db.run(deliveries.one, made.tenant, delivery)
    assert found is not None
    return found.state


async def test_what_is_held_though_its_endpoint_is_called_is_made(
    db: Database, worker_db: Database, receiver: Receiver
) -> None:
    """As it is of an event that came about at the moment at which its endpoint was switched on."""
    on = await make_endpoint(db, await make_tenant(db), receiver.url)
    off = await make_endpoint(db, await make_tenant(db), receiver.url, enabled=False)
    gone = await make_endpoint(db, await make_tenant(db), receiver.url)
    await rows(
        db,
        "UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = 'gone' WHERE endpoint_id = %(id)s",
        id=gone.endpoint,
    )
    in_vain, test = await told(db, on), await emit_event(db, on)
    kept = [(made, await told(db, made)) for made in (off, gone)]
    for delivery in (in_vain, test, *(delivery for _, delivery in kept)):
        await rows(db, _HELD, id=delivery)

    assert [await let_go_of_held(worker_db) for _ in range(2)] == [1, 0]
    async with delivering(worker_db):
        assert (await ended(db, on.tenant, in_vain, DeliveryState.DELIVERED)).attempts == 1

    assert await state_of(db, on, test) is DeliveryState.HELD  # the client asks again
    assert [await state_of(db, made, delivery) for made, delivery in kept] == [DeliveryState.HELD] * 2


async def test_what_an_endpoints_former_address_says_is_not_its_own(
    db: Database, worker_db: Database, receiver: Receiver
) -> None:
    """It was called there when it got another: that this is gone does not switch it off."""
    is_changed = trio.Event()
    receiver.steps.append(in_turn(wait_for(is_changed), say("gone", 410)))
    made = await make_endpoint(db, await make_tenant(db), receiver.url)
    delivery = await told(db, made)
    async with delivering(worker_db):
        await receiver.wait()
        await db.run(
            endpoints.change,
            made.tenant,
            made.endpoint,
            url=f"{receiver.url}/new",
            enabled=True,
            events=[WebhookEvent.RECEIVED_ECF],
            headers=None,
            at=datetime.now(UTC),
        )
        is_changed.set()
        await ended(db, made.tenant, delivery, DeliveryState.HELD)
        found = await db.run(endpoints.one, made.tenant, made.endpoint)
        assert found is not None
        assert (found.disabled_at, found.disabled_reason) == (None, None)

        assert await let_go_of_held(worker_db) == 1
        await ended(db, made.tenant, delivery, DeliveryState.DELIVERED)
    assert [heard.path for heard in receiver.heard] == ["hook", "hook/new"]


async def test_what_is_handed_on_once_more_begins_with_an_epoch_that_no_claim_has_had(db: Database) -> None:
    """Claims that found no address sent nothing, and a claim with an address may still be running."""
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant)
    given: dict[str, Any] = {"tenant": tenant, "subject": subject}
    await rows(
        db,
        "INSERT INTO counterparty_deliveries (tenant_id, submission_id, kind, environment, counterparty_rnc, since,"
        " changed_at) VALUES (%(tenant)s, %(subject)s, 'receipt', 'ecf', '131880681', now(), now())",
        **given,
    )
    await rows(
        db,
        "INSERT INTO counterparty_outbox (tenant_id, subject, stage, environment, host, run_at, epoch, holder)"
        " VALUES (%(tenant)s, %(subject)s, 'address', 'ecf', 'ecf', now() + interval '1 minute', 7, 'somebody')",
        **given,
    )
    ending = "SELECT book_delivery_end(%(tenant)s, %(subject)s, 7, now(), 'unlisted', 'no address', NULL, NULL) AS done"
    assert await row(db, ending, **given) == {"done": True}

    now = system_clock()
    action = OperatorAction(ActionId(new_id(now)), now, "eva", "they have one now")
    assert await db.transact(counterparty.replay, action, tenant, subject)

    assert await row(db, "SELECT epoch FROM counterparty_outbox") == {"epoch": 7}
