"""The reconciler: asked before anything is sent again; what is found is adopted if it is ours."""

from datetime import timedelta
from typing import Any

import pytest

from fe.authority.errors import AuthorityRefused, ForeignAnswer, NotThere, OutcomeUnknown, Unavailable
from fe.authority.estado import Estado
from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.identifiers import TrackId
from fe.lifecycle import Stage
from fe.store.postgres.db import Database
from fe.store.queue import dead_letters
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
from tests.factories.operators import act
from tests.factories.tenants import SIGNED, rows, sends_of, story, submission, waiting

pytestmark = pytest.mark.usefixtures("lawful")

SENT = [(2, "unknown")]


# --- A document --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estado", [Estado.ACCEPTED, Estado.CONDITIONAL])
@pytest.mark.parametrize("code", ["AbC1+/", None], ids=["names our code", "names none"])
async def test_an_accepted_document_with_our_security_code_is_ours(
    db: Database, estado: Estado, code: str | None
) -> None:
    road = await make_road(db, states=[state_of(estado, code)])
    subject = await road.make(Stage.RECONCILE)

    assert await road.steps(subject) == [estado.value]

    assert await road.status(subject) == (estado.value, "used")
    assert road.authority.asked == [
        ("state", "ecf", "131880738", "E310000000001", "131880681", "AbC1+/"),
        ("track_ids", "ecf", "131880738", "E310000000001"),
    ]
    assert road.authority.sent == []
    assert await sends_of(db, subject) == [(2, "received")]


async def test_what_is_shown_to_be_accepted_ends_as_it_was_judged(db: Database) -> None:
    """The state service says of an e-CF neither its trackId nor whether there were conditions, nor which."""
    conditional = verdict(Estado.CONDITIONAL, "3205", track_id=TrackId("t-1"), text="MontoTotal")
    road = await make_road(
        db,
        states=[state_of(Estado.ACCEPTED)],
        tracks=[tracked(TrackId("t-1"), Estado.CONDITIONAL), tracked(TrackId("t-2"), Estado.REJECTED)],
        results={"t-1": conditional, "t-2": DUPLICATE},
    )
    subject = await road.make(Stage.RECONCILE)

    assert await road.steps(subject) == ["Aceptado Condicional"]

    kept = await submission(db, subject)
    assert kept["track_id"] == "t-1"
    assert kept["response"]["mensajes"] == [{"codigo": "3205", "valor": "MontoTotal"}]


@pytest.mark.parametrize("service", ["tracks", "results"])
async def test_what_is_shown_to_be_accepted_does_not_wait_for_long_for_its_track_id(db: Database, service: str) -> None:
    away = Unavailable("503")
    road = await make_road(
        db,
        states=[state_of(Estado.ACCEPTED)],
        tracks=away if service == "tracks" else [tracked(TrackId("t-1"), None)],
        results={"t-1": away},
    )
    subject = await road.make(Stage.RECONCILE)

    assert await road.steps(subject) == ["retry", "retry", "Aceptado"]
    assert await road.status(subject) == ("Aceptado", "used")


async def test_what_is_not_known_there_is_sent_again_the_same_bytes(db: Database) -> None:
    road = await make_road(db, submits=[receipt(TrackId("t-2"))], results={"t-2": ACCEPTED})
    subject = await road.make(Stage.RECONCILE)

    assert await road.steps(subject) == ["not known there", "received", "Aceptado"]

    assert road.authority.services_asked()[:2] == ["state", "track_ids"]
    assert [sent.xml for sent in road.authority.sent] == [SIGNED]
    assert await sends_of(db, subject) == [(2, "not_known"), (4, "received")]
    assert (await story(db, subject)).count("signed") == 1
    assert await road.status(subject) == ("Aceptado", "used")


