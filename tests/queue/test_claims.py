"""Order of claims: tenants in turn, production before tests, a lane by its gate, without waiting for the poll."""

import math
import random
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import trio

from fe.ecf.catalogue import Environment
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import Stage
from fe.queue.fair_claims import InFlight, divide, find_and_claim
from fe.queue.outcome import Outcome
from fe.store.postgres.db import Database
from fe.store.queue import claim
from fe.store.queue.outbox import OutboxLane, Work
from fe.store.queue.tables import DueTenant
from tests.factories.tenants import make_submission, make_tenant, rows
from tests.queue.stage import done, finish, make_stage, make_tools, running

FILL = """
    INSERT INTO outbox (tenant_id, subject, stage, environment, host, run_at)
    SELECT %(tenant)s, gen_random_uuid(), %(stage)s, %(environment)s, %(host)s, now() - n * interval '1 ms'
      FROM generate_series(1, %(many)s) AS n
"""


FILL_EACH = """
    INSERT INTO outbox (tenant_id, subject, stage, environment, run_at)
    SELECT tenant, gen_random_uuid(), 'sign', 'ecf', now() FROM unnest(%(tenants)s::bigint[]) AS tenant
"""


@pytest.fixture(autouse=True, params=["in one call", "question by question"])
def each_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the database does it for submissions, and as it is done for any other kind of work."""
    if request.param == "question by question":
        monkeypatch.setattr(claim, "claim_together", None)


class Holding:
    """Keeps every row in in_flight until a wanted one is served."""

    def __init__(self, wanted: Callable[[Work], bool], *, others: int) -> None:
        self._wanted = wanted
        self._others = others
        self.held = 0
        self.full, self.served = trio.Event(), trio.Event()

    async def handle(self, work: Work) -> Outcome:
        if self._wanted(work):
            self.served.set()
            return finish(work)
        self.held += 1
        if self.held == self._others:
            self.full.set()
        await self.served.wait()
        return finish(work)


async def worked_off(db: Database, many: int, slots: int) -> list[SubmissionId]:
    """Run the loop, with a poll of ten minutes, until it has handled that many rows; return their subjects."""
    finished, handled = trio.Event(), list[SubmissionId]()

    async def handle(work: Work) -> Outcome:
        handled.append(work.subject)
        if len(handled) == many:
            finished.set()
        return finish(work)

    async with running(make_stage(handle, slots=slots), make_tools(db, poll_seconds=600)):
        with trio.fail_after(60):
            await finished.wait()
    return handled


async def fill(db: Database, tenant: TenantId, many: int, environment: Environment = Environment.ECF) -> None:
    await rows(db, FILL, tenant=tenant, many=many, stage=Stage.SIGN, environment=environment, host="")


async def fill_to_send(db: Database, tenant: TenantId, many: int, lane: OutboxLane) -> None:
    await rows(db, FILL, tenant=tenant, many=many, stage=Stage.SEND, environment=lane.environment, host=lane.host)


async def claims(db: Database, slots: int, rounds: int) -> list[list[Work]]:
    """Several claims in a row, each with all slots free."""
    stage, tools = make_stage(done, slots=slots), make_tools(db)
    cursors = dict.fromkeys(stage.lanes, TenantId(0))
    return [(await db.run(find_and_claim, stage, tools, cursors, InFlight(slots))).works for _ in range(rounds)]


@pytest.mark.parametrize("slots", [1, 16, 100])
async def test_each_of_many_tenants_is_served_within_one_round_however_much_one_of_them_has(
    db: Database, slots: int
) -> None:
    """The bound: a tenant waits at most as many claims as there are tenants with work due, divided by how many of them
    one claim serves (its free slots, at most 64). Here one has 20,000 rows, all older, and 200 have one each."""
    big = await make_tenant(db)
    await fill(db, big, 20_000)
    small = [await make_tenant(db) for _ in range(200)]
    await rows(db, FILL_EACH, tenants=small)
    bound = math.ceil(201 / min(slots, 64))

    made = await claims(db, slots, bound)

    served = Counter(work.tenant_id for works in made for work in works)
    assert all(served[tenant] == 1 for tenant in small)
    assert served[big] >= 1
    assert all(len(works) <= slots for works in made)


async def test_a_tenant_that_comes_later_waits_no_longer_than_the_others(db: Database) -> None:
    big = [await make_tenant(db) for _ in range(20)]
    for tenant in big:
        await fill(db, tenant, 200)
    stage, tools = make_stage(done, slots=4), make_tools(db)
    cursors = dict.fromkeys(stage.lanes, TenantId(0))
    for _ in range(7):
        await db.run(find_and_claim, stage, tools, cursors, InFlight(4))
    late = await make_tenant(db)
    await fill(db, late, 1)
    await trio.sleep(0.1)  # the validity of a look at the nodes of a cluster

    served = set()
    for _ in range(math.ceil(21 / 4)):
        works = (await db.run(find_and_claim, stage, tools, cursors, InFlight(4))).works
        served |= {work.tenant_id for work in works}

    assert late in served


WAITING = """
    WITH made AS (
        INSERT INTO tenants (name, issuer) SELECT 'waits ' || n, '{}' FROM generate_series(1, %(many)s) AS n
        RETURNING tenant_id
    )
    INSERT INTO outbox (tenant_id, subject, stage, environment, run_at, attempt)
    SELECT tenant_id, gen_random_uuid(), 'sign', 'ecf', now() + interval '1 hour', 1 FROM made
