"""A fiscal number belongs to one submission, also under concurrency, until its fate is `reusable`."""

from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg import sql
from psycopg.conninfo import make_conninfo

from fe.ecf.catalogue import EcfType, Environment, Host
from fe.ecf.dates import ZONE, last_day, local
from fe.ecf.ids import new_id
from fe.identifiers import CertificateId, SequenceId, SubmissionId, TenantId, TrackId
from fe.lifecycle import NumberFate, Stage, Status
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import LeaseLost, NoNumber
from fe.store.queue import steps
from fe.store.queue.outbox import Work
from fe.store.queue.steps import SignedDocument
from fe.store.records import numbers, sequences, submissions
from fe.store.records.sequences import Change, Sequence, Unchanged
from fe.store.records.submissions import Accepted
from tests import citus
from tests.factories import bookings
from tests.factories.tenants import (
    ACCEPTED_AT,
    LEASE,
    digest_of,
    make_submission,
    make_tenant,
    new_submission,
    rows,
    sends_of,
    story,
    submission,
    take,
    waiting,
)
from tests.store.race import plain, race

NUMBER = "E310000000042"
ISSUER, SISTER = "131880738", "101000001"


def document(issuer: str = ISSUER) -> SignedDocument:
    return SignedDocument(
        certificate_id=CertificateId(UUID(int=1)),
        signed=b"<ECF/>",
        sent=None,
        host=Host.ECF,
        ecf_type=EcfType.CREDIT_FISCAL,
        issuer_rnc=issuer,
        buyer_rnc=None,
        security_code="AbC1+/",
        qr_code_url="https://ecf.example/?",
        ncf_expiration=None,
        signed_at=ACCEPTED_AT,
    )


async def accepted(db: Database, tenant: TenantId, at: datetime = ACCEPTED_AT, **changes: Any) -> SubmissionId:
    return await make_submission(db, tenant, at=at, **{"e_ncf": NUMBER, **changes})


async def sign(db: Database, subject: SubmissionId, issuer: str = ISSUER) -> None:
    await db.run(bookings.signed, await take(db, subject), document(issuer), at=ACCEPTED_AT)


async def send(db: Database, subject: SubmissionId) -> Work:
    work = await take(db, subject)
    await db.run(bookings.intend_to_send, work, at=ACCEPTED_AT, lease=LEASE, digest=digest_of(b"<ECF/>"))
    return work


async def reject(db: Database, subject: SubmissionId, fate: str) -> None:
    """Send it, and have it refused."""
    work = await send(db, subject)
    await db.run(
        bookings.verdict,
        work,
        at=ACCEPTED_AT,
        status=Status.REJECTED,
        track_id=TrackId("t"),
        response={},
        fate=fate,  # type: ignore[arg-type]  # its text
    )


async def assert_taken(db: Database, subject: SubmissionId, holder: SubmissionId) -> None:
    kept = await submission(db, subject)
    assert (kept["status"], kept["number_fate"], kept["signed_at"], kept["qr_code_url"]) == (
        "error",
        "used",
        None,
        None,
    )
    assert kept["response"]["otherTaxLogId"] == str(holder)
    assert kept["response"]["status"] == "error"
    assert str(holder) in kept["response"]["error"]
    assert kept["response"]["dgiiResponse"] is None
    assert await sends_of(db, subject) == []
    assert await rows(db, "SELECT 1 FROM outbox WHERE subject = %(id)s", id=subject) == []
    assert (await story(db, subject))[-1] == "error"


async def test_the_later_of_two_is_not_sent_and_names_the_earlier(db: Database) -> None:
    tenant = await make_tenant(db)
    first, second = await accepted(db, tenant), await accepted(db, tenant)

    await sign(db, first)
    await sign(db, second)

    assert (await waiting(db, first))["stage"] == "send"
    await assert_taken(db, second, first)


