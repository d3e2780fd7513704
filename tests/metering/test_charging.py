"""A charge is made once: whatever the processor answers, twice, late or never, and wherever we die."""

import itertools
import logging
import os
import random
import sys
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
import trio
import trio.testing
from pydantic import SecretStr

from fe.clock import Clock, system_clock
from fe.identifiers import TenantId
from fe.metering import aggregator, closing
from fe.metering.charging import Charged, Charger, charge_gap, charge_stage
from fe.metering.processor import ProcessorUnavailable
from fe.metering.stripe import Stripe, stripe
from fe.queue.executor import run_stage
from fe.queue.outcome import TryLater
from fe.simulator.payment_processor import FAULTS, ProcessorState, simulate_processor
from fe.store.postgres.db import Database
from fe.store.postgres.errors import LeaseLost, StoreError
from fe.store.records import billing, charges
from fe.store.records.charges import CHARGES, ChargeLane, ChargeRecord, ChargeWork
from fe.store.records.failures import PartlyDone
from tests.factories.tenants import make_tenant, rows
from tests.metering.histories import BEGIN
from tests.metering.test_usage_days import accept
from tests.queue.stage import make_tools
from tests.waiting import PATIENCE

OCTOBER = date(2026, 10, 1)
KEY = SecretStr("sk_test_" + "4eC39HqLyjWDarjtT1zdp7dc")


@asynccontextmanager
async def processor(state: ProcessorState, *, seconds: float = 10.0) -> AsyncIterator[Stripe]:
    async with trio.open_nursery() as nursery:
        url = await nursery.start(simulate_processor, state)
        async with stripe(url, KEY, seconds=seconds) as client:
            yield client
        nursery.cancel_scope.cancel()


async def due(db: Database, emissions: int = 3, price: str = "0.035") -> TenantId:
    """A tenant whose October is over and waits to be charged."""
    tenant = await make_tenant(db)
    await aggregator.restart(db, tenant)
    await db.run(billing.enable, tenant, subscription_id="sub_7", unit_price=Decimal(price), currency="DOP", at=BEGIN)
    for _ in range(emissions):
        await accept(db, tenant)
    assert await closing.close_month(db, tenant, OCTOBER, system_clock)
    return tenant


async def claim(db: Database, tenant: TenantId) -> ChargeWork:
    await rows(db, "UPDATE billing_charges SET run_at = now() - interval '1 s' WHERE tenant_id = %(t)s", t=tenant)
    (work,) = await db.run(
        CHARGES.claim, "charge", ChargeLane(), [tenant], [9], lease=timedelta(seconds=60), holder=uuid4().hex
    )
    return work


async def only(db: Database, tenant: TenantId) -> ChargeRecord:
    (found,) = await db.run(charges.of_tenant, tenant)
    return found


async def run_until_settled(db: Database, tenant: TenantId, client: Stripe) -> ChargeRecord:
    """Run the very stage, with shorter pauses, until the charge waits no more."""
    stopping = trio.Event()
    stage = replace(charge_stage(db, client), gap=lambda _, __: timedelta(milliseconds=5))
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run_stage, stage, make_tools(db, poll_seconds=0.02), stopping)
            while (await only(db, tenant)).stage == "charge":  # noqa: ASYNC110  (only the database knows)
                await trio.sleep(0.02)
            stopping.set()
    return await only(db, tenant)


# --- What the processor does ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("faults", [(), *((fault,) for fault in FAULTS if fault != "refused"), ("lost", "other")])
@pytest.mark.parametrize("a_day_passes", [False, True], ids=["at once", "after their keys are forgotten"])
async def test_whatever_it_answers_it_charges_once(db: Database, faults: Sequence[str], a_day_passes: bool) -> None:
    tenant, state = await due(db), ProcessorState(faults=deque(faults))
    async with processor(state, seconds=0.5 if "never" in faults else 10) as client:
        if faults and a_day_passes:
            with pytest.raises(TryLater):
                await Charger(db, client).charge(await claim(db, tenant))
            state.forget_keys()
            await rows(db, "UPDATE billing_charges SET holder = NULL, run_at = now()")
        settled = await run_until_settled(db, tenant, client)

    (item,) = state.items
    assert (settled.stage, settled.item_id) == ("charged", item["id"])
    # 3 x 0.035 = 0.105, rounded to cents.
    assert (settled.amount, item["amount"], item["currency"]) == (Decimal("0.11"), 11, "dop")
    assert (item["subscription"], item["customer"]) == ("sub_7", "cus_7")


