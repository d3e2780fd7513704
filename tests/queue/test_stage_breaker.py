"""A stage whose tries all fail unexpectedly opens its breaker and burns no attempts."""

from collections.abc import MutableMapping
from datetime import timedelta
from typing import Any

import pytest
import trio

from fe.lifecycle import Stage
from fe.monitoring.metrics import Metrics
from fe.queue.outcome import Outcome, TryLater
from fe.queue.stage import StageConfig
from fe.queue.stage_breaker import StageBreaker
from fe.store.postgres.db import Database
from fe.store.queue.outbox import Work
from tests.factories import bookings
from tests.factories.tenants import ACCEPTED_AT, LEASE, SIGNED, digest_of, make_submission, make_tenant, rows
from tests.queue.stage import Handle, finish, make_stage, make_tools, raising, running, step
from tests.waiting import until

Logs = list[MutableMapping[str, Any]]


def quick(handle: Handle, stage: Stage = Stage.SIGN, **more: Any) -> StageConfig[Work]:
    """A stage that tries again at once, and probes at intervals while its breaker is open."""
    plain: dict[str, Any] = {"gap": lambda _, __: timedelta(0), "probe_seconds": 0.02, "slots": 8}
    return make_stage(handle, stage, **{**plain, **more})


def in_trouble(metrics: Metrics, stage: str = "sign") -> bool:
    return metrics.registry.get_sample_value("fe_stage_in_trouble", {"stage": stage}) == 1


async def test_a_stage_at_which_everything_fails_holds_still_instead_of_burning_its_queue(
    db: Database, logs: Logs
) -> None:
    tenant = await make_tenant(db)
    for _ in range(30):
        await make_submission(db, tenant)
    tries, enough, tools = 0, trio.Event(), make_tools(db, poll_seconds=0.05)

    async def broken(work: Work) -> Outcome:
        nonlocal tries
        tries += 1
        if tries == 45:
            enough.set()
        raise LookupError("a type table is broken")

    async with running(quick(broken), tools):
        with trio.fail_after(60):
            await enough.wait()
        assert in_trouble(tools.metrics)

    left = await rows(db, "SELECT attempt FROM outbox")
    assert len(left) == 30
    # Those counted that failed before it was clear: a few rows, each once or a few times.
    assert sum(row["attempt"] for row in left) <= 5 * 8
    assert max(row["attempt"] for row in left) < 8
    assert await rows(db, "SELECT 1 FROM dead_letters") == []
    assert [line["stage"] for line in logs if "in trouble" in line["event"]] == ["sign"]


async def test_in_trouble_one_row_at_a_time_is_tried_and_the_first_that_works_out_ends_it(db: Database) -> None:
    tenant = await make_tenant(db)
    for _ in range(40):
        await make_submission(db, tenant)
    tools, mended, at_once, peak = make_tools(db, poll_seconds=0.05), False, 0, 0

    async def handle(work: Work) -> Outcome:
        nonlocal at_once, peak
        at_once += 1
        try:
            if in_trouble(tools.metrics):
                peak = max(peak, at_once)
            await trio.sleep(0.001)
            if not mended:
                raise LookupError
            return finish(work)
        finally:
            at_once -= 1

    async with running(quick(handle), tools):
        await until(lambda: in_trouble(tools.metrics))
        await until(lambda: at_once == 0)
        peak = 0
        await trio.sleep(0.2)
        mended = True
        with trio.fail_after(60):
            while await rows(db, "SELECT 1 FROM outbox LIMIT 1"):  # noqa: ASYNC110  (a table has no event)
                await trio.sleep(0.02)
        assert not in_trouble(tools.metrics)

    assert peak <= 1
    assert await rows(db, "SELECT 1 FROM dead_letters") == []


async def test_one_poisoned_row_alone_is_no_trouble_of_the_stage_and_becomes_a_dead_letter(db: Database) -> None:
    subject = await make_submission(db, await make_tenant(db))
    tools = make_tools(db)

    async with running(quick(raising(ValueError("it is the document"))), tools):
        with trio.fail_after(60):
            while not await rows(db, "SELECT 1 FROM dead_letters"):  # noqa: ASYNC110  (a table has no event)
                await trio.sleep(0.02)
        assert not in_trouble(tools.metrics)

    assert await rows(db, "SELECT subject FROM dead_letters") == [{"subject": subject}]