async def test_the_next_send_waits_for_its_gap(db: Database) -> None:
    road = await make_road(db)
    subject = await road.make(Stage.RECONCILE)

    await road.step(subject)

    left = await waiting(db, subject)
    assert (left["stage"], left["attempt"]) == ("send", 1)
    assert 3 < left["due_in"] <= 3.8 * 1.1


async def test_a_send_in_process_over_there_is_adopted_by_its_track_id(db: Database) -> None:
    processing = verdict(Estado.PROCESSING, track_id=TrackId("t-7"))
    road = await make_road(db, tracks=[tracked(TrackId("t-7"), Estado.PROCESSING)], results={"t-7": processing})
    subject = await road.make(Stage.RECONCILE)

    assert await road.step(subject) == "adopted"

    left = await waiting(db, subject)
    assert left["stage"] == "track"
    assert left["due_in"] <= 0
    assert (await submission(db, subject))["track_id"] == "t-7"
    assert road.authority.sent == []


async def test_a_send_that_was_rejected_is_rejected(db: Database) -> None:
    rejected = verdict(Estado.REJECTED, "13", track_id=TrackId("t-7"), used=False, text="total")
    road = await make_road(
        db,
        states=[state_of(Estado.REJECTED)],
        tracks=[tracked(TrackId("t-7"), Estado.REJECTED)],
        results={"t-7": rejected},
    )
    subject = await road.make(Stage.RECONCILE)

    assert await road.steps(subject) == ["Rechazado"]

    assert await road.status(subject) == ("Rechazado", "reusable")
    assert (await submission(db, subject))["track_id"] == "t-7"


async def test_a_strangers_rejection_is_not_taken_for_ours(db: Database) -> None:
    """Another program sent the number before and was rejected; ours never arrived."""
    road = await make_road(
        db,
        submits=[receipt(TrackId("t-2"))],
        states=[None],
        tracks=[tracked(TrackId("t-x"), Estado.REJECTED)],
        results={"t-x": verdict(Estado.REJECTED, "13", track_id=TrackId("t-x"), used=False), "t-2": ACCEPTED},
    )
    subject = await road.make(Stage.RECONCILE)

    assert await road.steps(subject) == ["not known there", "received", "Aceptado"]


@pytest.mark.parametrize("no_judgement", [TRY_AGAIN, verdict(Estado.NOT_FOUND)], ids=["code 004", "not found"])
async def test_track_ids_that_say_nothing_about_our_document_do_not_stop_the_next_send(
    db: Database, no_judgement: object
) -> None:
    road = await make_road(db, tracks=[tracked(TrackId("t-7"), Estado.REJECTED)], results={"t-7": no_judgement})
    subject = await road.make(Stage.RECONCILE)

    assert await road.step(subject) == "not known there"


async def test_a_number_that_is_used_is_not_sent_again_before_it_shows_by_whose_document(db: Database) -> None:
    """A repeat of ours was told so; the first, which was accepted, does not show yet."""
    road = await make_road(
        db,
        states=[None, None, state_of(Estado.ACCEPTED)],
        tracks=[tracked(TrackId("t-7"), Estado.REJECTED)],
        results={"t-7": DUPLICATE},
    )
    subject = await road.make(Stage.RECONCILE)

    assert await road.steps(subject) == ["retry", "Aceptado"]
    assert road.authority.sent == []


async def test_a_number_whose_document_was_rejected_and_then_repeated_is_rejected(db: Database) -> None:
    """The rejection used the number up, so the repeat was told that it is used."""
    road = await make_road(
        db,
        states=[state_of(Estado.REJECTED)],
        tracks=[tracked(TrackId("t-1"), Estado.REJECTED), tracked(TrackId("t-2"), Estado.REJECTED)],
        results={"t-1": verdict(Estado.REJECTED, "13", track_id=TrackId("t-1")), "t-2": DUPLICATE},
    )
    subject = await road.make(Stage.RECONCILE)

    assert await road.steps(subject) == ["Rechazado"]
    assert (await submission(db, subject))["track_id"] == "t-1"