async def test_of_twenty_that_are_signed_at_once_exactly_one_goes_on(db: Database, dsn: str) -> None:
    tenant = await make_tenant(db)
    subjects = [await accepted(db, tenant) for _ in range(20)]
    works = [await take(db, subject) for subject in subjects]

    async def act(conn: Conn, number: int) -> None:
        await bookings.signed(conn, works[number], document(), at=ACCEPTED_AT)

    results = await race(dsn, 20, act)

    assert results == [None] * 20
    (on_its_way,) = await rows(db, "SELECT subject, stage FROM outbox")
    assert on_its_way["stage"] == "send"
    for subject in subjects:
        if subject != on_its_way["subject"]:
            await assert_taken(db, subject, on_its_way["subject"])


@pytest.mark.parametrize("fate", ["used", "unknown", "void"])
async def test_a_number_that_was_refused_and_is_not_free_stays_its_first_ones(db: Database, fate: str) -> None:
    tenant = await make_tenant(db)
    first, second = await accepted(db, tenant), await accepted(db, tenant)
    await sign(db, first)
    await reject(db, first, fate)

    await sign(db, second)

    await assert_taken(db, second, first)


async def test_a_number_that_came_back_is_free_for_one_other(db: Database) -> None:
    tenant = await make_tenant(db)
    first, second, third = [await accepted(db, tenant) for _ in range(3)]
    await sign(db, first)
    await reject(db, first, "reusable")

    await sign(db, second)
    await sign(db, third)

    assert (await waiting(db, second))["stage"] == "send"
    await assert_taken(db, third, second)


async def test_a_dead_letter_keeps_its_number(db: Database) -> None:
    """To its client it is queued: it may still be sent."""
    tenant = await make_tenant(db)
    first, second = await accepted(db, tenant), await accepted(db, tenant)
    await sign(db, first)
    await db.run(bookings.dead_letter, await take(db, first), at=ACCEPTED_AT, error="status 503")

    await sign(db, second)

    await assert_taken(db, second, first)


async def test_a_number_is_its_issuers_in_its_environment_and_of_its_tenant(db: Database) -> None:
    tenant, other = await make_tenant(db), await make_tenant(db)
    subjects = [
        (await accepted(db, tenant), ISSUER),
        (await accepted(db, tenant), SISTER),
        (await accepted(db, tenant, environment=Environment.TESTECF), ISSUER),
        (await accepted(db, other), ISSUER),
    ]

    for subject, issuer in subjects:
        await sign(db, subject, issuer)

    assert {(await waiting(db, subject))["stage"] for subject, _ in subjects} == {"send"}


async def test_an_approval_and_a_voiding_hold_no_number_and_need_none(db: Database) -> None:
    tenant = await make_tenant(db)
    first, approval, voiding = (
        await accepted(db, tenant),
        await accepted(db, tenant, root="ACECF"),
        await accepted(db, tenant, root="ANECF", e_ncf=None),
    )

    for subject in (approval, voiding, first):
        await sign(db, subject)

    assert {(await waiting(db, subject))["stage"] for subject in (first, approval, voiding)} == {"send"}


async def test_a_summary_and_its_invoice_are_one_number(db: Database) -> None:
    tenant = await make_tenant(db)
    summary, whole = await accepted(db, tenant, root="RFCE"), await accepted(db, tenant)

    await sign(db, summary)
    await sign(db, whole)

    await assert_taken(db, whole, summary)


async def test_a_worker_that_was_relieved_takes_no_number(db: Database) -> None:
    tenant = await make_tenant(db)
    first, second = await accepted(db, tenant), await accepted(db, tenant)
    late = await take(db, first)
    await take(db, first)

    with pytest.raises(LeaseLost):
        await db.run(bookings.signed, late, document(), at=ACCEPTED_AT)

    assert await rows(db, "SELECT * FROM held_numbers") == []
    await sign(db, second)
    assert (await waiting(db, second))["stage"] == "send"


# --- What is known before ---------------------------------------------------------------------------------------------


async def known(db: Database, tenant: TenantId, environment: Environment = Environment.ECF) -> set[SubmissionId]:
    found = await db.run(numbers.holders, tenant, environment, NUMBER, ACCEPTED_AT + timedelta(minutes=1))
    return {holder.submission_id for holder in found}


