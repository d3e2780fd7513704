"""The tracker: one question by trackId, and what each answer comes to."""

from datetime import timedelta
from typing import Any

import pytest
import structlog

from fe.authority.errors import AuthorityRefused, ForeignAnswer, NotThere, OutcomeUnknown, Unavailable
from fe.authority.estado import Estado
from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.ecf.selfmade import self_made, to_p12
from fe.identifiers import TrackId
from fe.lifecycle import Stage
from fe.queue.backoff import MAX_ATTEMPTS
from fe.store.postgres.db import Database
from fe.store.records import sequences
from tests.actors.authority import DUPLICATE, TRY_AGAIN, receipt, state_of, tracked, verdict
from tests.actors.road import Road, make_road
from tests.factories.certificates import HOLDER, HOLDER_ID, rsa_key
from tests.factories.companies import NOT_BEFORE, PASSPHRASE, make_certificate
from tests.factories.tenants import rows, story, submission, waiting
from tests.store.test_accept_many import make_sequence

pytestmark = pytest.mark.usefixtures("lawful")


async def make_followed(db: Database, answer: object, **script: Any) -> Road:
    return await make_road(db, results={"track-1": answer}, **script)


async def test_the_question_names_the_track_id_and_the_number(db: Database) -> None:
    road = await make_followed(db, verdict(Estado.ACCEPTED))

    await road.step(await road.make(Stage.TRACK))

    assert road.authority.asked == [("result", "ecf", "track-1", "E310000000001")]


@pytest.mark.parametrize(
    ("estado", "used", "fate"),
    [
        (Estado.ACCEPTED, True, "used"),
        (Estado.CONDITIONAL, True, "used"),
        (Estado.REJECTED, True, "used"),
        (Estado.REJECTED, False, "reusable"),
        (Estado.REJECTED, None, "unknown"),
    ],
)
async def test_a_verdict_is_the_end(db: Database, estado: Estado, used: bool | None, fate: str) -> None:
    road = await make_followed(db, verdict(estado, "0", used=used, text="dicho"))
    subject = await road.make(Stage.TRACK)

    assert await road.steps(subject) == [estado.value]

    assert await road.status(subject) == (estado.value, fate)
    kept = await submission(db, subject)
    assert kept["track_id"] == "track-1"
    assert kept["response"]["trackStatus"]["estado"] == estado.value
    assert kept["response"]["mensajes"] == [{"codigo": "0", "valor": "dicho"}]


async def test_a_document_in_process_is_asked_about_with_growing_gaps_and_never_counted_out(db: Database) -> None:
    road = await make_followed(db, verdict(Estado.PROCESSING))
    subject = await road.make(Stage.TRACK)
    gaps = []

    for _ in range(30):
        assert await road.step(subject) == "En Proceso"
        gaps.append((await waiting(db, subject))["due_in"])

    assert 1.3 <= gaps[0] <= 2.2
    assert all(53 <= gap <= 66 for gap in gaps[10:])
    assert (await road.status(subject))[0] == "En Proceso"
    assert (await story(db, subject)).count("processing") == 1


async def test_after_72_hours_in_process_it_is_an_operators_matter(db: Database) -> None:
    """Followed all that time with an answer each time: the last one decides that it is enough."""
    road = await make_followed(db, verdict(Estado.PROCESSING))
    subject = await road.make(Stage.TRACK)
    for _ in range(9):
        await road.step(subject)
    await rows(db, "UPDATE outbox SET entered_at = now() - interval '73 h'")

    assert await road.step(subject) == "dead letter"

    assert (await road.status(subject))[0] == "En Proceso"
    assert (await submission(db, subject))["response"]["status"] == "dead_letter"


async def test_after_72_hours_without_a_question_it_is_asked_about_as_often_as_any(db: Database) -> None:
    """No tries are made while the circuit is open, or the service off; then the authority is behind, too."""
    road = await make_followed(db, verdict(Estado.PROCESSING))
    subject = await road.make(Stage.TRACK)
    await rows(db, "UPDATE outbox SET entered_at = now() - interval '73 h'")

    outcomes = [await road.step(subject) for _ in range(MAX_ATTEMPTS)]

    assert outcomes == ["En Proceso"] * (MAX_ATTEMPTS - 1) + ["dead letter"]


