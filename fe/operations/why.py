"""Explain to an operator why a submission waits, and until when."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from fe.clock import for_people
from fe.lifecycle import Stage
from fe.queue.deadlines import DOUBT_FOR, FOLLOW_FOR
from fe.queue.lease_guard import SILENCE
from fe.queue.retry import MAX_ATTEMPTS
from fe.store.queue.diagnosis import WaitingSubmission


class WaitsFor(StrEnum):
    """Reasons for waiting."""

    NOTHING = "nothing"
    OPERATOR = "operator"
    RESUME = "resume"
    AUTHORITY = "authority"
    WORKER = "worker"
    RESCUE = "rescue"
    TIME = "time"
    FREE_WORKER = "free worker"


@dataclass(frozen=True, slots=True)
class Overdue:
    """When a step needs an operator: the actors' schedule, passed in by the caller."""

    attempts: int
    #: How long an unknown outcome is asked about.
    doubt: timedelta
    #: How long En Proceso is followed.
    follow: timedelta
    #: After how long without a sign of life a process is taken for dead.
    silence: timedelta


#: Those of this release.
LIMITS = Overdue(MAX_ATTEMPTS, DOUBT_FOR, FOLLOW_FOR, SILENCE)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """`until` is the time of the next automatic step; None if a person must decide, or nothing is left."""

    waits_for: WaitsFor
    since: datetime
    until: datetime | None
    sentences: tuple[str, ...]


def explain(waiting: WaitingSubmission, limits: Overdue) -> Diagnosis:
    """Explain why a submission waits, since when, and until when."""
    if waiting.dead_since is not None:
        return Diagnosis(WaitsFor.OPERATOR, waiting.dead_since, None, tuple(_dead(waiting)))
    if waiting.stage is None:
        why = f": {waiting.end_error}" if waiting.end_error else ""
        ended = f"It waits for nothing. It ended as {waiting.status} at {for_people(waiting.updated_at)}{why}."
        return Diagnosis(WaitsFor.NOTHING, waiting.updated_at, None, (ended,))
    assert waiting.entered_at is not None
    waits_for, until, sentence = _next(waiting, limits)
    return Diagnosis(
        waits_for,
        waiting.entered_at,
        until,
        (
            f"It waits for its {_STEP[waiting.stage]}, since {for_people(waiting.entered_at)}.",
            sentence,
            *_besides(waiting, waits_for),
            _end(waiting, waiting.stage, limits),
        ),
    )


_STEP = {
    Stage.SIGN: "signature",
    Stage.SEND: "sending",
    Stage.TRACK: "verdict",
    Stage.RECONCILE: "turn to ask the authority whether it has the document",
}


def _dead(waiting: WaitingSubmission) -> Iterator[str]:
    assert waiting.dead_stage is not None
    yield f"It gave up waiting for its {_STEP[waiting.dead_stage]} at {for_people(waiting.dead_since)}."
    yield f"The last error: {waiting.dead_error}."
    yield f"It waits for an operator, without end: `fe outbox replay --id {waiting.subject} --dry-run` says what to do."


def _next(waiting: WaitingSubmission, limits: Overdue) -> tuple[WaitsFor, datetime | None, str]:
    """Return the step that blocks this one."""
    assert waiting.run_at is not None
    if waiting.holder is not None:
        return _held(waiting, limits, waiting.run_at)
    if waiting.paused_by is not None:
        return WaitsFor.RESUME, None, f"{_paused(waiting)} Nothing happens before `fe outbox resume`."
    if waiting.circuit_open:
        assert waiting.probe_at is not None
        return (
            WaitsFor.AUTHORITY,
            waiting.probe_at,
            f"{_circuit(waiting)}; it is probed next at {for_people(waiting.probe_at)}.",
        )
    if waiting.run_at > waiting.now:
        return (
            WaitsFor.TIME,
            waiting.run_at,
            f"It is due at {for_people(waiting.run_at)}, {_in(waiting, waiting.run_at)}.",
        )
    late = f"It is due since {for_people(waiting.run_at)}"
    if waiting.anybody_seen_at is None or waiting.now - waiting.anybody_seen_at > limits.silence:
        seen = f"since {for_people(waiting.anybody_seen_at)}" if waiting.anybody_seen_at else "at all"
        return WaitsFor.FREE_WORKER, None, f"{late}, and no process has shown itself {seen}: is `fe run` running?"
    return WaitsFor.FREE_WORKER, waiting.now, f"{late} and waits for a free worker."


def _held(waiting: WaitingSubmission, limits: Overdue, lease_end: datetime) -> tuple[WaitsFor, datetime, str]:
    if waiting.holder_seen_at is not None and waiting.now - waiting.holder_seen_at <= limits.silence:
        said = f"{waiting.holder} is at it (attempt {waiting.attempt}); its lease ends at {for_people(lease_end)}."
        return WaitsFor.WORKER, lease_end, said
    seen = f"has been silent since {for_people(waiting.holder_seen_at)}" if waiting.holder_seen_at else "is gone"
    until = max(lease_end, waiting.now)
    return (
        WaitsFor.RESCUE,
        until,
        f"{waiting.holder} had it and {seen}; somebody else takes it at {for_people(until)} or before.",
    )


def _besides(waiting: WaitingSubmission, waits_for: WaitsFor) -> Iterator[str]:
    """Return further facts for the operator."""
    if waiting.paused_by is not None and waits_for is not WaitsFor.RESUME:
        yield f"{_paused(waiting)} What is in flight is finished; nothing new begins before `fe outbox resume`."
    if waiting.circuit_open and waits_for is not WaitsFor.AUTHORITY:
        yield f"{_circuit(waiting)}."
    if waiting.crash_count:
        yield f"{waiting.crash_count} processes in a row died while they had it."
    if waiting.last_error:
        yield f"Last time: {waiting.last_error}."


def _paused(waiting: WaitingSubmission) -> str:
    return f"Paused by {waiting.paused_by}: {waiting.pause_reason}."


def _circuit(waiting: WaitingSubmission) -> str:
    reason = waiting.circuit_reason
    return f"The authority's host {waiting.host} in {waiting.environment} is not called: its circuit is open ({reason})"


def _end(waiting: WaitingSubmission, stage: Stage, limits: Overdue) -> str:
    """When it would become an operator's matter."""
    assert waiting.entered_at is not None
    if stage in (Stage.SIGN, Stage.SEND):
        return f"{waiting.attempt} of {limits.attempts} attempts are used; after the last it is a dead letter."
    patience = limits.follow if stage is Stage.TRACK else limits.doubt
    last = for_people(waiting.entered_at + patience)
    return f"If the authority has not said by {last} what it knows, it is a dead letter; until then it is asked again."


def _in(waiting: WaitingSubmission, moment: datetime) -> str:
    seconds = (moment - waiting.now).total_seconds()
    return f"in {seconds:.0f} s" if seconds < 120 else f"in {seconds / 60:.0f} min"