#: State of an older database: the month is not closed, or its charge waits untried.
RESTORED = {
    "before the month was closed": (
        "DELETE FROM billing_charges",
        "UPDATE billing_months SET closed_at = NULL, charged = 0",
    ),
    "before it was tried": (
        "UPDATE billing_charges"
        " SET stage = 'charge', tried_at = NULL, item_id = NULL, settled_at = NULL, run_at = now()",
    ),
}


@pytest.mark.parametrize("older", RESTORED.values(), ids=RESTORED)
async def test_what_was_charged_is_found_when_an_older_database_was_restored(
    db: Database, older: Sequence[str]
) -> None:
    tenant, state = await due(db), ProcessorState()
    async with processor(state) as client:
        first = await run_until_settled(db, tenant, client)
        state.forget_keys()
        for statement in older:
            await rows(db, statement)
        await closing.close_month(db, tenant, OCTOBER, system_clock)
        again = await run_until_settled(db, tenant, client)

    assert len(state.items) == 1
    assert (again.stage, again.item_id, again.subject) == ("charged", first.item_id, first.subject)


async def test_what_it_refuses_waits_for_an_operator_and_is_charged_once_afterwards(db: Database) -> None:
    tenant, state = await due(db), ProcessorState(faults=deque(["refused"]))
    async with processor(state) as client:
        refused = await run_until_settled(db, tenant, client)
        state.over.add("sub_7")
        await db.run(charges.try_again, tenant, OCTOBER, None)
        over = await run_until_settled(db, tenant, client)
        again = await db.run(charges.try_again, tenant, OCTOBER, "sub_8")
        charged = await run_until_settled(db, tenant, client)

    assert (refused.stage, refused.last_error) == ("failed", "HTTP 400 invalid_request_error")
    assert (over.stage, over.last_error) == ("failed", "the subscription is canceled")
    assert list(again) == [charged.subject]
    assert (charged.stage, [item["subscription"] for item in state.items]) == ("charged", ["sub_8"])


async def test_what_was_charged_before_its_subscription_ended_is_found(db: Database) -> None:
    """The answer was lost, and the subscription is canceled when it is asked for: it is not charged on another one."""
    tenant, state = await due(db), ProcessorState(faults=deque(["lost"]))
    async with processor(state) as client:
        with pytest.raises(TryLater):
            await Charger(db, client).charge(await claim(db, tenant))
        state.over.add("sub_7")
        await rows(db, "UPDATE billing_charges SET holder = NULL, run_at = now()")
        settled = await run_until_settled(db, tenant, client)

    (item,) = state.items
    assert (settled.stage, settled.item_id) == ("charged", item["id"])
    assert not await db.run(charges.try_again, tenant, OCTOBER, "sub_8")


@pytest.mark.parametrize(("faults", "may_move"), [((), True), (("lost",), False)], ids=["never sent", "sent before"])
async def test_a_subscription_that_is_not_known_says_nothing_of_what_was_sent(
    db: Database, faults: Sequence[str], may_move: bool
) -> None:
    tenant, state = await due(db), ProcessorState(faults=deque(faults))
    async with processor(state) as client:
        if faults:
            with pytest.raises(TryLater):
                await Charger(db, client).charge(await claim(db, tenant))
        state.unknown.add("sub_7")
        await rows(db, "UPDATE billing_charges SET holder = NULL, run_at = now()")
        refused = await run_until_settled(db, tenant, client)
        again = await db.run(charges.try_again, tenant, OCTOBER, "sub_8")

    assert (refused.stage, refused.last_error) == ("failed", "HTTP 404 invalid_request_error")
    assert (bool(again), refused.tried_at is None) == (may_move, may_move)


