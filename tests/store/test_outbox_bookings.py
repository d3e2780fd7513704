"""Bookings: each writes all of its effect, once, and only for the claim it belongs to."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

import psycopg
import pytest

from fe.ecf.catalogue import EcfType, Host
from fe.ecf.receipt_facts import UNKNOWN
from fe.identifiers import CertificateId, TrackId
from fe.lifecycle import NumberFate, Stage, Status
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import LeaseLost
from fe.store.queue import steps
from fe.store.queue.outbox import Work
from fe.store.queue.steps import SignedDocument
from fe.store.records import submissions
from tests.factories import bookings
from tests.factories.bookings import SendInDoubt
from tests.factories.tenants import (
    ACCEPTED_AT,
    DOCUMENT,
    FACTS,
    LEASE,
    SIGNED,
    digest_of,
    make_submission,
    make_tenant,
    row,
    rows,
    sends_of,
    story,
    submission,
    take,
    waiting,
)

AT = datetime(2026, 11, 6, 15, 0, 0, tzinfo=UTC)
ISSUED_ON = date(2026, 11, 6)
SOON = timedelta(seconds=30)
ANSWER = {"status": "error", "error": "no"}

Write = Callable[[Conn, Work], Awaitable[object]]

#: Each booking with the stage its claim is in, and where the row is afterwards (None: gone).
BOOKINGS: dict[str, tuple[Write, Stage, str | None]] = {
    "retry": (partial(bookings.retry, at=AT, after=SOON, error="why"), Stage.SIGN, "sign"),
    "not sent": (partial(bookings.retry, at=AT, after=SOON, error="why"), Stage.SEND, "send"),
    "dead letter": (partial(bookings.dead_letter, at=AT, error="why"), Stage.SEND, None),
    "failure": (partial(bookings.failure, at=AT, response=ANSWER, fate=NumberFate.REUSABLE), Stage.SEND, None),
    "signed": (partial(bookings.signed, document=DOCUMENT, at=AT), Stage.SIGN, "send"),
    "received": (partial(bookings.received, at=AT, track_id=TrackId("t"), after=SOON, reply={}), Stage.SEND, "track"),
    "doubt": (partial(bookings.doubt, at=AT, after=SOON, error="why"), Stage.SEND, "reconcile"),
    "resend": (partial(bookings.resend, at=AT, after=SOON, reason="why"), Stage.RECONCILE, "send"),
    "processing": (partial(bookings.processing, at=AT, after=SOON, response={"a": 1}), Stage.TRACK, "track"),
    "verdict": (
        partial(bookings.verdict, at=AT, track_id=TrackId("t"), response={"a": 1}),
        Stage.TRACK,
        None,
    ),
}
ALL = pytest.mark.parametrize("name", BOOKINGS)


async def claimed(db: Database, stage: Stage, **more: Any) -> Work:
    subject = await make_submission(db, await make_tenant(db), stage=stage, **more)
    return await take(db, subject)


async def announced(db: Database, **more: Any) -> Work:
    """A claim to send whose intent is committed."""
    work = await claimed(db, Stage.SEND, **more)
    await intend(db, work)
    return work


async def intend(db: Database, work: Work) -> None:
    await db.run(bookings.intend_to_send, work, at=AT, lease=LEASE, digest=digest_of(SIGNED))


async def everything(db: Database) -> list[list[dict[str, Any]]]:
    tables = ("submissions", "submission_documents", "submission_events", "outbox", "dead_letters", "sends")
    return [await rows(db, f"SELECT * FROM {table} ORDER BY 1, 2, 3") for table in tables]


# --- The fence ---------------------------------------------------------------------------------------------------


@ALL
async def test_a_booking_leaves_the_row_where_it_belongs_and_with_nobody(db: Database, name: str) -> None:
    write, stage, then = BOOKINGS[name]
    work = await claimed(db, stage)

    await db.run(write, work)

    left = await rows(db, "SELECT stage, holder, deaths, epoch FROM outbox")
    assert left == ([{"stage": then, "holder": None, "deaths": 0, "epoch": work.epoch}] if then else [])


@ALL
async def test_a_booking_with_another_epoch_is_refused_and_writes_nothing(db: Database, name: str) -> None:
    write, stage, _ = BOOKINGS[name]
    stale = await claimed(db, stage)
    await take(db, stale.subject)  # its lease ended, and a peer has it now
    before = await everything(db)

    with pytest.raises(LeaseLost):
        await db.run(write, stale)

    assert await everything(db) == before


@ALL
async def test_booking_twice_is_refused_the_second_time_and_writes_nothing(db: Database, name: str) -> None:
    write, stage, _ = BOOKINGS[name]
    work = await claimed(db, stage)
    await db.run(write, work)
    before = await everything(db)

    with pytest.raises(LeaseLost):
        await db.run(write, work)

    assert await everything(db) == before


@ALL
async def test_a_booking_of_another_tenants_row_is_refused(db: Database, name: str) -> None:
    write, stage, _ = BOOKINGS[name]
    work = await claimed(db, stage)
    other = await make_tenant(db)
    before = await everything(db)
    foreign = Work(
        work.stage,
        work.lane,
        other,
        work.subject,
        work.attempt,
        work.epoch,
        work.crash_count,
        work.waited,
        work.last_error,
    )

    with pytest.raises(LeaseLost):
        await db.run(write, foreign)

    assert await everything(db) == before


@ALL
async def test_a_booking_that_fails_halfway_leaves_nothing(db: Database, name: str) -> None:
    write, stage, _ = BOOKINGS[name]
    work = await claimed(db, stage)
    await rows(db, "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE division_by_zero; END'")
    await rows(db, "CREATE TRIGGER t BEFORE INSERT ON submission_events FOR EACH ROW EXECUTE FUNCTION fail()")
    before = await everything(db)

    with pytest.raises(psycopg.errors.DivisionByZero):
        await db.run(write, work)

    assert await everything(db) == before


# --- Trying again ------------------------------------------------------------------------------------------------


async def test_a_retry_is_due_later_keeps_its_attempts_and_tells_why(db: Database) -> None:
    work = await claimed(db, Stage.SIGN)

    await db.run(bookings.retry, work, at=AT, after=SOON, error="the key is locked")

    kept = await waiting(db, work.subject)
    assert 25 < kept["due_in"] <= 30
    assert (kept["attempt"], kept["last_error"]) == (1, "the key is locked")
    (event,) = await rows(db, "SELECT at, detail FROM submission_events WHERE kind = 'retry'")
    assert event["at"] == AT
    assert {**event["detail"], "dueAt": None} == {
        "stage": "sign",
        "attempt": 1,
        "error": "the key is locked",
        "dueAt": None,
    }


async def test_a_row_given_back_has_not_counted_and_leaves_no_event(db: Database) -> None:
    work = await claimed(db, Stage.SIGN)
    before = await story(db, work.subject)

    await db.run(bookings.retry, work, at=AT, after=timedelta(0), error="stopped", counts=False)

    assert (await waiting(db, work.subject))["attempt"] == 0
    assert await story(db, work.subject) == before
    assert (await take(db, work.subject)).attempt == 1


async def test_what_was_not_sent_closes_its_own_intent_and_no_other(db: Database) -> None:
    first = await announced(db)
    await db.run(bookings.doubt, first, at=AT, after=SOON, error="timeout")
    await db.run(bookings.resend, await take(db, first.subject), at=AT, after=SOON, reason="unknown there")
    second = await take(db, first.subject)
    await intend(db, second)

    await db.run(bookings.retry, second, at=AT, after=SOON, error="refused to connect")

    assert await sends_of(db, first.subject) == [(first.epoch, "not_known"), (second.epoch, "not_sent")]


async def test_a_dead_letter_keeps_all_that_a_replay_needs_and_stays_queued_to_its_client(db: Database) -> None:
    work = await announced(db)
    entered_at = (await waiting(db, work.subject))["entered_at"]

    await db.run(bookings.dead_letter, work, at=AT, error="8 times 503")

    dead = await row(db, "SELECT * FROM dead_letters")
    assert {key: dead[key] for key in ("tenant_id", "subject", "stage", "environment", "host")} == {
        "tenant_id": work.tenant_id,
        "subject": work.subject,
        "stage": "send",
        "environment": "ecf",
        "host": "ecf",
    }
    assert (dead["attempt"], dead["epoch"], dead["deaths"]) == (work.attempt, work.epoch, 0)
    assert (dead["entered_at"], dead["died_at"], dead["error"]) == (entered_at, AT, "8 times 503")
    kept = await submission(db, work.subject)
    assert (kept["status"], kept["response"]) == ("queued", {"status": "dead_letter", "error": "8 times 503"})
    assert (await story(db, work.subject))[-1] == "dead_letter"


async def test_a_dead_letter_keeps_what_the_authority_had_said(db: Database) -> None:
    work = await claimed(db, Stage.TRACK)
    await db.run(bookings.processing, work, at=AT, after=SOON, response={"trackStatus": {"estado": "En Proceso"}})

    await db.run(bookings.dead_letter, await take(db, work.subject), at=AT, error="72 hours")

    kept = await submission(db, work.subject)
    assert kept["status"] == "En Proceso"
    assert kept["response"] == {
        "trackStatus": {"estado": "En Proceso"},
        "status": "dead_letter",
        "error": "72 hours",
    }


# --- Ends --------------------------------------------------------------------------------------------------------


async def test_a_failure_is_an_error_to_the_client_and_closes_the_send(db: Database) -> None:
    work = await announced(db)

    await db.run(bookings.failure, work, at=AT, response=ANSWER, fate=NumberFate.REUSABLE)

    kept = await submission(db, work.subject)
    assert (kept["status"], kept["response"], kept["number_fate"], kept["updated_at"]) == (
        "error",
        ANSWER,
        "reusable",
        AT,
    )
    assert kept["verdict_at"] is None
    assert await sends_of(db, work.subject) == [(work.epoch, "refused")]
    assert (await story(db, work.subject))[-1] == "error"


@pytest.mark.parametrize("status", [Status.ACCEPTED, Status.CONDITIONAL, Status.REJECTED])
async def test_a_verdict_is_dated_and_keeps_the_first_answers_moment(db: Database, status: Status) -> None:
    work = await claimed(db, Stage.TRACK)
    later = AT + timedelta(hours=1)

    await db.run(
        bookings.verdict, work, at=later, status=status, track_id=None, response={"a": 1}, fate=NumberFate.USED
    )

    kept = await submission(db, work.subject)
    assert (kept["status"], kept["response"], kept["number_fate"]) == (status, {"a": 1}, "used")
    assert (kept["verdict_at"], kept["updated_at"], kept["first_answer_at"]) == (later, later, ACCEPTED_AT)
    assert kept["track_id"] == "track-1"
    assert (await story(db, work.subject))[-1] == "verdict"


async def test_a_verdict_in_the_answer_to_the_send_is_the_first_answer_and_closes_the_send(db: Database) -> None:
    work = await announced(db, summary=True)

    await db.run(
        bookings.verdict, work, at=AT, status=Status.ACCEPTED, track_id=None, response={}, fate=NumberFate.USED
    )

    assert (await submission(db, work.subject))["first_answer_at"] == AT
    assert await sends_of(db, work.subject) == [(work.epoch, "received")]


# --- Signing and sending -----------------------------------------------------------------------------------------


async def test_signing_takes_the_remarks_of_the_release_before(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    remarks = [{"code": "rate-assumed"}]
    first, second = await claimed(db, Stage.SIGN), await claimed(db, Stage.SIGN)
    document = replace(DOCUMENT, remarks=remarks, facts=FACTS)

    await db.run(bookings.signed, first, document, at=AT)
    monkeypatch.setattr(steps, "_beside", lambda document: list(document.remarks))
    await db.run(bookings.signed, second, document, at=AT)

    found = [await db.run_for(work.tenant_id, submissions.find, work.subject) for work in (first, second)]
    assert [record and record.warnings for record in found] == [remarks, remarks]
    assert [record and record.facts for record in found] == [FACTS, UNKNOWN]


async def test_signing_keeps_the_bytes_and_makes_sending_due_on_the_host_that_takes_it(db: Database) -> None:
    work = await claimed(db, Stage.SIGN)
    summary = b"<RFCE/>"
    document = SignedDocument(
        CertificateId(UUID(int=7)),
        SIGNED,
        summary,
        Host.FC,
        EcfType.CONSUMER,
        "131880738",
        None,
        "AbC1+/",
        "https://qr",
        AT.date(),
        AT,
    )

    await db.run(bookings.signed, work, document, at=AT)

    due = await waiting(db, work.subject)
    assert (due["stage"], due["host"], due["attempt"], due["last_error"]) == ("send", "fc", 0, None)
    assert due["due_in"] <= 0
    assert await db.run(submissions.xml, work.tenant_id, work.subject) == ("signed", SIGNED)
    outgoing_document = await db.run(steps.outgoing_document, work)
    assert (outgoing_document.content, outgoing_document.is_summary, outgoing_document.certificate_id) == (
        summary,
        True,
        UUID(int=7),
    )
    kept = await submission(db, work.subject)
    assert (kept["security_code"], kept["qr_code_url"], kept["ncf_expiration"]) == ("AbC1+/", "https://qr", AT.date())
    (event,) = await rows(db, "SELECT detail FROM submission_events WHERE kind = 'signed'")
    assert event["detail"] == {
        "certificateId": str(UUID(int=7)),
        "securityCode": "AbC1+/",
        "sha256": digest_of(SIGNED).hex(),
        "summarySha256": digest_of(summary).hex(),
        "process": "test",
    }


async def test_signed_bytes_are_never_made_again(db: Database) -> None:
    """Were a signed submission ever led back to the signer, its second signature would be another document."""
    work = await claimed(db, Stage.SEND)
    await rows(db, "UPDATE outbox SET stage = 'sign'")

    with pytest.raises(psycopg.errors.UniqueViolation):
        await db.run(bookings.signed, work, DOCUMENT, at=AT)


async def test_the_intent_is_committed_with_the_digest_of_the_bytes_and_renews_the_lease(db: Database) -> None:
    work = await claimed(db, Stage.SEND)
    await rows(db, "UPDATE outbox SET run_at = now()")

    await intend(db, work)

    sent = await row(db, "SELECT * FROM sends")
    assert (sent["submission_id"], sent["epoch"], sent["outcome"]) == (work.subject, work.epoch, "intended")
    assert (sent["digest"], sent["intended_at"]) == (digest_of(SIGNED), AT)
    kept = await waiting(db, work.subject)
    assert 55 < kept["due_in"] <= 60
    assert kept["holder"] == "test"
    assert (await story(db, work.subject))[-1] == "sending"


async def test_a_lease_that_was_made_a_moment_ago_is_not_written_again(db: Database) -> None:
    work = await claimed(db, Stage.SEND)
    before = await row(db, "SELECT ctid::text, run_at FROM outbox")

    await intend(db, work)

    assert await row(db, "SELECT ctid::text, run_at FROM outbox") == before


async def test_the_same_claim_may_announce_twice_and_is_one_send(db: Database) -> None:
    work = await announced(db)

    await intend(db, work)

    assert await sends_of(db, work.subject) == [(work.epoch, "intended")]
    assert (await story(db, work.subject)).count("sending") == 1


async def test_a_claim_that_is_no_longer_ours_may_not_announce(db: Database) -> None:
    work = await claimed(db, Stage.SEND)
    await take(db, work.subject)

    with pytest.raises(LeaseLost):
        await intend(db, work)

    assert await sends_of(db, work.subject) == []


@pytest.mark.parametrize("stage", [Stage.SIGN, Stage.TRACK, Stage.RECONCILE])
async def test_only_a_claim_to_send_may_announce(db: Database, stage: Stage) -> None:
    work = await claimed(db, stage)
    before = await sends_of(db, work.subject)

    with pytest.raises(LeaseLost):
        await intend(db, work)

    assert await sends_of(db, work.subject) == before


@pytest.mark.parametrize("outcome", ["intended", "unknown"])
async def test_nothing_is_announced_while_an_earlier_send_is_not_resolved(db: Database, outcome: str) -> None:
    first = await announced(db)
    await rows(db, "UPDATE sends SET outcome = %(o)s", o=outcome)
    second = await take(db, first.subject)

    with pytest.raises(SendInDoubt):
        await intend(db, second)

    assert await sends_of(db, first.subject) == [(first.epoch, outcome)]


@pytest.mark.parametrize("outcome", ["not_sent", "not_known", "refused", "received"])
async def test_an_earlier_send_that_is_resolved_is_no_obstacle(db: Database, outcome: str) -> None:
    first = await announced(db)
    await rows(db, "UPDATE sends SET outcome = %(o)s", o=outcome)
    second = await take(db, first.subject)

    await intend(db, second)

    assert await sends_of(db, first.subject) == [(first.epoch, outcome), (second.epoch, "intended")]


async def test_a_receipt_closes_the_send_and_makes_asking_due(db: Database) -> None:
    work = await announced(db)

    await db.run(bookings.received, work, at=AT, track_id=TrackId("t-9"), after=SOON, reply={"trackId": "t-9"})

    kept = await submission(db, work.subject)
    assert (kept["track_id"], kept["first_answer_at"], kept["status"]) == ("t-9", AT, "queued")
    assert await rows(db, "SELECT outcome, track_id, answered_at FROM sends") == [
        {"outcome": "received", "track_id": "t-9", "answered_at": AT}
    ]
    due = await waiting(db, work.subject)
    assert (due["stage"], due["host"], due["attempt"]) == ("track", "ecf", 0)
    assert 25 < due["due_in"] <= 30


# --- Doubt -------------------------------------------------------------------------------------------------------


async def test_a_doubt_leaves_send_and_number_unknown_and_makes_asking_due(db: Database) -> None:
    work = await announced(db)
    before = await waiting(db, work.subject)

    await db.run(bookings.doubt, work, at=AT, after=SOON, error="connection reset")

    assert await sends_of(db, work.subject) == [(work.epoch, "unknown")]
    kept = await submission(db, work.subject)
    assert (kept["status"], kept["number_fate"]) == ("queued", "unknown")
    due = await waiting(db, work.subject)
    assert (due["stage"], due["attempt"], due["last_error"]) == ("reconcile", 0, "connection reset")
    assert due["entered_at"] > before["entered_at"]


async def test_a_doubt_about_a_doubt_goes_on_counting(db: Database) -> None:
    work = await claimed(db, Stage.RECONCILE)
    before = await waiting(db, work.subject)

    await db.run(bookings.doubt, work, at=AT, after=SOON, error="still")

    due = await waiting(db, work.subject)
    assert (due["attempt"], due["entered_at"]) == (work.attempt, before["entered_at"])


async def test_sending_again_counts_on_from_the_sends_there_were(db: Database) -> None:
    subject = (await claimed(db, Stage.SEND)).subject
    for number in range(1, 4):
        work = await take(db, subject)
        await intend(db, work)
        await db.run(bookings.doubt, work, at=AT, after=SOON, error="timeout")
        for _ in range(3):  # however often it was asked in between
            asking = await take(db, subject)
            await db.run(bookings.retry, asking, at=AT, after=SOON, error="503")
        await db.run(bookings.resend, await take(db, subject), at=AT, after=SOON, reason="unknown there")
        due = await waiting(db, subject)
        assert (due["stage"], due["attempt"]) == ("send", number)
    assert (await take(db, subject)).attempt == 4
    assert [outcome for _, outcome in await sends_of(db, subject)] == ["not_known"] * 3


async def test_a_verdict_found_by_asking_closes_all_sends_in_doubt(db: Database) -> None:
    work = await claimed(db, Stage.RECONCILE)

    await db.run(
        bookings.verdict, work, at=AT, status=Status.ACCEPTED, track_id=TrackId("t"), response={}, fate=NumberFate.USED
    )

    assert [outcome for _, outcome in await sends_of(db, work.subject)] == ["received"]
    assert (await submission(db, work.subject))["number_fate"] == "used"


async def test_waiting_for_a_verdict_counts_polls_and_tells_each_change_once(db: Database) -> None:
    work = await claimed(db, Stage.TRACK)
    said = {"trackStatus": {"estado": "En Proceso"}}

    await db.run(bookings.processing, work, at=AT, after=SOON, response=said)
    await db.run(bookings.processing, await take(db, work.subject), at=AT + SOON, after=SOON, response=said)
    await db.run(bookings.processing, await take(db, work.subject), at=AT + SOON, after=SOON, response={"b": 2})

    kept = await submission(db, work.subject)
    assert (kept["status"], kept["response"]) == ("En Proceso", {"b": 2})
    assert (await story(db, work.subject)).count("processing") == 2
    assert (await waiting(db, work.subject))["attempt"] == 3


# --- What the tables themselves refuse ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE submissions SET status = 'Aceptado'",  # a verdict without its moment
        "UPDATE submissions SET verdict_at = now()",  # a moment without a verdict
        "UPDATE submissions SET status = 'lost'",
        "UPDATE submissions SET number_fate = 'spent'",
        "UPDATE submissions SET environment = 'prod'",
        "UPDATE submissions SET root = 'ARECF'",
        "UPDATE outbox SET stage = 'deliver'",
        "UPDATE outbox SET environment = ''",
        "UPDATE outbox SET host = 'status'",
        "UPDATE sends SET outcome = 'perhaps'",
        "UPDATE sends SET digest = 'short'",
    ],
)
async def test_the_tables_refuse_what_cannot_be(db: Database, change: str) -> None:
    await announced(db)

    with pytest.raises(psycopg.errors.CheckViolation):
        await rows(db, change)


async def test_a_submission_waits_for_one_thing_at_a_time(db: Database) -> None:
    work = await announced(db)

    with pytest.raises(psycopg.errors.UniqueViolation):
        await rows(
            db,
            "INSERT INTO outbox (tenant_id, subject, stage, environment, run_at)"
            " VALUES (%(tenant)s, %(subject)s, 'track', 'ecf', now())",
            tenant=work.tenant_id,
            subject=work.subject,
        )


_UPDATES = """
    SELECT coalesce(sum(pg_stat_get_xact_tuples_updated(i.inhrelid)), 0)::int,
           coalesce(sum(pg_stat_get_xact_tuples_hot_updated(i.inhrelid)), 0)::int
      FROM pg_inherits AS i
     WHERE i.inhparent = 'submissions'::regclass
"""


@pytest.mark.parametrize("known", [ISSUED_ON, None], ids=["stated", "filled in"])
async def test_signing_writes_to_no_index_of_submissions(db: Database, known: date | None) -> None:
    """Its day of issue is in an index, and is stored when the receipt is accepted: the stated one, or today's."""
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant, at=AT, facts=UNKNOWN._replace(issued_on=known))
    document = replace(DOCUMENT, buyer_rnc="131880681", facts=FACTS._replace(issued_on=ISSUED_ON))
    work = await take(db, subject)

    async def updates(conn: Conn) -> tuple[int, int]:
        async with conn.transaction():
            await bookings.signed(conn, work, document, at=AT)
            cursor = await conn.execute(_UPDATES)
            updated, without_index = await cursor.fetchone() or (0, 0)
            return updated, without_index

    assert await db.run(updates) == (1, 1)
    assert (await submission(db, subject))["issued_on"] == ISSUED_ON