async def test_who_asks_is_told_of_what_waits_and_of_what_was_signed_however_long_ago(db: Database) -> None:
    tenant, other = await make_tenant(db), await make_tenant(db)
    assert await known(db, tenant) == set()

    old = await accepted(db, tenant, ACCEPTED_AT - timedelta(days=400), stage=Stage.SEND)
    fresh = await accepted(db, tenant, issuer_rnc=None)
    await accepted(db, tenant, root="ACECF")
    await accepted(db, other)

    assert await known(db, tenant) == {old, fresh}
    assert await known(db, tenant, Environment.TESTECF) == set()


async def test_what_has_ended_without_its_number_is_not_told(db: Database) -> None:
    tenant = await make_tenant(db)
    first, second = await accepted(db, tenant), await accepted(db, tenant)
    await sign(db, first)
    await sign(db, second)
    assert await known(db, tenant) == {first}

    await reject(db, first, "reusable")

    assert await known(db, tenant) == set()


async def test_the_signer_is_told_of_those_that_came_before_alone(db: Database) -> None:
    tenant = await make_tenant(db)
    first = await accepted(db, tenant)
    second = await accepted(db, tenant, ACCEPTED_AT + timedelta(seconds=1))

    of_first = (await db.run(steps.signing_input, await take(db, first))).holders
    of_second = (await db.run(steps.signing_input, await take(db, second))).holders

    assert of_first == ()
    assert [holder.submission_id for holder in of_second] == [first]


# --- Drawing, and putting back ----------------------------------------------------------------------------------------


async def put(db: Database, tenant: TenantId, maximum: int = 9_999_999_999, **more: Any) -> Sequence:
    values = {"expire_at": None, "is_active": True, "minimum": 1, **more}
    return await db.run(
        sequences.put,
        tenant,
        Environment.ECF,
        "E31",
        new_id=SequenceId(new_id(ACCEPTED_AT)),
        maximum=maximum,
        at=ACCEPTED_AT,
        **values,
    )


async def change(db: Database, tenant: TenantId, **named: Any) -> Sequence:
    return await db.run(sequences.change, tenant, Environment.ECF, "E31", Change(**named), at=ACCEPTED_AT)


async def draw(db: Database, tenant: TenantId, at: datetime = ACCEPTED_AT) -> str | None:
    return (await db.run(submissions.accept, new_submission(tenant, at, e_ncf=None, draw_prefix="E31"), at)).e_ncf


async def test_a_draw_passes_over_the_numbers_that_are_somebodys(db: Database) -> None:
    """The sequence was deleted and made anew, or put back before a number that was on its way."""
    tenant = await make_tenant(db)
    await put(db, tenant)
    for number in (1, 2, 4):
        await accepted(db, tenant, e_ncf=f"E31{number:010}", stage=Stage.SEND)
    free = await accepted(db, tenant, e_ncf="E310000000003", stage=Stage.SEND)
    await reject(db, free, "reusable")
    await change(db, tenant, next_number=1)

    assert [await draw(db, tenant) for _ in range(2)] == ["E310000000003", "E310000000005"]


async def draw_together(db: Database, tenant: TenantId, many: int) -> list[str | None]:
    """Of a batch, what each drew."""
    batch = [(new_submission(tenant, e_ncf=None, draw_prefix="E31"), ACCEPTED_AT) for _ in range(many)]
    answers = await db.run(submissions.accept_many, batch)
    return [answer.e_ncf if isinstance(answer, Accepted) else answer.reason for answer in answers]


def numbers_of(*which: int) -> list[str]:
    return [f"E31{number:010}" for number in which]


async def hold(db: Database, tenant: TenantId, first: int, last: int) -> None:
    """Give numbers to a submission that is signed."""
    subject = await accepted(db, tenant, e_ncf="E319999999999")
    await sign(db, subject)
    await rows(
        db,
        """INSERT INTO held_numbers (tenant_id, environment, e_ncf, issuer_rnc, submission_id)
           SELECT %(tenant)s, 'ecf', 'E31' || lpad(n::text, 10, '0'), %(issuer)s, %(subject)s
             FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n""",
        tenant=tenant,
        issuer=ISSUER,
        subject=subject,
        first=first,
        last=last,
    )


