"""Events: written once, in the transaction of what they report; a delivery whose worker died is made again."""

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import trio

from fe.actors.webhook_watch import HELD_FOR, KEPT_FOR, emit_notices, forget_old
from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.http.models.events import EVENT_MODELS, SubmissionSummary
from fe.identifiers import SequenceId, TenantId, TrackId
from fe.lifecycle import NumberFate, Stage, Status, WebhookEvent
from fe.store.postgres.db import Database
from fe.store.postgres.errors import LeaseLost
from fe.store.queue import workers
from fe.store.queue.webhooks import DELIVERIES
from fe.store.records import sequences
from fe.store.webhooks import deliveries
from fe.store.webhooks.deliveries import DeliveryFilter, DeliveryRecord, DeliveryState
from tests.factories import bookings
from tests.factories.companies import make_certificate
from tests.factories.tenants import make_submission, make_tenant, rows, take
from tests.receiving.supplier import Hands
from tests.store.race import plain
from tests.webhooks.receiver import Receiver, delivering, emit_event, make_endpoint
from tests.webhooks.test_deliverer import ended

AT = datetime(2026, 11, 6, 15, 0, 0, tzinfo=UTC)
OUTCOMES = (
    (Status.ACCEPTED, WebhookEvent.ACCEPTED),
    (Status.CONDITIONAL, WebhookEvent.CONDITIONAL),
    (Status.REJECTED, WebhookEvent.REJECTED),
)
NOTICES = (WebhookEvent.SEQUENCE_LOW, WebhookEvent.SEQUENCE_EXPIRING, WebhookEvent.CERTIFICATE_EXPIRING)


async def told(db: Database, tenant: TenantId) -> list[tuple[str, dict[str, Any]]]:
    found = await rows(db, "SELECT kind, body FROM webhook_events WHERE tenant_id = %(t)s ORDER BY event_id", t=tenant)
    return [(row["kind"], json.loads(bytes(row["body"]))) for row in found]


async def judged(db: Database, worker_db: Database, tenant: TenantId, status: Status) -> UUID:
    subject = await make_submission(db, tenant, stage=Stage.TRACK, metadata={"branch": "norte"})
    work = await take(db, subject)
    await worker_db.run(bookings.verdict, work, at=AT, status=status, track_id=TrackId("t"), response={"mensajes": []})
    return subject


@pytest.mark.parametrize(("status", "kind"), OUTCOMES)
async def test_a_verdict_is_told_to_who_asked_for_it(
    db: Database, worker_db: Database, status: Status, kind: WebhookEvent
) -> None:
    wants, silent = await make_tenant(db), await make_tenant(db)
    await make_endpoint(db, wants, "https://a.example.do/", events=[kind])
    await make_endpoint(db, silent, "https://b.example.do/")

    subject = await judged(db, worker_db, wants, status)
    await judged(db, worker_db, silent, status)

    ((said, body),) = await told(db, wants)
    assert said == body["event"] == kind
    assert body["sentAt"] == "2026-11-06T15:00:00.000Z"
    submission = body["submission"]
    assert (submission["taxLogId"], submission["status"], submission["trackId"]) == (str(subject), status, "t")
    assert (submission["response"], submission["metadata"]) == ({"mensajes": []}, {"branch": "norte"})
    facts = [submission[name] for name in ("montoTotal", "totalITBIS", "razonSocialComprador", "fechaEmision")]
    assert facts == [118, 18, "Cliente SRL", "2026-11-06"]
    assert (submission["fechaHoraFirma"], submission["readyToPrint"]) == (
        "2026-11-06T10:15:30-04:00",
        status is not Status.REJECTED,
    )
    assert EVENT_MODELS[kind].adapter.validate_python(body)
    assert submission.keys() == SubmissionSummary.__annotations__.keys()
    (delivery,) = await db.run(deliveries.listed, wants, DeliveryFilter(), limit=10)
    assert (delivery.kind, delivery.about, delivery.state) == (kind, str(subject), DeliveryState.PENDING)
    assert await told(db, silent) == []
    assert await db.run(deliveries.listed, silent, DeliveryFilter(), limit=10) == []


