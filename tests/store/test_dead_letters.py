"""Dead letters and pauses for operators, each act with its reason on record."""

from datetime import timedelta
from uuid import uuid4

import pytest

from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.identifiers import ActionId, SubmissionId, TenantId, TrackId
from fe.lifecycle import Stage
from fe.store.postgres.db import Database
from fe.store.postgres.errors import LeaseLost
from fe.store.queue import audit, circuits, dead_letters, diagnosis, outbox, pauses, steps
from fe.store.queue.audit import OperatorAction
from fe.store.queue.dead_letters import DeadLetter, DeadLetterFilter
from fe.store.queue.outbox import OutboxLane
from tests.factories import bookings
from tests.factories.tenants import (
    ACCEPTED_AT,
    claim_all,
    digest_of,
    make_submission,
    make_tenant,
    row,
    rows,
    sends_of,
    story,
    submission,
    take,
)
from tests.factories.tenants import waiting as outbox_row

DIED_AT = ACCEPTED_AT + timedelta(minutes=9)
NOW = ACCEPTED_AT + timedelta(hours=1)
EVERYTHING = DeadLetterFilter()


def act(reason: str = "the authority is back", by: str = "eva") -> OperatorAction:
    return OperatorAction(ActionId(new_id(NOW)), NOW, by, reason)


async def make_dead(
    db: Database, tenant: TenantId, *, stage: Stage = Stage.SEND, error: str = "cannot connect", **more: object
) -> SubmissionId:
    """A submission that gave up in `stage`."""
    subject = await make_submission(db, tenant, stage=stage, **more)  # type: ignore[arg-type]  # handed on
    await db.run(bookings.dead_letter, await take(db, subject), at=DIED_AT, error=error)
    return subject


async def listed(db: Database, which: DeadLetterFilter = EVERYTHING, limit: int = 100) -> list[DeadLetter]:
    return await db.run(dead_letters.listed, which, limit)


async def subjects(db: Database, which: DeadLetterFilter) -> set[SubmissionId]:
    return {letter.subject for letter in await listed(db, which)}


# --- Reading ----------------------------------------------------------------------------------------------------------


