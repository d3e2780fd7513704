"""Explain to an operator why a submission waits, and until when."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from fe.clock import for_people
from fe.ecf.dates import local, show_day, show_moment
from fe.ecf.texts import Text
from fe.lifecycle import Stage
from fe.queue.backoff import MAX_ATTEMPTS
from fe.queue.deadlines import DOUBT_FOR, FOLLOW_FOR
from fe.queue.lease_guard import SILENCE
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
    sentences: tuple[Text, ...]


@dataclass(frozen=True, slots=True)
class Reader:
    """How one who reads this is told moments, and where to act: by commands, or on the portal's pages."""

    moment: Callable[[datetime | None], str]
    day: Callable[[datetime], str]
    preview: Text
    resume: Text
    #: The page shows the last error beside the sentences.
    names_error: bool = True


COMMANDS = Reader(
    for_people,
    lambda moment: f"{moment:%Y-%m-%d}",
    Text(
        "`fe outbox replay --id {subject} --dry-run` says what to do",
        "`fe outbox replay --id {subject} --dry-run` dice qué hacer",
    ),
    Text("before `fe outbox resume`", "antes de `fe outbox resume`"),
)
PAGES = Reader(
    lambda moment: "?" if moment is None else show_moment(moment),
    lambda moment: show_day(local(moment).date()),
    Text("below stands what a replay would do", "abajo se ve qué haría un reenvío"),
    Text("before the pause ends", "antes de que termine la pausa"),
    names_error=False,
)


def explain(waiting: WaitingSubmission, limits: Overdue, reader: Reader = COMMANDS) -> Diagnosis:
    """Explain why a submission waits, since when, and until when."""
    at = reader.moment
    if waiting.dead_since is not None:
        return Diagnosis(WaitsFor.OPERATOR, waiting.dead_since, None, tuple(_dead(waiting, reader)))
    if waiting.stage is None:
        why = f": {waiting.end_error}" if waiting.end_error else ""
        ended = _ENDED.fill(status=waiting.status, moment=at(waiting.updated_at), why=why)
        return Diagnosis(WaitsFor.NOTHING, waiting.updated_at, None, (ended,))
    assert waiting.entered_at is not None
    waits_for, until, sentence = _next(waiting, limits, reader)
    return Diagnosis(
        waits_for,
        waiting.entered_at,
        until,
        (
            _SINCE.fill(step=_STEP[waiting.stage], moment=at(waiting.entered_at)),
            sentence,
            *_besides(waiting, waits_for, reader),
            _end(waiting, waiting.stage, limits, reader),
        ),
    )


_STEP = {
    Stage.SIGN: Text("signature", "la firma"),
    Stage.SEND: Text("sending", "el envío"),
    Stage.TRACK: Text("verdict", "la respuesta de la DGII"),
    Stage.RECONCILE: Text(
        "turn to ask the authority whether it has the document", "el turno de preguntar a la DGII si tiene el documento"
    ),
}
_ENDED = Text(
    "It waits for nothing. It ended as {status} at {moment}{why}.",
    "No espera nada. Terminó como {status} el {moment}{why}.",
)
_SINCE = Text("It waits for its {step}, since {moment}.", "Espera {step} desde el {moment}.")
_GAVE_UP = Text("It gave up waiting for its {step} at {moment}.", "Dejó de esperar {step} el {moment}.")
_LAST_ERROR = Text("The last error: {error}.", "El último error: {error}.")
_WITHOUT_END = Text("It waits for an operator, without end: {preview}.", "Espera a un operador, sin plazo: {preview}.")
_NOT_BEFORE = Text("{paused} Nothing happens {resume}.", "{paused} No ocurre nada {resume}.")
_PROBED = Text("{circuit}; it is probed next at {moment}.", "{circuit}; se prueba de nuevo el {moment}.")
_DUE = Text("It is due at {moment}, in {left}.", "Le toca el {moment}, en {left}.")
_SILENT = Text(
    "It is due since {moment}, and no process has shown itself {seen}: is `fe run` running?",
    "Le toca desde el {moment}, y ningún proceso ha dado señales {seen}: ¿está en marcha `fe run`?",
)
_NEVER = Text("at all", "hasta ahora")
_SEEN = Text("since {moment}", "desde el {moment}")
_LATE = Text(
    "It is due since {moment} and waits for a free worker.", "Le toca desde el {moment} y espera un proceso libre."
)
_HELD = Text(
    "{holder} is at it (attempt {attempt}); its lease ends at {moment}.",
    "{holder} lo atiende (intento {attempt}); su turno termina el {moment}.",
)
_GONE = Text("is gone", "ya no está")
_SILENT_SINCE = Text("has been silent since {moment}", "no da señales desde el {moment}")
_RESCUE = Text(
    "{holder} had it and {seen}; somebody else takes it at {moment} or before.",
    "{holder} lo atendía y {seen}; otro proceso lo toma el {moment} o antes.",
)
_IN_FLIGHT = Text(
    "{paused} What is in flight is finished; nothing new begins {resume}.",
    "{paused} Lo que está en marcha se termina; nada nuevo empieza {resume}.",
)
_CRASHES = Text(
    "{count} processes in a row died while they had it.", "{count} procesos seguidos murieron mientras lo atendían."
)
_LAST_TIME = Text("Last time: {error}.", "La última vez: {error}.")
_PAUSED = Text("Paused by {whom}: {reason}.", "En pausa por {whom}: {reason}.")
_CIRCUIT = Text(
    "The authority's host {host} in {environment} is not called: its circuit is open ({reason})",
    "No se llama al servidor {host} de la DGII en {environment}: su circuito está abierto ({reason})",
)
_ATTEMPTS = Text(
    "{used} of {most} attempts are used; after the last it is a dead letter.",
    "Se usaron {used} de {most} intentos; después del último queda detenido.",
)
_PATIENCE = Text(
    "If the authority has not said by {moment} what it knows, it is a dead letter; until then it is asked again.",
    "Si la DGII no ha dicho el {moment} lo que sabe, queda detenido; hasta entonces se le vuelve a preguntar.",
)


