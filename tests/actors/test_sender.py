"""The sender: what goes where under which name, and what each answer of the authority comes to."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
import trio

from fe.actors.receipt_notes import wait_for
from fe.authority.client import Message
from fe.authority.errors import AuthorityRefused, NotDelegated, OutcomeUnknown, Unavailable
from fe.authority.estado import Estado
from fe.clock import system_clock
from fe.ecf.catalogue import EcfType, Environment, Host, Service
from fe.identifiers import SubmissionId, TrackId
from fe.lifecycle import Stage
from fe.queue import executor as loop
from fe.queue.outcome import Retry
from fe.store.postgres.db import Database
from fe.store.queue import dead_letters, outbox, steps
from fe.store.queue.steps import SignedDocument
from fe.store.records import sandbox_outages
from tests.actors.authority import (
    ACCEPTED,
    DUPLICATE,
    TRY_AGAIN,
    Unsent,
    receipt,
    state_of,
    tracked,
    verdict,
)
from tests.actors.road import make_road
from tests.factories.companies import make_certificate
from tests.factories.operators import act
from tests.factories.tenants import (
    ACCEPTED_AT,
    SIGNED,
    make_submission,
    rows,
    sends_of,
    story,
    submission,
    take,
    waiting,
)
from tests.queue.stage import make_stage, make_tools, step

pytestmark = pytest.mark.usefixtures("lawful")

DUPLICATE_AT_THE_DOOR = AuthorityRefused(
    "authority rejected with status 400", status=400, messages=(Message("1209", "ya utilizada"),), raw={"a": 1}
)


@pytest.mark.parametrize(
    ("made", "service", "name", "content"),
    [
        ({}, Service.RECEPTION, "131880738E310000000001.xml", SIGNED),
        ({"summary": True}, Service.SUMMARY_RECEPTION, "131880738E310000000001.xml", b"<RFCE>signed</RFCE>"),
        ({"root": "RFCE"}, Service.SUMMARY_RECEPTION, "131880738E310000000001.xml", SIGNED),
        ({"root": "ACECF"}, Service.COMMERCIAL_APPROVAL, "131880681E310000000001.xml", SIGNED),
        ({"root": "ANECF", "e_ncf": None}, Service.COMMERCIAL_APPROVAL, "131880738.xml", SIGNED),
    ],
)
async def test_a_document_goes_to_its_service_under_its_name_byte_for_byte(
    db: Database, made: dict[str, object], service: Service, name: str, content: bytes
) -> None:
    road = await make_road(db, submits=[ACCEPTED])
    subject = await road.make(Stage.SEND, environment=Environment.CERTECF, **made)

    await road.step(subject)

    (sent,) = road.authority.sent
    assert (sent.environment, sent.service, sent.file_name, sent.xml) == (
        Environment.CERTECF,
        service,
        name,
        content,
    )


async def test_voidings_go_where_the_setting_says(db: Database) -> None:
    road = await make_road(db, anecf=Service.RANGE_VOIDING, submits=[ACCEPTED])

    await road.step(await road.make(Stage.SEND, root="ANECF", e_ncf=None))

    assert road.authority.sent[0].service is Service.RANGE_VOIDING


async def test_a_voiding_that_is_too_large_to_come_with_its_claim_goes_straight_where_the_setting_says(
    db: Database,
) -> None:
    """Inputs that the signer reads have the types of those that come with a claim."""
    road = await make_road(db, anecf=Service.RANGE_VOIDING, submits=[ACCEPTED])
    subject = await make_submission(db, road.tenant, root="ANECF", e_ncf=None, original=b" " * 65_537)
    work = await take(db, subject)
    assert work.input is None
    document = SignedDocument(
        road.certificate, SIGNED, None, Host.ECF, None, "131880738", None, None, None, None, system_clock()
    )
    outgoing = steps.outgoing(await db.run(steps.signing_input, work), document)
    claim_to_send = road.sender.claim_to_send(work, outgoing, Host.ECF)
    assert claim_to_send is not None

    await road.sender.send(claim_to_send)

    assert road.authority.sent[0].service is Service.RANGE_VOIDING


async def test_a_receipt_is_followed(db: Database) -> None:
    road = await make_road(db, submits=[receipt(TrackId("t-1"))])
    subject = await road.make(Stage.SEND)

    assert await road.step(subject) == "received"

    left = await waiting(db, subject)
    assert left["stage"] == "track"
    assert left["due_in"] < 1
    assert (await submission(db, subject))["track_id"] == "t-1"


@pytest.mark.parametrize(
    ("estado", "used", "fate"),
    [
        (Estado.ACCEPTED, True, "used"),
        (Estado.ACCEPTED, None, "used"),
        (Estado.CONDITIONAL, True, "used"),
        (Estado.REJECTED, True, "used"),
        (Estado.REJECTED, False, "reusable"),
        (Estado.REJECTED, None, "unknown"),
    ],
)
async def test_a_verdict_in_the_answer_is_the_end(db: Database, estado: Estado, used: bool | None, fate: str) -> None:
    road = await make_road(db, submits=[verdict(estado, "75", used=used, text="x")])
    subject = await road.make(Stage.SEND, summary=True)

    assert await road.steps(subject) == [estado.value]

    assert await road.status(subject) == (estado.value, fate)
    response = (await submission(db, subject))["response"]
    assert response["trackStatus"]["estado"] == estado.value
    assert response["mensajes"] == [{"codigo": "75", "valor": "x"}]


@pytest.mark.parametrize("announced", [True, False])
async def test_an_outage_leaves_the_document_to_try_again(db: Database, announced: bool) -> None:
    outage = Unavailable("connection refused", retry_after=timedelta(minutes=2))
    road = await make_road(db, submits=[outage if announced else Unsent(outage)])
    subject = await road.make(Stage.SEND)

    assert await road.step(subject) == "retry"

    left = await waiting(db, subject)
    assert (left["stage"], left["attempt"], left["last_error"]) == ("send", 1, "connection refused")
    assert 110 < left["due_in"] <= 120
    assert await sends_of(db, subject) == ([(2, "not_sent")] if announced else [])
    assert await road.status(subject) == ("queued", "reserved")


async def test_eight_outages_are_a_dead_letter_and_the_client_sees_it_queued(db: Database) -> None:
    road = await make_road(db, submits=[Unavailable("503")])
    subject = await road.make(Stage.SEND)

    assert await road.steps(subject) == ["retry"] * 7 + ["dead letter"]
    assert await road.status(subject) == ("queued", "reserved")


@pytest.mark.parametrize(
    "answer",
    [
        OutcomeUnknown("timeout"),
        verdict(Estado.PROCESSING),
        verdict(Estado.NOT_FOUND),
        TRY_AGAIN,
        OutcomeUnknown("busy", retry_after=timedelta(seconds=2)),
    ],
    ids=["timeout", "En Proceso", "No encontrado", "code 004", "asked to wait"],
)
async def test_an_answer_that_leaves_it_open_is_asked_about_before_anything_is_sent_again(
    db: Database, answer: object
) -> None:
    road = await make_road(db, submits=[answer])
    subject = await road.make(Stage.SEND, summary=True)

    assert await road.step(subject) == "outcome unknown"

    left = await waiting(db, subject)
    assert left["stage"] == "reconcile"
    assert 1 < left["due_in"] <= 2
    assert await sends_of(db, subject) == [(2, "unknown")]


async def test_a_wait_that_was_asked_for_is_kept_before_asking(db: Database) -> None:
    road = await make_road(db, submits=[OutcomeUnknown("503", retry_after=timedelta(minutes=5))])
    subject = await road.make(Stage.SEND)

    await road.step(subject)

    assert (await waiting(db, subject))["due_in"] > 290


@pytest.mark.parametrize("kind", [AuthorityRefused, NotDelegated])
async def test_an_outright_refusal_is_an_error_with_the_authoritys_words(
    db: Database, kind: type[AuthorityRefused]
) -> None:
    said = Message("3243", "La longitud del nombre del archivo no es válida")
    road = await make_road(
        db, submits=[kind("authority rejected with status 400", status=400, messages=(said,), raw={"a": 1})]
    )
    subject = await road.make(Stage.SEND)

    assert await road.step(subject) == "error"

    assert await road.status(subject) == ("error", "reusable")
    assert (await submission(db, subject))["response"] == {
        "status": "error",
        "error": "authority rejected with status 400",
        "errorEs": "la DGII lo rechazó con el estado HTTP 400",
        "dgiiResponse": {"a": 1},
        "mensajes": [{"codigo": "3243", "valor": "La longitud del nombre del archivo no es válida"}],
    }
    assert await sends_of(db, subject) == [(2, "refused")]


@pytest.mark.parametrize(("said", "fate"), [(True, "used"), ("true", "used"), (False, "reusable")])
async def test_a_refusal_that_says_what_became_of_the_number_is_believed(db: Database, said: object, fate: str) -> None:
    """An unknown verdict ("Rechazada") is an error, but does not free its number."""
    raw = {"codigo": "2", "estado": "Rechazada", "secuenciaUtilizada": said}
    refused = AuthorityRefused("authority rejected with status 400", status=400, raw=raw)
    road = await make_road(db, submits=[refused])
    subject = await road.make(Stage.SEND)

    assert await road.steps(subject) == ["error"]
    assert await road.status(subject) == ("error", fate)


async def test_the_refusal_of_a_repeat_says_nothing_about_the_first_send(db: Database) -> None:
    """The first arrived and was accepted, which does not show yet; a gateway's 400 must not make an error of it."""
    refused = AuthorityRefused("authority rejected with status 400", status=400)
    road = await make_road(db, submits=[OutcomeUnknown("lost"), refused], states=[None, state_of(Estado.ACCEPTED)])
    subject = await road.make(Stage.SEND)

    outcomes = await road.steps(subject)

    assert outcomes == ["outcome unknown", "not known there", "outcome unknown", "Aceptado"]
    assert await road.status(subject) == ("Aceptado", "used")


