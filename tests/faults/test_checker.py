"""The checker accepts a correct history, and finds each single error in it."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from fe.ecf.catalogue import Environment
from fe.identifiers import ClientRequestId, SubmissionId, TenantId
from fe.operations.evidence import link_hash
from tests.faults.checker import CHECKS, check
from tests.faults.history import (
    Arrival,
    Blip,
    Call,
    DeadLetter,
    Deferral,
    Due,
    Event,
    History,
    Noted,
    Outcome,
    Revocation,
    Send,
    Sequence_,
    Snapshot,
    Submission,
)
from tests.faults.modes import TermSample

TENANT, ENVIRONMENT = TenantId(1), Environment.TESTECF
NOON = datetime(2026, 11, 6, 12, tzinfo=UTC)

#: Accepted at the second send, drawn; accepted at once, drawn; rejected; never got through; failed on our side.
RESENT, PLAIN, REJECTED, DEAD, FAILED = (SubmissionId(UUID(int=number)) for number in range(1, 6))
#: Of nothing that is there.
OTHERS = SubmissionId(UUID(int=99))
DIGEST = {one: f"{one.int:064x}" for one in (RESENT, PLAIN, REJECTED, DEAD, FAILED)}


def events_of(one: SubmissionId, *happened: tuple[str, dict[str, Any]]) -> list[Event]:
    """A whole chain of events."""
    chain: list[Event] = []
    for seq, (kind, detail) in enumerate(happened, 1):
        text, at = json.dumps(detail), NOON + timedelta(seconds=seq)
        previous = chain[-1].hash if chain else b""
        chain.append(Event(TENANT, one, seq, at, kind, text, link_hash(previous, TENANT, one, seq, at, kind, text)))
    return chain


def accepted(*, drawn: bool = False) -> tuple[str, dict[str, Any]]:
    return "accepted", {"root": "ECF", "drawn": drawn}


def signed(one: SubmissionId) -> tuple[str, dict[str, Any]]:
    return "signed", {"sha256": DIGEST[one]}


def sending(one: SubmissionId, epoch: int) -> tuple[str, dict[str, Any]]:
    return "sending", {"epoch": epoch, "sha256": DIGEST[one]}


def verdict(status: str) -> tuple[str, dict[str, Any]]:
    return "verdict", {"status": status, "numberFate": "reusable" if status == "Rechazado" else "used"}


def submission(one: SubmissionId, status: str, e_ncf: str, fate: str, **more: Any) -> Submission:
    plain = Submission(
        TENANT, one, ENVIRONMENT, ClientRequestId(f"r-{one.int}"), "ECF", e_ncf, status, fate, DIGEST[one]
    )
    return replace(plain, **more)


def send(one: SubmissionId, epoch: int, outcome: str) -> Send:
    return Send(TENANT, one, epoch, DIGEST[one], outcome, NOON)


def arrival(one: SubmissionId, seq: int, estado: str | None, **more: Any) -> Arrival:
    plain = Arrival(
        seq=seq,
        operation="reception",
        environment=ENVIRONMENT,
        e_ncf="E310000000001",
        file_name=f"131880738E31{one.int:010d}.xml",
        sha256=DIGEST[one],
        effect=True,
        estado=estado,
        used=estado == "Aceptado",
    )
    return replace(plain, **more)


def submit(one: SubmissionId, at: float, http: int = 202) -> Call:
    return Call(at, at + 0.1, "submit", TENANT, ENVIRONMENT, Outcome.OK, http, f"r-{one.int}", tax_log_id=str(one))


def ask(one: SubmissionId, at: float, status: str) -> Call:
    return Call(at, at + 0.1, "ask", TENANT, ENVIRONMENT, Outcome.OK, 200, tax_log_id=str(one), status=status)


def use(at: float, outcome: Outcome, http: int) -> Call:
    return Call(at, at + 0.1, "use", TENANT, ENVIRONMENT, outcome, http, key="fak_000000000001")


ORDERLY = History(
    calls=[
        *(submit(one, one.int) for one in (RESENT, PLAIN, REJECTED, DEAD, FAILED)),
        replace(submit(RESENT, 0.5), outcome=Outcome.UNKNOWN, http=503, tax_log_id=None),
        submit(RESENT, 9, http=200),
        ask(RESENT, 10, "queued"),
        ask(RESENT, 11, "En Proceso"),
        ask(RESENT, 12, "Aceptado"),
        ask(RESENT, 13, "Aceptado"),
        use(30, Outcome.OK, 200),
        use(65, Outcome.FAIL, 401),
    ],
    arrivals=[
        arrival(RESENT, 1, None, effect=False, fault="reset-before"),
        arrival(RESENT, 2, "Aceptado"),
        arrival(PLAIN, 3, "Aceptado", fault="duplicate-delivery"),
        arrival(PLAIN, 4, "Rechazado", codes=(3,), fault="duplicate-delivery"),
        arrival(REJECTED, 5, "Rechazado", codes=(4,), words="Número de secuencia no autorizada."),
    ],
    database=Snapshot(
        submissions=[
            submission(RESENT, "Aceptado", "E310000000001", "used"),
            submission(PLAIN, "Aceptado", "E310000000002", "used"),
            submission(REJECTED, "Rechazado", "E319000000001", "reusable"),
            submission(DEAD, "queued", "E315000000001", "unknown"),
            submission(FAILED, "error", "E315000000002", "reusable", signed=None),
        ],
        events=[
            *events_of(
                RESENT,
                accepted(drawn=True),
                signed(RESENT),
                sending(RESENT, 2),
                ("outcome_unknown", {}),
                ("not_known_there", {}),
                sending(RESENT, 4),
                ("received", {}),
                ("processing", {}),
                verdict("Aceptado"),
            ),
            *events_of(PLAIN, accepted(drawn=True), signed(PLAIN), sending(PLAIN, 2), verdict("Aceptado")),
            *events_of(REJECTED, accepted(), signed(REJECTED), sending(REJECTED, 2), verdict("Rechazado")),
            *events_of(DEAD, accepted(), signed(DEAD), sending(DEAD, 2), ("outcome_unknown", {}), ("dead_letter", {})),
            *events_of(FAILED, accepted(), ("error", {"numberFate": "reusable"})),
        ],
        sends=[
            send(RESENT, 2, "not_known"),
            send(RESENT, 4, "received"),
            send(PLAIN, 2, "received"),
            send(REJECTED, 2, "received"),
            send(DEAD, 2, "unknown"),
        ],
        dead_letters=[DeadLetter(TENANT, DEAD, "reconcile", "nobody knows")],
        sequences=[Sequence_(TENANT, ENVIRONMENT, "E31", 1, 100, 3)],
        notes=[Noted(TENANT, one, None) for one in (RESENT, PLAIN, REJECTED, FAILED)],
    ),
    revocations=[Revocation("fak_000000000001", 30.0)],
    blips=[Blip("http-1", back=70.0, served=71.2, refused=9)],
)


def test_checker_reports_nothing_for_an_orderly_history() -> None:
    assert check(ORDERLY) == []


Doctor = Callable[[History], History]


def database(**changes: Callable[[Any], Any]) -> Doctor:
    """Change tables of the database."""

    def doctor(history: History) -> History:
        tables = {name: change(list(getattr(history.database, name))) for name, change in changes.items()}
        return replace(history, database=replace(history.database, **tables))

    return doctor


def calls(*more: Call) -> Doctor:
    return lambda history: replace(history, calls=[*history.calls, *more])


def arrivals(*more: Arrival) -> Doctor:
    return lambda history: replace(history, arrivals=[*history.arrivals, *more])


def without(index: int) -> Callable[[list[Any]], list[Any]]:
    return lambda rows: rows[:index] + rows[index + 1 :]


def changed(index: int, **values: Any) -> Callable[[list[Any]], list[Any]]:
    return lambda rows: [*rows[:index], replace(rows[index], **values), *rows[index + 1 :]]


def replaced(one: SubmissionId, *happened: tuple[str, dict[str, Any]]) -> Callable[[list[Event]], list[Event]]:
    """Another history of one submission."""
    return lambda events: [event for event in events if event.submission_id != one] + events_of(one, *happened)


def many_sends(events: list[Event]) -> list[Event]:
    tries = [step for epoch in range(2, 20, 2) for step in (sending(DEAD, epoch), ("not_known_there", {}))]
    return replaced(DEAD, accepted(), signed(DEAD), *tries, ("dead_letter", {}))(events)


def both(*doctors: Doctor) -> Doctor:
    def doctor(history: History) -> History:
        for one in doctors:
            history = one(history)
        return history

    return doctor


def call_changed(index: int, **values: Any) -> Doctor:
    """Change one of the calls; the first five hand in RESENT, PLAIN, REJECTED, DEAD and FAILED."""
    return lambda history: replace(history, calls=changed(index, **values)(list(history.calls)))


def handed_in_unnamed(index: int) -> Doctor:
    """One of RESENT, PLAIN, REJECTED, DEAD and FAILED was handed in without a clientRequestId."""
    return both(call_changed(index, request_id=None), database(submissions=changed(index, client_request_id=None)))


OTHER = "f" * 64

#: Histories that are in order although a client does not know everything.
ALLOWED: list[tuple[str, Doctor]] = [
    ("without a name", handed_in_unnamed(1)),
    ("two without a name", both(handed_in_unnamed(1), handed_in_unnamed(2))),
    (
        "without a name, and nobody knows what became of the call",
        both(handed_in_unnamed(1), call_changed(1, outcome=Outcome.UNKNOWN, http=None, tax_log_id=None)),
    ),
    (
        "refused, after a call of which nobody knows what became of it",
        both(
            call_changed(1, outcome=Outcome.UNKNOWN, http=None, tax_log_id=None),
            calls(replace(submit(PLAIN, 20), outcome=Outcome.FAIL, http=401, tax_log_id=None)),
        ),
    ),
    ("its own number", both(call_changed(1, e_ncf="E310000000002"), call_changed(9, e_ncf="E310000000001"))),
    ("asked about what is not there", calls(replace(ask(PLAIN, 20, "queued"), status=None, tax_log_id=str(OTHERS)))),
    ("answered 503", calls(replace(submit(PLAIN, 20), outcome=Outcome.UNKNOWN, http=503, tax_log_id=None))),
]


@pytest.mark.parametrize("doctor", [case[1] for case in ALLOWED], ids=[case[0] for case in ALLOWED])
def test_checker_reports_nothing_for_an_allowed_history(doctor: Doctor) -> None:
    assert check(doctor(ORDERLY)) == []


DOCTORED: list[tuple[str, str, Doctor, str]] = [
    ("an acknowledged submission is gone", "I1", database(submissions=without(1)), "there is no such submission"),
    (
        "an acknowledged submission is another tenant's",
        "I1",
        calls(replace(submit(PLAIN, 20), tenant_id=TenantId(2))),
        "another tenant",
    ),
    ("one waits for ever and nobody is told", "I1", database(dead_letters=without(0)), "it is queued"),
    ("a dead letter lives", "I1", database(submissions=changed(3, status="Aceptado")), "and a dead letter too"),
    ("an answer without an id", "I1", calls(replace(submit(PLAIN, 20), tax_log_id=None)), "without a taxLogId"),
    ("two documents under one number", "I2", arrivals(arrival(PLAIN, 9, "Rechazado", sha256=OTHER)), "2 different"),
    ("bytes that were never announced", "I3", arrivals(arrival(PLAIN, 9, None, sha256=OTHER)), "nobody had announced"),
    (
        "more arrivals than announced sends",
        "I3",
        arrivals(arrival(REJECTED, 9, "Rechazado", codes=(4,))),
        "dealt with it 2 times",
    ),
    (
        "a send called not sent that was dealt with",
        "I3",
        database(sends=changed(2, outcome="not_sent")),
        "dealt with it 1 times, 0 sends may have arrived",
    ),
    (
        "sent again without asking",
        "I3",
        database(
            sends=changed(0, outcome="unknown"),
            events=replaced(
                RESENT,
                accepted(drawn=True),
                signed(RESENT),
                sending(RESENT, 2),
                sending(RESENT, 4),
                verdict("Aceptado"),
            ),
        ),
        "sent again (epoch 4) after epoch 2 unknown",
    ),
    (
        "arrived twice, and not known before the first only",
        "I3",
        arrivals(
            arrival(RESENT, 8, "Rechazado", codes=(3,), at=NOON + timedelta(seconds=5)),
            arrival(RESENT, 9, "Rechazado", codes=(3,), at=NOON + timedelta(seconds=7), not_known_at=NOON),
        ),
        "arrival 9 follows arrival 8, and the authority had not answered 'not known' in between",
    ),
    ("other bytes announced than kept", "I3", database(sends=changed(2, digest=OTHER)), "other bytes"),
    ("sent nine times", "I3", database(events=many_sends), "more than 8 times"),
    ("noted before its end", "I4", database(notes=lambda rows: [*rows, Noted(TENANT, DEAD, None)]), "and has not"),
    ("one number drawn twice", "I5", database(submissions=changed(1, e_ncf="E310000000001")), "was drawn 2 times"),
    ("a gap in the numbers", "I5", database(sequences=changed(0, current_number=4)), "1 numbers are gone"),
    ("a number beyond the range", "I5", database(sequences=changed(0, max_number=1)), "2 is outside the range"),
    ("a number that will be drawn again", "I5", database(sequences=changed(0, current_number=2)), "drawn again"),
    ("a draw without a number", "I5", database(submissions=changed(1, e_ncf=None)), "drew a number and has none"),
    ("numbers of a sequence that is not there", "I5", database(sequences=without(0)), "a sequence that is not there"),
    ("an event was changed", "I6", database(events=changed(3, detail_text='{"x": 1}')), "event 4 (outcome_unknown)"),
    ("an event was taken out", "I6", database(events=without(4)), "event 5 is missing"),
    (
        "an event was taken out and the rest sealed anew",
        "I6",
        database(
            events=replaced(
                RESENT, accepted(drawn=True), signed(RESENT), sending(RESENT, 2), ("received", {}), verdict("Aceptado")
            )
        ),
        "its events do not tell of the send of epoch 4",
    ),
    ("the end of a history was cut off", "I6", database(events=without(8)), "its events end as En Proceso"),
    (
        "an end that did not stay",
        "I6",
        database(
            events=replaced(
                PLAIN, accepted(drawn=True), signed(PLAIN), sending(PLAIN, 2), verdict("Rechazado"), verdict("Aceptado")
            )
        ),
        "verdict after its end",
    ),
    (
        "signed twice",
        "I6",
        database(
            events=replaced(
                PLAIN, accepted(drawn=True), signed(PLAIN), signed(PLAIN), sending(PLAIN, 2), verdict("Aceptado")
            )
        ),
        "signed cannot follow where it stands (send)",
    ),
    ("a submission without events", "I6", database(events=replaced(FAILED)), "it has no events"),
    ("events of a submission that is gone", "I6", database(submissions=without(1)), "events of nothing"),
    ("a document the events do not know", "I6", database(submissions=changed(1, sent=OTHER)), "do not know its"),
    (
        "a number's fate that its events do not know",
        "I6",
        database(submissions=changed(4, number_fate="used")),
        "its events end as reusable, its row says used",
    ),
    (
        "a step that no table has",
        "I6",
        database(events=replaced(PLAIN, accepted(drawn=True), verdict("Aceptado"))),
        "verdict cannot follow where it stands (sign)",
    ),
    (
        "an end whose row waits on",
        "I6",
        database(outbox=lambda rows: [*rows, Due(TENANT, PLAIN, "track", None, 2, None)]),
        "its events end as ended, its row says track",
    ),
    ("a client saw it go back", "I6", calls(ask(RESENT, 11.5, "queued")), "saw En Proceso and then queued"),
    ("a client saw an end, and another", "I6", calls(ask(RESENT, 14, "Rechazado")), "saw Aceptado and then Rechazado"),
    ("a client saw an end, and a beginning", "I6", calls(ask(RESENT, 14, "queued")), "saw Aceptado and then queued"),
    (
        "an end of which its tenant hears nothing",
        "I7",
        lambda history: replace(history, hook_secrets={TENANT: "whsec_x"}),
        "it ended, and has 0 events",
    ),
    (
        "a row is left",
        "I8",
        database(outbox=lambda rows: [*rows, Due(TENANT, DEAD, "send", "worker-1", 2, "outage")]),
        "still waits for send, attempt 2, held by worker-1: outage",
    ),
    ("a transaction is left", "I8", database(in_doubt=lambda _: ["a node: citus_0_1"]), "prepared on that server"),
    ("a revoked key is served", "I9", calls(use(61, Outcome.OK, 200)), "served 31.0 s after"),
    ("two answers, two ids", "I10", calls(replace(submit(PLAIN, 20, 200), request_id="r-1")), "name 2 submissions"),
    ("told twice that it was the first", "I10", calls(submit(PLAIN, 20)), "told that they were the first"),
    ("two submissions of one name", "I10", database(submissions=changed(1, client_request_id="r-1")), "2 submissions"),
    ("an answered submission is gone", "I10", database(submissions=without(1)), "no submission bears its name"),
    (
        "crossed answers",
        "I10",
        both(call_changed(1, tax_log_id=str(REJECTED)), call_changed(2, tax_log_id=str(PLAIN))),
        "it is named to r-2, and bears the name r-3",
    ),
    (
        "a nameless call is answered with what has a name",
        "I10",
        calls(replace(submit(PLAIN, 20), request_id=None)),
        "it is named to None, and bears the name r-2",
    ),
    (
        "two nameless calls, and one submission",
        "I10",
        both(handed_in_unnamed(1), calls(replace(submit(PLAIN, 20), request_id=None))),
        "2 calls without clientRequestId were answered with it",
    ),
    (
        "a number that is another's",
        "I10",
        call_changed(1, e_ncf="E310000000001"),
        "told that its number is E310000000001, and it is E310000000002",
    ),
    (
        "a number shown to whoever asks that is another's",
        "I10",
        calls(replace(ask(RESENT, 14, "Aceptado"), e_ncf="E310000000002")),
        "told that its number is E310000000002, and it is E310000000001",
    ),
    (
        "refused, and there all the same",
        "I10",
        call_changed(4, outcome=Outcome.FAIL, http=400, tax_log_id=None),
        "nobody handed it in",
    ),
    (
        "a nameless one refused, and there all the same",
        "I10",
        both(
            handed_in_unnamed(1),
            handed_in_unnamed(2),
            call_changed(2, outcome=Outcome.FAIL, http=400, tax_log_id=None),
        ),
        "2 submissions out of 1 calls",
    ),
    (
        "a submission of nobody",
        "I10",
        database(submissions=changed(1, client_request_id="r-99")),
        "nobody handed it in",
    ),
    (
        "a nameless submission of nobody",
        "I10",
        database(submissions=changed(1, client_request_id=None)),
        "1 submissions out of 0 calls",
    ),
    (
        "our own first send taken for a stranger's",
        "V",
        database(
            submissions=changed(1, status="Rechazado"),
            events=replaced(PLAIN, accepted(drawn=True), signed(PLAIN), sending(PLAIN, 2), verdict("Rechazado")),
        ),
        "rejected here, and the authority accepted it",
    ),
    (
        "a front that never serves again",
        "I11",
        lambda history: replace(history, blips=[Blip("http-1", back=70.0, served=None, refused=190)]),
        "190 calls refused",
    ),
    (
        "a front that takes its time",
        "I11",
        lambda history: replace(history, blips=[*history.blips, Blip("http-2", back=70.0, served=95.0, refused=200)]),
        "25.0 s after the database was back",
    ),
    (
        "an error of ours that says nothing",
        "I12",
        calls(replace(submit(PLAIN, 20), outcome=Outcome.UNKNOWN, http=500, tax_log_id=None)),
        "answered 500",
    ),
    (
        "an accepted receipt whose buyer gets no mail",
        "I13",
        lambda history: replace(database(mail_recipients=lambda _: [PLAIN])(history), mails=[]),
        "the relay never took its mail",
    ),
    (
        "a mail of a rejected receipt",
        "I13",
        lambda history: replace(history, mails=[f"<{REJECTED}@faults.example>"]),
        "it is mailed, and its receipt is Rechazado",
    ),
    (
        "a try under a Message-ID of its own",
        "I13",
        lambda history: replace(history, mails=["<another@faults.example>"]),
        "under an id that no receipt has",
    ),
    (
        "a late document that no alarm counts",
        "I14",
        lambda history: replace(
            database(submissions=changed(0, signature_time="03-11-2026 06:00:00"))(history),
            samples=[TermSample(NOON, 0, [RESENT])],
        ),
        "the alarm counts 0",
    ),
    (
        "deferred after the authorisation ended",
        "I15",
        database(
            submissions=changed(0, is_deferred=True),
            deferrals=lambda _: [Deferral(TENANT, ENVIRONMENT, NOON - timedelta(days=1), NOON - timedelta(minutes=1))],
        ),
        "no authorisation was in force",
    ),
    (
        "a paper receipt with two e-CF",
        "I16",
        database(submissions=lambda rows: [replace(one, replaces="B0100000001") for one in rows]),
        "2 e-CF replace it",
    ),
    (
        "accepted out of thin air",
        "V",
        lambda history: replace(history, arrivals=[*history.arrivals[:2], *history.arrivals[4:]]),
        "Aceptado here, and the authority never accepted it",
    ),
    (
        "an error where there was a verdict",
        "V",
        database(
            submissions=changed(2, status="error"),
            events=replaced(REJECTED, accepted(), signed(REJECTED), sending(REJECTED, 2), ("error", {})),
        ),
        "error here, and the authority rejected it",
    ),
    (
        "a breakdown taken for a judgement",
        "V",
        lambda history: replace(
            history,
            arrivals=[
                *history.arrivals[:4],
                arrival(REJECTED, 5, "Rechazado", codes=(4,), words="favor intentar nueva vez"),
            ],
        ),
        "the authority never judged it so",
    ),
    (
        "a used number called reusable",
        "V",
        database(submissions=changed(0, number_fate="reusable")),
        "used over there and reusable here",
    ),
    (
        "an accepted document's number is not used",
        "V",
        database(submissions=changed(0, number_fate="unknown")),
        "its number is unknown",
    ),
]


@pytest.mark.parametrize(("invariant", "doctor", "says"), [case[1:] for case in DOCTORED], ids=[c[0] for c in DOCTORED])
def test_checker_reports_each_single_fault(invariant: str, doctor: Doctor, says: str) -> None:
    found = check(doctor(ORDERLY))

    assert any(violation.invariant == invariant and says in violation.says for violation in found), found


def test_checker_cases_break_every_invariant() -> None:
    assert {invariant for _, invariant, _, _ in DOCTORED} == CHECKS.keys()
