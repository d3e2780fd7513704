"""The database's functions follow the table of transitions, as written and as run."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from fe.actors.outcomes import fate_of
from fe.authority.client import Verdict
from fe.authority.estado import Estado
from fe.ecf.ids import new_id
from fe.identifiers import ActionId, SubmissionId, TrackId
from fe.lifecycle import FINAL, MOVES, TABLE, Life, Move, NumberFate, Place, Stage, Status, StepOutcome
from fe.store.postgres.db import Database
from fe.store.queue import dead_letters
from fe.store.queue.audit import OperatorAction
from fe.store.queue.outbox import Work
from fe.store.records import submissions
from tests.factories import bookings
from tests.factories.tenants import (
    DOCUMENT,
    LEASE,
    SIGNED,
    digest_of,
    make_submission,
    make_tenant,
    new_submission,
    rows,
    submission,
    take,
)
from tests.lifecycle import sql
from tests.lifecycle.histories import lived
from tests.store.test_sql import in_python

AT = datetime(2026, 11, 6, 15, 0, 0, tzinfo=UTC)
SOON = timedelta(seconds=30)

#: Outcomes of each database function. (REMARKED is written beside them: see the statements in Python.)
OUTCOMES: dict[str, tuple[StepOutcome, ...]] = {
    "accept_submission": (StepOutcome.ACCEPTED,),
    "accept_submissions": (StepOutcome.ACCEPTED,),
    "book_signed_batch": (StepOutcome.SIGNED, StepOutcome.NUMBER_TAKEN),
    "book_number_taken_batch": (StepOutcome.NUMBER_TAKEN,),
    "book_failure_batch": (StepOutcome.FAILED, StepOutcome.NUMBER_TAKEN),
    "intend_to_send_batch": (StepOutcome.ANNOUNCED, StepOutcome.ANNOUNCED_AGAIN),
    "book_received_batch": (StepOutcome.RECEIVED,),
    "book_processing_batch": (StepOutcome.PROCESSING, StepOutcome.STILL_PROCESSING),
    "book_doubt_batch": (StepOutcome.IN_DOUBT,),
    "book_resend_batch": (StepOutcome.NOT_KNOWN,),
    "book_verdict_batch": (StepOutcome.VERDICT,),
    "book_retry_batch": (StepOutcome.RETRY, StepOutcome.GIVEN_BACK),
    "book_dead_letter_batch": (StepOutcome.OUT_OF_ATTEMPTS,),
    "replay_dead_letter": (StepOutcome.REPLAYED,),
    "discard_dead_letter": (StepOutcome.DISCARDED,),
    "void_numbers": (StepOutcome.VOIDED,),
}

#: Outcomes that a function may add in the same commit; they move nothing.
ALSO: dict[str, tuple[StepOutcome, ...]] = {"book_signed_batch": (StepOutcome.REMARKED, StepOutcome.ANNOUNCED)}


# --- As they are written -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def definitions(postgres: str, template: str) -> dict[str, str]:
    """The functions of a migrated database, as its catalogue has them."""
    with psycopg.connect(postgres, dbname=template, autocommit=True) as conn:
        found: list[tuple[str, str]] = conn.execute(
            """SELECT p.proname, pg_get_functiondef(p.oid)
                 FROM pg_proc AS p
                WHERE p.pronamespace = current_schema()::regnamespace AND p.prokind = 'f'"""
        ).fetchall()
    assert len(found) == len(dict(found)), "two functions have one name"
    return dict(found)


@pytest.fixture(scope="module")
def defaults(postgres: str, template: str) -> dict[str, str]:
    """Default values of columns of `submissions`."""
    with psycopg.connect(postgres, dbname=template, autocommit=True) as conn:
        found = conn.execute(
            """SELECT column_name, column_default FROM information_schema.columns
                WHERE table_schema = current_schema() AND table_name = 'submissions' AND column_default IS NOT NULL"""
        ).fetchall()
    return {name: default.partition("::")[0] for name, default in found}


def test_no_function_has_a_part_in_a_submission_s_life_but_these(definitions: dict[str, str]) -> None:
    found = {name for name, text in definitions.items() if sql.moves_a_submission(text)}

    assert found - sql.HELPERS == set(OUTCOMES)
    brought_about = [outcome for outcomes in (*OUTCOMES.values(), *ALSO.values()) for outcome in outcomes]
    assert set(brought_about) == set(StepOutcome)


@pytest.mark.parametrize("function", OUTCOMES)
def test_a_function_writes_what_the_table_says_and_nothing_else(
    definitions: dict[str, str], defaults: dict[str, str], function: str
) -> None:
    lines = [line for line in TABLE if line.outcome in OUTCOMES[function]]
    also = [line for line in TABLE if line.outcome in ALSO.get(function, ())]

    written = sql.read(function, definitions, defaults)

    assert written == sql.Effects(
        to=frozenset(place for line in lines for place in (line.to or (sql.STAYS,))),
        status=said_or(frozenset(line.status for line in lines if line.status), written.status),
        fate=said_or(frozenset(fate for line in lines for fate in line.fate or ()), written.fate),
        events=frozenset(line.event for line in (*lines, *also) if line.event),
    )


def said_or(values: frozenset[str], written: frozenset[str]) -> frozenset[str]:
    """The values of the table, or that the caller says which of several: see what callers say, below."""
    told = frozenset({sql.SAID})
    return told if len(values) > 1 and written == told else values


@pytest.mark.parametrize(
    ("function", "was", "now"),
    [
        ("book_received_batch", "'track'", "'reconcile'"),
        ("book_resend_batch", "stage = 'send'", "stage = 'sign'"),
        ("book_doubt_batch", "number_fate = 'unknown', ", ""),
        ("book_dead_letter_batch", "SET updated_at", "SET status = 'error', updated_at"),
        ("book_retry_batch", "SET run_at", "SET stage = 'sign', run_at"),
        ("book_processing_batch", "'En Proceso', response", "'queued', response"),
        ("book_verdict_batch", "'verdict'", "'processing'"),
        ("book_failure_batch", "complete_batch(p_tenants, p_subjects, p_epochs)", "p_subjects"),
        ("book_number_taken_batch", "'used'", "'reusable'"),
        ("book_signed_batch", "PERFORM book_number_taken_batch(", "PERFORM length("),
        ("book_signed_batch", "PERFORM announce_batch(", "PERFORM length("),
        ("book_signed_batch", "'remarked'", "'retry'"),
        ("discard_dead_letter", "ELSE 'reusable'", "ELSE 'used'"),
        ("void_numbers", "SET number_fate = 'void'", "SET number_fate = 'used'"),
        ("replay_dead_letter", "dead.stage;", "'sign';"),
        ("accept_submission", "'sign'", "'send'"),
        ("accept_submissions", "'sign'", "'send'"),
        ("accept_submissions", "'accepted', x.detail,", "'signed', x.detail,"),
    ],
)
def test_a_function_that_wrote_something_else_would_be_seen(
    definitions: dict[str, str], defaults: dict[str, str], function: str, was: str, now: str
) -> None:
    assert was in definitions[function]
    bent = {**definitions, function: definitions[function].replace(was, now)}

    assert sql.read(function, bent, defaults) != sql.read(function, definitions, defaults)


def test_nothing_but_these_functions_moves_a_submission() -> None:
    """Other statements in Python may make work due sooner or later, and no more."""
    moves = re.compile(
        r"(INSERT INTO|UPDATE|DELETE FROM)\s+(submissions|submission_events|dead_letters)\b"
        r"|(INSERT INTO|DELETE FROM)\s+outbox\b|UPDATE\s+outbox\b[^;]*\bstage\s*=[^;]*\bWHERE\b|record_event\("
    )

    assert [str(one) for one in in_python() if moves.search(one.text.partition("FROM picked")[0])] == []


def test_the_database_s_codes_are_those_of_the_module(postgres: str, template: str) -> None:
    with psycopg.connect(postgres, dbname=template, autocommit=True) as conn:
        checks: dict[str, str] = dict(
            conn.execute(
                """SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint
                    WHERE conname IN ('stage_known', 'submission_status_known', 'number_fate_known',
                                      'submissions_verdict_dated')
                      AND (contypid <> 0 OR conrelid = 'submissions'::regclass)"""
            ).fetchall()
        )
    codes = {name: set(re.findall(r"'([^']+)'::text", text)) for name, text in checks.items()}

    assert codes == {
        "stage_known": set(Stage),
        "submission_status_known": set(Status),
        "number_fate_known": set(NumberFate),
        "submissions_verdict_dated": FINAL - {Status.ERROR},
    }


def test_what_callers_say_of_a_verdict_s_number_is_what_the_table_allows() -> None:
    """The one thing that the functions are told and do not know themselves."""
    said = {Estado.ACCEPTED: Status.ACCEPTED, Estado.CONDITIONAL: Status.CONDITIONAL, Estado.REJECTED: Status.REJECTED}
    plain = Verdict(Estado.REJECTED, (), None, None, None, None, {})
    possible = {
        (status, fate_of(replace(plain, estado=estado, number_used=used)))
        for estado, status in said.items()
        for used in (True, False, None)
    }

    assert possible == {(move.status, move.fate) for move in MOVES if move.outcome is StepOutcome.VERDICT}


# --- As they run -------------------------------------------------------------------------------------------------

Drive = Callable[[Database, Work, Move], Awaitable[Any]]


REMARKS = ({"code": "tax-rate-assumed"},)


async def _sign(db: Database, work: Work, _: Move) -> None:
    await db.run(bookings.signed, work, DOCUMENT, at=AT)


async def _sign_a_number_that_is_taken(db: Database, work: Work, move: Move) -> None:
    """Remarks or none: nothing was made."""
    number = (await submission(db, work.subject))["e_ncf"]
    other = await make_submission(db, work.tenant_id, stage=Stage.SEND, e_ncf=number)
    assert other != work.subject
    await db.run(bookings.signed, work, replace(DOCUMENT, remarks=REMARKS), at=AT)


async def _announce(db: Database, work: Work, _: Move) -> None:
    await db.run(bookings.intend_to_send, work, at=AT, lease=LEASE, digest=digest_of(SIGNED))


async def _fail(db: Database, work: Work, move: Move) -> None:
    assert move.fate is not None
    await db.run(bookings.failure, work, at=AT, response={"error": "no"}, fate=move.fate)


async def _judge(db: Database, work: Work, move: Move) -> None:
    assert move.status is not None
    assert move.fate is not None
    await db.run(bookings.verdict, work, at=AT, status=move.status, track_id=TrackId("t"), response={}, fate=move.fate)


def _booking(write: Callable[..., Awaitable[Any]], **values: Any) -> Drive:
    async def drive(db: Database, work: Work, _: Move) -> None:
        await db.run(write, work, at=AT, **values)

    return drive


def _operator(write: Callable[..., Awaitable[Any]]) -> Drive:
    async def drive(db: Database, work: Work, _: Move) -> None:
        assert await db.transact(
            write, OperatorAction(ActionId(new_id(AT)), AT, "eva", "it is time"), work.tenant_id, work.subject
        )

    return drive


async def _void(db: Database, work: Work, _: Move) -> None:
    given = {"tenant": work.tenant_id, "submission": work.subject, "at": AT}
    await rows(db, "SELECT void_numbers(%(tenant)s, ARRAY[%(submission)s], %(at)s, gen_random_uuid())", **given)


async def _void_meanwhile(db: Database, work: Work) -> None:
    await rows(
        db,
        """INSERT INTO voided_ranges
                  (tenant_id, environment, prefix, first_number, last_number, voiding_id, fate, reason)
           SELECT tenant_id, environment, left(e_ncf, 3), substr(e_ncf, 4)::bigint, substr(e_ncf, 4)::bigint,
                  gen_random_uuid(), 'asked', 8
             FROM submissions
            WHERE submission_id = %(id)s""",
        id=work.subject,
    )


_PROCESSING = _booking(bookings.processing, after=SOON, response={"said": "En Proceso"})

#: Which function brings about which outcome, and how it is called.
DRIVES: dict[tuple[str, StepOutcome], Drive] = {
    ("book_signed_batch", StepOutcome.SIGNED): _sign,
    ("book_signed_batch", StepOutcome.NUMBER_TAKEN): _sign_a_number_that_is_taken,
    ("book_failure_batch", StepOutcome.FAILED): _fail,
    ("book_failure_batch", StepOutcome.NUMBER_TAKEN): _fail,
    ("intend_to_send_batch", StepOutcome.ANNOUNCED): _announce,
    ("intend_to_send_batch", StepOutcome.ANNOUNCED_AGAIN): _announce,
    ("book_received_batch", StepOutcome.RECEIVED): _booking(
        bookings.received, track_id=TrackId("t"), after=SOON, reply={}
    ),
    ("book_processing_batch", StepOutcome.PROCESSING): _PROCESSING,
    ("book_processing_batch", StepOutcome.STILL_PROCESSING): _PROCESSING,
    ("book_doubt_batch", StepOutcome.IN_DOUBT): _booking(bookings.doubt, after=SOON, error="why"),
    ("book_resend_batch", StepOutcome.NOT_KNOWN): _booking(bookings.resend, after=SOON, reason="why"),
    ("book_verdict_batch", StepOutcome.VERDICT): _judge,
    ("book_retry_batch", StepOutcome.RETRY): _booking(bookings.retry, after=SOON, error="why"),
    ("book_retry_batch", StepOutcome.GIVEN_BACK): _booking(bookings.retry, after=SOON, error="why", counts=False),
    ("book_dead_letter_batch", StepOutcome.OUT_OF_ATTEMPTS): _booking(bookings.dead_letter, error="why"),
    ("replay_dead_letter", StepOutcome.REPLAYED): _operator(dead_letters.replay),
    ("discard_dead_letter", StepOutcome.DISCARDED): _operator(dead_letters.discard),
    ("void_numbers", StepOutcome.VOIDED): _void,
}
#: It asks for the state in which a failure leaves a submission.
_OF_ANY_STATE = [pair for pair in DRIVES if pair[1] is not StepOutcome.VOIDED]


@dataclass(frozen=True)
class Seen:
    """A submission as the database has it."""

    place: Place
    status: Status
    fate: NumberFate
    events: int


async def look(db: Database, subject: SubmissionId) -> Seen:
    record = await submission(db, subject)
    (found,) = await rows(
        db,
        """SELECT (SELECT stage FROM outbox WHERE subject = %(id)s) AS stage,
                  (SELECT 'dead_letter' FROM dead_letters WHERE subject = %(id)s) AS dead,
                  (SELECT count(*) FROM submission_events WHERE submission_id = %(id)s) AS events""",
        id=subject,
    )
    assert found["stage"] is None or found["dead"] is None
    place = Place(found["stage"] or found["dead"] or Place.ENDED)
    return Seen(place, Status(record["status"]), NumberFate(record["number_fate"]), found["events"])


async def events_of(db: Database, subject: SubmissionId) -> list[tuple[str, dict[str, Any]]]:
    found = await rows(
        db, "SELECT kind, detail FROM submission_events WHERE submission_id = %(id)s ORDER BY seq", id=subject
    )
    return [(event["kind"], event["detail"]) for event in found]


async def brought_to(db: Database, move: Move) -> Work:
    """A submission in the place where a move begins, as life brings it there, claimed if there is anything to claim."""
    if move.before is Place.DEAD_LETTER:
        died_in = Stage(move.to) if move.outcome is StepOutcome.REPLAYED else Stage.SEND
        subject = await make_submission(db, await make_tenant(db), stage=died_in)
        work = await take(db, subject)
        if move.fate is NumberFate.UNKNOWN:
            await _announce(db, work, move)
        if move.fate is NumberFate.USED:
            await _void_meanwhile(db, work)
        await db.run(bookings.dead_letter, work, at=AT, error="why")
        return work
    stage = Stage.SIGN if move.before is Place.ENDED else Stage(move.before)
    work = await take(db, await make_submission(db, await make_tenant(db), stage=stage))
    if move.before is Place.ENDED:
        await db.run(bookings.failure, work, at=AT, response={"error": "no"}, fate=NumberFate.REUSABLE)
    if move.outcome is StepOutcome.ANNOUNCED_AGAIN:
        await _announce(db, work, move)
    if move.outcome is StepOutcome.STILL_PROCESSING:
        await _PROCESSING(db, work, move)
        work = await take(db, work.subject)
    return work


def test_every_move_of_the_table_is_driven() -> None:
    assert {(name, outcome) for name, outcomes in OUTCOMES.items() for outcome in outcomes} == {
        ("accept_submission", StepOutcome.ACCEPTED),
        ("accept_submissions", StepOutcome.ACCEPTED),
        ("book_number_taken_batch", StepOutcome.NUMBER_TAKEN),  # which book_signed_batch calls
        *DRIVES,
    }


@pytest.mark.parametrize(("function", "outcome"), DRIVES)
async def test_a_function_does_what_the_table_says(db: Database, function: str, outcome: StepOutcome) -> None:
    for move in [move for move in MOVES if move.outcome is outcome]:
        work = await brought_to(db, move)
        before = await look(db, work.subject)
        assert before.place is move.before

        await DRIVES[function, outcome](db, work, move)

        after = await look(db, work.subject)
        events = before.events + (move.event is not None)
        assert after == Seen(move.to, move.status or before.status, move.fate or before.fate, events), move
        told = await events_of(db, work.subject)
        assert move.event in (None, told[-1][0])
        assert lived(told) == Life(after.place, after.status, after.fate)


@pytest.mark.parametrize(("function", "outcome"), _OF_ANY_STATE)
async def test_what_the_table_does_not_change_stays_whatever_it_was(
    db: Database, function: str, outcome: StepOutcome
) -> None:
    for move in [move for move in MOVES if move.outcome is outcome]:
        work = await brought_to(db, move)
        await rows(db, "UPDATE submissions SET status = 'En Proceso', number_fate = 'unknown', verdict_at = NULL")

        await DRIVES[function, outcome](db, work, move)

        after = await look(db, work.subject)
        assert (after.status, after.fate) == (move.status or Status.PROCESSING, move.fate or NumberFate.UNKNOWN), move


@pytest.mark.parametrize("together", [False, True])
async def test_acceptance_does_what_the_table_says(db: Database, together: bool) -> None:
    (move,) = (move for move in MOVES if move.outcome is StepOutcome.ACCEPTED)
    new = new_submission(await make_tenant(db))

    if together:
        await db.run(submissions.accept_many, [(new, AT)])
    else:
        await db.run(submissions.accept, new, AT)

    after = await look(db, new.submission_id)
    assert (after.place, after.status, after.fate, after.events) == (move.to, move.status, move.fate, 1)
    assert [kind for kind, _ in await events_of(db, new.submission_id)] == [move.event]


async def test_what_was_assumed_is_told_beside_the_signature(db: Database) -> None:
    (move,) = (move for move in MOVES if move.outcome is StepOutcome.REMARKED)
    work = await take(db, await make_submission(db, await make_tenant(db)))

    await db.run(bookings.signed, work, replace(DOCUMENT, remarks=REMARKS), at=AT)

    after = await look(db, work.subject)
    told = await events_of(db, work.subject)
    assert [kind for kind, _ in told] == ["accepted", "signed", move.event]
    assert told[-1][1] == {"problems": list(REMARKS)}
    assert lived(told) == Life(after.place, after.status, after.fate) == Life(place=move.before)
    record = await db.run(submissions.find, work.tenant_id, work.subject)
    assert record is not None
    assert record.warnings == list(REMARKS)


async def test_a_replay_asks_first_where_bytes_may_have_gone_out(db: Database) -> None:
    """The one replay that does not lead back to where it died."""
    move = next(one for one in MOVES if one.outcome is StepOutcome.OUT_OF_ATTEMPTS and one.before is Place.SEND)
    work = await brought_to(db, move)
    await _announce(db, work, move)
    await db.run(bookings.dead_letter, work, at=AT, error="why")

    await DRIVES["replay_dead_letter", StepOutcome.REPLAYED](db, work, move)

    assert (await look(db, work.subject)).place is Place.RECONCILE
    assert lived(await events_of(db, work.subject)).place is Place.RECONCILE