async def test_a_draw_goes_behind_a_run_of_others_however_long(db: Database) -> None:
    """Two thousand were issued, and then the sequence was deleted and made anew."""
    tenant = await make_tenant(db)
    await hold(db, tenant, 1, 2000)
    await hold(db, await make_tenant(db), 2001, 2100)
    await put(db, tenant)

    assert await draw(db, tenant) == "E310000002001"
    assert await draw(db, tenant) == "E310000002002"
    assert (await change(db, tenant, is_active=True)).current_number == 2003

    await change(db, tenant, next_number=1)
    assert await draw_together(db, tenant, 3) == numbers_of(2003, 2004, 2005)


async def test_a_range_of_which_all_is_somebodys_is_used_up(db: Database) -> None:
    tenant = await make_tenant(db)
    await hold(db, tenant, 1, 300)
    await put(db, tenant, maximum=300)

    for _ in range(2):
        with pytest.raises(NoNumber) as refused:
            await draw(db, tenant)
        assert refused.value.reason == "used up"
    await change(db, tenant, maximum=302)
    assert [await draw(db, tenant) for _ in range(2)] == numbers_of(301, 302)
    assert await draw_together(db, tenant, 1) == ["used up"]


async def anew(db: Database, tenant: TenantId) -> None:
    await db.run(sequences.delete, tenant, Environment.ECF, "E31")
    await put(db, tenant, maximum=500)


async def put_back(db: Database, tenant: TenantId) -> None:
    await change(db, tenant, next_number=1)


async def moved_away_and_back(db: Database, tenant: TenantId) -> None:
    await put(db, tenant, minimum=401, maximum=500)
    await put(db, tenant, maximum=300)
    await put_back(db, tenant)


@pytest.mark.parametrize("set_back", [anew, put_back, moved_away_and_back])
async def test_what_waits_to_be_signed_keeps_the_number_that_its_client_was_told(
    db: Database, set_back: Callable[[Database, TenantId], Awaitable[None]]
) -> None:
    tenant = await make_tenant(db)
    await put(db, tenant, maximum=500)
    assert [await draw(db, tenant) for _ in range(2)] == numbers_of(1, 2)
    dead = await accepted(db, tenant, e_ncf="E310000000004")
    await db.run(bookings.dead_letter, await take(db, dead), at=ACCEPTED_AT, error="no certificate")
    # None of these has one of this issuer's numbers of this environment, or it has given it back.
    ended = await accepted(db, tenant, e_ncf="E310000000003")
    await db.run(bookings.failure, await take(db, ended), at=ACCEPTED_AT, response={}, fate=NumberFate.REUSABLE)
    await accepted(db, tenant, e_ncf="E310000000006", root="ACECF")
    await accepted(db, tenant, e_ncf="E310000000006", environment=Environment.TESTECF)
    await accepted(db, await make_tenant(db), e_ncf="E310000000006")

    await set_back(db, tenant)

    assert await draw(db, tenant) == "E310000000003"
    assert await draw_together(db, tenant, 2) == numbers_of(5, 6)
    assert await draw(db, tenant) == "E310000000007"


async def test_of_many_that_wait_none_is_passed_over_one_by_one(db: Database) -> None:
    tenant = await make_tenant(db)
    await put(db, tenant)
    first = await draw_together(db, tenant, 250)
    await put_back(db, tenant)

    assert first == numbers_of(*range(1, 251))
    assert await draw_together(db, tenant, 2) == numbers_of(251, 252)
    assert await draw(db, tenant) == "E310000000253"


async def test_what_came_while_no_number_of_it_was_in_the_range_is_passed_over_once_one_is(db: Database) -> None:
    tenant = await make_tenant(db)
    await put(db, tenant, maximum=10)
    await accepted(db, tenant, e_ncf="E310000000012")
    await change(db, tenant, maximum=100, next_number=11)

    assert [await draw(db, tenant) for _ in range(2)] == numbers_of(11, 13)