async def test_nor_does_the_refusal_of_what_an_operator_set_going_again(db: Database) -> None:
    """A send before the replay counts."""
    refused = AuthorityRefused("authority rejected with status 400", status=400)
    road = await make_road(db, submits=[OutcomeUnknown("lost"), refused], states=[Unavailable("503")])
    subject = await road.make(Stage.SEND)
    assert await road.step(subject) == "outcome unknown"
    assert [await road.step(subject) for _ in range(8)] == ["retry"] * 8
    await rows(db, "UPDATE outbox SET entered_at = now() - interval '16 min'")
    assert await road.step(subject) == "dead letter"

    assert await db.transact(dead_letters.replay, act(system_clock()), road.tenant, subject) == "reconcile"
    road.authority.states = [None, state_of(Estado.ACCEPTED)]
    outcomes = await road.steps(subject)

    assert outcomes == ["not known there", "outcome unknown", "Aceptado"]
    assert await road.status(subject) == ("Aceptado", "used")


async def test_nor_does_that_of_the_session_for_a_repeat(db: Database) -> None:
    """It comes before the repeat is announced: it is not one of the sends that are counted."""
    refused = AuthorityRefused("authority rejected with status 400", status=400)
    submits = [OutcomeUnknown("lost"), Unsent(refused)]
    road = await make_road(db, submits=submits, states=[None, state_of(Estado.ACCEPTED)])
    subject = await road.make(Stage.SEND)

    assert await road.steps(subject) == ["outcome unknown", "not known there", "outcome unknown", "Aceptado"]
    assert await road.status(subject) == ("Aceptado", "used")


