"""The engine moves other kinds of work too: no-op jobs, and deliveries, with tables and outcomes of their own."""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import trio
from structlog.testing import capture_logs

from fe.actors import deliverer
from fe.actors.counterparty import handing_kind
from fe.actors.writers import submission_kind
from fe.monitoring.log import add_task_context
from fe.monitoring.metrics import Metrics
from fe.queue.backoff import MAX_ATTEMPTS
from fe.queue.executor import run_stage
from fe.queue.outcome import Outcome, TryLater
from fe.queue.stage import StageConfig, WorkKind
from fe.store.postgres.db import Database
from fe.store.postgres.errors import LeaseLost
from fe.store.queue.webhooks import deliveries_table
from tests.factories.tenants import make_tenant, row, rows
from tests.queue.kinds import JOBS, Delivered, Done, Item, Lane, Posted, delivery_kind, make_tables, post
from tests.queue.stage import make_tools, running

PLAIN = Lane("")


@pytest.fixture
async def db(db: Database) -> Database:
    await make_tables(db)
    return db


def stage(
    name: str, kind: WorkKind[Item], handle: Callable[[Item], Awaitable[Outcome]], *lanes: Lane, **more: Any
) -> StageConfig[Item]:
    return StageConfig(name, kind, handle, **{"slots": 64, "lanes": lanes or [PLAIN], "budget": 5.0, **more})


async def put_jobs(db: Database, tenant: int, many: int, *, poisoned: bool = False) -> None:
    await rows(
        db,
        "INSERT INTO jobs (tenant_id, poisoned) SELECT %(tenant)s, %(poisoned)s FROM generate_series(1, %(many)s)",
        tenant=tenant,
        many=many,
        poisoned=poisoned,
    )


async def put_delivery(db: Database, tenant: int, host: str = "shop.example") -> UUID:
    made = await row(
        db,
        "INSERT INTO deliveries (tenant_id, host) VALUES (%(tenant)s, %(host)s) RETURNING subject",
        tenant=tenant,
        host=host,
    )
    subject: UUID = made["subject"]
    return subject


async def until_nothing(db: Database, statement: str, **values: Any) -> None:
    with trio.fail_after(60):
        while await rows(db, statement, **values):  # noqa: ASYNC110  (a table rings no bell)
            await trio.sleep(0.01)


async def log_of(db: Database, subject: UUID) -> list[str]:
    found = await rows(db, "SELECT what FROM log WHERE subject = %(s)s ORDER BY n", s=subject)
    return [each["what"] for each in found]


async def test_plain_jobs_are_each_done_once_and_their_ends_written_together(db: Database) -> None:
    tenant = await make_tenant(db)
    await put_jobs(db, tenant, 300)
    tools = make_tools(db)
    transactions: list[int] = []
    plain = JOBS.writers[Done]

    async def counted(conn: Any, items: Any, at: Any) -> Any:
        transactions.append(len(items))
        return await plain(conn, items, at)

    async def handle(item: Item) -> Outcome:
        return Done()

    kind = WorkKind(JOBS.source, {**JOBS.writers, Done: counted})
    async with running(stage("run", kind, handle), tools):
        await until_nothing(db, "SELECT 1 FROM jobs LIMIT 1")

    assert Counter(each["what"] for each in await rows(db, "SELECT what FROM log")) == {"done": 300}
    assert len(await rows(db, "SELECT DISTINCT subject FROM log")) == 300
    assert sum(transactions) == 300
    assert max(transactions) > 10
    assert tools.metrics.registry.get_sample_value("fe_steps_total", {"stage": "run", "outcome": "done"}) == 300


async def test_a_job_whose_end_cannot_be_written_holds_up_none_of_those_written_with_it(db: Database) -> None:
    tenant = await make_tenant(db)
    await put_jobs(db, tenant, 99)
    await put_jobs(db, tenant, 1, poisoned=True)
    tools = make_tools(db)

    async def handle(item: Item) -> Outcome:
        return Done()

    async with running(stage("run", JOBS, handle, slots=400), tools):
        await until_nothing(db, "SELECT 1 FROM jobs WHERE NOT poisoned LIMIT 1")

    left = await row(db, "SELECT holder, attempt, poisoned FROM jobs")
    assert left == {"holder": "this worker", "attempt": 1, "poisoned": True}
    value = tools.metrics.registry.get_sample_value
    assert value("fe_steps_total", {"stage": "run", "outcome": "done"}) == 99
    assert value("fe_steps_total", {"stage": "run", "outcome": "not booked"}) == 1