async def test_what_the_processor_has_in_another_form_is_not_taken_to_another_subscription(db: Database) -> None:
    """This database is an older one, and the charge had gone to another subscription of the same customer."""
    tenant, state = await due(db), ProcessorState()
    async with processor(state) as client:
        await run_until_settled(db, tenant, client)
        state.items[0]["subscription"] = "sub_8"
        for statement in RESTORED["before it was tried"]:
            await rows(db, statement)
        work = await claim(db, tenant)
        with pytest.raises(TryLater, match="its subscription is not the charge's"):
            await Charger(db, client).charge(work)
        assert await db.run(charges.failed, work, reason="for three days", at=system_clock())

    assert not await db.run(charges.try_again, tenant, OCTOBER, "sub_9")
    assert await db.run(charges.try_again, tenant, OCTOBER, None)


async def test_what_may_have_been_charged_is_not_taken_to_another_subscription(db: Database) -> None:
    tenant = await due(db)
    work = await claim(db, tenant)
    await db.run(charges.begin, work)
    assert await db.run(charges.failed, work, reason="no answer for three days", at=system_clock())

    assert not await db.run(charges.try_again, tenant, OCTOBER, "sub_8")
    assert await db.run(charges.try_again, tenant, OCTOBER, None)


async def test_a_worker_that_was_relieved_books_nothing_and_charges_nothing_more(db: Database) -> None:
    tenant, state = await due(db), ProcessorState()
    stalled = await claim(db, tenant)
    sent = await db.run(charges.claimed, stalled)
    await db.run(charges.begin, stalled)
    await rows(db, "UPDATE billing_charges SET run_at = now()")
    async with processor(state) as client:
        settled = await run_until_settled(db, tenant, client)  # its lease is over: another worker holds it
        late = await client.add(sent)  # it wakes up with the request in its hand

    assert late == settled.item_id
    assert len(state.items) == 1
    assert not await db.run(charges.charged, stalled, item_id=late, at=system_clock())
    for step in (charges.claimed, charges.begin):
        with pytest.raises(LeaseLost):
            await db.run(step, stalled)


async def test_an_item_among_hundreds_is_found(db: Database) -> None:
    tenant, state = await due(db), ProcessorState(faults=deque(["lost"]))
    async with processor(state) as client:
        with pytest.raises(TryLater):
            await Charger(db, client).charge(await claim(db, tenant))
        for number in range(250):
            state.items.append({"id": f"ii_x{number}", "customer": "cus_7", "metadata": {}})
        state.forget_keys()
        outcome = await Charger(db, client).charge(await claim(db, tenant))

    assert isinstance(outcome, Charged)
    assert outcome.item_id == "ii_1"


@pytest.mark.parametrize(
    "field", [{"amount": 12}, {"currency": "usd"}, {"customer": "cus_8"}, {"subscription": None}, {"id": "<script>"}]
)
async def test_an_item_that_is_not_the_charge_is_not_taken_for_it(db: Database, field: dict[str, Any]) -> None:
    tenant, state = await due(db), ProcessorState(faults=deque(["lost"]))
    async with processor(state) as client:
        with pytest.raises(TryLater):
            await Charger(db, client).charge(await claim(db, tenant))
        charge = await db.run(charges.claimed, await claim(db, tenant))
        state.items[0] |= field
        if "customer" in field:
            state.forget_keys()
            assert await client.find(charge) is None  # not this customer's
        else:
            with pytest.raises(ProcessorUnavailable, match="read"):
                await client.find(charge)


async def test_nobody_answers(db: Database) -> None:
    tenant = await due(db)
    async with stripe("http://127.0.0.1:9", KEY) as client:
        with pytest.raises(TryLater, match="no answer: ConnectError"):
            await Charger(db, client).charge(await claim(db, tenant))