async def test_a_repeat_that_is_always_refused_is_an_operators_matter(db: Database) -> None:
    refused = AuthorityRefused("authority rejected with status 400", status=400)
    road = await make_road(db, submits=[OutcomeUnknown("lost"), *[refused] * 20])
    subject = await road.make(Stage.SEND, root="ACECF")

    assert (await road.steps(subject))[-1] == "dead letter"

    assert len(road.authority.sent) == 8
    assert (await road.status(subject))[0] == "queued"

    await db.transact(dead_letters.replay, act(system_clock()), road.tenant, subject)
    assert (await road.steps(subject))[-1] == "dead letter"

    assert len(road.authority.sent) == 16
    assert await road.status(subject) == ("queued", "unknown")


async def test_nothing_is_sent_while_an_earlier_send_is_not_resolved(db: Database) -> None:
    """Its worker died after the intent: the bytes may have been sent."""
    road = await make_road(db, submits=[receipt()])
    subject = await road.make(Stage.SEND)
    road.authority.submits = [OutcomeUnknown("x")]
    await road.step(subject)
    await rows(db, "UPDATE outbox SET stage = 'send'")
    await rows(db, "UPDATE sends SET outcome = 'intended'")
    road.authority.sent.clear()

    assert await road.step(subject) == "outcome unknown"

    assert road.authority.sent == []
    assert (await waiting(db, subject))["stage"] == "reconcile"