async def test_when_the_numbers_of_a_sequence_were_set_is_kept(db: Database) -> None:
    """No other submission can have a number that is ahead."""
    tenant = await make_tenant(db)
    later = ACCEPTED_AT + timedelta(days=1)

    async def set_at() -> datetime:
        (kept,) = await rows(db, "SELECT set_at FROM sequences WHERE tenant_id = %(tenant)s", tenant=tenant)
        moment: datetime = kept["set_at"]
        return moment

    async def setting(**named: Any) -> datetime:
        await db.run(sequences.change, tenant, Environment.ECF, "E31", Change(**named), at=later)
        return await set_at()

    await put(db, tenant, maximum=100)
    assert await set_at() == ACCEPTED_AT
    await db.run(
        sequences.put,
        tenant,
        Environment.ECF,
        "E31",
        new_id=SequenceId(new_id(later)),
        minimum=1,
        maximum=100,
        expire_at=later,
        is_active=True,
        at=later,
    )
    assert await set_at() == ACCEPTED_AT, "nothing of its numbers was set"
    assert await setting(is_active=False) == await setting(minimum=1, maximum=100) == ACCEPTED_AT
    assert await setting(next_number=7) == later


@pytest.mark.skipif(citus.wanted(), reason="what is looked for is told by one server's statistics")
async def test_a_number_that_is_drawn_costs_no_look_at_the_receipts_of_a_month(db: Database) -> None:
    tenant, set_at = await make_tenant(db), ACCEPTED_AT

    async def looked(at: datetime) -> int:
        """How many keys of submissions a draw looks for."""

        async def scans(conn: Conn) -> int:
            row = await (await conn.execute(_SCANS)).fetchone()
            assert row is not None
            return int(row[0])

        async def work(conn: Conn) -> int:
            async with conn.transaction():
                before = await scans(conn)
                await conn.execute("SELECT first_free_number(%s, 'ecf', 'E31', 7, %s, %s)", (tenant, set_at, at))
                return await scans(conn) - before

        return await db.run(work)

    assert await looked(set_at + timedelta(days=39)) > 0
    assert await looked(set_at + timedelta(days=41)) == 0


_SCANS = "SELECT coalesce(sum(idx_scan + seq_scan), 0) FROM pg_stat_xact_user_tables WHERE relname ~ '^submissions_'"


async def test_a_number_typed_too_high_is_told_and_can_be_put_back_while_nothing_was_sent(db: Database) -> None:
    tenant = await make_tenant(db)
    await put(db, tenant, maximum=5000)
    typed = new_submission(tenant, e_ncf="E310000004999")
    told = await db.run(submissions.accept, typed, ACCEPTED_AT)
    assert (told.numbers_skipped, told.numbers_left) == (4998, 1)

    back = await change(db, tenant, next_number=1)
    assert back.current_number == 1

    await sign(db, typed.submission_id)
    assert (await change(db, tenant, next_number=2)).current_number == 2  # signed is not sent
    await send(db, typed.submission_id)
    await change(db, tenant, next_number=5000)
    with pytest.raises(Unchanged) as refused:
        await change(db, tenant, next_number=1)
    assert refused.value.reason == "sent"
    assert (await change(db, tenant, next_number=5001)).current_number == 5001


async def test_a_number_the_authority_gave_back_does_not_keep_a_sequence_from_going_back(db: Database) -> None:
    tenant = await make_tenant(db)
    await put(db, tenant)
    subject = await accepted(db, tenant, stage=Stage.SEND)
    await reject(db, subject, "reusable")

    assert (await change(db, tenant, next_number=1)).current_number == 1


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"next_number": 9}, "outside"),
        ({"next_number": 22}, "outside"),
        ({"minimum": 15, "next_number": 12}, "outside"),
        ({"minimum": 21}, "range"),
        ({"maximum": 9}, "range"),
    ],
)
async def test_what_cannot_be_is_refused_and_leaves_the_sequence_alone(
    db: Database, changes: dict[str, int], reason: str
) -> None:
    tenant = await make_tenant(db)
    before = await put(db, tenant, minimum=10, maximum=20)

    with pytest.raises(Unchanged) as refused:
        await change(db, tenant, **changes)

    assert refused.value.reason == reason
    assert await db.run(sequences.listed, tenant, Environment.ECF) == [before]
    with pytest.raises(Unchanged, match="none"):
        await change(db, await make_tenant(db), **changes)