async def test_what_was_signed_with_a_certificate_that_has_ended_is_followed_with_the_new_one(db: Database) -> None:
    road = await make_followed(db, verdict(Estado.ACCEPTED))
    subject = await road.make(Stage.TRACK)
    now = system_clock()
    old = self_made(rsa_key("company"), holder=HOLDER, holder_id=HOLDER_ID, not_before=NOT_BEFORE, not_after=now)
    ended = await make_certificate(db, road.tenant, p12=to_p12(old, PASSPHRASE), not_after=now)
    await rows(db, "UPDATE submissions SET certificate_id = %(ended)s", ended=ended)
    renewed = await make_certificate(db, road.tenant)

    assert await road.step(subject) == "Aceptado"

    assert road.authority.sessions == [str(renewed)]


async def test_a_track_id_that_is_not_known_puts_the_document_in_doubt(db: Database) -> None:
    road = await make_followed(db, verdict(Estado.NOT_FOUND))
    subject = await road.make(Stage.TRACK)

    assert await road.step(subject) == "outcome unknown"

    left = await waiting(db, subject)
    assert left["stage"] == "reconcile"
    assert left["due_in"] <= 0
    assert await road.status(subject) == ("queued", "unknown")


@pytest.mark.parametrize(
    "trouble",
    [
        Unavailable("503"),
        AuthorityRefused("no permission", status=400),
        Unavailable("busy", retry_after=timedelta(seconds=1)),
    ],
    ids=["away", "refused", "asked to wait"],
)
async def test_a_question_that_fails_is_asked_again(db: Database, trouble: Exception) -> None:
    road = await make_followed(db, trouble)
    subject = await road.make(Stage.TRACK)

    assert await road.steps(subject, limit=12) == ["retry"] * 12
    assert (await waiting(db, subject))["stage"] == "track"
    assert await road.status(subject) == ("queued", "reserved")


async def test_a_rejection_that_asks_for_another_try_is_no_judgement(db: Database) -> None:
    road = await make_followed(db, TRY_AGAIN)
    subject = await road.make(Stage.TRACK)

    assert await road.step(subject) == "outcome unknown"
    assert (await waiting(db, subject))["stage"] == "reconcile"


async def test_a_duplicate_of_our_own_accepted_document_is_accepted(db: Database) -> None:
    road = await make_followed(db, DUPLICATE, states=[state_of(Estado.ACCEPTED)])
    subject = await road.make(Stage.TRACK)

    assert await road.steps(subject) == ["Aceptado"]
    assert await road.status(subject) == ("Aceptado", "used")


@pytest.mark.parametrize("by_our_code", [[], [None]], ids=["shown at once", "shown when asked without our code"])
async def test_a_duplicate_of_somebody_elses_document_is_rejected(db: Database, by_our_code: list[None]) -> None:
    road = await make_followed(db, DUPLICATE, states=[*by_our_code, state_of(Estado.ACCEPTED, "XXXXXX")])
    subject = await road.make(Stage.TRACK)

    assert await road.steps(subject) == ["Rechazado"]
    kept = await submission(db, subject)
    assert (kept["track_id"], kept["response"]["mensajes"][0]["codigo"]) == ("track-1", "1209")


async def test_duplicate_of_a_drawn_number_pauses_its_sequence_and_is_an_error_in_the_log(db: Database) -> None:
    road = await make_followed(db, DUPLICATE, states=[state_of(Estado.ACCEPTED, "XXXXXX")])
    await make_sequence(db, road.tenant)
    subject = await road.make(Stage.TRACK, e_ncf=None, draw_prefix="E31")

    with structlog.testing.capture_logs() as told:
        assert await road.steps(subject) == ["Rechazado"]

    (line,) = (one for one in told if one["event"] == "another document holds a number that a sequence gave")
    assert (line["log_level"], line["submission"], line["sequence"]) == ("error", str(subject), "paused")
    (found,) = await db.run(sequences.listed, road.tenant, Environment.ECF)
    assert found.paused_for == "E310000000001"


