"""The lifecycle table: every value is used, no line repeats another, and events tell a document's way through it."""

from collections.abc import Mapping
from typing import Any

import pytest

from fe.lifecycle import (
    FINAL,
    LATER,
    MOVES,
    TABLE,
    EventKind,
    Life,
    NumberFate,
    Place,
    Stage,
    Status,
    StepOutcome,
    Unlawful,
)

Told = tuple[str, Mapping[str, Any]]

ACCEPTED: Told = ("accepted", {"root": "ECF"})
SIGNED: Told = ("signed", {})
REMARKED: Told = ("remarked", {"problems": []})
TAKEN: Told = ("error", {"error": "taken", "numberFate": "used"})
SENDING: Told = ("sending", {"epoch": 2})
USED: Told = ("verdict", {"status": "Aceptado", "numberFate": "used"})
VOIDED: Told = ("voided", {"numberFate": "void"})


def live(*events: Told) -> Life:
    life = Life()
    for kind, detail in events:
        life = life.after(kind, detail)
    return life


def test_every_value_is_used() -> None:
    assert {move.outcome for move in MOVES} == set(StepOutcome)
    assert {move.event for move in MOVES} == {*EventKind, None}
    assert {move.before for move in MOVES} | {Place.ENDED} == set(Place)
    assert {move.to for move in MOVES} | {Place.NEW} == set(Place)
    assert {move.status for move in MOVES} == {*Status, None}
    assert {move.fate for move in MOVES} == {*NumberFate, None}
    assert all(kind.meaning for kind in EventKind)


def test_no_line_says_what_another_says() -> None:
    assert len(set(MOVES)) == len(MOVES)


def test_a_stage_is_a_place_of_the_same_name() -> None:
    assert [Place(stage) for stage in Stage] == [Place.SIGN, Place.SEND, Place.TRACK, Place.RECONCILE]


@pytest.mark.parametrize("move", [move for move in MOVES if move.event is None], ids=lambda move: move.outcome)
def test_nothing_changes_without_an_event(move: Any) -> None:
    assert (move.to, move.status, move.fate) == (move.before, None, None)


@pytest.mark.parametrize("move", MOVES, ids=str)
def test_an_end_is_an_end_in_every_way(move: Any) -> None:
    if move.before is Place.ENDED:
        assert (move.to, move.status) == (Place.ENDED, None)
    else:
        assert (move.to is Place.ENDED) == (move.status in FINAL)
    if move.to is Place.ENDED:
        assert move.fate is not None
        assert move.fate is not NumberFate.RESERVED


def test_an_event_and_what_it_says_tell_which_move_it_was() -> None:
    """Else the place of a submission would not follow from its history alone."""
    said: dict[tuple[Any, ...], set[tuple[Any, ...]]] = {}
    for move in MOVES:
        stage = move.to if move.event is EventKind.REPLAYED else move.before
        if move.event is not None:
            key = (move.before, move.event, stage, move.status, move.fate)
            said.setdefault(key, set()).add((move.to, move.status, move.fate))
    assert [key for key, after in said.items() if len(after) > 1] == []


def test_from_everywhere_there_is_a_way_to_the_end() -> None:
    ends = {Place.ENDED}
    while more := {move.before for move in MOVES if move.to in ends} - ends:
        ends |= more
    assert ends == set(Place)


def test_a_client_never_sees_a_status_go_back() -> None:
    assert LATER[Status.QUEUED] == set(Status)
    assert LATER[Status.PROCESSING] == set(Status) - {Status.QUEUED}
    for status in FINAL:
        assert LATER[status] == {status}


def test_a_life_is_followed_from_its_events() -> None:
    doubt: Told = ("outcome_unknown", {"error": "timeout"})
    assert live(ACCEPTED, SIGNED, REMARKED) == live(ACCEPTED, SIGNED)
    assert live(ACCEPTED, TAKEN) == Life(Place.ENDED, Status.ERROR, NumberFate.USED)
    assert live() == Life(Place.NEW, Status.QUEUED, NumberFate.RESERVED)
    assert live(ACCEPTED, SIGNED, SENDING) == Life(Place.SEND, Status.QUEUED, NumberFate.RESERVED)
    assert live(ACCEPTED, SIGNED, SENDING, doubt) == Life(Place.RECONCILE, Status.QUEUED, NumberFate.UNKNOWN)
    gone_on = [("not_known_there", {}), SENDING, ("received", {}), ("processing", {})]
    assert live(ACCEPTED, SIGNED, SENDING, doubt, *gone_on) == Life(Place.TRACK, Status.PROCESSING, NumberFate.UNKNOWN)
    assert live(ACCEPTED, SIGNED, SENDING, doubt, *gone_on, USED) == Life(Place.ENDED, Status.ACCEPTED, NumberFate.USED)
    died: Told = ("dead_letter", {"stage": "send"})
    replayed: Told = ("replayed", {"by": "eva", "stage": "reconcile"})
    assert live(ACCEPTED, SIGNED, died) == Life(Place.DEAD_LETTER, Status.QUEUED, NumberFate.RESERVED)
    assert live(ACCEPTED, SIGNED, died, replayed).place is Place.RECONCILE


@pytest.mark.parametrize(
    ("events", "words"),
    [
        ([SIGNED], r"signed cannot follow where it stands \(new\)"),
        ([ACCEPTED, ACCEPTED], r"accepted cannot follow where it stands \(sign\)"),
        ([ACCEPTED, SIGNED, SIGNED], r"signed cannot follow where it stands \(send\)"),
        ([ACCEPTED, REMARKED], r"remarked cannot follow where it stands \(sign\)"),
        ([ACCEPTED, TAKEN, REMARKED], "remarked after its end"),
        ([ACCEPTED, TAKEN, VOIDED], "voided after its end"),
        ([ACCEPTED, USED], "verdict cannot follow"),
        ([ACCEPTED, SIGNED, SENDING, USED, SENDING], "sending after its end"),
        ([ACCEPTED, SIGNED, ("verdict", {"status": "Aceptado", "numberFate": "reusable"})], "verdict cannot follow"),
        ([ACCEPTED, SIGNED, ("verdict", {"status": "error", "numberFate": "used"})], "verdict cannot follow"),
        ([ACCEPTED, SIGNED, ("verdict", {"status": "Rechazado"})], "verdict does not say which way it went"),
        ([ACCEPTED, ("retry", {"stage": "track"})], "retry cannot follow"),
        ([ACCEPTED, ("praised", {})], "praised cannot follow"),
    ],
)
def test_what_the_table_does_not_allow_is_said(events: list[Told], words: str) -> None:
    with pytest.raises(Unlawful, match=words):
        live(*events)


def test_every_line_says_something() -> None:
    for line in TABLE:
        assert line.before
        assert line.to != ()
        assert line.fate != ()
