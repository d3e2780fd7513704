"""The deliverer: what is sent, what confirms it, when it is tried again, and what ends it."""

import base64
import hashlib
import hmac
import json
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

import pytest
import trio

from fe.ecf.ids import new_id
from fe.identifiers import TenantId
from fe.lifecycle import WebhookEvent
from fe.store.postgres.db import Database
from fe.store.webhooks import deliveries, endpoints, recoveries
from fe.store.webhooks.deliveries import DeliveryFilter, DeliveryRecord, DeliveryState
from fe.store.webhooks.endpoints import Endpoint
from fe.store.webhooks.recoveries import RecoveryRecord, RecoveryState
from fe.webhooks.schedule import ATTEMPTS, GAPS, retry_after, webhook_gap
from fe.webhooks.signature import new_secret
from tests.authority.scripted import hang, hang_up, raw, reset, say
from tests.ecf.receipts import RATED_DAY
from tests.factories.tenants import make_tenant, rows
from tests.receiving.supplier import Hands, Running, document, start_reception
from tests.webhooks.receiver import WEBHOOK_VAULT, Made, Receiver, delivering, emit_event, make_endpoint, receiving

T = TypeVar("T")

NOW = datetime(2026, 11, 6, 14, 15, 30, tzinfo=UTC)


def signature(secret: str, body: bytes) -> str:
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def standard(secret: str, heard_id: str, timestamp: str, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{heard_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


async def eventually(look: Callable[[], Awaitable[T | None]]) -> T:
    """Look until there is something, a minute at most."""
    with trio.fail_after(60):
        found = await look()
        while found is None:
            await trio.sleep(0.02)
            found = await look()
        return found


async def ended(db: Database, tenant: TenantId, delivery_id: UUID, *states: DeliveryState) -> DeliveryRecord:
    """Wait until a delivery has one of the states; any that rests, if none is said."""
    wanted = states or (DeliveryState.DELIVERED, DeliveryState.FAILED, DeliveryState.HELD)

    async def look() -> DeliveryRecord | None:
        found = await db.run(deliveries.one, tenant, delivery_id)
        return found if found is not None and found.state in wanted else None

    return await eventually(look)


async def test_a_received_document_is_told_as_the_interface_says(
    nursery: trio.Nursery, db: Database, worker_db: Database, reception_db: Database, receiver: Receiver
) -> None:
    reception: Running = await start_reception(nursery, db, reception_db)
    made = await make_endpoint(db, reception.tenant, receiver.url, headers=[("Authorization", "Bearer x")])
    sent = document()

    await reception.send(sent)
    await reception.send(sent)
    async with delivering(worker_db, clock=reception.clock):
        (heard,) = await receiver.wait()
        (found,) = await db.run(deliveries.listed, reception.tenant, DeliveryFilter(), limit=10)
        done = await ended(db, reception.tenant, found.delivery_id)

    told = json.loads(heard.body)
    (record,) = await db.run(deliveries.attempts, reception.tenant, found.delivery_id)
    assert heard.method == "POST"
    assert told == {
        "event": "received_ecf",
        "sentAt": "2026-11-06T14:15:30.000Z",
        "receivedEcf": {
            "id": found.about,
            "encf": "E310000000007",
            "tipoEcf": "E31",
            "rncEmisor": "131880738",
            "rncComprador": "131880681",
            "montoTotal": 118.0,
            "fechaEmision": "-".join(reversed(RATED_DAY.split("-"))),
            "approvalStatus": "pending",
            "receivedAt": "2026-11-06T14:15:30.000Z",
        },
        "xml": sent.decode(),
    }
    assert heard.headers["content-type"] == "application/json"
    assert heard.headers["authorization"] == "Bearer x"
    assert heard.headers["x-service-event"] == "received_ecf"
    assert heard.headers["x-service-delivery"] == heard.headers["webhook-id"] == str(found.delivery_id)
    assert heard.headers["x-service-signature"] == signature(made.secret, heard.body)
    assert heard.headers["webhook-signature"] == standard(
        made.secret, heard.headers["webhook-id"], heard.headers["webhook-timestamp"], heard.body
    )
    assert (done.state, done.attempts, done.redirected) == (DeliveryState.DELIVERED, 1, False)
    assert (record.attempt, record.status, record.error, record.answer) == (1, 200, None, b'{"ok": true}')


async def test_nobody_is_told_where_nobody_wants_it(
    nursery: trio.Nursery, db: Database, reception_db: Database
) -> None:
    reception = await start_reception(nursery, db, reception_db)
    await make_endpoint(db, reception.tenant, "https://a.example/", enabled=False)

    await reception.send(document())

    assert await db.run(deliveries.listed, reception.tenant, DeliveryFilter(), limit=10) == []


@pytest.mark.parametrize(
    ("status", "headers", "is_redirect"), [(200, {}, False), (204, {}, False), (302, {"Location": "/x"}, True)]
)
async def test_a_2xx_or_3xx_confirms_and_no_redirect_is_followed(
    db: Database, worker_db: Database, receiver: Receiver, status: int, headers: dict[str, str], is_redirect: bool
) -> None:
    made = await make_endpoint(db, await make_tenant(db), receiver.url)
    receiver.steps.append(say(b"", status, **headers))
    delivery = await emit_event(db, made)

    async with delivering(worker_db):
        done = await ended(db, made.tenant, delivery)

    assert (done.state, done.redirected, done.attempts) == (DeliveryState.DELIVERED, is_redirect, 1)
    assert receiver.connections == 1


async def test_everything_else_is_tried_again_under_the_same_id_and_with_the_same_bytes(
    db: Database, worker_db: Database, receiver: Receiver
) -> None:
    made = await make_endpoint(db, await make_tenant(db), receiver.url)
    receiver.steps.extend(
        [
            say("no", 500),
            say("no", 404),
            say("wait", 429, Retry_After="0"),
            reset,
            hang_up,
            raw(b"SSH-2.0-OpenSSH_9.6\r\n\r\n", then_close=True),
            raw(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", then_close=True),
        ]
    )
    delivery = await emit_event(db, made)

    async with delivering(worker_db):
        done = await ended(db, made.tenant, delivery)

    found = await db.run(deliveries.attempts, made.tenant, delivery)
    assert [(each.status, each.error) for each in found] == [
        (500, "status"),
        (404, "status"),
        (429, "status"),
        (None, "closed"),
        (None, "closed"),
        (None, "answer"),
        (None, "answer"),
        (200, None),
    ]
    assert [each.attempt for each in found] == list(range(1, 9))
    assert (done.state, done.attempts) == (DeliveryState.DELIVERED, 8)
    assert {heard.headers["x-service-delivery"] for heard in receiver.heard} == {str(delivery)}
    assert {heard.headers["x-service-signature"] for heard in receiver.heard} == {
        signature(made.secret, b'{"event":"test"}')
    }
    assert len({heard.body for heard in receiver.heard}) == 1


async def test_after_ten_tries_it_rests_and_can_be_asked_for_again(db: Database, worker_db: Database) -> None:
    async with receiving(say("no", 503)) as receiver, delivering(worker_db):
        made = await make_endpoint(db, await make_tenant(db), receiver.url)
        delivery = await emit_event(db, made)
        failed = await ended(db, made.tenant, delivery)
        receiver.default = say({})
        assert await db.run(deliveries.retry, made.tenant, delivery)
        done = await ended(db, made.tenant, delivery, DeliveryState.DELIVERED)

    assert (failed.state, failed.attempts, failed.last_error) == (DeliveryState.FAILED, ATTEMPTS, "status")
    assert len(receiver.heard) == ATTEMPTS + 1
    assert done.delivery_id == delivery
    assert len(await db.run(deliveries.attempts, made.tenant, delivery)) == ATTEMPTS + 1


async def test_an_endpoint_that_is_gone_is_not_called_until_it_is_enabled_again(
    db: Database, worker_db: Database, receiver: Receiver
) -> None:
    made = await make_endpoint(db, await make_tenant(db), receiver.url)
    receiver.steps.append(say("gone", 410))
    first = await emit_event(db, made)
    async with delivering(worker_db) as wakeups:
        assert (await ended(db, made.tenant, first)).state is DeliveryState.HELD
        found = await db.run(endpoints.one, made.tenant, made.endpoint)
        assert found is not None
        assert (found.enabled, found.disabled_reason) == (True, "gone")
        assert found.disabled_at is not None

        now = datetime.now(UTC)
        await db.run(
            endpoints.change,
            made.tenant,
            made.endpoint,
            url=receiver.url,
            enabled=True,
            events=[WebhookEvent.RECEIVED_ECF],
            headers=None,
            at=now,
        )
        await db.run(
            recoveries.ask,
            made.tenant,
            made.endpoint,
            recovery_id=new_id(now),
            since=found.disabled_at - timedelta(hours=1),
            until=now + timedelta(seconds=1),
            only_held=True,
            at=now,
        )
        wakeups.notify("webhook_recovery")
        await db.run(deliveries.one, made.tenant, first)
        # A test event goes only to its endpoint: a recovery does not release held ones.
        assert await db.run(deliveries.retry, made.tenant, first)
        done = await ended(db, made.tenant, first, DeliveryState.DELIVERED)

    assert done.attempts == 1


async def test_five_days_of_failure_disable_it_and_what_waits_is_held(db: Database, worker_db: Database) -> None:
    clock = Hands(NOW)
    async with receiving(say("no", 500)) as receiver:
        tenant = await make_tenant(db)
        made = await make_endpoint(db, tenant, receiver.url, clock=clock)
        first = await emit_event(db, made, clock=clock)
        async with delivering(worker_db, clock=clock, gap=timedelta(hours=1)):
            await receiver.wait(1)

            async def is_failing() -> Endpoint | None:
                found = await db.run(endpoints.one, tenant, made.endpoint)
                return found if found is not None and found.failing_since is not None else None

            found: Endpoint | None = await eventually(is_failing)
            assert found is not None
            await rows(db, "UPDATE webhook_endpoints SET failing_since = failing_since - interval '5 days'")
            second = await emit_event(db, made, clock=clock)
            held = await ended(db, tenant, second)
            waiting = await ended(db, tenant, first)

        found = await db.run(endpoints.one, tenant, made.endpoint)

    assert found is not None
    assert (found.disabled_at, found.disabled_reason) == (NOW, "failing")
    assert (held.state, waiting.state) == (DeliveryState.HELD, DeliveryState.HELD)
    assert len(receiver.heard) == 2


async def test_clocks_that_are_days_apart_make_no_five_days_of_failure(db: Database, worker_db: Database) -> None:
    """One process tried a moment ago, another whose clock is a week ahead tries now: it fails since a moment ago."""
    clock = Hands(NOW)
    async with receiving(say("no", 500)) as receiver:
        made = await make_endpoint(db, await make_tenant(db), receiver.url, clock=clock)
        async with delivering(worker_db, clock=clock, gap=timedelta(hours=1)):
            for noted in (1, 2):
                await emit_event(db, made, clock=clock)

                async def all_noted(noted: int = noted) -> list[dict[str, Any]] | None:
                    found = await rows(db, "SELECT 1 FROM webhook_attempts")
                    return found if len(found) == noted else None

                await eventually(all_noted)
                clock.forward(timedelta(days=7))
        found = await db.run(endpoints.one, made.tenant, made.endpoint)

    assert found is not None
    assert found.failing_since is not None
    assert found.disabled_at is None


async def test_one_success_begins_the_five_days_anew(db: Database, worker_db: Database, receiver: Receiver) -> None:
    clock = Hands(NOW)
    made = await make_endpoint(db, await make_tenant(db), receiver.url, clock=clock)
    receiver.steps.append(say("no", 500))
    async with delivering(worker_db, clock=clock):
        await ended(db, made.tenant, await emit_event(db, made, clock=clock))
        found = await db.run(endpoints.one, made.tenant, made.endpoint)

    assert found is not None
    assert found.failing_since is None
    assert len(receiver.heard) == 2


async def test_during_a_rotation_both_secrets_sign_and_afterwards_the_new_one(
    db: Database, worker_db: Database, receiver: Receiver
) -> None:
    clock = Hands(NOW)
    made = await make_endpoint(db, await make_tenant(db), receiver.url, clock=clock)
    other, secret_id = new_secret(), new_id(NOW)
    assert await db.run(
        endpoints.rotate,
        made.tenant,
        made.endpoint,
        secret_id=secret_id,
        secret=WEBHOOK_VAULT.encrypt_secret(made.tenant, secret_id, other),
        at=NOW,
    )
    async with delivering(worker_db, clock=clock):
        await ended(db, made.tenant, await emit_event(db, made, clock=clock))
        clock.forward(timedelta(hours=24))
        await ended(db, made.tenant, await emit_event(db, made, clock=clock))

    during, after = receiver.heard
    for heard, secrets in ((during, [other, made.secret]), (after, [other])):
        assert heard.headers["x-service-signature"] == signature(other, heard.body)
        assert heard.headers["webhook-signature"].split(" ") == [
            standard(secret, heard.headers["webhook-id"], heard.headers["webhook-timestamp"], heard.body)
            for secret in secrets
        ]


async def test_what_never_answers_is_given_up_and_tried_again(db: Database, worker_db: Database) -> None:
    async with receiving() as receiver, delivering(worker_db, seconds=0.5):
        receiver.steps.append(hang)
        made = await make_endpoint(db, await make_tenant(db), receiver.url)
        delivery = await emit_event(db, made)
        done = await ended(db, made.tenant, delivery)

    # Two, unless the machine is so busy that what is answered at once is not answered in time either.
    first, *others = await db.run(deliveries.attempts, made.tenant, delivery)
    assert (first.error, first.status) == ("timeout", None)
    assert done.state is DeliveryState.DELIVERED
    assert done.attempts == 1 + len(others) >= 2


async def test_endpoints_that_never_answer_leave_half_of_the_slots_to_the_others(
    db: Database, worker_db: Database, receiver: Receiver
) -> None:
    async with receiving(hang) as dead, delivering(worker_db, slots=4, seconds=30):
        tenants = [await make_tenant(db) for _ in range(6)]
        lost = [await make_endpoint(db, tenant, dead.url) for tenant in tenants]
        await _fail(db, lost)
        for made in lost:
            await emit_event(db, made)
        await dead.wait(2)
        well = await make_endpoint(db, await make_tenant(db), receiver.url)
        told = [await emit_event(db, well) for _ in range(20)]
        for delivery in told:
            await ended(db, well.tenant, delivery)

        # One call for each that is suspect, and no more than half of the slots for all of them.
        assert dead.connections == 2
    assert len(receiver.heard) == 20


async def test_a_slow_endpoint_has_four_calls_at_once_and_no_more(db: Database, worker_db: Database) -> None:
    async with receiving(hang) as slow, delivering(worker_db, slots=32, seconds=30):
        made = await make_endpoint(db, await make_tenant(db), slow.url)
        other = await make_endpoint(db, await make_tenant(db), slow.url)
        for _ in range(10):
            await emit_event(db, made)
        await slow.wait(4)
        await emit_event(db, other)
        await slow.wait(5)

        assert slow.connections == 5


async def _fail(db: Database, made: list[Made]) -> None:
    async def failing(conn: Any) -> None:
        await conn.execute("UPDATE webhook_endpoints SET failing_since = now()")

    await db.run(failing)


async def test_a_recovery_delivers_what_failed_and_what_was_never_told(
    nursery: trio.Nursery, db: Database, worker_db: Database, reception_db: Database, receiver: Receiver
) -> None:
    reception = await start_reception(nursery, db, reception_db)
    await reception.send(document())
    made = await make_endpoint(db, reception.tenant, receiver.url, clock=reception.clock)
    at = reception.clock()
    recovery = new_id(at)
    async with delivering(worker_db, clock=reception.clock) as wakeups:
        await db.run(
            recoveries.ask,
            made.tenant,
            made.endpoint,
            recovery_id=recovery,
            since=at - timedelta(days=1),
            until=at + timedelta(seconds=1),
            only_held=False,
            at=at,
        )
        wakeups.notify("webhook_recovery")
        (heard,) = await receiver.wait()

        async def is_over() -> RecoveryRecord | None:
            job = await db.run(recoveries.one, made.tenant, recovery)
            return job if job is not None and job.finished_at is not None else None

        job = await eventually(is_over)

    assert (job.state, job.recovered) == (RecoveryState.DONE, 1)
    assert json.loads(heard.body)["receivedEcf"]["encf"] == "E310000000007"


@pytest.mark.parametrize("only_held", [False, True])
@pytest.mark.parametrize("count", [0, 1, 2, 7])
async def test_recovery_of_any_number_of_events_redelivers_each_and_counts_them(
    db: Database, worker_db: Database, receiver: Receiver, count: int, only_held: bool
) -> None:
    tenant = await make_tenant(db)
    made = await make_endpoint(db, tenant, receiver.url)
    told = [await emit_event(db, made, kind=WebhookEvent.ACCEPTED) for _ in range(count)]
    await rows(db, "UPDATE webhook_deliveries SET stage = %(stage)s", stage="held" if only_held else "failed")
    at = datetime.now(UTC)
    recovery = new_id(at)
    await rows(db, "UPDATE webhook_endpoints SET events = %(events)s", events=[WebhookEvent.ACCEPTED])
    await db.run(
        recoveries.ask,
        tenant,
        made.endpoint,
        recovery_id=recovery,
        since=at - timedelta(hours=1),
        until=at + timedelta(seconds=1),
        only_held=only_held,
        at=at,
    )
    async with delivering(worker_db):

        async def is_over() -> RecoveryRecord | None:
            job = await db.run(recoveries.one, tenant, recovery)
            return job if job is not None and job.finished_at is not None else None

        job = await eventually(is_over)
        for delivery in told:
            await ended(db, tenant, delivery, DeliveryState.DELIVERED)

    assert (job.state, job.recovered, len(receiver.heard)) == (RecoveryState.DONE, count, count)


@pytest.mark.parametrize("count", [0, 1, 2, 4, 5])
async def test_recovery_in_stretches_of_two_counts_every_stretch(db: Database, worker_db: Database, count: int) -> None:
    tenant = await make_tenant(db)
    made = await make_endpoint(db, tenant, "http://127.0.0.1:1/", events=[WebhookEvent.ACCEPTED])
    for _ in range(count):
        await emit_event(db, made, kind=WebhookEvent.ACCEPTED)
    await rows(db, "UPDATE webhook_deliveries SET stage = 'failed'")
    at = datetime.now(UTC)
    since, until = at - timedelta(hours=1), at + timedelta(seconds=1)
    recovery = new_id(at)
    await db.run(
        recoveries.ask,
        tenant,
        made.endpoint,
        recovery_id=recovery,
        since=since,
        until=until,
        only_held=False,
        at=at,
    )
    stretches: list[tuple[int, bool]] = []
    while not stretches or not stretches[-1][1]:
        await rows(db, "UPDATE webhook_recoveries SET holder = 'this worker'")
        (stretch,) = await rows(
            worker_db,
            "SELECT found, is_done FROM recover_webhooks(%(tenant)s, %(recovery)s, 0, now(), 2)",
            tenant=tenant,
            recovery=recovery,
        )
        stretches.append((stretch["found"], stretch["is_done"]))

    assert stretches == [(2, False)] * (count // 2) + [(count % 2, True)]
    job = await db.run(recoveries.one, tenant, recovery)
    assert job is not None
    assert (job.state, job.recovered) == (RecoveryState.DONE, count)


def test_the_schedule_is_ten_tries_over_75_hours() -> None:
    spread = random.Random(1)
    waits = [webhook_gap(attempt, spread) for attempt in range(1, ATTEMPTS)]

    assert ATTEMPTS == 10
    assert timedelta(hours=75) < sum(GAPS, timedelta()) < timedelta(hours=76)
    for wait, gap in zip(waits, GAPS, strict=True):
        assert gap * 0.9 <= wait <= gap * 1.1


@pytest.mark.parametrize(
    ("header", "wait"),
    [
        (None, None),
        ("120", timedelta(minutes=2)),
        (" 0 ", timedelta(0)),
        ("999999999999", timedelta(hours=24)),
        ("-5", None),
        ("1.5", None),
        ("Fri, 06 Nov 2026 14:16:30 GMT", timedelta(minutes=1)),
        ("Fri, 06 Nov 2020 14:16:30 GMT", timedelta(0)),
        ("Fri, 06 Nov 2526 14:16:30 GMT", timedelta(hours=24)),
        ("soon", None),
        ("٣", None),
        ("Mon, 01 Jan 2026 00:00:00 +99999999999999999999", None),
        ("Mon, 01 Jan 0001 00:00:00 +2359", timedelta(0)),
        ("9" * 5000, timedelta(hours=24)),
    ],
)
def test_retry_after_is_read_or_passed_over(header: str | None, wait: timedelta | None) -> None:
    assert retry_after(header, NOW) == wait