async def test_an_error_is_told_and_another_environment_is_not(db: Database, worker_db: Database) -> None:
    tenant = await make_tenant(db)
    await make_endpoint(db, tenant, "https://a.example.do/", events=[WebhookEvent.ERROR], environment=Environment.ECF)
    await make_endpoint(
        db, tenant, "https://b.example.do/", events=[WebhookEvent.ERROR], environment=Environment.TESTECF
    )
    subject = await make_submission(db, tenant, stage=Stage.SEND)
    work = await take(db, subject)
    response = {"status": "error", "error": "no"}

    await worker_db.run(bookings.failure, work, at=AT, response=response, fate=NumberFate.REUSABLE)

    ((kind, body),) = await told(db, tenant)
    assert kind == "submission.error"
    assert body["submission"]["response"] == response
    (only,) = await db.run(deliveries.listed, tenant, DeliveryFilter(), limit=10)
    assert only.environment is Environment.ECF


async def test_a_booking_that_is_not_ours_tells_nothing(db: Database, worker_db: Database) -> None:
    tenant = await make_tenant(db)
    await make_endpoint(db, tenant, "https://a.example.do/", events=[WebhookEvent.ERROR])
    subject = await make_submission(db, tenant, stage=Stage.SEND)
    work = await take(db, subject)
    await rows(db, "UPDATE outbox SET epoch = epoch + 1")

    with pytest.raises(LeaseLost):
        await worker_db.run(bookings.failure, work, at=AT, response={}, fate=NumberFate.REUSABLE)

    assert await told(db, tenant) == []


async def test_a_call_whose_process_died_before_it_was_booked_is_made_again_under_the_same_id(
    db: Database, worker_db: Database, receiver: Receiver
) -> None:
    made = await make_endpoint(db, await make_tenant(db), receiver.url)
    delivery = await emit_event(db, made)
    called = trio.Event()

    def dies(handle: Any) -> Any:
        async def deliver(work: Any) -> Any:
            await handle(work)
            called.set()
            await trio.sleep_forever()

        return deliver

    async with trio.open_nursery() as nursery:

        async def first_worker() -> None:
            async with delivering(worker_db, holder="the dead", around=dies):
                await trio.sleep_forever()

        nursery.start_soon(first_worker)
        with trio.fail_after(60):
            await called.wait()
        # It is gone with what it knew: its row is as it was when it died.
        before = await rows(db, "SELECT * FROM webhook_deliveries")
        nursery.cancel_scope.cancel()
    await rows(
        db,
        "UPDATE webhook_deliveries SET holder = 'the dead', run_at = now() + interval '1 hour', attempt = 1, epoch = 1",
    )
    # Suspect as well, so that it may have one call at a time: what the dead one held is none.
    await rows(db, "UPDATE webhook_endpoints SET failing_since = now()")
    await rows(db, "INSERT INTO workers VALUES ('the dead', now(), now() - interval '1 hour')")
    async with delivering(worker_db):
        assert (await db.run(deliveries.one, made.tenant, delivery)) is not None
        assert await worker_db.run(workers.rescue, [DELIVERIES], timedelta(seconds=30)) == ["webhook"]
        done = await ended(db, made.tenant, delivery)

    assert before[0]["holder"] == "the dead"
    assert done.attempts == 2
    first, again = receiver.heard
    assert first.headers["x-service-delivery"] == again.headers["x-service-delivery"] == str(delivery)
    assert (first.body, first.headers["x-service-signature"]) == (again.body, again.headers["x-service-signature"])


async def test_each_threshold_is_told_once(db: Database, worker_db: Database) -> None:
    clock = Hands(AT)
    tenant = await make_tenant(db)
    await make_endpoint(db, tenant, "https://a.example.do/", events=NOTICES, clock=clock)
    await make_certificate(db, tenant)
    await db.run(
        sequences.put,
        tenant,
        Environment.ECF,
        "E31",
        new_id=SequenceId(new_id(AT)),
        minimum=1,
        maximum=100,
        expire_at=datetime(2027, 12, 31, 12, tzinfo=UTC),
        is_active=True,
        at=AT,
    )
    assert await emit_notices(worker_db, clock) == 0

    await rows(db, "UPDATE sequences SET current_number = 91")
    assert [await emit_notices(worker_db, clock) for _ in range(2)] == [1, 0]
    await rows(db, "UPDATE sequences SET current_number = 101")
    assert [await emit_notices(worker_db, clock) for _ in range(2)] == [1, 0]
    clock.at = datetime(2027, 12, 20, tzinfo=UTC)
    assert [await emit_notices(worker_db, clock) for _ in range(2)] == [1, 0]
    clock.at = datetime(2029, 12, 28, tzinfo=UTC)
    assert [await emit_notices(worker_db, clock) for _ in range(2)] == [2, 0]

    found = await told(db, tenant)
    assert sorted(kind for kind, _ in found) == [
        "certificate.expiring",
        "sequence.expiring",
        "sequence.expiring",
        "sequence.low",
        "sequence.low",
    ]
    assert found[0][1]["sequence"] == {
        "environment": "ecf",
        "prefix": "E31",
        "currentSequence": "91",
        "maxSequence": "100",
        "remaining": "10",
        "expireOn": date(2027, 12, 31).isoformat(),
    }
    (certificate,) = [body["certificate"] for kind, body in found if kind == "certificate.expiring"]
    assert (certificate["user"], certificate["expiresAt"]) == (None, "2030-01-01T00:00:00.000Z")