async def waited(db: Database, minutes: int) -> None:
    await rows(db, "UPDATE outbox SET entered_at = now() - make_interval(mins => %(minutes)s)", minutes=minutes)


async def test_a_number_that_nobodys_document_holds_though_it_is_used_ends_as_rejected(db: Database) -> None:
    """It was voided, or another program's document was rejected with it: nothing accepted will ever show."""
    road = await make_road(
        db,
        states=[state_of(Estado.REJECTED)],
        tracks=[tracked(TrackId("t-1"), Estado.REJECTED)],
        results={"t-1": DUPLICATE},
    )
    subject = await road.make(Stage.RECONCILE)
    assert await road.steps(subject, limit=8) == ["retry"] * 8
    await waited(db, 6)

    assert await road.steps(subject) == ["Rechazado"]

    assert await road.status(subject) == ("Rechazado", "used")
    assert (await submission(db, subject))["response"]["mensajes"][0]["codigo"] == "1209"
    assert road.authority.sent == []


@pytest.mark.parametrize(
    "shown",
    [
        {"states": [None]},
        {
            "states": [state_of(Estado.REJECTED)],
            "tracks": [tracked(TrackId("t-1"), None), tracked(TrackId("t-2"), None)],
        },
    ],
    ids=["ours is not shown", "something is accepted under a trackId"],
)
async def test_as_long_as_it_may_be_ours_that_holds_the_number_it_does_not(db: Database, shown: dict[str, Any]) -> None:
    accepted = verdict(Estado.ACCEPTED, track_id=TrackId("t-2"))
    road = await make_road(
        db, **{"tracks": [tracked(TrackId("t-1"), None)], **shown}, results={"t-1": DUPLICATE, "t-2": accepted}
    )
    subject = await road.make(Stage.RECONCILE)
    await road.steps(subject, limit=8)
    await waited(db, 6)

    assert await road.step(subject) == "retry"


async def test_a_summary_whose_number_nobody_holds_though_it_is_used_ends_as_rejected(db: Database) -> None:
    road = await make_road(db, summary_states=[DUPLICATE], states=[state_of(Estado.REJECTED)])
    subject = await road.make(Stage.RECONCILE, summary=True)
    assert await road.steps(subject, limit=8) == ["retry"] * 8
    await waited(db, 6)

    assert await road.steps(subject) == ["Rechazado"]


async def test_of_two_rejections_the_one_that_used_the_number_up_is_believed(db: Database) -> None:
    """One of them is a stranger's: a number called reusable that is used would be the worse mistake."""
    road = await make_road(
        db,
        states=[state_of(Estado.REJECTED)],
        tracks=[tracked(TrackId("t-x"), Estado.REJECTED), tracked(TrackId("t-1"), Estado.REJECTED)],
        results={
            "t-x": verdict(Estado.REJECTED, "7", track_id=TrackId("t-x"), used=False),
            "t-1": verdict(Estado.REJECTED, "13", track_id=TrackId("t-1"), used=True),
        },
    )
    subject = await road.make(Stage.RECONCILE)

    assert await road.steps(subject) == ["Rechazado"]
    assert await road.status(subject) == ("Rechazado", "used")


async def test_of_several_sends_one_in_process_is_adopted_before_one_rejected_is_believed(db: Database) -> None:
    road = await make_road(
        db,
        tracks=[tracked(TrackId("t-1"), Estado.PROCESSING), tracked(TrackId("t-2"), Estado.REJECTED)],
        results={
            "t-1": verdict(Estado.PROCESSING, track_id=TrackId("t-1")),
            "t-2": verdict(Estado.REJECTED, "13", track_id=TrackId("t-2")),
        },
    )
    subject = await road.make(Stage.RECONCILE)

    assert await road.step(subject) == "adopted"