async def test_nothing_is_sent_once_the_lease_is_lost(db: Database) -> None:
    road = await make_road(db, submits=[receipt()])
    subject = await road.make(Stage.SEND)

    class Slow:
        async def __call__(self, work: outbox.Work) -> object:
            await take(db, subject)  # a peer, while we waited for the token
            return await road.plans[Stage.SEND].handle(work)

    booked = await step(db, make_stage(Slow(), Stage.SEND, doubts_go_to=Stage.RECONCILE), subject)  # type: ignore[arg-type]

    assert booked == "lease lost"
    assert road.authority.sent == []
    assert await sends_of(db, subject) == []


async def test_who_stood_still_after_the_intent_sends_nothing_and_says_so(db: Database) -> None:
    """Stopped for 21 seconds between intent and first byte: soon others may take the row, so it goes back unsent."""
    road = await make_road(db, submits=[receipt()])
    subject = await road.make(Stage.SEND)

    async def stand_still() -> None:
        road.authority.now += 21

    road.authority.between = stand_still
    assert await road.step(subject) == "retry"

    assert road.authority.sent == []
    assert await sends_of(db, subject) == [(2, "not_sent")]
    left = await waiting(db, subject)
    assert (left["stage"], left["attempt"]) == ("send", 1)
    assert left["last_error"] == "nothing was sent: this worker gave its last sign of life 21 s before"


async def test_who_wakes_up_after_its_row_was_taken_over_sends_nothing_and_books_nothing(db: Database) -> None:
    """A peer has asked and sent meanwhile. A new heartbeat after waking changes nothing."""
    road = await make_road(db, submits=[receipt(TrackId("of the sleeper")), receipt(TrackId("of the peer"))])
    subject = await road.make(Stage.SEND)

    async def sleep_while_a_peer_takes_over() -> None:
        road.authority.between = trio.lowlevel.checkpoint
        road.authority.now += 33
        road.pulse.renewed(road.authority.now)
        assert [await road.step(subject) for _ in range(3)] == ["outcome unknown", "not known there", "received"]
        road.pulse.renewed(road.authority.now)

    road.authority.between = sleep_while_a_peer_takes_over
    assert await road.step(subject) == "lease lost"

    assert len(road.authority.sent) == 1
    assert await sends_of(db, subject) == [(2, "not_known"), (5, "received")]


async def test_without_a_sign_of_life_nothing_is_announced_and_the_row_is_given_back(db: Database) -> None:
    road = await make_road(db, submits=[receipt()])
    subject = await road.make(Stage.SEND)
    road.authority.now += 21

    assert await road.step(subject) == "given back"

    assert await sends_of(db, subject) == []
    left = await waiting(db, subject)
    assert (left["stage"], left["attempt"]) == ("send", 0)
    road.pulse.renewed(road.authority.now)
    assert await road.step(subject) == "received"


async def test_the_intent_is_committed_before_the_first_byte(db: Database) -> None:
    road = await make_road(db)
    subject = await road.make(Stage.SEND)
    seen: list[tuple[int, str]] = []

    async def look() -> object:
        seen.extend(await sends_of(db, subject))
        return receipt()

    road.authority.submits = [look]
    await road.step(subject)

    assert seen == [(2, "intended")]