async def test_only_what_is_named_changes(db: Database) -> None:
    tenant = await make_tenant(db)
    until = datetime(2029, 1, 1, 3, 59, 59, 999000, tzinfo=UTC)
    before = await put(db, tenant, minimum=10, maximum=20, expire_at=until)

    inactive = await change(db, tenant, is_active=False)
    endless = await change(db, tenant, sets_expiry=True)
    wider = await change(db, tenant, maximum=30)
    used_up = await change(db, tenant, next_number=31)
    extended = await change(db, tenant, maximum=40)

    assert (inactive.expire_at, inactive.max_number, inactive.is_active) == (until, 20, False)
    assert (endless.expire_at, endless.is_active) == (None, False)
    assert (wider.min_number, wider.max_number, wider.current_number) == (10, 30, 10)
    assert (used_up.current_number, extended.current_number) == (31, 31)
    assert {each.sequence_id for each in (inactive, endless, wider, used_up, extended)} == {before.sequence_id}


@pytest.mark.parametrize(
    ("current", "given", "told"),
    [(1, 1, (0, 99)), (1, 5, (4, 95)), (1, 100, (99, 0)), (6, 5, (None, None)), (1, 101, (None, None))],
)
async def test_what_a_given_number_passed_over_is_told(
    db: Database, current: int, given: int, told: tuple[int | None, int | None]
) -> None:
    tenant = await make_tenant(db)
    await put(db, tenant, maximum=100)
    await change(db, tenant, next_number=current)

    came = await db.run(submissions.accept, new_submission(tenant, e_ncf=f"E31{given:010}"), ACCEPTED_AT)

    assert (came.numbers_skipped, came.numbers_left) == told


# --- The last day -----------------------------------------------------------------------------------------------------

MOMENTS = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC)) | st.builds(
    lambda day, hour: datetime.combine(day, time(hour), UTC),
    st.dates(date(2020, 1, 1), date(2040, 1, 1)),
    st.integers(0, 5),
)


@given(ends=MOMENTS, now=MOMENTS)
@settings(max_examples=200, deadline=None)
def test_the_database_and_the_documents_have_one_last_day(
    shared: psycopg.Connection, ends: datetime, now: datetime
) -> None:
    told = shared.execute(
        "SELECT sequence_last_day(%(ends)s), sequence_is_over(%(ends)s, %(now)s)", {"ends": ends, "now": now}
    ).fetchone()

    assert told == (last_day(ends), local(now).date() > last_day(ends))


@pytest.fixture(scope="module")
def shared(postgres: str, template: str) -> Any:
    with plain(make_conninfo(postgres, dbname="postgres")) as conn:
        conn.execute(sql.SQL("CREATE DATABASE numbers TEMPLATE {}").format(sql.Identifier(template)))
    with plain(make_conninfo(postgres, dbname="numbers")) as conn:
        yield conn


async def test_numbers_are_drawn_to_the_end_of_the_last_day_there(db: Database) -> None:
    tenant = await make_tenant(db)
    await put(db, tenant, expire_at=datetime(2026, 11, 6, tzinfo=UTC))  # the day, as programs write it
    evening = datetime(2026, 11, 6, 23, 59, 59, tzinfo=ZONE)

    assert await draw(db, tenant, evening) == "E310000000001"
    with pytest.raises(Exception, match="expired"):
        await draw(db, tenant, evening + timedelta(seconds=1))


# --- What a note waits for --------------------------------------------------------------------------------------------


async def a_note(db: Database, tenant: TenantId, number: int = 1, **changes: Any) -> Work:
    subject = await make_submission(db, tenant, ecf_type=EcfType.CREDIT_NOTE, e_ncf=f"E34{number:010}", **changes)
    return await take(db, subject)


