"""The checker of a simulated run accepts a correct run, and finds each single error in it."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from fe.authority.estado import Estado
from fe.ecf.catalogue import EcfType, Environment, Root
from fe.identifiers import SubmissionId, TenantId
from fe.operations.evidence import link_hash
from tests.faults.history import Arrival, DeadLetter, Due, Event, History, Send, Snapshot, Submission
from tests.simulation.authority import Asked, Truth, Weather
from tests.simulation.checker import violations
from tests.simulation.scenario import Document, Scenario
from tests.simulation.world import Booked, Earlier, Run

TENANT, ONE, NUMBER = TenantId(1), SubmissionId(UUID(int=1)), "E310000000001"
KEY = (TENANT, ONE)
NOON = datetime(2026, 11, 6, 12, tzinfo=UTC)
BYTES, OTHER = "a" * 64, "f" * 64

DOCUMENT = Document(
    1.0, TENANT, Environment.ECF, Root.ECF, "131880738", NUMBER, EcfType.CREDIT_FISCAL, Truth(Estado.ACCEPTED)
)


def story(*happened: tuple[str, dict[str, Any]]) -> list[Event]:
    chain: list[Event] = []
    for seq, (kind, detail) in enumerate(happened, 1):
        text, previous = json.dumps(detail), chain[-1].hash if chain else b""
        digest = link_hash(previous, TENANT, ONE, seq, NOON, kind, text)
        chain.append(Event(TENANT, ONE, seq, NOON, kind, text, digest))
    return chain


def does(at: float, what: str, epoch: int, by: str = "p0", before: tuple[Earlier, ...] = ()) -> Booked:
    return Booked(at, what, by, KEY, epoch, before)


ARRIVAL = Arrival(1, "reception", Environment.ECF, NUMBER, f"131880738{NUMBER}.xml", BYTES, True, "Aceptado", used=True)

#: One document: signed, announced, not known to have arrived, asked about, announced again, and accepted.
ORDERLY = Run(
    scenario=Scenario(7, (DOCUMENT,), 1, (0.0,), Weather(), (), 0.0, 10.0),
    subjects=[ONE],
    history=History(
        calls=[],
        arrivals=[ARRIVAL],
        database=Snapshot(
            submissions=[
                Submission(TENANT, ONE, Environment.ECF, None, Root.ECF, NUMBER, "Aceptado", "used", BYTES),
            ],
            events=story(
                ("accepted", {"root": "ECF", "drawn": False}),
                ("signed", {"sha256": BYTES}),
                ("sending", {"epoch": 2, "sha256": BYTES}),
                ("outcome_unknown", {}),
                ("not_known_there", {}),
                ("sending", {"epoch": 4, "sha256": BYTES}),
                ("verdict", {"status": "Aceptado", "numberFate": "used"}),
            ),
            sends=[
                Send(TENANT, ONE, 2, BYTES, "not_known", NOON),
                Send(TENANT, ONE, 4, BYTES, "received", NOON),
            ],
        ),
    ),
    booked=[
        does(1.0, "claim", 1),
        does(2.0, "book_signed", 1),
        does(3.0, "claim", 2, "p1"),
        does(4.0, "intend_to_send", 2, "p1"),
        does(8.0, "book_doubt", 2, "p1"),
        does(9.0, "claim", 3),
        does(11.0, "book_not_known", 3),
        does(12.0, "claim", 4),
        does(13.0, "intend_to_send", 4, before=(Earlier(4.0, "not_known"),)),
        does(14.0, "book_verdict", 4),
    ],
    asked=[Asked(10.0, Environment.ECF, NUMBER)],
    seconds=20.0,
    drained_after=4.0,
    gave_up=0,
    errors=[],
    trace=[],
)


Doctor = Callable[[Run], Run]


def booked(*more: Booked) -> Doctor:
    return lambda run: replace(run, booked=[*run.booked, *more])


def announced(*before: Earlier) -> Doctor:
    """It was claimed and announced at 13, with these sends before."""
    moves = [does(12.0, "claim", 4), does(13.0, "intend_to_send", 4, before=before)]
    return lambda run: replace(run, booked=moves)


def asked(*questions: Asked) -> Doctor:
    return lambda run: replace(run, asked=list(questions))


def document(**changes: Any) -> Doctor:
    return lambda run: replace(run, scenario=replace(run.scenario, documents=(replace(DOCUMENT, **changes),)))


def row(**changes: Any) -> Doctor:
    def doctor(run: Run) -> Run:
        (only,) = run.history.database.submissions
        return database(submissions=[replace(only, **changes)])(run)

    return doctor


def database(**tables: Sequence[Any]) -> Doctor:
    return lambda run: replace(run, history=replace(run.history, database=replace(run.history.database, **tables)))


def arrivals(*more: Arrival) -> Doctor:
    return lambda run: replace(run, history=replace(run.history, arrivals=more))


def both(*doctors: Doctor) -> Doctor:
    def doctor(run: Run) -> Run:
        for one in doctors:
            run = one(run)
        return run

    return doctor


#: It gave up before a byte of it had gone out: a dead letter, as it is in the tables.
GAVE_UP = both(
    row(status="queued", number_fate="reserved", signed=None),
    arrivals(),
    asked(),
    database(
        events=story(("accepted", {"root": "ECF", "drawn": False}), ("dead_letter", {})),
        sends=(),
        dead_letters=[DeadLetter(TENANT, ONE, "sign", "no certificate")],
    ),
    lambda run: replace(run, booked=[does(1.0, "claim", 1), does(2.0, "book_dead_letter", 1)]),
)
UNKNOWN = Earlier(4.0, "unknown")

ALLOWED: list[tuple[str, Doctor]] = [
    ("as it is", lambda run: run),
    ("announced and booked under one claim", booked(does(15.0, "claim", 5), does(16.0, "intend_to_send", 5))),
    ("the send before did not go out", both(announced(Earlier(4.0, "not_sent")), asked())),
    ("an approval cannot be asked about", both(announced(UNKNOWN), asked(), row(root=Root.ACECF))),
    ("what has no number cannot be asked about", both(announced(UNKNOWN), asked(), row(e_ncf=None))),
    ("what ends its worker is given up", both(GAVE_UP, document(poison=True))),
    ("what nobody can tell is given up", both(GAVE_UP, document(truth=Truth(Estado.REJECTED)))),
    ("a stranger's rejection is given up over", both(GAVE_UP, document(taken=Estado.REJECTED))),
]

DOCTORED: list[tuple[str, str, Doctor, str]] = [
    # Checks that fault runs share.
    ("it waits and nobody knows", "I1", both(GAVE_UP, database(dead_letters=())), "no dead letter"),
    ("two documents", "I2", arrivals(ARRIVAL, replace(ARRIVAL, seq=2, sha256=OTHER)), "2 different documents"),
    ("bytes of nobody", "I3", arrivals(ARRIVAL, replace(ARRIVAL, seq=2, sha256=OTHER)), "nobody had announced"),
    ("no history", "I6", database(events=()), "it has no events"),
    ("a row is left", "I8", database(outbox=[Due(TENANT, ONE, "track", None, 2, None)]), "still waits for track"),
    ("out of thin air", "V", arrivals(), "the authority never accepted it"),
    # Claims.
    ("booked without a claim", "I6", lambda run: replace(run, booked=run.booked[1:]), "claimed last by None"),
    ("booked by whom it was taken from", "I6", booked(does(15.0, "book_retry", 4, "p1")), "p1 did book_retry with"),
    ("booked under a claim that is over", "I6", booked(does(15.0, "book_retry", 3)), "did book_retry with epoch 3"),
    (
        "announced by whom it was taken from",
        "I6",
        booked(does(15.0, "intend_to_send", 4, "p1")),
        "p1 did intend_to_send with epoch 4",
    ),
    ("booked twice", "I6", booked(does(15.0, "book_retry", 4)), "epoch 4 was booked twice, at last as book_retry"),
    # Whether the authority was asked.
    ("never asked", "I3", asked(), "epoch 4 was announced and nobody had asked"),
    ("asked before the send", "I3", asked(Asked(3.0, Environment.ECF, NUMBER)), "nobody had asked"),
    (
        "asked between the sends before only",
        "I3",
        both(announced(UNKNOWN, Earlier(11.0, "unknown")), asked(Asked(10.0, Environment.ECF, NUMBER))),
        "nobody had asked",
    ),
    ("asked after it was announced", "I3", asked(Asked(13.5, Environment.ECF, NUMBER)), "nobody had asked"),
    ("asked about another", "I3", asked(Asked(10.0, Environment.ECF, "E310000000002")), "nobody had asked"),
    ("asked elsewhere", "I3", asked(Asked(10.0, Environment.TESTECF, NUMBER)), "nobody had asked"),
    # Whether it had to give up, and what was seen on the way.
    ("it gave up with nothing in its way", "I8", GAVE_UP, "it came to no end, it is queued"),
    ("rewritten", "I6", lambda run: replace(run, errors=["the history of it was rewritten"]), "was rewritten"),
    ("unannounced", "I3", lambda run: replace(run, errors=["bytes left with no intent"]), "bytes left"),
    ("a fault of the harness or of ours", "unforeseen", lambda run: replace(run, errors=["KeyError"]), "KeyError"),
]


@pytest.mark.parametrize("doctor", [case[1] for case in ALLOWED], ids=[case[0] for case in ALLOWED])
def test_checker_reports_nothing_for_an_allowed_history(doctor: Doctor) -> None:
    assert violations(doctor(ORDERLY)) == []


@pytest.mark.parametrize(("invariant", "doctor", "says"), [case[1:] for case in DOCTORED], ids=[c[0] for c in DOCTORED])
def test_checker_reports_each_single_fault(invariant: str, doctor: Doctor, says: str) -> None:
    found = violations(doctor(ORDERLY))

    assert any(one.startswith(f"{invariant}  ") and says in one for one in found), found