@pytest.mark.parametrize("switched_off", [False, True])
async def test_what_was_never_delivered_is_not_forgotten_because_nobody_worked(
    db: Database, worker_db: Database, receiver: Receiver, switched_off: bool
) -> None:
    """Events held for a disabled endpoint expire separately."""
    clock = Hands(AT)
    made = await make_endpoint(db, await make_tenant(db), receiver.url, clock=clock)
    waits = await emit_event(db, made, clock=clock)
    if switched_off:
        await rows(db, "UPDATE webhook_deliveries SET stage = 'held'")
    clock.forward(HELD_FOR - timedelta(days=1))

    await forget_old(worker_db, clock)

    assert [one.delivery_id for one in await db.run(deliveries.listed, made.tenant, DeliveryFilter(), limit=10)] == [
        waits
    ]
    assert len(await rows(db, "SELECT 1 FROM webhook_events")) == 1
    clock.forward(timedelta(days=2))
    await forget_old(worker_db, clock)
    assert len(await rows(db, "SELECT 1 FROM webhook_deliveries")) == int(not switched_off)
    assert len(await rows(db, "SELECT 1 FROM webhook_events")) == int(not switched_off)


async def test_what_ended_late_is_kept_from_its_end(db: Database, worker_db: Database, receiver: Receiver) -> None:
    clock = Hands(AT)
    made = await make_endpoint(db, await make_tenant(db), receiver.url, clock=clock)
    old = await emit_event(db, made, clock=clock)
    clock.forward(KEPT_FOR + timedelta(days=1))
    async with delivering(worker_db, clock=clock):
        await ended(db, made.tenant, old)

    clock.forward(KEPT_FOR - timedelta(days=1))
    await forget_old(worker_db, clock)
    assert len(await rows(db, "SELECT 1 FROM webhook_attempts")) == 1

    clock.forward(timedelta(days=2))
    await forget_old(worker_db, clock)
    assert await rows(db, "SELECT 1 FROM webhook_attempts UNION ALL SELECT 1 FROM webhook_events") == []


async def test_what_cannot_be_forgotten_of_one_tenant_is_forgotten_of_the_others(
    dsn: str, db: Database, worker_db: Database, receiver: Receiver
) -> None:
    """A console locks a row of the first."""
    clock = Hands(AT)
    made = [await make_endpoint(db, await make_tenant(db), receiver.url, clock=clock) for _ in range(3)]
    async with delivering(worker_db, clock=clock):
        for one in made:
            await ended(db, one.tenant, await emit_event(db, one, clock=clock))
    clock.forward(KEPT_FOR + timedelta(days=1))
    first = min(one.tenant for one in made)

    with plain(dsn) as console:
        console.execute("BEGIN")
        console.execute("SELECT FROM webhook_deliveries WHERE tenant_id = %s FOR UPDATE", (first,))
        await forget_old(worker_db, clock)
        assert await rows(db, "SELECT DISTINCT tenant_id FROM webhook_events") == [{"tenant_id": first}]
        console.execute("ROLLBACK")

    await forget_old(worker_db, clock)
    assert await rows(db, "SELECT 1 FROM webhook_events") == []


async def test_what_is_old_is_forgotten_and_what_waits_is_not_torn(
    db: Database, worker_db: Database, receiver: Receiver
) -> None:
    clock = Hands(AT)
    made = await make_endpoint(db, await make_tenant(db), receiver.url, clock=clock)
    old = await emit_event(db, made, clock=clock)
    async with delivering(worker_db, clock=clock):
        await ended(db, made.tenant, old)
    clock.forward(KEPT_FOR + timedelta(days=1))
    new = await emit_event(db, made, clock=clock)

    await forget_old(worker_db, clock)

    left: list[DeliveryRecord] = await db.run(deliveries.listed, made.tenant, DeliveryFilter(), limit=10)
    assert [one.delivery_id for one in left] == [new]
    (counts,) = await rows(
        db,
        "SELECT (SELECT count(*) FROM webhook_events) AS events, (SELECT count(*) FROM webhook_attempts) AS attempts",
    )
    assert counts == {"events": 1, "attempts": 0}