async def test_a_receipt_is_undecided_until_it_has_ended(db: Database) -> None:
    tenant = await make_tenant(db)
    receipt = await accepted(db, tenant)
    note = await a_note(db, tenant)

    async def ask(issuer: str | None = ISSUER, number: str = NUMBER) -> SubmissionId | None:
        return await db.run(numbers.undecided, note, number, issuer)

    assert await ask() == receipt  # its issuer may be known by what was handed in, or not yet
    assert await ask(number="E310000000043") is None
    await sign(db, receipt)
    assert (await ask(), await ask(issuer=SISTER)) == (receipt, None)
    work = await send(db, receipt)
    track = TrackId("t")
    await db.run(bookings.received, work, at=ACCEPTED_AT, track_id=track, after=timedelta(0), reply={"trackId": track})
    assert await ask() == receipt
    await db.run(bookings.verdict, await take(db, receipt), at=ACCEPTED_AT, track_id=track)
    assert await ask() is None


async def test_only_its_own_tenant_and_environment_count(db: Database) -> None:
    tenant, neighbour = await make_tenant(db), await make_tenant(db)
    await accepted(db, neighbour)
    await accepted(db, tenant, environment=Environment.CERTECF)

    assert await db.run(numbers.undecided, await a_note(db, tenant), NUMBER, ISSUER) is None


async def test_no_note_waits_for_a_receipt_that_the_certification_counts(db: Database) -> None:
    """Its answer was lost, and in certecf nothing tells of a number: a person saw the counter."""
    tenant = await make_tenant(db)
    receipt = await accepted(db, tenant, environment=Environment.CERTECF)
    note = await a_note(db, tenant, environment=Environment.CERTECF)
    given = {"tenant": tenant, "receipt": receipt}
    await rows(
        db,
        """WITH run AS (
               INSERT INTO certification_runs (tenant_id, run_id, state, loaded_at, loaded_by, name, digest, content)
               VALUES (%(tenant)s, gen_random_uuid(), 'stopped', now(), 'eva', 'set', sha256(''), '') RETURNING run_id)
           INSERT INTO certification_cases (tenant_id, run_id, place, name, e_ncf, is_summary, submission_id)
           SELECT %(tenant)s, run_id, 1, 'one', 'E310000000001', false, %(receipt)s FROM run""",
        **given,
    )

    assert await db.run(numbers.undecided, note, NUMBER, ISSUER) == receipt
    await rows(db, "UPDATE certification_cases SET is_confirmed = true WHERE submission_id = %(receipt)s", **given)
    assert await db.run(numbers.undecided, note, NUMBER, ISSUER) is None


async def test_two_notes_that_name_each_other_do_not_wait_for_ever(db: Database) -> None:
    tenant = await make_tenant(db)
    first = await a_note(db, tenant, 1, at=ACCEPTED_AT)
    second = await a_note(db, tenant, 2, at=ACCEPTED_AT + timedelta(seconds=1))

    assert await db.run(numbers.undecided, first, "E340000000002", ISSUER) is None
    assert await db.run(numbers.undecided, second, "E340000000001", ISSUER) == first.subject
    assert await db.run(numbers.undecided, first, "E340000000001", ISSUER) is None


async def test_a_receipt_that_came_after_its_note_is_waited_for_too(db: Database) -> None:
    tenant = await make_tenant(db)
    note = await a_note(db, tenant, at=ACCEPTED_AT)
    receipt = await accepted(db, tenant, at=ACCEPTED_AT + timedelta(milliseconds=1))

    assert await db.run(numbers.undecided, note, NUMBER, ISSUER) == receipt


async def test_what_became_of_a_number_is_told_by_its_holder_and_by_the_last_that_had_it(db: Database) -> None:
    tenant = await make_tenant(db)

    async def told() -> dict[SubmissionId, tuple[Status, str | None]]:
        found = await db.run(numbers.issued, tenant, Environment.ECF, NUMBER)
        return {one.submission_id: (one.status, one.issuer_rnc) for one in found}

    assert await told() == {}
    first = await accepted(db, tenant)
    await sign(db, first)
    await reject(db, first, "reusable")
    assert await told() == {first: (Status.REJECTED, ISSUER)}
    second = await accepted(db, tenant, at=ACCEPTED_AT + timedelta(seconds=1))
    await sign(db, second)
    third = await accepted(db, tenant, at=ACCEPTED_AT + timedelta(seconds=2))
    await sign(db, third)
    assert await told() == {second: (Status.QUEUED, ISSUER), third: (Status.ERROR, ISSUER)}