@pytest.mark.parametrize("error", [TryLater("the authority is away"), trio.TooSlowError()], ids=repr)
async def test_failures_that_were_foreseen_are_no_trouble(db: Database, error: Exception) -> None:
    tenant = await make_tenant(db)
    for _ in range(20):
        await make_submission(db, tenant)
    tools = make_tools(db)
    value = tools.metrics.registry.get_sample_value

    async with running(make_stage(raising(error), slots=20), tools):
        await until(lambda: value("fe_steps_total", {"stage": "sign", "outcome": "retry"}) == 20)
        assert not in_trouble(tools.metrics)


async def test_a_send_that_may_have_gone_out_is_asked_about_in_trouble_as_ever(db: Database) -> None:
    """Whatever is wrong with the stage: giving such a row back would let it be sent again unasked."""
    # Rows claimed as the breaker opened are given back for two seconds; the poll finds them, as no wake-up comes.
    tenant, tools = await make_tenant(db), make_tools(db, poll_seconds=0.2)
    for number in range(8):
        await make_submission(db, tenant, stage=Stage.SEND, e_ncf=f"E31000000000{number}")

    async def announced(work: Work) -> Outcome:
        await db.run(bookings.intend_to_send, work, at=ACCEPTED_AT, lease=LEASE, digest=digest_of(SIGNED))
        raise LookupError

    async with running(quick(announced, Stage.SEND, doubts_go_to=Stage.RECONCILE), tools):
        with trio.fail_after(60):
            while await rows(db, "SELECT 1 FROM outbox WHERE stage = 'send'"):  # noqa: ASYNC110
                await trio.sleep(0.02)
        assert in_trouble(tools.metrics, "send")

    assert len(await rows(db, "SELECT 1 FROM outbox WHERE stage = 'reconcile'")) == 8


async def test_a_try_that_takes_long_in_trouble_is_waited_for_in_peace(db: Database) -> None:
    """The next probe is due long before it ends, and is not asked for again and again."""
    tenant, tools = await make_tenant(db), make_tools(db, poll_seconds=600)
    for _ in range(8):
        await make_submission(db, tenant)
    turns, hanging, never = 0, trio.Event(), trio.Event()
    event = tools.wakeups.event

    def counted(stage: str) -> trio.Event:
        nonlocal turns
        turns += 1
        return event(stage)

    tools.wakeups.event = counted  # type: ignore[method-assign]  # counts how often the loop turns

    async def handle(work: Work) -> Outcome:
        if in_trouble(tools.metrics):
            hanging.set()
            await never.wait()
        raise LookupError

    stage = quick(handle, slots=5, probe_seconds=0.001)
    async with running(stage, tools):
        with trio.fail_after(60):
            await hanging.wait()
        before = turns
        tools.wakeups.notify(Stage.SIGN)
        await trio.sleep(0.2)
        assert turns - before <= 3
        never.set()


async def test_what_counts_is_the_rows_that_fail_in_a_row_and_not_how_often_one_does(db: Database) -> None:
    tenant = await make_tenant(db)
    subjects = [await make_submission(db, tenant) for _ in range(5)]
    told: list[bool] = []
    trouble = StageBreaker("sign", 5, 1.0, told.append)

    for _ in range(3):
        for subject in subjects[:4]:
            trouble.failed(subject, "unexpected ValueError")
    trouble.succeeded()
    trouble.failed(subjects[4], "unexpected ValueError")
    trouble.refused()
    for subject in subjects[:4]:
        trouble.failed(subject, "unexpected ValueError")
    assert told == []
    trouble.failed(subjects[4], "unexpected ValueError")
    assert told == [True]
    trouble.refused()  # a row that must wait says nothing about the stage
    assert told == [True]
    trouble.succeeded()
    assert told == [True, False]


async def test_a_row_given_back_in_trouble_has_lost_no_attempt(db: Database) -> None:
    tenant = await make_tenant(db)
    subjects = [await make_submission(db, tenant) for _ in range(3)]
    stage, tools = quick(raising(ValueError("x")), rows_to_trouble=1), make_tools(db)

    booked = [await step(db, stage, subject, tools) for subject in subjects]

    assert booked == ["given back"] * 3
    assert await rows(db, "SELECT DISTINCT attempt FROM outbox") == [{"attempt": 0}]
