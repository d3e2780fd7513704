"""Claims: who gets which row, what a claim counts, and in which order the tenants are served."""

from datetime import UTC, datetime, timedelta

import pytest

from fe.ecf.catalogue import Environment, Host
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import Stage
from fe.store.postgres.db import Conn, Database
from fe.store.queue import outbox
from fe.store.queue.outbox import OutboxLane
from fe.store.queue.tables import DueTenant
from tests.factories.tenants import LEASE, claim_all, make_submission, make_tenant, row, rows, waiting
from tests.store.entries import read_of
from tests.store.race import race

ECF = OutboxLane(Environment.ECF)
LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
FILL = """
    INSERT INTO outbox (tenant_id, subject, stage, environment, run_at)
    SELECT %(tenant)s, gen_random_uuid(), 'sign', 'ecf', now() + %(due_in)s - n * interval '1 ms'
      FROM generate_series(1, %(many)s) AS n
"""


async def fill(db: Database, tenant: TenantId, many: int, due_in: float = 0) -> None:
    await rows(db, FILL, tenant=tenant, many=many, due_in=timedelta(seconds=due_in))


async def due(db: Database, after: TenantId = TenantId(0), limit: int = 100, lane: OutboxLane = ECF) -> list[int]:
    turns = await db.run(outbox.due_tenants, Stage.SIGN, [(lane, after)], limit)
    return [turn.tenant_id for turn in turns[lane]]


async def test_a_claim_raises_attempt_and_epoch_and_takes_the_row_for_the_length_of_the_lease(db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant)

    (work,) = await claim_all(db, Stage.SIGN, [tenant], holder="me")

    assert (work.tenant_id, work.subject, work.stage, work.environment, work.host) == (
        tenant,
        subject,
        Stage.SIGN,
        Environment.ECF,
        "",
    )
    assert (work.attempt, work.epoch, work.crash_count, work.last_error) == (1, 1, 0, None)
    kept = await waiting(db, subject)
    assert (kept["attempt"], kept["epoch"], kept["holder"]) == (1, 1, "me")
    assert 55 < kept["due_in"] <= 60
    assert await claim_all(db, Stage.SIGN, [tenant]) == []


