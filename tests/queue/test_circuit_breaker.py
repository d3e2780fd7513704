"""Circuit breakers on the real database: opened by failures, shared, probed by one, closed little by little."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
import trio

from fe.actors import announced_maintenance
from fe.actors.announced_maintenance import honour_maintenance
from fe.authority.client import MaintenanceWindow
from fe.authority.errors import Unavailable
from fe.ecf.catalogue import Environment, Host
from fe.identifiers import TenantId
from fe.monitoring.metrics import Metrics
from fe.queue.circuit_breaker import FAILURES_TO_OPEN, Circuits
from fe.store.postgres.db import Database
from fe.store.queue import circuits as stored
from fe.store.queue.outbox import OutboxLane
from tests.factories.tenants import make_tenant, rows
from tests.waiting import PATIENCE

#: Every wait of the breakers a hundredth of what it is.
SCALE = 0.01
PRODUCTION = OutboxLane(Environment.ECF, Host.ECF)
SUMMARIES = OutboxLane(Environment.ECF, Host.FC)
TESTS = OutboxLane(Environment.TESTECF, Host.ECF)
WAITING = """
    INSERT INTO outbox (tenant_id, subject, stage, environment, host, entered_at, run_at, attempt)
    VALUES (%(tenant)s, gen_random_uuid(), %(stage)s, %(environment)s, %(host)s, now() + %(entered)s, now() + %(due)s,
            %(attempt)s)