"""


async def test_a_tenant_beyond_many_that_wait_is_served_though_one_before_them_has_much_due(db: Database) -> None:
    """A claim sees at most 256 tenants while one has due rows, and the next continues there."""
    big = await make_tenant(db)
    await fill(db, big, 5_000)
    await rows(db, WAITING, many=1_000)
    small = await make_tenant(db)
    await fill(db, small, 1)

    made = await claims(db, 4, math.ceil(1_002 / 256) + 1)

    served = Counter(work.tenant_id for works in made for work in works)
    assert served[small] == 1
    assert all(made)


async def test_a_claim_that_saw_some_tenants_only_is_followed_by_the_next_at_once(db: Database) -> None:
    """Else who has work due beyond those that wait would wait for the poll: there are slots left for it."""
    big = await make_tenant(db)
    await fill(db, big, 150)
    await rows(db, WAITING, many=1_000)
    late = await make_tenant(db)
    await rows(db, "UPDATE outbox SET run_at = now() - interval '1 minute' WHERE tenant_id = %(big)s", big=big)
    await fill(db, late, 150)

    handled = await worked_off(db, 300, slots=100)

    assert len(set(handled)) == 300


async def test_those_that_are_paused_hide_nobody_however_much_of_theirs_is_due(db: Database) -> None:
    paused = await make_tenant(db)
    await fill(db, paused, 500)
    await rows(db, "UPDATE outbox SET run_at = %(earlier)s", earlier=datetime.now(UTC) - timedelta(hours=1))
    await rows(db, WAITING, many=1_000)
    small = await make_tenant(db)
    await fill(db, small, 1)
    pause = "INSERT INTO pauses VALUES (%(tenant)s, '', now(), 'eva', 'audit')"
    await rows(db, pause, tenant=paused)

    (works,) = await claims(db, 4, 1)

    assert [work.tenant_id for work in works] == [small]

    await rows(db, pause, tenant=0)
    assert await claims(db, 4, 1) == [[]]


async def test_weights_divide_what_a_claim_takes(db: Database) -> None:
    light, heavy = await make_tenant(db), await make_tenant(db, weight=3)
    for tenant in (light, heavy):
        await fill(db, tenant, 500)

    (works,) = await claims(db, 40, 1)

    served = Counter(work.tenant_id for work in works)
    assert served[light] + served[heavy] == 40
    assert 2.5 <= served[heavy] / served[light] <= 3.0


@pytest.mark.parametrize("weights", [[1], [1, 1, 1], [100, 1], [3, 5, 7, 11], [1] * 64])
@pytest.mark.parametrize("spare", [0, 1, 7, 1000])
def test_shares_use_up_the_room_and_leave_nobody_out(weights: list[int], spare: int) -> None:
    turns = [DueTenant(TenantId(number), weight) for number, weight in enumerate(weights)]
    capacity = len(turns) + spare

    shares = divide(turns, capacity)

    assert sum(shares) == capacity
    assert min(shares) >= 1
    assert all(
        shares[a] >= shares[b] - 1 for a in range(len(turns)) for b in range(len(turns)) if weights[a] > weights[b]
    )


async def test_production_is_served_first_and_tests_never_have_the_last_quarter(db: Database) -> None:
    tenant = await make_tenant(db)
    await fill(db, tenant, 3, Environment.ECF)
    for environment in (Environment.CERTECF, Environment.TESTECF):
        await fill(db, tenant, 50, environment)

    (works,) = await claims(db, 16, 1)

    assert Counter(work.environment for work in works) == {Environment.ECF: 3, Environment.CERTECF: 9}


async def test_without_production_work_tests_use_three_quarters(db: Database) -> None:
    tenant = await make_tenant(db)
    await fill(db, tenant, 50, Environment.TESTECF)

    (works,) = await claims(db, 16, 1)

    assert len(works) == 12


async def test_one_tenant_never_has_the_last_quarter_of_the_slots(db: Database) -> None:
    busy, other = await make_tenant(db), await make_tenant(db)
    await fill(db, busy, 50)
    stage, tools = make_stage(done, slots=16), make_tools(db)
    cursors, in_flight = dict.fromkeys(stage.lanes, TenantId(0)), InFlight(16)

    first = await db.run(find_and_claim, stage, tools, cursors, in_flight)
    for work in first.works:
        in_flight.begin(work)
    await fill(db, other, 2)
    second = await db.run(find_and_claim, stage, tools, cursors, in_flight)
    for work in second.works:
        in_flight.begin(work)
    in_flight.tried(first.works[0])
    third = await db.run(find_and_claim, stage, tools, cursors, in_flight)

    assert Counter(work.tenant_id for work in first.works) == {busy: 12}
    assert Counter(work.tenant_id for work in second.works) == {other: 2}
    assert Counter(work.tenant_id for work in third.works) == {busy: 1}
    assert (first.full, first.capacity_left) == (True, False)


async def test_a_tenant_finds_a_slot_at_once_while_the_authority_is_slow_with_anothers(db: Database) -> None:
    busy, other = await make_tenant(db), await make_tenant(db)
    await fill(db, busy, 10)
    holding = Holding(lambda work: work.tenant_id == other, others=3)

    tools = make_tools(db, poll_seconds=600)
    async with running(make_stage(holding.handle, slots=4, budget=600), tools):
        await holding.full.wait()
        await trio.sleep(0.2)
        assert holding.held == 3
        with trio.fail_after(60):
            await make_submission(db, other)
            tools.wakeups.notify(Stage.SIGN)
            await holding.served.wait()


async def test_more_tenants_than_a_claim_takes_in_are_served_without_waiting_for_the_poll(db: Database) -> None:
    for _ in range(150):
        await fill(db, await make_tenant(db), 1)

    assert len(set(await worked_off(db, 150, slots=400))) == 150
    assert await rows(db, "SELECT 1 FROM outbox") == []


async def test_a_tenants_unequal_share_is_filled_up_when_the_others_have_less(db: Database) -> None:
    busy, other = await make_tenant(db), await make_tenant(db)
    await fill(db, busy, 50)
    await fill(db, other, 1)
    stage, tools = make_stage(done, slots=16), make_tools(db)

    found = await db.run(find_and_claim, stage, tools, dict.fromkeys(stage.lanes, TenantId(0)), InFlight(16))

    assert Counter(work.tenant_id for work in found.works) == {busy: 8, other: 1}
    assert (found.full, found.capacity_left) == (False, True)


async def test_with_a_single_slot_tests_are_served_too(db: Database) -> None:
    await fill(db, await make_tenant(db), 1, Environment.TESTECF)

    (works,) = await claims(db, 1, 1)

    assert len(works) == 1


@pytest.mark.parametrize("environment", list(Environment))
async def test_a_backlog_is_worked_off_without_waiting_for_the_poll(db: Database, environment: Environment) -> None:
    await fill(db, await make_tenant(db), 60, environment)

    assert len(set(await worked_off(db, 60, slots=4))) == 60
    assert await rows(db, "SELECT 1 FROM outbox") == []


async def test_production_finds_its_reserved_slot_at_once_while_tests_hold_all_theirs(db: Database) -> None:
    """Not at the next poll, and not when a slow answer of the test environment has come."""
    tenant = await make_tenant(db)
    await fill(db, tenant, 10, Environment.TESTECF)
    holding = Holding(lambda work: work.environment is Environment.ECF, others=3)

    tools = make_tools(db, poll_seconds=600)
    async with running(make_stage(holding.handle, slots=4, budget=600), tools):
        await holding.full.wait()
        await trio.sleep(0.2)
        assert holding.held == 3
        with trio.fail_after(60):
            await make_submission(db, tenant)
            tools.wakeups.notify(Stage.SIGN)
            await holding.served.wait()


async def test_a_lane_whose_gate_is_shut_is_left_alone_and_the_others_flow(db: Database) -> None:
    tenant = await make_tenant(db)
    await fill(db, tenant, 5)
    await fill(db, tenant, 5, Environment.TESTECF)
    stage = make_stage(done, slots=16)
    tools = make_tools(db, gate=lambda lane, slots: 0 if lane == OutboxLane(Environment.ECF) else slots)

    works = (await db.run(find_and_claim, stage, tools, dict.fromkeys(stage.lanes, TenantId(0)), InFlight(16))).works

    assert {work.environment for work in works} == {Environment.TESTECF}
    assert await rows(db, "SELECT DISTINCT attempt FROM outbox WHERE environment = 'ecf'") == [{"attempt": 0}]


@pytest.mark.parametrize("gate", [1, 2])
async def test_a_lane_has_never_more_in_hand_than_its_gate_lets_through(db: Database, gate: int) -> None:
    """However often the other lanes' slots are freed meanwhile: a host that just came back is spared."""
    tenant = await make_tenant(db)
    await fill(db, tenant, 12)
    await fill(db, tenant, 60, Environment.TESTECF)
    in_flight, peak, slow_done, finished = 0, 0, 0, trio.Event()

    async def handle(work: Work) -> Outcome:
        nonlocal in_flight, peak, slow_done
        if work.environment is Environment.ECF:
            in_flight += 1
            peak = max(peak, in_flight)
            await trio.sleep(0.1)
            in_flight -= 1
            slow_done += 1
            if slow_done == 12:
                finished.set()
        return finish(work)

    tools = make_tools(db, gate=lambda lane, slots: gate if lane.environment is Environment.ECF else slots)
    async with running(make_stage(handle, slots=8), tools):
        with trio.fail_after(60):
            await finished.wait()

    assert peak == gate


