"""Direct intake: accepted submissions go to a signer of the same process, claimed in the accepting commit."""

import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
import trio
import trio.lowlevel
import trio.testing

from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.identifiers import ActionId, ClientRequestId, TenantId
from fe.issuing.accept import Acceptance, first_claim
from fe.lifecycle import Stage
from fe.queue.direct_intake import DirectIntake
from fe.queue.executor import run_stage
from fe.queue.outcome import Outcome
from fe.queue.result_writer import ResultWriter
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import Contended, DatabaseUnavailable
from fe.store.queue import pauses
from fe.store.queue.audit import OperatorAction
from fe.store.queue.inputs import AcceptedInput
from fe.store.queue.outbox import Work
from fe.store.queue.wakeups import Wakeups
from fe.store.records import submissions
from fe.store.records.submissions import Accepted, Leases, NewSubmission
from tests.factories.tenants import ACCEPTED_AT, LEASE, make_tenant, new_submission, row, rows, take, waiting
from tests.queue.stage import done, make_stage, make_tools
from tests.store.test_accept_many import draws, make_sequence

AT = datetime(2026, 11, 6, 15, 0, 0, tzinfo=UTC)
ACT = OperatorAction(ActionId(UUID(int=1)), AT, "eva", "a wrong certificate")


class Bell(Wakeups):
    """Says whom it woke."""

    def __init__(self, db: Database) -> None:
        super().__init__(db)
        self.rung: list[str] = []

    def notify(self, *stages: str) -> None:
        self.rung += stages
        super().notify(*stages)


class House:
    """A process that takes documents in and signs them: its signer does what the test says."""

    def __init__(self, front: Database, worker: Database, **more: Any) -> None:
        self.front = front
        self.signed: list[Work] = []
        self.may_end = trio.Event()
        self.may_end.set()
        self.bell = Bell(worker)
        self.tools = make_tools(worker, wakeups=self.bell, **{"holder": "this house", **more})
        self.stage = make_stage(self._sign, held=2)
        self.bookings = ResultWriter(self.stage.kind, worker, system_clock)
        self.intake: DirectIntake[Work] = DirectIntake()
        self.acceptance = Acceptance(front, self.bell, self.intake)
        self.stopping = trio.Event()

    async def _sign(self, work: Work) -> Outcome:
        self.signed.append(work)
        await self.may_end.wait()
        return await done(work)

    @asynccontextmanager
    async def runs(self) -> AsyncIterator[None]:
        """Open while the block runs; at its end it is stopped, and finishes what it has in hand."""
        opened = self.intake.open(self.bookings, Stage.SIGN, holder="this house", lease=LEASE)
        with trio.fail_after(60):
            async with self.acceptance.running(), self.bookings.running(), opened, trio.open_nursery() as nursery:
                nursery.start_soon(run_stage, self.stage, self.tools, self.stopping, self.bookings)
                while not self.intake.is_open:
                    await trio.lowlevel.checkpoint()
                yield
                self.stopping.set()

    async def accept(self, new: NewSubmission) -> Accepted:
        return await self.acceptance.accept(new, ACCEPTED_AT)

    async def until(self, so: Callable[[], bool]) -> None:
        while not so():  # noqa: ASYNC110  (a list rings no bell)
            await trio.sleep(0.005)


@pytest.fixture
def house(front_db: Database, worker_db: Database) -> House:
    return House(front_db, worker_db)


async def left(db: Database) -> list[tuple[int, int, str | None]]:
    found = await rows(db, "SELECT attempt, epoch, holder FROM outbox ORDER BY epoch DESC, attempt DESC")
    return [(each["attempt"], each["epoch"], each["holder"]) for each in found]