async def test_track_ids_of_our_other_submissions_of_the_number_are_not_taken_for_this_one(db: Database) -> None:
    """The number was used before by a submission that was rejected; its trackId comes first in the list."""
    road = await make_road(
        db,
        tracks=[tracked(TrackId("t-old"), Estado.REJECTED)],
        results={"t-old": verdict(Estado.REJECTED, "13", track_id=TrackId("t-old"), used=False)},
    )
    before = await road.make(Stage.TRACK, track_id=TrackId("t-old"), e_ncf="E310000000001")
    assert await road.step(before) == "Rechazado"
    assert await road.status(before) == ("Rechazado", "reusable")
    subject = await road.make(Stage.RECONCILE, e_ncf="E310000000001")
    road.authority.asked.clear()

    assert await road.step(subject) == "not known there"
    assert "result" not in road.authority.services_asked()


async def test_what_is_accepted_under_a_track_id_is_not_sent_again_before_its_owner_is_known(db: Database) -> None:
    """The state service lags behind: were the document sent again, it would be called a duplicate of itself."""
    accepted = verdict(Estado.ACCEPTED, track_id=TrackId("t-7"))
    road = await make_road(
        db,
        tracks=[tracked(TrackId("t-7"), Estado.ACCEPTED)],
        results={"t-7": accepted},
        states=[None, None, state_of(Estado.ACCEPTED)],
    )
    subject = await road.make(Stage.RECONCILE)

    assert await road.steps(subject) == ["retry", "Aceptado"]
    assert road.authority.sent == []


async def test_a_strangers_accepted_document_leads_to_the_verdict_on_ours(db: Database) -> None:
    """The number is used by another program: only sending ours gets the authority's word on it."""
    stranger = state_of(Estado.ACCEPTED, "XXXXXX")
    road = await make_road(
        db,
        submits=[receipt(TrackId("t-2"))],
        states=[stranger],
        tracks=[tracked(TrackId("t-x"), Estado.ACCEPTED)],
        results={"t-x": verdict(Estado.ACCEPTED, track_id=TrackId("t-x")), "t-2": DUPLICATE},
    )
    subject = await road.make(Stage.RECONCILE)

    assert await road.steps(subject) == ["not known there", "received", "Rechazado"]
    assert await road.status(subject) == ("Rechazado", "used")


async def test_an_accepted_document_is_ours_though_it_came_by_another_way_and_has_no_buyer(db: Database) -> None:
    road = await make_road(db, states=[state_of(Estado.ACCEPTED)])
    subject = await road.make(Stage.RECONCILE, buyer_rnc=None, ecf_type="43", e_ncf="E430000000001")

    assert await road.steps(subject) == ["Aceptado"]
    assert road.authority.asked[0][4] is None


# --- A summary ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estado", [Estado.ACCEPTED, Estado.CONDITIONAL, Estado.REJECTED])
@pytest.mark.parametrize("made", [{"summary": True}, {"root": "RFCE"}], ids=["of an invoice", "handed in"])
async def test_a_summary_is_asked_for_by_its_security_code(
    db: Database, estado: Estado, made: dict[str, object]
) -> None:
    road = await make_road(db, summary_states=[verdict(estado, track_id=None)])
    subject = await road.make(Stage.RECONCILE, **made)

    assert await road.steps(subject) == [estado.value]
    assert road.authority.asked == [("summary_state", "ecf", "131880738", "E310000000001", "AbC1+/")]


async def test_a_summary_that_is_not_known_is_sent_again(db: Database) -> None:
    road = await make_road(db, submits=[ACCEPTED])
    subject = await road.make(Stage.RECONCILE, summary=True)

    assert await road.steps(subject) == ["not known there", "Aceptado"]
    assert [sent.xml for sent in road.authority.sent] == [b"<RFCE>signed</RFCE>"]