# --- "Number already used" ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("summary", [False, True])
@pytest.mark.parametrize("answer", [DUPLICATE, DUPLICATE_AT_THE_DOOR], ids=["verdict", "at the door"])
@pytest.mark.parametrize("estado", [Estado.ACCEPTED, Estado.CONDITIONAL])
async def test_a_duplicate_of_our_own_accepted_document_is_adopted(
    db: Database, summary: bool, answer: object, estado: Estado
) -> None:
    """Our first send was accepted and its answer lost; the second is told that the number is used."""
    known = state_of(estado)
    road = await make_road(
        db, submits=[OutcomeUnknown("lost"), answer], states=[None, known], summary_states=[None, known]
    )
    subject = await road.make(Stage.SEND, summary=summary)

    outcomes = await road.steps(subject)

    assert outcomes[-1] == estado.value
    assert await road.status(subject) == (estado.value, "used")
    assert len(road.authority.sent) == 2
    assert {sent.xml for sent in road.authority.sent} == {b"<RFCE>signed</RFCE>" if summary else SIGNED}
    if not summary:
        assert road.authority.asked[0] == ("state", "ecf", "131880738", "E310000000001", "131880681", "AbC1+/")


async def test_a_duplicate_of_somebody_elses_document_is_rejected(db: Database) -> None:
    road = await make_road(db, submits=[DUPLICATE], states=[state_of(Estado.ACCEPTED, "XXXXXX")])
    subject = await road.make(Stage.SEND)

    assert await road.steps(subject) == ["Rechazado"]

    assert await road.status(subject) == ("Rechazado", "used")
    assert (await submission(db, subject))["response"]["mensajes"][0]["codigo"] == "1209"


async def test_a_duplicate_of_somebody_elses_document_is_rejected_though_the_state_service_tells_of_our_rejection(
    db: Database,
) -> None:
    """With our security code the state service tells our document's state; without it, the state of the number."""
    ours, theirs = state_of(Estado.REJECTED), state_of(Estado.ACCEPTED, "XXXXXX")
    road = await make_road(db, submits=[DUPLICATE], states=[ours, theirs])
    subject = await road.make(Stage.SEND)

    assert await road.steps(subject) == ["Rechazado"]

    assert await road.status(subject) == ("Rechazado", "used")
    assert [call[-1] for call in road.authority.asked] == ["AbC1+/", None]


async def test_a_duplicate_of_somebody_elses_summary_is_rejected(db: Database) -> None:
    road = await make_road(db, submits=[DUPLICATE], summary_states=[None], states=[state_of(Estado.ACCEPTED, "XXXXXX")])
    subject = await road.make(Stage.SEND, summary=True)

    assert await road.steps(subject) == ["Rechazado"]


async def test_a_duplicate_of_a_summary_is_doubted_while_its_first_send_does_not_show(db: Database) -> None:
    road = await make_road(
        db, submits=[OutcomeUnknown("lost"), DUPLICATE], summary_states=[None, None, state_of(Estado.ACCEPTED)]
    )
    subject = await road.make(Stage.SEND, summary=True)

    outcomes = await road.steps(subject)

    assert outcomes == ["outcome unknown", "not known there", "outcome unknown", "Aceptado"]


async def test_the_rejection_of_a_repeated_summary_is_not_believed_where_the_first_is_shown_to_be_accepted(
    db: Database,
) -> None:
    """In between its sequence came to an end, which is judged before the number is."""
    expired = verdict(Estado.REJECTED, "7", used=False)
    road = await make_road(
        db, submits=[OutcomeUnknown("lost"), expired], summary_states=[None, state_of(Estado.CONDITIONAL)]
    )
    subject = await road.make(Stage.SEND, summary=True)

    assert await road.steps(subject) == ["outcome unknown", "not known there", "Aceptado Condicional"]
    assert await road.status(subject) == ("Aceptado Condicional", "used")


async def test_a_duplicate_at_the_door_of_somebody_elses_document_is_an_error_and_is_not_sent_again(
    db: Database,
) -> None:
    road = await make_road(db, submits=[DUPLICATE_AT_THE_DOOR], states=[state_of(Estado.ACCEPTED, "XXXXXX")])
    subject = await road.make(Stage.SEND)

    assert await road.steps(subject) == ["error"]

    assert await road.status(subject) == ("error", "used")
    assert len(road.authority.sent) == 1