async def test_accepted_submission_is_signed_without_a_claim_or_wakeup(db: Database, house: House) -> None:
    tenant = await make_tenant(db)
    house.may_end = trio.Event()
    new = new_submission(tenant)
    async with house.runs():
        accepted = await house.accept(new)
        await house.until(lambda: bool(house.signed))
        held = await waiting(db, new.submission_id)
        house.may_end.set()

    assert accepted.leased
    (work,) = house.signed
    assert (work.attempt, work.epoch, work.input) == (1, 1, first_claim(new).input)
    # Its row says what a first claim would have said.
    assert (held["attempt"], held["epoch"], held["holder"], held["deaths"]) == (1, 1, "this house", 0)
    assert 50 < held["due_in"] <= 60
    assert house.bell.rung == []
    assert await left(db) == []  # what it came to was booked under that claim


async def test_a_number_that_was_drawn_is_known_to_the_signer(db: Database, house: House) -> None:
    tenant = await make_tenant(db)
    await make_sequence(db, tenant)
    async with house.runs():
        accepted = await house.accept(draws(tenant))
        await house.until(lambda: bool(house.signed))

    given = house.signed[0].input
    assert isinstance(given, AcceptedInput)
    assert given.e_ncf == accepted.e_ncf == "E310000000001"


async def test_rows_taken_in_while_the_gate_is_closed_wait_for_another_process(
    db: Database, front_db: Database, worker_db: Database
) -> None:
    """A process whose clock is wrong lets no row of `sign` through (fe/actors/run.py)."""
    house = House(front_db, worker_db, gate=lambda _lane, _slots: 0)
    async with house.runs():
        accepted = await house.accept(new_submission(await make_tenant(db)))

    assert not accepted.leased
    assert house.signed == []
    assert await left(db) == [(0, 0, None)]


async def test_a_repeat_and_a_refused_draw_leave_their_places(db: Database, house: House) -> None:
    tenant = await make_tenant(db)
    twice = [new_submission(tenant, client_request_id=ClientRequestId("same")) for _ in range(2)]
    async with house.runs():
        answers = [await house.accept(new) for new in twice]
        (refused,) = await house.acceptance.accept_together([draws(tenant)], ACCEPTED_AT)
        await house.until(lambda: bool(house.signed))

    assert [answer.leased for answer in answers] == [True, False]
    assert isinstance(refused, Exception)
    assert [work.subject for work in house.signed] == [twice[0].submission_id]


async def test_submissions_beyond_the_slots_are_held_and_beyond_that_become_due(db: Database, house: House) -> None:
    """Four slots, of which one tenant may have three; and two are held."""
    tenant = await make_tenant(db)
    house.may_end = trio.Event()
    news = [new_submission(tenant, e_ncf=f"E31{n:010}") for n in range(1, 9)]
    async with house.runs():
        answers = await house.acceptance.accept_together(news, ACCEPTED_AT)
        await house.until(lambda: len(house.signed) == 3)
        begun = [work.subject for work in house.signed]
        assert await left(db) == [(1, 1, "this house")] * 5 + [(0, 0, None)] * 3
        house.may_end.set()
        await house.until(lambda: len(house.signed) == 8)

    assert [answer.leased for answer in answers if isinstance(answer, Accepted)] == [True] * 5 + [False] * 3
    assert begun == [new.submission_id for new in news[:3]]
    assert {work.subject for work in house.signed} == {new.submission_id for new in news}
    assert [work.subject for work in house.signed][3:5] == [new.submission_id for new in news[3:5]], "those held first"
    assert house.bell.rung == [Stage.SIGN]


async def test_one_tenant_s_documents_keep_no_place_from_another(db: Database, house: House) -> None:
    many, other = await make_tenant(db), await make_tenant(db)
    house.may_end = trio.Event()
    async with house.runs():
        await house.acceptance.accept_together(
            [new_submission(many, e_ncf=f"E31{n:010}") for n in range(1, 5)], ACCEPTED_AT
        )
        accepted = await house.accept(new_submission(other))
        await house.until(lambda: len(house.signed) == 4)
        house.may_end.set()

    assert accepted.leased
    assert [work.tenant_id for work in house.signed[:4]].count(other) == 1