# --- Hosts side by side -----------------------------------------------------------------------------------------------

ECF, FC = OutboxLane(Environment.ECF, "ecf"), OutboxLane(Environment.ECF, "fc")
TEST_ECF, TEST_FC = OutboxLane(Environment.TESTECF, "ecf"), OutboxLane(Environment.TESTECF, "fc")


class Sending:
    """The send stage of a process, claim by claim."""

    def __init__(self, db: Database, slots: int, **tools: Any) -> None:
        self._db = db
        self.stage, self._tools = make_stage(done, Stage.SEND, slots), make_tools(db, **tools)
        self._cursors = dict.fromkeys(self.stage.lanes, TenantId(0))
        self.in_flight = InFlight(slots)
        self.held: list[Work] = []
        self.is_to_look_again = False

    async def claim(self) -> Counter[OutboxLane]:
        """Claim, and hold what was claimed; how many of each lane."""
        found = await self._db.run(find_and_claim, self.stage, self._tools, self._cursors, self.in_flight)
        self.is_to_look_again = found.capacity_left
        self.in_flight.begin_all(found.works)
        self.held += found.works
        return Counter(work.lane for work in found.works)

    def end(self, lane: OutboxLane, many: int = 1000) -> None:
        """End tries of a lane, up to the given number."""
        for work in [one for one in self.held if one.lane == lane][:many]:
            self.in_flight.tried(work)
            self.in_flight.end(work)
            self.held.remove(work)

    def holds(self) -> Counter[OutboxLane]:
        return Counter(work.lane for work in self.held)


