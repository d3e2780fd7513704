"""A batch whose transactions fail: one row never fails another, and a repeat issues nothing twice.

The faults are Postgres' own: a constraint that one row breaks, a backend that is terminated, a process that is killed.
Wrappers around the statements only choose the moment.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import psycopg
import pytest
import trio

from fe.ecf.ids import new_id
from fe.identifiers import ClientRequestId, SubmissionId, TenantId
from fe.issuing.accept import Acceptance
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import NoNumber
from fe.store.queue.wakeups import Wakeups
from fe.store.records import submissions
from fe.store.records.submissions import Accepted, Leases, NewSubmission
from tests.factories.tenants import ACCEPTED_AT, make_tenant, new_submission, rows
from tests.issuing.test_acceptance import Batch
from tests.store.race import plain
from tests.store.test_accept_many import draws, make_sequence
from tests.waiting import PATIENCE

_accept, _accept_many = submissions.accept, submissions.accept_many

#: Of these a transaction holds a hundred.
MANY = 250
#: Constraint that one row breaks.
CONSTRAINT = "ALTER TABLE submissions ADD CONSTRAINT no_zeros CHECK (buyer_rnc <> '000000000')"


def orders(tenant: TenantId, count: int = MANY, *, broken: Sequence[int] = ()) -> list[NewSubmission]:
    """Receipts as a client sends them with its order numbers; at some places one that breaks the constraint."""
    return [
        new_submission(
            tenant,
            client_request_id=ClientRequestId(f"order-{place}"),
            e_ncf=f"E31{place + 1:010}",
            buyer_rnc="000000000" if place in broken else "131880681",
        )
        for place in range(count)
    ]


def again(news: Sequence[NewSubmission]) -> list[NewSubmission]:
    """The request again: new ids of ours, the client's own as they were."""
    return [replace(new, submission_id=SubmissionId(new_id(ACCEPTED_AT))) for new in news]


async def hand_in(db: Database, news: Sequence[NewSubmission]) -> list[Accepted | Exception]:
    acceptance = Acceptance(db, Wakeups(db))
    async with acceptance.running():
        return await acceptance.accept_together(news, ACCEPTED_AT)


def outcomes(answers: Sequence[Accepted | Exception]) -> list[str]:
    return [answer.outcome if isinstance(answer, Accepted) else type(answer).__name__ for answer in answers]


async def each_order_is_there_once(db: Database, tenant: TenantId, count: int) -> None:
    """As many submissions as orders, each with its document, its first event and its one piece of due work."""
    (kept,) = await rows(
        db,
        """SELECT count(*) AS submissions, count(DISTINCT s.client_request_id) AS orders,
                  count(DISTINCT s.e_ncf) AS numbers,
                  (SELECT count(*) FROM submission_documents WHERE tenant_id = %(tenant)s) AS documents,
                  (SELECT count(*) FROM submission_events WHERE tenant_id = %(tenant)s) AS events,
                  (SELECT count(*) FROM outbox WHERE tenant_id = %(tenant)s) AS works
             FROM submissions AS s WHERE s.tenant_id = %(tenant)s""",
        tenant=tenant,
    )
    assert set(kept.values()) == {count}, kept


@pytest.mark.parametrize("broken", [[0], [99], [100, 199], [30, 31, 249]], ids=str)
async def test_a_row_that_breaks_a_constraint_fails_alone(db: Database, broken: list[int]) -> None:
    tenant = await make_tenant(db)
    await rows(db, CONSTRAINT)
    news = orders(tenant, broken=broken)

    first = await hand_in(db, news)
    repeated = await hand_in(db, again(news))
    await rows(db, "ALTER TABLE submissions DROP CONSTRAINT no_zeros")
    mended = await hand_in(db, again(news))

    assert [place for place, one in enumerate(outcomes(first)) if one == "CheckViolation"] == broken
    assert outcomes(first).count("accepted") == MANY - len(broken)
    assert [place for place, one in enumerate(outcomes(repeated)) if one == "CheckViolation"] == broken
    assert outcomes(repeated).count("deduped") == MANY - len(broken)
    assert [place for place, one in enumerate(outcomes(mended)) if one == "accepted"] == broken
    assert all(
        one.submission_id == before.submission_id
        for one, before in zip(mended, first, strict=True)
        if isinstance(one, Accepted) and isinstance(before, Accepted)
    )
    await each_order_is_there_once(db, tenant, MANY)