@pytest.mark.parametrize("estado", [Estado.ACCEPTED, Estado.CONDITIONAL, Estado.REJECTED])
async def test_a_verdict_under_a_track_id_found_by_number_is_believed_once_it_is_shown_to_be_about_ours(
    db: Database, estado: Estado
) -> None:
    shown = state_of(Estado.REJECTED if estado is Estado.REJECTED else Estado.ACCEPTED)
    road = await make_road(db, states=[None, shown], tracks=[tracked(TrackId("t-7"), Estado.PROCESSING)])
    road.authority.results["t-7"] = verdict(Estado.PROCESSING, track_id=TrackId("t-7"))
    subject = await road.make(Stage.RECONCILE)
    assert await road.step(subject) == "adopted"
    road.authority.results["t-7"] = verdict(estado, "75", track_id=TrackId("t-7"), text="remark")

    assert await road.steps(subject) == [estado.value]
    assert (await submission(db, subject))["response"]["mensajes"] == [{"codigo": "75", "valor": "remark"}]


async def test_the_verdict_on_a_strangers_document_that_was_adopted_is_not_ours(db: Database) -> None:
    """Another program's document with our number was in process when we asked; ours never arrived."""
    stranger = state_of(Estado.ACCEPTED, "XXXXXX")
    road = await make_road(
        db,
        submits=[receipt(TrackId("t-8"))],
        states=[None, None, None, stranger],
        tracks=[tracked(TrackId("t-7"), Estado.PROCESSING)],
    )
    road.authority.results["t-7"] = verdict(Estado.PROCESSING, track_id=TrackId("t-7"))
    subject = await road.make(Stage.RECONCILE)
    assert await road.step(subject) == "adopted"
    road.authority.results["t-7"] = verdict(Estado.ACCEPTED, track_id=TrackId("t-7"))
    road.authority.results["t-8"] = DUPLICATE

    outcomes = await road.steps(subject)

    assert outcomes == ["outcome unknown", "not known there", "received", "Rechazado"]
    assert await road.status(subject) == ("Rechazado", "used")


async def test_a_duplicate_of_a_repeat_is_doubted_while_nobody_is_shown_to_hold_the_number(db: Database) -> None:
    """Our first send was accepted and is not shown yet (No encontrado); the second was told that the number is used."""
    road = await make_followed(
        db,
        verdict(Estado.NOT_FOUND),
        submits=[receipt(TrackId("track-2"))],
        states=[None, None, state_of(Estado.ACCEPTED)],
    )
    road.authority.results["track-2"] = DUPLICATE
    subject = await road.make(Stage.TRACK)

    outcomes = await road.steps(subject)

    assert outcomes == ["outcome unknown", "not known there", "received", "outcome unknown", "Aceptado"]
    assert await road.status(subject) == ("Aceptado", "used")


async def test_a_duplicate_of_our_own_accepted_document_has_the_track_id_and_the_remarks_of_the_one_that_was_accepted(
    db: Database,
) -> None:
    """Under the trackId of the repeat the authority answers Rechazado to every query."""
    first = verdict(Estado.CONDITIONAL, "75", track_id=TrackId("track-0"), text="remark")
    road = await make_followed(
        db,
        DUPLICATE,
        states=[state_of(Estado.ACCEPTED)],
        tracks=[tracked(TrackId("track-0"), Estado.CONDITIONAL), tracked(TrackId("track-1"), Estado.REJECTED)],
    )
    road.authority.results["track-0"] = first
    subject = await road.make(Stage.TRACK)

    assert await road.steps(subject) == ["Aceptado Condicional"]

    kept = await submission(db, subject)
    assert (kept["track_id"], kept["response"]["mensajes"]) == ("track-0", [{"codigo": "75", "valor": "remark"}])