"""


class Prober:
    """Says what the next probes find: None for "it is there"."""

    def __init__(self, *answers: str | None, after: trio.Event | None = None) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str]] = []
        self._after = after

    async def __call__(self, environment: str, host: str) -> str | None:
        self.asked.append((environment, host))
        if self._after is not None:
            await self._after.wait()
        return self.answers.pop(0) if self.answers else None


@asynccontextmanager
async def running(db: Database, prober: Prober, scale: float = SCALE) -> AsyncIterator[Circuits]:
    circuits = Circuits(db, Metrics(), hosts=(Host.ECF, Host.FC), scale=scale)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(circuits.run, prober)
        yield circuits
        nursery.cancel_scope.cancel()


def fail(
    circuits: Circuits, lane: OutboxLane, times: int = FAILURES_TO_OPEN, tenant_id: TenantId | None = None
) -> None:
    for _ in range(times):
        circuits.note(lane.environment, lane.host, "unavailable", tenant_id=tenant_id)


def answer(circuits: Circuits, lane: OutboxLane, times: int = 1, tenant_id: TenantId | None = None) -> None:
    for _ in range(times):
        circuits.note(lane.environment, lane.host, "ok", tenant_id=tenant_id)


async def until_gate(circuits: Circuits, lane: OutboxLane, slots: int, wanted: int) -> None:
    with trio.fail_after(PATIENCE):
        while circuits.gate(lane, slots) != wanted:  # noqa: ASYNC110  (a gate is asked, it does not tell)
            await trio.sleep(0.002)


async def test_failures_in_a_row_open_the_lane_and_no_other(db: Database) -> None:
    async with running(db, Prober(*["down"] * 50)) as circuits:
        fail(circuits, PRODUCTION)
        await until_gate(circuits, PRODUCTION, 16, 0)

        assert circuits.gate(SUMMARIES, 16) == 16
        assert circuits.gate(TESTS, 16) == 16


@pytest.mark.parametrize("outcome", ["ok", "refused", "unauthorised"])
async def test_an_answer_in_between_starts_the_count_anew(outcome: str, db: Database) -> None:
    async with running(db, Prober()) as circuits:
        fail(circuits, PRODUCTION, FAILURES_TO_OPEN - 1)
        circuits.note(PRODUCTION.environment, PRODUCTION.host, outcome)
        fail(circuits, PRODUCTION, FAILURES_TO_OPEN - 1)
        await trio.sleep(0.1)

        assert circuits.gate(PRODUCTION, 16) == 16


async def test_a_call_that_we_cancelled_says_nothing_about_the_host(db: Database) -> None:
    async with running(db, Prober()) as circuits:
        for _ in range(20):
            circuits.note(PRODUCTION.environment, PRODUCTION.host, "cancelled")
        await trio.sleep(0.1)

        assert circuits.gate(PRODUCTION, 16) == 16


async def test_the_status_service_has_no_circuit(db: Database) -> None:
    async with running(db, Prober()) as circuits:
        for _ in range(20):
            circuits.note("", Host.STATUS, "unavailable")
        await trio.sleep(0.1)

        assert await db.run(stored.everything) == []


async def test_what_one_process_opens_is_open_for_all(db: Database) -> None:
    down = Prober(*["down"] * 100)
    async with running(db, down) as here, running(db, down) as there:
        fail(here, PRODUCTION)

        await until_gate(there, PRODUCTION, 16, 0)

        assert (await db.run(stored.everything))[0].is_open
        assert there.gate(SUMMARIES, 16) == 16


async def test_one_process_at_a_time_probes(db: Database) -> None:
    open_for_both = trio.Event()
    prober = Prober("still down", "still down", None, after=open_for_both)
    async with running(db, prober) as here, running(db, prober) as there:
        fail(here, PRODUCTION)
        await until_gate(there, PRODUCTION, 16, 0)
        open_for_both.set()
        await until_gate(there, PRODUCTION, 16, 1)

    assert prober.asked == [(Environment.ECF, Host.ECF)] * 3


async def test_circuit_after_closing_lets_more_through_with_each_four_answers(db: Database) -> None:
    open_here = trio.Event()
    async with running(db, Prober(None, after=open_here)) as circuits:
        answer(circuits, PRODUCTION, 100)  # before the outage: they say nothing of the time after it
        fail(circuits, PRODUCTION)
        await until_gate(circuits, PRODUCTION, 16, 0)
        open_here.set()
        await until_gate(circuits, PRODUCTION, 16, 1)

        seen = []
        for _ in range(17):
            answer(circuits, PRODUCTION, 4)
            seen.append(circuits.gate(PRODUCTION, 16))

        assert seen == [*range(2, 17), 16, 16]
        assert [circuit.is_open for circuit in await db.run(stored.everything)] == [False]


async def test_closing_a_circuit_makes_tried_rows_due_in_the_order_of_signing(db: Database) -> None:
    """The first two were tried before it opened; the last is of another environment, and waits for its own."""
    tenant = await make_tenant(db)
    await db.run(stored.open_circuit, "ecf", "ecf", "a test", timedelta(hours=1))
    made = [
        ("ecf", "ecf", "send", -5, 100, 3),
        ("ecf", "ecf", "reconcile", -4, 50, 1),
        ("ecf", "ecf", "send", 1, 1, 0),
        ("ecf", "fc", "send", -3, 60, 2),
        ("testecf", "ecf", "send", -3, 60, 2),
    ]
    for environment, host, stage, entered, due, attempt in made:
        await rows(
            db,
            WAITING,
            tenant=tenant,
            environment=environment,
            host=host,
            stage=stage,
            entered=timedelta(seconds=entered),
            due=timedelta(seconds=due),
            attempt=attempt,
        )

    await db.run(stored.close_circuit, "ecf", "ecf")

    found = await rows(db, "SELECT environment, host, stage, run_at = entered_at AS is_due FROM outbox ORDER BY run_at")
    assert [tuple(one.values()) for one in found] == [
        ("ecf", "ecf", "send", True),
        ("ecf", "ecf", "reconcile", True),
        ("ecf", "ecf", "send", True),
        ("ecf", "fc", "send", False),
        ("testecf", "ecf", "send", False),
    ]


async def test_process_that_begins_after_an_outage_lets_through_one_row_until_it_is_answered(db: Database) -> None:
    """However long ago the circuit closed: this process has no answer of that host yet."""
    await db.run(stored.open_circuit, "ecf", "ecf", "a test", timedelta(hours=1))
    await db.run(stored.close_circuit, "ecf", "ecf")
    await rows(db, "UPDATE circuits SET since = since - interval '1 hour'")
    async with running(db, Prober()) as circuits:
        await until_gate(circuits, PRODUCTION, 16, 1)
        await trio.sleep(0.1)
        assert circuits.gate(PRODUCTION, 16) == 1

        answer(circuits, PRODUCTION, 60)

        assert circuits.gate(PRODUCTION, 16) == 16


# --- A tenant that fails by itself ------------------------------------------------------------------------------------


async def test_circuit_with_six_of_twenty_tenants_failing_stays_closed(db: Database) -> None:
    everybody = [TenantId(n) for n in range(1, 21)]
    async with running(db, Prober(), scale=1) as circuits:
        for _ in range(10):
            for tenant_id in everybody[6:]:
                answer(circuits, PRODUCTION, 1, tenant_id)
            for tenant_id in everybody[:4]:  # one after the other, with nothing in between
                fail(circuits, PRODUCTION, 1, tenant_id)
            for tenant_id in everybody[6:]:
                answer(circuits, PRODUCTION, 1, tenant_id)
            for tenant_id in everybody[4:6] * 3:
                fail(circuits, PRODUCTION, 1, tenant_id)
        fail(circuits, PRODUCTION, 50, everybody[0])
        await trio.sleep(1.5)

        assert circuits.gate(PRODUCTION, 16) == 16
        assert await db.run(stored.everything) == []


async def test_circuit_opens_when_all_tenants_fail_also_those_that_failed_alone_before(db: Database) -> None:
    one, other = TenantId(1), TenantId(2)
    async with running(db, Prober(*["down"] * 50), scale=1) as circuits:
        fail(circuits, PRODUCTION, 1, one)
        answer(circuits, PRODUCTION, 1, other)
        fail(circuits, PRODUCTION, 20, one)
        assert circuits.gate(PRODUCTION, 16) == 16

        fail(circuits, PRODUCTION, 1, other)
        fail(circuits, PRODUCTION, FAILURES_TO_OPEN - 1, one)

        await until_gate(circuits, PRODUCTION, 16, 0)


async def test_circuit_opens_when_nearly_every_tenant_fails_and_few_are_answered(db: Database) -> None:
    """A host of which one part in twenty still works: others are answered now and then, and fail the next time."""
    everybody = [TenantId(n) for n in range(1, 21)]
    async with running(db, Prober(*["down"] * 50), scale=1) as circuits:
        for tenant_id in everybody:
            fail(circuits, PRODUCTION, 1, tenant_id)
            answer(circuits, PRODUCTION, 1, TenantId(1))
        fail(circuits, PRODUCTION, FAILURES_TO_OPEN, TenantId(5))

        await until_gate(circuits, PRODUCTION, 16, 0)


async def test_answers_of_long_ago_do_not_excuse_a_failing_host(db: Database) -> None:
    one, other = TenantId(1), TenantId(2)
    async with running(db, Prober(*["down"] * 50)) as circuits:  # an answer is recent for 0.3 seconds
        fail(circuits, PRODUCTION, 1, one)
        answer(circuits, PRODUCTION, 1, other)
        await trio.sleep(0.5)

        fail(circuits, PRODUCTION, FAILURES_TO_OPEN, one)

        await until_gate(circuits, PRODUCTION, 16, 0)


async def test_circuit_just_closed_is_not_opened_again_by_a_tenant_that_fails_alone(db: Database) -> None:
    one, other = TenantId(1), TenantId(2)
    await db.run(stored.open_circuit, "ecf", "ecf", "a test", timedelta(hours=1))
    await db.run(stored.close_circuit, "ecf", "ecf")
    async with running(db, Prober(), scale=100) as circuits:
        fail(circuits, PRODUCTION, 1, one)
        answer(circuits, PRODUCTION, 1, other)
        await until_gate(circuits, PRODUCTION, 16, 1)

        fail(circuits, PRODUCTION, 10, one)
        await trio.sleep(0.1)

        assert circuits.gate(PRODUCTION, 16) == 1


async def test_just_after_closing_one_failure_is_enough(db: Database) -> None:
    await db.run(stored.open_circuit, "ecf", "ecf", "a test", timedelta(hours=1))
    await db.run(stored.close_circuit, "ecf", "ecf")
    async with running(db, Prober(), scale=100) as circuits:  # "just" is a quarter of an hour
        await until_gate(circuits, PRODUCTION, 16, 1)

        fail(circuits, PRODUCTION, 1)

        await until_gate(circuits, PRODUCTION, 16, 0)


async def test_just_after_closing_a_service_that_has_answered_is_there(db: Database) -> None:
    """Occasional failures may be due to one tenant's documents: they do not stop the others."""
    await db.run(stored.open_circuit, "ecf", "ecf", "a test", timedelta(hours=1))
    await db.run(stored.close_circuit, "ecf", "ecf")
    async with running(db, Prober(), scale=100) as circuits:
        await until_gate(circuits, PRODUCTION, 16, 1)
        for _ in range(FAILURES_TO_OPEN):
            circuits.note(PRODUCTION.environment, PRODUCTION.host, "ok", service="reception")
            circuits.note(PRODUCTION.environment, PRODUCTION.host, "unknown", service="reception")
        await trio.sleep(0.1)
        assert circuits.gate(PRODUCTION, 16) == 2

        circuits.note(PRODUCTION.environment, PRODUCTION.host, "ok", service="seed")
        circuits.note(PRODUCTION.environment, PRODUCTION.host, "unavailable", service="result")

        await until_gate(circuits, PRODUCTION, 16, 0)