async def test_the_key_goes_to_the_processor_and_nowhere_else(db: Database, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    tenant, state = await due(db), ProcessorState(faults=deque(["wrong key", "error", "garbage"]))
    async with processor(state) as client:
        settled = await run_until_settled(db, tenant, client)

    assert all(KEY.get_secret_value() in request.headers["authorization"] for request in state.requests)
    assert KEY.get_secret_value() not in caplog.text + repr(settled)
    assert {request.headers["stripe-version"] for request in state.requests} == {"2024-06-20"}


def test_an_hour_lies_between_two_tries_at_the_most() -> None:
    gaps = [charge_gap(attempt, random.Random(1)) for attempt in range(1, 40)]
    assert gaps[0] < timedelta(seconds=5)
    assert max(gaps) == timedelta(hours=1)
    assert all(one < other * 1.3 for one, other in itertools.pairwise(gaps))


# --- Where we die -----------------------------------------------------------------------------------------------------

WORKER = """
import sys, trio
from dataclasses import replace
from datetime import timedelta
from pydantic import SecretStr
from fe.process import failpoints
from fe.metering.charging import charge_stage
from fe.metering.stripe import stripe
from fe.queue.executor import run_stage
from fe.store.postgres.db import open_database
from tests.queue.stage import make_tools
async def main():
    async with open_database(sys.argv[1], role="fe_worker", max_size=2) as db:
        async with stripe(sys.argv[2], SecretStr("sk_test_x")) as client:
            stage = replace(charge_stage(db, client), gap=lambda _, __: timedelta(milliseconds=5))
            await run_stage(stage, make_tools(db, poll_seconds=0.02), trio.Event())
failpoints.arm(sys.argv[3])
trio.run(main)
"""


@pytest.mark.parametrize("failpoint", ["claimed", "charging", "charged", "worked", "batching", "writing", "batched"])
async def test_a_worker_dies_there_and_the_next_one_charges_once(db: Database, dsn: str, failpoint: str) -> None:
    tenant, state = await due(db), ProcessorState()
    async with trio.open_nursery() as nursery:
        url = await nursery.start(simulate_processor, state)
        with trio.fail_after(PATIENCE):
            ended = await trio.run_process(
                [sys.executable, "-c", WORKER, dsn, url, failpoint], check=False, env=os.environ | {"PYTHONPATH": "."}
            )
        assert ended.returncode == -9
        state.forget_keys()  # the next look is a day later
        await rows(db, "UPDATE billing_charges SET run_at = now() WHERE stage = 'charge'")  # and its lease is over
        async with stripe(url, KEY) as client:
            settled = await run_until_settled(db, tenant, client)
        nursery.cancel_scope.cancel()

    assert (settled.stage, len(state.items)) == ("charged", 1)


# --- Clocks and months ------------------------------------------------------------------------------------------------


async def test_a_clock_that_is_ahead_closes_no_month_that_is_not_over(db: Database) -> None:
    tenant = await make_tenant(db)
    await aggregator.restart(db, tenant)
    now = system_clock()
    await db.run(billing.enable, tenant, subscription_id="sub_1", unit_price=Decimal(1), at=now - timedelta(days=1))
    await accept(db, tenant, now)
    await aggregator.fold_all(db, tenant)

    await closing.Biller(db, lambda: now + timedelta(days=70)).round()

    assert await db.run(charges.of_tenant, tenant) == []
    (month,) = await db.run(billing.months, tenant)
    assert (month.closed_at, month.emissions) == (None, 1)


async def test_what_a_clock_that_was_ahead_put_into_the_next_month_counts_there(db: Database) -> None:
    tenant = await due(db, emissions=1)
    await accept(db, tenant, BEGIN + timedelta(days=3))  # a worker that was three days ahead

    await aggregator.fold_all(db, tenant)
    assert await closing.close_month(db, tenant, OCTOBER, system_clock) == 0
    assert [(month.month.month, month.emissions) for month in await db.run(billing.months, tenant)] == [
        (11, 1),
        (10, 1),
    ]


async def test_whoever_leads_closes_a_month_an_hour_after_its_end_and_finds_what_was_miscounted(
    db: Database, worker_db: Database
) -> None:
    tenant = await make_tenant(db)
    await aggregator.restart(db, tenant)
    await db.run(billing.enable, tenant, subscription_id="sub_1", unit_price=Decimal(2), at=BEGIN)
    await accept(db, tenant)
    await aggregator.fold_all(db, tenant)
    await rows(db, "UPDATE billing_months SET counted = 5")
    midnight = BEGIN.replace(month=11, day=1, hour=0)

    await closing.Biller(worker_db, lambda: midnight + timedelta(minutes=59)).round()
    before = await db.run(charges.of_tenant, tenant)
    (found,) = await db.run(billing.months, tenant)
    await closing.Biller(worker_db, lambda: midnight + timedelta(minutes=61)).round()
    await closing.Biller(worker_db, lambda: midnight + timedelta(minutes=62)).round()

    assert (before, found.emissions, found.drift) == ([], 1, 4)
    assert (await only(db, tenant)).amount == Decimal("2.00")


async def test_months_are_counted_again_of_some_tenants_each_turn_of_each_once_and_of_all_by_who_was_away(
    db: Database, worker_db: Database, mock_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    billed = [await make_tenant(db) for _ in range(5)]
    for tenant in billed:
        await db.run(billing.enable, tenant, subscription_id="sub_1", unit_price=Decimal(2), at=BEGIN)
    counted: list[TenantId] = []

    async def takes_three_seconds(_: Database, tenant_id: TenantId, month: date) -> None:
        if month.month == BEGIN.month:
            counted.append(tenant_id)
        mock_clock.jump(3)

    monkeypatch.setattr(closing, "reconcile_month", takes_three_seconds)
    one, other = closing.Biller(worker_db, lambda: BEGIN), closing.Biller(worker_db, lambda: BEGIN)

    turns = []
    for _ in range(4):
        await one.round()
        turns.append(len(counted))

    assert (counted, turns) == (billed, [2, 4, 5, 5])  # then an hour passes before they are counted again
    await rows(db, "UPDATE billing_rounds SET ended_at = now() - interval '1 hour'")
    await one.round()
    for _ in range(3):
        await other.round()  # it took the lead, and was done with all
    await rows(db, "UPDATE billing_rounds SET ended_at = now() - interval '1 hour'")
    mock_clock.jump(3600)
    counted.clear()
    for _ in range(3):
        await one.round()
    assert counted == billed


async def test_months_are_closed_for_some_time_of_a_turn_and_one_that_fails_is_tried_in_its_turn(
    db: Database, worker_db: Database, mock_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = [await make_tenant(db) for _ in range(3)]
    for tenant in over:
        await aggregator.restart(db, tenant)
        await db.run(billing.enable, tenant, subscription_id="sub_1", unit_price=Decimal(2), at=BEGIN)
        await accept(db, tenant)
        await aggregator.fold_all(db, tenant)
    close, tried = closing.close_month, list[TenantId]()

    async def takes_six_seconds(db: Database, tenant_id: TenantId, month: date, clock: Clock) -> Decimal | None:
        tried.append(tenant_id)
        mock_clock.jump(6)
        if tenant_id == over[0]:
            raise StoreError("not today")
        return await close(db, tenant_id, month, clock)

    monkeypatch.setattr(closing, "close_month", takes_six_seconds)
    leader = closing.Biller(worker_db, lambda: BEGIN + timedelta(days=40))
    turns = []
    for _ in range(3):
        with suppress(PartlyDone):
            await leader.round()
        turns.append([*tried])
        tried.clear()

    assert turns == [[over[0], over[1]], [over[2], over[0]], [over[0]]]
    assert [(await only(db, tenant)).amount for tenant in over[1:]] == [Decimal("2.00")] * 2


async def test_what_was_never_noted_is_found_and_charged_at_the_price_of_its_time(db: Database) -> None:
    """A release that did not note ends, or a note that was lost."""
    tenant = await make_tenant(db)
    await aggregator.restart(db, tenant)
    await db.run(billing.enable, tenant, subscription_id="sub_1", unit_price=Decimal(2), at=BEGIN - timedelta(days=9))
    await db.run(billing.set_price, tenant, unit_price=Decimal(3), at=BEGIN + timedelta(hours=1))
    await accept(db, tenant)
    await rows(db, "DELETE FROM usage_ends")
    await rows(db, "DELETE FROM billing_months")

    assert await closing.reconcile_month(db, tenant, OCTOBER) == -1
    assert await closing.close_month(db, tenant, OCTOBER, system_clock) == Decimal("2.00")