@pytest.mark.parametrize(
    ("shown", "end"),
    [
        (state_of(Estado.ACCEPTED), ("Aceptado", "used")),
        (state_of(Estado.REJECTED), ("Rechazado", "reusable")),
        (None, ("Rechazado", "reusable")),
    ],
    ids=["accepted", "rejected", "not known"],
)
async def test_the_rejection_of_a_repeat_is_not_believed_where_the_first_send_is_shown_to_be_accepted(
    db: Database, shown: object, end: tuple[str, str]
) -> None:
    """Sent before midnight, and again after it: the sequence has ended, says the second verdict; the number is free."""
    expired = verdict(Estado.REJECTED, "7", track_id=TrackId("track-2"), used=False)
    road = await make_road(
        db, submits=[OutcomeUnknown("timeout"), receipt(TrackId("track-2"))], states=[None, shown], tracks=[]
    )
    road.authority.results["track-2"] = expired
    subject = await road.make(Stage.SEND)

    outcomes = await road.steps(subject)

    assert outcomes == ["outcome unknown", "not known there", "received", end[0]]
    assert await road.status(subject) == end


async def test_the_rejection_of_a_repeat_waits_until_the_authority_can_be_asked(db: Database) -> None:
    expired = verdict(Estado.REJECTED, "7", track_id=TrackId("track-2"), used=False)
    road = await make_road(
        db,
        submits=[OutcomeUnknown("timeout"), receipt(TrackId("track-2"))],
        states=[None, Unavailable("503"), state_of(Estado.ACCEPTED)],
        tracks=[],
    )
    road.authority.results["track-2"] = expired
    subject = await road.make(Stage.SEND)

    outcomes = await road.steps(subject)

    assert outcomes[3:] == ["outcome unknown", "Aceptado"]


async def test_a_duplicate_of_somebody_elses_rejected_document_does_not_end_with_its_reasons(db: Database) -> None:
    """Another program's document was rejected and used the number up: its total was wrong, not ours."""
    theirs = verdict(Estado.REJECTED, "13", track_id=TrackId("t-x"), text="total")
    road = await make_followed(
        db,
        DUPLICATE,
        states=[state_of(Estado.REJECTED)],
        tracks=[tracked(TrackId("t-x"), Estado.REJECTED), tracked(TrackId("track-1"), Estado.REJECTED)],
    )
    road.authority.results["t-x"] = theirs
    subject = await road.make(Stage.TRACK)
    assert await road.steps(subject, limit=9) == ["outcome unknown", *["retry"] * 8]
    await rows(db, "UPDATE outbox SET entered_at = now() - interval '6 min'")

    assert await road.steps(subject) == ["Rechazado"]

    kept = await submission(db, subject)
    assert (kept["track_id"], kept["response"]["mensajes"][0]["codigo"]) == ("track-1", "1209")


async def test_a_duplicate_is_not_judged_while_another_send_is_open_or_nobody_can_be_asked(db: Database) -> None:
    road = await make_followed(
        db, DUPLICATE, states=[None, Unavailable("503")], tracks=[tracked(TrackId("t-0"), Estado.PROCESSING)]
    )
    subject = await road.make(Stage.TRACK)

    assert await road.step(subject) == "outcome unknown"
    assert await road.step(subject) == "retry"
    assert (await road.status(subject))[0] == "queued"


async def test_one_answer_about_another_document_is_a_slip_and_four_are_a_wrong_track_id(db: Database) -> None:
    road = await make_followed(db, ForeignAnswer("the answer is about another document"))
    subject = await road.make(Stage.TRACK)

    assert await road.steps(subject, limit=4) == ["retry"] * 3 + ["outcome unknown"]
    assert (await waiting(db, subject))["stage"] == "reconcile"


async def test_a_track_id_that_leads_nowhere_for_long_is_looked_for_by_number(db: Database) -> None:
    """Followed for 72 hours it would be a dead letter, whose replay asks for the same trackId."""
    road = await make_followed(db, NotThere("authority answered with status 404"), states=[state_of(Estado.ACCEPTED)])
    subject = await road.make(Stage.TRACK)

    assert await road.steps(subject) == ["retry"] * 19 + ["outcome unknown", "Aceptado"]
