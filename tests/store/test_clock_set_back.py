"""The server's clock was ahead and is right again: what it stored lies in the future, and holds nothing up."""

from datetime import timedelta
from typing import Any

import pytest
import trio

from fe.ecf.catalogue import Environment, Host
from fe.lifecycle import Stage
from fe.monitoring.metrics import Metrics
from fe.queue.circuit_breaker import Circuits
from fe.store.postgres.db import Database
from fe.store.queue import circuits, clock_set_back, workers
from fe.store.queue.outbox import OUTBOX, OutboxLane
from fe.store.queue.webhooks import DELIVERIES
from fe.store.records import billing, throttle
from tests.factories import bookings
from tests.factories.tenants import ACCEPTED_AT, claim_all, make_submission, make_tenant, row, rows, take, waiting
from tests.waiting import until

AHEAD = timedelta(hours=2)
LEASE = timedelta(minutes=1)
SILENCE = timedelta(seconds=30)


async def mark(db: Database, ahead: timedelta = AHEAD) -> None:
    """Rows that a process wrote while the clock was ahead."""
    assert await db.run(clock_set_back.set_back_by) is None
    await rows(db, "UPDATE duties SET held_until = held_until + %(ahead)s WHERE duty = 'clock'", ahead=ahead)


async def put_off(db: Database) -> None:
    """Each row by itself: an update of a table that is spread over nodes cannot compute a time from its column."""
    for one in await rows(db, "SELECT tenant_id AS tenant, subject, run_at AS due FROM outbox"):
        later = one | {"due": one["due"] + AHEAD}
        await rows(
            db, "UPDATE outbox SET run_at = %(due)s WHERE tenant_id = %(tenant)s AND subject = %(subject)s", **later
        )


async def mend(db: Database) -> None:
    await db.run(clock_set_back.pull_workers_back)
    by = await db.run(clock_set_back.set_back_by)
    assert by is not None
    await db.run(clock_set_back.mend, [OUTBOX, DELIVERIES], by, LEASE)


async def test_dead_worker_seen_in_the_future_is_rescued_after_its_silence(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_submission(db, tenant)
    await db.run(workers.seen, "dead")
    await claim_all(db, Stage.SIGN, [tenant], holder="dead")
    await rows(db, "UPDATE workers SET seen_at = seen_at + %(ahead)s", ahead=AHEAD)
    await put_off(db)

    await db.run(clock_set_back.pull_workers_back)
    # It may be alive: its last sign was given a moment ago, and it may send for as long as the silence lasts.
    assert await db.run(workers.rescue, [OUTBOX], SILENCE) == []

    await rows(db, "UPDATE workers SET seen_at = seen_at - interval '31 s'")
    assert await db.run(workers.rescue, [OUTBOX], SILENCE) == ["sign"]


async def test_retry_due_after_the_old_future_is_due_after_its_gap(db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant)
    await db.run(bookings.retry, await take(db, subject), at=ACCEPTED_AT, after=timedelta(seconds=30), error="503")
    await mark(db)
    await put_off(db)

    await mend(db)

    assert 0 < (await waiting(db, subject))["due_in"] <= 30
    assert await db.run(clock_set_back.set_back_by) is None, "it is mended once"


async def test_lease_that_ends_in_the_old_future_ends_after_a_lease(db: Database) -> None:
    """Rows of a process that died before its first heartbeat are freed by no peer."""
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant)
    await claim_all(db, Stage.SIGN, [tenant], holder="dead")
    await mark(db)
    await put_off(db)

    await mend(db)

    left = await waiting(db, subject)
    assert (left["holder"], left["due_in"]) == ("dead", pytest.approx(60, abs=5))