def _dead(waiting: WaitingSubmission, reader: Reader) -> Iterator[Text]:
    assert waiting.dead_stage is not None
    yield _GAVE_UP.fill(step=_STEP[waiting.dead_stage], moment=reader.moment(waiting.dead_since))
    if reader.names_error:
        yield _LAST_ERROR.fill(error=waiting.dead_error)
    yield _WITHOUT_END.fill(preview=reader.preview.fill(subject=waiting.subject))


def _next(waiting: WaitingSubmission, limits: Overdue, reader: Reader) -> tuple[WaitsFor, datetime | None, Text]:
    """Return the step that blocks this one."""
    assert waiting.run_at is not None
    at = reader.moment
    if waiting.holder is not None:
        return _held(waiting, limits, waiting.run_at, reader)
    if waiting.paused_by is not None:
        return WaitsFor.RESUME, None, _NOT_BEFORE.fill(paused=_paused(waiting), resume=reader.resume)
    if waiting.circuit_open:
        assert waiting.probe_at is not None
        probed = _PROBED.fill(circuit=_circuit(waiting), moment=at(waiting.probe_at))
        return WaitsFor.AUTHORITY, waiting.probe_at, probed
    due = at(waiting.run_at)
    if waiting.run_at > waiting.now:
        return WaitsFor.TIME, waiting.run_at, _DUE.fill(moment=due, left=_left(waiting, waiting.run_at))
    if waiting.anybody_seen_at is None or waiting.now - waiting.anybody_seen_at > limits.silence:
        seen = _SEEN.fill(moment=at(waiting.anybody_seen_at)) if waiting.anybody_seen_at else _NEVER
        return WaitsFor.FREE_WORKER, None, _SILENT.fill(moment=due, seen=seen)
    return WaitsFor.FREE_WORKER, waiting.now, _LATE.fill(moment=due)


def _held(
    waiting: WaitingSubmission, limits: Overdue, lease_end: datetime, reader: Reader
) -> tuple[WaitsFor, datetime, Text]:
    at, holder = reader.moment, waiting.holder
    if waiting.holder_seen_at is not None and waiting.now - waiting.holder_seen_at <= limits.silence:
        said = _HELD.fill(holder=holder, attempt=waiting.attempt, moment=at(lease_end))
        return WaitsFor.WORKER, lease_end, said
    seen = _SILENT_SINCE.fill(moment=at(waiting.holder_seen_at)) if waiting.holder_seen_at else _GONE
    until = max(lease_end, waiting.now)
    return WaitsFor.RESCUE, until, _RESCUE.fill(holder=holder, seen=seen, moment=at(until))


def _besides(waiting: WaitingSubmission, waits_for: WaitsFor, reader: Reader) -> Iterator[Text]:
    """Return further facts for the operator."""
    if waiting.paused_by is not None and waits_for is not WaitsFor.RESUME:
        yield _IN_FLIGHT.fill(paused=_paused(waiting), resume=reader.resume)
    if waiting.circuit_open and waits_for is not WaitsFor.AUTHORITY:
        circuit = _circuit(waiting)
        yield Text(f"{circuit.en}.", f"{circuit.es}.")
    if waiting.crash_count:
        yield _CRASHES.fill(count=waiting.crash_count)
    if waiting.last_error:
        yield _LAST_TIME.fill(error=waiting.last_error)


def _paused(waiting: WaitingSubmission) -> Text:
    return _PAUSED.fill(whom=waiting.paused_by, reason=waiting.pause_reason)


def _circuit(waiting: WaitingSubmission) -> Text:
    return _CIRCUIT.fill(host=waiting.host, environment=waiting.environment, reason=waiting.circuit_reason)


def _end(waiting: WaitingSubmission, stage: Stage, limits: Overdue, reader: Reader) -> Text:
    """When it would become an operator's matter."""
    assert waiting.entered_at is not None
    if stage in (Stage.SIGN, Stage.SEND):
        return _ATTEMPTS.fill(used=waiting.attempt, most=limits.attempts)
    patience = limits.follow if stage is Stage.TRACK else limits.doubt
    return _PATIENCE.fill(moment=reader.moment(waiting.entered_at + patience))


def _left(waiting: WaitingSubmission, moment: datetime) -> str:
    seconds = (moment - waiting.now).total_seconds()
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
