"""Many requests that want to accept at once: written together, each answered for itself, none delayed for another."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
import trio
import trio.testing

from fe.identifiers import ClientRequestId
from fe.issuing.accept import Acceptance
from fe.lifecycle import Status
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import DatabaseUnavailable, NodeUnavailable, NoNumber
from fe.store.queue.wakeups import Wakeups
from fe.store.records import submissions
from fe.store.records.submissions import Accepted, Leases, NewSubmission
from tests.factories.nodes import SpreadDatabase
from tests.factories.tenants import ACCEPTED_AT, make_tenant, new_submission, row, rows
from tests.store.race import plain
from tests.store.test_accept_many import draws, make_sequence

Batch = Sequence[tuple[NewSubmission, Any]]
_accept, _accept_many = submissions.accept, submissions.accept_many


class Statements:
    """How many rows each statement took in, in their order; and a gate before the first that goes alone."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rows: list[int] = []
        self.gate, self.at_the_gate = trio.Event(), trio.Event()
        monkeypatch.setattr(submissions, "accept", self.accept)
        monkeypatch.setattr(submissions, "accept_many", self.accept_many)

    async def accept(self, conn: Conn, new: NewSubmission, at: Any) -> Accepted:
        self.rows.append(1)
        if len(self.rows) == 1:
            self.at_the_gate.set()
            await self.gate.wait()
        return await _accept(conn, new, at)

    async def accept_many(self, conn: Conn, batch: Batch, leases: Leases | None = None) -> list[Accepted | NoNumber]:
        self.rows.append(len(batch))
        return await _accept_many(conn, batch, leases)


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Statements:
    return Statements(monkeypatch)


@asynccontextmanager
async def accepting(db: Database) -> AsyncIterator[Acceptance]:
    acceptance = Acceptance(db, Wakeups(db))
    async with acceptance.running():
        yield acceptance


async def all_at_once(acceptance: Acceptance, news: Sequence[NewSubmission], statements: Statements) -> list[Any]:
    """Hand them in while the first is under way; their answers, errors included, by their places."""
    answers: list[Any] = [None] * len(news)

    async def accept(place: int) -> None:
        try:
            answers[place] = await acceptance.accept(news[place], ACCEPTED_AT)
        except Exception as error:
            answers[place] = error

    async with trio.open_nursery() as nursery:
        nursery.start_soon(accept, 0)
        await statements.at_the_gate.wait()
        for place in range(1, len(news)):
            nursery.start_soon(accept, place)
        statements.gate.set()
    return answers


async def stored(db: Database) -> int:
    count: int = (await row(db, "SELECT count(*) AS n FROM submissions"))["n"]
    return count


async def test_single_accept_is_written_alone_at_once(db: Database, statements: Statements) -> None:
    tenant = await make_tenant(db)
    statements.gate.set()
    async with accepting(db) as acceptance:
        for _ in range(3):
            await acceptance.accept(new_submission(tenant), ACCEPTED_AT)

    assert statements.rows == [1, 1, 1]


async def test_accepts_during_a_write_form_the_next_batch(db: Database, statements: Statements) -> None:
    tenant = await make_tenant(db)
    news = [new_submission(tenant) for _ in range(64)]
    async with accepting(db) as acceptance:
        answers = await all_at_once(acceptance, news, statements)

    assert [answer.submission_id for answer in answers] == [new.submission_id for new in news]
    assert sum(statements.rows) == 64
    assert len(statements.rows) <= 4  # the first, the one that woke the writer, all the others
    assert await stored(db) == 64


async def test_one_poisoned_row_among_a_hundred_is_refused_alone(db: Database, statements: Statements) -> None:
    tenant = await make_tenant(db)
    await rows(
        db,
        """CREATE FUNCTION poison() RETURNS trigger LANGUAGE plpgsql AS
           'BEGIN IF NEW.buyer_rnc = ''000000000'' THEN RAISE division_by_zero; END IF; RETURN NEW; END'""",
    )
    await rows(db, "CREATE TRIGGER t BEFORE INSERT ON submissions FOR EACH ROW EXECUTE FUNCTION poison()")
    news = [new_submission(tenant, buyer_rnc="000000000" if n == 50 else "131880681") for n in range(100)]
    async with accepting(db) as acceptance:
        answers = await all_at_once(acceptance, news, statements)

    assert isinstance(answers.pop(50), psycopg.errors.DivisionByZero)
    assert [answer.outcome for answer in answers] == ["accepted"] * 99
    assert await stored(db) == 99


async def test_draws_that_come_too_late_are_refused_and_the_others_get_every_number(
    db: Database, statements: Statements
) -> None:
    tenant = await make_tenant(db)
    await make_sequence(db, tenant, maximum=7)
    async with accepting(db) as acceptance:
        answers = await all_at_once(acceptance, [draws(tenant) for _ in range(20)], statements)

    drawn = [answer.e_ncf for answer in answers if isinstance(answer, Accepted)]
    assert sorted(map(str, drawn)) == [f"E31{n:010}" for n in range(1, 8)]
    assert [answer.reason for answer in answers if isinstance(answer, NoNumber)] == ["used up"] * 13


async def test_lock_delays_only_its_own_client(db: Database, dsn: str, statements: Statements) -> None:
    blocked, free = await make_tenant(db), await make_tenant(db)
    await make_sequence(db, blocked)
    answered: list[str | None] = []
    async with accepting(db) as acceptance, trio.open_nursery() as nursery:
        with plain(dsn) as other, other.transaction():
            other.execute("SELECT 1 FROM sequences WHERE tenant_id = %s FOR UPDATE", [blocked])

            async def accept(new: NewSubmission) -> None:
                answered.append((await acceptance.accept(new, ACCEPTED_AT)).e_ncf)

            nursery.start_soon(accept, new_submission(free, e_ncf="E310000000100"))
            await statements.at_the_gate.wait()
            nursery.start_soon(accept, draws(blocked))
            for n in range(101, 111):
                nursery.start_soon(accept, new_submission(free, e_ncf=f"E31{n:010}"))
            statements.gate.set()
            with trio.fail_after(60):
                while len(answered) < 11:  # noqa: ASYNC110  (all but one, while the lock is held)
                    await trio.sleep(0.01)
            assert "E310000000001" not in answered
    assert "E310000000001" in answered