async def test_a_row_whose_lease_ended_is_claimed_anew_with_a_higher_epoch_and_a_death_counted(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_submission(db, tenant)
    first = await claim_all(db, Stage.SIGN, [tenant], lease=timedelta(0))
    second = await claim_all(db, Stage.SIGN, [tenant], lease=timedelta(0))
    third = await claim_all(db, Stage.SIGN, [tenant])

    assert [(w.attempt, w.epoch, w.crash_count) for w in (*first, *second, *third)] == [(1, 1, 0), (2, 2, 1), (3, 3, 2)]


async def test_a_claim_takes_the_oldest_of_each_tenant_up_to_its_share(db: Database) -> None:
    one, two, three = [await make_tenant(db) for _ in range(3)]
    for tenant in (one, two, three):
        await fill(db, tenant, 5)
    oldest = await rows(
        db,
        "SELECT tenant_id, subject FROM (SELECT *, row_number() OVER (PARTITION BY tenant_id ORDER BY run_at) AS n"
        " FROM outbox) AS o WHERE (tenant_id = %(one)s AND n <= 2) OR (tenant_id = %(two)s AND n <= 1)",
        one=one,
        two=two,
    )

    claimed = await db.run(outbox.claim, Stage.SIGN, ECF, [one, two], [2, 1], lease=LEASE, holder="me")

    assert {(w.tenant_id, w.subject) for w in claimed} == {(o["tenant_id"], o["subject"]) for o in oldest}


@pytest.mark.parametrize(
    ("stage", "lane", "taken"),
    [
        (Stage.SIGN, ECF, True),
        (Stage.SEND, ECF, False),
        (Stage.SIGN, OutboxLane(Environment.TESTECF), False),
        (Stage.SIGN, OutboxLane(Environment.ECF, Host.ECF), False),
    ],
)
async def test_a_claim_keeps_to_its_stage_and_lane(db: Database, stage: Stage, lane: OutboxLane, taken: bool) -> None:
    tenant = await make_tenant(db)
    await make_submission(db, tenant)

    turns = (await db.run(outbox.due_tenants, stage, [(lane, TenantId(0))], 10))[lane]
    claimed = await claim_all(db, stage, [tenant], lane)

    assert (len(turns), len(claimed)) == ((1, 1) if taken else (0, 0))


async def test_work_of_the_future_is_not_due(db: Database) -> None:
    tenant = await make_tenant(db)
    await fill(db, tenant, 3, due_in=5)

    assert await due(db) == []
    assert await claim_all(db, Stage.SIGN, [tenant]) == []


async def test_an_empty_scope_claims_nothing(db: Database) -> None:
    await make_submission(db, await make_tenant(db))

    assert await claim_all(db, Stage.SIGN, []) == []


async def test_eight_claimers_at_once_get_each_row_exactly_once(db: Database, dsn: str) -> None:
    tenants = [await make_tenant(db) for _ in range(4)]
    for tenant in tenants:
        await fill(db, tenant, 100)

    async def act(conn: Conn, number: int) -> list[SubmissionId]:
        got: list[SubmissionId] = []
        for _ in range(40):
            claimed = await outbox.claim(
                conn, Stage.SIGN, ECF, tenants, [5] * 4, lease=LEASE, holder=f"claimer {number}"
            )
            got += [work.subject for work in claimed]
        return got

    results = await race(dsn, 8, act)

    claimed = [subject for result in results if isinstance(result, list) for subject in result]
    assert len(claimed) == 400
    assert len(set(claimed)) == 400
    assert (await row(db, "SELECT max(epoch) AS e, max(attempt) AS a FROM outbox")) == {"e": 1, "a": 1}
    assert sum(1 for result in results if result) > 1, "they took turns"


async def test_due_tenants_come_by_number_beginning_past_the_given_one_and_going_round(db: Database) -> None:
    tenants = [await make_tenant(db) for _ in range(5)]
    for tenant in tenants[::-1]:
        await fill(db, tenant, 2)
    await fill(db, await make_tenant(db), 2, due_in=60)

    assert await due(db) == tenants
    assert await due(db, after=tenants[1]) == tenants[2:] + tenants[:2]
    assert await due(db, after=tenants[1], limit=2) == tenants[2:4]
    assert await due(db, after=tenants[3], limit=2) == [tenants[4], tenants[0]]
    assert await due(db, after=tenants[-1]) == tenants


async def test_a_turn_tells_the_weight_of_its_tenant(db: Database) -> None:
    tenant = await make_tenant(db, weight=7)
    await fill(db, tenant, 1)

    assert await db.run(outbox.due_tenants, Stage.SIGN, [(ECF, TenantId(0))], 10) == {ECF: [DueTenant(tenant, 7)]}


@pytest.mark.parametrize(
    ("paused_tenant", "environment", "stopped"),
    [
        ("this", "ecf", True),
        ("this", "", True),
        ("this", "testecf", False),
        ("all", "ecf", True),
        ("all", "", True),
        ("all", "testecf", False),
        ("another", "ecf", False),
    ],
)
async def test_a_pause_stops_a_tenant_or_all_in_one_environment_or_in_all(
    db: Database, paused_tenant: str, environment: str, stopped: bool
) -> None:
    this, another = await make_tenant(db), await make_tenant(db)
    await fill(db, this, 1)
    await rows(
        db,
        "INSERT INTO pauses VALUES (%(tenant)s, %(environment)s, now(), 'me', 'why')",
        tenant={"this": this, "all": 0, "another": another}[paused_tenant],
        environment=environment,
    )

    assert await due(db) == ([] if stopped else [this])


async def test_a_tenants_waiting_rows_cost_the_search_for_due_work_nothing(db: Database) -> None:
    """In an outage everything waits for its retry, and every poll of every process looks."""
    waiting_tenant, due_tenant = await make_tenant(db), await make_tenant(db)
    await fill(db, waiting_tenant, 20_000, due_in=300)
    await fill(db, due_tenant, 3)
    lane = {"stage": "sign", "environment": "ecf", "host": "", "floor": LONG_AGO}
    lanes = {"stage": "sign", "environments": ["ecf"], "hosts": [""], "floors": [LONG_AGO], "afters": [0]}

    finding = await read_of(db, outbox.OUTBOX._due_tenants, {**lanes, "limit": 16})
    claiming = await read_of(
        db,
        outbox.OUTBOX._claim,
        {
            **lane,
            "scope": [waiting_tenant, due_tenant],
            "shares": [8, 8],
            "lease": LEASE,
            "holder": "me",
        },
    )

    assert finding < 20
    assert claiming < 20


async def test_a_tenants_million_due_rows_cost_the_search_for_due_tenants_one_step(db: Database) -> None:
    big = await make_tenant(db)
    await fill(db, big, 20_000)
    small = [await make_tenant(db) for _ in range(10)]
    for tenant in small:
        await fill(db, tenant, 1)

    finding = await read_of(
        db,
        outbox.OUTBOX._due_tenants,
        {"stage": "sign", "environments": ["ecf"], "hosts": [""], "floors": [LONG_AGO], "afters": [0], "limit": 16},
    )

    assert finding < 50
    assert await due(db) == [big, *small]