async def test_host_without_a_try_that_ends_has_a_fourth_of_the_slots_and_all_once_one_ends(db: Database) -> None:
    for _ in range(2):
        await fill_to_send(db, await make_tenant(db), 200, ECF)
    sending = Sending(db, 64)

    assert [await sending.claim(), await sending.claim()] == [Counter({ECF: 16}), Counter()]
    sending.end(ECF, 1)
    assert await sending.claim() == Counter({ECF: 41})

    sending.end(ECF)
    await trio.sleep(1.1)  # a lane stalls after a second
    assert await sending.claim() == Counter({ECF: 16})


@pytest.mark.usefixtures("never_stalls")
@pytest.mark.parametrize(("slow", "other"), [(ECF, FC), (FC, ECF)])
async def test_claim_with_one_slow_host_leaves_the_other_its_share(
    slow: OutboxLane, other: OutboxLane, db: Database
) -> None:
    for _ in range(2):
        await fill_to_send(db, await make_tenant(db), 100, slow)
    sending = Sending(db, 64)

    assert [await sending.claim(), await sending.claim()] == [Counter({slow: 56}), Counter()]

    await fill_to_send(db, await make_tenant(db), 50, other)
    for _ in range(5):
        assert await sending.claim() == Counter({other: 8})
        sending.end(other)