async def test_row_that_waits_for_ever_and_row_that_is_due_are_left_alone(db: Database) -> None:
    tenant = await make_tenant(db)
    subjects = [await make_submission(db, tenant) for _ in range(2)]
    await rows(db, "UPDATE outbox SET run_at = 'infinity' WHERE subject = %(one)s", one=subjects[0])
    before = await rows(db, "SELECT subject, run_at::text FROM outbox ORDER BY subject")
    await mark(db)

    await mend(db)

    assert await rows(db, "SELECT subject, run_at::text FROM outbox ORDER BY subject") == before


async def test_clock_corrected_by_less_than_a_second_changes_nothing(db: Database) -> None:
    await mark(db, timedelta(seconds=0.9))

    assert await db.run(clock_set_back.set_back_by) is None


async def test_duty_held_beyond_its_longest_time_is_taken_over(db: Database) -> None:
    take_duty = "SELECT take_duty('metering', %(who)s, interval '1 minute') AS taken"
    assert (await row(db, take_duty, who="dead"))["taken"]
    assert not (await row(db, take_duty, who="peer"))["taken"]

    await rows(db, "UPDATE duties SET held_until = held_until + %(ahead)s", ahead=AHEAD)

    assert (await row(db, take_duty, who="peer"))["taken"]


async def test_round_of_months_ended_in_the_future_is_due(db: Database) -> None:
    await rows(db, "INSERT INTO billing_rounds (round, ended_at) VALUES ('reconcile', now() + %(ahead)s)", ahead=AHEAD)

    assert await db.run(billing.round_is_due)


async def test_lockout_longer_than_a_lockout_is_over(db: Database) -> None:
    address = throttle.bucket_of_key("an address")  # type: ignore[arg-type]  # any bucket
    limits = throttle.AttemptLimits(address=3)

    async def attempts(many: int) -> list[Any]:
        return [await db.run(throttle.attempt, address, None, limits) for _ in range(many)]

    assert (await attempts(4))[-1] is not None
    await rows(db, "UPDATE login_attempts SET locked_until = locked_until + %(ahead)s", ahead=AHEAD)

    assert await db.run(throttle.locked_out, address) is None
    assert await db.run(throttle.every_lockout, 10) == []
    assert await attempts(3) == [None] * 3


async def test_attempts_of_the_future_do_not_count(db: Database) -> None:
    address, limits = bytes(32), throttle.AttemptLimits(address=3)
    for _ in range(3):
        await db.run(throttle.attempt, address, None, limits)
    shift = "UPDATE login_attempts SET recent = ARRAY(SELECT r + %(ahead)s FROM unnest(recent) AS r)"
    await rows(db, shift, ahead=AHEAD)

    assert await db.run(throttle.attempt, address, None, limits) is None


async def test_open_circuit_with_a_probe_in_the_old_future_is_probed(db: Database) -> None:
    await db.run(circuits.open_circuit, "ecf", "ecf", "503", timedelta(seconds=1))
    await mark(db)
    await rows(db, "UPDATE circuits SET probe_at = probe_at + %(ahead)s, since = since + %(ahead)s", ahead=AHEAD)

    await mend(db)

    (left,) = await rows(db, "SELECT extract(EPOCH FROM probe_at - clock_timestamp())::float8 AS due_in FROM circuits")
    assert left["due_in"] <= 1


async def test_circuit_closed_in_the_future_lets_rows_through(db: Database) -> None:
    """Its age was negative, and every claim of its lane failed: a shift by a negative count."""
    await db.run(circuits.open_circuit, "ecf", "ecf", "503", timedelta(seconds=1))
    await db.run(circuits.close_circuit, "ecf", "ecf")
    await rows(db, "UPDATE circuits SET since = since + %(ahead)s", ahead=AHEAD)

    async def probe(_environment: str, _host: str) -> str | None:
        return None

    breaker = Circuits(db, Metrics(), hosts=("ecf",))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(breaker.run, probe)
        await until(lambda: bool(breaker._known))
        nursery.cancel_scope.cancel()

    assert breaker.gate(OutboxLane(Environment.ECF, Host.ECF), 8) >= 1
