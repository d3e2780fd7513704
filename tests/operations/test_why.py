"""Reasons why a submission waits and until when, for every situation."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from fe.ecf.catalogue import Environment
from fe.ecf.texts import Language
from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import Stage, Status
from fe.operations.why import PAGES, Diagnosis, Overdue, WaitsFor, explain
from fe.store.queue.diagnosis import WaitingSubmission

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
LIMITS = Overdue(attempts=8, doubt=timedelta(minutes=15), follow=timedelta(hours=72), silence=timedelta(seconds=30))

#: Waiting for its third try of being sent, with a process that works.
WAITING = WaitingSubmission(
    tenant_id=TenantId(7),
    tenant="Ozama",
    subject=SubmissionId(UUID(int=1)),
    environment=Environment.ECF,
    status=Status.QUEUED,
    e_ncf="E310000000001",
    track_id=None,
    submitted_at=NOW - timedelta(minutes=2),
    updated_at=NOW - timedelta(minutes=1),
    stage=Stage.SEND,
    host="ecf",
    run_at=NOW + timedelta(seconds=15),
    attempt=2,
    crash_count=0,
    holder=None,
    holder_seen_at=None,
    entered_at=NOW - timedelta(minutes=1),
    last_error=None,
    dead_since=None,
    dead_stage=None,
    dead_error=None,
    end_error=None,
    circuit_open=False,
    circuit_reason=None,
    probe_at=None,
    paused_by=None,
    pause_reason=None,
    anybody_seen_at=NOW - timedelta(seconds=3),
    now=NOW,
)

NOT_IN_OUTBOX: dict[str, Any] = dict.fromkeys(("stage", "host", "run_at", "attempt", "crash_count", "entered_at"))


def answer(**changes: Any) -> Diagnosis:
    return explain(replace(WAITING, **changes), LIMITS)


def told_in(told: Diagnosis, language: Language = "en") -> tuple[str, ...]:
    return tuple(sentence.said(language) for sentence in told.sentences)


def test_a_retry_waits_for_its_time_and_says_how_many_tries_are_used() -> None:
    told = answer(last_error="status 503")

    assert (told.waits_for, told.since, told.until) == (WaitsFor.TIME, WAITING.entered_at, WAITING.run_at)
    assert told_in(told) == (
        "It waits for its sending, since 2026-11-20 11:59:00Z.",
        "It is due at 2026-11-20 12:00:15Z, in 15 s.",
        "Last time: status 503.",
        "2 of 8 attempts are used; after the last it is a dead letter.",
    )


def test_due_work_waits_for_a_free_worker() -> None:
    told = answer(run_at=NOW - timedelta(seconds=1))

    assert (told.waits_for, told.until) == (WaitsFor.FREE_WORKER, NOW)
    assert str(told.sentences[1]) == "It is due since 2026-11-20 11:59:59Z and waits for a free worker."


@pytest.mark.parametrize(
    ("seen", "words"),
    [(None, "no process has shown itself at all"), (NOW - timedelta(minutes=1), "since 2026-11-20 11:59:00Z")],
)
def test_due_work_that_nobody_works_on_says_that_nobody_works(seen: datetime | None, words: str) -> None:
    told = answer(run_at=NOW - timedelta(seconds=50), anybody_seen_at=seen)

    assert (told.waits_for, told.until) == (WaitsFor.FREE_WORKER, None)
    assert words in str(told.sentences[1])
    assert "is `fe run` running?" in str(told.sentences[1])


def test_work_in_hand_waits_for_its_worker_until_the_lease_ends() -> None:
    told = answer(holder="host:12:ab", holder_seen_at=NOW - timedelta(seconds=4), attempt=3)

    assert (told.waits_for, told.until) == (WaitsFor.WORKER, WAITING.run_at)
    assert str(told.sentences[1]) == "host:12:ab is at it (attempt 3); its lease ends at 2026-11-20 12:00:15Z."


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (NOW - timedelta(seconds=40), "host:12:ab had it and has been silent since 2026-11-20 11:59:20Z"),
        (None, "host:12:ab had it and is gone"),
    ],
)
def test_work_of_a_silent_worker_waits_for_its_rescue(seen: datetime | None, words: str) -> None:
    told = answer(holder="host:12:ab", holder_seen_at=seen, crash_count=2)

    assert (told.waits_for, told.until) == (WaitsFor.RESCUE, WAITING.run_at)
    assert str(told.sentences[1]).startswith(words)
    assert "2 processes in a row died while they had it." in told_in(told)


def test_rescue_of_a_lease_that_is_over_is_due_now() -> None:
    told = answer(holder="host:12:ab", run_at=NOW - timedelta(seconds=5))

    assert (told.waits_for, told.until) == (WaitsFor.RESCUE, NOW)


def test_a_paused_submission_waits_for_the_pause_to_be_undone() -> None:
    told = answer(paused_by="eva", pause_reason="wrong issuer data")

    assert (told.waits_for, told.until) == (WaitsFor.RESUME, None)
    assert str(told.sentences[1]) == "Paused by eva: wrong issuer data. Nothing happens before `fe outbox resume`."


def test_what_is_in_hand_when_a_pause_begins_is_finished() -> None:
    told = answer(holder="host:12:ab", holder_seen_at=NOW, paused_by="eva", pause_reason="rework")

    assert told.waits_for is WaitsFor.WORKER
    assert "What is in flight is finished; nothing new begins before `fe outbox resume`." in str(told.sentences[2])


def test_an_open_circuit_is_waited_for_until_its_next_probe() -> None:
    probe = NOW + timedelta(seconds=9)
    told = answer(circuit_open=True, circuit_reason="5 exchanges in a row failed", probe_at=probe)

    assert (told.waits_for, told.until) == (WaitsFor.AUTHORITY, probe)
    assert str(told.sentences[1]) == (
        "The authority's host ecf in ecf is not called: its circuit is open (5 exchanges in a row failed);"
        " it is probed next at 2026-11-20 12:00:09Z."
    )


def test_a_pause_comes_before_an_open_circuit_and_both_are_said() -> None:
    told = answer(circuit_open=True, circuit_reason="down", probe_at=NOW, paused_by="eva", pause_reason="rework")

    assert told.waits_for is WaitsFor.RESUME
    assert any("circuit is open (down)" in sentence for sentence in told_in(told))


@pytest.mark.parametrize(
    ("stage", "step", "last"),
    [
        (Stage.TRACK, "verdict", "2026-11-23 11:59:00Z"),
        (Stage.RECONCILE, "turn to ask the authority whether it has the document", "2026-11-20 12:14:00Z"),
    ],
)
def test_asking_goes_on_until_its_patience_is_over(stage: Stage, step: str, last: str) -> None:
    told = answer(stage=stage)

    assert str(told.sentences[0]) == f"It waits for its {step}, since 2026-11-20 11:59:00Z."
    assert f"has not said by {last}" in str(told.sentences[-1])


def test_signing_counts_tries_like_sending() -> None:
    told = answer(stage=Stage.SIGN, host="", attempt=0)

    assert str(told.sentences[0]) == "It waits for its signature, since 2026-11-20 11:59:00Z."
    assert str(told.sentences[-1]) == "0 of 8 attempts are used; after the last it is a dead letter."


def test_a_dead_letter_waits_for_an_operator_without_end() -> None:
    told = answer(**NOT_IN_OUTBOX, dead_since=NOW, dead_stage=Stage.SEND, dead_error="status 503")

    assert (told.waits_for, told.since, told.until) == (WaitsFor.OPERATOR, NOW, None)
    assert told_in(told) == (
        "It gave up waiting for its sending at 2026-11-20 12:00:00Z.",
        "The last error: status 503.",
        "It waits for an operator, without end:"
        " `fe outbox replay --id 00000000-0000-0000-0000-000000000001 --dry-run` says what to do.",
    )


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        ("Aceptado", None, "It waits for nothing. It ended as Aceptado at 2026-11-20 11:59:00Z."),
        (
            "error",
            "no certificate available",
            "It waits for nothing. It ended as error at 2026-11-20 11:59:00Z: no certificate available.",
        ),
    ],
)
def test_what_has_ended_waits_for_nothing(status: str, error: str | None, words: str) -> None:
    told = answer(**NOT_IN_OUTBOX, status=status, end_error=error)

    assert (told.waits_for, told.until, told_in(told)) == (WaitsFor.NOTHING, None, (words,))


def test_a_page_says_it_in_both_languages_with_times_of_santo_domingo_and_without_commands() -> None:
    dead = replace(WAITING, **NOT_IN_OUTBOX, dead_since=NOW, dead_stage=Stage.SEND, dead_error="status 503")
    told = explain(dead, LIMITS, PAGES)

    assert told_in(told, "es") == (
        "Dejó de esperar el envío el 20-11-2026 08:00:00.",
        "Espera a un operador, sin plazo: abajo se ve qué haría un reenvío.",
    )
    assert told_in(told) == (
        "It gave up waiting for its sending at 20-11-2026 08:00:00.",
        "It waits for an operator, without end: below stands what a replay would do.",
    )
