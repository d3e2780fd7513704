"""Taking a submission in: all of it or nothing, once per clientRequestId, numbers without gap or duplicate."""

import hashlib
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.identifiers import SequenceId, TenantId
from fe.lifecycle import Status
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import NoNumber
from fe.store.records import sequences, submissions
from fe.store.records.submissions import Accepted, NewSubmission
from tests.factories.tenants import ACCEPTED_AT, make_tenant, new_submission, row, rows, story, submission, waiting
from tests.store.race import race

_accept = submissions.accept


async def _accept_among_many(conn: Conn, new: NewSubmission, at: datetime) -> Accepted:
    (answer,) = await submissions.accept_many(conn, [(new, at)])
    if isinstance(answer, NoNumber):
        raise answer
    return answer


async def _accept_in_whatever_way(conn: Conn, new: NewSubmission, at: datetime) -> Accepted:
    """Where a batch would fall apart, its row is taken in alone."""
    try:
        return await _accept_among_many(conn, new, at)
    except psycopg.Error as error:
        if error.sqlstate not in ("FE010", "55P03"):
            raise
        return await _accept(conn, new, at)


@pytest.fixture(autouse=True, params=["alone", "among many"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is true of a row that is taken in alone is true of one in a batch."""
    if request.param == "among many":
        monkeypatch.setattr(submissions, "accept", _accept_in_whatever_way)


TABLES = ("submissions", "client_requests", "submission_documents", "submission_events", "outbox")


async def make_sequence(
    db: Database,
    tenant_id: TenantId,
    *,
    minimum: int = 1,
    maximum: int = 100,
    current: int | None = None,
    environment: Environment = Environment.ECF,
    **more: object,
) -> None:
    values = {"expire_at": None, "is_active": True, **more}
    await db.run(
        sequences.put,
        tenant_id,
        environment,
        "E31",
        new_id=SequenceId(new_id(ACCEPTED_AT)),
        minimum=minimum,
        maximum=maximum,
        at=ACCEPTED_AT,
        **values,  # type: ignore[arg-type]  # the three that are left, with their types
    )
    if current is not None:
        await rows(db, "UPDATE sequences SET current_number = %(n)s", n=current)


async def next_number(db: Database, environment: Environment = Environment.ECF) -> int:
    found = await row(db, "SELECT current_number FROM sequences WHERE environment = %(e)s", e=environment)
    number: int = found["current_number"]
    return number


async def everything(db: Database) -> dict[str, int]:
    return {table: (await row(db, f"SELECT count(*) AS n FROM {table}"))["n"] for table in TABLES}


async def test_a_submission_is_stored_with_its_bytes_its_first_step_and_its_first_event(db: Database) -> None:
    tenant = await make_tenant(db)
    new = new_submission(tenant, client_request_id="a", as_user="x@y.do")

    accepted = await db.run(submissions.accept, new, ACCEPTED_AT)

    assert accepted == Accepted("accepted", new.submission_id, Status.QUEUED, "E310000000001", True)
    kept = await submission(db, new.submission_id)
    assert (kept["status"], kept["number_fate"], kept["submitted_at"]) == ("queued", "reserved", ACCEPTED_AT)
    assert (kept["client_request_id"], kept["as_user"]) == ("a", "x@y.do")
    assert await db.run(submissions.xml, tenant, new.submission_id) == ("original", b"{}")
    due = await waiting(db, new.submission_id)
    assert (due["stage"], due["environment"], due["attempt"], due["holder"]) == ("sign", "ecf", 0, None)
    assert due["due_in"] <= 0
    assert await story(db, new.submission_id) == ["accepted"]


@pytest.mark.parametrize("broken", TABLES)
async def test_a_failure_in_any_part_leaves_nothing(db: Database, broken: str) -> None:
    tenant = await make_tenant(db)
    await make_sequence(db, tenant)
    await rows(db, "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE division_by_zero; END'")
    await rows(db, f"CREATE TRIGGER t BEFORE INSERT ON {broken} FOR EACH ROW EXECUTE FUNCTION fail()")
    new = new_submission(tenant, client_request_id="a", e_ncf=None, draw_prefix="E31")

    with pytest.raises(psycopg.errors.DivisionByZero):
        await db.run(submissions.accept, new, ACCEPTED_AT)

    assert set((await everything(db)).values()) == {0}
    assert await next_number(db) == 1


async def test_a_repeat_is_told_of_the_first_and_whether_its_body_was_the_same(db: Database) -> None:
    tenant = await make_tenant(db)
    first = new_submission(tenant, client_request_id="a")
    await db.run(submissions.accept, first, ACCEPTED_AT)
    await rows(db, "UPDATE submissions SET status = 'En Proceso'")
    later = ACCEPTED_AT + timedelta(days=40)

    same = await db.run(submissions.accept, new_submission(tenant, later, client_request_id="a"), later)
    changed = new_submission(
        tenant, client_request_id="a", body_digest=hashlib.sha256(b"another").digest(), e_ncf="E310000000002"
    )
    other = await db.run(submissions.accept, changed, ACCEPTED_AT)

    assert same == Accepted("deduped", first.submission_id, Status.PROCESSING, "E310000000001", True)
    assert other == Accepted("deduped", first.submission_id, Status.PROCESSING, "E310000000001", False)
    assert set((await everything(db)).values()) == {1}


async def test_a_client_request_id_is_free_in_another_environment_and_for_another_tenant(db: Database) -> None:
    one, other = await make_tenant(db), await make_tenant(db)

    outcomes = [
        (await db.run(submissions.accept, new, ACCEPTED_AT)).outcome
        for new in (
            new_submission(one, client_request_id="a"),
            new_submission(one, client_request_id="a", environment=Environment.TESTECF),
            new_submission(other, client_request_id="a"),
            new_submission(one),
            new_submission(one),
        )
    ]

    assert outcomes == ["accepted"] * 5


async def test_of_twenty_simultaneous_twins_exactly_one_is_accepted(db: Database, dsn: str) -> None:
    tenant = await make_tenant(db)
    await make_sequence(db, tenant)

    async def act(conn: Conn, number: int) -> Accepted:
        digest = hashlib.sha256(b"even" if number % 2 == 0 else b"odd").digest()
        twin = new_submission(tenant, client_request_id="a", body_digest=digest, e_ncf=None, draw_prefix="E31")
        return await submissions.accept(conn, twin, ACCEPTED_AT)

    results = await race(dsn, 20, act)

    answers = [result for result in results if isinstance(result, Accepted)]
    assert len(answers) == 20, results
    assert sorted(answer.outcome for answer in answers) == ["accepted"] + ["deduped"] * 19
    assert len({answer.submission_id for answer in answers}) == 1
    assert {answer.e_ncf for answer in answers} == {"E310000000001"}
    assert sum(answer.body_matched for answer in answers) == 10
    assert await next_number(db) == 2
    assert set((await everything(db)).values()) == {1}


async def test_a_twin_whose_first_fails_is_accepted_itself(db: Database, dsn: str) -> None:
    """The first holds the clientRequestId and rolls back; the twin waits for it and then goes its own way."""
    tenant = await make_tenant(db)
    first, twin = new_submission(tenant, client_request_id="a"), new_submission(tenant, client_request_id="a")

    async def act(conn: Conn, number: int) -> str:
        if number == 0:
            async with conn.transaction(force_rollback=True):
                await submissions.accept(conn, first, ACCEPTED_AT)
                await conn.execute("SELECT pg_sleep(0.3)")
            return "rolled back"
        await conn.execute("SELECT pg_sleep(0.1)")
        return (await submissions.accept(conn, twin, ACCEPTED_AT)).outcome

    assert sorted(map(str, await race(dsn, 2, act))) == ["accepted", "rolled back"]
    assert (await submission(db, twin.submission_id))["client_request_id"] == "a"


async def test_numbers_drawn_at_once_have_no_gap_and_no_duplicate(db: Database, dsn: str) -> None:
    tenant = await make_tenant(db)
    await make_sequence(db, tenant, minimum=5, maximum=1000)
    drawers, each = 10, 15

    async def act(conn: Conn, number: int) -> list[str]:
        drawn = []
        for _ in range(each):
            new = new_submission(tenant, e_ncf=None, draw_prefix="E31")
            accepted = await submissions.accept(conn, new, ACCEPTED_AT)
            assert accepted.e_ncf is not None
            drawn.append(accepted.e_ncf)
        return drawn

    results = await race(dsn, drawers, act)

    drawn = [e_ncf for result in results if isinstance(result, list) for e_ncf in result]
    assert sorted(drawn) == [f"E31{number:010}" for number in range(5, 5 + drawers * each)]
    assert await next_number(db) == 5 + drawers * each
    kept = await rows(db, "SELECT e_ncf FROM submissions ORDER BY e_ncf")
    assert [each["e_ncf"] for each in kept] == sorted(drawn)


async def test_the_last_number_can_be_drawn_and_then_the_range_is_used_up(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_sequence(db, tenant, maximum=2, current=2)
    last = await db.run(submissions.accept, new_submission(tenant, e_ncf=None, draw_prefix="E31"), ACCEPTED_AT)

    assert last.e_ncf == "E310000000002"
    assert await next_number(db) == 3
    with pytest.raises(NoNumber) as refused:
        await db.run(submissions.accept, new_submission(tenant, e_ncf=None, draw_prefix="E31"), ACCEPTED_AT)
    assert (refused.value.prefix, refused.value.reason) == ("E31", "used up")


@pytest.mark.parametrize(
    ("sequence", "reason"),
    [
        (None, "none"),
        ({"is_active": False}, "none"),
        ({"environment": Environment.TESTECF}, "none"),
        ({"expire_at": ACCEPTED_AT - timedelta(days=1)}, "expired"),
        ({"expire_at": datetime(2026, 11, 6, 3, 59, 59, tzinfo=UTC)}, "expired"),  # the evening before, there
        ({"maximum": 3, "current": 4}, "used up"),
    ],
)
async def test_a_refused_draw_says_why_and_leaves_nothing(
    db: Database, sequence: dict[str, object] | None, reason: str
) -> None:
    tenant = await make_tenant(db)
    if sequence is not None:
        await make_sequence(db, tenant, **sequence)  # type: ignore[arg-type]  # the table above has their types
    before = await rows(db, "SELECT * FROM sequences")
    new = new_submission(tenant, client_request_id="a", e_ncf=None, draw_prefix="E31")

    with pytest.raises(NoNumber) as refused:
        await db.run(submissions.accept, new, ACCEPTED_AT)

    assert (refused.value.prefix, refused.value.reason) == ("E31", reason)
    assert set((await everything(db)).values()) == {0}
    assert await rows(db, "SELECT * FROM sequences") == before


async def test_a_refused_draw_leaves_its_client_request_id_free(db: Database) -> None:
    tenant = await make_tenant(db)
    new = new_submission(tenant, client_request_id="a", e_ncf=None, draw_prefix="E31")
    with pytest.raises(NoNumber):
        await db.run(submissions.accept, new, ACCEPTED_AT)
    await make_sequence(db, tenant)

    accepted = await db.run(submissions.accept, new, ACCEPTED_AT)

    assert (accepted.outcome, accepted.e_ncf) == ("accepted", "E310000000001")


@pytest.mark.parametrize(
    ("current", "given", "then"),
    [
        (10, 10, 11),  # the next one
        (10, 15, 16),  # further on: what is skipped is the client's
        (10, 9, 10),  # already consumed: it never goes back
        (10, 5, 10),
        (10, 20, 21),  # the last one: used up
        (10, 21, 10),  # outside the range
        (10, 4, 10),
        (21, 20, 21),  # used up stays used up
    ],
)
async def test_a_given_number_moves_the_sequence_to_the_greater_of_current_and_its_successor(
    db: Database, current: int, given: int, then: int
) -> None:
    tenant = await make_tenant(db)
    await make_sequence(db, tenant, minimum=5, maximum=20, current=current)
    await make_sequence(db, tenant, minimum=5, maximum=20, environment=Environment.TESTECF)

    accepted = await db.run(submissions.accept, new_submission(tenant, e_ncf=f"E31{given:010}"), ACCEPTED_AT)

    assert accepted.e_ncf == f"E31{given:010}"
    assert await next_number(db) == then
    assert await next_number(db, Environment.TESTECF) == 5


@pytest.mark.parametrize(("root", "consumes"), [("ECF", True), ("RFCE", True), ("ACECF", False), ("ANECF", False)])
async def test_only_what_is_issued_under_a_number_consumes_it(db: Database, root: str, consumes: bool) -> None:
    """A summary issues a consumer invoice; an approval names a number of another issuer."""
    tenant = await make_tenant(db)
    await make_sequence(db, tenant)

    await db.run(submissions.accept, new_submission(tenant, root=root), ACCEPTED_AT)

    assert await next_number(db) == (2 if consumes else 1)


async def test_given_numbers_at_once_leave_the_sequence_after_the_greatest(db: Database, dsn: str) -> None:
    tenant = await make_tenant(db)
    await make_sequence(db, tenant)

    async def act(conn: Conn, number: int) -> Accepted:
        new = new_submission(tenant, e_ncf=f"E31{(number * 7) % 20 + 1:010}")
        return await submissions.accept(conn, new, ACCEPTED_AT)

    results = await race(dsn, 20, act)

    assert all(isinstance(result, Accepted) for result in results), results
    assert await next_number(db) == 21


async def test_what_a_lost_answer_had_stored_is_not_stored_twice_nor_taken_for_a_fault(db: Database) -> None:
    """With a clientRequestId the answer is found again; without one it is lost."""
    tenant = await make_tenant(db)
    new = new_submission(tenant)
    assert (await db.run(_accept, new, ACCEPTED_AT)).outcome == "accepted"

    with pytest.raises(submissions.AlreadyStored):
        await db.run(_accept, new, ACCEPTED_AT)

    (found,) = await rows(db, "SELECT count(*) FROM submissions WHERE tenant_id = %(tenant)s", tenant=tenant)
    assert found["count"] == 1