async def test_a_duplicate_while_another_send_is_still_judged_waits_for_it(db: Database) -> None:
    road = await make_road(db, submits=[DUPLICATE], tracks=[tracked(TrackId("t-9"), Estado.PROCESSING)])
    subject = await road.make(Stage.SEND)

    assert await road.step(subject) == "outcome unknown"
    assert (await waiting(db, subject))["stage"] == "reconcile"


async def test_a_duplicate_that_cannot_be_asked_about_now_is_asked_about_later(db: Database) -> None:
    road = await make_road(db, submits=[DUPLICATE], states=[Unavailable("503")])
    subject = await road.make(Stage.SEND)

    assert await road.step(subject) == "outcome unknown"
    assert await road.status(subject) == ("queued", "unknown")


@pytest.mark.parametrize(("root", "e_ncf"), [("ANECF", None), ("ACECF", "E310000000001")])
async def test_for_documents_that_issue_no_number_a_duplicate_is_a_rejection_like_others(
    db: Database, root: str, e_ncf: str | None
) -> None:
    road = await make_road(db, submits=[DUPLICATE])
    subject = await road.make(Stage.SEND, root=root, e_ncf=e_ncf, security_code=None)

    assert await road.steps(subject) == ["Rechazado"]


# --- The certificate ---------------------------------------------------------------------------------------------


async def test_a_document_signed_before_the_certificate_was_replaced_is_sent_with_the_old_one(db: Database) -> None:
    road = await make_road(db, submits=[receipt()])
    subject = await road.make(Stage.SEND)
    await make_certificate(db, road.tenant)

    assert await road.step(subject) == "received"


async def test_a_certificate_that_cannot_be_opened_leaves_the_document_to_try_again(db: Database) -> None:
    road = await make_road(db, submits=[receipt()])
    subject = await road.make(Stage.SEND)
    await rows(db, "UPDATE certificates SET passphrase = NULL")

    assert await road.step(subject) == "retry"
    assert (await waiting(db, subject))["last_error"] == "tenant is missing the certificate passphrase setting"
    assert await road.status(subject) == ("queued", "reserved")


async def test_a_cancelled_send_of_which_the_answer_is_awaited_is_in_doubt(db: Database) -> None:
    road = await make_road(db)
    subject = await road.make(Stage.SEND)
    waiting_for_answer = trio.Event()

    async def hang() -> object:
        waiting_for_answer.set()
        await trio.sleep_forever()
        raise AssertionError

    road.authority.submits = [hang]
    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(loop.run_stage, road.plans[Stage.SEND], make_tools(db), trio.Event())
            await waiting_for_answer.wait()
            nursery.cancel_scope.cancel()

    left = await waiting(db, subject)
    assert (left["stage"], left["holder"]) == ("reconcile", None)
    assert left["due_in"] <= 0
    assert await sends_of(db, subject) == [(2, "unknown")]


# --- The whole schedule ------------------------------------------------------------------------------------------