@pytest.mark.usefixtures("never_stalls")
async def test_claim_for_one_tenant_with_a_slow_host_serves_its_rows_for_the_other(db: Database) -> None:
    tenant, late = await make_tenant(db), await make_tenant(db)
    await fill_to_send(db, tenant, 100, ECF)
    sending = Sending(db, 64)
    assert await sending.claim() == Counter({ECF: 48})

    await fill_to_send(db, tenant, 100, FC)
    assert await sending.claim() == Counter({FC: 8})

    # It is slow with both hosts: what it may have of both together leaves slots to others.
    assert await sending.claim() == Counter()
    await fill_to_send(db, late, 3, ECF)
    await fill_to_send(db, late, 3, FC)
    assert await sending.claim() == Counter({ECF: 3, FC: 3})


@pytest.mark.usefixtures("never_stalls")
async def test_claims_of_a_slow_and_a_quick_host_that_both_have_a_backlog_even_out(db: Database) -> None:
    for lane in (ECF, FC):
        for _ in range(2):
            await fill_to_send(db, await make_tenant(db), 400, lane)
    sending = Sending(db, 64)
    await sending.claim()
    for _ in range(20):
        sending.end(FC)
        sending.end(ECF, 5)
        await sending.claim()

    assert sending.holds()[FC] >= 32


@pytest.mark.usefixtures("never_stalls")
async def test_slow_host_of_the_tests_leaves_production_its_quarter_and_the_tests_other_host_its_share(
    db: Database,
) -> None:
    for lane in (TEST_ECF, TEST_ECF):
        await fill_to_send(db, await make_tenant(db), 100, lane)
    sending = Sending(db, 64)
    assert await sending.claim() == Counter({TEST_ECF: 40})
    await fill_to_send(db, await make_tenant(db), 100, TEST_FC)
    assert await sending.claim() == Counter({TEST_FC: 8})

    for lane in (ECF, FC):
        await fill_to_send(db, await make_tenant(db), 100, lane)
    assert await sending.claim() == Counter({ECF: 8})
    assert sending.is_to_look_again
    assert await sending.claim() == Counter({FC: 8})


async def test_claim_of_a_host_that_was_just_away_takes_one_row_of_tests_too(db: Database) -> None:
    """The slots that a lane leaves to others count from the free slots, not from its gate."""
    await fill_to_send(db, await make_tenant(db), 10, TEST_ECF)
    sending = Sending(db, 64, gate=lambda lane, slots: 1 if lane.host == "ecf" else slots)

    assert await sending.claim() == Counter({TEST_ECF: 1})


@pytest.mark.parametrize("seed", range(6))
async def test_claims_at_random_never_take_the_share_of_a_host_nor_leave_all_slots_to_one_tenant(
    seed: int, db: Database
) -> None:
    spread = random.Random(seed)
    slots = spread.choice([8, 16, 64])
    tenants = [await make_tenant(db) for _ in range(spread.choice([1, 2, 5]))]
    sending = Sending(db, slots)
    share, part = sending.stage.shares[ECF], sending.stage.slots_of_a_tenant()
    for _ in range(25):
        await fill_to_send(
            db, spread.choice(tenants), spread.choice([1, slots]), spread.choice([ECF, ECF, FC, TEST_FC])
        )
        await sending.claim()
        held = sending.holds()
        assert sending.in_flight.free >= 0
        assert max(held[ECF], held[FC]) <= slots - share
        for tenant in tenants:
            for lane in (ECF, FC, TEST_FC):
                assert sending.in_flight.of_tenant(tenant, lane) <= part
        waiting = await rows(db, "SELECT DISTINCT host FROM outbox WHERE environment = 'ecf' AND holder IS NULL")
        if len(tenants) > 1:
            for host in waiting:
                assert held[OutboxLane(Environment.ECF, host["host"])] >= share or len(tenants) < 3
        sending.end(spread.choice([ECF, FC, TEST_FC]), spread.choice([1, 3, slots]))


async def test_executor_with_one_host_that_never_answers_works_off_the_other(db: Database) -> None:
    tenant = await make_tenant(db)
    await fill_to_send(db, tenant, 60, ECF)
    await fill_to_send(db, tenant, 60, FC)
    served, finished = 0, trio.Event()

    async def handle(work: Work) -> Outcome:
        nonlocal served
        if work.host == "ecf":
            await finished.wait()
        else:
            served += 1
            if served == 60:
                finished.set()
        return finish(work)

    async with running(make_stage(handle, Stage.SEND, 16, budget=600), make_tools(db, poll_seconds=600)):
        with trio.fail_after(60):
            await finished.wait()

    assert served == 60