async def test_a_summary_whose_validation_broke_down_is_sent_again(db: Database) -> None:
    road = await make_road(db, summary_states=[TRY_AGAIN])
    subject = await road.make(Stage.RECONCILE, summary=True)

    assert await road.step(subject) == "not known there"


async def test_a_summary_in_process_is_asked_about_again(db: Database) -> None:
    road = await make_road(db, summary_states=[verdict(Estado.PROCESSING)])
    subject = await road.make(Stage.RECONCILE, summary=True)

    assert await road.step(subject) == "retry"
    assert (await waiting(db, subject))["stage"] == "reconcile"


async def reasons(db: Database) -> dict[str, str]:
    """The reason or error of the last event of each kind."""
    found = await rows(
        db, "SELECT kind, coalesce(detail ->> 'reason', detail ->> 'error') AS said FROM submission_events ORDER BY seq"
    )
    return {one["kind"]: one["said"] for one in found}


# --- In certification --------------------------------------------------------------------------------------------

#: Where the authority tells in which state it has a number, and under which trackIds, of summaries only.
CERTIFICATION = {"environment": Environment.CERTECF}
NOT_THERE = Unavailable("authority answered with status 404")


async def test_in_certification_a_lost_answer_is_an_operators_matter_and_a_replay_sends_the_same_bytes_again(
    db: Database,
) -> None:
    road = await make_road(
        db, submits=[receipt(TrackId("t-2"))], results={"t-2": ACCEPTED}, states=[NOT_THERE], tracks=NOT_THERE
    )
    subject = await road.make(Stage.RECONCILE, **CERTIFICATION)

    assert await road.steps(subject) == ["dead letter"]
    assert await road.status(subject) == ("queued", "unknown")
    assert road.authority.sent == []

    await db.transact(dead_letters.replay, act(system_clock()), road.tenant, subject)
    assert await road.steps(subject) == ["not known there", "received", "Aceptado"]
    assert [sent.xml for sent in road.authority.sent] == [SIGNED]
    assert "state" not in road.authority.services_asked()
    assert "track_ids" not in road.authority.services_asked()


async def test_in_certification_a_number_that_is_used_is_somebody_elses_where_ours_went_out_once(db: Database) -> None:
    road = await make_road(db, results={"track-1": DUPLICATE}, states=[NOT_THERE], tracks=NOT_THERE)
    subject = await road.make(Stage.TRACK, **CERTIFICATION)

    assert await road.steps(subject) == ["Rechazado"]
    assert (await submission(db, subject))["response"]["mensajes"][0]["codigo"] == "1209"


async def test_in_certification_a_number_that_is_used_may_be_ours_where_it_went_out_before(db: Database) -> None:
    road = await make_road(
        db, submits=[receipt(TrackId("t-2"))], results={"t-2": DUPLICATE}, states=[NOT_THERE], tracks=NOT_THERE
    )
    subject = await road.make(Stage.RECONCILE, **CERTIFICATION)
    await road.steps(subject)
    await db.transact(dead_letters.replay, act(system_clock()), road.tenant, subject)

    assert await road.steps(subject) == ["not known there", "received", "outcome unknown", "dead letter"]
    assert await road.status(subject) == ("queued", "unknown")
    said = await reasons(db)
    assert "the authority was not asked" in said["not_known_there"]
    for kind in ("outcome_unknown", "dead_letter"):
        assert said[kind].endswith("the authority answered Rechazado with code 1209")