async def test_what_fails_while_it_is_open_does_not_open_it_again(db: Database) -> None:
    """Exchanges that were under way when the host went away end one after the other, in every process."""
    host_is_back = trio.Event()
    prober = Prober(None, after=host_is_back)
    async with running(db, prober) as here, running(db, prober) as there:
        fail(here, PRODUCTION)
        await until_gate(here, PRODUCTION, 16, 0)
        await until_gate(there, PRODUCTION, 16, 0)
        fail(there, PRODUCTION)
        host_is_back.set()
        await until_gate(here, PRODUCTION, 16, 1)
        await until_gate(there, PRODUCTION, 16, 1)
        await trio.sleep(0.1)

    assert prober.asked == [(Environment.ECF, Host.ECF)]


async def test_what_began_before_it_closed_says_nothing_of_the_host_that_is_back(db: Database) -> None:
    await db.run(stored.open_circuit, "ecf", "ecf", "a test", timedelta(hours=1))
    await db.run(stored.close_circuit, "ecf", "ecf")
    async with running(db, Prober(), scale=100) as circuits:
        await until_gate(circuits, PRODUCTION, 16, 1)

        circuits.note(PRODUCTION.environment, PRODUCTION.host, "unknown", seconds=20.0)
        await trio.sleep(0.1)

        assert circuits.gate(PRODUCTION, 16) == 1