async def test_a_document_that_is_never_known_there_is_sent_eight_times_by_the_schedule_and_put_aside(
    db: Database,
) -> None:
    """Reception fails after it has read the body, and asking works: an outage of some minutes, not of a moment."""
    road = await make_road(db, submits=[OutcomeUnknown("status 500")])
    subject = await road.make(Stage.SEND)
    waits: list[float] = []

    while await rows(db, "SELECT 1 FROM outbox"):
        stage = (await waiting(db, subject))["stage"]
        outcome = await road.step(subject)
        if stage == "reconcile" and outcome != "dead letter":
            assert outcome == "not known there"
            waits.append((await waiting(db, subject))["due_in"])

    assert len(road.authority.sent) == 8
    assert {sent.xml for sent in road.authority.sent} == {SIGNED}
    assert [wait // 1 for wait in waits] == sorted(wait // 1 for wait in waits)
    assert 480 * 0.9 - 7 <= sum(waits) <= 490 * 1.1
    assert await road.status(subject) == ("queued", "unknown")
    (dead,) = await rows(db, "SELECT stage, error FROM dead_letters")
    assert dead == {"stage": "reconcile", "error": "sent 8 times, and the authority does not know it"}
    assert (await story(db, subject)).count("sending") == 8
    assert (await submission(db, subject))["submitted_at"] == ACCEPTED_AT


async def test_what_was_signed_is_sent_with_its_own_certificate_while_that_is_valid(db: Database) -> None:
    """Though another has taken its place: that may be a mistake, and a session that is refused ends a document."""
    road = await make_road(db, submits=[receipt()])
    subject = await road.make(Stage.SEND)
    await make_certificate(db, road.tenant)

    await road.step(subject)

    assert road.authority.sessions == [str(road.certificate)]


async def test_what_waits_for_the_end_of_a_played_outage_is_looked_at_less_and_less_often(db: Database) -> None:
    road = await make_road(db, submits=[receipt(TrackId("t-1"))], results={"t-1": ACCEPTED})
    sender = replace(road.sender, simulated=True)
    subject = await road.make(Stage.SEND, environment=Environment.TESTECF)
    await rows(
        db, "UPDATE outbox SET entered_at = now() - interval '240 s' WHERE subject = %(id)s RETURNING 1", id=subject
    )
    gaps = []
    for minutes in (10, 0.2):
        await db.transact(sandbox_outages.play, road.tenant, Environment.TESTECF, timedelta(minutes=minutes))
        work = await take(db, subject)
        outcome = await sender.send(work)
        assert isinstance(outcome, Retry)
        assert not outcome.counts
        gaps.append(outcome.after / timedelta(seconds=1))
        await rows(db, "UPDATE outbox SET run_at = now(), holder = NULL WHERE subject = %(id)s RETURNING 1", id=subject)

    assert gaps == [pytest.approx(30, abs=10), pytest.approx(12, abs=10)]
    assert gaps[1] <= 12


# --- A note, and the receipt that it modifies -------------------------------------------------------------------------

NOTE = b"<ECF><InformacionReferencia><NCFModificado>E310000000001</NCFModificado></InformacionReferencia></ECF>"


async def test_a_note_waits_for_the_verdict_and_its_waiting_is_no_attempt(db: Database) -> None:
    road = await make_road(db, submits=[receipt(TrackId("t-1"))], results={"t-1": ACCEPTED})
    sold = await road.make(Stage.SEND)
    note = await road.make(Stage.SEND, signed=NOTE, ecf_type=EcfType.CREDIT_NOTE, e_ncf="E340000000001")

    assert [await road.step(note) for _ in range(10)] == ["given back"] * 10
    left = await waiting(db, note)
    assert (left["attempt"], left["stage"]) == (0, "send")
    assert left["last_error"] == f"waits for the verdict of the receipt that it modifies, taxLogId {sold}"
    assert await sends_of(db, note) == []
    assert await story(db, note) == ["accepted", "signed"]
    assert await road.steps(sold) == ["received", "Aceptado"]

    assert await road.steps(note) == ["received", "Aceptado"]
    assert [sent.file_name for sent in road.authority.sent] == [
        "131880738E310000000001.xml",
        "131880738E340000000001.xml",
    ]


async def test_a_note_on_a_dead_letter_waits_for_what_an_operator_decides(db: Database) -> None:
    road = await make_road(db, submits=[Unavailable("503")])
    sold = await road.make(Stage.SEND)
    note = await road.make(Stage.SEND, signed=NOTE, ecf_type=EcfType.CREDIT_NOTE, e_ncf="E340000000001")
    assert (await road.steps(sold))[-1] == "dead letter"

    assert await road.step(note) == "given back"
    await db.transact(dead_letters.discard, act(system_clock()), road.tenant, sold)
    road.authority.submits = [ACCEPTED]
    assert await road.step(note) == "Aceptado"


@pytest.mark.parametrize(("waited", "after"), [(0, 1.0), (8, 1.0), (80, 10.0), (480, 60.0), (10_000, 60.0), (-5, 1.0)])
def test_it_is_looked_at_again_after_an_eighth_of_its_waiting(waited: float, after: float) -> None:
    assert wait_for(SubmissionId(UUID(int=1)), timedelta(seconds=waited)).after == timedelta(seconds=after)