@pytest.mark.parametrize("environment", [None, Environment.ECF])
@pytest.mark.parametrize("everybody", [False, True])
async def test_paused_submission_waits_until_resumed(
    db: Database, house: House, environment: Environment | None, everybody: bool
) -> None:
    paused, free = await make_tenant(db), await make_tenant(db)
    await db.transact(pauses.pause, ACT, None if everybody else paused, environment)
    async with house.runs():
        answers = await house.acceptance.accept_together([new_submission(paused), new_submission(free)], ACCEPTED_AT)

    assert [answer.leased for answer in answers if isinstance(answer, Accepted)] == [False, not everybody]
    assert [work.tenant_id for work in house.signed] == ([] if everybody else [free])


async def test_accepted_submission_does_not_overtake_waiting_rows(db: Database, house: House) -> None:
    """More was due than there were slots for when that was last looked at."""
    tenant, other = await make_tenant(db), await make_tenant(db)
    waiting_ones = [new_submission(tenant, e_ncf=f"E31{n:010}") for n in range(1, 7)]
    await db.run(submissions.accept_many, [(new, ACCEPTED_AT) for new in waiting_ones])
    house.may_end = trio.Event()
    async with house.runs():
        await house.until(lambda: len(house.signed) == 3)
        await trio.testing.wait_all_tasks_blocked()
        accepted = await house.accept(new_submission(other))
        house.may_end.set()
        await house.until(lambda: len(house.signed) == 7)

    assert not accepted.leased


async def test_a_lane_that_is_shut_and_a_stage_that_does_not_run_get_nothing(
    db: Database, front_db: Database, worker_db: Database
) -> None:
    tenant = await make_tenant(db)
    shut = House(front_db, worker_db, gate=lambda _, __: 0)
    shut.stage = replace(shut.stage, held=0)
    async with shut.runs():
        assert not (await shut.accept(new_submission(tenant))).leased
    ended = House(front_db, worker_db)
    async with ended.acceptance.running():
        assert not (await ended.accept(new_submission(tenant, e_ncf="E310000000002"))).leased
    assert await left(db) == [(0, 0, None)] * 2


async def test_stopped_signer_releases_its_rows_and_takes_no_more(db: Database, house: House) -> None:
    tenant = await make_tenant(db)
    house.may_end = trio.Event()
    news = [new_submission(tenant, e_ncf=f"E31{n:010}") for n in range(1, 6)]
    async with house.runs():
        await house.acceptance.accept_together(news, ACCEPTED_AT)
        await house.until(lambda: len(house.signed) == 3)
        house.stopping.set()
        while (0, 1, None) not in (await left(db))[-1:]:  # noqa: ASYNC110  (a table rings no bell)
            await trio.sleep(0.005)
        late = await house.accept(new_submission(tenant, e_ncf="E310000000009"))
        house.may_end.set()

    assert not late.leased
    assert len(house.signed) == 3
    assert await left(db) == [(0, 1, None)] * 2 + [(0, 0, None)]


class _Cut:
    """The link breaks: before the statement took effect, or after it."""

    def __init__(self, error: Exception, *, after: bool) -> None:
        self._error = error
        self._after = after
        self._accept_many = submissions.accept_many

    async def accept_many(self, conn: Conn, batch: Any, leases: Leases | None = None) -> Any:
        if self._after:
            await self._accept_many(conn, batch, leases)
        raise self._error