async def test_cancelled_client_does_not_cancel_its_batch(db: Database, statements: Statements) -> None:
    tenant = await make_tenant(db)
    news = [new_submission(tenant) for _ in range(5)]
    answers: list[Accepted] = []
    leaving = trio.CancelScope()

    async def leave(acceptance: Acceptance) -> None:
        with leaving:
            await acceptance.accept(news[1], ACCEPTED_AT)

    async def accept(acceptance: Acceptance, new: NewSubmission) -> None:
        answers.append(await acceptance.accept(new, ACCEPTED_AT))

    begun = trio.Event()

    async def slow_many(conn: Conn, batch: Batch, leases: Leases | None = None) -> list[Accepted | NoNumber]:
        begun.set()
        await trio.testing.wait_all_tasks_blocked()
        return await statements.accept_many(conn, batch, leases)

    submissions.accept_many = slow_many  # the fixture puts it back
    async with accepting(db) as acceptance, trio.open_nursery() as nursery:
        nursery.start_soon(accept, acceptance, news[0])
        await statements.at_the_gate.wait()
        nursery.start_soon(leave, acceptance)
        for new in news[2:]:
            nursery.start_soon(accept, acceptance, new)
        await begun.wait()
        leaving.cancel()
        statements.gate.set()

    assert leaving.cancelled_caught
    assert len(answers) == 4
    assert await stored(db) in (4, 5)  # written with its batch, if that had begun with it


async def test_batch_of_a_broken_connection_reports_an_unknown_result(
    db: Database, dsn: str, statements: Statements
) -> None:
    tenant = await make_tenant(db)
    await rows(
        db,
        """CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
           'BEGIN PERFORM pg_sleep(20); RETURN NEW; END'""",
    )
    await rows(db, "CREATE TRIGGER t BEFORE INSERT ON outbox FOR EACH STATEMENT EXECUTE FUNCTION slow()")

    async def cut() -> None:
        with plain(dsn) as other:
            while True:
                other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'")
                await trio.sleep(0.02)

    statements.gate.set()
    async with accepting(db) as acceptance, trio.open_nursery() as nursery:
        nursery.start_soon(cut)
        answers = await all_at_once(acceptance, [new_submission(tenant) for _ in range(6)], statements)
        nursery.cancel_scope.cancel()

    assert all(isinstance(answer, DatabaseUnavailable) for answer in answers), answers
    assert await stored(db) == 0


async def test_a_large_document_keeps_out_of_batches(db: Database, statements: Statements) -> None:
    tenant = await make_tenant(db)
    news = [new_submission(tenant, original=b"x" * 100_000) for _ in range(5)]
    async with accepting(db) as acceptance:
        await all_at_once(acceptance, news, statements)

    assert statements.rows == [1] * 5


@pytest.mark.parametrize("client_request_id", [None, ClientRequestId("order-1")])
async def test_submission_of_a_lost_answer_is_reported_as_accepted(
    db: Database, client_request_id: ClientRequestId | None
) -> None:
    """It is written again where a node was away under its batch: its client hears of it for the first time."""
    tenant = await make_tenant(db)
    new = new_submission(tenant, client_request_id=client_request_id)
    other = new_submission(tenant, client_request_id=ClientRequestId("order-2"))
    await db.run(submissions.accept, new, ACCEPTED_AT)

    async with accepting(db) as acceptance:
        alone = await acceptance.accept(new, ACCEPTED_AT)
        answers = await acceptance.accept_together([new, other], ACCEPTED_AT)

    for answer in (alone, answers[0]):
        assert isinstance(answer, Accepted)
        assert (answer.outcome, answer.submission_id, answer.status) == ("accepted", new.submission_id, Status.QUEUED)
    assert isinstance(answers[1], Accepted)
    (found,) = await rows(db, "SELECT count(*) FROM submissions WHERE tenant_id = %(tenant)s", tenant=tenant)
    assert found["count"] == 2


async def test_last_number_of_a_lost_answer_belongs_to_its_receipt(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Written again, there is none left; its client would take another number for what is on its way."""
    tenant, other = await make_tenant(db), await make_tenant(db)
    await make_sequence(db, tenant, maximum=1)
    spread = SpreadDatabase(db, {tenant: 1, other: 2})
    news = [draws(tenant), new_submission(other)]

    async def lost_once(conn: Conn, batch: Batch, leases: Leases | None = None) -> list[Accepted | NoNumber]:
        answers = await _accept_many(conn, batch, leases)
        if not spread.has_silent_nodes:
            spread.nodes.groups = frozenset({3})
            raise NodeUnavailable("the answer was lost")
        return answers

    monkeypatch.setattr(submissions, "accept_many", lost_once)
    async with accepting(spread) as acceptance:
        first, second = await acceptance.accept_together(news, ACCEPTED_AT)
        (refused,) = await acceptance.accept_together([draws(tenant)], ACCEPTED_AT)

    assert isinstance(first, Accepted), first
    assert (first.outcome, first.submission_id, first.e_ncf) == ("accepted", news[0].submission_id, "E310000000001")
    assert isinstance(second, Accepted)
    assert isinstance(refused, NoNumber)
    assert len(await rows(db, "SELECT 1 AS n FROM submissions")) == 2