async def test_a_job_that_was_taken_over_meanwhile_is_not_ended_by_its_first_worker(db: Database) -> None:
    tenant = await make_tenant(db)
    await put_jobs(db, tenant, 10)
    tools = make_tools(db)
    stolen: list[UUID] = []
    in_flight = 0
    all_in_hand = trio.Event()

    async def handle(item: Item) -> Outcome:
        nonlocal in_flight
        in_flight += 1
        if not stolen:
            stolen.append(item.subject)
        if in_flight == 10:
            await rows(db, "UPDATE jobs SET epoch = epoch + 1, holder = 'a peer' WHERE subject = %(s)s", s=stolen[0])
            all_in_hand.set()
        await all_in_hand.wait()
        return Done()

    async with running(stage("run", JOBS, handle), tools):
        await until_nothing(db, "SELECT 1 FROM jobs WHERE holder IS DISTINCT FROM 'a peer'")

    assert [each["subject"] for each in await rows(db, "SELECT subject FROM jobs")] == stolen
    value = tools.metrics.registry.get_sample_value
    assert value("fe_leases_lost_total", {"stage": "run"}) == 1
    assert value("fe_steps_total", {"stage": "run", "outcome": "done"}) == 9


async def test_jobs_in_hand_when_all_is_cancelled_are_given_back_and_finished_ones_are_written(db: Database) -> None:
    tenant = await make_tenant(db)
    await put_jobs(db, tenant, 20)
    in_flight, hanging = 0, trio.Event()

    async def handle(item: Item) -> Outcome:
        nonlocal in_flight
        in_flight += 1
        mine = in_flight
        if mine == 20:
            hanging.set()
        if mine % 2:
            await trio.sleep_forever()
        await hanging.wait()
        return Done()

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run_stage, stage("run", JOBS, handle, slots=40), make_tools(db), trio.Event())
            await hanging.wait()
            await trio.lowlevel.checkpoint()
            nursery.cancel_scope.cancel()

    left = await rows(db, "SELECT holder, attempt FROM jobs")
    assert left == [{"holder": None, "attempt": 0}] * len(left)
    assert 10 <= len(left) < 20
    assert len(await rows(db, "SELECT 1 FROM log WHERE what = 'done'")) == 20 - len(left)


async def test_batches_leave_the_turn_of_each_tenant_as_it_is(db: Database) -> None:
    """A tenant with one job beside one with thousands is served within the first claims, batches or not."""
    busy, other = await make_tenant(db), await make_tenant(db)
    await put_jobs(db, busy, 2000)
    await put_jobs(db, other, 1)
    order: list[int] = []

    async def handle(item: Item) -> Outcome:
        order.append(item.tenant_id)
        return Done()

    async with running(stage("run", JOBS, handle, slots=100), make_tools(db)):
        await until_nothing(db, "SELECT 1 FROM jobs LIMIT 1")

    assert order.index(other) < 100
    assert Counter(order) == {busy: 2000, other: 1}


async def test_deliveries_go_on_to_their_next_stage_and_to_their_end(db: Database) -> None:
    tenant = await make_tenant(db)
    subjects = [await put_delivery(db, tenant) for _ in range(5)]
    ended: list[str] = []
    kind = delivery_kind(lambda item, outcome: ended.append(outcome.name))
    tools, host = make_tools(db), Lane("shop.example")

    async def deliver(item: Item) -> Outcome:
        return Posted()

    async def confirm(item: Item) -> Outcome:
        return Delivered()

    async with (
        running(stage("deliver", kind, deliver, host), tools),
        running(stage("confirm", kind, confirm, host), tools),
    ):
        await until_nothing(db, "SELECT 1 FROM deliveries WHERE stage <> 'over'")

    for subject in subjects:
        assert await log_of(db, subject) == ["posted", "delivered"]
    assert Counter(ended) == {"posted": 5, "delivered": 5}


async def test_a_delivery_without_an_answer_is_asked_about_only_if_something_went_out(db: Database) -> None:
    tenant = await make_tenant(db)
    before, after = await put_delivery(db, tenant), await put_delivery(db, tenant)
    kind, tools, host = delivery_kind(), make_tools(db), Lane("shop.example")

    async def deliver(item: Item) -> Outcome:
        if item.subject == after:
            await db.run(post, item)
        raise OSError("the connection broke")

    async with running(stage("deliver", kind, deliver, host, doubts_go_to="confirm"), tools):
        await until_nothing(db, "SELECT 1 FROM deliveries WHERE last_error IS NULL AND stage = 'deliver'")

    assert await log_of(db, before) == ["retry"]
    assert await log_of(db, after) == ["intended", "in doubt: unexpected OSError"]
    left = await rows(db, "SELECT subject, stage, attempt FROM deliveries ORDER BY stage")
    assert left == [
        {"subject": after, "stage": "confirm", "attempt": 0},
        {"subject": before, "stage": "deliver", "attempt": 1},
    ]