@pytest.mark.parametrize("after", [False, True])
async def test_submission_of_uncertain_commit_is_not_signed(
    db: Database, house: House, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    tenant = await make_tenant(db)
    new = new_submission(tenant, client_request_id=ClientRequestId("mine"))
    async with house.runs():
        with monkeypatch.context() as patched:
            patched.setattr(submissions, "accept_many", _Cut(DatabaseUnavailable("cut"), after=after).accept_many)
            with pytest.raises(DatabaseUnavailable):
                await house.accept(new)
        await trio.testing.wait_all_tasks_blocked()
        assert house.signed == []
        again = await house.accept(replace(new, submission_id=new_submission(tenant).submission_id))
        if not after:
            await house.until(lambda: bool(house.signed))

    assert again.outcome == ("deduped" if after else "accepted")
    # It was there: its lease decides, and the next claim is the second.
    assert await left(db) == ([(1, 1, "this house")] if after else [])
    if after:
        assert (await take(db, new.submission_id)).epoch == 2


async def test_a_batch_that_falls_apart_is_taken_in_one_by_one_and_claimed(
    db: Database, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = await make_tenant(db)
    async with house.runs():
        with monkeypatch.context() as patched:
            patched.setattr(submissions, "accept_many", _Cut(Contended("a deadlock"), after=False).accept_many)
            accepted = await house.accept(new_submission(tenant))
        await house.until(lambda: bool(house.signed))

    assert not accepted.leased
    assert [(work.epoch, work.attempt) for work in house.signed] == [(1, 1)]
    assert not isinstance(house.signed[0].input, AcceptedInput)
    assert house.bell.rung == [Stage.SIGN]


async def test_a_client_that_leaves_while_its_document_is_taken_in_leaves_no_place_behind(
    db: Database, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = await make_tenant(db)
    begun = trio.Event()

    async def never(conn: Conn, batch: Any, leases: Leases | None = None) -> Any:
        begun.set()
        await trio.sleep_forever()

    async with house.runs():
        with monkeypatch.context() as patched:
            patched.setattr(submissions, "accept_many", never)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(house.accept, new_submission(tenant))
                await begun.wait()
                assert house.bookings.next_stages[Stage.SIGN].under_way() == 1
                nursery.cancel_scope.cancel()
        assert house.bookings.next_stages[Stage.SIGN].under_way() == 0


async def test_a_process_that_is_killed_after_the_accept_leaves_a_lease_that_its_silence_ends(db: Database) -> None:
    tenant = await make_tenant(db)
    new = new_submission(tenant)
    leases = Leases("a process that is no more", [LEASE])
    (accepted,) = await db.run(submissions.accept_many, [(new, ACCEPTED_AT)], leases)
    assert isinstance(accepted, Accepted)
    assert accepted.leased

    again = await take(db, new.submission_id)

    assert (again.epoch, again.attempt, again.crash_count) == (2, 2, 1)


async def test_the_release_before_takes_in_as_it_did(db: Database) -> None:
    """It knows seventeen parameters, and asks for eight columns."""
    tenant = await make_tenant(db)
    new = new_submission(tenant)
    found = await row(
        db,
        """SELECT outcome, submission_id, status, e_ncf, body_matched, numbers_skipped, numbers_left, refusal
             FROM accept_submissions(
               ARRAY[%(t)s]::bigint[], ARRAY[%(s)s]::uuid[], ARRAY[now()], ARRAY['ecf'], ARRAY['fak_000000000001'],
               ARRAY[NULL]::text[], ARRAY[%(d)s]::bytea[], ARRAY['structured'], ARRAY['ECF'], ARRAY['31'],
               ARRAY['E310000000001'], ARRAY['131880738'], ARRAY[NULL]::text[], ARRAY[NULL]::text[],
               ARRAY[NULL]::uuid[], ARRAY[%(o)s]::bytea[], ARRAY[NULL]::text[])""",
        t=tenant,
        s=new.submission_id,
        d=hashlib.sha256(b"body").digest(),
        o=b"{}",
    )

    assert (found["outcome"], found["submission_id"]) == ("accepted", new.submission_id)
    assert await left(db) == [(0, 0, None)]


def test_claim_at_acceptance_does_not_wait() -> None:
    claim = first_claim(new_submission(TenantId(1)))

    assert (claim.stage, claim.attempt, claim.epoch, claim.waited) == (Stage.SIGN, 1, 1, timedelta(0))