async def test_numbers_that_are_drawn_by_a_chunk_that_falls_apart_leave_no_gap(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_sequence(db, tenant, maximum=7)
    await rows(db, CONSTRAINT)
    news = [draws(tenant, buyer_rnc="000000000" if place == 3 else "131880681") for place in range(10)]

    answers = await hand_in(db, news)

    drawn = [answer.e_ncf for answer in answers if isinstance(answer, Accepted)]
    assert drawn == [f"E31{number:010}" for number in range(1, 8)]
    assert isinstance(answers[3], psycopg.errors.CheckViolation)
    assert [type(answer) for answer in answers[8:]] == [NoNumber, NoNumber]


class Cut:
    """Has a backend terminated while it works on a batch: at its n-th statement, before it or after."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, dsn: str, at: int, *, after: bool, alone: bool = False) -> None:
        self._dsn, self._at, self._after = dsn, at, after
        self.statements = 0
        monkeypatch.setattr(submissions, "accept" if alone else "accept_many", self._one if alone else self._many)

    async def _many(self, conn: Conn, batch: Batch, leases: Leases | None = None) -> list[Accepted | NoNumber]:
        self._before(conn)
        answers = await _accept_many(conn, batch, leases)
        self._behind(conn)
        return answers

    async def _one(self, conn: Conn, new: NewSubmission, at: Any) -> Accepted:
        self._before(conn)
        answer = await _accept(conn, new, at)
        self._behind(conn)
        return answer

    def _before(self, conn: Conn) -> None:
        self.statements += 1
        if self.statements == self._at and not self._after:
            self._terminate(conn)

    def _behind(self, conn: Conn) -> None:
        if self.statements == self._at and self._after:
            self._terminate(conn)

    def _terminate(self, conn: Conn) -> None:
        with plain(self._dsn) as other:
            other.execute("SELECT pg_terminate_backend(%s::int, 60000)", [conn.info.backend_pid])


async def test_connection_lost_between_chunks_is_replaced_unnoticed(
    db: Database, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = await make_tenant(db)
    cut = Cut(monkeypatch, dsn, 1, after=True)  # a statement is a transaction: the chunk is committed

    assert outcomes(await hand_in(db, orders(tenant))) == ["accepted"] * MANY
    assert cut.statements == 3
    await each_order_is_there_once(db, tenant, MANY)


@pytest.mark.parametrize("at", [1, 2, 3])
async def test_a_connection_that_dies_under_a_chunk_leaves_those_before_it_and_a_repeat_brings_the_rest(
    db: Database, dsn: str, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    tenant = await make_tenant(db)
    news = orders(tenant)
    cut = Cut(monkeypatch, dsn, at, after=False)

    told = outcomes(await hand_in(db, news))

    done = 100 * (at - 1)
    assert told == ["accepted"] * done + ["DatabaseUnavailable"] * (MANY - done)
    assert cut.statements == at  # once the database is away it is not asked again for the rest
    await each_order_is_there_once(db, tenant, done)

    assert outcomes(await hand_in(db, again(news))) == ["deduped"] * done + ["accepted"] * (MANY - done)
    await each_order_is_there_once(db, tenant, MANY)


async def test_a_connection_that_dies_while_rows_go_alone_ends_the_batch_there(
    db: Database, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tenant = await make_tenant(db)
    await rows(db, CONSTRAINT)
    news = orders(tenant, 150, broken=[5])
    cut = Cut(monkeypatch, dsn, 20, after=False, alone=True)

    told = outcomes(await hand_in(db, news))

    assert told == ["accepted"] * 5 + ["CheckViolation"] + ["accepted"] * 13 + ["DatabaseUnavailable"] * 131
    assert cut.statements == 20
    repeated = outcomes(await hand_in(db, again(news)))
    assert repeated == ["deduped"] * 5 + ["CheckViolation"] + ["deduped"] * 13 + ["accepted"] * 131
    await each_order_is_there_once(db, tenant, 149)


#: Hands a batch in, in a process of its own: killed where it is told to be.
HANDS_IN = """
import sys, trio
from fe.process import failpoints
from fe.identifiers import TenantId
from fe.store.postgres.db import open_database
from tests.issuing.test_batches_that_fall_apart import hand_in, orders
async def main():
    async with open_database(sys.argv[1], max_size=2) as db:
        await hand_in(db, orders(TenantId(int(sys.argv[2]))))
failpoints.arm(sys.argv[3])
trio.run(main)
"""


@pytest.mark.parametrize(
    ("failpoint", "done"), [("accepting:1", 0), ("accepted:1", 100), ("accepting:3", 200), ("accepted:3", MANY)]
)
async def test_killed_in_the_middle_of_a_batch_its_repeat_issues_nothing_twice(
    db: Database, dsn: str, failpoint: str, done: int
) -> None:
    tenant = await make_tenant(db)
    command = [sys.executable, "-c", HANDS_IN, dsn, str(tenant), failpoint]
    process = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": "."})  # noqa: ASYNC220  (a fork)
    try:
        with trio.fail_after(PATIENCE):
            assert await trio.to_thread.run_sync(process.wait, abandon_on_cancel=True) == -9
    finally:
        process.kill()
        process.wait()

    await each_order_is_there_once(db, tenant, done)
    told = outcomes(await hand_in(db, orders(tenant)))
    assert told == ["deduped"] * done + ["accepted"] * (MANY - done)
    await each_order_is_there_once(db, tenant, MANY)