async def test_a_delivery_is_given_up_after_its_tries(db: Database) -> None:
    subject = await put_delivery(db, await make_tenant(db))

    async def deliver(item: Item) -> Outcome:
        raise TryLater("410 Gone")

    at_once = stage("deliver", delivery_kind(), deliver, Lane("shop.example"), gap=lambda _, __: timedelta(0))
    async with running(at_once, make_tools(db)):
        await until_nothing(db, "SELECT 1 FROM deliveries WHERE stage <> 'over'")

    assert await log_of(db, subject) == ["retry"] * (MAX_ATTEMPTS - 1) + ["gave up"]
    assert (await row(db, "SELECT gave_up FROM deliveries"))["gave_up"] == "410 Gone"


async def test_a_slow_endpoint_holds_up_no_other_lane(db: Database) -> None:
    """Lanes are whatever the kind of work calls so: here one for each endpoint's host."""
    tenant = await make_tenant(db)
    slow, quick = Lane("slow.example"), Lane("quick.example")
    for lane in (slow, quick):
        for _ in range(6):
            await put_delivery(db, tenant, lane.host)
    tools = make_tools(db, gate=lambda lane, slots: 2 if lane == slow else slots)
    never = trio.Event()

    async def deliver(item: Item) -> Outcome:
        if item.lane == slow:
            await never.wait()
        return Delivered()

    async with running(stage("deliver", delivery_kind(), deliver, slow, quick, slots=8), tools):
        await until_nothing(db, "SELECT 1 FROM deliveries WHERE host = 'quick.example' AND stage <> 'over'")
        held = await row(db, "SELECT count(*)::int AS n FROM deliveries WHERE holder IS NOT NULL")
        never.set()

    assert held == {"n": 2}


async def test_an_outcome_for_which_its_kind_has_no_writer_is_left_to_the_lease(db: Database) -> None:
    await put_jobs(db, await make_tenant(db), 1)
    tools = make_tools(db)

    async def handle(item: Item) -> Outcome:
        return Delivered()

    async with running(stage("run", JOBS, handle), tools):
        value = tools.metrics.registry.get_sample_value
        with trio.fail_after(60):
            while value("fe_steps_total", {"stage": "run", "outcome": "not booked"}) != 1:  # noqa: ASYNC110
                await trio.sleep(0.01)

    assert (await row(db, "SELECT holder FROM jobs"))["holder"] == "this worker"


def test_a_kind_of_work_says_at_least_how_a_try_is_repeated_and_how_one_is_given_up() -> None:
    with pytest.raises(ValueError, match="Retry"):
        WorkKind(JOBS.source, {Done: JOBS.writers[Done]})


def test_a_stage_that_leaves_doubts_is_of_a_kind_that_can_write_them() -> None:
    async def handle(item: Item) -> Outcome:
        raise LeaseLost

    with pytest.raises(ValueError, match="InDoubt"):
        stage("run", JOBS, handle, doubts_go_to="confirm")


async def test_the_log_calls_a_row_what_its_kind_calls_it(db: Database) -> None:
    """A search for a submission id finds no line about a delivery, and vice versa."""
    await put_jobs(db, await make_tenant(db), 1)
    (job,) = await rows(db, "SELECT subject FROM jobs")

    async def handle(item: Item) -> Outcome:
        await rows(db, "DELETE FROM jobs")
        raise RuntimeError("nobody foresaw it")

    kind = replace(JOBS, subject="job")
    with capture_logs(processors=[add_task_context]) as told:
        async with running(stage("run", kind, handle), make_tools(db)):
            await until_nothing(db, "SELECT 1 FROM jobs")

    about = [line for line in told if line["event"] == "the step failed"]
    assert [(line["job"], line["stage"], line["attempt"]) for line in about] == [(str(job["subject"]), "run", 1)]
    assert all("submission" not in line for line in told)


def test_every_kind_of_work_says_what_its_rows_are() -> None:
    metrics = Metrics()
    kinds = (
        submission_kind(metrics),
        handing_kind(metrics, {}),
        deliverer.delivery_kind(deliveries_table(8), metrics),
        deliverer.recovery_kind(),
    )

    assert [kind.subject for kind in kinds] == ["submission", "submission", "delivery", "recovery"]