async def test_a_probe_whose_process_died_is_made_by_another(db: Database) -> None:
    await db.run(stored.open_circuit, "ecf", "ecf", "a test", timedelta(0))
    assert await db.run(stored.claim_probe, "ecf", "ecf", timedelta(hours=1))
    assert not await db.run(stored.claim_probe, "ecf", "ecf", timedelta(hours=1))

    await rows(db, "UPDATE circuits SET probe_at = probe_at - interval '1 hour'")

    assert await db.run(stored.claim_probe, "ecf", "ecf", timedelta(hours=1))


class Announcing:
    """An authority that announces maintenance, and may be away itself when it is asked."""

    def __init__(self, *windows: MaintenanceWindow, away: bool = False) -> None:
        self.windows = list(windows)
        self.away = away
        self.asked = 0
        self.asked_again = trio.Event()

    async def maintenance_windows(self, api_key: str) -> list[MaintenanceWindow]:
        assert api_key == "the-key"
        self.asked += 1
        if self.asked == 2:
            self.asked_again.set()
        if self.away:
            raise Unavailable("not there")
        return self.windows


NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def asked_at_every_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announced_maintenance, "_ASK_SECONDS", 0.0)
    monkeypatch.setattr(announced_maintenance, "_LOOK_SECONDS", 0.01)


async def open_ones(db: Database, authority: Announcing, now: datetime = NOW) -> set[tuple[str, str]]:
    """Those that are open when maintenance was looked after once."""
    async with trio.open_nursery() as nursery:
        # The one method used is there.
        nursery.start_soon(honour_maintenance, db, authority, "the-key", lambda: now)  # type: ignore[arg-type]
        with trio.fail_after(PATIENCE):
            await authority.asked_again.wait()
        nursery.cancel_scope.cancel()
    return {(row.environment, row.host) for row in await db.run(stored.everything) if row.is_open}


async def test_announced_maintenance_opens_the_circuits_of_its_environment_until_it_ends(db: Database) -> None:
    window = MaintenanceWindow(Environment.TESTECF, NOW - timedelta(minutes=1), NOW + timedelta(hours=3))

    assert await open_ones(db, Announcing(window)) == {("testecf", "ecf"), ("testecf", "fc")}
    assert not any(row.probe_due for row in await db.run(stored.everything))


async def test_maintenance_of_an_unknown_environment_is_taken_to_be_everywhere(db: Database) -> None:
    assert len(await open_ones(db, Announcing(MaintenanceWindow(None, NOW, NOW + timedelta(hours=1))))) == 6


@pytest.mark.parametrize("minutes", [-120, 5])
async def test_a_window_that_is_over_or_not_yet_begun_changes_nothing(minutes: int, db: Database) -> None:
    starts = NOW + timedelta(minutes=minutes)

    assert (
        await open_ones(db, Announcing(MaintenanceWindow(Environment.ECF, starts, starts + timedelta(hours=1))))
        == set()
    )


async def test_doors_are_closed_a_little_before_the_window_begins(db: Database) -> None:
    starts = NOW + timedelta(seconds=20)

    assert await open_ones(db, Announcing(MaintenanceWindow(Environment.ECF, starts, starts + timedelta(hours=1))))


async def test_an_authority_that_cannot_be_asked_about_maintenance_stops_nothing(db: Database) -> None:
    assert await open_ones(db, Announcing(away=True)) == set()