async def test_a_dead_letter_is_listed_with_what_an_operator_wants_to_see(db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_dead(db, tenant, stage=Stage.RECONCILE, error="no answer")

    (letter,) = await listed(db)

    assert (letter.tenant_id, letter.subject, letter.stage, letter.error) == (tenant, subject, "reconcile", "no answer")
    assert (letter.environment, letter.host, letter.root) == ("ecf", "ecf", "ECF")
    assert (letter.e_ncf, letter.issuer_rnc) == ("E310000000001", "131880738")
    assert (letter.died_at, letter.crash_count, letter.attempt) == (DIED_AT, 0, 1)
    assert letter.sent_sha256 == digest_of(b'<?xml version="1.0" encoding="utf-8"?><ECF>signed</ECF>').hex()
    assert (letter.sends, letter.open_sends, letter.last_sent_at) == (1, 1, ACCEPTED_AT)
    assert letter.accepted_instead is None
    assert (letter.paused_by, letter.circuit_open) == (None, False)


async def test_what_is_sent_of_a_summarised_invoice_is_its_summary(db: Database) -> None:
    await make_dead(db, await make_tenant(db), summary=True, ecf_type="32", e_ncf="E320000000001")

    (letter,) = await listed(db)

    assert letter.sent_sha256 == digest_of(b"<RFCE>signed</RFCE>").hex()


async def test_each_filter_takes_its_own(db: Database) -> None:
    one, two = [await make_tenant(db) for _ in range(2)]
    signing = await make_dead(db, one, stage=Stage.SIGN, error="no certificate available")
    sending = await make_dead(db, two, error="authority answered with status 503", e_ncf="E310000000002")
    test = await make_dead(db, two, environment=Environment.TESTECF, e_ncf="E310000000003")

    assert await subjects(db, EVERYTHING) == {signing, sending, test}
    assert await subjects(db, DeadLetterFilter(tenant_id=one)) == {signing}
    assert await subjects(db, DeadLetterFilter(environment=Environment.TESTECF)) == {test}
    assert await subjects(db, DeadLetterFilter(stage=Stage.SIGN)) == {signing}
    assert await subjects(db, DeadLetterFilter(error="STATUS 503")) == {sending}
    assert await subjects(db, DeadLetterFilter(error="100%")) == set()
    assert await subjects(db, DeadLetterFilter(e_ncf="E310000000003")) == {test}
    assert await subjects(db, DeadLetterFilter(subjects=[signing, test])) == {signing, test}
    assert await subjects(db, DeadLetterFilter(tenant_id=two, stage=Stage.SIGN)) == set()


async def test_the_longest_dead_come_first_and_only_as_many_as_asked_for(db: Database) -> None:
    tenant = await make_tenant(db)
    made = [await make_dead(db, tenant, e_ncf=f"E31000000000{n}") for n in range(3)]
    for hours, subject in zip((1, 3, 2), made, strict=True):
        await rows(
            db,
            "UPDATE dead_letters SET died_at = now() - %(ago)s WHERE subject = %(id)s",
            ago=timedelta(hours=hours),
            id=subject,
        )

    assert [letter.subject for letter in await listed(db, limit=2)] == [made[1], made[2]]
    assert await subjects(db, DeadLetterFilter(older_than=timedelta(minutes=90))) == {made[1], made[2]}
    assert await db.run(dead_letters.counted) == [("send", "ecf", 3)]


async def test_what_a_replay_would_run_into_is_listed_too(db: Database) -> None:
    tenant = await make_tenant(db)
    certificate = uuid4()
    await rows(
        db,
        """INSERT INTO certificates (tenant_id, certificate_id, p12, holder, serial_number, not_before, not_after)
           VALUES (%(tenant)s, %(id)s, '', 'Ana', '1', %(from)s, %(to)s)""",
        tenant=tenant,
        id=certificate,
        to=DIED_AT,
        **{"from": ACCEPTED_AT},
    )
    await rows(
        db,
        """INSERT INTO sequences (tenant_id, environment, prefix, sequence_id, min_number, max_number, current_number,
                                  expire_at)
           VALUES (%(tenant)s, 'ecf', 'E31', %(id)s, 1, 100, 2, %(expire)s)""",
        tenant=tenant,
        id=uuid4(),
        expire=DIED_AT,
    )
    subject = await make_dead(db, tenant, certificate_id=certificate)
    accepted = await make_submission(db, tenant, stage=Stage.TRACK, track_id=TrackId("track-2"))
    await db.run(bookings.verdict, await take(db, accepted), at=NOW)
    # One number for both: neither was owned before.
    await rows(db, "UPDATE submissions SET e_ncf = 'E310000000001'")
    await db.transact(pauses.pause, act(by="ana"), None, Environment.ECF)
    await db.run(circuits.open_circuit, "ecf", "ecf", "5 exchanges in a row failed", timedelta(seconds=3))

    (letter,) = await listed(db)

    assert letter.subject == subject
    assert (letter.certificate_until, letter.sequence_until) == (DIED_AT, DIED_AT)
    assert letter.accepted_instead == accepted
    assert (letter.paused_by, letter.circuit_open) == ("ana", True)


async def test_before_signing_the_tenant_s_certificates_in_use_are_looked_at(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_dead(db, tenant, stage=Stage.SIGN)
    (without,) = await listed(db)
    add = """INSERT INTO certificates (tenant_id, certificate_id, user_id, p12, holder, serial_number, not_before,
                                       not_after, retired_at)
             VALUES (%(tenant)s, gen_random_uuid(), NULL, '', 'Ana', '1', now(), %(to)s, %(retired)s)"""
    await rows(db, add, tenant=tenant, to=NOW, retired=DIED_AT)
    await rows(db, add, tenant=tenant, to=DIED_AT, retired=None)

    (letter,) = await listed(db)

    assert without.certificate_until is None
    assert (letter.certificate_id, letter.certificate_until) == (None, DIED_AT)


# --- Replaying and discarding -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("died_in", "goes_to"),
    [
        pytest.param(Stage.SIGN, "sign", id="never signed: sign it"),
        pytest.param(Stage.SEND, "send", id="signed and never sent: send it"),
        pytest.param(Stage.RECONCILE, "reconcile", id="in doubt: ask"),
        pytest.param(Stage.TRACK, "track", id="received: ask for the verdict"),
    ],
)
async def test_a_replay_goes_on_where_it_gave_up_with_attempts_afresh(
    db: Database, died_in: Stage, goes_to: str
) -> None:
    subject = await make_dead(db, await make_tenant(db), stage=died_in)
    dead = await row(db, "SELECT * FROM dead_letters")

    stage = await db.transact(dead_letters.replay, act(), dead["tenant_id"], subject)

    assert stage == goes_to
    going = await outbox_row(db, subject)
    assert (going["stage"], going["attempt"], going["deaths"], going["holder"]) == (goes_to, 0, 0, None)
    assert (going["epoch"], going["environment"], going["host"]) == (dead["epoch"], dead["environment"], dead["host"])
    assert going["due_in"] <= 0
    assert await listed(db) == []
    record = await submission(db, subject)
    assert (record["status"], record["response"]) == ("queued", None)


async def test_a_replay_asks_first_where_bytes_may_have_gone_out(db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant, stage=Stage.SEND)
    work = await take(db, subject)
    await db.run(
        bookings.intend_to_send, work, at=ACCEPTED_AT, lease=timedelta(seconds=60), digest=digest_of(b"signed")
    )
    await db.run(bookings.dead_letter, await take(db, subject), at=DIED_AT, error="died")

    assert await db.transact(dead_letters.replay, act(), tenant, subject) == "reconcile"

    assert await sends_of(db, subject) == [(work.epoch, "intended")]


async def test_a_replay_sends_at_once_what_certainly_was_not_sent(db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant, stage=Stage.SEND)
    work = await take(db, subject)
    await db.run(bookings.intend_to_send, work, at=ACCEPTED_AT, lease=timedelta(seconds=60), digest=digest_of(b""))
    await db.run(bookings.retry, work, at=ACCEPTED_AT, after=timedelta(0), error="refused")
    await db.run(bookings.dead_letter, await take(db, subject), at=DIED_AT, error="refused")

    assert await db.transact(dead_letters.replay, act(), tenant, subject) == "send"


@pytest.mark.parametrize("operator_s_clock", [timedelta(hours=-1), timedelta(hours=1)], ids=["behind", "ahead"])
async def test_a_replay_forgets_the_sends_before_it_and_counts_those_after_it_by_whatever_clock(
    db: Database, operator_s_clock: timedelta
) -> None:
    tenant = await make_tenant(db)
    subject = await make_dead(db, tenant, stage=Stage.RECONCILE)
    now = ACCEPTED_AT + operator_s_clock
    await db.transact(dead_letters.replay, OperatorAction(ActionId(new_id(now)), now, "eva", "again"), tenant, subject)

    async def ask() -> tuple[int, int]:
        work = await take(db, subject)
        sends = (await db.run(steps.reconcile_facts, work)).sends
        await db.run(bookings.resend, work, at=ACCEPTED_AT, after=timedelta(0), reason="the authority does not know it")
        return sends, (await outbox_row(db, subject))["attempt"]

    first = await ask()
    work = await take(db, subject)
    await db.run(
        bookings.intend_to_send, work, at=ACCEPTED_AT, lease=timedelta(seconds=60), digest=digest_of(b"signed")
    )
    await db.run(bookings.doubt, work, at=ACCEPTED_AT, after=timedelta(0), error="timeout")

    assert first == (0, 0)
    assert await ask() == (1, 1)


async def test_a_worker_that_was_thought_dead_books_nothing_after_a_replay(db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant, stage=Stage.SEND)
    asleep = await take(db, subject)
    await db.run(bookings.dead_letter, await take(db, subject), at=DIED_AT, error="died")
    await db.transact(dead_letters.replay, act(), tenant, subject)
    anew = await take(db, subject)

    with pytest.raises(LeaseLost):
        await db.run(bookings.retry, asleep, at=NOW, after=timedelta(0), error="late")

    assert anew.epoch > asleep.epoch
    await db.run(bookings.retry, anew, at=NOW, after=timedelta(0), error="in time")


async def test_the_client_keeps_seeing_what_the_authority_said_before(db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant, stage=Stage.TRACK)
    said = {"trackStatus": {"estado": "En Proceso"}, "mensajes": []}
    await db.run(bookings.processing, await take(db, subject), at=NOW, after=timedelta(0), response=said)
    await db.run(bookings.dead_letter, await take(db, subject), at=DIED_AT, error="72 hours are over")
    dead = (await submission(db, subject))["response"]

    await db.transact(dead_letters.replay, act(), tenant, subject)

    assert dead == {**said, "status": "dead_letter", "error": "72 hours are over"}
    assert (await submission(db, subject))["response"] == said


@pytest.mark.parametrize(
    ("died_in", "fate"),
    [
        pytest.param(Stage.SIGN, "reusable", id="never signed"),
        pytest.param(Stage.SEND, "reusable", id="never sent"),
        pytest.param(Stage.RECONCILE, "unknown", id="perhaps sent"),
        pytest.param(Stage.TRACK, "unknown", id="received"),
    ],
)
async def test_a_discarded_number_is_free_only_if_certainly_nothing_went_out(
    db: Database, died_in: Stage, fate: str
) -> None:
    tenant = await make_tenant(db)
    subject = await make_dead(db, tenant, stage=died_in)

    assert await db.transact(dead_letters.discard, act("issued by hand"), tenant, subject) == fate

    record = await submission(db, subject)
    assert (record["status"], record["number_fate"]) == ("error", fate)
    assert record["response"]["status"] == "error"
    assert record["response"]["error"] == "given up by an operator (cannot connect)"
    assert await listed(db) == []
    assert await rows(db, "SELECT 1 FROM outbox") == []


async def test_the_client_of_a_discarded_one_reads_the_note_and_never_the_reason(db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_dead(db, tenant)
    reason = act("customer owes us three months; see ticket 12")

    await db.transact(dead_letters.discard, reason, tenant, subject, note="issued again as E310000000007")

    record = await submission(db, subject)
    said = "given up by an operator: issued again as E310000000007 (cannot connect)"
    assert record["response"]["error"] == said
    assert "owes us" not in str(record["response"])
    told = await row(db, "SELECT detail FROM submission_events WHERE kind = 'discarded'")
    assert (told["detail"]["reason"], told["detail"]["note"]) == (reason.reason, "issued again as E310000000007")
    (deed,) = await db.run(audit.latest, 1)
    assert deed.detail == {"numberFate": "reusable", "note": "issued again as E310000000007"}


async def test_every_act_is_on_record_with_its_reason_and_in_the_submission_s_story(db: Database) -> None:
    tenant = await make_tenant(db)
    one = await make_dead(db, tenant, e_ncf="E310000000001")
    two = await make_dead(db, tenant, e_ncf="E310000000002")

    await db.transact(dead_letters.replay, act("the authority is back", by="eva"), tenant, one)
    await db.transact(dead_letters.discard, act("issued by hand", by="ana"), tenant, two)

    deeds = await db.run(audit.latest, 10)
    assert {(d.by_whom, d.action, d.reason, d.tenant_id, d.subject) for d in deeds} == {
        ("eva", "replay", "the authority is back", tenant, one),
        ("ana", "discard", "issued by hand", tenant, two),
    }
    assert (await story(db, one))[-1] == "replayed"
    assert (await story(db, two))[-1] == "discarded"
    told = await row(db, "SELECT detail FROM submission_events WHERE kind = 'replayed'")
    assert told["detail"] == {"by": "eva", "reason": "the authority is back", "stage": "send"}


async def test_what_is_no_dead_letter_is_left_alone_and_nothing_is_recorded(db: Database) -> None:
    tenant = await make_tenant(db)
    living = await make_submission(db, tenant)

    assert await db.transact(dead_letters.replay, act(), tenant, living) is None
    assert await db.transact(dead_letters.discard, act(), tenant, living) is None
    assert await db.transact(dead_letters.replay, act(), tenant, SubmissionId(uuid4())) is None

    assert await db.run(audit.latest, 10) == []
    assert (await submission(db, living))["status"] == "queued"


async def test_an_act_without_a_reason_is_refused_whole(db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_dead(db, tenant)

    with pytest.raises(Exception, match="operator_actions_reason_given"):
        await db.transact(dead_letters.discard, act(""), tenant, subject)

    assert [letter.subject for letter in await listed(db)] == [subject]
    assert (await submission(db, subject))["status"] == "queued"


# --- Pauses -----------------------------------------------------------------------------------------------------------


async def test_a_paused_tenant_is_not_served_until_it_is_resumed_and_the_others_are(db: Database) -> None:
    stopped, other = [await make_tenant(db) for _ in range(2)]
    for tenant in (stopped, other):
        await make_submission(db, tenant)
    lane = OutboxLane(Environment.ECF)

    async def due() -> set[int]:
        turns = await db.run(outbox.due_tenants, Stage.SIGN, [(lane, TenantId(0))], 10)
        return {turn.tenant_id for turn in turns[lane]}

    assert await db.transact(pauses.pause, act(), stopped, None)
    assert await due() == {other}
    assert await db.transact(pauses.resume, act(), stopped, None)
    assert await due() == {stopped, other}


async def test_a_pause_of_one_environment_or_of_all_stops_just_that(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_submission(db, tenant)
    await make_submission(db, tenant, environment=Environment.TESTECF)
    lanes = [(OutboxLane(environment), TenantId(0)) for environment in (Environment.ECF, Environment.TESTECF)]

    async def served() -> list[str]:
        turns = await db.run(outbox.due_tenants, Stage.SIGN, lanes, 10)
        return [lane.environment for lane, found in turns.items() if found]

    await db.transact(pauses.pause, act(), None, Environment.TESTECF)
    assert await served() == ["ecf"]
    await db.transact(pauses.pause, act(), None, None)
    assert await served() == []
    await db.transact(pauses.resume, act(), None, Environment.TESTECF)
    assert await served() == []
    await db.transact(pauses.resume, act(), None, None)
    assert await served() == ["ecf", "testecf"]


async def test_what_is_in_hand_is_finished_though_its_tenant_is_paused(db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant)
    (work,) = await claim_all(db, Stage.SIGN, [tenant])

    await db.transact(pauses.pause, act(), tenant, None)

    await db.run(bookings.retry, work, at=NOW, after=timedelta(0), error="later")
    assert (await outbox_row(db, subject))["last_error"] == "later"


async def test_pausing_twice_and_resuming_what_runs_say_so_and_record_nothing(db: Database) -> None:
    tenant = await make_tenant(db)

    assert not await db.transact(pauses.resume, act(), tenant, None)
    assert await db.transact(pauses.pause, act("rework", by="eva"), tenant, Environment.ECF)
    assert not await db.transact(pauses.pause, act("again", by="ana"), tenant, Environment.ECF)

    (paused,) = await db.run(pauses.everything)
    assert (paused.tenant_id, paused.environment, paused.paused_by, paused.reason) == (tenant, "ecf", "eva", "rework")
    assert [deed.action for deed in await db.run(audit.latest, 10)] == ["pause"]


# --- What is waited for -----------------------------------------------------------------------------------------------


async def test_what_a_submission_waits_for_is_found_by_its_id_alone(db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant, stage=Stage.SEND)
    work = await take(db, subject)
    await db.run(bookings.retry, work, at=ACCEPTED_AT, after=timedelta(minutes=1), error="status 503")

    found = await db.run(diagnosis.why, subject)

    assert found is not None
    assert (found.tenant_id, found.status, found.stage, found.host) == (tenant, "queued", "send", "ecf")
    assert (found.attempt, found.last_error, found.holder) == (1, "status 503", None)
    assert found.run_at is not None
    assert timedelta(seconds=50) < found.run_at - found.now < timedelta(seconds=61)
    assert await db.run(diagnosis.why, SubmissionId(uuid4())) is None


async def test_workers_are_listed_with_what_they_have_in_hand(db: Database) -> None:
    tenant = await make_tenant(db)
    await make_submission(db, tenant)
    await claim_all(db, Stage.SIGN, [tenant], holder="one")
    await rows(db, "INSERT INTO workers VALUES ('one', now(), now()), ('two', now(), now() - interval '40 s')")

    assert [(w.holder, w.holds, w.silent_for >= 40) for w in await db.run(diagnosis.workers)] == [
        ("one", 1, False),
        ("two", 0, True),
    ]