@pytest.mark.parametrize(
    ("said", "then"),
    [
        (verdict(Estado.NOT_FOUND), ["outcome unknown", "retry", "retry", "Aceptado"]),
        (ForeignAnswer("about another"), ["retry", "retry", "retry", "outcome unknown", "dead letter"]),
        (NotThere("status 404"), [*["retry"] * 19, "outcome unknown", "dead letter"]),
        (TRY_AGAIN, ["outcome unknown", "not known there"]),
    ],
    ids=["not there yet", "another's", "nothing there", "broke down"],
)
async def test_in_certification_what_was_received_is_asked_about_by_its_track_id(
    db: Database, said: object, then: list[str]
) -> None:
    road = await make_road(db, results={"track-1": said}, states=[NOT_THERE], tracks=NOT_THERE)
    subject = await road.make(Stage.TRACK, **CERTIFICATION)

    outcomes = await road.steps(subject, limit=3 if len(then) == 4 else len(then))
    if then[-1] == "Aceptado":
        road.authority.results["track-1"] = ACCEPTED
        outcomes += await road.steps(subject)

    assert outcomes == then


async def test_in_certification_a_summary_is_asked_for_as_anywhere(db: Database) -> None:
    road = await make_road(db, summary_states=[verdict(Estado.ACCEPTED, track_id=None)], states=[NOT_THERE])
    subject = await road.make(Stage.RECONCILE, summary=True, **CERTIFICATION)

    assert await road.steps(subject) == ["Aceptado"]


# --- Approvals and voidings --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("root", "e_ncf"), [("ACECF", "E310000000001"), ("ANECF", None)])
async def test_what_cannot_be_asked_for_is_said_again(db: Database, root: str, e_ncf: str | None) -> None:
    road = await make_road(db, submits=[ACCEPTED])
    subject = await road.make(Stage.RECONCILE, root=root, e_ncf=e_ncf, security_code=None)

    assert await road.steps(subject) == ["not known there", "Aceptado"]
    assert road.authority.asked == []
    assert "cannot be asked" in (await reasons(db))["not_known_there"]


# --- Trouble -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "trouble",
    [
        Unavailable("503"),
        AuthorityRefused("not delegated for the taxpayer", status=400),
        Unavailable("busy", retry_after=timedelta(seconds=9)),
    ],
    ids=["away", "refused", "asked to wait"],
)
@pytest.mark.parametrize("service", ["states", "tracks", "results"])
async def test_while_nobody_can_be_asked_nothing_is_sent(db: Database, trouble: Exception, service: str) -> None:
    scripts: dict[str, dict[str, Any]] = {
        "states": {"states": [trouble]},
        "tracks": {"tracks": trouble},
        "results": {"tracks": [tracked(TrackId("t-7"), None)], "results": {"t-7": trouble}},
    }
    road = await make_road(db, **scripts[service])
    subject = await road.make(Stage.RECONCILE)

    assert await road.steps(subject, limit=10) == ["retry"] * 10
    assert road.authority.sent == []
    assert await sends_of(db, subject) == SENT
    assert await road.status(subject) == ("queued", "unknown")


async def test_after_fifteen_minutes_in_doubt_it_is_an_operators_matter(db: Database) -> None:
    road = await make_road(db, states=[Unavailable("503")])
    subject = await road.make(Stage.RECONCILE)
    for _ in range(8):
        assert await road.step(subject) == "retry"
    await rows(db, "UPDATE outbox SET entered_at = now() - interval '16 min'")

    assert await road.step(subject) == "dead letter"

    assert await road.status(subject) == ("queued", "unknown")
    assert (await submission(db, subject))["response"] == {"status": "dead_letter", "error": "503"}
    assert await sends_of(db, subject) == SENT


async def test_outages_before_and_doubts_together_are_never_more_than_eight_sends(db: Database) -> None:
    down, lost = Unsent(Unavailable("503")), OutcomeUnknown("timeout")
    refused_link = Unavailable("refused")
    road = await make_road(db, submits=[down, down, lost, refused_link, lost, down, lost, refused_link, lost])
    subject = await road.make(Stage.SEND)

    outcomes = await road.steps(subject)

    assert outcomes[-1] == "dead letter"
    assert len(road.authority.sent) <= 8
    assert {sent.xml for sent in road.authority.sent} == {SIGNED}
    assert await road.status(subject) == ("queued", "unknown")
