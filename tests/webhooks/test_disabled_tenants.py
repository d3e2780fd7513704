"""A disabled tenant is called no more, whatever it set; what would have been told is kept, and told when it is back."""

from collections.abc import Awaitable, Callable, Sequence

import trio

from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.egress.target import Policy
from fe.identifiers import TenantId
from fe.lifecycle import NumberFate, WebhookEvent
from fe.store.postgres.db import Conn, Database
from fe.store.records import statistics
from fe.store.webhooks import deliveries, endpoints
from fe.store.webhooks.deliveries import DeliveryFilter, DeliveryState
from fe.webhooks.accounts import Wanted, WebhookAccounts
from tests.factories import bookings
from tests.factories.operators import disable, enable
from tests.factories.tenants import make_submission, make_tenant, row, rows, take
from tests.receiving.supplier import document, start_reception
from tests.waiting import until_waited_for
from tests.webhooks.receiver import WEBHOOK_VAULT, Receiver, delivering, emit_event, make_endpoint
from tests.webhooks.test_deliverer import ended

ACCOUNTS = WebhookAccounts(WEBHOOK_VAULT, Policy(development=True))


async def states(db: Database, tenant: TenantId) -> list[DeliveryState]:
    return [one.state for one in await db.run(deliveries.listed, tenant, DeliveryFilter(), limit=10)]


async def test_what_suppliers_send_is_received_and_told_when_the_tenant_is_back(
    nursery: trio.Nursery, db: Database, worker_db: Database, reception_db: Database, receiver: Receiver
) -> None:
    reception = await start_reception(nursery, db, reception_db)
    tenant = reception.tenant
    await make_endpoint(db, tenant, receiver.url)
    await disable(db, tenant)

    said = await reception.send(document())

    assert said.status_code == 200
    assert (await row(db, "SELECT count(*) FROM received"))["count"] == 1
    assert await states(db, tenant) == [DeliveryState.HELD]
    async with delivering(worker_db, clock=reception.clock):
        assert await enable(db, tenant) == 1
        (heard,) = await receiver.wait()
    assert heard.headers["x-service-event"] == "received_ecf"


async def test_what_was_due_is_held_and_tests_are_not_made_either(
    db: Database, worker_db: Database, receiver: Receiver
) -> None:
    tenant = await make_tenant(db)
    made = await make_endpoint(db, tenant, receiver.url)
    due = await emit_event(db, made)  # an event `test`, which goes to an endpoint that is switched off, too
    await disable(db, tenant)

    async with delivering(worker_db):
        assert (await ended(db, tenant, due)).state is DeliveryState.HELD
    assert receiver.connections == 0
    assert (await db.run(statistics.webhooks)).endpoints == {}, "nobody is alarmed by what an operator did"


async def test_what_an_operator_paused_is_not_late(db: Database, receiver: Receiver) -> None:
    tenant = await make_tenant(db)
    await emit_event(db, await make_endpoint(db, tenant, receiver.url))
    await rows(db, "UPDATE webhook_deliveries SET run_at = now() - interval '20 min'")
    assert (await db.run(statistics.webhooks)).late >= 1200

    await rows(
        db,
        """INSERT INTO pauses (tenant_id, environment, paused_at, paused_by, reason)
           VALUES (%(tenant)s, '', now(), 'she', 'a test')""",
        tenant=tenant,
    )

    assert (await db.run(statistics.webhooks)).late == 0


async def test_an_endpoint_of_a_disabled_tenant_cannot_be_switched_on_and_comes_back_as_it_was(
    db: Database, receiver: Receiver
) -> None:
    tenant = await make_tenant(db)
    gone = await make_endpoint(db, tenant, receiver.url, environment=Environment.ECF)
    await rows(db, "UPDATE webhook_endpoints SET disabled_at = now(), disabled_reason = 'gone'")
    off = await make_endpoint(db, tenant, receiver.url, environment=Environment.CERTECF, enabled=False)
    await disable(db, tenant)
    new = await db.run(ACCOUNTS.put, tenant, Environment.TESTECF, Wanted(receiver.url), system_clock())
    again = await db.run(ACCOUNTS.put, tenant, Environment.TESTECF, Wanted(receiver.url), system_clock())
    assert (new.endpoint.disabled_reason, again.endpoint.disabled_reason) == ("tenant", "tenant")

    assert await enable(db, tenant) == 2

    found = {one.endpoint_id: one for one in await db.run(endpoints.listed, tenant)}
    assert found[gone.endpoint].disabled_reason == "gone", "that was not for the tenant's sake"
    assert (found[off.endpoint].enabled, found[off.endpoint].disabled_at) == (False, None)
    assert found[new.endpoint.endpoint_id].disabled_at is None


async def test_outcomes_that_come_meanwhile_are_kept_too(db: Database, worker_db: Database, receiver: Receiver) -> None:
    tenant = await make_tenant(db)
    await make_endpoint(db, tenant, receiver.url, events=[WebhookEvent.ERROR])
    work = await take(db, await make_submission(db, tenant))
    await disable(db, tenant)
    await db.run(bookings.failure, work, at=system_clock(), response={"error": "x"}, fate=NumberFate.REUSABLE)
    assert await states(db, tenant) == [DeliveryState.HELD]

    async with delivering(worker_db):
        await enable(db, tenant)
        (heard,) = await receiver.wait()
    assert heard.headers["x-service-event"] == "submission.error"


async def test_a_webhook_that_is_set_while_its_tenant_is_disabled_is_not_called(db: Database) -> None:
    """Each looked before the other had written: it was called for as long as the tenant was shut out."""
    tenant = await make_tenant(db)
    done: list[str] = []

    async def shutting_out() -> None:
        await disable(db, tenant)
        done.append("disabled")

    async with trio.open_nursery() as nursery:
        await db.transact(_set_beside, tenant, nursery, shutting_out, db, done)

    (found,) = await db.run(endpoints.listed, tenant)
    assert found.disabled_reason == "tenant"


async def test_a_webhook_that_is_set_while_its_tenant_is_let_in_is_called(db: Database) -> None:
    tenant = await make_tenant(db)
    await disable(db, tenant)
    done: list[str] = []

    async def letting_in() -> None:
        await enable(db, tenant)
        done.append("enabled")

    async with trio.open_nursery() as nursery:
        await db.transact(_set_beside, tenant, nursery, letting_in, db, done)

    (found,) = await db.run(endpoints.listed, tenant)
    assert (found.enabled, found.disabled_reason) == (True, None)


async def _set_beside(
    conn: Conn,
    tenant: TenantId,
    nursery: trio.Nursery,
    act: Callable[[], Awaitable[None]],
    db: Database,
    done: Sequence[str],
) -> None:
    """Set a webhook, and run another transaction before it commits."""
    await ACCOUNTS.put(conn, tenant, Environment.ECF, Wanted("https://ozama.example/hook"), system_clock())
    nursery.start_soon(act)
    await until_waited_for(db, lambda: done)
